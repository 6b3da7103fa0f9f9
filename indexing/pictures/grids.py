"""An array as a grid of cells, lit where elements are touched, and brighter the more often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from math import prod
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias, TypeVar

from indexing.errors import MapError
from indexing.pictures.svg import (
    GAP,
    LINE,
    MAX_WIDTH,
    Colors,
    Panel,
    Picture,
    below,
    beside,
    document,
    paragraphs,
    path,
    rectangle,
    text,
    text_width,
)
from simplifier.errors import INTEGER, check_type

# Axes of grids: the rows or columns of a picture, which of them are shown, and their labels.

MAX_ROWS: Final = 16
"""What a notebook shows at once; longer axes show their ends and the first borders of tiles."""

MAX_COLUMNS: Final = 24
"""As many as a page is wide."""

MAX_PLANES: Final = 4
"""More planes show nothing new."""

MAX_CELLS: Final = 240
"""What fits on a page, for all planes together, if that leaves one."""

_AROUND: Final = 2
"""How many rows or columns are shown on either side of a border."""

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Axis:
    """Rows or columns: the dimensions that they are, and which of them are shown.

    ``dimensions`` are several where a tile combines them, and none for the only row of an array of
    one dimension. ``padded_size`` is the number of rows or columns with padding; ``positions`` are
    those that are shown.
    """

    name: str
    dimensions: tuple[int, ...]
    sizes: tuple[int, ...]
    padded_size: int
    positions: tuple[int, ...]

    @property
    def is_cropped(self) -> bool:
        """Whether rows or columns are left out."""
        return len(self.positions) < self.padded_size

    def starts(self, size: _Number, gap: _Number) -> Iterator[_Number]:
        """The start of each row or column of a size, with a gap where some are left out.

        >>> list(Axis("x", (0,), (9,), padded_size=9, positions=(0, 1, 7, 8)).starts(10, 5))
        [0, 10, 25, 35]
        """
        start = size - size
        for position, after in pairwise((*self.positions, -1)):
            yield start
            start += size + gap * (after != position + 1)

    def starts_behind_gaps(self, starts: Sequence[_Number]) -> Iterator[_Number]:
        """Those of ``starts`` that follow a gap."""
        for (position, after), start in zip(pairwise(self.positions), starts[1:], strict=True):
            if after != position + 1:
                yield start

    def label(self, position: int) -> str:
        """The index at a position; empty for padding, or if there is no dimension.

        >>> axis = Axis("y,x", (0, 1), (2, 3), padded_size=8, positions=(5, 6))
        >>> [axis.label(position) for position in axis.positions]
        ['1,2', '']
        """
        if position >= prod(self.sizes) or not self.dimensions:
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


def _short_gaps(shown: Sequence[int]) -> Iterator[int]:
    """What lies in gaps that are no longer than what is shown around them."""
    for low, high in pairwise(shown):
        if high - low <= _AROUND + 1:
            yield from range(low + 1, high)


# Labels.


class GridFrame(NamedTuple):
    """What is around the cells of a grid, and where they are.

    ``xs`` are the left ends of the columns, ``ys`` the tops of the rows. The frame, a title and the
    labels of rows and columns, is ``elements``.
    """

    xs: list[float]
    ys: list[float]
    elements: tuple[str, ...]
    width: float
    height: float

    @classmethod
    def of(
        cls, rows: Axis, columns: Axis, width: float, height: float, title: str = ""
    ) -> GridFrame:
        """The frame of a grid whose cells have a width and a height."""
        left = labels_width(rows)
        top = LINE * (bool(title) + 2 * bool(columns.dimensions))
        xs = [left + x for x in columns.starts(width, GAP)]
        ys = [top + y for y in rows.starts(height, GAP)]
        elements = (
            *([text(0, 12, title)] if title else []),
            *_row_labels(rows, left - 8, ys, height),
            *_column_labels(columns, left, top - 5, xs, width),
        )
        name_of_columns = left + text_width(f"{columns.name} →", "label")
        right = max(xs[-1] + width, text_width(title), name_of_columns)
        return cls(xs, ys, elements, right, ys[-1] + height)

    def around(self, cells: Iterable[str]) -> Panel:
        """The grid with cells that are drawn at their places."""
        return Panel(self.width, self.height, (*self.elements, *cells))


def _row_labels(axis: Axis, right: float, ys: Sequence[float], height: float) -> Iterator[str]:
    """The index of each row, to the left of ``right``; ``ys`` are the tops of the rows."""
    if not axis.dimensions:
        return
    yield text(right, ys[0] - 5, f"{axis.name} ↓", "label", "end")
    for position, y in zip(axis.positions, ys, strict=True):
        yield from _label(axis, position, right, y + height / 2 + 4, "end")
    for y in axis.starts_behind_gaps(ys):
        yield text(right, y - GAP / 2 + 4, "⋮", "label", "end")


def _column_labels(
    axis: Axis, left: float, bottom: float, xs: Sequence[float], width: float
) -> Iterator[str]:
    """The index of each column, above ``bottom``; ``xs`` are the left ends of the columns."""
    if not axis.dimensions:
        return
    yield text(left, bottom - LINE, f"{axis.name} →", "label")
    for position, x in zip(axis.positions, xs, strict=True):
        yield from _label(axis, position, x + width / 2, bottom, "middle")
    for x in axis.starts_behind_gaps(xs):
        yield text(x - GAP / 2, bottom, "⋯", "label", "middle")


def labels_width(axis: Axis) -> float:
    """What the indices of rows take on the left."""
    return max(map(text_width, [*labels(axis), f"{axis.name} ↓"])) + 8 if axis.dimensions else 0


def labels(axis: Axis) -> Iterator[str]:
    """The index at each position that is shown."""
    return map(axis.label, axis.positions)


def _label(axis: Axis, position: int, x: float, y: float, anchor: str) -> Iterator[str]:
    label = axis.label(position)
    if label:
        yield text(x, y, label, "label", anchor)


# An array as a grid of cells, lit where elements are touched, and brighter the more often.

Position: TypeAlias = "tuple[int, ...]"
"""The index of an element."""

PlaneChoice: TypeAlias = "Sequence[int | None]"
"""An index with ``None`` for the dimensions that are rows and columns."""

LEVELS: Final = 5
"""Of brightness; more are hard to tell apart."""

_HEIGHT: Final = 22
_MIN_WIDTH: Final = 22
_BORDERS: Final = 4
"""The number of lit stretches whose ends are shown where an axis is cropped."""

_MAX_COLUMNS: Final = 16
"""Two grids fit beside each other."""

_MAX_CELLS: Final = 4 * MAX_ROWS * _MAX_COLUMNS
"""As many as some lines of large planes have."""

_AXES: Final = 2

_PLANE: Final = "an index with None for rows and columns"


@dataclass(frozen=True)
class ElementGrid:
    """An array in a picture, and how often each of its elements is touched.

    ``counts`` has no element that is not touched. Elements of an array that ``is_chosen`` are lit
    alike: they are those that the picture is about. ``plane`` chooses two dimensions and an index
    of the others; without it, the last two are rows and columns, and the planes that have lit
    elements are shown.
    """

    title: str
    sizes: tuple[int, ...]
    counts: Mapping[Position, int]
    names: tuple[str, ...]
    is_chosen: bool = False
    plane: PlaneChoice = ()

    def __post_init__(self) -> None:
        """Check the plane."""
        object.__setattr__(self, "counts", MappingProxyType(dict(self.counts)))
        check_type(self.plane, Sequence, f"picture: the plane of {self.title}", _PLANE)
        if len(self.plane):
            _check_plane(self.plane, self.sizes, self.title)

    @property
    def most(self) -> int:
        """How often the element is touched that is touched most."""
        return max(self.counts.values(), default=0)

    @property
    def summary(self) -> str:
        """How many elements are touched.

        >>> ElementGrid("p", (4, 8), {(0, 0): 1, (0, 1): 2}, ("0", "1")).summary
        '2 of 32 elements, read 1 to 2 times'
        """
        touched = f"{len(self.counts):,} of {prod(self.sizes):,} elements"
        if self.is_chosen or not self.counts:
            return touched
        return f"{touched}, read {times(min(self.counts.values()), self.most)}"

    @cached_property
    def rows_and_columns(self) -> tuple[Axis, Axis]:
        """The axes of each plane; a vector has one row, a scalar one cell."""
        missing: list[int | None] = [None] * (_AXES - len(self._axes))
        rows, columns = (*missing, *self._axes)
        return self._axis(rows, MAX_ROWS), self._axis(columns, _MAX_COLUMNS)

    @cached_property
    def planes(self) -> tuple[Position, ...]:
        """The indices of the other dimensions that are shown."""
        rows, columns = (len(axis.positions) for axis in self.rows_and_columns)
        most = max(1, min(MAX_PLANES, _MAX_CELLS // max(1, rows * columns)))
        return tuple(islice(self._lit_planes, most))

    @property
    def notes(self) -> Iterator[str]:
        """What is left out."""
        for axis, what in zip(self.rows_and_columns, ("rows", "columns"), strict=True):
            if axis.is_cropped:
                shown = f"{len(axis.positions)} of {axis.padded_size:,} {what}"
                yield f"{self.title}: {shown} are shown."
        lit = len(self._lit_planes)
        if len(self.planes) < lit:
            yield f"{self.title}: {len(self.planes)} of {lit:,} planes with lit elements are shown."
        elsewhere = sum(self._outside_plane(index) for index in self.counts) if self.plane else 0
        if elsewhere:
            yield f"{self.title}: {elsewhere:,} lit elements lie in other planes."

    def at(self, plane: Position, row: int, column: int) -> int:
        """How often the element in a cell is touched."""
        index = list(self._others_in_place(plane))
        for dimension, position in zip(reversed(self._axes), (column, row), strict=False):
            index[dimension] = position
        return self.counts.get(tuple(index), 0)

    @cached_property
    def _axes(self) -> tuple[int, ...]:
        """The dimensions that are rows and columns; fewer in a vector or scalar."""
        if self.plane:
            return tuple(number for number, index in enumerate(self.plane) if index is None)
        return tuple(range(len(self.sizes)))[-_AXES:]

    @property
    def _others(self) -> tuple[int, ...]:
        return tuple(number for number in range(len(self.sizes)) if number not in self._axes)

    @cached_property
    def _lit_planes(self) -> list[Position]:
        if self.plane:
            return [tuple(index for index in self.plane if index is not None)]
        lit = {tuple(index[number] for number in self._others) for index in self.counts}
        return sorted(lit) or [(0,) * len(self._others)]

    def _outside_plane(self, index: Position) -> bool:
        pairs = zip(index, self.plane, strict=True)
        return any(chosen is not None and chosen != value for value, chosen in pairs)

    def _others_in_place(self, plane: Position) -> Iterator[int]:
        values = dict(zip(self._others, plane, strict=True))
        return (values.get(number, 0) for number in range(len(self.sizes)))

    def _axis(self, dimension: int | None, most: int) -> Axis:
        if dimension is None:
            return Axis("", (), (), 1, (0,))
        size = self.sizes[dimension]
        lit = {index[dimension] for index in self.counts}
        starts = sorted(position for position in lit if position - 1 not in lit)
        ends = sorted(position + 1 for position in lit if position + 1 not in lit)
        borders = [*starts[:_BORDERS], *ends[:_BORDERS], *ends[-1:]]
        positions = shown_positions(size, borders, most, first=min(lit, default=0))
        return Axis(self.names[dimension], (dimension,), (size,), size, positions)

    def plane_title(self, plane: Position) -> str:
        """The index of the other dimensions.

        >>> grid = ElementGrid("p", (2, 4, 8), {(1, 0, 0): 1}, ("0", "1", "2"))
        >>> [grid.plane_title(plane) for plane in grid.planes]
        ['0 = 1']
        """
        names = (self.names[number] for number in self._others)
        return ", ".join(f"{name} = {value}" for name, value in zip(names, plane, strict=True))


def times(least: int, most: int) -> str:
    """A number of times in words.

    >>> times(1, 1), times(2, 2), times(1, 2)
    ('once', '2 times', '1 to 2 times')
    """
    if least == most:
        return "once" if most == 1 else f"{most:,} times"
    return f"{least:,} to {most:,} times"


def level_of(count: int, most: int) -> int:
    """The brightness of an element that is touched so often, from 1 to :data:`LEVELS`.

    >>> [level_of(count, 10) for count in (1, 2, 3, 10)], level_of(1, 1)
    ([1, 1, 2, 5], 3)
    """
    return -(-LEVELS * count // most) if most > 1 else LEVELS // 2 + 1


def _check_plane(plane: PlaneChoice, sizes: Sequence[int], title: str) -> None:
    expected = f"expected {len(sizes)} indices, None for at most two of them"
    for index in plane:
        if index is not None:
            check_type(index, INTEGER, f"picture: an index of the plane of {title}", "an integer")
    if len(plane) != len(sizes) or plane.count(None) > _AXES:
        raise MapError(f"picture: the plane {list(plane)} of {title}; {expected}")
    for index, size in zip(plane, sizes, strict=True):
        if index is not None and not 0 <= index < size:
            message = f"picture: the plane {list(plane)} of {title} is outside {list(sizes)}"
            raise MapError(message)


# Drawing.


def panel_of(grid: ElementGrid, most: int) -> Panel:
    """The planes of a grid, below its title; ``most`` is the count of the brightest element."""
    planes = [_plane(grid, plane, most) for plane in grid.planes if prod(grid.sizes)]
    heading = below([paragraphs([grid.title], "shape"), paragraphs([grid.summary], "label")], 4)
    return below([heading, beside(planes, GAP, MAX_WIDTH)] if planes else [heading], GAP / 2)


def _plane(grid: ElementGrid, plane: Position, most: int) -> Panel:
    rows, columns = grid.rows_and_columns
    counts = [
        [grid.at(plane, row, column) for column in columns.positions] for row in rows.positions
    ]
    written = [str(count) for line in counts for count in line] if most > 1 else []
    contents = (*written, *labels(columns))
    width = max((_MIN_WIDTH, *(text_width(each, "label") + 6 for each in contents)))
    frame = GridFrame.of(rows, columns, width, _HEIGHT, grid.plane_title(plane))
    cells = [
        (x, y, count)
        for y, line in zip(frame.ys, counts, strict=True)
        for x, count in zip(frame.xs, line, strict=True)
    ]
    return frame.around(_drawn(cells, width, grid, most))


def _drawn(
    cells: Sequence[tuple[float, float, int]], width: float, grid: ElementGrid, most: int
) -> Iterator[str]:
    def class_of(count: int) -> str:
        if not count:
            return "untouched"
        return "chosen" if grid.is_chosen else f"heat{level_of(count, most)}"

    for class_ in ("untouched", "chosen", *(f"heat{level + 1}" for level in range(LEVELS))):
        here = ((x, y) for x, y, count in cells if class_of(count) == class_)
        yield from path((rectangle(x, y, width, _HEIGHT) for x, y in here), class_)
    yield from path((rectangle(x, y, width, _HEIGHT) for x, y, _ in cells), "edge")
    if grid.is_chosen or most == 1:
        return
    for x, y, count in cells:
        if count:
            class_ = "on-dark" if level_of(count, most) > LEVELS - _DARK_LEVELS else "on-light"
            yield text(x + width / 2, y + _HEIGHT / 2 + 4, str(count), class_, "middle")


_DARK_LEVELS: Final = 2
"""How many levels are too dark for dark text; too light for light text, on a dark background."""


# Tables of short labels, colored by number: where elements of a layout lie, or who holds them.

_LABEL_HEIGHT: Final = 24
_MIN_LABEL_WIDTH: Final = 28

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
        width = max(
            _MIN_LABEL_WIDTH, *(text_width(each) + 8 for each in chain(written, labels(columns)))
        )
        frame = GridFrame.of(rows, columns, width, _LABEL_HEIGHT)
        boxes = [
            _LabelBox(x, y, width, *cell)
            for y, row in zip(frame.ys, cells, strict=True)
            for x, cell in zip(frame.xs, row, strict=True)
        ]
        return frame.around(_drawn_labels(boxes))

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
        return rectangle(self.x, self.y, self.width, _LABEL_HEIGHT)


def _drawn_labels(boxes: Sequence[_LabelBox]) -> Iterator[str]:
    """The colors, the borders and the labels."""
    for color in range(len(_PALETTE)):
        here = (box.outline for box in boxes if box.number % len(_PALETTE) == color)
        yield from path(here, f"color{color}")
    yield from path((box.outline for box in boxes), "edge")
    for box in boxes:
        yield text(box.x + box.width / 2, box.y + _LABEL_HEIGHT / 2 + 5, box.label, "", "middle")


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
