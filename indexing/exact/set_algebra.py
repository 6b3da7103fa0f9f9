"""The value behind an index set, and its algebra: on boxes in closed form, else by isl."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.errors import MapError
from indexing.exact import box_algebra
from indexing.exact.boxes import box_set
from indexing.exact.isl_sets import EVERYTHING, rank_of, slice_at
from indexing.exact.set_reading import Reading, SetNames, reading_of_boxes, reading_of_points
from indexing.exact.set_values import coordinates_of, isl_of, parameters_last
from indexing.formats.isl_text import isl_set, readable
from simplifier.exact import BUDGET, Space, kept_context
from simplifier.exact.budget import asked_of_kept
from simplifier.exact.isl import load_isl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import islpy

    from indexing.exact.box_algebra import Boxes
    from simplifier.exact import Budget


class SetValue:
    """A set as boxes, as isl's set in the context that is kept, or as what was read off one.

    It is immutable; what it says in another way is found once, when it is needed.
    """

    __slots__ = ("_is_by_hand", "_points", "_reading", "boxes", "names")

    def __init__(
        self,
        names: SetNames,
        boxes: Boxes | None = None,
        points: islpy.Set | None = None,
        reading: Reading | None = None,
        *,
        is_by_hand: bool = False,
    ) -> None:
        self.names = names
        self.boxes = boxes
        self._points = points
        self._reading = reading
        self._is_by_hand = is_by_hand  # then a piece may have no points

    def renamed(self, names: SetNames) -> SetValue:
        """The same elements with other names of the coordinates."""
        return SetValue(names, self.boxes, self.points() if self.boxes is None else None)

    @property
    def reading(self) -> Reading:
        """The hull, the pieces and the boxes."""
        if self._reading is None:
            if self.boxes is not None:
                self._reading = reading_of_boxes(self.boxes, self.names)
            else:
                self._reading = asked_of_kept(self._read)
        return self._reading

    def _read(self, context: islpy.Context) -> Reading:
        points = parameters_last(self.points_in(context), self.names)
        return reading_of_points(points, Space({}, context), self.names)

    def points(self) -> islpy.Set:
        """Isl's set in the context that is kept."""
        return asked_of_kept(self.points_in)

    def points_in(self, context: islpy.Context) -> islpy.Set:
        """Isl's set, in a question that is asked in the context that is kept."""
        if self._points is None:
            self._points = self._made_in(context)
        return self._points

    def _made_in(self, context: islpy.Context) -> islpy.Set:
        if self.boxes is None:
            return isl_of(self.names, self.reading.pieces, context)
        space = Space(dict.fromkeys(map(str, range(self.rank)), EVERYTHING), context)
        nothing = load_isl().Set.empty(space.domain().get_space())
        return reduce(lambda union, box: union.union(box_set(box, context)), self.boxes, nothing)

    @property
    def rank(self) -> int:
        """The number of coordinates."""
        return len(self.names.coordinates)

    def is_empty(self, budget: Budget) -> bool:
        """Whether there is no element."""
        if self.boxes is not None:
            return not self.boxes
        if self._reading is not None and not (self._is_by_hand and self._reading.pieces):
            return not self._reading.pieces
        return asked_of_kept(lambda context: bool(self.points_in(context).is_empty()), budget)


# Sets of sets.


class Operation(NamedTuple):
    """What an operator makes of two sets: of their boxes, and as isl calls it."""

    of_boxes: Callable[[Boxes, Boxes], Boxes | None]
    name_in_isl: str


OPERATIONS: Final = {
    "&": Operation(box_algebra.intersection, "intersect"),
    "|": Operation(box_algebra.union, "union"),
    "-": Operation(box_algebra.difference, "subtract"),
}
"""The operators of sets."""


def value_of_isl(points: str | islpy.Set | islpy.BasicSet, asker: str) -> SetValue:
    """The set that isl's text or object describes; messages begin with the name of the asker.

    Raises:
        TextError: the text is not isl's.
        MapError: it is no set, or a parameter is called as a coordinate is by its place.
    """
    with kept_context() as context:
        found = isl_set(points, context, asker)
    kinds = load_isl().dim_type
    coordinates, parameters = (
        [str(found.get_dim_name(kind, place) or "") for place in range(found.dim(kind))]
        for kind in (kinds.set, kinds.param)
    )
    for name in parameters:
        if name in {f"d{place}" for place in range(len(coordinates))}:
            message = f"{asker}: a parameter is called {name}, as a coordinate is by its place"
            raise MapError(f"{message}; expected another name")
    names = SetNames(tuple(map(readable, coordinates)), (), tuple(sorted(parameters)))
    return SetValue(names, None, found)


