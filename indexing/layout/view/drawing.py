"""The cells of a layout: colored by tile, hatched where padding is, tiles outlined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from indexing.pictures.svg import hatching, line, path, rectangle, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing.layout.view.picture import MemoryCell, Sides

HEIGHT: Final = 28
"""Of a cell."""

OUTLINED_LEVELS: Final = 3

_INSETS: Final = (0, 3.5, 6.5)
"""The distance of an outline from the border of its tile, for each level."""


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
