"""Maps, variables and intervals made in Python are values: compared, hashed and pickled."""

from __future__ import annotations

import pickle
from itertools import product

import pytest

from indexing import IndexingMap, MapError, Variable, parse_map
from simplifier import Interval, parse_expr, symbol

d0 = symbol("d0")

# Made in Python.


@pytest.mark.parametrize("name", ["d1", "s0"])
def test_a_variable_that_is_not_declared_is_named(name: str) -> None:
    message = rf"result 0 uses '{name}'; expected a declared variable \(d0\)"
    with pytest.raises(MapError, match=message):
        IndexingMap.from_sizes([symbol(name)], dims=[10])


def test_variables_with_and_without_names() -> None:
    d1, middle, rt0, rt1 = map(symbol, ("d1", "range", "rt0", "rt1"))
    made = IndexingMap(
        [d1, d0, middle + rt0, rt1],
        [Variable((0, 99), "d0"), Variable((0, 43), "d1")],
        [Variable((-99, 99), "range")],
        [Variable((0, 2)), Variable((0, 7))],
    )
    assert str(made) == (
        "(d0, d1)[range]{rt0, rt1} -> (d1, d0, range + rt0, rt1), domain: d0 in [0, 99], "
        "d1 in [0, 43], range in [-99, 99], rt0 in [0, 2], rt1 in [0, 7]"
    )


def test_points_of_a_constraint() -> None:
    wide = parse_map(
        "(d0, d1)[s0, s1] -> (d1, d0, s1, s0), "
        "domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 9], s1 in [0, 9]"
    )
    assert wide.contains([1, 2], [3, 4])
    limited = wide.with_constraint(parse_expr("s0 mod 4"), (0, 0))
    assert not limited.contains([1, 2], [5, 4])
    assert limited.contains([1, 2], [4, 4])


def test_a_constraint_without_points_leaves_none() -> None:
    made = IndexingMap([d0], [Variable((0, 10))], constraints=[(-1, (0, 1)), (d0, (0, 5))])
    assert made.is_known_empty
    assert made.constraints == ()


def test_a_constraint_on_a_variable_is_a_bound() -> None:
    made = IndexingMap([parse_expr("d0 mod 16")], [Variable((0, 31))], constraints=[(d0, (0, 7))])
    assert str(made) == "(d0) -> (d0 mod 16), domain: d0 in [0, 7]"
    assert made.simplify().results == (d0,)


# Compared.

HEAD = "(d0, d1)[s0, s1] -> (d1, d0, s1, s0), "
BOUNDS = "domain: d0 in [0, 49], d1 in [0, 59], s0 in [0, 69], s1 in [0, 79]"
VALUES = {
    "intervals": [Interval(1, 1), Interval(0, 1), Interval.of((1, 1)), Interval(1, None)],
    "variables": [Variable((1, 1)), Variable((0, 1)), Variable((1, 2)), Variable((1, 2))],
    "named variables": [Variable((1, 1), "s"), Variable((1, 1), "t"), Variable((1, 1))],
    "maps": [
        parse_map(text)
        for text in (
            HEAD + BOUNDS,
            HEAD.replace("(d1, d0", "(d1 * 2, d0") + BOUNDS,
            HEAD + BOUNDS.replace("49", "50"),
            HEAD + BOUNDS,
            HEAD + BOUNDS + ", d0 mod 8 in [0, 0], d0 mod 32 in [0, 0]",
        )
    ],
}


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_equal_values_have_equal_hashes_and_survive_pickling(values: list[object]) -> None:
    for left, right in product(values, repeat=2):
        assert (left != right) is not (left == right)
        assert left != right or hash(left) == hash(right)
    assert pickle.loads(pickle.dumps(values)) == values  # noqa: S301 - our own bytes
