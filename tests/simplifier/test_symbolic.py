"""Divisors that are expressions: of every sign, and zero, where a quotient has no value."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import FloorDiv, Interval, Mod, bounds_of, format_expr, parse_expr, simplify, symbol
from simplifier.canonical.scope import scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of
from tests.evaluation import first_difference, values_of
from tests.extent import IN_CI
from tests.strategies import NAMES, Problem

EVERYTHING = Interval(None, None)

# Whatever the signs of numerator and divisor, the result is defined and equal where the input is.


@st.composite
def small_boxes(draw: st.DrawFn) -> dict[str, Interval]:
    """Bounds on either side of zero, and across it; all of their points are looked at."""
    lower = {name: draw(st.integers(-4, 3)) for name in NAMES}
    return {name: Interval(low, low + draw(st.integers(0, 5))) for name, low in lower.items()}


@st.composite
def with_symbolic_divisors(draw: st.DrawFn, depth: int = 3) -> Form:
    """Sums, products, and divisions by expressions."""
    if not depth or draw(st.integers(0, 3)) == 0:
        return draw(_LEAVES)
    left = draw(with_symbolic_divisors(depth - 1))
    right = draw(with_symbolic_divisors(depth - 1))
    return draw(_OPERATIONS)(left, right)


_LEAVES = st.one_of(
    st.sampled_from([forms.variable(name) for name in NAMES]),
    st.sampled_from([forms.constant(value) for value in (-4, -1, 1, 2, 3)]),
)
_OPERATIONS: st.SearchStrategy[Callable[[Form, Form], Form]] = st.sampled_from(
    [
        lambda left, right: left + right,
        lambda left, right: left * 2 - right,
        lambda left, right: operations.product((left, right)),
        operations.floordiv,
        operations.mod,
        operations.ceildiv,
    ]
)


def problems() -> st.SearchStrategy[Problem]:
    return st.builds(Problem, with_symbolic_divisors(), small_boxes())


@given(problems())
def test_divisors_of_every_sign_keep_values_and_definedness(problem: Problem) -> None:
    result = problem.result()
    assert first_difference(problem.form, result, problem.points()) is None, result
    assert problem.result(result) == result


@given(problems())
def test_bounds_hold_values_for_divisors_of_every_sign(problem: Problem) -> None:
    interval = range_of(problem.scope(), problem.form)
    values, defined = values_of(problem.form, problem.points())
    assert all(value in interval for value in values[defined]), interval


# Identities that hold for positive divisors alone, where the divisor is negative.

ONE_SIDED = {
    "remainder of a quotient": "x floordiv 2 - y * (x floordiv (2 * y))",
    "quotient of a quotient": "(x floordiv y) floordiv z",
    "quotient of a quotient by a constant": "(x floordiv y) floordiv 4",
    "quotient by symbols of a quotient": "(x floordiv 4) floordiv y",
    "remainder below the divisor": "min(x mod y, y - 1)",
    "remainder above zero": "max(x mod y, 0)",
    "quotient of a remainder": "(x mod (y * z)) floordiv z",
}


@pytest.mark.parametrize("text", ONE_SIDED.values(), ids=ONE_SIDED)
def test_identities_of_positive_divisors_are_not_used_for_others(text: str) -> None:
    box = {"x": Interval(-9, 9), "y": Interval(-3, 3), "z": Interval(-2, 2)}
    problem = Problem(parse_form(text), box)
    assert first_difference(problem.form, problem.result(), problem.points()) is None


# Divisions by zero are left alone.

LEFT_ALONE = {
    "x floordiv 0": "x floordiv 0",
    "x mod 0": "x mod 0",
    "x ceildiv 0": "x ceildiv 0",
    "0 floordiv 0": "0 floordiv 0",
    "0 mod 0": "0 mod 0",
    "0 ceildiv 0": "0 ceildiv 0",
    "x floordiv (y - y)": "x floordiv 0",
    "x ceildiv p": "x ceildiv 0",
    "p ceildiv p": "0 ceildiv 0",
    "(x floordiv 0) floordiv (y mod 0)": "(x floordiv 0) floordiv (y mod 0)",
    "x + y ceildiv 0 - x": "y ceildiv 0",
}


@pytest.mark.parametrize(("text", "expected"), LEFT_ALONE.items(), ids=LEFT_ALONE)
def test_divisions_by_zero_are_left_alone(text: str, expected: str) -> None:
    bounds = {"p": (0, 0)}
    assert format_expr(simplify(parse_expr(text), bounds)) == expected
    assert bounds_of(parse_expr(text), bounds) == EVERYTHING


MAY_MEET_ZERO = {
    "x ceildiv x": {"x": (0, 0)},
    "x ceildiv (x mod 2)": {"x": (0, 2)},
    "max(x, y ceildiv x)": {"x": (0, 1), "y": (0, 1)},
    "max(0, x floordiv y)": {"x": (0, 1), "y": (0, 1)},
    "min(x mod y, x ceildiv y)": {"x": (-3, 3), "y": (-1, 1)},
}


@pytest.mark.parametrize(("text", "bounds"), MAY_MEET_ZERO.items(), ids=MAY_MEET_ZERO)
def test_divisors_that_may_be_zero_raise_nothing(
    text: str, bounds: dict[str, tuple[int, int]]
) -> None:
    problem = Problem(parse_form(text), {name: Interval(*ends) for name, ends in bounds.items()})
    assert first_difference(problem.form, problem.result(), problem.points()) is None
    scope_of.cache_clear()
    interval = range_of(problem.scope(), problem.form)
    values, defined = values_of(problem.form, problem.points())
    assert all(value in interval for value in values[defined])


def test_a_quotient_rounded_up_is_bounded_by_all_of_its_divisors() -> None:
    assert bounds_of(parse_expr("5 ceildiv y"), {"y": (1, 10)}) == Interval(1, 5)


MULTIPLES = {
    # a number rounded to a multiple of m, in [1, 9]; y and x, in [0, 4]; its range
    "above zero": ("(y floordiv m) * m", (0, 20), Interval(0, 20)),
    "around zero": ("(y floordiv m) * m", (-20, 1), Interval(-28, 1)),
    "times a symbol": ("(y floordiv m) * m * x", (-20, 20), Interval(-112, 80)),
    "of a product": ("(y floordiv (m * x + m)) * m * (x + 1)", (0, 50), Interval(0, 50)),
    "without the divisor": ("(y floordiv m) * x", (-20, 20), Interval(-80, 80)),
}


@pytest.mark.parametrize(("text", "ends", "expected"), MULTIPLES.values(), ids=MULTIPLES)
def test_what_is_rounded_down_is_no_greater(
    text: str, ends: tuple[int, int], expected: Interval
) -> None:
    box = {"y": ends, "m": (1, 9), "x": (0, 4)}
    interval = bounds_of(parse_expr(text), box)
    assert interval == expected
    assert bounds_of(parse_expr(text), box, [(parse_expr("x + m"), (None, 99))]) == interval
    problem = Problem(parse_form(text), {name: Interval(*pair) for name, pair in box.items()})
    values, _ = values_of(problem.form, problem.points())
    assert all(value in interval for value in values)


# Digits whose radix and stride are both symbols.

STRIDED_DIGITS = {
    "x * a - (x floordiv g) * a * g": "(x mod g) * a",
    "((x floordiv g) mod 4) * g * a * b + (x mod g) * a * b": "(x mod (g * 4)) * a * b",
    "x * a - (x floordiv g) * (a * g - 1)": "(x mod g) * a + x floordiv g",
    "y * a * g + (x mod g) * a + x floordiv g": "((y - x floordiv g) * g + x) * a + x floordiv g",
    "((x floordiv g) mod 4) * a + (y mod g) * a * 4": "((y mod g) * 4 + (x floordiv g) mod 4) * a",
}


@pytest.mark.parametrize(("text", "expected"), STRIDED_DIGITS.items(), ids=STRIDED_DIGITS)
def test_digits_of_symbolic_radix_may_have_symbolic_strides(text: str, expected: str) -> None:
    bounds = {"x": (0, None), "y": (0, None), "a": (1, None), "b": (1, None), "g": (1, None)}
    assert format_expr(simplify(parse_expr(text), bounds)) == expected
    box = {name: Interval(low, low + 3) for name, (low, _) in bounds.items()}
    problem = Problem(parse_form(text), box)
    assert first_difference(problem.form, parse_form(expected), problem.points()) is None


# Powers of powers: the exponent doubles with every level.

LEVELS = 120 if IN_CI else 60
TOWERS: dict[str, Callable[[Form], Form]] = {
    "squares": lambda form: operations.product((form, form)),
    "neighbours": lambda form: operations.product((form, form + 1)),
    "squares of sums": lambda form: operations.product((form + 1, form + 1)),
}


@pytest.mark.parametrize("grow", TOWERS.values(), ids=TOWERS)
def test_powers_of_powers_end_with_a_sound_result(grow: Callable[[Form], Form]) -> None:
    form = forms.variable("x")
    for _ in range(LEVELS):
        form = grow(form)
    problem = Problem(form, {"x": Interval(-1, 10)})
    result = problem.result()
    assert problem.result(result) == result
    assert not range_of(problem.scope(), form).is_empty


def test_a_power_of_what_is_zero_or_one_is_itself() -> None:
    problem = Problem(parse_form(" * ".join("x" * 300)), {"x": Interval(0, 1)})
    assert problem.result() == forms.variable("x")


def test_a_product_cancels_however_long_its_sum_is() -> None:
    sizes = [symbol(f"u{number}") for number in range(40)]
    q, total = symbol("q"), sum(sizes[1:], sizes[0])
    bounds = dict.fromkeys(sizes, (1, None))
    assert simplify(FloorDiv(q * total, total), bounds) == q
    assert simplify(Mod(q * total, total), bounds) == 0
