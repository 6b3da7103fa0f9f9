"""Boxes of strided intervals, and the few boxes that a set of points may consist of."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from math import lcm, prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from indexing.exact.isl_sets import (
    EVERYTHING,
    extent,
    line_of,
    rank_of,
    shifted,
    slice_at,
    values,
)
from simplifier import Interval
from simplifier.exact import Space
from simplifier.exact.isl import integer, load_isl
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy

    from indexing.domain import Constraint


@dataclass(frozen=True, slots=True)
class StridedInterval:
    """Every ``step``-th integer from ``lower`` to ``upper``, which is one of them.

    An end may be ``None`` for unbounded; of a step other than 1 only one may be.

    >>> list(StridedInterval(3, 9, 2)), 5 in StridedInterval(3, 9, 2)
    ([3, 5, 7, 9], True)
    >>> print(StridedInterval(3, 9, 2))
    [3, 9] step 2
    """

    lower: int | None
    upper: int | None
    step: int = 1

    @property
    def bounds(self) -> Interval:
        """The closed interval between the ends."""
        return Interval(self.lower, self.upper)

    @property
    def size(self) -> int | None:
        """How many integers these are; ``None`` if infinitely many."""
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) // self.step + 1

    def __contains__(self, value: int) -> bool:
        return value in self.bounds and (value - self.anchor) % self.step == 0

    def __iter__(self) -> Iterator[int]:
        return islice(self.bounds, 0, None, self.step)

    @property
    def anchor(self) -> int:
        """One of the integers, or 0 where all are."""
        return self.lower if self.lower is not None else self.upper or 0

    def constraints(self, name: str) -> Iterator[Constraint]:
        """The constraints that say that a variable is one of the integers."""
        variable = forms.variable(name)
        yield variable, self.bounds
        if self.step > 1:
            remainder = operations.mod(variable, forms.constant(self.step))
            yield remainder, Interval.of(self.anchor % self.step)

    def __str__(self) -> str:
        return f"{self.bounds} step {self.step}" if self.step > 1 else str(self.bounds)


Box: TypeAlias = "tuple[StridedInterval, ...]"
"""The points with each coordinate in its interval."""


def box_size(box: Box) -> int | None:
    """The number of points; ``None`` if infinitely many."""
    sizes = [interval.size for interval in box if interval.size is not None]
    return prod(sizes) if len(sizes) == len(box) else None


def box_order(box: Box) -> tuple[object, ...]:
    """Sorts disjoint boxes by their least corners."""
    return tuple((interval.bounds.ends, interval.step) for interval in box)


def whole(interval: Interval) -> StridedInterval:
    """All integers of an interval."""
    return StridedInterval(interval.lower, interval.upper)


def strided(lower: int | None, upper: int | None, step: int) -> StridedInterval:
    """The strided interval; a single value has the step 1."""
    return StridedInterval(lower, upper, 1 if lower is not None and lower == upper else step)


def box_set(box: Box, context: islpy.Context) -> islpy.Set:
    """The points of a box as isl's set."""
    names = [f"d{position}" for position in range(len(box))]
    space = Space(
        {name: interval.bounds for name, interval in zip(names, box, strict=True)}, context
    )
    rows = (interval.constraints(name) for name, interval in zip(names, box, strict=True))
    return space.domain([*chain.from_iterable(rows)])


MAX_BOXES: Final = 16
"""A set of more boxes is described by constraints: a longer list would not help a reader."""

_FEW_SLABS: Final = 4
"""Slabs that may be thin: the first and the last row of a reshape are."""


def boxes_of(points: islpy.Set) -> tuple[Box, ...] | None:
    """The set as disjoint boxes in order; ``None`` if there are many, or infinitely many.

    Cuts the set across one coordinate into slabs within which the others do not change, along all
    values or every n-th, and each slab across the next coordinate.
    """
    boxes = [] if points.is_empty() else _boxes(points)
    return None if boxes is None else tuple(sorted(boxes, key=box_order))


