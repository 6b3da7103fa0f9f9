"""From sympy to forms and back: what is understood, what is refused, functions of others."""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, cast

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import Eq, Piecewise
from sympy.functions.elementary.piecewise import ExprCondPair

from simplifier import READERS, Interval, bounds_of, equivalent, simplify, symbol
from simplifier.errors import ArgumentError
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form
from simplifier.expr.functions import BitXor, CeilDiv, FloorDiv, Max, Min, Mod
from simplifier.expr.printer import format_form
from simplifier.expr.sympy import ConversionError, _remembered_reading, from_sympy, to_sympy
from simplifier.expr.text import parse_form
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.extent import IN_CI
from tests.strategies import expressions

x, y = symbol("x"), symbol("y")
real = sympy.Symbol("real", real=True)
foreign: Any = sympy
"""What our stubs of sympy leave out, because nobody should need it."""

half = sympy.Rational(1, 2)
plain, even = sympy.Symbol("plain"), sympy.Symbol("even", even=True)

UNDERSTOOD = [
    # sympy, our text
    (7, "7"), (sympy.Integer(-3), "-3"), (plain, "plain"), (2 * x - y + 1, "x * 2 - y + 1"),
    (x * y * 3, "x * y * 3"), (x**3, "x * x * x"), ((x + 1) ** 2, "(x + 1) * (x + 1)"),
    (sympy.floor(x / 8), "x floordiv 8"), (sympy.floor(-x / 8), "(-x) floordiv 8"),
    (sympy.floor((3 * x + 5) / 8), "(x * 3 + 5) floordiv 8"),
    (sympy.floor(x / 3 + y / 2), "(x * 2 + y * 3) floordiv 6"),
    (sympy.floor(x / 3 + half), "(x * 2 + 3) floordiv 6"),
    (sympy.floor(x / y), "x floordiv y"), (sympy.ceiling(x / 8), "x ceildiv 8"),
    (sympy.ceiling((x + 1) / -4), None), (sympy.Mod(x, 8), "x mod 8"), (sympy.Mod(x, -8), "x % -8"),
    (sympy.Min(x, y, 3), "min(x, y, 3)"), (sympy.Max(x, 0), "max(x, 0)"),
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
    (sympy.Mod(x, -3) + sympy.Mod(-y, 4), None), (sympy.Abs(x), "max(-x, x)"),
    (sympy.sign(x - y), "min(max(x - y, -1), 1)"),
    (sympy.Max(sympy.Min(x, 9), -y, 0), "max(-y, min(x, 9), 0)"),
    (foreign.floor(even / 2) * 3, "(even * 3) floordiv 2"),
    (sympy.Integer(3**200) * x, f"x * {3**200}"),
    (sympy.Mul(2, sympy.Mul(half, x, evaluate=False), evaluate=False), "x"),
]  # fmt: skip


@for_all(UNDERSTOOD)
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
    (x / 2, "x/2"), (x + half, "x + 1/2"), (foreign.sin(x) + 1, "sin(x)"), (x**y, "x**y"),
    (1 / x, "1/x"), (foreign.sqrt(x), "sqrt(x)"), (foreign.Float(2.0) * x, "2.00000000000000"),
    (foreign.pi + x, "pi"), (foreign.oo, "oo"), (foreign.nan, "nan"), (x + foreign.I, "I"),
    (Mod(x / 2, 3), "x/2"), (sympy.Max(x / 2, 3) + x, "x/2"), (foreign.Abs(x / 2), None),
    (foreign.floor(foreign.sqrt(x)) * 2, "sqrt(x)"), (foreign.floor(x * foreign.pi / 2), "pi"),
    (foreign.floor(2**x), None), (foreign.frac(x / 2), "frac(x/2)"),
    (foreign.Function("f")(x) + 1, "f(x)"), (sympy.Symbol("h", integer=False) + 1, "h"),
    (foreign.Symbol("A", commutative=False) * x, "A"),
    (foreign.Symbol("i", imaginary=True), "i"),
    (foreign.Piecewise((x / 2, foreign.Gt(x, 0)), (1, True)), None),
]  # fmt: skip


