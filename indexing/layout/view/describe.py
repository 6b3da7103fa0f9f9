"""The memory of an array in words: the order of its dimensions, its tiles and its padding."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from indexing.layout.array_shape import check_shapes
from indexing.layout.layout import COMBINE_DIMENSION
from indexing.layout.memory import array_size
from indexing.layout.steps import tile_levels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexing.layout.array_shape import ArrayShape
    from indexing.layout.steps import Sizes


def order_in_words(shape: ArrayShape) -> str:
    """The dimensions from the one whose index changes slowest, and their tiles.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(order_in_words(Shape.parse("f32[2,3]{0,1}")))
    x, y from major to minor
    >>> print(order_in_words(Shape.parse("bf16[32,500]{1,0:T(8,128)(2,1)}")))
    y, x from major to minor, in 4 x 4 tiles of 8 x 128, each in 4 x 128 tiles of 2 x 1
    """
    check_shapes("order_in_words", shape=shape)
    names = [shape.dimension_names[number] for number in shape.array_layout.major_to_minor]
    order = [f"{', '.join(names)} from major to minor"] if len(names) > 1 else []
    in_order = "in order" if names else "a scalar"
    return ", ".join([*order, *_tiles_in_words(shape)]) or in_order


def size_in_words(shape: ArrayShape) -> str:
    """The number and size of the elements in memory, and how many of them are padding.

    Raises:
        ShapeError: as :func:`~indexing.layout.array_size`.

    >>> from indexing.layout import Shape
    >>> print(size_in_words(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    24 places of 32 bits, 96 bytes; 9 are padding (37.5%)
    """
    check_shapes("size_in_words", shape=shape)
    size = array_size(shape)
    places = f"{_counted(size.elements, 'place')} of {_counted(size.element_bits, 'bit')}"
    words = f"{places}, {_counted(size.bytes, 'byte')}"
    if not size.padding:
        return words
    are = "is" if size.padding == 1 else "are"
    return f"{words}; {size.padding:,} {are} padding ({size.padding_share:.1%})"


def _tiles_in_words(shape: ArrayShape) -> Iterator[str]:
    outer: Sizes = ()
    for tile, level in zip(shape.array_layout.tiles, tile_levels(shape), strict=True):
        of = f"of {_product(level.tile)}"
        if not outer:
            yield f"in {_tiles(level.counts)} {of}"
        elif COMBINE_DIMENSION in tile or len(tile) > len(outer):
            yield f"then across these in tiles {of}"
        else:
            yield f"each in {_tiles(level.counts[-len(outer) :])} {of}"
        outer = level.tile


def _tiles(counts: Sizes) -> str:
    return f"{_product(counts)} tile{'s' * (prod(counts) != 1)}"


def _product(sizes: Iterable[int]) -> str:
    return " x ".join(map(str, sizes))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
