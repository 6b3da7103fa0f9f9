"""What spellings cost the search: finer than :mod:`simplifier.cost`, and only as far as it matters.

Most spellings that a search looks at are too dear, and many are known to be so by what stands
beside the new operation. So a price is worked out below a limit: what the best one so far costs.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier.cost import cost_of_operation, cost_of_sum
from simplifier.form import EXTREMA, Atom, Form, Kind
from simplifier.laws.announcing import Fact
from simplifier.operations import extremum_operands
from simplifier.writing.bounds import UNIT, least_price_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simplifier.writing.rewriting import Rewriting
    from simplifier.writing.search import Speller

    CostOf: TypeAlias = Callable[[Atom], int]

ODD: Final = 2
"""What a negative divisor costs beside: nobody likes to read one."""

LEAST_DIVISION: Final = cost_of_operation(Kind.MOD, 2, UNIT)


def price(form: Form, cost_of: CostOf) -> int:
    """The cost in fine units: of equally dear spellings the one with fewer signs is better."""
    return cost_of_sum(form, cost_of, UNIT, 1)


def price_of_operation(kind: Kind, operands: Sequence[Form]) -> int:
    """What an operation costs beside its operands."""
    cost = cost_of_operation(kind, len(operands), UNIT)
    if kind in _DIVISIONS and operands[1].constant < 0 and not operands[1].terms:
        cost += ODD
    return cost


_DIVISIONS: Final = (Kind.FLOORDIV, Kind.MOD, Kind.CEILDIV)


class Limit:
    """What a spelling has to undercut: the price of the best one so far."""

    __slots__ = ("_cost_of", "_helper", "price")

    def __init__(self, price: int, cost_of: CostOf, helper: Speller) -> None:
        self.price = price
        self._cost_of = cost_of
        self._helper = helper

    def left_beside(self, rest: Form, weight: int = 1) -> int:
        """What is left for one more term of this weight beside the rest."""
        return self.price - cost_of_sum(rest, self._cost_of, UNIT, 1, further=weight)

    def admits_division(self, rest: Form) -> bool:
        """Whether a division beside the rest may be cheap enough."""
        return self.left_beside(rest) > LEAST_DIVISION

    def admits_extrema(self, rest: Form, operands: Sequence[Form]) -> bool:
        """Whether minima and maxima of multiples of these operands may be cheap enough."""
        left = self.left_beside(rest) - (len(operands) - 1) * LEAST_DIVISION
        if left > 0 and len(operands) <= 3:
            for operand in operands:
                left -= self._helper.least(operand)
        return left > 0

    def cheapest(self, form: Form, rewritings: Iterable[Rewriting]) -> Fact | None:
        """The first of the cheapest spellings below the limit, and why it equals the form."""
        best, best_place, place = None, 0, 0
        dear: list[tuple[int, int, Rewriting, Sequence[Form]]] = []
        for rewriting in rewritings:
            beside = self._price_beside(rewriting)
            if beside + LEAST_DIVISION * (rewriting.kind in _UNBUILT) >= self.price: continue
            for operands in rewriting.alternatives:
                place += 1
                own, is_exact = self._offer(rewriting, operands, beside)
                if own >= self.price:
                    continue
                if is_exact:
                    best, best_place, self.price = (rewriting, operands), place, own
                else:
                    dear.append((own, place, rewriting, operands))
        dear.sort(key=itemgetter(0, 1))
        for least, place, rewriting, operands in dear:
            if (least, place) > (self.price, best_place):
                continue
            own = self._exact(rewriting, operands)
            if own < self.price or (own == self.price and place < best_place):
                best, best_place, self.price = (rewriting, operands), place, own
        if best is None:
            return None
        rewriting, operands = best
        return Fact(rewriting.laws_for(operands), form, rewriting.built(operands))

    def _price_beside(self, rewriting: Rewriting) -> int:
        if rewriting.kind not in _UNBUILT:
            return 0
        return cost_of_sum(rewriting.rest, self._cost_of, UNIT, 1, further=rewriting.weight)

    def _offer(self, rewriting: Rewriting, operands: Sequence[Form], beside: int) -> tuple[int, bool]:
        """The price for operands, or the least that it can be; and whether it is the price.

        Divisions and extrema are priced unbuilt, unless the same stands beside them.
        """
        rest, kind, helper = rewriting.rest, rewriting.kind, self._helper
        if kind not in _UNBUILT or _is_beside(rest, kind, operands):
            return price(rewriting.built(operands), self._cost_of), True
        if kind in EXTREMA:
            operands = extremum_operands(kind, operands)
            if len(operands) == 1:
                return beside + price(helper.spelling(operands[0]), helper.cost), True
        if all(map(helper.is_written_as_it_is, operands)):
            return beside + helper.cost_of(kind, operands), True
        return beside + price_of_operation(kind, operands) + sum(map(least_price_apart, operands)), False

    def _exact(self, rewriting: Rewriting, operands: Sequence[Form]) -> int:
        kind = rewriting.kind
        if kind in EXTREMA:
            operands = extremum_operands(kind, operands)
        return self._price_beside(rewriting) + self._helper.cost_of(kind, operands)


_UNBUILT: Final = (Kind.MOD, Kind.FLOORDIV, *EXTREMA)


def _is_beside(rest: Form, kind: Kind, operands: Sequence[Form]) -> bool:
    """Whether the operation on the operands is there already."""
    for atom in rest.terms:
        if atom.kind is kind and len(atom.arguments) == len(operands):
            if all(operand in atom.arguments for operand in operands):
                return True
    return False


_UNBUILT: Final = (Kind.MOD, Kind.FLOORDIV, *EXTREMA)
