"""What isl can still make of an expression that the canonical form has already made small.

Three ways are tried in turn, each with a budget of its own: linear relations between the parts of
the expression; parts of its operations left out; pieces of its value that isl merges. Whatever one
of them finds is simplified by the canonical form, proved equal by isl, and taken if it is cheaper;
then all begins anew. A result is what none of them improves, so finishing it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import gcd
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from simplifier.exact.affine_hull import price, rank, reduced, relations
from simplifier.exact.isl import BudgetError, Space
from simplifier.exact.questions import all_bounds
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import EXTREMA, ZERO, Form, Kind, combine, postorder
from simplifier.fixpoint import simplified

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import islpy

    from simplifier.bounds.interval import Interval
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom

_MOST_ATOMS: Final = 100
"""Expressions of more variables and operations are left as they are: each is tried on its own."""

_MOST_PIECES: Final = 3


class Given(NamedTuple):
    """What is known of the variables, to the canonical form and to isl, and what isl may spend."""

    scope: Scope
    bounds: Mapping[str, Interval]
    constraints: Sequence[tuple[Form, Interval]]
    budget: int | None


class Task(NamedTuple):
    """A form that may get cheaper, and the points where it has to stay equal."""

    form: Form
    space: Space
    domain: islpy.Set

    @property
    def atoms(self) -> list[Atom]:
        """The operations of the form, each after those inside it."""
        return [atom for atom in postorder((self.form,)) if atom.kind is not Kind.VARIABLE]

    def allows(self, old: Form, new: Form) -> bool:
        """Whether the new form is cheaper, and equal on the domain."""
        return rank(new) < rank(old) and self.space.agree(old, new, self.domain)


def finished(
    scope: Scope,
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Sequence[tuple[Form, Interval]],
    budget: int | None,
) -> Form:
    """The form, or a cheaper one that isl proves equal within bounds and constraints.

    ``scope`` holds the same bounds and constraints; ``budget`` is what each way of improving the
    form may spend. A way that spends it all finds nothing.

    Raises:
        NotQuasiAffineError: naming the part of the form or of a constraint.
    """
    everything = all_bounds((form,), bounds, constraints)
    Space(everything, budget=budget).checked((form, *(known for known, _ in constraints)))
    if len(postorder((form,))) > _MOST_ATOMS:
        return form
    given = Given(scope, everything, constraints, budget)
    while (better := _improved(given, form)) is not None:
        form = better
    return form


def _improved(given: Given, form: Form) -> Form | None:
    """A cheaper form by the first way that finds one."""
    for improve in _WAYS:
        space = Space(given.bounds, budget=given.budget)
        with suppress(BudgetError), space.within_budget():
            task = Task(form, space, space.domain(given.constraints))
            better = simplified(given.scope, improve(task))
            if task.allows(form, better):
                return better
    return None


# By linear relations.


def _by_relations(task: Task) -> Form:
    """Every sum inside made of the cheapest parts that are equal to its own."""
    if task.domain.is_empty():
        return ZERO
    equations = relations(task.space, task.domain, task.atoms)
    values = {forms.variable_atom(name): forms.variable(name) for name in task.space.bounds}
    for atom in sorted(task.atoms, key=price):
        arguments = (combine(reduced(argument, equations), values) for argument in atom.arguments)
        values[atom] = operations.rebuilt(atom, tuple(arguments))
    return combine(reduced(task.form, equations), values)


# By leaving out.


def _by_leaving_out(task: Task) -> Form:
    """Every operation replaced by the first that has less in it and is equal."""
    found: dict[Atom, Form] = {}
    for atom in task.atoms:
        whole = Form(0, {atom: 1})
        for less in sorted(_less(atom), key=rank):
            if task.allows(whole, less):
                found[atom] = less
                break
    return operations.replace(task.form, found)


def _less(atom: Atom) -> Iterator[Form]:
    """The operation without one of its operands or terms, or on multiples of a common factor."""
    if atom.kind in EXTREMA:
        for operand in atom.arguments:
            others = tuple(other for other in atom.arguments if other is not operand)
            yield operations.build(atom.kind, others)
    elif atom.divisor:
        yield from _shorter(atom)
        if atom.kind is not Kind.CEILDIV:
            yield from _coarser(atom)


def _shorter(atom: Atom) -> Iterator[Form]:
    """The operation on the numerator less one term, or less the constant."""
    numerator, divisor = atom.arguments
    rests = [numerator.without(term) for term in numerator.terms]
    for rest in (*rests, numerator.plus_constant(-numerator.constant)):
        yield operations.build(atom.kind, (rest, divisor))


def _coarser(atom: Atom) -> Iterator[Form]:
    """The operation on units of a factor that some coefficients share with the divisor."""
    numerator, divisor = atom.arguments
    for unit in sorted({gcd(factor, atom.divisor) for factor in numerator.terms.values()} - {1}):
        multiples = {term: factor for term, factor in numerator.terms.items() if not factor % unit}
        whole = Form(numerator.constant // unit, _divided(multiples, unit))
        rest = numerator.plus(whole, -unit)
        quotient = forms.constant(divisor.constant // unit)
        if atom.kind is Kind.FLOORDIV:
            yield operations.floordiv(whole, quotient)
        else:
            yield operations.mod(whole, quotient).times(unit).plus(rest)


def _divided(terms: Mapping[Atom, int], unit: int) -> dict[Atom, int]:
    return {term: factor // unit for term, factor in terms.items()}


# By pieces.


def _by_pieces(task: Task) -> Form:
    """The form, or each operation in it, as one of the few pieces that its values consist of."""
    whole = _merged(task, task.form)
    if whole is not task.form:
        return whole
    found = {atom: _merged(task, Form(0, {atom: 1})) for atom in task.atoms}
    return operations.replace(task.form, found)


def _merged(task: Task, form: Form) -> Form:
    """The only piece of the form, or the least or greatest of a few; or the form."""
    (value,) = task.space.expressions([form])
    pieces = value.coalesce().gist(task.domain).coalesce().get_pieces()
    if 0 < len(pieces) <= _MOST_PIECES:
        parts = [task.space.form_of(part) for _, part in pieces]
        for merged in (operations.maximum(parts), operations.minimum(parts)):
            if task.allows(form, merged):
                return merged
    return form


Way: TypeAlias = Callable[[Task], Form]

_WAYS: Final[tuple[Way, ...]] = (_by_relations, _by_leaving_out, _by_pieces)
