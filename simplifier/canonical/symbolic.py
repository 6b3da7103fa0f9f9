"""Laws of ``floor(N / B)`` for a divisor that is not a constant, and may have any sign.

An integer in the divisor stands outside, ``floor(N / (c*B)) = floor(floor(N / B) / c)``, so that
the laws of constant divisors, and the digits of mixed radix, serve symbolic sizes as well.

Where ``B`` may be zero nothing is assumed but that the input is defined: so a divisor that is not
negative is at least 1 within its own quotient.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from simplifier.bounds.interval import INFINITY, NEGATIVE_INFINITY, End, Infinity, Range
from simplifier.bounds.ranges import meet
from simplifier.expr.form import ZERO, Atom, Form, Kind, atom_of, constant
from simplifier.expr.polynomials import (
    cofactor,
    degree,
    divided,
    factors,
    monomial_form,
    multiples,
    shared_factors,
)
from simplifier.laws.catalogue.quotients import (
    COMMON_FACTOR,
    FLATTEN,
    FLATTEN_TURNED,
    NEGATIVE_DIVISOR,
    ONE_VALUE,
    REMAINDER,
)
from simplifier.laws.catalogue.ranges import CORNERS, QUOTIENT_BY_FACT
from simplifier.laws.catalogue.symbolic import (
    CANCELLATION,
    INTEGER_OUTSIDE,
    POLYNOMIAL_PART,
    SYMBOLIC_SPLIT,
    TURNED_BY_SYMBOLS,
    ZERO_NUMERATOR,
)
from simplifier.limits import MOST_FLATTENED, is_deep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplifier.canonical.scope import Scope


def by_zero(scope: Scope, kind: Kind, numerator: Form) -> Form:
    """A division by zero is left alone: it has no value, so any range holds it."""
    return scope.remember(atom_of(kind, (numerator, ZERO)), (NEGATIVE_INFINITY, INFINITY))


def mod(scope: Scope, numerator: Form, divisor: Form) -> Form:
    """``A - B*floor(A/B)`` for a divisor that is zero or not a constant."""
    if divisor == ZERO:
        return by_zero(scope, Kind.MOD, numerator)
    scope.fired(REMAINDER)
    return numerator.plus(scope.product(divisor, quotient(scope, numerator, divisor)), -1)


def quotient(scope: Scope, numerator: Form, divisor: Form) -> Form:
    """``floor(A/B)`` in normal shape, for a divisor that is zero or not a constant.

    ``floor((T*B + A)/B) = T + floor(A/B)``, as long as the numerator gets shorter.
    """
    if divisor == ZERO:
        return by_zero(scope, Kind.QUOTIENT, numerator)
    if is_deep(numerator) or is_deep(divisor):
        return _atom(scope, numerator, divisor)
    numerator, divisor = _oriented(scope, numerator, divisor)
    for law in (_without_common_integer, _without_common_atom):
        shorter = law(scope, numerator, divisor)
        if shorter is not None:
            return scope.quotient(*shorter)
    scale = _content(divisor)
    if scale > 1:
        scope.fired(INTEGER_OUTSIDE)
        return scope.floordiv(quotient(scope, numerator, divisor.exactly_divided(scale)), scale)
    outside, numerator = divided(scope, numerator, divisor)
    if outside != ZERO:
        scope.fired(POLYNOMIAL_PART)
    return outside.plus(_remaining_quotient(scope, numerator, divisor))


def _remaining_quotient(scope: Scope, numerator: Form, divisor: Form) -> Form:
    """``floor(A/B)`` with nothing more to take out: its only value, a flat quotient, or an atom."""
    if numerator == ZERO:
        scope.fired(ZERO_NUMERATOR)
        return ZERO
    if scope.divisor_range(divisor)[0] >= 1:
        value = _one_value(scope, numerator, divisor)
        if value is not None:
            scope.fired(ONE_VALUE)
            return constant(value)
        for law in (_flattened, _split):
            shorter = law(scope, numerator, divisor)
            if shorter is not None:
                return scope.quotient(*shorter)
        return _reflected(scope, numerator, divisor)
    return _atom(scope, numerator, divisor)


def _oriented(scope: Scope, numerator: Form, divisor: Form) -> tuple[Form, Form]:
    """``floor(A/B) = floor(-A/-B)``: a divisor that is, or at least starts, positive."""
    lower, upper = scope.divisor_range(divisor)
    first = next(iter(divisor.terms.values()))
    if upper < 0 or (lower < 0 and first < 0):
        scope.fired(NEGATIVE_DIVISOR)
        return -numerator, -divisor
    return numerator, divisor


# Factors of numerator and divisor.


def _without_common_integer(
    scope: Scope, numerator: Form, divisor: Form
) -> tuple[Form, Form] | None:
    """``floor(A/(c*B)) = floor(floor(A/c)/B)`` for ``B >= 1``, where ``floor(A/c)`` is affine.

    Where ``c`` divides ``A``, whatever the sign of ``B``.
    """
    scale = _content(divisor)
    if scale == 1:
        return None
    is_positive = scope.divisor_range(divisor)[0] >= 1
    for step in _common_integers(numerator, scale):
        if step == gcd(step, numerator.constant, *numerator.terms.values()):
            scope.fired(CANCELLATION)
            return numerator.exactly_divided(step), divisor.exactly_divided(step)
        inner = scope.floordiv(numerator, step) if is_positive else numerator
        if is_positive and all(atom in numerator.terms for atom in inner.terms):
            scope.fired(COMMON_FACTOR)
            return inner, divisor.exactly_divided(step)
    return None


def _common_integers(numerator: Form, scale: int) -> list[int]:
    """What an integer has in common with coefficients, greatest first."""
    found = {scale, gcd(scale, numerator.constant, *numerator.terms.values())}
    found.update(gcd(scale, value) for value in numerator.terms.values())
    return sorted(found - {1}, reverse=True)


def _content(form: Form) -> int:
    return gcd(form.constant, *form.terms.values())


def _without_common_atom(scope: Scope, numerator: Form, divisor: Form) -> tuple[Form, Form] | None:
    """``floor(x*A/(x*B)) = floor(A/B)``; ``x`` is not zero where the quotient is defined."""
    if numerator.constant or divisor.constant:
        return None
    for atom in factors(next(iter(divisor.terms))):
        if all(atom in factors(other) for form in (numerator, divisor) for other in form.terms):
            scope.fired(CANCELLATION)
            return cofactor(scope, numerator, atom), cofactor(scope, divisor, atom)
    return None


# Positive divisors.


def _one_value(scope: Scope, numerator: Form, divisor: Form) -> int | None:
    """``floor(A/B) = j`` where ``j*B <= A <= j*B + B - 1``, for ``B >= 1``."""
    low, high = _quotient_range(scope, numerator, divisor)
    candidates = [low, -1, 0] if isinstance(low, int) else [-1, 0]
    for value in dict.fromkeys(candidates):
        above = _less(scope, numerator, divisor, value)
        below = _less(scope, numerator, divisor, value + 1)
        if above[0] >= 0 and below[1] < 0:
            return value
    return low if isinstance(low, int) and low == high else None


def _less(scope: Scope, numerator: Form, divisor: Form, count: int) -> Range:
    """The range of ``A - j*B`` where ``B`` is not zero."""
    low, high = scope.range_of(numerator)
    least, most = scope.divisor_range(divisor)[:: 1 if count <= 0 else -1]
    plain = low - count * least, high - count * most
    return meet(scope.range_of(numerator.plus(divisor, -count)), plain)


def _quotient_range(scope: Scope, numerator: Form, divisor: Form) -> Range:
    """The range of ``floor(A/B)`` for ``B >= 1`` by the ends of both."""
    ends = scope.divisor_range(divisor)
    low, high = (_corner(end, ends) for end in scope.range_of(numerator))
    return low[0], high[1]


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
    """``floor((floor(A/C) + T)/B) = floor((A + C*T)/(C*B))`` for ``B >= 1``.

    A negative one is turned first: ``-floor(A/C) = floor((-A - 1)/C) + 1`` for ``C >= 1``.
    """
    for atom, factor in numerator.terms.items():
        if factor not in (1, -1) or atom.kind not in (Kind.FLOORDIV, Kind.QUOTIENT):
            continue
        inner, radix = atom.arguments
        least = 1 if factor < 0 else NEGATIVE_INFINITY
        if _is_short(numerator, divisor, radix) and scope.divisor_range(radix)[0] >= least:
            rest = numerator.without(atom)
            scope.fired(FLATTEN if factor > 0 else FLATTEN_TURNED)
            if factor < 0:
                inner, rest = turned(inner), rest.plus_constant(1)
            return scope.product(rest, radix).plus(inner), scope.product(divisor, radix)
    return None


def _is_short(numerator: Form, divisor: Form, radix: Form) -> bool:
    """Whether a flat quotient has few products of few factors."""
    terms = len(numerator.terms) * len(radix.terms)
    return max(terms, degree(divisor) + degree(radix)) <= MOST_FLATTENED


def _split(scope: Scope, numerator: Form, divisor: Form) -> tuple[Form, Form] | None:
    """``floor((G*A + S)/(G*B)) = floor((A + floor(S/G))/B)`` for ``B, G >= 1``.

    ``G`` is a product of atoms, and ``floor(S/G)`` has one value.
    """
    for common in _common_monomials(numerator, divisor):
        group = monomial_form(scope, common)
        if scope.divisor_range(group)[0] < 1:
            continue
        whole, rest = multiples(scope, numerator, common)
        value = _one_value(scope, rest, group)
        if value is not None:
            scope.fired(SYMBOLIC_SPLIT)
            return whole.plus_constant(value), multiples(scope, divisor, common)[0]
    return None


def _common_monomials(numerator: Form, divisor: Form) -> Iterator[list[Atom]]:
    """Products of atoms that divide the divisor and some term of the numerator."""
    if divisor.constant:
        return
    first, *others = divisor.terms
    shared = list(factors(first))
    for atom in others:
        shared = shared_factors(shared, atom)
    found = [shared_factors(shared, atom) for atom in numerator.terms]
    distinct = {tuple(common): common for common in found if common}
    yield from sorted(distinct.values(), key=len, reverse=True)


# The quotient as an atom.


def turned(numerator: Form) -> Form:
    """``-A - 1``: ``floor(A/B) = -floor((-A - 1)/B) - 1`` for ``B >= 1``."""
    return (-numerator).plus_constant(-1)


def _reflected(scope: Scope, numerator: Form, divisor: Form) -> Form:
    """The quotient by ``B >= 1`` with fewer negative coefficients, or the same one turned."""
    signs = [factor > 0 for factor in numerator.terms.values()]
    surplus = signs.count(True) - signs.count(False)
    if surplus > 0 or (surplus == 0 and (signs[0] if signs else numerator.constant >= 0)):
        return _atom(scope, numerator, divisor)
    scope.fired(TURNED_BY_SYMBOLS)
    return -_atom(scope, turned(numerator), divisor).plus_constant(1)


def _atom(scope: Scope, numerator: Form, divisor: Form) -> Form:
    atom = atom_of(Kind.QUOTIENT, (numerator, divisor))
    if atom in scope.ranges:
        return Form(0, {atom: 1})
    ends: Range = (NEGATIVE_INFINITY, INFINITY)
    if scope.divisor_range(divisor)[0] >= 1:
        ends = _quotient_range(scope, numerator, divisor)
        scope.used(CORNERS)
        for count in _counts_by_facts(scope, numerator, divisor):
            scope.used(QUOTIENT_BY_FACT)
            ends = meet(ends, _side_of(scope, numerator, divisor, count))
    return scope.remember(atom, ends)


def _counts_by_facts(scope: Scope, numerator: Form, divisor: Form) -> Iterator[int]:
    """Integers ``k`` for which a fact speaks of ``A - k*B``."""
    for atom, value in numerator.terms.items():
        for other, factor in divisor.terms.items():
            for fact in scope.facts:
                within = fact.form.terms
                if atom in within and other in within:
                    count, remainder = divmod(-within[other] * value, factor * within[atom])
                    if not remainder:
                        yield count


def _side_of(scope: Scope, numerator: Form, divisor: Form, count: int) -> Range:
    """``floor(A/B) >= k`` where ``A - k*B >= 0``, and less where it is negative."""
    lower, upper = _less(scope, numerator, divisor, count)
    return (
        count if lower >= 0 else NEGATIVE_INFINITY,
        count - 1 if upper < 0 else INFINITY,
    )
