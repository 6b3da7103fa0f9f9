"""The rows of ``tests/data/conformance``: facts about XLA and its peers, one JSON object a line."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent / "data" / "conformance"

Row: TypeAlias = dict[str, Any]


@lru_cache
def rows(name: str) -> tuple[Row, ...]:
    """All rows of ``<name>.jsonl``."""
    text = (FOLDER / f"{name}.jsonl").read_text("utf-8")
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
