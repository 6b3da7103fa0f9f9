"""Instructions with a window: reduce-window, select-and-scatter, convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import check_scalars, folded_inputs, sizes_of
from ops.builders.convolution import convolution
from ops.builders.windows import reduce_window, select_and_scatter
from ops.hlo.values import Window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.adapters.shared import Builder
    from ops.builders.op_indexing import OpIndexing
    from ops.hlo import Instruction


def _window(instruction: Instruction) -> Window:
    """A window without dimensions is not written."""
    return instruction.attributes.get("window", Window())


def _reduce_window(instruction: Instruction) -> OpIndexing:
    inputs = folded_inputs(instruction)
    return reduce_window(sizes_of(inputs[0]), _window(instruction), len(inputs))


def _select_and_scatter(instruction: Instruction) -> OpIndexing:
    operand, source, initial = instruction.operands
    check_scalars("select-and-scatter", [initial])
    return select_and_scatter(sizes_of(operand), sizes_of(source), _window(instruction))


def convolution_of(instruction: Instruction) -> OpIndexing:
    """The convolution of the first two operands, as the attributes describe it."""
    lhs, rhs, *_ = instruction.operands
    return convolution(
        sizes_of(lhs),
        sizes_of(rhs),
        instruction.attributes["dim_labels"],
        _window(instruction),
        feature_group_count=instruction.attributes.get("feature_group_count", 1),
        batch_group_count=instruction.attributes.get("batch_group_count", 1),
    )


BUILDERS: Final[Mapping[str, Builder]] = {
    "convolution": convolution_of,
    "reduce-window": _reduce_window,
    "select-and-scatter": _select_and_scatter,
}
