"""An array as its first tile takes it: what a picture of a layout is drawn on.

Dimensions are in the order of memory, those under ``*`` combined, and the places that the tile pads
lie beside the elements. From such a place the steps of the layout lead on to an offset, and from an
offset back to the tile that it is in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from indexing.layout.layout import COMBINE_DIMENSION
from indexing.layout.steps import (
    Reshape,
    backward,
    forward,
    memory_steps,
    tiled_sizes,
    tiling_steps,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing.layout.shape import Shape
    from indexing.layout.steps import Step

Place: TypeAlias = tuple[int, ...]
"""An index on a canvas."""

_FEWEST_DIMENSIONS = 2


@dataclass(frozen=True, slots=True)
class Level:
    """The tiles of one level: how many there are in each dimension, and the steps on to memory.

    >>> from indexing.layout import Shape
    >>> (level,) = canvas_of(Shape.parse("f32[3,5]{1,0:T(2,2)}")).levels
    >>> level.counts, level.tile_at(17)
    ((2, 3), 4)
    """

    counts: tuple[int, ...]
    steps: tuple[Step, ...]

    def tile_at(self, offset: int) -> int | None:
        """Which tile is at an offset, counted row by row; ``None`` where no tile is."""
        index, _ = backward(self.steps, (offset,))
        number = 0
        for digit, count in zip(index, self.counts, strict=False):
            if digit >= count:
                return None
            number = number * count + digit
        return number


@dataclass(frozen=True, slots=True)
class Canvas:
    """An array whose dimensions are groups of those of ``shape``, padded as the first tile does.

    There are at least two dimensions, if need be of no group and of size 1; the ``rank`` last ones
    are those that ``steps`` begin with.
    """

    shape: Shape
    groups: tuple[tuple[int, ...], ...]
    padded_sizes: tuple[int, ...]
    rank: int
    steps: tuple[Step, ...]
    levels: tuple[Level, ...]

    @property
    def plane(self) -> tuple[int, int]:
        """The dimensions that are rows and columns: the two most minor ones, in order of number."""
        last = len(self.groups)
        rows, columns = sorted((last - 2, last - 1), key=lambda place: self.groups[place])
        return rows, columns

    @property
    def is_transposed(self) -> bool:
        """Whether the columns are the more major of both."""
        rows, columns = self.plane
        return rows > columns

    def sizes(self, dimension: int) -> tuple[int, ...]:
        """The sizes of the dimensions of a group."""
        return tuple(self.shape.dimensions[number] for number in self.groups[dimension])

    def name(self, dimension: int) -> str:
        """What the dimensions of a group are called."""
        return ",".join(self.shape.dimension_names[number] for number in self.groups[dimension])

    def tile_sizes(self, dimension: int) -> list[int]:
        """How long the tiles of each level are along a dimension, as far as they have so many."""
        from_last = dimension - len(self.groups)
        tiles = map(_without_stars, self.shape.array_layout.tiles)
        return [tile[from_last] for tile in tiles if len(tile) >= -from_last]

    def offset(self, place: Place) -> int:
        """The offset of a place in memory."""
        return forward(self.steps, place[len(place) - self.rank :])[0]

    def tiles(self, offset: int) -> tuple[int | None, ...]:
        """In which tile of each level an offset is."""
        return tuple(level.tile_at(offset) for level in self.levels)

    def __contains__(self, place: Place) -> bool:
        sizes = self.padded_sizes
        return all(0 <= value < size for value, size in zip(place, sizes, strict=True))


def canvas_of(shape: Shape) -> Canvas:
    """The canvas of an array.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> canvas = canvas_of(Shape.parse("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"))
    >>> canvas.groups, canvas.padded_sizes
    (((0, 1, 2), (3, 4)), (112, 111))
    """
    steps = memory_steps(shape)
    layout = shape.array_layout
    first = layout.tiles[0] if layout.tiles else ()
    groups = _groups(layout.major_to_minor, first)
    rank = len(groups)
    tile = (1,) * rank + _without_stars(first)
    padded = tuple(
        -(-prod(shape.dimensions[number] for number in group) // size) * size
        for group, size in zip(groups, tile[len(tile) - rank :], strict=True)
    )
    missing = max(0, _FEWEST_DIMENSIONS - rank)
    return Canvas(
        shape,
        ((),) * missing + groups,
        (1,) * missing + padded,
        rank,
        steps[_steps_before_cut(shape) :],
        tuple(_levels(shape)),
    )


def _steps_before_cut(shape: Shape) -> int:
    """How many steps there are before the first tile cuts; of no tile, how many before memory."""
    steps = tiling_steps(_with_levels(shape, 1))
    if not shape.array_layout.tiles:
        return len(steps)
    cuts = [place for place, step in enumerate(steps) if isinstance(step, Reshape)]
    return cuts[-1]


def _levels(shape: Shape) -> Iterator[Level]:
    for level, tile in enumerate(shape.array_layout.tiles):
        ended = _with_levels(shape, level + 1)
        counts = tiled_sizes(ended)[: -len(_without_stars(tile))]
        yield Level(counts, memory_steps(shape)[len(tiling_steps(ended)) :])


def _with_levels(shape: Shape, count: int) -> Shape:
    """The array with its first levels of tiles only."""
    layout = shape.array_layout
    return shape.with_layout(replace(layout, tiles=layout.tiles[:count]))


def _groups(order: tuple[int, ...], tile: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The dimensions from the most major one, combined as a tile takes them."""
    if not order and tile:
        return ((),)  # a scalar is tiled as an array of one element
    untiled = len(order) - len(tile)
    groups: list[tuple[int, ...]] = []
    group: tuple[int, ...] = ()
    for place, number in enumerate(order):
        group = (*group, number)
        if place < untiled or tile[place - untiled] != COMBINE_DIMENSION:
            groups.append(group)
            group = ()
    return tuple(groups)


def _without_stars(tile: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in tile if size != COMBINE_DIMENSION)
