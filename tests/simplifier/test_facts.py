"""What facts imply: together, about products, about quotients; and that bounds keep all of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import ceil, floor
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval, bounds_of, format_expr, parse_expr, simplify, symbol
from simplifier.bounds.context import Constraints, Fact
from simplifier.bounds.interval import Range
from simplifier.bounds.ranges import LinearFacts
from simplifier.canonical.scope import scope_of
from simplifier.expr.form import ONE, ZERO, Form, content, variable, variables_of
from simplifier.expr.sympy import to_sympy
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of
from simplifier.limits import MAX_LINKED_ATOMS
from tests.evaluation import Columns, first_difference, where
from tests.simplifier.test_constraints import solvable_problems
from tests.strategies import NAMES, Problem

Case: TypeAlias = "tuple[str, list[str], str]"

CASES: dict[str, list[Case]] = {
    # expression, facts, result; all of n, m, k, c are sizes
    "chains": [
        ("max(x - w, 0)", ["x >= y", "y >= z", "z >= w"], "x - w"),
        ("max(x - w, 0)", ["x >= y", "y >= z", "w >= z"], "max(x - w, 0)"),
        ("max(n * 2 + m * 3, 10)", ["n * 2 + m * 3 >= 10"], "m * 3 + n * 2"),
        ("max(n + m, 4)", ["n * 2 + m * 3 >= 10"], "m + n"),
        ("max(n + m, 5)", ["n * 2 + m * 3 >= 10"], "max(m + n, 5)"),
        ("max(x, 5)", ["x + y >= 9", "x - y >= 0"], "x"),
        ("max(x, 6)", ["x + y >= 9", "x - y >= 0"], "max(x, 6)"),
        ("min(x + y, n * 2 - 2) floordiv n", ["x < n", "y < n"], "(x + y) floordiv n"),
        ("min(x - z, 6)", ["x - z <= (w floordiv 8) * 2", "0 <= w", "w <= 31"], "x - z"),
    ],
    "products": [
        ("q mod ((n - 2) * (m - 2))", ["n >= 3", "m >= 3", "0 <= q", "q < (n - 2) * (m - 2)"], "q"),
        (
            "(q floordiv (n - 2)) mod (m - 2)",
            ["n >= 3", "m >= 3", "0 <= q", "q < (n - 2) * (m - 2)"],
            "q floordiv (n - 2)",
        ),
        (
            "(q floordiv (n - 2)) mod (m - 2)",
            ["n >= 3", "m >= 3", "0 <= q", "q <= (n - 2) * (m - 2)"],
            "(q floordiv (n - 2)) mod (m - 2)",
        ),
        ("min(x floordiv n, m - 1)", ["x < n * m"], "x floordiv n"),
        ("max((y - n) * k * m + x, -1)", ["y < n", "x < k * m"], "-1"),
        ("min((y - n) * k * m + x, 0)", ["y < n", "x < k * m"], "(y - n) * k * m + x"),
        ("max(((y - n) * m + x) * k + w, -1)", ["y < n", "x < m", "w < k"], "-1"),
        (
            "max((((y - n) * m + x) * k + w) * l + v, -1)",
            ["y < n", "x < m", "w < k", "v < l", "l >= 1"],
            "-1",
        ),
        ("max(((y - 4) * m + x) * k + w, -1)", ["y < 4", "x < m", "w < k"], "-1"),
        (
            "max(((y - n) * m + x) * k, -1)",
            ["x * k + w - m * (w floordiv n) >= 1", "y < n"],
            "max(((y - n) * m + x) * k, -1)",
        ),
        ("min(((y - n) * m + x) * k, -1)", ["y >= n", "x >= m"], "-1"),
        ("max((y - n) * z, 4)", ["y < n", "-3 <= z", "z <= 5"], "max((y - n) * z, 4)"),
        ("q", ["0 <= q", "q <= 1", "k * q == 1"], "1"),
        ("q", ["q == n * m", "q mod n == 0"], "q"),
        ("min(x floordiv n, x)", ["x >= 0"], "x floordiv n"),
        ("min(x floordiv n, x)", ["x >= -1"], "min(x, (x + 1) ceildiv n - 1)"),
    ],
    "quotients": [
        ("max(n - q * 2 - 1, 0)", ["(n + 1) floordiv 2 - q >= 1"], "n - q * 2 - 1"),
        (
            "max(((x + y + z) floordiv n) * 3 + w, 6)",
            ["x >= n", "y >= n", "0 <= z", "0 <= w"],
            "((x + y + z) floordiv n) * 3 + w",
        ),
        ("max(n floordiv (n floordiv 8), 8)", ["n >= 8"], "n floordiv (n floordiv 8)"),
        ("max(n floordiv (n floordiv 8), 9)", ["n >= 8"], "max(n floordiv (n floordiv 8), 9)"),
        ("max(n floordiv (n floordiv c), c)", ["n floordiv c >= 1"], "n floordiv (n floordiv c)"),
    ],
    "common factors": [
        ("(n * x * 6 + y) floordiv (n * m * 6)", ["0 <= y", "y < n * 6"], "x floordiv m")
    ],
    "multiples": [
        ("256 * x * (k floordiv 256)", ["k mod 256 == 0"], "k * x"),
        ("64 * x * (k floordiv 256)", ["k mod 256 == 0"], "(k floordiv 4) * x"),
        ("256 * x * (k floordiv 256)", ["k mod 256 == 3"], "(k - 3) * x"),
        ("256 * x * (k floordiv 256)", ["k mod 255 == 0"], "(k floordiv 256) * x * 256"),
        ("((n * x) floordiv 32) * 32", ["n mod 32 == 0"], "n * x"),
    ],
    "long division": [
        ("(x * x - y * y) floordiv (x + y)", [], "x - y"),
        ("(x * x - y * y) mod (x + y)", [], "0"),
        ("(x * x + y * y) floordiv (x + y)", [], "(x * x + y * y) floordiv (x + y)"),
    ],
}
SIZES = dict.fromkeys("nmkc", (1, None))
ALL = [case for cases in CASES.values() for case in cases]


every_case = pytest.mark.parametrize(
    ("text", "facts", "expected"), ALL, ids=[f"{text} {facts}" for text, facts, _ in ALL]
)


@every_case
def test_facts_simplify(text: str, facts: list[str], expected: str) -> None:
    known = [(parse_expr(fact), 1) for fact in facts]
    result = simplify(parse_expr(text), SIZES, known)
    assert result == simplify(parse_expr(expected), SIZES, known)
    assert format_expr(result) == format_expr(parse_expr(expected))


@every_case
def test_what_facts_simplify_keeps_its_values(text: str, facts: list[str], expected: str) -> None:
    form, result = parse_form(text), parse_form(expected)
    known = [(parse_form(fact), Interval(1, 1)) for fact in facts]
    points = where(_points((form, result, *(fact for fact, _ in known))), known)
    assert len(next(iter(points.values()))), "no point to look at"
    assert first_difference(form, result, points) is None


def _points(forms: Iterable[Form], count: int = 20_000) -> Columns:
    """Random points: small numbers, and multiples of 255 and 256, or 3 more."""
    random = np.random.default_rng(0)
    columns: Columns = {}
    for name in sorted(variables_of(forms)):
        small = random.integers(1 if name in SIZES else -3, 40, count)
        scaled = small * random.choice([1, 1, 255, 256], count) + random.choice([0, 0, 3], count)
        columns[name] = scaled.astype(object)
    return columns


# Bounds are never weaker than those of what the expression comes to.


@given(solvable_problems())
def test_bounds_are_those_of_the_simplified_expression(asked: tuple[Problem, Constraints]) -> None:
    problem, known = asked
    expression = to_sympy(problem.form)
    constraints = [(to_sympy(form), ends) for form, ends in known]
    interval = bounds_of(expression, problem.box, constraints)
    simpler = simplify(expression, problem.box, constraints)
    assert bounds_of(simpler, problem.box, constraints).contains(interval)


# Linear programming, beside all corners of the domain.

Row: TypeAlias = "tuple[tuple[int, ...], int]"
"""Factors of the variables, and what their sum is at most."""


@st.composite
def programs(draw: st.DrawFn) -> tuple[Form, list[Fact], dict[str, Interval]]:
    """A sum of variables, facts about others, and a box."""
    sums = st.lists(st.integers(-3, 3), min_size=3, max_size=3).map(_sum)
    intervals = st.builds(_interval, st.integers(-9, 9), st.integers(0, 9))
    known = draw(st.lists(st.tuples(sums, intervals), min_size=1, max_size=3))
    facts = [Fact.of(form, ends.ends) for form, ends in known]
    box = {name: draw(intervals) for name in NAMES}
    # What is known of one variable is its range, in the box.
    several = [fact for fact in facts if fact is not None and len(fact.form.terms) > 1]
    return draw(sums), several, box


def _interval(lower: int, size: int) -> Interval:
    return Interval(lower, lower + size)


def _sum(factors: Sequence[int]) -> Form:
    total = ZERO
    for name, factor in zip(NAMES, factors, strict=True):
        total = total.plus(variable(name), factor)
    return total


@given(programs())
def test_the_range_is_that_of_the_corners(
    program: tuple[Form, list[Fact], dict[str, Interval]],
) -> None:
    form, facts, box = program
    ends = LinearFacts(facts).range_of(form, lambda atom: box[atom.name].ends)
    limits = [*((variable(name), each.ends) for name, each in box.items())]
    limits += [(fact.form, fact.ends) for fact in facts]
    corners = list(_corners([row for each in limits for row in _rows(*each)]))
    if ends is not None and corners:
        scale = content(form)
        values = [_value(_factors(form), corner) / scale for corner in corners]
        assert ends == (scale * ceil(min(values)), scale * floor(max(values)))


def _rows(form: Form, ends: Range) -> Iterator[Row]:
    lower, upper = ends
    assert isinstance(lower, int)
    assert isinstance(upper, int)
    yield _factors(form), upper
    yield _factors(-form), -lower


def _factors(form: Form) -> tuple[int, ...]:
    by_name = {atom.name: factor for atom, factor in form.terms.items()}
    return tuple(by_name.get(name, 0) for name in NAMES)


def _value(factors: Sequence[int], corner: Sequence[Fraction]) -> Fraction:
    return sum((each * at for each, at in zip(factors, corner, strict=True)), Fraction(0))


def _corners(rows: list[Row]) -> Iterator[list[Fraction]]:
    """Where three limits meet and none is exceeded; by Cramer's rule."""
    for three in combinations(rows, 3):
        matrix = [list(factors) for factors, _ in three]
        size = _determinant(matrix)
        if size:
            replaced = [_with_column(matrix, at, [limit for _, limit in three]) for at in range(3)]
            corner = [Fraction(_determinant(each), size) for each in replaced]
            if all(_value(factors, corner) <= limit for factors, limit in rows):
                yield corner


