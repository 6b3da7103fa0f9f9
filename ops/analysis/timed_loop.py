"""The maps of a counted loop through time: one iteration, none, or any number of them.

Where iterations are left to be walked, their number stands behind the index of an element. So one
iteration is a map from ``(..., n)`` to ``(..., n - 1)``, which may use the counter of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing import IndexingMap, Variable
from ops.dependence.operand_indexing import (
    OperandIndexing,
    devices_in,
    for_any_values,
    joint_form,
    separate_form,
)
from ops.index_maps import constrained, dim, dimensions_of, index_map, symbol
from ops.rules.op_indexing import Direction
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ops.analysis.dataflow import Array
    from ops.analysis.windows import UpdateWindow
    from ops.rules.counted_loops import CountedLoop
    from simplifier.expr.form import Form


@dataclass(frozen=True, slots=True)
class TimedLoop:
    """A counted loop, followed in one direction: its state, and what stays in place there."""

    counted: CountedLoop
    arrays: Sequence[Array]
    kept: Collection[int]
    direction: Direction
    windows: Mapping[int, UpdateWindow]

    @property
    def is_backward(self) -> bool:
        """Whether walks lead from results to operands."""
        return self.direction is Direction.OUTPUT_TO_INPUT

    @property
    def trips(self) -> int:
        """The number of iterations."""
        return self.counted.trip_count

    def sizes(self, number: int) -> tuple[int, ...]:
        """The sizes of an array of the state."""
        instruction, element = self.arrays[number]
        return instruction.shape.arrays[element].dimensions

    def timed(self, number: int) -> list[Interval]:
        """The extents of the elements of an array, and how many iterations may be left."""
        extents = [Interval(0, size - 1) for size in self.sizes(number)]
        return [*extents, Interval(0, self.trips)]

    def index(self, number: int) -> list[Form]:
        """An element of an array, and how many iterations are left, as variables."""
        return [*map(dim, range(len(self.sizes(number)) + 1))]

    # One iteration.

    def step(self, indexing: OperandIndexing) -> OperandIndexing:
        """One iteration, from what a map of the body says of any of them."""
        own = indexing.map
        left = dim(len(own.dims))
        value = self.counted.induction.after(left - 1 if self.is_backward else -left + self.trips)
        loop = self.counted.instruction
        known = {n: value for n, origin in enumerate(indexing.runtime) if origin.loop is loop}
        extended = _extended(indexing, [left - 1], dims=[Interval(1, self.trips)])
        devices = devices_in([indexing])
        joint = joint_form(extended, devices, known).for_any_values()
        return separate_form(joint, devices, indexing.element)

    def stay(self, number: int) -> OperandIndexing:
        """One iteration of an array that is kept."""
        *index, left = self.index(number)
        extents = [*self.timed(number)[:-1], Interval(1, self.trips)]
        return OperandIndexing(index_map([*index, left - 1], extents))

    # Any number of iterations.

    def at_once(self, number: int) -> OperandIndexing:
        """No iteration."""
        extents = self.timed(number)
        return OperandIndexing(index_map(self.index(number), extents))

    def moved(self, number: int, shift: Sequence[int]) -> OperandIndexing:
        """Iterations that each move elements by as much."""
        extents = self.timed(number)
        *index, left = self.index(number)
        after = symbol(0)
        moved = [each + (left - after) * by for each, by in zip(index, shift, strict=True)]
        within = [*zip(moved, extents, strict=False), (left - after, extents[-1])]
        return OperandIndexing(index_map([*moved, after], extents, extents[-1:], within))

    def spared(self, number: int, window: UpdateWindow) -> OperandIndexing:
        """One iteration or more, of the elements that none of them overwrites."""
        extents = self.timed(number)
        *index, left = self.index(number)
        after = symbol(0)
        first, last = (
            (after, left - 1)
            if self.is_backward
            else (-left + self.trips, -after + (self.trips - 1))
        )
        within = [
            (window.outside(first, last), Interval(1, None)),
            (left - after, Interval(1, self.trips)),
        ]
        return OperandIndexing(index_map([*index, after], extents, extents[-1:], within))

    def itself(self, number: int) -> OperandIndexing:
        """An array, without time."""
        sizes = self.sizes(number)
        return OperandIndexing(index_map(dimensions_of(sizes), sizes))

    def after(self, indexing: OperandIndexing, count: int, period: int) -> OperandIndexing:
        """A number of iterations, or so many more as are a multiple of a period."""
        left = dim(len(indexing.map.dims))
        if not period:
            times = Interval(count, self.trips)
            return _extended(indexing, [left - count], dims=[times])
        times, after = Interval(0, self.trips), symbol(len(indexing.map.ranges))
        wide = _extended(indexing, [after], dims=[times], ranges=[times])
        more = left - after - count
        timed = constrained(wide.map, more, times)
        multiple = operations.mod(more, forms.constant(period))
        return replace(wide, map=constrained(timed, multiple, Interval(0, 0)))

    def some_time(self, indexing: OperandIndexing) -> OperandIndexing:
        """Any number of iterations, from a map of all of them."""
        left, after = dim(len(indexing.map.dims)), symbol(len(indexing.map.ranges))
        times = Interval(0, self.trips)
        wide = _extended(indexing, [after], dims=[times], ranges=[times])
        return replace(wide, map=constrained(wide.map, left - after, times))

    def ever(self, indexing: OperandIndexing) -> OperandIndexing:
        """The same, ending when any number of iterations is left."""
        after = symbol(len(indexing.map.ranges))
        return _extended(indexing, [after], ranges=[Interval(0, self.trips)])

    def whenever(self, indexing: OperandIndexing) -> OperandIndexing:
        """The same, beginning when any number of iterations is left."""
        return _extended(indexing, dims=[Interval(0, self.trips)])


def for_any_iteration(indexing: OperandIndexing) -> OperandIndexing:
    """The indexing in any iteration; clamped and divided counters may have any value there."""
    if not indexing.runtime:
        return indexing
    found = for_any_values(indexing)
    own = found.map
    free = [each.bounds for each in own.domain.ranges]
    results: list[Form] = []
    for form, bounds in zip(own.forms, own.result_bounds(), strict=True):
        if _is_affine_in_ranges(form, len(own.domain.ranges)):
            results.append(form)
        else:
            results.append(symbol(len(free)))
            free.append(bounds)
    affine = [each for each in own.domain.constraints if _is_affine_in_ranges(each[0], len(free))]
    domain = replace(own.domain, ranges=tuple(map(Variable, free)), constraints=())
    relaxed = IndexingMap.from_forms(results, domain.constrained(affine))
    return replace(found, map=relaxed.simplify())


def _is_affine_in_ranges(form: Form, count: int) -> bool:
    """Whether no quotient or extremum has a range in it."""
    ranges = {f"s{number}" for number in range(count)}
    inner = (argument for atom in form.terms for argument in atom.arguments)
    return ranges.isdisjoint(forms.variables_of(inner))


def _extended(
    indexing: OperandIndexing,
    results: Sequence[Form] = (),
    *,
    dims: Sequence[Interval] = (),
    ranges: Sequence[Interval] = (),
) -> OperandIndexing:
    """The indexing with more results, and more variables behind its dimensions and ranges."""
    own = indexing.map
    wider = replace(
        own.domain,
        dims=(*own.domain.dims, *map(Variable, dims)),
        ranges=(*own.domain.ranges, *map(Variable, ranges)),
    )
    return replace(indexing, map=IndexingMap.from_forms((*own.forms, *results), wider))
