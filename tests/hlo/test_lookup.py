"""Looking up instructions and computations, and the bytes of shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from indexing.layout import Shape, ShapeError
from ops import hlo
from simplifier.errors import ArgumentError
from tests.cases import for_all

TEXT = """
f { x = f32[2] parameter(0) ROOT add.1 = f32[2] add(x, x) }
g { x = f32[2] parameter(0) ROOT mul.1 = f32[2] multiply(x, x) }
ENTRY e {
  a = f32[2] parameter(0)
  f.1 = f32[2] fusion(a), kind=kLoop, calls=f
  ROOT f.2 = f32[2] fusion(f.1), kind=kLoop, calls=g
}
"""
NUMBER: Any = 0
MODULE = hlo.parse(TEXT, "m.hlo")


@for_all(["add.1", "%add.1"])
def test_a_name_finds_its_instruction(name: str) -> None:
    assert MODULE[name] is MODULE.computations[0].root
    assert MODULE.computation("f")[name] is MODULE.computation("%f").root


FOUND: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["x", "add.1", "x", "mul.1", "a", "f.1", "f.2"]),
    ({"pattern": "%f.*"}, ["f.1", "f.2"]),
    ({"pattern": "f.[2-9]"}, ["f.2"]),
    ({"pattern": "?"}, ["x", "x", "a"]),
    ({"opcode": "parameter"}, ["x", "x", "a"]),
    ({"pattern": "a*", "opcode": "parameter"}, ["a"]),
    ({"pattern": "nothing"}, []),
]


@for_all(FOUND)
def test_patterns_and_opcodes_find_instructions(question: dict[str, Any], names: list[str]) -> None:
    assert [each.name for each in MODULE.find(**question)] == names
    inside = [each.name for part in MODULE.computations for each in part.find(**question)]
    assert inside == names


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: MODULE["ad.1"], hlo.NoSuchInstructionError, "m.hlo: no instruction is called %ad.1\n"),
    (lambda: MODULE["ad.1"], hlo.NoSuchInstructionError, "hint: there is %add.1"),
    (lambda: MODULE["x"], hlo.AmbiguousNameError, "instructions of %f, %g are called %x"),
    (lambda: MODULE.entry["f.3"], hlo.NoSuchInstructionError, "hint: there is %f.2, %f.1"),
    (lambda: MODULE.computation("ff"), hlo.NoSuchComputationError, "%ff\nhint: there is %f"),
    (lambda: MODULE.find(opcode="fuson"), ArgumentError, "no opcode fuson; did you mean fusion?"),
    (lambda: MODULE[NUMBER], ArgumentError, "the name is 0; expected a string"),
    (lambda: Shape.parse("f32[?]").bytes, ShapeError, "no bound"),
]


@for_all(ERRORS)
def test_what_is_not_there_is_named(
    question: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        question()
    assert message in str(raised.value)


def test_users_are_those_that_read() -> None:
    a, first, second = MODULE.entry.instructions
    assert (a.users, first.users, second.users) == ((first,), (second,), ())


BYTES = [
    ("f32[2,3]", 24),
    ("pred[]", 1),
    ("bf16[3,200]{1,0:T(8,128)(2,1)}", 4096),
    ("s4[5]{0:E(4)}", 3),
    ("(f32[2], (s32[3], ()))", 20),
    ("token[]", 0),
    ("b(f32[4])", 16),
    ("f32[<=8]", 32),
]


@for_all(BYTES)
def test_bytes_of_a_shape(text: str, size: int) -> None:
    assert Shape.parse(text).bytes == size
