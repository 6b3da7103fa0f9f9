"""Tables of short labels, colored by number: where elements of a layout lie, or who holds them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.pictures.axis import (
    MAX_COLUMNS,
    MAX_ROWS,
    Axis,
    GridFrame,
    labels,
    shown_positions,
)
from indexing.pictures.svg import (
    Panel,
    Picture,
    document,
    paragraphs,
    path,
    rectangle,
    text,
    text_width,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from indexing.pictures.svg import Colors

_HEIGHT: Final = 24
_MIN_WIDTH: Final = 28

_PALETTE: Final = (
    ("#cfe3f7", "#1f4566"),
    ("#fbe3b8", "#5e4716"),
    ("#d3edce", "#24502b"),
    ("#f3d3e3", "#5c2a47"),
    ("#e0d7f3", "#413066"),
    ("#cdeeee", "#1a4f52"),
    ("#e8e4d8", "#47443a"),
    ("#f7d9cf", "#66301f"),
)
"""As many colors as CuTe's pictures have, on a light and on a dark background."""

_COLORS: Final[Colors] = {
    f".color{number}": ("fill", *pair) for number, pair in enumerate(_PALETTE)
}


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

    def svg(self) -> str:
        """The table with rows downwards."""
        panels = (
            paragraphs([self.title], "shape"),
            self._panel(),
            paragraphs(self._notes(), "label"),
        )
        return document("label-grid", self.title, str(self), panels, _COLORS)

    def _axes(self) -> tuple[Axis, Axis]:
        rows, columns = self.sizes
        return _axis("row", 0, rows, MAX_ROWS), _axis("column", 1, columns, MAX_COLUMNS)

    def _notes(self) -> list[str]:
        return [
            f"{len(axis.positions)} of {axis.padded_size:,} {axis.name}s are shown."
            for axis in self._axes()
            if axis.is_cropped
        ]

    def _panel(self) -> Panel:
        rows, columns = self._axes()
        cells = [[self.cell(row, column) for column in columns.positions] for row in rows.positions]
        written = (label for row in cells for label, _ in row)
        width = max(_MIN_WIDTH, *(text_width(each) + 8 for each in chain(written, labels(columns))))
        frame = GridFrame.of(rows, columns, width, _HEIGHT)
        boxes = [
            _LabelBox(x, y, width, *cell)
            for y, row in zip(frame.ys, cells, strict=True)
            for x, cell in zip(frame.xs, row, strict=True)
        ]
        return frame.around(_drawn(boxes))

    def __str__(self) -> str:
        rows, columns = self._axes()
        lines = [["", *labels(columns)]]
        lines += [
            [rows.label(row), *(self.cell(row, column)[0] for column in columns.positions)]
            for row in rows.positions
        ]
        return "\n".join([*_aligned(lines), *self._notes()])


class _LabelBox(NamedTuple):
    """A cell at its place."""

    x: float
    y: float
    width: float
    label: str
    number: int

    @property
    def outline(self) -> str:
        return rectangle(self.x, self.y, self.width, _HEIGHT)


def _drawn(boxes: Sequence[_LabelBox]) -> Iterator[str]:
    """The colors, the borders and the labels."""
    for color in range(len(_PALETTE)):
        here = (box.outline for box in boxes if box.number % len(_PALETTE) == color)
        yield from path(here, f"color{color}")
    yield from path((box.outline for box in boxes), "edge")
    for box in boxes:
        yield text(box.x + box.width / 2, box.y + _HEIGHT / 2 + 5, box.label, "", "middle")


def _axis(name: str, dimension: int, size: int, most: int) -> Axis:
    return Axis(name, (dimension,), (size,), size, shown_positions(size, (), most))


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines with their columns as wide as the widest label."""
    first = max(len(line[0]) for line in lines)
    width = max(len(each) for line in lines for each in line[1:])
    return [
        " ".join([line[0].rjust(first) + " ", *(each.rjust(width) for each in line[1:])])
        for line in lines
    ]
