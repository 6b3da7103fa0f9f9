"""Digits of symbolic radix: ``m*L - m*R*floor(L/R)`` is ``m`` times the digit ``L mod R``.

What :mod:`simplifier.bounds.digits` is for constant divisors. A quotient may be by a multiple of
the radix: ``floor(floor(N/G)/R) = floor(N/(G*R))`` for ``R >= 1``, so ``L`` is ``floor(N/G)``.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from simplifier.expr.form import ONE, Atom, Form, Kind, content
from simplifier.expr.polynomials import exactly_divided, factors, multiples
from simplifier.limits import MOST_FLATTENED, MOST_QUOTIENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplifier.canonical.scope import Scope


class SymbolicDigit(NamedTuple):
    """A form as ``rest + weight * (source mod radix)``."""

    rest: Form
    weight: int
    source: Form
    radix: Form


def symbolic_digits(scope: Scope, form: Form) -> Iterator[SymbolicDigit]:
    """The ways to read a canonical form with a digit of symbolic radix."""
    seen = dict.fromkeys(factor for atom in form.terms for factor in factors(atom))
    quotients = [atom for atom in seen if is_symbolic_quotient(atom)]
    for atom in quotients if len(quotients) <= MOST_QUOTIENTS else ():
        divided = as_quotient(scope, atom)
        if divided is not None:
            weights, rest = multiples(scope, form, (atom,))
            if weights.terms:
                yield from _digits_of(scope, rest, weights, *divided)


def symbolic_digits_apart(scope: Scope, form: Form) -> Iterator[SymbolicDigit]:
    """One digit after another, each in the rest of the one before."""
    for _ in range(MOST_QUOTIENTS):
        digit = next(symbolic_digits(scope, form), None)
        if digit is None:
            return
        yield digit
        form = digit.rest


def is_symbolic_quotient(atom: Atom) -> bool:
    """Whether an atom is a quotient by symbols, or one by a constant of such a quotient."""
    if atom.kind is Kind.FLOORDIV:
        return any(inner.kind is Kind.QUOTIENT for inner in atom.numerator.terms)
    return atom.kind is Kind.QUOTIENT


def as_quotient(scope: Scope, atom: Atom) -> tuple[Form, Form] | None:
    """``N`` and the symbolic ``B`` of an atom that is ``floor(N/B)``.

    Also of ``floor((floor(N/B) + T)/c) = floor((N + B*T)/(c*B))``.
    """
    if atom.kind is Kind.QUOTIENT:
        return (atom.arguments[0], atom.arguments[1]) if atom.arguments[1].terms else None
    if atom.kind is not Kind.FLOORDIV:
        return None
    for inner, factor in atom.numerator.terms.items():
        if inner.kind is Kind.QUOTIENT and factor == 1:
            numerator, divisor = inner.arguments
            rest = atom.numerator.without(inner)
            if divisor.terms and len(rest.terms) * len(divisor.terms) <= MOST_FLATTENED:
                flat = numerator.plus(scope.product(rest, divisor))
                return flat, divisor.times(atom.divisor)
    return None


def _digits_of(
    scope: Scope, rest: Form, weights: Form, numerator: Form, divisor: Form
) -> Iterator[SymbolicDigit]:
    """Digits of ``rest + weights * floor(numerator/divisor)``."""
    common = gcd(weights.constant, content(weights))
    for weight in (common, -common):
        plain = weights.exactly_divided(-weight)
        for scale in sorted({1, gcd(common, divisor.constant, content(divisor))}):
            radix = plain.times(scale)
            step = exactly_divided(scope, divisor, radix)
            if step is None or (step != ONE and scope.divisor_range(radix)[0] < 1):
                continue
            source = scope.quotient(numerator, step)
            yield SymbolicDigit(rest.plus(source, -weight // scale), weight // scale, source, radix)


def from_its_end(digit: SymbolicDigit) -> SymbolicDigit:
    """``L mod R = R - 1 - ((-L - 1) mod R)`` for ``R >= 1``."""
    rest, weight, source, radix = digit
    last = radix.plus_constant(-1)
    return SymbolicDigit(rest.plus(last, weight), -weight, (-source).plus_constant(-1), radix)
