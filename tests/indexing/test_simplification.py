"""Simplified maps: never costlier than XLA's, the document's cases, the same relation always."""

from __future__ import annotations

from ast import literal_eval
from functools import reduce

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexing import IndexingMap, Variable, compose, parse_map
from indexing.domain import Domain
from indexing.simplify.constraints import scope_within
from indexing.simplify.smallest import is_smallest_in_box, with_fewest_ranges
from simplifier import BudgetError, Interval, NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.fixpoint import simplified as simplified_form
from tests import conformance
from tests.cases import for_all
from tests.conformance import Row, for_each
from tests.evaluation import cost_of_map, has_negative_divisor, related
from tests.extent import examples
from tests.indexing.tables import each_named, each_row, table, turned
from tests.strategies import maps


def simplified(row: Row) -> IndexingMap:
    """The row's map simplified, in XLA's mode."""
    keeps = row.get("mode") == "preserve"
    return parse_map(row["input"]).simplify(preserve_size_one=keeps)


def wanted(row: Row) -> IndexingMap:
    """The map that XLA's text, corrected where XLA is wrong, describes."""
    return parse_map(row.get("right", row["expected"]))


@for_each([row for row in conformance.rows("simplify") if not {"op", "kind"} & row.keys()])
def test_the_relation_is_xla_s_and_no_costlier(row: Row) -> None:
    before, after = parse_map(row["input"]), simplified(row)
    assert after.is_known_empty is (row["expected"] == "KNOWN EMPTY")
    assert after.equals(before)
    if not after.is_known_empty:
        assert after.equals(wanted(row))
        assert cost_of_map(after) <= cost_of_map(wanted(row))
    assert after.simplify(preserve_size_one=row.get("mode") == "preserve") == after


# The indexing document, section "Indexing map simplification": results before and after, and sizes.
@each_row("""
d0 + d1 floordiv 16, d1 mod 16 => d0, d1 => 7, 15
(d0 * 100 + d1 * 10 + d2) floordiv 100, ((d0 * 100 + d1 * 10 + d2) mod 100) floordiv 10, d2 mod 10
    d0, d1, d2 => 10, 10, 10
(d0 * 16 + d1 * 4 + d2) floordiv 8, (d0 * 16 + d1 * 4 + d2) mod 8
    d0 * 2 + (d1 * 4 + d2) floordiv 8, (d1 * 4 + d2) mod 8 => 10, 10, 10
-((d0 * -11 - d1 + 109) floordiv 11) + 9 => d0 => 10, 11
""")
def test_the_document_s_results(before: str, after: str, sizes: str) -> None:
    made, expected = (IndexingMap.over(literal_eval(sizes), text) for text in (before, after))
    assert str(made.simplify()) == str(expected)


# The same section on domains.
test_the_document_s_domains = turned(
    lambda text: str(parse_map(text).simplify()).partition("domain: ")[2]
)("""
(d0) -> (d0), domain: d0 in [0, 5], d0 * 3 + 1 in [4, 11] => d0 in [1, 3]
(d0) -> (d0), domain: d0 in [0, 5], d0 + 2 in [0, 20] => d0 in [0, 5]
(d0)[s0] -> (d0), domain: d0 in [0, 5], s0 in [1, 3], d0 + s0 in [0, 20]
    d0 in [0, 5], s0 in [1, 3]
""")


def test_reshapes_that_cancel_become_the_identity() -> None:
    """The document's chain f32[10,10,10] -> f32[50,20] -> f32[10,10,10]."""
    back = IndexingMap.from_sizes(
        "(d0 * 100 + d1 * 10 + d2) floordiv 20, (d1 * 10 + d2) mod 20", [10, 10, 10]
    )
    results = "d0 floordiv 5, (d0 * 2 + d1 floordiv 10) mod 10, d1 mod 10"
    there = IndexingMap.from_sizes(results, [50, 20])
    assert compose(back, there).simplify() == IndexingMap.identity([10, 10, 10])


