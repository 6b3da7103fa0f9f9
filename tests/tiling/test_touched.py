"""Elements that tiles of many sizes touch, against sets of all pairs of tiles and elements."""

from __future__ import annotations

from ast import literal_eval
from itertools import product

from hypothesis import given
from hypothesis import strategies as some

from indexing import IndexingMap, parse_map
from ops.performance.tally import Deadline, number_of_sums, tally_of
from ops.tiling import touched
from tests.indexing.tables import each_named, each_text

TERMS = some.lists(some.tuples(some.integers(-12, 12), some.integers(0, 5)), max_size=4)
"""Strides and sizes."""


@given(TERMS)
def test_sums_are_those_of_all_points(terms: list[tuple[int, int]]) -> None:
    strides, sizes = [stride for stride, _ in terms], [size for _, size in terms]
    points = product(*map(range, sizes))
    sums = {sum(a * x for a, x in zip(strides, point, strict=True)) for point in points}
    assert number_of_sums(strides, sizes) in {len(sums), None}


# strides => sizes => how many sums they have, if a law tells
@each_named("""
a window: [1, 1] => [10, 3] => 12
a window with a stride: [2, 1] => [5, 3] => 11
a window with holes: [2, 1] => [5, 1] => 5
digits: [12, 4, 1] => [5, 3, 4] => 60
a window of windows: [1, 1, 1] => [32, 63, 63] => 156
a window above a digit: [4, 4, 1] => [5, 3, 2] => 14
digits without a common unit: [7, 2] => [2, 3] => 6
a turned dimension: [-1, 1] => [4, 3] => 6
a factor of 0: [0, 3] => [9, 4] => 4
no point: [1, 1] => [9, 0] => 0
no term: [] => [] => 1
sums that meet here and there: [3, 2] => [3, 3] => None
a trillion squared: [1, 1] => [1000000000000, 1000000000000] => 1999999999999
""")
def test_sums(strides: str, sizes: str, expected: str) -> None:
    found = number_of_sums(literal_eval(strides), literal_eval(sizes))
    assert found == literal_eval(expected)


@each_text("""
a window: (d0 < 10, d1 < 3) -> (d0 + d1)
a window with a stride: (d0 < 5, d1 < 3) -> (d0 * 2 + d1 - 1)
a window with padding: (d0 < 10, d1 < 3) -> (d0 + d1 - 1), domain: d0 + d1 in [1, 10]
a window of windows: (d0 < 8, d1 < 15, d2 < 15) -> (d0 + d1 + d2 - 14), domain: d0 + d1 + d2 in
        [14, 21], d0 + d1 in [7, 14]
sums that meet here and there: (d0 < 7, d1 < 7) -> (d0 * 3 + d1 * 2)
two windows: (d0 < 5, d1 < 3, d2 < 4) -> (d0 + d1, d1 + d2)
a digit: (d0 < 10, d1 < 6) -> ((d0 + d1) floordiv 4)
a dimension from 3 on: (d0 in [3, 9], d1 < 5) -> (d0 + d1)
a dimension of no result: (d0 < 5, d1 < 5) -> (d0 * 2)
no point: (d0 < 5, d1 < 5) -> (d0 + d1), domain: d0 + d1 in [9, 12]
no result: (d0 < 5) -> ()
""")
def test_tiles_touch_what_their_points_touch(text: str) -> None:
    part = parse_map(text)
    choices = [[1, 2, 3, 4, 5, 8, 20]] * len(part.dims)
    assert touched(part, choices) == [pairs(part, sizes) for sizes in product(*choices)]


@given(some.data())
def test_tiles_of_random_sums(data: some.DataObject) -> None:
    """With bounds on the sum or without."""
    rank = data.draw(some.integers(1, 3))
    strides = data.draw(some.lists(some.integers(-5, 5), min_size=rank, max_size=rank))
    wholes = data.draw(some.lists(some.integers(1, 9), min_size=rank, max_size=rank))
    names = [f"d{number}" for number in range(rank)]
    total = " + ".join(f"{a} * {name}" for a, name in zip(strides, names, strict=True))
    bounds = [f"{name} in [0, {size - 1}]" for name, size in zip(names, wholes, strict=True)]
    if data.draw(some.booleans()):
        bounds.append(f"{total} in [{data.draw(some.integers(-9, 2))}, 12]")
    part = parse_map(f"({', '.join(names)}) -> ({total}), domain: {', '.join(bounds)}")
    choices = [sorted(data.draw(some.sets(some.integers(1, 10), min_size=1))) for _ in names]
    assert touched(part, choices) == [pairs(part, sizes) for sizes in product(*choices)]
    tally = tally_of([part], Deadline(None))
    points = [tuple(results) for *_, results in part.points()]
    assert tally == (len(points), len(set(points)))


def pairs(part: IndexingMap, sizes: tuple[int, ...]) -> int:
    """The pairs of tiles and elements, one after the other."""
    return len(
        {
            (*(value // size for value, size in zip(dims, sizes, strict=True)), "->", *results)
            for dims, _, _, results in part.points()
        }
    )


def test_large_windows_have_a_closed_form() -> None:
    part = parse_map("(d0, d1) -> (d0 + d1), domain: d0 in [0, 999999999999], d1 in [0, 2]")
    assert touched(part, [[10**6], [1, 3]]) == [3 * 10**12, 10**6 * (10**6 + 2)]


def test_many_points_without_a_closed_form_are_not_gone_through() -> None:
    part = parse_map("(d0, d1) -> (d0 * 3 + d1 * 2), domain: d0 in [0, 9999], d1 in [0, 9999]")
    assert touched(part, [[10], [10]]) is None
