"""Exact questions about maps, against all points of small ones."""

from __future__ import annotations

from ast import literal_eval
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import Mock

import islpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, UndefinedMap, first_difference, parse_map
from indexing.exact import few_points, multiplicities
from indexing.exact.boxes import whole
from indexing.exact.index_set import set_of_rows
from indexing.exact.isl import telling_runtime
from indexing.exact.questions import reached, reached_again
from simplifier import BudgetError, Interval
from simplifier.exact import NotQuasiAffineError
from tests.cases import for_all
from tests.evaluation import related
from tests.indexing.tables import each_named, each_row, evaluated, refusals
from tests.strategies import maps


@each_row("""
# ranges count for what they reach
()[s0 < 4, s1 < 2] -> (s0 * 2 + s1) => ()[s0 < 8] -> (s0) => True
# so do runtime variables
(){rt0 < 4} -> (rt0 + 1) => ()[s0 in [1, 4]] -> (s0) => True
# names do not matter
(row < 4) -> (row) => (d0 < 4) -> (d0) => True
# constraints and bounds say the same
(d0 < 10) -> (d0), domain: d0 floordiv 4 in [1, 1] => (d0 in [4, 7]) -> (d0) => True
# unused ranges with a solution
(d0 < 4)[s0 < 10] -> (d0), domain: s0 mod 7 in [6, 6] => (d0 < 4) -> (d0) => True
# two empty maps, one of which does not look so
(d0 < 6) -> (d0), domain: d0 mod 4 in [1, 1], d0 mod 6 in [0, 0] => (d0 in [1, 0]) -> (7) => True
# without bounds
(d0 in [-inf, inf]) -> ((d0 floordiv 2) * 2 + d0 mod 2) => (d0 in [-inf, inf]) -> (d0) => True
# a variable with one value may multiply
(d0 < 10, d1 in [3, 3]) -> (d0 * d1) => (d0 < 10, d1 in [3, 3]) -> (d0 * 3) => True
() -> (3) => ()[s0 in [3, 3]] -> (s0) => True
() -> () => ()[s0 in [3, 5]] -> () => True
# differences
(d0 < 4) -> (d0) => (d0 < 5) -> (d0) => False
(d0 < 4) -> (d0) => (d0 < 4) -> (d0, d0) => False
(d0 < 4) -> () => (d0 < 4, d1 < 4) -> () => False
(d0 < 4)[s0 < 4] -> (s0) => (d0 < 4) -> (d0) => False
(d0 < 4)[s0 < 6] -> (d0), domain: s0 mod 7 in [6, 6] => (d0 < 4) -> (d0) => False
(d0 < 4) -> (d0 floordiv -2) => (d0 < 4) -> (-(d0 floordiv 2)) => False
""")
def test_equal(a: str, b: str, expected: str) -> None:
    assert str(parse_map(a).equals(parse_map(b))) == expected
    assert str(parse_map(b).equals(parse_map(a))) == expected


@given(maps(results=1, dims=1), maps(results=1, dims=1))
def test_equality_and_inclusion_are_those_of_all_points(a: IndexingMap, b: IndexingMap) -> None:
    assert a.equals(b) is (related(a) == related(b))
    assert a.is_subset(b) is (related(a) <= related(b))
    assert a.is_subset(a.simplify())
    assert a.equals(a.simplify())


@each_row("""
(d0 < 100) -> (d0), domain: d0 mod 4 in [1, 1], d0 mod 6 in [0, 0] => True
(d0 < 100) -> (d0), domain: d0 mod 4 in [1, 1], d0 mod 6 in [1, 1] => False
(d0 in [-inf, inf]) -> (d0), domain: d0 * 6 in [1, 5] => True
(d0 in [0, inf], d1 in [0, inf]) -> (), domain: d0 * 6 - d1 * 4 in [3, 3] => True
(d0) -> (d0), domain: KNOWN EMPTY => True
() -> (0), domain: KNOWN EMPTY => True
() -> (0) => False
""")
def test_empty(text: str, is_empty: str) -> None:
    assert str(parse_map(text).is_empty()) == is_empty


