"""The text of expressions, both ways: precedence, spellings, errors that point at the place."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval, TextError, TextWarning, format_expr, parse_expr, symbol
from simplifier.expr.form import Form
from simplifier.expr.printer import format_form
from simplifier.expr.sympy import from_sympy
from simplifier.expr.text import parse_form
from tests.cases import for_all
from tests.evaluation import values_of
from tests.extent import IN_CI, examples
from tests.indexing.tables import errors_in
from tests.strategies import NAMES, expressions, points_of


@for_all([
    ("-7", "-7"), ("x floordiv 0", "x floordiv 0"),
    ("d2 + d10 * 4 + d1 * 8", "d1 * 8 + d10 * 4 + d2"),
    ("(x floordiv 3) * 3", "(x floordiv 3) * 3"),
    ("x floordiv (y floordiv 2)", "x floordiv (y floordiv 2)"),
    ("min(x, y + 1, 3) * 2 - 1", "min(x, y + 1, 3) * 2 - 1"),
    (f"x * {10**40}", f"x * {10**40}"),
    ("x//8", "x floordiv 8"), ("x / 8", "x floordiv 8"), ("x % 8", "x mod 8"), ("x+-1", "x - 1"),
    ("--x", "x"), ("3*x", "x * 3"), ("1 + x", "x + 1"), ("-3 * x", "x * -3"),
    ("-(x + 1)", "-x - 1"), ("x * -1", "-x"), ("(((x)))", "x"),
    ("x*2 floordiv 8", "(x * 2) floordiv 8"),
    ("x floordiv 2 floordiv 3", "(x floordiv 2) floordiv 3"),
    ("x floordiv 2 * 3", "(x floordiv 2) * 3"), ("x - y - 1", "x - y - 1"),
    ("-x floordiv 2", "(-x) floordiv 2"), ("min( 1,x )", "min(x, 1)"), ("min(x)", "x"),
    ("max(4, 2, x, 7)", "max(x, 7)"), ("x\n  + y", "x + y"),
    # XLA's remainder is never negative
    ("7 mod -3", "1"), ("7 mod (-3)", "1"),
    # Python's has the sign of the divisor
    ("7 % -3", "-2"), ("x mod -3", "x mod 3"), ("x % -3", "x % -3"),
])  # fmt: skip
def test_spellings(read: str, written: str) -> None:
    assert format_expr(parse_expr(read)) == written


READ_WITH_CARE = {
    "-(a + b) floordiv 3": "(-a - b) floordiv 3",
    "2 * -(a + b) mod 3": "(a * -2 - b * 2) mod 3",
    "min(-(a + b) ceildiv 7, 3)": "min((-a - b) ceildiv 7, 3)",
}


def test_a_minus_before_what_is_divided_is_pointed_at() -> None:
    for read, written in READ_WITH_CARE.items():
        with pytest.warns(TextWarning, match=r"is read as \(-\(x\)\)"):
            assert str(parse_form(read)) == written
    for text in ("a - (a + b) mod 3", "(a) - (b) mod 3", "-((a + b) mod 3)", "-(a + b) // 3"):
        parse_form(text)  # a warning would be an error


def test_declared_variables_come_in_their_order() -> None:
    form = parse_form("th_x + bl_x * 4 + a")
    assert format_form(form, ["th_x", "bl_x"]) == "bl_x * 4 + th_x + a"
    assert format_form(parse_form("b + a"), ["b", "a"]) == "b + a"


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Operators, signs and parentheses in any order."""
    words = [draw(st.sampled_from(("x", "y", "z", "3", "7", "-x", "(x - 2)", "(-y)", "-(z + 1)")))]
    for _ in range(draw(st.integers(1, 5))):
        operator = draw(st.sampled_from(("+", "-", "*", "//", "%")))
        right = draw(st.sampled_from(("x", "y", "z", "2", "5", "-3", "-x", "(y + 4)")))
        words += [operator, right]
    return " ".join(words)


BOX: dict[str, Interval] = dict.fromkeys(NAMES, Interval(-4, 5))


