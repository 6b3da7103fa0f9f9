"""Layouts as SVG: cells with their offsets, outlines of tiles, hatched padding, indices on axes.

Below them are the same cells in the order of memory, with the index of each element. A tile has the
same color in both. The picture has its own background, light or dark as the reader prefers, and
loads nothing.
"""

from __future__ import annotations

import textwrap
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Final

from indexing.layout.steps import memory_size
from indexing.layout.view.drawing import (
    HEIGHT,
    OUTLINED_LEVELS,
    Box,
    Panel,
    below,
    beside,
    drawn,
    element,
    hatching,
    path,
    rectangle,
    text,
)
from indexing.layout.view.picture import layout_picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.layout.array_shape import ArrayShape
    from indexing.layout.view.picture import Axis, LayoutPicture, MemoryCell, Plane

_MARGIN: Final = 16
_GAP: Final = 20
"""Between parts of the picture, and where rows or columns are left out."""

_LINE: Final = 16
"""Of text."""

_MAX_WIDTH: Final = 960
"""Of memory and of planes side by side: what a screen shows."""

_PALETTE: Final = (
    ("#cfe3f7", "#1f4566"),
    ("#fbe3b8", "#5e4716"),
    ("#d3edce", "#24502b"),
    ("#f3d3e3", "#5c2a47"),
    ("#e0d7f3", "#413066"),
    ("#cdeeee", "#1a4f52"),
    ("#e8e4d8", "#47443a"),
)
"""The colors of tiles, on a light and on a dark background."""

_COLORS: Final = {
    ".ground": ("fill", "#ffffff", "#14181d"),
    "text": ("fill", "#1b1f24", "#e8ebee"),
    ".label": ("fill", "#57606a", "#a3adb8"),
    ".faint": ("fill", "#57606a", "#a3adb8"),
    ".edge": ("stroke", "#ffffff", "#14181d"),
    ".hatch": ("stroke", "#c2c8ce", "#4a545e"),
    ".outline0": ("stroke", "#1b1f24", "#e8ebee"),
    ".outline1": ("stroke", "#c8102e", "#ff7b86"),
    ".outline2": ("stroke", "#1a7f37", "#56d364"),
    **{f".tile{number}": ("fill", *pair) for number, pair in enumerate(_PALETTE)},
}
"""The colored property of each class, and its colors on a light and on a dark background."""

