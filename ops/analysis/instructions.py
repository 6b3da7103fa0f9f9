"""The maps of one instruction, whatever it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.layout import ShapeError
from ops.analysis.answers import Answer, InstructionIndexing, OperandIndexing, RuntimeOrigin
from ops.analysis.chaining import joined
from ops.analysis.control_flow import Direction
from ops.analysis.fusion import check_output, of_element, paths_in
from ops.analysis.registry import REGISTRY
from ops.builders.building import arrays_of, dim, index_map, major_to_minor
from ops.builders.op_indexing import Unknown

if TYPE_CHECKING:
    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.analysis.control_flow import Link
    from ops.analysis.registry import Registry
    from ops.hlo import Instruction


def output_to_input(
    instruction: Instruction,
    output: int = 0,
    *,
    physical_layout: bool = False,
    registry: Registry = REGISTRY,
) -> InstructionIndexing:
    """Which elements of every operand an element of the result is computed from.

    Args:
        instruction: any instruction; a fusion or call is followed through the computation that
            it calls.
        output: which array of the result, where that is a tuple, counted through nested tuples.
        physical_layout: take the dimensions of all tensors as they lie in memory, major first,
            instead of as their shapes list them. Tiles take no part.
        registry: what is known of operations; by default, what the library knows.

    Returns:
        ``indexing[k]`` is, for operand ``k``, a tuple of :class:`OperandIndexing`, empty if the
        operand is not needed, or :class:`Unknown` with the reason. Maps along a fusion or call are
        simplified; those of one operation are as its builder makes them.

    Raises:
        ShapeError: there is no such output.
        HloTextError: shapes and attributes of an instruction do not fit.

    >>> from ops import hlo
    >>> text = "HloModule m ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> ((way,),) = output_to_input(hlo.parse(text).entry.root).indexing
    >>> print(way)
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    """
    check_output(instruction, output)
    answers: list[Answer] = [()] * len(instruction.operands)
    paths = paths_in(instruction.computation, Direction.OUTPUT_TO_INPUT, registry)
    for link in paths.links_from(instruction, output):
        result, operand = _shapes(instruction, link)
        answer = _physical(link.answer, result, operand) if physical_layout else link.answer
        answers[link.operand] = joined(answers[link.operand], of_element(answer, link.element))
    return InstructionIndexing(tuple(answers))


def input_to_output(
    instruction: Instruction,
    input: int = 0,  # noqa: A002 - the name of the thing
    *,
    physical_layout: bool = False,
    registry: Registry = REGISTRY,
) -> InstructionIndexing:
    """Which elements of every result an element of operand ``input`` takes part in.

    Arguments and errors are those of :func:`output_to_input`. ``indexing[k]`` is the answer for
    array ``k`` of the result, of which there are several where that is a tuple.

    >>> from ops import hlo
    >>> text = "HloModule m ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> ((way,),) = input_to_output(hlo.parse(text).entry.root).indexing
    >>> print(way)
    (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
    """
    if not 0 <= input < len(instruction.operands):
        count = len(instruction.operands)
        raise ShapeError(f"%{instruction.name}: there is no operand {input} among {count}")
    answers: list[Answer] = [()] * len(arrays_of(instruction.shape))
    paths = paths_in(instruction.computation, Direction.INPUT_TO_OUTPUT, registry)
    for link in paths.links_from(instruction, input):
        result, operand = _shapes(instruction, link)
        answer = _physical(link.answer, operand, result) if physical_layout else link.answer
        answers[link.output] = joined(answers[link.output], of_element(answer, link.element))
    return InstructionIndexing(tuple(answers))


def _shapes(instruction: Instruction, link: Link) -> tuple[Shape, Shape]:
    """The shape of the result, and of the operand."""
    operand = instruction.operands[link.operand]
    return arrays_of(instruction.shape)[link.output], arrays_of(operand.shape)[link.element]


# Physical dimensions.


def _physical(answer: Answer, source: Shape, target: Shape) -> Answer:
    """The answer between the dimensions of both shapes in their order in memory."""
    if isinstance(answer, Unknown):
        return answer
    begin = OperandIndexing(_physical_to_logical(source))
    end = OperandIndexing(_logical_to_physical(target))
    return tuple(_with_physical_origins(begin.compose(way).compose(end)) for way in answer)


def _with_physical_origins(way: OperandIndexing) -> OperandIndexing:
    return replace(way, runtime=tuple(map(_physical_origin, way.runtime)))


def _physical_origin(origin: RuntimeOrigin) -> RuntimeOrigin:
    to_physical = _logical_to_physical(origin.instruction.shape)
    return replace(origin, map=origin.map.compose(to_physical).simplify())


def _logical_to_physical(shape: Shape) -> IndexingMap:
    """From an index to the same index with its dimensions in the order of memory."""
    return index_map((dim(place) for place in major_to_minor(shape)), shape.dimensions)


def _physical_to_logical(shape: Shape) -> IndexingMap:
    """The inverse of :func:`_logical_to_physical`."""
    order = major_to_minor(shape)
    results = (dim(order.index(place)) for place in range(shape.rank))
    return index_map(results, [shape.dimensions[place] for place in order])
