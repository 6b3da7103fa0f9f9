"""The algebra of index sets: against Python's sets of points, and against isl's own."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, IndexSet, MapError, StridedInterval, Variable, parse_map
from indexing.domain import Domain
from indexing.exact import few_points, index_set
from simplifier import BudgetError, Interval, NotQuasiAffineError, TextError
from simplifier.errors import ArgumentError
from simplifier.exact import Allowance, isl
from simplifier.expr import form as forms
from simplifier.expr.operations import mod
from tests.extent import seldom
from tests.strategies import maps

HIGH = 6
BOX = [(-HIGH, HIGH), (-HIGH, HIGH)]


# Drawn sets: boxes, masks, and what constraints leave of a box.


@st.composite
def boxes(draw: st.DrawFn) -> IndexSet:
    """A box of strided sides within the bounds, maybe empty."""
    lower, upper = st.integers(-HIGH, 3), st.integers(-2, HIGH + 1)
    steps = st.integers(1, 4)
    return IndexSet.box(*(range(draw(lower), draw(upper), draw(steps)) for _ in BOX))


@st.composite
def constrained(draw: st.DrawFn) -> IndexSet:
    """A box with a constraint on a sum and its remainder, as text."""
    a, b = draw(st.integers(-3, 3)), draw(st.integers(-3, 3))
    least, modulus = draw(st.integers(-8, 4)), draw(st.integers(1, 4))
    return IndexSet.parse(
        f"(d0, d1): d0 in [-{HIGH}, {HIGH}], d1 in [-{HIGH}, {HIGH}], "
        f"d0 * {a} + d1 * {b} in [{least}, {least + 9}], (d0 + d1) mod {modulus} in [0, 0]"
    )


masks = st.lists(st.booleans(), min_size=16, max_size=16).map(
    lambda bits: IndexSet.from_mask(np.array(bits).reshape(4, 4))
)
sets = st.one_of(boxes(), boxes(), constrained(), masks)


def points(elements: IndexSet) -> set[tuple[int, ...]]:
    """The elements, each found by membership."""
    return {each for each in product(range(-HIGH, HIGH + 1), repeat=2) if each in elements}


def the_same(found: IndexSet, expected: set[tuple[int, ...]]) -> bool:
    """Whether a set has these elements, however it is asked."""
    ends = [[point[axis] for point in expected] for axis in range(found.rank)]
    bounds = [(min(column), max(column)) if column else (0, -1) for column in ends]
    return (
        list(found) == sorted(expected)
        and found.count() == len(expected)
        and bool(found) is bool(expected)
        and found.is_empty() is not bool(expected)
        and [(each.lower, each.upper) for each in found.bounds] == bounds
    )


@seldom
@given(sets, sets)
def test_operators_are_those_of_sets_of_points(left: IndexSet, right: IndexSet) -> None:
    one, other = points(left), points(right)
    assert the_same(left & right, one & other)
    assert the_same(left | right, one | other)
    assert the_same(left - right, one - other)
    assert (left <= right) is (one <= other)
    assert (left < right) is (one < other)
    assert (left >= right) is (one >= other)
    assert (left == right) is (one == other)


@given(sets)
def test_questions_are_answered_as_points_answer_them(elements: IndexSet) -> None:
    expected = points(elements)
    everything = set(product(range(-HIGH, HIGH + 1), repeat=2))
    assert the_same(elements.complement(BOX), everything - expected)
    assert the_same(elements.project_out([1]), {(first,) for first, _ in expected})
    assert the_same(elements.project_out(["d0"]), {(second,) for _, second in expected})
    if expected:
        assert elements.lexmin() == min(expected)
        assert elements.lexmax() == max(expected)
    assert IndexSet.parse(str(elements)) == elements
    assert IndexSet.from_isl(elements.to_isl()) == elements
    assert IndexSet.from_isl(str(elements.to_isl())) == elements
    copy = pickle.loads(pickle.dumps(elements))  # noqa: S301 - our own bytes
    assert copy == elements
    assert hash(copy) == hash(elements)


@seldom
@given(sets, sets)
def test_isl_says_the_same(left: IndexSet, right: IndexSet) -> None:
    one, other = left.to_isl(), right.to_isl()
    assert (left & right).to_isl().is_equal(one.intersect(other))
    assert (left | right).to_isl().is_equal(one.union(other))
    assert (left - right).to_isl().is_equal(one.subtract(other))
    assert (left <= right) is bool(one.is_subset(other))


@seldom
@given(st.lists(st.one_of(boxes(), constrained()), max_size=4))
def test_operations_chain(drawn: list[IndexSet]) -> None:
    found, expected = IndexSet.box(*BOX), set(product(range(-HIGH, HIGH + 1), repeat=2))
    for number, each in enumerate(drawn):
        found = found - each if number % 2 else found & (each | IndexSet.box((0, 2), (0, 2)))
        other = points(each)
        expected = (
            expected - other if number % 2 else expected & (other | {*product(range(3), repeat=2)})
        )
    assert the_same(found, expected)


# Named cases.

RESULTS = {
    "boxes meet in a box": (
        lambda: IndexSet.box((0, 9), (0, 9)) & IndexSet.box((5, 20), range(0, 9, 4)),
        "(d0, d1): d0 in [5, 9], d1 in [0, 8] step 4",
    ),
    "neighbours join": (
        lambda: IndexSet.box((0, 3), (0, 7)) | IndexSet.box((4, 9), (0, 7)),
        "(d0, d1): d0 in [0, 9], d1 in [0, 7]",
    ),
    "even and odd join": (
        lambda: IndexSet.box(range(0, 10, 2)) | IndexSet.box(range(1, 10, 2)),
        "(d0): d0 in [0, 9]",
    ),
    "a hole": (
        lambda: IndexSet.box((2, 3), (2, 3)).complement([(0, 5), (0, 5)]),
        (
            "(d0, d1): d0 in [0, 1], d1 in [0, 5] or d0 in [2, 3], d1 in [0, 1] "
            "or d0 in [2, 3], d1 in [4, 5] or d0 in [4, 5], d1 in [0, 5]"
        ),
    ),
    "a class of a class": (
        lambda: IndexSet.box(range(0, 24, 2)) - IndexSet.box(range(0, 24, 6)),
        "(d0): d0 in [2, 20] step 6 or d0 in [4, 22] step 6",
    ),
    "without end": (
        lambda: IndexSet.box((0, None)) - IndexSet.box((5, 9)),
        "(d0): d0 in [0, 4] or d0 in [10, inf]",
    ),
    "a class without end": (
        lambda: IndexSet.parse("(d0): d0 mod 4 in [1, 1]") & IndexSet.box((0, None)),
        "(d0): d0 in [1, inf] step 4",
    ),
    "an end that is no value": (
        lambda: IndexSet.box(StridedInterval(0, 9, 4)),
        "(d0): d0 in [0, 8] step 4",
    ),
    "a class without ends": (
        lambda: IndexSet.parse("(d0): d0 in [-inf, 1] step 2 or d0 in [3, inf] step 2"),
        "(d0): d0 in [-inf, 1] step 2 or d0 in [3, inf] step 2",
    ),
    "a triangle": (
        lambda: IndexSet.parse("{ [i, j] : 0 <= i <= j < 10 }") & IndexSet.box((3, 9), (0, 9)),
        "(i, j): i in [3, 9], j in [3, 9], i - j in [-6, 0]",
    ),
    "of parameters": (
        lambda: IndexSet.parse("(i)<N>: i in [0, N - 1]") & IndexSet.parse("(i)<M>: i in [M, inf]"),
        "(i)<M, N>: i in [max(M, 0), N - 1], M in [-inf, inf], N in [1, inf]",
    ),
    "at a parameter": (
        lambda: (IndexSet.parse("(i)<N>: i in [0, N - 1]") - IndexSet.box((3, 4))).at([7]),
        "(i): i in [0, 2] or i in [5, 6]",
    ),
    "of no coordinates": (lambda: IndexSet.box() & IndexSet.box(), "()"),
    "nothing of no coordinates": (lambda: IndexSet.box() - IndexSet.box(), "(): EMPTY"),
    "what is reached from nothing": (
        lambda: parse_map("(d0) -> (), domain: d0 in [0, 3]").apply(IndexSet.box((5, 4))),
        "(): EMPTY",
    ),
    "an empty side": (lambda: IndexSet.box((0, 3), (4, 3)), "(d0, d1): EMPTY"),
    "a mask": (
        lambda: IndexSet.from_mask(np.arange(32).reshape(4, 8) % 3 == 0),
        (
            "(d0, d1): d0 in [0, 0], d1 in [0, 6] step 3 or d0 in [1, 1], d1 in [1, 7] step 3 or "
            "d0 in [2, 2], d1 in [2, 2] or d0 in [2, 2], d1 in [5, 5] or "
            "d0 in [3, 3], d1 in [0, 6] step 3"
        ),
    ),
    "a condition": (
        lambda: IndexSet.parse("(i, j): i in [0, 8], j in [0, 8], i < j"),
        "(i, j): i in [0, 7], j in [1, 8], i - j in [-8, -1]",
    ),
    "isl's names go": (lambda: IndexSet.parse("{ A[i, 3] : 0 <= i < 4 }"), None),
}


@pytest.mark.parametrize(("make", "expected"), RESULTS.values(), ids=RESULTS)
def test_results_read_well(make: Callable[[], IndexSet], expected: str | None) -> None:
    found = make()
    assert expected is None or str(found) == expected
    assert IndexSet.parse(str(found)) == found


ERRORS: dict[str, tuple[Callable[[], object], str]] = {
    "ranks": (
        lambda: IndexSet.box((0, 3)) & IndexSet.box((0, 3), (0, 3)),
        "&: the sets have 1 and 2 coordinates; expected as many",
    ),
    "a side": (
        lambda: IndexSet.box((0, 3), "rows"),  # pyright: ignore[reportArgumentType] - that is the error
        r"IndexSet.box: side 1 is 'rows'; expected an Interval, or a pair of integers or None",
    ),
    "no element": (lambda: IndexSet.box((0, -1)).lexmin(), "lexmin: the set is empty"),
    "no end": (lambda: IndexSet.box((0, None)).lexmax(), r"lexmax: d0 has the bounds \[0, inf\]"),
    "no end of constraints": (
        lambda: IndexSet.parse("{ [i, j] : i <= j }").lexmin(),
        r"lexmin: d0 has the bounds|lexmin: i has the bounds",
    ),
    "no coordinate": (
        lambda: IndexSet.box((0, 3)).project_out([1]),
        "project_out: there is no coordinate 1; expected one of 0",
    ),
    "a side without step": (
        lambda: IndexSet.box(StridedInterval(0, 9, 0)),
        "expected a positive step, counted from an end",
    ),
    "a side without end": (
        lambda: IndexSet.box(StridedInterval(None, None, 2)),
        "expected a positive step, counted from an end",
    ),
    "a mask of numbers": (
        lambda: IndexSet.from_mask(np.arange(3)),
        "from_mask: the mask has elements of int64; expected bool",
    ),
    "no set of isl": (
        lambda: IndexSet.from_isl("{ [i] -> [i] }"),
        "isl does not read this as a set",
    ),
    "rational numbers": (
        lambda: IndexSet.from_isl("{ rat: [i] : 0 <= 2i <= 1 }"),
        "from_isl: the set has rational numbers; expected integers alone",
    ),
    "rational numbers in a text": (
        lambda: IndexSet.parse("{ rat: [i] : 0 <= 2i <= 1 }"),
        "IndexSet.parse: the set has rational numbers; expected integers alone",
    ),
    "a parameter that is called as a coordinate": (
        lambda: IndexSet.parse("[d1] -> { [i, 2d1] : d1 > 0 }"),
        "IndexSet.parse: a parameter is called d1, as a coordinate is by its place",
    ),
    "the value of another parameter": (
        lambda: IndexSet.parse("(i)<N>: i in [0, N]").at({"M": 3}),
        "at: parameters: values of M are given; expected one for each of N",
    ),
    "no values": (
        lambda: IndexSet.parse("(i)<N>: i in [0, N]").at(3),  # pyright: ignore[reportArgumentType]
        "at: parameters is 3; expected a sequence of integers",
    ),
    "no integer": (
        lambda: (1.5,) in IndexSet.box((0, 3)),  # pyright: ignore[reportOperatorIssue]
        r"in: element is \(1.5,\); expected a sequence of integers",
    ),
    "no coordinates": (
        lambda: IndexSet.box((0, 3)).project_out(0),  # pyright: ignore[reportArgumentType]
        "project_out: coordinates is 0; expected numbers or names",
    ),
    "no box": (
        lambda: IndexSet.box((0, 3)).complement(3),  # pyright: ignore[reportArgumentType]
        "complement: box is 3; expected an IndexSet, or a side for each",
    ),
    "a step without start": (
        lambda: IndexSet.parse("(i): i in [-inf, inf] step 2"),
        "1:28: a step needs an end to count from",
    ),
    "what follows": (lambda: IndexSet.parse("(i): i in [0, 3] j"), "expected the end of the text"),
    "a range": (lambda: IndexSet.parse("(i)[s0]: i in [0, 3]"), "a set has no ranges"),
    "values": (
        lambda: IndexSet.parse("(i)<N>: i in [0, N]").lexmin(),
        r"lexmin: the set depends on N; expected none, see at\(\)",
    ),
}


@pytest.mark.parametrize(("ask", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_say_what_was_expected(ask: Callable[[], object], message: str) -> None:
    with pytest.raises((MapError, TextError, ArgumentError), match=message):
        ask()


def test_other_values_are_no_sets() -> None:
    with pytest.raises(TypeError):
        assert IndexSet.box((0, 3)) & {(0,)}  # pyright: ignore[reportOperatorIssue]
    with pytest.raises(TypeError):
        assert IndexSet.box((0, 3)) <= {(0,)}  # pyright: ignore[reportOperatorIssue]


def test_emptiness_is_asked_with_and_without_parentheses() -> None:
    nothing, something = IndexSet.box((0, -1)), IndexSet.box((0, 3))
    odd = "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]"
    empty_map, some_map = parse_map(odd), parse_map("(d0) -> (d0), domain: d0 in [0, 9]")
    for empty, full in ((nothing, something), (empty_map, some_map)):
        assert empty.is_empty
        assert empty.is_empty()
        assert not empty
        assert not full.is_empty
        assert not full.is_empty()
        assert full
        assert full.is_empty == full.is_empty()
        assert len({empty.is_empty, True}) == 1
        assert repr(empty.is_empty) == "True"


def test_threads_share_sets() -> None:
    triangle = IndexSet.parse("{ [i, j] : 0 <= i <= j < 100 }")

    def row(number: int) -> object:
        return (triangle & IndexSet.box((number, number), (0, 99))).count()

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(row, range(100))] == [100 - number for number in range(100)]


# Maps and sets.


@seldom
@given(maps(results=2), sets, sets)
def test_maps_take_sets(made: IndexingMap, left: IndexSet, right: IndexSet) -> None:
    listed = [] if made.is_known_empty else list(made.points())
    some = left | right
    kept = made.restrict_results(some)
    assert _pairs(kept) == {(point[0], point[3]) for point in listed if point[3] in some}
    if len(made.dims) == 2:
        inside = [point for point in listed if point[0] in some]
        assert _pairs(made.restrict(some)) == {(point[0], point[3]) for point in inside}
        assert list(made.apply(some)) == sorted({point[3] for point in inside})
        apart = {tuple(np.subtract(point[3], point[0]).tolist()) for point in listed}
        assert list(made.distances()) == sorted(apart)


def _pairs(made: IndexingMap) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The dimensions and results of all points."""
    if made.is_known_empty:
        return set()
    return {(point[0], point[3]) for point in made.points()}


