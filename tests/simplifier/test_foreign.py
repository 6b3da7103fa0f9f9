"""Functions of others: PyTorch's, those that users add, and those that are not read.

What is not read stays, on simplified arguments.
"""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Callable
from itertools import product
from typing import Any, cast

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import Eq, Piecewise

from simplifier import (
    READERS,
    BitXor,
    CeilDiv,
    FloorDiv,
    Interval,
    Max,
    Min,
    Mod,
    bounds_of,
    equivalent,
    simplify,
    symbol,
)
from simplifier.errors import ArgumentError
from simplifier.expr.sympy import ConversionError, from_sympy
from simplifier.problem import Bounds, Constraints, Expression
from tests.cases import for_all

TORCH = "torch.utils._sympy.functions"
x, y = symbol("x"), symbol("y")
BOX = {x: (0, 40), y: (1, 9)}


def _towards_zero(number: sympy.Expr) -> sympy.Expr:
    return sympy.Piecewise((sympy.floor(number), number >= 0), (sympy.ceiling(number), True))


# name, arguments, the same in functions of this library
READ: list[tuple[str, tuple[Any, ...], Any]] = [
    ("FloorDiv", (x, y), FloorDiv(x, y)),
    ("CleanDiv", (8 * x, 4), 2 * x),
    ("CeilDiv", (x, 4), CeilDiv(x, 4)),
    ("ModularIndexing", (x, 4, 3), Mod(FloorDiv(x, 4), 3)),
    ("Mod", (x, 5), Mod(x, 5)),
    ("PythonMod", (x - 20, 5), Mod(x, 5)),
    ("Min", (x, y), Min(x, y)),
    ("Max", (x, y), Max(x, y)),
    ("Where", (x >= 5, x, 5), sympy.Piecewise((x, x >= 5), (5, True))),
    ("FloorToInt", (x / 4,), FloorDiv(x, 4)),
    ("CeilToInt", (x / 4,), CeilDiv(x, 4)),
    ("TruncToInt", ((x - 20) / 4,), _towards_zero((x - 20) / 4)),
    ("LShift", (x, 3), 8 * x),
    ("RShift", (x, 3), FloorDiv(x, 8)),
    ("PowByNatural", (x, 2), x * x),
    ("Identity", (x + 1,), x + 1),
    ("BitwiseFn_bitwise_xor", (x, 3), BitXor(x, 3)),
]
NAMES = [name for name, _, _ in READ]


def stand_in(name: str) -> Any:  # noqa: ANN401 - a class of sympy
    """A function with the name of one of PyTorch's."""
    return type(name, (sympy.Function,), {"__module__": TORCH, "is_integer": True})


