"""The search: the cheapest rewriting of one step, as long as there is a cheaper one.

Remainders are tried first, they are the natural digits. What a step yields is a *spelling*, a form
whose atoms stand for themselves and whose arguments are still canonical; the arguments are spelled
in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.bounds.symbolic_digits import is_symbolic_quotient
from simplifier.canonical.clamps import maxima
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Atom, Form, Kind, postorder
from simplifier.extraction.extrema import extremum_steps
from simplifier.extraction.lower_bounds import least_price, plain_price
from simplifier.extraction.pricing import Limit, price, price_of_operation
from simplifier.extraction.products import product_steps
from simplifier.extraction.quotients import quotient_steps
from simplifier.extraction.remainders import joining_steps, remainder_steps
from simplifier.extraction.sums import sum_steps
from simplifier.laws.catalogue.spellings import TURNED_SIGNS
from simplifier.laws.rewrite_log import Fact
from simplifier.limits import affordable_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key
    from simplifier.extraction.pricing import CostOf
    from simplifier.extraction.rewriting import Rewriting, Steps


def written(scope: Scope, form: Form) -> Form:
    """The cheapest spelling found for a canonical form, arguments and all."""
    if form.is_affine:
        return form
    speller = _speller(scope)
    known = speller.finished.get(form.key)
    if known is None:
        known = speller.finished[form.key] = _written(speller, form)
    return known


def _written(speller: Speller, form: Form) -> Form:
    for atom in postorder((form,)):
        speller.cost(atom)
    finished: dict[Atom, Form] = {}
    spelling = speller.spelling(form)
    stack = list(spelling.terms)
    while stack:
        atom = stack[-1]
        if atom in finished:
            stack.pop()
            continue
        arguments = speller.arguments(atom.kind, atom.arguments)
        missing = [
            inner for argument in arguments for inner in argument.terms if inner not in finished
        ]
        if missing:
            stack += missing
            continue
        stack.pop()
        speller.announce_signs(atom)
        parts = tuple(forms.combine(argument, finished) for argument in arguments)
        finished[atom] = operations.build(atom.kind, parts) if parts else Form(0, {atom: 1})
    return forms.combine(spelling, finished)


class Speller:
    """Finds spellings by some steps, and remembers them.

    Pricing a candidate means pricing what it brings in, which again means spelling it: so each
    speller leaves new atoms to a helper, and the last helper makes no steps. Otherwise the work
    would grow exponentially with nesting.
    """

    def __init__(
        self, scope: Scope, level: int, steps: Sequence[Steps], helper: Speller | None
    ) -> None:
        self.finished: dict[Key, Form] = {}
        """Forms written out, arguments and all."""
        self._scope = scope
        self._level = level
        self._steps = steps
        self._helper = helper
        self.cost: CostOf = _Costs(self).__getitem__
        """What it costs to write an atom, its arguments spelled."""
        self._spellings: dict[Key, Form] = {}

    def cost_of(self, kind: Kind, operands: Sequence[Form]) -> int:
        """What it costs to write an operation, its operands spelled."""
        spelled = self.arguments(kind, operands)
        cost = price_of_operation(kind, spelled)
        for operand in spelled:
            cost += price(operand, self.cost)
        return cost

    def least(self, form: Form) -> int:
        """What any multiple of the form costs at least."""
        return least_price(form) if self._steps else plain_price(form, self.cost)

    def is_written_as_it_is(self, form: Form) -> bool:
        """Whether there is nothing to search for."""
        return not self._steps or form.is_affine

    def arguments(self, kind: Kind, operands: Sequence[Form]) -> tuple[Form, ...]:
        """The operands in their cheapest spelling; a quotient of negative terms turns signs."""
        spelled = tuple(map(self.spelling, operands))
        if kind in _QUOTIENTS and _turns_signs(spelled):
            return tuple([self.spelling(-operand) for operand in operands])
        return spelled

    def announce_signs(self, atom: Atom) -> None:
        """Say that an atom's quotient turned its signs, if it did."""
        if atom.kind in _QUOTIENTS and _turns_signs(tuple(map(self.spelling, atom.arguments))):
            itself = Form(0, {atom: 1})
            turned = operations.build(atom.kind, tuple(-operand for operand in atom.arguments))
            if turned != itself:
                self._scope.spelled(Fact((TURNED_SIGNS,), itself, turned))

    def spelling(self, form: Form) -> Form:
        """The cheapest spelling of a form, its arguments left as they are."""
        if self.is_written_as_it_is(form):
            return form
        found = self._spellings.get(form.key)
        if found is None:
            found = self._spellings[form.key] = self._search(form)
        return found

    def _search(self, form: Form) -> Form:
        kinds = affordable_steps(form, self._level)
        if not kinds:
            return form
        helper = self._helper or self
        cost_of = _Prices(self, helper, form).__getitem__

        order = self._steps[:kinds]
        ways = [self._descended(form, order, cost_of, helper)]
        if self._level == 0 and len(form.terms) > 1 and maxima(form) and (ways[0] or kinds == 1):
            # What first moves into an extremum may become a remainder there.
            ways.append(self._descended(form, (extremum_steps, *order), cost_of, helper))
        ends = [way[-1].after if way else form for way in ways]
        best = 0
        if len(ends) > 1:
            best = min(range(len(ends)), key=lambda place: price(ends[place], cost_of))
        if self._level == 0:
            for fact in ways[best]:
                self._scope.spelled(fact)
        return ends[best]

    def _descended(
        self, form: Form, order: Sequence[Steps], cost_of: Callable[[Atom], int], helper: Speller
    ) -> list[Fact]:
        """The steps from which none leads to a cheaper spelling, one kind of steps at a time."""
        way: list[Fact] = []
        current, paid, least = form, price(form, cost_of), least_price(form)
        place = 0
        while place < len(order) and paid > least:
            limit = Limit(paid, cost_of, helper)
            found = limit.cheapest(current, order[place](self._scope, current, limit))
            # What was priced unbuilt may turn out dearer.
            following = paid if found is None else price(found.after, cost_of)
            if found is None or following >= paid:
                place += 1
            else:
                way.append(found)
                current, paid, place = found.after, following, 0
        return way


