"""Simplified maps: never costlier than XLA's, the document's cases, the same relation always."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, compose, parse_map
from indexing.simplify.constraints import scope_within
from indexing.simplify.smallest import is_smallest_in_box
from simplifier import Interval
from simplifier.fixpoint import simplified as simplified_form
from tests.cases import for_all
from tests.conformance import Row, for_each, rows
from tests.evaluation import cost_of_map, has_negative_divisor, related
from tests.extent import seldom
from tests.strategies import maps

by_row = for_each([row for row in rows("simplify") if not {"op", "kind"} & row.keys()])


def simplified(row: Row) -> IndexingMap:
    """The row's map simplified, in XLA's mode."""
    keeps = row.get("mode") == "preserve"
    return parse_map(row["input"]).simplify(preserve_size_one=keeps)


def wanted(row: Row) -> IndexingMap:
    """The map that XLA's text, corrected where XLA is wrong, describes."""
    return parse_map(row.get("right", row["expected"]))


@by_row
def test_the_relation_is_xla_s(row: Row) -> None:
    before, after = parse_map(row["input"]), simplified(row)
    assert after.is_known_empty is (row["expected"] == "KNOWN EMPTY")
    assert after.equals(before)
    assert after.is_known_empty or after.equals(wanted(row))
    assert after.simplify(preserve_size_one=row.get("mode") == "preserve") == after


@by_row
def test_no_result_is_costlier_than_xla_s(row: Row) -> None:
    after = simplified(row)
    if not after.is_known_empty:
        assert cost_of_map(after) <= cost_of_map(wanted(row))


# The indexing document, section "Indexing map simplification": results before and after, and the
# bounds of all variables.
NINE = [(0, 9)] * 3
DOCUMENT = [
    ("d0 + d1 floordiv 16, d1 mod 16", "d0, d1", [(0, 6), (0, 14)]),
    (
        (
            "(d0 * 100 + d1 * 10 + d2) floordiv 100, "
            "((d0 * 100 + d1 * 10 + d2) mod 100) floordiv 10, d2 mod 10"
        ),
        "d0, d1, d2",
        NINE,
    ),
    (
        "(d0 * 16 + d1 * 4 + d2) floordiv 8, (d0 * 16 + d1 * 4 + d2) mod 8",
        "d0 * 2 + (d1 * 4 + d2) floordiv 8, (d1 * 4 + d2) mod 8",
        NINE,
    ),
    ("-((d0 * -11 - d1 + 109) floordiv 11) + 9", "d0", [(0, 9), (0, 10)]),
]


@pytest.mark.parametrize(("before", "after", "bounds"), DOCUMENT)
def test_the_document_s_results(before: str, after: str, bounds: list[tuple[int, int]]) -> None:
    names = [f"d{place}" for place in range(len(bounds))]
    head = f"({', '.join(names)}) -> "
    domain = ", ".join(
        f"{name} in {Interval.of(pair)}" for name, pair in zip(names, bounds, strict=True)
    )
    simplified = parse_map(f"{head}({before}), domain: {domain}").simplify()
    assert str(simplified) == f"{head}({after}), domain: {domain}"


# The same section on domains.
DOMAINS = [
    ("(d0) -> (d0), domain: d0 in [0, 5], d0 * 3 + 1 in [4, 11]", "d0 in [1, 3]"),
    ("(d0) -> (d0), domain: d0 in [0, 5], d0 + 2 in [0, 20]", "d0 in [0, 5]"),
    (
        "(d0)[s0] -> (d0), domain: d0 in [0, 5], s0 in [1, 3], d0 + s0 in [0, 20]",
        "d0 in [0, 5], s0 in [1, 3]",
    ),
]


@pytest.mark.parametrize(("before", "domain"), DOMAINS, ids=[before for before, _ in DOMAINS])
def test_the_document_s_domains(before: str, domain: str) -> None:
    assert str(parse_map(before).simplify()).partition("domain: ")[2] == domain


def test_reshapes_that_cancel_become_the_identity() -> None:
    """The document's chain f32[10,10,10] -> f32[50,20] -> f32[10,10,10]."""
    back = parse_map(
        "(d0, d1, d2) -> ((d0 * 100 + d1 * 10 + d2) floordiv 20, (d1 * 10 + d2) mod 20), "
        "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"
    )
    there = parse_map(
        "(d0, d1) -> (d0 floordiv 5, (d0 * 2 + d1 floordiv 10) mod 10, d1 mod 10), "
        "domain: d0 in [0, 49], d1 in [0, 19]"
    )
    assert compose(back, there).simplify() == IndexingMap.identity([10, 10, 10])


@given(maps())
def test_the_relation_is_kept(made: IndexingMap) -> None:
    assert related(made.simplify()) == related(made)


@given(maps())
def test_simplifying_twice_changes_nothing(made: IndexingMap) -> None:
    once = made.simplify()
    assert parse_map(str(once)).simplify() == once


@given(maps())
def test_no_result_is_costlier(made: IndexingMap) -> None:
    """But where a negative divisor is turned."""
    smallest = made.simplify()
    assert not has_negative_divisor(smallest)
    assert has_negative_divisor(made) or cost_of_map(smallest) <= cost_of_map(made)


FOUND = [
    # what random search found once
    "(d0){rt0} -> (), domain: d0 in [0, 1], rt0 in [0, 2], max(d0, rt0 mod 2) in [0, 0]"
]


