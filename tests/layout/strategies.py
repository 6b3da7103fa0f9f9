"""Random layouts for Hypothesis."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from indexing.layout import COMBINE_DIMENSION, ElementType, Layout, Shape
from indexing.layout.maps import memory_size

MAX_LEVELS = 3


@st.composite
def tilings(
    draw: st.DrawFn, rank: int, sizes: st.SearchStrategy[int]
) -> tuple[tuple[int, ...], ...]:
    """Tiles for an array of so many dimensions: up to three levels, with ``*``.

    A tile may have one dimension more than the array.
    """
    tiles: list[tuple[int, ...]] = []
    left = rank + 1
    for _ in range(draw(st.integers(0, MAX_LEVELS))):
        head = draw(st.lists(st.just(COMBINE_DIMENSION) | sizes, max_size=min(left, 4) - 1))
        tile = (*head, draw(sizes))
        tiles.append(tile)
        left = max(left, len(tile)) + len(tile) - 2 * tile.count(COMBINE_DIMENSION)
    return tuple(tiles)


@st.composite
def layouts(draw: st.DrawFn, rank: int, tile_sizes: st.SearchStrategy[int]) -> Layout:
    """Dense layouts of one memory: any order, tiles and tail padding."""
    return Layout(
        draw(st.permutations(range(rank)).map(tuple)),
        tiles=draw(tilings(rank, tile_sizes)),
        tail_padding_alignment_in_elements=draw(st.sampled_from((1, 1, 4, 9))),
    )


SMALL = 1 << 12
"""Elements, padding included, of an array that is looked at element by element."""


@st.composite
def small_arrays(draw: st.DrawFn) -> Shape:
    """Arrays of a few elements with random layouts; also scalars, and arrays without elements."""
    sizes = draw(st.lists(st.integers(0, 9), max_size=4).map(tuple))
    shape = Shape(ElementType.F32, sizes, draw(layouts(len(sizes), st.integers(1, 5))))
    assume(memory_size(shape) <= SMALL)
    return shape


@st.composite
def _factors(draw: st.DrawFn, product: int, most: int) -> list[int]:
    """Up to so many sizes with a product; sizes of 1 among them."""
    sizes: list[int] = []
    for _ in range(draw(st.integers(0, most - 1))):
        size = draw(st.sampled_from([n for n in range(1, product + 1) if product % n == 0]))
        sizes.append(size)
        product //= size
    return [*sizes, product]


@st.composite
def arrays_in(draw: st.DrawFn, size: int, element_type: ElementType) -> Shape:
    """Arrays that fill a memory of so many elements: in any order, tiled, with some padding."""
    padded = draw(_factors(size, 4))
    tile = [
        draw(st.sampled_from([n for n in range(1, width + 1) if width % n == 0]))
        for width in padded[draw(st.integers(0, len(padded))) :]
    ]
    kept = [1] * (len(padded) - len(tile)) + tile
    missing = [draw(st.integers(0, part - 1)) if part > 1 else 0 for part in kept]
    cropped = draw(st.booleans())
    sizes = [width - part * cropped for width, part in zip(padded, missing, strict=True)]
    inner = draw(_factors(tile[-1], 2)) if tile and draw(st.booleans()) else []
    tiles = tuple(tuple(each) for each in (tile, inner[1:] and [1, *inner[1:]]) if each)
    if tiles[1:] and len(tile) < len(tiles[1]):
        tiles = tiles[:1]
    order = draw(st.permutations(range(len(sizes))))
    places = {number: place for place, number in enumerate(order)}
    listed = tuple(sizes[places[number]] for number in range(len(sizes)))
    return Shape(element_type, listed, Layout(tuple(order[::-1]), tiles))


@st.composite
def same_memory(draw: st.DrawFn, types: st.SearchStrategy[ElementType]) -> tuple[Shape, Shape]:
    """Two arrays that fill as many bytes."""
    words = draw(st.integers(1, 60))
    source, target = draw(types), draw(types)
    return (
        draw(arrays_in(words * 4 // source.bytes, source)),
        draw(arrays_in(words * 4 // target.bytes, target)),
    )
