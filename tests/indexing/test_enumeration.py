"""Ranges that only enumerate what one range enumerates become one, and no others do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, Variable, parse_map
from indexing.domain import Domain
from indexing.simplify.smallest import with_fewest_ranges
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from tests import strategies
from tests.evaluation import related
from tests.indexing.tables import table

FEWER = table("ranges", "fewer")
AS_MANY = table("ranges", "as many")


@pytest.mark.parametrize(("before", "after"), FEWER)
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


@pytest.mark.parametrize(("before", "after"), AS_MANY)
def test_ranges_stay(before: str, after: str) -> None:
    given_map = parse_map(before)
    assert with_fewest_ranges(given_map) is given_map
    found = given_map.simplify()
    assert str(found) == after
    assert len(found.ranges) == len(given_map.ranges)


@pytest.mark.parametrize(("before", "after"), FEWER)
def test_exact_simplification_merges_ranges_too(before: str, after: str) -> None:
    assert parse_map(before).simplify(exact=True).equals(parse_map(after))
    assert len(parse_map(before).simplify(exact=True).ranges) == len(parse_map(after).ranges)


# For any map.


@given(strategies.maps())
def test_the_relation_stays(before: IndexingMap) -> None:
    after = with_fewest_ranges(before)
    assert related(after) == related(before)
    assert len(after.ranges) <= len(before.ranges)
    assert related(before.simplify()) == related(before)


@st.composite
def sums_of_digits(draw: st.DrawFn) -> IndexingMap:
    """Results and a constraint that are sums of ranges and their digits, with strides."""
    sizes = draw(st.lists(st.sampled_from((2, 3, 4, 6, 8, 12)), min_size=1, max_size=3))
    lowest = draw(st.sampled_from((0, 0, 0, -2)))
    ranges = [Variable(Interval(lowest, lowest + size - 1)) for size in sizes]
    sums = st.lists(_terms(len(sizes)), min_size=1, max_size=3).map(_sum)
    results = draw(st.lists(sums, min_size=1, max_size=2))
    limits = [(draw(sums), Interval(0, draw(st.integers(1, 12))))] if draw(st.booleans()) else []
    domain = Domain.of([Variable.of_size(2)], ranges).constrained(limits)
    return IndexingMap.from_forms(results, domain)


@st.composite
def _terms(draw: st.DrawFn, count: int) -> Form:
    """A digit of a range, or a dimension, times a stride."""
    term = forms.variable(draw(st.sampled_from(["d0", *(f"s{place}" for place in range(count))])))
    if draw(st.booleans()):
        term = operations.floordiv(term, forms.constant(draw(st.sampled_from((2, 3, 4)))))
    if draw(st.booleans()):
        term = operations.mod(term, forms.constant(draw(st.sampled_from((2, 3, 4)))))
    return term.times(draw(st.sampled_from((1, 1, 2, 3, 4, 8, -1, -2))))


def _sum(terms: list[Form]) -> Form:
    total = forms.ZERO
    for term in terms:
        total = total.plus(term)
    return total


@given(sums_of_digits())
def test_the_relation_of_digits_stays(before: IndexingMap) -> None:
    after = with_fewest_ranges(before)
    assert related(after) == related(before)
    assert len(after.ranges) <= len(before.ranges)
    simplest = before.simplify()
    assert related(simplest) == related(before)
    assert simplest.simplify() == simplest
    assert parse_map(str(simplest)).simplify() == simplest
