"""Published decisions about symbolic sizes: JAX's of shape polymorphism, and identities."""

from __future__ import annotations

import re
from typing import TypeAlias

import pytest

from simplifier import Interval, bounds_of, cost, parse_expr, simplify
from simplifier.expr.form import variables_of
from simplifier.expr.text import parse_form
from tests.conformance import Row, rows
from tests.evaluation import values_of, where
from tests.strategies import points_of

Bounds: TypeAlias = "dict[str, tuple[int | None, int | None]]"

NAME = re.compile(r"\b[a-z]\b")
LIMITS = [row for row in rows("shape_poly") if "expr" in row]
EQUALITIES = [row for row in rows("shape_poly") if "left" in row]


def sizes_in(*texts: str) -> Bounds:
    """JAX's sizes are at least 1."""
    return dict.fromkeys(NAME.findall(" ".join(texts)), (1, None))


@pytest.mark.parametrize(
    "row", LIMITS, ids=[f"{row['expr']} {row['constraints']}" for row in LIMITS]
)
def test_bounds_are_at_least_as_tight_as_those_of_jax(row: Row) -> None:
    bounds = sizes_in(row["expr"], *row["constraints"])
    constraints = [(parse_expr(text), 1) for text in row["constraints"]]
    found = bounds_of(parse_expr(row["expr"]), bounds, constraints)
    assert Interval(*row["jax"]).contains(found), found
    forms = [parse_form(text) for text in (row["expr"], *row["constraints"])]
    known = [(form, Interval(1, 1)) for form in forms[1:]]
    points = where(points_of({name: Interval(1, 9) for name in variables_of(forms)}), known)
    assert all(value in found for value in values_of(forms[0], points)[0]), found


@pytest.mark.parametrize("row", EQUALITIES, ids=[row["left"] for row in EQUALITIES])
def test_what_jax_finds_equal_has_one_text(row: Row) -> None:
    bounds = sizes_in(row["left"], row["right"])
    left, right = (simplify(parse_expr(row[side]), bounds) for side in ("left", "right"))
    assert left == right


@pytest.mark.parametrize("row", rows("symbolic"), ids=[row["expr"] for row in rows("symbolic")])
def test_identities_with_symbolic_sizes_are_found(row: Row) -> None:
    bounds = {name: Interval(*ends) for name, ends in row["bounds"].items()}
    constraints = [(parse_expr(text), ends) for text, *ends in row["constraints"]]
    result = simplify(parse_expr(row["expr"]), bounds, constraints)
    known = bounds, constraints
    assert cost(result, *known) <= cost(parse_expr(row["expected"]), *known), result
    assert simplify(result, bounds, constraints) == result
