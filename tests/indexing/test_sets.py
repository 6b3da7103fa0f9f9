"""Index sets: their algebra, against Python's sets and isl's own, and those that maps reach."""

from __future__ import annotations

import operator
import pickle
from ast import literal_eval
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count, product
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, IndexSet, MapError, StridedInterval, Variable, parse_map
from indexing.domain import Domain
from indexing.exact import few_points, index_set
from indexing.exact.boxes import Box, box_set
from indexing.exact.index_set import read_set
from simplifier import BudgetError, IndexingError, Interval, NotQuasiAffineError, exact
from simplifier.exact import Allowance, Space
from simplifier.expr import form as forms
from simplifier.expr.operations import mod
from tests.cases import for_all
from tests.evaluation import related
from tests.extent import seldom
from tests.indexing.tables import each_named, each_row, each_text, evaluated, named, refusals
from tests.strategies import maps

HIGH = 6
BOX = [(-HIGH, HIGH), (-HIGH, HIGH)]
EVERYTHING = set(product(range(-HIGH, HIGH + 1), repeat=2))


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
    return {each for each in EVERYTHING if each in elements}


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
    for compare in (operator.le, operator.lt, operator.ge, operator.eq):
        assert compare(left, right) is compare(one, other)


@given(sets)
def test_questions_are_answered_as_points_answer_them(elements: IndexSet) -> None:
    expected = points(elements)
    assert the_same(elements.complement(BOX), EVERYTHING - expected)
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
@given(st.lists(st.one_of(boxes(), constrained()), max_size=4))
def test_operations_chain(drawn: list[IndexSet]) -> None:
    found, expected, corner = IndexSet.box(*BOX), EVERYTHING, IndexSet.box((0, 2), (0, 2))
    for number, each in enumerate(drawn):
        if number % 2:
            found, expected = found - each, expected - points(each)
        else:
            found, expected = found & (each | corner), expected & (points(each) | points(corner))
    assert the_same(found, expected)


@each_named("""
boxes meet in a box: IndexSet.box((0, 9), (0, 9)) & IndexSet.box((5, 20), range(0, 9, 4))
    (d0 in [5, 9], d1 in [0, 8] step 4)
neighbours join: IndexSet.box((0, 3), (0, 7)) | IndexSet.box((4, 9), (0, 7)) => (d0 < 10, d1 < 8)
even and odd join: IndexSet.box(range(0, 10, 2)) | IndexSet.box(range(1, 10, 2)) => (d0 < 10)
a hole: IndexSet.box((2, 3), (2, 3)).complement([(0, 5), (0, 5)])
    (d0, d1): d0 in [0, 1], d1 in [0, 5] or d0 in [2, 3], d1 in [0, 1] or d0 in [2, 3], d1 in [4, 5]
        or d0 in [4, 5], d1 in [0, 5]
a class of a class: IndexSet.box(range(0, 24, 2)) - IndexSet.box(range(0, 24, 6))
    (d0): d0 in [2, 20] step 6 or d0 in [4, 22] step 6
without end: IndexSet.box((0, None)) - IndexSet.box((5, 9)) => (d0): d0 in [0, 4] or d0 in [10, inf]
a class without end: IndexSet.parse("(d0): d0 mod 4 in [1, 1]") & IndexSet.box((0, None))
    (d0 in [1, inf] step 4)
an end that is no value: IndexSet.box(StridedInterval(0, 9, 4)) => (d0 in [0, 8] step 4)
a class without ends: IndexSet.parse("(d0): d0 in [-inf, 1] step 2 or d0 in [3, inf] step 2")
    (d0): d0 in [-inf, 1] step 2 or d0 in [3, inf] step 2
a triangle: IndexSet.parse("{ [i, j] : 0 <= i <= j < 10 }") & IndexSet.box((3, 9), (0, 9))
    (i, j): i in [3, 9], j in [3, 9], i - j in [-6, 0]
of parameters: IndexSet.parse("(i)<N>: i in [0, N - 1]") & IndexSet.parse("(i)<M>: i in [M, inf]")
    (i)<M, N>: i in [max(M, 0), N - 1], M in [-inf, inf], N in [1, inf]
at a parameter: (IndexSet.parse("(i)<N>: i in [0, N - 1]") - IndexSet.box((3, 4))).at([7])
    (i): i in [0, 2] or i in [5, 6]
of no coordinates: IndexSet.box() & IndexSet.box() => ()
nothing of no coordinates: IndexSet.box() - IndexSet.box() => (): EMPTY
what is reached from nothing: parse_map("(d0) -> (), domain: d0 in [0, 3]").apply(IndexSet.box((5,
        4))) => (): EMPTY
an empty side: IndexSet.box((0, 3), (4, 3)) => (d0, d1): EMPTY
isl's names go: IndexSet.parse("{ A[i, 3] : 0 <= i < 4 }") => (i < 4, d1 in [3, 3])
a mask: IndexSet.from_mask(np.arange(32).reshape(4, 8) % 3 == 0)
    (d0, d1): d0 in [0, 0], d1 in [0, 6] step 3 or d0 in [1, 1], d1 in [1, 7] step 3 or d0 in
        [2, 2], d1 in [2, 2] or d0 in [2, 2], d1 in [5, 5] or d0 in [3, 3], d1 in [0, 6] step 3
a condition: IndexSet.parse("(i, j): i in [0, 8], j in [0, 8], i < j")
    (i, j): i in [0, 7], j in [1, 8], i - j in [-8, -1]
""")
def test_results_read_well(call: str, expected: str) -> None:
    found = evaluated(call, globals())
    assert str(found) == expected
    assert IndexSet.parse(str(found)) == found


