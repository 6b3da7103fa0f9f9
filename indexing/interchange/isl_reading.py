"""isl's relations read as results and constraints, which are what a map is made of.

An output that the others determine becomes an expression; any other one becomes a range variable,
counted from the first value where that leaves it fewer.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier import Interval, operations
from simplifier import form as forms
from simplifier.cost import cost_of_form
from simplifier.exact import Space
from simplifier.exact.space import integer
from simplifier.form import Form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy

    from indexing.domain import Constraint

_EVERYTHING: Final = Interval(None, None)

_MOST_PIECES: Final = 8
"""Functions of more pieces are told by constraints."""


class Reading(NamedTuple):
    """What a relation says: results over places, the ranges among these, and constraints."""

    results: list[Form]
    ranges: dict[str, int]
    """The range variables, each with the number of the output whose values it counts."""

    constraints: list[Constraint]


def read_relation(relation: islpy.Map, places: Sequence[str]) -> Reading:
    """The outputs of a relation without parameters as functions of its inputs, called by places.

    Costs some integer programmes for each output.
    """
    reader = _Reader(relation, list(places))
    results = [reader.next_result(number) for number in range(_rank(relation))]
    return Reading(results, reader.ranges, reader.constraints())


class _Counter(NamedTuple):
    """An output as ``base + step * range``."""

    base: Form
    step: int


class _Reader:
    """Goes through the outputs; ``left`` relates inputs and ranges to those that are left."""

    def __init__(self, left: islpy.Map, places: list[str]) -> None:
        self._left = left
        self._places = places
        self.ranges: dict[str, int] = {}

    @property
    def _space(self) -> Space:
        return Space(dict.fromkeys(self._places, _EVERYTHING), self._left.get_ctx())

    def next_result(self, number: int) -> Form:
        """The first of the outputs that are left."""
        kind = self._space.isl.dim_type.out
        first = self._left.project_out(kind, 1, _rank(self._left) - 1)
        function = self._function(first)
        if function is not None:
            self._left = self._left.project_out(kind, 0, 1)
            return function
        return self._count(self._counter(first), number)

    def _function(self, values: islpy.Map) -> Form | None:
        """The only output as an expression; ``None`` if it is not determined, or in many ways."""
        if not values.is_single_valued():
            return None
        function = self._space.isl.PwMultiAff.from_map(values)
        return self._merged(function.get_pw_aff(0))

    def _merged(self, function: islpy.PwAff) -> Form | None:
        """The only piece of a function, or the extrema that its pieces come to."""
        space, domain = self._space, function.domain()
        if domain.is_empty():
            return forms.ZERO
        pieces = function.coalesce().gist(domain).coalesce().get_pieces()
        if len(pieces) > _MOST_PIECES:
            return None
        parts = [(space.form_of(part), where.intersect(domain)) for where, part in pieces]
        while len(parts) > 1:
            joined = _joined(space, parts)
            if joined is None:
                return None
            parts = joined
        return parts[0][0]

    def _counter(self, values: islpy.Map) -> _Counter:
        """How a range variable runs over the values of the only output."""
        everything = values.range()
        ends = self._space.extent(_only_output(everything))
        step = max(1, integer(everything.get_stride(0)))
        whole = _Counter(forms.constant(ends.lower or 0), step) if step > 1 else _Counter(forms.ZERO, 1)
        lowest, highest = _end(values, "dim_min"), _end(values, "dim_max")
        if lowest is None or highest is None:
            return whole
        width = self._space.extent(highest.sub(lowest)).upper
        if width is None or (ends.size is not None and width // _step(values) >= (ends.size - 1) // step):
            return whole
        sides = ((lowest, _step(values)), (highest, -_step(values)))
        bases = ((self._merged(end), step) for end, step in sides)
        counters = [_Counter(base, step) for base, step in bases if base is not None]
        return min(counters, default=whole, key=lambda counter: cost_of_form(counter.base))

    def _count(self, counter: _Counter, number: int) -> Form:
        """Make a new range variable an input in place of the first output."""
        kind = self._space.isl.dim_type
        inputs = len(self._places)
        place = f"s{len(self.ranges)}"
        self.ranges[place] = number
        old = [forms.variable(name) for name in self._places]
        self._places = [*self._places, place]
        result = forms.variable(place).times(counter.step).plus(counter.base)
        self._left = self._left.move_dims(kind.in_, inputs, kind.out, 0, 1)
        if result != forms.variable(place):
            self._left = self._left.preimage_domain_pw_multi_aff(self._tuple([*old, result]))
        return result

    def _tuple(self, wanted: Sequence[Form]) -> islpy.PwMultiAff:
        """The forms side by side as a function of inputs and ranges."""
        first, *others = map(
            self._space.isl.PwMultiAff.from_pw_aff, self._space.expressions(wanted)
        )
        for other in others:
            first = first.flat_range_product(other)
        return first

    def constraints(self) -> list[Constraint]:
        """Where the inputs and ranges have outputs; bounds of all of them among it."""
        space = self._space
        points = self._left.domain().compute_divs().coalesce()
        pieces = [piece for piece in points.get_basic_sets() if not piece.is_empty()]
        if not pieces:
            return [(forms.ZERO, Interval(1, 1))]
        bounds = [
            (forms.variable(place), space.extent(values.intersect_domain(points)))
            for place, values in zip(
                self._places, space.expressions(map(forms.variable, self._places)), strict=True
            )
        ]
        if len(pieces) == 1:
            return [*bounds, *_limits(space, pieces[0])]
        hull = points.simple_hull()
        return [*bounds, *_limits(space, hull), _union(space, points.gist(space.isl.Set.from_basic_set(hull)))]


def _joined(
    space: Space, parts: list[tuple[Form, islpy.Set]]
) -> list[tuple[Form, islpy.Set]] | None:
    """The pieces with some two of them as one extremum, if there are two such."""
    for one, other in combinations(parts, 2):
        for extremum in (operations.maximum, operations.minimum):
            joined = extremum((one[0], other[0]))
            if all(space.agree(joined, form, where) for form, where in (one, other)):
                rest = [part for part in parts if part is not one and part is not other]
                return [*rest, (joined, one[1].union(other[1]))]
    return None


def _rank(relation: islpy.Map) -> int:
    return relation.range().get_space().dim(_set_kind(relation))
