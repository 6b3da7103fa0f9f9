"""Forms as polynomials: the factors of their terms, division, and digits of symbolic radix.

``m*L - m*R*floor(L/R)`` is ``m`` times the digit ``L mod R``. A quotient may be by a multiple of
the radix: ``floor(floor(N/G)/R) = floor(N/(G*R))`` for ``R >= 1``, so ``L`` is ``floor(N/G)``.
:mod:`simplifier.bounds.digits` has the digits of constant radix.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from simplifier.expr.form import ONE, ZERO, Atom, AtomKind, Form, collected, content
from simplifier.limits import MAX_FLATTENED_TERMS, MAX_QUOTIENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simplifier.bounds.context import Context
    from simplifier.expr.form import Key


def factors(atom: Atom) -> tuple[Atom, ...]:
    """The atoms that a monomial multiplies; a product of sums, as it is spelled, counts as one."""
    if atom.kind is not AtomKind.PRODUCT:
        return (atom,)
    found: list[Atom] = []
    for argument in atom.arguments:
        if argument.constant or len(argument.terms) > 1:
            return (atom,)
        found += argument.terms
    return tuple(found)


def degree(form: Form) -> int:
    """The largest number of factors of a term."""
    return max([len(factors(atom)) for atom in form.terms], default=0)


def shared_factors(atoms: Sequence[Atom], atom: Atom) -> list[Atom]:
    """The common factors of a product of atoms and a monomial, each as often as in both."""
    left = list(factors(atom))
    shared: list[Atom] = []
    for factor in atoms:
        if factor in left:
            left.remove(factor)
            shared.append(factor)
    return shared


def common_factors(form: Form) -> list[Atom]:
    """The factors that all terms have."""
    if form.constant:
        return []
    first, *others = form.terms
    return reduce(shared_factors, others, list(factors(first)))


def factors_left(atom: Atom, divisor: Sequence[Atom]) -> list[Atom] | None:
    """The factors of a monomial less others; ``None`` if some of them are missing."""
    left = list(factors(atom))
    for factor in divisor:
        if factor not in left:
            return None
        left.remove(factor)
    return left


def monomial_form(context: Context, atoms: Sequence[Atom]) -> Form:
    """The product of atoms, maybe none."""
    return Form(0, {context.monomial(atoms): 1}) if atoms else ONE


def cofactor(context: Context, form: Form, factor: Atom) -> Form:
    """The form divided by an atom that is a factor of every term."""
    return multiples(context, form, (factor,))[0]


def multiples(context: Context, form: Form, group: Sequence[Atom]) -> tuple[Form, Form]:
    """``A`` and ``S`` of the form ``G*A + S``, for a product ``G`` of atoms."""
    total = 0
    whole: dict[Atom, int] = {}
    rest: dict[Atom, int] = {}
    for atom, value in form.terms.items():
        left = factors_left(atom, group)
        if left is None:
            rest[atom] = value
        elif left:
            whole[context.monomial(left)] = value
        else:
            total = value
    return collected(total, whole), Form(form.constant, rest)


def divided(context: Context, dividend: Form, divisor: Form) -> tuple[Form, Form]:
    """``T`` and ``A`` of ``dividend = T*divisor + A``, taken out as long as ``A`` gets shorter.

    By a sum, also the step of a long division that leaves the least: ``x*x - y*y`` by ``x + y``
    gets no shorter before its last step. The divisor is not a constant.
    """
    lead = max(divisor.terms, key=_rank) if len(divisor.terms) > 1 else next(iter(divisor.terms))
    outside = ZERO
    for atom in list(dividend.terms):
        step = _step(context, dividend, divisor, lead, atom)
        if step is not None:
            shorter = dividend.plus(context.product(step, divisor), -1)
            if _size(shorter) < _size(dividend):
                dividend, outside = shorter, outside.plus(step)
    best = outside, dividend
    if len(divisor.terms) > 1:
        for whole, rest in _long_division(context, dividend, divisor, lead):
            if _size(rest) < _size(best[1]):
                best = outside.plus(whole), rest
    return best


def _long_division(
    context: Context, dividend: Form, divisor: Form, lead: Atom
) -> Iterator[tuple[Form, Form]]:
    """What is taken out and what is left after each step, the highest terms first."""
    outside = ZERO
    for _ in range(MAX_FLATTENED_TERMS):
        ordered = sorted(dividend.terms, key=_rank, reverse=True)
        steps = (_step(context, dividend, divisor, lead, atom) for atom in ordered)
        step = next((step for step in steps if step is not None), None)
        if step is None:
            return
        outside, dividend = outside.plus(step), dividend.plus(context.product(step, divisor), -1)
        yield outside, dividend


def _step(context: Context, dividend: Form, divisor: Form, lead: Atom, atom: Atom) -> Form | None:
    """How often the divisor's leading term goes into a term, if it does so without a rest."""
    whole, remainder = divmod(dividend.terms.get(atom, 0), divisor.terms[lead])
    left = factors_left(atom, factors(lead))
    if remainder or not whole or left is None:
        return None
    return monomial_form(context, left).times(whole)


def _rank(atom: Atom) -> tuple[int, list[Key]]:
    """Orders monomials by degree, then by their factors; multiplying keeps the order."""
    parts = factors(atom)
    return len(parts), [part.order for part in parts]


def exactly_divided(context: Context, dividend: Form, divisor: Form) -> Form | None:
    """The quotient, if the division leaves no rest; else ``None``."""
    quotient, rest = divided(context, dividend, divisor)
    return quotient if rest == ZERO else None


def _size(form: Form) -> int:
    return len(form.terms) + (form.constant != 0)