# what random search found once
@example(
    parse_map("(d0){rt0} -> (), domain: d0 in [0, 1], rt0 in [0, 2], max(d0, rt0 mod 2) in [0, 0]")
)
@given(maps())
def test_a_simplified_map_is_the_same_relation_no_costlier_and_stays(made: IndexingMap) -> None:
    """Costlier is only what divided by a negative number."""
    check_relation(made)
    smallest = made.simplify()
    assert not has_negative_divisor(smallest)
    assert has_negative_divisor(made) or cost_of_map(smallest) <= cost_of_map(made)


@each_row("""
d0, d0 mod 4, d0 floordiv 3 => d0 in [5, 5] => d0, d0 - 4, 1 => d0 in [5, 5]
d0 * 8 + d1 => d0 in [0, 0], d1 in [0, 7] => d0 * 8 + d1 => d0 in [0, 0], d1 in [0, 7]
# what becomes a single value on the way is kept, too
d0 + d1 => d0 in [0, 9], d1 in [0, 7], d0 * 2 in [5, 6], d1 mod 4 + d0 in [1, 4] => d0 + d1
    d0 in [3, 3], d1 in [0, 5], d1 mod 4 + d0 in [3, 4]
""")
def test_variables_of_one_value_are_kept_in_sight(
    results: str, domain: str, after: str, sharper: str
) -> None:
    variables = "(d0, d1)" if "d1 in" in domain else "(d0)"
    before = parse_map(f"{variables} -> ({results}), domain: {domain}")
    kept = before.simplify(preserve_size_one=True)
    assert str(kept) == f"{variables} -> ({after}), domain: {sharper}"
    assert kept.simplify(preserve_size_one=True) is kept
    assert kept.simplify() == before.simplify()


@given(maps())
def test_keeping_variables_of_one_value_keeps_the_relation(made: IndexingMap) -> None:
    kept = made.simplify(preserve_size_one=True)
    assert related(kept) == related(made)
    assert parse_map(str(kept)).simplify(preserve_size_one=True) == kept


@given(maps())
def test_bounds_say_what_is_smallest(made: IndexingMap) -> None:
    box = made.domain.with_constraints()
    for form in filter(lambda form: is_smallest_in_box(box, form), made.forms):
        assert simplified_form(scope_within(box, ()), form) == form


# Ranges that constraints alone have, or that results have in a sum with another one only.


@each_named("""
two windows with padding: (d0 < 10)[s0 < 3, s1 < 3] -> (d0 + s0 + s1), domain: d0 + s0 in [1, 10],
        d0 + s0 + s1 in [2, 11] => (d0 < 10)[s0 < 5] -> (d0 + s0), domain: d0 + s0 in [2, 11]
windows of two strides: (d0 < 8)[s0 < 3, s1 < 3] -> (d0 * 4 + s0 * 2 + s1), domain: d0 * 2 + s0 in
        [1, 16], d0 * 4 + s0 * 2 + s1 in [3, 34]
    (d0 < 8)[s0 < 7] -> (d0 * 4 + s0), domain: d0 * 4 + s0 in [3, 34]
a kernel, whatever the place: (d0 < 2)[s0 < 3, s1 < 4] -> (s0), domain: s0 + s1 in [1, 4]
    (d0 < 2)[s0 < 3] -> (s0)
a condition on the dimension: (d0 < 10)[s0 < 3] -> (d0), domain: d0 + s0 in [5, 6]
    (d0 in [3, 6]) -> (d0)
a gap that the sum would have: (d0 < 4)[s0 < 3, s1 < 2] -> (s0 * 4 + s1), domain: d0 + s0 in [1, 4]
    2 ranges
both factors above one: (d0 < 21)[s0 < 6] -> (d0), domain: d0 + s0 * 2 in [9, 10], d0 + s0 * 3 in
        [11, 13] => 1 ranges
""")
def test_inner_ranges_go_if_that_is_exact(text: str, expected: str) -> None:
    smallest = parse_map(text).simplify()
    assert expected in (str(smallest), f"{len(smallest.ranges)} ranges")
    assert related(smallest) == related(parse_map(text))


