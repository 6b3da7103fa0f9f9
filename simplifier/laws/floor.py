"""Laws of ``floor(N / c)`` for a constant ``c > 0``: what is done before it may become an atom.

Every law rests on one fact, ``floor(x + n) = floor(x) + n`` for an integer ``n``, or on
``floor(floor(x) / n) = floor(x / n)`` for a positive integer ``n``. They are tried in the order of
this module; the first one that applies gives a quotient with fewer quotients inside it, a smaller
divisor, or smaller coefficients, so that they come to an end.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from simplifier.digits import is_crowded
from simplifier.form import ZERO, Atom, Form, Kind, collected, constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplifier.digits import Unit
    from simplifier.interval import End
    from simplifier.scope import Scope


class Residue(NamedTuple):
    """What is left inside a quotient when the multiples of ``c`` have been taken out.

    Every weight is at most half of ``c``.
    """

    constant: int
    units: tuple[Unit, ...]


def floordiv(scope: Scope, numerator: Form, divisor: int) -> Form:
    """``floor(numerator / divisor)`` in normal shape: canonical numerators, positive divisors."""
    outside, residue = extract(scope, numerator, divisor)
    if not residue.units:
        return outside
    shorter = split(scope, residue, divisor)
    if shorter is not None:
        return outside.plus(shorter)
    opened, rest = open_digits(residue, divisor)
    if len(rest.terms) <= len(numerator.terms) and rest != numerator and opened.terms:
        return outside.plus(opened).plus(scope.floordiv(rest, divisor))
    outside = outside.plus(opened)
    flat = None if is_crowded(rest) else flatten(scope, rest, divisor)
    return outside.plus(reflect(scope, rest, divisor) if flat is None else flat)


def extract(scope: Scope, numerator: Form, divisor: int) -> tuple[Form, Residue]:
    """``floor((c*A + B)/c) = A + floor(B/c)``.

    ``A`` is gathered from the digits and single atoms of the numerator, never from inside a digit:
    each weight leaves the remainder nearest to zero.
    """
    view = scope.view(numerator)
    whole, rest = divmod(view.constant, divisor)
    outside = constant(whole)
    units: list[Unit] = []
    for unit in view.units:
        residue = nearest_residue(unit.weight, divisor)
        if residue != unit.weight:
            outside = outside.plus(unit.value, (unit.weight - residue) // divisor)
        if residue:
            units.append(unit._replace(weight=residue))
    return outside, Residue(rest, tuple(units))


def nearest_residue(value: int, divisor: int) -> int:
    """The number congruent to ``value`` nearest to zero; half of the divisor stays positive."""
    residue = value % divisor
    return residue - divisor if 2 * residue > divisor else residue


def split(scope: Scope, residue: Residue, divisor: int) -> Form | None:
    """``floor((g*A + S)/(g*c)) = floor((A + floor(S/g))/c)``, where ``floor(S/g)`` is affine.

    One law covers quotients that are constant, small terms that never matter, common factors,
    coefficients that are congruent to smaller ones, and variables of two values.
    """
    for factor in _common_factors(residue, divisor):
        small = [unit for unit in residue.units if unit.weight % factor]
        quotient = _affine_quotient(small, residue.constant, factor)
        if quotient is None:
            continue
        for unit in residue.units:
            if not unit.weight % factor:
                quotient = quotient.plus(unit.value, unit.weight // factor)
        return scope.floordiv(quotient, divisor // factor)
    return None


def _common_factors(residue: Residue, divisor: int) -> list[int]:
    """The divisor and what it has in common with sets of weights, greatest first."""
    found = {divisor, *(gcd(unit.weight, divisor) for unit in residue.units)}
    if len(found) > 2:  # noqa: PLR2004 - two numbers, one dividing the other, are closed under gcd
        found |= {gcd(a, b) for a in found for b in found}
        found |= {gcd(a, b) for a in found for b in found}
    return sorted(found - {1}, reverse=True)


def _affine_quotient(units: Sequence[Unit], offset: int, divisor: int) -> Form | None:
    """``floor((offset + sum of units)/divisor)`` without a quotient, or ``None``."""
    quotient = ZERO
    lower: End = offset
    upper: End = offset
    tie: Unit | None = None
    weight = 0
    for unit in units:
        weight = nearest_residue(unit.weight, divisor)
        quotient = quotient.plus(unit.value, (unit.weight - weight) // divisor)
        low, high = (unit.lower, unit.upper) if weight > 0 else (unit.upper, unit.lower)
        lower, upper = lower + weight * low, upper + weight * high
        if 2 * weight == divisor:
            tie = unit._replace(weight=weight)
    value = _cell(lower, upper, divisor)
    if value is not None:
        return quotient.plus_constant(value)
    if tie is not None:
        value = _cell(*_other_sign(lower, upper, tie), divisor)
        if value is not None:
            return quotient.plus(tie.value).plus_constant(value)
    affine = _two_valued(units[0], weight, offset, divisor) if len(units) == 1 else None
    return None if affine is None else quotient.plus(affine)


def _cell(lower: End, upper: End, divisor: int) -> int | None:
    """The quotient that all values of a range have in common."""
    if isinstance(lower, int) and isinstance(upper, int):
        quotient = lower // divisor
        if quotient == upper // divisor:
            return quotient
    return None


def _other_sign(lower: End, upper: End, tie: Unit) -> tuple[End, End]:
    """The range with ``-c/2`` in place of ``c/2`` as the weight of a unit."""
    shift = tie.weight * (tie.lower + tie.upper)
    return lower - shift, upper - shift


def _two_valued(unit: Unit, weight: int, offset: int, divisor: int) -> Form | None:
    """Any function of something with two values is affine in it."""
    low = unit.lower
    if not isinstance(low, int) or unit.upper != low + 1:
        return None
    first = (offset + weight * low) // divisor
    step = (offset + weight * (low + 1)) // divisor - first
    return unit.value.times(step).plus_constant(first - step * low)


def open_digits(residue: Residue, divisor: int) -> tuple[Form, Form]:
    """``r*(L mod n) = r*L - r*n*floor(L/n)``: where ``c`` divides ``r*n``, the quotient leaves.

    Gives what leaves, and the numerator that is left. Digits that do not close on ``c`` stay whole,
    and so do their atoms; the others are reduced again.
    """
    rest = constant(residue.constant)
    for unit in residue.units:
        rest = rest.plus(unit.value, unit.weight)
    terms = dict(rest.terms)
    outside: dict[Atom, int] = {}
    digits = [(unit, unit.quotient) for unit in residue.units if unit.quotient is not None]
    for unit, quotient in digits:
        factor = terms.get(quotient, 0)
        if factor and (factor % divisor == 0 or factor != -unit.weight * unit.radix):
            _reduce(terms, quotient, divisor, outside)
    if digits:
        whole = _atoms_of_whole_digits(digits, terms)
        for atom in list(terms):
            if atom not in whole:
                _reduce(terms, atom, divisor, outside)
    return collected(0, outside), Form(rest.constant, terms)


def _atoms_of_whole_digits(
    digits: Iterable[tuple[Unit, Atom]], terms: dict[Atom, int]
) -> frozenset[Atom]:
    return frozenset(
        atom
        for unit, quotient in digits
        if terms.get(quotient) == -unit.weight * unit.radix
        for atom in unit.value.terms
    )


def _reduce(terms: dict[Atom, int], atom: Atom, divisor: int, outside: dict[Atom, int]) -> None:
    """Leave of a term only its residue; the multiple goes outside."""
    factor = terms[atom]
    residue = nearest_residue(factor, divisor)
    if residue != factor:
        outside[atom] = outside.get(atom, 0) + (factor - residue) // divisor
    if residue:
        terms[atom] = residue
    else:
        del terms[atom]


def flatten(scope: Scope, numerator: Form, divisor: int) -> Form | None:
    """``floor((floor(A/a) + B)/c) = floor((A + a*B)/(a*c))``, for one inner quotient.

    A negative one is turned first: ``-floor(A/a) = floor((a - 1 - A)/a)``.
    """
    inner = [
        atom
        for atom, factor in numerator.terms.items()
        if atom.kind is Kind.FLOORDIV and abs(factor) == 1
    ]
    if not inner:
        return None
    chosen = inner[-1]
    radix = chosen.divisor
    if numerator.terms[chosen] > 0:
        source = chosen.numerator
    else:
        source = chosen.numerator.times(-1).plus_constant(radix - 1)
    return scope.floordiv(source.plus(numerator.without(chosen), radix), radix * divisor)


def reflect(scope: Scope, numerator: Form, divisor: int) -> Form:
    """``floor(N/c) = -floor((c - 1 - N)/c)``, whichever has fewer negative coefficients."""
    halves = {atom: 1 for atom, factor in numerator.terms.items() if 2 * factor == divisor}
    if not _is_reflected(numerator, divisor):
        return scope.quotient_atom(numerator, divisor)
    # Half of the divisor stays positive: -x*c/2 is x*c/2 - x*c.
    terms = {
        atom: factor if atom in halves else -factor for atom, factor in numerator.terms.items()
    }
    turned = Form(divisor - 1 - numerator.constant, terms)
    return Form(0, halves).plus(scope.quotient_atom(turned, divisor), -1)


def _is_reflected(numerator: Form, divisor: int) -> bool:
    signs = [factor > 0 for factor in numerator.terms.values() if 2 * factor != divisor]
    negative, positive = signs.count(False), signs.count(True)
    if negative != positive:
        return negative > positive
    offset, turned = numerator.constant, divisor - 1 - numerator.constant
    return turned < offset or (turned == offset and bool(signs) and not signs[0])
