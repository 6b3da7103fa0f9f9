"""From sympy to forms and back: what is understood, what is refused by name, what is kept."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import pytest
import sympy
from hypothesis import given
from sympy.functions.elementary.piecewise import ExprCondPair

from simplifier import CeilDiv, ConversionError, FloorDiv, Max, Min, Mod, symbol
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form
from simplifier.expr.printer import format_form
from simplifier.expr.sympy import _remembered_reading, from_sympy, to_sympy
from simplifier.expr.text import parse_form
from tests.call_counts import calls_of
from tests.extent import IN_CI
from tests.strategies import expressions

x, y = symbol("x"), symbol("y")
real = sympy.Symbol("r", real=True)
foreign: Any = sympy
"""What our stubs of sympy leave out, because nobody should need it."""

half = sympy.Rational(1, 2)
plain, even = sympy.Symbol("plain"), sympy.Symbol("even", even=True)

UNDERSTOOD = [
    # sympy, our text
    (7, "7"),
    (sympy.Integer(-3), "-3"),
    (plain, "plain"),
    (2 * x - y + 1, "x * 2 - y + 1"),
    (x * y * 3, "x * y * 3"),
    (x**3, "x * x * x"),
    ((x + 1) ** 2, "(x + 1) * (x + 1)"),
    (sympy.floor(x / 8), "x floordiv 8"),
    (sympy.floor(-x / 8), "(-x) floordiv 8"),
    (sympy.floor((3 * x + 5) / 8), "(x * 3 + 5) floordiv 8"),
    (sympy.floor(x / 3 + y / 2), "(x * 2 + y * 3) floordiv 6"),
    (sympy.floor(x / 3 + half), "(x * 2 + 3) floordiv 6"),
    (sympy.floor(x / y), "x floordiv y"),
    (sympy.ceiling(x / 8), "x ceildiv 8"),
    (sympy.ceiling((x + 1) / -4), None),
    (sympy.Mod(x, 8), "x mod 8"),
    (sympy.Mod(x, -8), "x % -8"),
    (sympy.Min(x, y, 3), "min(x, y, 3)"),
    (sympy.Max(x, 0), "max(x, 0)"),
    (8 * sympy.floor(x / 8) + sympy.Mod(x, 8), "(x floordiv 8) * 8 + x mod 8"),
    (FloorDiv(x, -3) + CeilDiv(y, 2), "x floordiv -3 + y ceildiv 2"),
    (Min(Mod(x, 4), Max(y, 1)), "min(max(y, 1), x mod 4)"),
    (sympy.floor(x / 2 + y / 3 + half), "(x * 3 + y * 2 + 3) floordiv 6"),
    (sympy.floor(sympy.floor(x / 2) / 3 + y / 4), "((x floordiv 2) * 4 + y * 3) floordiv 12"),
    (sympy.floor(x * y / 6 + x / 4), "(x * y * 2 + x * 3) floordiv 12"),
    (sympy.floor((x / 2 + half) * (y + 2)), "((x + 1) * (y + 2)) floordiv 2"),
    (sympy.floor((x / 2 + half) ** 2), "((x + 1) * (x + 1)) floordiv 4"),
    (sympy.floor(x / y + half), "(x * 2 + y) floordiv (y * 2)"),
    (sympy.ceiling(x / 4 - half), "(x - 2) ceildiv 4"),
    (sympy.floor(plain / 3) + sympy.floor(plain), "plain floordiv 3 + plain"),
    (sympy.Mod(x, -3) + sympy.Mod(-y, 4), None),
    (sympy.Abs(x), "max(-x, x)"),
    (sympy.sign(x - y), "min(max(x - y, -1), 1)"),
    (sympy.Max(sympy.Min(x, 9), -y, 0), "max(-y, min(x, 9), 0)"),
    (foreign.floor(even / 2) * 3, "(even * 3) floordiv 2"),
    (sympy.Integer(3**200) * x, f"x * {3**200}"),
]


@pytest.mark.parametrize(
    ("expression", "text"), UNDERSTOOD, ids=[str(expression) for expression, _ in UNDERSTOOD]
)
def test_understood(expression: sympy.Expr | int, text: str | None) -> None:
    form = from_sympy(expression)
    if text is not None:
        assert format_form(form) == text
    for a in (-8, -2, 0, 6, 16):
        values = {x: a, y: 3, plain: a, even: a}
        assert sympy.sympify(expression).subs(values) == to_sympy(form).subs(
            {symbol(key.name): value for key, value in values.items()}
        )


REFUSED: list[tuple[Any, str | None]] = [
    # sympy, the part that is to blame
    (x / 2, "x/2"),
    (x + half, "x + 1/2"),
    (foreign.sin(x) + 1, "sin(x)"),
    (x**y, "x**y"),
    (1 / x, "1/x"),
    (foreign.sqrt(x), "sqrt(x)"),
    (foreign.Float(2.0) * x, "2.00000000000000"),
    (foreign.pi + x, "pi"),
    (foreign.oo, "oo"),
    (foreign.nan, "nan"),
    (x + foreign.I, "I"),
    (Mod(x / 2, 3), "x/2"),
    (sympy.Max(x / 2, 3) + x, "x/2"),
    (foreign.Abs(x / 2), None),
    (foreign.floor(foreign.sqrt(x)) * 2, "sqrt(x)"),
    (foreign.floor(x * foreign.pi / 2), "pi"),
    (foreign.floor(2**x), None),
    (foreign.frac(x / 2), "frac(x/2)"),
    (foreign.Function("f")(x) + 1, "f(x)"),
    (sympy.Symbol("h", integer=False) + 1, "h"),
    (foreign.Symbol("A", commutative=False) * x, "A"),
    (foreign.Symbol("i", imaginary=True), "i"),
    (foreign.Piecewise((x / 2, foreign.Gt(x, 0)), (1, True)), None),
]


@pytest.mark.parametrize(
    ("expression", "part"), REFUSED, ids=[str(expression) for expression, _ in REFUSED]
)
def test_refused_by_name(expression: sympy.Expr, part: str | None) -> None:
    with pytest.raises(ConversionError) as caught:
        from_sympy(expression)
    if part is not None:
        assert str(caught.value.part) == part
        assert str(caught.value).startswith(part)


@pytest.mark.parametrize("thing", ["x", 1.5, None, True, [x]], ids=repr)
def test_what_is_no_expression_is_refused(thing: object) -> None:
    with pytest.raises(ConversionError, match="expected integer arithmetic"):
        from_sympy(thing)  # pyright: ignore[reportArgumentType]


def test_a_foreign_integer_function_stays_whole() -> None:
    whole = foreign.Function("f", integer=True)(x) * 2 + y
    assert to_sympy(from_sympy(whole)) == whole


def test_a_foreign_function_of_a_plain_symbol_stays_whole() -> None:
    plain = foreign.Symbol("p")
    whole = foreign.Function("f", integer=True)(plain) * 2 + plain
    assert to_sympy(from_sympy(whole), {"p": plain}) == whole


HUGE = sum((symbol(f"d{place}") for place in range(400)), start=foreign.sqrt(x))


def test_a_message_shows_the_beginning_of_a_long_expression() -> None:
    with pytest.raises(ConversionError, match=r"sqrt\(x\) in .*\.\.\.: has type Pow") as caught:
        from_sympy(HUGE)
    assert len(str(caught.value)) < 300


@given(expressions())
def test_the_expression_is_the_one_that_sympy_builds(form: Form) -> None:
    expression = to_sympy(form)
    assert _rebuilt(expression) == expression
    over_own = to_sympy(form, {"x": plain})
    assert over_own == expression.xreplace({x: plain})
    assert _rebuilt(over_own) == over_own


def _rebuilt(expression: sympy.Basic) -> sympy.Basic:
    """The same expression, built by calling sympy's constructors from the leaves up."""
    return expression.func(*map(_rebuilt, expression.args)) if expression.args else expression


