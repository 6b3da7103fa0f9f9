"""From sympy to forms and back; nothing is simplified on the way, and neither way recurses.

A sympy expression is read as a quotient of two forms, so that ``floor(x/2 + y/3 + 1/2)`` comes out
as one quotient of integers; what is still a fraction where an integer must be is refused. Symbols
stand for integers, unless their assumptions deny it.
"""

from __future__ import annotations

from functools import cmp_to_key, lru_cache
from math import gcd, lcm
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import sympy

from simplifier.errors import IndexingError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.fold import fold
from simplifier.expr.form import ONE, Atom, AtomKind, Form, accumulate, in_order, postorder
from simplifier.expr.functions import CeilDiv, FloorDiv, IntegerFunction, Max, Min, Mod, symbol
from simplifier.expr.printer import as_written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_REMEMBERED: Final = 1 << 14
"""How many sympy expressions are remembered with their forms."""

_MAX_POWER: Final = 64
"""Higher powers are foreign functions: they are not multiplied out."""

_MAX_EXCERPT: Final = 200
"""Characters of an expression that a message shows."""


class ConversionError(IndexingError, TypeError):
    """A sympy expression that is not integer arithmetic; ``part`` is the term that is not."""

    def __init__(self, part: object, whole: object, objection: str = "") -> None:
        blamed, around = _excerpt(part), _excerpt(whole)
        inside = "" if part is whole or blamed == around else f" in {around}"
        objection = objection or f"has type {type(part).__name__}; expected integer arithmetic"
        super().__init__(f"{blamed}{inside}: {objection}")
        self.part = part


def _excerpt(thing: object) -> str:
    try:
        text = str(thing)
    except RecursionError:
        return "a deeply nested expression"
    return text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]}..."


# From sympy.


class ReadExpression(NamedTuple):
    """What a sympy expression says, and the symbols in it, by name."""

    form: Form
    symbols: tuple[sympy.Symbol, ...]


def from_sympy(expression: sympy.Expr | int) -> Form:
    """The form of an integer expression; sympy's own ``floor``, ``Mod``, ``Min`` may occur.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.

    >>> x = sympy.Symbol("x")
    >>> from_sympy(sympy.floor(x / 8) + 2 * sympy.Mod(x, 8))
    Form((x mod 8) * 2 + x floordiv 8)
    """
    return read(expression).form


def read(expression: sympy.Expr | int) -> ReadExpression:
    """The form of an integer expression with its symbols; see :func:`from_sympy`."""
    if isinstance(expression, int) and not isinstance(expression, bool):
        return ReadExpression(forms.constant(expression), ())
    if not isinstance(expression, sympy.Expr):
        raise ConversionError(expression, expression)
    try:
        return _remembered_reading(expression)
    except RecursionError:  # sympy hashes and compares by recursion
        return _reading(expression)


def _reading(expression: sympy.Expr) -> ReadExpression:
    known: dict[int, _Ratio] = {}
    """By identity: sympy compares by recursion. The expression keeps all its parts alive."""
    symbols: dict[sympy.Symbol, None] = {}
    stack: list[sympy.Expr] = [expression]
    while stack:
        node = stack.pop()
        if id(node) in known:
            continue
        if not _is_read(node):
            symbols |= dict.fromkeys(node.free_symbols)
            known[id(node)] = _leaf(node, expression)
        elif missing := [part for part in node.args if id(part) not in known]:
            stack += (node, *missing)
        else:
            known[id(node)] = _read(node, [known[id(part)] for part in node.args], expression)
    form = _integer(expression, known[id(expression)], expression)
    return ReadExpression(form, tuple(sorted(symbols, key=lambda symbol: symbol.name)))


_remembered_reading = lru_cache(maxsize=_REMEMBERED)(_reading)


class _Ratio(NamedTuple):
    """A rational number as a quotient of two integers."""

    numerator: Form
    divisor: Form = ONE


def _is_read(node: sympy.Expr) -> bool:
    """Whether the node is an operation on parts that are read."""
    if isinstance(node, sympy.Pow):
        exponent = node.args[1]
        return isinstance(exponent, sympy.Integer) and abs(int(exponent)) <= _MAX_POWER
    return type(node) in _ARITHMETIC or type(node) in _FUNCTIONS_OF_INTEGERS


