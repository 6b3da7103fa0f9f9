"""Instructions, computations and modules as objects: made by hand, and looked up."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

import ops
from indexing.layout import Shape, ShapeError
from ops import Unknown, analyze, hlo, output_to_input
from ops.hlo.module import source_locations
from simplifier.errors import ArgumentError
from tests.cases import for_all, for_rows, for_table

TEXT = """
f { x = f32[2,3] parameter(0) ROOT y = f32[2,3] negate(x) }
ENTRY e { a = f32[2,3] parameter(0)
  b = f32[2,3] call(a), to_apply=f
  ROOT c = f32[3,2] transpose(b), dimensions={1,0}, control-predecessors={a} }
"""
M = hlo.parse(TEXT)
"""Two computations of five instructions."""


def test_a_second_computation_holds_copies_and_one_may_be_renamed() -> None:
    entry = M.entry
    again = hlo.Computation("again", entry.instructions, entry.root)
    assert all(each.computation is entry for each in entry.instructions)
    assert all(each.computation is again for each in again.instructions)
    assert again.instructions[1].operands == (again.instructions[0],)
    assert again.root.attributes["control-predecessors"] == (again.instructions[0],)
    assert again.root.is_root
    assert entry.root.is_root
    assert str(again) == str(entry).replace("ENTRY %e", "%again")
    renamed = dataclasses.replace(entry, name="renamed")
    assert (renamed.name, entry.name, entry.root.is_root) == ("renamed", "e", True)


def test_a_second_module_holds_copies() -> None:
    again = hlo.HloModule("again", M.computations, M.entry, {}, "")
    assert all(each.module is M for each in M.computations)
    assert all(each.module is again for each in again.computations)
    assert again.entry.is_entry
    assert again.entry.instructions[1].attributes["to_apply"] is again.computations[0]
    assert str(again) == str(M).replace(M.name, "again")
    assert str(analyze(again).module.entry.root) == str(analyze(M).module.entry.root)


def test_new_instructions_are_taken_as_they_are() -> None:
    shape = Shape.parse("f32[2]")
    x = hlo.Instruction("x", "parameter", shape, parameter_number=0)
    y = hlo.Instruction("y", "negate", shape, (x,))
    computation = hlo.Computation("f", (x, y), y)
    module = hlo.HloModule("m", (computation,), computation, {}, "")
    assert (y.computation, computation.module) == (computation, module)
    assert y.span.excerpt().splitlines()[0] == "%y = f32[2]{0} negate(%x)"
    (answer,) = output_to_input(y).indexing
    assert not isinstance(answer, Unknown)
    assert [str(each) for each in answer] == ["(d0) -> (d0), domain: d0 in [0, 1]"]


ALONE = hlo.Instruction("alone", "negate", Shape.parse("f32[3,2]"), (M.entry.root,))
COMPUTATION = hlo.Computation("alone", M.entry.instructions, M.entry.root)


def test_what_is_alone_is_named_in_the_error() -> None:
    directions = output_to_input, ops.input_to_output
    questions = *directions, ops.fusion_indexing, ops.parameter_indexing
    for question in (attrgetter("computation"), *questions):
        with pytest.raises(hlo.DetachedError, match="instruction %alone belongs to no computation"):
            question(ALONE)
    assert not ALONE.is_root
    assert ALONE.span.excerpt().startswith("%alone = f32[3,2]{1,0} negate(%c)")
    assert not COMPUTATION.is_entry
    with pytest.raises(hlo.DetachedError, match="computation %alone belongs to no module"):
        output_to_input(COMPUTATION.root)


def test_what_is_made_by_hand_is_pickled() -> None:
    second = hlo.HloModule("again", M.computations, M.entry, {}, "")
    for thing in (ALONE, COMPUTATION, second, second.entry.root):
        assert str(pickle.loads(pickle.dumps(thing))) == str(thing)  # noqa: S301 - its own


FUSIONS = """
f { x = f32[2] parameter(0) ROOT add.1 = f32[2] add(x, x) }
g { x = f32[2] parameter(0) ROOT mul.1 = f32[2] multiply(x, x) }
ENTRY e { a = f32[2] parameter(0)
  f.1 = f32[2] fusion(a), kind=kLoop, calls=f
  ROOT f.2 = f32[2] fusion(f.1), kind=kLoop, calls=g }
"""
NUMBER: Any = 0
MODULE = hlo.parse(FUSIONS, "m.hlo")


def test_a_name_finds_its_instruction_and_that_its_users() -> None:
    for name in ("add.1", "%add.1"):
        assert MODULE[name] is MODULE.computations[0].root
        assert MODULE.computation("f")[name] is MODULE.computation("%f").root
    a, first, second = MODULE.entry.instructions
    assert (a.users, first.users, second.users) == ((first,), (second,), ())


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


@for_table("""
24 => f32[2,3]
1 => pred[]
4096 => bf16[3,200]{1,0:T(8,128)(2,1)}
3 => s4[5]{0:E(4)}
20 => (f32[2], (s32[3], ()))
0 => token[]
16 => b(f32[4])
32 => f32[<=8]
""")
def test_bytes_of_a_shape(size: str, text: str) -> None:
    assert Shape.parse(text).bytes == int(size)


TABLES = """\
HloModule m

FileNames
1 "model.py"
2 "layers.py"
FunctionNames
1 "main"
2 "loss"
FileLocations
1 {{file_name_id=1 function_name_id=1 line=10 end_line=10 column=1 end_column=9}}
2 {{file_name_id=2 function_name_id=2 line=41 end_line=41 column=1 end_column=9}}
StackFrames
{}

ENTRY e {{ ROOT p = f32[] parameter(0), metadata={{op_name="x" stack_frame_id={}}} }}
"""

OLDER = "ENTRY e {{ ROOT p = f32[] parameter(0), metadata={{{}}} }}"
SHIFTED = "1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}"
PLAIN = "1 {file_location_id=1}\n2 {file_location_id=2 parent_frame_id=1}"
CIRCLE = "1 {file_location_id=1 parent_frame_id=2}\n2 {file_location_id=2 parent_frame_id=1}"

LINES: list[tuple[str, str, str]] = [
    ("parents one too high", TABLES.format(SHIFTED, 2),
     "layers.py:41 in loss; model.py:10 in main"),
    ("the outermost frame", TABLES.format(SHIFTED, 1), "model.py:10 in main"),
    ("parents as they are", TABLES.format(PLAIN, 2), "layers.py:41 in loss; model.py:10 in main"),
    ("frames in a circle", TABLES.format(CIRCLE, 1), "model.py:10 in main"),
    ("a frame that is not there", TABLES.format(PLAIN, 7), ""),
    ("older metadata", OLDER.format('source_file="a.py" source_line=3'), "a.py:3"),
    ("no line", OLDER.format('source_file="a.py"'), "a.py"),
    ("nothing", "ENTRY e { ROOT p = f32[] parameter(0) }", ""),
]  # fmt: skip


@for_rows(LINES)
def test_lines(text: str, expected: str) -> None:
    assert "; ".join(map(str, source_locations(hlo.parse(text).entry.root))) == expected