# Ranges that only enumerate what one range enumerates become one, and no others do.

FEWER = table("ranges", "fewer")
AS_MANY = table("ranges", "as many")


@for_all(FEWER)
def test_ranges_become_one(before: str, after: str) -> None:
    given_map = parse_map(before)
    found = given_map.simplify()
    assert str(found) == after
    assert related(found) == related(given_map)
    assert found.simplify() is found
    kept = given_map.simplify(preserve_ranges=True)
    assert len(kept.ranges) == len(given_map.ranges)
    assert related(kept) == related(given_map)
    assert given_map.simplify(exact=True, preserve_ranges=True).ranges == kept.ranges


@for_all(AS_MANY)
def test_ranges_stay(before: str, after: str) -> None:
    given_map = parse_map(before)
    assert with_fewest_ranges(given_map) is given_map
    found = given_map.simplify()
    assert str(found) == after
    assert len(found.ranges) == len(given_map.ranges)


@for_all(FEWER)
def test_exact_simplification_merges_ranges_too(before: str, after: str) -> None:
    found, expected = parse_map(before).simplify(exact=True), parse_map(after)
    assert found.equals(expected)
    assert len(found.ranges) == len(expected.ranges)


def check_relation(before: IndexingMap) -> None:
    """It stays, with no more ranges, and is simplified once and for all."""
    after, simplest = with_fewest_ranges(before), before.simplify()
    assert related(after) == related(before) == related(simplest)
    assert len(after.ranges) <= len(before.ranges)
    assert parse_map(str(simplest)).simplify() == simplest.simplify() == simplest


@st.composite
def sums_of_digits(draw: st.DrawFn) -> IndexingMap:
    """Results and constraints that are sums of ranges, or of their digits, with strides."""
    sizes = draw(st.lists(st.sampled_from((2, 3, 4, 6, 8, 12)), min_size=1, max_size=3))
    lowest = draw(st.sampled_from((0, 0, 0, -2)))
    ranges = [Variable(Interval(lowest, lowest + size - 1)) for size in sizes]
    terms = _terms(len(sizes), has_digits=draw(st.booleans()))
    sums = st.lists(terms, min_size=1, max_size=3).map(_sum)
    results = draw(st.lists(sums, min_size=1, max_size=2))
    ends = st.tuples(st.integers(-6, 3), st.integers(0, 12))
    intervals = ends.map(lambda pair: Interval(pair[0], sum(pair)))
    limits = draw(st.lists(st.tuples(sums, intervals), max_size=3))
    domain = Domain.of([Variable.of_size(2)], ranges).constrained(limits)
    return IndexingMap.from_forms(results, domain)


@st.composite
def _terms(draw: st.DrawFn, count: int, *, has_digits: bool) -> Form:
    """A digit of a range, or a dimension, times a stride."""
    term = forms.variable(draw(st.sampled_from(["d0", *(f"s{place}" for place in range(count))])))
    if has_digits and draw(st.booleans()):
        term = operations.floordiv(term, forms.constant(draw(st.sampled_from((2, 3, 4)))))
    if has_digits and draw(st.booleans()):
        term = operations.mod(term, forms.constant(draw(st.sampled_from((2, 3, 4)))))
    return term.times(draw(st.sampled_from((1, 1, 2, 3, 4, 8, -1, -2))))


def _sum(terms: list[Form]) -> Form:
    return reduce(Form.plus, terms, forms.ZERO)


@given(sums_of_digits())
def test_the_relation_of_digits_stays(before: IndexingMap) -> None:
    check_relation(before)


