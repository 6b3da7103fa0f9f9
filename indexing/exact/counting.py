"""How many points a set has, without looking at each.

isl has no closed form for this. A set is parted into disjoint polytopes, where quotients are
coordinates of their own; a polytope into factors that share no inequality. Coordinates that others
determine are left out. What remains of one or two coordinates has a closed form, and anything else
is cut into slices across its thinnest direction.
"""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.exact.boxes import box_size
from indexing.exact.points import coordinates, rank_of
from indexing.exact.polygons import HalfPlane, points_in_polygon
from indexing.exact.slabs import lone_box
from simplifier import Interval
from simplifier.exact.isl import integer, load_isl, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy

_PLANE: Final = 2


def count_points(points: islpy.Set) -> int:
    """The number of points of a bounded set; of a box without parting it.

    Takes time for each slice where more than two coordinates depend on each other.
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
    place = _determined_place(polytope)
    if place is not None:
        return _count_pieces(polytope.project_out(coordinates(), place, 1).to_set())
    factors = [_factor(polytope, places) for places in _independent_places(polytope)]
    return prod(map(_count_factor, factors))


def _count_factor(polytope: islpy.BasicSet) -> int:
    """The number of points, of which there are some, where all coordinates depend on each other."""
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


def _determined_place(polytope: islpy.BasicSet) -> int | None:
    """A coordinate that an equation gives from the others, if possible without a division."""
    equations = [_factors(row) for row in polytope.get_constraints() if row.is_equality()]
    candidates = (
        (abs(factor), place)
        for factors in equations
        for place, factor in enumerate(factors)
        if factor
    )
    return min(candidates, default=(0, None))[1]


def _independent_places(polytope: islpy.BasicSet) -> list[list[int]]:
    """Coordinates by groups, such that no inequality involves two of them."""
    groups = [[place] for place in range(rank_of(polytope))]
    for row in polytope.get_constraints():
        involved = {place for place, factor in enumerate(_factors(row)) if factor}
        touched = [group for group in groups if involved.intersection(group)]
        apart = [group for group in groups if not involved.intersection(group)]
        groups = [*apart, sorted(chain.from_iterable(touched))] if touched else apart
    return groups


def _factor(polytope: islpy.BasicSet, places: Sequence[int]) -> islpy.BasicSet:
    """The inequalities between these coordinates alone."""
    for place in reversed(range(rank_of(polytope))):
        if place not in places:
            polytope = polytope.drop_constraints_involving_dims(coordinates(), place, 1)
            polytope = polytope.project_out(coordinates(), place, 1)
    return polytope


def _factors(row: islpy.Constraint) -> list[int]:
    """The coefficients of the coordinates."""
    kind = coordinates()
    return [integer(row.get_coefficient_val(kind, place)) for place in range(row.dim(kind))]


# Slices.


class _Direction(NamedTuple):
    """A sum of coordinates, and the values it has."""

    width: int
    place: int
    sum: islpy.Aff
    values: Interval


def _slices(polytope: islpy.BasicSet) -> Iterator[islpy.BasicSet]:
    """The parts in which the sum that takes the fewest values has each of them."""
    rows = polytope.get_constraints()
    thinnest = min(_direction(polytope, place, row) for place, row in enumerate(rows))
    for value in thinnest.values:
        offset = thinnest.sum.add_constant_val(number(-value, polytope.get_ctx()))
        yield polytope.add_constraint(load_isl().Constraint.equality_from_aff(offset))


def _direction(polytope: islpy.BasicSet, place: int, row: islpy.Constraint) -> _Direction:
    """The sum that an inequality limits."""
    total = row.get_aff().set_constant_val(number(0, polytope.get_ctx()))
    lower, upper = (integer(polytope.max_val(side)) for side in (total.neg(), total))
    return _Direction(upper + lower, place, total, Interval(-lower, upper))
