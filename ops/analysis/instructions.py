"""The maps of one instruction, whatever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.analysis.control_flow import Direction
from ops.analysis.findings import Question, findings_in
from ops.analysis.physical import View
from ops.rules.registry import REGISTRY

if TYPE_CHECKING:
    from ops.analysis.answers import InstructionIndexing
    from ops.hlo import Instruction
    from ops.rules.registry import Registry


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
    view = View(physical_layout, linear_offsets)
    question = Question(Direction.OUTPUT_TO_INPUT, output, view)
    return findings_in(instruction.computation.module, registry).answer(instruction, question)


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
    view = View(physical_layout, linear_offsets)
    question = Question(Direction.INPUT_TO_OUTPUT, input, view)
    return findings_in(instruction.computation.module, registry).answer(instruction, question)
