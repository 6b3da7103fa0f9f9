"""The digit view: a form read as a sum of mixed-radix digits, without changing it.

``m * L - m * n * floor(L / n)`` in a form is ``m`` times the digit ``L mod n``, which lies in
``[0, n - 1]``, whatever ``L`` is. Single terms do not show this; the view does. For a quotient
``floor(N / c)`` the candidates for ``L`` are ``N`` and ``floor(N / g)`` for the smaller
divisors ``g`` of ``c`` whose quotient of the same form is present: the chain ``1 | g | c`` of a
tensor's strides.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from simplifier.bounds.branches import clamped
from simplifier.bounds.context import DigitView, Unit
from simplifier.expr.form import FLOORDIV, MAX, Atom, Form, accumulate
from simplifier.expr.size import is_crowded
from simplifier.laws.catalogue.lemmas import CLAMP_RANGE, FACT_RANGE
from simplifier.limits import MAX_CONTENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simplifier.bounds.context import Context, Fact
    from simplifier.bounds.interval import End, Range


def digit_view(context: Context, form: Form) -> DigitView:
    """The form as digits and single atoms; a crowded form is read as single atoms alone."""
    quotients = [atom for atom in form.terms if atom.kind is FLOORDIV]
    if not quotients or not _may_hold_digits(form.terms, quotients) or is_crowded(form):
        return DigitView(form.constant, _units(context, form.terms))
    if len(quotients) > 1:
        quotients.sort(key=_outermost)
    rest = _Remaining(form)
    digits: list[tuple[int, Unit]] = []
    # Digits that the form holds as they are come first; only then those that leave a part over
    # for the next one up.
    for exact in (True, False):
        quotients = [
            atom
            for atom in quotients
            if not _take_digit(context, rest, atom, quotients, digits, exact=exact)
        ]
    for atom in quotients:
        _gather(context, rest, atom, digits)
    digits += _units(context, rest.terms)
    return DigitView(rest.constant, digits)


def _units(context: Context, terms: dict[Atom, int]) -> list[tuple[int, Unit]]:
    """Terms as single atoms, but the difference of two clamps as one unit."""
    units: list[tuple[int, Unit]] = []
    if len(terms) > 1 and any(atom.kind is MAX for atom in terms):
        terms = dict(terms)
        for weight, value, ends in clamped(context, terms):
            context.used(CLAMP_RANGE)
            units.append((weight, Unit(value, *ends)))
            accumulate(terms, value, -weight)
    units += [(weight, context.units[atom]) for atom, weight in terms.items()]
    return units


def _may_hold_digits(terms: Mapping[Atom, int], quotients: list[Atom]) -> bool:
    """Whether some quotient stands beside its source, or beside a quotient that it may divide."""
    for atom in quotients:
        for inner in atom.numerator.terms:
            if inner in terms:
                return True
    if len(quotients) > 1:
        for atom in quotients:
            for other in quotients:
                if atom.divisor > other.divisor and atom.divisor % other.divisor == 0:
                    return True
    return False


def _outermost(atom: Atom) -> tuple[int, int]:
    return (-atom.depth, atom.divisor)


class _Remaining:
    """The part of the form that has not become digits yet."""

    __slots__ = ("constant", "terms")

    def __init__(self, form: Form) -> None:
        self.constant = form.constant
        self.terms = dict(form.terms)

    def subtract(self, form: Form, factor: int) -> None:
        self.constant -= factor * form.constant
        accumulate(self.terms, form, -factor)

    def add_atom(self, atom: Atom, factor: int) -> None:
        total = self.terms.get(atom, 0) + factor
        if total:
            self.terms[atom] = total
        else:
            self.terms.pop(atom, None)


def _take_digit(
    context: Context,
    rest: _Remaining,
    quotient: Atom,
    quotients: list[Atom],
    digits: list[tuple[int, Unit]],
    *,
    exact: bool,
) -> bool:
    """Move a quotient's digit from the rest to the digits; whether the quotient is done."""
    factor = rest.terms.get(quotient)
    if factor is None:
        return True
    for chain_divisor in _chain(rest, quotient, quotients):
        source = context.floordiv(quotient.numerator, chain_divisor)
        radix = quotient.divisor // chain_divisor
        weight = (
            _exact_weight(rest.terms, source, factor, radix)
            if exact
            else common_weight(rest.terms, source)
            or _shared_weight(rest.terms, source, factor, radix)
        )
        if weight:
            rest.subtract(source, weight)
            rest.add_atom(quotient, weight * radix)
            digit = source.plus_atom(quotient, -radix)
            ends = digit_range(context.facts, digit, radix)
            if ends != (0, radix - 1):
                context.used(FACT_RANGE)
            digits.append((weight, Unit(digit, *ends, quotient, radix)))
            return True
    return False