_FIXED: Final = """\
.layout-picture text{font:13px system-ui,sans-serif}
.layout-picture .label,.layout-picture .faint{font-size:12px}
.layout-picture .shape{font:600 15px ui-monospace,monospace}
.layout-picture .edge,.layout-picture .hatch{fill:none;stroke-width:1}
.layout-picture .outline0{fill:none;stroke-width:2.5;stroke-linecap:square}
.layout-picture .outline1,.layout-picture .outline2{fill:none;stroke-width:1.5;\
stroke-linecap:square}
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
    content = below([panel for panel in _panels(picture) if panel.elements], _GAP)
    width, height = content.width + 2 * _MARGIN, content.height + 2 * _MARGIN
    moved = element("g", "\n".join(content.elements), transform=f"translate({_MARGIN} {_MARGIN})")
    lines = (
        element("title", escape(str(shape))),
        element("desc", escape(_description(picture))),
        element("style", _style()),
        element("rect", class_="ground", width="100%", height="100%"),
        moved,
    )
    return element(
        "svg",
        "\n" + "\n".join(lines) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        class_="layout-picture",
        role="img",
        aria_label=f"the layout {shape}",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )


def _panels(picture: LayoutPicture) -> Iterator[Panel]:
    colors = _color_count(picture)
    planes = [_plane(plane, picture, colors) for plane in picture.planes]
    arranged = [beside(planes, 2 * _GAP, _MAX_WIDTH)] if planes else []
    yield _text([str(picture.shape)], "shape")
    yield _text(picture.summary, "label")
    yield from arranged
    yield _memory(picture, colors)
    yield _legend(picture)
    yield _text(picture.notes, "label")


def _description(picture: LayoutPicture) -> str:
    what = "Each cell is a place in memory with its offset; below, the same places in their order."
    return "\n".join([what, *picture.summary, _memory_title(picture), *picture.notes])


def _style() -> str:
    light, dark = (
        "".join(
            f".layout-picture {name}{{{colors[0]}:{colors[which]}}}\n"
            for name, colors in _COLORS.items()
        )
        for which in (1, 2)
    )
    return f"\n{_FIXED}{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n"


# Text.


def _text(lines: Iterable[str], class_: str) -> Panel:
    written = [part for line in lines for part in textwrap.wrap(line, 110)]
    elements = (text(0, _LINE * number + 12, part, class_) for number, part in enumerate(written))
    width = max((_text_width(part, class_) for part in written), default=0)
    return Panel(width, _LINE * len(written), tuple(elements))


def _text_width(content: str, class_: str = "") -> float:
    """An upper bound on the width of a line of text; fonts differ."""
    return len(content) * _CHARACTERS[class_]


def _short(content: str, most: int) -> str:
    """A text without its middle, if it is long."""
    half = most // 2
    return content if len(content) <= most else f"{content[:half]} ... {content[-half:]}"


_MAX_TITLE: Final = 100
"""A line of this width."""

_MAX_INDEX: Final = 40
"""Cells stay narrow enough for some in a row."""

_CHARACTERS: Final = {"": 8.2, "label": 7.4, "shape": 9.4}
"""The width of a character in each class of text, a little more than most need."""


# The array.


def _plane(plane: Plane, picture: LayoutPicture, colors: int) -> Panel:
    rows, columns = picture.rows, picture.columns
    width = _cell_width([*(str(cell.offset) for cell in picture.cells), *_labels(columns)], picture)
    left = _labels_width(rows)
    title = _short(plane.title, _MAX_TITLE)
    top = _LINE * (bool(title) + 2 * bool(columns.dimensions))
    xs = [left + x for x in columns.starts(width, _GAP)]
    ys = [top + y for y in rows.starts(HEIGHT, _GAP)]
    boxes = [
        Box(cell, x, y, width, str(cell.offset))
        for y, row in zip(ys, plane.cells, strict=True)
        for x, cell in zip(xs, row, strict=True)
    ]
    elements = (
        *([text(0, 12, title)] if title else []),
        *_row_labels(rows, left - 8, ys),
        *_column_labels(columns, left, top - 5, xs, width),
        *drawn(boxes, colors),
    )
    return Panel(max(xs[-1] + width, _text_width(title)), ys[-1] + HEIGHT, elements)


def _row_labels(axis: Axis, right: float, ys: Sequence[float]) -> Iterator[str]:
    if not axis.dimensions:
        return
    yield text(right, ys[0] - 5, f"{axis.name} ↓", "label", "end")
    for position, y in zip(axis.positions, ys, strict=True):
        yield from _label(axis, position, right, y + HEIGHT / 2 + 4, "end")
    for y in axis.starts_behind_gaps(ys):
        yield text(right, y - _GAP / 2 + 4, "⋮", "label", "end")


def _column_labels(
    axis: Axis, left: float, bottom: float, xs: Sequence[float], width: float
) -> Iterator[str]:
    if not axis.dimensions:
        return
    yield text(left, bottom - _LINE, f"{axis.name} →", "label")
    for position, x in zip(axis.positions, xs, strict=True):
        yield from _label(axis, position, x + width / 2, bottom, "middle")
    for x in axis.starts_behind_gaps(xs):
        yield text(x - _GAP / 2, bottom, "⋯", "label", "middle")


def _labels_width(axis: Axis) -> float:
    return max(map(_text_width, [*_labels(axis), f"{axis.name} ↓"])) + 8 if axis.dimensions else 0


def _labels(axis: Axis) -> Iterator[str]:
    return map(axis.label, axis.positions)


def _label(axis: Axis, position: int, x: float, y: float, anchor: str) -> Iterator[str]:
    label = axis.label(position)
    if label:
        yield text(x, y, label, "label", anchor)


# The memory.


def _memory(picture: LayoutPicture, colors: int) -> Panel:
    if not picture.memory:
        return Panel(0, 0, ())
    contents = [_index_text(cell) for cell in picture.memory]
    width = _cell_width([*contents, str(picture.memory[-1].offset)], picture)
    in_row = _cells_in_row(picture.memory, int(_MAX_WIDTH // width))
    boxes = [
        Box(cell, number % in_row * width, _memory_row(number // in_row), width, content)
        for number, (cell, content) in enumerate(zip(picture.memory, contents, strict=True))
    ]
    offsets = (
        text(box.x + width / 2, box.y - 4, str(box.cell.offset), "label", "middle") for box in boxes
    )
    title = _memory_title(picture)
    elements = (text(0, 12, title), *offsets, *drawn(boxes, colors))
    widths = (min(in_row, len(boxes)) * width, _text_width(title))
    return Panel(max(widths), boxes[-1].y + HEIGHT, elements)


def _memory_title(picture: LayoutPicture) -> str:
    shown, total = len(picture.memory), memory_size(picture.shape)
    of_all = f", the first {shown} of {total:,}" if shown < total else ""
    return f"in memory: the index of the element at each offset{of_all}"


def _memory_row(number: int) -> float:
    """The top of a row of cells; its offsets are above it."""
    return 2 * _LINE + 4 + number * (HEIGHT + _LINE + 4)


def _index_text(cell: MemoryCell) -> str:
    if cell.index is None:
        return ""
    return _short(",".join(map(str, cell.index)), _MAX_INDEX) or "()"


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
    return max(30, max(map(_text_width, contents), default=0) + 8 + 4 * outlines)


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
        _legend_item(f"tile {tile}", rectangle(1, 1, 24, 14), f"outline{level}")
        for level, tile in enumerate(picture.levels[:OUTLINED_LEVELS])
    ]
    others = ", ".join(picture.levels[OUTLINED_LEVELS:])
    if others:
        items.append(_text([f"tile {others}: not outlined"], "label"))
    if any(cell.index is None for cell in (*picture.cells, *picture.memory)):
        items.append(_legend_item("padding", hatching(0, 0, 26, 16), "hatch"))
    return beside(items, _GAP, _MAX_WIDTH) if items else Panel(0, 0, ())


def _legend_item(label: str, commands: str, class_: str) -> Panel:
    elements = (*path([commands], class_), text(34, 12, label, "label"))
    return Panel(34 + _text_width(label, "label"), _LINE, elements)
