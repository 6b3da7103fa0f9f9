"""Links: dependences of the arrays of one instruction on each other, by the answer of its rule.

A rule answers for every instruction of the same opcode, shapes and attributes. Which instruction
gives the value of a runtime variable, and whether that is known, differs between instructions.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from indexing import IndexingMap, UndefinedMap
from indexing.layout import Shape, ShapeError
from ops.dependence.dependence import AnyDependence, Dependence
from ops.dependence.operand_indexing import (
    OperandIndexing,
    RuntimeOrigin,
    with_known_values,
    within_reach,
)
from ops.devices.devices import devices_of, own_device
from ops.hlo import Instruction
from ops.hlo.errors import HloTextError
from ops.index_maps import check_sizes, dimensions_of, index_map
from ops.rules.dynamic_sizes import known_sizes, with_bounds
from ops.rules.rule import (
    Direction,
    MapOfOperand,
    Maps,
    OpIndexing,
    Routes,
    Unknown,
    arrays_in_operands,
)
from ops.sizes import Size
from simplifier.errors import quoted


class Link(NamedTuple):
    """Dependence of array ``output`` of a result on array ``element`` of an operand.

    Arrays in tuples are numbered through nested tuples. The dependence is that of one
    :class:`Direction`: of the result on the operand, or back.
    """

    output: int
    operand: int
    element: int
    dependence: AnyDependence

    def ends(self, direction: Direction) -> tuple[int, int]:
        """The numbers of the arrays where the maps begin and where they lead."""
        if direction is Direction.OUTPUT_TO_INPUT:
            return self.output, self.element
        return self.element, self.output


class _Pair(NamedTuple):
    """Two arrays of an instruction, and the operation whose maps ``number`` relate them.

    An array that is passed on as it is has no maps.
    """

    output: int
    operand: int
    element: int
    indexing: OpIndexing | Unknown | None = None
    number: int = 0


def links_of(
    instruction: Instruction, answer: Maps | Routes, direction: Direction
) -> Iterator[Link]:
    """The links between all arrays of the result and of the operands, in one direction."""
    for output, operand, element, indexing, number in _pairs(instruction, answer):
        found: AnyDependence
        if indexing is None:
            found = identity_of(instruction, output)
        elif isinstance(indexing, Unknown):
            found = indexing
        else:
            found = _bound(instruction, indexing.map_of_operand(direction, number))
        yield Link(output, operand, element, found)


def reads_operands(answer: Maps | Routes) -> bool:
    """Whether values that one instruction reads may make its links differ from those of another."""
    if isinstance(answer, Routes):
        return False
    listed = answer if isinstance(answer, tuple) else (answer,)
    maps = answer.values() if isinstance(answer, Mapping) else listed
    return any(isinstance(each, OpIndexing) and each.reads_operands for each in maps)


@contextmanager
def errors_in(instruction: Instruction) -> Generator[None]:
    """Errors about shapes become errors that show the instruction in the text."""
    try:
        yield
    except ShapeError as error:
        raise HloTextError(str(error), instruction.span, instruction=instruction.name) from error


def links_of_unfit(
    instruction: Instruction, error: HloTextError, direction: Direction
) -> Iterator[Link]:
    """The links of an instruction whose shapes and attributes do not fit: unknown, by the error."""
    return links_of(instruction, Unknown(f"{error.span}: {error.message}"), direction)


def identity_of(instruction: Instruction, element: int) -> AnyDependence:
    """Dependence of an array of a result on itself."""
    array = instruction.shape.arrays[element]
    if not array.dynamic_dimensions:
        return _identity(array.dimensions)
    sizes = known_sizes(instruction, element)
    if isinstance(sizes, Unknown):
        return sizes
    return _identity(sizes).apply(
        lambda each: replace(each, map=with_bounds(each.map, instruction))
    )


@lru_cache(maxsize=256)
def _identity(sizes: tuple[Size, ...]) -> Dependence:
    """Wide tuples hold many arrays of few sizes."""
    return Dependence((OperandIndexing(index_map(dimensions_of(sizes), sizes)),))


def _bound(instruction: Instruction, found: MapOfOperand) -> AnyDependence:
    """The answer of a rule, with the values that are known in one instruction."""
    if isinstance(found.map, UndefinedMap):
        return Unknown(found.map.reason)
    runtime = tuple(
        RuntimeOrigin(
            _source(instruction, each.operand),
            each.map,
            each.clamp,
            each.replica,
        )
        for each in found.origins
    )
    indexing = within_reach(OperandIndexing(found.map, runtime, found.replica))
    return Dependence((with_known_values(indexing),))


def _source(instruction: Instruction, operand: int | None) -> Instruction:
    """The operand that holds a value; without one, the instruction of the replica's number."""
    if operand is None:
        return own_device(devices_of(instruction.computation.module))
    return instruction.operands[operand]


