"""Maps with few points answer by going through them as isl does: the same, for random maps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, parse_map
from indexing.exact import few_points, multiplicities
from indexing.exact.boxes import whole
from indexing.exact.index_set import set_of_rows
from indexing.exact.isl import telling_runtime
from indexing.exact.questions import reached, reached_again
from simplifier import BudgetError, Interval
from tests.strategies import maps

parameters = st.booleans()


@given(maps())
def test_points_are_counted_as_by_isl(made: IndexingMap) -> None:
    assert few_points.is_empty(made) == made.is_empty()
    assert few_points.count(made) == made.count()
    rows = few_points.reached([made])
    assert rows is not None
    assert len(rows) == made.count_results()


@given(maps(), parameters)
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


@given(maps(), maps(), parameters)
def test_relations_are_compared_as_by_isl(
    one: IndexingMap, other: IndexingMap, as_parameters: bool
) -> None:
    if len(one.dims) != len(other.dims) or len(one.forms) != len(other.forms):
        return
    if as_parameters and len(one.runtime) != len(other.runtime):
        return
    options = {"runtime_as_parameters": as_parameters}
    for left, right in ((one, other), (one, one), (other, one)):
        mine, theirs = _told(left, as_parameters), _told(right, as_parameters)
        assert few_points.is_equal(mine, theirs) == left.equals(right, **options)
        assert few_points.is_subset(mine, theirs) == left.is_subset(right, **options)


def _told(made: IndexingMap, as_parameters: bool) -> IndexingMap:
    return telling_runtime(made) if as_parameters else made


@given(maps())
def test_the_set_of_points_is_the_image(made: IndexingMap) -> None:
    found = set_of_rows(few_points.reached([made]))
    image = made.image()
    assert found is not None
    assert found == image
    assert (found.bounds, found.count(), list(found)) == (image.bounds, image.count(), list(image))


@given(st.lists(maps(), min_size=1, max_size=3))
def test_elements_are_reached_again_as_isl_says(given_maps: list[IndexingMap]) -> None:
    rank = len(given_maps[0].forms)
    same = [made for made in given_maps if len(made.forms) == rank]
    assert set_of_rows(few_points.reached(same)) == reached(same, rank)
    assert set_of_rows(few_points.reached_again(same)) == reached_again(same, rank)


SMALL = (
    "(d0, d1) -> ((d0 * 3 + d1) mod 7, (d0 + d1 * 5) floordiv 3), domain: d0 in [0, 9], "
    "d1 in [0, 9], (d0 * 5 + d1) mod 4 in [1, 2]"
)
QUESTIONS = ["is_empty", "count", "count_results", "is_injective"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_where_isl_takes_too_long_the_points_answer(question: str) -> None:
    made = parse_map(SMALL)
    assert getattr(made, question)(budget=1) == getattr(made, question)(budget=None)
    assert made.image(budget=1) == made.image(budget=None)
    assert made.equals(parse_map(SMALL.replace("* 5 +", "* 5 + 4 +")), budget=1)


NO_BUDGETS: list[Any] = [0, -1, 0.5, True, "many"]


@pytest.mark.parametrize("question", [*QUESTIONS, "image", "domain_set"])
def test_what_is_no_budget_is_refused(question: str) -> None:
    for budget in NO_BUDGETS:
        with pytest.raises(BudgetError, match="expected a positive number of operations or None"):
            getattr(parse_map(SMALL), question)(budget=budget)


def test_multiplicities_refuse_what_is_no_budget() -> None:
    for budget in NO_BUDGETS:
        with pytest.raises(BudgetError, match="expected a positive number of operations or None"):
            multiplicities([parse_map(SMALL)], budget=budget)


def test_too_many_points_are_not_gone_through() -> None:
    with pytest.raises(BudgetError, match="1 operations of isl were not enough"):
        parse_map(SMALL.replace("9]", "99999]")).count(budget=1)


def test_no_more_boxes_are_listed_than_anyone_reads() -> None:
    scattered = "(d0) -> ((d0 * d0) mod 10007), domain: d0 in [0, 4999]"
    assert set_of_rows(few_points.reached([parse_map(scattered)])) is None