ROWS = IndexingMap.from_sizes("d0 * 8 + d1", [4, 8])
HUGE = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [3, 9999999]")
ENDLESS = parse_map("(d0) -> (3, d0), domain: d0 in [0, inf]").image()

test_errors_say_what_was_expected = refusals(globals(), IndexingError)("""
HUGE.image(budget=10) => BudgetError: budget: 10 operations of isl were not enough
IndexSet.box((0, 3)) & IndexSet.box((0, 3), (0, 3))
    &: the sets have 1 and 2 coordinates; expected as many
IndexSet.box((0, 3), "rows")
    IndexSet.box: side 1 is 'rows'; expected an Interval, or a pair of integers or None
IndexSet.box((0, -1)).lexmin() => lexmin: the set is empty
IndexSet.box((0, None)).lexmax() => lexmax: d0 has the bounds [0, inf]
IndexSet.parse("{ [i, j] : i <= j }").lexmin() => lexmin: i has the bounds
IndexSet.box((0, 3)).project_out([1]) => project_out: there is no coordinate 1; expected one of 0
IndexSet.box(StridedInterval(0, 9, 0)) => expected a positive step, counted from an end
IndexSet.box(StridedInterval(None, None, 2)) => expected a positive step, counted from an end
IndexSet.from_mask(np.arange(3)) => from_mask: the mask has elements of int64; expected bool
IndexSet.from_isl("{ [i] -> [i] }") => isl does not read this as a set
IndexSet.from_isl("{ rat: [i] : 0 <= 2i <= 1 }")
    from_isl: the set has rational numbers; expected integers alone
IndexSet.parse("{ rat: [i] : 0 <= 2i <= 1 }")
    IndexSet.parse: the set has rational numbers; expected integers alone
IndexSet.parse("[d1] -> { [i, 2d1] : d1 > 0 }")
    IndexSet.parse: a parameter is called d1, as a coordinate is by its place
IndexSet.parse("(i)<N>: i in [0, N]").at({"M": 3})
    at: parameters: values of M are given; expected one for each of N
IndexSet.parse("(i)<N>: i in [0, N]").at(3) => at: parameters is 3; expected a sequence of integers
IndexingMap.identity([4]).image([1, 2]) => image: dims has 2 intervals; expected 1
ROWS.apply(IndexSet.box((0, 3))) => the set has 1 coordinates; expected 2, one for each
ROWS.restrict(IndexSet.box((0, 3))) => the set has 1 coordinates; expected 2, one for each
ROWS.distances() => distances: the map has 2 dimensions and 1 results
ENDLESS.count() => d1 has the bounds [0, inf]; expected bounded ones
iter(ENDLESS) => d1 has the bounds [0, inf]; expected bounded ones
(8,) in ROWS.domain_set() => has 1 coordinates; expected 2
(1.5,) in IndexSet.box((0, 3)) => in: element is (1.5,); expected a sequence of integers
IndexSet.box((0, 3)).project_out(0) => project_out: coordinates is 0; expected numbers or names
IndexSet.box((0, 3)).complement(3) => complement: box is 3; expected an IndexSet, or a side for each
IndexSet.parse("(i): i in [-inf, inf] step 2") => 1:28: a step needs an end to count from
IndexSet.parse("(i): i in [0, 3] j") => expected the end of the text
IndexSet.parse("(i)[s0]: i in [0, 3]") => a set has no ranges
IndexSet.parse("(i)<N>: i in [0, N]").lexmin()
    lexmin: the set depends on N; expected none, see at()
""")


