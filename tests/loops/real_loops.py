"""The loops of the real modules that count, one iteration or all of them as programs for JAX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property

from indexing.layout import Shape
from ops import Loop, hlo, loops
from ops.hlo import Computation, HloModule, Instruction
from ops.rules.counted_loops import start_of
from tests.hlo.modules import ALL, module_text
from tests.ops.standalone_programs import standalone
from tests.ops.tested_computations import Subject


@cache
def all_loops() -> dict[str, Loop]:
    """The loops of all real modules, by the names of module and loop."""
    found: dict[str, Loop] = {}
    for name in ALL:
        module = hlo.parse(module_text(name))
        for loop in loops(module):
            computation = loop.instruction.computation
            where = "" if computation.is_entry else f" in {computation.name}"
            found[f"{name} %{loop.instruction.name}{where}"] = loop
    return found


@cache
def different_loops() -> dict[str, Loop]:
    """Those that run a known number of times on one device, each text once."""
    found = {
        standalone(_alone(loop)): (name, loop)
        for name, loop in all_loops().items()
        if loop.trip_count and "ring_pipeline" not in name  # talks to other devices
        if not name.startswith("printing_styles")  # those of sort_topk, printed otherwise
    }
    return dict(found.values())


class Iteration(Subject):
    """One iteration of a loop: its body, where counters have the values of that iteration."""

    def __init__(self, loop: Loop, number: int) -> None:
        super().__init__(loop.instruction.attributes["body"])
        self.loop = loop
        self.number = number

    @cached_property
    def indices(self) -> dict[int, Computation]:
        """What computes the counters."""
        return {
            array: _constant(self.operands[array], counter.start + counter.step * self.number)
            for array, counter in self.loop.counters.items()
        }


def whole(loop: Loop) -> HloModule:
    """A module that runs a loop; scalars with which it is known to begin are constants."""
    return hlo.parse(standalone(_alone(loop)).replace("all.results", "results"))


def _alone(loop: Loop) -> Computation:
    """A computation with a loop and what it begins with: constants, and parameters."""
    before: list[Instruction] = []
    count = 0
    for number, shape in enumerate(loop.instruction.shape.arrays):
        start = None if shape.rank else start_of(loop.instruction, number)
        if start is None:
            array = Instruction(f"before.{number}", "parameter", shape, parameter_number=count)
            count += 1
        else:
            array = replace(_constant(shape, start).root, name=f"before.{number}")
        before.append(array)
    arrays = iter(before)
    made: list[Instruction] = []
    state = _tuple(loop.instruction.shape, arrays, made)
    root = replace(loop.instruction, operands=(state,))
    return Computation("alone", (*before, *made, root), root)


def _tuple(shape: Shape, arrays: Iterator[Instruction], made: list[Instruction]) -> Instruction:
    """The instruction that makes a tuple of arrays; all that it needs is added."""
    parts = shape.elements
    elements = tuple(_tuple(x, arrays, made) if x.is_tuple else next(arrays) for x in parts)
    made.append(Instruction(f"state.{len(made)}", "tuple", shape, elements))
    return made[-1]


def _constant(shape: Shape, value: int) -> Computation:
    plain = shape.text(layout=False)
    text = str(bool(value)).lower() if plain == "pred[]" else value
    return hlo.parse(f"ENTRY e {{ ROOT c = {plain} constant({text}) }}").entry
