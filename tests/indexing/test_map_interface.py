"""Maps from names and texts, values by name, calls, and changes as sympy calls them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, UndefinedMap, parse_map
from simplifier import ConversionError, Mod, TextError, symbol
from simplifier.errors import ArgumentError
from tests.indexing.tables import each_named, evaluated, refusals
from tests.strategies import maps

d0, d1, N = symbol("d0"), symbol("d1"), symbol("N")
ROWS = IndexingMap.over({"row": 4, "column": 8}, "row * 8 + column")
BLOCKS = parse_map(
    "(d0)[s0]<N> -> (d0 * 4 + s0 + N), domain: d0 in [0, 9], s0 in [0, 3], N in [1, 5]"
)


@each_named("""
sizes by name: IndexingMap.over({"i": 4, "j": 8}, ["j", "i"]) => (i < 4, j < 8) -> (j, i)
sizes by symbol: IndexingMap.from_sizes([d0 + d1], dims={"d0": 4, "d1": N})
    (d0 < 4, d1 < N)<N in [0, inf]> -> (d0 + d1)
sizes in order: IndexingMap.over([4, 8], "d1, d0") => (d0 < 4, d1 < 8) -> (d1, d0)
a name of its own and an end that is an expression: IndexingMap("d0", [Variable((0, N - 1), "d0")])
    (d0 < N)<N in [-inf, inf]> -> (d0)
no result: IndexingMap.over([4], "") => (d0 < 4) -> ()
all roles: IndexingMap("i + s + r", {"i": 4}, {"s": (1, None)}, {"r": Variable((2, 5))}, ["i < s"])
    (i < 4)[s in [1, inf]]{r in [2, 5]} -> (i + s + r), domain: s - i in [1, inf]
functions in texts: IndexingMap.over([8], "min(d0, 3), d0 floordiv 2, d0 % 2")
    (d0 < 8) -> (min(d0, 3), d0 floordiv 2, d0 mod 2)
a text and its interval: IndexingMap("d0", {"d0": 9}, constraints=[("d0 mod 3", (1, 1))])
    (d0 < 9) -> (d0), domain: d0 mod 3 in [1, 1]
other results: ROWS.with_results(["column", symbol("row")])
    (row < 4, column < 8) -> (column, row)
replaced results: ROWS.replace(results="column") => (row < 4, column < 8) -> (column)
replaced variables: ROWS.replace(dims={"row": 2, "column": 3}, ranges={"s": 2})
    (row < 2, column < 3)[s < 2] -> (row * 8 + column)
replaced constraints: ROWS.with_constraint("row <= column").replace(constraints=["row == column"])
    (row < 4, column < 8) -> (row * 8 + column), domain: column - row in [0, 0]
parameters stay: BLOCKS.replace(results="d0 + N") => (d0 < 10)[s0 < 4]<N in [1, 5]> -> (d0 + N)
ranges by name: parse_map("()[a, b] -> (a, b), domain: a in [0, 7], b in [0,
        9]").ranges_to_dims(["b"]) => (b < 10)[a < 8] -> (a, b)
subs of one: ROWS.subs("row", 2) => (column < 8) -> (column + 16)
subs of a symbol: ROWS.subs(symbol("row"), symbol("column")) => (column < 4) -> (column * 9)
subs of many: ROWS.subs({"row": 2, "column": 7}) => () -> (23)
xreplace: ROWS.xreplace({symbol("row"): 0}) => (column < 8) -> (column)
a swap: IndexingMap.identity([4, 8]).substitute({"d0": d1, "d1": d0})
    (d0 < 8, d1 < 4) -> (d1, d0)
a shift: IndexingMap.identity([4]).substitute({"d0": "d0 + 1"}) => (d0 in [-1, 2]) -> (d0 + 1)
one that stays and one that goes: ROWS.substitute({"row": "column", "column": 5})
    (column < 4) -> (column * 8 + 5)
a parameter and itself: BLOCKS.substitute({"N": "N * 2"})
    (d0 < 10)[s0 < 4]<N in [1, 2]> -> (d0 * 4 + N * 2 + s0)
