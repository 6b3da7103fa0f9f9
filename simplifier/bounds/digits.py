"""The digit view: a form read as a sum of mixed-radix digits, without changing it.

``m * L - m * n * floor(L / n)`` in a form is ``m`` times the digit ``L mod n``, which lies in
``[0, n - 1]``, whatever ``L`` is. Single terms do not show this; the view does. For a quotient
``floor(N / c)`` the candidates for ``L`` are ``N`` and ``floor(N / g)`` for the smaller
divisors ``g`` of ``c`` whose quotient of the same form is present: the chain ``1 | g | c`` of a
tensor's strides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import permutations
from math import gcd
from typing import NamedTuple

from simplifier.bounds.context import Context, DigitView, Fact, Unit, term_by_term
from simplifier.bounds.interval import End, Range
from simplifier.expr import form as forms
from simplifier.expr.form import FLOORDIV, MAX, ONE, ZERO, Atom, AtomKind, Form, Key, factors
from simplifier.laws.catalogue.ranges import CLAMP_RANGE, FACT_RANGE
from simplifier.limits import MAX_CONTENT, MAX_FLATTENED_TERMS, MAX_QUOTIENTS


def digit_view(context: Context, form: Form) -> DigitView:
    """The form as digits and single atoms; a crowded form is read as single atoms alone."""
    quotients = [atom for atom in form.terms if atom.kind is FLOORDIV]
    if not quotients or not _may_hold_digits(form.terms, quotients) or forms.is_crowded(form):
        return DigitView(form.constant, _units(context, form.terms))
    if len(quotients) > 1:
        quotients.sort(key=lambda atom: (-atom.depth, atom.divisor))
    rest = _Remaining(context, form)
    # Digits that the form holds as they are come first; only then those that leave a part over
    # for the next one up.
    for are_exact in (True, False):
        quotients = [
            each for each in quotients if not rest.take_digit(each, quotients, is_exact=are_exact)
        ]
    for atom in quotients:
        rest.gather(atom)
    return DigitView(rest.constant, rest.digits + _units(context, rest.terms))


def _units(context: Context, terms: dict[Atom, int]) -> list[tuple[int, Unit]]:
    """Terms as single atoms, but the difference of two clamps as one unit."""
    units: list[tuple[int, Unit]] = []
    if len(terms) > 1 and any(atom.kind is MAX for atom in terms):
        terms = dict(terms)
        for weight, value, ends in clamped(context, terms):
            context.used(CLAMP_RANGE)
            units.append((weight, Unit(value, *ends)))
            forms.accumulate(terms, value, -weight)
    units += [(weight, context.units[atom]) for atom, weight in terms.items()]
    return units


def _may_hold_digits(terms: Mapping[Atom, int], quotients: list[Atom]) -> bool:
    """Whether some quotient stands beside its source, or beside a quotient that it may divide."""
    known = terms.keys()
    for atom in quotients:
        if not known.isdisjoint(atom.numerator.terms):
            return True
    divisors = {atom.divisor for atom in quotients}
    return True in {one > other and one % other == 0 for one in divisors for other in divisors}


class _Remaining:
    """The part of the form that has not become digits yet, and the digits."""

    def __init__(self, context: Context, form: Form) -> None:
        self._context = context
        self.constant = form.constant
        self.terms = dict(form.terms)
        self.digits: list[tuple[int, Unit]] = []

    def _take(self, weight: int, unit: Unit) -> None:
        self.constant -= weight * unit.value.constant
        forms.accumulate(self.terms, unit.value, -weight)
        self.digits.append((weight, unit))

    def take_digit(self, quotient: Atom, quotients: list[Atom], *, is_exact: bool) -> bool:
        """Move a quotient's digit from the rest to the digits; whether the quotient is done."""
        weigh = _exact_weight if is_exact else _shared_weight
        factor = self.terms.get(quotient)
        if factor is None:
            return True
        for chain_divisor in self._chain(quotient, quotients):
            radix = quotient.divisor // chain_divisor
            if is_exact and factor % radix:
                continue
            source = self._context.floordiv(quotient.numerator, chain_divisor)
            weight = weigh(self.terms, source, factor, radix)
            if weight:
                digit = source.plus_atom(quotient, -radix)
                ends = digit_range(self._context.facts, digit, radix)
                if ends != (0, radix - 1):
                    self._context.used(FACT_RANGE)
                self._take(weight, Unit(digit, *ends, quotient, radix))
                return True
        return False

    def _chain(self, quotient: Atom, quotients: list[Atom]) -> list[int]:
        """Divisors below its own for which a quotient is present, greatest first, and 1."""
        divisors = {each.divisor for each in quotients if each in self.terms}
        own = quotient.divisor
        below = [each for each in divisors if each < own and own % each == 0]
        return [*sorted(below, reverse=True), 1]

    def gather(self, quotient: Atom) -> None:
        """Read ``e*floor(L/c) + e*m*x`` as ``e`` times ``floor((L + c*m*x)/c)``, a unit.

        Where ``x`` occurs in ``L``, the range of the whole is narrower than that of its parts.
        """
        factor = self.terms.get(quotient)
        if factor is None:
            return
        divisor = quotient.divisor
        near = [atom for atom in quotient.numerator.terms if atom in self.terms]
        moved = Form(0, {a: self.terms[a] // factor for a in near if self.terms[a] % factor == 0})
        if moved.is_constant:
            return
        value = moved.plus_atom(quotient)
        source = quotient.numerator.plus(moved, divisor)
        lower, upper = term_by_term(self._context.ranges, source)
        apart = term_by_term(self._context.ranges, value)
        lower, upper = lower // divisor, upper // divisor
        if apart[0] < lower or upper < apart[1]:
            self._take(factor, Unit(value, max(lower, apart[0]), min(upper, apart[1])))


def _exact_weight(terms: Mapping[Atom, int], source: Form, factor: int, radix: int) -> int:
    """The weight that makes the quotient vanish, if more atoms of the source cancel than appear.

    Else 0. The radix divides the factor.
    """
    weight = -factor // radix
    cancelled = missing = 0
    for atom, value in source.terms.items():
        present = terms.get(atom)
        if present is None:
            missing += 1
        elif present == weight * value:
            cancelled += 1
    return weight if cancelled > missing else 0


def _shared_weight(terms: Mapping[Atom, int], source: Form, factor: int, radix: int) -> int:
    """The weight of the whole source, or one that leaves multiples of the quotient's coefficient.

    Of ``N = 5*x + y`` the quotient by 7 is ``x + floor((y - 2*x)/7)``, and ``N mod 7`` has the
    source ``y - 2*x``: what is left of ``x`` beside the digit belongs to the quotient. With the
    weight ``w`` the quotient keeps ``e = factor + w*radix``, which must divide what is left; so it
    divides ``radix*terms + factor*source``, whatever ``w`` is. Where ``N`` has a common factor, so
    has that, and more than ``e``: then ``e`` is a divisor of it, with which the digit lies below
    what is left. 0 where there is no such digit.
    """
    whole = forms.common_weight(terms, source)
    if whole:
        return whole
    left = gcd(*(radix * terms.get(atom, 0) + factor * n for atom, n in source.terms.items()))
    weight = _weight_for(left, factor, radix)
    if weight or left < 2 * radix:
        return weight
    for common in range(2, MAX_CONTENT + 1):
        if left % common == 0:
            kept = left // common
            weight = _weight_for(kept, factor, radix)
            if factor * weight > 0 and _leaves_multiples(terms, source, weight, kept):
                return weight
    return 0


def _weight_for(kept: int, factor: int, radix: int) -> int:
    """The weight nearest to zero with which a quotient keeps this coefficient, or its negative."""
    gains = kept - factor, -kept - factor
    return min([each // radix for each in gains if each % radix == 0], key=abs, default=0)


def _leaves_multiples(terms: Mapping[Atom, int], source: Form, weight: int, unit: int) -> bool:
    """Whether every atom of the source has a multiple of the unit left beside the digit."""
    return all((terms.get(atom, 0) - weight * n) % unit == 0 for atom, n in source.terms.items())


def is_power_of_two(number: int) -> bool:
    """Whether a positive number is a power of two: then a machine shifts and masks."""
    return not number & (number - 1)


def digit_range(facts: Iterable[Fact], digit: Form, radix: int) -> Range:
    """The range of ``L mod radix``: from 0 to ``radix - 1``, narrowed by facts."""
    lower: End = 0
    upper: End = radix - 1
    for fact in facts:
        multiple = fact.multiple_in(digit)
        if multiple and len(fact.form.terms) == len(digit.terms):
            low, high = fact.ends if multiple > 0 else fact.ends[::-1]
            lower = max(lower, digit.constant + multiple * low)
            upper = min(upper, digit.constant + multiple * high)
    return lower, upper


# Maxima read by their branches: `k*max(0, D)` is 0 where `D <= 0`, and `k*D` elsewhere.
#
# Maxima of one form depend on each other: where `D` in `max(0, D)` is not positive, `D - b` in
# `max(0, D - b)` is not either. So the difference of the two, which clamps `D` to `[0, b]`, has
# the branches `0` and `min(D, b)`, or `max(0, D)` and `b`.


def is_clamp(atom: Atom) -> bool:
    """Whether the atom is ``max(0, D)`` for one ``D``."""
    return atom.kind is MAX and len(atom.arguments) == 2 and atom.arguments[0] == ZERO  # noqa: PLR2004 - of two


def maxima(form: Form) -> list[Atom]:
    """The maxima among the terms."""
    return [atom for atom in form.terms if atom.kind is AtomKind.MAX]


def branches(form: Form, atom: Atom) -> list[Form]:
    """Forms whose maximum the form is, if the atom's coefficient is positive; else their minimum.

    ``T + k*max(A, B)`` is the greater of ``T + k*A`` and ``T + k*B`` for positive ``k``.
    """
    factor = form.terms[atom]
    if not is_clamp(atom):
        rest = form.without(atom)
        return [rest.plus(argument, factor) for argument in atom.arguments]
    return [_branch(form, atom, is_positive=False), _branch(form, atom, is_positive=True)]


def _branch(form: Form, atom: Atom, *, is_positive: bool) -> Form:
    """The form where ``D >= 0``, or where ``D <= 0``, for the atom ``max(0, D)``.

    Another maximum whose sign is then known goes, too, unless it weighs against the atom and more;
    then the branches would not be in order elsewhere.
    """
    known = {atom, *_known_with(form, atom, is_positive=is_positive)}
    rest = form.without(*known)
    if is_positive:
        for other in form.terms:
            if other in known:
                rest = rest.plus(other.arguments[1], form.terms[other])
    return rest


def _known_with(form: Form, atom: Atom, *, is_positive: bool) -> Iterator[Atom]:
    """Clamps ``max(0, D + s)`` for ``s`` above zero where ``D`` is, or below where ``D`` is."""
    own, factor = atom.arguments[1], form.terms[atom]
    for other, value in form.terms.items():
        if other is atom or not is_clamp(other):
            continue
        if value * factor < 0 and abs(value) > abs(factor):
            continue
        difference = other.arguments[1]
        if difference.terms == own.terms:
            shift = difference.constant - own.constant
            if shift > 0 if is_positive else shift < 0:
                yield other


def clamped(context: Context, terms: Mapping[Atom, int]) -> Iterator[tuple[int, Form, Range]]:
    """Multiples of ``max(0, D) - max(0, D - b)`` and of ``D - max(0, D)`` among terms.

    Each with the range of what is cut off, which is narrower than its terms look; each term is used
    once.
    """
    left = dict(terms)
    clamps = [atom for atom in terms if is_clamp(atom)]
    for near, far in permutations(clamps, 2):
        weight, other = left[near], left[far]
        size = _step_between(near, far)
        if weight * other < 0 < size:
            weight = weight if abs(weight) <= abs(other) else -other
            left[near] -= weight
            left[far] += weight
            lower, upper = context.ranges[near]
            ends = min(lower, size), min(upper, size)
            yield weight, Form(0, forms.in_order({near: 1, far: -1})), ends
    for atom in clamps:
        inside, weight = atom.arguments[1], -left[atom]
        if weight and all(left.get(a) == weight * value for a, value in inside.terms.items()):
            for used in (atom, *inside.terms):
                left[used] = 0
            lower, upper = context.range_of(inside)
            ends = min(lower, 0) - inside.constant, min(upper, 0) - inside.constant
            yield weight, Form(0, forms.in_order({**inside.terms, atom: -1})), ends


def _step_between(near: Atom, far: Atom) -> int:
    """``b`` for ``max(0, D)`` and ``max(0, D - b)``; 0 where there is none."""
    lower, upper = near.arguments[1], far.arguments[1]
    return lower.constant - upper.constant if lower.terms == upper.terms else 0


def cancelling(left: Form, right: Form) -> list[tuple[int, int]]:
    """Positive weights with which an atom cancels in the weighted sum of two forms."""
    found: dict[tuple[int, int], None] = {}
    for atom, value in left.terms.items():
        other = right.terms.get(atom, 0)
        if value * other < 0:
            common = gcd(value, other)
            found[abs(other) // common, abs(value) // common] = None
    return list(found)


# Forms as polynomials: the factors of their terms, division, and digits of symbolic radix.
#
# `m*L - m*R*floor(L/R)` is `m` times the digit `L mod R`. A quotient may be by a multiple of the
# radix: `floor(floor(N/G)/R) = floor(N/(G*R))` for `R >= 1`, so `L` is `floor(N/G)`.
# `simplifier.bounds.digits` has the digits of constant radix.


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
    return forms.collected(total, whole), Form(form.constant, rest)


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
    """The part taken out and the rest after each step, the highest terms first."""
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
    """The quotient of a term by the divisor's leading term, if it leaves no rest."""
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


def symbolic_digits(
    context: Context, form: Form, *, have_strides: bool = False
) -> Iterator[SymbolicDigit]:
    """The ways to read a canonical form with a digit of symbolic radix.

    Each is ``T + W*floor(N/B)`` for a quotient by symbols; its weight is a number, unless digits
    have symbolic strides.
    """
    read = _strided_digits_of if have_strides else _digits_of
    parts = [factors(atom) for atom in form.terms if atom.arguments]
    seen = dict.fromkeys(each for part in parts for each in part if each.arguments)
    quotients = [atom for atom in seen if is_symbolic_quotient(atom)]
    for atom in quotients if len(quotients) <= MAX_QUOTIENTS else ():
        divided = as_quotient(context, atom)
        if divided is not None:
            weights, rest = multiples(context, form, (atom,))
            if weights.terms:
                yield from read(context, rest, weights, *divided)


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
    common = gcd(weights.constant, forms.content(weights))
    for weight in (common, -common):
        plain = weights.exactly_divided(-weight)
        for scale in sorted({1, gcd(common, divisor.constant, forms.content(divisor))}):
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
