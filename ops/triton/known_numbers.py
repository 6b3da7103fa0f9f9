"""Operators on numbers that the compiler knows: constants, and arguments that have values."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Final

from ops.triton.kernel_values import RuntimeInteger, is_narrow
from simplifier.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.triton.kernel_values import Value

MAX_BITS: Final = 4096
"""Of a number that constants make: no kernel has sizes of more."""


def of_numbers(op: ast.operator, left: Value, right: Value) -> Value:
    """What an operator makes of two numbers that are known.

    Raises:
        ArithmeticError: the result is too large or does not exist, or it depends on whether they
            are constants or arguments.
        TypeError: they are no numbers, or the operator does not take them.
    """
    for each in (left, right):
        if not isinstance(each, (int, float)):
            raise TypeError(f"this operator has {quoted(each)} beside it; expected numbers")
    if isinstance(left, int) and isinstance(right, int):
        _check_size(op, left, right)
        _check_rounding(op, left, right)
    name = _OPERATORS.get(type(op))
    if name is None:
        raise TypeError(f"the operator {type(op).__name__} cannot be read")
    apply: Callable[[Value, Value], Value] = getattr(operator, name)
    try:
        found = apply(left, right)
    except OverflowError:
        raise ArithmeticError("this number is too large") from None
    return _of_type(found, left, right) if isinstance(found, int) else found


def of_number(op: ast.unaryop, operand: Value) -> Value:
    """What an operator makes of one number that is known.

    Raises:
        TypeError: it is no number.
    """
    if not isinstance(operand, (int, float)) and not isinstance(op, ast.Not):
        raise TypeError(f"this operator is before {quoted(operand)}; expected a number")
    found = _UNARY[type(op)](operand)
    return found if isinstance(found, (bool, float)) else _of_type(found, operand)


def _of_type(found: Value, *operands: Value) -> Value:
    """A result of operands that have 32 bits while the kernel runs, or are constants."""
    is_runtime = any(isinstance(each, RuntimeInteger) for each in operands)
    return RuntimeInteger(found) if is_runtime and all(map(is_narrow, operands)) else found


def _check_size(op: ast.operator, left: int, right: int) -> None:
    if not isinstance(op, (ast.Pow, ast.LShift, ast.Mult)):
        return
    bits = left.bit_length()
    if isinstance(op, ast.Mult):
        bits += right.bit_length()
    else:
        bits = right * max(1, bits) if isinstance(op, ast.Pow) else bits + right
    if bits > MAX_BITS or (right < 0 and not isinstance(op, ast.Mult)):
        raise ArithmeticError(f"this number has more than {MAX_BITS} bits, or is no integer")


def _check_rounding(op: ast.operator, left: int, right: int) -> None:
    """Triton rounds quotients of constants down, and those of arguments toward zero."""
    is_division = isinstance(op, (ast.FloorDiv, ast.Mod)) and right
    if is_division and (left < 0) != (right < 0) and left % right:
        rounding = "constants are rounded down, and arguments toward zero"
        raise ArithmeticError(f"{left} is divided by {right}: {rounding}; expected one sign")


_OPERATORS: Final[Mapping[type, str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
"""What :mod:`operator` calls the operators."""

_UNARY: Final[Mapping[type, Callable[[Value], Value]]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
