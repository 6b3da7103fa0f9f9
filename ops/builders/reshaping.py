"""Reshape: the same elements in the same row-major order under other sizes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from indexing.layout import ShapeError
from ops.builders.building import checked_sizes, dimensions_of, index_map
from ops.builders.op_indexing import OpIndexing
from simplifier import form as forms
from simplifier import operations
from simplifier.form import ZERO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing import IndexingMap
    from ops.builders.building import Sizes
    from simplifier.form import Form


def reshape(operand_sizes: Sizes, output_sizes: Sizes) -> OpIndexing:
    """The elements in the same row-major order under other sizes.

    Shapes:
        operand, result: as many elements; the order of elements stays, the last dimension runs
        fastest.

    Source:
        XLA operation semantics, Reshape.

    Raises:
        ShapeError: the numbers of elements differ.

    Only dimensions that must be mixed are: both shapes are cut from the left into the shortest
    blocks of equal product, and each block is flattened and unflattened by itself. What is left is
    simplified.

    >>> indexing = reshape((4, 8, 12), (32, 3, 4))
    >>> print(indexing.output_to_input[0])
    (d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: d0 in [0, 31], d1 in [0, 2],
    d2 in [0, 3]
    >>> print(indexing.input_to_output[0])
    (d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: d0 in [0, 3], d1 in [0, 7],
    d2 in [0, 11]
    """
    operand_sizes, output_sizes = checked_element_counts("reshape", operand_sizes, output_sizes)
    to_input = _between(output_sizes, operand_sizes)
    to_output = _between(operand_sizes, output_sizes)
    return OpIndexing(output_sizes, (to_input,), (to_output,))


def _between(sizes: Sizes, target_sizes: Sizes) -> IndexingMap:
    results = reshaped_index(dimensions_of(sizes), sizes, target_sizes)
    return index_map(results, sizes).simplify()


def checked_element_counts(
    op: str, operand_sizes: Sizes, output_sizes: Sizes
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of operand and result, which hold as many elements."""
    operand_sizes = checked_sizes(op, "operand", operand_sizes)
    output_sizes = checked_sizes(op, "output", output_sizes)
    if prod(operand_sizes) != prod(output_sizes):
        message = (
            f"{op}: the operand has {prod(operand_sizes)} elements {operand_sizes}, "
            f"but the result has {prod(output_sizes)} {output_sizes}; expected as many"
        )
        raise ShapeError(message)
    return operand_sizes, output_sizes


def reshaped_index(index: Sequence[Form], sizes: Sizes, target_sizes: Sizes) -> list[Form]:
    """The index in ``target_sizes`` of the element at an index in ``sizes``, in row-major order.

    Dimensions of size 1 have the index 0 and take no part.
    """
    results = [ZERO] * len(target_sizes)
    if 0 in sizes:
        return results
    wide = [place for place, size in enumerate(sizes) if size != 1]
    target_wide = [place for place, size in enumerate(target_sizes) if size != 1]
    for block, target_block in _blocks(sizes, wide, target_sizes, target_wide):
        flat = flattened([index[place] for place in block], [sizes[place] for place in block])
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


def flattened(index: Sequence[Form], sizes: Sizes) -> Form:
    """The place of an element in row-major order."""
    flat = ZERO
    for digit, size in zip(index, sizes, strict=True):
        flat = flat * size + digit
    return flat


def _unflattened(flat: Form, sizes: Sizes) -> list[Form]:
    """The digits of a number below the product of the sizes; the first needs no remainder."""
    digits: list[Form] = []
    stride = 1
    for place in reversed(range(len(sizes))):
        quotient = flat if stride == 1 else operations.floordiv(flat, forms.constant(stride))
        digits.append(operations.mod(quotient, forms.constant(sizes[place])) if place else quotient)
        stride *= sizes[place]
    return digits[::-1]
