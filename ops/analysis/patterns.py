"""What the tables say of an instruction, checked, pair by pair of the arrays that it relates.

A :class:`Pattern` holds for every instruction of the same opcode, shapes and attributes. Where the
values of runtime variables come from, and which are known, is a matter of the single instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from indexing import IndexingMap, UndefinedMap
from indexing.layout import ShapeError
from ops.analysis.answers import Answer, OperandIndexing, RuntimeOrigin
from ops.analysis.known_values import with_known_values
from ops.devices.numbering import asking_device, devices_of
from ops.hlo.errors import HloTextError
from ops.index_maps import check_sizes
from ops.rules.op_indexing import OpIndexing, Unknown
from ops.rules.rule import arrays_in_operands

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from indexing.layout import Shape
    from ops.hlo import Instruction
    from ops.rules.op_indexing import Origin
    from ops.rules.registry import Registry
    from ops.rules.rule import Maps, Pair, Route


@dataclass(frozen=True, slots=True)
class Dependency:
    """How an array of the result and an array of an operand depend on each other, both ways.

    Arrays in tuples are numbered through nested tuples: ``output`` in the result, ``element``
    in the operand.
    """

    output: int
    operand: int
    element: int
    output_to_input: Answer
    input_to_output: Answer


@dataclass(frozen=True, slots=True)
class Told:
    """What a builder tells of two arrays in one direction; ``origins`` name operands by number."""

    map: IndexingMap
    origins: tuple[Origin, ...] = ()
    replica: IndexingMap | None = None

    @property
    def reads_operands(self) -> bool:
        """Whether there are runtime variables whose values operands hold."""
        return any(origin.operand is not None for origin in self.origins)

    def of(self, instruction: Instruction) -> Answer:
        """The answer for an instruction, with the values that are known in it."""
        runtime = tuple(
            RuntimeOrigin(_source(instruction, each.operand), each.map, each.clamp, each.replica)
            for each in self.origins
        )
        return (with_known_values(OperandIndexing(self.map, runtime, self.replica)),)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A :class:`Dependency` of all instructions that are alike."""

    output: int
    operand: int
    element: int
    output_to_input: Told | Unknown
    input_to_output: Told | Unknown

    @property
    def reads_operands(self) -> bool:
        """Whether the dependence of one instruction need not be that of another."""
        return any(
            isinstance(told, Told) and told.reads_operands
            for told in (self.output_to_input, self.input_to_output)
        )

    def of(self, instruction: Instruction) -> Dependency:
        """The dependence in one instruction."""
        there, back = (
            told if isinstance(told, Unknown) else told.of(instruction)
            for told in (self.output_to_input, self.input_to_output)
        )
        return Dependency(self.output, self.operand, self.element, there, back)


def patterns_of(instruction: Instruction, registry: Registry) -> tuple[Pattern, ...]:
    """How all arrays of the result and of the operands depend on each other, pair by pair.

    Raises:
        HloTextError: shapes and attributes of the instruction do not fit.
    """
    with errors_in(instruction):
        routes = registry.routes(instruction)
        if routes is not None:
            return tuple(_routed(instruction, routes))
        return tuple(_built(instruction, registry.maps(instruction)))


@contextmanager
def errors_in(instruction: Instruction) -> Generator[None]:
    """What is wrong with shapes becomes an error at the place of the instruction."""
    try:
        yield
    except ShapeError as error:
        raise HloTextError(str(error), instruction.span, instruction=instruction.name) from error


def identity_of(array: Shape) -> Answer:
    """How an array depends on itself."""
    told = _itself(array)
    return told if isinstance(told, Unknown) else (OperandIndexing(told.map),)


def _itself(array: Shape) -> Told | Unknown:
    if array.is_unbounded:
        return Unknown(f"{array}: no indexing map of dimensions without bound")
    return _identity(array.dimensions)


@lru_cache(maxsize=256)
def _identity(sizes: tuple[int, ...]) -> Told:
    """Wide tuples hold many arrays of few sizes."""
    return Told(IndexingMap.identity(sizes))


def _routed(instruction: Instruction, routes: Iterable[Route]) -> Iterator[Pattern]:
    """The patterns of arrays that are passed on as they are."""
    outputs = instruction.shape.arrays
    inputs = [operand.shape.arrays for operand in instruction.operands]
    for output, operand, element in routes:
        is_there = output < len(outputs) and element < len(inputs[operand])
        if not (is_there and outputs[output].is_compatible_with(inputs[operand][element])):
            given = ", ".join(str(each.shape) for each in instruction.operands)
            message = f"{instruction.opcode}: {instruction.shape} is not made of {given}"
            raise ShapeError(message)
        identity = _itself(outputs[output])
        yield Pattern(output, operand, element, identity, identity)


