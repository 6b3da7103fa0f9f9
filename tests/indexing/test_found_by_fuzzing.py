"""The checks of ``benchmarks/fuzz.py``: of any map, and of those that once failed them."""

from __future__ import annotations

from inspect import unwrap

import pytest
from hypothesis import given

from benchmarks import fuzz
from benchmarks.fuzzing.checks import complaint
from benchmarks.fuzzing.map_case import MapCase
from benchmarks.fuzzing.map_checks import CHECKS, SOLVED
from indexing import IndexingMap
from tests.cases import for_all
from tests.extent import IN_CI
from tests.indexing.tables import texts
from tests.strategies import maps

# how a check failed, its name, and the map
FOUND = texts("""
# solved for the dimensions: lost [((0, 7), (), (2, 3))]
solved, a digit that ends between two others: (d0 < 3, d1 < 5) -> ((d1 * 7 - d0 + 5) mod 12, (((d1 *
        7 - d0 + 5) floordiv 4) * 3 + ((d1 * 7 - d0 + 11) floordiv 60) * 4 + 1) mod 12)
# TimeoutError
solved, a part read as more than the whole: (d0 in [-1, 2]) -> ((d0 * -256) floordiv 40 * 8 + (d0 *
        -256) mod 400)
# TimeoutError
solved, a known quotient borrowed by a digit: (d0 in [-1, 1])[s0 in [-3, -2], s1 < 6] -> (((s0 * 6 +
        s1 * 6 - d0) floordiv 24) * -9, ((s0 * 6 + s1 * 6 - d0) floordiv 24) * 36 - (s0 * 6 + s1 * 6
        - d0 + 1) mod 3, d0)
# KeyError: 'n0'
solved, a known variable is solved for again: (d0 < 5, d1 < 6) -> ((((d0 * 4 + d1 + 32) floordiv 5)
        mod 20) * 3 + ((d0 * 4 + d1 + 4) floordiv 80) * 20 + d1 * 32 + ((d0 * 4 + d1 - 7) floordiv
        5) mod 20 + 1, d1 * 2 + ((d0 * 4 + d1 - 20) floordiv 4) mod 80 + (d0 * 4 + d1 + 32) floordiv
        80 - ((d0 * 4 + d1 + 32) mod 20) * 4 - 4, d1)
# KeyError: <floordiv (d0 + 15) floordiv 4>
solved, a carry that is not canonical: (d0 < 6) -> ((((d0 * 32 + 3) floordiv 4) mod 1) * 4 + (((d0 *
        32 - 13) floordiv 128) mod 4) * 4 + ((d0 * 32 + 3) floordiv 128) mod 16, (((d0 * 32 + 3) mod
        1) * 3 + ((d0 * 32 + 7) mod 16) * 2 + (d0 * 32 + 3) floordiv 4 + 1) mod 16, ((d0 * 32 + 1)
        floordiv 16) * 4 + ((d0 * 32 + 3) floordiv 16) mod 128 - (((d0 * 32 + 3) floordiv 4) mod 16)
        * 4 - ((d0 * 32 - 4) mod 128) * 16 - d0 * 3 - 4)
# solved for the dimensions: lost [((12,), (), (4, 2))]
inverse, a digit with a constant: (d0 < 7, d1 < 3)[s0 in [-1, -1]] -> (((((d1 * 8 + s0 * 32 - d0 +
        3) mod 18) * 4 + ((d1 * 8 + s0 * 32 - d0 + 5) mod 18) * 18 + ((d1 * 8 + s0 * 32 - d0 + 37)
        floordiv 18) * 6 - ((d1 * 8 + s0 * 32 - d0 + 5) floordiv 6) * 6) floordiv 6))
# Error: call to isl_constraint_get_aff failed: local space has unknown divs
sets, a quotient that comes of joining pieces: (d0 < 4, d1 < 2, d2 < 3) -> ((((d0 * 6 + d1 * 3 + d2)
        floordiv 2) floordiv 6) * 7 + ((d0 * 6 + d1 * 3 + d2) floordiv 2) mod 6, (d0 * 6 + d1 * 3 +
        d2) mod 2, 0)
""")


@for_all([*FOUND])
def test_what_was_found_stays_right(name: str) -> None:
    check = {**SOLVED, **CHECKS}[name.partition(",")[0]]
    assert complaint(MapCase.read(FOUND[name]), check) is None


@pytest.mark.parametrize("check", CHECKS)
@given(made=maps())
def test_answers_are_those_of_all_points(check: str, made: IndexingMap) -> None:
    """None of these maps takes too long."""
    assert complaint(MapCase(made), unwrap(CHECKS[check])) is None


@pytest.mark.parametrize(
    ("about", "cases"), [("inverses", 1000 if IN_CI else 200), ("maps", 40 if IN_CI else 10)]
)
def test_random_maps_are_answered_rightly(about: str, cases: int) -> None:
    assert fuzz.main(["--about", about, "--cases", str(cases), "--seed", "15"]) == 0
