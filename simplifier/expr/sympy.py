"""Forms from sympy and back; nothing is simplified on the way, and nothing recurses.

A sympy expression is read as a quotient of two forms, so that ``floor(x/2 + y/3 + 1/2)`` comes out
as one quotient of integers; what is still a fraction where an integer must be is refused. Symbols
stand for integers, unless their assumptions deny it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cmp_to_key, lru_cache, partial, reduce
from itertools import chain, repeat
from math import gcd, lcm
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

import sympy
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import Boolean, BooleanAtom

from simplifier.errors import ArgumentError, IndexingError, beginning_of, check_type
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import CONDITIONS, ONE, Atom, AtomKind, Form
from simplifier.expr.functions import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    FloorDiv,
    IntegerFunction,
    Max,
    Min,
    Mod,
    Mul,
    divisible,
    symbol,
)
from simplifier.expr.printer import as_written, compared

_REMEMBERED: Final = 1 << 14
"""How many sympy expressions are remembered with their forms."""

_MAX_POWER: Final = 64
"""Higher powers are foreign functions: they are not multiplied out."""

_MAX_EXCERPT: Final = 200
"""Characters of an expression that a message shows."""


_OF_A_FAULT: Final = (
    "may be what sympy makes of a product of remainders modulo a number, which is wrong (its issue "
    "28744); expected simplifier.Mod(a, b) in place of a % b and sympy.Mod(a, b)"
)


class ConversionError(IndexingError, TypeError):
    """A sympy expression that is not integer arithmetic; ``part`` is the term that is not."""

    def __init__(self, part: object, whole: object, objection: str = "") -> None:
        blamed, around = _excerpt(part), _excerpt(whole)
        inside = "" if part is whole or blamed == around else f" in {around}"
        text = "; parse_expr reads texts" if isinstance(part, str) else ""
        expected = f"expected integer arithmetic{text}"
        objection = objection or f"has type {type(part).__name__}; {expected}"
        super().__init__(f"{blamed}{inside}: {objection}")
        self.part = part


def _excerpt(thing: object) -> str:
    try:
        text = str(thing)
    except RecursionError:
        return "a deeply nested expression"
    return beginning_of(text, _MAX_EXCERPT)


def is_relation(thing: object) -> TypeGuard[Boolean | bool]:
    """Whether something is a condition; sympy counts symbols as such, too.

    >>> x = sympy.Symbol("x")
    >>> is_relation(x < 5), is_relation(True), is_relation(x)
    (True, True, False)
    """
    return isinstance(thing, Boolean | bool) and not isinstance(thing, sympy.Expr)


def relation_of(condition: Boolean | bool) -> Boolean:  # noqa: FBT001 - a condition
    """The condition as sympy has it; Python's truth values are conditions, too."""
    if isinstance(condition, Boolean):
        return condition
    return sympy.true if condition else sympy.false


class Fraction(NamedTuple):
    """A part that stands where an integer must be, and is one if facts say so."""

    numerator: Form
    divisor: Form
    part: sympy.Basic

    @property
    def is_integer(self) -> bool:
        """Whether sympy knows an integer, as ``x/2`` of an even ``x``; it may take long."""
        return bool(getattr(self.part, "is_integer", False))


class ReadExpression(NamedTuple):
    """The form of a sympy expression, its symbols by name, and the fractions to check."""

    form: Form
    symbols: tuple[sympy.Symbol, ...] = ()
    fractions: tuple[Fraction, ...] = ()
    whole: sympy.Expr | Boolean | None = None

    def objection(self, fraction: Fraction) -> ConversionError:
        """The error that a fraction is not known to be an integer."""
        message = "is a fraction; expected an integer, floor around it, or a fact such as {} == 0"
        remainder = operations.mod(fraction.numerator, fraction.divisor)
        return ConversionError(fraction.part, self.whole, message.format(remainder))