@for_all(REFUSED)
def test_refused_by_name(expression: sympy.Expr, part: str | None) -> None:
    with pytest.raises(ConversionError) as caught:
        from_sympy(expression)
    if part is not None:
        assert str(caught.value.part) == part
        assert str(caught.value).startswith(part)


@for_all(["x", 1.5, None, True, [x]])
def test_what_is_no_expression_is_refused(thing: object) -> None:
    with pytest.raises(ConversionError, match="expected integer arithmetic"):
        from_sympy(thing)  # pyright: ignore[reportArgumentType]


def test_a_message_shows_the_beginning_of_a_long_expression() -> None:
    huge = sum((symbol(f"d{place}") for place in range(400)), start=foreign.sqrt(x))
    with pytest.raises(ConversionError, match=r"sqrt\(x\) in .*\.\.\.: has type Pow") as caught:
        from_sympy(huge)
    assert len(str(caught.value)) < 300


@given(expressions())
def test_the_expression_is_the_one_that_sympy_builds(form: Form) -> None:
    expression = to_sympy(form)
    assert from_sympy(expression) == form
    assert _rebuilt(expression) == expression
    over_own = to_sympy(form, {"x": plain})
    assert over_own == expression.xreplace({x: plain})
    assert _rebuilt(over_own) == over_own


def _rebuilt(expression: sympy.Basic) -> sympy.Basic:
    """The same expression, built by calling sympy's constructors from the leaves up."""
    return expression.func(*map(_rebuilt, expression.args)) if expression.args else expression


def test_expressions_and_conditions_inside_conditions_are_made_once() -> None:
    form = parse_form("(x mod 8) * 2 + y floordiv 3")
    assert to_sympy(form) is to_sympy(form)
    assert to_sympy(form) == 2 * Mod(x, 8) + FloorDiv(y, 3)
    to_sympy(_condition_that_holds_others(2))
    assert calls_of(partial(to_sympy, _condition_that_holds_others(6))) < 60_000


def test_deep_expressions_are_converted() -> None:
    deep, depth = x, 5_000 if IN_CI else 2_000
    for _ in range(depth):
        deep = FloorDiv(deep + 1, 2)
    form = from_sympy(deep)
    assert form.depth == depth
    _remembered_reading.cache_clear()
    again = to_sympy(pickle.loads(pickle.dumps(form)))  # noqa: S301 - our own
    assert hash(again) == hash(deep)
    assert from_sympy(again) == form
    with pytest.raises(ConversionError, match="a deeply nested expression"):
        from_sympy(deep + half)
    assert from_sympy(_choices(2_000, x)).depth == 2_001


def _choices(depth: int, innermost: sympy.Expr) -> sympy.Expr:
    """A choice in a choice and so on, as sympy would not build them."""
    expression = innermost
    for _ in range(depth):
        branches = (expression + 1, foreign.Gt(y, 0)), (x, foreign.true)
        pairs = (sympy.Basic.__new__(ExprCondPair, *branch) for branch in branches)
        expression = sympy.Basic.__new__(sympy.Piecewise, *pairs)
    return expression


@for_all([1, 3, 40])
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


def _condition_that_holds_others(depth: int) -> Form:
    """``x < 1`` where the condition before holds, ``y < 1`` elsewhere: it is there twice."""
    condition, join = parse_form("x < 0"), operations.conjunction
    for level in range(1, depth + 1):
        first = join([condition, parse_form(f"x < {level}")])
        second = join([operations.negation(condition), parse_form(f"y < {level}")])
        condition = operations.disjunction([first, second])
    return condition


def test_wide_sums_are_converted_and_high_powers_not_multiplied_out() -> None:
    wide = sympy.Add(*(place * FloorDiv(symbol(f"d{place}"), 3) for place in range(1, 2_001)))
    form = from_sympy(wide)
    assert len(form.terms) == 2_000
    assert to_sympy(form) == wide
    assert from_sympy(sympy.UnevaluatedExpr(x + 1) * 2) == from_sympy(2 * x + 2)
    (square,) = from_sympy(x**2).terms
    assert len(square.arguments) == 2
    (huge,) = from_sympy(x ** (10**9) * 3).terms
    assert huge.kind is AtomKind.OPAQUE
    assert to_sympy(from_sympy(x ** (10**9) * 3 + 1)) == x ** (10**9) * 3 + 1


