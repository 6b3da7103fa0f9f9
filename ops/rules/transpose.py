"""Transpose, reverse and shuffle: the same elements in another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from indexing import IndexingMap
from ops import index_maps
from ops.hlo import Instruction
from ops.index_maps import CheckedSizes, Size, Sizes
from ops.rules.rule import OpIndexing, OpRule, Unknown, reading, sizes_of
from simplifier import forms


def transpose(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Permutes dimensions: dimension ``i`` of the result is ``dimensions[i]`` of the operand.

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
    operand_sizes = index_maps.checked_sizes("transpose", "operand", operand_sizes)
    dimensions = index_maps.checked_dimensions(
        "transpose", "dimensions", dimensions, len(operand_sizes)
    )
    index_maps.check_count("transpose", "dimensions", dimensions, len(operand_sizes))
    output_sizes = tuple(operand_sizes[source] for source in dimensions)
    to_input = [index_maps.dim(dimensions.index(source)) for source in range(len(dimensions))]
    return OpIndexing(
        output_sizes,
        (index_maps.index_map(to_input, output_sizes),),
        (index_maps.index_map(map(index_maps.dim, dimensions), operand_sizes),),
    )


def reverse(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Reverses the order of elements along some dimensions.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA operation semantics, Rev (reverse).

    Raises:
        ShapeError: a dimension is listed twice, or does not exist.

    >>> print(reverse((1, 17, 9), (1, 2)).output_to_input[0])
    (d0, d1, d2) -> (d0, -d1 + 16, -d2 + 8), domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8]
    """
    sizes = index_maps.checked_sizes("reverse", "operand", operand_sizes)
    turned = index_maps.checked_dimensions("reverse", "dimensions", dimensions, len(sizes))
    results = [
        size - 1 - index if axis in turned else index
        for axis, (size, index) in enumerate(
            zip(sizes, index_maps.dimensions_of(sizes), strict=True)
        )
    ]
    own_inverse = (index_maps.index_map(results, sizes),)
    return OpIndexing(sizes, own_inverse, own_inverse)


def rotate(operand_sizes: Sizes, dimensions: Sequence[int], shifts: Sizes) -> OpIndexing:
    """Moves elements towards the front along some dimensions, and the first ones to the back.

    Along ``dimensions[i]`` the result begins with element ``shifts[i]`` of the operand; a shift may
    be negative, or beyond the size.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA's shuffle with mode ``rotate``, as its expander to slices and concatenations does it.

    Raises:
        ShapeError: a dimension is listed twice, does not exist, or has no shift.

    >>> print(rotate((2, 10), (1,), (3,)).output_to_input[0])
    (d0, d1) -> (d0, (d1 + 3) mod 10), domain: d0 in [0, 1], d1 in [0, 9]
    """
    sizes = index_maps.checked_sizes("shuffle", "operand", operand_sizes)
    turned = index_maps.checked_dimensions("shuffle", "dimensions", dimensions, len(sizes))
    distances = index_maps.checked_numbers("shuffle", "shifts", shifts)
    index_maps.check_count("shuffle", "shifts", distances, len(turned))
    pairs = list(zip(turned, distances, strict=True))
    return OpIndexing(
        sizes,
        (_rotated(sizes, pairs),),
        (_rotated(sizes, [(axis, -distance) for axis, distance in pairs]),),
    )


def _rotated(sizes: CheckedSizes, distances: Sequence[tuple[int, Size]]) -> IndexingMap:
    results = index_maps.dimensions_of(sizes)
    for axis, distance in distances:
        if sizes[axis]:
            results[axis] = forms.mod(
                index_maps.dim(axis) + distance, index_maps.as_form(sizes[axis])
            )
    return index_maps.index_map(results, sizes, over=[distance for _, distance in distances])


def permute(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Reorders elements along some dimensions by a table of indices.

    The maps hold for every table: an element of the result may be any element along those
    dimensions.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA's shuffle with mode ``permute``, as its expander to a gather does it.

    Raises:
        ShapeError: a dimension is listed twice, or does not exist.

    >>> print(permute((3, 2), (0,)).output_to_input[0])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 2]
    """
    sizes = index_maps.checked_sizes("shuffle", "operand", operand_sizes)
    moved = index_maps.checked_dimensions("shuffle", "dimensions", dimensions, len(sizes))
    results = index_maps.dimensions_of(sizes)
    for number, axis in enumerate(moved):
        results[axis] = index_maps.symbol(number)
    own_inverse = (index_maps.index_map(results, sizes, [sizes[axis] for axis in moved]),)
    return OpIndexing(sizes, own_inverse, own_inverse)


# Reading instructions.


def _shuffle(instruction: Instruction) -> OpIndexing | Unknown:
    (operand,) = instruction.operands
    sizes, attributes = sizes_of(operand), instruction.attributes
    match attributes["mode"]:
        case "rotate":
            return rotate(sizes, attributes["dimensions"], attributes.get("shifts", ()))
        case "permute":
            return permute(sizes, attributes["dimensions"])
        case mode:
            return Unknown(f"shuffle: no indexing map of mode {mode}")


RULES: Final[Mapping[str, OpRule]] = {
    "reverse": OpRule(reading(reverse, "dimensions")),
    "shuffle": OpRule(_shuffle),
    "transpose": OpRule(reading(transpose, "dimensions")),
}
