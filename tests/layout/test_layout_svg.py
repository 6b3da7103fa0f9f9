"""Layouts as SVG: valid, the same every time, with all that the picture's data say."""

from __future__ import annotations

import re
from typing import Final
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given

from indexing.layout import Shape, layout_picture
from indexing.layout.picture import HEIGHT, _color_count, shown, svg_of_layout
from indexing.pictures.grids import Box, painted
from indexing.pictures.svg import HATCH, Panel, beside, hatching
from tests.cases import for_all
from tests.figures import LAYOUTS
from tests.layout.strategies import small_arrays
from tests.svg import SVG, check_is_alone, check_nothing_lies_outside, parsed, path_of, texts

SHAPES: Final = (
    *LAYOUTS.values(),
    "f32[]",
    "f32[]{:T(256)}",
    "f32[0,3]",
    "f32[2,3]{0,1}",
    "pred[<=40]{0:T(32)(4)(2)(1)}",
    "u8[300]{0:T(512)(128)(4,1)}",
    "f32[6,8]{1,0:T(2,4)(2,1,1,1)}",
    "f32[5,6]{1,0:T(3,3)(2,1)L(64)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}",
    "f32[9223372036854775807]{0:T(1024)}",
    "s4[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
)


@for_all(SHAPES)
def test_picture_is_whole_and_alone(text: str) -> None:
    shape = Shape.parse(text)
    svg = svg_of_layout(shape)
    root = parsed(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    title, description = root[0], root[1]
    assert (title.tag, title.text) == (f"{SVG}title", str(shape))
    assert description.tag == f"{SVG}desc"
    assert [
        line for line in layout_picture(shape).notes if line not in (description.text or "")
    ] == []
    check_is_alone(svg)
    assert svg == svg_of_layout(shape)


@for_all(SHAPES)
def test_nothing_lies_outside(text: str) -> None:
    check_nothing_lies_outside(parsed(svg_of_layout(Shape.parse(text))))


@pytest.mark.parametrize("text", LAYOUTS.values())
def test_offsets_and_indices_are_written(text: str) -> None:
    shape = Shape.parse(text)
    picture = layout_picture(shape)
    shown = texts(parsed(svg_of_layout(shape)))
    assert [str(cell.offset) for cell in picture.cells if str(cell.offset) not in shown] == []
    indices = [f"{cell.index[0]},{cell.index[1]}" for cell in picture.memory if cell.index]
    assert [index for index in indices if shown.count(index) != 1] == []


def cells_drawn(text: str) -> tuple[list[Box], Element]:
    """The first plane of a picture as squares, without labels."""
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


def test_tiles_are_outlined_at_their_borders() -> None:
    _, root = cells_drawn("f32[3,5]{1,0:T(2,2)}")
    lines = lines_of(path_of(root, "outline0"))
    upright = {(x, row, x, row + 1) for x in (0, 2, 4, 6) for row in range(4)}
    level = {(column, y, column + 1, y) for y in (0, 2, 4) for column in range(6)}
    assert lines == upright | level


def test_inner_tiles_are_outlined_within() -> None:
    _, root = cells_drawn("bf16[4,8]{1,0:T(2,4)(2,1)}")
    lines = lines_of(path_of(root, "outline1"))
    inset = 3.5 / HEIGHT
    upright = {line for line in lines if line[0] == line[2]}
    assert {round(x % 1, 6) for x, *_ in upright} == {round(inset, 6), round(1 - inset, 6)}
    assert {round(y % 2, 6) for _, y, *_ in lines - upright} == {
        round(inset, 6),
        round(2 - inset, 6),
    }


def test_padding_and_nothing_else_is_hatched() -> None:
    boxes, root = cells_drawn("f32[3,5]{1,0:T(2,2)}")
    hatched = {
        (int((x + stop) / 2), int((y + end) / 2))
        for x, y, stop, end in lines_of(path_of(root, "hatch"))
    }
    assert hatched == {
        (box.x // HEIGHT, box.y // HEIGHT) for box in boxes if box.cell.color == HATCH
    }


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
    count = _color_count(picture)
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
def test_any_layout_is_drawn(shape: Shape) -> None:
    root = parsed(svg_of_layout(shape))
    shown = texts(root)
    assert [
        str(cell.offset) for cell in layout_picture(shape).cells if str(cell.offset) not in shown
    ] == []


@for_all(["f32[?]", "token[]", "(f32[2])", "f32[8]{0:SC(0:4)}"])
def test_what_has_no_picture_shows_as_text(text: str) -> None:
    assert Shape.parse(text)._repr_svg_() is None


def test_shapes_show_their_picture_in_notebooks() -> None:
    shape = Shape.parse("f32[3,5]{1,0:T(2,2)}")
    assert shape._repr_svg_() == svg_of_layout(shape)