# Functions of others: PyTorch's, those that users add, and those that are not read.

TORCH = "torch.utils._sympy.functions"
BOX = {x: (0, 40), y: (1, 9)}


TOWARDS_ZERO = Piecewise((sympy.floor((x - 20) / 4), x >= 20), (sympy.ceiling((x - 20) / 4), True))
READ: list[tuple[str, tuple[Any, ...], Any]] = [
    # name, arguments, the same in functions of this library
    ("FloorDiv", (x, y), FloorDiv(x, y)), ("CleanDiv", (8 * x, 4), 2 * x),
    ("CeilDiv", (x, 4), CeilDiv(x, 4)),
    ("ModularIndexing", (x, 4, 3), Mod(FloorDiv(x, 4), 3)),
    ("Mod", (x, 5), Mod(x, 5)), ("PythonMod", (x - 20, 5), Mod(x, 5)), ("Min", (x, y), Min(x, y)),
    ("Max", (x, y), Max(x, y)),
    ("Where", (x >= 5, x, 5), Piecewise((x, x >= 5), (5, True))),
    ("FloorToInt", (x / 4,), FloorDiv(x, 4)), ("CeilToInt", (x / 4,), CeilDiv(x, 4)),
    ("TruncToInt", ((x - 20) / 4,), TOWARDS_ZERO), ("LShift", (x, 3), 8 * x),
    ("RShift", (x, 3), FloorDiv(x, 8)), ("PowByNatural", (x, 2), x * x),
    ("Identity", (x + 1,), x + 1), ("BitwiseFn_bitwise_xor", (x, 3), BitXor(x, 3)),
]  # fmt: skip


def stand_in(name: str) -> Any:  # noqa: ANN401 - a class of sympy
    """A function with the name of one of PyTorch's."""
    return type(name, (sympy.Function,), {"__module__": TORCH, "is_integer": True})


def theirs(name: str) -> Any:  # noqa: ANN401 - a class of sympy
    if importlib.util.find_spec("torch") is None:
        pytest.skip("compares with PyTorch's functions; torch is not installed")
    return getattr(importlib.import_module(TORCH), name)


@pytest.mark.parametrize("function", [stand_in, theirs])
@pytest.mark.parametrize("row", READ, ids=[row[0] for row in READ])
def test_functions_of_torch_are_read(function: Callable[[str], Any], row: tuple[Any, ...]) -> None:
    name, arguments, expected = row
    expression, same = 3 * function(name)(*arguments) + x, 3 * expected + x
    assert simplify(expression, BOX) == simplify(same, BOX)
    assert bounds_of(expression, BOX) == bounds_of(same, BOX)
    read = READERS.read(expression)
    assert not read.has(function(name))
    for point in ({x: at_x, y: at_y} for at_x in (0, 3, 7, 20, 40) for at_y in (1, 2, 9)):
        assert read.subs(point) == same.subs(point)


@for_all(list(product(range(0, 25, 4), (1, 2, 3, 7))))
def test_numbers_have_the_values_of_torch(a: int, divisor: int) -> None:
    for name in ("FloorDiv", "CeilDiv", "Mod", "PythonMod"):
        ours = READERS.read(stand_in(name)(sympy.Integer(a), sympy.Integer(divisor)))
        assert theirs(name)(sympy.Integer(a), sympy.Integer(divisor)) == ours


MEANINGS: dict[str, Callable[[Any], Any] | Callable[[Any, Any], Any]] = {
    "half": lambda number: FloorDiv(number, 2),
    "f": lambda n: n * n - 3,
    "g": lambda m, n: 2 * m - n * n,
}
"""Functions that users may mean."""


def test_users_add_readers_to_a_table_of_their_own() -> None:
    half: Any = sympy.Function("half", integer=True)
    readers = READERS.with_function("half", MEANINGS["half"])
    assert readers.read(2 * half(half(x))) == 2 * FloorDiv(FloorDiv(x, 2), 2)
    assert READERS.read(half(x)) == half(x)
    assert readers.read(half(sympy.Integer(1))) == 0
    assert readers.read(stand_in("Identity")(half(x))) == FloorDiv(x, 2)
    assert set(readers) == {*READERS, "half"}


