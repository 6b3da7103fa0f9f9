"""Candidates of one step of the search, and the cost that one of them has to undercut.

A candidate is described before it is built. Most cost too much, and many are known to by what
stands beside the new operation, or by what it costs at least. Only of the others the operands are
extracted, and only what is below the limit is asked whether it is narrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from simplifier.expr import operations
from simplifier.expr.form import EXTREMA, AtomKind, Form
from simplifier.expr.operations import extremum_operands
from simplifier.extraction.cost import DIVISION, DIVISIONS, USED_AGAIN
from simplifier.extraction.prices import FINE, Prices, fine_cost
from simplifier.laws.catalogue.spellings import CONGRUENT_RESIDUES
from simplifier.laws.rewrite_log import Rewrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplifier.extraction.prices import CostOf
    from simplifier.laws.law import Law


class CostModel(Protocol):
    """What a helper says about the cost of what a candidate brings in."""

    cost: CostOf

    def cost_of(self, kind: AtomKind, operands: Sequence[Form], limit: int) -> int:
        """The cost of an operation, its operands extracted; beyond the limit its least cost."""
        ...

    def extract(self, form: Form) -> Form:
        """The cheapest form found, its arguments left as they are."""
        ...


_UNBUILT: Final = (AtomKind.MOD, AtomKind.FLOORDIV, *EXTREMA)
"""The cost of these is found before they are built."""


class Candidates(NamedTuple):
    """``rest + weight * operation(operands)``, for each of the alternative operands."""

    rest: Form
    weight: int
    kind: AtomKind
    alternatives: Iterable[tuple[Form, ...]]
    laws: tuple[Law, ...]
    """Why it is equal."""
    source: Form | None = None
    """Of a remainder, what it is taken of; the alternatives are congruent to it."""

    def built(self, operands: tuple[Form, ...]) -> Form:
        """The candidate with these operands."""
        return self.rest.plus(operations.build(self.kind, operands), self.weight)

    def laws_for(self, operands: tuple[Form, ...]) -> tuple[Law, ...]:
        """Why the candidate with these operands is equal."""
        if self.source is None or operands[0] == self.source:
            return self.laws
        return (*self.laws, CONGRUENT_RESIDUES)


class _Best(NamedTuple):
    """The cheapest candidate so far."""

    candidates: Candidates
    operands: tuple[Form, ...]


class Limit:
    """What a candidate has to undercut: the cost of the best one so far."""

    __slots__ = ("_helper", "_prices", "cost", "cost_of")

    def __init__(self, cost: int, prices: Prices, helper: CostModel) -> None:
        self.cost = cost
        self._prices = prices
        self._helper = helper
        self.cost_of: CostOf = helper.cost
        """The cost of an atom that a candidate brings in."""

    def admits_division(self, rest: Form) -> bool:
        """Whether a division beside the rest may be cheap enough."""
        return self._prices.sum(rest, 1, self.cost) + USED_AGAIN * FINE < self.cost

    def admits_extrema(self, rest: Form, count: int) -> bool:
        """Whether so many extrema may be cheap enough."""
        return self._prices.sum(rest, 1, self.cost) + count * DIVISION * FINE < self.cost

    def cheapest(self, form: Form, families: Iterable[Candidates]) -> Rewrite | None:
        """The first of the cheapest candidates below the limit, and why it equals the form."""
        best: _Best | None = None
        for candidates in families:
            beside = 0
            if candidates.kind in _UNBUILT:
                beside = self._prices.sum(candidates.rest, candidates.weight, self.cost)
                if beside + USED_AGAIN * FINE > self.cost:
                    continue
            for operands in candidates.alternatives:
                cost = self._cost(candidates, operands, beside)
                if cost < self.cost and self._is_narrow(candidates, operands):
                    best, self.cost = _Best(candidates, operands), cost
        if best is None:
            return None
        candidates, operands = best
        return Rewrite(candidates.laws_for(operands), form, candidates.built(operands))

    def _is_narrow(self, candidates: Candidates, operands: tuple[Form, ...]) -> bool:
        """Whether neither the operands nor the operation times its weight is too wide."""
        if candidates.kind is AtomKind.SUM:
            return True
        return self._prices.is_narrow(operands) and (
            self._prices.is_narrow_term(
                operations.build(candidates.kind, operands), candidates.weight
            )
        )

    def _cost(self, candidates: Candidates, operands: tuple[Form, ...], beside: int) -> int:
        """The cost of a candidate, or what it costs at least, if that is above the limit."""
        kind, helper = candidates.kind, self._helper
        if kind not in _UNBUILT or _is_beside(candidates.rest, kind, operands):
            return self._prices.sum(candidates.built(operands), limit=self.cost)
        if kind in EXTREMA:
            operands = tuple(extremum_operands(kind, operands))
            if len(operands) == 1:
                return beside + fine_cost(helper.extract(operands[0]), helper.cost)
        least = beside + helper.cost_of(kind, operands, self.cost - beside)
        if least < self.cost and kind in DIVISIONS and candidates.rest.terms:
            # With the digits that overlap.
            return self._prices.sum(candidates.built(operands), limit=self.cost)
        return least


def _is_beside(rest: Form, kind: AtomKind, operands: tuple[Form, ...]) -> bool:
    """Whether the operation is a term of the rest, or a division that shares work with one."""
    count = len(operands)
    for atom in rest.terms:
        if atom.kind is not kind and not (kind in DIVISIONS and atom.kind in DIVISIONS):
            continue
        if len(atom.arguments) == count and all(operand in atom.arguments for operand in operands):
            return True
    return False
