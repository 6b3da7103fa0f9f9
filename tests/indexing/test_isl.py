"""isl's relations, both ways: what they come to, and that nothing is lost."""

from __future__ import annotations

import islpy
import pytest
from hypothesis import given, reject

from indexing import (
    IndexingMap,
    MapError,
    UndefinedMap,
    Variable,
    from_isl,
    parse_map,
    parse_relation,
)
from simplifier import NotQuasiAffineError, TextError, symbol
from simplifier.exact import BudgetError
from simplifier.expr import form as forms
from tests.evaluation import related
from tests.extent import seldom
from tests.indexing.tables import table
from tests.strategies import index_maps, maps

READ = table("isl")


@pytest.mark.parametrize(("text", "expected"), READ)
def test_read(text: str, expected: str) -> None:
    assert str(from_isl(text)) == str(parse_map(expected).simplify())
    assert from_isl(text) == from_isl(islpy.Map(text))


def within_seconds(relation: islpy.Map | str) -> IndexingMap:
    """The map of a relation, unless isl takes long to say it."""
    try:
        return from_isl(relation)
    except BudgetError:
        reject()


@seldom
@given(maps())
def test_there_and_back(made: IndexingMap) -> None:
    assert related(within_seconds(made.to_isl())) == related(made)


@seldom
@given(maps())
def test_there_and_back_as_text(made: IndexingMap) -> None:
    back = within_seconds(str(made.to_isl()))
    assert related(back) == related(made)
    assert parse_map(str(back)) == back


@seldom
@given(maps())
def test_parameters_come_back_as_runtime_variables(made: IndexingMap) -> None:
    back = within_seconds(made.to_isl(runtime_as_parameters=True))
    assert len(back.runtime) == len(made.runtime)
    assert related(_with_runtime_as_results(back)) == related(_with_runtime_as_results(made))


def _with_runtime_as_results(made: IndexingMap) -> IndexingMap:
    runtime = made.domain.by_role(map(forms.variable, made.domain.identifiers))[2]
    return IndexingMap.from_forms((*made.forms, *runtime), made.domain)


@given(index_maps())
def test_indices_come_back_as_functions(made: IndexingMap) -> None:
    back = within_seconds(made.to_isl())
    assert related(back) == related(made)
    assert not back.ranges


WRITTEN = [
    (
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]",
        "{ [d0] -> [o0, o1] : 8*floor((d0)/8) = 8o0 and o1 = d0 - 8o0 and 0 <= d0 < 64 }",
    ),
    (
        "(row)[s0]{rt0} -> (row + s0 + rt0), domain: row in [0, 9], s0 in [0, 2], rt0 in [0, 4]",
        "{ [row] -> [o0] : 0 <= row <= 9 and row <= o0 <= row + 6 }",
    ),
    ("(d0) -> (d0, d0), domain: KNOWN EMPTY", "{ [d0] -> [o0, o1] : false }"),
]


@pytest.mark.parametrize(("text", "expected"), WRITTEN)
def test_written(text: str, expected: str) -> None:
    relation = parse_map(text).to_isl()
    assert relation.is_equal(islpy.Map(expected))
    assert islpy.Map(str(relation)).is_equal(relation), "isl reads it"


def test_names_are_those_of_the_map() -> None:
    made = parse_map(
        "(row, d1){n} -> (row + d1 + n), domain: row in [0, 3], d1 in [0, 5], n in [0, 9]"
    )
    assert str(made.to_isl()).startswith("{ [row, d1] -> ")
    named = made.to_isl(runtime_as_parameters=True)
    assert str(named).startswith("[n] -> { [row, d1] -> ")
    assert str(from_isl(named)).startswith("(row, d1){n} -> ")


AWKWARD = ["ceil", "exists", "false", "floord", "infty", "NaN", "rat", "true"]


@pytest.mark.parametrize("name", AWKWARD)
def test_names_that_isl_does_not_read(name: str) -> None:
    made = IndexingMap([symbol(name) + 1], [Variable((0, 3), name)])
    assert from_isl(str(made.to_isl())).equals(made)


def test_relations_of_one_context_can_be_combined() -> None:
    context = islpy.Context()
    halves = parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]")
    first, second = halves.to_isl(context=context), halves.to_isl(context=context)
    assert from_isl(first.apply_range(second)).equals(halves @ halves)
    assert islpy.Map("{ [i] -> [i] }").intersect(halves.to_isl()).is_empty() is False


OBJECTS = [
    islpy.BasicMap("{ [i] -> [i + 1] : i > 0 }"),
    islpy.PwMultiAff("{ [i] -> [(i + 1)] : i > 0 }"),
    islpy.PwAff("{ [i] -> [(i + 1)] : i > 0 }"),
    islpy.MultiPwAff("{ [i] -> [(i + 1 : i > 0)] }"),
    islpy.UnionMap("{ [i] -> [i + 1] : i > 0 }"),
]