@each_row("""
(d0 < 10000, d1 < 10000) -> (d0 * d1) => d0 * d1
(d0 < 10000, d1 in [1, 9999]) -> (d0 mod d1) => d0 mod d1
(d0 < 10000000) -> (d0), domain: d0 * d0 in [0, 9] => d0 * d0
""")
def test_what_is_not_quasi_affine_is_named(text: str, term: str) -> None:
    with pytest.raises(NotQuasiAffineError) as caught:
        parse_map(text).equals(parse_map(text.replace("9", "8")))
    assert caught.value.term == term
    assert parse_map(text).equals(parse_map(text)), "equal fields need no question"


@each_row("""
(d0 < 4) -> (d0) => (d0 < 5) -> (d0) => True
()[s0 < 4] -> (s0 * 2) => ()[s0 < 7] -> (s0) => True
()[s0 < 4] -> (s0 * 2) => ()[s0 < 6] -> (s0) => False
(d0) -> (d0), domain: KNOWN EMPTY => (d0 < 5) -> (7) => True
(d0 < 4) -> (d0) => (d0, d1) -> (d0), domain: KNOWN EMPTY => False
""")
def test_subset(inner: str, outer: str, expected: str) -> None:
    assert str(parse_map(inner).is_subset(parse_map(outer))) == expected


@each_named("""
transpose: (d0 < 4, d1 < 8) -> (d1, d0) => True
broadcast: (d0 < 4, d1 < 8) -> (d1) => False
reshape: (d0 < 1099511627776) -> (d0 floordiv 8, d0 mod 8) => True
ranges: (d0 < 10)[s0 < 4] -> (d0 * 4 + s0) => True
windows: (d0 < 10)[s0 < 5] -> (d0 * 4 + s0) => False
a range that is not used: (d0 < 10)[s0 < 4] -> (d0) => False
two residues: (d0 < 15) -> (d0 mod 3, d0 mod 5) => True
two residues, once more: (d0 < 16) -> (d0 mod 3, d0 mod 5) => False
a runtime variable: (d0 < 10){rt0 < 4} -> (d0) => True
no variables: () -> (3) => True
no results: (d0 < 2) -> () => False
a single point without results: (d0 in [1, 1]) -> () => True
empty: (d0) -> (), domain: KNOWN EMPTY => True
""")
def test_injective(text: str, expected: str) -> None:
    assert str(parse_map(text).is_injective()) == expected


@given(maps())
def test_the_sample_is_the_first_point(made: IndexingMap) -> None:
    points = [] if made.is_known_empty else list(made.points())
    assert made.sample() == (points[0] if points else None)
    apart = {(runtime, results) for _, _, runtime, results in points}
    assert made.is_injective(runtime_as_parameters=True) is (len(apart) == len(points))


# a map => sizes => whether it reaches all elements of a tensor, and each once and no other
@each_named("""
all: (d0 < 4, d1 < 8) -> (d1, d0) => [8, 4] => True, True
more: (d0 < 4, d1 < 8) -> (d1, d0) => [8, 3] => True, False
less: (d0 < 4, d1 < 8) -> (d1, d0) => [9, 4] => False, False
twice: (d0 < 8)[s0 < 2] -> (d0 + s0) => [9] => True, False
tiles: (d0 < 4)[s0 < 10] -> (d0 + s0 * 4) => [40] => True, True
a hole: (d0 < 10)[s0 < 2] -> (d0 * 3 + s0) => [29] => False, False
a scalar: () -> () => [] => True, True
nothing: (d0) -> (d0), domain: KNOWN EMPTY => [0] => True, True
nothing of something: (d0) -> (d0), domain: KNOWN EMPTY => [1] => False, False
huge: (d0 < 3298534883328) -> (d0 floordiv 3, d0 mod 3) => [1099511627776, 3] => True, True
threads of a tiled transpose: (th_x < 512, bl_x < 60)[s0 < 8] -> (((bl_x * 16 + th_x floordiv 32)
        floordiv 3) * 32 + th_x mod 32, (bl_x * 16 + th_x floordiv 32) mod 3 * 8 + s0)
    [10240, 24] => True, True
""")
def test_covering(text: str, shape: str, expected: str) -> None:
    made, sizes = parse_map(text), literal_eval(shape)
    assert (made.covers(sizes), made.is_bijective_onto(sizes)) == literal_eval(expected)


SLICE = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 2]")
BACK = parse_map("(d0){rt0} -> (d0 + 2 - rt0), domain: d0 in [0, 3], rt0 in [0, 2]")
ROTATION = parse_map("(d0){rt0} -> ((d0 + rt0) mod 8), domain: d0 in [0, 7], rt0 in [0, 7]")


