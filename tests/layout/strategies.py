"""Random layouts for Hypothesis."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from indexing.layout import COMBINE_DIMENSION, ElementType, Layout, Shape
from indexing.layout.steps import memory_size

MOST_LEVELS = 3


@st.composite
def tilings(
    draw: st.DrawFn, rank: int, sizes: st.SearchStrategy[int]
) -> tuple[tuple[int, ...], ...]:
    """Tiles for an array of so many dimensions: up to three levels, with ``*``."""
    tiles: list[tuple[int, ...]] = []
    left = max(rank, 1)
    for _ in range(draw(st.integers(0, MOST_LEVELS))):
        head = draw(st.lists(st.just(COMBINE_DIMENSION) | sizes, max_size=min(left, 4) - 1))
        tile = (*head, draw(sizes))
        tiles.append(tile)
        left += len(tile) - 2 * tile.count(COMBINE_DIMENSION)
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
