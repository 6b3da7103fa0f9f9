"""Arrays with their dimensions listed in another order, or without some of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from indexing.layout.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing.layout.shape import Shape

_T = TypeVar("_T")


def reorder_dimensions(shape: Shape, permutation: Sequence[int]) -> Shape:
    """The same memory under a shape that lists dimension ``permutation[k]`` as dimension ``k``.

    Raises:
        ShapeError: the shape is no array, or ``permutation`` is none of its dimensions.

    Source: XLA's ``ShapeUtil::ReorderLogicalDimensions``.

    >>> from indexing.layout import Shape
    >>> print(reorder_dimensions(Shape.parse("f32[16,3,12,17]{1,2,0,3}"), [0, 2, 1, 3]))
    f32[16,12,3,17]{2,1,0,3}
    """
    if sorted(permutation) != list(range(shape.rank)):
        raise ShapeError(
            f"reorder_dimensions: {tuple(permutation)} is no permutation "
            f"of the dimensions of {shape}"
        )
    return _listed(shape, tuple(permutation))


def in_memory_order(shape: Shape) -> Shape:
    """The same memory under a shape that lists the dimensions as they lie in it, major first.

    Raises:
        ShapeError: the shape is no array.

    >>> from indexing.layout import Shape
    >>> print(in_memory_order(Shape.parse("f32[128,24,4]{1,2,0:T(8,128)}")))
    f32[128,4,24]{2,1,0:T(8,128)}
    """
    return _listed(shape, shape.array_layout.major_to_minor)


def delete_dimensions(shape: Shape, dimensions: Iterable[int]) -> Shape:
    """The array without some dimensions; the others keep their order in memory, and the tiles.

    Raises:
        ShapeError: the shape is no array, there is no such dimension, or a tile has more dimensions
            than are left.

    Source: XLA's ``ShapeUtil::DeleteDimensions``.

    >>> from indexing.layout import Shape
    >>> print(delete_dimensions(Shape.parse("f32[5,3,2,7,9]{3,4,1,0,2}"), [3, 2, 1]))
    f32[5,9]{1,0}
    """
    deleted = {shape.dimension_number(number) for number in dimensions}
    return _listed(shape, tuple(k for k in range(shape.rank) if k not in deleted))


def _listed(shape: Shape, kept: tuple[int, ...]) -> Shape:
    """The array with these dimensions, in this order."""
    layout = shape.array_layout
    places = {number: place for place, number in enumerate(kept)}
    order = tuple(places[number] for number in layout.minor_to_major if number in places)
    splits = (
        replace(config, dimension=places[config.dimension])
        for config in layout.split_configs
        if config.dimension in places
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
    """What is said of these dimensions, where something is said of all."""
    return tuple(values[number] for number in kept) if values else ()