def test_other_values_are_no_sets() -> None:
    for call in ("IndexSet.box((0, 3)) & {(0,)}", "IndexSet.box((0, 3)) <= {(0,)}"):
        with pytest.raises(TypeError):
            evaluated(call, {})
    image = IndexingMap.identity([4]).image()
    assert image != {(0,), (1,), (2,), (3,)}
    assert image != IndexingMap.identity([4, 1]).image()


def test_emptiness_is_asked_with_and_without_parentheses() -> None:
    nothing, something = IndexSet.box((0, -1)), IndexSet.box((0, 3))
    odd = "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]"
    empty_map, some_map = parse_map(odd), parse_map("(d0) -> (d0), domain: d0 in [0, 9]")
    for empty, full in ((nothing, something), (empty_map, some_map)):
        assert [*map(bool, (empty.is_empty, empty.is_empty(), empty))] == [True, True, False]
        assert [*map(bool, (full.is_empty, full.is_empty(), full))] == [False, False, True]
        assert full.is_empty == full.is_empty()
        assert len({empty.is_empty, True}) == 1
        assert repr(empty.is_empty) == "True"


def test_threads_share_sets() -> None:
    triangle = IndexSet.parse("{ [i, j] : 0 <= i <= j < 100 }")

    def row(number: int) -> object:
        return (triangle & IndexSet.box((number, number), (0, 99))).count()

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(row, range(100))] == [100 - number for number in range(100)]


@seldom
@given(maps(results=2), sets, sets)
def test_maps_take_sets(made: IndexingMap, left: IndexSet, right: IndexSet) -> None:
    listed = [] if made.is_known_empty else list(made.points())
    some = left | right
    kept = made.restrict_results(some)
    assert related(kept) == {(point[0], point[3]) for point in listed if point[3] in some}
    if len(made.dims) == 2:
        inside = [point for point in listed if point[0] in some]
        assert related(made.restrict(some)) == {(point[0], point[3]) for point in inside}
        assert list(made.apply(some)) == sorted({point[3] for point in inside})
        apart = {tuple(np.subtract(point[3], point[0]).tolist()) for point in listed}
        assert list(made.distances()) == sorted(apart)


def test_a_budget_may_be_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question looks at the clock now and then: each look takes a hundredth of a second here."""
    bits = (
        f"((d0 floordiv {1 << bit} + d0 floordiv {8 << bit}) mod 2) * {1 << bit}"
        for bit in (4, 5, 6)
    )
    swizzle = f"(d0 floordiv 128) * 128 + {' + '.join(bits)} + d0 mod 16"
    hard = parse_map(f"(d0) -> ({swizzle}), domain: d0 in [0, {(1 << 24) - 1}]")
    looks = count()
    monkeypatch.setattr(exact, "process_time", lambda: next(looks) / 100)
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
    for budget in ({"budget": timedelta(milliseconds=10)}, {}):
        with pytest.raises(NotQuasiAffineError):
            products.count_results(**budget)
    assert 0 <= min(asked) <= 5000
    assert max(asked) == few_points.MAX_POINTS


def test_boxes_are_not_looked_for_longer_than_a_question_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded = Mock(wraps=Allowance)
    monkeypatch.setattr(index_set, "Allowance", recorded)
    tent = parse_map("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [3, 9]")
    for budget in (None, 20_000, timedelta(seconds=5)):
        assert tent.image(budget=budget).lexmin() == (0, 3)
    unlimited, operations, attempt = (call.args[0] for call in recorded.call_args_list)
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
    assert (bool(nothing.is_empty), bool(nothing), nothing.count()) == (True, False, 0)
    assert str(nothing) == "(d0): EMPTY"
    assert nothing == IndexSet.box((5, 4)) <= IndexSet.box((7, 7))
    with pytest.raises(MapError, match="lexmin: the set is empty"):
        nothing.lexmin()
    some = IndexSet(hull, [never, hull.constrained([odd, multiple])])
    assert list(some) == [(1,)]
    assert bool(some)
    assert not IndexSet(hull, [hull], ((StridedInterval(5, 4),),))


@each_text("""
a coordinate met by a parameter:
        IndexSet.parse("(N): N in [0, 5]") & IndexSet.parse("(i)<N>: i in [0, N - 1]")
