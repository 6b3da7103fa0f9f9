"""The maps of one instruction, whatever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.layout import ShapeError
from ops.analysis.answers import Answer, InstructionIndexing
from ops.analysis.chaining import joined
from ops.analysis.control_flow import Direction
from ops.analysis.fusion import check_output, of_element
from ops.analysis.paths import paths_in
from ops.analysis.physical import View
from ops.analysis.registry import REGISTRY
from ops.builders.building import arrays_of

if TYPE_CHECKING:
    from indexing.layout import Shape
    from ops.analysis.control_flow import Link
    from ops.analysis.paths import Paths
    from ops.analysis.registry import Registry
    from ops.hlo import Instruction


def output_to_input(
    instruction: Instruction,
    output: int = 0,
    *,
    physical_layout: bool = False,
    linear_offsets: bool = False,
    registry: Registry = REGISTRY,
) -> InstructionIndexing:
    """Which elements of every operand an element of the result is computed from.

    Args:
        instruction: any instruction; a fusion or call is followed through the computation that
            it calls.
        output: which array of the result, where that is a tuple, counted through nested tuples.
        physical_layout: tell elements by the dimensions in memory, major first, with all tiles
            cut (:func:`indexing.layout.tiled_sizes`), instead of by the dimensions that their
            shapes list. Where an array has padding, maps are not defined.
        linear_offsets: end every map at the offset in memory, counted in elements, and not at an
            index; those of the origins of runtime variables, too.
        registry: what is known of operations; by default, what the library knows.

    Returns:
        ``indexing[k]`` is, for operand ``k``, a tuple of :class:`OperandIndexing`, empty if the
        operand is not needed, or :class:`Unknown` with the reason. Maps along a fusion or call, and
        those in memory, are simplified; others of one operation are as its builder makes them.

    Raises:
        ShapeError: there is no such output.
        HloTextError: shapes and attributes of an instruction do not fit.

    >>> from ops import hlo
    >>> text = "HloModule m ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> ((way,),) = output_to_input(hlo.parse(text).entry.root).indexing
    >>> print(way)
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    >>> text = "ENTRY e { p = f32[9,200]{1,0:T(8,128)} parameter(0)"
    >>> text += "ROOT r = f32[200,9]{0,1:T(8,128)} transpose(p), dimensions={1,0} }"
    >>> root = hlo.parse(text).entry.root
    >>> ((way,),) = output_to_input(root, physical_layout=True).indexing
    >>> print(way)
    (d0, d1, d2, d3) -> (d0, d1, d2, d3), domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 7],
    d3 in [0, 127], d0 * 8 + d2 in [0, 8], d1 * 128 + d3 in [0, 199]
    >>> ((way,),) = output_to_input(root, linear_offsets=True).indexing
    >>> print(way)
    (d0, d1) -> ((d0 floordiv 128) * 896 + (d1 floordiv 8) * 1024 + d1 * 128 + d0),
    domain: d0 in [0, 199], d1 in [0, 8]
    """
    paths = paths_in(instruction.computation.module, Direction.OUTPUT_TO_INPUT, registry)
    return from_result(paths, instruction, output, View(physical_layout, linear_offsets))


def input_to_output(
    instruction: Instruction,
    input: int = 0,  # noqa: A002 - the name of the thing
    *,
    physical_layout: bool = False,
    linear_offsets: bool = False,
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
    paths = paths_in(instruction.computation.module, Direction.INPUT_TO_OUTPUT, registry)
    return from_operand(paths, instruction, input, View(physical_layout, linear_offsets))


def from_result(
    paths: Paths, instruction: Instruction, output: int, view: View
) -> InstructionIndexing:
    """The answer of :func:`output_to_input` along paths from results to operands."""
    check_output(instruction, output)
    answers: list[Answer] = [()] * len(instruction.operands)
    for link in paths.links_from(instruction, output):
        result, operand = _shapes(instruction, link)
        answer = view.of(link.answer, result, operand)
        answers[link.operand] = joined(answers[link.operand], of_element(answer, link.element))
    return InstructionIndexing(tuple(answers))


def from_operand(
    paths: Paths, instruction: Instruction, number: int, view: View
) -> InstructionIndexing:
    """The answer of :func:`input_to_output` along paths from operands to results."""
    if not 0 <= number < len(instruction.operands):
        count = len(instruction.operands)
        raise ShapeError(f"%{instruction.name}: there is no operand {number} among {count}")
    answers: list[Answer] = [()] * len(arrays_of(instruction.shape))
    for link in paths.links_from(instruction, number):
        result, operand = _shapes(instruction, link)
        answer = view.of(link.answer, operand, result)
        answers[link.output] = joined(answers[link.output], of_element(answer, link.element))
    return InstructionIndexing(tuple(answers))


def _shapes(instruction: Instruction, link: Link) -> tuple[Shape, Shape]:
    """The shape of the result, and of the operand."""
    operand = instruction.operands[link.operand]
    return arrays_of(instruction.shape)[link.output], arrays_of(operand.shape)[link.element]