@given(expressions())
def test_to_sympy_and_back(form: Form) -> None:
    assert from_sympy(to_sympy(form)) == form


def test_the_expression_of_a_form_is_made_once() -> None:
    form = parse_form("(x mod 8) * 2 + y floordiv 3")
    assert to_sympy(form) is to_sympy(form)
    assert to_sympy(form) == 2 * Mod(x, 8) + FloorDiv(y, 3)


def nested(depth: int) -> sympy.Expr:
    """``floor((floor((x + 1) / 2) + 1) / 2)`` and so on."""
    expression: sympy.Expr = x
    for _ in range(depth):
        expression = FloorDiv(expression + 1, 2)
    return expression


def test_deep_expressions_are_converted() -> None:
    depth = 5_000 if IN_CI else 2_000
    deep = nested(depth)
    form = from_sympy(deep)
    assert form.depth == depth
    _remembered_reading.cache_clear()
    again = to_sympy(pickle.loads(pickle.dumps(form)))  # noqa: S301 - our own
    assert hash(again) == hash(deep)
    assert from_sympy(again) == form
    with pytest.raises(ConversionError, match="a deeply nested expression"):
        from_sympy(deep + half)


def _choices(depth: int, innermost: sympy.Expr) -> sympy.Expr:
    """A choice in a choice and so on, as sympy would not build them."""
    expression = innermost
    for _ in range(depth):
        branches = (expression + 1, foreign.Gt(y, 0)), (x, foreign.true)
        pairs = (sympy.Basic.__new__(ExprCondPair, *branch) for branch in branches)
        expression = sympy.Basic.__new__(sympy.Piecewise, *pairs)
    return expression


