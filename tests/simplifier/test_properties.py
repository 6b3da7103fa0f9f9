"""What must hold for every expression: sound, not costlier, settled, and within its range."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import example, given

from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr.form import Form
from simplifier.expr.printer import format_form
from simplifier.expr.text import parse_form
from simplifier.extraction.width import divides_by_negative, is_wide
from simplifier.fixpoint import range_of, simplified
from tests.evaluation import first_difference, plain_range, where
from tests.simplifier.objective import check_range, check_simplified, is_never_costlier
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
    "x ceildiv 9": {"x": (-9, -7)},
    "max(x, y) * 5 + x % -6 + 7": {"x": (16, 23), "y": (0, 0)},
}


def each_problem(test: Callable[[Problem], None]) -> Callable[[], None]:
    """Run a test with random problems, and with those that were found."""
    for text, some in FOUND.items():
        bounds = {name: Interval(*ends) for name, ends in some.items()}
        test = example(Problem(parse_form(text), ANY_BOX | bounds))(test)
    return given(any_problem)(test)


@each_problem
def test_a_result_is_right_and_good(problem: Problem) -> None:
    """Equal, within its range, settled, its text, no dearer, and as narrow as what is kept."""
    form, result = problem.form, problem.result()
    assert problem.result(result) == result
    scope = problem.scope()
    check_simplified(scope, form, problem.points())
    assert parse_form(format_form(result)) == result
    assert divides_by_negative(form) or not divides_by_negative(result), result
    # Affine results have one spelling.
    assert result.is_affine or is_wide(scope, form) or not is_wide(scope, result), result
    interval, plain = range_of(scope, form), plain_range(form, problem.box)
    assert plain.contains(interval), f"{interval} is wider than {plain}"


@given(problems(), constraints())
def test_constraints_are_facts(problem: Problem, known: list[tuple[Form, Interval]]) -> None:
    """The result agrees, and the bounds hold, wherever all constraints do."""
    scope_of.cache_clear()
    scope = scope_of(tuple(sorted(problem.box.items())), tuple(known))
    result = simplified(scope, problem.form)
    points = where(problem.points(), known)
    assert first_difference(problem.form, result, points) is None, result
    check_range(scope, problem.form, points)
    assert is_never_costlier(scope, result, problem.form)


def test_a_canonical_form_is_its_own() -> None:
    """Half of a remainder, rounded up, was what is left of one rounded down, and the reverse."""
    scope = scope_of((("x", Interval(0, 99)), ("y", Interval(0, 99))))
    for text in ("((x + 2) mod 3 + 1) floordiv 2", "((x + 3) mod 5 + (y + 1) mod 7) floordiv 2"):
        form = scope.canonical(parse_form(text))
        assert scope.canonical(form) == form
