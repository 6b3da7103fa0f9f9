"""Which elements maps lead to, on arrays, each runtime variable having the value at its origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from indexing import IndexingMap
from indexing.domain import Constraint, Domain, Ends
from indexing.layout import Shape
from ops import OperandIndexing, RuntimeOrigin
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.form import Form
from tests.evaluation import Pair, values_of, where

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

Columns: TypeAlias = "dict[str, Array]"
"""The value of each variable at every point, and under ``ROW`` which element it begins with."""


class Origin(Protocol):
    """Where the value of a runtime variable is found: in an operand, or an instruction."""

    @property
    def map(self) -> IndexingMap: ...
    @property
    def clamp(self) -> Interval | Ends | None: ...


_Place = TypeVar("_Place", bound=Origin)

Known: TypeAlias = "Mapping[str, tuple[Origin, Array]]"
"""The runtime variables of which the values are known, and the arrays that hold these."""

ArrayOf: TypeAlias = "Callable[[RuntimeOrigin], Array | None]"

ROW = "row"

MAX_POINTS = 1 << 20
"""Points that are held at a time."""

MAX_POINTS_IN_ALL = 1 << 27
"""A map with more points is not looked at."""


def every_element(shape: Shape) -> Array:
    """The index of every element of an array, one in a row."""
    count = shape.element_count
    return np.indices(shape.dimensions).reshape(shape.rank, count).T.astype(np.int64)


def relation(
    ways: Iterable[OperandIndexing], begin: Array, end: Array, shape: Shape, array_of: ArrayOf
) -> Array:
    """A matrix of which elements, one in a row, lead to which of an array, one in a column.

    ``array_of`` gives the array that holds the values of a runtime variable. Where it gives none,
    the variable has any value.
    """
    column = np.full(shape.element_count, -1)
    column[numbers_of(end, shape)] = np.arange(len(end))
    found = np.zeros((len(begin), len(end)), dtype=bool)
    for way in ways:
        for rows, places in reached(way, begin, array_of):
            columns = column[numbers_of(places, shape)]
            is_asked = columns >= 0
            found[rows[is_asked], columns[is_asked]] = True
    return found


def numbers_of(places: Array, shape: Shape) -> Array:
    """The number of each element, counted through all indices in order."""
    numbers = np.zeros(len(places), dtype=np.int64)
    for axis, size in enumerate(shape.dimensions):
        inside = (places[:, axis] >= 0) & (places[:, axis] < size)
        assert inside.all(), f"a map leads to {places[~inside][0]} in {shape}"
        numbers = numbers * size + places[:, axis]
    return numbers


def reached(way: OperandIndexing, at: Array, array_of: ArrayOf) -> Iterator[tuple[Array, Array]]:
    """The elements that a map leads to, and which of those ``at`` the begin leads there."""
    return _reached(way.map, way.runtime, at, array_of)


def related_given(
    indexing_map: IndexingMap, origins: Sequence[_Place], array_of: Callable[[_Place], Array]
) -> set[Pair]:
    """All pairs of dims and results, each runtime variable having the value at its origin."""
    if indexing_map.is_known_empty:
        return set()
    bounds = [each.bounds for each in indexing_map.dims]
    sizes, first = [each.size or 0 for each in bounds], [each.lower or 0 for each in bounds]
    begin = np.indices(sizes).reshape(len(sizes), prod(sizes)).T + first
    pairs: set[Pair] = set()
    for rows, places in _reached(indexing_map, origins, begin, array_of):
        ends = zip(begin[rows].tolist(), places.tolist(), strict=True)
        pairs |= {(tuple(here), tuple(there)) for here, there in ends}
    return pairs


def _reached(
    indexing_map: IndexingMap,
    origins: Sequence[_Place],
    begin: Array,
    array_of: Callable[[_Place], Array | None],
) -> Iterator[tuple[Array, Array]]:
    if indexing_map.is_known_empty:
        return
    arrays = {f"rt{n}": (origin, array_of(origin)) for n, origin in enumerate(origins)}
    known = {name: (origin, array) for name, (origin, array) in arrays.items() if array is not None}
    domain = indexing_map.domain
    for candidates in _candidates(domain, begin, known):
        points = _with_values(domain, candidates, known)
        yield points[ROW], _at(indexing_map.forms, points)


def _candidates(domain: Domain, begin: Array, known: Known) -> Iterator[Columns]:
    """All points within the bounds, but without the runtime variables that are known."""
    names = list(domain.bounds)
    free = {name: domain.bounds[name] for name in names[len(domain.dims) :] if name not in known}
    sizes = [bounds.size or 0 for bounds in free.values()]
    width = prod(sizes)
    loops = np.indices(sizes).reshape(len(sizes), width)
    if len(begin) * width > MAX_POINTS_IN_ALL:
        raise NotImplementedError(f"a map has {len(begin) * width} points")
    step = max(1, MAX_POINTS // max(1, width))
    for start in range(0, len(begin), step):
        rows = np.arange(start, min(start + step, len(begin)))
        every = np.repeat(rows, width)
        columns = {ROW: every}
        columns |= {names[axis]: begin[every, axis] for axis in range(len(domain.dims))}
        columns |= {
            name: np.tile(loop + (bounds.lower or 0), len(rows))
            for loop, (name, bounds) in zip(loops, free.items(), strict=True)
        }
        yield columns


def _with_values(domain: Domain, points: Columns, known: Known) -> Columns:
    """The points of the domain, with the values of runtime variables."""
    points, waiting = _possible(domain, points), dict(known)
    while waiting:
        ready = (name for name, (at, _) in waiting.items() if _is_known(at.map.forms, points))
        name = next(ready)
        points[name] = _read(*waiting.pop(name), points)
        points = _possible(domain, points)
    return points


def _possible(domain: Domain, points: Columns) -> Columns:
    """The points that meet all bounds and constraints whose variables have values."""
    bounds = domain.bounds.items()
    limits: list[Constraint] = [(forms.variable(name), each) for name, each in bounds]
    limits += domain.constraints
    return where(points, [each for each in limits if _is_known((each[0],), points)])


def _is_known(wanted: Iterable[Form], points: Columns) -> bool:
    return points.keys() >= {*forms.variables_of(wanted)}


def _read(origin: Origin, array: Array, points: Columns) -> Array:
    places = _at(origin.map.forms, points)
    values = array[tuple(places.T)] if array.ndim else np.full(len(places), array)
    assert (places >= 0).all(), f"{origin} leads before the array"
    found: Array = values.astype(np.int64)
    assert not isinstance(origin.clamp, Ends), f"{origin} is clamped to expressions"
    return np.clip(found, origin.clamp.lower, origin.clamp.upper) if origin.clamp else found


def _at(wanted: Sequence[Form], points: Columns) -> Array:
    """The values of forms, those of a point in a row."""
    columns = [values_of(form, points)[0] for form in wanted]
    return np.array(columns, dtype=np.int64).reshape(len(columns), len(points[ROW])).T