@pytest.mark.parametrize("depth", [1, 3, 40])
def test_an_error_inside_choices_names_the_part(depth: int) -> None:
    with pytest.raises(ConversionError) as caught:
        from_sympy(_choices(depth, foreign.sqrt(x)) * 2 + y)
    assert str(caught.value.part) == "sqrt(x)"
    assert str(caught.value).startswith("sqrt(x) in y + 2*Piecewise(")


def test_what_must_be_an_integer_inside_a_choice_is_asked_every_time() -> None:
    choice = _choices(2, x / 2)
    for factor in (3, 5):
        with pytest.raises(ConversionError, match="is a fraction"):
            from_sympy(foreign.floor(choice) + Mod(choice * factor, 7))
    whole = parse_form("select(y > 0, select(y > 0, x + 2, x * 2) + 2, x * 2)")
    assert from_sympy(choice * 2) == whole


def test_deep_choices_are_converted() -> None:
    assert from_sympy(_choices(2_000, x)).depth == 2_001


def _condition_that_holds_others(depth: int) -> Form:
    """``x < 1`` where the condition before holds, ``y < 1`` elsewhere: it is there twice."""
    condition = parse_form("x < 0")
    for level in range(1, depth + 1):
        first = operations.conjunction([condition, parse_form(f"x < {level}")])
        second = operations.conjunction(
            [operations.negation(condition), parse_form(f"y < {level}")]
        )
        neither = operations.conjunction([operations.negation(first), operations.negation(second)])
        condition = operations.negation(neither)
    return condition


def test_conditions_inside_conditions_are_made_once() -> None:
    to_sympy(_condition_that_holds_others(2))
    assert calls_of(partial(to_sympy, _condition_that_holds_others(6))) < 60_000


def test_what_is_not_evaluated_is_read_through() -> None:
    assert from_sympy(sympy.UnevaluatedExpr(x + 1) * 2) == from_sympy(2 * x + 2)
    halves = sympy.Mul(2, sympy.Mul(half, x, evaluate=False), evaluate=False)
    assert from_sympy(halves) == from_sympy(x)


def test_wide_expressions_are_converted() -> None:
    wide = sympy.Add(*(place * FloorDiv(symbol(f"d{place}"), 3) for place in range(1, 2_001)))
    form = from_sympy(wide)
    assert len(form.terms) == 2_000
    assert to_sympy(form) == wide


def test_high_powers_are_not_multiplied_out() -> None:
    (square,) = from_sympy(x**2).terms
    assert len(square.arguments) == 2
    (huge,) = from_sympy(x ** (10**9) * 3).terms
    assert huge.kind is AtomKind.OPAQUE
    assert to_sympy(from_sympy(x ** (10**9) * 3 + 1)) == x ** (10**9) * 3 + 1
