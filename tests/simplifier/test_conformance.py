"""Published cases: at least as cheap as the best narrow result of isl, TVM, tinygrad and MLIR."""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

import pytest
from hypothesis import given

from simplifier import (
    Facts,
    Interval,
    Trace,
    cost,
    equivalent,
    format_expr,
    parse_expr,
    simplify,
    symbol,
)
from simplifier.errors import ArgumentError
from simplifier.expr.sympy import from_sympy, to_sympy
from tests.conformance import Row, for_each, rows
from tests.evaluation import first_difference
from tests.extent import examples
from tests.strategies import Problem, any_problem

Bounds: TypeAlias = "dict[str, tuple[int | None, int | None]]"

TOTAL_COST = 264
"""All 68 results together; the best narrow results of the peers cost 282."""


@for_each(rows("expressions"))
def test_no_peer_is_cheaper(row: Row) -> None:
    expression = parse_expr(row["expr"])
    bounds = {name: Interval(*ends) for name, ends in row["bounds"].items()}
    result = simplify(expression, bounds)
    assert equivalent(expression, result, bounds)
    assert cost(result, bounds) <= cost(parse_expr(row["best"]), bounds), result
    assert simplify(result, bounds) == result


@for_each(rows("expressions"))
def test_the_best_of_the_peers_is_right(row: Row) -> None:
    bounds = {name: Interval(*ends) for name, ends in row["bounds"].items()}
    assert equivalent(parse_expr(row["expr"]), parse_expr(row["best"]), bounds)


def test_all_results_together() -> None:
    bounds = [
        {name: Interval(*ends) for name, ends in row["bounds"].items()}
        for row in rows("expressions")
    ]
    results = [
        simplify(parse_expr(row["expr"]), box)
        for row, box in zip(rows("expressions"), bounds, strict=True)
    ]
    assert sum(map(cost, results, bounds)) <= TOTAL_COST


# Named cases: one identity or one found failure each.
CASES: list[tuple[str, Bounds, str]] = [
    # expression, bounds, simplified
    ("(x floordiv 8) * 8 + x mod 8", {}, "x"),
    ("x - (x floordiv 3) * 3", {}, "x mod 3"),
    ("x ceildiv 4", {"x": (0, 100)}, "(x + 3) floordiv 4"),
    ("min(x, x + 1)", {}, "x"),
    ("max(x, 3) floordiv 8", {"x": (0, 7)}, "0"),
    ("min(x, y) + max(x, y)", {}, "x + y"),
    ("x mod 8", {"x": (-8, -1)}, "x + 8"),
    ("x mod 8", {"x": (0, None)}, "x mod 8"),
    ("((y mod 3) floordiv 2) floordiv 2", {"y": (0, 99)}, "0"),
    ("min((y mod 3) floordiv 2, 1)", {"y": (0, 99)}, "(y mod 3) floordiv 2"),
    (
        "max((d0 * 8 + d1) floordiv 12, 0)",
        {"d0": (0, 2), "d1": (0, 7)},
        "(d0 * 8 + d1) floordiv 12",
    ),
    ("min(min(i, 6) + min(j, 3), 9)", {}, "min(i, 6) + min(j, 3)"),
    (
        "min(max(min(max(i, 0), 6) + min(max(j, 0), 3), 0), 9)",
        {},
        "min(max(i, 0), 6) + min(max(j, 0), 3)",
    ),
    ("x * y - y * x", {}, "0"),
    ("(x * y) floordiv y", {"y": (1, None)}, "x"),
    ("x mod y", {"x": (0, 3), "y": (4, 9)}, "x"),
]


@pytest.mark.parametrize(
    ("text", "bounds", "expected"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES]
)
def test_named_cases(text: str, bounds: Bounds, expected: str) -> None:
    assert format_expr(simplify(parse_expr(text), bounds)) == expected


x, y, n = map(symbol, "xyn")
ROLLED = Facts({x: (0, n - 1), n: (4, None)})
WINDOW = Facts({x: (0, 7)})
DIGITS = Facts(dict.fromkeys(("x", "y"), (0, 9)))
TRUNCATED: list[tuple[str, Facts, str, str]] = [
    # expression, facts, result where division rounds down, and where it rounds to 0
    ("(x - 2) floordiv 8", WINDOW, "(x - 2) floordiv 8", "(x + 6) floordiv 8 - 1"),
    ("(x + n * 3 - 9) mod n", ROLLED, "(n * 3 + x - 9) mod n", "(n * 3 + x - 9) mod n"),
    ("(x + n) mod n", Facts({n: (1, 9)}, [x + n >= 0, x < 9]), "(n + x) mod n", "(n + x) mod n"),
    ("(x * 2 + y) mod 3", DIGITS, "(x * 2 + y) mod 3", "(x * 2 + y) mod 3"),
    ("(x + 8) floordiv 8", Facts({x: (-8, 99)}), "(x + 8) floordiv 8", "(x + 8) floordiv 8"),
    ("x mod 8", Facts({x: (-9, 9)}), "x mod 8", "(x + 16) mod 8"),
    ("x mod 8", Facts(), "x mod 8", "x mod 8"),
]