# whatever they are => for each of them
@each_row("""
SLICE.equals(BACK) => True => False
SLICE.is_subset(BACK) => True => False
SLICE.is_injective() => False => True
SLICE.covers([6]) => True => False
ROTATION.covers([8]) => True => True
ROTATION.is_bijective_onto([8]) => False => True
""")
def test_runtime_variables_as_parameters(call: str, whatever_they_are: str, for_each: str) -> None:
    told = f"{call[:-1]}{', ' * (call[-2] != '(')}runtime_as_parameters=True)"
    assert str(evaluated(call, globals())) == whatever_they_are
    assert str(evaluated(told, globals())) == for_each


@each_row("""
() -> (3) => ((), (), (), (3,))
(d0 in [2, 9])[s0 in [1, 3]]{rt0 in [5, 6]} -> (d0) => ((2,), (1,), (5,), (2,))
(d0 in [-inf, inf]) -> (d0), domain: d0 mod 4 in [3, 3] => ((3,), (), (), (3,))
(d0 in [-inf, -2]) -> (d0), domain: d0 mod 4 in [3, 3] => ((-5,), (), (), (-5,))
(d0 in [5, 9]) -> (d0 * d0) => ((5,), (), (), (25,))
(d0 < 10) -> (d0), domain: d0 mod 4 in [1, 1], d0 mod 6 in [0, 0] => None
(d0) -> (d0), domain: KNOWN EMPTY => None
""")
def test_sample(text: str, point: str) -> None:
    assert parse_map(text).sample() == literal_eval(point)


UNDEFINED = UndefinedMap("nobody knows")
FOUR = IndexingMap.identity([4])
test_what_is_refused = refusals({"FOUR": FOUR}, MapError)("""
parse_map("(d0) -> (5 floordiv d0), domain: d0 in [0, 9]").sample()
    sample: 5 floordiv 0 has no value
FOUR.covers([4, 4]) => sizes: 2 are given; expected 1, one for each result
FOUR.is_bijective_onto([4, 4]) => sizes: 2 are given; expected 1, one for each result
FOUR.equals(3) => equals: the other map is 3; expected an IndexingMap
FOUR.is_subset(3) => is_subset: the other map is 3; expected an IndexingMap
FOUR.first_difference(3) => first_difference: the other map is 3; expected an IndexingMap
""")

QUESTIONS = """
made.is_empty() made.image() made.domain_set() made.count() made.count_results()
made.is_injective() made.sample() made.covers([4]) made.is_bijective_onto([4])
made.equals(FOUR) FOUR.is_subset(made) made.first_difference(FOUR)"""
SQUARES = "domain: d0 in [0, 9999999], d0 * d0 in [2, 30]"


@for_all(QUESTIONS.split())
def test_an_undefined_map_has_no_answers(call: str) -> None:
    with pytest.raises(MapError, match="the map is undefined: nobody knows"):
        evaluated(call, {"FOUR": FOUR, "made": UNDEFINED})


def test_an_undefined_map_equals_itself() -> None:
    again = UndefinedMap("nobody knows")
    assert UNDEFINED.equals(again)
    assert UNDEFINED.is_subset(again)
    assert UNDEFINED.first_difference(again) is None


@for_all(QUESTIONS.split())
def test_every_question_names_a_term_that_is_not_quasi_affine(call: str) -> None:
    squares = parse_map(f"(d0) -> (d0 floordiv 2), {SQUARES}")
    with pytest.raises(NotQuasiAffineError, match=r"d0 \* d0: is a product of variables"):
        evaluated(call, {"FOUR": FOUR, "made": squares})


def test_laws_tell_that_a_map_is_injective_where_isl_cannot_express_it() -> None:
    assert parse_map(f"(d0) -> (d0), {SQUARES}").is_injective()


@each_row("""
(d0 < 10, d1 < 10) -> (d0 * d1)
(d0 < 10, d1 in [1, 9]) -> (d0 mod d1, d1)
(d0 in [-9, 9]) -> (d0), domain: d0 * d0 in [2, 30]
(d0 < 10) -> (d0), domain: d0 * d0 in [2, 3]
(d0 < 8, d1 < 8) -> (d0, bitxor(d1, d0 mod 4))
(d0 < 8)[s0 < 4] -> (bitand(d0, s0))
""")
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


