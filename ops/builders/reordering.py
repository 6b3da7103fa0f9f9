"""Transpose and reverse: the same elements in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.builders.building import (
    check_count,
    checked_dimensions,
    checked_sizes,
    dim,
    dimensions_of,
    index_map,
)
from ops.builders.op_indexing import OpIndexing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.builders.building import Sizes


def transpose(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Dimension ``i`` of the result is dimension ``dimensions[i]`` of the operand.

    Shapes:
        operand: ``(n_0, ..., n_{r-1})``.
        result: ``(n_{dimensions[0]}, ..., n_{dimensions[r-1]})``.

    Source:
        XLA operation semantics, Transpose.

    Raises:
        ShapeError: ``dimensions`` is no permutation of the operand's dimensions.

    >>> indexing = transpose((3, 12288, 6), (0, 2, 1))
    >>> print(indexing.output_to_input[0])
    (d0, d1, d2) -> (d0, d2, d1), domain: d0 in [0, 2], d1 in [0, 5], d2 in [0, 12287]
    """
    operand_sizes = checked_sizes("transpose", "operand", operand_sizes)
    dimensions = checked_dimensions("transpose", "dimensions", dimensions, len(operand_sizes))
    check_count("transpose", "dimensions", dimensions, len(operand_sizes))
    output_sizes = tuple(operand_sizes[source] for source in dimensions)
    to_input = [dim(dimensions.index(source)) for source in range(len(dimensions))]
    return OpIndexing(
        output_sizes,
        (index_map(to_input, output_sizes),),
        (index_map(map(dim, dimensions), operand_sizes),),
    )


def reverse(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """The elements in opposite order along some dimensions.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA operation semantics, Rev (reverse).

    Raises:
        ShapeError: a dimension is listed twice, or is none of the operand's.

    >>> print(reverse((1, 17, 9), (1, 2)).output_to_input[0])
    (d0, d1, d2) -> (d0, -d1 + 16, -d2 + 8), domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8]
    """
    sizes = checked_sizes("reverse", "operand", operand_sizes)
    turned = checked_dimensions("reverse", "dimensions", dimensions, len(sizes))
    results = [
        size - 1 - index if place in turned else index
        for place, (size, index) in enumerate(zip(sizes, dimensions_of(sizes), strict=True))
    ]
    own_inverse = (index_map(results, sizes),)
    return OpIndexing(sizes, own_inverse, own_inverse)