def from_sympy(expression: sympy.Expr | Boolean | int) -> Form:
    """The form of an integer expression; sympy's own ``floor``, ``Mod``, ``Min`` may occur.

    So may ``Piecewise`` and conditions. Where no condition of a ``Piecewise`` holds it has no
    value, so its last branch stands for the rest.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.

    >>> x = sympy.Symbol("x")
    >>> from_sympy(sympy.floor(x / 8) + 2 * sympy.Mod(x, 8))
    Form((x mod 8) * 2 + x floordiv 8)
    """
    return read_whole(expression)[0]


def read_whole(expression: sympy.Expr | Boolean | int) -> tuple[Form, tuple[sympy.Symbol, ...]]:
    """The form of an expression without fractions, and its symbols; see :func:`from_sympy`."""
    reading = read(expression)
    for fraction in reading.fractions:
        if not fraction.is_integer:
            rounded = operations.floordiv(fraction.numerator, fraction.divisor)
            message = f"is a fraction; expected an integer, or floor around it, such as {rounded}"
            raise ConversionError(fraction.part, reading.whole, message)
    return reading.form, reading.symbols


def read(expression: sympy.Expr | Boolean | int) -> ReadExpression:
    """The form of an integer expression with its symbols; see :func:`from_sympy`.

    A condition is 1 where it holds, 0 elsewhere.
    """
    if isinstance(expression, int) and not isinstance(expression, bool):
        return ReadExpression(forms.constant(expression))
    if not isinstance(expression, sympy.Expr | Boolean):
        raise ConversionError(expression, expression)
    try:
        return _remembered_reading(expression)
    except RecursionError:  # sympy hashes and compares by recursion
        return _SympyReader(expression).reading()


@lru_cache(maxsize=_REMEMBERED)
def _remembered_reading(expression: sympy.Expr | Boolean) -> ReadExpression:
    return _SympyReader(expression).reading()


class _Ratio(NamedTuple):
    """A rational number as a quotient of two integers."""

    numerator: Form
    divisor: Form = ONE


class _SympyReader:
    """One walk over an expression, from the inside out."""

    def __init__(self, whole: sympy.Expr | Boolean) -> None:
        self._whole = whole
        self._known: dict[int, _Ratio] = {}
        """By identity: sympy compares by recursion. The expression keeps all its parts alive."""
        self._symbols: dict[sympy.Symbol, None] = {}
        self._fractions: list[Fraction] = []
        self._read_as: dict[int, sympy.Expr] = {}
        """Functions of others, as they are read; kept, so that no two have one identity."""

    def reading(self) -> ReadExpression:
        """The reading of the expression."""
        known, stack = self._known, [self._whole]
        while stack:
            node: Any = stack.pop()
            if id(node) in known:
                continue
            if not _is_read(node):
                stack += self._other(node)
                continue
            parts = node.args
            if type(node) is sympy.Piecewise:  # each value, with its condition after it
                parts = tuple(chain.from_iterable(pair.args for pair in parts))
            missing = [part for part in parts if id(part) not in known]
            if not missing:
                known[id(node)] = _read(node, [known[id(part)] for part in parts], self._fractions)
            else:
                stack += (node, *missing)
        form = _integer(self._whole, known[id(self._whole)], self._fractions)
        symbols = tuple(sorted(self._symbols, key=lambda symbol: symbol.name))
        return ReadExpression(form, symbols, tuple(self._fractions), self._whole)

    def _other(self, node: Any) -> tuple[sympy.Expr, ...]:  # noqa: ANN401 - of sympy
        """Read a symbol, a number or an uninterpreted function; or return parts to read first."""
        known = self._known
        if isinstance(node, sympy.Integer):
            known[id(node)] = _leaf(node, self._whole)
        elif isinstance(node, sympy.Symbol):
            known[id(node)] = _leaf(node, self._whole)
            self._symbols[node] = None
        elif id(node) in self._read_as:
            known[id(node)] = known[id(self._read_as[id(node)])]
        elif (read_as := READERS.rewritten(node)) is not None:
            self._read_as[id(node)] = read_as
            return node, read_as
        else:
            foreign = _function_of_integers(node)
            self._symbols |= dict.fromkeys(foreign.symbols if foreign else node.free_symbols)
            known[id(node)] = _Ratio(foreign.form) if foreign else _leaf(node, self._whole)
        return ()