def test_maps_take_sets_of_as_many_coordinates() -> None:
    rows = parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]")
    line = IndexSet.box((0, 3))
    for ask in (rows.apply, rows.restrict):
        with pytest.raises(MapError, match="the set has 1 coordinates; expected 2, one for each"):
            ask(line)
    with pytest.raises(MapError, match="distances: the map has 2 dimensions and 1 results"):
        rows.distances()
    assert str(rows.restrict_results(line)) == (
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7], d0 * 8 + d1 in [0, 3]"
    )


def test_a_budget_may_be_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question looks at the clock now and then: each look takes a hundredth of a second here."""
    bits = (
        f"((d0 floordiv {1 << bit} + d0 floordiv {8 << bit}) mod 2) * {1 << bit}"
        for bit in (4, 5, 6)
    )
    swizzle = f"(d0 floordiv 128) * 128 + {' + '.join(bits)} + d0 mod 16"
    hard = parse_map(f"(d0) -> ({swizzle}), domain: d0 in [0, {(1 << 24) - 1}]")
    looks = count()
    monkeypatch.setattr(isl, "process_time", lambda: next(looks) / 100)
    with pytest.raises(BudgetError, match=r"budget: 0\.1 seconds were not enough; give more"):
        hard.is_injective(budget=timedelta(seconds=0.1))
    assert next(looks) < 20
    monkeypatch.undo()
    easy = parse_map("(d0) -> (d0 * 2), domain: d0 in [0, 9]")
    assert not easy.is_empty(budget=timedelta(seconds=1))
    assert easy.count_results(budget=timedelta(milliseconds=500)) == 10
    with pytest.raises(BudgetError, match="expected a positive number of operations or None"):
        easy.is_empty(budget=timedelta())


def test_no_point_is_listed_that_there_is_no_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def few(_: object, most: int = 1 << 20) -> bool:
        asked.append(most)
        return False

    monkeypatch.setattr(few_points, "has_few_points", few)
    products = parse_map("(d0, d1) -> (d0 * d1), domain: d0 in [0, 999], d1 in [0, 999]")
    with pytest.raises(NotQuasiAffineError):
        products.count_results(budget=timedelta(milliseconds=10))
    with pytest.raises(NotQuasiAffineError):
        products.count_results()
    assert 0 <= min(asked) <= 5000
    assert max(asked) == few_points.MAX_POINTS


def test_boxes_are_not_looked_for_longer_than_a_question_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spent: list[int] = []

    def recorded(budget: int) -> Allowance:
        spent.append(budget)
        return Allowance(budget)

    monkeypatch.setattr(index_set, "Allowance", recorded)
    tent = parse_map("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [3, 9]")
    for budget in (None, 20_000, timedelta(seconds=5)):
        assert tent.image(budget=budget).lexmin() == (0, 3)
    unlimited, operations, attempt = spent
    assert unlimited == index_set.MAX_OPERATIONS_FOR_BOXES
    assert operations == 20_000
    assert attempt <= 10_000


def test_a_set_made_by_hand_may_have_no_point() -> None:
    """Its pieces say so only to isl."""
    hull = Domain.of([Variable((0, 9))])
    d0 = forms.variable("d0")
    odd, multiple = ((mod(d0, forms.constant(by)), Interval(1, 1)) for by in (4, 6))
    never = hull.constrained([odd, (mod(d0, forms.constant(6)), Interval(0, 0))])
    nothing = IndexSet(hull, [never])
    assert nothing.is_empty
    assert not nothing
    assert str(nothing) == "(d0): EMPTY"
    assert nothing == IndexSet.box((5, 4))
    assert nothing <= IndexSet.box((7, 7))
    assert nothing.count() == 0
    with pytest.raises(MapError, match="lexmin: the set is empty"):
        nothing.lexmin()
    some = IndexSet(hull, [never, hull.constrained([odd, multiple])])
    assert list(some) == [(1,)]
    assert bool(some)
    assert not IndexSet(hull, [hull], ((StridedInterval(5, 4),),))


CALLED_ALIKE = {
    "a coordinate met by a parameter": lambda: (
        IndexSet.parse("(N): N in [0, 5]") & IndexSet.parse("(i)<N>: i in [0, N - 1]")
    ),
    "less one": lambda: (
        IndexSet.parse("(i, N): i in [0, 5], N in [0, 5]")
        - IndexSet.parse("(i, j)<N>: i in [0, N - 1]")
    ),
    "a complement": lambda: IndexSet.parse("(N): N in [2, 3]").complement(
        IndexSet.parse("(i)<N>: i in [0, N]")
    ),
}


@pytest.mark.parametrize("make", CALLED_ALIKE.values(), ids=CALLED_ALIKE)
def test_a_coordinate_called_as_a_parameter_goes_by_its_place(make: Callable[[], IndexSet]) -> None:
    found = make()
    assert IndexSet.parse(str(found)) == found
    assert "N" in [variable.name for variable in found.parameters]


def test_a_map_restricted_to_a_set_over_a_parameter_of_its_own_name_reads_back() -> None:
    rows = parse_map("(N)[M] -> (N, M), domain: N in [0, 9], M in [0, 3]")
    size = parse_map("(d0)<N> -> (d0), domain: d0 in [0, N - 1], N in [0, inf]").image()
    kept = rows.restrict(size)
    assert str(kept) == (
        "(d0)[M]<N> -> (d0, M), domain: d0 in [0, min(N - 1, 9)], M in [0, 3], N in [1, inf]"
    )
    assert parse_map(str(kept)) == kept
