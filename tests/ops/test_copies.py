"""Copies of tuples: each array is copied, in its own place, whatever the layout."""

from __future__ import annotations

import re

import pytest

from ops import hlo, input_to_output, output_to_input
from tests.ops.unfit import why_unfit

TUPLE = "(f32[4,8], (f32[<=5], s32[]), token[])"
MODULE = hlo.parse(f"""ENTRY e {{ p = {TUPLE} parameter(0)
    ROOT c = (f32[4,8]{{0,1}}, (f32[<=5], s32[]), token[]) copy(p) }}""")
COPIED = [
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]",
    "(d0)<p_1_0> -> (d0), domain: d0 in [0, p_1_0 - 1], p_1_0 in [0, 5]",
    "() -> ()",
    "() -> ()",
]


@pytest.mark.parametrize("number", range(len(COPIED)))
def test_each_array_of_a_tuple_is_copied(number: int) -> None:
    found = output_to_input(MODULE["c"], number)
    assert str(found.map()) == COPIED[number]
    assert input_to_output(MODULE["c"]).map(number) == found.map()
    assert [each.element for each in found.indexing[0].indexings] == [number]


@pytest.mark.parametrize("shape", ["f32[4]", "(f32[4], f32[5])", "(f32[4], f32[4], f32[4])"])
def test_a_copy_has_the_shape_of_its_operand(shape: str) -> None:
    text = f"ENTRY e {{ p = (f32[4], f32[4]) parameter(0) ROOT c = {shape} copy(p) }}"
    reason = why_unfit(hlo.parse(text).entry.root)
    assert re.search(r"copy: the result is .*; expected .*, as the operand", reason)


def test_sizes_of_another_rank_are_refused() -> None:
    text = "ENTRY e { p = f32[<=4,8] parameter(0) ROOT r = f32[<=4] reverse(p), dimensions={0} }"
    assert "%r: reverse: " in why_unfit(hlo.parse(text).entry.root)