def test_functions_inside_functions_are_read_and_names_compared_with_their_module() -> None:
    other = type("FloorDiv", (sympy.Function,), {"__module__": "elsewhere", "is_integer": True})
    assert READERS.read(other(x, y)) == other(x, y)
    assert bounds_of(other(x, y), BOX) == Interval(None, None)
    division = type("FloatTrueDiv", (sympy.Function,), {"__module__": TORCH})
    with pytest.raises(ConversionError, match=r"FloatTrueDiv\(x, y\)"):
        simplify(stand_in("FloorToInt")(division(x, y)), BOX)
    assert READERS.read(stand_in("ModularIndexing")(x, 1, 8)) == Mod(x, 8)
    floordiv, digit = stand_in("FloorDiv"), stand_in("ModularIndexing")
    expression = 8 * floordiv(x, 8) + digit(x, 1, 8)
    assert simplify(expression, {}) == x
    assert simplify(floordiv(floordiv(x, 4), 2) - floordiv(x, 8), {}) == 0
    assert equivalent(expression, x, {})
    assert simplify(expression > 5, {}) == (x >= 6)


f: Any = sympy.Function("f", integer=True)
g: Any = sympy.Function("g", integer=True)
size: Any = sympy.Function("size", integer=True, positive=True)
debt: Any = sympy.Function("debt", integer=True, nonpositive=True)
factorial = cast("Any", sympy).factorial
p = sympy.Symbol("p", integer=True, positive=True)

# name, expression, bounds, facts, the simplified expression, ends of its range
KEPT: dict[str, tuple[Any, Any, Any, Any, tuple[int | None, int | None]]] = {
    "argument": (f(FloorDiv(8 * x, 8)) + 1, {}, [], f(x) + 1, (None, None)),
    "argument of a plain symbol": (f(FloorDiv(8 * plain, 8)), {}, [], f(plain), (None, None)),
    "argument of a symbol with assumptions": (f(p) + 1, {}, [], f(p) + 1, (None, None)),
    "argument with bounds": (f(Mod(x, 8)), {x: (0, 7)}, [], f(x), (None, None)),
    "argument with one value": (f(x + 1), {x: (3, 3)}, [], f(4), (None, None)),
    "argument under facts": (f(Max(x, y)), {}, [x >= y], f(x), (None, None)),
    "argument of an argument": (f(f(Mod(x, 4)) + 0), {x: (0, 3)}, [], f(f(x)), (None, None)),
    "several arguments": (g(Mod(x, 4), x - x), {x: (0, 3)}, [], g(x, 0), (None, None)),
    "equal arguments": (f(Mod(x, 8) + 8 * FloorDiv(x, 8)) - f(x), {}, [], 0, (0, 0)),
    "arguments under conditions": (Piecewise((f(Max(x, 3)), x >= 5), (f(Min(x, 4)), True)), {}, [],
     f(x), (None, None)),
    "choice as an argument": (f(Piecewise((x, x > 3), (3, True))), {x: (4, 9)}, [], f(x),
     (None, None)),
    "in a divisor": (Mod(x, size(Max(x, 0))), {x: (0, 3)}, [size(x) > 3], x, (0, 3)),
    "in a function of bits": (BitXor(f(x), f(FloorDiv(2 * x, 2))), {}, [], 0, (0, 0)),
    "in a condition": (f(FloorDiv(2 * x, 2)) >= 4, {}, [f(x) >= 5], sympy.true, (1, 1)),
    "remainder and quotient": (Mod(f(x), 8) + 8 * FloorDiv(f(x), 8), {}, [], f(x), (None, None)),
    "positive": (Max(size(x), 1), {}, [], size(x), (1, None)),
    "not positive": (debt(x) - size(x), {}, [], debt(x) - size(x), (None, -1)),
    "power": (2**p + 1, {}, [2**p <= 8], 2**p + 1, (2, 9)),
    "bounded by a fact": (size(x) + 1, {}, [size(x) <= 7], size(x) + 1, (2, 8)),
    "bounded by a pair": (f(x) + 1, {}, [(f(x), (0, 5))], f(x) + 1, (1, 6)),
    "bounded with another argument": (f(x), {}, [f(FloorDiv(2 * x, 2)) < 9], f(x), (None, 8)),
    "bounds of others": (f(y), {}, [f(x) < 9], f(y), (None, None)),
    "quotient of what is bounded": (FloorDiv(f(x) + 8 * f(y), 8), {}, [(f(x), (0, 7))], f(y),
     (None, None)),
    "equal to a number": (f(x) + x, {}, [Eq(f(x), 3)], x + 3, (None, None)),
    "fraction as an argument": (f(x / 2), {}, [], f(x / 2), (None, None)),
    "real number as an argument": (f(real) + x, {x: (1, 1)}, [], f(real) + 1, (None, None)),
    "condition as an argument": (f(x > 3), {}, [], f(x > 3), (None, None)),
    "integers by their arguments": (factorial(p), {}, [], factorial(p), (1, None)),
    "no point": (f(x), {x: (3, 2)}, [], 0, (0, -1)),
}  # fmt: skip