def _is_read(node: sympy.Expr) -> bool:
    """Whether the node is an operation on parts that are read."""
    if not isinstance(node, sympy.Pow):
        return type(node) in _READ
    exponent = node.args[1]
    return isinstance(exponent, sympy.Integer) and abs(int(exponent)) <= _MAX_POWER


def _read(node: sympy.Expr, parts: Sequence[_Ratio], fractions: list[Fraction]) -> _Ratio:
    """The value of an operation; parts that have to be integers are added to the fractions."""
    kind = type(node)
    if isinstance(node, sympy.Pow) and isinstance(node.args[0], sympy.Mod):
        raise ConversionError(node, node, _OF_A_FAULT)
    if kind in _ARITHMETIC:
        return _ARITHMETIC[kind](parts)
    if kind in _RELATIONS:
        return _Ratio(operations.RELATIONS[_RELATIONS[kind]](_difference(node, parts)))
    if kind in _CONNECTIVES:
        return _Ratio(_CONNECTIVES[kind]([*map(_condition_in, parts)]))
    integers = [*map(_integer, node.args, parts, repeat(fractions))]
    return _Ratio(_FUNCTIONS_OF_INTEGERS[kind](integers))


def _condition_in(ratio: _Ratio) -> Form:
    """A condition that is joined or chooses; a symbol is one to sympy, and holds if it is not 0."""
    form = ratio.numerator
    return form if operations.is_condition(form) else operations.negation(operations.zero(form))


def _integer(node: sympy.Basic, ratio: _Ratio, fractions: list[Fraction]) -> Form:
    """The value of a node that must be an integer."""
    numerator, divisor = ratio
    if divisor is ONE:
        return numerator
    if divisor.is_constant:
        common = gcd(divisor.constant, numerator.constant, *numerator.terms.values())
        if abs(common) == abs(divisor.constant):
            return numerator.exactly_divided(divisor.constant)
    fractions.append(Fraction(numerator, divisor, node))
    return operations.floordiv(numerator, divisor)


def _leaf(node: sympy.Expr, whole: sympy.Expr | Boolean) -> _Ratio:
    if isinstance(node, sympy.Integer):
        return _Ratio(forms.constant(int(node)))
    if isinstance(node, sympy.Symbol):
        if node.is_integer is False or not node.is_commutative:
            raise ConversionError(node, whole, "is no integer by its assumptions")
        return _Ratio(forms.variable(node.name))
    if isinstance(node, BooleanAtom):
        return _Ratio(forms.constant(int(bool(node))))
    if isinstance(node, sympy.Rational):
        return _Ratio(forms.constant(node.p), forms.constant(node.q))
    if isinstance(node, sympy.Expr) and node.is_integer:  # pyright: ignore[reportUnnecessaryIsInstance] - not so in Piecewise
        return _Ratio(forms.opaque(sympy.srepr(node), node))
    raise ConversionError(node, whole)


def _function_of_integers(node: sympy.Expr) -> ReadExpression | None:
    """A foreign function on its arguments, if these are integers, and its values in any case."""
    is_integer = node.is_Function and node.func.default_assumptions.get("integer")
    if not is_integer or not all(isinstance(part, sympy.Expr) for part in node.args):
        return None
    try:
        readings = [_remembered_reading(part) for part in node.args]
    except ConversionError:
        return None
    if not readings or any(reading.fractions for reading in readings):
        return None
    form = forms.call(_key(node.func), node.func, tuple(each.form for each in readings))
    return ReadExpression(form, tuple(chain.from_iterable(each.symbols for each in readings)))