@given(texts())
def test_precedence_is_that_of_python_and_operators_on_symbols_are_its_own(text: str) -> None:
    agree_with_python(text, parse_form(text))
    symbols: dict[str, Any] = {name: symbol(name) for name in NAMES}
    agree_with_python(text, from_sympy(eval(text, symbols)))  # noqa: S307 - our own text


WITHOUT_CEILDIV = ("sum", "floordiv", "mod", "min", "max", "product", "quotient", "modulus")


@given(expressions(operations=WITHOUT_CEILDIV))
def test_the_written_text_means_the_same_in_python(form: Form) -> None:
    text = format_form(form).replace(" floordiv ", " // ").replace(" mod ", " % ")
    agree_with_python(text, form)


def agree_with_python(text: str, form: Form) -> None:
    """Python's value of the text is the form's, wherever that is defined."""
    points = points_of(BOX)
    values, defined = values_of(form, points)
    code = compile(text, "text", "eval")
    rows = zip(*points.values(), strict=True)
    for row, value, is_defined in zip(rows, values, defined, strict=True):
        names = {"min": min, "max": max, **dict(zip(NAMES, row, strict=True))}
        if is_defined:
            # Python divides by zero also in what is multiplied with 0 or subtracted from itself.
            with suppress(ZeroDivisionError):
                assert value == eval(code, {}, names), row  # noqa: S307 - our own text


test_errors_point_at_the_place = errors_in(parse_expr)("""
1 +«» => expected an expression, but the text ends
max(1, «)» => expected an expression, but found ')'
(1 + 2«» => expected ')' for the parenthesis opened at 1:1, but the text ends
foo«(»3, 4) => expected the end of the text, but found '('
«» => expected an expression, but the text ends
x «y» => expected the end of the text, but found 'y'
x + 3«.»5 => unexpected character '.'
2«x» => unexpected character 'x'
x «$» y => unexpected character '$'
x floordiv«» => expected an expression, but the text ends
x * «*» y => expected an expression, but found '*'
min «x» => expected '(' after 'min', but found 'x'
min(x, y«» => expected ',' or ')' for the parenthesis opened at 1:1, but the text ends
(x«,» y) => expected ')' for the parenthesis opened at 1:1, but found ','
x + y«)» => expected the end of the text, but found ')'
«mod» 3 => expected an expression, but found 'mod'
«+»x => expected an expression, but found '+'
x *«*» 2 => expected an expression, but found '*'
x «in» [0, 3] => expected the end of the text, but found 'in'
__import__«(»os) => expected the end of the text, but found '('
x + «"»y" => unexpected character '"'
""")


NOT_DECLARED = "1:5: 'q7' is not a declared variable\nx + q7 * 2\n    ^^\nhint: declared: x, y"
REFUSED = {
    # text with the declared x and y, beginning of the error
    "x +\n\ty *\n\t\t) + x": "3:3: expected an expression, but found ')'\n  ) + x\n  ^",
    "x + q7 * 2": NOT_DECLARED,
    "x + " + "9" * 5000: "1:5: integer of 5000 digits; Python reads at most",
}


@for_all([*REFUSED.items()])
def test_errors_are_written_in_full(text: str, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_form(text, ["x", "y"])
    assert str(caught.value).startswith(message)


def test_a_deep_text_is_read_or_refused_at_its_end() -> None:
    for text in ("(" * 100_000, "(" * 50_000 + "x" + ")" * 49_999, "-" * 100_000):
        with pytest.raises(TextError) as caught:
            parse_form(text)
        assert caught.value.span.start == len(text)
    depth = 100_000 if IN_CI else 20_000
    assert parse_form("(" * depth + "x" + ")" * depth) == parse_form("x")
    assert parse_form("-" * depth + "x") == parse_form("x")


@examples(200)
@given(st.text("xy0123456789+-*/%()[]{},: \t\n<>.minaxfloordv", max_size=30))
def test_any_text_is_read_or_refused_politely(text: str) -> None:
    try:
        form = parse_form(text)
    except TextError as error:
        read = error
    else:
        assert parse_form(format_form(form)) == form
        return
    assert 0 <= read.span.start <= len(text)
    assert str(read)
