"""The helpers that the tests trust: each must fail where it should."""

from __future__ import annotations

import pytest
from hypothesis import given

from indexing import parse_map
from simplifier import Interval, TextError, parse_expr
from simplifier.expr.text import parse_form
from tests.carets import DrawnError, drawn_errors
from tests.cases import for_all
from tests.conformance import rows, rows_of
from tests.evaluation import first_difference, plain_range, related, values_of, where
from tests.strategies import MAX_POINTS, Problem, bounded_boxes, points_of

BOX = {"x": Interval(-4, 9)}

SEEN = [
    # a, b, the first point where they differ
    ("x", "x + x floordiv 9", {"x": -4}), ("x mod 4", "x mod 5", {"x": -4}),
    ("max(x, 8)", "8", {"x": 9}), ("x", "x floordiv (x floordiv x)", {"x": 0}),
    ("x floordiv x", "1", None), ("x ceildiv 4", "(x + 3) floordiv 4", None),
    ("x ceildiv -4", "-x floordiv 4", {"x": -3}), ("x", "x + (x + 4) floordiv 13", {"x": 9}),
    ("x floordiv x - 1", "0", None),
]  # fmt: skip


@for_all(SEEN)
def test_differences_are_seen(a: str, b: str, point: dict[str, int] | None) -> None:
    assert first_difference(parse_form(a), parse_form(b), points_of(BOX)) == point


def test_constraints_choose_points_and_relations_are_sets_of_pairs() -> None:
    kept = where(points_of(BOX), [(parse_form("x mod 4"), Interval(1, 1))])
    assert kept["x"].tolist() == [-3, 1, 5, 9]
    assert where(kept, [(parse_form("x"), Interval(2, 4))])["x"].tolist() == []
    text = "(d0)[s0] -> (d0 + s0 * 2), domain: d0 in [0, 1], s0 in [0, 3], s0 * 2 in [1, 4]"
    assert related(parse_map(text)) == {((0,), (2,)), ((0,), (4,)), ((1,), (3,)), ((1,), (5,))}
    assert related(parse_map("() -> ()")) == {((), ())}
    assert related(parse_map("() -> (7), domain: KNOWN EMPTY")) == set()
    assert related(parse_map("()[s0] -> (), domain: s0 in [0, 3]")) == {((), ())}


RANGES = [
    ("x * -2 + 1", (-17, 9)), ("x mod 5", (0, 4)), ("x mod 50", (0, 49)),
    ("(x + 4) mod 50", (0, 13)), ("x % -5", (-4, 0)), ("x floordiv -4", (-3, 1)),
    ("x ceildiv 4", (-1, 3)), ("min(x, 3) * max(x, 2)", (-36, 27)), ("x floordiv x", (None, None)),
]  # fmt: skip


@for_all(RANGES)
def test_plain_ranges(text: str, ends: tuple[int | None, int | None]) -> None:
    interval = plain_range(parse_form(text), BOX)
    assert interval == Interval.of(ends)
    values, defined = values_of(parse_form(text), points_of(BOX))
    assert all(value in interval for value in values[defined])


@given(bounded_boxes())
def test_points_are_in_the_box_and_a_problem_prints_the_call_that_shows_it(
    box: dict[str, Interval],
) -> None:
    points = points_of(box)
    for name, interval in box.items():
        assert {interval.lower, interval.upper} <= set(points[name])
        assert all(value in interval for value in points[name])
    assert len(points["x"]) <= MAX_POINTS
    problem = Problem(parse_form("x mod 8"), {"x": Interval(0, None)})
    assert repr(problem) == 'simplify(parse_expr("x mod 8"), {"x": (0, None)})'


DRAWN = "x +* y\n   ^ expected an expression, but found '*'"


def test_a_drawn_error_is_compared_in_full() -> None:
    (error,) = drawn_errors(DRAWN)
    assert error == DrawnError("x +* y", 4, 1, "expected an expression, but found '*'")
    with pytest.raises(TextError) as caught:
        parse_expr(error.text)
    error.check(caught.value)
    for other in ((3, 1, error.message), (4, 2, error.message), (4, 1, "expected another thing")):
        with pytest.raises(AssertionError):
            DrawnError(error.text, *other).check(caught.value)
    with pytest.raises(ValueError, match="no caret"):
        drawn_errors("x +* y")


def test_rows_that_nobody_has_are_missed() -> None:
    assert len(rows("interval")) == 40
    with pytest.raises(LookupError):
        rows_of("interval", op="power")