# map => finished => with variables of one value kept in sight, where that is another map
@each_row("""
(d0 < 14) -> (d0), domain: d0 mod 4 in [1, 1], d0 mod 6 in [3, 3] => (d0 in [9, 9]) -> (9)
    (d0 in [9, 9]) -> (d0)
(d0 in [5, 5], d1 < 10) -> ((d0 + d1) floordiv 8 + d0, d1 mod 4), domain: d0 + d1 in [0, 9], d1 mod
        4 in [0, 1], d1 mod 5 in [0, 1] => (d0 in [5, 5], d1 < 2) -> (5, d1)
    (d0 in [5, 5], d1 < 2) -> (d0, d1)
(d0 < 8, d1 < 8) -> ((d0 + d1) floordiv 8, d0 mod 4), domain: d1 - d0 in [0, 0]
    (d0 < 8, d1 < 8) -> (d0 floordiv 4, d0 mod 4), domain: d0 - d1 in [0, 0]
(d0 < 10, d1 < 10) -> (d0), domain: d0 + d1 in [0, 5], d0 * 3 + d1 * 2 in [0, 15]
    (d0 < 6, d1 < 6) -> (d0), domain: d0 + d1 in [0, 5]
(d0 < 10, d1 < 10) -> (max(d0, d1)), domain: d0 + d1 in [10, 99], d0 - d1 * 2 in [3, 99]
    (d0 in [8, 9], d1 in [1, 3]) -> (d0), domain: d0 + d1 in [10, 12], d0 - d1 * 2 in [3, 7]
()[s0 < 6] -> (s0), domain: s0 mod 4 in [1, 1], s0 mod 6 in [0, 0]
    ()[s0] -> (0), domain: KNOWN EMPTY
# isl does not say how far an expression goes that is an integer on the domain alone
(d0 < 6, d1 in [-4, 3]) -> (d0 + d1), domain: max(d0 * 5 + d1 * 2, d0 * 6 + d1 * 8 + 1) in [0, 5],
        min(d0 * 4 + 3, d0 * 6 + d1 * 4 - 2) in [-3, 5]
    (d0 < 3, d1 in [-3, 0]) -> (d0 + d1), domain: d0 * 3 + d1 * 2 in [0, 1]
(d0 < 8) -> (d0 mod 8) => (d0 < 8) -> (d0)
""")
def test_finished(text: str, expected: str, *preserved: str) -> None:
    given_map = parse_map(text)
    finished = given_map.simplify(exact=True)
    kept = given_map.simplify(exact=True, preserve_size_one=True)
    assert (str(finished), str(kept)) == (expected, *(preserved or [expected]))
    assert finished.equals(given_map)
    assert kept.equals(given_map)
    assert finished.simplify() == finished


@examples(25)
@given(maps())
def test_a_finished_map_is_the_same_relation_and_settled(made: IndexingMap) -> None:
    try:
        finished = made.simplify(exact=True, budget=20_000)
    except NotQuasiAffineError:
        return
    assert related(finished) == related(made)
    assert finished.simplify(exact=True, budget=20_000) == finished
    assert len(finished.constraints) <= len(made.simplify().constraints)


def test_what_is_not_quasi_affine_is_refused_by_name() -> None:
    with pytest.raises(NotQuasiAffineError, match=r"d0 \* d1: is a product of variables"):
        parse_map("(d0, d1) -> (d0 * d1), domain: d0 in [0, 9], d1 in [0, 9]").simplify(exact=True)


def test_a_small_budget_leaves_the_map_as_it_is() -> None:
    text = (
        "(d0, d1) -> (max(d0, d1)), domain: d0 in [0, 9], d1 in [0, 9], "
        "d0 + d1 in [10, 99], d0 - d1 * 2 in [3, 99]"
    )
    assert parse_map(text).simplify(exact=True, budget=1) == parse_map(text).simplify()
    many = text.replace("[0, 9]", "[0, 9999]")
    with pytest.raises(BudgetError):
        parse_map(many).is_empty(budget=1)
    with pytest.raises(BudgetError):
        parse_map(many).equals(parse_map(many.replace("99]", "98]")), budget=1)
