"""SVG: elements, panels beside and below each other, and documents that are light or dark.

A document has its own background, light or dark as the reader prefers. It loads nothing and needs
no script.
"""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from simplifier.tools.display import in_one_line

Colors: TypeAlias = "Mapping[str, tuple[str, str, str]]"
"""The colored property of each class, and its colors on a light and on a dark background."""

LINE: Final = 16
"""The height of a line of text."""

MARGIN: Final = 16
GAP: Final = 20
"""Between parts of a picture, and where rows or columns are left out."""

MAX_WIDTH: Final = 960
"""Of panels side by side: what a screen shows."""

_HATCH: Final = 7
"""The distance of hatching lines, along an axis."""


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


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.7g}"


# Text.

_CHARACTERS: Final = {"": 8.2, "label": 7.4, "shape": 9.4}
"""The width of a character in each class of text, a little more than most need."""


def text_width(content: str, class_: str = "") -> float:
    """An upper bound on the width of a line of text; fonts differ."""
    return len(content) * _CHARACTERS[class_]


def shortened(content: str, most: int) -> str:
    """A text without its middle, if it is long.

    >>> shortened("(d0 floordiv 16, d1 mod 16)", 10)
    '(d0 f ... d 16)'
    """
    half = most // 2
    return content if len(content) <= most else f"{content[:half]} ... {content[-half:]}"


def paragraphs(lines: Iterable[str], class_: str) -> Panel:
    """Lines of text; long ones are wrapped."""
    written = [part for line in lines for part in textwrap.wrap(line, 110)]
    elements = (text(0, LINE * number + 12, part, class_) for number, part in enumerate(written))
    width = max((text_width(part, class_) for part in written), default=0)
    return Panel(width, LINE * len(written), tuple(elements))


def legend_item(label: str, commands: str, class_: str) -> Panel:
    """What a class of paths means; the commands draw at most 26 by 16."""
    elements = (*path([commands], class_), text(34, 12, label, "label"))
    return Panel(34 + text_width(label, "label"), LINE, elements)


# Documents.


class Picture(ABC):
    """A picture: a notebook shows it, and a file keeps it."""

    __slots__ = ()

    @abstractmethod
    def svg(self) -> str:
        """The picture as SVG: light or dark as the reader prefers, without scripts."""

    def save(self, path: str | Path) -> None:
        """Write the picture into a file, as SVG.

        Raises:
            OSError: the file cannot be written.
        """
        Path(path).write_text(self.svg() + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {in_one_line(str(self))}>"

    def _repr_svg_(self) -> str:
        return self.svg()


COLORS: Final[Colors] = MappingProxyType(
    {
        ".ground": ("fill", "#ffffff", "#14181d"),
        "text": ("fill", "#1b1f24", "#e8ebee"),
        ".label": ("fill", "#57606a", "#a3adb8"),
        ".faint": ("fill", "#57606a", "#a3adb8"),
        ".edge": ("stroke", "#ffffff", "#14181d"),
        ".hatch": ("stroke", "#c2c8ce", "#4a545e"),
    }
)
"""What all pictures have."""

_FIXED: Final = """\
.{0} text{{font:13px system-ui,sans-serif}}
.{0} .label,.{0} .faint{{font-size:12px}}
.{0} .shape{{font:600 15px ui-monospace,monospace}}
.{0} .edge,.{0} .hatch{{fill:none;stroke-width:1}}
"""


def document(
    kind: str,
    title: str,
    description: str,
    panels: Iterable[Panel],
    colors: Colors,
    fixed: str = "",
) -> str:
    """A picture of panels, one below the other; ``kind`` is the class of the whole.

    ``fixed`` are more styles, which do not change with the background; ``{0}`` is the kind.
    """
    content = below([panel for panel in panels if panel.elements], GAP)
    width, height = content.width + 2 * MARGIN, content.height + 2 * MARGIN
    moved = element("g", "\n".join(content.elements), transform=f"translate({MARGIN} {MARGIN})")
    lines = (
        element("title", escape(title)),
        element("desc", escape(description)),
        element("style", _style(kind, {**COLORS, **colors}, fixed)),
        element("rect", class_="ground", width="100%", height="100%"),
        moved,
    )
    return element(
        "svg",
        "\n" + "\n".join(lines) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        class_=kind,
        role="img",
        aria_label=title,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )


def _style(kind: str, colors: Colors, fixed: str) -> str:
    light, dark = (
        "".join(f".{kind} {name}{{{each[0]}:{each[which]}}}\n" for name, each in colors.items())
        for which in (1, 2)
    )
    return (
        f"\n{(_FIXED + fixed).format(kind)}{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n"
    )
