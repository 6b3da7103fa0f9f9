"""What the published tests of other simplifiers expect: we reach it on every case, or better it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from simplifier import Interval, NotQuasiAffineError, bounds_of, cost, parse_expr, simplify
from simplifier.convert import from_sympy
from simplifier.exact import witness
from simplifier.form import variables_of
from tests.conformance import Row, for_each
from tests.evaluation import first_difference, where

if TYPE_CHECKING:
    from collections.abc import Iterable

    import sympy

    from tests.evaluation import Columns

Bounds: TypeAlias = "dict[str, Interval]"
Constraints: TypeAlias = "list[tuple[sympy.Expr, Interval]]"

FOLDER = Path(__file__).parents[1] / "data" / "simplifier" / "peers"
ROWS: list[Row] = [
    json.loads(line)
    for file in sorted(FOLDER.glob("*.jsonl"))
    for line in file.read_text("utf-8").splitlines()
]
SIMPLIFICATIONS = [row for row in ROWS if "expected" in row]
RANGES = [row for row in ROWS if "expected_bounds" in row]


@for_each(SIMPLIFICATIONS)
def test_no_peer_expects_a_cheaper_result(row: Row) -> None:
    expression, bounds, constraints = question(row)
    result = simplify(expression, bounds, constraints)
    assert differing_point(expression, result, bounds, constraints) is None, result
    assert cost(result) <= row["cost"], result
    assert simplify(result, bounds, constraints) == result


@for_each(SIMPLIFICATIONS)
def test_what_peers_expect_is_equal_and_costs_what_is_said(row: Row) -> None:
    expression, bounds, constraints = question(row)
    expected = parse_expr(row["expected"])
    assert differing_point(expression, expected, bounds, constraints) is None
    assert cost(expected) == row["cost"]


@for_each(RANGES)
def test_no_peer_expects_tighter_bounds(row: Row) -> None:
    expression, bounds, constraints = question(row)
    assert Interval(*row["expected_bounds"]).contains(bounds_of(expression, bounds, constraints))


def question(row: Row) -> tuple[sympy.Expr, Bounds, Constraints]:
    """An expression, its bounds, its constraints."""
    bounds = {name: Interval(*ends) for name, ends in row["bounds"].items()}
    constraints = [(parse_expr(text), Interval(*ends)) for text, ends in row.get("constraints", ())]
    return parse_expr(row["expression"]), bounds, constraints


def differing_point(
    a: sympy.Expr, b: sympy.Expr, bounds: Bounds, constraints: Constraints
) -> dict[str, int] | None:
    """A point where two expressions differ: isl's, or one of a sample where isl has no answer."""
    try:
        return witness(a, b, bounds, constraints)
    except NotQuasiAffineError:
        left, right = from_sympy(a), from_sympy(b)
        known = [(from_sympy(expression), interval) for expression, interval in constraints]
        names = variables_of([left, right, *(form for form, _ in known)])
        points = where(sampled({*names, *bounds}, bounds), known)
        assert all(map(len, points.values())), "no point meets the constraints"
        return first_difference(left, right, points)


def sampled(names: Iterable[str], bounds: Bounds) -> Columns:
    """Random points, the same every time; unbounded variables near 0 or near their one bound."""
    random = Random(0)  # noqa: S311 - a sample, not a secret

    def value(interval: Interval) -> int:
        width = random.choice((2, 8, 40, 300, 5000))
        lower, upper = interval.lower, interval.upper
        if lower is None:
            lower = (upper or 0) - width
        return random.randint(lower, lower + 2 * width if upper is None else upper)

    intervals = {name: bounds.get(name, Interval(None, None)) for name in sorted(names)}
    return {
        name: np.array([value(interval) for _ in range(2000)], dtype=object)
        for name, interval in intervals.items()
    }
