"""From forms to sympy; nothing is simplified on the way, and nothing recurses."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

import sympy
from sympy.functions.elementary.piecewise import ExprCondPair

from simplifier.expr import operations
from simplifier.expr.form import (
    CONDITIONS,
    Atom,
    AtomKind,
    Form,
    postorder,
)
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
from simplifier.expr.printer import NEGATED, as_written, negated, sides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sympy.logic.boolalg import Boolean

_ExpressionOf: TypeAlias = "Callable[[Atom], sympy.Expr]"

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

    >>> from simplifier.expr.parser import parse_form
    >>> to_condition(parse_form("x < 5 or y >= x"))
    (x <= y) | (x < 5)
    """
    return _condition(form, _expressions_in(form, symbols))


def _expressions_in(form: Form, symbols: Mapping[str, sympy.Symbol] | None) -> _ExpressionOf:
    """Gives the expressions of the atoms in a form."""
    own = symbols and {name: own for name, own in symbols.items() if own != symbol(name)}
    if own:
        known: dict[Atom, sympy.Expr] = {}
        for atom in _written_alone(form, postorder((form,))):
            known[atom] = own.get(atom.name) or _of_atom(atom, known.__getitem__)
        return known.__getitem__
    for atom in _written_alone(form, postorder((form,), skip=_has_expression)):
        atom.expression = _of_atom(atom, _expression)
    return _expression


def _written_alone(form: Form, atoms: Sequence[Atom]) -> Iterator[Atom]:
    """The atoms but those choices that only follow others, which have their branches."""
    parts = chain([form], *(_parts(atom) for atom in atoms))
    needed = set(chain.from_iterable(part.terms for part in parts))
    return (atom for atom in atoms if atom in needed)


def _parts(atom: Atom) -> Iterator[Form]:
    """The arguments but those that :func:`_continued` gives."""
    written = _continued(atom)
    return (argument for argument in atom.arguments if argument not in written)


def _continued(atom: Atom) -> list[Form]:
    """Choices in the last branch of a choice and products in a product: it is written with them."""
    first = _CONTINUED.get(atom.kind, len(atom.arguments))
    inner = ((form, form.only_atom) for form in atom.arguments[first:])
    return [form for form, only in inner if only is not None and only.kind is atom.kind]


_CONTINUED: Final = {AtomKind.SELECT: 2, AtomKind.PRODUCT: 0}
"""The first argument in which an atom may continue."""


def _has_expression(atom: Atom) -> bool:
    return atom.expression is not None


def _expression(atom: Atom) -> sympy.Expr:
    if atom.expression is None:  # never so for atoms of a form that is being converted
        raise LookupError(atom)
    return atom.expression


def _of_atom(atom: Atom, inner: _ExpressionOf) -> sympy.Expr:
    """The expression of an atom; those of the atoms inside it are known."""
    if atom.kind is AtomKind.VARIABLE:
        return symbol(atom.name)
    if atom.function is not None:
        return atom.function(*[_sum(argument, inner) for argument in atom.arguments])
    if atom.kind is AtomKind.OPAQUE:
        return _expression(atom)
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
    made = _FUNCTIONS[atom.kind].of(*as_written(atom, arguments))
    hash(made)  # sympy keeps it, and so never needs to recurse for it
    return made


def _factors(product: Atom) -> Iterator[Form]:
    """The factors, and those of products among them."""
    products = [product]
    while products:
        last = products.pop()
        yield from _parts(last)
        products += (atom for factor in _continued(last) for atom in factor.terms)


def _number_of(condition: Boolean) -> sympy.Expr:
    return _piecewise((sympy.Integer(1), condition), (sympy.Integer(0), sympy.true))


def _piecewise(*branches: tuple[sympy.Expr, Boolean]) -> sympy.Expr:
    """Sympy's constructor multiplies out choices that stand in conditions; this does not."""
    pairs = (sympy.Basic.__new__(ExprCondPair, *branch) for branch in branches)
    return sympy.Basic.__new__(sympy.Piecewise, *pairs)


def _choice(atom: Atom, inner: _ExpressionOf) -> sympy.Expr:
    """``Piecewise``; a choice in the last branch gives further branches."""
    choices = [atom]
    while after := _continued(choices[-1]):
        choices += after[0].terms
    pairs = (choice.arguments[:2] for choice in choices)
    branches = [(_sum(chosen, inner), _condition(condition, inner)) for condition, chosen in pairs]
    rest = _sum(choices[-1].arguments[2], inner)
    if not isinstance(rest, sympy.Piecewise):
        return _piecewise(*branches, (rest, sympy.true))
    return _piecewise(*branches, *(pair.args for pair in rest.args))


def _condition(form: Form, inner: _ExpressionOf) -> Boolean:
    """The condition that a form is; of a number, that it is not zero."""
    if not form.terms:
        return sympy.true if form.constant else sympy.false
    atom = form.only_atom or negated(form)
    if atom is None or atom.kind not in CONDITIONS:
        return sympy.Ne(_sum(form, inner), sympy.Integer(0))
    if form.constant:
        return _relation(atom, inner, holds=False)
    return _condition_of(inner(atom))


def _condition_of(number: sympy.Expr) -> Boolean:
    """The condition of a number that is 1 where it holds; it is not made again for each use."""
    condition: Boolean = number.args[0].args[1]
    return condition


def _relation(atom: Atom, inner: _ExpressionOf, *, holds: bool) -> Boolean:
    """The condition that an atom is, or its negation."""
    if atom.kind is AtomKind.AND:
        join = sympy.And if holds else sympy.Or
        parts = (part if holds else operations.negation(part) for part in atom.arguments)
        return join(*[_condition(part, inner) for part in parts], evaluate=False)
    relation = ">=" if atom.kind is AtomKind.NONNEGATIVE else "=="
    left, relation, right = sides(atom.numerator, relation if holds else NEGATED[relation])
    return _COMPARISONS[relation](_sum(left, inner), _sum(right, inner), evaluate=False)


_COMPARISONS: Final[Mapping[str, Callable[..., Boolean]]] = {
    ">=": sympy.Ge,
    ">": sympy.Gt,
    "<=": sympy.Le,
    "<": sympy.Lt,
    "==": sympy.Eq,
    "!=": sympy.Ne,
}


def _sum(form: Form, inner: _ExpressionOf) -> sympy.Expr:
    if form.constant == 1 and (atom := negated(form)):
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
