"""Broadcast: the operand repeated along new dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.index_maps import check_count, checked_dimensions, checked_sizes, dim, index_map, symbol
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import OpRule, sizes_of
from ops.sizes import equal, not_negative
from simplifier.expr.form import ZERO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.domain import Constraint
    from ops.hlo import Instruction
    from ops.index_maps import Sizes
    from ops.sizes import Size


def broadcast(operand_sizes: Sizes, output_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Copies the operand along new dimensions of the result.

    Dimension ``i`` of the operand is dimension ``dimensions[i]`` of the result, in any order.
    A dimension of size 1 may be stretched. A size over parameters is not taken for 1: it has to be
    that of the result.

    Shapes:
        operand: ``(n_0, ..., n_{r-1})``.
        result: ``(m_0, ...)`` with ``n_i`` equal to 1 or to ``m_{dimensions[i]}``.

    Source:
        StableHLO specification, broadcast_in_dim. HLO's broadcast does not stretch.

    Raises:
        ShapeError: ``dimensions`` lists a dimension twice, lacks one, or sizes differ.

    >>> indexing = broadcast((20,), (10, 20, 30), (1,))
    >>> print(indexing.output_to_input[0])
    (d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]
    >>> print(indexing.input_to_output[0])
    (d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]
    """
    operand_sizes = checked_sizes("broadcast", "operand", operand_sizes)
    output_sizes = checked_sizes("broadcast", "output", output_sizes)
    dimensions = checked_dimensions("broadcast", "dimensions", dimensions, len(output_sizes))
    check_count("broadcast", "dimensions", dimensions, len(operand_sizes))
    conditions = not_negative((*operand_sizes, *output_sizes))
    for axis, (size, target) in enumerate(zip(operand_sizes, dimensions, strict=True)):
        conditions += _check_size(axis, size, target, output_sizes[target])
    kept = {
        target: axis
        for axis, (size, target) in enumerate(zip(operand_sizes, dimensions, strict=True))
        if size != 1 or output_sizes[target] == 1
    }
    to_input = [dim(target) if target in kept else ZERO for target in dimensions]
    new = [target for target in range(len(output_sizes)) if target not in kept]
    to_output = [
        dim(kept[target]) if target in kept else symbol(new.index(target))
        for target in range(len(output_sizes))
    ]
    return OpIndexing(
        output_sizes,
        (index_map(to_input, output_sizes),),
        (index_map(to_output, operand_sizes, [output_sizes[target] for target in new]),),
    ).on_condition(conditions)


def _check_size(axis: int, size: Size, target: int, target_size: Size) -> list[Constraint]:
    if size in (1, target_size):
        return []
    message = (
        f"broadcast: operand dimension {axis} has size {size}, but result dimension {target} "
        f"(dimensions[{axis}]) has size {target_size}; expected 1 or {target_size}"
    )
    return equal(size, target_size, message)


# Reading instructions.


def _broadcast(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    return broadcast(sizes_of(operand), sizes_of(instruction), instruction.attributes["dimensions"])


RULES: Final[Mapping[str, OpRule]] = {
    "broadcast": OpRule(_broadcast),
}
