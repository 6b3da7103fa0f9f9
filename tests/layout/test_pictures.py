"""Pictures of layouts: offsets, tiles, padding and what is left out; as SVG, whole and alone."""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod
from typing import Final
from xml.etree.ElementTree import Element

import pytest
from hypothesis import example, given

from indexing import layout
from indexing.layout import LayoutPicture, Shape, ShapeError, cute, layout_picture, linear
from indexing.layout import picture as drawing
from indexing.layout.picture import HEIGHT, MAX_OFFSETS, MemoryCell, Plane, shown, svg_of_layout
from indexing.pictures.grids import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, Box, LabelGrid, Sides, painted
from indexing.pictures.svg import HATCH, Panel, beside, hatching
from tests.cases import for_all, for_rows
from tests.figures import LAYOUTS
from tests.layout.strategies import small_arrays
from tests.svg import SVG, check_is_alone, check_nothing_lies_outside, parsed, path_of, texts

FIGURE_1: Final = "f32[3,5]{1,0:T(2,2)}"
FIGURE_2: Final = "bf16[4,8]{1,0:T(2,4)(2,1)}"
LARGE: Final = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"


def picture_of(text: str) -> LayoutPicture:
    return layout_picture(Shape.parse(text))


def offsets(plane: Plane) -> list[list[int]]:
    return [[cell.offset for cell in row] for row in plane.cells]


def borders(cells: tuple[tuple[MemoryCell, ...], ...], level: int) -> list[str]:
    """A picture of the outlines: bars right of cells, underscores below them."""
    sides = [[cell.outlines[level] for cell in row] for row in cells]
    return ["".join(" _"[each.bottom] + " |"[each.right] for each in row) for row in sides]


def test_figures() -> None:
    (plane,) = picture_of(FIGURE_1).planes
    padding = [cell.offset for row in plane.cells for cell in row if cell.index is None]
    assert padding == [9, 11, 21, 14, 15, 18, 19, 22, 23]
    assert borders(plane.cells, 0) == ["   |   |   |", "_ _|_ _|_ _|"] * 2
    picture = picture_of(FIGURE_2)
    (plane,) = picture.planes
    assert offsets(plane)[::2] == [[*range(0, 16, 2)], [*range(16, 32, 2)]]
    assert borders(plane.cells, 0) == ["       |       |", "_ _ _ _|_ _ _ _|"] * 2
    assert borders(plane.cells, 1) == [" | | | | | | | |", "_|_|_|_|_|_|_|_|"] * 2
    assert [cell.offset for cell in picture.memory] == list(range(32))
    assert [cell.index for cell in picture.memory[:4]] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert picture.levels == ("(2,4)", "(2,1)")


