"""What pictures are drawn with: SVG elements, panels side by side, and the cells of a layout."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.layout.view.picture import MemoryCell, Sides


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of a picture and its size; its top left corner is the origin of its elements."""

    width: float
    height: float
    elements: tuple[str, ...]


def element(name: str, content: str = "", **attributes: float | str) -> str:
    """An element with markup in it; ``_`` in the names of attributes stands for ``-``.

    >>> element("path", class_="hatch", stroke_width=1.5)
    '<path class="hatch" stroke-width="1.5"/>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(x: float, y: float, content: str, class_: str = "", anchor: str = "start") -> str:
    """A line of text; ``x`` and ``y`` are its ``start``, ``middle`` or ``end`` on the baseline.

    >>> text(1, 2, "a < b")
    '<text x="1" y="2">a &lt; b</text>'
    """
    class_attribute = {"class_": class_} if class_ else {}
    anchored = {"text_anchor": anchor} if anchor != "start" else {}
    return element("text", escape(content), x=x, y=y, **class_attribute, **anchored)


def path(commands: Iterable[str], class_: str) -> list[str]:
    """One path of all commands; none without commands."""
    joined = "".join(commands)
    return [element("path", d=joined, class_=class_)] if joined else []


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Commands of a path for a line."""
    return f"M{_value(x1)} {_value(y1)}L{_value(x2)} {_value(y2)}"


def rectangle(x: float, y: float, width: float, height: float) -> str:
    """Commands of a path for a rectangle."""
    return f"M{_value(x)} {_value(y)}h{_value(width)}v{_value(height)}h{_value(-width)}z"


def below(panels: Sequence[Panel], gap: float) -> Panel:
    """Pieces one below the other."""
    y = 0.0
    elements: list[str] = []
    for panel in panels:
        elements.append(_moved(panel, 0, y))
        y += panel.height + gap
    return Panel(max(panel.width for panel in panels), y - gap, tuple(elements))


def beside(panels: Sequence[Panel], gap: float, width: float) -> Panel:
    """Panels from left to right, in several lines if one would be wider than ``width``."""
    lines: list[list[Panel]] = [[]]
    for panel in panels:
        if lines[-1] and _width([*lines[-1], panel], gap) > width:
            lines.append([])
        lines[-1].append(panel)
    return below([_line(panels, gap) for panels in lines], gap)


def _line(panels: Sequence[Panel], gap: float) -> Panel:
    x = 0.0
    elements: list[str] = []
    for panel in panels:
        elements.append(_moved(panel, x, 0))
        x += panel.width + gap
    return Panel(x - gap, max(panel.height for panel in panels), tuple(elements))


def _width(panels: Sequence[Panel], gap: float) -> float:
    return sum(panel.width for panel in panels) + gap * (len(panels) - 1)


def _moved(panel: Panel, x: float, y: float) -> str:
    content = "\n".join(panel.elements)
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
"""The distance of an outline from the border of its tile, for each level."""

_HATCH: Final = 7
"""The distance of hatching lines, along an axis."""


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