less one: IndexSet.parse("(i, N): i in [0, 5], N in [0, 5]") - IndexSet.parse("(i, j)<N>:
        i in [0, N - 1]")
a complement: IndexSet.parse("(N): N in [2, 3]").complement(IndexSet.parse("(i)<N>: i in [0, N]"))
""")
def test_a_coordinate_called_as_a_parameter_goes_by_its_place(call: str) -> None:
    found = evaluated(call, {})
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


# What maps reach and where they are defined: by family of operations, and at all points.

IMAGES = named("""
identity: (d0 < 4, d1 < 8) -> (d0, d1) => (d0 < 4, d1 < 8)
transpose: (d0 < 4, d1 < 8) -> (d1, d0) => (d0 < 8, d1 < 4)
broadcast: (d0 < 4, d1 < 8) -> (d1, 0) => (d0 < 8, d1 < 1)
scalar: (d0 < 4, d1 < 8) -> () => ()
slice: (d0 < 10) -> (d0 + 5) => (d0 in [5, 14])
strided slice: (d0 < 10) -> (d0 * 3 + 5) => (d0 in [5, 32] step 3)
reverse: (d0 < 5) -> (-d0 * 2 + 9) => (d0 in [1, 9] step 2)
pad: (d0 < 10) -> (d0 - 2), domain: d0 in [2, 6] => (d0 < 5)
interior pad: (d0 < 28) -> (d0 floordiv 3), domain: d0 mod 3 in [0, 0] => (d0 < 10)
into a padded operand: (d0 < 5, d1 < 3) -> (d0 * 2 + 1, d1 + 4)
    (d0 in [1, 9] step 2, d1 in [4, 6])
reduce: (d0 < 4)[s0 < 8] -> (d0, s0) => (d0 < 4, d1 < 8)
window: (d0 < 4)[s0 < 6] -> (d0 * 4 + s0) => (d0 < 18)
dilated window: (d0 < 2)[s0 < 3] -> (d0 * 8 + s0 * 3)
    (d0): d0 in [0, 6] step 3 or d0 in [8, 14] step 3
reshape that joins: (d0 < 4, d1 < 8) -> (d0 * 8 + d1) => (d0 < 32)
reshape that splits: (d0 < 32) -> (d0 floordiv 8, d0 mod 8) => (d0 < 4, d1 < 8)
reshape of a slice: (d0 in [3, 52]) -> (d0 floordiv 8, d0 mod 8)
    (d0, d1): d0 in [0, 0], d1 in [3, 7] or d0 in [1, 5], d1 in [0, 7] or d0 in [6, 6], d1 in [0, 4]
reshape of a huge slice: (d0 in [3, 1099511627775]) -> (d0 floordiv 8, d0 mod 8)
    (d0, d1): d0 in [0, 0], d1 in [3, 7] or d0 in [1, 137438953471], d1 in [0, 7]
concatenation: (d0 < 4)[s0 < 2] -> (d0 + s0 * 10) => (d0): d0 in [0, 3] or d0 in [10, 13]
two boxes: (d0 < 5, d1 < 4)[s0 < 2] -> (d0 + s0 * 9, d1 + s0)
    (d0, d1): d0 in [0, 4], d1 in [0, 3] or d0 in [9, 13], d1 in [1, 4]
dynamic slice: (d0 < 4){rt0 < 7} -> (d0 + rt0) => (d0 < 10)
gather of aligned rows: (d0 < 4){rt0 < 7} -> (rt0 * 8, d0) => (d0 in [0, 48] step 8, d1 < 4)
clamped: (d0 < 10)[s0 < 7] -> (max(0, min(d0 + s0 - 3, 9))) => (d0 < 10)
residues: (d0 < 1000) -> (d0), domain: d0 mod 6 in [2, 3]
    (d0): d0 in [2, 998] step 6 or d0 in [3, 999] step 6
blocks: (d0 < 201) -> (d0), domain: d0 mod 100 in [0, 79]
    (d0): d0 in [0, 79] or d0 in [100, 179] or d0 in [200, 200]
too many blocks: (d0 < 10000) -> (d0), domain: d0 mod 100 in [0, 79]
    (d0): d0 in [0, 9979], d0 mod 100 in [0, 79]
diagonal: (d0 < 10) -> (d0, d0) => (d0, d1): d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 0]
triangle: (d0 < 10, d1 < 10) -> (d0, d1), domain: d0 - d1 in [0, 9]
    (d0, d1): d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 9]
