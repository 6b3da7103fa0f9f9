"""Broadcast: the operand repeated along new dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.index_maps import check_count, checked_dimensions, checked_sizes, dim, index_map, symbol
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import OpRule, sizes_of
from ops.sizes import as_form, difference, equal, may_be, not_negative
from simplifier import Interval
from simplifier.bounds.facts import read_fact
from simplifier.expr import operations
from simplifier.expr.form import ZERO, Form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.domain import Constraint
    from ops.hlo import Instruction
    from ops.index_maps import Sizes
    from ops.sizes import Size


def broadcast(operand_sizes: Sizes, output_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Copies the operand along new dimensions of the result.

    Dimension ``i`` of the operand is dimension ``dimensions[i]`` of the result, in any order.
    A dimension of size 1 may be stretched. A size ``n`` over parameters may be 1, too, unless it is
    that of the result: the index ``min(d, n - 1)`` is right for both, and that ``n`` is one of them
    is a constraint of the maps.

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
    >>> from simplifier import symbol
    >>> print(broadcast((symbol("N"),), (8,), (0,)).output_to_input[0])
    (d0)<N> -> (min(N - 1, d0)), domain: d0 in [0, 7], N in [1, 8],
    (N != 8 and N != 1) in [0, 0]
    """
    operand_sizes = checked_sizes("broadcast", "operand", operand_sizes)
    output_sizes = checked_sizes("broadcast", "output", output_sizes)
    dimensions = checked_dimensions("broadcast", "dimensions", dimensions, len(output_sizes))
    check_count("broadcast", "dimensions", dimensions, len(operand_sizes))
    conditions = not_negative((*operand_sizes, *output_sizes))
    kept: dict[int, int] = {}
    to_input: list[Form] = []
    for axis, (size, target) in enumerate(zip(operand_sizes, dimensions, strict=True)):
        conditions += _fits(axis, size, target, output_sizes[target])
        is_kept = not _may_stretch(size, output_sizes[target])
        if is_kept:
            kept[target] = axis
        to_input.append(dim(target) if is_kept else _copied(dim(target), size))
    new = [target for target in range(len(output_sizes)) if target not in kept]
    to_output = [
        dim(kept[target]) if target in kept else symbol(new.index(target))
        for target in range(len(output_sizes))
    ]
    copied_from = [
        (_copied(symbol(new.index(target)), size) - dim(axis), Interval(0, 0))
        for axis, (size, target) in enumerate(zip(operand_sizes, dimensions, strict=True))
        if target in new and isinstance(size, Form)
    ]
    ranges = [output_sizes[target] for target in new]
    return OpIndexing(
        output_sizes,
        (index_map(to_input, output_sizes),),
        (index_map(to_output, operand_sizes, ranges, copied_from),),
    ).on_condition(conditions)


def _may_stretch(size: Size, target_size: Size) -> bool:
    """Whether a dimension may be one that is stretched, to more or to less than one element."""
    return size != target_size and may_be(size, 1)


def _copied(index: Form, size: Size) -> Form:
    """The index in a dimension that is stretched if its size is 1, and kept if it is not."""
    return operations.minimum((index, size - 1)) if isinstance(size, Form) else ZERO


def _fits(axis: int, size: Size, target: int, target_size: Size) -> list[Constraint]:
    """The condition that a dimension of the operand is kept or stretched."""
    if size in (1, target_size):
        return []
    if _may_stretch(size, target_size):
        apart = (as_form(difference(size, choice)) for choice in (1, target_size))
        neither = operations.conjunction(map(operations.negation, map(operations.zero, apart)))
        return [*read_fact(neither, Interval(0, 0))]
    message = (
        f"broadcast: operand dimension {axis} has size {size}, but result dimension {target} "
        f"(dimensions[{axis}]) has size {target_size}; expected 1 or {target_size}"
    )
    return equal(size, target_size, message)


# Reading instructions.


def _broadcast(instruction: Instruction) -> OpIndexing:
    """HLO's broadcast does not stretch what has a size of its own when it runs."""
    (operand,) = instruction.operands
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    output_sizes = sizes_of(instruction)
    sizes = [*sizes_of(operand)]
    conditions: list[Constraint] = []
    for axis, (size, target) in enumerate(zip(sizes, dimensions, strict=False)):
        if isinstance(size, Form) and target in range(len(output_sizes)):
            conditions += equal(size, output_sizes[target], "broadcast: sizes differ")
            sizes[axis] = output_sizes[target]
    return broadcast(sizes, output_sizes, dimensions).on_condition(conditions)


RULES: Final[Mapping[str, OpRule]] = {
    "broadcast": OpRule(_broadcast),
}
