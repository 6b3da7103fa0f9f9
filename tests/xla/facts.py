"""The facts of XLA's own tests: what was asked, what XLA answers, and in which test of which suite.

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

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from tests.conformance import TABLES, Row, rows


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
