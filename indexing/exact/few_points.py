"""Exact answers by going through all points of a map, where isl takes too long and there are few.

A table has a row for each point; equal rows are listed once, in lexicographic order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod
from typing import Any, Final, TypeAlias

from indexing.errors import MapError
from indexing.exact.boxes import MAX_BOXES, Box, StridedInterval, box_size, strided
from indexing.exact.isl import parameters_of
from indexing.relation import Relation
from indexing.transform.evaluate import result_columns
from simplifier.errors import quoted
from simplifier.forms import MAX_INT64, Form, np

Rows: TypeAlias = Any
"""A matrix of NumPy."""

MAX_POINTS: Final = 1 << 20
"""Points within the bounds that are gone through: a second or two."""

MAX_BOXES_LISTED: Final = 16 * MAX_BOXES
"""A set of more boxes would be a text of many pages."""


def has_few_points(relation: Relation, most: int = MAX_POINTS) -> bool:
    """Whether all points within the bounds can be gone through, or are at most so many."""
    sizes = [variable.bounds.size for variable in relation.domain]
    return None not in sizes and prod(size or 0 for size in sizes) <= most


# Questions. Each is ``None`` where there are too many points, or more than ``most``.


def is_empty(relation: Relation, most: int = MAX_POINTS) -> bool | None:
    """Whether there is no point."""
    rows = _table(relation, (), most)
    return None if rows is None else not len(rows)


def count(relation: Relation, most: int = MAX_POINTS) -> int | None:
    """The number of points."""
    rows = _table(relation, (), most)
    return None if rows is None else len(rows)


def is_equal(left: Relation, right: Relation, most: int = MAX_POINTS) -> bool | None:
    """Whether two relations have the same pairs."""
    sizes = _sizes_of_union(left, right, most)
    return None if sizes is None else len({*sizes}) == 1


def is_subset(left: Relation, right: Relation, most: int = MAX_POINTS) -> bool | None:
    """Whether the second relation has all pairs of the first."""
    sizes = _sizes_of_union(left, right, most)
    return None if sizes is None else sizes[1] == sizes[2]


def is_injective(relation: Relation, most: int = MAX_POINTS) -> bool | None:
    """Whether no two points of dimensions and ranges lead to one element."""
    dims, ranges, _ = relation.domain.by_role_as_forms
    targets = (*relation.forms, *parameters_of(relation.domain))
    pairs = elements(relation, (*targets, *dims, *ranges), most)
    return None if pairs is None else len(different(pairs[:, : len(targets)])) == len(pairs)


def covers(relation: Relation, box: Box, most: int = MAX_POINTS) -> bool | None:
    """Whether all elements of a box are reached."""
    found = _reached_inside(relation, box, most)
    return None if found is None else found[0]


def is_bijective_onto(relation: Relation, box: Box, most: int = MAX_POINTS) -> bool | None:
    """Whether all elements of a box are reached once, and no others."""
    found = _reached_inside(relation, box, most)
    if found is None or not all(found):
        return None if found is None else False
    return is_injective(relation, most)


def _reached_inside(relation: Relation, box: Box, most: int) -> tuple[bool, bool] | None:
    """Whether all elements of a box are reached, and only those."""
    rows, size = elements(relation, relation.forms, most), box_size(box)
    if rows is None or size is None:
        return None
    lower, upper = [each.lower or 0 for each in box], [each.upper or 0 for each in box]
    is_inside = ((rows >= lower) & (rows <= upper)).all(axis=1)
    return int(is_inside.sum()) == size, bool(is_inside.all())


def first_point(relation: Relation, most: int = MAX_POINTS) -> tuple[tuple[int, ...] | None] | None:
    """The first point in a tuple, ``(None,)`` without points; ``None`` if they are too many."""
    rows = _table(relation, [*chain(*relation.domain.by_role_as_forms)], most)
    if rows is None:
        return None
    return (tuple(rows[0].tolist()) if len(rows) else None,)


def first_elsewhere(relation: Relation, other: Relation) -> tuple[int, ...] | None:
    """The first point of a map that leads to an element that another map does not reach.

    Both have few points.

    >>> from indexing import parse_map
    >>> thirds = parse_map("(d0) -> (d0 * 3), domain: d0 in [0, 9]")
    >>> first_elsewhere(parse_map("(d0) -> (d0 * 6), domain: d0 in [0, 9]"), thirds)
    (5,)
    """
    variables = [*chain(*relation.domain.by_role_as_forms)]
    rows, reached = _table(relation, (*variables, *relation.forms)), elements(other, other.forms)
    if rows is None or reached is None:
        raise MapError("first_elsewhere: there are many points; expected few")
    pairs, count = len(variables), len(rows)
    _, kind = np.unique(np.concatenate([rows[:, pairs:], reached]), axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    outside = (~np.isin(kind[:count], kind[count:])).nonzero()[0]
    return tuple(rows[outside[0], :pairs].tolist()) if len(outside) else None


def elements(relation: Relation, wanted: Sequence[Form], most: int = MAX_POINTS) -> Rows | None:
    """The different values that some forms take together, in order."""
    rows = _table(relation, wanted, most)
    return None if rows is None else different(rows)


def reached(maps: Sequence[Relation], most: int = MAX_POINTS) -> Rows | None:
    """The elements that some maps reach, each once."""
    rows = _joined([elements(each, each.forms, most) for each in maps])
    return None if rows is None else different(rows)


def reached_again(maps: Sequence[Relation], most: int = MAX_POINTS) -> Rows | None:
    """The elements that are reached from two points, of one map or of two."""
    rows = _joined([_table(each, each.forms, most) for each in maps])
    if rows is None or not rows.shape[1]:
        return None if rows is None else rows[1:2]
    found, times = np.unique(rows, axis=0, return_counts=True)
    return found[times > 1]


def _joined(tables: Sequence[Rows | None]) -> Rows | None:
    """The rows of all tables; ``None`` if one is missing, or there is none."""
    known = [table for table in tables if table is not None]
    return np.concatenate(known) if known and len(known) == len(tables) else None


def _sizes_of_union(left: Relation, right: Relation, most: int) -> tuple[int, int, int] | None:
    """Numbers of pairs of two relations, and of both together."""
    rows: list[Rows] = []
    for each in (left, right):
        dims, *_ = each.domain.by_role_as_forms
        pairs = elements(each, (*dims, *parameters_of(each.domain), *each.forms), most // 2)
        if pairs is None:
            return None
        rows.append(pairs)
    return len(rows[0]), len(rows[1]), len(different(np.concatenate(rows)))


# Tables.


def _table(relation: Relation, wanted: Sequence[Form], most: int = MAX_POINTS) -> Rows | None:
    """A row of the values of some forms for each point of the domain, where there are few.

    ``None`` also where a value does not fit into 64 bits, or the forms divide by zero.
    """
    if not has_few_points(relation, min(most, MAX_POINTS)):
        return None
    chunks = [np.zeros((0, len(wanted)), dtype=np.int64)]
    try:
        for count, columns in result_columns(relation.derived(wanted, relation.domain)):
            chunk = np.empty((count, len(wanted)), dtype=np.int64)
            for number, column in enumerate(columns):
                chunk[:, number] = _within_64_bits(column)
            chunks.append(chunk)
    except (MapError, OverflowError):
        return None
    return np.concatenate(chunks)


def _within_64_bits(column: Any) -> Any:  # noqa: ANN401 - an integer, or an array
    column = np.asarray(column)
    if column.dtype == object and (abs(column) > MAX_INT64).any():
        raise OverflowError
    return column


def different(rows: Rows) -> Rows:
    """Each row once, in lexicographic order."""
    if not rows.shape[1]:
        return rows[:1]
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[is_new]


def boxes_of_rows(rows: Rows) -> tuple[Box, ...] | None:
    """Different ordered rows as disjoint boxes in order; ``None`` if these would be very many.

    Neighbours along the first coordinate that continue in the same way become one strided interval.

    >>> import numpy as np
    >>> for box in boxes_of_rows(np.array([(0, 1), (0, 2), (1, 1), (1, 2), (3, 0)])):
    ...     print(*box, sep=", ")
    [0, 1], [1, 2]
    [3, 3], [0, 0]
    """
    found = _boxes(rows)
    return None if found is None else tuple(sorted(found, key=_least_corner))


def rows_of_mask(mask: object) -> Rows:
    """The indices at which a mask is true, in order."""
    try:
        array = np.asarray(mask)
    except ValueError:  # rows of different lengths
        raise MapError(f"from_mask: the mask is {quoted(mask)}; expected an array") from None
    if array.dtype != bool:
        raise MapError(f"from_mask: the mask has elements of {array.dtype}; expected bool")
    return np.argwhere(array)


def _boxes(rows: Rows) -> list[Box] | None:
    if not rows.size:
        return [()] * len(rows) if not rows.shape[1] else []
    runs: dict[tuple[Box, ...], list[int]] = {}
    for value, rest in _by_first(rows):
        inner = _boxes(rest)
        if inner is None:
            return None
        runs.setdefault(tuple(inner), []).append(value)
        if len(runs) > MAX_BOXES_LISTED:
            return None
    found: list[Box] = []
    for inner, values in runs.items():
        found += [(run, *box) for run in _runs(values) for box in inner]
        if len(found) > MAX_BOXES_LISTED:
            return None
    return found


def _by_first(rows: Rows) -> Iterator[tuple[int, Rows]]:
    """The values of the first coordinate, each with the rows behind it."""
    values, starts = np.unique(rows[:, 0], return_index=True)
    yield from zip(values.tolist(), np.split(rows[:, 1:], starts[1:]), strict=True)


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
        runs.append(strided(values[start], values[end], step))
        start = end + 1
    return runs


def _least_corner(box: Box) -> list[tuple[int, int]]:
    return [(interval.anchor, interval.step) for interval in box]
