"""The map as a value, and its interface: names and texts, values by name, calls, changes."""

from __future__ import annotations

import copy
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import (
    IndexingMap,
    MapError,
    UndefinedMap,
    Variable,
    VariableKind,
    format_map,
    parse_map,
)
from indexing.domain import Domain
from simplifier import ConversionError, Interval, Mod, TextError, symbol
from simplifier.errors import ArgumentError
from simplifier.expr import form as forms
from tests.cases import for_all
from tests.indexing.tables import each_named, each_row, evaluated, refusals, rows
from tests.strategies import maps

d0, d1, s0, rt0 = map(symbol, ("d0", "d1", "s0", "rt0"))
TEN = Variable((0, 9))


def test_fields_are_as_given() -> None:
    constraint = (Mod(d0, 2), Interval(0, 0))
    roles = [TEN], [Variable((1, 4))], [Variable((0, 2))]
    made = IndexingMap([d0 + s0, rt0], *roles, [constraint])
    assert (made.results, made.constraints) == ((d0 + s0, rt0), (constraint,))
    assert (made.dims, made.ranges, made.runtime) == tuple(map(tuple, roles))
    assert made == parse_map(str(made))


def test_sizes_and_identity() -> None:
    assert IndexingMap([d0], [Variable((0, 9), "d0")]) == IndexingMap([d0], [TEN])
    assert IndexingMap.identity([4, 1]) == IndexingMap.from_sizes([d0, d1], [4, 1])
    assert IndexingMap.identity([]) == IndexingMap([], [])


def test_kinds_name_the_variables_of_a_launch() -> None:
    thread = Variable((0, 127), kind=VariableKind.TH_X)
    assert thread.name == "th_x"
    parsed = parse_map("(th_x, bl_y) -> (th_x), domain: th_x in [0, 127], bl_y in [0, 3]")
    assert [variable.kind for variable in parsed.dims] == [VariableKind.TH_X, VariableKind.BL_Y]
    assert parsed.dims[0] == thread


@each_named("""
a variable's own bound moves in: [(d0, (3, 20))] => d0 in [3, 9]
a constant that holds goes: [(7, (0, 9))] => d0 in [0, 9]
a constant that fails empties: [(7, (0, 6))] => KNOWN EMPTY
no value is left: [(d0, (10, 12))] => KNOWN EMPTY
an interval without values: [(d0 % 8, (5, 4))] => KNOWN EMPTY
repeated expressions are joined: [(d0 % 8, (0, 5)), (d0 % 8, (3, 7))]
    d0 in [0, 9], d0 mod 8 in [3, 5]
joined to nothing: [(d0 % 8, (0, 2)), (d0 % 8, (3, 7))] => KNOWN EMPTY
sorted as texts: [(d0 % 8, (0, 5)), (d0 // 2, (1, 3))]
    d0 in [0, 9], d0 floordiv 2 in [1, 3], d0 mod 8 in [0, 5]
""")
def test_domains_are_normal_at_construction(constraints: str, domain: str) -> None:
    made = IndexingMap([d0], [TEN], constraints=evaluated(constraints, globals()))
    assert str(made).partition("domain: ")[2] == domain
    assert made.is_known_empty is (domain == "KNOWN EMPTY")
    assert parse_map(str(made)) == made


def test_an_empty_map_has_one_form() -> None:
    empties = {
        IndexingMap([d0 + 1], [Variable((5, 4))]),
        IndexingMap([d0 * 3], [TEN], constraints=[(d0 * 0 + 1, (0, 0))]),
        parse_map("(d0) -> (d0 mod 3), domain: KNOWN EMPTY"),
    }
    (empty,) = empties
    assert (empty.results, empty.dims) == ((0,), (Variable((0, -1)),))
    empty = IndexingMap([3], [], constraints=[(1, (0, 0))])
    assert str(empty) == "() -> (0), domain: KNOWN EMPTY"
    assert parse_map(str(empty)) == empty
    assert empty.is_known_empty > IndexingMap([3], []).is_known_empty


def test_verify_gives_the_reason() -> None:
    undeclared = IndexingMap.from_forms([forms.variable("d7")], Domain.of([TEN]))
    with pytest.raises(MapError, match=r"^IndexingMap: result 0 uses 'd7'; expected a declared"):
        undeclared.verify()
    doubled = IndexingMap.from_forms([], Domain.of([Variable((0, 1), "a")] * 2))
    with pytest.raises(MapError, match=r"^IndexingMap: the name 'a' stands for two variables"):
        doubled.verify()