@lru_cache(maxsize=_REMEMBERED)
def _key(function: type[sympy.Function]) -> str:
    """Key that tells a function from others: two of one name may differ in their assumptions."""
    assumed = (f"{name}={holds}" for name, holds in sorted(function.default_assumptions.items()))
    return f"{function.__module__}.{function.__qualname__}({', '.join(assumed)})"


def _sum_of_ratios(parts: Sequence[_Ratio]) -> _Ratio:
    numerators, divisor = [part.numerator for part in parts], ONE
    if any(part.divisor is not ONE for part in parts):
        numerators, divisor = _over_common_divisor(parts)
    return _Ratio(forms.weighted_sum((1, each) for each in numerators), divisor)


def _over_common_divisor(parts: Sequence[_Ratio]) -> tuple[list[Form], Form]:
    """The numerators over the common divisor, and that divisor."""
    scale = lcm(*(part.divisor.constant for part in parts if part.divisor.is_constant))
    symbolic = {part.divisor: None for part in parts if not part.divisor.is_constant}

    def numerator(part: _Ratio) -> Form:
        number = scale // part.divisor.constant if part.divisor.is_constant else scale
        scaled = part.numerator.times(number)
        others = [divisor for divisor in symbolic if divisor != part.divisor]
        return operations.product((scaled, *others)) if others else scaled

    divisor = operations.product((forms.constant(scale), *symbolic))
    return [numerator(part) for part in parts], ONE if divisor == ONE else divisor


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


def _rounded(divide: Callable[[Form, Form], Form], parts: Sequence[_Ratio]) -> _Ratio:
    ((numerator, divisor),) = parts
    return _Ratio(numerator if divisor is ONE else divide(numerator, divisor))


def _difference(node: sympy.Expr, parts: Sequence[_Ratio]) -> Form:
    """A form with the sign of ``a - b``, where a relation compares two fractions."""
    left, right = parts
    numerator, divisor = _sum_of_ratios([left, _Ratio(-right.numerator, right.divisor)])
    if divisor is ONE:
        return numerator
    if divisor.is_constant:
        return numerator if divisor.constant > 0 else -numerator
    raise ConversionError(node, node, "compares fractions; expected integers, or floor around them")


def _choice_of_ratios(parts: Sequence[_Ratio]) -> _Ratio:
    """One of the values, each with its condition after it; over their common divisor."""
    (*scaled, value), divisor = _over_common_divisor(parts[::2])
    for condition, chosen in zip(parts[-3::-2], reversed(scaled), strict=True):
        value = operations.select(_condition_in(condition), chosen, value)
    return _Ratio(value, divisor)


_ARITHMETIC: Final[Mapping[type, Callable[[Sequence[_Ratio]], _Ratio]]] = {
    sympy.Add: _sum_of_ratios,
    sympy.Mul: _product_of_ratios,
    sympy.Pow: _power,
    sympy.UnevaluatedExpr: lambda parts: parts[0],
    sympy.floor: partial(_rounded, operations.floordiv),
    sympy.ceiling: partial(_rounded, operations.ceildiv),
    sympy.Piecewise: _choice_of_ratios,
}

_COMPARISONS: Final[Mapping[str, Callable[..., Boolean]]] = {
    ">=": sympy.Ge,
    ">": sympy.Gt,
    "<=": sympy.Le,
    "<": sympy.Lt,
    "==": sympy.Eq,
    "!=": sympy.Ne,
}
_RELATIONS: Final[Mapping[object, str]] = {each: sign for sign, each in _COMPARISONS.items()}


def _either(conditions: Sequence[Form]) -> Form:
    """Whether an odd number of conditions hold."""
    return reduce(lambda left, right: _chosen(left, operations.negation(right), right), conditions)