class _Costs(dict[Atom, int]):
    """What atoms cost to write; each is worked out when it is asked for."""

    def __init__(self, speller: Speller) -> None:
        super().__init__()
        self._speller = speller

    def __missing__(self, atom: Atom) -> int:
        operands = atom.arguments
        cost = self[atom] = self._speller.cost_of(atom.kind, operands) if operands else 0
        return cost


class _Prices(dict[Atom, int]):
    """What atoms cost in one search: those of the form by the speller, new ones by its helper."""

    def __init__(self, speller: Speller, helper: Speller, form: Form) -> None:
        super().__init__((atom, speller.cost(atom)) for atom in form.terms)
        self._speller = speller
        self._helper = helper
        self._form = form
        self._own: frozenset[Atom] = frozenset()

    def __missing__(self, atom: Atom) -> int:
        if not self._own:
            self._own = frozenset(postorder((self._form,)))
        speller = self._speller if atom in self._own else self._helper
        cost = self[atom] = speller.cost(atom)
        return cost


_QUOTIENTS: Final = (Kind.FLOORDIV, Kind.QUOTIENT)


def _turns_signs(operands: tuple[Form, ...]) -> bool:
    """Whether a quotient has no positive term in the divisor or, over a constant, above it."""
    numerator, divisor = operands
    sign = divisor if divisor.terms else numerator
    return not sign.has_positive_term


def _speller(scope: Scope) -> Speller:
    if scope.speller is None:
        plain = Speller(scope, 2, (), None)
        brief = Speller(scope, 1, (_digit_steps, _other_steps), plain)
        scope.speller = Speller(scope, 0, (_digit_steps, _other_steps), brief)
    return scope.speller


def _digit_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Rewriting]:
    if any(map(_is_symbolic, form.terms)):
        yield from product_steps(scope, form)
    yield from sum_steps(scope, form)
    yield from remainder_steps(scope, form, limit)


def _is_symbolic(atom: Atom) -> bool:
    return atom.kind is Kind.PRODUCT or is_symbolic_quotient(atom)


def _other_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Rewriting]:
    yield from joining_steps(scope, form, limit)
    yield from quotient_steps(form, limit)
    yield from extremum_steps(scope, form, limit)