@pytest.mark.parametrize(
    ("text", "facts", "floored", "truncated"),
    TRUNCATED,
    ids=[f"remainder-of-a-rolled-index {row[0]} to {row[3]}" for row in TRUNCATED],
)
def test_dividends_stay_natural_for_languages_that_round_to_0(
    text: str, facts: Facts, floored: str, truncated: str
) -> None:
    expression = parse_expr(text)
    results = [simplify(expression, facts, target=target) for target in (None, "c", "torch")]
    assert [*map(format_expr, results)] == [floored, truncated, truncated]
    assert simplify(results[1], facts, target="c") == results[1]


STRIDES = Facts({"x": (0, 1023), "s": (1, None), "t": (1, None)})
SUMS: list[tuple[str, Facts, str]] = [
    # expression, facts, sum of products
    ("(x + y) * (n + 2)", Facts(), "n * x + n * y + x * 2 + y * 2"),
    ("((x + 3) * (n + 1)) floordiv 4", Facts(), "(n * x + x - n + 3) floordiv 4 + n"),
    ("(x mod 8 + 1) * (n - 1)", WINDOW, "n * x + n - x - 1"),
    ("(x mod 8 + 1) * (n - 1)", Facts(), "(x mod 8) * n + n - x mod 8 - 1"),
    ("(-x - 1) floordiv 8 + min(x, 5)", WINDOW, "x - max(x - 5, 0) - 1"),
    ("(x - 7) mod 8 * -3", Facts({x: (-99, -9)}), "((x + 1) mod 8) * -3"),
    (
        "((x * -9) floordiv 2) mod 12",
        STRIDES,
        "((x * 3 + 7) floordiv 8) * 12 - (x mod 2) * 5 - (x floordiv 2) * 9",
    ),
    ("(x + 1) * (n mod 0)", Facts(), "(n mod 0) * x + n mod 0"),
    ("x floordiv -8", Facts({x: (None, -9)}), "-((x + 7) floordiv 8)"),
    (
        "s * x - ((x floordiv 8) * s - t * (x floordiv 8 mod 4) + s * 6) * 8 + s * 48",
        STRIDES,
        "((x floordiv 8) mod 4) * t * 8 + (x mod 8) * s",
    ),
    ("((x + 3) mod 7) * ((y + 2) mod 5)", Facts(), "((x + 3) mod 7) * ((y + 2) mod 5)"),
    ("((x mod 8) * s + y) floordiv 16", STRIDES, "((x mod 8) * s + y) floordiv 16"),
    ("((x mod 8) * s + y) mod 16", STRIDES, "((x mod 8) * s + y) mod 16"),
    ("(x * n + y) floordiv n", Facts({y: (0, n - 1)}), "x"),
    ("(x * 2 + y) mod 8 - x", Facts({}, [(y - 2 * x, 0)]), "(x mod 2) * 3 - (x floordiv 2) * 2"),
    ("select(x >= 8, (x + 1) * (n + 1), 0)", Facts(), "select(x >= 8, n * x + n + x + 1, 0)"),
]


@pytest.mark.parametrize(("text", "facts", "expected"), SUMS, ids=[row[0] for row in SUMS])
def test_sums_of_products_depend_on_the_function_alone(
    text: str, facts: Facts, expected: str
) -> None:
    expression = parse_expr(text)
    result = simplify(expression, facts, form="sum")
    assert format_expr(result) == expected
    for other in (result, simplify(expression, facts)):
        assert simplify(other, facts, form="sum") == result
    trace = Trace()
    assert simplify(expression, facts, form="sum", trace=trace) == result


@examples(100)
@given(any_problem)
def test_sums_of_products_are_equal_to_the_expression(problem: Problem) -> None:
    result = simplify(to_sympy(problem.form), problem.box, form="sum")
    assert first_difference(problem.form, from_sympy(result), problem.points()) is None
    assert simplify(result, problem.box, form="sum") == result


def test_a_sum_of_products_that_doubles_with_each_dividend_is_not_written() -> None:
    text = reduce("(({0} + {1}) * 2) floordiv 3".format, "abcdefghij", "x")
    expression = parse_expr(text)
    assert simplify(expression, {}, form="sum") == simplify(expression, {})


def test_a_sum_of_products_is_written_for_a_target_too() -> None:
    expression, bounds = (x - 7) % 8 * (n + 1), {"x": (-9, 9)}
    result = simplify(expression, bounds, form="sum", target="c")
    assert format_expr(result) == "((x + 9) mod 8) * n + (x + 9) mod 8"


@pytest.mark.parametrize(
    ("option", "expected"),
    [("target", "target is 'odd'; expected one of c, cuda"), ("form", "expected one of sum")],
)
def test_unknown_options_are_refused(option: str, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected):
        simplify(x, {}, **{option: "odd"})  # pyright: ignore[reportArgumentType]
