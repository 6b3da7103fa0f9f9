"""Exact answers: never a guess, settled, within a budget of operations; refusals by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeAlias

import islpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval, bounds_of, exact, format_expr, parse_expr, simplify
from simplifier.canonical.scope import scope_of
from simplifier.exact import (
    BudgetError,
    MissingIslError,
    NotQuasiAffineError,
    Space,
    asked_of_kept,
    differing_point,
    finished,
    reduced,
    solved,
)
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form, variable
from simplifier.expr.functions import FloorDiv, Max, Mod, symbol
from simplifier.expr.sympy import from_sympy
from simplifier.extraction.cost import cost_of_form
from simplifier.extraction.width import divides_by_negative
from simplifier.fixpoint import simplified
from simplifier.simplification import cost, equivalent
from tests.cases import for_all
from tests.evaluation import every_point, first_difference, values_of, where
from tests.extent import examples
from tests.simplifier.answers import forget
from tests.simplifier.objective import is_good
from tests.simplifier.suite import Row, for_questions, table
from tests.strategies import bounded_boxes, points_of, quasi_affine

x, y = symbol("x"), symbol("y")


@for_questions(f"""
(x floordiv 8) * 8 + x mod 8  equals  x
x % -3  equals  x - (x floordiv -3) * -3
x floordiv -3  equals  (-x) floordiv 3
x ceildiv 4  equals  -((-x) floordiv 4)
x ceildiv -4  equals  -(x floordiv 4)
(x floordiv 2) floordiv 3  equals  x floordiv 6
min(x, y) + max(x, y)  equals  x + y
max(x, 0)  equals  x  where x in [0, inf]
max(x, 0)  equals  0  where x in [-inf, 0]
x mod 8  equals  x  where x in [0, 7]
x mod 5  equals  x + 5  where x in [-5, -1]
x * y  equals  x * 3  where y in [3, 3]
x floordiv y  equals  x floordiv 4  where y in [4, 4]
x  equals  y  where x in [1, 0]
x * y + 1  equals  y * x + 1
(x * {2 * 10**40}) floordiv {10**40}  equals  x * 2
x mod 8  differs from  x  where x in [0, 8]
x floordiv -7  differs from  -(x floordiv 7)
(x floordiv 2) floordiv -7  differs from  x floordiv -14  where x in [15, 15]
min(x, y, 3)  differs from  min(x, y)  where x in [0, 5], y in [0, 5]
max(x, 0)  differs from  x  where x in [-1, inf]
(x + {10**40}) floordiv 7  differs from  x floordiv 7
select(x >= 5, x, 5)  equals  max(x, 5)
select(x >= 5, x, 5)  differs from  max(x, 6)
max(x, 5)  equals  x  where x >= 5
# constraints count
(d0 * 86 + d1) floordiv 1024  differs from  0  where d0 in [0, 11], d1 in [0, 85]
(d0 * 86 + d1) floordiv 1024  equals  0
    where d0 in [0, 11], d1 in [0, 85], d0 * 86 + d1 in [0, 1023]
