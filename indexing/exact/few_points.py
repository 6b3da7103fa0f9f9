"""Exact answers by going through all points of a map, where isl takes too long and there are few.

A table has a row for each point; equal rows are listed once, in lexicographic order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import Any, Final, TypeAlias

from indexing.errors import MapError
from indexing.exact import boxes
from indexing.exact.boxes import Box, StridedInterval, TooManyError, where_few
from indexing.exact.isl import parameters_of
from indexing.relation import Relation
from indexing.transform.evaluate import numbered, result_columns
from simplifier.errors import quoted
from simplifier.forms import MAX_INT64, Form, Interval, np

Rows: TypeAlias = Any
"""A matrix of NumPy."""

MAX_POINTS: Final = 1 << 20
"""Points within the bounds that are gone through: a second or two."""

MAX_BOXES_LISTED: Final = 16 * boxes.MAX_BOXES
"""A set of more boxes would be a text of many pages."""


def has_few_points(relation: Relation, most: int = MAX_POINTS) -> bool:
    """Whether all points within the bounds can be gone through, or are at most so many."""
    sizes = [variable.bounds.size for variable in relation.domain]
    return None not in sizes and prod(size or 0 for size in sizes) <= most


# Questions. Each is ``None`` where there are too many points, or more than ``most``.


@where_few
def is_empty(relation: Relation, most: int = MAX_POINTS) -> bool:
    """Whether there is no point."""
    return not len(_table(relation, (), most))


@where_few
def count(relation: Relation, most: int = MAX_POINTS) -> int:
    """The number of points."""
    return len(_table(relation, (), most))


@where_few
def is_equal(left: Relation, right: Relation, most: int = MAX_POINTS) -> bool:
    """Whether two relations have the same pairs."""
    return len({*_sizes_of_union(left, right, most)}) == 1


@where_few
def is_subset(left: Relation, right: Relation, most: int = MAX_POINTS) -> bool:
    """Whether the second relation has all pairs of the first."""
    _, size, size_of_both = _sizes_of_union(left, right, most)
    return size == size_of_both


@where_few
def is_injective(relation: Relation, most: int = MAX_POINTS) -> bool:
    """Whether no two points of dimensions and ranges lead to one element."""
    dims, ranges, _ = relation.domain.by_role_as_forms
    targets = (*relation.forms, *parameters_of(relation.domain))
    pairs = different(_table(relation, (*targets, *dims, *ranges), most))
    return len(different(pairs[:, : len(targets)])) == len(pairs)


@where_few
def covers(relation: Relation, box: Box, most: int = MAX_POINTS) -> bool:
    """Whether all elements of a box are reached."""
    return _reached_inside(relation, box, most)[0]


@where_few
def is_bijective_onto(relation: Relation, box: Box, most: int = MAX_POINTS) -> bool | None:
    """Whether all elements of a box are reached once, and no others."""
    return all(_reached_inside(relation, box, most)) and is_injective(relation, most)


def _reached_inside(relation: Relation, box: Box, most: int) -> tuple[bool, bool]:
    """Whether all elements of a box are reached, and only those."""
    rows = different(_table(relation, relation.forms, most))
    lower, upper = [each.lower or 0 for each in box], [each.upper or 0 for each in box]
    is_inside = ((rows >= lower) & (rows <= upper)).all(axis=1)
    return int(is_inside.sum()) == boxes.box_size(box), bool(is_inside.all())


@where_few
def first_point(relation: Relation, most: int = MAX_POINTS) -> tuple[tuple[int, ...] | None]:
    """The first point in a tuple, ``(None,)`` without points."""
    rows = _table(relation, [*chain(*relation.domain.by_role_as_forms)], most)
    return (tuple(rows[0].tolist()) if len(rows) else None,)


def first_elsewhere(relation: Relation, other: Relation) -> tuple[int, ...] | None:
    """The first point of a map that leads to an element that another map does not reach.

    Raises:
        TooManyError: one of them has many points.

    >>> from indexing import parse_map
    >>> thirds = parse_map("(d0) -> (d0 * 3), domain: d0 in [0, 9]")
    >>> first_elsewhere(parse_map("(d0) -> (d0 * 6), domain: d0 in [0, 9]"), thirds)
    (5,)
    """
    variables = [*chain(*relation.domain.by_role_as_forms)]
    rows, reached = _table(relation, (*variables, *relation.forms)), _table(other, other.forms)
    pairs, count = len(variables), len(rows)
    _, kind = np.unique(np.concatenate([rows[:, pairs:], reached]), axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    outside = (~np.isin(kind[:count], kind[count:])).nonzero()[0]
    return tuple(rows[outside[0], :pairs].tolist()) if len(outside) else None


@where_few
def elements(relation: Relation, wanted: Sequence[Form], most: int = MAX_POINTS) -> Rows:
    """The different values that some forms take together, in order."""
    return different(_table(relation, wanted, most))


@where_few
def reached(maps: Sequence[Relation], most: int = MAX_POINTS) -> Rows:
    """The elements that some maps reach, each once."""
    return different(_joined([different(_table(each, each.forms, most)) for each in maps]))


@where_few
def reached_again(maps: Sequence[Relation], most: int = MAX_POINTS) -> Rows:
    """The elements that are reached from two points, of one map or of two."""
    rows = _joined([_table(each, each.forms, most) for each in maps])
    if not rows.shape[1]:
        return rows[1:2]
    found, times = np.unique(rows, axis=0, return_counts=True)
    return found[times > 1]


def _joined(tables: Sequence[Rows]) -> Rows:
    """The rows of all tables, of which there must be one."""
    if not tables:
        raise TooManyError
    return np.concatenate(tables)


def _sizes_of_union(left: Relation, right: Relation, most: int) -> tuple[int, int, int]:
    """Numbers of pairs of two relations, and of both together."""
    rows: list[Rows] = []
    for each in (left, right):
        dims, *_ = each.domain.by_role_as_forms
        wanted = (*dims, *parameters_of(each.domain), *each.forms)
        rows.append(different(_table(each, wanted, most // 2)))
    return len(rows[0]), len(rows[1]), len(different(np.concatenate(rows)))


# Tables.


def _table(relation: Relation, wanted: Sequence[Form], most: int = MAX_POINTS) -> Rows:
    """A row of the values of some forms for each point of the domain.

    Raises:
        TooManyError: there are many points; or a value does not fit into 64 bits, or the forms
            divide by zero.
    """
    if not has_few_points(relation, min(most, MAX_POINTS)):
        raise TooManyError
    chunks = [np.zeros((0, len(wanted)), dtype=np.int64)]
    try:
        for count, columns in result_columns(relation.derived(wanted, relation.domain)):
            chunk = np.empty((count, len(wanted)), dtype=np.int64)
            for number, column in enumerate(columns):
                chunk[:, number] = _within_64_bits(column)
            chunks.append(chunk)
    except (MapError, OverflowError):
        raise TooManyError from None
    return np.concatenate(chunks)


def _within_64_bits(column: Any) -> Any:  # noqa: ANN401 - an integer, or an array
    column = np.asarray(column)
    if column.dtype == object and (abs(column) > MAX_INT64).any():
        raise TooManyError
    return column


def different(rows: Rows) -> Rows:
    """Each row once, in lexicographic order."""
    if not rows.size:
        return rows[:1]
    box = [*map(Interval, rows.min(axis=0).tolist(), rows.max(axis=0).tolist())]
    if prod(each.size or 0 for each in box) > MAX_INT64:
        ordered = rows[np.lexsort(rows.T[::-1])]
        return ordered[are_new(ordered)]
    numbers = numbered(rows.T, box)  # one column is sorted faster than several
    order = numbers.argsort(kind="stable")
    return rows[order[are_new(numbers[order, None])]]


def are_new(ordered: Rows) -> Rows:
    """Whether each ordered row differs from the row before."""
    found = np.ones(len(ordered), dtype=bool)
    found[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return found


def boxes_of_rows(rows: Rows) -> tuple[Box, ...]:
    """Different ordered rows as disjoint boxes in order.

    Neighbours along the first coordinate that continue in the same way become one strided interval.

    >>> import numpy as np
    >>> for box in boxes_of_rows(np.array([(0, 1), (0, 2), (1, 1), (1, 2), (3, 0)])):
    ...     print(*box, sep=", ")
    [0, 1], [1, 2]
    [3, 3], [0, 0]

    Raises:
        TooManyError: these would be very many.
    """
    return tuple(sorted(_boxes(rows), key=_least_corner))


def rows_of_mask(mask: object) -> Rows:
    """The indices at which a mask is true, in order."""
    try:
        array = np.asarray(mask)
    except ValueError:  # rows of different lengths
        raise MapError(f"from_mask: the mask is {quoted(mask)}; expected an array") from None
    if array.dtype != bool:
        raise MapError(f"from_mask: the mask has elements of {array.dtype}; expected bool")
    return np.argwhere(array)


def _boxes(rows: Rows) -> list[Box]:
    if not rows.size:
        return [()] * len(rows) if not rows.shape[1] else []
    runs: dict[tuple[Box, ...], list[int]] = {}
    values, starts = np.unique(rows[:, 0], return_index=True)
    groups = np.split(rows[:, 1:], starts[1:])
    for value, rest in zip(values.tolist(), groups, strict=True):
        runs.setdefault(tuple(_boxes(rest)), []).append(value)
        boxes.check_few(runs, MAX_BOXES_LISTED)
    found: list[Box] = []
    for inner, along in runs.items():
        found += [(run, *box) for run in _runs(along) for box in inner]
        boxes.check_few(found, MAX_BOXES_LISTED)
    return found


def _runs(values: Sequence[int]) -> list[StridedInterval]:
    """Rising values as intervals of one step each, from the first value on."""
    runs: list[StridedInterval] = []
    start = 0
    while start < len(values):
        end = start
        step = values[start + 1] - values[start] if start + 1 < len(values) else 1
        while end + 1 < len(values) and values[end + 1] - values[end] == step:
            end += 1
        if step > 1 and end == start + 1:
            end = start  # two values make no step
        runs.append(boxes.strided(values[start], values[end], step))
        start = end + 1
    return runs


def _least_corner(box: Box) -> list[tuple[int, int]]:
    return [(interval.anchor, interval.step) for interval in box]
