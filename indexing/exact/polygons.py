"""The number of integer points in a polygon, in closed form however large it is."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class HalfPlane(NamedTuple):
    """The points ``(x, y)`` with ``x_factor * x + y_factor * y + constant >= 0``."""

    x_factor: int
    y_factor: int
    constant: int


class Line(NamedTuple):
    """The values ``(slope * x + constant) / divisor``."""

    slope: int
    constant: int
    divisor: int

    def at(self, x: int) -> Fraction:
        """The exact value at ``x``."""
        return Fraction(self.slope * x + self.constant, self.divisor)

    @property
    def steepness(self) -> Fraction:
        """What the value gains where ``x`` gains 1."""
        return Fraction(self.slope, self.divisor)


def points_in_polygon(sides: Iterable[HalfPlane], first: int, last: int) -> int:
    """How many integer points lie in all half-planes, with ``first <= x <= last``.

    The half-planes must leave some real ``y`` for each such ``x``, and bound it on both sides.

    >>> triangle = [HalfPlane(0, 1, 0), HalfPlane(1, -1, 0)]  # 0 <= y <= x
    >>> points_in_polygon(triangle, 0, 9)
    55
    >>> points_in_polygon(triangle, 0, 2**40) == (2**40 + 1) * (2**40 + 2) // 2
    True
    """
    above: list[Line] = []
    below: list[Line] = []
    for x_factor, y_factor, constant in sides:
        if y_factor:
            line = Line(x_factor, constant, abs(y_factor))
            (above if y_factor < 0 else below).append(line)
    # From ceil(-a) to floor(b) there are floor(a) + floor(b) + 1 integers, if -a <= b.
    return sum_of_least(above, first, last) + sum_of_least(below, first, last) + last - first + 1


def sum_of_least(lines: Sequence[Line], first: int, last: int) -> int:
    """The sum of the least of the lines' values, rounded down, from ``first`` to ``last``.

    >>> sum_of_least([Line(1, 0, 2), Line(-1, 9, 1)], 0, 9)  # 0 0 1 1 2 2 3 2 1 0
    12
    """
    total = 0
    while first <= last:
        least = min(lines, key=lambda line: (line.at(first), line.steepness))
        end = min([last, *_crossings(least, lines, first)])
        total += _sum_of_line(least, first, end)
        first = end + 1
    return total


def _crossings(least: Line, lines: Iterable[Line], first: int) -> Iterator[int]:
    """Where the least line is lower for the last time, for each line that it will meet."""
    for line in lines:
        closing = least.steepness - line.steepness
        if closing > 0:
            yield first + (line.at(first) - least.at(first)) // closing


def _sum_of_line(line: Line, first: int, last: int) -> int:
    return sum_of_floors(
        last - first + 1, line.slope, line.slope * first + line.constant, line.divisor
    )


def sum_of_floors(count: int, slope: int, constant: int, divisor: int) -> int:
    """The sum of ``floor((slope * i + constant) / divisor)`` for ``0 <= i < count``.

    As many steps as Euclid's algorithm takes for ``slope`` and ``divisor``: what is whole in both
    summands is summed at once, and the points left under the line are counted by columns of its
    mirror image.

    >>> sum_of_floors(10, 3, 1, 4) == sum((3 * i + 1) // 4 for i in range(10))
    True
    """
    total = 0
    while count:
        whole, slope = divmod(slope, divisor)
        start, constant = divmod(constant, divisor)
        total += whole * (count * (count - 1) // 2) + start * count
        height, rest = divmod(slope * count + constant, divisor)
        count, slope, constant, divisor = height, divisor, rest, slope
    return total
