"""One map to ask questions about, with the truth about it: all its points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeAlias

import numpy as np

from benchmarks.fuzzing.shrink import closer, smaller
from indexing import IndexingMap, parse_map
from indexing.domain import Domain
from simplifier.bounds.interval import Interval
from simplifier.expr.form import Form
from tests.evaluation import Columns, values_of, where

Values: TypeAlias = tuple[int, ...]

Access: TypeAlias = tuple[Values, Values, Values]
"""Dimensions, runtime variables and results that belong together for some values of ranges."""


@dataclass(frozen=True)
class MapCase:
    """A map with bounded variables."""

    map: IndexingMap

    @classmethod
    def of(cls, results: Iterable[Form], domain: Domain) -> MapCase:
        """The case of some results on a domain."""
        return cls(IndexingMap.from_forms(results, domain))

    @classmethod
    def read(cls, text: str) -> MapCase:
        """The case of a row of a table of tests."""
        return cls(parse_map(text))

    @property
    def row(self) -> str:
        """The argument of a row of the table of tests."""
        return f'"{self.map}"'

    @cached_property
    def points(self) -> Columns:
        """All points of the domain, as columns."""
        return points_of(self.map)

    @cached_property
    def accesses(self) -> set[Access]:
        """What the map relates, for each value of the runtime variables."""
        return accesses_at(self.map, self.points)

    def without_idle_variables(self) -> MapCase:
        """The case itself: a variable that no result uses is part of the question."""
        return self

    def neighbours(self) -> Iterator[MapCase]:
        """Smaller cases: fewer results and constraints, smaller forms, narrower bounds."""
        forms, domain = self.map.forms, self.map.domain
        for place, form in enumerate(forms):
            yield self.of((*forms[:place], *forms[place + 1 :]), domain)
            for other in smaller(form):
                yield self.of((*forms[:place], other, *forms[place + 1 :]), domain)
        limits = domain.constraints
        for place, (form, interval) in enumerate(limits):
            others = (*limits[:place], *limits[place + 1 :])
            yield self.of(forms, domain.with_constraints(others))
            for other in smaller(form):
                bare = domain.with_constraints(others)
                yield self.of(forms, bare.constrained([(other, interval)]))
        yield from self._with_narrower_bounds()

    def _with_narrower_bounds(self) -> Iterator[MapCase]:
        domain = self.map.domain
        for place, variable in enumerate(domain.variables):
            for ends in closer((variable.bounds.lower, variable.bounds.upper)):
                if ends[0] is not None and ends[1] is not None and ends[1] - ends[0] <= _MAX_SIZE:
                    variables = [*domain.variables]
                    variables[place] = variable.within(Interval(*ends))
                    changed = type(domain)(*domain.by_role(variables), domain.constraints)
                    yield self.of(self.map.forms, changed)


_MAX_SIZE = 12


def box(intervals: Iterable[Interval]) -> list[Values]:
    """All points of a box."""
    return list(product(*intervals))


def columns(names: Iterable[str], rows: Sequence[Values]) -> Columns:
    """Points as one column for each variable."""
    names = tuple(names)
    table = np.array(rows, dtype=np.int64).reshape(len(rows), len(names)).T
    return dict(zip(names, table, strict=True))


def points_of(indexing_map: IndexingMap, rows: Sequence[Values] | None = None) -> Columns:
    """The points of the domain, all or among some."""
    domain = indexing_map.domain
    if domain.is_known_empty:
        rows = ()
    every = columns(domain.identifiers, box(domain.bounds.values()) if rows is None else rows)
    return where(every, domain.constraints)


def accesses_at(indexing_map: IndexingMap, points: Columns) -> set[Access]:
    """What a map relates at some points, for each value of the runtime variables."""
    if not indexing_map.domain.identifiers:
        if indexing_map.is_known_empty:
            return set()
        results = tuple(form.constant for form in indexing_map.forms)
        return {((), (), results)}
    dims, _, runtime = indexing_map.domain.by_role(tuple(points.values()))
    count = len(next(iter(points.values())))
    results = [values_of(form, points)[0] for form in indexing_map.forms]
    return set(zip(*(_rows(part, count) for part in (dims, runtime, results)), strict=True))


def _rows(parts: Sequence[np.ndarray], count: int) -> list[Values]:
    """Columns as one tuple for each point."""
    if not parts:
        return [()] * count
    return list(zip(*(part.tolist() for part in parts), strict=True))
