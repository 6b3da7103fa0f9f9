"""Pad: a tensor with a border, and with gaps between its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.hlo.result_sizes import padded_size
from ops.index_maps import (
    check_count,
    checked_numbers,
    checked_sizes,
    every_element,
    no_dimensions,
)
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import OpRule, check_scalars, sizes_of
from ops.rules.slice import strided_indices, strided_numbers
from ops.sizes import between, floor_divided, is_negative, met, not_negative

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.symbolic_bounds import Ends
    from ops.hlo import Instruction
    from ops.index_maps import Sizes
    from ops.sizes import Size, SizeLike
    from simplifier import Interval


def pad(operand_sizes: Sizes, padding: Sequence[tuple[SizeLike, SizeLike, int]]) -> OpIndexing:
    """Puts padding before, after and between the elements of the operand.

    Each dimension has a triple ``(low, high, interior)``: how many values come before the first
    element, after the last, and between two neighbours. Where ``low`` or ``high`` is negative
    elements are cut off instead.

    Operand 1 is the padding value. Its maps say that every element of the result needs it, padded
    or not.

    Shapes:
        operand: ``(n_0, ...)``.
        result: ``(low_i + n_i + max(0, n_i - 1) * interior_i + high_i, ...)``.

    Source:
        XLA operation semantics, Pad.

    Raises:
        ShapeError: the interior padding or a size of the result is negative.

    >>> print(pad((4, 4), [(1, 4, 1), (4, 8, 0)]).output_to_input[0])
    (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod
    2 in [0, 0]
    """
    operand_sizes = checked_sizes("pad", "operand", operand_sizes)
    check_count("pad", "padding", padding, len(operand_sizes))
    triples = [_checked_triple(axis, triple) for axis, triple in enumerate(padding)]
    output_sizes = tuple(
        _padded_size(axis, size, *triple)
        for axis, (size, triple) in enumerate(zip(operand_sizes, triples, strict=True))
    )
    lows, steps = [low for low, _, _ in triples], [interior + 1 for _, _, interior in triples]
    bounds = list(zip(operand_sizes, triples, strict=True))
    taken = [_taken(size, *triple) for size, triple in bounds]
    kept = [_kept(size, *triple) for size, triple in bounds]
    return OpIndexing(
        output_sizes,
        (strided_numbers(taken, lows, steps), no_dimensions(output_sizes)),
        (strided_indices(kept, lows, steps), every_element(output_sizes)),
    ).on_condition(not_negative((*operand_sizes, *output_sizes)))


def _checked_triple(axis: int, triple: Sequence[SizeLike]) -> tuple[Size, Size, int]:
    checked = checked_numbers("pad", f"padding[{axis}]", triple)
    try:
        low, high, interior = checked
    except ValueError:
        message = f"pad: padding[{axis}] is {checked}; expected (low, high, interior)"
        raise ShapeError(message) from None
    if not isinstance(interior, int) or interior < 0:
        raise ShapeError(
            f"pad: dimension {axis} has interior padding {interior}; expected 0 or more"
        )
    return low, high, interior


def _padded_size(axis: int, size: Size, low: Size, high: Size, interior: int) -> Size:
    padded = padded_size(size, low, high, interior)
    if is_negative(padded):
        message = f"pad: dimension {axis} has size {size}, with padding {low}_{high}_{interior}"
        raise ShapeError(f"{message} {padded}; expected 0 or more")
    return padded


def _taken(size: Size, low: Size, high: Size, interior: int) -> Interval | Ends:
    """The indices of the result from the first to the last element of the operand.

    If there is an element, the last one and what follows it tell the size of the result.
    """
    last = low + (size - 1) * (interior + 1)
    return met(between(low, last), between(0, last + high))


def _kept(size: Size, low: Size, high: Size, interior: int) -> Interval | Ends:
    """The elements of the operand that are not cut off."""
    before, after = (floor_divided(each, interior + 1) for each in (low, high))
    return met(between(-before, size - 1 + after), between(0, size - 1))


# Reading instructions.


def _pad(instruction: Instruction) -> OpIndexing:
    operand, value = instruction.operands
    check_scalars("pad", [value])
    return pad(sizes_of(operand), instruction.attributes["padding"])


RULES: Final[Mapping[str, OpRule]] = {
    "pad": OpRule(_pad),
}
