"""Broadcast and pad: the operand repeated, or with elements around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from indexing.layout import ShapeError
from indexing.passes import Constraint, Ends
from ops import index_maps
from ops.hlo import Instruction
from ops.hlo.shape_inference import padded_size
from ops.index_maps import Size, SizeLike, Sizes
from ops.rules.rule import OpIndexing, OpRule, check_scalars, sizes_of
from ops.rules.slice import strided_indices, strided_numbers
from simplifier import forms
from simplifier.forms import ZERO, Form, Interval, read_fact

# Pad: a tensor with a border, and with gaps between its elements.


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
    operand_sizes = index_maps.checked_sizes("pad", "operand", operand_sizes)
    index_maps.check_count("pad", "padding", padding, len(operand_sizes))
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
        (strided_numbers(taken, lows, steps), index_maps.no_dimensions(output_sizes)),
        (strided_indices(kept, lows, steps), index_maps.every_element(output_sizes)),
    ).on_condition(index_maps.not_negative((*operand_sizes, *output_sizes)))


def _checked_triple(axis: int, triple: Sequence[SizeLike]) -> tuple[Size, Size, int]:
    checked = index_maps.checked_numbers("pad", f"padding[{axis}]", triple)
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
    if index_maps.is_negative(padded):
        message = f"pad: dimension {axis} has size {size}, with padding {low}_{high}_{interior}"
        raise ShapeError(f"{message} {padded}; expected 0 or more")
    return padded


def _taken(size: Size, low: Size, high: Size, interior: int) -> Interval | Ends:
    """The indices of the result from the first to the last element of the operand.

    If there is an element, the last one and what follows it tell the size of the result.
    """
    last = low + (size - 1) * (interior + 1)
    return index_maps.met(index_maps.between(low, last), index_maps.between(0, last + high))


def _kept(size: Size, low: Size, high: Size, interior: int) -> Interval | Ends:
    """The elements of the operand that are not cut off."""
    before, after = (index_maps.floor_divided(each, interior + 1) for each in (low, high))
    return index_maps.met(
        index_maps.between(-before, size - 1 + after), index_maps.between(0, size - 1)
    )


# Reading instructions.


def _pad(instruction: Instruction) -> OpIndexing:
    operand, value = instruction.operands
    check_scalars("pad", [value])
    return pad(sizes_of(operand), instruction.attributes["padding"])


# Broadcast: the operand repeated along new dimensions.


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
    operand_sizes = index_maps.checked_sizes("broadcast", "operand", operand_sizes)
    output_sizes = index_maps.checked_sizes("broadcast", "output", output_sizes)
    dimensions = index_maps.checked_dimensions(
        "broadcast", "dimensions", dimensions, len(output_sizes)
    )
    index_maps.check_count("broadcast", "dimensions", dimensions, len(operand_sizes))
    conditions = index_maps.not_negative((*operand_sizes, *output_sizes))
    kept: dict[int, int] = {}
    to_input: list[Form] = []
    for axis, (size, target) in enumerate(zip(operand_sizes, dimensions, strict=True)):
        conditions += _fits(axis, size, target, output_sizes[target])
        is_kept = not _may_stretch(size, output_sizes[target])
        if is_kept:
            kept[target] = axis
        to_input.append(
            index_maps.dim(target) if is_kept else _copied(index_maps.dim(target), size)
        )
    new = [target for target in range(len(output_sizes)) if target not in kept]
    to_output = [
        index_maps.dim(kept[target]) if target in kept else index_maps.symbol(new.index(target))
        for target in range(len(output_sizes))
    ]
    copied_from = [
        (_copied(index_maps.symbol(new.index(target)), size) - index_maps.dim(axis), Interval(0, 0))
        for axis, (size, target) in enumerate(zip(operand_sizes, dimensions, strict=True))
        if target in new and isinstance(size, Form)
    ]
    ranges = [output_sizes[target] for target in new]
    return OpIndexing(
        output_sizes,
        (index_maps.index_map(to_input, output_sizes),),
        (index_maps.index_map(to_output, operand_sizes, ranges, copied_from),),
    ).on_condition(conditions)


def _may_stretch(size: Size, target_size: Size) -> bool:
    """Whether a dimension may be one that is stretched, to more or to less than one element."""
    return size != target_size and index_maps.may_be(size, 1)


def _copied(index: Form, size: Size) -> Form:
    """The index in a dimension that is stretched if its size is 1, and kept if it is not."""
    return forms.minimum((index, size - 1)) if isinstance(size, Form) else ZERO


def _fits(axis: int, size: Size, target: int, target_size: Size) -> list[Constraint]:
    """The condition that a dimension of the operand is kept or stretched."""
    if size in (1, target_size):
        return []
    if _may_stretch(size, target_size):
        apart = (
            index_maps.as_form(index_maps.difference(size, choice)) for choice in (1, target_size)
        )
        neither = forms.conjunction(map(forms.negation, map(forms.zero, apart)))
        return [*read_fact(neither, Interval(0, 0))]
    message = (
        f"broadcast: operand dimension {axis} has size {size}, but result dimension {target} "
        f"(dimensions[{axis}]) has size {target_size}; expected 1 or {target_size}"
    )
    return index_maps.equal(size, target_size, message)


# Reading instructions.


def _broadcast(instruction: Instruction) -> OpIndexing:
    """HLO's broadcast does not stretch a dimension with a size of its own at runtime."""
    (operand,) = instruction.operands
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    output_sizes = sizes_of(instruction)
    sizes = [*sizes_of(operand)]
    conditions: list[Constraint] = []
    for axis, (size, target) in enumerate(zip(sizes, dimensions, strict=False)):
        if isinstance(size, Form) and target in range(len(output_sizes)):
            conditions += index_maps.equal(size, output_sizes[target], "broadcast: sizes differ")
            sizes[axis] = output_sizes[target]
    return broadcast(sizes, output_sizes, dimensions).on_condition(conditions)


RULES: Final[Mapping[str, OpRule]] = {"pad": OpRule(_pad), "broadcast": OpRule(_broadcast)}