@pytest.mark.parametrize("text", FOUND)
def test_what_was_found_stays_right(text: str) -> None:
    before = parse_map(text)
    after = before.simplify()
    assert related(after) == related(before)
    assert cost_of_map(after) <= cost_of_map(before)
    assert parse_map(str(after)).simplify() == after


PRESERVED = [
    ("d0, d0 mod 4, d0 floordiv 3", "d0 in [5, 5]", "d0, d0 - 4, 1", "d0 in [5, 5]"),
    ("d0 * 8 + d1", "d0 in [0, 0], d1 in [0, 7]", "d0 * 8 + d1", "d0 in [0, 0], d1 in [0, 7]"),
    (  # what becomes a single value on the way is kept, too
        "d0 + d1",
        "d0 in [0, 9], d1 in [0, 7], d0 * 2 in [5, 6], d1 mod 4 + d0 in [1, 4]",
        "d0 + d1",
        "d0 in [3, 3], d1 in [0, 5], d1 mod 4 + d0 in [3, 4]",
    ),
]


@pytest.mark.parametrize(("results", "domain", "after", "sharper"), PRESERVED)
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


@seldom
@given(maps())
def test_result_bounds_hold_every_value(made: IndexingMap) -> None:
    bounds = made.result_bounds()
    for _, results in related(made):
        assert all(value in interval for value, interval in zip(results, bounds, strict=True))


@given(maps())
def test_what_bounds_cannot_make_smaller_is_not_made_smaller(made: IndexingMap) -> None:
    box = made.domain.with_constraints()
    for form in filter(lambda form: is_smallest_in_box(box, form), made.forms):
        assert simplified_form(scope_within(box, ()), form) == form


# Ranges that constraints alone have, or that results have in a sum with another one only.

INNER: Final = {
    "two windows with padding": (
        (
            "(d0)[s0, s1] -> (d0 + s0 + s1), domain: d0 in [0, 9], s0 in [0, 2], s1 in [0, 2], "
            "d0 + s0 in [1, 10], d0 + s0 + s1 in [2, 11]"
        ),
        "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [2, 11]",
    ),
    "windows of two strides": (
        (
            "(d0)[s0, s1] -> (d0 * 4 + s0 * 2 + s1), domain: d0 in [0, 7], s0 in [0, 2], "
            "s1 in [0, 2], d0 * 2 + s0 in [1, 16], d0 * 4 + s0 * 2 + s1 in [3, 34]"
        ),
        "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 7], s0 in [0, 6], d0 * 4 + s0 in [3, 34]",
    ),
    "a kernel, whatever the place": (
        "(d0)[s0, s1] -> (s0), domain: d0 in [0, 1], s0 in [0, 2], s1 in [0, 3], s0 + s1 in [1, 4]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 2]",
    ),
    "a condition on the dimension": (
        "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 2], d0 + s0 in [5, 6]",
        "(d0) -> (d0), domain: d0 in [3, 6]",
    ),
    "a gap that the sum would have": (
        (
            "(d0)[s0, s1] -> (s0 * 4 + s1), domain: d0 in [0, 3], s0 in [0, 2], s1 in [0, 1], "
            "d0 + s0 in [1, 4]"
        ),
        None,
    ),
    "both factors above one": (
        (
            "(d0)[s0] -> (d0), domain: d0 in [0, 20], s0 in [0, 5], d0 + s0 * 2 in [9, 10], "
            "d0 + s0 * 3 in [11, 13]"
        ),
        None,
    ),
}


@for_all(INNER)
def test_inner_ranges_go_if_that_is_exact(text: str, expected: str | None) -> None:
    smallest = parse_map(text).simplify()
    if expected:
        assert str(smallest) == expected
    else:
        assert len(smallest.ranges) == len(parse_map(text).ranges)
    assert related(smallest) == related(parse_map(text))


@st.composite
def sums_of_ranges(draw: st.DrawFn) -> IndexingMap:
    """Maps to sums of ranges, under inequalities of sums of their variables."""
    variables = ["d0", "s0", "s1", "s2"]
    ends = [
        (low, low + draw(st.integers(0, 4))) for low in draw(st.lists(few, min_size=4, max_size=4))
    ]
    bounds = [
        f"{name} in [{low}, {high}]" for name, (low, high) in zip(variables, ends, strict=True)
    ]
    for _ in range(draw(st.integers(1, 3))):
        low = draw(st.integers(-6, 6))
        bounds.append(f"{draw(sums(variables))} in [{low}, {low + draw(st.integers(0, 8))}]")
    results = ", ".join(draw(st.lists(sums(variables), min_size=1, max_size=2)))
    return parse_map(f"(d0)[s0, s1, s2] -> ({results}), domain: {', '.join(bounds)}")


few: Final = st.integers(-2, 2)


def sums(variables: list[str]) -> st.SearchStrategy[str]:
    """Sums of variables with small factors."""
    factors = st.lists(st.sampled_from([0, 0, 1, 1, -1, 2, 3]), min_size=4, max_size=4)
    return factors.map(
        lambda found: " + ".join(
            f"{name} * {factor}" for name, factor in zip(variables, found, strict=True)
        )
    )


@given(sums_of_ranges())
def test_random_sums_of_ranges_relate_the_same(indexing_map: IndexingMap) -> None:
    assert related(indexing_map.simplify()) == related(indexing_map)
