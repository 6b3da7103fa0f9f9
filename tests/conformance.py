"""The rows of ``tests/data/conformance``: facts about XLA and its peers, one JSON object a line."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

FOLDER = Path(__file__).parent / "data" / "conformance"

Row: TypeAlias = dict[str, Any]


@lru_cache
def rows(name: str) -> tuple[Row, ...]:
    """All rows of ``<name>.jsonl``."""
    text = (FOLDER / f"{name}.jsonl").read_text("utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def cases(name: str, kind: str | None = None) -> list[ParameterSet]:
    """The rows as parameters of a test, with their names; those of one kind, where it is given."""
    chosen = [row for row in rows(name) if kind is None or row.get("kind") == kind]
    if not chosen:
        raise LookupError(f"{name}.jsonl has no row of kind {kind!r}")
    return [pytest.param(row, id=row["id"]) for row in chosen]
