"""Line plots on logarithmic axes, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 420
LEFT, RIGHT, TOP, BOTTOM = 72, 30, 94, 48
FONT: Final = 'font-family="system-ui, sans-serif" font-size="13" fill="#333"'
GUIDE: Final = 'stroke="#999" stroke-dasharray="5 5"'
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Colours that people with colour blindness can distinguish."""


@dataclass(frozen=True, slots=True)
class Line:
    """Named points of size and seconds, the sizes ascending."""

    name: str
    points: Sequence[tuple[float, float]]


def log_log(title: str, horizontal: str, lines: Sequence[Line]) -> str:
    """Seconds by size, and a dashed line of proportional growth."""
    axes = _Axes.around([point for line in lines for point in line.points])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="16" font-weight="600">{escape(title)}</text>',
        *_grid(axes, horizontal),
        *_proportional(axes),
    ]
    for place, line in enumerate(lines):
        colour = COLOURS[place % len(COLOURS)]
        parts += _line(axes, line, colour)
        parts += _key(line.name, place, f'stroke="{colour}" stroke-width="2"')
    parts += _key("in proportion to the size", len(lines), GUIDE)
    return "\n".join([*parts, "</svg>"]) + "\n"


@dataclass(frozen=True, slots=True)
class _Axes:
    """The first and last power of ten of each axis."""

    left: int
    right: int
    bottom: int
    top: int

    @classmethod
    def around(cls, points: Sequence[tuple[float, float]]) -> _Axes:
        """Axes that hold all points."""
        sizes, seconds = zip(*points, strict=True)
        return cls(
            floor(log10(min(sizes))),
            ceil(log10(max(sizes))),
            floor(log10(min(seconds))),
            ceil(log10(max(seconds))),
        )

    def place(self, size: float, seconds: float) -> tuple[float, float]:
        """Where a point is drawn."""
        across = (log10(size) - self.left) / max(1, self.right - self.left)
        up = (log10(seconds) - self.bottom) / max(1, self.top - self.bottom)
        return (
            round(LEFT + across * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP), 1),
        )


def _grid(axes: _Axes, horizontal: str) -> Iterator[str]:
    """A line and a number for every power of ten."""
    for power in range(axes.left, axes.right + 1):
        (x, low), (_, high) = (axes.place(10**power, 10**end) for end in (axes.bottom, axes.top))
        yield f'<path d="M{x} {low}V{high}" stroke="#e3e3e3"/>'
        yield f'<text x="{x}" y="{low + 20}" text-anchor="middle">{10**power:,}</text>'
    for power in range(axes.bottom, axes.top + 1):
        (x, y), (end, _) = (axes.place(10**side, 10.0**power) for side in (axes.left, axes.right))
        yield f'<path d="M{x} {y}H{end}" stroke="#e3e3e3"/>'
        yield f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{_duration(power)}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(horizontal)}</text>'


def _duration(power: int) -> str:
    """Ten to this power, in seconds or a smaller unit."""
    unit, name = next(
        (u, n) for u, n in ((0, "s"), (-3, "ms"), (-6, "µs"), (-9, "ns")) if power >= u
    )
    return f"{10 ** (power - unit)} {name}"


def _proportional(axes: _Axes) -> Iterator[str]:
    """A dashed line of slope one through the lower left corner."""
    decades = min(axes.right - axes.left, axes.top - axes.bottom)
    x, y = axes.place(10**axes.left, 10.0**axes.bottom)
    right, top = axes.place(10 ** (axes.left + decades), 10.0 ** (axes.bottom + decades))
    yield f'<path d="M{x} {y}L{right} {top}" {GUIDE}/>'


def _line(axes: _Axes, line: Line, colour: str) -> Iterator[str]:
    places = [axes.place(*point) for point in line.points]
    path = "L".join(f"{x} {y}" for x, y in places)
    yield f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"/>'
    yield from (f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places)


def _key(name: str, place: int, stroke: str) -> Iterator[str]:
    """The name beside a sample of the line, two names a row."""
    x, y = LEFT + (place % 2) * 320, 46 + (place // 2) * 18
    yield f'<path d="M{x} {y - 4}h22" {stroke}/>'
    yield f'<text x="{x + 28}" y="{y}">{escape(name)}</text>'
