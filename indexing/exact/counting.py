"""Counts the points of a set without looking at each.

isl has no closed form for this. The set is split into disjoint polytopes, in which quotients are
coordinates of their own, and each polytope into factors that share no inequality. Coordinates that
others determine are projected out. A factor with one or two coordinates has a closed form; any
other is cut into slices across its thinnest direction.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.exact import few_points
from indexing.exact.boxes import box_size, lone_box
from indexing.exact.isl_sets import check_bounded, coordinates, graph_of, points_of, rank_of
from indexing.relation import check_without_parameters
from simplifier import Interval
from simplifier.exact.budget import asked
from simplifier.exact.isl import integer, load_isl, number
from simplifier.tools.disjoint_set import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import islpy

    from indexing.relation import Relation
    from simplifier.exact import Budget, Space


_PLANE: Final = 2


def number_of_points(relation: Relation, budget: Budget) -> int:
    """The number of points of a domain without parameters.

    Raises:
        MapError: a variable is not bounded.
    """
    check_without_parameters(relation, "count")

    def count(space: Space) -> int:
        points = points_of(relation, space.context)
        check_bounded(points, relation.domain.names, "count")
        return count_points(points)

    return asked(count, budget, otherwise=lambda most: few_points.count(relation, most))


def number_of_results(relation: Relation, budget: Budget) -> int:
    """The number of different elements that a relation without parameters reaches.

    Raises:
        MapError: a result is not bounded.
    """
    check_without_parameters(relation, "count_results")
    names = [f"result {number}" for number in range(len(relation.forms))]

    def count(space: Space) -> int:
        graph = graph_of(relation, space.context)
        reached = graph.range()
        check_bounded(reached, names, "count_results")
        # Of a map that reaches nothing twice it is far less work to count the points.
        return count_points(graph.domain() if graph.is_injective() else reached)

    return asked(count, budget, otherwise=lambda most: few_points.count_results(relation, most))


def count_points(points: islpy.Set) -> int:
    """The number of points of a bounded set.

    Costs time for each slice if more than two coordinates depend on each other.
    """
    lone = None if points.is_empty() else lone_box(points)
    return _count_pieces(points) if lone is None else box_size(lone) or 0


def _count_pieces(points: islpy.Set) -> int:
    disjoint = points.coalesce().compute_divs().make_disjoint()
    return sum(_count(piece.lift().flatten()) for piece in disjoint.get_basic_sets())


def _count(polytope: islpy.BasicSet) -> int:
    """The number of points of a conjunction without quotients."""
    polytope = polytope.detect_equalities().remove_redundancies()
    if polytope.is_empty():
        return 0
    axis = _determined_axis(polytope)
    if axis is not None:
        return _count_pieces(polytope.project_out(coordinates(), axis, 1).to_set())
    factors = [_factor(polytope, axes) for axes in _independent_axes(polytope)]
    return prod(map(_count_factor, factors))


def _count_factor(polytope: islpy.BasicSet) -> int:
    """The number of points of a polytope that has some and cannot be split further."""
    if rank_of(polytope) > _PLANE:
        return sum(map(_count, _slices(polytope)))
    line = polytope.to_set()
    first, last = integer(line.dim_min_val(0)), integer(line.dim_max_val(0))
    if rank_of(polytope) < _PLANE:
        return last - first + 1
    return points_in_polygon(map(_half_plane, polytope.get_constraints()), first, last)


def _half_plane(row: islpy.Constraint) -> HalfPlane:
    x_factor, y_factor = _factors(row)
    return HalfPlane(x_factor, y_factor, integer(row.get_constant_val()))


# Coordinates.


def _determined_axis(polytope: islpy.BasicSet) -> int | None:
    """A coordinate that an equation determines, if possible without a division."""
    equations = [_factors(row) for row in polytope.get_constraints() if row.is_equality()]
    candidates = (
        (abs(factor), axis)
        for factors in equations
        for axis, factor in enumerate(factors)
        if factor
    )
    return min(candidates, default=(0, None))[1]


def _independent_axes(polytope: islpy.BasicSet) -> list[list[int]]:
    """The coordinates in groups, such that no inequality involves two groups."""
    involved = [
        {axis for axis, factor in enumerate(_factors(row)) if factor}
        for row in polytope.get_constraints()
    ]
    alone = ({axis} for axis in range(rank_of(polytope)))
    return [sorted(group) for group in united([*alone, *filter(None, involved)])]


def _factor(polytope: islpy.BasicSet, axes: Sequence[int]) -> islpy.BasicSet:
    """The inequalities between these coordinates alone."""
    for axis in reversed(range(rank_of(polytope))):
        if axis not in axes:
            polytope = polytope.drop_constraints_involving_dims(coordinates(), axis, 1)
            polytope = polytope.project_out(coordinates(), axis, 1)
    return polytope


def _factors(row: islpy.Constraint) -> list[int]:
    """The coefficients of the coordinates."""
    kind = coordinates()
    return [integer(row.get_coefficient_val(kind, axis)) for axis in range(row.dim(kind))]


# Slices.


class _SliceDirection(NamedTuple):
    """A sum of coordinates, and its values; ``number`` breaks ties."""

    width: int
    number: int
    sum: islpy.Aff
    values: Interval


def _slices(polytope: islpy.BasicSet) -> Iterator[islpy.BasicSet]:
    """The slices in which the sum with the fewest values has one of them."""
    rows = polytope.get_constraints()
    thinnest = min(_direction(polytope, index, row) for index, row in enumerate(rows))
    for value in thinnest.values:
        offset = thinnest.sum.add_constant_val(number(-value, polytope.get_ctx()))
        yield polytope.add_constraint(load_isl().Constraint.equality_from_aff(offset))


def _direction(
    polytope: islpy.BasicSet, number_of_row: int, row: islpy.Constraint
) -> _SliceDirection:
    """The sum that an inequality bounds."""
    total = row.get_aff().set_constant_val(number(0, polytope.get_ctx()))
    lower, upper = (integer(polytope.max_val(side)) for side in (total.neg(), total))
    return _SliceDirection(upper + lower, number_of_row, total, Interval(-lower, upper))


# The number of integer points in a polygon, in closed form however large it is.


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