def _read(node: sympy.Expr, parts: Sequence[_Ratio], whole: sympy.Expr) -> _Ratio:
    arithmetic = _ARITHMETIC.get(type(node))
    if arithmetic is not None:
        return arithmetic(parts)
    integers = [_integer(*argument, whole) for argument in zip(node.args, parts, strict=True)]
    return _Ratio(_FUNCTIONS_OF_INTEGERS[type(node)](integers))


def _integer(node: sympy.Expr, ratio: _Ratio, whole: sympy.Expr) -> Form:
    """The value of a node that must be an integer."""
    numerator, divisor = ratio
    if divisor is ONE:
        return numerator
    if divisor.is_constant:
        common = gcd(divisor.constant, numerator.constant, *numerator.terms.values())
        if abs(common) == abs(divisor.constant):
            return numerator.exactly_divided(divisor.constant)
    if node.is_integer:  # as in x/2 where x is even
        return operations.floordiv(numerator, divisor)
    raise ConversionError(node, whole, "is a fraction; expected an integer, or floor around it")


def _leaf(node: sympy.Expr, whole: sympy.Expr) -> _Ratio:
    if isinstance(node, sympy.Symbol):
        if node.is_integer is False or not node.is_commutative:
            raise ConversionError(node, whole, "is no integer by its assumptions")
        return _Ratio(forms.variable(node.name))
    if isinstance(node, sympy.Integer):
        return _Ratio(forms.constant(int(node)))
    if isinstance(node, sympy.Rational):
        return _Ratio(forms.constant(node.p), forms.constant(node.q))
    if isinstance(node, sympy.Expr) and node.is_integer:  # pyright: ignore[reportUnnecessaryIsInstance] - not so in Piecewise
        return _Ratio(forms.opaque(sympy.srepr(node), node))
    raise ConversionError(node, whole)


def _sum_of_ratios(parts: Sequence[_Ratio]) -> _Ratio:
    if all(part.divisor is ONE for part in parts):
        return _Ratio(_total(part.numerator for part in parts))
    scale = lcm(*(part.divisor.constant for part in parts if part.divisor.is_constant))
    symbolic = {part.divisor: None for part in parts if not part.divisor.is_constant}
    divisor = operations.product((forms.constant(scale), *symbolic))
    return _Ratio(_total(_scaled(part, scale, symbolic) for part in parts), divisor)


def _scaled(part: _Ratio, scale: int, symbolic: Iterable[Form]) -> Form:
    """The numerator over the common divisor."""
    others = [divisor for divisor in symbolic if divisor != part.divisor]
    if part.divisor.is_constant:
        scale //= part.divisor.constant
    return operations.product((part.numerator, forms.constant(scale), *others))


def _total(terms: Iterable[Form]) -> Form:
    constant = 0
    total: dict[Atom, int] = {}
    for form in terms:
        constant += form.constant
        accumulate(total, form)
    return Form(constant, in_order(total))


def _product_of_ratios(parts: Sequence[_Ratio]) -> _Ratio:
    numerator = operations.product(part.numerator for part in parts)
    divisors = [part.divisor for part in parts if part.divisor is not ONE]
    return _Ratio(numerator, operations.product(divisors) if divisors else ONE)


def _power(parts: Sequence[_Ratio]) -> _Ratio:
    (numerator, divisor), exponent = parts[0], parts[1].numerator.constant
    if exponent < 0:
        numerator, divisor, exponent = divisor, numerator, -exponent
    copies = operations.product([numerator] * exponent)
    return _Ratio(copies, ONE if divisor is ONE else operations.product([divisor] * exponent))


def _rounded_down(parts: Sequence[_Ratio]) -> _Ratio:
    ((numerator, divisor),) = parts
    return _Ratio(numerator if divisor is ONE else operations.floordiv(numerator, divisor))


def _rounded_up(parts: Sequence[_Ratio]) -> _Ratio:
    ((numerator, divisor),) = parts
    return _Ratio(numerator if divisor is ONE else operations.ceildiv(numerator, divisor))


def _absolute_value(parts: Sequence[Form]) -> Form:
    return operations.maximum((parts[0], -parts[0]))


def _sign(parts: Sequence[Form]) -> Form:
    at_least = operations.maximum((forms.constant(-1), parts[0]))
    return operations.minimum((ONE, at_least))


_ARITHMETIC: Final[Mapping[type, Callable[[Sequence[_Ratio]], _Ratio]]] = {
    sympy.Add: _sum_of_ratios,
    sympy.Mul: _product_of_ratios,
    sympy.Pow: _power,
    sympy.UnevaluatedExpr: lambda parts: parts[0],
    sympy.floor: _rounded_down,
    sympy.ceiling: _rounded_up,
}

