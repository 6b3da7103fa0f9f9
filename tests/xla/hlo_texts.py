"""What XLA's tests ask of the reader of HLO: texts that are read, and texts that are refused."""

from __future__ import annotations

import re
from typing import Final
from warnings import catch_warnings

from ops import hlo
from tests.conformance import Row
from tests.hlo.module_structure import Structures
from tests.xla.outcome import Answer, Outcome, of_values


def read_or_refused(row: Row) -> Outcome:
    """Whether a text is read, and as what: printed, it says what XLA's printed text says."""
    try:
        with catch_warnings(action="ignore"):
            texts = str(hlo.parse(row["text"])), row.get("reprinted", row["text"])
            modules = [*map(hlo.parse, texts)]
    except hlo.HloTextError as error:
        place = f" at {error.span.line}:{error.span.column}" if _places(row) else ""
        return of_values(f"refused{place}", {**row, "expected": _expected(row)})
    structures = Structures(ignored=frozenset(row.get("forgotten", ())))
    read, printed = map(structures.of, modules)
    answer = "read" if read == printed else "read as something else"
    return of_values(answer, {**row, "expected": _expected(row)})


def nested_read_or_refused(row: Row) -> Outcome:
    """Whether a text with brackets many levels deep is read; the row has its pieces."""
    depth: int = row["depth"]
    text = "".join([row["opening"] * depth, row["middle"], row["closing"] * depth])
    return read_or_refused({**row, "text": text})


def _expected(row: Row) -> str:
    if row["accepted"]:
        return "read"
    return " at ".join(["refused", *_places(row)[:1]])


def _places(row: Row) -> list[str]:
    """Where XLA's message points, if the test says it."""
    return re.findall(r"was parsing (\d+:\d+):", row.get("error", ""))


QUESTIONS: Final[dict[str, Answer]] = {
    "hlo_text": read_or_refused,
    "nested hlo_text": nested_read_or_refused,
}
