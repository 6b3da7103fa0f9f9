"""Exact ranges, and what isl makes of expressions that the canonical form has made small."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product
from typing import Any, TypeAlias

import islpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import (
    BudgetError,
    FloorDiv,
    Interval,
    Max,
    MissingIslError,
    Mod,
    NotQuasiAffineError,
    bounds_of,
    cost,
    equivalent,
    exact,
    format_expr,
    parse_expr,
    simplify,
    symbol,
)
from simplifier import problem as memory
from simplifier.canonical.scope import scope_of
from simplifier.exact import isl as budgets
from simplifier.exact.questions import finished, reduced, solved
from simplifier.expr.form import Form, variable
from simplifier.extraction.cost import cost_of_form
from simplifier.extraction.width import divides_by_negative
from simplifier.fixpoint import simplified
from tests.evaluation import first_difference, values_of, where
from tests.extent import examples
from tests.simplifier.objective import is_good
from tests.strategies import bounded_boxes, points_of, quasi_affine

Bounds: TypeAlias = "dict[str, tuple[int | None, int | None]]"
Known: TypeAlias = "list[tuple[str, int | tuple[int | None, int | None]]]"

FINISHED: list[tuple[str, Bounds, Known, str]] = [
    # expression, bounds, constraints, result
    # constants and affine forms
    ("max(y, x mod 3)", {"x": (-5, 10), "y": (0, 7)}, [("x floordiv 12", (5, 6))], "0"),
    ("((x + y) floordiv 16) mod 3", {"x": (0, 99), "y": (0, 63)}, [("y floordiv 32", 5)], "0"),
    ("(x * 3) mod 5", {"x": (0, 99)}, [("x mod 4 + x mod 6", 0), ("x", (1, 12))], "1"),
    ("x floordiv 6 - y", {"x": (0, 99), "y": (0, 9)}, [("x - y * 6", (0, 5))], "0"),
    ("x * 66 + y * 12 + 45", {"x": (0, 15)}, [("x * 2 + x mod 8", 0)], "y * 12 + 45"),
    (
        "(x * 8 + y * 7 + 1) floordiv 10 - y floordiv 5",
        {"x": (4, 5)},
        [("x * 8 - y", 1)],
        "x * 5 - 1",
    ),
    ("min(4, x * 6) - x * 5", {"x": (0, 99)}, [("x floordiv 3", 5)], "x * -5 + 4"),
    ("(y * 5 + x) floordiv 7", {}, [("x - y * 2", 0)], "y"),
    ("x floordiv 6 + 1", {"x": (0, 99)}, [("x - y * 6", (0, 5))], "y + 1"),
    # parts
    ("((x + 1) mod 2) * 3 + y", {}, [("(x mod 2) mod 3", 0)], "y + 3"),
    ("x * 4 - (z floordiv 2) * 4 - z * 6", {}, [("z mod 6", 0)], "x * 4 - z * 8"),
    ("(x mod 4) * 32 + x * 69 + 9", {"x": (-5, 58)}, [("x mod 4", 0)], "x * 69 + 9"),
    ("x mod 8 - y mod 8 + z", {}, [("x - y", 16)], "z"),
    # operands of extrema
    ("max(x, y, z)", {}, [("x - y", (1, None))], "max(x, z)"),
    ("max(x, x * 3 + z)", {"x": (-5, 9)}, [("z", (20, None))], "x * 3 + z"),
    ("min(x, y, z)", {}, [("x + y - z * 2", (None, 0))], "min(x, y)"),
    # quotients
    (
        "(x * 4 + y) floordiv 8",
        {"y": (0, 9)},
        [("y * 2 - z", (-1, 0)), ("z", (0, 6))],
        "x floordiv 2",
    ),
]


def known(constraints: Known) -> list[tuple[Any, Any]]:
    return [(parse_expr(text), interval) for text, interval in constraints]


@pytest.mark.parametrize(
    ("text", "bounds", "constraints", "expected"), FINISHED, ids=[row[0] for row in FINISHED]
)
def test_finished(text: str, bounds: Bounds, constraints: Known, expected: str) -> None:
    expression, facts = parse_expr(text), known(constraints)
    result = simplify(expression, bounds, facts, exact=True)
    assert format_expr(result) == expected
    assert equivalent(expression, result, bounds, facts)
    fast = simplify(expression, bounds, facts)
    assert cost(result) <= cost(fast)
    assert is_good(result, bounds, facts) or not is_good(fast, bounds, facts)
    assert simplify(result, bounds, facts, exact=True) == result


NESTED = (
    "7 + i0 // 256 + (96 + i0 + 240 * (i0 // 23) + 112 * (i0 // 184) - 256 * (i0 // 256)"
    " + 16 * ((7 + 17 * i0 - 16 * (i0 // 16) + 6 * (i0 // 23)) // 374)) // 2160"
)
STEPS: list[tuple[str, tuple[int, int], str]] = [
    # expression, bounds of i0, result
    (NESTED, (0, 255), "i0 floordiv 184 + 7"),
    ("(i0 + (i0 + i0 floordiv 5) floordiv 7) floordiv 90", (10, 300), "i0 floordiv 77"),
    (
        "9 - (i0 * 7 - (i0 + (i0 * 3) mod 11) floordiv 3) floordiv 400",
        (0, 99),
        "-(i0 floordiv 61) + 9",
    ),
    ("(i0 * 5 + (i0 * 3) mod 4) floordiv 20 + i1", (-8, -1), "i0 floordiv 4 + i1"),
]


@pytest.mark.parametrize(
    ("text", "ends", "expected"), STEPS, ids=[f"step-function {row[2]}" for row in STEPS]
)
def test_a_function_of_few_steps_is_a_quotient(
    text: str, ends: tuple[int, int], expected: str
) -> None:
    expression = parse_expr(text)
    result = simplify(expression, {"i0": ends}, exact=True)
    assert equivalent(expression, result, {"i0": ends})
    assert format_expr(result) == expected
    assert simplify(result, {"i0": ends}, exact=True) == result


EXACT: list[tuple[str, Bounds, Known, tuple[int | None, int | None] | None]] = [
    # expression, bounds, constraints, least and greatest value
    ("x mod 4 - x mod 6", {}, [], (-4, 2)),
    ("x - y", {}, [("x + y", 10), ("x", (0, 3))], (-10, -4)),
    ("x", {}, [("x * 3 + y * 5", 1), ("y", (-2, 4))], (-3, 2)),
    ("x", {"x": (0, 99)}, [("x mod 4", 1), ("x mod 6", 3)], (9, 93)),
    ("x floordiv 3", {"x": (None, 7)}, [], (None, 2)),
    ("max(x, -x)", {}, [], (0, None)),
    ("x + y", {}, [("x - y", (0, 5))], (None, None)),
    (f"x * {10**40}", {"x": (-1, 10**25)}, [], (-(10**40), 10**65)),
    ("x", {"x": (0, 9)}, [("x mod 4", 1), ("x mod 6", 0)], None),
    ("x", {"x": (3, 2)}, [], None),
    ("7", {}, [], (7, 7)),
]


@pytest.mark.parametrize(
    ("text", "bounds", "constraints", "ends"), EXACT, ids=[row[0][:30] for row in EXACT]
)
def test_exact_bounds(
    text: str, bounds: Bounds, constraints: Known, ends: tuple[int | None, int | None] | None
) -> None:
    interval = bounds_of(parse_expr(text), bounds, known(constraints), exact=True)
    assert interval.is_empty if ends is None else interval == Interval.of(ends)


def constraint_lists() -> st.SearchStrategy[list[tuple[Form, Interval]]]:
    """One or two facts about small expressions."""
    ends = st.tuples(st.integers(-4, 6), st.integers(0, 12))
    interval = ends.map(lambda pair: Interval(pair[0], pair[0] + pair[1]))
    return st.lists(st.tuples(quasi_affine(leaves=3), interval), max_size=2)


small_boxes = bounded_boxes().map(
    lambda box: {
        name: Interval(ends.lower, min(ends.upper or 0, (ends.lower or 0) + 8))
        for name, ends in box.items()
    }
)


@given(quasi_affine(), small_boxes, constraint_lists())
def test_exact_bounds_are_those_of_all_points(
    form: Form, box: dict[str, Interval], constraints: list[tuple[Form, Interval]]
) -> None:
    rows = np.array(list(product(*box.values())), dtype=object)
    columns = dict(zip(box, rows.reshape(len(rows), len(box)).T, strict=True))
    values, _ = values_of(form, where(columns, constraints))
    interval = exact.exact_range(form, box, constraints)
    if len(values):
        assert interval == Interval(min(values), max(values))
    else:
        assert interval.is_empty


@pytest.mark.parametrize("share", [exact.ATTEMPT, 500], ids=["enough", "little"])
@examples(60)
@given(form=quasi_affine(leaves=7), box=bounded_boxes(), constraints=constraint_lists())
def test_a_finished_form_is_equal_no_dearer_and_settled(
    form: Form, box: dict[str, Interval], constraints: list[tuple[Form, Interval]], share: int
) -> None:
    scope = scope_of(tuple(sorted(box.items())), tuple(constraints))
    if scope.is_empty:
        return
    fast = simplified(scope, form)

    def improved(given: Form) -> Form:
        allowance = exact.Allowance(share * exact.MAX_ATTEMPTS, exact.MAX_ATTEMPTS)
        return finished(scope, given, box, constraints, allowance)

    result = improved(fast)
    assert first_difference(form, result, where(points_of(box), constraints)) is None
    assert cost_of_form(result) <= cost_of_form(fast)
    assert divides_by_negative(fast) or not divides_by_negative(result)
    assert improved(simplified(scope, result)) == result


x, y = symbol("x"), symbol("y")
MANY = [symbol(f"d{place}") for place in range(30)]
HARD = sum((Max(left, 3 * right - 7) for left, right in pairwise(MANY)), start=x)
ASKED: dict[str, Callable[[int | None], object]] = {
    "bounds_of": lambda budget: bounds_of(
        HARD, dict.fromkeys(MANY, (-50, 50)), exact=True, budget=budget
    ),
    "equivalent": lambda budget: equivalent(
        HARD, HARD.subs(x, y), dict.fromkeys(MANY, (-50, 50)), [(HARD, (0, None))], budget=budget
    ),
}


@pytest.mark.parametrize("question", ASKED)
def test_a_question_ends_with_its_budget(question: str) -> None:
    with pytest.raises(
        BudgetError, match="budget: 2000 operations of isl were not enough"
    ) as caught:
        ASKED[question](2000)
    assert caught.value.budget == 2000


def test_without_limit_a_question_may_take_long() -> None:
    text, box = parse_expr("max(x, y * 3) + min(x * 2, y - 7)"), dict.fromkeys("xy", (0, 10**6))
    with pytest.raises(BudgetError):
        bounds_of(text, box, exact=True, budget=1)
    assert bounds_of(text, box, exact=True, budget=None) == bounds_of(text, box, exact=True)


@given(quasi_affine(), small_boxes, constraint_lists())
def test_where_isl_takes_long_all_points_answer(
    form: Form, box: dict[str, Interval], constraints: list[tuple[Form, Interval]]
) -> None:
    assert exact.exact_range(form, box, constraints, 1) == exact.exact_range(form, box, constraints)
    point = exact.differing_point(form, -form, box, constraints, 1)
    assert (point is None) == (exact.differing_point(form, -form, box, constraints) is None)
    if point is not None:
        columns = {name: np.array([value], dtype=object) for name, value in point.items()}
        (value,), _ = values_of(form, where(columns, constraints))
        assert value != -value


@pytest.mark.parametrize(("seconds", "is_answered"), [((9, 0), True), ((9, 9), False)])
def test_one_long_attempt_may_be_a_collection_of_garbage(
    seconds: tuple[int, ...], is_answered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, lasts = 0, iter(seconds)
    monkeypatch.setattr(budgets, "process_time", lambda: now)

    def ask(_: islpy.Context) -> str:
        nonlocal now
        last = next(lasts, None)
        if last is None:
            return "answer"
        now += last
        raise BudgetError(budgets.ATTEMPT)

    if is_answered:
        assert budgets.asked(ask, budgets.BUDGET) == "answer"
    else:
        with pytest.raises(BudgetError):
            budgets.asked(ask, budgets.BUDGET)


@pytest.mark.parametrize("budget", [None, 3 * budgets.ATTEMPT], ids=["no limit", "operations"])
def test_after_a_few_operations_a_question_has_all_of_its_budget(budget: int | None) -> None:
    asked: list[islpy.Context] = []

    def ask(context: islpy.Context) -> str:
        asked.append(context)
        if len(asked) == 1:
            raise BudgetError(budgets.ATTEMPT)
        return f"{context.get_max_operations()} operations"

    assert budgets.asked(ask, budget) == f"{budget or 0} operations"


def test_simplify_keeps_what_it_has_when_the_budget_ends() -> None:
    box = dict.fromkeys(MANY, (-50, 50))
    assert simplify(HARD, box, exact=True, budget=2000) == simplify(HARD, box)
    text, facts = parse_expr("(y * 5 + x) floordiv 7"), [(x - 2 * y, 0)]
    assert simplify(text, {}, facts, exact=True) == y
    assert simplify(text, {}, facts, exact=True, budget=1) == simplify(text, {}, facts)


@pytest.mark.parametrize("budget", [0, -1, True, 1.5, "many"], ids=repr)
def test_a_budget_is_a_number_of_operations(budget: Any) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(BudgetError, match="expected a positive number of operations or None"):
        equivalent(x, y, {}, budget=budget)


def test_what_is_not_quasi_affine_is_refused_by_name() -> None:
    for ask in (simplify, bounds_of):
        with pytest.raises(NotQuasiAffineError, match=r"x \* y: is a product of variables"):
            ask(Mod(x * y, 3) + 1, {}, exact=True)
        with pytest.raises(NotQuasiAffineError, match="x mod y: is a division"):
            ask(FloorDiv(x, 3) + 1, {}, [(Mod(x, y), 0)], exact=True)
    assert simplify(FloorDiv(x * y, y), {y: (1, None)}, exact=True) == x
    assert simplify(x * y + x, {y: (3, 3)}, exact=True) == 4 * x


def test_without_islpy_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    for ask in (simplify, bounds_of):
        with pytest.raises(MissingIslError, match="pip install islpy"):
            ask(Mod(x, 11) + 1, {}, exact=True)
        ask(Mod(x, 11) + 1, {})


def test_threads_do_not_meet() -> None:
    rows = FINISHED * 4

    def finish(row: tuple[str, Bounds, Known, str]) -> str:
        text, bounds, constraints, _ = row
        return format_expr(simplify(parse_expr(text), bounds, known(constraints), exact=True))

    memory._remembered.cache_clear()
    memory._found.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(finish, rows)) == [expected for *_, expected in rows]


def test_large_expressions_end() -> None:
    total = sum((Mod(x * (2 * k + 3) + y * k, k + 7) for k in range(60)), start=y)
    box = {x: (0, 10**6), y: (0, 10**6)}
    assert cost(simplify(total, box, exact=True, budget=1000)) <= cost(simplify(total, box))
    deep = x
    for _ in range(1000):
        deep = FloorDiv(deep + y, 2)
    assert simplify(deep, box, exact=True, budget=1000) == simplify(deep, box)


def test_equations_are_solved_for_the_dearest_parts() -> None:
    a, b, c = map(variable, "abc")
    equations = solved([a * 2 + b - 4, b + c * 3 - 1])
    for row in equations.values():
        assert not row.is_constant
    assert reduced(a * 2 + b + c, equations) == c + 4
    assert reduced(c, equations) == c
    assert solved([]) == {}