def _boxes(points: islpy.Set) -> list[Box] | None:
    """The boxes of a set that has points."""
    lone = lone_box(points)
    if lone is not None:
        return [lone]
    cut = _cut(points)
    boxes: list[Box] = []
    for run in cut.runs:
        inner = _boxes(slice_at(points, cut.axis, run.anchor))
        if inner is None or len(boxes) + len(inner) > MAX_BOXES:
            return None
        boxes += [(*box[: cut.axis], run, *box[cut.axis :]) for box in inner]
    return boxes or None


def lone_box(points: islpy.Set) -> Box | None:
    """The set as one box, if it has points and is one; cheap, because nothing is cut."""
    hull = _hull(points)
    is_full = hull is not None and box_set(hull, points.get_ctx()).is_subset(points)
    return hull if is_full else None


def _hull(points: islpy.Set) -> Box | None:
    """The smallest box around the points, if there is one."""
    box: list[StridedInterval] = []
    for axis in range(rank_of(points)):
        line = line_of(points, axis)
        step, ends = integer(line.get_stride(0)), extent(line, 0)
        if step > 1 and ends == EVERYTHING:
            return None
        box.append(strided(ends.lower, ends.upper, step))
    return tuple(box)


# Slabs.


class _Cut(NamedTuple):
    """An axis, and strided intervals along it within which the other coordinates do not change."""

    axis: int
    runs: Sequence[StridedInterval]


def _cut(points: islpy.Set) -> _Cut:
    """The cut into the fewest slabs, over all axes and steps; no runs if there are many."""
    best = _Cut(0, ())
    for axis in range(rank_of(points)):
        for step in _steps(points):
            runs = _runs_by(points, axis, step)
            if runs and (not best.runs or len(runs) < len(best.runs)):
                best = _Cut(axis, runs)
            if len(runs) == 1:
                return best
    return best


def _steps(points: islpy.Set) -> list[int]:
    """1, the divisors of quotients, and their common multiple."""
    kind = load_isl().dim_type.div
    divisors = {
        integer(piece.get_div(axis).get_denominator_val())
        for piece in points.compute_divs().get_basic_sets()
        for axis in range(piece.dim(kind))
    }
    return sorted({1, *divisors, lcm(*divisors)})


def _runs_by(points: islpy.Set, axis: int, step: int) -> list[StridedInterval]:
    """Runs of values a step apart; none if there are many, or if they say no more than points."""
    line = line_of(points, axis)
    if step > 1 and extent(line, 0) == EVERYTHING:
        return []
    starts, ends = (_changes(points, line, axis, towards) for towards in (step, -step))
    if starts is None or ends is None:
        return []
    residues = sorted({value % step for value in (*starts, *ends)}) or [0]
    runs = [
        strided(lower, upper, step)
        for residue in residues
        for lower, upper in _paired(*(_in_class(found, residue, step) for found in (starts, ends)))
    ]
    return runs if _is_worth(runs, points) else []


def _changes(points: islpy.Set, line: islpy.Set, axis: int, step: int) -> list[int] | None:
    """The values at which the other coordinates change against the value a step before."""
    before = shifted(points, axis, step)
    difference = points.subtract(before).union(before.subtract(points))
    changes = line_of(difference, axis).intersect(line)
    found = list(islice(values(changes), MAX_BOXES + 1))
    return None if len(found) > MAX_BOXES or (not found and not changes.is_empty()) else found


def _in_class(found: Sequence[int], residue: int, step: int) -> list[int]:
    return [value for value in found if value % step == residue]


def _paired(starts: list[int], ends: list[int]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of starts and ends; the first start and the last end may be infinite."""
    is_from_below = not starts or bool(ends and ends[0] < starts[0])
    first: list[int | None] = [None] if is_from_below else []
    return zip([*first, *starts], [*ends, None], strict=False)


def _is_worth(runs: Sequence[StridedInterval], points: islpy.Set) -> bool:
    """Whether the slabs say more than single values would."""
    sizes = [run.size for run in runs]
    return (
        rank_of(points) == 1
        or len(runs) <= _FEW_SLABS
        or None in sizes
        or 2 * len(runs) <= sum(filter(None, sizes))
    )
