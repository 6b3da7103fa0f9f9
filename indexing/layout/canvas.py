"""An array as its first tile takes it: what a picture of a layout is drawn on.

Dimensions are in the order of memory, those under ``*`` combined, and the places that the tile pads
lie beside the elements. That is an array, too, of which every place is an element; so its offsets
are those of the places of padding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from indexing.layout.layout import COMBINE_DIMENSION, Layout
from indexing.layout.shape import Shape
from indexing.layout.steps import (
    backward,
    forward,
    memory_size,
    memory_steps,
    tiled_sizes,
    tiling_steps,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing.layout.steps import Step

Place: TypeAlias = tuple[int, ...]
"""An index on a canvas."""


@dataclass(frozen=True, slots=True)
class Level:
    """The tiles of one level: their numbers in each dimension, and the steps from there to memory.

    >>> from indexing.layout import Shape
    >>> (level,) = canvas_of(Shape.parse("f32[3,5]{1,0:T(2,2)}")).levels
    >>> level.counts, level.tile_at(17)
    ((2, 3), 4)
    """

    counts: tuple[int, ...]
    steps: tuple[Step, ...]

    def tile_at(self, offset: int) -> int | None:
        """Which tile is at an offset, counted row by row; ``None`` where only padding is."""
        index, _ = backward(self.steps, (offset,))
        number = 0
        for digit, count in zip(index, self.counts, strict=False):
            if digit >= count:
                return None
            number = number * count + digit
        return number


@dataclass(frozen=True, slots=True)
class Canvas:
    """An array on which the first tile of ``shape`` fits, whole and without combined dimensions.

    Each dimension of ``padded`` is a group of dimensions of ``shape``.
    """

    shape: Shape
    groups: tuple[tuple[int, ...], ...]
    padded: Shape
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

    def offset(self, place: Place) -> int:
        """The offset of a place in memory."""
        return forward(self.steps, place)[0]

    def tiles(self, offset: int) -> tuple[int | None, ...]:
        """In which tile of each level an offset is."""
        return tuple(level.tile_at(offset) for level in self.levels)

    def __contains__(self, place: Place) -> bool:
        sizes = self.padded.dimensions
        return all(0 <= value < size for value, size in zip(place, sizes, strict=True))


def canvas_of(shape: Shape) -> Canvas:
    """The canvas of an array.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> canvas = canvas_of(Shape.parse("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"))
    >>> canvas.groups, str(canvas.padded)
    (((0, 1, 2), (3, 4)), 'f32[112,111]{1,0:T(2,3)}')
    """
    memory_size(shape)  # an array without offsets has no canvas
    layout = shape.array_layout
    first = layout.tiles[0] if layout.tiles else ()
    groups = _groups(layout.major_to_minor, first)
    tile = _without_stars(first)
    steps = (1,) * (len(groups) - len(tile)) + tile
    sizes = (prod(shape.dimensions[number] for number in group) for group in groups)
    padded = Shape(
        shape.element_type,
        tuple(-(-size // step) * step for size, step in zip(sizes, steps, strict=True)),
        replace(
            Layout.default(len(groups)),
            tiles=(tile, *layout.tiles[1:]) if layout.tiles else (),
            tail_padding_alignment_in_elements=layout.tail_padding_alignment_in_elements,
        ),
    )
    return Canvas(shape, groups, padded, memory_steps(padded), tuple(_levels(padded)))


def _levels(padded: Shape) -> Iterator[Level]:
    layout = padded.array_layout
    for level, tile in enumerate(layout.tiles):
        ended = padded.with_layout(replace(layout, tiles=layout.tiles[: level + 1]))
        counts = tiled_sizes(ended)[: -len(_without_stars(tile))]
        yield Level(counts, memory_steps(padded)[len(tiling_steps(ended)) :])


def _groups(order: tuple[int, ...], tile: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Dimensions from the most major one, combined by a tile; at least two, if need be empty."""
    untiled = len(order) - len(tile)
    groups: list[tuple[int, ...]] = []
    group: tuple[int, ...] = ()
    for place, number in enumerate(order):
        group = (*group, number)
        if place < untiled or tile[place - untiled] != COMBINE_DIMENSION:
            groups.append(group)
            group = ()
    return ((),) * (2 - len(groups)) + tuple(groups)


def _without_stars(tile: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in tile if size != COMBINE_DIMENSION)
