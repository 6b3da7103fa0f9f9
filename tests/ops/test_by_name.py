"""Operands and instructions by their names, wherever their numbers or they themselves are taken."""

from __future__ import annotations

import pickle

import pytest

import ops
from indexing import MapError
from ops import hlo
from simplifier.errors import IndexingError
from tests.cases import for_all, pairs
from tests.indexing.tables import refusals

MODULE = hlo.parse("""ENTRY e { x = f32[4,8] parameter(0) y = f32[8,2] parameter(1)
    k = f32[8,2] sine(y)
    dot = f32[4,2] dot(x, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT twice = f32[4,2] add(dot, dot) }""")
X, Y, K, DOT, TWICE = MODULE.entry.instructions
FUSION = ops.Fusion.of_computation(MODULE.entry)

SAME = pairs("""
ops.input_to_output(DOT, "k") => ops.input_to_output(DOT, 1)
ops.input_to_output(DOT, "%x") => ops.input_to_output(DOT, 0)
ops.input_to_output(DOT, K) => ops.input_to_output(DOT, 1)
ops.analyze(MODULE)["dot"].input_to_output("k") => ops.input_to_output(DOT, 1)
ops.output_to_input(DOT).map("%k") => ops.output_to_input(DOT).map(1)
ops.analyze(MODULE)["dot"].output_to_input().map("x") => ops.output_to_input(DOT).map(0)
FUSION.reads("y") => FUSION.reads(Y)
FUSION.reads("y", "dot") => FUSION.reads(Y, DOT)
FUSION.why("x") => FUSION.why(X)
FUSION.indexing("dot") => FUSION.indexing(DOT)
FUSION.epilogue("dot", "twice") => FUSION.epilogue(DOT, TWICE)
FUSION.hero_inputs("%dot") => FUSION.hero_inputs(DOT)
""")


@for_all(SAME.items())
def test_a_name_stands_for_what_it_names(by_name: str, expected: str) -> None:
    assert eval(by_name) == eval(expected)  # noqa: S307 - of the table above


def test_answers_keep_the_names_of_their_own_operands() -> None:
    """Instructions that are alike share their answers, but not the names of what they read."""
    module = hlo.parse("""ENTRY e { a = f32[4] parameter(0) b = f32[4] parameter(1)
        c = f32[4] negate(a) d = f32[4] negate(b) ROOT t = (f32[4], f32[4]) tuple(c, d) }""")
    first, second = ops.output_to_input(module["c"]), ops.output_to_input(module["d"])
    assert first == second
    assert first.map("a") == second.map("b")
    assert pickle.loads(pickle.dumps(second)).map("b") == first.map()  # noqa: S301 - our own
    with pytest.raises(MapError, match="no operand is called 'a'; expected b"):
        second.map("a")


test_what_names_nothing_is_refused = refusals(globals(), IndexingError)("""
ops.input_to_output(DOT, "y")
    ShapeError: input_to_output: %dot does not read %y; its operands: %x, %k
ops.input_to_output(DOT, Y) => %dot does not read %y
ops.input_to_output(TWICE, "dot") => input_to_output: %dot is operand 0, 1 of %twice; expected one
ops.output_to_input(TWICE).map("dot") => map: 'dot' is operand 0, 1; expected one of the numbers
ops.input_to_output(DOT, "k").map("zz") => map: no operand is called 'zz'
FUSION.reads("zz") => no instruction is called %zz
FUSION.reads(3) => fusion: the instruction is 3; expected an Instruction
FUSION.indexing("dot", "3") => array is '3'
ops.input_to_output(DOT, 3) => no operand 3 among 2
FUSION.why("zz") => NoSuchInstructionError: no instruction is called %zz
ops.input_to_output(DOT, 1.5) => ArgumentError: input_to_output: the number of the array is 1.5
ops.input_to_output(DOT, "zz") => ShapeError: input_to_output: %dot does not read %zz
""")
