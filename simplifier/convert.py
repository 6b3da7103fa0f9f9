"""From sympy to forms and back; nothing is simplified on the way, and neither way recurses."""

from __future__ import annotations

from functools import lru_cache, reduce
from math import lcm
from typing import TYPE_CHECKING, Final

import sympy

from simplifier import form as forms
from simplifier import operations
from simplifier.errors import IndexingError
from simplifier.form import Atom, Form, Kind, postorder
from simplifier.functions import CeilDiv, FloorDiv, Max, Min, Mod, symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_REMEMBERED = 1 << 14
"""How many sympy expressions are remembered with their forms."""


class ConversionError(IndexingError, TypeError):
    """A sympy expression that is not integer arithmetic; ``part`` is the term that is not."""

    def __init__(self, part: object, whole: object) -> None:
        inside = "" if part is whole or str(part) == str(whole) else f" in {whole}"
        super().__init__(
            f"{part}{inside}: has type {type(part).__name__}; expected integer arithmetic"
        )
        self.part = part


def from_sympy(expression: sympy.Expr | int) -> Form:
    """The form of an integer expression; sympy's own ``floor``, ``Mod``, ``Min`` may occur.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.

    >>> x = sympy.Symbol("x")
    >>> from_sympy(sympy.floor(x / 8) + 2 * sympy.Mod(x, 8))
    Form((x mod 8) * 2 + x floordiv 8)
    """
    if isinstance(expression, int) and not isinstance(expression, bool):
        return forms.constant(expression)
    if not isinstance(expression, sympy.Expr):
        raise ConversionError(expression, expression)
    return _from_sympy(expression)


@lru_cache(maxsize=_REMEMBERED)
def _from_sympy(expression: sympy.Expr) -> Form:
    known: dict[sympy.Basic, Form] = {}
    stack: list[sympy.Basic] = [expression]
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
            continue
        parts = _parts(node, expression)
        missing = [part for part in parts if part not in known]
        if missing:
            stack += missing
            continue
        stack.pop()
        known[node] = (
            _READERS[node.func](node, [known[part] for part in parts])
            if parts
            else _leaf(node, expression)
        )
    return known[expression]


def _parts(node: sympy.Basic, whole: sympy.Expr) -> Sequence[sympy.Basic]:
    """What has to be converted before the node."""
    if isinstance(node, sympy.Symbol | sympy.Integer):
        return ()
    if node.func not in _READERS:
        return ()
    if node.func in (sympy.floor, sympy.ceiling):
        return _cleared(node.args[0])
    if isinstance(node, sympy.Pow):
        base, exponent = node.args
        if not (isinstance(exponent, sympy.Integer) and int(exponent) > 0):
            raise ConversionError(node, whole)
        return (base,)
    return node.args


def _leaf(node: sympy.Basic, whole: sympy.Expr) -> Form:
    if isinstance(node, sympy.Symbol):
        return forms.variable(node.name)
    if isinstance(node, sympy.Integer):
        return forms.constant(int(node))
    if isinstance(node, sympy.Expr) and node.is_integer:
        return forms.opaque(sympy.srepr(node), node)
    raise ConversionError(node, whole)


def _cleared(argument: sympy.Expr) -> tuple[sympy.Basic, sympy.Basic]:
    """Integer numerator and divisor of what is rounded, rational coefficients multiplied out."""
    numerator, divisor = sympy.fraction(sympy.together(argument))
    if divisor.is_Integer and numerator.atoms(sympy.Rational) - numerator.atoms(sympy.Integer):
        scale = reduce(lcm, (int(number.q) for number in argument.atoms(sympy.Rational)), 1)
        return sympy.expand(argument * scale), sympy.Integer(scale)
    return numerator, divisor


def _product_of_copies(node: sympy.Basic, parts: list[Form]) -> Form:
    return operations.product(parts * int(node.args[1]))


_READERS: Final[Mapping[object, Callable[[sympy.Basic, list[Form]], Form]]] = {
    sympy.Add: lambda _, parts: reduce(Form.plus, parts),
    sympy.Mul: lambda _, parts: operations.product(parts),
    sympy.Pow: _product_of_copies,
    sympy.floor: lambda _, parts: operations.floordiv(*parts),
    sympy.ceiling: lambda _, parts: operations.ceildiv(*parts),
    sympy.Mod: lambda _, parts: operations.mod(*parts),
    sympy.Min: lambda _, parts: operations.minimum(parts),
    sympy.Max: lambda _, parts: operations.maximum(parts),
    FloorDiv: lambda _, parts: operations.floordiv(*parts),
    CeilDiv: lambda _, parts: operations.ceildiv(*parts),
    Mod: lambda _, parts: operations.mod(*parts),
    Min: lambda _, parts: operations.minimum(parts),
    Max: lambda _, parts: operations.maximum(parts),
}

_FUNCTIONS: Final[Mapping[Kind, Callable[..., sympy.Expr]]] = {
    Kind.FLOORDIV: FloorDiv,
    Kind.QUOTIENT: FloorDiv,
    Kind.CEILDIV: CeilDiv,
    Kind.MOD: Mod,
    Kind.MIN: Min,
    Kind.MAX: Max,
    Kind.PRODUCT: sympy.Mul,
}


def to_sympy(form: Form) -> sympy.Expr:
    """The sympy expression of a form, over integer symbols; made once for each form and atom."""
    if form.expression is None:
        for atom in postorder((form,)):
            expression_of(atom)
        form.expression = _sum(form)
    return form.expression


def _function(atom: Atom) -> sympy.Expr:
    if atom.kind is Kind.VARIABLE:
        return symbol(atom.name)
    return _FUNCTIONS[atom.kind](*(_sum(argument) for argument in atom.arguments))


def _sum(form: Form) -> sympy.Expr:
    terms = [factor * expression_of(atom) for atom, factor in form.terms.items()]
    return sympy.Add(sympy.Integer(form.constant), *terms)


def expression_of(atom: Atom) -> sympy.Expr:
    """The sympy expression of an atom whose inner atoms have theirs."""
    if atom.expression is None:
        atom.expression = _function(atom)
    return atom.expression
