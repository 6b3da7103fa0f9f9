"""The few elements of SVG that pictures are made of, and pieces of a picture put side by side."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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


def beside(pieces: Sequence[Piece], gap: float, most: float) -> Piece:
    """Pieces from left to right, in several lines if they are wider than ``most``."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        if lines[-1] and _width([*lines[-1], piece], gap) > most:
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
