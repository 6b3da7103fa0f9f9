"""Results of several simplifiers on the same problems: cost, machine code, correctness, time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from benchmarks.clock import time_limit
from benchmarks.machine import Formula, Machine, Writer
from benchmarks.peers import Answer, Peer, UnsupportedError
from benchmarks.problems import Problem, seeded
from benchmarks.width import NaturalReading
from simplifier.canonical.scope import scope_of
from simplifier.exact import BudgetError, NotQuasiAffineError, differing_point
from simplifier.expr.form import Form
from simplifier.extraction import costs_of
from simplifier.extraction.width import divides_by_negative
from simplifier.fixpoint import with_multiply_adds
from tests.evaluation import first_difference

POINTS: Final = 200
"""The points of each box at which results are evaluated."""

MAX_SECONDS: Final = 10.0
"""The time limit of peers written in Python; beyond it they have no answer."""

LONG: Final = 0.05
"""A peer that takes more seconds, or does not know how many, is not timed again."""

ISL_BUDGET: Final = 100_000
"""The operations that isl may spend to prove one result equal."""

INPUT: Final = "input"
"""The name of what was to be simplified, where it stands beside the results."""

MULTIPLY_ADD: Final = "multiply-add"
"""The name of our results with multiply-adds, as for a target, where they stand beside them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one simplifier for one problem."""

    form: Form | None
    """Nothing where it has no words for the problem or failed."""
    cost: int
    """That of the problem where there is no right result."""
    seconds: float
    is_wrong: bool
    is_wide: bool
    """Whether what is priced needs wider integers than the mixed-radix form of the problem."""
    has_negative_divisor: bool

    @property
    def is_right(self) -> bool:
        """Whether there is a result, and it is right."""
        return self.form is not None and not self.is_wrong


@dataclass(frozen=True, slots=True)
class Row:
    """One problem and its outcomes, by the name of the simplifier."""

    problem: Problem
    outcomes: Mapping[str, Outcome]

    def rivals(self, us: str) -> Iterator[str]:
        """The peers whose results are narrow."""
        return (name for name, found in self.outcomes.items() if name != us and not found.is_wide)

    def best_peer(self, us: str) -> str | None:
        """The peer with the cheapest narrow result; nothing if all are wide."""
        return min(self.rivals(us), key=lambda name: self.outcomes[name].cost, default=None)

    def best_cost(self, us: str) -> int | None:
        """The lowest cost of a narrow result of the peers; nothing if all are wide."""
        best = self.best_peer(us)
        return None if best is None else self.outcomes[best].cost

    def excess(self, us: str) -> int:
        """The cost of our result minus the best cost of the peers; negative if ours is cheaper."""
        best = self.best_cost(us)
        return 0 if best is None else self.outcomes[us].cost - best

    def is_at_best(self, name: str, us: str) -> bool:
        """Whether a result is narrow, and costs no more than the best narrow one of the peers."""
        found, best = self.outcomes[name], self.best_cost(us)
        return not found.is_wide and (best is None or found.cost <= best)


def compared(problems: Sequence[Problem], peers: Sequence[Peer], runs: int) -> Iterator[Row]:
    """The rows, one by one."""
    for problem in problems:
        reading = NaturalReading(problem)
        yield Row(problem, {peer.name: outcome(problem, peer, runs, reading) for peer in peers})


def outcome(problem: Problem, peer: Peer, runs: int, reading: NaturalReading) -> Outcome:
    """The cheapest narrow result of a peer, or its cheapest one if all are wide.

    The peer gets two inputs: the expression as written, and with like terms collected. The time is
    the least of the runs on the expression as written.
    """
    cost_of = costs_of(scope_of(problem.bounds)).of
    timed = list(_cold_answers(problem, peer, runs))
    answers = [*timed[:1], *_cold_answers(problem.collected, peer, 1)]
    form = min(
        (form for answer in answers for form in answer.forms),
        key=lambda form: (reading.is_wide(form), cost_of(form)),
        default=None,
    )
    is_wrong = form is not None and not _is_equal(problem, form)
    priced = problem.form if form is None or is_wrong else form
    seconds = min((answer.seconds for answer in timed or answers), default=float("nan"))
    return Outcome(
        form,
        cost_of(priced),
        seconds,
        is_wrong,
        reading.is_wide(priced),
        divides_by_negative(priced),
    )


def _cold_answers(problem: Problem, peer: Peer, runs: int) -> Iterator[Answer]:
    """The answers of repeated cold runs; none if the code of the peer raises."""
    for _ in range(runs):
        peer.forget()
        try:
            with time_limit(MAX_SECONDS):
                answer = peer.solve(problem)
        except UnsupportedError:
            return
        except Exception:  # noqa: BLE001 - peers fail in their own ways
            return
        yield answer
        if not answer.seconds <= LONG:
            return


def _is_equal(problem: Problem, form: Form) -> bool:
    """Compares by evaluation, and by isl if that is fast."""
    points = problem.points(seeded(problem.name), POINTS)
    if first_difference(problem.form, form, points) is not None:
        return False
    try:
        different = differing_point(problem.form, form, dict(problem.bounds), (), ISL_BUDGET)
    except (NotQuasiAffineError, BudgetError):
        return True
    return different is None


@dataclass(frozen=True, slots=True)
class Summary:
    """One simplifier on all problems."""

    name: str
    at_best: int
    """Narrow, and at or below the best narrow result of all but ours."""
    total_cost: int
    cost_ratio: float
    """Its cost by ours, on the problems that it answers."""
    wide: int
    negative: int
    wrong: int
    unanswered: int
    median_seconds: float
    worst_seconds: float
    median_ratio: float
    """Its time by ours, on the problems that it answers."""


def summary(rows: Sequence[Row], name: str, us: str) -> Summary:
    """The summary of the rows for one simplifier."""
    outcomes = [row.outcomes[name] for row in rows]
    answered = [row for row in rows if row.outcomes[name].form is not None]
    seconds = [row.outcomes[name].seconds for row in answered] or [float("nan")]
    ratios = [row.outcomes[name].seconds / row.outcomes[us].seconds for row in answered]
    right = [found for found in outcomes if found.is_right]
    ours = sum(row.outcomes[us].cost for row in rows if row.outcomes[name].is_right)
    return Summary(
        name,
        sum(row.is_at_best(name, us) for row in rows),
        sum(found.cost for found in outcomes),
        sum(found.cost for found in right) / ours if ours else float("nan"),
        sum(found.is_wide for found in right),
        sum(found.has_negative_divisor for found in right),
        sum(found.is_wrong for found in outcomes),
        len(rows) - len(answered),
        median(seconds),
        max(seconds),
        median(ratios or [float("nan")]),
    )


@dataclass(frozen=True, slots=True)
class Standing:
    """Our results beside the best narrow results of the peers, on the problems that have one."""

    problems: int
    at_best: int
    """Ours is narrow, and costs no more."""
    below: int
    """Ours is narrow, and costs less."""
    our_cost: int
    """The total on the problems on which ours is narrow."""
    best_cost: int
    """The total of the peers on the same problems."""
    wide: int
    """The problems on which ours is wide."""
    best_cost_of_wide: int
    """The total of the peers on these problems."""


def standing(rows: Sequence[Row], us: str) -> Standing:
    """Where we stand."""
    pairs = [(row.outcomes[us], best) for row in rows if (best := row.best_cost(us)) is not None]
    narrow = [(found.cost, best) for found, best in pairs if not found.is_wide]
    wide = [best for found, best in pairs if found.is_wide]
    return Standing(
        len(pairs),
        sum(ours <= best for ours, best in narrow),
        sum(ours < best for ours, best in narrow),
        sum(ours for ours, _ in narrow),
        sum(best for _, best in narrow),
        len(wide),
        sum(wide),
    )


# Machine code.


@dataclass(frozen=True, slots=True)
class Code:
    """The results on one problem in C, by the name of the simplifier, and the input."""

    row: Row
    formulas: Mapping[str, Formula]
    """That of the input where there is no right result."""

    @classmethod
    def of(cls, row: Row, us: str) -> Code:
        """The code of a row."""
        write, written = Writer(row.problem).formula, row.problem.form
        own = row.outcomes[us].form or written
        compiled = with_multiply_adds(scope_of(row.problem.bounds), own)
        formulas = {
            name: write(found.form if found.form is not None and found.is_right else written)
            for name, found in row.outcomes.items()
        }
        return cls(row, {**formulas, MULTIPLY_ADD: write(compiled), INPUT: write(written)})

    def new_signs(self, name: str) -> frozenset[int]:
        """The divisors of what is negative somewhere, if the input divides nothing negative."""
        return frozenset() if self.formulas[INPUT].signed else self.formulas[name].signed


@dataclass(frozen=True, slots=True)
class Excess:
    """A problem for whose result of a peer a machine executes less than for ours."""

    row: Row
    ours: int
    peer: str
    theirs: int


@dataclass(frozen=True, slots=True)
class Bill:
    """What one machine executes for the results."""

    machine: str
    totals: Mapping[str, int]
    """By the name of the simplifier, and for the input."""
    best_peer: str | None
    """That with the least total."""
    excesses: Mapping[str, Sequence[Excess]]
    """By the name of our results: the problems on which a narrow one of a peer takes less."""


def bill(codes: Sequence[Code], machine: Machine, us: str) -> Bill:
    """The bill of a machine; the worst excesses stand first."""
    known = machine.counts(formula for code in codes for formula in code.formulas.values())
    counts = [{name: known[each] for name, each in code.formulas.items()} for code in codes]
    totals = {name: sum(count[name] for count in counts) for name in codes[0].formulas}
    best = min(codes[0].row.outcomes.keys() - {us}, key=totals.__getitem__, default=None)
    excesses: dict[str, list[Excess]] = {us: [], MULTIPLY_ADD: []}
    for code, count in zip(codes, counts, strict=True):
        peer = min(code.row.rivals(us), key=count.__getitem__, default=us)
        for ours, found in excesses.items():
            if count[ours] > count[peer] and peer != us:
                found.append(Excess(code.row, count[ours], peer, count[peer]))
    for found in excesses.values():
        found.sort(key=lambda each: each.theirs - each.ours)
    return Bill(machine.name, totals, best, excesses)