def _with_column(matrix: list[list[int]], at: int, column: list[int]) -> list[list[int]]:
    return [[*row[:at], new, *row[at + 1 :]] for row, new in zip(matrix, column, strict=True)]


CONGRUENCES = {
    # expression, facts about a, b, c and d in [0, 6], its bounds
    "a variable of three": (
        "d * d floordiv b",
        [
            "d mod 2 == 0",
            "(c * 4 - a - 2) mod 2 == 0",
            "b mod 3 == 0",
            "(c + d * 4 + 1) mod 3 == 1",
        ],
        Interval(0, 12),
    ),
    "one of two": ("a + b", ["a mod 4 == 0", "(a + b) mod 3 == 0"], Interval(0, 9)),
}


@pytest.mark.parametrize(("text", "facts", "expected"), CONGRUENCES.values(), ids=CONGRUENCES)
def test_the_order_of_facts_makes_no_difference(
    text: str, facts: list[str], expected: Interval
) -> None:
    expression, known = parse_expr(text), [(parse_expr(fact), 1) for fact in facts]
    box = dict.fromkeys("abcd", (0, 6))
    found = {bounds_of(expression, box, order) for order in permutations(known)}
    assert found == {expected}


def _determinant(matrix: list[list[int]]) -> int:
    (a, b, c), (d, e, f), (g, h, i) = matrix
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def test_facts_without_ends_say_nothing() -> None:
    x, y = symbol("x"), symbol("y")
    assert bounds_of(x + y, {}, [(x + y * 2, (None, None))]) == Interval(None, None)


def test_facts_that_contradict_each_other_only_together_are_found() -> None:
    facts = [parse_form(text) for text in ("x - y", "y - z", "z - x")]
    assert scope_of((), tuple((fact, Interval(1, None)) for fact in facts)).is_empty
    assert not scope_of((), tuple((fact, Interval(0, None)) for fact in facts)).is_empty


def test_a_long_chain_is_bounded_as_far_as_the_limit_goes() -> None:
    names = [f"x{number}" for number in range(3 * MAX_LINKED_ATOMS)]
    facts = [(variable(a) - variable(b), Interval(1, 2)) for a, b in pairwise(names)]
    scope = scope_of((), tuple(facts))
    near, far = (variable(names[0]) - variable(names[at]) for at in (9, -1))
    assert range_of(scope, near) == Interval(9, 18)
    assert range_of(scope, far) == Interval(None, None)


def test_what_is_true_by_itself_makes_no_new_scope() -> None:
    scope = scope_of((("x", Interval(0, 9)),), ((variable("x") - variable("y"), Interval(0, 3)),))
    assert scope.under(ONE) is scope
    assert scope.under(parse_form("x < 5")) is not scope
    assert scope.under(ZERO).is_empty
