"""The oracle sees what was seen of XLA before."""

from __future__ import annotations

import pytest

from tests.conformance import Row, for_each, rows
from tests.ops.oracle import felt, moved

MOVED = [row for row in rows("oracle") if row["kind"] == "move" and row["op"] != "bitcast"]
"""A program cannot be handed over with the layouts that a bitcast looks at."""


@pytest.mark.needs("jaxlib")
@for_each(MOVED)
def test_elements_are_seen_where_they_were_seen(row: Row) -> None:
    runtime = row.get("runtime", {})
    given = {int(name.removeprefix("operand")): value for name, value in runtime.items()}
    seen = {(tuple(result), tuple(operand)) for result, operand in row["pairs"]}
    assert moved(row["hlo"], row["operand"], given) == seen


@pytest.mark.needs("jaxlib")
def test_what_is_computed_feels_its_operands() -> None:
    text = """HloModule m
    larger { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
    ENTRY e { x = f32[2,3] parameter(0) i = f32[] parameter(1)
      ROOT r = f32[2] reduce(x, i), dimensions={1}, to_apply=larger }"""
    assert felt(text, 0) == {((row,), (row, column)) for row in range(2) for column in range(3)}
    assert felt(text, 1) == {((0,), ()), ((1,), ())}
