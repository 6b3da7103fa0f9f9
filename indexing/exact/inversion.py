"""The inverse of a map: from results back to the dimensions that lead to them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from indexing.domain import Domain, distinctly_named, substituted_constraints
from indexing.exact.solving import Equation, solved
from indexing.simplify import result_bounds, simplified
from indexing.transform.unused import without_unused_symbols
from indexing.variable import Variable
from simplifier.canonical.scope import scope_of
from simplifier.exact import Space
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.fixpoint import range_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indexing.domain import Constraint
    from indexing.exact.solving import Solution
    from indexing.relation import Relation, RelationT
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


def inverse(indexing_map: RelationT) -> RelationT:
    """The map from results to dimensions that relates the same elements the other way round.

    :meth:`IndexingMap.inverse` tells what becomes of the variables.

    Raises:
        NotQuasiAffineError: naming the first term that is not quasi-affine.

    >>> from indexing import parse_map
    >>> print(inverse(parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]")))
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    """
    straight = simplified(indexing_map)
    if straight.is_known_empty:
        nowhere = Domain.of(Variable.of_size(0) for _ in straight.forms)
        return straight.derived((forms.ZERO for _ in straight.dims), nowhere.emptied())
    _check(straight)
    return without_unused_symbols(simplified(_inverted(straight, indexing_map.forms)))


def _check(straight: Relation) -> None:
    """Raise an error that names the first term beyond quasi-affine arithmetic."""
    domain = straight.domain
    checked = (*straight.forms, *(form for form, _ in domain.constraints))
    bounds = dict(zip(domain.names, domain.bounds.values(), strict=True))
    Space(bounds).checked(map(domain.named, checked))


def _inverted(straight: RelationT, written: Sequence[Form]) -> RelationT:
    """The inverse as it is found, with constraints that say more than is needed.

    ``written`` are the results before they were simplified. While the equations are solved, results
    are ``y0 y1 ...``. Runtime variables are known while the program runs, so they are not sought.
    """
    domain = straight.domain
    wholes = _wholes(written)
    scope = _scope_with(domain, wholes)
    results = _over_wholes(written, wholes) if wholes else straight.forms
    outputs = [
        Equation(scope.canonical(form), forms.variable(f"y{position}"))
        for position, form in enumerate(results)
    ]
    sums = [Equation(whole - forms.variable(name), forms.ZERO) for name, whole in wholes.items()]
    *_, runtime = domain.by_role(domain.identifiers)
    sought = {name: ends for name, ends in scope.bounds.items() if name not in runtime}
    solution = solved(scope, [*outputs, *sums, *_equalities(domain)], sought)
    others = substituted_constraints(_inequalities(scope, domain, outputs), solution.values)
    values = [solution.values[identifier] for identifier in domain.identifiers[: len(domain.dims)]]
    free = _in_order(values, solution)
    made = distinctly_named(_dims_of(straight), _ranges_of(domain, solution, free), domain.runtime)
    old = (*(f"y{position}" for position in range(len(outputs))), *free)
    renaming = dict(zip(old, map(forms.variable, made.identifiers), strict=False))
    constraints = substituted_constraints([*solution.conditions, *others], renaming)
    return straight.derived(operations.substitute(values, renaming), made.constrained(constraints))


def _wholes(written: Sequence[Form]) -> dict[str, Form]:
    """The sums that several quotients and remainders divide: indices that are split.

    They are called ``n0 n1 ...`` and sought like variables. Canonical forms would make digits of
    their terms instead.
    """
    numerators = Counter(
        atom.numerator
        for atom in forms.postorder(written)
        if atom.divisor and len(atom.numerator.terms) > 1 and atom.numerator.is_affine
    )
    shared = (form for form, times in numerators.items() if times > 1)
    return {f"n{position}": form for position, form in enumerate(shared)}


def _over_wholes(written: Sequence[Form], wholes: Mapping[str, Form]) -> list[Form]:
    """The forms with variables for the sums that are divided."""
    names = {whole: forms.variable(name) for name, whole in wholes.items()}
    replacements = {
        atom: operations.build(atom.kind, (names[atom.numerator], atom.arguments[1]))
        for atom in forms.postorder(written)
        if atom.divisor and atom.numerator in names
    }
    return [operations.replace(form, replacements) for form in written]


def _scope_with(domain: Domain, wholes: Mapping[str, Form]) -> Scope:
    """The bounds of the variables, and those of the sums that follow."""
    bounds = tuple(domain.bounds.items())
    plain = scope_of(bounds)
    if not wholes:
        return plain
    ranges = ((name, range_of(plain, whole)) for name, whole in wholes.items())
    return scope_of((*bounds, *ranges))


def _equalities(domain: Domain) -> Iterator[Equation]:
    for form, interval in domain.constraints:
        if interval.lower is not None and interval.is_point:
            yield Equation(form, forms.constant(interval.lower))


def _inequalities(
    scope: Scope, domain: Domain, outputs: Sequence[Equation]
) -> Iterator[Constraint]:
    for form, interval in domain.constraints:
        if not interval.is_point:
            yield _by_results(scope.canonical(form), outputs) or form, interval


def _by_results(form: Form, outputs: Sequence[Equation]) -> Form | None:
    """The form with a result in place of the terms that make it up, if there is one."""
    for straight, result in outputs:
        lead, unit = next(iter(straight.terms.items()), (None, 1))
        times, rest = divmod(form.terms.get(lead, 0) if lead else 0, unit)
        shorter = form.plus(straight, -times).plus(result, times)
        if times and not rest and len(shorter.terms) < len(form.terms):
            return shorter
    return None


def _in_order(values: Sequence[Form], solution: Solution) -> list[str]:
    """The free variables in the order in which the inverse uses them."""
    used = [name for name in forms.variables_of(values) if name in solution.free]
    return [*used, *(name for name in solution.free if name not in used)]


def _dims_of(straight: Relation) -> Iterator[Variable]:
    """A dimension for each result, called like the variable that it is, if it is one."""
    known = dict(zip(straight.domain.identifiers, straight.domain, strict=True))
    for form, bounds in zip(straight.forms, result_bounds(straight), strict=True):
        variable = known.get(form.single_variable() or "")
        yield Variable(bounds) if variable is None else variable.within(bounds)


def _ranges_of(domain: Domain, solution: Solution, free: Sequence[str]) -> Iterator[Variable]:
    """A range for each free variable, called like the variable whose values it takes, if any."""
    taken = {
        solution.values[identifier].single_variable(): variable
        for identifier, variable in zip(domain.identifiers, domain, strict=True)
        if identifier in solution.values
    }
    for name in free:
        bounds = solution.free[name]
        yield taken[name].within(bounds) if name in taken else Variable(bounds)
