"""Instructions on sizes that are known at run time only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import check_scalars, only_dimension, sizes_of
from ops.builders.dynamic_sizes import dynamic_reshape, get_dimension_size, set_dimension_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing.layout import Shape
    from ops.adapters.shared import Builder
    from ops.builders.op_indexing import OpIndexing
    from ops.hlo import Instruction


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
    return tuple(place for place, flag in enumerate(shape.dynamic_dimensions) if flag)


BUILDERS: Final[Mapping[str, Builder]] = {
    "dynamic-reshape": _dynamic_reshape,
    "get-dimension-size": _get_dimension_size,
    "set-dimension-size": _set_dimension_size,
}
