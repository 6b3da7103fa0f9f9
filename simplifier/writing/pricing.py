"""What spellings cost the search: finer than :mod:`simplifier.cost`, and only as far as it matters.

Most spellings that a search looks at are too dear, and many are known to be so by what stands
beside the new operation. So a price is worked out below a limit: what the best one so far costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.cost import cost_of_operation, cost_of_sum
from simplifier.form import EXTREMA, Atom, Form, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simplifier.writing.rewriting import Rewriting
    from simplifier.writing.search import Speller

    CostOf = Callable[[Atom], int]

UNIT: Final = 256
"""The price of an operator, when a negative number costs one more."""

ODD: Final = 2
"""What a negative divisor costs beside: nobody likes to read one."""

LEAST_DIVISION: Final = cost_of_operation(Kind.MOD, 2, UNIT)


def price(form: Form, cost_of: CostOf) -> int:
    """The cost in fine units: of equally dear spellings the one with fewer signs is better."""
    return cost_of_sum(form, cost_of, UNIT, 1)


def price_of_operation(kind: Kind, operands: tuple[Form, ...]) -> int:
    """What an operation costs beside its operands."""
    cost = cost_of_operation(kind, len(operands), UNIT)
    if kind in _DIVISIONS and operands[1].constant < 0 and not operands[1].terms:
        cost += ODD
    return cost


_DIVISIONS: Final = (Kind.FLOORDIV, Kind.MOD, Kind.CEILDIV)


def least_price(form: Form) -> int:
    """What any spelling costs: one division or extremum, and every variable once."""
    operations = [atom for atom in form.terms if atom.kind is Kind.FLOORDIV]
    if not operations:
        return 0
    seen = {inner for atom in operations for inner in atom.numerator.terms}
    seen.update(atom for atom in form.terms if atom not in operations)
    return (2 + sum(atom.kind is Kind.VARIABLE for atom in seen)) * UNIT


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

    def affordable(self, rewriting: Rewriting) -> Iterator[tuple[Form, ...]]:
        """Operands for which the spelling is cheaper than all before; each lowers the limit."""
        rest, kind = rewriting.rest, rewriting.kind
        if kind in _UNBUILT:
            beside = self.price - self.left_beside(rest, rewriting.weight)
            price_of = self._helper.cost_of_extremum if kind in EXTREMA else self._helper.cost_of
            if self.price - beside < LEAST_DIVISION: return
        for operands in rewriting.alternatives:
            if kind not in _UNBUILT or _is_beside(rest, kind, operands):
                own = price(rewriting.built(operands), self._cost_of)
            else:
                own = beside + price_of(kind, operands, self.price - beside)
            if own < self.price:
                self.price = own
                yield operands


def _is_beside(rest: Form, kind: Kind, operands: tuple[Form, ...]) -> bool:
    """Whether the operation on the operands is there already."""
    for atom in rest.terms:
        if atom.kind is kind and len(atom.arguments) == len(operands):
            if all(operand in atom.arguments for operand in operands):
                return True
    return False


_UNBUILT: Final = (Kind.MOD, Kind.FLOORDIV, *EXTREMA)
