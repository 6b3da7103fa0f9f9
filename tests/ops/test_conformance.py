"""Rows of the conformance files: pairs of elements that were seen by running HLO, now as then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ops import REGISTRY, RuntimeOrigin, Unknown, fusion_indexing
from tests.conformance import Row, for_each, rows
from tests.evaluation import Pair
from tests.ops.oracle import felt, moved
from tests.ops.reached_elements import related_given
from tests.xla.modules import module_of


@for_each([*rows("oracle"), *rows("oracle_chains")])
def test_maps_hold_what_was_seen(row: Row) -> None:
    entry = module_of(row).entry
    operand: int = row["operand"]
    answer = fusion_indexing(entry.root).get(entry.parameters[operand], ())
    assert not isinstance(answer, Unknown)
    related = (related_given(way.map, way.runtime, _known_arrays(row)) for way in answer)
    found = set[Pair]().union(*related)
    seen = {(tuple(result), tuple(operand)) for result, operand in row["pairs"]}
    assert found == seen or (row["relation"] == "subset" and found > seen)


def _known_arrays(row: Row) -> Callable[[RuntimeOrigin], np.ndarray[Any, Any]]:
    """The values of the other operands, at the parameters that hold them."""

    def array_of(origin: RuntimeOrigin) -> np.ndarray[Any, Any]:
        values = row["runtime"][f"operand{origin.instruction.parameter_number}"]
        return np.array(values, dtype=np.int64).reshape(origin.instruction.shape.dimensions)

    return array_of


def test_the_seen_pairs_of_every_supported_row_are_checked() -> None:
    assert sum(row["op"] in REGISTRY.opcodes for row in rows("oracle")) > len(rows("oracle")) // 2


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
