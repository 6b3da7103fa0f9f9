"""Laws of products: they are multiplied out into monomials, where like terms meet."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

from simplifier.bounds.ranges import monomial_range, product_range
from simplifier.expr import operations
from simplifier.expr.form import ONE, Atom, Form, Kind, accumulate, atom_of, collected
from simplifier.expr.polynomials import degree, factors
from simplifier.laws.catalogue.symbolic import CLAMP_SQUARE, DISTRIBUTE, TWO_VALUED_SQUARE
from simplifier.limits import MOST_BITS, MOST_FACTORS, MOST_TERMS, is_deep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key


def product(scope: Scope, left: Form, right: Form) -> Form:
    """The product of canonical forms, multiplied out into monomials."""
    if left.is_constant:
        return right.times(left.constant)
    if right.is_constant:
        return left.times(right.constant)
    if left == right and (square := two_valued_square(scope, left)) is not None:
        return square
    if len(left.terms) * len(right.terms) > MOST_TERMS:
        left, right = scope.single(left), scope.single(right)
    if _grows(left, right):
        return kept_product(scope, (left, right))
    return _multiplied_out(scope, left, right)


def _grows(left: Form, right: Form) -> bool:
    """Whether a product would be too long, too deep or too large to be multiplied out."""
    return (
        degree(left) + degree(right) > MOST_FACTORS
        or left.constant.bit_length() + right.constant.bit_length() > MOST_BITS
        or is_deep(left)
        or is_deep(right)
    )


def product_of_all(scope: Scope, arguments: Sequence[Form]) -> Form:
    """The product of canonical forms; one of very many factors is kept as it stands."""
    if sum(map(degree, arguments)) > MOST_FACTORS:
        arguments = _without_repeats(scope, arguments)
        if sum(map(degree, arguments)) > MOST_FACTORS:
            return kept_product(scope, arguments)
    return reduce(partial(product, scope), arguments, ONE)


def _without_repeats(scope: Scope, arguments: Sequence[Form]) -> list[Form]:
    """``A*A = A`` where ``0 <= A <= 1``."""
    kept: dict[Key, Form] = {}
    repeated: list[Form] = []
    for argument in arguments:
        ends = scope.range_of(argument)
        if ends[0] >= 0 and ends[1] <= 1:
            if argument.key in kept:
                scope.fired(TWO_VALUED_SQUARE)
            kept[argument.key] = argument
        else:
            repeated.append(argument)
    return [*kept.values(), *repeated]


def kept_product(scope: Scope, arguments: Sequence[Form]) -> Form:
    """The product as it stands, with constants outside."""
    form = operations.product(arguments)
    for atom in form.terms:
        if atom not in scope.ranges:
            ends = reduce(product_range, map(scope.range_of, atom.arguments))
            scope.remember(atom, ends)
    return form


def _multiplied_out(scope: Scope, left: Form, right: Form) -> Form:
    """``(A + B) * C = A*C + B*C``."""
    if _is_sum(left) or _is_sum(right):
        scope.fired(DISTRIBUTE)
    total = left.constant * right.constant
    terms: dict[Atom, int] = {}
    accumulate(terms, left, right.constant)
    accumulate(terms, right, left.constant)
    for atom, factor in left.terms.items():
        for other, value in right.terms.items():
            both = _monomial_form(scope, [*factors(atom), *factors(other)])
            total += both.constant * factor * value
            accumulate(terms, both, factor * value)
    return collected(total, terms)


def _is_sum(form: Form) -> bool:
    return len(form.terms) + (form.constant != 0) > 1


def _monomial_form(scope: Scope, atoms: list[Atom]) -> Form:
    """A product of atoms; squares of clamps and of what has two values are none."""
    distinct = dict.fromkeys(atoms)
    for atom in distinct if len(distinct) < len(atoms) else ():
        if atoms.count(atom) > 1:
            square = clamp_square(scope, atom) or two_valued_square(scope, Form(0, {atom: 1}))
            if square is not None:
                rest = list(atoms)
                rest.remove(atom)
                rest.remove(atom)
                return scope.product(square, _monomial_form(scope, rest)) if rest else square
    return Form(0, {monomial(scope, atoms): 1})


def clamp_square(scope: Scope, atom: Atom) -> Form | None:
    """``max(0, D)**2 = D * max(0, D)``."""
    if atom.kind is Kind.MAX and len(atom.arguments) == 2:  # noqa: PLR2004 - 0 and D
        scope.fired(CLAMP_SQUARE)
        return scope.product(atom.arguments[1], Form(0, {atom: 1}))
    return None


def two_valued_square(scope: Scope, form: Form) -> Form | None:
    """``A*A = (2*c + 1)*A - c*(c + 1)`` where ``c <= A <= c + 1``."""
    lower, upper = scope.range_of(form)
    if not isinstance(lower, int) or upper != lower + 1:
        return None
    scope.fired(TWO_VALUED_SQUARE)
    return form.times(2 * lower + 1).plus_constant(-lower * (lower + 1))


def monomial(scope: Scope, atoms: Iterable[Atom]) -> Atom:
    """The atom that multiplies atoms; the range is remembered."""
    ordered = sorted(atoms, key=lambda atom: atom.order)
    if len(ordered) == 1:
        return ordered[0]
    atom = atom_of(Kind.PRODUCT, tuple(Form(0, {factor: 1}) for factor in ordered))
    if atom not in scope.ranges:
        scope.remember(atom, monomial_range(scope, ordered))
    return atom
