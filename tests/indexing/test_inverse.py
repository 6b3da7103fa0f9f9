"""Inverses: tables of maps of everyday operations and layouts, and all points of small maps."""

from __future__ import annotations

import pickle

import islpy
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, UndefinedMap, parse_map
from indexing.exact import inverse as solving
from indexing.exact.inverse import solved_for_dims
from indexing.exact.isl import relation_of
from indexing.exact.symbolic import symbolic_inverse
from simplifier import symbol
from tests.cases import for_all
from tests.evaluation import Pair, related
from tests.extent import seldom
from tests.indexing.tables import each_row, each_text, evaluated, rows, table, texts
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
    assert straight.inverse().inverse().equals(straight)
    assert inverse.inverse().equals(straight)


@for_all(FUNCTIONS)
def test_an_injective_map_has_a_function_for_its_inverse(text: str, expected: str) -> None:
    assert parse_map(text).inverse().ranges == parse_map(expected).ranges == ()


@each_row("""
(d0 < 9, d1 < 2, d2 < 2) -> (((d0 * 5 + d1 * 16) floordiv 12 + d0 floordiv 4) mod 2,
        (d0 floordiv 4 + d0 + d1) mod 3)
(d0 < 9, d1 < 2, d2 < 2) -> (((d0 * 5 + d1 * 16) floordiv 12 + d0 floordiv 4) mod 2,
        d2 * 4 + ((d0 floordiv 4) * 4 + d1 * 4 + d0) floordiv 6)
""")
def test_a_digit_of_two_sums_is_told_by_both(text: str) -> None:
    straight = parse_map(text)
    assert related(straight.inverse()) == backwards(straight)


def backwards(made: IndexingMap) -> set[Pair]:
    return {(results, dims) for dims, results in related(made)}


@seldom
@given(maps())
def test_the_inverse_relates_the_same_points(made: IndexingMap) -> None:
    inverse = made.inverse()
    assert related(inverse) == backwards(made)
    assert inverse.inverse().equals(made)


@given(index_maps())
def test_indices_are_read_backwards_also_where_solving_gives_up(made: IndexingMap) -> None:
    assert related(made.inverse()) == backwards(made)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(solving, "_STEPS_EACH", 1)
        assert related(solved_for_dims(made, made.forms)) == backwards(made)


@given(index_maps(holes=False))
def test_indices_without_holes_have_functions_for_their_inverses(made: IndexingMap) -> None:
    assert not made.inverse().ranges


EMPTY = rows("""
(d0, d1) -> (d0), domain: KNOWN EMPTY => (d0) -> (0, 0), domain: KNOWN EMPTY
(d0) -> (d0, d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 4 in [2, 2]
    (d0, d1) -> (0), domain: KNOWN EMPTY
""")


@for_all(EMPTY)
def test_inverse_of_nothing(text: str, expected: str) -> None:
    assert parse_map(text).inverse() == parse_map(expected)


@each_row("""
(row, d1) -> (row * d1), domain: row in [0, 3], d1 in [0, 4] => d1 * row: is a product of variables
(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [1, 4], d0 mod d1 in [0, 0]
    d0 mod d1: is a division by what is not a constant
""")
def test_what_is_not_quasi_affine_is_named(text: str, reason: str) -> None:
    inverse = parse_map(text).inverse()
    assert isinstance(inverse, UndefinedMap)
    assert reason in inverse.reason


def test_an_inverse_is_an_ordinary_map_or_the_undefined_map_itself() -> None:
    nobody_knows = UndefinedMap("a sort")
    assert nobody_knows.inverse() is nobody_knows
    inverse = parse_map(EVERY[0][0]).inverse()
    assert pickle.loads(pickle.dumps(inverse)) == inverse  # noqa: S301 - our own
    assert inverse.simplify() == inverse


# Strides that are parameters: for numbers, the same elements are read backwards.

d0, d1, d2, K, M, N = map(symbol, ("d0", "d1", "d2", "K", "M", "N"))

