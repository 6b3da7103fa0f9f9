"""Tables of facts about XLA and its peers, one JSON object a line.

``tests/data/conformance`` has the facts that were given, ``tests/data/xla`` those of XLA's tests.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

_DATA: Final = Path(__file__).parent / "data"

TABLES: Final = {
    folder: tuple(sorted(path.stem for path in (_DATA / folder).glob("*.jsonl")))
    for folder in ("conformance", "xla")
}
"""The names of the tables in each folder."""

Row: TypeAlias = dict[str, Any]


@lru_cache
def rows(name: str) -> tuple[Row, ...]:
    """All rows of ``<name>.jsonl``."""
    folder = next((folder for folder, names in TABLES.items() if name in names), "conformance")
    text = (_DATA / folder / f"{name}.jsonl").read_text("utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def rows_of(name: str, **fields: str) -> list[Row]:
    """The rows whose fields have these values, such as ``kind="symbolic_expr"``; at least one."""
    chosen = [row for row in rows(name) if fields.items() <= row.items()]
    if not chosen:
        raise LookupError(f"{name}.jsonl has no row with {fields}")
    return chosen


def for_each(chosen: Sequence[Row]) -> pytest.MarkDecorator:
    """Run a test with each row as its argument ``row``."""
    return pytest.mark.parametrize("row", chosen, ids=[row["id"] for row in chosen])
