"""Layouts as plain text for terminals: offsets in a grid, dots for padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout.view.picture import layout_picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.layout.array_shape import ArrayShape
    from indexing.layout.view.picture import Axis, LayoutPicture, MemoryCell, Plane

_PADDING: Final = "."
_LEFT_OUT: Final = "..."


def text_of_layout(shape: ArrayShape) -> str:
    """The offsets of an array's elements; the tiles of the first level are outlined.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(text_of_layout(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    y, x   0  1  2  3  4
         +-----+-----+-----+
       0 | 0  1| 4  5| 8  .|
       1 | 2  3| 6  7|10  .|
         +-----+-----+-----+
       2 |12 13|16 17|20  .|
         | .  .| .  .| .  .|
         +-----+-----+-----+
    """
    picture = layout_picture(shape)
    planes = (line for plane in picture.planes for line in _lines_of(plane, picture))
    return "\n".join([*planes, *picture.notes])


def _lines_of(plane: Plane, picture: LayoutPicture) -> Iterator[str]:
    rows, columns = picture.rows, picture.columns
    names = ", ".join(axis.name for axis in (rows, columns) if axis.dimensions)
    left = max(map(len, [names, *_labels(rows)])) + 1
    width = max(map(len, [*map(_content, picture.cells), *_labels(columns)]))
    xs = [left + x for x in columns.starts(width + 1, len(_LEFT_OUT) + 1)]
    ys = list(rows.starts(2, 2))
    if plane.title:
        yield plane.title
    if names:
        labels = _Sheet()
        labels.put(0, 0, names)
        _write(labels, columns, [(x + 1, 0) for x in xs], width)
        for x in columns.starts_behind_gaps(xs):
            labels.put(x - len(_LEFT_OUT), 0, _LEFT_OUT)
        yield from labels.lines()
    grid = _Sheet()
    _write(grid, rows, [(0, y + 1) for y in ys], left - 1)
    for y in rows.starts_behind_gaps(ys):
        grid.put(0, y - 1, _LEFT_OUT.rjust(left - 1))
    corners = [(x, y) for y in ys for x in xs]
    cells = [cell for row in plane.cells for cell in row]
    for (x, y), cell in zip(corners, cells, strict=True):
        grid.put(x + 1, y + 1, _content(cell).rjust(width))
    _outline(grid, cells, corners, width)
    yield from grid.lines()


def _write(sheet: _Sheet, axis: Axis, corners: Iterable[tuple[int, int]], width: int) -> None:
    """The labels of an axis."""
    for (x, y), label in zip(corners, _labels(axis), strict=True):
        sheet.put(x, y, label.rjust(width))


def _outline(
    sheet: _Sheet, cells: Sequence[MemoryCell], corners: Sequence[tuple[int, int]], width: int
) -> None:
    """The outlines of the tiles of the first level; rules come first, so that bars meet them."""
    sides = [
        (cell.outlines[0], corner)
        for cell, corner in zip(cells, corners, strict=True)
        if cell.outlines
    ]
    for ends, (x, y) in sides:
        for is_end, line in ((ends.top, y), (ends.bottom, y + 2)):
            if is_end:
                sheet.put(x, line, "-" * (width + 2))
    for ends, (x, y) in sides:
        for is_end, column in ((ends.left, x), (ends.right, x + width + 1)):
            if is_end:
                sheet.bar(column, y)


class _Sheet:
    """A sheet of characters."""

    def __init__(self) -> None:
        self._lines: dict[int, dict[int, str]] = {}

    def put(self, x: int, y: int, content: str) -> None:
        """Write a text from left to right."""
        self._lines.setdefault(y, {}).update(enumerate(content, x))

    def bar(self, x: int, y: int) -> None:
        """Write a bar from one rule to the next."""
        for line in (y, y + 1, y + 2):
            before = self._lines.setdefault(line, {}).get(x, " ")
            self.put(x, line, "+" if before in "+-" else "|")

    def lines(self) -> Iterator[str]:
        """The lines that hold more than bars."""
        for _, line in sorted(self._lines.items()):
            written = "".join(line.get(x, " ") for x in range(max(line) + 1)).rstrip()
            if written.strip("| "):
                yield written


def _labels(axis: Axis) -> list[str]:
    return [axis.label(position) for position in axis.positions]


def _content(cell: MemoryCell) -> str:
    return _PADDING if cell.index is None else str(cell.offset)
