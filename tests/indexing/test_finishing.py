"""Maps that isl finishes: sharp bounds, needed constraints, the same relation."""

from __future__ import annotations

import pytest
from hypothesis import given

from indexing import IndexingMap, parse_map
from simplifier import BudgetError, NotQuasiAffineError
from tests.evaluation import related
from tests.extent import examples
from tests.strategies import maps

FINISHED = [
    # map, finished
    (
        "(d0) -> (d0), domain: d0 in [0, 13], d0 mod 4 in [1, 1], d0 mod 6 in [3, 3]",
        "(d0) -> (9), domain: d0 in [9, 9]",
    ),
    (
        (
            "(d0, d1) -> ((d0 + d1) floordiv 8, d0 mod 4), "
            "domain: d0 in [0, 7], d1 in [0, 7], d1 - d0 in [0, 0]"
        ),
        (
            "(d0, d1) -> (d0 floordiv 4, d0 mod 4), "
            "domain: d0 in [0, 7], d1 in [0, 7], d0 - d1 in [0, 0]"
        ),
    ),
    (
        (
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], "
            "d0 + d1 in [0, 5], d0 * 3 + d1 * 2 in [0, 15]"
        ),
        "(d0, d1) -> (d0), domain: d0 in [0, 5], d1 in [0, 5], d0 + d1 in [0, 5]",
    ),
    (
        (
            "(d0, d1) -> (max(d0, d1)), domain: d0 in [0, 9], d1 in [0, 9], "
            "d0 + d1 in [10, 99], d0 - d1 * 2 in [3, 99]"
        ),
        (
            "(d0, d1) -> (d0), domain: d0 in [8, 9], d1 in [1, 3], d0 + d1 in [10, 12], "
            "d0 - d1 * 2 in [3, 7]"
        ),
    ),
    (
        "()[s0] -> (s0), domain: s0 in [0, 5], s0 mod 4 in [1, 1], s0 mod 6 in [0, 0]",
        "()[s0] -> (0), domain: KNOWN EMPTY",
    ),
    (  # isl does not say how far an expression goes that is an integer on the domain alone
        (
            "(d0, d1) -> (d0 + d1), domain: d0 in [0, 5], d1 in [-4, 3], "
            "max(d0 * 5 + d1 * 2, d0 * 6 + d1 * 8 + 1) in [0, 5], "
            "min(d0 * 4 + 3, d0 * 6 + d1 * 4 - 2) in [-3, 5]"
        ),
        "(d0, d1) -> (d0 + d1), domain: d0 in [0, 2], d1 in [-3, 0], d0 * 3 + d1 * 2 in [0, 1]",
    ),
    ("(d0) -> (d0 mod 8), domain: d0 in [0, 7]", "(d0) -> (d0), domain: d0 in [0, 7]"),
]


PRESERVED = [
    # map, finished with variables of one value kept in sight
    (
        "(d0) -> (d0), domain: d0 in [0, 13], d0 mod 4 in [1, 1], d0 mod 6 in [3, 3]",
        "(d0) -> (d0), domain: d0 in [9, 9]",
    ),
    (
        (
            "(d0, d1) -> ((d0 + d1) floordiv 8 + d0, d1 mod 4), domain: d0 in [5, 5], "
            "d1 in [0, 9], d0 + d1 in [0, 9], d1 mod 4 in [0, 1], d1 mod 5 in [0, 1]"
        ),
        "(d0, d1) -> (d0, d1), domain: d0 in [5, 5], d1 in [0, 1]",
    ),
]


@pytest.mark.parametrize(("text", "expected"), PRESERVED, ids=[row[0] for row in PRESERVED])
def test_finished_with_variables_of_one_value(text: str, expected: str) -> None:
    given_map = parse_map(text)
    finished = given_map.simplify(exact=True, preserve_size_one=True)
    assert str(finished) == expected
    assert finished.equals(given_map)


@pytest.mark.parametrize(("text", "expected"), FINISHED, ids=[row[0] for row in FINISHED])
def test_finished(text: str, expected: str) -> None:
    given_map = parse_map(text)
    finished = given_map.simplify(exact=True)
    assert str(finished) == expected
    assert finished.equals(given_map)
    assert finished.simplify() == finished


@examples(25)
@given(maps())
def test_a_finished_map_is_the_same_relation_and_settled(made: IndexingMap) -> None:
    try:
        finished = made.simplify(exact=True, budget=20_000)
    except NotQuasiAffineError:
        return
    assert related(finished) == related(made)
    assert finished.simplify(exact=True, budget=20_000) == finished
    assert len(finished.constraints) <= len(made.simplify().constraints)


def test_what_is_not_quasi_affine_is_refused_by_name() -> None:
    with pytest.raises(NotQuasiAffineError, match=r"d0 \* d1: is a product of variables"):
        parse_map("(d0, d1) -> (d0 * d1), domain: d0 in [0, 9], d1 in [0, 9]").simplify(exact=True)


def test_a_small_budget_leaves_the_map_as_it_is() -> None:
    text = (
        "(d0, d1) -> (max(d0, d1)), domain: d0 in [0, 9], d1 in [0, 9], "
        "d0 + d1 in [10, 99], d0 - d1 * 2 in [3, 99]"
    )
    assert parse_map(text).simplify(exact=True, budget=1) == parse_map(text).simplify()
    many = text.replace("[0, 9]", "[0, 9999]")
    with pytest.raises(BudgetError):
        parse_map(many).is_empty(budget=1)
    with pytest.raises(BudgetError):
        parse_map(many).equals(parse_map(many.replace("99]", "98]")), budget=1)
