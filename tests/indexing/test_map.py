"""The map as a value: fields, equality, hashing, pickling, normal form of domains, refusals."""

from __future__ import annotations

import copy
import pickle
from itertools import product

import pytest
from hypothesis import given

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
from simplifier import Interval, Mod, symbol
from simplifier.expr import form as forms
from tests.cases import for_all
from tests.indexing.tables import each_named, each_row, evaluated, rows
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
    assert str(IndexingMap.from_sizes([d0, s0], [4], [8])) == (
        "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]"
    )


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

ABSORBED = """
WHY.simplify()
WHY.simplify(exact=True)
WHY.compose(FOUR)
FOUR.compose(WHY)
WHY @ FOUR
FOUR @ WHY
IndexingMap.identity([4, 4]).compose(WHY)
compose(WHY, UndefinedMap("no layout"))
WHY.with_constraint(symbol("d0"), (0, 3))
WHY.without_unused_symbols()
WHY.without_unused_variables()
WHY.ranges_to_dims([0])
WHY.symbols_to_dims()
WHY.rescale_symbols()
WHY.rename(d0="a")
WHY.substitute({"d0": 1})
WHY.select_results([0])
WHY.concatenate_results(FOUR)
FOUR.concatenate_results(WHY)
""".strip().splitlines()


@for_all(ABSORBED)
def test_what_is_made_of_it_is_undefined_for_the_same_reason(call: str) -> None:
    assert evaluated(call, globals()) is WHY


FIELDS = ("results", "dims", "ranges", "runtime", "constraints", "domain", "forms")
ASKED = [
    *(f"WHY.{name}" for name in (*FIELDS, "is_known_empty", "is_empty()", "result_bounds()")),
    *("WHY.equals(FOUR)", "FOUR.equals(WHY)", "WHY.evaluate([0])", "WHY.contains([0])"),
    *("list(WHY.points())", "WHY.verify()"),
]


@for_all(ASKED)
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