""")
def test_maps_are_made_and_changed(call: str, expected: str) -> None:
    made = evaluated(call, globals())
    assert parse_map(str(made)).simplify() == parse_map(expected).simplify()


@given(maps(results=2, dims=2), st.integers(-2, 2), st.sampled_from([1, -1, 2]))
def test_all_values_are_substituted_at_once(made: IndexingMap, by: int, times: int) -> None:
    other = made.substitute({"d0": d1 + by, "d1": d0 * times})
    rest = [[*each.bounds][:2] for each in (*made.ranges, *made.runtime)]
    count = len(made.ranges)
    for first, second in product(range(-5, 6, 2), range(-4, 8, 2)):
        for values in product(*rest):
            roles = values[:count], values[count:]
            old = (second + by, first * times)
            assert other.contains((first, second), *roles) == made.contains(old, *roles)
            assert other.evaluate((first, second), *roles) == made.evaluate(old, *roles)


def test_values_are_given_by_name() -> None:
    assert ROWS.evaluate({"column": 3, "row": 1}) == (11,)
    assert ROWS.contains({"column": 3, "row": 1})
    assert not ROWS.contains({"column": 8, "row": 1})
    assert ROWS.image({"row": (1, 1)}).bounds == ROWS.image([(1, 1), (0, 7)]).bounds
    assert ROWS.image({symbol("row"): (1, 1)}) == ROWS.image({"row": (1, 1)})
    assert ROWS.tile({"column": 8, "row": 2}) == ROWS.tile([2, 8])
    assert BLOCKS.evaluate([2], {"s0": 1}, parameters={N: 5}) == (14,)


def test_a_call_evaluates_in_the_domain() -> None:
    assert ROWS(1, 3) == ROWS(1, column=3) == ROWS(row=1, column=3) == (11,)
    assert BLOCKS(2, 1, 5) == BLOCKS(2, N=5, s0=1) == (14,)
    (found,) = ROWS(np.arange(4)[:, None], np.arange(8))
    assert found.tolist() == np.arange(32).reshape(4, 8).tolist()


@given(maps(dims=2))
def test_contains_is_a_mask_of_arrays(made: IndexingMap) -> None:
    ranges, runtime = (
        [each.bounds.lower or 0 for each in role] for role in (made.ranges, made.runtime)
    )
    sides = np.arange(-4, 6)
    mask = made.contains([sides[:, None], sides], ranges, runtime)
    for place, at in enumerate(product(sides.tolist(), repeat=2)):
        assert np.broadcast_to(mask, (10, 10)).flat[place] == made.contains(at, ranges, runtime)


def test_constraints_that_divide_by_zero_outside_the_bounds() -> None:
    rows = parse_map(
        "(d0)<N> -> (d0), domain: d0 in [0, 9], N in [1, inf], d0 floordiv N in [0, 3]"
    )
    assert rows.contains([3], parameters={"N": 1})
    assert not rows.contains([3], parameters={"N": 0})
    with pytest.raises(MapError, match="call: d0 = 3, N = 0 is outside the domain"):
        rows(3, 0)


# a domain in which constraints divide by zero outside of the others, and its number of points
@each_named("""
of bounds: d0 in [1, 9], d1 in [0, 9], 16 mod d0 in [0, 0] => 40
of another: d0 in [0, 5], d1 in [0, 5], d0 - d1 in [1, 9], 12 mod (d0 - d1) in [0, 0] => 14
of both: d0 in [1, 5], d1 in [0, 5], d1 - d0 in [1, 9], d0 floordiv (d1 - d0) in [2, 9] => 3
""")
def test_a_division_by_zero_outside_is_outside(domain: str, count: str) -> None:
    made = parse_map(f"(d0, d1) -> (d0, d1), domain: {domain}")
    sides = np.arange(-3, 12)
    mask = made.contains([sides[:, None], sides])
    points = [*product(sides.tolist(), repeat=2)]
    assert mask.sum() == int(count)
    assert mask.ravel().tolist() == [made.contains(point) for point in points]
    assert [point[0] for point in made.points()] == [
        point for point, inside in zip(points, mask.ravel(), strict=True) if inside
    ]


def test_what_a_map_uses() -> None:
    assert ROWS.names == (("row", "column"), (), ())
    assert IndexingMap.identity([3]).names == (("d0",), (), ())
    assert BLOCKS.free_symbols == {d0, symbol("s0"), N}
    odd = IndexingMap.over([4, 4], "d0").with_constraint(Mod(d1, 2), (0, 0))
    assert odd.free_symbols == {d0, d1}


test_errors_say_what_was_expected = refusals(
    globals(), MapError, TextError, ConversionError, ArgumentError
)("""
ROWS.subs({"d0": 17})
    substitute: the map has no 'd0'; expected one of its variables (row, column)
ROWS.subs("row") => substitute: 'row' is no mapping
ROWS.subs("row", "z") => substitute: value 0 uses 'z'; expected a declared variable
ROWS.with_results("z") => with_results: result 0 uses 'z'; expected a declared variable
IndexingMap.over([4], "d0 +") => 1:5: expected
IndexingMap.over([4], "d0 d0") => 1:4: expected
ROWS.replace(dims={"i": 4}) => result 0 uses 'column'; expected
ROWS.evaluate({"row": 1})
    evaluate: dims: values of row are given; expected one for each of row, column
ROWS.tile({"row": 1}) => tile: sizes: values of row are given; expected one for each of row, column
ROWS.image({"z": (0, 1)}) => image: the map has no 'z'
ROWS.ranges_to_dims(["row"]) => ranges_to_dims: 'row' is no index
BLOCKS.ranges_to_dims(["d0"]) => ranges_to_dims: 'd0' is no index; expected an integer or one of s0
ROWS.with_constraint("row + 1")
    with_constraint: 'row + 1' has no interval; expected one, or a condition such as d0 < 5
ROWS.replace(constraints=["row < 3", "row"])
    constraint 1 is 'row'; expected a pair of an expression and an interval, or a condition
ROWS(1) => call: 1 values in order and those of none are given; expected one for each of row, column
ROWS(1, 2, 3) => call: 3 values in order
ROWS(1, 2, row=3) => call: 2 values in order and those of
ROWS(1, 8) => call: row = 1, column = 8 is outside the domain; see contains()
ROWS(np.arange(6), 2) => call: row = 4, column = 2 is outside the domain
ROWS("a", 1) => call has the value 'a'; expected an integer
UndefinedMap("who knows")(1) => the map is undefined: who knows
ROWS.subs("row", 1.5) => 1.5: has type float
""")


def test_an_undefined_map_stays_what_it_is() -> None:
    undefined = UndefinedMap("who knows")
    assert undefined.subs("d0", 1) is undefined.xreplace({d0: 1}) is undefined
    assert undefined.with_results("d0") is undefined
