"""Published cases: at least as cheap as the best narrow result of isl, TVM, tinygrad and MLIR."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from simplifier import Interval, cost, format_expr, parse_expr, simplify
from simplifier.exact import witness
from tests.conformance import Row, for_each, rows

Bounds: TypeAlias = "dict[str, tuple[int | None, int | None]]"

TOTAL_COST = 237
"""All 68 results together; the best narrow results of the peers cost 245."""


@for_each(rows("expressions"))
def test_no_peer_is_cheaper(row: Row) -> None:
    expression = parse_expr(row["expr"])
    bounds = {name: Interval(*ends) for name, ends in row["bounds"].items()}
    result = simplify(expression, bounds)
    assert witness(expression, result, bounds) is None
    assert cost(result) <= cost(parse_expr(row["best"])), result
    assert simplify(result, bounds) == result


@for_each(rows("expressions"))
def test_the_best_of_the_peers_is_right(row: Row) -> None:
    bounds = {name: Interval(*ends) for name, ends in row["bounds"].items()}
    assert witness(parse_expr(row["expr"]), parse_expr(row["best"]), bounds) is None


def test_all_results_together() -> None:
    bounds = [
        {name: Interval(*ends) for name, ends in row["bounds"].items()}
        for row in rows("expressions")
    ]
    results = [
        simplify(parse_expr(row["expr"]), box)
        for row, box in zip(rows("expressions"), bounds, strict=True)
    ]
    assert sum(map(cost, results)) <= TOTAL_COST


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
    ("x * y - y * x", {}, "0"),
    ("(x * y) floordiv y", {"y": (1, None)}, "x"),
    ("x mod y", {"x": (0, 3), "y": (4, 9)}, "x"),
]


@pytest.mark.parametrize(
    ("text", "bounds", "expected"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES]
)
def test_named_cases(text: str, bounds: Bounds, expected: str) -> None:
    assert format_expr(simplify(parse_expr(text), bounds)) == expected