def combined(left: SetValue, right: SetValue, operator: str, budget: Budget = BUDGET) -> SetValue:
    """What an operator makes of two sets; names are those of the first."""
    operation = OPERATIONS[operator]
    if left.boxes is not None and right.boxes is not None:
        boxes = operation.of_boxes(left.boxes, right.boxes)
        if boxes is not None:
            return SetValue(left.names, boxes)

    def combine(context: islpy.Context) -> SetValue:
        in_isl = getattr(left.points_in(context), operation.name_in_isl)
        found = in_isl(right.points_in(context))
        return SetValue(left.names.with_those_of(right.names), None, found.coalesce())

    return asked_of_kept(combine, budget)


def difference_from(whole: SetValue, part: SetValue, budget: Budget) -> SetValue:
    """What is left of a whole, with the names of the part."""
    rest = combined(whole, part, "-", budget)
    return rest.renamed(rest.names._replace(coordinates=part.names.coordinates))


def is_subset(left: SetValue, right: SetValue, budget: Budget) -> bool:
    """Whether the second set has all elements of the first."""
    if left.boxes is not None and right.boxes is not None:
        found = box_algebra.is_subset(left.boxes, right.boxes)
        if found is not None:
            return found
    return asked_of_kept(
        lambda context: bool(left.points_in(context).is_subset(right.points_in(context))), budget
    )


def is_equal(left: SetValue, right: SetValue) -> bool:
    """Whether two sets have the same elements."""
    if left.boxes is not None and right.boxes is not None:
        if left.boxes == right.boxes:
            return True
        found = box_algebra.is_subset(left.boxes, right.boxes)
        back = box_algebra.is_subset(right.boxes, left.boxes) if found else found
        if back is not None:
            return back
    return asked_of_kept(
        lambda context: bool(left.points_in(context).is_equal(right.points_in(context)))
    )


def projected(value: SetValue, axes: Sequence[int], budget: Budget) -> SetValue:
    """The values that these coordinates have together."""
    names = value.names._replace(coordinates=tuple(value.names.coordinates[axis] for axis in axes))
    boxes = None if value.boxes is None else box_algebra.projection(value.boxes, axes)
    if boxes is not None:
        return SetValue(names, boxes)

    def project(context: islpy.Context) -> SetValue:
        points, kind = value.points_in(context), load_isl().dim_type.set
        for axis in reversed(range(value.rank)):
            if axis not in axes:
                points = points.project_out(kind, axis, 1)
        return SetValue(names, None, points.coalesce())

    return asked_of_kept(project, budget)


def extreme(value: SetValue, question: str, budget: Budget) -> tuple[int | None, ...]:
    """The first element for ``lexmin``, else the last; ``None`` for a coordinate without end."""
    is_first = question == "lexmin"
    if value.boxes is not None:
        return box_algebra.first(value.boxes) if is_first else box_algebra.last(value.boxes)
    sides = [(each.bounds.lower, each.bounds.upper) for each in value.reading.hull.dims]
    ends = [side[0 if is_first else 1] for side in sides]
    if None in ends:  # isl has an error of its own
        return (*ends[: ends.index(None)], None)

    def ask(context: islpy.Context) -> tuple[int, ...]:
        points = value.points_in(context)
        return coordinates_of(points.lexmin() if is_first else points.lexmax())

    return asked_of_kept(ask, budget)


def fixed(value: SetValue, given: Sequence[int], budget: Budget) -> SetValue:
    """The set for one value of everything that it depends on."""

    def ask(context: islpy.Context) -> SetValue:
        points = parameters_last(value.points_in(context), value.names)
        for number in reversed(given):
            points = slice_at(points, rank_of(points) - 1, number)
        return SetValue(SetNames(value.names.coordinates), None, points)

    return asked_of_kept(ask, budget)