_FUNCTIONS_OF_INTEGERS: Final[Mapping[type, Callable[[Sequence[Form]], Form]]] = {
    sympy.Mod: lambda parts: operations.mod(*parts),
    sympy.Min: operations.minimum,
    sympy.Max: operations.maximum,
    sympy.Abs: _absolute_value,
    sympy.sign: _sign,
    FloorDiv: lambda parts: operations.floordiv(*parts),
    CeilDiv: lambda parts: operations.ceildiv(*parts),
    Mod: lambda parts: operations.mod(*parts),
    Min: operations.minimum,
    Max: operations.maximum,
}


# To sympy.

_ExpressionOf: TypeAlias = "Callable[[Atom], sympy.Expr]"

_FUNCTIONS: Final[Mapping[AtomKind, type[IntegerFunction]]] = {
    AtomKind.FLOORDIV: FloorDiv,
    AtomKind.QUOTIENT: FloorDiv,
    AtomKind.CEILDIV: CeilDiv,
    AtomKind.MOD: Mod,
    AtomKind.MIN: Min,
    AtomKind.MAX: Max,
}
_SIMPLE: Final = frozenset({AtomKind.VARIABLE, *_FUNCTIONS})
"""Atoms that sympy cannot merge with each other or with a coefficient."""

_sympys_order: Final = cmp_to_key(sympy.Basic.compare)


def to_sympy(form: Form, symbols: Mapping[str, sympy.Symbol] | None = None) -> sympy.Expr:
    """The sympy expression of a form, as sympy would have built it, but in a tenth of its time.

    Variables are the given symbols, or integer symbols. Over integer symbols the expression is made
    once for each form and atom.
    """
    own = symbols and {name: own for name, own in symbols.items() if own != symbol(name)}
    if own:
        return _over(form, own)
    if form.expression is None:
        for atom in postorder((form,), skip=_has_expression):
            atom.expression = _of_arguments(
                atom, tuple(_sum(argument, _expression) for argument in atom.arguments)
            )
        form.expression = _sum(form, _expression)
    return form.expression


def _over(form: Form, own: Mapping[str, sympy.Symbol]) -> sympy.Expr:
    def of_atom(atom: Atom, arguments: tuple[sympy.Expr, ...]) -> sympy.Expr:
        if atom.kind is AtomKind.OPAQUE:
            return _expression(atom)
        return own.get(atom.name) or _of_arguments(atom, arguments)

    def of_form(part: Form, known: Mapping[Atom, sympy.Expr]) -> sympy.Expr:
        return _sum(part, known.__getitem__)

    return of_form(form, fold((form,), of_atom, of_form))


def _has_expression(atom: Atom) -> bool:
    return atom.expression is not None


def _expression(atom: Atom) -> sympy.Expr:
    if atom.expression is None:  # never so for atoms of a form that is being converted
        raise LookupError(atom)
    return atom.expression


def _of_arguments(atom: Atom, arguments: tuple[sympy.Expr, ...]) -> sympy.Expr:
    """The expression of an atom whose arguments have theirs."""
    if atom.kind is AtomKind.VARIABLE:
        return symbol(atom.name)
    if atom.kind is AtomKind.PRODUCT:
        return sympy.Mul(*arguments)
    made = _FUNCTIONS[atom.kind].of(*as_written(atom, arguments))
    hash(made)  # sympy keeps it, and so never needs to recurse for it
    return made


def _sum(form: Form, inner: _ExpressionOf) -> sympy.Expr:
    if any(atom.kind not in _SIMPLE for atom in form.terms):
        terms = [factor * inner(atom) for atom, factor in form.terms.items()]
        return sympy.Add(sympy.Integer(form.constant), *terms)
    terms = [_multiple(inner(atom), factor) for atom, factor in form.terms.items()]
    _sort(terms)
    if form.constant or not terms:
        terms.insert(0, sympy.Integer(form.constant))
    return sympy.Add._from_args(terms, is_commutative=True)  # noqa: SLF001 - see to_sympy


def _multiple(expression: sympy.Expr, factor: int) -> sympy.Expr:
    if factor == 1:
        return expression
    return sympy.Mul._from_args((sympy.Integer(factor), expression), is_commutative=True)  # noqa: SLF001


def _sort(terms: list[sympy.Expr]) -> None:
    """Sort into sympy's order; terms too deep for sympy stay in the order of the form."""
    try:
        terms.sort(key=_sympys_order)
    except RecursionError:
        return
