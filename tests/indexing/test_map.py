"""The map as a value: fields, equality, hashing, pickling, normal form of domains, refusals."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from indexing import IndexingMap, MapError, Variable, VariableKind, parse_map
from indexing.domain import Domain
from simplifier import ConversionError, FloorDiv, Interval, Mod, symbol
from simplifier.expr import form as forms
from tests.strategies import maps

d0, d1, s0, rt0 = map(symbol, ("d0", "d1", "s0", "rt0"))
TEN = Variable((0, 9))


def test_fields_are_as_given() -> None:
    constraint = (Mod(d0, 2), Interval(0, 0))
    made = IndexingMap([d0 + s0, rt0], [TEN], [Variable((1, 4))], [Variable((0, 2))], [constraint])
    assert made.results == (d0 + s0, rt0)
    assert made.dims == (TEN,)
    assert made.ranges == (Variable((1, 4)),)
    assert made.runtime == (Variable((0, 2)),)
    assert made.constraints == (constraint,)
    assert made == parse_map(str(made))


def test_names_are_those_of_the_symbols() -> None:
    row, gpu = symbol("row"), symbol("gpu")
    made = IndexingMap(
        [FloorDiv(row, 4) + gpu], [Variable((0, 9), "row")], (), [Variable((0, 1), "gpu")]
    )
    assert made.results == (FloorDiv(row, 4) + gpu,)
    assert str(made) == "(row){gpu} -> (row floordiv 4 + gpu), domain: row in [0, 9], gpu in [0, 1]"


def test_a_name_that_says_its_place_is_no_name() -> None:
    assert IndexingMap([d0], [Variable((0, 9), "d0")]) == IndexingMap([d0], [TEN])


def test_sizes_and_identity() -> None:
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


NORMAL = [
    # name, constraints, text of the domain
    ("a variable's own bound moves in", [(d0, (3, 20))], "d0 in [3, 9]"),
    ("a constant that holds goes", [(7, (0, 9))], "d0 in [0, 9]"),
    ("a constant that fails empties", [(7, (0, 6))], "KNOWN EMPTY"),
    ("no value is left", [(d0, (10, 12))], "KNOWN EMPTY"),
    ("an interval without values", [(Mod(d0, 8), (5, 4))], "KNOWN EMPTY"),
    (
        "repeated expressions are joined",
        [(Mod(d0, 8), (0, 5)), (Mod(d0, 8), (3, 7))],
        "d0 in [0, 9], d0 mod 8 in [3, 5]",
    ),
    ("joined to nothing", [(Mod(d0, 8), (0, 2)), (Mod(d0, 8), (3, 7))], "KNOWN EMPTY"),
    (
        "sorted as texts",
        [(Mod(d0, 8), (0, 5)), (FloorDiv(d0, 2), (1, 3))],
        "d0 in [0, 9], d0 floordiv 2 in [1, 3], d0 mod 8 in [0, 5]",
    ),
]


@pytest.mark.parametrize(
    ("constraints", "domain"), [case[1:] for case in NORMAL], ids=[case[0] for case in NORMAL]
)
def test_domains_are_normal_at_construction(constraints: list[Any], domain: str) -> None:
    made = IndexingMap([d0], [TEN], constraints=constraints)
    assert str(made).partition("domain: ")[2] == domain
    assert made.is_known_empty is (domain == "KNOWN EMPTY")
    assert parse_map(str(made)) == made


def test_an_empty_map_has_one_form() -> None:
    empties = [
        IndexingMap([d0 + 1], [Variable((5, 4))]),
        IndexingMap([d0 * 3], [TEN], constraints=[(d0 * 0 + 1, (0, 0))]),
        parse_map("(d0) -> (d0 mod 3), domain: KNOWN EMPTY"),
    ]
    assert len(set(empties)) == 1
    (empty,) = set(empties)
    assert empty.results == (0,)
    assert empty.dims == (Variable((0, -1)),)


def test_an_empty_map_without_variables() -> None:
    empty = IndexingMap([3], [], constraints=[(1, (0, 0))])
    assert empty.is_known_empty
    assert str(empty) == "() -> (0), domain: KNOWN EMPTY"
    assert parse_map(str(empty)) == empty
    assert not IndexingMap([3], []).is_known_empty


REFUSED: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    (
        "result",
        lambda: IndexingMap([d1], [TEN]),
        MapError,
        "IndexingMap: result 0 uses 'd1'; expected a declared variable (d0)",
    ),
    (
        "constraint",
        lambda: IndexingMap([d0], [TEN], constraints=[(s0 + d0, (0, 3))]),
        MapError,
        "IndexingMap: constraint 0 uses 's0'; expected a declared variable (d0)",
    ),
    (
        "nothing declared",
        lambda: IndexingMap([d0], []),
        MapError,
        "IndexingMap: result 0 uses 'd0'; expected a declared variable (none)",
    ),
    (
        "name",
        lambda: IndexingMap([], [Variable((0, 1), "a"), Variable((0, 1), "a")]),
        MapError,
        "IndexingMap: the name 'a' stands for two variables; expected different names",
    ),
    (
        "default name",
        lambda: IndexingMap([], [TEN], [Variable((0, 1), "d0")]),
        MapError,
        "IndexingMap: the name 'd0' stands for two variables; expected different names",
    ),
    (
        "fraction",
        lambda: IndexingMap([d0 / 2], [TEN]),
        ConversionError,
        (
            "d0/2: is a fraction; expected an integer, floor around it, "
            "or a fact such as d0 mod 2 == 0"
        ),
    ),
    (
        "with_constraint",
        lambda: IndexingMap([d0], [TEN]).with_constraint(d1, (0, 1)),
        MapError,
        "IndexingMap: constraint 0 uses 'd1'; expected a declared variable (d0)",
    ),
]


@pytest.mark.parametrize(
    ("make", "error", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_is_refused(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value) == message


BROKEN: list[tuple[str, IndexingMap, str]] = [
    (
        "undeclared",
        IndexingMap.from_forms([forms.variable("d7")], Domain.of([TEN])),
        "IndexingMap: result 0 uses 'd7'; expected a declared variable (d0)",
    ),
    (
        "doubled",
        IndexingMap.from_forms([], Domain.of([Variable((0, 1), "a"), Variable((0, 1), "a")])),
        "IndexingMap: the name 'a' stands for two variables; expected different names",
    ),
]


@pytest.mark.parametrize(("made", "message"), [c[1:] for c in BROKEN], ids=[c[0] for c in BROKEN])
def test_verify_gives_the_reason(made: IndexingMap, message: str) -> None:
    with pytest.raises(MapError) as caught:
        made.verify()
    assert str(caught.value) == message


@given(maps())
def test_sound_maps_are_verified(made: IndexingMap) -> None:
    made.verify()


@given(maps())
def test_copies_are_equal_and_hash_alike(made: IndexingMap) -> None:
    again = IndexingMap(made.results, made.dims, made.ranges, made.runtime, made.constraints)
    pickled = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    for other in (again, pickled, copy.deepcopy(made), parse_map(str(made))):
        assert other == made
        assert hash(other) == hash(made)
        assert str(other) == str(made)


DIFFERENT = [
    "(d0) -> (d0), domain: d0 in [0, 9]",
    "(d0) -> (d0), domain: d0 in [0, 8]",
    "(d0) -> (d0 + 1), domain: d0 in [0, 9]",
    "(d0) -> (d0, d0), domain: d0 in [0, 9]",
    "(row) -> (row), domain: row in [0, 9]",
    "()[s0] -> (s0), domain: s0 in [0, 9]",
    "(){rt0} -> (rt0), domain: rt0 in [0, 9]",
    "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [0, 0]",
    "(d0) -> (d0), domain: KNOWN EMPTY",
]


def test_different_maps_differ() -> None:
    assert len({parse_map(text) for text in DIFFERENT}) == len(DIFFERENT)
    assert parse_map(DIFFERENT[0]) != DIFFERENT[0]


@pytest.mark.parametrize("name", ["results", "dims", "constraints", "domain", "anything"])
def test_nothing_can_be_changed(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(IndexingMap.identity([4]), name, ())


def test_a_map_with_a_constraint_is_a_new_map() -> None:
    whole = IndexingMap.identity([10])
    half = whole.with_constraint(Mod(d0, 2), (0, 0))
    assert str(half) == "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [0, 0]"
    assert whole == IndexingMap.identity([10])


def test_repr_is_a_constructor_for_people() -> None:
    assert repr(IndexingMap.identity([4])) == "IndexingMap('(d0) -> (d0), domain: d0 in [0, 3]')"