def _all_or_none(conditions: Sequence[Form]) -> Form:
    """Whether all conditions hold, or none does."""
    none = operations.conjunction(map(operations.negation, conditions))
    return operations.disjunction((operations.conjunction(conditions), none))


def _chosen(condition: Form, chosen: Form, other: Form) -> Form:
    """One of two conditions."""
    where = operations.conjunction((condition, chosen))
    elsewhere = operations.conjunction((operations.negation(condition), other))
    return operations.disjunction((where, elsewhere))


_CONNECTIVES: Final[Mapping[type, Callable[[Sequence[Form]], Form]]] = {
    sympy.And: operations.conjunction,
    sympy.Or: operations.disjunction,
    sympy.Not: lambda parts: operations.negation(*parts),
    sympy.Xor: _either,
    sympy.Implies: lambda parts: operations.disjunction((operations.negation(parts[0]), parts[1])),
    sympy.Equivalent: _all_or_none,
    sympy.ITE: lambda parts: _chosen(*parts),
}

_FUNCTIONS: Final[Mapping[AtomKind, type[IntegerFunction]]] = {
    AtomKind.FLOORDIV: FloorDiv,
    AtomKind.QUOTIENT: FloorDiv,
    AtomKind.CEILDIV: CeilDiv,
    AtomKind.MOD: Mod,
    AtomKind.MIN: Min,
    AtomKind.MAX: Max,
    AtomKind.BITAND: BitAnd,
    AtomKind.BITOR: BitOr,
    AtomKind.BITXOR: BitXor,
}
_FUNCTIONS_OF_INTEGERS: Final[Mapping[type, Callable[[Sequence[Form]], Form]]] = {
    sympy.Mod: partial(operations.build, AtomKind.MOD),
    sympy.Min: operations.minimum,
    sympy.Max: operations.maximum,
    sympy.Abs: lambda parts: operations.maximum((parts[0], -parts[0])),
    sympy.sign: lambda parts: operations.minimum((ONE, operations.maximum((-ONE, parts[0])))),
    **{function: partial(operations.build, kind) for kind, function in _FUNCTIONS.items()},
}

_READ: Final = frozenset({*_ARITHMETIC, *_FUNCTIONS_OF_INTEGERS, *_RELATIONS, *_CONNECTIVES})
"""The operations on parts that are read."""


# From forms to sympy; nothing is simplified on the way, and nothing recurses.

_ExpressionOf: TypeAlias = "Callable[[Atom], sympy.Expr]"

_SIMPLE: Final = frozenset({AtomKind.VARIABLE, *_FUNCTIONS})
"""Atoms that sympy cannot merge with each other or with a coefficient."""

_sympys_order: Final = cmp_to_key(sympy.Basic.compare)


def to_sympy(form: Form, symbols: Mapping[str, sympy.Symbol] | None = None) -> sympy.Expr:
    """The sympy expression of a form, as sympy would have built it, but in a tenth of its time.

    Variables are the given symbols, or integer symbols. Over integer symbols the expression is made
    once for each form and atom.
    """
    if form.expression is None or symbols:
        inner = _expressions_in(form, symbols)
        if inner is not _expression:
            return _sum(form, inner)
        form.expression = _sum(form, inner)
    return form.expression


def to_condition(form: Form, symbols: Mapping[str, sympy.Symbol] | None = None) -> Boolean:
    """The condition that a form is; of a number, that it is not zero.

    >>> from simplifier.expr.text import parse_form
    >>> to_condition(parse_form("x < 5 or y >= x"))
    (x <= y) | (x < 5)
    """
    return _condition(form, _expressions_in(form, symbols))


def _expressions_in(form: Form, symbols: Mapping[str, sympy.Symbol] | None) -> _ExpressionOf:
    """Gives the expressions of the atoms in a form: a product's is made when it is needed."""
    own = {name: each for name, each in (symbols or {}).items() if each != symbol(name)}
    known: dict[Atom, sympy.Expr] = {}

    def with_own(atom: Atom) -> sympy.Expr:
        if atom not in known:
            known[atom] = own.get(atom.name) or _of_atom(atom, with_own)
        return known[atom]

    inner = with_own if own else _expression
    for atom in forms.postorder((form,), skip=None if own else _has_expression):
        if atom.kind is not AtomKind.PRODUCT:
            inner(atom)
    return inner


