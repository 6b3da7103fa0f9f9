"""Inputs of any size and depth: each ends soon and soundly, by form, from text, and from sympy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

import pytest
import sympy

from simplifier import Facts, Interval, bounds_of, cost, format_expr, parse_expr, simplify, symbol
from simplifier.canonical.scope import Scope
from simplifier.expr.form import Form
from simplifier.expr.functions import FloorDiv
from simplifier.expr.printer import format_form
from simplifier.expr.text import parse_form
from simplifier.extraction import costs_of
from simplifier.fixpoint import simplified
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.evaluation import first_difference, values_of
from tests.extent import IN_CI
from tests.simplifier.large import LEVELS, SHARED, TERMS, WHOLES, box_of, nest, points_in, total
from tests.simplifier.objective import check_simplified

MOST = 5_000 if IN_CI else 1_100
MANY = 2_000 if IN_CI else 1_100
SOME = 1_000 if IN_CI else 400
FEW = 100 if IN_CI else 75
"""Levels of a nest, terms of a sum; Python's own stack ends at a thousand."""

GROWING: Mapping[str, Callable[[int], Form]] = {
    **{f"levels of {name}": partial(nest, level) for name, level in LEVELS.items()},
    **{f"terms {name}": partial(total, term) for name, term in TERMS.items()},
}
COSTLY = {
    *("levels of bitxor(f, y + n)", "levels of (f * 3 + x) % y", "terms dn % 8", "terms dn % n"),
    *("terms clamps", "terms clamps of x", "terms products", "terms x // n % m"),
    *("terms (x * n + y) // 210", "terms select(dn > 3, x, n)"),
}
"""What takes seconds at so many, and so has two thousand at most."""

FIXED: dict[str, Callable[[], Form]] = {
    f"{levels} levels of {name}": partial(nest, level, levels)
    for name, level in SHARED.items()
    for levels in (8, 24)
}
FIXED.update(WHOLES)
every_growing = pytest.mark.parametrize("name", list(GROWING))
every_fixed = pytest.mark.parametrize("name", list(FIXED))
with_and_without_bounds = pytest.mark.parametrize("bounded", [True, False] if IN_CI else [True])


@every_growing
def test_thousands_of_levels_or_terms_end(name: str) -> None:
    check_result(GROWING[name](MANY if name in COSTLY else MOST), bounded=True)


@every_growing
def test_many_levels_or_terms_end_without_bounds(name: str) -> None:
    check_result(GROWING[name](SOME), bounded=False)


@every_fixed
@with_and_without_bounds
def test_large_inputs_end(name: str, bounded: bool) -> None:
    check_result(FIXED[name](), bounded=bounded)


def check_result(form: Form, *, bounded: bool) -> None:
    box = box_of(form)
    check_simplified(Scope(tuple(box.items()) if bounded else ()), form, points_in(box))


@every_growing
def test_many_levels_or_terms_have_a_text(name: str) -> None:
    form = GROWING[name](SOME)
    assert parse_form(format_form(form)) == form


@every_growing
def test_hundreds_of_levels_or_terms_go_through_sympy(name: str) -> None:
    form = GROWING[name](2 * FEW)
    box = box_of(form)
    expression = parse_expr(format_form(form))
    assert parse_form(format_expr(expression)) == form
    result = simplify(expression, box)
    assert first_difference(form, parse_form(format_expr(result)), points_in(box)) is None
    assert cost(result, box) <= cost(expression, box)
    interval = bounds_of(expression, box)
    values, defined = values_of(form, points_in(box))
    assert all(int(value) in interval for value in values[defined])


@every_growing
def test_work_grows_with_the_size_alone(name: str) -> None:
    """Twice the size is about twice the work; counted in calls, whatever the machine does."""
    assert calls_for(GROWING[name](4 * FEW)) <= 2.5 * calls_for(GROWING[name](2 * FEW))


EXPANDED = parse_form(
    "(x mod 5 * 12 + x floordiv 5 mod 3 * 4 + x floordiv 15) mod 2 * 30 +"
    "(x mod 5 * 12 + x floordiv 5 mod 3 * 4 + x floordiv 15) floordiv 10 * 5 +"
    "(x mod 5 * 12 + x floordiv 5 mod 3 * 4 + x floordiv 15) floordiv 2 mod 5"
)
"""An element of a transpose of a transpose, whose canonical form costs four times as much."""

NESTED_CLAMPS = parse_form(
    "((((x * 8 + min(max(y - 7, 0), 7)) mod 4 * 8 + (x * 8 + min(max(y - 7, 0), 7)) floordiv 4 mod"
    " 8) floordiv 8 mod 2) * 5 + min(max(((x * 8 + min(max(y - 7, 0), 7)) mod 4 * 8 +"
    " (x * 8 + min(max(y - 7, 0), 7)) floordiv 4 mod 8) mod 8 - 2, 0), 4)) mod 8"
)
"""An element of two concatenations, one after the other."""

EXPENSIVE = {
    "a canonical form that is over-expanded": (EXPANDED, {"x": Interval(0, 59)}, 100_000),
    "extrema in divisions": (NESTED_CLAMPS, {"x": Interval(0, 7), "y": Interval(0, 14)}, 200_000),
}
"""Forms whose canonical forms are far longer, bounds, and the calls that are allowed."""


@for_all(EXPENSIVE)
def test_a_long_form_is_searched_soon(form: Form, box: dict[str, Interval], allowed: int) -> None:
    scope = Scope(tuple(box.items()))
    assert calls_of(lambda: simplified(scope, form)) < allowed
    result = check_simplified(scope, form, points_in(box))
    assert costs_of(scope).of(result) < costs_of(scope).of(form)


def calls_for(form: Form) -> int:
    """How many functions are called to simplify a form that nothing is known about.

    Other tests may have worked out what an atom costs by itself. So all atoms are seen before.
    """
    box = tuple(box_of(form).items())
    simplified(Scope(box), form)
    scope = Scope(box)
    return calls_of(lambda: simplified(scope, form))


def _calls_under_a_chain(count: int) -> int:
    """How many functions are called to ask about ten of so many variables in a chain of facts."""
    symbols = [symbol(f"s_{place}") for place in range(count)]
    ends = [each <= 10 + place for place, each in enumerate(symbols)]
    links = [each <= following + 5 for each, following in pairwise(symbols)]
    facts = Facts(dict.fromkeys(symbols, (0, None)), [*ends, *links])
    asked = [FloorDiv(symbols[place], 11 + place) for place in range(0, count, count // 10)]
    results: list[sympy.Expr] = []
    calls = calls_of(lambda: results.extend(simplify(each, facts) for each in asked))
    assert results == [0] * len(asked)
    return calls


def test_facts_in_a_chain_are_found_one_after_the_other() -> None:
    """The work grows as the chain; once each query took as much for each link (PyTorch 128410)."""
    assert _calls_under_a_chain(240) < 2.5 * _calls_under_a_chain(120)