def _built(instruction: Instruction, maps: Maps) -> Iterator[Pattern]:
    """The patterns of what a builder made."""
    outputs = instruction.shape.arrays
    if isinstance(maps, Mapping):
        yield from _paired(instruction, maps)
        return
    each = maps if isinstance(maps, tuple) else (maps,) * len(outputs)
    _check_number(instruction, "results", len(each), len(outputs))
    for output, (shape, indexing) in enumerate(zip(outputs, each, strict=True)):
        if isinstance(indexing, Unknown):
            for operand, element in arrays_in_operands(instruction):
                yield Pattern(output, operand, element, indexing, indexing)
        else:
            _check_sizes(instruction, shape, indexing)
            yield from _of_output(instruction, output, indexing)


def _paired(instruction: Instruction, maps: Mapping[Pair, OpIndexing]) -> Iterator[Pattern]:
    """The patterns of the pairs of arrays that are listed."""
    outputs = instruction.shape.arrays
    inputs = [*arrays_in_operands(instruction)]
    for (output, number), indexing in maps.items():
        _check_sizes(instruction, outputs[output], indexing)
        yield from _patterns(instruction, output, inputs[number : number + 1], indexing)


def _of_output(instruction: Instruction, output: int, indexing: OpIndexing) -> Iterator[Pattern]:
    return _patterns(instruction, output, [*arrays_in_operands(instruction)], indexing)


def _patterns(
    instruction: Instruction, output: int, inputs: list[tuple[int, int]], indexing: OpIndexing
) -> Iterator[Pattern]:
    """The patterns of an array of the result on arrays in the operands."""
    there = _all_told(
        instruction, indexing.output_to_input, indexing.output_origins, indexing.output_replicas
    )
    back = _all_told(
        instruction, indexing.input_to_output, indexing.input_origins, indexing.input_replicas
    )
    _check_number(instruction, "operands", len(there), len(inputs))
    _check_number(instruction, "operands", len(back), len(inputs))
    result = instruction.shape.arrays[output]
    for (operand, element), *told in zip(inputs, there, back, strict=True):
        other = instruction.operands[operand].shape.arrays[element]
        _check_ranks(instruction, told[0], result, other)
        _check_ranks(instruction, told[1], other, result)
        yield Pattern(output, operand, element, *told)


def _all_told(
    instruction: Instruction,
    maps: tuple[IndexingMap, ...],
    origins: tuple[tuple[Origin, ...], ...],
    replicas: tuple[IndexingMap | None, ...],
) -> list[Told | Unknown]:
    """What is told by each map."""
    count = len(maps)
    beside = zip(origins or ((),) * count, replicas or (None,) * count, strict=True)
    return [_told(instruction, found, *more) for found, more in zip(maps, beside, strict=True)]


def _told(
    instruction: Instruction,
    found: IndexingMap,
    origins: tuple[Origin, ...],
    replica: IndexingMap | None,
) -> Told | Unknown:
    if isinstance(found, UndefinedMap):
        return Unknown(found.reason)
    _check_number(instruction, "runtime variables", len(origins), len(found.runtime))
    return Told(found, origins, replica)


def _source(instruction: Instruction, operand: int | None) -> Instruction:
    """The operand that holds a value; without one, what gives the number of the replica."""
    if operand is None:
        return asking_device(devices_of(instruction.computation.module))
    return instruction.operands[operand]


def _check_sizes(instruction: Instruction, shape: Shape, indexing: OpIndexing) -> None:
    check_sizes(instruction.opcode, "the result", shape.dimensions, indexing.output_sizes)


def _check_ranks(
    instruction: Instruction, told: Told | Unknown, source: Shape, target: Shape
) -> None:
    """Raise a :class:`ShapeError` unless a map leads from the one shape to the other."""
    if isinstance(told, Unknown):
        return
    given = len(told.map.dims), len(told.map.forms)
    if given != (source.rank, target.rank):
        message = f"{instruction.opcode}: its builder has a map from rank {given[0]} to"
        expected = f"expected {source.rank} to {target.rank}, from {source} to {target}"
        raise ShapeError(f"{message} {given[1]}; {expected}")


def _check_number(instruction: Instruction, what: str, given: int, expected: int) -> None:
    """Raise a :class:`ShapeError` unless a builder spoke of as many things as there are."""
    if given != expected:
        message = f"{instruction.opcode}: its builder speaks of {given} {what}"
        raise ShapeError(f"{message}; expected {expected}")