INVERTED = texts("""
a matrix in memory: IndexingMap.from_sizes([d0 * M + d1], dims=[N, M])
three dimensions: IndexingMap.from_sizes([(d0 * M + d1) * K + d2], dims=[N, M, K])
a constant stride below: IndexingMap.from_sizes([(d0 * M + d1) * 4 + d2], dims=[N, M, 4])
a gap behind each row: IndexingMap.from_sizes([d0 * M * 2 + d1], dims=[N, M])
rows and columns turned: IndexingMap.from_sizes([d1 * N + d0], dims=[N, M])
an offset: IndexingMap.from_sizes([d1, d0 * M + d2 + K], dims=[N, K, M])
digits of one index: IndexingMap.from_sizes([d0 // M, d0 % M], dims=[N * M])
digits in another order: IndexingMap.from_sizes([d0 % M, d0 // M], dims=[N * M])
three digits: positive([d0 // (M * 3), d0 // 3 % M, d0 % 3], [N * M * 3])
a digit beside another dimension: positive([d0 // M, d0 % M * 4 + d1], [N * M, 4])
digits that change places: positive([d0 % M * N + d0 // M], [N * M]).with_constraint(N, (1, None))
digits of a sum of dimensions:
        parse_map("(d0, d1)<K, M, N> -> ((d0 * M + d1) floordiv K, (d0 * M + d1) mod K), domain:
        d0 in [0, N - 1], d1 in [0, M - 1], K in [1, inf], M in [1, inf], N in [1, inf]")
digits of a digit:
        positive([d0 // (M * 3), d0 % (M * 3) // 3 * K + d1, d0 % (M * 3) % 3], [N * M * 3, K])
digits of a shifted index: parse_map("(d0)<K, M, N> -> ((d0 + K) floordiv M, (d0 + K) mod M),
        domain: d0 in [0, N - 1], K in [0, inf], M in [1, inf], N in [1, inf]")
digits from the other end: parse_map("(d0)<M, N> -> ((N - 1 - d0) floordiv M, (N - 1 - d0) mod M),
        domain: d0 in [0, N - 1], M in [1, inf], N in [1, inf]")
backwards: IndexingMap.from_sizes([(N - 1 - d0) * M + M - 1 - d1], dims=[N, M])
a dimension as its digits: positive([d0 * 6 + d0 // M * (1 - M * 6) + d1 * 3], [M * 3, 2])
a dimension of size 1: IndexingMap.from_sizes([d0 * M + d2], dims=[N, 1, M])
on condition: IndexingMap.from_sizes([d0 * M + d1], dims=[N, M]).with_constraint(d0 - d1, (0, 1))
""")


def positive(results: list[sympy.Expr], sizes: list[sympy.Expr]) -> IndexingMap:
    """A map from sizes, where M is at least 1."""
    return IndexingMap.from_sizes(results, dims=sizes).with_constraint(M, (1, None))


def inverted(name: str) -> tuple[IndexingMap, IndexingMap]:
    one: IndexingMap = evaluated(INVERTED[name], globals())
    return one, one.inverse()


@seldom
@pytest.mark.parametrize("name", INVERTED)
@given(sizes=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)))
def test_elements_are_read_backwards(name: str, sizes: tuple[int, int, int]) -> None:
    values = dict(zip("NMK", sizes, strict=True))
    one, inverse = inverted(name)
    assert not inverse.is_undefined

    def fixed(each: IndexingMap) -> IndexingMap:
        return each.substitute({part.name: values[part.name] for part in each.parameters})

    assert {(there, here) for here, there in related(fixed(inverse))} == related(fixed(one))


def test_a_matrix_in_memory_becomes_digits() -> None:
    assert str(inverted("a matrix in memory")[1]) == (
        "(d0)<M, N> -> (d0 floordiv M, d0 mod M), domain: d0 in [0, M * N - 1], M in [1, inf], "
        "N in [1, inf]"
    )


def test_results_have_ends_over_parameters() -> None:
    """Even where no constraint says so much alone."""
    assert "d0 in [0, M * N - 1]" in str(inverted("digits that change places")[1])


@each_text("""
rows that overlap: IndexingMap.from_sizes([d0 * M + d1], dims=[N, M * 2])
columns that are dropped: IndexingMap.from_sizes([d0 * M], dims=[N, M])
a stride that may be 0: parse_map("(d0)<M> -> (d0 * M), domain: d0 in [0, 9], M in [0, 9]")
a product of dimensions: IndexingMap.from_sizes([d0 * d1], dims=[4, N])
one digit alone: IndexingMap.from_sizes([d0 // M], dims=[N * M])
""")
def test_what_is_not_proved_is_refused(call: str) -> None:
    inverse = evaluated(call, globals()).inverse()
    assert inverse.is_undefined
    assert "expected" not in str(inverse)
    assert "exact answers need a quasi-affine expression" in str(inverse)


def test_maps_with_ranges_have_no_candidate() -> None:
    text = "(d0)[s0]<M> -> (d0 * M + s0), domain: d0 in [0, 3], s0 in [0, 1], M in [1, 9]"
    assert symbolic_inverse(parse_map(text)) is None
