"""Operations on sizes that are known at run time only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing import IndexingMap, UndefinedMap
from ops.index_maps import (
    checked_dimensions,
    checked_sizes,
    every_element,
    no_dimensions,
    unrelated,
)
from ops.rules.op_indexing import OpIndexing
from ops.rules.reshape import reshape
from ops.rules.rule import OpRule, check_scalars, only_dimension, sizes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.layout import Shape
    from ops.hlo import Instruction
    from ops.index_maps import Sizes


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
    identity = IndexingMap.identity(sizes)
    return OpIndexing(sizes, (identity, no_dimensions(sizes)), (identity, every_element(sizes)))


def dynamic_reshape(
    operand_sizes: Sizes,
    output_sizes: Sizes,
    operand_dynamic: Sequence[int] = (),
    output_dynamic: Sequence[int] = (),
) -> OpIndexing:
    """Reshapes to sizes that are operands.

    For an operand of static shape this is a reshape, because only the bounds hold all elements. For
    dynamic dimensions it is a reshape if each is the first of its shape: the row-major position of
    an element does not depend on the size of the first dimension.

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
    UNDEFINED: dynamic-reshape: positions depend on the size of operand dimension 1 at run time
    """
    moved = reshape(operand_sizes, output_sizes)
    listed = [
        (role, axis)
        for role, sizes, dimensions in (
            ("operand", operand_sizes, operand_dynamic),
            ("result", output_sizes, output_dynamic),
        )
        for axis in checked_dimensions("dynamic-reshape", role, dimensions, len(sizes))
    ]
    to_input, to_output = moved.output_to_input[0], moved.input_to_output[0]
    decisive = [f"{role} dimension {axis}" for role, axis in listed if axis]
    if operand_dynamic and decisive:
        reason = f"positions depend on the size of {decisive[0]} at run time"
        to_input = to_output = UndefinedMap(f"dynamic-reshape: {reason}")
    count = len(output_sizes)
    return OpIndexing(
        moved.output_sizes,
        (to_input, *[no_dimensions(output_sizes)] * count),
        (to_output, *[every_element(output_sizes)] * count),
    )


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