def test_one_context_serves_many_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A context is never freed wholly, whatever islpy does."""
    new = Mock(wraps=islpy.Context)
    monkeypatch.setattr(islpy, "Context", new)
    for size in range(3, 9):
        rows = parse_map(f"(d0, d1) -> (d0 * {size} + d1), domain: d0 in [0, 9], d1 in [0, 4]")
        assert rows.is_injective() == (size >= 5)
        assert rows.image() == rows.image()
    assert new.call_count <= 2


@each_named("""
a value: (d0 < 10) -> (d0) => (d0 < 10) -> (d0 mod 7)
    at (7): the first map gives (7), the second (0)
the second is shorter: (d0 < 10) -> (d0) => (d0 < 7) -> (d0)
    at (7): only the first map is defined; it gives (7)
the second begins earlier: (d0 < 10) -> (d0) => (d0 in [-3, 9]) -> (d0)
    at (-3): only the second map is defined; it gives (-3)
several values: (d0 < 10)[s0 < 4] -> (d0 + s0 * 2) => (d0 < 10)[s0 < 4] -> (d0 + s0)
    at (0): the first map gives (d0): d0 in [0, 6] step 2, the second (d0): d0 in [0, 3]
no results: (d0 < 10) -> () => (d0 < 9) -> () => at (9): only the first map is defined; it gives ()
no dimensions: () -> (3) => ()[s0 in [4, 5]] -> (s0)
    at (): the first map gives (3), the second (d0): d0 in [4, 5]
only with the first dimension, then the second: (d0 < 10, d1 < 10) -> (d0 + d1)
    (d0 < 10, d1 < 10) -> (min(d0 + d1, 15)) => at (7, 9): the first map gives (16), the second (15)
downwards without end: (d0 in [-inf, inf]) -> (d0) => (d0 in [-inf, inf]) -> (max(d0, -5))
    at (-6): the first map gives (-6), the second (-5)
values without end: (d0 < 10) -> (d0) => (d0 < 10)[s0 in [5, inf]] -> (s0)
    at (0): the first map gives (0), the second (d0): d0 in [5, inf]
huge: (d0 < 1099511627776) -> (d0 floordiv 3)
    (d0 < 1099511627776) -> (d0 * 366503875925 floordiv 1099511627776)
    at (3): the first map gives (1), the second (0)
an empty map: (d0 < 10) -> (d0) => (d0) -> (d0), domain: KNOWN EMPTY
    at (0): only the first map is defined; it gives (0)
