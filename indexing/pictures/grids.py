"""Grids: cells in rows and columns between labels, painted as SVG and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise
from math import prod
from typing import Final, NamedTuple, TypeVar

from indexing.pictures import svg
from indexing.pictures.svg import GAP, HATCH, LINE, MAX_WIDTH, NUMBERS, Panel, Picture

# Axes of grids: the rows or columns of a picture, which of them are shown, and their labels.

MAX_ROWS: Final = 16
"""Indices that a notebook shows at once; longer axes show their ends and first tiles."""

MAX_COLUMNS: Final = 24
"""As many as a page is wide."""

MAX_PLANES: Final = 4
"""More planes show nothing new."""

MAX_CELLS: Final = 240
"""Cells that fit on a page, in all planes together, if that leaves one plane."""

_AROUND: Final = 2
"""How many rows or columns are shown on either side of a border."""

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Axis:
    """Rows or columns: the sizes of the dimensions that they are, and which of them are shown.

    There are several ``sizes`` where a tile combines dimensions, and none for the only row of an
    array of one dimension. ``padded_size`` is the number of rows or columns with padding;
    ``positions`` are those that are shown.
    """

    name: str
    sizes: tuple[int, ...]
    padded_size: int
    positions: tuple[int, ...]

    @property
    def labels(self) -> list[str]:
        """The index at each position that is shown."""
        return [*map(self.label, self.positions)]

    def starts(self, size: _Number, gap: _Number) -> Iterator[_Number]:
        """The start of each row or column of a size, with a gap where some are left out.

        >>> list(Axis("x", (9,), padded_size=9, positions=(0, 1, 7, 8)).starts(10, 5))
        [0, 10, 25, 35]
        """
        start = size - size
        for position, after in pairwise((*self.positions, -1)):
            yield start
            start += size + gap * (after != position + 1)

    def marks(
        self, size: _Number, gap: _Number, gap_mark: str
    ) -> Iterator[tuple[str, _Number, _Number]]:
        """The label of each row or column and a mark for each gap, with their starts and sizes."""
        starts = [*self.starts(size, gap)]
        for label, start in zip(self.labels, starts, strict=True):
            if label:
                yield label, start, size
        for (position, after), start in zip(pairwise(self.positions), starts[1:], strict=True):
            if after != position + 1:
                yield gap_mark, start - gap, gap

    def label(self, position: int) -> str:
        """The index at a position; empty for padding, or if there is no dimension.

        >>> Axis("y,x", (2, 3), padded_size=8, positions=(5, 6)).labels
        ['1,2', '']
        """
        if position >= prod(self.sizes) or not self.sizes:
            return ""
        digits: list[str] = []
        for size in reversed(self.sizes):
            position, digit = divmod(position, size)
            digits.append(str(digit))
        return ",".join(reversed(digits))


def shown_positions(
    size: int, borders: Iterable[int], most: int, first: int | None = None
) -> tuple[int, ...]:
    """All positions of an axis; of a long one those around its ends and borders.

    From ``first`` on, as many are added as there is room for.

    >>> shown_positions(20, (), 8), shown_positions(20, (), 8, first=9)
    ((0, 1, 18, 19), (0, 1, 9, 10, 11, 12, 18, 19))
    """
    if size <= most:
        return tuple(range(size))
    shown = {
        position
        for border in (0, *borders, size)
        for position in range(border - _AROUND, border + _AROUND)
        if 0 <= position < size
    }
    if first is not None:
        others = (position for position in range(first, size) if position not in shown)
        shown |= {*islice(others, max(0, most - len(shown)))}
    return tuple(sorted(shown | {*_short_gaps(sorted(shown))}))


def cropped(rows: Axis, columns: Axis) -> Iterator[str]:
    """Numbers of rows and columns shown, where some are left out."""
    for axis, what in ((rows, "rows"), (columns, "columns")):
        if len(axis.positions) < axis.padded_size:
            yield f"{len(axis.positions)} of {axis.padded_size:,} {what} are shown."


def _short_gaps(shown: Sequence[int]) -> Iterator[int]:
    """Numbers in gaps that are no longer than the runs shown around them."""
    for low, high in pairwise(shown):
        if high - low <= _AROUND + 1:
            yield from range(low + 1, high)


# Cells, and how they are painted at their places.


class Sides(NamedTuple):
    """The sides of a cell on which a tile ends."""

    left: bool
    right: bool
    top: bool
    bottom: bool


class Cell(NamedTuple):
    """Content of a cell.

    ``color`` is the class of its ground, ``label_class`` that of its label, if that is smaller than
    other texts. ``outlines`` are the sides on which a tile of each level ends.
    """

    color: str
    label: str = ""
    label_class: str = ""
    outlines: tuple[Sides, ...] = ()


class Box(NamedTuple):
    """A cell at its place."""

    x: float
    y: float
    width: float
    height: float
    cell: Cell


OUTLINED_LEVELS: Final = 3

_INSETS: Final = (0, 3.5, 6.5)
"""The distance of an outline from the border of its tile, for each level."""


def painted(boxes: Sequence[Box]) -> Iterator[str]:
    """The grounds of cells, their borders, the outlines of tiles, and the labels."""
    for color in sorted({box.cell.color for box in boxes}):
        ground = svg.hatching if color == HATCH else svg.rectangle
        yield from svg.path((ground(*box[:4]) for box in boxes if box.cell.color == color), color)
    yield from svg.path((svg.rectangle(*box[:4]) for box in boxes), "edge")
    for level in reversed(range(OUTLINED_LEVELS)):
        yield from svg.path((_outline(box, level) for box in boxes), f"outline{level}")
    for x, y, width, height, cell in boxes:
        if cell.label:
            baseline = y + height / 2 + (4 if cell.label_class else 5)
            yield svg.text(x + width / 2, baseline, cell.label, cell.label_class, "middle")


def _outline(box: Box, level: int) -> str:
    """Lines where the tile ends, with an inset; elsewhere they reach into the next cell."""
    x, y, width, height, cell = box
    if level >= len(cell.outlines):
        return ""
    sides, inset = cell.outlines[level], _INSETS[level]
    outer, signs = (x, x + width, y, y + height), (1, -1, 1, -1)
    left, right, top, bottom = (
        side + sign * (inset if ends else -inset)
        for side, sign, ends in zip(outer, signs, sides, strict=True)
    )
    vertical = [svg.line(x, top, x, bottom) for x in (left, right)]
    horizontal = [svg.line(left, y, right, y) for y in (top, bottom)]
    return "".join(compress(vertical + horizontal, sides))


def cell_width(labels: Iterable[str], least: float, around: float, class_: str = "") -> float:
    """The width of cells for the widest of some labels of a class, with space around it."""
    return max([least, *(svg.text_width(each, class_) + around for each in labels)])


# Grids.


@dataclass(frozen=True, slots=True)
class Grid:
    """Planes of cells with the same rows and columns: a title and rows of cells for each."""

    rows: Axis
    columns: Axis
    planes: Sequence[tuple[str, Sequence[Sequence[Cell]]]]

    def width(self, least: float, around: float, class_: str = "") -> float:
        """The width of cells for the widest label of a class, with space around it."""
        return cell_width(self._labels, least, around, class_)

    @property
    def _labels(self) -> Iterator[str]:
        """The text in columns: the labels of all cells, and the indices above them."""
        yield from self.columns.labels
        yield from (cell.label for _, plane in self.planes for row in plane for cell in row)

    def panel(self, width: float, height: float, gap: float = GAP) -> Panel:
        """The planes side by side, of cells of a width and a height."""
        planes = [
            self._panel(svg.shortened(title, _MAX_TITLE), cells, width, height)
            for title, cells in self.planes
        ]
        return svg.beside(planes, gap, MAX_WIDTH)

    def _panel(
        self, title: str, cells: Sequence[Sequence[Cell]], width: float, height: float
    ) -> Panel:
        rows, columns = self.rows, self.columns
        left, top = _labels_width(rows), LINE * (bool(title) + 2 * bool(columns.name))
        xs = [left + x for x in columns.starts(width, GAP)]
        ys = [top + y for y in rows.starts(height, GAP)]
        boxes = [
            Box(x, y, width, height, cell)
            for y, row in zip(ys, cells, strict=True)
            for x, cell in zip(xs, row, strict=True)
        ]
        elements = (
            *([svg.text(0, 12, title)] if title else []),
            *self._around(left, top, width, height),
            *painted(boxes),
        )
        name_of_columns = left + svg.text_width(f"{columns.name} →", "label")
        right = max(xs[-1] + width, svg.text_width(title), name_of_columns)
        return Panel(right, ys[-1] + height, elements)

    def _around(self, left: float, top: float, width: float, height: float) -> Iterator[str]:
        """The names of rows and columns, and their labels."""
        if self.rows.name:
            yield svg.text(left - 8, top - 5, f"{self.rows.name} ↓", "label", "end")
            for label, y, size in self.rows.marks(height, GAP, "⋮"):
                yield svg.text(left - 8, top + y + size / 2 + 4, label, "label", "end")
        if self.columns.name:
            yield svg.text(left, top - 5 - LINE, f"{self.columns.name} →", "label")
            for label, x, size in self.columns.marks(width, GAP, "⋯"):
                yield svg.text(left + x + size / 2, top - 5, label, "label", "middle")

    def lines(self) -> Iterator[str]:
        """The grid as text, with the outlines of the tiles of the first level."""
        width = max(map(len, self._labels), default=0)
        for title, cells in self.planes:
            if title:
                yield title
            yield from self._sheet(cells, width).lines()

    def _sheet(self, cells: Sequence[Sequence[Cell]], width: int) -> _Sheet:
        rows, columns = self.rows, self.columns
        names = ", ".join(axis.name for axis in (rows, columns) if axis.name)
        left = max(map(len, [names, *rows.labels])) + 1
        across, down = (width + 1, len(_LEFT_OUT) + 1), (2, 2)
        sheet = _Sheet()
        if any(columns.labels):
            sheet.put(0, -1, names)
            for label, x, size in columns.marks(*across, _LEFT_OUT):
                sheet.put(left + x + 1, -1, label.rjust(size - 1))
        for label, y, _ in rows.marks(*down, _LEFT_OUT):
            sheet.put(0, y + 1, label.rjust(left - 1))
        places = [(left + x, y) for y in rows.starts(*down) for x in columns.starts(*across)]
        written = [cell for row in cells for cell in row]
        for (x, y), cell in zip(places, written, strict=True):
            sheet.put(x + 1, y + 1, cell.label.rjust(width))
        sheet.outline(places, written, width)
        return sheet


_LEFT_OUT: Final = "..."

_MAX_TITLE: Final = 100
"""A line of this width."""


class _Sheet:
    """A sheet of characters."""

    def __init__(self) -> None:
        self._lines: dict[int, dict[int, str]] = {}

    def put(self, x: int, y: int, content: str) -> None:
        """Write a text from left to right."""
        self._lines.setdefault(y, {}).update(enumerate(content, x))

    def outline(self, places: Sequence[tuple[int, int]], cells: Sequence[Cell], width: int) -> None:
        """Outline the tiles of the first level: rules first, then bars that meet them."""
        pairs = zip(places, cells, strict=True)
        outlined = [(*place, cell.outlines[0]) for place, cell in pairs if cell.outlines]
        for x, y, ends in outlined:
            for row in compress((y, y + 2), (ends.top, ends.bottom)):
                self.put(x, row, "-" * (width + 2))
        for x, y, ends in outlined:
            for column in compress((x, x + width + 1), (ends.left, ends.right)):
                self._bar(column, y)

    def _bar(self, x: int, y: int) -> None:
        """Write a bar from one rule to the next."""
        for row in (y, y + 1, y + 2):
            before = self._lines.setdefault(row, {}).get(x, " ")
            self.put(x, row, "+" if before in "+-" else "|")

    def lines(self) -> Iterator[str]:
        """The lines that hold more than bars."""
        for _, row in sorted(self._lines.items()):
            written = "".join(row.get(x, " ") for x in range(max(row) + 1)).rstrip()
            if written.strip("| "):
                yield written


def _labels_width(axis: Axis) -> float:
    """Width of the indices of rows on the left."""
    return max(map(svg.text_width, [*axis.labels, f"{axis.name} ↓"])) + 8 if axis.name else 0


# Tables of short labels, colored by number: where elements of a layout lie, or who holds them.


@dataclass(frozen=True, slots=True, repr=False)
class LabelGrid(Picture):
    """Labels in rows and columns; a cell has the color of its number.

    ``print`` writes them as a table. Long axes show their ends.

    >>> print(LabelGrid("products", (2, 3), lambda row, column: (str(row * column), column)))
       0 1 2
    0  0 0 0
    1  0 1 2
    """

    title: str
    sizes: tuple[int, int]
    cell: Callable[[int, int], tuple[str, int]]
    """The label and the number at a row and column."""

    def panels(self) -> Iterator[Panel]:
        """The table with rows downwards."""
        grid = self._grid("row", "column")
        yield grid.panel(grid.width(28, 8), 24)
        yield svg.paragraphs(cropped(grid.rows, grid.columns), "label")

    def __str__(self) -> str:
        grid = self._grid("", "")
        return "\n".join([*grid.lines(), *cropped(grid.rows, grid.columns)])

    def _grid(self, *names: str) -> Grid:
        rows, columns = (
            Axis(name, (size,), size, shown_positions(size, (), most))
            for name, size, most in zip(names, self.sizes, (MAX_ROWS, MAX_COLUMNS), strict=True)
        )
        cells = [
            [self._cell(row, column) for column in columns.positions] for row in rows.positions
        ]
        return Grid(rows, columns, [("", cells)])

    def _cell(self, row: int, column: int) -> Cell:
        label, number = self.cell(row, column)
        return Cell(f"color{number % len(NUMBERS)}", label)
