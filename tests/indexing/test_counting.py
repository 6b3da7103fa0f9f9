"""How many points and results a map has: in closed form, and as counted one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, parse_map
from indexing.exact.counting import Line, sum_of_floors, sum_of_least
from simplifier import BudgetError
from tests.call_counts import calls_of
from tests.strategies import maps

SIDE = 2**40
LAST = SIDE - 1

COUNTS = {
    "no variables": ("() -> (3)", 1, 1),
    "no results": ("(d0) -> (), domain: d0 in [0, 4]", 5, 1),
    "known empty": ("(d0) -> (d0), domain: KNOWN EMPTY", 0, 0),
    "empty": ("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]", 0, 0),
    "empty without variables": ("() -> (), domain: KNOWN EMPTY", 0, 0),
    "box": (f"(d0, d1) -> (d1, d0), domain: d0 in [0, {LAST}], d1 in [0, {LAST}]", 2**80, 2**80),
    "broadcast": (f"(d0, d1) -> (d1), domain: d0 in [0, {LAST}], d1 in [0, 9]", SIDE * 10, 10),
    "ranges and runtime variables": (
        f"(d0)[s0]{{rt0}} -> (d0 + rt0), domain: d0 in [0, 9], s0 in [0, 4], rt0 in [0, {LAST}]",
        50 * SIDE,
        SIDE + 9,
    ),
    "residues": (
        f"(d0) -> (d0 floordiv 3), domain: d0 in [0, {LAST}], d0 mod 3 in [0, 1]",
        2 * (SIDE // 3) + 1,
        SIDE // 3 + 1,
    ),
    "residues of several moduli": (
        (
            f"(d0) -> (d0), domain: d0 in [0, {105 * SIDE - 1}], "
            "d0 mod 3 in [0, 1], d0 mod 5 in [0, 2], d0 mod 7 in [3, 6]"
        ),
        2 * 3 * 4 * SIDE,
        2 * 3 * 4 * SIDE,
    ),
    "triangle": (
        f"(d0, d1) -> (d0), domain: d0 in [0, {LAST}], d1 in [0, {LAST}], d0 - d1 in [0, {LAST}]",
        SIDE * (SIDE + 1) // 2,
        SIDE,
    ),
    "band": (
        f"(d0, d1) -> (d0 - d1), domain: d0 in [0, {LAST}], d1 in [0, {LAST}], d0 - d1 in [-1, 1]",
        3 * SIDE - 2,
        3,
    ),
    "two triangles and a box": (
        (
            f"(d0, d1, d2, d3, d4) -> (d4), domain: d0 in [0, {LAST}], d1 in [0, {LAST}], "
            f"d2 in [0, {LAST}], d3 in [0, {LAST}], d4 in [0, 2], "
            f"d0 - d1 in [0, {LAST}], d2 - d3 in [0, {LAST}]"
        ),
        3 * (SIDE * (SIDE + 1) // 2) ** 2,
        3,
    ),
    "mixed radix with an end": (
        (
            "(d0)[s0, s1] -> (d0 * 6 + s0 * 3 + s1), domain: d0 in [0, 999999999999], "
            "s0 in [0, 1], s1 in [0, 2], d0 * 6 + s0 * 3 + s1 in [0, 599999999998]"
        ),
        599999999999,
        599999999999,
    ),
    "tetrahedron": (
        (
            "(d0, d1, d2) -> (d0 + d1 + d2), domain: d0 in [0, 99], d1 in [0, 99], d2 in [0, 99], "
            "d0 - d1 in [0, 99], d1 - d2 in [0, 99]"
        ),
        171700,
        298,
    ),
    "windows": (
        f"(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, {LAST}], s0 in [0, 2]",
        3 * SIDE,
        2 * SIDE + 1,
    ),
    "multiples of two numbers": (
        f"(d0, d1) -> (d0 * 5 + d1 * 7), domain: d0 in [0, {LAST}], d1 in [0, {LAST}]",
        SIDE**2,
        12 * LAST + 1 - 2 * 12,  # Sylvester: 12 numbers are missing at either end
    ),
    "threads of a tiled transpose": (
        (
            "(th_x, bl_x)[s0] -> (((bl_x * 16 + th_x floordiv 32) floordiv 3) * 32 + th_x mod 32, "
            "(bl_x * 16 + th_x floordiv 32) mod 3 * 8 + s0), "
            "domain: th_x in [0, 511], bl_x in [0, 59], s0 in [0, 7]"
        ),
        245760,
        245760,
    ),
}


@pytest.mark.parametrize(("text", "points", "results"), COUNTS.values(), ids=COUNTS)
def test_count(text: str, points: int, results: int) -> None:
    made = parse_map(text)
    assert made.count() == points
    assert made.count_results() == results


@pytest.mark.parametrize("name", ["box", "residues", "triangle", "windows"])
def test_counting_takes_no_more_for_more_points(name: str) -> None:
    """There are millions; a look at each would take a call."""
    made = parse_map(COUNTS[name][0])
    assert calls_of(lambda: (made.count(), made.count_results())) < 100_000


@given(maps())
def test_counts_are_those_of_all_points(made: IndexingMap) -> None:
    points = [] if made.is_known_empty else list(made.points())
    assert made.count() == len(points)
    assert made.count_results() == len({point[3] for point in points})


UNBOUNDED = [
    ("(d0, row) -> (d0), domain: d0 in [0, 9], row in [0, inf]", "count: row is not bounded"),
    ("(d0)[s0] -> (), domain: d0 in [0, 9], s0 in [-inf, 0]", "count: s0 is not bounded"),
]


@pytest.mark.parametrize(("text", "message"), UNBOUNDED)
def test_what_is_not_bounded_is_named(text: str, message: str) -> None:
    with pytest.raises(MapError, match=message):
        parse_map(text).count()
    assert parse_map(text).count_results() < 11


@pytest.mark.parametrize("result", ["d0", "d0 * 2", "d0 floordiv 2", "d0 mod 3 - d0"])
def test_a_result_that_is_not_bounded_is_named(result: str) -> None:
    with pytest.raises(MapError, match="count_results: result 1 is not bounded"):
        parse_map(f"(d0) -> (3, {result}), domain: d0 in [0, inf]").count_results()


def test_bounds_may_come_from_constraints() -> None:
    assert parse_map("(d0) -> (), domain: d0 in [0, inf], d0 * 3 in [0, 10]").count() == 4


def test_counting_has_a_budget() -> None:
    side = 10**9
    tetrahedron = (
        f"(d0, d1, d2) -> (), domain: d0 in [0, {side}], d1 in [0, {side}], d2 in [0, {side}], "
        f"d0 - d1 in [0, {side}], d1 - d2 in [0, {side}]"
    )
    with pytest.raises(BudgetError, match="30000 operations of isl were not enough"):
        parse_map(tetrahedron).count(budget=30_000)


# Closed forms.

_small = st.integers(-30, 30)


@given(st.integers(0, 20), _small, _small, st.integers(1, 12))
def test_sum_of_floors(count: int, slope: int, constant: int, divisor: int) -> None:
    expected = sum((slope * i + constant) // divisor for i in range(count))
    assert sum_of_floors(count, slope, constant, divisor) == expected


@given(
    st.lists(st.builds(Line, _small, _small, st.integers(1, 12)), min_size=1, max_size=4),
    st.integers(-9, 9),
    st.integers(0, 20),
)
def test_sum_of_least(lines: list[Line], first: int, count: int) -> None:
    last = first + count - 1
    expected = sum(min(line.at(x) // 1 for line in lines) for x in range(first, last + 1))
    assert sum_of_least(lines, first, last) == expected