@for_all(KEPT)
def test_arguments_are_simplified(row: tuple[Any, ...]) -> None:
    asked, *known, result, ends = row
    assert simplify(asked, *known) == simplify(result, *known) == result
    assert bounds_of(asked, *known) == Interval(*ends)


def test_functions_of_one_name_differ_by_what_they_assume() -> None:
    loose: Any = sympy.Function("size", integer=True)
    assert bounds_of(loose(x), {}) == Interval(None, None)
    assert simplify(loose(x), {}).func == loose
    assert simplify(size(x), {}).func == size
    assert simplify(size(x) - loose(x), {}) != 0


def test_nested_and_shared_calls_are_read_once_copied_and_written() -> None:
    deep = wide = x
    for _ in range(60):
        deep, wide = f(deep + 1), g(wide, wide + 1)
    assert simplify(deep, {}) == deep
    assert simplify(wide, {}) == wide
    form = from_sympy(3 * f(x + 1) + 2**p)
    assert pickle.loads(pickle.dumps(form)) == form  # noqa: S301 - what was just written
    assert str(form) == "f(x + 1) * 3 + 2**p"


@st.composite
def with_calls(draw: st.DrawFn, depth: int = 3) -> Any:  # noqa: ANN401 - expressions of sympy
    """Calls of two functions, inside and around divisions, extrema and choices."""
    if not depth:
        return draw(st.sampled_from([x, y, x + 3, 4 * y, 8 * x + y - 2]))
    first, second = draw(with_calls(depth - 1)), draw(with_calls(depth - 1))
    by = draw(st.sampled_from([2, 4, 8]))
    calls = [f(first), g(first, second), first + second, by * first - second]
    choice = Piecewise((first, x >= by), (second, True))
    return draw(
        st.sampled_from([*calls, FloorDiv(first, by), Mod(first, by), Max(first, second), choice])
    )


def _value(expression: Any, at: dict[Any, int]) -> int:  # noqa: ANN401 - an expression of sympy
    readers = READERS
    for name, meaning in MEANINGS.items():
        readers = readers.with_function(name, meaning)
    return int(readers.read(sympy.sympify(expression)).subs(at))


@given(with_calls(), st.tuples(st.integers(0, 20), st.integers(1, 9)))
def test_values_stay_whatever_functions_are(expression: sympy.Expr, point: tuple[int, int]) -> None:
    at = dict(zip((x, y), point, strict=True))
    assert _value(simplify(expression, BOX), at) == _value(expression, at)
    assert _value(expression, at) in bounds_of(expression, BOX)


WRONG: dict[str, Callable[[], Any]] = {
    "with_function: the name is 3; expected module": lambda: READERS.with_function(3, Mod),  # pyright: ignore[reportArgumentType]
    "with_function: the reader of f cannot be called": lambda: READERS.with_function("f", 3),  # pyright: ignore[reportArgumentType]
    "read: the expression is 3; expected an expression": lambda: READERS.read(3),  # pyright: ignore[reportArgumentType]
}


@for_all([*WRONG.items()])
def test_wrong_arguments_are_named(message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()
