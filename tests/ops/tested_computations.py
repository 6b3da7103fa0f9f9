"""Computations of modules, what the library says of them, and their programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

import ops
from indexing.layout import Kind, Shape
from ops.dependence.dependence import Indexings
from ops.hlo import Computation, HloModule, Instruction
from tests.ops.oracle import dtype_of, program
from tests.ops.reached_elements import Array
from tests.ops.standalone_programs import inputs_of, leading_to, shapes_of_inputs, standalone

Ways: TypeAlias = "tuple[ops.OperandIndexing, ...]"

INTEGERS = frozenset({Kind.SIGNED, Kind.UNSIGNED})


class UnknownMapError(Exception):
    """There is no map to compare with."""


class Subject:
    """A computation, what is said of it, and its program.

    ``caller`` is the fusion or call that runs it, if one does; what is said of the caller counts,
    too, in both directions. Arrays are numbered through all operands, and through all results.
    """

    def __init__(self, computation: Computation, caller: Instruction | None = None) -> None:
        self.computation = computation
        self.caller = caller
        self.inputs = inputs_of(computation)
        self.operands = shapes_of_inputs(computation)
        self.results = computation.root.shape.arrays

    @cached_property
    def said(self) -> dict[tuple[int, int], list[Ways]]:
        """For each result and operand, the maps from the result: of the root, and of the caller."""
        found: dict[tuple[int, int], list[Ways]] = {}
        for output in range(len(self.results)):
            inside = ops.fusion_indexing(self.computation.root, output)
            outside = ops.output_to_input(self.caller, output).indexing if self.caller else ()
            for operand, (parameter, element) in enumerate(self.inputs):
                answers = [inside.get(parameter, ())]
                answers += [outside[parameter.parameter_number or 0]] if outside else []
                found[output, operand] = [_ways(answer, element) for answer in answers]
        return found

    @cached_property
    def said_back(self) -> dict[tuple[int, int], Ways]:
        """For each result and operand, the maps from the operand."""
        caller = self.caller
        if not caller:
            return {}
        numbers = range(len(caller.operands))
        answers = [ops.input_to_output(caller, each).indexing for each in numbers]
        return {
            (output, operand): _ways(answers[parameter.parameter_number or 0][output], element)
            for output in range(len(self.results))
            for operand, (parameter, element) in enumerate(self.inputs)
        }

    @cached_property
    def watched(self) -> list[Instruction]:
        """The instructions that give the values of runtime variables."""
        every = [ways for several in self.said.values() for ways in several]
        ways = (way for several in (*every, *self.said_back.values()) for way in several)
        found = (self.source(origin) for way in ways for origin in way.runtime)
        return list(dict.fromkeys(each for each in found if each))

    def source(self, origin: ops.RuntimeOrigin) -> Instruction | None:
        """The instruction of the computation itself that gives a value, if one does."""
        instruction: Instruction | None = origin.instruction
        for caller in reversed(origin.callers):
            if instruction and caller is not self.caller:
                instruction = _argument(instruction, caller)
        is_own = instruction and instruction.computation is self.computation
        return instruction if is_own else None

    @cached_property
    def indices(self) -> dict[int, Computation]:
        """What computes the operands, by number, that hold several integers, or tell the device.

        In their values there may be an order that the maps know.
        """
        found: dict[int, Computation] = {}
        for number, (parameter, _) in enumerate(self.inputs):
            shape = parameter.shape
            if self.caller and not shape.is_tuple and shape.element_type.kind in INTEGERS:
                before = leading_to(self.caller.operands[parameter.parameter_number or 0])
                opcodes = {each.opcode for each in before.instructions}
                if shape.rank or opcodes & {"partition-id", "replica-id"}:
                    found[number] = before
        return found

    def varies(self, output: int, operand: int) -> bool:
        """Whether what depends on what is decided by values."""
        return any(way.runtime for ways in self.said[output, operand] for way in ways)

    @cached_property
    def text(self) -> str:
        """The program, which gives the results and then the arrays of what is watched."""
        return standalone(self.computation, self.watched)

    def run(self, operands: Sequence[Array]) -> list[Array]:
        return program(self.text)(*operands)


def subjects_in(module: HloModule) -> Iterator[tuple[str, Subject]]:
    """What fusions, calls, loops and choices run, each text once, by the names of what runs it."""
    seen: set[str] = set()
    for instruction in module.instructions:
        calls = ops.REGISTRY.calls(instruction)
        caller = instruction if instruction.opcode in {"fusion", "call"} else None
        for computation in calls.computations if calls else ():
            text = standalone(computation)
            if text not in seen:
                seen.add(text)
                yield f"%{instruction.name} %{computation.name}", Subject(computation, caller)


def _argument(instruction: Instruction, caller: Instruction) -> Instruction | None:
    """What a parameter of a computation, or an element of it, is where that is called.

    Nobody knows if two branches of a choice are one computation.
    """
    if instruction.opcode == "get-tuple-element":
        whole = _argument(instruction.operands[0], caller)
        index: int = instruction.attributes["index"]
        return whole.operands[index] if whole else None
    calls, number = ops.REGISTRY.calls(caller), instruction.parameter_number
    if calls is None or number is None:
        return None
    choices = [each for each in calls.choices if each.computation is instruction.computation]
    return caller.operands[choices[0].operands[number]] if len(choices) == 1 else None


def _ways(answer: Indexings, element: int) -> Ways:
    if isinstance(answer, ops.Unknown):
        raise UnknownMapError(answer.reason)
    return tuple(way for way in answer if way.element == element)


# Values of operands: some to begin with, and others to see what changes.

FAR = (np.nan, 1000, -1000)
"""Numbers in the place of others."""


def drawn(trial: int, shapes: Iterable[Shape]) -> list[Array]:
    """Some values of operands, others for each trial."""
    return [values_for(shape, (trial, place)) for place, shape in enumerate(shapes)]


def values_for(shape: Shape, seed: tuple[int, int]) -> Array:
    """Some values of an operand: numbers around 1, or indices of small arrays."""
    random = np.random.default_rng(seed)
    dtype, sizes, kind = dtype_of(shape), shape.dimensions, shape.element_type.kind
    if kind is Kind.BOOLEAN:
        return np.asarray(random.integers(0, 2, sizes)).astype(dtype)
    if kind in INTEGERS:
        most = min((3, 7, 40)[seed[0] % 3], 1 << (shape.element_type.bits - 1))
        return np.asarray(random.integers(0, most, sizes)).astype(dtype)
    drawn = random.normal(0, 2, sizes) if seed[0] % 2 else random.uniform(0.5, 1.5, sizes)
    return np.asarray(drawn).astype(dtype)


def others(value: Any, *, is_convolved: bool) -> Iterable[Any]:  # noqa: ANN401 - of NumPy
    """Other values in the place of one, those first that are felt most widely.

    A convolution may multiply its padding by what is no number.
    """
    if value.dtype.kind == "b":
        return (~value,)
    far = FAR[1:] if is_convolved else FAR
    is_integer = value.dtype.kind in "iu" or value.dtype.name.startswith(("int", "uint"))
    others = [int(value) + 1, int(value) - 1, 0, int(value) + 100] if is_integer else far
    return (np.array(other).astype(value.dtype) for other in others)