def _chain(rest: _Remaining, quotient: Atom, quotients: list[Atom]) -> list[int]:
    """Divisors below the quotient's own for which a quotient is present, greatest first, and 1."""
    divisor = quotient.divisor
    below = {
        other.divisor
        for other in quotients
        if other.divisor < divisor and divisor % other.divisor == 0 and other in rest.terms
    }
    return [*sorted(below, reverse=True), 1]


def _exact_weight(terms: Mapping[Atom, int], source: Form, factor: int, radix: int) -> int:
    """The weight that makes the quotient vanish, if more atoms of the source cancel than appear.

    Else 0.
    """
    weight, remainder = divmod(-factor, radix)
    if remainder:
        return 0
    cancelled = missing = 0
    for atom, value in source.terms.items():
        present = terms.get(atom)
        if present is None:
            missing += 1
        elif present == weight * value:
            cancelled += 1
    return weight if cancelled > missing else 0


def common_weight(terms: Mapping[Atom, int], source: Form) -> int:
    """How many times the whole source is contained; 0 if it is not."""
    weight = 0
    for atom, value in source.terms.items():
        contained = terms.get(atom)
        if contained is None:
            return 0
        if not weight:
            weight, remainder = divmod(contained, value)
            if remainder:
                return 0
        elif contained != weight * value:
            return 0
    return weight


def _shared_weight(terms: Mapping[Atom, int], source: Form, factor: int, radix: int) -> int:
    """The weight that leaves every atom of the source a multiple of the quotient's coefficient.

    Of ``N = 5*x + y`` the quotient by 7 is ``x + floor((y - 2*x)/7)``, and ``N mod 7`` has the
    source ``y - 2*x``: what is left of ``x`` beside the digit belongs to the quotient. With the
    weight ``w`` the quotient keeps ``e = factor + w*radix``, which must divide what is left; so it
    divides ``radix*terms + factor*source``, whatever ``w`` is. Where ``N`` has a common factor, so
    has that, and more than ``e``: then ``e`` is a divisor of it, with which the digit lies below
    what is left. 0 where there is no such digit.
    """
    left = gcd(*(radix * terms.get(atom, 0) + factor * n for atom, n in source.terms.items()))
    weight = _weight_for(left, factor, radix)
    if weight or left < 2 * radix:
        return weight
    for content in range(2, MAX_CONTENT + 1):
        if left % content == 0:
            kept = left // content
            weight = _weight_for(kept, factor, radix)
            if factor * weight > 0 and _leaves_multiples(terms, source, weight, kept):
                return weight
    return 0


def _weight_for(kept: int, factor: int, radix: int) -> int:
    """The weight nearest to zero with which a quotient keeps this coefficient, or its negative."""
    weights = [
        (coefficient - factor) // radix
        for coefficient in (kept, -kept)
        if (coefficient - factor) % radix == 0
    ]
    return min(weights, key=abs, default=0)


def _leaves_multiples(terms: Mapping[Atom, int], source: Form, weight: int, unit: int) -> bool:
    """Whether every atom of the source has a multiple of the unit left beside the digit."""
    return all((terms.get(atom, 0) - weight * n) % unit == 0 for atom, n in source.terms.items())


def _gather(
    context: Context, rest: _Remaining, quotient: Atom, digits: list[tuple[int, Unit]]
) -> None:
    """Read ``e*floor(L/c) + e*m*x`` as ``e`` times ``floor((L + c*m*x)/c)``, a unit.

    Where ``x`` occurs in ``L``, the range of the whole is narrower than that of its parts.
    """
    factor = rest.terms.get(quotient)
    if factor is None:
        return
    divisor = quotient.divisor
    beside = {
        atom: rest.terms[atom] // factor
        for atom in quotient.numerator.terms
        if atom in rest.terms and rest.terms[atom] % factor == 0
    }
    if not beside:
        return
    moved = Form(0, beside)
    value = moved.plus_atom(quotient)
    source = quotient.numerator.plus(moved, divisor)
    lower, upper = context.plain_range(source)
    apart = context.plain_range(value)
    lower, upper = lower // divisor, upper // divisor
    if apart[0] < lower or upper < apart[1]:
        digits.append((factor, Unit(value, max(lower, apart[0]), min(upper, apart[1]))))
        rest.subtract(value, factor)


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
