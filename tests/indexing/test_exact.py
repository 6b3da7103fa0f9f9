"""Exact questions about maps, against all points of small ones."""

from __future__ import annotations

import pytest
from hypothesis import given

from indexing import IndexingMap, parse_map
from simplifier.exact import NotQuasiAffineError
from tests.evaluation import related
from tests.strategies import maps

EQUAL = [
    # ranges count for what they reach
    (
        "()[s0, s1] -> (s0 * 2 + s1), domain: s0 in [0, 3], s1 in [0, 1]",
        "()[s0] -> (s0), domain: s0 in [0, 7]",
    ),
    # so do runtime variables
    ("(){rt0} -> (rt0 + 1), domain: rt0 in [0, 3]", "()[s0] -> (s0), domain: s0 in [1, 4]"),
    # names do not matter
    ("(row) -> (row), domain: row in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 3]"),
    # constraints and bounds say the same
    (
        "(d0) -> (d0), domain: d0 in [0, 9], d0 floordiv 4 in [1, 1]",
        "(d0) -> (d0), domain: d0 in [4, 7]",
    ),
    # unused ranges with a solution
    (
        "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 9], s0 mod 7 in [6, 6]",
        "(d0) -> (d0), domain: d0 in [0, 3]",
    ),
    # two empty maps, one of which does not look so
    (
        "(d0) -> (d0), domain: d0 in [0, 5], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]",
        "(d0) -> (7), domain: d0 in [1, 0]",
    ),
    # without bounds
    (
        "(d0) -> ((d0 floordiv 2) * 2 + d0 mod 2), domain: d0 in [-inf, inf]",
        "(d0) -> (d0), domain: d0 in [-inf, inf]",
    ),
    # a variable with one value may multiply
    (
        "(d0, d1) -> (d0 * d1), domain: d0 in [0, 9], d1 in [3, 3]",
        "(d0, d1) -> (d0 * 3), domain: d0 in [0, 9], d1 in [3, 3]",
    ),
    ("() -> (3)", "()[s0] -> (s0), domain: s0 in [3, 3]"),
    ("() -> ()", "()[s0] -> (), domain: s0 in [3, 5]"),
]
DIFFERENT = [
    ("(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 4]"),
    ("(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (d0, d0), domain: d0 in [0, 3]"),
    ("(d0) -> (), domain: d0 in [0, 3]", "(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 3]"),
    ("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 3]"),
    (
        "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 5], s0 mod 7 in [6, 6]",
        "(d0) -> (d0), domain: d0 in [0, 3]",
    ),
    (
        "(d0) -> (d0 floordiv -2), domain: d0 in [0, 3]",
        "(d0) -> (-(d0 floordiv 2)), domain: d0 in [0, 3]",
    ),
]


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal(a: str, b: str) -> None:
    assert parse_map(a).equals(parse_map(b))
    assert parse_map(b).equals(parse_map(a))


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different(a: str, b: str) -> None:
    assert not parse_map(a).equals(parse_map(b))
    assert not parse_map(b).equals(parse_map(a))


@given(maps(results=1, dims=1), maps(results=1, dims=1))
def test_equality_is_that_of_all_points(a: IndexingMap, b: IndexingMap) -> None:
    assert a.equals(b) is (related(a) == related(b))
    assert a.equals(a.simplify())


@given(maps())
def test_emptiness_is_that_of_all_points(made: IndexingMap) -> None:
    assert made.is_empty() is (not related(made))


EMPTY = [
    ("(d0) -> (d0), domain: d0 in [0, 99], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]", True),
    ("(d0) -> (d0), domain: d0 in [0, 99], d0 mod 4 in [1, 1], d0 mod 6 in [1, 1]", False),
    ("(d0) -> (d0), domain: d0 in [-inf, inf], d0 * 6 in [1, 5]", True),
    ("(d0, d1) -> (), domain: d0 in [0, inf], d1 in [0, inf], d0 * 6 - d1 * 4 in [3, 3]", True),
    ("(d0) -> (d0), domain: KNOWN EMPTY", True),
    ("() -> (0), domain: KNOWN EMPTY", True),
    ("() -> (0)", False),
]


@pytest.mark.parametrize(("text", "is_empty"), EMPTY)
def test_empty(text: str, is_empty: bool) -> None:
    assert parse_map(text).is_empty() is is_empty


REFUSED = [
    ("(d0, d1) -> (d0 * d1), domain: d0 in [0, 9], d1 in [0, 9]", "d0 * d1"),
    ("(d0, d1) -> (d0 mod d1), domain: d0 in [0, 9], d1 in [1, 9]", "d0 mod d1"),
    ("(d0) -> (d0), domain: d0 in [0, 9], d0 * d0 in [0, 9]", "d0 * d0"),
]


@pytest.mark.parametrize(("text", "term"), REFUSED)
def test_what_is_not_quasi_affine_is_named(text: str, term: str) -> None:
    with pytest.raises(NotQuasiAffineError) as caught:
        parse_map(text).equals(parse_map(text.replace("9", "8")))
    assert caught.value.term == term
    assert parse_map(text).equals(parse_map(text)), "equal fields need no question"


def test_a_constraint_that_is_not_quasi_affine_is_named() -> None:
    squares = parse_map("(d0) -> (d0), domain: d0 in [0, 9], d0 * d0 in [2, 3]")
    with pytest.raises(NotQuasiAffineError, match=r"d0 \* d0: is a product of variables"):
        squares.is_empty()
