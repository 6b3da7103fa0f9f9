"""Axes of grids: the rows or columns of a picture, which of them are shown, and their labels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, pairwise
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from indexing.pictures.svg import GAP, LINE, Panel, text, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
