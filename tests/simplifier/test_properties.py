"""What must hold for every expression: sound, not costlier, settled, and within its range."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import example, given

from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr.form import Form
from simplifier.expr.printer import format_form
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of, simplified
from tests.evaluation import first_difference, plain_range, values_of, where
from tests.simplifier.objective import is_never_costlier
from tests.strategies import Problem, any_problem, constraints, problems

ANY_BOX = dict.fromkeys("xyz", Interval(None, None))
FOUND = {
    # what random search found once: an expression, and bounds of some of its variables
    "((x mod min(y, x mod 2)) * x * x * x) floordiv 2": {"y": (0, None)},
    "(((x mod (min(x, y) ceildiv 2)) * x * x) floordiv 2) * x": {"x": (0, None), "y": (0, None)},
    "max(x floordiv 2, min(x, z))": {"x": (0, 1), "z": (-1, None)},
    "(y mod 12) % -100": {"y": (11, None)},
    "(y * 7 + z * 2 - 4) floordiv -10": {"y": (-5, None), "z": (5, None)},
    "min(x, y) * min(x, y)": {"x": (0, 26), "y": (0, 26)},
    "max(x, y) * 5 + x % -6 + 7": {"x": (16, 23), "y": (0, 0)},
}


def each_problem(test: Callable[[Problem], None]) -> Callable[[], None]:
    """Run a test with random problems, and with those that were found."""
    for text, some in FOUND.items():
        bounds = {name: Interval(*ends) for name, ends in some.items()}
        test = example(Problem(parse_form(text), ANY_BOX | bounds))(test)
    return given(any_problem)(test)


@each_problem
def test_simplified_and_original_agree_at_every_point(problem: Problem) -> None:
    result = problem.result()
    assert first_difference(problem.form, result, problem.points()) is None, result


@each_problem
def test_bounds_contain_every_value(problem: Problem) -> None:
    interval = range_of(problem.scope(), problem.form)
    values, defined = values_of(problem.form, problem.points())
    outside = [value for value in values[defined] if value not in interval]
    assert not outside, interval


@each_problem
def test_a_result_is_never_costlier_than_what_is_kept(problem: Problem) -> None:
    assert is_never_costlier(problem.scope(), problem.result(), problem.form)


@each_problem
def test_simplifying_twice_changes_nothing(problem: Problem) -> None:
    result = problem.result()
    assert problem.result(result) == result


@each_problem
def test_the_text_of_a_result_is_the_result(problem: Problem) -> None:
    result = problem.result()
    assert parse_form(format_form(result)) == result


@each_problem
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
