"""SVG: elements, panels beside and below each other, and documents that are light or dark.

A document has its own background, light or dark as the reader prefers. It loads nothing and needs
no script. One table has the styles of all pictures; a document holds those that it uses.
"""

from __future__ import annotations

import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple

from simplifier.tools.display import in_one_line

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
    """An element with markup in it, without attributes that are empty texts.

    ``_`` in the names of attributes stands for ``-``.

    >>> element("path", class_="hatch", stroke_width=1.5)
    '<path class="hatch" stroke-width="1.5"/>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(x: float, y: float, content: str, class_: str = "", anchor: str = "") -> str:
    """A line of text; ``x`` and ``y`` are its start, ``middle`` or ``end`` on the baseline.

    >>> text(1, 2, "a < b")
    '<text x="1" y="2">a &lt; b</text>'
    """
    return element("text", escape(content), x=x, y=y, class_=class_, text_anchor=anchor)


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
    ys = [*accumulate((panel.height + gap for panel in panels), initial=0.0)]
    elements = (_moved(panel, 0, y) for panel, y in zip(panels, ys, strict=False))
    width = max((panel.width for panel in panels), default=0)
    return Panel(width, ys[-1] - gap, tuple(elements))


def beside(panels: Sequence[Panel], gap: float, width: float) -> Panel:
    """Panels from left to right, in several lines if one would be wider than ``width``."""
    lines: list[list[Panel]] = [[]]
    for panel in panels:
        if lines[-1] and _line([*lines[-1], panel], gap).width > width:
            lines.append([])
        lines[-1].append(panel)
    return below([_line(panels, gap) for panels in lines if panels], gap)


def _line(panels: Sequence[Panel], gap: float) -> Panel:
    xs = [*accumulate((panel.width + gap for panel in panels), initial=0.0)]
    elements = (_moved(panel, x, 0) for panel, x in zip(panels, xs, strict=False))
    return Panel(xs[-1] - gap, max(panel.height for panel in panels), tuple(elements))


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


def legend(meanings: Mapping[str, str]) -> Panel:
    """The meaning of each class, with a sample; a text of no class has none."""
    return beside([_sample(*each) for each in meanings.items()], GAP, MAX_WIDTH)


def _sample(class_: str, meaning: str) -> Panel:
    sample = hatching(0, 0, 26, 16) if class_ == HATCH else rectangle(1, 1, 24, 14)
    left = 34 if class_ else 0
    elements = (*path([sample] * bool(class_), class_), text(left, 12, meaning, "label"))
    return Panel(left + text_width(meaning, "label"), LINE, elements)


# Documents.


class Picture(ABC):
    """A picture with a title: a notebook shows it, and a file keeps it; its text describes it."""

    __slots__ = ()

    title: str

    @abstractmethod
    def panels(self) -> Iterable[Panel]:
        """The parts of the picture below its title."""

    def svg(self) -> str:
        """The picture as SVG: light or dark as the reader prefers, without scripts."""
        return document(self.title, str(self), self.panels())

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


def document(title: str, description: str, panels: Iterable[Panel]) -> str:
    """A picture of panels below its title, one below the other."""
    heading = paragraphs([title], "shape")
    content = below([panel for panel in (heading, *panels) if panel.elements], GAP)
    width, height = content.width + 2 * MARGIN, content.height + 2 * MARGIN
    drawn = "\n".join(content.elements)
    lines = (
        element("title", escape(title)),
        element("desc", escape(description)),
        element("style", _style_sheet({"text", "ground", *re.findall(r'class="([^"]*)"', drawn)})),
        element("rect", class_="ground", width="100%", height="100%"),
        element("g", drawn, transform=f"translate({MARGIN} {MARGIN})"),
    )
    return element(
        "svg",
        "\n" + "\n".join(lines) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        class_=_ROOT,
        role="img",
        aria_label=title,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )


def _style_sheet(used: Collection[str]) -> str:
    """The styles that are used, then their colors on a dark background."""
    rules = [
        (f".{_ROOT} {name if name == 'text' else f'.{name}'}", style)
        for name, style in STYLES.items()
        if name in used
    ]
    light = (f"{rule}{{{each.colored}:{each.light};{each.fixed}}}\n" for rule, each in rules)
    dark = (f"{rule}{{{each.colored}:{each.dark}}}\n" for rule, each in rules)
    return f"\n{''.join(light)}@media (prefers-color-scheme:dark){{\n{''.join(dark)}}}\n"


_ROOT: Final = "indexing-picture"
"""The class of a picture, within which its styles hold: a page may show several."""


class Style(NamedTuple):
    """The colored property of a class, its colors on each background, and its other properties."""

    colored: str
    light: str
    dark: str
    fixed: str = ""


_INK: Final = ("fill", "#1b1f24", "#e8ebee")
_FINE: Final = "fill:none;stroke-width:1"
_THICK: Final = "fill:none;stroke-width:1.5;stroke-linecap:square"


def _scale(light: str, dark: str) -> tuple[Style, ...]:
    """Grounds of cells by number, on a light and on a dark background."""
    return tuple(Style("fill", *each) for each in zip(light.split(), dark.split(), strict=True))


TILES: Final = _scale(
    "#dcf1d5 #60aade #f4a29e #cdd77d #f5d5e5 #93ab57 #b5a1ac",
    "#32377d #6e2404 #4c6958 #70598c #4f3338 #595965 #a0452b",
)
"""The colors of tiles; far apart for the color-blind, too."""

NUMBERS: Final = _scale(
    "#cfe3f7 #fbe3b8 #d3edce #f3d3e3 #e0d7f3 #cdeeee #e8e4d8 #f7d9cf",
    "#1f4566 #5e4716 #24502b #5c2a47 #413066 #1a4f52 #47443a #66301f",
)
"""As many colors as CuTe's pictures have."""

