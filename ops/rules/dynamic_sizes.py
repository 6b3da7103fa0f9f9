"""Sizes that are known at run time only: operations on them, and operations that need them."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing import UndefinedMap
from indexing.layout import common_blocks
from ops.index_maps import (
    checked_dimensions,
    checked_numeric_sizes,
    checked_sizes,
    dimensions_of,
    every_element,
    index_map,
    no_dimensions,
    unrelated,
)
from ops.rules.op_indexing import OpIndexing
from ops.rules.reshape import reshape
from ops.rules.rule import OpRule, check_scalars, only_dimension, sizes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from indexing.layout import Shape
    from ops.hlo import Instruction
    from ops.index_maps import Sizes


Axes: TypeAlias = "Iterator[tuple[int, int]]"
"""Numbers of operands, the result behind them, and of dimensions of these."""


def get_dimension_size(operand_sizes: Sizes, dimension: int) -> OpIndexing:
    """Gives the size of a dimension, which depends on no element of the operand.

    Shapes:
        operand: any.
        result: a scalar.

    Source:
        XLA operation semantics, GetDimensionSize.

    Raises:
        ShapeError: the operand has no such dimension.

    >>> print(get_dimension_size((2, 4), 1).input_to_output[0])
    (d0, d1) -> (), domain: KNOWN EMPTY
    """
    sizes = checked_sizes("get-dimension-size", "operand", operand_sizes)
    checked_dimensions("get-dimension-size", "dimensions", [dimension], len(sizes))
    to_input, to_output = unrelated((), sizes)
    return OpIndexing((), (to_input,), (to_output,))


def set_dimension_size(operand_sizes: Sizes, dimension: int) -> OpIndexing:
    """Sets the size of a dimension; the elements stay as they are.

    The second operand is the size. Elements beyond it keep their values and count again when a
    greater size is set, so the maps hold them, too.

    Shapes:
        operands: any, and a scalar.
        result: the sizes of the operand, as bounds.

    Source:
        XLA operation semantics, SetDimensionSize.

    Raises:
        ShapeError: the operand has no such dimension.

    >>> print(set_dimension_size((2, 4), 1).output_to_input[0])
    (d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 3]
    """
    sizes = checked_sizes("set-dimension-size", "operand", operand_sizes)
    checked_dimensions("set-dimension-size", "dimensions", [dimension], len(sizes))
    identity = index_map(dimensions_of(sizes), sizes)
    return OpIndexing(sizes, (identity, no_dimensions(sizes)), (identity, every_element(sizes)))


def dynamic_reshape(
    operand_sizes: Sizes,
    output_sizes: Sizes,
    operand_dynamic: Sequence[int] = (),
    output_dynamic: Sequence[int] = (),
) -> OpIndexing:
    """Reshapes to sizes that are operands.

    For an operand of static shape this is a reshape, because only the bounds hold all elements. For
    dynamic dimensions it is a reshape if each is the first of those that are reshaped together: the
    row-major position of an element does not depend on the size of the first dimension.

    Shapes:
        operands: a tensor whose dimensions ``operand_dynamic`` have bounds for sizes, and a scalar
            for each dimension of the result.
        result: as many elements, by the bounds.

    Source:
        XLA operation semantics, DynamicReshape.

    Raises:
        ShapeError: the numbers of elements differ, or a shape has no such dimension.

    >>> print(dynamic_reshape((2, 4), (8,)).output_to_input[0])
    (d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 7]
    >>> print(dynamic_reshape((2, 4), (8,), (1,), (0,)).output_to_input[0])
    UNDEFINED: dynamic-reshape: positions depend on the run-time size of dimension 1 of operand 0
    """
    moved = reshape(operand_sizes, output_sizes)
    dynamic = [
        checked_dimensions("dynamic-reshape", role, dimensions, len(sizes))
        for role, sizes, dimensions in (
            ("operand", operand_sizes, operand_dynamic),
            ("result", output_sizes, output_dynamic),
        )
    ]
    to_input, to_output = moved.output_to_input[0], moved.input_to_output[0]
    behind = _behind_the_first(operand_sizes, output_sizes) if operand_dynamic else ()
    decisive = [(number, axis) for number, axis in behind if axis in dynamic[number]]
    if decisive:
        number, axis = decisive[0]
        reason = _reason(("operand 0", "the result")[number], axis)
        to_input = to_output = UndefinedMap(f"dynamic-reshape: {reason}")
    count = len(output_sizes)
    return OpIndexing(
        moved.output_sizes,
        (to_input, *[no_dimensions(output_sizes)] * count),
        (to_output, *[every_element(output_sizes)] * count),
    )


def _behind_the_first(operand_sizes: Sizes, output_sizes: Sizes) -> Axes:
    """The dimensions of both that are not the first of those that are reshaped together."""
    op = "dynamic-reshape"
    sizes = checked_numeric_sizes(op, "operand", operand_sizes)
    for block in common_blocks(sizes, checked_numeric_sizes(op, "result", output_sizes)):
        yield from ((number, axis) for number, axes in enumerate(block) for axis in axes[1:])


# Sizes that decide where elements are. Of all else, the maps hold what lies within the bounds.


def size_that_decides(instruction: Instruction) -> str | None:
    """Why the maps of an instruction depend on a size that is known at run time only, if they do.

    Most maps hold for every size up to the bound: an element keeps its index. But a reverse, for
    example, counts from the end.

    >>> from ops import hlo
    >>> text = "p = f32[<=4,2] parameter(0) ROOT r = f32[<=4,2] reverse(p), dimensions="
    >>> for dimensions in ("{0}", "{1}"):
    ...     print(size_that_decides(hlo.parse(f"ENTRY e {{ {text}{dimensions} }}").entry.root))
    positions depend on the run-time size of dimension 0 of operand 0
    None
    """
    decisive = _DECISIVE.get(instruction.opcode)
    if decisive is None:
        return None
    arrays = *instruction.operands, instruction
    dynamic = [{axis for a in each.shape.arrays for axis in _dynamic(a)} for each in arrays]
    if not any(dynamic):
        return None
    roles = [f"operand {number}" for number in range(len(instruction.operands))] + ["the result"]
    found = (
        (roles[number], axis) for number, axis in decisive(instruction) if axis in dynamic[number]
    )
    return next(starmap(_reason, found), None)


def _reason(role: str, axis: int) -> str:
    return f"positions depend on the run-time size of dimension {axis} of {role}"


def _listed(instruction: Instruction, *, but_last: bool = False) -> Axes:
    """The dimensions in the attribute, of all operands, or of those before the last."""
    numbers = range(len(instruction.operands) - but_last)
    return ((number, axis) for number in numbers for axis in instruction.attributes["dimensions"])


def _before_others(instruction: Instruction) -> Axes:
    """The end of one array is the beginning of the next."""
    return _listed(instruction, but_last=True)


def _padded_behind(instruction: Instruction) -> Axes:
    """Padding begins where the array ends."""
    padding = instruction.attributes["padding"]
    return ((0, axis) for axis, (_, high, _) in enumerate(padding) if high > 0)


def _partly(sizes_of_part: Callable[[Instruction], Sequence[int]]) -> Callable[[Instruction], Axes]:
    """Starts are clamped so that the part fits into the first operand."""

    def axes(instruction: Instruction) -> Axes:
        sizes = zip(sizes_of(instruction.operands[0]), sizes_of_part(instruction), strict=False)
        return ((0, axis) for axis, (size, part) in enumerate(sizes) if part < size)

    return axes


def _updated(instruction: Instruction) -> Axes:
    """An update ends where it is in place again; and its start is clamped."""
    yield from _partly(lambda each: sizes_of(each.operands[1]))(instruction)
    yield from ((1, axis) for axis in range(instruction.operands[1].shape.rank))


def _scattered(instruction: Instruction) -> Axes:
    """Updates that do not fit are left out."""
    return ((0, axis) for axis in instruction.attributes["scatter_dims_to_operand_dims"])


def _kernel(instruction: Instruction) -> Axes:
    """A window has as many offsets as its kernel."""
    return ((1, axis) for axis in range(instruction.operands[1].shape.rank))


_DECISIVE: Final[Mapping[str, Callable[[Instruction], Axes]]] = {
    "all-gather": _listed,
    "all-to-all": lambda each: _listed(each) if "dimensions" in each.attributes else iter(()),
    "concatenate": _before_others,
    "convolution": _kernel,
    "dynamic-slice": _partly(lambda each: each.attributes["dynamic_slice_sizes"]),
    "dynamic-update-slice": _updated,
    "gather": _partly(lambda each: each.attributes["slice_sizes"]),
    "pad": _padded_behind,
    "reduce-scatter": _listed,
    "reshape": lambda each: _behind_the_first(sizes_of(each.operands[0]), sizes_of(each)),
    "reverse": _listed,
    "scan": _listed,
    "scatter": _scattered,
    "shuffle": _listed,
}
"""Opcode -> the dimensions of operands whose sizes decide where elements are."""


# Reading instructions.


def _get_dimension_size(instruction: Instruction) -> OpIndexing:
    return get_dimension_size(sizes_of(instruction.operands[0]), only_dimension(instruction))


def _set_dimension_size(instruction: Instruction) -> OpIndexing:
    operand, size = instruction.operands
    check_scalars("set-dimension-size", [size])
    return set_dimension_size(sizes_of(operand), only_dimension(instruction))


def _dynamic_reshape(instruction: Instruction) -> OpIndexing:
    operand, *sizes = instruction.operands
    check_scalars("dynamic-reshape", sizes)
    return dynamic_reshape(
        sizes_of(operand), sizes_of(instruction), *map(_dynamic, (operand.shape, instruction.shape))
    )


def _dynamic(shape: Shape) -> tuple[int, ...]:
    return tuple(axis for axis, flag in enumerate(shape.dynamic_dimensions) if flag)


RULES: Final[Mapping[str, OpRule]] = {
    "dynamic-reshape": OpRule(_dynamic_reshape),
    "get-dimension-size": OpRule(_get_dimension_size),
    "set-dimension-size": OpRule(_set_dimension_size),
}
