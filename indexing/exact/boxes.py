"""Boxes of strided intervals, and the few boxes that a set of points may consist of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import reduce, wraps
from itertools import chain, combinations, islice, product, starmap
from math import gcd, lcm, prod
from operator import ne
from typing import TYPE_CHECKING, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

from indexing.domain import Constraint
from indexing.errors import MapError
from indexing.exact.isl import extent, line_of, rank_of, shifted, slice_at, values
from simplifier import forms
from simplifier.exact import Space, integer, load_isl
from simplifier.forms import EVERYTHING, Interval

if TYPE_CHECKING:
    import islpy

Boxes: TypeAlias = "tuple[Box, ...]"

P = ParamSpec("P")
T = TypeVar("T")


class TooManyError(MapError):
    """There are more boxes or points than are listed."""

    def __str__(self) -> str:
        return "there are many boxes or points; expected few"


def where_few(listed: Callable[P, T]) -> Callable[P, T | None]:
    """The function with the answer ``None`` where there are too many boxes or points."""

    @wraps(listed)
    def answer(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return listed(*args, **kwargs)
        except TooManyError:
            return None

    return answer


def check_few(found: Sized, most: int) -> None:
    """Raise a :class:`TooManyError` if there are more than so many."""
    if len(found) > most:
        raise TooManyError


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
        """Number of integers; ``None`` if infinitely many."""
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
            yield variable % self.step, Interval.of(self.anchor % self.step)

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
    space = Space(dict(zip(names, (interval.bounds for interval in box), strict=True)), context)
    return space.domain([*chain.from_iterable(map(StridedInterval.constraints, box, names))])


MAX_BOXES: Final = 16
"""A set of more boxes is described by constraints: a longer list would not help a reader."""

_FEW_SLABS: Final = 4
"""Slabs that may be thin: the first and the last row of a reshape are."""


def boxes_of(points: islpy.Set) -> tuple[Box, ...]:
    """The set as disjoint boxes in order.

    Cuts the set across one coordinate into slabs within which the others do not change, along all
    values or every n-th, and each slab across the next coordinate.

    Raises:
        TooManyError: there are many, or infinitely many.
    """
    return tuple(sorted([] if points.is_empty() else _boxes(points), key=box_order))


def _boxes(points: islpy.Set) -> list[Box]:
    """The boxes of a set that has points."""
    lone = lone_box(points)
    if lone is not None:
        return [lone]
    cut = _cut(points)
    boxes: list[Box] = []
    for run in cut.runs:
        inner = _boxes(slice_at(points, cut.axis, run.anchor))
        boxes += [(*box[: cut.axis], run, *box[cut.axis :]) for box in inner]
        check_few(boxes, MAX_BOXES)
    if not boxes:
        raise TooManyError
    return boxes


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
    """Runs of values a step apart; empty if they are too many, or no shorter than the points."""
    line = line_of(points, axis)
    if step > 1 and extent(line, 0) == EVERYTHING:
        return []
    starts, stops = (_changes(points, line, axis, towards) for towards in (step, -step))
    if starts is None or stops is None:
        return []
    residues = sorted({value % step for value in (*starts, *stops)}) or [0]
    runs: list[StridedInterval] = []
    for residue in residues:
        own = ([each for each in ends if each % step == residue] for ends in (starts, stops))
        runs += [strided(lower, upper, step) for lower, upper in _paired(*own)]
    return runs if _is_worth(runs, points) else []


def _changes(points: islpy.Set, line: islpy.Set, axis: int, step: int) -> list[int] | None:
    """The values at which the other coordinates change against the value a step before."""
    before = shifted(points, axis, step)
    difference = points.subtract(before).union(before.subtract(points))
    changes = line_of(difference, axis).intersect(line)
    found = list(islice(values(changes), MAX_BOXES + 1))
    return None if len(found) > MAX_BOXES or (not found and not changes.is_empty()) else found


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


# The algebra of sets on lists of disjoint boxes: closed forms, whatever the number of points.
#
# A list of more than `MAX_BOXES_ON_THE_WAY` boxes, or an end that strided intervals cannot say,
# is left to isl: then there is a `TooManyError`.

MAX_BOXES_ON_THE_WAY: Final = 4 * MAX_BOXES
"""Boxes on the way to a result: pairs of them are compared."""

_MAX_CLASSES: Final = 8
"""Residue classes that a coarser step leaves of a finer one."""


def intersection(left: Boxes, right: Boxes) -> Boxes:
    """The boxes of the points in both lists.

    >>> from indexing.exact.boxes import whole
    >>> from simplifier import Interval
    >>> rows = ((StridedInterval(0, 20, 4), whole(Interval(0, 9))),)
    >>> for box in intersection(rows, ((StridedInterval(2, 20, 6), whole(Interval(5, 30))),)):
    ...     print(*box, sep=", ")
    [8, 20] step 12, [5, 9]
    """
    pairs = [*product(left, right)]
    check_few(pairs, MAX_BOXES_ON_THE_WAY)
    return _in_order([box for box in starmap(_met, pairs) if box is not None])


def difference(left: Boxes, right: Boxes) -> Boxes:
    """The boxes of the points in the first list alone.

    >>> from indexing.exact.boxes import whole
    >>> from simplifier import Interval
    >>> row, middle = ((whole(Interval(0, 9)),),), ((whole(Interval(4, 5)),),)
    >>> for (interval,) in difference(row, middle):
    ...     print(interval)
    [0, 3]
    [6, 9]
    """
    return _in_order(_joined(_difference(left, right)))


def union(left: Boxes, right: Boxes) -> Boxes:
    """Disjoint boxes of the points in one of the lists."""
    found = [*left, *_difference(right, left)]
    check_few(found, MAX_BOXES_ON_THE_WAY)
    return _in_order(_joined(found))


def is_subset(left: Boxes, right: Boxes) -> bool:
    """Whether the second list holds all points of the first."""
    return not _difference(left, right)


def is_equal(left: Boxes, right: Boxes) -> bool:
    """Whether two lists hold the same points."""
    return left == right or (is_subset(left, right) and is_subset(right, left))


def projection(boxes: Boxes, axes: Sequence[int]) -> Boxes:
    """The boxes of these coordinates of all points."""
    parts = (tuple(box[axis] for axis in axes) for box in boxes)
    return reduce(union, ((part,) for part in parts), ())


def extreme(boxes: Boxes, *, is_first: bool) -> tuple[int | None, ...]:
    """The lexicographically least or greatest point of boxes; ``None`` at the first open end."""
    found: list[int | None] = []
    for axis in range(len(boxes[0])):
        ends = [box[axis].lower if is_first else box[axis].upper for box in boxes]
        known = [end for end in ends if end is not None]
        if len(known) < len(ends):
            return (*found, None)
        found.append((min if is_first else max)(known))
        boxes = tuple(box for box, end in zip(boxes, ends, strict=True) if end == found[-1])
    return tuple(found)


def _in_order(boxes: list[Box]) -> Boxes:
    check_few(boxes, MAX_BOXES)
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


def _difference(left: Iterable[Box], right: Boxes) -> list[Box]:
    """The points that no box of the second list holds."""
    rest = [*left]
    for box in right:
        cut: list[Box] = []
        for each in rest:
            cut += _outside(each, box)
            check_few(cut, MAX_BOXES_ON_THE_WAY)
        rest = cut
    return rest


def _outside(box: Box, hole: Box) -> list[Box]:
    """The points of a box outside another, as disjoint boxes."""
    common = _met(box, hole)
    if common is None:
        return [box]
    found: list[Box] = []
    for axis, (interval, inner) in enumerate(zip(box, common, strict=True)):
        beside = _beside(interval, inner)
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
    lowers = [end for end in (one.lower, other.lower) if end is not None]
    uppers = [end for end in (one.upper, other.upper) if end is not None]
    step, shared = one.step, gcd(one.step, other.step)
    apart, rest = divmod(other.anchor - one.anchor, shared)
    if rest:
        return None
    left = other.step // shared
    residue = one.anchor + step * (apart * pow(step // shared, -1, left) % left)
    step *= left
    return in_class(max(lowers, default=None), min(uppers, default=None), step, residue)


def in_class(
    lower: int | None, upper: int | None, step: int, residue: int
) -> StridedInterval | None:
    """The integers of a residue class between two ends, if a strided interval can say that."""
    if step < 1 or (step > 1 and lower is None and upper is None):
        return None
    lower = None if lower is None else lower + (residue - lower) % step
    upper = None if upper is None else upper - (upper - residue) % step
    is_empty = lower is not None and upper is not None and lower > upper
    return None if is_empty else strided(lower, upper, step)


def _beside(interval: StridedInterval, inner: StridedInterval) -> list[StridedInterval]:
    """The integers of an interval outside one within it."""
    times = inner.step // interval.step
    if times <= 1 or inner.lower == inner.upper:
        return [*below_and_above(interval, inner)]
    if inner.lower is None or inner.upper is None or times > _MAX_CLASSES:
        raise TooManyError
    shifts = range(interval.step, inner.step, interval.step)
    if _fills_class(interval, inner):
        ends = interval.lower, interval.upper
        classes = (in_class(*ends, inner.step, inner.lower + by) for by in shifts)
        return [each for each in classes if each is not None]
    last_start = inner.upper - inner.step
    between = (strided(inner.lower + by, last_start + by, inner.step) for by in shifts)
    return [*below_and_above(interval, inner), *between]


def _fills_class(interval: StridedInterval, inner: StridedInterval) -> bool:
    """Whether an interval has no other integers of the class of one within it."""
    return all(
        end is not None and abs(end - inner_end) < inner.step
        for end, inner_end in ((interval.lower, inner.lower), (interval.upper, inner.upper))
        if inner_end is not None
    )


def below_and_above(interval: StridedInterval, inner: StridedInterval) -> Iterator[StridedInterval]:
    """The integers of an interval before the first and behind the last of one within it."""
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
