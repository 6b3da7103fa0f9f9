"""Layouts as SVG: cells with their offsets, outlines of tiles, hatched padding, indices on axes.

Below them are the same cells in the order of memory, with the index of each element. A tile has the
same color in both. The picture has its own background, light or dark as the reader prefers, and
loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from indexing.layout.array_shape import ArrayShape
from indexing.layout.picture import LayoutPicture, MemoryCell, layout_picture
from indexing.layout.steps import memory_size
from indexing.pictures.grids import OUTLINED_LEVELS, Box, Cell, cell_width, painted
from indexing.pictures.svg import (
    GAP,
    HATCH,
    LINE,
    MAX_WIDTH,
    Panel,
    document,
    legend,
    paragraphs,
    shortened,
    text,
    text_width,
)

HEIGHT: Final = 28
"""Of a cell."""


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
    return document(str(shape), _description(picture), _panels(picture))


def _panels(picture: LayoutPicture) -> Iterator[Panel]:
    colors = _color_count(picture)
    grid = picture.grid(lambda cell: shown(cell, str(cell.offset), colors))
    yield paragraphs(picture.summary, "label")
    yield grid.panel(grid.width(*_widths(picture)), HEIGHT, 2 * GAP)
    yield _memory(picture, colors)
    yield legend(_meanings(picture))
    yield paragraphs(picture.notes, "label")


def shown(cell: MemoryCell, label: str, colors: int) -> Cell:
    """A place in memory; the tiles alternate between so many colors."""
    if cell.index is None:
        return Cell(HATCH, label, "label", cell.outlines)
    tile = cell.tiles[0] if cell.tiles else None
    return Cell(f"tile{(tile or 0) % colors}", label, "", cell.outlines)


def _description(picture: LayoutPicture) -> str:
    what = "Each cell is a place in memory with its offset; below, the same places in their order."
    return "\n".join([what, *picture.summary, _memory_title(picture), *picture.notes])


_MAX_INDEX: Final = 40
"""Cells stay narrow enough for some in a row."""


# The memory.


def _memory(picture: LayoutPicture, colors: int) -> Panel:
    if not picture.memory:
        return Panel(0, 0, ())
    cells = [shown(cell, _index_text(cell), colors) for cell in picture.memory]
    offsets = [str(cell.offset) for cell in picture.memory]
    width = cell_width([*(cell.label for cell in cells), offsets[-1]], *_widths(picture))
    in_row = _cells_in_row(picture.memory, int(MAX_WIDTH // width))
    boxes = [
        Box(number % in_row * width, _memory_row(number // in_row), width, HEIGHT, cell)
        for number, cell in enumerate(cells)
    ]
    above = (
        text(box.x + width / 2, box.y - 4, offset, "label", "middle")
        for box, offset in zip(boxes, offsets, strict=True)
    )
    title = _memory_title(picture)
    elements = (text(0, 12, title), *above, *painted(boxes))
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


def _widths(picture: LayoutPicture) -> tuple[float, float]:
    """The least width of a cell, and the space around its text."""
    return 30, 8 + 4 * min(len(picture.levels), OUTLINED_LEVELS)


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


def _meanings(picture: LayoutPicture) -> dict[str, str]:
    outlined, others = picture.levels[:OUTLINED_LEVELS], picture.levels[OUTLINED_LEVELS:]
    found = {f"outline{level}": f"tile {tile}" for level, tile in enumerate(outlined)}
    if others:
        found[""] = f"tile {', '.join(others)}: not outlined"
    if any(cell.index is None for cell in (*picture.cells, *picture.memory)):
        found[HATCH] = "padding"
    return found
