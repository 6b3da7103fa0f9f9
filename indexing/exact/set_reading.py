"""What a set says of itself: its hull, its pieces and its boxes, read off isl's or from boxes."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.domain import Domain
from indexing.exact.boxes import boxes_of, lone_box
from indexing.exact.isl_sets import EVERYTHING, extent
from indexing.simplify import simplified_domain
from indexing.variable import Variable
from simplifier import Interval
from simplifier.exact import BUDGET, Allowance, BudgetError, Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    import islpy

    from indexing.domain import Constraint
    from indexing.exact.boxes import Box
    from simplifier.exact import Budget

MAX_OPERATIONS_FOR_BOXES: Final = 50_000
"""With so many operations boxes are looked for: constraints alone say the same."""


class SetNames(NamedTuple):
    """The names of coordinates, empty where they have none, and of what a set depends on."""

    coordinates: tuple[str, ...]
    runtime: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    @classmethod
    def of(cls, hull: Domain) -> SetNames:
        """The names of a hull's variables."""
        given = tuple(variable.given_name for variable in hull.dims)
        _, _, runtime = hull.by_role(hull.names)
        return cls(given, runtime, tuple(parameter.name for parameter in hull.parameters))

    @property
    def given(self) -> tuple[str, ...]:
        """What the set depends on."""
        return self.runtime + self.parameters

    def with_those_of(self, other: Self) -> SetNames:
        """The coordinates, and what either set depends on."""
        runtime = (*self.runtime, *(each for each in other.runtime if each not in self.runtime))
        parameters = {*self.parameters, *other.parameters}.difference(runtime)
        return SetNames(self.coordinates, runtime, tuple(sorted(parameters)))

    def hull(self, bounds: Sequence[Interval]) -> Domain:
        """The variables with these bounds, in order.

        A coordinate that is called as what the set depends on is called after its place.
        """
        coordinates = ("" if name in self.given else name for name in self.coordinates)
        called = (*coordinates, *self.runtime, *self.parameters)
        variables = [*map(Variable, bounds, called)]
        rank, behind = len(self.coordinates), len(self.coordinates) + len(self.runtime)
        return Domain.of(variables[:rank], (), variables[rank:behind], (), variables[behind:])


class Reading(NamedTuple):
    """The variables within their least bounds, domains that make up the set, and boxes if few."""

    hull: Domain
    pieces: tuple[Domain, ...]
    boxes: tuple[Box, ...] | None = None


def reading_of_boxes(boxes: tuple[Box, ...], names: SetNames) -> Reading:
    """What some disjoint boxes say."""
    hull = names.hull([_around(boxes, axis) for axis in range(len(names.coordinates))])
    return Reading(hull, tuple(_piece_of_box(box, hull) for box in boxes), boxes)


def _around(boxes: Sequence[Box], axis: int) -> Interval:
    """The least interval that holds a coordinate of all boxes."""
    if not boxes:
        return Interval(0, -1)
    lower = [box[axis].lower for box in boxes]
    upper = [box[axis].upper for box in boxes]
    return Interval(
        None if None in lower else min(end for end in lower if end is not None),
        None if None in upper else max(end for end in upper if end is not None),
    )


def reading_of_points(
    points: islpy.Set, space: Space, names: SetNames, budget: Budget = BUDGET
) -> Reading:
    """What a set of isl's says, as a part of a question in a space.

    The last coordinates are what the set depends on. Boxes that take more than a budget of their
    own are left out.
    """
    is_empty = points.is_empty()
    lone = None if names.given or is_empty else lone_box(points)
    if lone is not None:
        return reading_of_boxes((lone,), names)
    axes = range(len(names.coordinates) + len(names.given))
    hull = names.hull([Interval(0, -1) if is_empty else extent(points, axis) for axis in axes])
    # Coalescing may bring quotients in that are not known as such.
    points = points.compute_divs().coalesce().compute_divs()
    pieces = sorted(_pieces(points, hull), key=_order)
    if not names.given:
        own = Allowance(_operations_for_boxes(space.context, budget))
        with suppress(BudgetError), own.attempt({}, space.context):
            boxes = boxes_of(points)
            if boxes is not None:
                return reading_of_boxes(boxes, names)
    return Reading(hull, tuple(pieces))


def _operations_for_boxes(context: islpy.Context, budget: Budget) -> int:
    """How many operations a question may spend on boxes: no more than it has itself.

    With a time, no more than the attempt that this is a part of.
    """
    whole = context.get_max_operations() if isinstance(budget, timedelta) else budget
    return min(MAX_OPERATIONS_FOR_BOXES, whole or MAX_OPERATIONS_FOR_BOXES)


def _pieces(points: islpy.Set, hull: Domain) -> Iterator[Domain]:
    """The conjunctions of a set; ends over parameters take the place of numbers that follow."""
    if hull.parameters:
        hull = hull.with_variables(variable.within(EVERYTHING) for variable in hull)
    space = Space(dict.fromkeys(hull.identifiers, EVERYTHING), points.get_ctx())
    for conjunction in points.get_basic_sets():
        if not conjunction.is_empty():
            yield simplified_domain(hull.constrained(constraints_of(conjunction, space)))


def constraints_of(conjunction: islpy.BasicSet, space: Space) -> Iterator[Constraint]:
    """The equations and inequalities of a conjunction."""
    for row in conjunction.get_constraints():
        if row.is_div_constraint():
            continue
        form = space.form_of(row.get_aff())
        limit = Interval(-form.constant, -form.constant if row.is_equality() else None)
        sum_ = form.plus_constant(-form.constant)
        is_negative = next(iter(sum_.terms.values()), 1) < 0
        yield (-sum_, -limit) if is_negative else (sum_, limit)


def _order(piece: Domain) -> tuple[object, ...]:
    """Sorts pieces by their bounds, then by their texts."""
    texts = [f"{text} in {interval}" for text, (_, interval) in piece.constraint_texts()]
    return [bounds.ends for bounds in piece.bounds.values()], texts


def _piece_of_box(box: Box, hull: Domain) -> Domain:
    """The domain of the points of a box."""
    rows = (
        interval.constraints(axis) for axis, interval in zip(hull.identifiers, box, strict=True)
    )
    return hull.constrained(chain.from_iterable(rows))
