"""Reshape, bitcast and bitcast-convert: the same elements under another shape."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from simplifier import form as forms
from simplifier.form import ZERO

from ops.answers import OpIndexing
from ops.building import check_count, checked_dimensions, checked_sizes, dim, dimensions_of, index_map, symbol
from ops.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing import IndexingMap
    from simplifier.form import Form

    from ops.building import Sizes


def reshape(operand_sizes: Sizes, output_sizes: Sizes) -> OpIndexing:
    """The elements in the same row-major order under other sizes.

    Shapes:
        operand, result: as many elements; the order of elements stays, the last dimension runs fastest.

    Source:
        XLA operation semantics, Reshape.

    Raises:
        ShapeError: the numbers of elements differ.

    Only dimensions that must be mixed are: both shapes are cut from the left into the shortest blocks of equal
    product, and each block is flattened and unflattened by itself.

    >>> indexing = reshape((4, 8, 12), (32, 3, 4))
    >>> print(indexing.output_to_input[0])
    (d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]
    >>> print(indexing.input_to_output[0])
    (d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 11]
    """
    operand_sizes, output_sizes = _checked_reshape("reshape", operand_sizes, output_sizes)
    return OpIndexing(
        output_sizes,
        (index_map(_reshaped(dimensions_of(output_sizes), output_sizes, operand_sizes), output_sizes),),
        (index_map(_reshaped(dimensions_of(operand_sizes), operand_sizes, output_sizes), operand_sizes),),
    )


def bitcast(
    operand_sizes: Sizes,
    output_sizes: Sizes,
    operand_minor_to_major: Sequence[int] | None = None,
    output_minor_to_major: Sequence[int] | None = None,
) -> OpIndexing:
    """The elements in the same order in memory under another shape and layout.

    A layout lists the dimensions from the one that runs fastest in memory to the slowest; without one the last
    dimension is the fastest. A bitcast is a transpose to the operand's order in memory, a reshape, and a transpose
    from the result's order in memory, each of which may change nothing.

    Shapes:
        operand, result: as many elements, of the same width, without tiles.

    Source:
        XLA operation semantics, Bitcast; ``ShapeUtil::DecomposeBitcast``.

    Raises:
        ShapeError: the numbers of elements differ, or a layout is no permutation of the dimensions.

    >>> print(bitcast((16, 17, 3), (51, 16), None, (0, 1)).output_to_input[0])
    (d0, d1) -> (d1, d0 floordiv 3, d0 mod 3), domain: d0 in [0, 50], d1 in [0, 15]
    """
    operand_sizes, output_sizes = _checked_reshape("bitcast", operand_sizes, output_sizes)
    operand = _Memory.of(operand_sizes, operand_minor_to_major)
    output = _Memory.of(output_sizes, output_minor_to_major)
    return OpIndexing(output_sizes, (_reinterpreted(output, operand),), (_reinterpreted(operand, output),))


@dataclass(frozen=True, slots=True)
class _Memory:
    """The sizes of a tensor, and its dimensions from the slowest in memory to the fastest."""

    sizes: Sizes
    order: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sizes, minor_to_major: Sequence[int] | None) -> _Memory:
        if minor_to_major is None:
            return cls(sizes, tuple(range(len(sizes))))
        checked = checked_dimensions("bitcast", "minor_to_major", minor_to_major, len(sizes))
        check_count("bitcast", "minor_to_major", checked, len(sizes))
        return cls(sizes, checked[::-1])

    @property
    def physical_sizes(self) -> list[int]:
        return [self.sizes[place] for place in self.order]


def _reinterpreted(source: _Memory, target: _Memory) -> IndexingMap:
    """From an index in one shape to the index of the same place in memory in another."""
    physical = _reshaped([dim(place) for place in source.order], source.physical_sizes, target.physical_sizes)
    results = dict(zip(target.order, physical, strict=True))
    return index_map((results[place] for place in range(len(results))), source.sizes)


def bitcast_convert(operand_sizes: Sizes, output_sizes: Sizes) -> OpIndexing:
    """The bits of every element as elements of another type.

    Shapes:
        operand, result: equal, or one has a further last dimension: the narrow elements of each wide one.

    Source:
        StableHLO specification, bitcast_convert.

    Raises:
        ShapeError: the shapes differ in more than a last dimension.

    >>> indexing = bitcast_convert((7,), (7, 4))
    >>> print(indexing.output_to_input[0])
    (d0, d1) -> (d0), domain: d0 in [0, 6], d1 in [0, 3]
    >>> print(indexing.input_to_output[0])
    (d0)[s0] -> (d0, s0), domain: d0 in [0, 6], s0 in [0, 3]
    """
    operand_sizes = checked_sizes("bitcast-convert", "operand", operand_sizes)
    output_sizes = checked_sizes("bitcast-convert", "output", output_sizes)
    common = min(len(operand_sizes), len(output_sizes))
    if operand_sizes[:common] != output_sizes[:common] or abs(len(operand_sizes) - len(output_sizes)) > 1:
        message = f"bitcast-convert: the operand has sizes {operand_sizes}, but the result {output_sizes}"
        raise ShapeError(f"{message}; expected them to differ at most by a last dimension")
    return OpIndexing(
        output_sizes,
        (_with_all_parts(output_sizes, operand_sizes),),
        (_with_all_parts(operand_sizes, output_sizes),),
    )


def _with_all_parts(source: Sizes, target: Sizes) -> IndexingMap:
    """From an element to the one, or to all, at the same place in a shape with one dimension less or more."""
    parts = target[len(source) :]
    return index_map((*dimensions_of(source)[: len(target)], *(symbol(place) for place in range(len(parts)))), source, parts)


def _checked_reshape(op: str, operand_sizes: Sizes, output_sizes: Sizes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    operand_sizes = checked_sizes(op, "operand", operand_sizes)
    output_sizes = checked_sizes(op, "output", output_sizes)
    if prod(operand_sizes) != prod(output_sizes):
        message = (
            f"{op}: the operand has {prod(operand_sizes)} elements {operand_sizes}, "
            f"but the result has {prod(output_sizes)} {output_sizes}; expected as many"
        )
        raise ShapeError(message)
    return operand_sizes, output_sizes


# The index arithmetic.


def _reshaped(index: Sequence[Form], sizes: Sizes, target_sizes: Sizes) -> list[Form]:
    """The index in ``target_sizes`` of the element at an index in ``sizes``, in row-major order.

    Dimensions of size 1 have the index 0 and take no part.
    """
    results = [ZERO] * len(target_sizes)
    if 0 in sizes:
        return results
    wide = [place for place, size in enumerate(sizes) if size != 1]
    target_wide = [place for place, size in enumerate(target_sizes) if size != 1]
    for block, target_block in _blocks(sizes, wide, target_sizes, target_wide):
        flat = _flattened([index[place] for place in block], [sizes[place] for place in block])
        digits = _unflattened(flat, [target_sizes[place] for place in target_block])
        for place, digit in zip(target_block, digits, strict=True):
            results[place] = digit
    return results


def _blocks(
    left_sizes: Sizes, left: Sequence[int], right_sizes: Sizes, right: Sequence[int]
) -> Iterator[tuple[list[int], list[int]]]:
    """Dimensions of both sides, cut from the left into the shortest blocks of equal product."""
    rest, others = iter(left), iter(right)
    for place in rest:
        block, other_block = [place], [next(others)]
        product, other_product = left_sizes[place], right_sizes[other_block[0]]
        while product != other_product:
            if product < other_product:
                block.append(next(rest))
                product *= left_sizes[block[-1]]
            else:
                other_block.append(next(others))
                other_product *= right_sizes[other_block[-1]]
        yield block, other_block


def _flattened(index: Sequence[Form], sizes: Sizes) -> Form:
    flat = ZERO
    for digit, size in zip(index, sizes, strict=True):
        flat = flat * size + digit
    return flat


def _unflattened(flat: Form, sizes: Sizes) -> list[Form]:
    """The digits of a number below the product of the sizes; the first needs no remainder."""
    digits: list[Form] = []
    stride = 1
    for place in reversed(range(len(sizes))):
        quotient = flat if stride == 1 else forms.floordiv(flat, forms.constant(stride))
        digits.append(forms.mod(quotient, forms.constant(sizes[place])) if place else quotient)
        stride *= sizes[place]
    return digits[::-1]
