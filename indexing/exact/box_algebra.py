"""The algebra of sets on lists of disjoint boxes: closed forms, whatever the number of points.

A list of more than :data:`MAX_BOXES_ON_THE_WAY` boxes, or an end that strided intervals cannot say,
is left to isl: the answer is then ``None``.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd
from operator import ne
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing.exact.boxes import MAX_BOXES, StridedInterval, box_order, strided

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.exact.boxes import Box

    Boxes: TypeAlias = tuple[Box, ...]

MAX_BOXES_ON_THE_WAY: Final = 4 * MAX_BOXES
"""Boxes on the way to a result: pairs of them are compared."""

_MAX_CLASSES: Final = 8
"""Residue classes that a coarser step leaves of a finer one."""


def intersection(left: Boxes, right: Boxes) -> Boxes | None:
    """The boxes of what is in both lists.

    >>> from indexing.exact.boxes import whole
    >>> from simplifier import Interval
    >>> rows = ((StridedInterval(0, 20, 4), whole(Interval(0, 9))),)
    >>> for box in intersection(rows, ((StridedInterval(2, 20, 6), whole(Interval(5, 30))),)):
    ...     print(*box, sep=", ")
    [8, 20] step 12, [5, 9]
    """
    if len(left) * len(right) > MAX_BOXES_ON_THE_WAY:
        return None
    common = (_met(one, other) for one in left for other in right)
    return _in_order([box for box in common if box is not None])


def difference(left: Boxes, right: Boxes) -> Boxes | None:
    """The boxes of what is in the first list alone.

    >>> from indexing.exact.boxes import whole
    >>> from simplifier import Interval
    >>> row, middle = ((whole(Interval(0, 9)),),), ((whole(Interval(4, 5)),),)
    >>> for (interval,) in difference(row, middle):
    ...     print(interval)
    [0, 3]
    [6, 9]
    """
    found = _difference(left, right)
    return None if found is None else _in_order(_joined(found))


def union(left: Boxes, right: Boxes) -> Boxes | None:
    """Disjoint boxes of what is in one of the lists."""
    more = _difference(right, left)
    if more is None or len(left) + len(more) > MAX_BOXES_ON_THE_WAY:
        return None
    return _in_order(_joined([*left, *more]))


def is_subset(left: Boxes, right: Boxes) -> bool | None:
    """Whether the second list holds all points of the first."""
    rest = _difference(left, right)
    return None if rest is None else not rest


def projection(boxes: Boxes, axes: Sequence[int]) -> Boxes | None:
    """The boxes of these coordinates of all points."""
    found: Boxes | None = tuple(tuple(box[axis] for axis in axes) for box in boxes[:1])
    for box in boxes[1:]:
        found = union(found, (tuple(box[axis] for axis in axes),))
        if found is None:
            return None
    return found


def first(boxes: Boxes) -> tuple[int | None, ...]:
    """The lexicographically least point of some boxes; ``None`` at the first open end."""
    return _extreme(boxes, 1)


def last(boxes: Boxes) -> tuple[int | None, ...]:
    """The lexicographically greatest point of some boxes; ``None`` at the first open end."""
    return _extreme(boxes, -1)


def _extreme(boxes: Boxes, sign: int) -> tuple[int | None, ...]:
    found: list[int | None] = []
    for axis in range(len(boxes[0])):
        ends = [box[axis].lower if sign > 0 else box[axis].upper for box in boxes]
        known = [end for end in ends if end is not None]
        if len(known) < len(ends):
            return (*found, None)
        found.append(sign * min(sign * end for end in known))
        boxes = tuple(box for box, end in zip(boxes, ends, strict=True) if end == found[-1])
    return tuple(found)


def _in_order(boxes: list[Box]) -> Boxes | None:
    if len(boxes) > MAX_BOXES:
        return None
    return tuple(sorted(boxes, key=box_order) if len(boxes) > 1 else boxes)


# Boxes.


def _met(left: Box, right: Box) -> Box | None:
    """The points in both boxes."""
    found: list[StridedInterval] = []
    for one, other in zip(left, right, strict=True):
        common = _common(one, other)
        if common is None:
            return None
        found.append(common)
    return tuple(found)


def _difference(left: Iterable[Box], right: Boxes) -> list[Box] | None:
    """What no box of the second list holds."""
    rest = [*left]
    for box in right:
        cut: list[Box] = []
        for each in rest:
            outside = _outside(each, box)
            if outside is None or len(cut) + len(outside) > MAX_BOXES_ON_THE_WAY:
                return None
            cut += outside
        rest = cut
    return rest


def _outside(box: Box, hole: Box) -> list[Box] | None:
    """The points of a box outside another, as disjoint boxes."""
    common = _met(box, hole)
    if common is None:
        return [box]
    found: list[Box] = []
    for axis, (interval, inner) in enumerate(zip(box, common, strict=True)):
        beside = _beside(interval, inner)
        if beside is None:
            return None
        found += [(*common[:axis], part, *box[axis + 1 :]) for part in beside]
    return found


def _joined(boxes: list[Box]) -> list[Box]:
    """The boxes with those joined that are one, as long as there are such."""
    while (pair := _pair_to_join(boxes)) is not None:
        one, other, whole = pair
        boxes = [*(box for box in boxes if box is not one and box is not other), whole]
    return boxes


def _pair_to_join(boxes: Sequence[Box]) -> tuple[Box, Box, Box] | None:
    for one, other in combinations(boxes, 2):
        unlike = [axis for axis, differ in enumerate(map(ne, one, other)) if differ]
        if len(unlike) == 1:
            (axis,) = unlike
            run = _run(one[axis], other[axis]) or _run(other[axis], one[axis])
            if run is not None:
                return one, other, (*one[:axis], run, *one[axis + 1 :])
    return None


# Strided intervals.


def _common(one: StridedInterval, other: StridedInterval) -> StridedInterval | None:
    """The integers in both, by the Chinese remainder theorem."""
    lower = one.lower if other.lower is None else other.lower
    if one.lower is not None and other.lower is not None:
        lower = max(one.lower, other.lower)
    upper = one.upper if other.upper is None else other.upper
    if one.upper is not None and other.upper is not None:
        upper = min(one.upper, other.upper)
    step = one.step
    if step > 1 or other.step > 1:
        shared = gcd(step, other.step)
        apart, rest = divmod(other.anchor - one.anchor, shared)
        if rest:
            return None
        left = other.step // shared
        residue = one.anchor + step * (apart * pow(step // shared, -1, left) % left)
        step *= left
        lower = None if lower is None else lower + (residue - lower) % step
        upper = None if upper is None else upper - (upper - residue) % step
    if lower is not None and upper is not None and lower > upper:
        return None
    return strided(lower, upper, step)


def _beside(interval: StridedInterval, inner: StridedInterval) -> list[StridedInterval] | None:
    """The integers of an interval outside one within it; ``None`` if these are many intervals."""
    times = inner.step // interval.step
    if times <= 1 or inner.lower == inner.upper:
        return [*_below_and_above(interval, inner)]
    if inner.lower is None or inner.upper is None or times > _MAX_CLASSES:
        return None
    shifts = range(interval.step, inner.step, interval.step)
    if _fills_class(interval, inner):
        classes = (_class_within(interval, inner.lower + by, inner.step) for by in shifts)
        return [each for each in classes if each is not None]
    last_start = inner.upper - inner.step
    between = (strided(inner.lower + by, last_start + by, inner.step) for by in shifts)
    return [*_below_and_above(interval, inner), *between]


def _fills_class(interval: StridedInterval, inner: StridedInterval) -> bool:
    """Whether an interval has no other integers of the class of one within it."""
    return all(
        end is not None and abs(end - inner_end) < inner.step
        for end, inner_end in ((interval.lower, inner.lower), (interval.upper, inner.upper))
        if inner_end is not None
    )


def _class_within(interval: StridedInterval, value: int, step: int) -> StridedInterval | None:
    """The integers of a bounded interval that are whole steps from one of them."""
    lower, upper = interval.lower or 0, interval.upper or 0
    lower, upper = lower + (value - lower) % step, upper - (upper - value) % step
    return strided(lower, upper, step) if lower <= upper else None


def _below_and_above(
    interval: StridedInterval, inner: StridedInterval
) -> Iterator[StridedInterval]:
    if inner.lower is not None and inner.lower != interval.lower:
        yield strided(interval.lower, inner.lower - interval.step, interval.step)
    if inner.upper is not None and inner.upper != interval.upper:
        yield strided(inner.upper + interval.step, interval.upper, interval.step)


def _run(below: StridedInterval, above: StridedInterval) -> StridedInterval | None:
    """Both as one strided interval, if they are one and the second ends later."""
    if below.upper is None or above.lower is None:
        return None
    step = above.step if below.lower == below.upper else below.step
    if above.step == step or above.lower == above.upper:
        if above.lower == below.upper + step:
            has_end = below.lower is not None or above.upper is not None
            return strided(below.lower, above.upper, step) if has_end or step == 1 else None
        half, odd = divmod(step, 2)
        is_between = not odd and above.lower == (below.lower or 0) + half
        if is_between and below.lower is not None and above.upper is not None:
            late = above.upper - below.upper
            if abs(late) == half and below.lower != below.upper:
                return strided(below.lower, max(below.upper, above.upper), half)
    return None
