"""Other simplifiers of integer expressions, behind one interface.

An adapter is a module with a function ``load() -> Peer`` that raises ``ImportError`` if the peer is
not installed. A peer gets the expression as written and returns its result as a form; only like
terms are collected. If a peer has several entry points, the adapter calls all of them and returns
every result. The time is that of the usual entry point, without building the expression.
"""

from __future__ import annotations

import ast
import importlib
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, TypeAlias

from benchmarks.problems import Problem
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.extraction.cost import cost_of_form

Native: TypeAlias = Any
"""An expression of a peer; its types are unavailable if the peer is not installed."""

Words: TypeAlias = "Mapping[str, Callable[..., Native]]"
"""The constructors of a peer, by Python's operator or name: ``//``, ``%``, ``min``, ``max``."""

ADAPTERS: Final = ("isl", "tvm", "tinygrad", "inductor", "xla", "mlir", "sympy_simplify")


class UnsupportedError(Exception):
    """The peer lacks an operation, or its answer is not integer arithmetic."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of a peer, and the seconds that its usual entry point took, if that is known."""

    forms: tuple[Form, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Peer:
    """A simplifier to compare with."""

    name: str
    version: str
    solve: Callable[[Problem], Answer]
    forget: Callable[[], object] = lambda: None
    """Empties its caches, so that a problem is cold again."""


def load(adapter: str) -> Peer | str:
    """The peer, or the reason why it is missing."""
    try:
        return importlib.import_module(f"benchmarks.peers.{adapter}").load()
    except ImportError as error:
        return f"{adapter}: not installed ({error})"


@dataclass(frozen=True, slots=True)
class Language:
    """The constructors of a peer; sums and products use ``+``, ``-`` and ``*`` of its values."""

    variable: Callable[[str], Native]
    constant: Callable[[int], Native]
    words: Words
    """What is not there, it cannot say."""

    def read(self, text: str) -> Native:
        """The expression of a text, built operation by operation as written.

        Raises:
            UnsupportedError: naming an operation that the peer does not have.
        """
        return self._value(ast.parse(text, mode="eval").body)

    def _value(self, node: ast.expr) -> Native:
        match node:
            case ast.Name(name):
                return self.variable(name)
            case ast.Constant(int(value)):
                return self.constant(value)
            case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
                return self.constant(-value)
            case ast.UnaryOp(ast.USub(), operand):
                return self._value(operand) * self.constant(-1)
            case ast.BinOp(left, sign, right):
                return self._operation(type(sign))(self._value(left), self._value(right))
            case ast.Call(ast.Name(name), operands):
                return reduce(self._named(name), map(self._value, operands))
            case _:
                raise UnsupportedError(ast.unparse(node))

    def _operation(self, sign: type[ast.operator]) -> Callable[..., Native]:
        return _OWN_SIGNS[sign] if sign in _OWN_SIGNS else self._named(_SIGNS[sign])

    def _named(self, name: str) -> Callable[..., Native]:
        if name not in self.words:
            raise UnsupportedError(name)
        return self.words[name]


_OWN_SIGNS: Final[Mapping[type[ast.operator], Callable[..., Native]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_SIGNS: Final[Mapping[type[ast.operator], str]] = {ast.FloorDiv: "//", ast.Mod: "%"}


def cheapest(candidates: Iterable[Form]) -> Form:
    """The form with the least cost; the first of several."""
    return min(candidates, key=cost_of_form)


# Readers of results.


def difference(left: Form, right: Form) -> Form:
    """``left - right``."""
    return left.plus(right, -1)


def product(*factors: Form) -> Form:
    """The product, multiplied out if one factor is a constant."""
    return operations.product(factors)


def minimum(*operands: Form) -> Form:
    """The least of some forms."""
    return operations.minimum(operands)


def maximum(*operands: Form) -> Form:
    """The greatest of some forms."""
    return operations.maximum(operands)