@pytest.mark.parametrize("relation", OBJECTS, ids=lambda relation: type(relation).__name__)
def test_objects_of_all_kinds_are_read(relation: islpy.PwAff) -> None:
    assert str(from_isl(relation)).split(" -> ")[1].startswith("(")
    assert from_isl(relation).equals(parse_map("(d0) -> (d0 + 1), domain: d0 in [1, inf]"))


@pytest.mark.parametrize(
    "relation", [islpy.MultiAff("{ [i] -> [i + 1] }"), islpy.Aff("{ [i] -> [i + 1] }")]
)
def test_functions_without_domain_are_read(relation: islpy.MultiAff) -> None:
    assert from_isl(relation).equals(parse_map("(d0) -> (d0 + 1), domain: d0 in [-inf, inf]"))


BAD_TEXTS = [
    ("", 1),
    ("x", 1),
    ("__import__('os')", 1),
    ("{ [i] -> [i+] }", 1),
    ("{ [i] -> [i * i] }", 1),
    ("{ [i] -> [abs(i)] }", 1),
    ("{ [i] -> [(i] }", 13),
    ("{ [i] -> [i]", 1),
    ("{ [i] -> [i] } }", 16),
    ("{ [i] -> [2^99999999999] }", 12),
    ("{ [i] -> [" + "(" * 100_000 + "i" + ")" * 100_000 + "] }", 209),
]


@pytest.mark.parametrize(("text", "column"), BAD_TEXTS, ids=lambda value: str(value)[:40])
def test_bad_text(text: str, column: int, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TextError) as caught:
        from_isl(text)
    assert caught.value.span.column == column
    assert capfd.readouterr() == ("", ""), "isl itself says nothing"


BAD_RELATIONS = [
    ("{ A[i] -> B[i]; C[i] -> [i] }", "is not one relation"),
    ("{ rat: [i] -> [i] : 2i = 5 }", "rational numbers"),
    (islpy.UnionMap("{ A[i] -> B[i]; C[i] -> [i] }"), "UnionMap { .* is not one relation"),
    (None, "NoneType None is not one relation"),
    (islpy.Val(3), "Val 3 is not one relation"),
]


@pytest.mark.parametrize(("relation", "message"), BAD_RELATIONS)
def test_what_is_not_one_relation(relation: islpy.Map, message: str) -> None:
    with pytest.raises(MapError, match=message):
        from_isl(relation)


SAID_BY_WHO_ASKS = [
    ("{ A[i] -> B[i]; C[i] -> [i] }", r"parse_relation: UnionMap .* is not one relation"),
    ("{ rat: [i] -> [i] : 2i = 5 }", "parse_relation: the relation has rational numbers"),
    ("[th_x] -> { [i] -> [i + th_x] }", "parse_relation: parameter 0 is called th_x, as a coord"),
]


@pytest.mark.parametrize(("text", "message"), SAID_BY_WHO_ASKS)
def test_a_relation_that_is_not_read_says_who_asked(text: str, message: str) -> None:
    with pytest.raises(MapError, match=message):
        parse_relation(text)


def test_a_parameter_may_be_called_as_a_variable_is() -> None:
    text = "(i)<d0> -> (d0 + i), domain: i in [-inf, inf], d0 in [-inf, inf]"
    assert parse_relation("[d0] -> { [i] -> [i + d0] }").maps == (parse_map(text),)


def test_a_set_of_parameters_relates_nothing_to_nothing() -> None:
    assert str(parse_relation("[N] -> { : N > 3 }")) == "()<N> -> (), domain: N in [4, inf]"


def test_a_budget_is_kept() -> None:
    hard = "{ [i] -> [j] : exists a, b, c : i = 7a + 5b + 3c and j = 11a - 13b + 17c }"
    with pytest.raises(BudgetError):
        from_isl(hard, budget=50)


def test_pieces_stay_where_isl_does_not_find_fewer() -> None:
    choice = parse_map(
        "(d0, d1)[s0] -> (max(min(d1, s0) * 4, select(d0 <= s0, 1, d1)), d0 * 4), "
        "domain: d0 in [-5, 6], d1 in [0, 4], s0 in [-3, 3]"
    )
    assert related(from_isl(choice.to_isl(), budget=10**6)) == related(choice)


def test_what_is_not_quasi_affine_is_named() -> None:
    with pytest.raises(NotQuasiAffineError, match=r"d0 \* d1"):
        parse_map("(d0, d1) -> (d0 * d1), domain: d0 in [0, 3], d1 in [0, 3]").to_isl()


def test_an_undefined_map_is_no_relation() -> None:
    with pytest.raises(MapError, match="a sort"):
        UndefinedMap("a sort").to_isl()