@for_rows([
    ("row-major", "f32[2,3]{1,0}", "y", "x", [[0, 1, 2], [3, 4, 5]]),
    ("column-major", "f32[2,3]{0,1}", "y", "x", [[0, 2, 4], [1, 3, 5]]),
    ("tiles of columns", "f32[2,4]{0,1:T(2,2)}", "y", "x", [[0, 2, 4, 6], [1, 3, 5, 7]]),
    ("one dimension", "f32[3]{0:T(2)}", "", "d0", [[0, 1, 2, 3]]),
    ("a scalar", "f32[]", "", "", [[0]]),
    ("a tiled scalar", "f32[]{:T(2)}", "", "", [[0, 1]]),
    ("combined", "f32[2,2,2]{2,1,0:T(*,2,2)}", "z,y", "x", [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ("minor dimensions apart", "f32[2,1,2]{0,2,1}", "z", "x", [[0, 2], [1, 3]]),
])  # fmt: skip
def test_rows_and_columns(text: str, rows: str, columns: str, expected: list[list[int]]) -> None:
    picture = picture_of(text)
    assert (picture.rows.name, picture.columns.name) == (rows, columns)
    assert offsets(picture.planes[0]) == expected


def test_labels() -> None:
    picture = picture_of("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}")
    axes = picture.rows, picture.columns
    rows, columns = ([axis.label(place) for place in axis.positions] for axis in axes)
    assert rows == ["0,0,0", "0,0,1", "0,0,2", "0,0,3", "1,6,6", "1,6,7"]
    assert columns == ["0,0", "0,1", "0,2", "0,3", "0,4", "10,8", "10,9", ""]


def test_planes_and_tiles_across_them() -> None:
    """A tile of three dimensions: the plane beyond the array is padding."""
    titles = ["z = 0", "z = 1", "z = 2", "z = 3"]
    picture = picture_of("f32[3,2,2]{1,2,0}")
    assert [plane.title for plane in picture.planes] == titles[:3]
    assert offsets(picture.planes[2]) == [[8, 10], [9, 11]]
    picture = picture_of("f32[3,2,2]{2,1,0:T(2,2,2)}")
    assert [plane.title for plane in picture.planes] == titles
    tiles = [{cell.tiles for row in plane.cells for cell in row} for plane in picture.planes]
    assert tiles == [{(0,)}, {(0,)}, {(1,)}, {(1,)}]
    assert all(cell.index is None for row in picture.planes[3].cells for cell in row)


def test_tiles_and_padding_that_only_memory_has() -> None:
    """A second tile joins rows of two tiles of the first level."""
    picture = picture_of("f32[4,2]{1,0:T(2,2)(2,1,1,1)}")
    assert [cell.tiles for cell in picture.memory[:4]] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert picture.memory[0].outlines == (
        Sides(left=True, right=True, top=True, bottom=True),
        Sides(left=True, right=False, top=True, bottom=True),
    )
    picture = picture_of("f32[3,1]{1,0:T(3,1)(2,1)L(8)}")
    tiles = [(0, 0)] * 2 + [(0, 1)] * 2 + [(None, None)] * 4
    assert [cell.tiles for cell in picture.memory] == tiles
    assert [cell.index is None for cell in picture.memory] == [False] * 3 + [True] * 5
    assert picture.notes == ("5 places of padding lie in memory, but beside no element.",)


def test_a_large_array_is_cropped() -> None:
    picture = picture_of(LARGE)
    assert picture.rows.positions == (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1278, 1279)
    assert picture.columns.positions == (0, 1, 2, 126, 127, 128, 129, 16382, 16383)
    assert len(picture.memory) == MAX_OFFSETS // 2
    row = picture.planes[0].cells[7]
    ends = [place in {127, 16383} for place in picture.columns.positions]
    assert [cell.outlines[0].right for cell in row] == ends


@for_all([
    ("f32[4,4]", ()),
    ("f32[0,3]", ("The array has no elements.",)),
    ("f32[<=4]", ("Dynamic dimensions are shown at their bounds.",)),
    ("f32[100]", ("4 of 100 columns are shown.",)),
    ("f32[7,2,2]", ("The first 4 of 7 planes are shown.",)),
    (LARGE, ("12 of 1,280 rows are shown.", "9 of 16,384 columns are shown.",
             "The first 2 of 8 planes are shown.")),
])  # fmt: skip
def test_notes(text: str, notes: tuple[str, ...]) -> None:
    assert picture_of(text).notes == notes


@for_all([
    "f32[9223372036854775807]{0:T(1024)}", "f32[1,1,1,1,1,1,1,1,1000000000,1000000000,1000000000]",
    "f32[1000000,1000000,1000000]{0,1,2:T(8,128)(4,1)(2,1)}",
])  # fmt: skip
def test_any_size_is_drawn(text: str) -> None:
    assert 0 < len(list(picture_of(text).cells)) <= MAX_CELLS


@for_all(["f32[?]", "(f32[2])", "token[]", "f32[8]{0:SC(0:4)}"])
def test_what_has_no_offsets_has_no_picture_but_a_text(text: str) -> None:
    with pytest.raises(ShapeError):
        picture_of(text)
    assert Shape.parse(text)._repr_svg_() is None


@given(small_arrays())
def test_places_are_those_of_the_layout_each_once_or_a_note_says_so(shape: Shape) -> None:
    picture = layout_picture(shape)
    for cell in (*picture.cells, *picture.memory):
        assert cell.index == layout.multi_index(cell.offset, shape)
    assert len(picture.rows.positions) <= MAX_ROWS
    assert len(picture.columns.positions) <= MAX_COLUMNS
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
    tile, *_ = (*shape.array_layout.tiles, (-1,))
    if min(tile) < 0:
        return
    blocks: dict[tuple[int, ...], set[int | None]] = {}
    for cell in layout_picture(shape).cells:
        if cell.index is not None:
            indices = [cell.index[place] for place in shape.array_layout.major_to_minor]
            physical = [0] * (len(tile) - len(indices)) + indices
            steps = [1] * (len(physical) - len(tile)) + list(tile)
            block = tuple(value // step for value, step in zip(physical, steps, strict=True))
            blocks.setdefault(block, set()).add(cell.tiles[0])
    assert all(len(numbers) == 1 for numbers in blocks.values())
    assert len({number for numbers in blocks.values() for number in numbers}) == len(blocks)


@for_all(f"""{" ".join(LAYOUTS.values())} f32[] f32[]{{:T(256)}} f32[0,3] f32[2,3]{{0,1}}
pred[<=40]{{0:T(32)(4)(2)(1)}} u8[300]{{0:T(512)(128)(4,1)}} f32[6,8]{{1,0:T(2,4)(2,1,1,1)}}
f32[5,6]{{1,0:T(3,3)(2,1)L(64)}} f32[2,7,8,11,10]{{4,3,2,1,0:T(*,*,2,*,3)}}
bf16[8,1,1280,16384]{{3,2,0,1:T(8,128)(2,1)S(1)}} f32[9223372036854775807]{{0:T(1024)}}
s4[{"1," * 42}1]""".split())  # fmt: skip
def test_picture_is_whole_and_alone(text: str) -> None:
    shape = Shape.parse(text)
    svg = svg_of_layout(shape)
    root = parsed(svg)
    title, description, *_ = root
    assert (root.tag, root.get("role")) == (f"{SVG}svg", "img")
    assert (title.tag, title.text) == (f"{SVG}title", str(shape))
    assert description.tag == f"{SVG}desc"
    assert all(line in (description.text or "") for line in layout_picture(shape).notes)
    check_is_alone(svg)
    check_nothing_lies_outside(root)
    assert svg == shape._repr_svg_()


@for_all([*LAYOUTS.values()])
def test_indices_are_written_once(text: str) -> None:
    shape = Shape.parse(text)
    written = texts(parsed(svg_of_layout(shape)))
    cells = [cell.index for cell in layout_picture(shape).memory if cell.index]
    indices = [f"{index[0]},{index[1]}" for index in cells]
    assert [index for index in indices if written.count(index) != 1] == []


def cells_drawn(text: str) -> tuple[list[Box], Element]:
    plane = layout_picture(Shape.parse(text)).planes[0]
    boxes = [
        Box(HEIGHT * column, HEIGHT * row, HEIGHT, HEIGHT, shown(cell, "", 6))
        for row, cells in enumerate(plane.cells)
        for column, cell in enumerate(cells)
    ]
    elements = "".join(painted(boxes))
    return boxes, parsed(f'<svg xmlns="{SVG[1:-1]}">{elements}</svg>')


def lines_of(commands: str) -> set[tuple[float, ...]]:
    """The ends of the lines of a path, in cells."""
    numbers = re.findall(r"M(\S+) (\S+)L([^ M]+) ([^ M]+)", commands)
    return {tuple(float(number) / HEIGHT for number in line) for line in numbers}


def test_tiles_are_outlined_at_their_borders_and_inner_ones_within() -> None:
    _, root = cells_drawn(FIGURE_1)
    lines = lines_of(path_of(root, "outline0"))
    upright = {(x, row, x, row + 1) for x in (0, 2, 4, 6) for row in range(4)}
    level = {(column, y, column + 1, y) for y in (0, 2, 4) for column in range(6)}
    assert lines == upright | level
    _, root = cells_drawn(FIGURE_2)
    lines = lines_of(path_of(root, "outline1"))
    inset = 3.5 / HEIGHT
    upright = {line for line in lines if line[0] == line[2]}
    assert {round(x % 1, 6) for x, *_ in upright} == {round(inset, 6), round(1 - inset, 6)}
    heights = {round(y % 2, 6) for _, y, *_ in lines - upright}
    assert heights == {round(inset, 6), round(2 - inset, 6)}


def test_padding_and_nothing_else_is_hatched() -> None:
    boxes, root = cells_drawn(FIGURE_1)
    ends = lines_of(path_of(root, "hatch"))
    hatched = {(int((x + stop) / 2), int((y + end) / 2)) for x, y, stop, end in ends}
    padding = [box for box in boxes if box.cell.color == HATCH]
    assert hatched == {(box.x // HEIGHT, box.y // HEIGHT) for box in padding}


@for_all([(0, 0), (30.4, 28), (3, 100)])
def test_hatching_stays_within(corner: tuple[float, float]) -> None:
    x, y = corner
    lines = re.findall(r"M(\S+) (\S+)L([^ M]+) ([^ M]+)", hatching(x, y, 30, HEIGHT))
    assert len(lines) > 5
    for line in lines:
        left, low, right, high = map(float, line)
        assert x <= left <= right <= x + 30
        assert y <= high <= low <= y + HEIGHT


@for_all([*range(1, 13), 30])
def test_neighbouring_tiles_differ_in_color(columns: int) -> None:
    picture = layout_picture(Shape.parse(f"f32[4,{2 * columns}]{{1,0:T(2,2)}}"))
    count = drawing._color_count(picture)
    for cell, other in picture.neighbours():
        is_same_tile = cell.tiles == other.tiles
        assert ((cell.tiles[0] or 0) % count == (other.tiles[0] or 0) % count) == is_same_tile


def test_the_legend_names_all_tiles() -> None:
    shown = texts(parsed(svg_of_layout(Shape.parse("f32[30]{0:T(16)(8)(4)(2)(1)}"))))
    legend = [text for text in shown if text.startswith("tile") or text == "padding"]
    assert legend == ["tile (16)", "tile (8)", "tile (4)", "tile (2), (1): not outlined", "padding"]


def test_pieces_flow_into_lines() -> None:
    piece = Panel(40, 10, ("<path/>",))
    assert (beside([piece] * 5, 10, 150).width, beside([piece] * 5, 10, 150).height) == (140, 30)


@given(small_arrays())
@example(Shape.parse(FIGURE_1))
@example(Shape.parse(FIGURE_2))
def test_all_offsets_are_written(shape: Shape) -> None:
    written = texts(parsed(svg_of_layout(shape)))
    offsets = (str(cell.offset) for cell in layout_picture(shape).cells)
    assert [offset for offset in offsets if offset not in written] == []


PICTURES = {
    "rows": cute.picture(cute.parse("(4,8):(8,1)")),
    "one mode": cute.picture(cute.parse("8:2")),
    "swizzled": cute.picture(cute.parse_composed("Sw<3,0,3> o 0 o (8,8):(8,1)")),
    "large": cute.picture(cute.parse("(1000000,4096):(1,1000000)")),
    "mma": linear.picture(linear.nvidia_mma((16, 8), 2, (1, 1), (16, 8))),
    "shared": linear.picture(linear.swizzled_shared((8, 8), vec=1, per_phase=1, max_phase=8)),
}


@for_all(PICTURES)
def test_pictures_are_whole_and_alone(picture: LabelGrid) -> None:
    svg = picture.svg()
    root = parsed(svg)
    check_is_alone(svg)
    check_nothing_lies_outside(root)
    shown = texts(root)
    rows = [line.split()[1:] for line in str(picture).splitlines()[1:] if line[-1] != "."]
    assert all(label in shown for row in rows for label in row)


def test_cells_are_the_offsets_of_the_layout_on_axes_that_are_cropped() -> None:
    layout = cute.parse("(4,(2,4)):(2,(1,8))")
    rows = [line.split() for line in str(cute.picture(layout)).splitlines()[1:]]
    expected = [[str(row), *(str(layout(row, column)) for column in range(8))] for row in range(4)]
    assert rows == expected
    notes = ["4 of 1,000,000 rows are shown.", "4 of 4,096 columns are shown."]
    assert str(PICTURES["large"]).splitlines()[-2:] == notes
