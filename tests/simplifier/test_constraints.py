"""Constraints are facts, and equations among them are solved: sound, settled, bounded in work."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval
from simplifier.bounds.context import Constraints
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr import operations
from simplifier.expr.form import Form, constant, variable, variables_of
from simplifier.expr.printer import format_form
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of, simplified
from simplifier.limits import MAX_EQUATIONS
from tests.evaluation import Columns, first_difference, values_of, where
from tests.simplifier.objective import is_never_costlier
from tests.strategies import NAMES, Problem, bounded_boxes, quasi_affine


@st.composite
def equations(draw: st.DrawFn) -> Form:
    """Sums, remainders and quotients of sums, with a constant that is chosen for one point."""
    terms = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(-4, 4)), min_size=1, max_size=3)
    total = constant(draw(st.integers(-3, 3)))
    for name, factor in draw(terms):
        total = total.plus(variable(name), factor)
    divisor = constant(draw(st.integers(2, 9)))
    digit = operations.floordiv(total, constant(draw(st.integers(2, 5))))
    remainders = (operations.mod(total, divisor), operations.mod(digit, divisor))
    rounded = total.plus(digit, draw(st.sampled_from((-1, 1))))
    return draw(st.sampled_from((total, *remainders, operations.floordiv(total, divisor), rounded)))


@st.composite
def solvable_problems(draw: st.DrawFn) -> tuple[Problem, Constraints]:
    """Expressions under equations that hold together at one point of the box at least."""
    box = draw(bounded_boxes())
    point = {name: draw(st.sampled_from(list(ends))) for name, ends in box.items()}
    columns = {name: np.array([value], dtype=object) for name, value in point.items()}
    known: list[tuple[Form, Interval]] = []
    for form in draw(st.lists(equations(), min_size=1, max_size=3)):
        (value,), _ = values_of(form, columns)
        known.append((form, Interval(int(value), int(value) + draw(st.sampled_from((0, 0, 2))))))
    return Problem(draw(quasi_affine(leaves=4)), box), tuple(known)


def points_of(problem: Problem, known: Constraints) -> Columns:
    """All points of the box that meet the constraints, as far as there are not too many."""
    axes = [list(ends)[:24] for ends in problem.box.values()]
    columns = np.array(list(product(*axes)), dtype=object).T
    return where(dict(zip(problem.box, columns, strict=True)), known)


@given(solvable_problems())
def test_equations_keep_every_value(asked: tuple[Problem, Constraints]) -> None:
    problem, known = asked
    scope = scope_of(tuple(problem.box.items()), known)
    assert not scope.is_empty
    result = simplified(scope, problem.form)
    points = points_of(problem, known)
    assert first_difference(problem.form, result, points) is None, result
    interval = range_of(scope, problem.form)
    assert all(value in interval for value in values_of(problem.form, points)[0]), interval
    assert set(variables_of((result,))) <= set(NAMES)
    assert is_never_costlier(scope, result, problem.form)
    assert simplified(scope, result) == result


@given(solvable_problems())
def test_bounds_that_equations_narrow_hold_every_point(asked: tuple[Problem, Constraints]) -> None:
    problem, known = asked
    scope = scope_of(tuple(problem.box.items()), known)
    for name, column in points_of(problem, known).items():
        assert all(value in scope.bounds[name] for value in column), name


CONTRADICTIONS = [
    ("x mod 2", "x mod 4", 1, 2),
    ("x mod 6", "x mod 4", 3, 2),
    ("x mod 4", "x floordiv 2", 3, 4),
    ("x - y", "(x + y) mod 2", 1, 0),
    ("x * 2 + y * 4", "x", 3, 0),
    ("x floordiv 8", "x mod 16", 2, 9),
    ("max(x, 3)", "x", 2, 1),
    ("x + y", "x + y", 1, 2),
]


ROUNDED = [
    ("max(n - x * 2 - 1, 0)", "(n + 1) floordiv 2 - x", (1, None), "n - x * 2 - 1"),
    ("max(n - x * 2 - 2, 0)", "(n + 1) floordiv 2 - x", (1, None), "max(n - x * 2 - 2, 0)"),
    ("min(x * 3 - n, 3)", "x - n floordiv 3", (None, 1), "x * 3 - n"),
    ("min(x * 3 - n, 2)", "x - n floordiv 3", (None, 1), "min(x * 3 - n, 2)"),
    ("min(n + x * 3, 14)", "x + n floordiv 3", (None, 4), "x * 3 + n"),
    ("min(n + x * 3, 13)", "x + n floordiv 3", (None, 4), "min(x * 3 + n, 13)"),
]


@pytest.mark.parametrize(("text", "limited", "ends", "expected"), ROUNDED)
def test_a_fact_about_a_sum_with_a_quotient_bounds_what_is_rounded(
    text: str, limited: str, ends: tuple[int | None, int | None], expected: str
) -> None:
    scope = scope_of((), ((parse_form(limited), Interval(*ends)),))
    assert simplified(scope, parse_form(text)) == parse_form(expected)


@pytest.mark.parametrize(("first", "second", "one", "other"), CONTRADICTIONS)
def test_contradictions_are_found(first: str, second: str, one: int, other: int) -> None:
    known = ((first, one), (second, other))
    constraints = tuple((parse_form(text), Interval(value, value)) for text, value in known)
    assert scope_of((), constraints).is_empty


SOLVED = [
    # constraints, and for how many of them a smaller problem is found
    ((("x mod 8", 3),), 1),
    ((("x mod 8", 3), ("y mod 8", 3)), 2),
    ((("x mod 3", 2), ("x mod 5", 3), ("x mod 7", 2)), 3),
    ((("x - y * 16", 3),), 1),
    ((("x * 2 + y * 3", 4),), 2),
    ((("x floordiv 8", 3),), 0),
    ((("x * y", 3),), 0),
]


@pytest.mark.parametrize(("known", "count"), SOLVED, ids=[str(known) for known, _ in SOLVED])
def test_each_solved_equation_is_a_smaller_problem(
    known: tuple[tuple[str, int], ...], count: int
) -> None:
    constraints = tuple((parse_form(text), Interval(value, value)) for text, value in known)
    assert len(smaller_than(scope_of((), constraints))) == count


def smaller_than(scope: Scope) -> list[Scope]:
    """The smaller problems of a problem, each of the one before."""
    found: list[Scope] = []
    while scope.smaller is not None:
        scope = scope.smaller.context
        found.append(scope)
    return found


def test_of_many_equations_a_few_are_solved() -> None:
    known = tuple(
        (variable(f"x{number}") - variable(f"x{number + 1}"), Interval(1, 1))
        for number in range(3 * MAX_EQUATIONS)
    )
    scope = scope_of((), known)
    assert len(smaller_than(scope)) == MAX_EQUATIONS
    form = parse_form("(x0 + x1) floordiv 2")
    assert format_form(simplified(scope, form)) in {"x1", "x0 - 1"}
