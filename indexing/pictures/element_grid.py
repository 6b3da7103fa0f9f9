"""An array as a grid of cells, lit where elements are touched, and brighter the more often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing.errors import MapError
from indexing.pictures.axis import (
    MAX_PLANES,
    MAX_ROWS,
    Axis,
    GridFrame,
    labels,
    shown_positions,
)
from indexing.pictures.svg import (
    GAP,
    MAX_WIDTH,
    Panel,
    below,
    beside,
    paragraphs,
    path,
    rectangle,
    text,
    text_width,
)
from simplifier.errors import INTEGER, check_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
