"""What pictures of layouts show: offsets, tiles, padding, and what is left out."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Final

import pytest
from hypothesis import given

from indexing.layout import (
    LayoutPicture,
    Shape,
    ShapeError,
    is_padding,
    layout_picture,
    linear_index,
    multi_index,
)
from indexing.layout.picture import MAX_OFFSETS, MemoryCell, Plane
from indexing.pictures.grids import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, Sides
from tests.cases import for_all, for_rows
from tests.layout.strategies import small_arrays

FIGURE_1: Final = "f32[3,5]{1,0:T(2,2)}"
FIGURE_2: Final = "bf16[4,8]{1,0:T(2,4)(2,1)}"
LARGE: Final = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"


def picture_of(text: str) -> LayoutPicture:
    return layout_picture(Shape.parse(text))


def offsets(plane: Plane) -> list[list[int]]:
    return [[cell.offset for cell in row] for row in plane.cells]


def borders(cells: tuple[tuple[MemoryCell, ...], ...], level: int) -> list[str]:
    """A picture of the outlines: bars right of cells, underscores below them."""
    return [
        "".join(
            ("_" if cell.outlines[level].bottom else " ")
            + ("|" if cell.outlines[level].right else " ")
            for cell in row
        )
        for row in cells
    ]


def test_figure_1() -> None:
    (plane,) = picture_of(FIGURE_1).planes
    assert offsets(plane) == [
        [0, 1, 4, 5, 8, 9],
        [2, 3, 6, 7, 10, 11],
        [12, 13, 16, 17, 20, 21],
        [14, 15, 18, 19, 22, 23],
    ]
    padding = [cell.offset for row in plane.cells for cell in row if cell.index is None]
    assert padding == [9, 11, 21, 14, 15, 18, 19, 22, 23]
    assert borders(plane.cells, 0) == ["   |   |   |", "_ _|_ _|_ _|"] * 2


def test_figure_2() -> None:
    picture = picture_of(FIGURE_2)
    (plane,) = picture.planes
    assert offsets(plane) == [
        [0, 2, 4, 6, 8, 10, 12, 14],
        [1, 3, 5, 7, 9, 11, 13, 15],
        [16, 18, 20, 22, 24, 26, 28, 30],
        [17, 19, 21, 23, 25, 27, 29, 31],
    ]
    assert borders(plane.cells, 0) == ["       |       |", "_ _ _ _|_ _ _ _|"] * 2
    assert borders(plane.cells, 1) == [" | | | | | | | |", "_|_|_|_|_|_|_|_|"] * 2
    assert [cell.offset for cell in picture.memory] == list(range(32))
    assert [cell.index for cell in picture.memory[:4]] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert picture.levels == ("(2,4)", "(2,1)")


ROWS_AND_COLUMNS = [
    ("row-major", "f32[2,3]{1,0}", "y", "x", [[0, 1, 2], [3, 4, 5]]),
    ("column-major", "f32[2,3]{0,1}", "y", "x", [[0, 2, 4], [1, 3, 5]]),
    ("tiles of columns", "f32[2,4]{0,1:T(2,2)}", "y", "x", [[0, 2, 4, 6], [1, 3, 5, 7]]),
    ("one dimension", "f32[3]{0:T(2)}", "", "d0", [[0, 1, 2, 3]]),
    ("a scalar", "f32[]", "", "", [[0]]),
    ("a tiled scalar", "f32[]{:T(2)}", "", "", [[0, 1]]),
    ("combined", "f32[2,2,2]{2,1,0:T(*,2,2)}", "z,y", "x", [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ("minor dimensions apart", "f32[2,1,2]{0,2,1}", "z", "x", [[0, 2], [1, 3]]),
]


@for_rows(ROWS_AND_COLUMNS)
def test_rows_and_columns(text: str, rows: str, columns: str, expected: list[list[int]]) -> None:
    picture = picture_of(text)
    assert (picture.rows.name, picture.columns.name) == (rows, columns)
    assert offsets(picture.planes[0]) == expected


def test_labels() -> None:
    picture = picture_of("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}")
    labels = [
        [axis.label(place) for place in axis.positions] for axis in (picture.rows, picture.columns)
    ]
    assert labels[0] == ["0,0,0", "0,0,1", "0,0,2", "0,0,3", "1,6,6", "1,6,7"]
    assert labels[1] == ["0,0", "0,1", "0,2", "0,3", "0,4", "10,8", "10,9", ""]


def test_planes() -> None:
    picture = picture_of("f32[3,2,2]{1,2,0}")
    assert [plane.title for plane in picture.planes] == ["z = 0", "z = 1", "z = 2"]
    assert offsets(picture.planes[2]) == [[8, 10], [9, 11]]


def test_tiles_across_planes() -> None:
    """A tile of three dimensions: the plane beyond the array is padding."""
    picture = picture_of("f32[3,2,2]{2,1,0:T(2,2,2)}")
    assert [plane.title for plane in picture.planes] == ["z = 0", "z = 1", "z = 2", "z = 3"]
    tiles = [{cell.tiles for row in plane.cells for cell in row} for plane in picture.planes]
    assert tiles == [{(0,)}, {(0,)}, {(1,)}, {(1,)}]
    assert all(cell.index is None for row in picture.planes[3].cells for cell in row)


def test_a_tile_that_is_cut_in_memory() -> None:
    """A second tile joins rows of two tiles of the first level."""
    picture = picture_of("f32[4,2]{1,0:T(2,2)(2,1,1,1)}")
    assert [cell.tiles for cell in picture.memory[:4]] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert picture.memory[0].outlines == (
        Sides(left=True, right=True, top=True, bottom=True),
        Sides(left=True, right=False, top=True, bottom=True),
    )


def test_padding_beside_no_element() -> None:
    picture = picture_of("f32[3,1]{1,0:T(3,1)(2,1)L(8)}")
    assert [cell.tiles for cell in picture.memory] == (
        [(0, 0), (0, 0), (0, 1), (0, 1), (None, None), (None, None), (None, None), (None, None)]
    )
    assert [cell.index is None for cell in picture.memory] == [False] * 3 + [True] * 5
    assert picture.notes == ("5 places of padding lie in memory, but beside no element.",)


def test_a_large_array_is_cropped() -> None:
    picture = picture_of(LARGE)
    assert picture.rows.positions == (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1278, 1279)
    assert picture.columns.positions == (0, 1, 2, 126, 127, 128, 129, 16382, 16383)
    assert len(picture.memory) == MAX_OFFSETS // 2
    assert picture.notes == (
        "12 of 1,280 rows are shown.",
        "9 of 16,384 columns are shown.",
        "The first 2 of 8 planes are shown.",
    )
    row = picture.planes[0].cells[7]
    assert [cell.outlines[0].right for cell in row] == [
        place in {127, 16383} for place in picture.columns.positions
    ]


NOTES = [
    ("f32[4,4]", ()),
    ("f32[0,3]", ("The array has no elements.",)),
    ("f32[<=4]", ("Dynamic dimensions are shown at their bounds.",)),
    ("f32[100]", ("4 of 100 columns are shown.",)),
    ("f32[7,2,2]", ("The first 4 of 7 planes are shown.",)),
]


@for_all(NOTES)
def test_notes(text: str, notes: tuple[str, ...]) -> None:
    assert picture_of(text).notes == notes


@for_all(
    [
        "f32[9223372036854775807]{0:T(1024)}",
        "f32[1,1,1,1,1,1,1,1,1000000000,1000000000,1000000000]",
        "f32[1000000,1000000,1000000]{0,1,2:T(8,128)(4,1)(2,1)}",
    ]
)
def test_any_size_is_drawn(text: str) -> None:
    picture = picture_of(text)
    assert 0 < len(list(picture.cells)) <= MAX_CELLS


@for_all(["f32[?]", "(f32[2])", "token[]", "f32[8]{0:SC(0:4)}"])
def test_what_has_no_offsets_has_no_picture(text: str) -> None:
    with pytest.raises(ShapeError):
        picture_of(text)


@given(small_arrays())
def test_places_are_those_of_the_layout(shape: Shape) -> None:
    picture = layout_picture(shape)
    for cell in (*picture.cells, *picture.memory):
        assert cell.index == multi_index(cell.offset, shape)
        if cell.index is None:
            assert is_padding(cell.offset, shape)
        else:
            assert linear_index(cell.index, shape) == cell.offset
    assert len(picture.rows.positions) <= MAX_ROWS
    assert len(picture.columns.positions) <= MAX_COLUMNS


@given(small_arrays())
def test_every_element_is_shown_once_or_a_note_says_so(shape: Shape) -> None:
    picture = layout_picture(shape)
    shown = [cell.index for cell in picture.cells if cell.index is not None]
    assert len(set(shown)) == len(shown)
    is_cropped = any("shown." in note for note in picture.notes)
    assert (len(shown) < prod(shape.dimensions)) <= is_cropped


@given(small_arrays())
def test_outlines_are_where_tiles_end(shape: Shape) -> None:
    picture = layout_picture(shape)
    positions = picture.columns.positions
    lines = [(positions, row) for plane in picture.planes for row in plane.cells]
    for places, cells in (*lines, (range(len(picture.memory)), picture.memory)):
        steps = zip(pairwise(places), pairwise(cells), strict=True)
        for left, right in (pair for (place, after), pair in steps if after == place + 1):
            for level, (tile, other) in enumerate(zip(left.tiles, right.tiles, strict=True)):
                assert tile is None or left.outlines[level].right == (tile != other)
                assert other is None or right.outlines[level].left == (tile != other)


@given(small_arrays())
def test_a_tile_of_the_first_level_is_a_block_of_the_array(shape: Shape) -> None:
    """Two elements are in one tile if each index leads to the same block of the tile's size."""
    layout = shape.array_layout
    if not layout.tiles or any(size < 0 for size in layout.tiles[0]):
        return
    tile = layout.tiles[0]
    blocks: dict[tuple[int, ...], set[int | None]] = {}
    for cell in layout_picture(shape).cells:
        if cell.index is not None:
            indices = [cell.index[place] for place in layout.major_to_minor]
            physical = [0] * (len(tile) - len(indices)) + indices
            steps = [1] * (len(physical) - len(tile)) + list(tile)
            block = tuple(value // step for value, step in zip(physical, steps, strict=True))
            blocks.setdefault(block, set()).add(cell.tiles[0])
    assert all(len(numbers) == 1 for numbers in blocks.values())
    assert len({number for numbers in blocks.values() for number in numbers}) == len(blocks)
