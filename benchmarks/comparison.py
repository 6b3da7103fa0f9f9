"""Results of several simplifiers on the same problems: cost, correctness, time."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks.clock import time_limit
from benchmarks.peers import Answer, Peer, UnsupportedError
from benchmarks.problems import seeded
from simplifier.exact import BudgetError, NotQuasiAffineError, differing_point
from simplifier.extraction.cost import cost_of_form
from tests.evaluation import first_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.problems import Problem
    from simplifier.expr.form import Form

POINTS: Final = 200
"""The points of each box at which results are evaluated."""

MAX_SECONDS: Final = 10.0
"""The time limit of peers written in Python; beyond it they have no answer."""

LONG: Final = 0.05
"""A peer that takes more seconds is not timed again."""

ISL_BUDGET: Final = 100_000
"""The operations that isl may spend to prove one result equal."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one simplifier for one problem."""

    form: Form | None
    """Nothing where it has no words for the problem or failed."""
    cost: int
    """That of the problem where there is no right result."""
    seconds: float
    is_wrong: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One problem and its outcomes, by the name of the simplifier."""

    problem: Problem
    outcomes: Mapping[str, Outcome]

    def best_peer(self, us: str) -> str:
        """The peer with the cheapest correct result."""
        return min((name for name in self.outcomes if name != us), key=self._cost_of, default=us)

    def _cost_of(self, name: str) -> int:
        return self.outcomes[name].cost

    def best_cost(self, us: str) -> int:
        """The lowest cost of the peers, here or as published; ours if there are none."""
        costs = [outcome.cost for name, outcome in self.outcomes.items() if name != us]
        known = self.problem.best_known
        return min(costs if known is None else [*costs, known], default=self.outcomes[us].cost)

    def excess(self, us: str) -> int:
        """The cost of our result minus the best cost of the peers; negative if ours is cheaper."""
        return self.outcomes[us].cost - self.best_cost(us)


def compared(problems: Sequence[Problem], peers: Sequence[Peer], runs: int) -> Iterator[Row]:
    """The rows, one by one."""
    for problem in problems:
        yield Row(problem, {peer.name: outcome(problem, peer, runs) for peer in peers})


def outcome(problem: Problem, peer: Peer, runs: int) -> Outcome:
    """The cheaper result of two inputs: the expression as written, and with like terms collected.

    The time is the least of the runs on the expression as written.
    """
    timed = list(_cold_answers(problem, peer, runs))
    answers = [*timed[:1], *_cold_answers(problem.collected, peer, 1)]
    form = min((answer.form for answer in answers), key=cost_of_form, default=None)
    is_wrong = form is not None and not _is_equal(problem, form)
    cost = cost_of_form(problem.form if form is None or is_wrong else form)
    seconds = min((answer.seconds for answer in timed or answers), default=float("nan"))
    return Outcome(form, cost, seconds, is_wrong)


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
        if answer.seconds > LONG:
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
    """At or below the best of all but ours."""
    total_cost: int
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
    return Summary(
        name,
        sum(found.cost <= row.best_cost(us) for found, row in zip(outcomes, rows, strict=True)),
        sum(found.cost for found in outcomes),
        sum(found.is_wrong for found in outcomes),
        len(rows) - len(answered),
        median(seconds),
        max(seconds),
        median(ratios or [float("nan")]),
    )
