"""Instructions, computations and modules that are made by hand: none moves, none is half made."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from indexing.layout import Shape
from ops import (
    Unknown,
    analyze,
    fusion_indexing,
    hlo,
    input_to_output,
    output_to_input,
    parameter_indexing,
)

TEXT = """
f { x = f32[2,3] parameter(0) ROOT y = f32[2,3] negate(x) }
ENTRY e {
  a = f32[2,3] parameter(0)
  b = f32[2,3] call(a), to_apply=f
  ROOT c = f32[3,2] transpose(b), dimensions={1,0}, control-predecessors={a}
}
"""


@pytest.fixture
def module() -> hlo.HloModule:
    """Two computations of five instructions."""
    return hlo.parse(TEXT)


def test_a_second_computation_holds_copies(module: hlo.HloModule) -> None:
    entry = module.entry
    again = hlo.Computation("again", entry.instructions, entry.root)
    assert all(each.computation is entry for each in entry.instructions)
    assert all(each.computation is again for each in again.instructions)
    assert again.instructions[1].operands == (again.instructions[0],)
    assert again.root.attributes["control-predecessors"] == (again.instructions[0],)
    assert again.root.is_root
    assert entry.root.is_root
    assert str(again) == str(entry).replace("ENTRY %e", "%again")


def test_a_second_module_holds_copies(module: hlo.HloModule) -> None:
    again = hlo.HloModule("again", module.computations, module.entry, {}, "")
    assert all(each.module is module for each in module.computations)
    assert all(each.module is again for each in again.computations)
    assert again.entry.is_entry
    assert again.entry.instructions[1].attributes["to_apply"] is again.computations[0]
    assert str(again) == str(module).replace(module.name, "again")
    maps = [str(analyze(each).module.entry.root) for each in (module, again)]
    assert maps[0] == maps[1]


def test_a_computation_may_be_renamed(module: hlo.HloModule) -> None:
    renamed = dataclasses.replace(module.entry, name="renamed")
    assert (renamed.name, module.entry.name, module.entry.root.is_root) == ("renamed", "e", True)


def test_new_instructions_are_taken_as_they_are() -> None:
    shape = Shape.parse("f32[2]")
    x = hlo.Instruction("x", "parameter", shape, parameter_number=0)
    y = hlo.Instruction("y", "negate", shape, (x,))
    computation = hlo.Computation("f", (x, y), y)
    module = hlo.HloModule("m", (computation,), computation, {}, "")
    assert (y.computation, computation.module, y.span.excerpt().splitlines()[0]) == (
        computation,
        module,
        "%y = f32[2]{0} negate(%x)",
    )
    (answer,) = output_to_input(y).indexing
    assert not isinstance(answer, Unknown)
    assert [str(each) for each in answer] == ["(d0) -> (d0), domain: d0 in [0, 1]"]


QUESTIONS: list[Callable[[hlo.Instruction], Any]] = [
    lambda each: each.computation,
    output_to_input,
    input_to_output,
    fusion_indexing,
    parameter_indexing,
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_instruction_alone_is_named_in_the_error(
    question: Callable[[hlo.Instruction], Any], module: hlo.HloModule
) -> None:
    alone = hlo.Instruction("alone", "negate", Shape.parse("f32[3,2]"), (module.entry.root,))
    with pytest.raises(hlo.DetachedError, match="instruction %alone belongs to no computation"):
        question(alone)
    assert not alone.is_root
    assert alone.span.excerpt().startswith("%alone = f32[3,2]{1,0} negate(%c)")


def test_a_computation_alone_is_named_in_the_error(module: hlo.HloModule) -> None:
    alone = hlo.Computation("alone", module.entry.instructions, module.entry.root)
    assert not alone.is_entry
    with pytest.raises(hlo.DetachedError, match="computation %alone belongs to no module"):
        output_to_input(alone.root)


def test_what_is_made_by_hand_is_pickled(module: hlo.HloModule) -> None:
    alone = hlo.Instruction("alone", "negate", Shape.parse("f32[3,2]"), (module.entry.root,))
    computation = hlo.Computation("again", module.entry.instructions, module.entry.root)
    second = hlo.HloModule("again", module.computations, module.entry, {}, "")
    for thing in (alone, computation, second, second.entry.root):
        again = pickle.loads(pickle.dumps(thing))  # noqa: S301 - its own
        assert str(again) == str(thing)
