"""Exact questions about maps, against all points of small ones."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import islpy
import pytest
from hypothesis import given

from indexing import IndexingMap, MapError, UndefinedMap, parse_map
from indexing.transform.evaluate import Point
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
    ("(d0, d1) -> (d0 * d1), domain: d0 in [0, 9999], d1 in [0, 9999]", "d0 * d1"),
    ("(d0, d1) -> (d0 mod d1), domain: d0 in [0, 9999], d1 in [1, 9999]", "d0 mod d1"),
    ("(d0) -> (d0), domain: d0 in [0, 9999999], d0 * d0 in [0, 9]", "d0 * d0"),
]


@pytest.mark.parametrize(("text", "term"), REFUSED)
def test_what_is_not_quasi_affine_is_named(text: str, term: str) -> None:
    with pytest.raises(NotQuasiAffineError) as caught:
        parse_map(text).equals(parse_map(text.replace("9", "8")))
    assert caught.value.term == term
    assert parse_map(text).equals(parse_map(text)), "equal fields need no question"


def test_a_constraint_that_is_not_quasi_affine_is_named() -> None:
    squares = parse_map("(d0) -> (d0), domain: d0 in [0, 9999999], d0 * d0 in [2, 3]")
    with pytest.raises(NotQuasiAffineError, match=r"d0 \* d0: is a product of variables"):
        squares.is_empty()


# Inclusion.

SUBSETS = [
    ("(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 4]", True),
    ("()[s0] -> (s0 * 2), domain: s0 in [0, 3]", "()[s0] -> (s0), domain: s0 in [0, 6]", True),
    ("()[s0] -> (s0 * 2), domain: s0 in [0, 3]", "()[s0] -> (s0), domain: s0 in [0, 5]", False),
    ("(d0) -> (d0), domain: KNOWN EMPTY", "(d0) -> (7), domain: d0 in [0, 4]", True),
    ("(d0) -> (d0), domain: d0 in [0, 3]", "(d0, d1) -> (d0), domain: KNOWN EMPTY", False),
]


@pytest.mark.parametrize(("inner", "outer", "expected"), SUBSETS)
def test_subset(inner: str, outer: str, expected: bool) -> None:
    assert parse_map(inner).is_subset(parse_map(outer)) is expected


@given(maps(results=1, dims=1), maps(results=1, dims=1))
def test_inclusion_is_that_of_all_points(a: IndexingMap, b: IndexingMap) -> None:
    assert a.is_subset(b) is (related(a) <= related(b))
    assert a.is_subset(a.simplify())


# Each element once.

INJECTIVE = {
    "transpose": ("(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]", True),
    "broadcast": ("(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 7]", False),
    "reshape": ("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 1099511627775]", True),
    "ranges": ("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 3]", True),
    "windows": ("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 4]", False),
    "a range that is not used": ("(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 3]", False),
    "two residues": ("(d0) -> (d0 mod 3, d0 mod 5), domain: d0 in [0, 14]", True),
    "two residues, once more": ("(d0) -> (d0 mod 3, d0 mod 5), domain: d0 in [0, 15]", False),
    "a runtime variable": ("(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 3]", True),
    "no variables": ("() -> (3)", True),
    "no results": ("(d0) -> (), domain: d0 in [0, 1]", False),
    "a single point without results": ("(d0) -> (), domain: d0 in [1, 1]", True),
    "empty": ("(d0) -> (), domain: KNOWN EMPTY", True),
}


@pytest.mark.parametrize(("text", "expected"), INJECTIVE.values(), ids=INJECTIVE)
def test_injective(text: str, expected: bool) -> None:
    assert parse_map(text).is_injective() is expected


@given(maps())
def test_injectivity_is_that_of_all_points(made: IndexingMap) -> None:
    """Elements reached from one point only, whatever runtime variables are, or for each of them."""
    points = [] if made.is_known_empty else list(made.points())
    pairs = {(dims, ranges, results) for dims, ranges, _, results in points}
    assert made.is_injective() is (len(pairs) == len({results for *_, results in pairs}))
    apart = {(runtime, results) for _, _, runtime, results in points}
    assert made.is_injective(runtime_as_parameters=True) is (len(apart) == len(points))


# Covering.

COVERING: dict[str, tuple[str, list[int], bool, bool]] = {
    "all": ("(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]", [8, 4], True, True),
    "more": ("(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]", [8, 3], True, False),
    "less": ("(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]", [9, 4], False, False),
    "twice": ("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 1]", [9], True, False),
    "tiles": ("(d0)[s0] -> (d0 + s0 * 4), domain: d0 in [0, 3], s0 in [0, 9]", [40], True, True),
    "a hole": ("(d0)[s0] -> (d0 * 3 + s0), domain: d0 in [0, 9], s0 in [0, 1]", [29], False, False),
    "a scalar": ("() -> ()", [], True, True),
    "nothing": ("(d0) -> (d0), domain: KNOWN EMPTY", [0], True, True),
    "nothing of something": ("(d0) -> (d0), domain: KNOWN EMPTY", [1], False, False),
    "huge": (
        "(d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [0, 3298534883327]",
        [2**40, 3],
        True,
        True,
    ),
    "threads of a tiled transpose": (
        (
            "(th_x, bl_x)[s0] -> (((bl_x * 16 + th_x floordiv 32) floordiv 3) * 32 + th_x mod 32, "
            "(bl_x * 16 + th_x floordiv 32) mod 3 * 8 + s0), "
            "domain: th_x in [0, 511], bl_x in [0, 59], s0 in [0, 7]"
        ),
        [10240, 24],
        True,
        True,
    ),
}


@pytest.mark.parametrize(
    ("text", "sizes", "covers", "is_bijective"), COVERING.values(), ids=COVERING
)
def test_covering(text: str, sizes: list[int], covers: bool, is_bijective: bool) -> None:
    made = parse_map(text)
    assert made.covers(sizes) is covers
    assert made.is_bijective_onto(sizes) is is_bijective


@given(maps(results=1))
def test_covering_is_that_of_all_points(made: IndexingMap) -> None:
    points = [] if made.is_known_empty else list(made.points())
    values = {results[0] for *_, results in points}
    size = next(size for size in range(len(values) + 1) if size not in values)
    assert made.covers([size])
    assert not made.covers([size + 1])
    is_exact = values == set(range(size))
    assert made.is_bijective_onto([size]) is (made.is_injective() and is_exact)


@pytest.mark.parametrize("ask", [IndexingMap.covers, IndexingMap.is_bijective_onto])
def test_as_many_sizes_as_results(ask: Callable[..., bool]) -> None:
    with pytest.raises(MapError, match="sizes: 1 are given; expected 2, one for each result"):
        ask(IndexingMap.identity([4, 4]), [4])


# Runtime variables as parameters.

SLICE = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 2]")
BACK = parse_map("(d0){rt0} -> (d0 + 2 - rt0), domain: d0 in [0, 3], rt0 in [0, 2]")
ROTATION = parse_map("(d0){rt0} -> ((d0 + rt0) mod 8), domain: d0 in [0, 7], rt0 in [0, 7]")

PARAMETERS: list[tuple[Callable[..., bool], tuple[object, ...], bool, bool]] = [
    (IndexingMap.equals, (SLICE, BACK), True, False),
    (IndexingMap.is_subset, (SLICE, BACK), True, False),
    (IndexingMap.is_injective, (SLICE,), False, True),
    (IndexingMap.covers, (SLICE, [6]), True, False),
    (IndexingMap.covers, (ROTATION, [8]), True, True),
    (IndexingMap.is_bijective_onto, (ROTATION, [8]), False, True),
]


@pytest.mark.parametrize(("ask", "given_", "whatever_they_are", "for_each"), PARAMETERS)
def test_runtime_variables_as_parameters(
    ask: Callable[..., bool], given_: tuple[object, ...], whatever_they_are: bool, for_each: bool
) -> None:
    assert ask(*given_) is whatever_they_are
    assert ask(*given_, runtime_as_parameters=True) is for_each


# Samples.

SAMPLES = [
    ("() -> (3)", ((), (), (), (3,))),
    (
        "(d0)[s0]{rt0} -> (d0), domain: d0 in [2, 9], s0 in [1, 3], rt0 in [5, 6]",
        ((2,), (1,), (5,), (2,)),
    ),
    ("(d0) -> (d0), domain: d0 in [-inf, inf], d0 mod 4 in [3, 3]", ((3,), (), (), (3,))),
    ("(d0) -> (d0), domain: d0 in [-inf, -2], d0 mod 4 in [3, 3]", ((-5,), (), (), (-5,))),
    ("(d0) -> (d0 * d0), domain: d0 in [5, 9]", ((5,), (), (), (25,))),
    ("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]", None),
    ("(d0) -> (d0), domain: KNOWN EMPTY", None),
]


@pytest.mark.parametrize(("text", "point"), SAMPLES)
def test_sample(text: str, point: Point | None) -> None:
    assert parse_map(text).sample() == point


@given(maps())
def test_the_sample_is_the_first_point(made: IndexingMap) -> None:
    assert made.sample() == (None if made.is_known_empty else next(made.points(), None))


def test_a_sample_without_a_value() -> None:
    with pytest.raises(MapError, match="sample: 5 floordiv 0 has no value"):
        parse_map("(d0) -> (5 floordiv d0), domain: d0 in [0, 9]").sample()


# What cannot be asked.

UNDEFINED = UndefinedMap("nobody knows")
QUESTIONS: dict[str, Callable[[IndexingMap], object]] = {
    "is_empty": IndexingMap.is_empty,
    "equals": lambda made: made.equals(IndexingMap.identity([4])),
    "is_subset": lambda made: IndexingMap.identity([4]).is_subset(made),
    "first_difference": lambda made: made.first_difference(IndexingMap.identity([4])),
    "image": IndexingMap.image,
    "domain_set": IndexingMap.domain_set,
    "count": IndexingMap.count,
    "count_results": IndexingMap.count_results,
    "is_injective": IndexingMap.is_injective,
    "covers": lambda made: made.covers([4]),
    "is_bijective_onto": lambda made: made.is_bijective_onto([4]),
    "sample": IndexingMap.sample,
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_an_undefined_map_has_no_answers(ask: Callable[[IndexingMap], object]) -> None:
    with pytest.raises(MapError, match="the map is undefined: nobody knows"):
        ask(UNDEFINED)


def test_an_undefined_map_equals_itself() -> None:
    assert UNDEFINED.equals(UndefinedMap("nobody knows"))
    assert UNDEFINED.is_subset(UndefinedMap("nobody knows"))
    assert UNDEFINED.first_difference(UndefinedMap("nobody knows")) is None


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_every_question_names_a_term_that_is_not_quasi_affine(
    ask: Callable[[IndexingMap], object],
) -> None:
    squares = parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [0, 9999999], d0 * d0 in [2, 30]")
    with pytest.raises(NotQuasiAffineError, match=r"d0 \* d0: is a product of variables"):
        ask(squares)


def test_laws_tell_that_a_map_is_injective_where_isl_cannot_express_it() -> None:
    squares = "domain: d0 in [0, 9999999], d0 * d0 in [2, 30]"
    assert parse_map(f"(d0) -> (d0), {squares}").is_injective()
    with pytest.raises(NotQuasiAffineError, match=r"d0 \* d0: is a product of variables"):
        parse_map(f"(d0) -> (d0 floordiv 2), {squares}").is_injective()


FEW_POINTS = [
    "(d0, d1) -> (d0 * d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0 mod d1, d1), domain: d0 in [0, 9], d1 in [1, 9]",
    "(d0) -> (d0), domain: d0 in [-9, 9], d0 * d0 in [2, 30]",
    "(d0) -> (d0), domain: d0 in [0, 9], d0 * d0 in [2, 3]",
    "(d0, d1) -> (d0, bitxor(d1, d0 mod 4)), domain: d0 in [0, 7], d1 in [0, 7]",
    "(d0)[s0] -> (bitand(d0, s0)), domain: d0 in [0, 7], s0 in [0, 3]",
]


@pytest.mark.parametrize("text", FEW_POINTS)
def test_few_points_are_gone_through_where_isl_cannot_express_a_map(text: str) -> None:
    made = parse_map(text)
    listed = list(made.points())
    reached = {point[3] for point in listed}
    assert made.count() == len(listed)
    assert made.is_empty() is (not listed)
    assert made.count_results() == len(reached)
    assert set(made.image()) == reached
    assert set(made.domain_set()) == {point[0] for point in listed}
    assert made.is_injective() is (len(reached) == len(listed))
    assert made.sample() == (listed[0] if listed else None)
    sizes = [8] * len(made.forms)
    tensor = set(product(range(8), repeat=len(sizes)))
    assert made.covers(sizes) is (tensor <= reached)
    assert made.is_bijective_onto(sizes) is (tensor == reached and len(reached) == len(listed))
    part = made.with_constraint(made.results[0], (None, 3))
    assert part.is_subset(made)
    assert made.equals(part) is all(point[3][0] <= 3 for point in listed)


@pytest.mark.parametrize("question", ["equals", "is_subset", "first_difference"])
def test_only_maps_are_compared(question: str) -> None:
    with pytest.raises(MapError, match=f"{question}: the other map is 3; expected an IndexingMap"):
        getattr(IndexingMap.identity([4]), question)(3)


def test_one_context_serves_many_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A context is never freed wholly, whatever islpy does."""
    made: list[islpy.Context] = []

    def counted() -> islpy.Context:
        made.append(new())
        return made[-1]

    new = islpy.Context
    monkeypatch.setattr(islpy, "Context", counted)
    for size in range(3, 9):
        rows = parse_map(f"(d0, d1) -> (d0 * {size} + d1), domain: d0 in [0, 9], d1 in [0, 4]")
        assert rows.is_injective() == (size >= 5)
        assert rows.image() == rows.image()
    assert len(made) <= 2