# Digits of symbolic radix.


class SymbolicDigit(NamedTuple):
    """A form as ``rest + weight * stride * (source mod radix)``."""

    rest: Form
    weight: int
    source: Form
    radix: Form
    stride: Form = ONE
    """A product of symbols that the radix has not."""


def symbolic_digits(context: Context, form: Form) -> Iterator[SymbolicDigit]:
    """The ways to read a canonical form with a digit of symbolic radix, its weight a number."""
    for part in _weighted_quotients(context, form):
        yield from _digits_of(context, *part)


def strided_digits(context: Context, form: Form) -> Iterator[SymbolicDigit]:
    """The ways to read a canonical form with a digit of symbolic radix and symbolic stride."""
    for part in _weighted_quotients(context, form):
        yield from _strided_digits_of(context, *part)


def _weighted_quotients(context: Context, form: Form) -> Iterator[tuple[Form, Form, Form, Form]]:
    """``T``, ``W``, ``N`` and ``B`` of ``T + W*floor(N/B)``, for each quotient by symbols."""
    seen = dict.fromkeys(factor for atom in form.terms for factor in factors(atom))
    quotients = [atom for atom in seen if is_symbolic_quotient(atom)]
    for atom in quotients if len(quotients) <= MAX_QUOTIENTS else ():
        divided = as_quotient(context, atom)
        if divided is not None:
            weights, rest = multiples(context, form, (atom,))
            if weights.terms:
                yield rest, weights, *divided


def symbolic_digits_apart(context: Context, form: Form) -> Iterator[SymbolicDigit]:
    """One digit after another, each in the rest of the one before."""
    for _ in range(MAX_QUOTIENTS):
        digit = next(symbolic_digits(context, form), None)
        if digit is None:
            return
        yield digit
        form = digit.rest


def is_symbolic_quotient(atom: Atom) -> bool:
    """Whether an atom is a quotient by symbols, or one by a constant of such a quotient."""
    if atom.kind is AtomKind.FLOORDIV:
        return any(inner.kind is AtomKind.QUOTIENT for inner in atom.numerator.terms)
    return atom.kind is AtomKind.QUOTIENT


def as_quotient(context: Context, atom: Atom) -> tuple[Form, Form] | None:
    """``N`` and the symbolic ``B`` of an atom that is ``floor(N/B)``.

    Also of ``floor((floor(N/B) + T)/c) = floor((N + B*T)/(c*B))``.
    """
    if atom.kind is AtomKind.QUOTIENT:
        return (atom.arguments[0], atom.arguments[1]) if atom.arguments[1].terms else None
    if atom.kind is not AtomKind.FLOORDIV:
        return None
    for inner, factor in atom.numerator.terms.items():
        if inner.kind is AtomKind.QUOTIENT and factor == 1:
            numerator, divisor = inner.arguments
            rest = atom.numerator.without(inner)
            if divisor.terms and len(rest.terms) * len(divisor.terms) <= MAX_FLATTENED_TERMS:
                flat = numerator.plus(context.product(rest, divisor))
                return flat, divisor.times(atom.divisor)
    return None


def _digits_of(
    context: Context, rest: Form, weights: Form, numerator: Form, divisor: Form
) -> Iterator[SymbolicDigit]:
    """Digits of ``rest + weights * floor(numerator/divisor)``."""
    common = gcd(weights.constant, content(weights))
    for weight in (common, -common):
        plain = weights.exactly_divided(-weight)
        for scale in sorted({1, gcd(common, divisor.constant, content(divisor))}):
            radix = plain.times(scale)
            if radix.is_constant:
                if radix.constant <= 1:
                    continue
                step = divisor.exactly_divided(radix.constant)
            else:
                step = exactly_divided(context, divisor, radix)
            if step is None or (step != ONE and context.divisor_range(radix)[0] < 1):
                continue
            source = context.quotient(numerator, step)
            yield SymbolicDigit(rest.plus(source, -weight // scale), weight // scale, source, radix)


def _strided_digits_of(
    context: Context, rest: Form, weights: Form, numerator: Form, divisor: Form
) -> Iterator[SymbolicDigit]:
    """Digits of ``rest + weights * floor(numerator/divisor)`` whose strides have symbols.

    These are the common factors of the weights that the divisor has not. Of weights, those without
    the divisor stay: ``L*x - (L*B - 1)*floor(x/B)`` is ``L*(x mod B) + floor(x/B)``.
    """
    if len(divisor.terms) == 1 and not divisor.constant:
        whole, others = multiples(context, weights, factors(next(iter(divisor.terms))))
        if ZERO not in (whole, others):
            kept = context.product(others, context.quotient(numerator, divisor))
            rest, weights = rest.plus(kept), weights.plus(others, -1)
    symbols = common_factors(weights)
    for factor in common_factors(divisor):
        if factor in symbols:
            symbols.remove(factor)
    if symbols:
        stride = monomial_form(context, symbols)
        within, _ = multiples(context, weights, symbols)
        for digit in _digits_of(context, ZERO, within, numerator, divisor):
            left = rest.plus(context.product(stride, digit.rest))
            yield digit._replace(rest=left, stride=stride)


def from_its_end(context: Context, digit: SymbolicDigit) -> SymbolicDigit:
    """``L mod R = R - 1 - ((-L - 1) mod R)`` for ``R >= 1``."""
    rest, weight, source, radix, stride = digit
    last = context.product(stride, radix.plus_constant(-1))
    turned = (-source).plus_constant(-1)
    return SymbolicDigit(rest.plus(last, weight), -weight, turned, radix, stride)