def theirs(name: str) -> Any:  # noqa: ANN401 - a class of sympy
    """PyTorch's own function."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("compares with PyTorch's functions; torch is not installed")
    return getattr(importlib.import_module(TORCH), name)


@pytest.mark.parametrize("function", [stand_in, theirs])
@pytest.mark.parametrize(("name", "arguments", "expected"), READ, ids=NAMES)
def test_functions_of_torch_are_read(
    function: Callable[[str], Any], name: str, arguments: tuple[Any, ...], expected: sympy.Expr
) -> None:
    expression = 3 * function(name)(*arguments) + x
    assert simplify(expression, BOX) == simplify(3 * expected + x, BOX)
    assert bounds_of(expression, BOX) == bounds_of(3 * expected + x, BOX)
    assert READERS.read(expression).has(function(name)) is False
    for at_x, at_y in product((0, 3, 7, 20, 40), (1, 2, 9)):
        point = {x: at_x, y: at_y}
        assert READERS.read(expression).subs(point) == (3 * expected + x).subs(point)


@for_all(list(product(range(0, 25, 4), (1, 2, 3, 7))))
def test_numbers_have_the_values_of_torch(a: int, divisor: int) -> None:
    for name in ("FloorDiv", "CeilDiv", "Mod", "PythonMod"):
        ours = READERS.read(stand_in(name)(sympy.Integer(a), sympy.Integer(divisor)))
        assert theirs(name)(sympy.Integer(a), sympy.Integer(divisor)) == ours


def test_functions_inside_functions_are_read() -> None:
    floordiv, digit = stand_in("FloorDiv"), stand_in("ModularIndexing")
    expression = 8 * floordiv(x, 8) + digit(x, 1, 8)
    assert simplify(expression, {}) == x
    assert simplify(floordiv(floordiv(x, 4), 2) - floordiv(x, 8), {}) == 0
    assert equivalent(expression, x, {})
    assert simplify(expression > 5, {}) == (x >= 6)


def test_a_digit_of_ones_is_a_remainder_alone() -> None:
    assert READERS.read(stand_in("ModularIndexing")(x, 1, 8)) == Mod(x, 8)


def test_users_add_readers_to_a_table_of_their_own() -> None:
    half: Any = sympy.Function("half", integer=True)
    readers = READERS.with_function("half", _half)
    assert readers.read(2 * half(half(x))) == 2 * FloorDiv(FloorDiv(x, 2), 2)
    assert READERS.read(half(x)) == half(x)
    assert readers.read(half(sympy.Integer(1))) == 0
    assert readers.read(stand_in("Identity")(half(x))) == FloorDiv(x, 2)
    assert set(readers) == {*READERS, "half"}


def _half(number: sympy.Expr) -> sympy.Expr:
    return FloorDiv(number, 2)


def test_names_are_compared_with_their_module() -> None:
    other = type("FloorDiv", (sympy.Function,), {"__module__": "elsewhere", "is_integer": True})
    assert READERS.read(other(x, y)) == other(x, y)
    assert bounds_of(other(x, y), BOX) == Interval(None, None)


def test_what_is_no_integer_is_refused_by_name() -> None:
    division = type("FloatTrueDiv", (sympy.Function,), {"__module__": TORCH})
    with pytest.raises(ConversionError, match=r"FloatTrueDiv\(x, y\)"):
        simplify(stand_in("FloorToInt")(division(x, y)), BOX)


# Functions that are not read.

f: Any = sympy.Function("f", integer=True)
g: Any = sympy.Function("g", integer=True)
size: Any = sympy.Function("size", integer=True, positive=True)
debt: Any = sympy.Function("debt", integer=True, nonpositive=True)
factorial = cast("Any", sympy).factorial
plain, real = sympy.Symbol("plain"), sympy.Symbol("real", real=True)
p = sympy.Symbol("p", integer=True, positive=True)

# name, expression, bounds, facts, the simplified expression, ends of its range
KEPT: list[tuple[str, Any, Any, Any, Any, tuple[int | None, int | None]]] = [
    ("argument", f(FloorDiv(8 * x, 8)) + 1, {}, [], f(x) + 1, (None, None)),
    ("argument of a plain symbol", f(FloorDiv(8 * plain, 8)), {}, [], f(plain), (None, None)),
    ("argument of a symbol with assumptions", f(p) + 1, {}, [], f(p) + 1, (None, None)),
    ("argument with bounds", f(Mod(x, 8)), {x: (0, 7)}, [], f(x), (None, None)),
    ("argument with one value", f(x + 1), {x: (3, 3)}, [], f(4), (None, None)),
    ("argument under facts", f(Max(x, y)), {}, [x >= y], f(x), (None, None)),
    ("argument of an argument", f(f(Mod(x, 4)) + 0), {x: (0, 3)}, [], f(f(x)), (None, None)),
    ("several arguments", g(Mod(x, 4), x - x), {x: (0, 3)}, [], g(x, 0), (None, None)),
    ("equal arguments", f(Mod(x, 8) + 8 * FloorDiv(x, 8)) - f(x), {}, [], 0, (0, 0)),
    ("arguments under conditions", Piecewise((f(Max(x, 3)), x >= 5), (f(Min(x, 4)), True)), {}, [],
     f(x), (None, None)),
    ("choice as an argument", f(Piecewise((x, x > 3), (3, True))), {x: (4, 9)}, [], f(x),
     (None, None)),
    ("in a divisor", Mod(x, size(Max(x, 0))), {x: (0, 3)}, [size(x) > 3], x, (0, 3)),
    ("in a function of bits", BitXor(f(x), f(FloorDiv(2 * x, 2))), {}, [], 0, (0, 0)),
    ("in a condition", f(FloorDiv(2 * x, 2)) >= 4, {}, [f(x) >= 5], sympy.true, (1, 1)),
    ("remainder and quotient", Mod(f(x), 8) + 8 * FloorDiv(f(x), 8), {}, [], f(x), (None, None)),
    ("positive", Max(size(x), 1), {}, [], size(x), (1, None)),
    ("not positive", debt(x) - size(x), {}, [], debt(x) - size(x), (None, -1)),
    ("power", 2**p + 1, {}, [2**p <= 8], 2**p + 1, (2, 9)),
    ("bounded by a fact", size(x) + 1, {}, [size(x) <= 7], size(x) + 1, (2, 8)),
    ("bounded by a pair", f(x) + 1, {}, [(f(x), (0, 5))], f(x) + 1, (1, 6)),
    ("bounded with another argument", f(x), {}, [f(FloorDiv(2 * x, 2)) < 9], f(x), (None, 8)),
    ("bounds of others", f(y), {}, [f(x) < 9], f(y), (None, None)),
    ("quotient of what is bounded", FloorDiv(f(x) + 8 * f(y), 8), {}, [(f(x), (0, 7))], f(y),
     (None, None)),
    ("equal to a number", f(x) + x, {}, [Eq(f(x), 3)], x + 3, (None, None)),
    ("fraction as an argument", f(x / 2), {}, [], f(x / 2), (None, None)),
    ("real number as an argument", f(real) + x, {x: (1, 1)}, [], f(real) + 1, (None, None)),
    ("condition as an argument", f(x > 3), {}, [], f(x > 3), (None, None)),
    ("integers by their arguments", factorial(p), {}, [], factorial(p), (1, None)),
    ("no point", f(x), {x: (3, 2)}, [], 0, (0, -1)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "bounds", "facts", "result", "ends"),
    [case[1:] for case in KEPT],
    ids=[case[0] for case in KEPT],
)
def test_arguments_are_simplified(
    expression: Expression,
    bounds: Bounds,
    facts: Constraints,
    result: Expression,
    ends: tuple[int | None, int | None],
) -> None:
    assert simplify(expression, bounds, facts) == result
    assert simplify(result, bounds, facts) == result
    assert bounds_of(expression, bounds, facts) == Interval(*ends)


def test_functions_of_one_name_differ_by_what_they_assume() -> None:
    loose: Any = sympy.Function("size", integer=True)
    assert bounds_of(loose(x), {}) == Interval(None, None)
    assert simplify(loose(x), {}).func == loose
    assert simplify(size(x), {}).func == size
    assert simplify(size(x) - loose(x), {}) != 0


def test_nested_and_shared_calls_are_read_once() -> None:
    deep = wide = x
    for _ in range(60):
        deep, wide = f(deep + 1), g(wide, wide + 1)
    assert simplify(deep, {}) == deep
    assert simplify(wide, {}) == wide


def test_forms_with_calls_are_copied_and_written() -> None:
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
    return draw(
        st.sampled_from(
            [
                f(first),
                g(first, second),
                first + second,
                by * first - second,
                FloorDiv(first, by),
                Mod(first, by),
                Max(first, second),
                Piecewise((first, x >= by), (second, True)),
            ]
        )
    )


def _value(expression: Any, at: dict[Any, int]) -> int:  # noqa: ANN401 - an expression of sympy
    """The value where f(n) is n*n - 3 and g(m, n) is 2*m - n*n."""
    readers = READERS.with_function("f", _of_one).with_function("g", _of_two)
    return int(readers.read(sympy.sympify(expression)).subs(at))


def _of_one(n: sympy.Expr) -> sympy.Expr:
    return n * n - 3


def _of_two(m: sympy.Expr, n: sympy.Expr) -> sympy.Expr:
    return 2 * m - n * n


@given(with_calls(), st.tuples(st.integers(0, 20), st.integers(1, 9)))
def test_whatever_a_function_is_the_value_stays(
    expression: sympy.Expr, point: tuple[int, int]
) -> None:
    at = dict(zip((x, y), point, strict=True))
    assert _value(simplify(expression, BOX), at) == _value(expression, at)
    assert _value(expression, at) in bounds_of(expression, BOX)


WRONG: dict[str, Callable[[], Any]] = {
    "with_function: the name is 3; expected module": lambda: READERS.with_function(3, Mod),  # pyright: ignore[reportArgumentType]
    "with_function: the reader of f cannot be called": lambda: READERS.with_function("f", 3),  # pyright: ignore[reportArgumentType]
    "read: the expression is 3; expected an expression": lambda: READERS.read(3),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize(("message", "call"), WRONG.items(), ids=WRONG)
def test_wrong_arguments_are_named(message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()
