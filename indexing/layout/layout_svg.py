"""Layouts as SVG: cells with their offsets, outlines of tiles, hatched padding, indices on axes.

Below them are the same cells in the order of memory, with the index of each element. A tile has the
same color in both. The picture has its own background, light or dark as the reader prefers, and
loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from indexing.layout.array_shape import ArrayShape
from indexing.layout.picture import LayoutPicture, MemoryCell, Plane, Sides, layout_picture
from indexing.layout.steps import memory_size
from indexing.pictures.grids import GridFrame, labels
from indexing.pictures.svg import (
    GAP,
    LINE,
    MAX_WIDTH,
    Colors,
    Panel,
    beside,
    document,
    hatching,
    legend_item,
    line,
    paragraphs,
    path,
    rectangle,
    shortened,
    text,
    text_width,
)

# The cells of a layout: colored by tile, hatched where padding is, tiles outlined.

HEIGHT: Final = 28
"""Of a cell."""

OUTLINED_LEVELS: Final = 3

_INSETS: Final = (0, 3.5, 6.5)
"""The distance of an outline from the border of its tile, for each level."""


@dataclass(frozen=True, slots=True)
class Box:
    """A cell at its position in a panel, and the text in it."""

    cell: MemoryCell
    x: float
    y: float
    width: float
    content: str

    @property
    def is_padding(self) -> bool:
        """Whether the cell is padding."""
        return self.cell.index is None


def drawn(boxes: Sequence[Box], colors: int) -> Iterator[str]:
    """The elements for all boxes; the tiles alternate between so many colors."""
    for color in range(colors):
        colored = (box for box in boxes if not box.is_padding and _color(box, colors) == color)
        yield from path(map(_whole, colored), f"tile{color}")
    hatched = (box for box in boxes if box.is_padding)
    yield from path((hatching(box.x, box.y, box.width, HEIGHT) for box in hatched), "hatch")
    yield from path(map(_whole, boxes), "edge")
    for level in reversed(range(OUTLINED_LEVELS)):
        yield from path((_outline(box, level) for box in boxes), f"outline{level}")
    for box in (box for box in boxes if box.content):
        class_ = "faint" if box.is_padding else ""
        yield text(box.x + box.width / 2, box.y + HEIGHT / 2 + 5, box.content, class_, "middle")


def _color(box: Box, colors: int) -> int:
    tile = box.cell.tiles[0] if box.cell.tiles else None
    return (tile or 0) % colors


def _whole(box: Box) -> str:
    return rectangle(box.x, box.y, box.width, HEIGHT)


def _outline(box: Box, level: int) -> str:
    if level >= len(box.cell.outlines):
        return ""
    sides, inset = box.cell.outlines[level], _INSETS[level]
    return "".join(_sides(box, sides, inset))


def _sides(box: Box, sides: Sides, inset: float) -> Iterator[str]:
    """Lines where the tile ends, with an inset; elsewhere they reach into the next cell."""
    outer = (box.x, box.x + box.width, box.y, box.y + HEIGHT)
    signs = (1, -1, 1, -1)
    left, right, top, bottom = (
        side + sign * (inset if ends else -inset)
        for side, sign, ends in zip(outer, signs, sides, strict=True)
    )
    lines = (
        (left, top, left, bottom),
        (right, top, right, bottom),
        (left, top, right, top),
        (left, bottom, right, bottom),
    )
    return (line(*ends) for ends, is_side in zip(lines, sides, strict=True) if is_side)


# Layouts as SVG: cells with their offsets, outlines of tiles, hatched padding, indices on axes.

_PALETTE: Final = (
    ("#dcf1d5", "#32377d"),
    ("#60aade", "#6e2404"),
    ("#f4a29e", "#4c6958"),
    ("#cdd77d", "#70598c"),
    ("#f5d5e5", "#4f3338"),
    ("#93ab57", "#595965"),
    ("#b5a1ac", "#a0452b"),
)
"""The colors of tiles, on a light and on a dark background; far apart for the color-blind, too."""

_COLORS: Final[Colors] = {
    ".outline0": ("stroke", "#1b1f24", "#e8ebee"),
    ".outline1": ("stroke", "#d55e00", "#ff8a3d"),
    ".outline2": ("stroke", "#0072b2", "#4aa8ff"),
    **{f".tile{number}": ("fill", *pair) for number, pair in enumerate(_PALETTE)},
}
"""The colored property of each class, and its colors on a light and on a dark background."""

_OUTLINES: Final = """\
.{0} .outline0{{fill:none;stroke-width:2.5;stroke-linecap:square}}
.{0} .outline1,.{0} .outline2{{fill:none;stroke-width:1.5;stroke-linecap:square}}
"""


def svg_of_layout(shape: ArrayShape) -> str:
    """A picture of an array's layout.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(svg_of_layout(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    <svg xmlns="http://www.w3.org/2000/svg" ...
    <title>f32[3,5]{1,0:T(2,2)}</title>
    ...
    </svg>
    """
    picture = layout_picture(shape)
    return document(
        "layout-picture",
        str(shape),
        _description(picture),
        _panels(picture),
        _COLORS,
        _OUTLINES,
    )


def _panels(picture: LayoutPicture) -> Iterator[Panel]:
    colors = _color_count(picture)
    planes = [_plane(plane, picture, colors) for plane in picture.planes]
    arranged = [beside(planes, 2 * GAP, MAX_WIDTH)] if planes else []
    yield paragraphs([str(picture.shape)], "shape")
    yield paragraphs(picture.summary, "label")
    yield from arranged
    yield _memory(picture, colors)
    yield _legend(picture)
    yield paragraphs(picture.notes, "label")


def _description(picture: LayoutPicture) -> str:
    what = "Each cell is a place in memory with its offset; below, the same places in their order."
    return "\n".join([what, *picture.summary, _memory_title(picture), *picture.notes])


_MAX_TITLE: Final = 100
"""A line of this width."""

_MAX_INDEX: Final = 40
"""Cells stay narrow enough for some in a row."""


# The array.


def _plane(plane: Plane, picture: LayoutPicture, colors: int) -> Panel:
    rows, columns = picture.rows, picture.columns
    width = _cell_width([*(str(cell.offset) for cell in picture.cells), *labels(columns)], picture)
    frame = GridFrame.of(rows, columns, width, HEIGHT, shortened(plane.title, _MAX_TITLE))
    boxes = [
        Box(cell, x, y, width, str(cell.offset))
        for y, row in zip(frame.ys, plane.cells, strict=True)
        for x, cell in zip(frame.xs, row, strict=True)
    ]
    return frame.around(drawn(boxes, colors))


# The memory.


def _memory(picture: LayoutPicture, colors: int) -> Panel:
    if not picture.memory:
        return Panel(0, 0, ())
    contents = [_index_text(cell) for cell in picture.memory]
    width = _cell_width([*contents, str(picture.memory[-1].offset)], picture)
    in_row = _cells_in_row(picture.memory, int(MAX_WIDTH // width))
    boxes = [
        Box(cell, number % in_row * width, _memory_row(number // in_row), width, content)
        for number, (cell, content) in enumerate(zip(picture.memory, contents, strict=True))
    ]
    offsets = (
        text(box.x + width / 2, box.y - 4, str(box.cell.offset), "label", "middle") for box in boxes
    )
    title = _memory_title(picture)
    elements = (text(0, 12, title), *offsets, *drawn(boxes, colors))
    widths = (min(in_row, len(boxes)) * width, text_width(title))
    return Panel(max(widths), boxes[-1].y + HEIGHT, elements)


def _memory_title(picture: LayoutPicture) -> str:
    shown, total = len(picture.memory), memory_size(picture.shape)
    of_all = f", the first {shown} of {total:,}" if shown < total else ""
    return f"in memory: the index of the element at each offset{of_all}"


def _memory_row(number: int) -> float:
    """The top of a row of cells; its offsets are above it."""
    return 2 * LINE + 4 + number * (HEIGHT + LINE + 4)


def _index_text(cell: MemoryCell) -> str:
    if cell.index is None:
        return ""
    return shortened(",".join(map(str, cell.index)), _MAX_INDEX) or "()"


def _cells_in_row(cells: Sequence[MemoryCell], most: int) -> int:
    """Rows of about equal length that hold whole tiles, the largest that fit."""
    levels = range(max(len(cell.tiles) for cell in cells))
    runs = (_longest_run(cell.tiles[level : level + 1] for cell in cells) for level in levels)
    unit = max((run for run in runs if run <= most), default=1)
    rows = -(-len(cells) // (most // unit * unit))
    return -(-len(cells) // (rows * unit)) * unit


def _longest_run(values: Iterable[object]) -> int:
    return max(len(list(run)) for _, run in groupby(values))


# Widths and colors of cells, and the legend.


def _cell_width(contents: Iterable[str], picture: LayoutPicture) -> float:
    outlines = min(len(picture.levels), OUTLINED_LEVELS)
    return max(30, max(map(text_width, contents), default=0) + 8 + 4 * outlines)


def _color_count(picture: LayoutPicture) -> int:
    """A number of colors for which tiles side by side differ, and across gaps if possible."""
    near, far = (_tile_steps(picture.neighbours(across_gaps=gaps)) for gaps in (False, True))

    def clashes(count: int) -> tuple[int, int]:
        return sum(not step % count for step in near), sum(not step % count for step in far)

    return min(_COLOR_COUNTS, key=clashes)


def _tile_steps(pairs: Iterable[tuple[MemoryCell, MemoryCell]]) -> set[int]:
    """The differences between the numbers of the tiles of each pair of cells."""
    return {
        abs(tile - other_tile)
        for cell, other in pairs
        for tile, other_tile in zip(cell.tiles[:1], other.tiles[:1], strict=True)
        if tile is not None and other_tile is not None
    } - {0}


_COLOR_COUNTS: Final = (6, 5, 7, 4, 3)


def _legend(picture: LayoutPicture) -> Panel:
    items = [
        legend_item(f"tile {tile}", rectangle(1, 1, 24, 14), f"outline{level}")
        for level, tile in enumerate(picture.levels[:OUTLINED_LEVELS])
    ]
    others = ", ".join(picture.levels[OUTLINED_LEVELS:])
    if others:
        items.append(paragraphs([f"tile {others}: not outlined"], "label"))
    if any(cell.index is None for cell in (*picture.cells, *picture.memory)):
        items.append(legend_item("padding", hatching(0, 0, 26, 16), "hatch"))
    return beside(items, GAP, MAX_WIDTH) if items else Panel(0, 0, ())
