"""Laws of what is not affine: products of atoms, and quotients by what is not a constant."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from simplifier.budget import MOST_FLATTENED, MOST_TERMS, is_deep
from simplifier.form import ZERO, Atom, Form, Kind, accumulate, atom_of, collected, constant
from simplifier.interval import INFINITY, NEGATIVE_INFINITY, End, Infinity, Range
from simplifier.ranges import cofactor, factors, monomial_range

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simplifier.scope import Scope


# Products.


def product(scope: Scope, left: Form, right: Form) -> Form:
    """The product of canonical forms, multiplied out into monomials."""
    if left.is_constant:
        return right.times(left.constant)
    if right.is_constant:
        return left.times(right.constant)
    if max(len(left.terms), 1) * max(len(right.terms), 1) > MOST_TERMS:
        left, right = scope.single(left), scope.single(right)
    total = left.constant * right.constant
    terms: dict[Atom, int] = {}
    accumulate(terms, left, right.constant)
    accumulate(terms, right, left.constant)
    result = collected(total, terms)
    for atom, factor in left.terms.items():
        for other, value in right.terms.items():
            result = result.plus(
                _monomial_form(scope, [*factors(atom), *factors(other)]), factor * value
            )
    return result


def _monomial_form(scope: Scope, atoms: list[Atom]) -> Form:
    """A product of atoms; ``max(0, D)**2`` is ``D * max(0, D)``."""
    for atom in atoms:
        if atom.kind is Kind.MAX and len(atom.arguments) == 2 and atoms.count(atom) > 1:  # noqa: PLR2004 - 0 and D
            rest = list(atoms)
            rest.remove(atom)
            return scope.product(atom.arguments[1], _monomial_form(scope, rest))
    return Form(0, {monomial(scope, atoms): 1})


def monomial(scope: Scope, atoms: Iterable[Atom]) -> Atom:
    """The atom that multiplies atoms; the range is remembered."""
    ordered = sorted(atoms, key=lambda atom: atom.order)
    if len(ordered) == 1:
        return ordered[0]
    atom = atom_of(Kind.PRODUCT, tuple(Form(0, {factor: 1}) for factor in ordered))
    if atom not in scope.ranges:
        scope.remember(atom, monomial_range(scope, ordered))
    return atom


# Quotients by a form.


def divisor_range(scope: Scope, divisor: Form) -> Range:
    """The range of a divisor where a quotient by it is defined: zero is not one of its ends."""
    lower, upper = scope.range_of(divisor)
    return (lower, upper) if lower == upper else (lower or 1, upper or -1)


def by_zero(scope: Scope, kind: Kind, numerator: Form) -> Form:
    """A division by zero is left alone: it has no value, so any range holds it."""
    return scope.remember(atom_of(kind, (numerator, ZERO)), (NEGATIVE_INFINITY, INFINITY))


def mod(scope: Scope, numerator: Form, divisor: Form) -> Form:
    """``A - B*floor(A/B)`` for the same divisors."""
    if divisor == ZERO:
        return by_zero(scope, Kind.MOD, numerator)
    return numerator.plus(product(scope, divisor, quotient(scope, numerator, divisor)), -1)


def quotient(scope: Scope, numerator: Form, divisor: Form) -> Form:
    """``floor(A/B)`` in normal shape, for a divisor that is zero or not a constant.

    Where ``B`` may be zero nothing is assumed but that the input is defined.
    """
    if divisor == ZERO:
        return by_zero(scope, Kind.QUOTIENT, numerator)
    if is_deep(numerator) or is_deep(divisor):
        return _atom(scope, numerator, divisor, divisor_range(scope, divisor))
    numerator, divisor = _without_common_integer(*_oriented(scope, numerator, divisor))
    shorter = _without_common_atom(scope, numerator, divisor)
    if shorter is not None:
        return scope.quotient(*shorter)
    outside, numerator = _polynomial_part(scope, numerator, divisor)
    if outside != ZERO:
        return outside.plus(quotient(scope, numerator, divisor))
    return _remaining_quotient(scope, numerator, divisor)


def _remaining_quotient(scope: Scope, numerator: Form, divisor: Form) -> Form:
    """``floor(A/B)`` with nothing more to take out: its only value, a flat quotient, or an atom."""
    if numerator == ZERO:
        return ZERO
    ends = divisor_range(scope, divisor)
    if ends[0] >= 1:
        value = _one_value(scope, numerator, divisor, ends)
        if value is not None:
            return constant(value)
        flat = _flattened(scope, numerator, divisor)
        if flat is not None:
            return scope.quotient(*flat)
    return _atom(scope, numerator, divisor, ends)


def _oriented(scope: Scope, numerator: Form, divisor: Form) -> tuple[Form, Form]:
    """``floor(A/B) = floor(-A/-B)``: a divisor that is, or at least starts, positive."""
    lower, upper = divisor_range(scope, divisor)
    first = next(iter(divisor.terms.values()))
    if upper < 0 or (lower < 0 and first < 0):
        return -numerator, -divisor
    return numerator, divisor


def _without_common_integer(numerator: Form, divisor: Form) -> tuple[Form, Form]:
    """``floor(g*A/(g*B)) = floor(A/B)``."""
    parts = (
        numerator.constant,
        *numerator.terms.values(),
        divisor.constant,
        *divisor.terms.values(),
    )
    scale = gcd(*parts)
    return numerator.exactly_divided(scale), divisor.exactly_divided(scale)


def _without_common_atom(scope: Scope, numerator: Form, divisor: Form) -> tuple[Form, Form] | None:
    """``floor(x*A/(x*B)) = floor(A/B)``; ``x`` is not zero where the quotient is defined."""
    if numerator.constant or divisor.constant:
        return None
    for atom in factors(next(iter(divisor.terms))):
        if all(atom in factors(other) for form in (numerator, divisor) for other in form.terms):
            return cofactor(scope, numerator, atom), cofactor(scope, divisor, atom)
    return None


def _polynomial_part(scope: Scope, numerator: Form, divisor: Form) -> tuple[Form, Form]:
    """``floor((T*B + A)/B) = T + floor(A/B)``, as long as the numerator gets shorter."""
    lead = max(divisor.terms, key=lambda atom: (len(factors(atom)), atom.order))
    outside = ZERO
    for atom in list(numerator.terms):
        whole, remainder = divmod(numerator.terms.get(atom, 0), divisor.terms[lead])
        left = _factors_left(atom, lead)
        if remainder or not whole or left is None:
            continue
        step = Form(0, {monomial(scope, left): whole}) if left else constant(whole)
        shorter = numerator.plus(product(scope, step, divisor), -1)
        if _size(shorter) < _size(numerator):
            numerator = shorter
            outside = outside.plus(step)
    return outside, numerator


def _size(form: Form) -> int:
    return len(form.terms) + (form.constant != 0)


def _factors_left(atom: Atom, divisor: Atom) -> list[Atom] | None:
    """The factors of an atom less those of another; ``None`` if some are missing."""
    left = list(factors(atom))
    for factor in factors(divisor):
        if factor not in left:
            return None
        left.remove(factor)
    return left


def _one_value(scope: Scope, numerator: Form, divisor: Form, ends: Range) -> int | None:
    """``floor(A/B) = j`` where ``j*B <= A <= j*B + B - 1``, for ``B >= 1``."""
    low, high = (_corner(end, ends) for end in scope.range_of(numerator))
    candidates = [low[0], -1, 0] if isinstance(low[0], int) else [-1, 0]
    for value in dict.fromkeys(candidates):
        above = scope.range_of(numerator.plus(divisor, -value))
        below = scope.range_of(numerator.plus(divisor, -value - 1))
        if above[0] >= 0 and below[1] < 0:
            return value
    return low[0] if isinstance(low[0], int) and low[0] == high[1] else None


def _corner(end: End, divisor: Range) -> Range:
    """Least and greatest quotient of one numerator by a positive divisor."""
    if isinstance(end, Infinity):
        return end, end
    quotients = [_rounded(end, bound) for bound in divisor]
    return min(quotients), max(quotients)


def _rounded(end: int, divisor: End) -> int:
    if isinstance(divisor, Infinity):
        return 0 if end >= 0 else -1
    return end // divisor


def _flattened(scope: Scope, numerator: Form, divisor: Form) -> tuple[Form, Form] | None:
    """``floor((floor(A/c) + T)/B) = floor((A + c*T)/(c*B))`` for positive ``c`` and ``B``."""
    for atom, factor in numerator.terms.items():
        if factor != 1 or atom.kind not in (Kind.FLOORDIV, Kind.QUOTIENT):
            continue
        inner, radix = atom.arguments
        is_small = len(numerator.terms) * len(radix.terms) <= MOST_FLATTENED
        if is_small and divisor_range(scope, radix)[0] >= 1:
            rest = numerator.without(atom)
            return product(scope, rest, radix).plus(inner), product(scope, divisor, radix)
    return None


def _atom(scope: Scope, numerator: Form, divisor: Form, ends: Range) -> Form:
    atom = atom_of(Kind.QUOTIENT, (numerator, divisor))
    if ends[0] < 1:
        return scope.remember(atom, (NEGATIVE_INFINITY, INFINITY))
    low, high = (_corner(end, ends) for end in scope.range_of(numerator))
    return scope.remember(atom, (low[0], high[1]))