def _has_expression(atom: Atom) -> bool:
    return atom.expression is not None


def _expression(atom: Atom) -> sympy.Expr:
    if atom.expression is None:
        atom.expression = _of_atom(atom, _expression)
    return atom.expression


def _of_atom(atom: Atom, inner: _ExpressionOf) -> sympy.Expr:
    """The expression of an atom; those of the atoms inside it are known."""
    if atom.kind is AtomKind.OPAQUE and atom.expression is not None:
        return atom.expression
    if atom.kind in (AtomKind.VARIABLE, AtomKind.OPAQUE):
        return symbol(atom.name)
    if atom.kind in CONDITIONS:
        return _number_of(_relation(atom, inner, holds=True))
    if atom.kind is AtomKind.SELECT:
        return _choice(atom, inner)
    return _operation(atom, inner)


def _operation(atom: Atom, inner: _ExpressionOf) -> sympy.Expr:
    if atom.kind is AtomKind.PRODUCT:
        return divisible(sympy.Mul(*(_sum(factor, inner) for factor in _factors(atom))))
    arguments = [_sum(argument, inner) for argument in atom.arguments]
    if atom.kind is AtomKind.SUM:
        return arguments[0]
    if atom.function is not None:
        return atom.function(*arguments)
    made = _FUNCTIONS[atom.kind].of(*as_written(atom, arguments))
    hash(made)  # sympy keeps it, and so never needs to recurse for it
    return made


def _factors(product: Atom) -> Iterator[Form]:
    """The factors, and those of products among them."""
    products = [product]
    while products:
        for factor in products.pop().arguments:
            inner = factor.only_atom
            if inner is None or inner.kind is not AtomKind.PRODUCT:
                yield factor
            else:
                products.append(inner)


def _number_of(condition: Boolean) -> sympy.Expr:
    pairs = _pair(sympy.Integer(1), condition), _pair(sympy.Integer(0), sympy.true)
    return sympy.Basic.__new__(sympy.Piecewise, *pairs)


def _pair(value: sympy.Expr, condition: Boolean) -> sympy.Basic:
    """Sympy's constructors multiply out choices that stand in conditions; this does not."""
    return sympy.Basic.__new__(ExprCondPair, value, condition)


def _choice(atom: Atom, inner: _ExpressionOf) -> sympy.Expr:
    """``Piecewise``; a choice in the last branch gives further branches."""
    condition, chosen, other = atom.arguments
    last = other.only_atom
    rest = _sum(other, inner) if last is None else inner(last)
    further = rest.args if isinstance(rest, sympy.Piecewise) else (_pair(rest, sympy.true),)
    first = _pair(_sum(chosen, inner), _condition(condition, inner))
    return sympy.Basic.__new__(sympy.Piecewise, first, *further)


def _condition(form: Form, inner: _ExpressionOf) -> Boolean:
    """The condition that a form is; of a number, that it is not zero."""
    if not form.terms:
        return sympy.true if form.constant else sympy.false
    atom = form.only_atom or forms.negated(form)
    if atom is None or atom.kind not in CONDITIONS:
        return sympy.Ne(_sum(form, inner), sympy.Integer(0))
    if form.constant:
        return _relation(atom, inner, holds=False)
    known: Boolean = inner(atom).args[0].args[1]  # it is not made again for each use
    return known


def _relation(atom: Atom, inner: _ExpressionOf, *, holds: bool) -> Boolean:
    """The condition that an atom is, or its negation."""
    if atom.kind is AtomKind.AND:
        join = sympy.And if holds else sympy.Or
        parts = (part if holds else operations.negation(part) for part in atom.arguments)
        return join(*[_condition(part, inner) for part in parts], evaluate=False)
    left, relation, right = compared(atom, holds=holds)
    return _COMPARISONS[relation](_sum(left, inner), _sum(right, inner), evaluate=False)