d0  equals  4  where d0 in [0, 11], d0 mod 5 in [4, 4], d0 in [0, 8]
""")
def test_compared(row: Row) -> None:
    (left, bounds, known), right = row.question.parsed(), parse_expr(row.expected)
    assert equivalent(left, right, bounds, known) == (row.relation == "equals")
    if row.relation == "differs from":
        point = differing_point(from_sympy(left), from_sympy(right), bounds)
        assert point is not None
        values = {str(symbol): point[symbol.name] for symbol in (left - right).free_symbols}
        assert left.subs(values) != right.subs(values)
        assert all(value in bounds.get(name, Interval(None, None)) for name, value in point.items())


@given(quasi_affine(), quasi_affine(), bounded_boxes())
def test_the_answer_is_that_of_all_points(a: Form, b: Form, box: Box) -> None:
    point = differing_point(a, b, box)
    if point is None:
        assert first_difference(a, b, points_of(box)) is None
    else:
        assert all(point[name] in box[name] for name in box)
        values = {name: forms.constant(value) for name, value in point.items()}
        left, right = operations.substitute((a, b), values)
        assert left != right


REFUSED = [
    # text, term, what it is
    ("x * y + 1", "x * y", "a product of variables"),
    ("(x * x) mod 3", "x * x", "a product of variables"),
    ("x floordiv (y + 1)", "x floordiv (y + 1)", "a division by what is not a constant"),
    ("x mod y", "x mod y", "a division by what is not a constant"),
    ("x ceildiv y", "x ceildiv y", "a division by what is not a constant"),
    ("x floordiv 0", "x floordiv 0", "a division by zero"),
    ("x mod 0", "x mod 0", "a division by zero"),
]


@for_all(REFUSED)
def test_what_is_not_quasi_affine_is_named(text: str, term: str, what: str) -> None:
    with pytest.raises(NotQuasiAffineError) as caught:
        equivalent(parse_expr(text), 0, {})
    assert caught.value.term == term
    assert str(caught.value) == f"{term}: is {what}; exact answers need a quasi-affine expression"


def test_a_thread_without_islpy_keeps_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    with pytest.raises(MissingIslError):
        asked_of_kept(str)
    monkeypatch.undo()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(asked_of_kept, bool).result(timeout=600)


def test_without_islpy_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    asked: list[Callable[[], object]] = [
        lambda: equivalent(x % 8, x, {}),
        lambda: simplify(x % 11 + 1, {}, exact=True),
        lambda: bounds_of(x % 11 + 1, {}, exact=True),
    ]
    for ask in asked:
        with pytest.raises(MissingIslError, match="which is not installed: pip install islpy"):
            ask()
    assert simplify(x % 11 + 1) == x % 11 + 1
    assert bounds_of(x % 11 + 1) == Interval(1, 11)


@for_all([0, 1, -1, 1 << 62, -(1 << 62) - 1, 3**500, -(10**6000)], hash)
def test_integers_of_any_size_pass(value: int) -> None:
    space = Space({"x": Interval(value, value)})
    assert space.sample(space.domain()) == {"x": value}


def test_deep_nests_need_no_recursion() -> None:
    form = forms.variable("x")
    for _ in range(2_000):
        form = operations.floordiv(form + 1, forms.constant(2))
    assert differing_point(form, forms.ONE, {"x": Interval(1, 10**6)}, budget=None) is None
    assert differing_point(form, forms.ONE, {"x": Interval(0, 10**6)}, budget=None) == {"x": 0}


FINISHED = table("""
# constants and affine forms
max(y, x mod 3)  =>  0  where x in [-5, 10], y in [0, 7], x floordiv 12 in [5, 6]
((x + y) floordiv 16) mod 3  =>  0  where x in [0, 99], y in [0, 63], y floordiv 32 in [5, 5]
(x * 3) mod 5  =>  1  where x in [0, 99], x mod 4 + x mod 6 in [0, 0], x in [1, 12]
x floordiv 6 - y  =>  0  where x in [0, 99], y in [0, 9], x - y * 6 in [0, 5]
x * 66 + y * 12 + 45  =>  y * 12 + 45  where x in [0, 15], x * 2 + x mod 8 in [0, 0]
(x * 8 + y * 7 + 1) floordiv 10 - y floordiv 5
    =>  x * 5 - 1  where x in [4, 5], x * 8 - y in [1, 1]
