"""Dimensions reordered, deleted and reshaped, with their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar

from indexing.errors import ShapeError
from indexing.layout.layout import AnyShape, check_shapes
from simplifier.errors import check_integers

_T = TypeVar("_T")


def reorder_dimensions(shape: AnyShape, permutation: Sequence[int]) -> AnyShape:
    """The same memory under a shape that lists dimension ``permutation[k]`` as dimension ``k``.

    Raises:
        ShapeError: the shape is no array, or ``permutation`` is none of its dimensions.

    Source: XLA's ``ShapeUtil::ReorderLogicalDimensions``.

    >>> from indexing.layout import Shape
    >>> print(reorder_dimensions(Shape.parse("f32[16,3,12,17]{1,2,0,3}"), [0, 2, 1, 3]))
    f32[16,12,3,17]{2,1,0,3}
    """
    check_integers(permutation, "reorder_dimensions: permutation")
    check_shapes("reorder_dimensions", shape=shape)
    if sorted(permutation) != list(range(shape.rank)):
        found = f"{tuple(permutation)} is no permutation of the dimensions of {shape}"
        raise ShapeError(f"reorder_dimensions: {found}")
    return _listed(shape, tuple(permutation))


def in_memory_order(shape: AnyShape) -> AnyShape:
    """The same memory under a shape that lists the dimensions as they lie in it, major first.

    Raises:
        ShapeError: the shape is no array.

    >>> from indexing.layout import Shape
    >>> print(in_memory_order(Shape.parse("f32[128,24,4]{1,2,0:T(8,128)}")))
    f32[128,4,24]{2,1,0:T(8,128)}
    """
    check_shapes("in_memory_order", shape=shape)
    return _listed(shape, shape.array_layout.major_to_minor)


def delete_dimensions(shape: AnyShape, dimensions: Iterable[int]) -> AnyShape:
    """The array without some dimensions; the others keep their order in memory, and the tiles.

    Raises:
        ShapeError: the shape is no array, there is no such dimension, or a tile has more dimensions
            than are left.

    Source: XLA's ``ShapeUtil::DeleteDimensions``.

    >>> from indexing.layout import Shape
    >>> print(delete_dimensions(Shape.parse("f32[5,3,2,7,9]{3,4,1,0,2}"), [3, 2, 1]))
    f32[5,9]{1,0}
    """
    check_integers(dimensions, "delete_dimensions: dimensions")
    check_shapes("delete_dimensions", shape=shape)
    deleted = {shape.dimension_number(number) for number in dimensions}
    return _listed(shape, tuple(k for k in range(shape.rank) if k not in deleted))


def _listed(shape: AnyShape, kept: tuple[int, ...]) -> AnyShape:
    """The array with these dimensions only, in this order."""
    layout = shape.array_layout
    positions = {number: position for position, number in enumerate(kept)}
    order = tuple(positions[number] for number in layout.minor_to_major if number in positions)
    # Splits number the dimensions as they lie in memory, major first.
    in_memory = [number for number in layout.major_to_minor if number in positions]
    ranks = {layout.major_to_minor.index(number): rank for rank, number in enumerate(in_memory)}
    splits = (
        replace(config, dimension=ranks[config.dimension])
        for config in layout.split_configs
        if config.dimension in ranks
    )
    return replace(
        shape,
        dimensions=tuple(shape.dimensions[number] for number in kept),
        dynamic_dimensions=_chosen(shape.dynamic_dimensions, kept),
        layout=replace(
            layout,
            minor_to_major=order,
            split_configs=tuple(splits),
            dim_level_types=_chosen(layout.dim_level_types, kept),
        ),
    )


def _chosen(values: tuple[_T, ...], kept: tuple[int, ...]) -> tuple[_T, ...]:
    """The entries of these dimensions, if there is one for each dimension."""
    return tuple(values[number] for number in kept) if values else ()


# A reshape. The sizes before and after it are cut from the left into the shortest blocks of as many
# elements. It mixes the dimensions of one block, and no others.


def common_blocks(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> Iterator[tuple[range, range]]:
    """The dimensions on both sides of every block of a reshape, in order.

    A dimension of size 1 that meets none of size 1 is a block without a counterpart. Of an array
    without elements, all dimensions are one block.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``CommonFactors``.

    >>> for before, after in common_blocks((4, 8, 1, 12), (32, 3, 4)):
    ...     print([*before], [*after])
    [0, 1] [0]
    [2] []
    [3] [1, 2]
    """
    _check_sizes("common_blocks", sizes_before, sizes)
    counts = prod(sizes_before), prod(sizes)
    if counts[0] != counts[1]:
        found = f"{tuple(sizes_before)} has {counts[0]}, and {tuple(sizes)} {counts[1]}"
        raise ShapeError(f"a reshape keeps the number of elements, but {found}")
    start, other = 0, 0
    while start < len(sizes_before) or other < len(sizes):
        width, other_width = _first_block(sizes_before[start:], sizes[other:])
        yield range(start, start + width), range(other, other + other_width)
        start, other = start + width, other + other_width


def _first_block(before: Sequence[int], after: Sequence[int]) -> tuple[int, int]:
    """The number of dimensions of the first block, before and after."""
    if 0 in before:
        return len(before), len(after)
    if 1 in (*before[:1], *after[:1]):
        return int([*before[:1]] == [1]), int([*after[:1]] == [1])
    width = other_width = 1
    while (count := prod(before[:width])) != (other := prod(after[:other_width])):
        if count < other:
            width += 1
        else:
            other_width += 1
    return width, other_width


def dimensions_unmodified_by_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """The dimensions that a reshape does not change: their numbers before and after it.

    Each of them is a block by itself.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``ShapeUtil::DimensionsUnmodifiedByReshape``.

    >>> dimensions_unmodified_by_reshape((4, 1, 3, 5, 6, 7), (2, 6, 1, 5, 1, 42))
    ((3, 3),)
    """
    _check_sizes("dimensions_unmodified_by_reshape", sizes_before, sizes)
    return tuple(
        (before[0], after[0])
        for before, after in common_blocks(sizes_before, sizes)
        if len(before) == len(after) == 1
    )


def dimensions_after_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int], dimensions: Iterable[int]
) -> tuple[int, ...] | None:
    """The numbers of dimensions after a reshape; ``None`` if it changes one of them.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``ShapeUtil::ReshapeLeavesDimensionsUnmodified``.

    >>> dimensions_after_reshape((7, 8, 12), (7, 2, 4, 12), [2, 0])
    (3, 0)
    >>> dimensions_after_reshape((7, 8, 12), (7, 2, 4, 12), [1]) is None
    True
    """
    _check_sizes("dimensions_after_reshape", sizes_before, sizes)
    check_integers(dimensions, "dimensions_after_reshape: dimensions")
    unmodified = dict(dimensions_unmodified_by_reshape(sizes_before, sizes))
    wanted = tuple(dimensions)
    if not unmodified.keys() >= set(wanted):
        return None
    return tuple(unmodified[number] for number in wanted)


@dataclass(frozen=True, slots=True)
class OneSizedDimensions:
    """The dimensions of size 1 that a reshape deletes, and those that it inserts."""

    deleted: tuple[int, ...]
    """Their numbers before the reshape."""
    inserted: tuple[int, ...]
    """Their numbers after it."""


def one_sized_dimensions_changed_by_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> OneSizedDimensions | None:
    """The dimensions of size 1 that are deleted or inserted by a reshape that does nothing else.

    ``None`` for a reshape that changes dimensions of another size, too.

    Source: XLA's ``ShapeUtil::InsertedOrDeleted1SizedDimensions``.

    >>> one_sized_dimensions_changed_by_reshape((1, 5, 3), (5, 1, 3, 1))
    OneSizedDimensions(deleted=(0,), inserted=(1, 3))
    >>> one_sized_dimensions_changed_by_reshape((15, 1), (5, 3)) is None
    True
    """
    _check_sizes("one_sized_dimensions_changed_by_reshape", sizes_before, sizes)
    if prod(sizes_before) != prod(sizes):
        return None
    blocks = [*common_blocks(sizes_before, sizes)]
    if any(len(before) + len(after) > 2 for before, after in blocks):  # noqa: PLR2004 - one each
        return None
    return OneSizedDimensions(
        tuple(axis for before, after in blocks if not after for axis in before),
        tuple(axis for before, after in blocks if not before for axis in after),
    )


def _check_sizes(where: str, before: Sequence[int], after: Sequence[int]) -> None:
    check_integers(before, f"{where}: sizes_before")
    check_integers(after, f"{where}: sizes")
