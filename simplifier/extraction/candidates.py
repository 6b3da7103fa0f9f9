"""Candidates of one step of the search, and the cost that one of them has to undercut.

A candidate is described before it is built. Most cost too much, and many are known to by what
stands beside the new operation, or by what it costs at least. What would have to be extracted to
know its cost waits until all others are known: then few are still below the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from simplifier.expr import operations
from simplifier.expr.form import EXTREMA, Atom, AtomKind, Form
from simplifier.expr.operations import extremum_operands
from simplifier.extraction.cost import (
    DIVISIONS,
    FINE,
    USED_AGAIN,
    WIDE,
    Prices,
    cost_of_operation,
    fine_cost,
    DIVISION,
    least_cost,
)
from simplifier.laws.catalogue.spellings import CONGRUENT_RESIDUES
from simplifier.laws.rewrite_log import Rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simplifier.laws.law import Law

    CostOf: TypeAlias = Callable[[Atom], int]


class CostModel(Protocol):
    """What an extractor says about the cost of what a candidate brings in."""

    cost: CostOf

    def cost_of(self, kind: AtomKind, operands: Sequence[Form]) -> int:
        """The cost of an operation, its operands extracted."""
        ...

    def least(self, form: Form) -> int:
        """What any multiple of the form costs at least."""
        ...

    def keeps(self, form: Form) -> bool:
        """Whether there is nothing to search for."""
        ...

    def extract(self, form: Form) -> Form:
        """The cheapest form found, its arguments left as they are."""
        ...


LEAST_DIVISION: Final = USED_AGAIN * FINE

_UNBUILT: Final = (AtomKind.MOD, AtomKind.FLOORDIV, *EXTREMA)
"""The cost of these is found before they are built."""


def fine_cost_of_operation(kind: AtomKind, operands: Sequence[Form]) -> int:
    """What an operation costs beside its operands."""
    return cost_of_operation(kind, len(operands)) * FINE


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


class _Candidate(NamedTuple):
    """One candidate below the limit; ``number`` counts all that were looked at."""

    cost: int
    number: int
    candidates: Candidates
    operands: tuple[Form, ...]
    is_exact: bool
    """Whether the cost is known, not only what it is at least."""


class Limit:
    """What a candidate has to undercut: the cost of the best one so far."""

    __slots__ = ("_helper", "_prices", "cost")

    def __init__(self, cost: int, prices: Prices, helper: CostModel) -> None:
        self.cost = cost
        self._prices = prices
        self._helper = helper

    def admits_division(self, rest: Form) -> bool:
        """Whether a division beside the rest may be cheap enough."""
        return self._prices.sum(rest, 1) + LEAST_DIVISION < self.cost

    def admits_extrema(self, rest: Form, count: int, operands: Sequence[Form] = ()) -> bool:
        """Whether so many extrema of multiples of these operands may be cheap enough."""
        least = self._prices.sum(rest, 1) + count * DIVISION * FINE
        if least < self.cost:
            least += sum(map(self._helper.least, operands))
        return least < self.cost

    def cheapest(self, form: Form, families: Iterable[Candidates]) -> Rewrite | None:
        """The first of the cheapest candidates below the limit, and why it equals the form."""
        best: _Candidate | None = None
        waiting: list[_Candidate] = []
        for candidate in self._candidates_below(families):
            if candidate.is_exact:
                best, self.cost = candidate, candidate.cost
            else:
                waiting.append(candidate)
        for candidate in sorted(waiting, key=_in_order):
            limit = (self.cost, best.number if best else 0)
            if _in_order(candidate) < limit:
                exact = self._extracted(candidate)
                if _in_order(exact) < limit:
                    best, self.cost = exact, exact.cost
        if best is None:
            return None
        candidates, operands = best.candidates, best.operands
        return Rewrite(candidates.laws_for(operands), form, candidates.built(operands))

    def _candidates_below(self, families: Iterable[Candidates]) -> Iterator[_Candidate]:
        """Candidates that may be cheaper than the limit, which falls while they are looked at."""
        number = 0
        for candidates in families:
            beside = 0
            if candidates.kind in _UNBUILT:
                beside = self._prices.sum(candidates.rest, candidates.weight)
                if beside + LEAST_DIVISION > self.cost:
                    continue
            for operands in candidates.alternatives:
                number += 1
                candidate = self._candidate(candidates, operands, beside, number)
                if candidate.cost < self.cost:
                    if not candidate.is_exact or self._is_narrow(candidates, operands):
                        yield candidate

    def _is_narrow(self, candidates, operands) -> bool:
        return candidates.kind is AtomKind.SUM or self._prices.is_narrow(
            candidates.kind, operands, candidates.weight
        )

    def _candidate(
        self, candidates: Candidates, operands: tuple[Form, ...], beside: int, number: int
    ) -> _Candidate:
        """The cost of a division or an extremum, unbuilt unless the same stands beside it."""
        kind, helper = candidates.kind, self._helper
        if kind not in _UNBUILT or _is_beside(candidates.rest, kind, operands):
            built = self._prices.sum(candidates.built(operands))
            return _Candidate(built, number, candidates, operands, is_exact=True)
        if kind in EXTREMA:
            operands = tuple(extremum_operands(kind, operands))
            if len(operands) == 1:
                alone = beside + fine_cost(helper.extract(operands[0]), helper.cost)
                return _Candidate(alone, number, candidates, operands, is_exact=True)
        if all(map(helper.keeps, operands)):
            whole = beside + helper.cost_of(kind, operands)
            return _Candidate(whole, number, candidates, operands, is_exact=True)
        least = beside + fine_cost_of_operation(kind, operands) + sum(map(least_cost, operands))
        return _Candidate(least, number, candidates, operands, is_exact=False)

    def _extracted(self, candidate: _Candidate) -> _Candidate:
        candidates = candidate.candidates
        beside = self._prices.sum(candidates.rest, candidates.weight)
        cost = self._helper.cost_of(candidates.kind, candidate.operands)
        wide = 0 if self._is_narrow(candidates, candidate.operands) else WIDE
        return candidate._replace(cost=beside + cost + wide, is_exact=True)


def _in_order(candidate: _Candidate) -> tuple[int, int]:
    return candidate.cost, candidate.number


def _is_beside(rest: Form, kind: AtomKind, operands: tuple[Form, ...]) -> bool:
    """Whether the operation is a term of the rest, or a division that shares work with one."""
    count = len(operands)
    for atom in rest.terms:
        if atom.kind is not kind and not (kind in DIVISIONS and atom.kind in DIVISIONS):
            continue
        if len(atom.arguments) == count and all(operand in atom.arguments for operand in operands):
            return True
    return False
