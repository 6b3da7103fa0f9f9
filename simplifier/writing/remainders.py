"""Quotients come back as remainders."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from simplifier import form as forms
from simplifier.form import ZERO, Atom, Form, Kind, constant
from simplifier.writing.rewriting import Rewriting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplifier.scope import Scope


def remainder_steps(scope: Scope, form: Form) -> Iterator[Rewriting]:
    """``k*floor(N/c) = m*(L mod n) - m*L`` with ``L = floor(N/g)``, ``n = c/g``, ``m = -k/n``."""
    quotients = [atom for atom in form.terms if _is_quotient(scope, atom)]
    for atom in quotients:
        factor, divisor = form.terms[atom], atom.divisor
        smallest = divisor // gcd(factor, divisor)
        chain = {smallest, *(other.divisor for other in quotients)}
        for step in sorted(chain):
            if step >= divisor or divisor % step or step % smallest:
                continue
            source = scope.floordiv(atom.numerator, step)
            radix, weight = divisor // step, -factor * step // divisor
            rest = form.plus(source, -weight).without(atom)
            yield from _as_remainder(rest, source, radix, weight)
            yield from _with_rest_inside(scope, rest, source, radix, weight)
            # L mod n = n - 1 - ((n - 1 - L) mod n).
            yield from _as_remainder(
                rest.plus_constant(weight * (radix - 1)),
                (-source).plus_constant(radix - 1),
                radix,
                -weight,
            )


def _is_quotient(scope: Scope, atom: Atom) -> bool:
    """Whether the atom is a quotient in normal shape, not one that was only spelled."""
    return atom.kind is Kind.FLOORDIV and scope.is_canonical(atom)


def _as_remainder(rest: Form, source: Form, radix: int, weight: int) -> Iterator[Rewriting]:
    """Spellings of ``rest + weight * (source mod radix)``."""
    yield Rewriting(rest, weight, Kind.MOD, _residues(source, radix, radix))
    if weight < 0:
        yield Rewriting(rest, -weight, Kind.MOD, _residues(-source, radix, -radix))
    offset = rest.constant
    if weight > 1 and 0 <= offset < weight:
        # m*(L mod n) + r = (m*L + r) mod (m*n) for 0 <= r < m.
        scaled, period = source.times(weight).plus_constant(offset), radix * weight
        yield Rewriting(rest.plus_constant(-offset), 1, Kind.MOD, _residues(scaled, period, period))


def _with_rest_inside(
    scope: Scope, rest: Form, source: Form, radix: int, weight: int
) -> Iterator[Rewriting]:
    """``m*(L mod n) + r = (m*L + r) mod (m*n)`` where ``r`` lies in ``[0, m - 1]``."""
    if weight > 1 and rest.terms:
        lower, upper = scope.range_of(scope.canonical(rest))
        if lower >= 0 and upper < weight:
            period = radix * weight
            yield Rewriting(
                ZERO, 1, Kind.MOD, _residues(source.times(weight).plus(rest), period, period)
            )


def _residues(source: Form, radix: int, divisor: int) -> Iterator[tuple[Form, Form]]:
    """Numerators congruent to the source with small coefficients, over the divisor.

    None of them negative, or nearest to zero.
    """
    modulus = constant(divisor)
    positive = forms.collected(
        source.constant % radix, {atom: value % radix for atom, value in source.terms.items()}
    )
    yield positive, modulus
    whole = _with_whole_digits(positive, radix)
    if whole != positive:
        yield whole, modulus
    if source.constant < 0 or not all(value > 0 for value in source.terms.values()):
        yield _nearest(positive, radix, 0), modulus
        yield _nearest(positive, radix, 1), modulus


def _with_whole_digits(source: Form, radix: int) -> Form:
    """The congruent form where quotients have the coefficients that make remainders of them."""
    terms = dict(source.terms)
    for atom, factor in source.terms.items():
        if atom.kind is Kind.FLOORDIV:
            for inner, value in atom.numerator.terms.items():
                weight, remainder = divmod(terms.get(inner, 0), value)
                closing = weight * atom.divisor
                if weight and not remainder and (factor + closing) % radix == 0:
                    terms[atom] = -closing
                    break
    return Form(source.constant, terms)


def _nearest(positive: Form, radix: int, tie: int) -> Form:
    terms = {
        atom: value if 2 * value + tie <= radix else value - radix
        for atom, value in positive.terms.items()
    }
    return Form(positive.constant, terms)
