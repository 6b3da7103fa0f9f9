"""Functions of other libraries: PyTorch's, here and as stand-ins, and those that users add."""

from __future__ import annotations

import importlib.util
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import sympy

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
from simplifier.expr.sympy_conversion import ConversionError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    function: Callable[[str], Any],
    name: str,
    arguments: tuple[Any, ...],
    expected: sympy.Expr,
) -> None:
    expression = 3 * function(name)(*arguments) + x
    assert simplify(expression, BOX) == simplify(3 * expected + x, BOX)
    assert bounds_of(expression, BOX) == bounds_of(3 * expected + x, BOX)
    assert READERS.read(expression).has(function(name)) is False
    for at_x, at_y in product((0, 3, 7, 20, 40), (1, 2, 9)):
        point = {x: at_x, y: at_y}
        assert READERS.read(expression).subs(point) == (3 * expected + x).subs(point)


@pytest.mark.parametrize(("a", "divisor"), list(product(range(0, 25, 4), (1, 2, 3, 7))))
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


WRONG: dict[str, Callable[[], Any]] = {
    "with_function: the name is 3; expected module": lambda: READERS.with_function(3, Mod),  # pyright: ignore[reportArgumentType]
    "with_function: the reader of f cannot be called": lambda: READERS.with_function("f", 3),  # pyright: ignore[reportArgumentType]
    "read: the expression is 3; expected an expression": lambda: READERS.read(3),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize(("message", "call"), WRONG.items(), ids=WRONG)
def test_wrong_arguments_are_named(message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()
