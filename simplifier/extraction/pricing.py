"""What spellings cost a search, worked out only as far as it matters.

Most spellings that a search looks at are too dear, and many are known to be so by what stands
beside the new operation, or by what it costs at least. What would have to be spelled to know its
price waits, until all others are known: then few are still below the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from simplifier.expr.form import EXTREMA, Atom, Form, Kind
from simplifier.expr.operations import extremum_operands
from simplifier.extraction.cost import cost_of_operation, cost_of_sum
from simplifier.extraction.lower_bounds import UNIT, least_price_in_detail
from simplifier.laws.rewrite_log import Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simplifier.extraction.rewriting import Rewriting
    from simplifier.extraction.search import Speller

    CostOf: TypeAlias = Callable[[Atom], int]

ODD: Final = 2
"""What a negative divisor costs beside: nobody likes to read one."""

LEAST_DIVISION: Final = cost_of_operation(Kind.MOD, 2, UNIT)

_UNBUILT: Final = (Kind.MOD, Kind.FLOORDIV, *EXTREMA)
"""What is priced before it is built."""


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


class _Offer(NamedTuple):
    """A spelling for less than the limit; ``place`` counts all that were looked at."""

    price: int
    place: int
    rewriting: Rewriting
    operands: tuple[Form, ...]
    is_exact: bool
    """Whether the price is known, not only what it is at least."""


class Limit:
    """What a spelling has to undercut: the price of the best one so far."""

    __slots__ = ("_cost_of", "_helper", "price")

    def __init__(self, price: int, cost_of: CostOf, helper: Speller) -> None:
        self.price = price
        self._cost_of = cost_of
        self._helper = helper

    def admits_division(self, rest: Form) -> bool:
        """Whether a division beside the rest may be cheap enough."""
        return self._price_beside(rest, 1) + LEAST_DIVISION < self.price

    def admits_extrema(self, rest: Form, count: int, operands: Sequence[Form] = ()) -> bool:
        """Whether so many extrema of multiples of these operands may be cheap enough."""
        least = self._price_beside(rest, 1) + count * LEAST_DIVISION
        if least < self.price:
            least += sum(map(self._helper.least, operands))
        return least < self.price

    def cheapest(self, form: Form, rewritings: Iterable[Rewriting]) -> Fact | None:
        """The first of the cheapest spellings below the limit, and why it equals the form."""
        best: _Offer | None = None
        waiting: list[_Offer] = []
        for offer in self._offers(rewritings):
            if offer.is_exact:
                best, self.price = offer, offer.price
            else:
                waiting.append(offer)
        for offer in sorted(waiting, key=_in_order):
            limit = (self.price, best.place if best else 0)
            if _in_order(offer) < limit:
                exact = self._spelled(offer)
                if _in_order(exact) < limit:
                    best, self.price = exact, exact.price
        if best is None:
            return None
        rewriting, operands = best.rewriting, best.operands
        return Fact(rewriting.laws_for(operands), form, rewriting.built(operands))

    def _offers(self, rewritings: Iterable[Rewriting]) -> Iterator[_Offer]:
        """All that may be cheaper than the limit, which falls while they are looked at."""
        place = 0
        for rewriting in rewritings:
            beside = 0
            if rewriting.kind in _UNBUILT:
                beside = self._price_beside(rewriting.rest, rewriting.weight)
                if beside + LEAST_DIVISION > self.price:
                    continue
            for operands in rewriting.alternatives:
                place += 1
                offer = self._offer(rewriting, operands, beside, place)
                if offer.price < self.price:
                    yield offer

    def _offer(
        self, rewriting: Rewriting, operands: tuple[Form, ...], beside: int, place: int
    ) -> _Offer:
        """Divisions and extrema are priced unbuilt, unless the same stands beside them."""
        kind, helper = rewriting.kind, self._helper
        if kind not in _UNBUILT or _is_beside(rewriting.rest, kind, operands):
            built = price(rewriting.built(operands), self._cost_of)
            return _Offer(built, place, rewriting, operands, is_exact=True)
        if kind in EXTREMA:
            operands = tuple(extremum_operands(kind, operands))
            if len(operands) == 1:
                alone = beside + price(helper.spelling(operands[0]), helper.cost)
                return _Offer(alone, place, rewriting, operands, is_exact=True)
        if all(map(helper.is_written_as_it_is, operands)):
            whole = beside + helper.cost_of(kind, operands)
            return _Offer(whole, place, rewriting, operands, is_exact=True)
        least = (
            beside + price_of_operation(kind, operands) + sum(map(least_price_in_detail, operands))
        )
        return _Offer(least, place, rewriting, operands, is_exact=False)

    def _spelled(self, offer: _Offer) -> _Offer:
        rewriting = offer.rewriting
        beside = self._price_beside(rewriting.rest, rewriting.weight)
        cost = self._helper.cost_of(rewriting.kind, offer.operands)
        return offer._replace(price=beside + cost, is_exact=True)

    def _price_beside(self, rest: Form, weight: int) -> int:
        """The price of the rest and one more term of this weight, but for the term itself."""
        return cost_of_sum(rest, self._cost_of, UNIT, 1, further=weight)


def _in_order(offer: _Offer) -> tuple[int, int]:
    return offer.price, offer.place


def _is_beside(rest: Form, kind: Kind, operands: tuple[Form, ...]) -> bool:
    """Whether the operation is a term of the rest: the two would be one."""
    count = len(operands)
    for atom in rest.terms:
        if atom.kind is not kind or len(atom.arguments) != count:
            continue
        if all(operand in atom.arguments for operand in operands):
            return True
    return False