""")
def test_first_difference(a: str, b: str, text: str) -> None:
    left, right = parse_map(a), parse_map(b)
    kind = "domain" if "only" in text else "value"
    found = first_difference(left, right)
    assert found is not None
    assert (found.kind, str(found)) == (kind, text)
    back = right.first_difference(left)
    assert back is not None
    assert (back.dims, back.element) == (found.dims, found.element)
    assert (back.left, back.right) == (found.right, found.left)


@given(maps(results=1, dims=1), maps(results=1, dims=1))
def test_the_difference_is_the_first_of_all_points(a: IndexingMap, b: IndexingMap) -> None:
    left, right = related(a), related(b)
    found = a.first_difference(b)
    if left == right:
        assert found is None
        return
    assert found is not None
    dims, element = min(left ^ right)
    assert (found.dims, found.element) == (dims, element)
    for side, told in ((left, found.left), (right, found.right)):
        assert list(told) == sorted(result for point, result in side if point == dims)


def test_runtime_variables_as_parameters_are_part_of_the_point() -> None:
    assert SLICE.first_difference(BACK) is None
    found = SLICE.first_difference(BACK, runtime_as_parameters=True)
    assert str(found) == "at (0) {0}: the first map gives (0), the second (2)"


@each_row("""
(d0 < 10) -> (d0) => (d0 < 10, d1 < 10) -> (d0)
(d0 < 10) -> (d0) => (d0 < 10) -> (d0, d0)
(d0 < 10){rt0 < 10} -> (d0) => (d0 < 10) -> (d0)
""")
def test_maps_between_other_tensors_are_not_compared(a: str, b: str) -> None:
    left, right, told = parse_map(a), parse_map(b), {"runtime_as_parameters": "rt0" in a}
    with pytest.raises(MapError, match=r"first_difference: .* against .*; expected as many"):
        left.first_difference(right, **told)
    assert not left.equals(right, **told)
    assert not left.is_subset(right, **told)


# Maps with few points answer by going through them as isl does.


@given(maps(), st.booleans())
def test_elements_are_reached_as_isl_says(made: IndexingMap, as_parameters: bool) -> None:
    options = {"runtime_as_parameters": as_parameters}
    sizes = [max(0, (bounds.upper or 0) + 1) for bounds in made.image().bounds]
    told = _told(made, as_parameters)
    runtime = [each.bounds for each in made.runtime] if as_parameters else []
    box = tuple(map(whole, (*(Interval(0, size - 1) for size in sizes), *runtime)))
    assert few_points.is_injective(told) == made.is_injective(**options)
    assert few_points.covers(told, box) == made.covers(sizes, **options)
    bijective = made.is_bijective_onto(sizes, **options)
    assert few_points.is_bijective_onto(told, box) == bijective


@given(maps(), maps(), st.booleans())
def test_relations_are_compared_as_by_isl(
    one: IndexingMap, other: IndexingMap, as_parameters: bool
) -> None:
    ranks = [
        (len(each.dims), len(each.forms), len(each.runtime) * as_parameters)
        for each in (one, other)
    ]
    if ranks[0] != ranks[1]:
        return
    options = {"runtime_as_parameters": as_parameters}
    for left, right in ((one, other), (one, one), (other, one)):
        mine, theirs = _told(left, as_parameters), _told(right, as_parameters)
        assert few_points.is_equal(mine, theirs) == left.equals(right, **options)
        assert few_points.is_subset(mine, theirs) == left.is_subset(right, **options)


def _told(made: IndexingMap, as_parameters: bool) -> IndexingMap:
    return telling_runtime(made) if as_parameters else made


@given(maps())
def test_points_are_counted_and_reached_as_by_isl(made: IndexingMap) -> None:
    assert few_points.is_empty(made) == made.is_empty()
    assert few_points.count(made) == made.count()
    reached_rows = few_points.reached([made])
    assert reached_rows is not None
    assert len(reached_rows) == made.count_results()
    found, image = set_of_rows(reached_rows), made.image()
    assert found is not None
    assert found == image
    assert (found.bounds, found.count(), list(found)) == (image.bounds, image.count(), list(image))


@given(st.lists(maps(), min_size=1, max_size=3))
def test_elements_are_reached_again_as_isl_says(given_maps: list[IndexingMap]) -> None:
    rank = len(given_maps[0].forms)
    same = [made for made in given_maps if len(made.forms) == rank]
    assert set_of_rows(few_points.reached(same)) == reached(same, rank)
    assert set_of_rows(few_points.reached_again(same)) == reached_again(same, rank)


SMALL = """(d0, d1) -> ((d0 * 3 + d1) mod 7, (d0 + d1 * 5) floordiv 3),
domain: d0 in [0, 9], d1 in [0, 9], (d0 * 5 + d1) mod 4 in [1, 2]"""
ASKED = ["is_empty", "count", "count_results", "is_injective"]


@for_all(ASKED)
def test_where_isl_takes_too_long_the_points_answer(question: str) -> None:
    made = parse_map(SMALL)
    assert getattr(made, question)(budget=1) == getattr(made, question)(budget=None)
    assert made.image(budget=1) == made.image(budget=None)
    assert made.equals(parse_map(SMALL.replace("* 5 +", "* 5 + 4 +")), budget=1)


@for_all([0, -1, 0.5, True, "many"])
def test_what_is_no_budget_is_refused(budget: Any) -> None:  # noqa: ANN401
    made = parse_map(SMALL)
    questions = [getattr(made, question) for question in (*ASKED, "image", "domain_set")]
    for ask in (*questions, partial(multiplicities, [made])):
        with pytest.raises(BudgetError, match="expected a positive number of operations or None"):
            ask(budget=budget)


def test_too_many_points_or_boxes_are_not_gone_through() -> None:
    with pytest.raises(BudgetError, match="1 operations of isl were not enough"):
        parse_map(SMALL.replace("9]", "99999]")).count(budget=1)
    scattered = "(d0) -> ((d0 * d0) mod 10007), domain: d0 in [0, 4999]"
    assert set_of_rows(few_points.reached([parse_map(scattered)])) is None