def _pairs(instruction: Instruction, answer: Maps | Routes) -> Iterator[_Pair]:
    """The pairs of arrays that a rule is about."""
    if isinstance(answer, Routes):
        yield from (_Pair(*route) for route in answer)
        return
    inputs = [*arrays_in_operands(instruction)]
    for output, numbers, indexing in _related(instruction, answer):
        for place, number in enumerate(numbers):
            yield _Pair(output, *inputs[number], indexing, place)


def _related(
    instruction: Instruction, answer: Maps
) -> Iterable[tuple[int, Sequence[int], OpIndexing | Unknown]]:
    """Maps of arrays of the result, with the arrays in operands that they lead to."""
    if isinstance(answer, Mapping):
        return [(output, [number], each) for (output, number), each in answer.items()]
    outputs, inputs = instruction.shape.arrays, [*arrays_in_operands(instruction)]
    each = answer if isinstance(answer, tuple) else (answer,) * len(outputs)
    return [(output, range(len(inputs)), indexing) for output, indexing in enumerate(each)]


# Checks: a rule may be a user's.


def check_answer(instruction: Instruction, answer: Maps | Routes) -> None:
    """Raise a :class:`ShapeError` unless a rule's answer fits the arrays of the instruction."""
    if isinstance(answer, Routes):
        _check_routes(instruction, answer)
        return
    outputs, count = instruction.shape.arrays, len([*arrays_in_operands(instruction)])
    if isinstance(answer, tuple):
        _check_number(instruction, "results", len(answer), len(outputs))
    for output, numbers, indexing in _related(instruction, answer):
        is_there = output in range(len(outputs)) and (not numbers or numbers[0] in range(count))
        if not is_there:
            message = f"its rule relates result {output} to operand {numbers[0]}"
            expected = f"there are {len(outputs)} and {count} arrays"
            raise ShapeError(f"{instruction.opcode}: {message}; {expected}")
        if isinstance(indexing, OpIndexing):
            _check_indexing(instruction, outputs[output], indexing, len(numbers))
        elif not isinstance(indexing, Unknown):  # pyright: ignore[reportUnnecessaryIsInstance] - rules may be untyped
            expected = "an OpIndexing, a tuple of them, or Unknown"
            message = f"the rule returns {quoted(indexing)}; expected {expected}"
            raise ShapeError(f"{instruction.opcode}: {message}")
    for pair in _pairs(instruction, answer):
        _check_ranks(instruction, pair)


def _check_routes(instruction: Instruction, routes: Routes) -> None:
    outputs = instruction.shape.arrays
    inputs = [operand.shape.arrays for operand in instruction.operands]
    for output, operand, element in routes:
        is_there = output < len(outputs) and element < len(inputs[operand])
        if not (is_there and outputs[output].is_compatible_with(inputs[operand][element])):
            given = ", ".join(str(each.shape) for each in instruction.operands)
            message = f"{instruction.opcode}: {instruction.shape} is not made of {given}"
            raise ShapeError(message)


def _check_indexing(
    instruction: Instruction, result: Shape, indexing: OpIndexing, count: int
) -> None:
    """Raise a :class:`ShapeError` unless there are maps of ``count`` arrays in operands."""
    if not result.dynamic_dimensions:
        check_sizes(instruction.opcode, "the result", result.dimensions, indexing.output_sizes)
    for direction in Direction:
        maps: tuple[IndexingMap, ...] = getattr(indexing, direction.value)
        _check_number(instruction, "operands", len(maps), count)
        for number in range(count):
            found = indexing.map_of_operand(direction, number)
            if not found.map.is_undefined:
                given = len(found.origins)
                _check_number(instruction, "runtime variables", given, len(found.map.runtime))


def _check_ranks(instruction: Instruction, pair: _Pair) -> None:
    """Raise a :class:`ShapeError` unless maps lead from the one shape to the other, and back."""
    if not isinstance(pair.indexing, OpIndexing):
        return
    result = instruction.shape.arrays[pair.output]
    operand = instruction.operands[pair.operand].shape.arrays[pair.element]
    for direction, source, target in (
        (Direction.OUTPUT_TO_INPUT, result, operand),
        (Direction.INPUT_TO_OUTPUT, operand, result),
    ):
        found = pair.indexing.map_of_operand(direction, pair.number).map
        if found.is_undefined:
            continue
        given = len(found.dims), len(found.forms)
        if given != (source.rank, target.rank):
            message = f"{instruction.opcode}: its rule has a map from rank {given[0]} to"
            expected = f"expected {source.rank} to {target.rank}, from {source} to {target}"
            raise ShapeError(f"{message} {given[1]}; {expected}")


def _check_number(instruction: Instruction, what: str, given: int, expected: int) -> None:
    """Raise a :class:`ShapeError` unless a rule gives as many things as there are."""
    if given != expected:
        message = f"{instruction.opcode}: its rule gives {given} {what}"
        raise ShapeError(f"{message}; expected {expected}")
