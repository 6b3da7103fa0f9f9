"""What pictures are drawn with: elements of SVG, pieces side by side, and the cells of a layout."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.layout.view.picture import Cell, Sides


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a picture with its size; its elements count from its own corner at the top left."""

    width: float
    height: float
    elements: tuple[str, ...]


def element(name: str, content: str = "", **attributes: float | str) -> str:
    """An element around markup; ``_`` in the names of attributes stands for ``-``.

    >>> element("path", class_="hatch", stroke_width=1.5)
    '<path class="hatch" stroke-width="1.5"/>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(x: float, y: float, content: str, class_: str = "", anchor: str = "start") -> str:
    """A line of text, ``x`` and ``y`` at its ``start``, ``middle`` or ``end`` on the baseline.

    >>> text(1, 2, "a < b")
    '<text x="1" y="2">a &lt; b</text>'
    """
    class_attribute = {"class_": class_} if class_ else {}
    anchored = {"text_anchor": anchor} if anchor != "start" else {}
    return element("text", escape(content), x=x, y=y, **class_attribute, **anchored)


def path(commands: Iterable[str], class_: str) -> list[str]:
    """One path of all commands; none if there are none."""
    joined = "".join(commands)
    return [element("path", d=joined, class_=class_)] if joined else []


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Commands of a path for a line."""
    return f"M{_value(x1)} {_value(y1)}L{_value(x2)} {_value(y2)}"


def rectangle(x: float, y: float, width: float, height: float) -> str:
    """Commands of a path for a rectangle."""
    return f"M{_value(x)} {_value(y)}h{_value(width)}v{_value(height)}h{_value(-width)}z"


def below(pieces: Sequence[Piece], gap: float) -> Piece:
    """Pieces one below the other."""
    y = 0.0
    elements: list[str] = []
    for piece in pieces:
        elements.append(_moved(piece, 0, y))
        y += piece.height + gap
    return Piece(max(piece.width for piece in pieces), y - gap, tuple(elements))


def beside(pieces: Sequence[Piece], gap: float, width: float) -> Piece:
    """Pieces from left to right, in several lines if they are wider than ``width``."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        if lines[-1] and _width([*lines[-1], piece], gap) > width:
            lines.append([])
        lines[-1].append(piece)
    return below([_line(pieces, gap) for pieces in lines], gap)


def _line(pieces: Sequence[Piece], gap: float) -> Piece:
    x = 0.0
    elements: list[str] = []
    for piece in pieces:
        elements.append(_moved(piece, x, 0))
        x += piece.width + gap
    return Piece(x - gap, max(piece.height for piece in pieces), tuple(elements))


def _width(pieces: Sequence[Piece], gap: float) -> float:
    return sum(piece.width for piece in pieces) + gap * (len(pieces) - 1)


def _moved(piece: Piece, x: float, y: float) -> str:
    content = "\n".join(piece.elements)
    if not x and not y:
        return content
    return element("g", f"\n{content}\n", transform=f"translate({_value(x)} {_value(y)})")


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.7g}"


# Cells: colored by tile, hatched where padding is, tiles outlined.

HEIGHT: Final = 28
"""Of a cell."""

OUTLINED_LEVELS: Final = 3

_INSETS: Final = (0, 3.5, 6.5)
"""How far within its tile an outline is, for each level of tiles."""

_HATCH: Final = 7
"""The distance of lines of the hatching, along an axis."""


@dataclass(frozen=True, slots=True)
class Box:
    """A cell at its place in a piece of a picture, and what is written in it."""

    cell: Cell
    x: float
    y: float
    width: float
    content: str

    @property
    def is_padding(self) -> bool:
        """Whether no element is there."""
        return self.cell.index is None


def drawn(boxes: Sequence[Box], colors: int) -> Iterator[str]:
    """The elements for all boxes; tiles take turns in so many colors."""
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


def hatching(x: float, y: float, width: float, height: float) -> str:
    """Commands of a path for lines from the lower left to the upper right.

    Lines of rectangles that touch meet.
    """
    first = int((x + y) // _HATCH + 1) * _HATCH
    return "".join(
        line(start, total - start, stop, total - stop)
        for total in range(first, ceil(x + y + width + height), _HATCH)
        for start, stop in [(max(x, total - y - height), min(x + width, total - y))]
    )


def _outline(box: Box, level: int) -> str:
    if level >= len(box.cell.outlines):
        return ""
    sides, inset = box.cell.outlines[level], _INSETS[level]
    return "".join(_sides(box, sides, inset))


def _sides(box: Box, sides: Sides, inset: float) -> Iterator[str]:
    """Lines where the tile ends, as far within; where it goes on, so far into the next cell."""
    outer = (box.x, box.x + box.width, box.y, box.y + HEIGHT)
    signs = (1, -1, 1, -1)
    left, right, top, bottom = (
        place + sign * (inset if ends else -inset)
        for place, sign, ends in zip(outer, signs, sides, strict=True)
    )
    lines = (
        (left, top, left, bottom),
        (right, top, right, bottom),
        (left, top, right, top),
        (left, bottom, right, bottom),
    )
    return (line(*ends) for ends, is_side in zip(lines, sides, strict=True) if is_side)
