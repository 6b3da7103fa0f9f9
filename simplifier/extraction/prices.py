"""Fine costs: what the search compares spellings by.

Of spellings of equal cost, the one with fewer terms is better, then the one with fewer numbers,
then that with fewer signs. A spelling that needs wider integers than the problem is worse than any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.bounds.interval import meet
from simplifier.bounds.ranges import range_at_a_glance
from simplifier.expr.form import Atom, AtomKind, Form
from simplifier.extraction.cost import (
    DIVISIONS,
    USED_AGAIN,
    divided_by_digits,
    division_of,
    overlaps,
)
from simplifier.extraction.width import magnitude

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from simplifier.bounds.interval import Range
    from simplifier.canonical.scope import Scope
    from simplifier.extraction.width import Width

    CostOf: TypeAlias = Callable[[Atom], int]


FINE: Final = 4096
"""The cost of an operator in fine units."""

TERM: Final = 256
"""The cost of a further term of a sum, beside that of the operator, in fine units."""

NUMBER: Final = 8
"""The cost of a number in fine units; a negative one costs 1 more."""

WIDE: Final = 1 << 48
"""The cost of a term that needs wider integers than the problem: above any number of operators."""


NO_LIMIT: Final = 1 << 200
"""Above all costs."""


class Prices:
    """The costs of sums in fine units, where atoms cost what ``cost_of`` says.

    A term that may be beyond the width costs :data:`WIDE`.
    """

    __slots__ = ("_cost_of", "_glances", "_is_alone", "_magnitudes", "_scope", "_width")

    def __init__(
        self, scope: Scope, cost_of: CostOf, width: Width, *, is_alone: bool = True
    ) -> None:
        self._scope = scope
        self._cost_of = cost_of
        self._width = width
        self._is_alone = is_alone
        self._magnitudes: dict[Atom, int | None] = {}
        self._glances: dict[Atom, int | None] = {}

    def sum(self, form: Form, further: int = 0, limit: int = NO_LIMIT) -> int:
        """The cost of a form and, if ``further`` is not zero, of one more term of this weight.

        What the further term costs itself is not counted. Beyond the limit it is what the form
        costs at least: nobody asks then whether it is wide.
        """
        cost = fine_cost(form, self._cost_of, further, limit, is_alone=self._is_alone)
        if cost < limit and not self._width.is_infinite:
            for atom, factor in form.terms.items():
                if self._is_wide(atom, abs(factor)):
                    cost += WIDE
        return cost

    def _is_wide(self, atom: Atom, factor: int) -> bool:
        greatest = self._magnitudes.get(atom, -1)
        if greatest == -1:
            at_most = self._magnitude_at_a_glance(atom)
            if at_most is not None and self._width.admits_at_a_glance(factor * at_most):
                return False
            greatest = magnitude(range_of_spelled(self._scope, atom))
            self._magnitudes[atom] = greatest
        return greatest is not None and not self._width.admits(factor * greatest)

    def _magnitude_at_a_glance(self, atom: Atom) -> int | None:
        found = self._glances.get(atom, -1)
        if found == -1:
            found = self._glances[atom] = magnitude(range_at_a_glance(self._scope, atom))
        return found

    def is_narrow_term(self, operation: Form, weight: int) -> bool:
        """Whether an operation, if it is one, times its weight is not beyond the width."""
        if self._width.is_infinite:
            return True
        atom = operation.only_atom
        return atom is None or not self._is_wide(atom, abs(weight))

    def is_narrow(self, operands: Iterable[Form]) -> bool:
        """Whether no operand may be beyond the width."""
        return self._width.is_infinite or all(map(self._fits, operands))

    def _fits(self, operand: Form) -> bool:
        scope = self._scope
        if all(atom in scope.ranges for atom in operand.terms):
            greatest = magnitude(scope.plain_range(operand))
            if greatest is not None and self._width.admits_at_a_glance(greatest):
                return True
        greatest = magnitude(scope.range_of(scope.canonical(operand)))
        return greatest is None or self._width.admits(greatest)


def range_of_spelled(scope: Scope, atom: Atom) -> Range:
    """The range of an atom of a spelling."""
    ends = scope.ranges.get(atom)
    if ends is None:
        ends = scope.range_of(scope.canonical(Form(0, {atom: 1})))
        if atom.kind is AtomKind.MOD and atom.divisor > 0:
            ends = meet(ends, (0, atom.divisor - 1))
    return ends


def fine_cost(
    form: Form,
    cost_of: CostOf,
    further: int = 0,
    limit: int = NO_LIMIT,
    *,
    is_alone: bool = True,
) -> int:
    """The cost in fine units of a form, and of one more term of this weight.

    A sum that is not alone stands beside a positive term, so that it needs no sign of its own.
    Beyond the limit it is a cost without digits that overlap.
    """
    terms, constant = form.terms, form.constant
    count = len(terms)
    multipliers: set[int] = set()
    negative = cost = 0
    if constant:
        count += 1
        cost = NUMBER
        negative = constant < 0
    if further:
        count += 1
        multipliers.add(abs(further))
        negative += further < 0
    if not count:
        return 0
    divisions = 0
    for atom, factor in terms.items():
        cost += cost_of(atom)
        if factor < 0:
            negative += 1
            multipliers.add(-factor)
        else:
            multipliers.add(factor)
        if atom.kind in DIVISIONS:
            divisions += 1
    multipliers.discard(1)
    operators = count - 1 + len(multipliers)
    if is_alone and negative == count and not (count == 1 and (multipliers or constant)):
        cost += FINE + TERM + 2 * NUMBER
    if divisions > 1:
        cost -= _shared(terms, cost_of)
    cost += operators * FINE + (count - 1) * TERM + len(multipliers) * NUMBER + negative
    if divisions and cost < limit:
        cost += overlaps(form) * (FINE + TERM)
    return cost


def _shared(terms: dict[Atom, int], cost_of: CostOf) -> int:
    """What second uses of divisions save."""
    seen = divided_by_digits(terms)
    saved = 0
    for atom in terms:
        if atom.kind in DIVISIONS:
            key = atom.division or division_of(atom)
            if key in seen:
                saved += cost_of(atom) - USED_AGAIN * FINE
            seen.add(key)
    return saved
