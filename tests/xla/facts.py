"""The facts of XLA's own tests, and our answers beside them: the same, better, different or wrong.

Maps and expressions are compared as what they mean, not as texts: isl proves that they are equal,
or all points are enumerated.

A fact is a row of a table in ``tests/data/xla`` or ``tests/data/conformance``, a line of JSON:

``id``
    Its name in the table.
``xla``
    The suite and the test, ``indexing_map_test.ConstraintMerge_Mod``. A row without it is a fact
    about XLA that no test of these suites states.
``kind``
    The question, a name in :data:`~tests.xla.questions.QUESTIONS`; other fields are about it.
``expected``
    XLA's answer.
``class``, ``why``
    ``better`` or ``different`` where our answer is not XLA's, with the reason.
``facts``
    How many expectations a row without counterpart stands for, if there are several.
``ours``, ``right``
    Our answer where it is another value; the right map where XLA's is another relation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import prod
from typing import Final, TypeAlias

import sympy

from indexing import IndexingMap, parse_map
from simplifier import Interval, NotQuasiAffineError, cost, format_expr, parse_expr
from tests.conformance import TABLES, Row, rows
from tests.evaluation import cost_of_map, differing_point, related


class Verdict(Enum):
    """How our answer is to XLA's; the worst is the last."""

    SAME = "same"
    BETTER = "better"
    DIFFERENT = "different"
    UNASKED = "nothing for us"
    WRONG = "wrong"


KINDS: Final = {
    "hlo_text": "hlo_text",
    "interval": "interval",
    "op": "maps of an instruction",
    "simplify": "map",
}
"""The question of the rows of a table that name none."""


@dataclass(frozen=True, slots=True)
class Fact:
    table: str
    row: Row

    @property
    def name(self) -> str:
        return f"{self.table}/{self.row['id']}"

    @property
    def kind(self) -> str:
        return self.row.get("kind") or KINDS[self.table]

    @property
    def suite(self) -> str:
        """The file of XLA's test; empty if there is none."""
        return self.row.get("xla", "").partition(".")[0]

    @property
    def test(self) -> str:
        return self.row.get("xla", "").partition(".")[2]

    @property
    def verdict(self) -> Verdict:
        """What the row says our answer is."""
        is_unasked = self.kind == Verdict.UNASKED.value
        return Verdict.UNASKED if is_unasked else Verdict(self.row.get("class", "same"))

    @property
    def why(self) -> str:
        return self.row.get("why", "")


@lru_cache
def facts() -> tuple[Fact, ...]:
    """All facts of XLA's tests, and the others in their tables."""
    tables = sorted({*KINDS, "layout", "parse", *TABLES["xla"]})
    return tuple(Fact(table, row) for table in tables for row in rows(table))


EMPTY: Final = "KNOWN EMPTY"
"""XLA's text of a map without points."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What we say, what XLA says, and which of the two is better."""

    verdict: Verdict
    ours: str
    xla: str


Answer: TypeAlias = Callable[[Row], object]
"""What we say to a row: an outcome, or a value beside the one that the row expects."""


def most_serious(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on all, from those on each."""
    return max(verdicts, key=[*Verdict].index, default=Verdict.SAME)


def of_values(ours: object, row: Row) -> Outcome:
    """Equal values are the same; of another value the row says what it is."""
    if ours == row["expected"]:
        verdict = Verdict.SAME
    elif "ours" in row and ours == row["ours"]:
        verdict = Verdict(row["class"])
    else:
        verdict = Verdict.WRONG
    return Outcome(verdict, _text(ours), _text(row["expected"]))


def _text(value: object) -> str:
    return "refused" if value is None else str(value)


def of_map(ours: IndexingMap, row: Row) -> Outcome:
    expected, right = row["expected"], row.get("right")
    return Outcome(verdict_on_map(ours, expected, right), str(ours), expected)


def verdict_on_map(ours: IndexingMap, expected: str, right: str | None = None) -> Verdict:
    """How our map is to XLA's; ``right`` is the map that XLA should have.

    Texts that differ only in the order of summands are the same: XLA's order changed, too.
    """
    if right is not None:
        return Verdict.BETTER if str(ours) == right else Verdict.WRONG
    if expected == EMPTY:
        return Verdict.SAME if ours.is_known_empty else Verdict.WRONG
    other = parse_map(expected)
    if str(ours) == str(other):
        return Verdict.SAME
    if not same_relation(ours, other):
        return Verdict.WRONG
    return Verdict.BETTER if measure(ours) < measure(other) else Verdict.DIFFERENT


def same_relation(a: IndexingMap, b: IndexingMap) -> bool:
    """Whether two maps relate the same points: proved by isl, or by enumeration."""
    try:
        return a.equals(b)
    except NotQuasiAffineError:  # products are no matter for isl
        return related(a) == related(b)


def measure(made: IndexingMap) -> tuple[int, float]:
    """The cost and constraints of a map, then the points of its bounds: less is better."""
    box = prod(interval.size or 0 for interval in made.domain.bounds.values())
    return cost_of_map(made) + len(made.domain.constraints), box


def of_expression(ours: sympy.Expr, row: Row) -> Outcome:
    expected: str | None = row["expected"]
    text = format_expr(ours)
    if expected is None or "ours" in row:
        return of_values(text, row)
    if text == format_expr(parse_expr(expected)):
        return Outcome(Verdict.SAME, text, expected)
    return Outcome(_verdict_on_expression(ours, parse_expr(expected)), text, expected)


def _verdict_on_expression(ours: sympy.Expr, expected: sympy.Expr) -> Verdict:
    if differing_point(ours, expected, {}, []) is not None:
        return Verdict.WRONG
    return Verdict.BETTER if cost(ours) < cost(expected) else Verdict.DIFFERENT


def ends(interval: Interval) -> list[int | None]:
    return [interval.lower, interval.upper]
