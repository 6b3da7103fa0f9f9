"""Shuffle: elements that change places along some dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.builders.building import (
    check_count,
    checked_dimensions,
    checked_integers,
    checked_sizes,
    dim,
    dimensions_of,
    index_map,
    symbol,
)
from ops.builders.op_indexing import OpIndexing
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing import IndexingMap
    from ops.builders.building import Sizes


def rotate(operand_sizes: Sizes, dimensions: Sequence[int], shifts: Sequence[int]) -> OpIndexing:
    """The elements moved towards the front along some dimensions, and round to the back.

    Along ``dimensions[i]`` the result begins with element ``shifts[i]`` of the operand; a shift may
    be negative, or beyond the size.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA's shuffle with mode ``rotate``, as its expander to slices and concatenations does it.

    Raises:
        ShapeError: a dimension is listed twice, or is none of the operand's, or has no shift.

    >>> print(rotate((2, 10), (1,), (3,)).output_to_input[0])
    (d0, d1) -> (d0, (d1 + 3) mod 10), domain: d0 in [0, 1], d1 in [0, 9]
    """
    sizes = checked_sizes("shuffle", "operand", operand_sizes)
    turned = checked_dimensions("shuffle", "dimensions", dimensions, len(sizes))
    distances = checked_integers("shuffle", "shifts", shifts)
    check_count("shuffle", "shifts", distances, len(turned))
    pairs = list(zip(turned, distances, strict=True))
    return OpIndexing(
        sizes,
        (_rotated(sizes, pairs),),
        (_rotated(sizes, [(place, -distance) for place, distance in pairs]),),
    )


def _rotated(sizes: Sizes, distances: Iterable[tuple[int, int]]) -> IndexingMap:
    results = dimensions_of(sizes)
    for place, distance in distances:
        if sizes[place]:
            results[place] = operations.mod(dim(place) + distance, forms.constant(sizes[place]))
    return index_map(results, sizes)


def permute(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Each element is any of those that differ from it along some dimensions alone.

    A table of indices says which; the maps hold for every table, so they are wider than what one
    of them does.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA's shuffle with mode ``permute``, as its expander to a gather does it.

    Raises:
        ShapeError: a dimension is listed twice, or is none of the operand's.

    >>> print(permute((3, 2), (0,)).output_to_input[0])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 2]
    """
    sizes = checked_sizes("shuffle", "operand", operand_sizes)
    moved = checked_dimensions("shuffle", "dimensions", dimensions, len(sizes))
    results = dimensions_of(sizes)
    for number, place in enumerate(moved):
        results[place] = symbol(number)
    own_inverse = (index_map(results, sizes, [sizes[place] for place in moved]),)
    return OpIndexing(sizes, own_inverse, own_inverse)
