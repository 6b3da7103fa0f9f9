"""What must hold for every expression: sound, not costlier, settled, and within its range."""

from __future__ import annotations

import pytest
from hypothesis import given

from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr.form import Form
from simplifier.expr.printer import format_form
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of, simplified
from tests.evaluation import first_difference, plain_range, values_of, where
from tests.simplifier.objective import is_never_costlier
from tests.strategies import Problem, any_problem, constraints, problems


@given(any_problem)
def test_simplified_and_original_agree_at_every_point(problem: Problem) -> None:
    result = problem.result()
    assert first_difference(problem.form, result, problem.points()) is None, result


@given(any_problem)
def test_bounds_contain_every_value(problem: Problem) -> None:
    interval = range_of(problem.scope(), problem.form)
    values, defined = values_of(problem.form, problem.points())
    outside = [value for value in values[defined] if value not in interval]
    assert not outside, interval


@given(any_problem)
def test_a_result_is_never_costlier_than_what_is_kept(problem: Problem) -> None:
    assert is_never_costlier(problem.scope(), problem.result(), problem.form)


@given(any_problem)
def test_simplifying_twice_changes_nothing(problem: Problem) -> None:
    result = problem.result()
    assert problem.result(result) == result


@given(any_problem)
def test_the_text_of_a_result_is_the_result(problem: Problem) -> None:
    result = problem.result()
    assert parse_form(format_form(result)) == result


@given(any_problem)
def test_bounds_are_no_wider_than_interval_arithmetic(problem: Problem) -> None:
    interval = range_of(problem.scope(), problem.form)
    plain = plain_range(problem.form, problem.box)
    assert plain.contains(interval), f"{interval} is wider than {plain}"


@given(problems(), constraints())
def test_constraints_are_facts(problem: Problem, known: list[tuple[Form, Interval]]) -> None:
    """The result agrees, and the bounds hold, wherever all constraints do."""
    scope_of.cache_clear()
    scope = scope_of(tuple(sorted(problem.box.items())), tuple(known))
    result = simplified(scope, problem.form)
    points = where(problem.points(), known)
    assert first_difference(problem.form, result, points) is None, result
    interval = range_of(scope, problem.form)
    values, defined = values_of(problem.form, points)
    assert all(value in interval for value in values[defined]), interval
    assert is_never_costlier(scope, result, problem.form)


FOUND = [
    # what random search found once: expression, bounds
    ("((x mod min(y, x mod 2)) * x * x * x) floordiv 2", {"y": Interval(0, None)}),
    (
        "(((x mod (min(x, y) ceildiv 2)) * x * x) floordiv 2) * x",
        {"x": Interval(0, None), "y": Interval(0, None)},
    ),
    ("max(x floordiv 2, min(x, z))", {"x": Interval(0, 1), "z": Interval(-1, None)}),
    ("(y mod 12) % -100", {"y": Interval(11, None)}),
    ("(y * 7 + z * 2 - 4) floordiv -10", {"y": Interval(-5, None), "z": Interval(5, None)}),
    ("min(x, y) * min(x, y)", {"x": Interval(0, 26), "y": Interval(0, 26)}),
    ("max(x, y) * 5 + x % -6 + 7", {"x": Interval(16, 23), "y": Interval(0, 0)}),
]


@pytest.mark.parametrize(("text", "bounds"), FOUND, ids=[text for text, _ in FOUND])
def test_what_was_found_stays_right(text: str, bounds: dict[str, Interval]) -> None:
    everything = Interval(None, None)
    problem = Problem(
        parse_form(text), {"x": everything, "y": everything, "z": everything, **bounds}
    )
    result = problem.result()
    assert first_difference(problem.form, result, problem.points()) is None
    assert is_never_costlier(problem.scope(), result, problem.form)
    assert problem.result(result) == result
    interval = range_of(problem.scope(), problem.form)
    assert plain_range(problem.form, problem.box).contains(interval)
