"""Constraints on tile sizes: their text, normal form, and values."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import MapError, TileConstraints, TileError
from simplifier import Interval, TextError
from simplifier.expr import form as forms
from simplifier.expr.operations import substitute
from simplifier.expr.sympy import from_sympy
from simplifier.expr.text import parse_form
from tests.conformance import Row, for_each, rows_of

SIZES = {"a": np.arange(1, 13)[:, None], "b": np.arange(1, 13)[None, :]}
"""All pairs of small sizes."""

FORMS = ("a", "b", "6 mod a", "a mod 4", "8 mod b", "(a + 3) floordiv 4")


@for_each([row for row in rows_of("tile", kind="constraint_expression") if row["expected"]])
def test_as_xla(row: Row) -> None:
    found = TileConstraints.parse(row["expr"])
    assert TileConstraints.parse(str(found)) == found
    if row["id"] == "dedup_no_subsumption":  # we leave out what another part says
        assert str(found) == "v0 in [0, 0]"
    else:
        assert str(found.expanded()) == row["expected"]


def test_satisfied_as_xla() -> None:
    (row,) = (r for r in rows_of("tile", kind="constraint_expression") if not r["expected"])
    constraints = TileConstraints.parse(row["expr"])
    for (first, second), satisfied in row["satisfied"]:
        assert constraints.satisfied({"v0": first, "v1": second}) is satisfied


TEXTS = {
    "parentheses around an expression": ("(a + 1) mod 3 in [0, 0]", "(a + 1) mod 3 in [0, 0]"),
    "parentheses around constraints": ("(a in [1, 2])", "a in [1, 2]"),
    "nested": (
        "((a in [1, 1] || (b in [2, 2] && a in [3, 3])) && b in [2, 5])",
        "(a in [1, 1] || a in [3, 3] && b in [2, 2]) && b in [2, 5]",
    ),
    "a part that is implied": ("a in [1, 9] || a in [2, 3] && b in [1, 1]", "a in [1, 9]"),
    "a part that is excluded": ("(a in [1, 2] || b in [1, 1]) && b in [2, 9]", None),
    "words": ("always  satisfied", "always satisfied"),
    "never": ("unsatisfiable", "unsatisfiable"),
    "open ends": ("a in [2, inf]", "a in [2, inf]"),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_text(text: str, expected: str | None) -> None:
    found = str(TileConstraints.parse(text))
    assert found == (expected or "a in [1, 2] && b in [2, 9]")


ERRORS = {
    "no interval": ("a mod 6 && b in [1, 1]", "1:9: expected 'in' before an interval, but found"),
    "nothing behind": ("a in [1, 1] ||", "1:15: expected an expression, but the text ends"),
    "one bar": ("a in [1, 1] | b in [1, 1]", "1:13: unexpected character '|'"),
    "not closed": ("(a in [1, 1] || b in [1, 1]", "expected"),
}


@pytest.mark.parametrize(("text", "message"), ERRORS.values(), ids=ERRORS)
def test_wrong_texts(text: str, message: str) -> None:
    with pytest.raises(TextError) as error:
        TileConstraints.parse(text)
    assert message in str(error.value)


def test_missing_and_wrong_sizes() -> None:
    constraints = TileConstraints.parse("a in [1, 1] || b in [1, 1]")
    with pytest.raises(TileError, match="satisfied: there is no size b; expected one"):
        constraints.satisfied({"a": 1})
    with pytest.raises(MapError, match="satisfied: b has the value 'x'"):
        constraints.satisfied({"a": 1, "b": "x"})


def test_too_many_alternatives() -> None:
    text = " && ".join(f"(a{k} in [1, 1] || b{k} in [1, 1])" for k in range(13))
    with pytest.raises(TileError, match="the constraints have 8192; expected at most 4096"):
        TileConstraints.parse(text).alternatives()


_limits = st.tuples(st.sampled_from(FORMS), st.integers(0, 5), st.integers(0, 4))


@st.composite
def _constraints(draw: st.DrawFn, depth: int = 3) -> tuple[TileConstraints, Any]:
    """Constraints, and whether all pairs of sizes meet them, computed beside."""
    if depth and draw(st.booleans()):
        (left, holds), (right, other) = draw(_constraints(depth - 1)), draw(_constraints(depth - 1))
        return (
            (left & right, holds & other) if draw(st.booleans()) else (left | right, holds | other)
        )
    text, lower, width = draw(_limits)
    holds = np.array(
        [
            [_value(text, a, b) in Interval(lower, lower + width) for b in range(1, 13)]
            for a in range(1, 13)
        ]
    )
    return TileConstraints.limit(parse_form(text), Interval(lower, lower + width)), holds


def _value(text: str, a: int, b: int) -> int:
    return {
        "a": a,
        "b": b,
        "6 mod a": 6 % a,
        "a mod 4": a % 4,
        "8 mod b": 8 % b,
        "(a + 3) floordiv 4": (a + 3) // 4,
    }[text]


@given(_constraints())
def test_combined(pair: tuple[TileConstraints, Any]) -> None:
    constraints, holds = pair
    for each in (constraints, constraints.expanded(), TileConstraints.parse(str(constraints))):
        found = np.broadcast_to(each.satisfied(SIZES), (12, 12))
        assert np.array_equal(found, holds)
    for a, b in product((1, 4, 7), repeat=2):
        reason = constraints.reason({"a": a, "b": b})
        assert (reason is None) == bool(np.asarray(holds)[a - 1, b - 1])


def test_conditions_are_sympys() -> None:
    constraints = TileConstraints.parse("6 mod a in [0, 0] || b in [2, 4]")
    (condition,) = constraints
    form = from_sympy(condition)
    for a, b in product(range(1, 13), repeat=2):
        (holds,) = substitute([form], {"a": forms.constant(a), "b": forms.constant(b)})
        assert bool(holds.constant) == constraints.satisfied({"a": a, "b": b})


def test_a_form_without_symbols_is_decided() -> None:
    assert TileConstraints.limit(forms.constant(3), Interval(0, 2)).is_unsatisfiable
    assert TileConstraints.limit(forms.constant(2), Interval(0, 2)).is_always_satisfied
