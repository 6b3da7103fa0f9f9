"""From sympy to forms and back: what is understood, what is refused by name, what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import sympy
from hypothesis import given

from simplifier import CeilDiv, ConversionError, FloorDiv, Max, Min, Mod, symbol
from simplifier.convert import from_sympy, to_sympy
from simplifier.text import format_form, parse_form
from tests.strategies import expressions

if TYPE_CHECKING:
    from simplifier.form import Form

x, y = symbol("x"), symbol("y")
real = sympy.Symbol("r", real=True)
foreign: Any = sympy
"""What our stubs of sympy leave out, because nobody should need it."""

half = sympy.Rational(1, 2)

UNDERSTOOD = [
    # sympy, our text
    (7, "7"),
    (sympy.Integer(-3), "-3"),
    (sympy.Symbol("plain"), "plain"),
    (2 * x - y + 1, "x * 2 - y + 1"),
    (x * y * 3, "x * y * 3"),
    (x**3, "x * x * x"),
    ((x + 1) ** 2, "(x + 1) * (x + 1)"),
    (sympy.floor(x / 8), "x floordiv 8"),
    (sympy.floor(-x / 8), "-x floordiv 8"),
    (sympy.floor((3 * x + 5) / 8), "(x * 3 + 5) floordiv 8"),
    (sympy.floor(x / 3 + y / 2), "(x * 2 + y * 3) floordiv 6"),
    (sympy.floor(x / 3 + half), "(x * 2 + 3) floordiv 6"),
    (sympy.floor(x / y), "x floordiv y"),
    (sympy.ceiling(x / 8), "x ceildiv 8"),
    (sympy.ceiling((x + 1) / -4), None),
    (sympy.Mod(x, 8), "x mod 8"),
    (sympy.Mod(x, -8), "x mod -8"),
    (sympy.Min(x, y, 3), "min(3, x, y)"),
    (sympy.Max(x, 0), "max(0, x)"),
    (8 * sympy.floor(x / 8) + sympy.Mod(x, 8), "(x floordiv 8) * 8 + x mod 8"),
    (FloorDiv(x, -3) + CeilDiv(y, 2), "x floordiv -3 + y ceildiv 2"),
    (Min(Mod(x, 4), Max(y, 1)), "min(max(1, y), x mod 4)"),
]


@pytest.mark.parametrize(
    ("expression", "text"), UNDERSTOOD, ids=[str(expression) for expression, _ in UNDERSTOOD]
)
def test_understood(expression: sympy.Expr | int, text: str | None) -> None:
    form = from_sympy(expression)
    if text is not None:
        assert format_form(form) == text
    for a in (-9, -1, 0, 5, 16):
        values = {x: a, y: 3, sympy.Symbol("plain"): a}
        assert sympy.sympify(expression).subs(values) == to_sympy(form).subs(
            {symbol(key.name): value for key, value in values.items()}
        )


REFUSED: list[tuple[Any, str | None]] = [
    # sympy, the part that is to blame
    (x / 2, "1/2"),
    (x + half, "1/2"),
    (foreign.sin(x) + 1, "sin(x)"),
    (x**y, "x**y"),
    (1 / x, "1/x"),
    (foreign.sqrt(x), "sqrt(x)"),
    (foreign.Float(2.0) * x, "2.00000000000000"),
    (foreign.pi + x, "pi"),
    (foreign.oo, "oo"),
    (foreign.nan, "nan"),
    (x + foreign.I, "I"),
    (Mod(x / 2, 3), None),
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


@pytest.mark.parametrize(
    "thing", ["x", 1.5, None, True, foreign.Gt(x, 0), foreign.true, [x]], ids=repr
)
def test_what_is_no_expression_is_refused(thing: object) -> None:
    with pytest.raises(ConversionError, match="expected integer arithmetic"):
        from_sympy(thing)  # pyright: ignore[reportArgumentType]


def test_a_foreign_integer_function_stays_whole() -> None:
    whole = foreign.Function("f", integer=True)(x) * 2 + y
    assert to_sympy(from_sympy(whole)) == whole


@given(expressions())
def test_to_sympy_and_back(form: Form) -> None:
    assert from_sympy(to_sympy(form)) == form


def test_the_expression_of_a_form_is_made_once() -> None:
    form = parse_form("(x mod 8) * 2 + y floordiv 3")
    assert to_sympy(form) is to_sympy(form)
    assert to_sympy(form) == 2 * Mod(x, 8) + FloorDiv(y, 3)


def test_deep_expressions_are_converted() -> None:
    form = parse_form("x")
    text = "x"
    for _ in range(300):
        text = f"({text} + 1) floordiv 2"
    form = parse_form(text)
    assert from_sympy(to_sympy(form)) == form
