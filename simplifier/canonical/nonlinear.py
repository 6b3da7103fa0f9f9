"""Laws of products, and of ``floor(N / B)`` for a divisor that is not a constant, of any sign.

Products are multiplied out into monomials, where like terms meet.

An integer in the divisor stands outside, ``floor(N / (c*B)) = floor(floor(N / B) / c)``, so that
the laws of constant divisors, and the digits of mixed radix, serve symbolic sizes as well.

Where ``B`` may be zero nothing is assumed but that the input is defined: so a divisor that is not
negative is at least 1 within its own quotient.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from math import gcd
from typing import TypeAlias

from simplifier.bounds import digits, ranges
from simplifier.bounds.context import UNBOUNDED, Context
from simplifier.bounds.interval import INFINITY, NEGATIVE_INFINITY, Range, meet
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import ONE, ZERO, Atom, AtomKind, Form, Key
from simplifier.laws.catalogue import floordiv as by_constants
from simplifier.laws.catalogue import nonlinear as law
from simplifier.laws.catalogue.ranges import DIGIT_RANGE
from simplifier.limits import MAX_BITS, MAX_FACTORS, MAX_FLATTENED_TERMS, MAX_PRODUCT_TERMS

Division: TypeAlias = "tuple[Form, Form]"
"""Numerator and divisor."""

# Quotients.


def by_zero(context: Context, kind: AtomKind, numerator: Form) -> Form:
    """A division by zero, kept as it is: it has no value, so any range holds it."""
    return context.remember(forms.atom_of(kind, (numerator, ZERO)), (NEGATIVE_INFINITY, INFINITY))


def mod(context: Context, numerator: Form, divisor: Form) -> Form:
    """``A - B*floor(A/B)`` for a divisor that is zero or not a constant."""
    if divisor == ZERO:
        return by_zero(context, AtomKind.MOD, numerator)
    context.fired(by_constants.REMAINDER)
    return numerator.plus(context.product(divisor, context.quotient(numerator, divisor)), -1)


def quotient(context: Context, numerator: Form, divisor: Form) -> Form:
    """``floor(A/B)`` in normal shape, for a divisor that is zero or not a constant.

    ``floor((T*B + A)/B) = T + floor(A/B)``, as long as the numerator gets shorter.
    """
    if divisor == ZERO:
        return by_zero(context, AtomKind.QUOTIENT, numerator)
    if forms.is_deep(numerator) or forms.is_deep(divisor):
        return _atom(context, numerator, divisor)
    divisor = _as_factor(numerator, divisor)
    numerator, divisor = _oriented(context, numerator, divisor)
    for shorten in (_without_common_integer, _without_common_atom):
        shorter = shorten(context, numerator, divisor)
        if shorter is not None:
            return context.quotient(*shorter)
    scale = _content(divisor)
    if scale > 1:
        is_positive = context.divisor_range(divisor)[0] >= 1
        shorter = _split(context, numerator, divisor) if is_positive else None
        if shorter is not None:
            return context.quotient(*shorter)
        context.fired(by_constants.FLATTEN)
        inner = context.quotient(numerator, divisor.exactly_divided(scale))
        return context.floordiv(inner, scale)
    outside, numerator = digits.divided(context, numerator, divisor)
    if outside != ZERO:
        context.fired(by_constants.EXTRACTION)
    return outside.plus(_remaining_quotient(context, numerator, divisor))


def _as_factor(numerator: Form, divisor: Form) -> Form:
    """The divisor as one term, where the numerator has it so: a product of very long sums."""
    factors = (each for atom in numerator.terms for each in digits.factors(atom))
    sums = (each for each in factors if each.kind is AtomKind.SUM)
    return next((Form(0, {each: 1}) for each in sums if each.arguments[0] == divisor), divisor)


def _remaining_quotient(context: Context, numerator: Form, divisor: Form) -> Form:
    """``floor(A/B)`` with nothing more to take out: its only value, a flat quotient, or an atom."""
    if numerator == ZERO:
        context.fired(law.ZERO_NUMERATOR)
        return ZERO
    if context.divisor_range(divisor)[0] >= 1:
        value = _one_value(context, numerator, divisor)
        if value is not None:
            context.fired(by_constants.ONE_VALUE)
            return forms.constant(value)
        for shorten in (_flattened, _split):
            shorter = shorten(context, numerator, divisor)
            if shorter is not None:
                return context.quotient(*shorter)
        return _reflected(context, numerator, divisor)
    return _atom(context, numerator, divisor)


def _oriented(context: Context, numerator: Form, divisor: Form) -> Division:
    """``floor(A/B) = floor(-A/-B)``: a divisor that is, or at least starts, positive."""
    lower, upper = context.divisor_range(divisor)
    first = next(iter(divisor.terms.values()))
    if upper < 0 or (lower < 0 and first < 0):
        context.fired(by_constants.NEGATIVE_DIVISOR)
        return -numerator, -divisor
    return numerator, divisor


# Factors of numerator and divisor.


def _without_common_integer(context: Context, numerator: Form, divisor: Form) -> Division | None:
    """``floor(A/(c*B)) = floor(floor(A/c)/B)`` for ``B >= 1``, where ``floor(A/c)`` is affine.

    Where ``c`` divides ``A``, whatever the sign of ``B``.
    """
    scale = _content(divisor)
    if scale == 1:
        return None
    is_positive = context.divisor_range(divisor)[0] >= 1
    for step in _common_integers(numerator, scale):
        if _content(numerator) % step == 0:
            context.fired(law.CANCELLATION)
            return numerator.exactly_divided(step), divisor.exactly_divided(step)
        inner = context.floordiv(numerator, step) if is_positive else numerator
        if is_positive and all(atom in numerator.terms for atom in inner.terms):
            context.fired(by_constants.SPLIT)
            return inner, divisor.exactly_divided(step)
    return None


def _common_integers(numerator: Form, scale: int) -> list[int]:
    """Common factors of an integer and the coefficients, greatest first."""
    found = {scale, gcd(scale, _content(numerator))}
    found.update(gcd(scale, value) for value in numerator.terms.values())
    return sorted(found - {1}, reverse=True)


def _content(form: Form) -> int:
    return gcd(form.constant, *form.terms.values())


def _without_common_atom(context: Context, numerator: Form, divisor: Form) -> Division | None:
    """``floor(x*A/(x*B)) = floor(A/B)``; ``x`` is not zero where the quotient is defined."""
    if numerator.constant or divisor.constant:
        return None
    for atom in digits.factors(next(iter(divisor.terms))):
        if all(atom in digits.factors(each) for each in (*numerator.terms, *divisor.terms)):
            context.fired(law.CANCELLATION)
            wholes = [digits.multiples(context, each, (atom,))[0] for each in (numerator, divisor)]
            return wholes[0], wholes[1]
    return None


# Positive divisors.


def _one_value(context: Context, numerator: Form, divisor: Form) -> int | None:
    """``floor(A/B) = j`` where ``j*B <= A <= j*B + B - 1``, for ``B >= 1``."""
    low, high = ranges.range_by_corners(context, numerator, divisor)
    if isinstance(low, int) and low == high:
        return low
    for value in dict.fromkeys((low, -1, 0)):
        if not isinstance(value, int) or not low <= value <= high:
            continue
        at_least = ranges.range_less_multiple(context, numerator, divisor, value)[0] >= 0
        if at_least and ranges.range_less_multiple(context, numerator, divisor, value + 1)[1] < 0:
            return value
    return None


def _flattened(context: Context, numerator: Form, divisor: Form) -> Division | None:
    """``floor((floor(A/C) + T)/B) = floor((A + C*T)/(C*B))`` for ``B >= 1``.

    A negative one is turned first: ``-floor(A/C) = floor((-A - 1)/C) + 1`` for ``C >= 1``.
    """
    for atom, factor in numerator.terms.items():
        if factor not in (1, -1) or atom.kind not in (AtomKind.FLOORDIV, AtomKind.QUOTIENT):
            continue
        inner, radix = atom.arguments
        least = 1 if factor < 0 else NEGATIVE_INFINITY
        if _is_short(numerator, divisor, radix) and context.divisor_range(radix)[0] >= least:
            rest = numerator.without(atom)
            context.fired(by_constants.FLATTEN)
            if factor < 0:
                context.fired(law.TURNED_BY_SYMBOLS)
                inner, rest = turned(inner), rest.plus_constant(1)
            return context.product(rest, radix).plus(inner), context.product(divisor, radix)
    return None


def _is_short(numerator: Form, divisor: Form, radix: Form) -> bool:
    """Whether a flat quotient has few products of few factors."""
    terms = len(numerator.terms) * len(radix.terms)
    return max(terms, digits.degree(divisor) + digits.degree(radix)) <= MAX_FLATTENED_TERMS


def _split(context: Context, numerator: Form, divisor: Form) -> Division | None:
    """``floor((G*A + S)/(G*B)) = floor((A + floor(S/G))/B)`` for ``B, G >= 1``.

    ``G`` is a product of atoms and of the integer that ``A`` and ``B`` share, and ``floor(S/G)``
    has one value.
    """
    integer = _content(divisor)
    for common in _common_monomials(numerator, divisor):
        whole, rest = digits.multiples(context, numerator, common)
        scale = gcd(_content(whole), integer)
        if scale == 1 < integer:
            continue  # first the integer goes outside
        group = digits.monomial_form(context, common).times(scale)
        if context.divisor_range(group)[0] < 1:
            continue
        value = _one_value(context, rest, group)
        if value is not None:
            context.fired(by_constants.SPLIT)
            left = digits.multiples(context, divisor, common)[0].exactly_divided(scale)
            return whole.exactly_divided(scale).plus_constant(value), left
    return None


def _common_monomials(numerator: Form, divisor: Form) -> Iterator[list[Atom]]:
    """Products of atoms that divide the divisor and some term of the numerator."""
    if divisor.constant:
        return
    first, *others = divisor.terms
    shared = reduce(digits.shared_factors, others, list(digits.factors(first)))
    found = [digits.shared_factors(shared, atom) for atom in numerator.terms]
    distinct = {tuple(common): common for common in found if common}
    yield from sorted(distinct.values(), key=len, reverse=True)


# The quotient as an atom.


def turned(numerator: Form) -> Form:
    """``-A - 1``: ``floor(A/B) = -floor((-A - 1)/B) - 1`` for ``B >= 1``."""
    return (-numerator).plus_constant(-1)


def _reflected(context: Context, numerator: Form, divisor: Form) -> Form:
    """The quotient by ``B >= 1`` with fewer negative coefficients, or the same one turned."""
    signs = [factor > 0 for factor in numerator.terms.values()]
    surplus = signs.count(True) - signs.count(False)
    if surplus > 0 or (surplus == 0 and (signs[0] if signs else numerator.constant >= 0)):
        return _atom(context, numerator, divisor)
    context.fired(law.TURNED_BY_SYMBOLS)
    return -_atom(context, turned(numerator), divisor).plus_constant(1)


def _atom(context: Context, numerator: Form, divisor: Form) -> Form:
    atom = forms.atom_of(AtomKind.QUOTIENT, (numerator, divisor))
    if atom in context.ranges:
        return Form(0, {atom: 1})
    ends: Range = (NEGATIVE_INFINITY, INFINITY)
    if context.divisor_range(divisor)[0] >= 1:
        ends = ranges.quotient_range(context, numerator, divisor)
    return context.remember(atom, ends)


# Products.


def product(context: Context, left: Form, right: Form) -> Form:
    """The product of canonical forms, multiplied out into monomials."""
    if left.is_constant:
        return right.times(left.constant)
    if right.is_constant:
        return left.times(right.constant)
    if left == right and (square := two_valued_square(context, left)) is not None:
        return square
    if len(left.terms) * len(right.terms) > MAX_PRODUCT_TERMS:
        left, right = context.single(left), context.single(right)
    if _grows(left, right):
        return kept_product(context, (left, right))
    return _multiplied_out(context, left, right)


def _grows(left: Form, right: Form) -> bool:
    """Whether a product would be too long, too deep or too large to be multiplied out."""
    return (
        digits.degree(left) + digits.degree(right) > MAX_FACTORS
        or left.constant.bit_length() + right.constant.bit_length() > MAX_BITS
        or forms.is_deep(left)
        or forms.is_deep(right)
    )


def product_of_all(context: Context, arguments: Sequence[Form]) -> Form:
    """The product of canonical forms; one of very many factors is kept as it stands."""
    if sum(map(digits.degree, arguments)) > MAX_FACTORS:
        arguments = _without_repeats(context, arguments)
        if sum(map(digits.degree, arguments)) > MAX_FACTORS:
            return kept_product(context, arguments)
    return reduce(partial(product, context), arguments, ONE)


def _without_repeats(context: Context, arguments: Sequence[Form]) -> list[Form]:
    """``A*A = A`` where ``0 <= A <= 1``."""
    kept: dict[Key, Form] = {}
    repeated: list[Form] = []
    for argument in arguments:
        ends = context.range_of(argument)
        if ends[0] >= 0 and ends[1] <= 1:
            if argument.key in kept:
                context.fired(law.TWO_VALUED_SQUARE)
            kept[argument.key] = argument
        else:
            repeated.append(argument)
    return [*kept.values(), *repeated]


def kept_product(context: Context, arguments: Sequence[Form]) -> Form:
    """The product as it stands, with constants outside."""
    form = operations.product(arguments)
    for atom in form.terms:
        if atom not in context.ranges:
            ends = reduce(ranges.product_range, map(context.range_of, atom.arguments))
            context.remember(atom, ends)
    return form


def _multiplied_out(context: Context, left: Form, right: Form) -> Form:
    """``(A + B) * C = A*C + B*C``."""
    if _is_sum(left) or _is_sum(right):
        context.fired(law.DISTRIBUTE)
    products = (
        (factor * value, _monomial_form(context, [*digits.factors(atom), *digits.factors(other)]))
        for atom, factor in left.terms.items()
        for other, value in right.terms.items()
    )
    beside = (right.constant, left), (left.constant, Form(0, right.terms))
    return forms.weighted_sum((*beside, *products))


def _is_sum(form: Form) -> bool:
    return len(form.terms) + (form.constant != 0) > 1


def _monomial_form(context: Context, atoms: list[Atom]) -> Form:
    """A product of atoms; squares of clamps and of atoms with two values are none."""
    distinct = dict.fromkeys(atoms)
    for atom in distinct if len(distinct) < len(atoms) else ():
        if atoms.count(atom) > 1:
            square = clamp_square(context, atom) or two_valued_square(context, Form(0, {atom: 1}))
            if square is not None:
                rest = list(atoms)
                rest.remove(atom)
                rest.remove(atom)
                return context.product(square, _monomial_form(context, rest)) if rest else square
    return Form(0, {monomial(context, atoms): 1})


def clamp_square(context: Context, atom: Atom) -> Form | None:
    """``max(0, D)**2 = D * max(0, D)``."""
    if atom.kind is AtomKind.MAX and len(atom.arguments) == 2:  # noqa: PLR2004 - 0 and D
        context.fired(law.CLAMP_SQUARE)
        return context.product(atom.arguments[1], Form(0, {atom: 1}))
    return None


def two_valued_square(context: Context, form: Form) -> Form | None:
    """``A*A = (2*c + 1)*A - c*(c + 1)`` where ``c <= A <= c + 1``."""
    lower, upper = context.range_of(form)
    if not isinstance(lower, int) or upper != lower + 1:
        return None
    context.fired(law.TWO_VALUED_SQUARE)
    return form.times(2 * lower + 1).plus_constant(-lower * (lower + 1))


def monomial(context: Context, atoms: Iterable[Atom]) -> Atom:
    """The atom that multiplies atoms; its range is stored."""
    ordered = sorted(atoms, key=lambda atom: atom.order)
    if len(ordered) == 1:
        return ordered[0]
    atom = forms.atom_of(AtomKind.PRODUCT, tuple(Form(0, {factor: 1}) for factor in ordered))
    if atom not in context.ranges:
        ends = ranges.monomial_range(context, ordered)
        for each in ordered:
            if each.kind is AtomKind.QUOTIENT:
                ends = meet(ends, _range_as_multiple(context, each, ordered))
        context.remember(atom, ends)
    return atom


def _range_as_multiple(context: Context, quotient: Atom, parts: Sequence[Atom]) -> Range:
    """``C*B*floor(A/B)`` is ``C`` times ``A`` less a digit; unbounded where ``B`` is not there."""
    numerator, divisor = quotient.arguments
    others = list(parts)
    others.remove(quotient)
    if divisor.only_atom is None or context.divisor_range(divisor)[0] < 1:
        return UNBOUNDED
    for factor in digits.factors(divisor.only_atom):
        if factor not in others:
            return UNBOUNDED
        others.remove(factor)
    context.used(DIGIT_RANGE)
    least, _ = ranges.range_less_multiple(context, numerator, divisor, 1)
    multiple = least + 1, context.range_of(numerator)[1]
    return ranges.product_range(multiple, ranges.monomial_range(context, others))
