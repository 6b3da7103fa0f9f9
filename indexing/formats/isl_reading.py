"""isl's relations read as results and constraints, which are what a map is made of.

An output that is determined by what comes before it becomes an expression. Any other one becomes a
range variable that runs over its values: over the few in a window, where that moves along.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.exact.points import EVERYTHING, extent
from indexing.exact.reading import limits_of
from simplifier import Interval
from simplifier.bounds.interval import INFINITY
from simplifier.exact import Space
from simplifier.exact.isl import integer, load_isl
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import ZERO, Form
from simplifier.extraction.cost import cost_of_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy

    from indexing.domain import Constraint
    from simplifier.bounds.interval import Infinity

_MOST_PIECES: Final = 8
"""Of more pieces of a function none are joined."""

_NEVER: Final = (ZERO, Interval(1, 1))


class Reading(NamedTuple):
    """A relation in terms of places: those of its inputs, and ``s0 s1 ...`` for ranges."""

    results: list[Form]
    ranges: dict[str, int]
    """The ranges, each with the number of the output whose values it counts."""

    constraints: list[Constraint]
    """Where there are results; among it the bounds of all inputs and ranges."""


def read_relation(relation: islpy.Map, places: Sequence[str]) -> Reading:
    """A relation without parameters; its inputs are called by the places.

    Costs some integer programmes for each output.
    """
    reader = _Reader(relation, places)
    results = reader.functions()
    if results is None:
        results = [reader.next_result(number) for number in range(_outputs(relation))]
    return Reading(results, reader.ranges, reader.constraints())


class _Part(NamedTuple):
    """The value that a function has at some of its points."""

    value: Form
    where: islpy.Set


class _Counter(NamedTuple):
    """An output as ``base + step * range``, and how many values the range then has."""

    base: Form
    step: int
    values: int | Infinity

    @property
    def order(self) -> tuple[int | Infinity, int]:
        """The fewer values and the simpler, the better."""
        return self.values, cost_of_form(self.base)


class _Reader:
    """What is left of a relation between inputs and ranges that have places, and outputs."""

    def __init__(self, left: islpy.Map, places: Sequence[str]) -> None:
        self._left = left
        self._space = Space(dict.fromkeys(places, EVERYTHING), left.get_ctx())
        self.ranges: dict[str, int] = {}

    def functions(self) -> list[Form] | None:
        """All outputs, if the inputs determine them."""
        results = self._functions(self._left)
        if results is not None:
            self._left = self._left.project_out(load_isl().dim_type.out, 0, len(results))
        return results

    def next_result(self, number: int) -> Form:
        """The first of the outputs that are left."""
        kind = load_isl().dim_type.out
        first = self._left.project_out(kind, 1, _outputs(self._left) - 1)
        functions = self._functions(first)
        if functions is None:
            counters = self._counters(first)
            return self._counted(min(counters, key=lambda counter: counter.order), number)
        self._left = self._left.project_out(kind, 0, 1)
        return functions[0]

    def constraints(self) -> list[Constraint]:
        """Where the inputs and ranges have outputs."""
        points = self._left.domain().compute_divs().coalesce()
        if points.is_empty():
            return [_NEVER]
        places = self._space.bounds
        bounds = [
            (forms.variable(place), extent(points, number)) for number, place in enumerate(places)
        ]
        return [*bounds, *_limits(points, self._space)]

    # Functions.

    def _functions(self, values: islpy.Map) -> list[Form] | None:
        """The outputs as expressions; ``None`` if one is not determined, or by many cases."""
        if not values.is_single_valued():
            return None
        function = load_isl().PwMultiAff.from_map(values)
        found = [self._merged(function.get_pw_aff(place)) for place in range(_outputs(values))]
        results = [form for form in found if form is not None]
        return results if len(results) == len(found) else None

    def _merged(self, function: islpy.PwAff) -> Form | None:
        """The only piece of a function, or the extrema that its pieces come to."""
        domain = function.domain()
        pieces = function.coalesce().gist(domain).coalesce().get_pieces()
        parts = [
            _Part(self._space.form_of(part), where.intersect(domain)) for where, part in pieces
        ]
        if not parts:
            return ZERO
        while 1 < len(parts) <= _MOST_PIECES and (joined := _joined(self._space, parts)):
            parts = joined
        return parts[0].value if len(parts) == 1 else self._by_cases(function, parts)

    def _by_cases(self, function: islpy.PwAff, parts: Sequence[_Part]) -> Form | None:
        """The greatest of the parts, each pressed down to the least value outside its place."""
        lower, upper = self._space.extent(function).ends
        if not isinstance(lower, int) or not isinstance(upper, int):
            return None
        domain = function.domain()
        depths = [_depth(part.where.gist(domain), self._space) for part in parts]
        return operations.maximum(
            operations.minimum((part.value, depth.times(upper - lower).plus_constant(upper)))
            for part, depth in zip(parts, depths, strict=True)
        )

    # Ranges.

    def _counters(self, values: islpy.Map) -> Iterator[_Counter]:
        """Ways in which a range may run over the values of the only output."""
        everything = values.range()
        ends, step = extent(everything, 0), max(1, integer(everything.get_stride(0)))
        size = INFINITY if ends.size is None else (ends.size - 1) // step + 1
        start = ends.lower if ends.lower is not None else ends.upper
        if step == 1 or start is None:
            yield _Counter(ZERO, 1, size)
        else:
            yield _Counter(forms.constant(start), step, size)
        if _is_window(values):
            yield from self._windows(values)

    def _windows(self, values: islpy.Map) -> Iterator[_Counter]:
        """Counting from the first value up, and from the last one down."""
        lowest, highest = values.dim_min(0), values.dim_max(0)
        step = max(1, integer(values.get_range_stride_info(0).get_stride()))
        width = self._space.extent(highest.sub(lowest)).upper
        size = INFINITY if width is None else width // step + 1
        for end, towards in ((lowest, step), (highest, -step)):
            base = self._merged(end)
            if base is not None:
                yield _Counter(base, towards, size)

    def _counted(self, counter: _Counter, number: int) -> Form:
        """A new range as the last input in place of the first output."""
        place = f"s{len(self.ranges)}"
        self.ranges[place] = number
        old = list(self._space.bounds)
        self._space = Space(dict.fromkeys([*old, place], EVERYTHING), self._left.get_ctx())
        result = forms.variable(place).times(counter.step).plus(counter.base)
        kind = load_isl().dim_type
        moved = self._left.move_dims(kind.in_, len(old), kind.out, 0, 1)
        values = _tuple(self._space, [*map(forms.variable, old), result])
        self._left = moved.preimage_domain_pw_multi_aff(values)
        return result


def _outputs(relation: islpy.Map) -> int:
    return relation.dim(load_isl().dim_type.out)


def _is_window(values: islpy.Map) -> bool:
    """Whether the only output lies between ends that the inputs tell."""
    kind = load_isl().dim_type
    inputs = values.dim(kind.in_)
    line = values.move_dims(kind.param, 0, kind.in_, 0, inputs).range()
    return line.dim_has_lower_bound(kind.set, 0) and line.dim_has_upper_bound(kind.set, 0)


def _tuple(space: Space, wanted: Sequence[Form]) -> islpy.PwMultiAff:
    """The forms side by side as a function of the variables of the space."""
    first, *others = map(load_isl().PwMultiAff.from_pw_aff, space.expressions(wanted))
    for other in others:
        first = first.flat_range_product(other)
    return first


def _joined(space: Space, parts: list[_Part]) -> list[_Part] | None:
    """The parts with some two of them as one extremum, if two can be."""
    for one, other in combinations(parts, 2):
        for extremum in (operations.maximum, operations.minimum):
            value = extremum((one.value, other.value))
            if all(space.agree(value, part.value, part.where) for part in (one, other)):
                rest = [part for part in parts if part is not one and part is not other]
                return [*rest, _Part(value, one.where.union(other.where).coalesce())]
    return None


# Constraints.


def _limits(points: islpy.Set, space: Space) -> Iterator[Constraint]:
    """What holds for exactly the points: of several pieces what they share, and that it is one."""
    pieces = points.get_basic_sets()
    hull = pieces[0] if len(pieces) == 1 else points.simple_hull()
    yield from limits_of(hull, space)
    if len(pieces) > 1:
        rest = points.gist(load_isl().Set.from_basic_set(hull)).coalesce()
        yield _depth(rest, space), Interval(0, None)


def _depth(points: islpy.Set, space: Space) -> Form:
    """A form that is negative exactly outside of a set that is not empty."""
    return operations.maximum(
        _depth_of_piece(piece, space) for piece in points.compute_divs().get_basic_sets()
    )


def _depth_of_piece(piece: islpy.BasicSet, space: Space) -> Form:
    depths: list[Form] = []
    for form, interval in limits_of(piece, space):
        depths += [form.plus_constant(-end) for end in (interval.lower,) if end is not None]
        depths += [-form.plus_constant(-end) for end in (interval.upper,) if end is not None]
    return operations.minimum(depths) if depths else ZERO