min(4, x * 6) - x * 5  =>  x * -5 + 4  where x in [0, 99], x floordiv 3 in [5, 5]
(y * 5 + x) floordiv 7  =>  y  where x - y * 2 in [0, 0]
x floordiv 6 + 1  =>  y + 1  where x in [0, 99], x - y * 6 in [0, 5]
# parts
((x + 1) mod 2) * 3 + y  =>  y + 3  where (x mod 2) mod 3 in [0, 0]
x * 4 - (z floordiv 2) * 4 - z * 6  =>  x * 4 - z * 8  where z mod 6 in [0, 0]
(x mod 4) * 32 + x * 69 + 9  =>  x * 69 + 9  where x in [-5, 58], x mod 4 in [0, 0]
x mod 8 - y mod 8 + z  =>  z  where x - y in [16, 16]
# operands of extrema
max(x, y, z)  =>  max(x, z)  where x - y in [1, inf]
max(x, x * 3 + z)  =>  x * 3 + z  where x in [-5, 9], z in [20, inf]
min(x, y, z)  =>  min(x, y)  where x + y - z * 2 in [-inf, 0]
# quotients
(x * 4 + y) floordiv 8  =>  x floordiv 2  where y in [0, 9], y * 2 - z in [-1, 0], z in [0, 6]
# functions of few steps are quotients
7 + i0 // 256 + (96 + i0 + 240 * (i0 // 23) + 112 * (i0 // 184) - 256 * (i0 // 256)
    + 16 * ((7 + 17 * i0 - 16 * (i0 // 16) + 6 * (i0 // 23)) // 374)) // 2160
    =>  i0 floordiv 184 + 7  where i0 in [0, 255]
(i0 + (i0 + i0 floordiv 5) floordiv 7) floordiv 90  =>  i0 floordiv 77  where i0 in [10, 300]
9 - (i0 * 7 - (i0 + (i0 * 3) mod 11) floordiv 3) floordiv 400
    =>  -(i0 floordiv 61) + 9  where i0 in [0, 99]
(i0 * 5 + (i0 * 3) mod 4) floordiv 20 + i1  =>  i0 floordiv 4 + i1  where i0 in [-8, -1]
""")


@for_all(FINISHED)
def test_finished(row: Row) -> None:
    expression, bounds, facts = row.question.parsed()
    known = bounds, facts
    result, fast = simplify(expression, *known, exact=True), simplify(expression, *known)
    assert format_expr(result) == row.expected
    assert equivalent(expression, result, *known)
    assert cost(result) <= cost(fast)
    assert is_good(result, *known) or not is_good(fast, *known)
    assert simplify(result, *known, exact=True) == result


@for_questions(f"""
x mod 4 - x mod 6  lies in  [-4, 2]
x - y  lies in  [-10, -4]  where x + y in [10, 10], x in [0, 3]
x  lies in  [-3, 2]  where x * 3 + y * 5 in [1, 1], y in [-2, 4]
x  lies in  [9, 93]  where x in [0, 99], x mod 4 in [1, 1], x mod 6 in [3, 3]
x floordiv 3  lies in  [-inf, 2]  where x in [-inf, 7]
max(x, -x)  lies in  [0, inf]
x + y  lies in  [-inf, inf]  where x - y in [0, 5]
x * {10**40}  lies in  [-{10**40}, {10**65}]  where x in [-1, {10**25}]
x  lies in  [0, -1]  where x in [0, 9], x mod 4 in [1, 1], x mod 6 in [0, 0]
x  lies in  [0, -1]  where x in [3, 2]
7  lies in  [7, 7]
""")
def test_exact_bounds(row: Row) -> None:
    assert str(bounds_of(*row.question.parsed(), exact=True)) == row.expected


Box: TypeAlias = "dict[str, Interval]"
Known: TypeAlias = "list[tuple[Form, Interval]]"
_ends = st.tuples(st.integers(-4, 6), st.integers(0, 12))
_intervals = _ends.map(lambda pair: Interval(pair[0], pair[0] + pair[1]))
constraint_lists = st.lists(st.tuples(quasi_affine(leaves=3), _intervals), max_size=2)
"""Two facts at most about small expressions."""
small_boxes = bounded_boxes().map(
    lambda box: {
        name: Interval(ends.lower, min(ends.upper or 0, (ends.lower or 0) + 8))
        for name, ends in box.items()
    }
)


@given(quasi_affine(), small_boxes, constraint_lists)
def test_exact_bounds_are_those_of_all_points(form: Form, box: Box, constraints: Known) -> None:
    values, _ = values_of(form, where(every_point(box), constraints))
    interval = exact.exact_range(form, box, constraints)
    assert interval == Interval(min(values), max(values)) if len(values) else interval.is_empty
    # where isl may take no time, all points answer
    assert exact.exact_range(form, box, constraints, 1) == interval
    point = exact.differing_point(form, -form, box, constraints, 1)
    assert (point is None) == (exact.differing_point(form, -form, box, constraints) is None)
    if point is not None:
        columns = {name: np.array([value], dtype=object) for name, value in point.items()}
        (value,), _ = values_of(form, where(columns, constraints))
        assert value != -value


@pytest.mark.parametrize("share", [exact.ATTEMPT, 500], ids=["enough", "little"])
@examples(60)
@given(form=quasi_affine(leaves=7), box=bounded_boxes(), constraints=constraint_lists)
def test_a_finished_form_is_equal_no_dearer_and_settled(
    form: Form, box: Box, constraints: Known, share: int
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


MANY = [symbol(f"d{place}") for place in range(30)]
HARD = sum((Max(left, 3 * right - 7) for left, right in pairwise(MANY)), start=x)
BOX = dict.fromkeys(MANY, (-50, 50))
HARD_TO_ANSWER: dict[str, Callable[[], object]] = {
    "range": lambda: bounds_of(HARD, BOX, exact=True, budget=2000),
    "equality": lambda: equivalent(HARD, HARD.subs(x, y), BOX, [(HARD, (0, None))], budget=2000),
}


@for_all(HARD_TO_ANSWER)
def test_a_question_ends_with_its_budget(ask: Callable[[], object]) -> None:
    with pytest.raises(BudgetError, match="2000 operations of isl were not enough") as error:
        ask()
    assert error.value.budget == 2000


@pytest.mark.parametrize(("seconds", "is_answered"), [((9, 0), True), ((9, 9), False)])
def test_one_long_attempt_may_be_a_collection_of_garbage(
    seconds: tuple[int, ...], is_answered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, lasts = 0, iter(seconds)
    monkeypatch.setattr(exact, "process_time", lambda: now)

    def ask(_: islpy.Context) -> str:
        nonlocal now
        last = next(lasts, None)
        if last is None:
            return "answer"
        now += last
        raise BudgetError(exact.ATTEMPT)

    if is_answered:
        assert exact.asked(ask, exact.BUDGET) == "answer"
    else:
        with pytest.raises(BudgetError):
            exact.asked(ask, exact.BUDGET)


@pytest.mark.parametrize("budget", [None, 3 * exact.ATTEMPT], ids=["no limit", "operations"])
def test_after_a_few_operations_a_question_has_all_of_its_budget(budget: int | None) -> None:
    asked: list[islpy.Context] = []

    def ask(context: islpy.Context) -> str:
        asked.append(context)
        if len(asked) == 1:
            raise BudgetError(exact.ATTEMPT)
        return f"{context.get_max_operations()} operations"

    assert exact.asked(ask, budget) == f"{budget or 0} operations"


def test_simplify_keeps_what_it_has_when_the_budget_ends_and_bounds_have_none() -> None:
    text, box = parse_expr("max(x, y * 3) + min(x * 2, y - 7)"), dict.fromkeys("xy", (0, 10**6))
    with pytest.raises(BudgetError):
        bounds_of(text, box, exact=True, budget=1)
    assert bounds_of(text, box, exact=True, budget=None) == bounds_of(text, box, exact=True)
    assert simplify(HARD, BOX, exact=True, budget=2000) == simplify(HARD, BOX)
    text, facts = parse_expr("(y * 5 + x) floordiv 7"), [(x - 2 * y, 0)]
    assert simplify(text, {}, facts, exact=True) == y
    assert simplify(text, {}, facts, exact=True, budget=1) == simplify(text, {}, facts)


def test_a_budget_is_a_number_of_operations() -> None:
    wrong: list[Any] = [0, -1, True, 1.5, "many"]
    for budget in wrong:
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


def test_threads_do_not_meet() -> None:
    a = parse_expr("((x * 12 + y) floordiv 5) mod 7")
    b = parse_expr("(x * 12 + y) mod 35 floordiv 5")

    def ask(number: int) -> bool:
        return equivalent(a, b + number % 2, {"x": (0, 100), "y": (0, 11)})

    def finish(row: Row) -> str:
        return format_expr(simplify(*row.question.parsed(), exact=True))

    forget()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(64))) == [True, False] * 32
        assert list(pool.map(finish, FINISHED * 4)) == [row.expected for row in FINISHED * 4]


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
    assert not any(row.is_constant for row in equations.values())
    assert reduced(a * 2 + b + c, equations) == c + 4
    assert reduced(c, equations) == c
    assert solved([]) == {}