blocks along the diagonal: (d0 < 8)[s0 < 4] -> (d0, (d0 floordiv 4) * 4 + s0)
    (d0, d1): d0 in [0, 3], d1 in [0, 3] or d0 in [4, 7], d1 in [4, 7]
coordinates that step together: (d0 in [1, 3]) -> (d0, d0 mod 2)
    (d0, d1): d0 in [1, 3] step 2, d1 in [1, 1] or d0 in [2, 2], d1 in [0, 0]
# isl counts what it tried there as the least value
a part without points: (d0 < 3) -> ((d0 % -32) floordiv 3) => (d0): d0 in [-11, -10] or d0 in [0, 0]
negative: (d0 in [-3, 3]) -> (d0 * -2) => (d0 in [-6, 6] step 2)
unbounded: (d0 in [3, inf]) -> (d0 * 2) => (d0 in [6, inf] step 2)
from below: (d0 in [-inf, 3]) -> (d0 * 2) => (d0 in [-inf, 6] step 2)
all even: (d0 in [-inf, inf]) -> (d0 * 2) => (d0): d0 in [-inf, inf], d0 mod 2 in [0, 0]
empty: (d0 < 10) -> (d0, 1), domain: d0 mod 4 in [1, 1], d0 mod 6 in [0, 0] => (d0, d1): EMPTY
known empty: (d0) -> (d0), domain: KNOWN EMPTY => (d0): EMPTY
empty scalar: (d0) -> (), domain: KNOWN EMPTY => (): EMPTY
no variables: () -> (3, 4) => (d0 in [3, 3], d1 in [4, 4])
huge: (d0 < 1099511627776, d1 < 1099511627776) -> (d1 * 4, d0)
    (d0 in [0, 4398046511100] step 4, d1 < 1099511627776)
""")


@for_all(IMAGES)
def test_image(text: str, expected: str) -> None:
    made = parse_map(text)
    assert str(made.image()) == str(made.simplify(exact=True).image()) == expected


@each_row("""
(d0 < 10, d1 < 10) -> (d1, d0 * 2) => [3, (4, 5)] => (d0 in [4, 5], d1 in [6, 6])
(d0 < 10)[s0 < 8] -> (d0 * 8 + s0) => [(2, 3)] => (d0 in [16, 31])
(d0 < 10) -> (d0) => [(5, 99)] => (d0 in [5, 9])
(d0 < 10) -> (d0) => [(None, 2)] => (d0 < 3)
""")
def test_image_of_some_dims(text: str, dims: str, expected: str) -> None:
    assert str(parse_map(text).image(literal_eval(dims))) == expected


@each_named("""
names are kept: (row < 4)[k < 4] -> (row + k) => (row < 4)
constraints through a range: (d0 < 100)[s0 < 10] -> (d0), domain: d0 + s0 in [20, 30]
    (d0 in [11, 30])