HEAT: Final = _scale(
    "#cfe3f7 #9ecae1 #6baed6 #3182bd #08519c", "#173a5e #1f5c96 #3a86c0 #7fb8e3 #cfe3f7"
)
"""One hue from pale to strong: people who see few colors tell its steps apart, and orange."""

HATCH: Final = "hatch"
"""The class of padding, whose cells are hatched."""

STYLES: Final[Mapping[str, Style]] = {
    "ground": Style("fill", "#ffffff", "#14181d"),
    "text": Style(*_INK, "font:13px system-ui,sans-serif"),
    "label": Style("fill", "#57606a", "#a3adb8", "font-size:12px"),
    "shape": Style(*_INK, "font:600 15px ui-monospace,monospace"),
    "edge": Style("stroke", "#ffffff", "#14181d", _FINE),
    HATCH: Style("stroke", "#c2c8ce", "#4a545e", _FINE),
    "outline0": Style(
        "stroke", "#1b1f24", "#e8ebee", "fill:none;stroke-width:2.5;stroke-linecap:square"
    ),
    "outline1": Style("stroke", "#d55e00", "#ff8a3d", _THICK),
    "outline2": Style("stroke", "#0072b2", "#4aa8ff", _THICK),
    **{f"tile{number}": style for number, style in enumerate(TILES)},
    **{f"color{number}": style for number, style in enumerate(NUMBERS)},
    "untouched": Style("fill", "#eceff2", "#242b33"),
    "chosen": Style("fill", "#f2a33a", "#c27a14"),
    **{f"heat{number}": style for number, style in enumerate(HEAT, 1)},
    "on-light": Style(*_INK, "font-size:12px"),
    "on-dark": Style("fill", "#ffffff", "#14181d", "font-size:12px"),
    "wanted": Style("fill", "#3182bd", "#7fb8e3"),
    "shared": Style("fill", "#08519c", "#cfe3f7"),
    "loaded": Style("fill", "#f6d9a8", "#6b4a16"),
    "thread": Style("fill", "#ffffff", "#14181d", "font-size:11px"),
    "box": Style("fill", "#eceff2", "#242b33"),
    "source": Style("fill", "#fbe3b8", "#5e4716"),
    "way": Style("stroke", "#8a949e", "#6b7682", "fill:none;stroke-width:1.5"),
    "map": Style("fill", "#08519c", "#9ecae1", "font-size:12px"),
}
"""The styles of all pictures by class, and of texts without one."""
