"""What a map with runtime variables says once the operands are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from indexing import IndexingMap
from indexing.domain import Constraint
from simplifier.expr import form as forms
from tests.evaluation import Column, Columns, Pair, every_point, pairs_at, values_of, where

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


class AnyOrigin(Protocol):
    """Where the value of a runtime variable is found: in an operand, or an instruction."""

    @property
    def map(self) -> IndexingMap: ...
    @property
    def clamp(self) -> Any: ...  # noqa: ANN401 - an interval; sizes of tests are numbers


Place = TypeVar("Place", bound=AnyOrigin)


def related_given(
    indexing_map: IndexingMap, origins: Sequence[Place], array_of: Callable[[Place], Array]
) -> set[Pair]:
    """All pairs of dims and results, each runtime variable having the value at its origin."""
    if indexing_map.is_known_empty:
        return set()
    domain = indexing_map.domain
    own = dict(list(domain.bounds.items())[: len(domain.dims) + len(domain.ranges)])
    points = _possible(indexing_map, every_point(own))
    waiting = dict(zip(list(domain.bounds)[len(own) :], origins, strict=True))
    while waiting:
        name = next(name for name, origin in waiting.items() if _is_known(origin.map, points))
        origin = waiting.pop(name)
        points[name] = _read(origin, array_of(origin), points)
        points = _possible(indexing_map, points)
    return pairs_at(indexing_map, points)


def _is_known(place: IndexingMap, points: Columns) -> bool:
    return points.keys() >= {*forms.variables_of(place.forms)}


def _possible(indexing_map: IndexingMap, points: Columns) -> Columns:
    """The points that meet all bounds and constraints whose variables have values."""
    domain = indexing_map.domain
    limits: list[Constraint] = [
        (forms.variable(name), interval) for name, interval in domain.bounds.items()
    ]
    limits += domain.constraints
    known = [limit for limit in limits if points.keys() >= {*forms.variables_of((limit[0],))}]
    return where(points, known)


def _read(origin: AnyOrigin, array: Array, points: Columns) -> Column:
    count = len(next(iter(points.values()))) if points else 1
    index = [values_of(form, points)[0] for form in origin.map.forms]
    values = [array[tuple(int(column[row]) for column in index)] for row in range(count)]
    if origin.clamp:
        values = np.clip(values, origin.clamp.lower, origin.clamp.upper)
    return np.array([int(value) for value in values], dtype=object)
