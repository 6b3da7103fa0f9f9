"""Strides and contiguity against all steps of small maps, and by hand."""

from __future__ import annotations

from itertools import chain
from math import gcd

import pytest
from hypothesis import given

from indexing import Contiguity, IndexingMap, MapError, Stride, parse_map
from simplifier import Interval
from tests.indexing.tables import each_named, refusals
from tests.strategies import index_maps, maps


@each_named("""
affine: (d0 < 10) -> (d0 * -3 + 1) => d0: -3
one value: (d0 in [4, 4]) -> (d0) => d0: 0
a digit: (d0 < 64) -> (d0 mod 8) => d0: 1 in runs of 8
a quotient: (d0 < 64) -> (d0 floordiv 8) => d0: 0 in runs of 8
a shifted digit: (d0 < 64) -> ((d0 + 3) mod 8) => d0: 1 in runs of 8 from 5
a middle digit: (d0 < 96) -> (((d0 floordiv 6) mod 4) * 5) => d0: 0 in runs of 6
one break: (d0 < 5) -> (max(d0, 3)) => d0: 0 in runs of 4
other at each step: (d0 < 5, d1 < 3) -> (d0 * d1) => d0: varies in [0, 2], d1: varies in [0, 4]
far: (d0 < 1099511627776)[s0 < 8] -> (d0 mod 1048576 + s0) => d0: 1 in runs of 1048576, s0: 1
a divisor that varies: (d0 < 100, d1 in [1, 64]) -> (d0 mod d1)
    d0: varies in [-63, 1], d1: varies in [-9, 63]
without end: (d0 in [0, inf]) -> (d0 * 2) => d0: 2
every third: (d0 < 10) -> (d0), domain: d0 mod 3 in [0, 0] => d0: 0
with parameters: (d0 < N, d1 < 8)<N in [0, inf]> -> (d0 * 8 + d1 + N) => d0: 8, d1: 1
""")
def test_shown(text: str, shown: str) -> None:
    assert str(parse_map(text).strides()[0]) == shown


test_what_has_no_strides = refusals({}, MapError)("""
parse_map("(d0)<N> -> (d0 * N), domain: d0 in [0, 7], N in [0, inf]").strides()
    strides: the map has the parameters N
UndefinedMap("why").strides() => the map is undefined: why
""")


def test_a_stride_is_a_value() -> None:
    indexing = parse_map("(d0) -> (d0 mod 4), domain: d0 in [0, 9]")
    (strides,), (again,) = indexing.strides(), indexing.strides()
    assert strides == again
    assert hash(strides) == hash(again)
    assert list(strides) == ["d0"]
    with pytest.raises(KeyError):
        strides["d1"]


def _steps(indexing: IndexingMap, variable: int, result: int) -> list[tuple[int, int]]:
    """The value of the variable and the change of the result, at each step."""
    values = {(*chain(*point[:3]),): point[3][result] for point in indexing.points()}
    return [
        (point[variable], values[following] - value)
        for point, value in values.items()
        if (following := (*point[:variable], point[variable] + 1, *point[variable + 1 :])) in values
    ]


def _check_stride(stride: Stride, steps: list[tuple[int, int]]) -> None:
    changes = {change for _, change in steps} or {0}
    assert stride.differences == Interval(min(changes), max(changes))
    if stride.run is None:
        assert changes == {stride.value}
        return
    positions = [at for at, _ in steps]
    runs = {
        value: _run({at + 1 for at, change in steps if change != value}, positions)
        for value in changes
    }
    assert (stride.run or 0) == max(runs.values())
    if stride.value is None:
        assert stride.run == 1
    else:
        assert stride.run == runs[stride.value]
        breaks = [at + 1 for at, change in steps if change != stride.value]
        assert {each % stride.run for each in breaks} == {stride.start}


def _run(breaks: set[int], positions: list[int]) -> int:
    """The size of runs between breaks; of a single one, that of the longer run beside it."""
    first = min(breaks)
    size = gcd(*(each - first for each in breaks))
    return size or max(first - min(positions), max(positions) + 2 - first)


def _divides(steps: list[tuple[int, int]], size: int, value: int, lower: int) -> bool:
    return all(change == value or (at + 1 - lower) % size == 0 for at, change in steps)


def _check_contiguity(
    found: Contiguity, steps: list[tuple[int, int]], values: list[tuple[int, int]], axis: Interval
) -> None:
    """``values`` are those of the variable and of the result, at each point."""
    assert axis.lower is not None
    assert axis.size
    sizes = range(1, axis.size + 1)
    constancy, contiguity = (
        max(size for size in sizes if _divides(steps, size, value, axis.lower)) for value in (0, 1)
    )
    assert (found.contiguity, found.constancy) == (contiguity, constancy)
    begun = [value - (at - axis.lower) % contiguity for at, value in values]
    assert found.divisibility == gcd(*begun)
    results = [value for _, value in values]
    assert found.bounds == (Interval(min(results), max(results)) if results else Interval(0, -1))


def check(indexing: IndexingMap) -> None:
    variables = tuple(chain(*indexing.domain.roles))
    points = list(indexing.points())
    both = zip(indexing.strides(), indexing.contiguity(), strict=True)
    for result, (strides, groups) in enumerate(both):
        for position, name in enumerate(strides):
            steps = _steps(indexing, position, result)
            _check_stride(strides[name], steps)
            values = [([*chain(*point[:3])][position], point[3][result]) for point in points]
            if points:
                _check_contiguity(groups[name], steps, values, variables[position].bounds)


@given(maps())
def test_random_maps(indexing: IndexingMap) -> None:
    check(indexing)


@given(index_maps())
def test_reshapes(indexing: IndexingMap) -> None:
    check(indexing)