@given(maps())
def test_sound_maps_are_verified_and_their_copies_are_equal_and_hash_alike(
    made: IndexingMap,
) -> None:
    made.verify()
    again = IndexingMap(made.results, made.dims, made.ranges, made.runtime, made.constraints)
    pickled = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    for other in (again, pickled, copy.deepcopy(made), parse_map(str(made))):
        assert other == made
        assert hash(other) == hash(made)
        assert str(other) == str(made)


DIFFERENT = [
    text
    for (text,) in rows("""
(d0 < 10) -> (d0)
(d0 < 9) -> (d0)
(d0 < 10) -> (d0 + 1)
(d0 < 10) -> (d0, d0)
(row < 10) -> (row)
()[s0 < 10] -> (s0)
(){rt0 < 10} -> (rt0)
(d0 < 10) -> (d0), domain: d0 mod 2 in [0, 0]
(d0) -> (d0), domain: KNOWN EMPTY
""")
]


def test_different_maps_differ() -> None:
    assert len({parse_map(text) for text in DIFFERENT}) == len(DIFFERENT)
    assert parse_map(DIFFERENT[0]) != DIFFERENT[0]


@for_all(["results", "dims", "constraints", "domain", "anything"])
def test_nothing_can_be_changed(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(IndexingMap.identity([4]), name, ())


def test_a_map_with_a_constraint_is_a_new_map_and_shows_it() -> None:
    whole = IndexingMap.identity([10])
    half = whole.with_constraint(Mod(d0, 2), (0, 0))
    assert repr(half) == "IndexingMap('(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [0, 0]')"
    assert whole == IndexingMap.identity([10])


VALUES = {
    "intervals": [Interval(1, 1), Interval(0, 1), Interval.of((1, 1)), Interval(1, None)],
    "variables": [Variable((1, 1)), Variable((0, 1)), Variable((1, 2)), Variable((1, 2))],
    "named variables": [Variable((1, 1), "s"), Variable((1, 1), "t"), Variable((1, 1))],
    "maps": [*map(parse_map, DIFFERENT), parse_map(DIFFERENT[0])],
}


@for_all(VALUES)
def test_equal_values_have_equal_hashes_and_survive_pickling(values: list[object]) -> None:
    for left, right in product(values, repeat=2):
        assert (left != right) is not (left == right)
        assert left != right or hash(left) == hash(right)
    assert pickle.loads(pickle.dumps(values)) == values  # noqa: S301 - our own bytes


# The undefined map: it absorbs, says why, and is a value like any other.

WHY = UndefinedMap("a sort's order is not known")
OTHER = UndefinedMap("no layout")
FOUR = IndexingMap.identity([4])


@for_all([
    "WHY.simplify()", "WHY.simplify(exact=True)", "WHY.compose(FOUR)", "FOUR.compose(WHY)",
    "WHY @ FOUR", "FOUR @ WHY", "IndexingMap.identity([4, 4]).compose(WHY)",
    'compose(WHY, UndefinedMap("no layout"))', 'WHY.with_constraint(symbol("d0"), (0, 3))',
    "WHY.without_unused_symbols()", "WHY.without_unused_variables()", "WHY.ranges_to_dims([0])",
    "WHY.symbols_to_dims()", "WHY.rescale_symbols()", 'WHY.rename(d0="a")',
    'WHY.substitute({"d0": 1})', "WHY.select_results([0])", "WHY.concatenate_results(FOUR)",
    "FOUR.concatenate_results(WHY)", 'WHY.subs("d0", 1)', 'WHY.xreplace({symbol("d0"): 1})',
    'WHY.with_results("d0")',
])  # fmt: skip
def test_what_is_made_of_it_is_undefined_for_the_same_reason(call: str) -> None:
    assert evaluated(call, globals()) is WHY


ASKED = """
WHY.results WHY.dims WHY.ranges WHY.runtime WHY.constraints WHY.domain WHY.forms
WHY.is_known_empty WHY.is_empty() WHY.result_bounds() WHY.equals(FOUR) FOUR.equals(WHY)
WHY.evaluate([0]) WHY.contains([0]) list(WHY.points()) WHY.verify()"""


@for_all(ASKED.split())
def test_what_is_asked_of_it_raises_the_reason(call: str) -> None:
    with pytest.raises(MapError, match=r"^the map is undefined: a sort's order is not known$"):
        evaluated(call, globals())


def test_undefined_maps_are_equal_for_the_same_reason() -> None:
    again = UndefinedMap("  a sort's order\n is not known ")
    assert again == WHY
    assert hash(again) == hash(WHY)
    assert repr(WHY) == 'UndefinedMap("a sort\'s order is not known")'
    assert len({WHY, OTHER, UndefinedMap(), FOUR, "UNDEFINED"}) == 5
    assert WHY.is_undefined > parse_map("(d0) -> (d0), domain: KNOWN EMPTY").is_undefined
    with pytest.raises(MapError, match=r"^the map is undefined$"):
        _ = UndefinedMap().results


@for_all([WHY, OTHER, UndefinedMap(), UndefinedMap("a: [b] -> $7%_{x}")])
def test_copies_and_texts_are_equal(made: UndefinedMap) -> None:
    pickled = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    for other in (pickled, copy.deepcopy(made), parse_map(str(made)), parse_map(f" {made}\n")):
        assert other == made
        assert isinstance(other, UndefinedMap)
        assert other.reason == made.reason


# XLA prints its one undefined map like the first, and reads none
@each_row("""
UndefinedMap() => UNDEFINED
UndefinedMap("a sort") => UNDEFINED: a sort
UndefinedMap("first\\n\\tsecond") => UNDEFINED: first second
""")
def test_the_text_tells_the_reason(call: str, text: str) -> None:
    made = evaluated(call, {})
    assert str(made) == format_map(made) == text


def test_the_reason_is_text_in_a_notebook_too_and_cannot_be_changed() -> None:
    assert UndefinedMap(r"50% of {a_b} \ x^2")._repr_latex_() == (
        r"$\text{UNDEFINED: 50\% of \{a\_b\} \textbackslash{} x\textasciicircum{}2}$"
    )
    with pytest.raises(AttributeError):
        WHY.reason = ""  # pyright: ignore[reportAttributeAccessIssue]


# What a pass asks of a map first, beside what all its points say.


@each_row("""
(d0 < 4, d1 < 5) -> (d0, d1) => identity permutation
(d0 < 4, d1 < 5) -> (d0 mod 4, d1) => identity permutation
(d0 < 4, d1 < 5) -> (d1, d0) => permutation
(d0 < 4, d1 < 5) -> (d0, d0) => none
(d0 < 4, d1 < 5) -> (d0) => none
(d0 < 4) -> (d0, 0) => none
(d0 < 4)[s0 < 4] -> (s0) => none
(d0 < 4) -> (d0 floordiv 4, 7) => constant
(d0 < 1) -> (0) => identity permutation constant
() -> () => identity permutation constant
""")
def test_a_map_is_what_its_points_say(text: str, wanted: str) -> None:
    found = parse_map(text)
    words = ("identity", "permutation", "constant")
    said = [each for each in words if getattr(found, f"is_{each}")]
    assert (" ".join(said) or "none") == wanted
    points = [*found.points()]
    assert ("identity" in wanted) == all(results == dims for dims, *_, results in points)
    assert ("constant" in wanted) == (len({results for *_, results in points}) == 1)


def test_constraints_on_symbols() -> None:
    text = "(d0)[s0, s1]{rt0} -> (d0), domain: d0 in [0, 3], s0 in [0, 3], s1 in [0, 3], "
    found = parse_map(text + "rt0 in [0, 9], d0 + s1 in [0, 5], rt0 mod 2 in [0, 0]")
    for symbols in ((0, 1, 2), ("s0", "s1", "rt0")):
        assert [*map(found.is_symbol_constrained, symbols)] == [False, True, True]
    for wrong in ("d0", 3):
        with pytest.raises(MapError, match="is_symbol_constrained"):
            found.is_symbol_constrained(wrong)


# Names and texts, values by name, calls, and changes as sympy calls them.

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
sizes of dimensions and ranges: IndexingMap.from_sizes([d0, symbol("s0")], [4], [8])
    (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]
variables with and without names: IndexingMap("d1, d0, range + rt0, rt1", [Variable((0, 99), "d0"),
        Variable((0, 43), "d1")], [Variable((-9, 9), "range")], [Variable((0, 2)),
        Variable((0, 7))])
    (d0, d1)[range]{rt0, rt1} -> (d1, d0, range + rt0, rt1), domain: d0 in [0, 99], d1 in [0, 43],
        range in [-9, 9], rt0 in [0, 2], rt1 in [0, 7]
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
