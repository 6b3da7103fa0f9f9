"""Functions of other libraries, read as expressions of this one.

A reader is found by module and name of the function's class, so no library is imported. PyTorch's
functions are known. Readers for others are added to a table, which is a value and never changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import sympy

from simplifier.errors import ArgumentError, check_type
from simplifier.expr.functions import BitAnd, BitOr, BitXor, CeilDiv, FloorDiv, Max, Min, Mod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Reader: TypeAlias = "Callable[..., sympy.Expr]"
"""From the arguments of a function to an expression with the same value."""


class Readers:
    """A table of readers by module and name of the class, such as ``package.module.Half``.

    A function without a class of its own, ``sympy.Function("half")``, has its name alone.

    >>> import sympy
    >>> from simplifier import FloorDiv, symbol
    >>> half, x = sympy.Function("half"), symbol("x")
    >>> readers = READERS.with_function("half", lambda number: FloorDiv(number, 2))
    >>> readers.read(3 * half(half(x) + 1))
    3*(((x//2) + 1)//2)
    """

    __slots__ = ("_table",)

    def __init__(self, table: Mapping[str, Reader]) -> None:
        self._table = dict(table)

    def with_function(self, name: str, reader: Reader) -> Readers:
        """A table with a reader more, or with another one for this name.

        Args:
            name: module and name of the class, or the name alone of ``sympy.Function(name)``.
            reader: from the arguments of the function to an expression with the same value.
        """
        check_type(name, str, "with_function: the name", "module and name of a class")
        if not callable(reader):
            raise ArgumentError(f"with_function: the reader of {name} cannot be called")
        return Readers({**self._table, name: reader})

    def read(self, expression: sympy.Expr) -> sympy.Expr:
        """The expression, with what the readers give in place of the functions that they know.

        >>> READERS.read(sympy.Integer(3))
        3
        """
        check_type(expression, sympy.Basic, "read: the expression", "an expression of sympy")
        known: dict[int, Any] = {}
        alive = [expression]
        stack: list[Any] = [expression]
        while stack:
            node = stack[-1]
            missing = [part for part in node.args if id(part) not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            parts = [known[id(part)] for part in node.args]
            is_same = all(new is old for new, old in zip(parts, node.args, strict=True))
            made = node if is_same else node.func(*parts)
            read = self.rewritten(made)
            known[id(node)] = made if read is None else read
            alive += [made, known[id(node)]]
        return known[id(expression)]

    def rewritten(self, node: Any) -> sympy.Expr | None:  # noqa: ANN401 - any part of an expression
        """What the reader of a function gives for its arguments; ``None`` without a reader."""
        if not node.is_Function:
            return None
        module, name = node.__class__.__module__, node.__class__.__qualname__
        reader = self._table.get(f"{module}.{name}" if module else name)
        return None if reader is None else reader(*node.args)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __repr__(self) -> str:
        return f"<readers of {len(self._table)} functions>"


# PyTorch.


def _digit(base: sympy.Expr, divisor: sympy.Expr, modulus: sympy.Expr) -> sympy.Expr:
    return Mod(base if divisor is sympy.S.One else FloorDiv(base, divisor), modulus)


def _choice(condition: Any, chosen: sympy.Expr, other: sympy.Expr) -> sympy.Expr:  # noqa: ANN401 - sympy's
    return sympy.Piecewise((chosen, condition), (other, True))


def _towards_zero(number: sympy.Expr) -> sympy.Expr:
    return sympy.Piecewise((sympy.floor(number), number >= 0), (sympy.ceiling(number), True))


def _power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    return base**exponent


def _shifted_left(base: sympy.Expr, shift: sympy.Expr) -> sympy.Expr:
    return base * _power(sympy.Integer(2), shift)


def _shifted_right(base: sympy.Expr, shift: sympy.Expr) -> sympy.Expr:
    return FloorDiv(base, _power(sympy.Integer(2), shift))


def _itself(value: sympy.Expr) -> sympy.Expr:
    return value


_TORCH: Final[dict[str, Reader]] = {
    "FloorDiv": FloorDiv,
    "CleanDiv": FloorDiv,
    "CeilDiv": CeilDiv,
    "ModularIndexing": _digit,
    "Mod": Mod,
    "PythonMod": Mod,
    "Min": Min,
    "Max": Max,
    "Where": _choice,
    "FloorToInt": sympy.floor,
    "CeilToInt": sympy.ceiling,
    "TruncToInt": _towards_zero,
    "LShift": _shifted_left,
    "RShift": _shifted_right,
    "PowByNatural": _power,
    "Identity": _itself,
    "BitwiseFn_bitwise_and": BitAnd,
    "BitwiseFn_bitwise_or": BitOr,
    "BitwiseFn_bitwise_xor": BitXor,
}
"""Functions of integers, with the values that they have where PyTorch defines them."""

READERS: Final = Readers({f"torch.utils._sympy.functions.{name}": _TORCH[name] for name in _TORCH})
"""The functions that are read everywhere."""
