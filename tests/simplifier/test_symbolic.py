"""Divisors that are expressions: of every sign, and zero, where a quotient has no value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis import given
from hypothesis import strategies as st

from simplifier import FloorDiv, Interval, Mod, bounds_of, format_expr, parse_expr, simplify, symbol
from simplifier.canonical.scope import scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of
from tests.cases import for_all
from tests.evaluation import first_difference
from tests.extent import IN_CI
from tests.simplifier.objective import check_range
from tests.simplifier.suite import Row, for_questions
from tests.strategies import NAMES, Problem


@st.composite
def small_boxes(draw: st.DrawFn) -> dict[str, Interval]:
    """Bounds on either side of zero, and across it; all of their points are looked at."""
    lower = {name: draw(st.integers(-4, 3)) for name in NAMES}
    return {name: Interval(low, low + draw(st.integers(0, 5))) for name, low in lower.items()}


@st.composite
def with_symbolic_divisors(draw: st.DrawFn, depth: int = 3) -> Form:
    if not depth or draw(st.integers(0, 3)) == 0:
        return draw(_LEAVES)
    left = draw(with_symbolic_divisors(depth - 1))
    right = draw(with_symbolic_divisors(depth - 1))
    return draw(_OPERATIONS)(left, right)


_LEAVES = st.one_of(
    st.sampled_from([forms.variable(name) for name in NAMES]),
    st.sampled_from([forms.constant(value) for value in (-4, -1, 1, 2, 3)]),
)
_OPERATIONS: st.SearchStrategy[Callable[[Form, Form], Form]] = st.sampled_from(
    [
        lambda left, right: left + right,
        lambda left, right: left * 2 - right,
        lambda left, right: operations.product((left, right)),
        operations.floordiv,
        operations.mod,
        operations.ceildiv,
    ]
)


@given(st.builds(Problem, with_symbolic_divisors(), small_boxes()))
def test_divisors_of_every_sign_keep_values_and_definedness(problem: Problem) -> None:
    check_settled(problem)


def check_settled(problem: Problem) -> None:
    """What a problem becomes is equal to it, and settled; all values lie in its range."""
    result = problem.result()
    assert first_difference(problem.form, result, problem.points()) is None, result
    assert problem.result(result) == result
    scope_of.cache_clear()
    check_range(problem.scope(), problem.form, problem.points())


SIGNS = {"x": (-9, 9), "y": (-3, 3), "z": (-2, 2)}
OF_EVERY_SIGN: list[tuple[str, Mapping[str, tuple[int, int]]]] = [
    # identities of positive divisors alone, where one is negative; divisors that may be zero
    ("x floordiv 2 - y * (x floordiv (2 * y))", SIGNS),
    ("(x floordiv y) floordiv z", SIGNS), ("(x floordiv y) floordiv 4", SIGNS),
    ("(x floordiv 4) floordiv y", SIGNS), ("min(x mod y, y - 1)", SIGNS),
    ("max(x mod y, 0)", SIGNS), ("(x mod (y * z)) floordiv z", SIGNS),
    ("x ceildiv x", {"x": (0, 0)}), ("x ceildiv (x mod 2)", {"x": (0, 2)}),
    ("max(x, y ceildiv x)", {"x": (0, 1), "y": (0, 1)}),
    ("max(0, x floordiv y)", {"x": (0, 1), "y": (0, 1)}),
    ("min(x mod y, x ceildiv y)", {"x": (-3, 3), "y": (-1, 1)}),
]  # fmt: skip


@for_all(OF_EVERY_SIGN)
def test_divisors_of_any_sign_are_sound(text: str, ends: Mapping[str, tuple[int, int]]) -> None:
    check_settled(Problem(parse_form(text), {name: Interval(*ends[name]) for name in ends}))


@for_questions("""
x floordiv 0  stays
x mod 0  stays
x ceildiv 0  stays
0 floordiv 0  stays
0 mod 0  stays
0 ceildiv 0  stays
x floordiv (y - y)  =>  x floordiv 0
x ceildiv p  =>  x ceildiv 0  where p in [0, 0]
p ceildiv p  =>  0 ceildiv 0  where p in [0, 0]
(x floordiv 0) floordiv (y mod 0)  stays
x + y ceildiv 0 - x  =>  y ceildiv 0
""")
def test_divisions_by_zero_are_left_alone(row: Row) -> None:
    expression, bounds, _ = row.question.parsed()
    assert format_expr(simplify(expression, bounds)) == row.expected
    assert bounds_of(expression, bounds) == Interval(None, None)


@for_questions("""
above zero: (y floordiv m) * m  lies in  [0, 20]  where y in [0, 20]
around zero: (y floordiv m) * m  lies in  [-28, 1]  where y in [-20, 1]
times a symbol: (y floordiv m) * m * x  lies in  [-112, 80]  where y in [-20, 20]
of a product: (y floordiv (m * x + m)) * m * (x + 1)  lies in  [0, 50]  where y in [0, 50]
without the divisor: (y floordiv m) * x  lies in  [-80, 80]  where y in [-20, 20]
rounded up, by all divisors: 5 ceildiv y  lies in  [1, 5]  where y in [1, 10]
""")
def test_what_is_rounded_down_is_no_greater(row: Row) -> None:
    expression, bounds, _ = row.question.parsed()
    box = bounds | {"m": Interval(1, 9), "x": Interval(0, 4)}
    assert str(bounds_of(expression, box)) == row.expected
    assert str(bounds_of(expression, box, [(parse_expr("x + m"), (None, 99))])) == row.expected
    problem = Problem(parse_form(row.question.expression), box)
    check_range(problem.scope(), problem.form, problem.points())


@for_questions("""
x * a - (x floordiv g) * a * g  =>  (x mod g) * a
((x floordiv g) mod 4) * g * a * b + (x mod g) * a * b  =>  (x mod (g * 4)) * a * b
x * a - (x floordiv g) * (a * g - 1)  =>  (x mod g) * a + x floordiv g
y * a * g + (x mod g) * a + x floordiv g  =>  ((y - x floordiv g) * g + x) * a + x floordiv g
((x floordiv g) mod 4) * a + (y mod g) * a * 4  =>  ((y mod g) * 4 + (x floordiv g) mod 4) * a
""")
def test_digits_of_symbolic_radix_may_have_symbolic_strides(row: Row) -> None:
    lower = {"x": 0, "y": 0, "a": 1, "b": 1, "g": 1}
    bounds = {name: (low, None) for name, low in lower.items()}
    assert format_expr(simplify(parse_expr(row.question.expression), bounds)) == row.expected
    box = {name: Interval(low, low + 3) for name, low in lower.items()}
    problem = Problem(parse_form(row.question.expression), box)
    assert first_difference(problem.form, parse_form(row.expected), problem.points()) is None


LEVELS = 120 if IN_CI else 60
TOWERS: dict[str, Callable[[Form], Form]] = {
    # the exponent doubles with every level
    "squares": lambda form: operations.product((form, form)),
    "neighbours": lambda form: operations.product((form, form + 1)),
    "squares of sums": lambda form: operations.product((form + 1, form + 1)),
}


@for_all(TOWERS)
def test_powers_of_powers_end_with_a_sound_result(grow: Callable[[Form], Form]) -> None:
    form = forms.variable("x")
    for _ in range(LEVELS):
        form = grow(form)
    problem = Problem(form, {"x": Interval(-1, 10)})
    result = problem.result()
    assert problem.result(result) == result
    assert not range_of(problem.scope(), form).is_empty


def test_a_power_of_zero_or_one_is_itself_and_a_product_cancels_however_long_it_is() -> None:
    problem = Problem(parse_form(" * ".join("x" * 300)), {"x": Interval(0, 1)})
    assert problem.result() == forms.variable("x")
    sizes = [symbol(f"u{number}") for number in range(40)]
    q, total = symbol("q"), sum(sizes[1:], sizes[0])
    bounds = dict.fromkeys(sizes, (1, None))
    assert simplify(FloorDiv(q * total, total), bounds) == q
    assert simplify(Mod(q * total, total), bounds) == 0
