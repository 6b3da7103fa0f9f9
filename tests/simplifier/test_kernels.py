"""Index expressions of GPU kernels: expressible, right, and no costlier than Wave's results."""

from __future__ import annotations

from typing import Final

import pytest

from simplifier import bounds_of, format_expr, operator_count, simplify
from simplifier.canonical.scope import scope_of
from simplifier.expr.sympy import from_sympy
from simplifier.expr.text import parse_form
from tests.call_counts import calls_of
from tests.kernels import KernelExpression, kernels, value_at

POINTS: Final = 12

MAX_CALLS: Final = 14_000_000
"""Of functions, to simplify all kernels: under two seconds on one core."""

each_kernel = pytest.mark.parametrize("kernel", kernels(), ids=[each.id for each in kernels()])


@each_kernel
def test_a_kernel_is_right_and_no_costlier(kernel: KernelExpression) -> None:
    _, expression, bounds, constraints, most = kernel
    result = simplify(expression, bounds, constraints)
    interval = bounds_of(expression, bounds, constraints)
    assert operator_count(result) <= most
    assert parse_form(format_expr(result)) == from_sympy(result)
    values = [(point, value_at(expression, point)) for point in kernel.points(POINTS)]
    defined = [(point, value) for point, value in values if value is not None]
    assert defined
    for point, value in defined:
        assert value_at(result, point) == value, point
        assert value in interval


def test_simplifying_all_kernels_takes_a_bounded_amount_of_work() -> None:
    given = kernels()
    scope_of.cache_clear()

    def simplify_all() -> None:
        for _, expression, bounds, constraints, _ in given:
            simplify(expression, bounds, constraints)

    assert calls_of(simplify_all) < MAX_CALLS


def test_points_meet_the_constraints() -> None:
    kernel = next(each for each in kernels() if each.constraints)
    for point in kernel.points(POINTS):
        for form, (lower, upper) in kernel.constraints:
            assert lower <= value_at(form, point) <= upper


def test_a_wrong_result_is_seen() -> None:
    kernel = next(each for each in kernels() if each.id == "w130")
    wrong = simplify(kernel.expression, kernel.bounds) + 1
    assert any(value_at(wrong, p) != value_at(kernel.expression, p) for p in kernel.points(POINTS))
