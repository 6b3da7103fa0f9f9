"""Operands and instructions by their names, wherever their numbers or they themselves are taken."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import ops
from indexing import MapError
from ops import hlo
from simplifier.errors import ArgumentError, IndexingError

MODULE = hlo.parse("""ENTRY e { x = f32[4,8] parameter(0) y = f32[8,2] parameter(1)
    k = f32[8,2] sine(y)
    dot = f32[4,2] dot(x, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT twice = f32[4,2] add(dot, dot) }""")
X, Y, K, DOT, TWICE = MODULE.entry.instructions
FUSION = ops.Fusion.of_computation(MODULE.entry)

SAME: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "an input by name": (
        lambda: ops.input_to_output(DOT, "k"),
        lambda: ops.input_to_output(DOT, 1),
    ),
    "an input with a sign": (
        lambda: ops.input_to_output(DOT, "%x"),
        lambda: ops.input_to_output(DOT, 0),
    ),
    "an input itself": (lambda: ops.input_to_output(DOT, K), lambda: ops.input_to_output(DOT, 1)),
    "an input of an analysis": (
        lambda: ops.analyze(MODULE)["dot"].input_to_output("k"),
        lambda: ops.input_to_output(DOT, 1),
    ),
    "the map to an operand": (
        lambda: ops.output_to_input(DOT).map("%k"),
        lambda: ops.output_to_input(DOT).map(1),
    ),
    "the map of an analysis": (
        lambda: ops.analyze(MODULE)["dot"].output_to_input().map("x"),
        lambda: ops.output_to_input(DOT).map(0),
    ),
    "reads": (lambda: FUSION.reads("y"), lambda: FUSION.reads(Y)),
    "reads by": (lambda: FUSION.reads("y", "dot"), lambda: FUSION.reads(Y, DOT)),
    "why": (lambda: FUSION.why("x"), lambda: FUSION.why(X)),
    "indexing": (lambda: FUSION.indexing("dot"), lambda: FUSION.indexing(DOT)),
    "epilogue": (lambda: FUSION.epilogue("dot", "twice"), lambda: FUSION.epilogue(DOT, TWICE)),
    "hero inputs": (lambda: FUSION.hero_inputs("%dot"), lambda: FUSION.hero_inputs(DOT)),
}


@pytest.mark.parametrize(("by_name", "expected"), SAME.values(), ids=SAME)
def test_a_name_stands_for_what_it_names(
    by_name: Callable[[], object], expected: Callable[[], object]
) -> None:
    assert by_name() == expected()


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


REFUSED: dict[str, tuple[Callable[[Any], object], str]] = {
    "another input": (lambda _: ops.input_to_output(DOT, "y"), "%dot does not read %y; .*: %x, %k"),
    "another input itself": (lambda _: ops.input_to_output(DOT, Y), "%dot does not read %y"),
    "an input read twice": (
        lambda _: ops.input_to_output(TWICE, "dot"),
        "input_to_output: %dot is operand 0, 1 of %twice; expected one",
    ),
    "a map to an operand that is read twice": (
        lambda _: ops.output_to_input(TWICE).map("dot"),
        "map: 'dot' is operand 0, 1; expected one of the numbers",
    ),
    "an operand of results": (
        lambda _: ops.input_to_output(DOT, "k").map("zz"),
        "map: no operand is called 'zz'",
    ),
    "no instruction": (lambda _: FUSION.reads("zz"), "no instruction is called %zz"),
    "a number": (FUSION.reads, "fusion: the instruction is 3; expected an Instruction"),
    "the number of an array": (
        lambda _: FUSION.indexing("dot", "3"),  # pyright: ignore[reportArgumentType] - that is the test
        "array is '3'",
    ),
    "a number of an input": (lambda given: ops.input_to_output(DOT, given), "no operand 3 among 2"),
}


@pytest.mark.parametrize(("ask", "message"), REFUSED.values(), ids=REFUSED)
def test_what_names_nothing_is_refused(ask: Callable[[Any], object], message: str) -> None:
    with pytest.raises(IndexingError, match=message):
        ask(3)


def test_errors_are_of_their_kinds() -> None:
    with pytest.raises(ops.NoSuchInstructionError):
        FUSION.why("zz")
    with pytest.raises(ArgumentError):
        ops.input_to_output(DOT, 1.5)  # pyright: ignore[reportArgumentType] - that is the test
    with pytest.raises(ops.ShapeError):
        ops.input_to_output(DOT, "zz")