a range counts by what it reaches: (d0 < 21)[s0 < 10] -> (), domain: d0 - s0 * 3 in [0, 0]
    (d0 in [0, 18] step 3)
runtime variables too: (d0 < 21){rt0 in [5, 5]} -> (), domain: d0 - rt0 in [0, 2] => (d0 in [5, 7])
no dimensions: ()[s0 < 4] -> (s0) => ()
empty: (d0) -> (), domain: KNOWN EMPTY => (d0): EMPTY
""")
def test_domain(text: str, expected: str) -> None:
    assert str(parse_map(text).domain_set()) == expected


def test_sets_may_depend_on_runtime_variables() -> None:
    text = "(d0){start} -> (d0 + start), domain: d0 in [0, 3], start in [0, 6]"
    depends = parse_map(text).image(runtime_as_parameters=True)
    assert str(depends) == "(d0){start}: d0 in [0, 9], start in [0, 6], d0 - start in [0, 3]"
    assert [variable.name for variable in depends.parameters] == ["start"]
    assert str(depends.at([2])) == "(d0): d0 in [2, 5]"
    assert depends.at([7]).is_empty
    for ask in (depends.count, lambda: (3,) in depends, lambda: iter(depends)):
        with pytest.raises(MapError, match="the set depends on start"):
            ask()
    assert str(depends.to_isl()) == (
        "[start] -> { [d0] : 0 <= start <= 6 and start <= d0 <= 3 + start }"
    )
    with pytest.raises(MapError, match="at: there are 2 values; expected 1"):
        depends.at([1, 2])


def _interval(lower: int, steps: int, step: int) -> StridedInterval:
    return StridedInterval(lower, lower + steps * step, step if steps else 1)


_intervals = st.builds(_interval, st.integers(-6, 6), st.integers(0, 5), st.integers(1, 4))


@given(st.lists(st.tuples(_intervals, _intervals), max_size=3))
def test_unions_of_boxes_are_parted_into_boxes(boxes: list[Box]) -> None:
    space = Space(dict.fromkeys(["d0", "d1"], Interval(None, None)))
    union = space.isl.Set.empty(space.domain().get_space())
    for box in boxes:
        union = union.union(box_set(box, space.context))
    told = read_set(union)
    elements = sorted({point for box in boxes for point in product(*box)})
    assert list(told) == elements
    if told.boxes is not None:
        assert sum(len(list(product(*box))) for box in told.boxes) == len(elements), "disjoint"
        assert all(interval.upper == max(interval) for box in told.boxes for interval in box)


@given(maps(results=2))
def test_boxes_and_constraints_say_the_same(made: IndexingMap) -> None:
    image = made.image()
    told = IndexSet(image.hull, image.pieces)
    assert (told, list(told), told.count()) == (image, list(image), image.count())


@given(maps(results=1), maps(results=1))
def test_sets_are_equal_by_their_elements(a: IndexingMap, b: IndexingMap) -> None:
    left, right = a.image(), b.image()
    assert (left == right) is (list(left) == list(right))
    if left == right:
        assert hash(left) == hash(right)


def test_membership() -> None:
    even = parse_map("(d0) -> (d0 * 2, 7), domain: d0 in [0, 4]").image()
    assert (8, 7) in even
    assert (3, 7) not in even
    assert (10, 7) not in even


def test_constraints_are_expressions() -> None:
    diagonal = parse_map("(d0) -> (d0, d0), domain: d0 in [0, 9]").image()
    assert diagonal.boxes is None
    ((*_, (difference, interval)),) = diagonal.constraints
    assert (str(difference), str(interval)) == ("d0 - d1", "[0, 0]")


@for_all([*IMAGES])
def test_sets_are_picklable_and_go_through_isl(name: str) -> None:
    image = parse_map(IMAGES[name][0]).image()
    assert pickle.loads(pickle.dumps(image)) == image  # noqa: S301 - our own bytes
    assert image.to_isl().is_empty() is bool(image.is_empty)


def test_huge_sets_are_gone_through_from_the_start() -> None:
    huge = parse_map(IMAGES["huge"][0]).image()
    assert huge.count() == 2**80
    assert next(iter(huge)) == (0, 0)