def _sum(form: Form, inner: _ExpressionOf) -> sympy.Expr:
    if form.constant == 1 and (atom := forms.negated(form)):
        return _number_of(_relation(atom, inner, holds=False))
    if any(atom.kind not in _SIMPLE for atom in form.terms):
        terms = [factor * inner(atom) for atom, factor in form.terms.items()]
        return divisible(sympy.Add(sympy.Integer(form.constant), *terms))
    terms = [_multiple(inner(atom), factor) for atom, factor in form.terms.items()]
    _sort(terms)
    if form.constant or not terms:
        terms.insert(0, sympy.Integer(form.constant))
    return Add._from_args(terms, is_commutative=True)  # noqa: SLF001 - see to_sympy


def _multiple(expression: sympy.Expr, factor: int) -> sympy.Expr:
    if factor == 1:
        return expression
    return Mul._from_args((sympy.Integer(factor), expression), is_commutative=True)  # noqa: SLF001


def _sort(terms: list[sympy.Expr]) -> None:
    """Sort into sympy's order; terms too deep for sympy stay in the order of the form."""
    try:
        terms.sort(key=_sympys_order)
    except RecursionError:
        return


# Functions of other libraries, read as expressions of this one.
#
# A reader is found by module and name of the function's class, so no library is imported.
# PyTorch's functions are known. Readers for others are added to a table, which is a value and
# never changes.

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
        """The expression, with the readers' results in place of the functions that they know.

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

    def rewritten(self, node: Any, arguments: Sequence[Any] | None = None) -> sympy.Expr | None:  # noqa: ANN401 - any part of an expression
        """What a function's reader makes of its or other arguments; ``None`` without a reader."""
        if not node.is_Function:
            return None
        module, name = node.__class__.__module__, node.__class__.__qualname__
        reader = self._table.get(f"{module}.{name}" if module else name)
        return None if reader is None else reader(*(node.args if arguments is None else arguments))

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __repr__(self) -> str:
        return f"<readers of {len(self._table)} functions>"


# PyTorch.


def _digit(base: sympy.Expr, divisor: sympy.Expr, modulus: sympy.Expr) -> sympy.Expr:
    return Mod(base if divisor is sympy.S.One else FloorDiv(base, divisor), modulus)


def _if_then_else(condition: Any, chosen: sympy.Expr, other: sympy.Expr) -> sympy.Expr:  # noqa: ANN401 - sympy's
    return sympy.Piecewise((chosen, condition), (other, True))


def _towards_zero(number: sympy.Expr) -> sympy.Expr:
    return sympy.Piecewise((sympy.floor(number), number >= 0), (sympy.ceiling(number), True))


def _shifted_left(base: sympy.Expr, shift: sympy.Expr) -> sympy.Expr:
    return base * 2**shift


def _shifted_right(base: sympy.Expr, shift: sympy.Expr) -> sympy.Expr:
    return FloorDiv(base, 2**shift)


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
    "Where": _if_then_else,
    "FloorToInt": sympy.floor,
    "CeilToInt": sympy.ceiling,
    "TruncToInt": _towards_zero,
    "LShift": _shifted_left,
    "RShift": _shifted_right,
    "PowByNatural": sympy.Pow,
    "Identity": _itself,
    "BitwiseFn_bitwise_and": BitAnd,
    "BitwiseFn_bitwise_or": BitOr,
    "BitwiseFn_bitwise_xor": BitXor,
}
"""Functions of integers, with the values that they have where PyTorch defines them."""

READERS: Final = Readers({f"torch.utils._sympy.functions.{name}": _TORCH[name] for name in _TORCH})
"""The functions that are read everywhere."""
