"""Inverses: tables of maps of everyday operations and layouts, and all points of small maps."""

from __future__ import annotations

import pickle

import islpy
import pytest
from hypothesis import given

from indexing import IndexingMap, UndefinedMap, parse_map
from indexing.exact import inverse as solving
from indexing.exact.inverse import solved_for_dims
from indexing.exact.isl import relation_of
from tests.cases import for_all
from tests.evaluation import related
from tests.extent import seldom
from tests.indexing.tables import table
from tests.strategies import index_maps, maps

FUNCTIONS = table("inverses", "functions")
EVERY = [*FUNCTIONS, *table("inverses", "relations"), *table("inverses", "named")]


@for_all(EVERY)
def test_inverse_is_what_a_person_would_write(text: str, expected: str) -> None:
    straight, inverse = parse_map(text), parse_map(expected)
    assert str(straight.inverse()) == str(inverse.simplify())
    assert parse_map(str(straight.inverse())) == straight.inverse()
    context = islpy.Context()
    back = relation_of(straight, context).reverse()
    assert back.is_equal(relation_of(inverse, context)), "the table is right"


@for_all(EVERY)
def test_the_inverse_of_the_inverse_is_equal(text: str, expected: str) -> None:
    assert parse_map(text).inverse().inverse().equals(parse_map(text))
    assert parse_map(expected).inverse().equals(parse_map(text))


@pytest.mark.parametrize(("text", "_"), FUNCTIONS)
def test_an_injective_map_has_a_function_for_its_inverse(text: str, _: str) -> None:
    assert not parse_map(text).inverse().ranges


DIGITS_OF_TWO_SUMS = [
    (
        "(d0, d1, d2) -> (((d0 * 5 + d1 * 16) floordiv 12 + d0 floordiv 4) mod 2, "
        "(d0 floordiv 4 + d0 + d1) mod 3), domain: d0 in [0, 8], d1 in [0, 1], d2 in [0, 1]"
    ),
    (
        "(d0, d1, d2) -> (((d0 * 5 + d1 * 16) floordiv 12 + d0 floordiv 4) mod 2, "
        "d2 * 4 + ((d0 floordiv 4) * 4 + d1 * 4 + d0) floordiv 6), "
        "domain: d0 in [0, 8], d1 in [0, 1], d2 in [0, 1]"
    ),
]


@pytest.mark.parametrize("text", DIGITS_OF_TWO_SUMS)
def test_a_digit_of_two_sums_is_told_by_both(text: str) -> None:
    straight = parse_map(text)
    assert related(straight.inverse()) == {(results, dims) for dims, results in related(straight)}


@seldom
@given(maps())
def test_the_inverse_relates_the_same_points(made: IndexingMap) -> None:
    inverse = made.inverse()
    assert related(inverse) == {(results, dims) for dims, results in related(made)}
    assert inverse.inverse().equals(made)


@given(index_maps())
def test_indices_are_read_backwards(made: IndexingMap) -> None:
    inverse = made.inverse()
    assert related(inverse) == {(results, dims) for dims, results in related(made)}


@given(index_maps())
def test_an_inverse_that_gives_up_solving_relates_the_same_points(made: IndexingMap) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(solving, "_STEPS_EACH", 1)
        inverse = solved_for_dims(made, made.forms)
    assert related(inverse) == {(results, dims) for dims, results in related(made)}


@given(index_maps(holes=False))
def test_indices_without_holes_have_functions_for_their_inverses(made: IndexingMap) -> None:
    assert not made.inverse().ranges


EMPTY = [
    ("(d0, d1) -> (d0), domain: KNOWN EMPTY", "(d0) -> (0, 0), domain: KNOWN EMPTY"),
    (
        "(d0) -> (d0, d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 4 in [2, 2]",
        "(d0, d1) -> (0), domain: KNOWN EMPTY",
    ),
]


@pytest.mark.parametrize(("text", "expected"), EMPTY)
def test_inverse_of_nothing(text: str, expected: str) -> None:
    assert parse_map(text).inverse() == parse_map(expected)


UNKNOWN = [
    (
        "(row, d1) -> (row * d1), domain: row in [0, 3], d1 in [0, 4]",
        "d1 * row: is a product of variables",
    ),
    (
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [1, 4], d0 mod d1 in [0, 0]",
        "d0 mod d1: is a division by what is not a constant",
    ),
]


@pytest.mark.parametrize(("text", "reason"), UNKNOWN)
def test_what_is_not_quasi_affine_is_named(text: str, reason: str) -> None:
    inverse = parse_map(text).inverse()
    assert isinstance(inverse, UndefinedMap)
    assert reason in inverse.reason


def test_an_undefined_map_is_its_own_inverse() -> None:
    nobody_knows = UndefinedMap("a sort")
    assert nobody_knows.inverse() is nobody_knows


def test_an_inverse_is_an_ordinary_map() -> None:
    inverse = parse_map(EVERY[0][0]).inverse()
    assert pickle.loads(pickle.dumps(inverse)) == inverse  # noqa: S301 - our own
    assert inverse.simplify() == inverse
