"""Index expressions of GPU kernels: expressible, right, and no costlier than Wave's results."""

from __future__ import annotations

from typing import Final

from simplifier import bounds_of, format_expr, operator_count, simplify
from simplifier.canonical.scope import scope_of
from simplifier.expr.sympy import from_sympy
from simplifier.expr.text import parse_form
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.conformance import rows
from tests.extent import in_ci, part
from tests.wave_kernels import kernel, kernels, value_at

POINTS: Final = 12

MAX_CALLS: Final = 14_000_000
"""Of functions, to simplify all kernels: under two seconds on one core."""


@for_all(part([row["id"] for row in rows("wave")], 100))
def test_a_kernel_is_right_and_no_costlier(name: str) -> None:
    given = kernel(name)
    _, expression, bounds, constraints, most = given
    result = simplify(expression, bounds, constraints)
    interval = bounds_of(expression, bounds, constraints)
    assert operator_count(result) <= most
    assert parse_form(format_expr(result)) == from_sympy(result)
    values = [(point, value_at(expression, point)) for point in given.points(POINTS)]
    defined = [(point, value) for point, value in values if value is not None]
    assert defined
    for point, value in defined:
        assert value_at(result, point) == value, point
        assert value in interval


@in_ci
def test_simplifying_all_kernels_takes_a_bounded_amount_of_work() -> None:
    given = kernels()
    scope_of.cache_clear()

    def simplify_all() -> None:
        for _, expression, bounds, constraints, _ in given:
            simplify(expression, bounds, constraints)

    assert calls_of(simplify_all) < MAX_CALLS


def test_points_meet_the_constraints() -> None:
    given = kernel(next(row["id"] for row in rows("wave") if row["constraints"]))
    for point in given.points(POINTS):
        for form, (lower, upper) in given.constraints:
            assert lower <= value_at(form, point) <= upper


def test_a_wrong_result_is_seen() -> None:
    given = kernel("w130")
    wrong = simplify(given.expression, given.bounds) + 1
    assert any(value_at(wrong, p) != value_at(given.expression, p) for p in given.points(POINTS))
