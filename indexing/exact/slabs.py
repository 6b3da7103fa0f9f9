"""The few boxes that a set may consist of, found by cutting it into slabs."""

from __future__ import annotations

from itertools import islice
from math import lcm
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.exact.boxes import Box, StridedInterval, box_order, box_set, strided
from indexing.exact.points import (
    EVERYTHING,
    extent,
    line_of,
    rank_of,
    shifted,
    slice_at,
    values,
)
from simplifier.exact.isl import integer, load_isl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy

MOST_BOXES: Final = 16
"""A set of more boxes is told by constraints."""

_ALWAYS_WORTH: Final = 4
"""So many slabs may be as thin as they are: the first and the last row of a reshape are."""


def boxes_of(points: islpy.Set) -> tuple[Box, ...] | None:
    """The set as disjoint boxes in order; ``None`` if it takes many, or infinitely many.

    The set is cut across one coordinate into slabs within which nothing changes, along all values
    or every second or third, and so on across the others.
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
        inner = _boxes(slice_at(points, cut.place, run.anchor))
        if inner is None or len(boxes) + len(inner) > MOST_BOXES:
            return None
        boxes += [(*box[: cut.place], run, *box[cut.place :]) for box in inner]
    return boxes or None


def lone_box(points: islpy.Set) -> Box | None:
    """The box that a set with points is, if it is one; cheap, as nothing is parted."""
    hull = _hull(points)
    is_full = hull is not None and box_set(hull, points.get_ctx()).is_subset(points)
    return hull if is_full else None


def _hull(points: islpy.Set) -> Box | None:
    """The smallest box around the points, if it can be told."""
    box: list[StridedInterval] = []
    for place in range(rank_of(points)):
        line = line_of(points, place)
        step, ends = integer(line.get_stride(0)), extent(line, 0)
        if step > 1 and ends == EVERYTHING:
            return None
        box.append(strided(ends.lower, ends.upper, step))
    return tuple(box)


# Slabs.


class _Cut(NamedTuple):
    """A coordinate, and strided intervals of its values within which the others can be the same."""

    place: int
    runs: Sequence[StridedInterval]


def _cut(points: islpy.Set) -> _Cut:
    """The cut into the fewest slabs, going by different steps; no runs if they are many."""
    best = _Cut(0, ())
    for place in range(rank_of(points)):
        for step in _steps(points):
            runs = _runs_by(points, place, step)
            if runs and (not best.runs or len(runs) < len(best.runs)):
                best = _Cut(place, runs)
            if len(runs) == 1:
                return best
    return best


def _steps(points: islpy.Set) -> list[int]:
    """1, the divisors of quotients, and their common multiple."""
    kind = load_isl().dim_type.div
    divisors = {
        integer(piece.get_div(place).get_denominator_val())
        for piece in points.compute_divs().get_basic_sets()
        for place in range(piece.dim(kind))
    }
    return sorted({1, *divisors, lcm(*divisors)})


def _runs_by(points: islpy.Set, place: int, step: int) -> list[StridedInterval]:
    """Runs of values that lie a step apart; none if they are many or not worth it."""
    line = line_of(points, place)
    if step > 1 and extent(line, 0) == EVERYTHING:
        return []
    starts, ends = (_changes(points, line, place, towards) for towards in (step, -step))
    if starts is None or ends is None:
        return []
    residues = sorted({value % step for value in (*starts, *ends)}) or [0]
    runs = [
        strided(lower, upper, step)
        for residue in residues
        for lower, upper in _paired(*(_in_class(found, residue, step) for found in (starts, ends)))
    ]
    return runs if _is_worth(runs, points) else []


def _changes(points: islpy.Set, line: islpy.Set, place: int, step: int) -> list[int] | None:
    """The values for which the other coordinates can be something else than a step before."""
    before = shifted(points, place, step)
    difference = points.subtract(before).union(before.subtract(points))
    changes = line_of(difference, place).intersect(line)
    found = list(islice(values(changes), MOST_BOXES + 1))
    return None if len(found) > MOST_BOXES or (not found and not changes.is_empty()) else found


def _in_class(found: Sequence[int], residue: int, step: int) -> list[int]:
    return [value for value in found if value % step == residue]


def _paired(starts: list[int], ends: list[int]) -> Iterator[tuple[int | None, int | None]]:
    """Starts with ends; the first start and the last end may be at infinity."""
    is_from_below = not starts or bool(ends and ends[0] < starts[0])
    first: list[int | None] = [None] if is_from_below else []
    return zip([*first, *starts], [*ends, None], strict=False)


def _is_worth(runs: Sequence[StridedInterval], points: islpy.Set) -> bool:
    """Whether the slabs tell more than the single values would."""
    sizes = [run.size for run in runs]
    return (
        rank_of(points) == 1
        or len(runs) <= _ALWAYS_WORTH
        or None in sizes
        or 2 * len(runs) <= sum(filter(None, sizes))
    )
