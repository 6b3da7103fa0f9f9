"""Laws of ``floor(N / c)`` for a constant ``c > 0``, tried before the quotient becomes an atom.

Every law rests on one fact, ``floor(x + n) = floor(x) + n`` for an integer ``n``, or on
``floor(floor(x) / n) = floor(x / n)`` for a positive integer ``n``. They are tried in the order of
this module. The first one that applies gives a quotient with fewer quotients inside it, a smaller
divisor, or smaller coefficients. Where one law undoes another, the least divisor on the way round
stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import TypeAlias

from simplifier.bounds.context import Context, DigitView, Unit, term_by_term
from simplifier.expr import form as forms
from simplifier.expr.form import FLOORDIV, MAX, ZERO, Atom, AtomKind, Form
from simplifier.laws.catalogue import floordiv as law
from simplifier.laws.catalogue.steps import CONGRUENT_RESIDUES
from simplifier.laws.law import Law

Step: TypeAlias = "tuple[Form, Form, int]"
"""The part outside, a numerator and its divisor; with the divisor 1 nothing is left to do."""

Weighted: TypeAlias = "Sequence[tuple[int, Form]]"
"""Parts of a form, each with its coefficient."""


def floordiv(context: Context, numerator: Form, divisor: int) -> Form:
    """``floor(numerator / divisor)`` in normal shape: canonical numerators, positive divisors."""
    steps: list[Step] = []
    outside = ZERO
    while divisor > 1:
        states = [step[1:] for step in steps]
        if (numerator, divisor) in states:
            return _least_of_circle(context, steps[states.index((numerator, divisor)) :])
        steps.append((outside, numerator, divisor))
        taken, numerator, divisor = _next_step(context, numerator, divisor)
        outside = outside.plus(taken) if taken is not ZERO else outside
    return outside.plus(numerator) if outside is not ZERO else numerator


def _least_of_circle(context: Context, circle: Sequence[Step]) -> Form:
    """The quotient by the least divisor of the steps that lead from one back to it."""
    outside, numerator, divisor = min(circle, key=lambda step: (step[2], step[1].order))
    return outside.plus(reflect(context, numerator, divisor))


def _next_step(context: Context, numerator: Form, divisor: int) -> Step:
    if numerator.is_affine:
        return _affine_step(context, numerator, divisor)
    if forms.is_deep(numerator) or forms.is_crowded(numerator):
        return ZERO, kept(context, numerator, divisor), 1
    merged = merge(context, numerator, divisor)
    if merged is not None:
        return ZERO, *merged
    outside, residue = _reduced(context.view(numerator), divisor, turning=False)
    if outside is not ZERO:
        context.fired(law.EXTRACTION)
    shorter = split(context, residue, divisor)
    if shorter is not None:
        return outside, *shorter
    rest = numerator.plus(outside, -divisor) if outside is not ZERO else numerator
    opened, rest, whole = open_digits(rest, residue, divisor)
    if opened.terms:
        context.fired(law.OPEN_DIGIT)
    if not opened.terms or _size(rest) >= _size(numerator):
        inner = _inner(rest)
        flat = flatten(context, rest, divisor, inner) if inner else exchange(context, rest, divisor)
        rest, divisor = flat or (reflect(context, rest, divisor, whole), 1)
    return outside.plus(opened), rest, divisor


def _affine_step(context: Context, numerator: Form, divisor: int) -> Step:
    """The step of a sum of variables, which has no digits."""
    outside, rest = _extracted_by_terms(context, numerator, divisor)
    lower, upper = term_by_term(context.ranges, rest)
    if upper - lower < divisor or _common_factors([*rest.terms.values()], divisor):
        shorter = split(context, context.view(rest), divisor)
        if shorter is not None:
            return outside, *shorter
    return outside, reflect(context, rest, divisor), 1


def _size(form: Form) -> tuple[int, int]:
    """A measure of numerators: as long as it decreases, digits are opened and nothing else."""
    return len(form.terms), sum(map(abs, form.terms.values()))


def kept(context: Context, numerator: Form, divisor: int) -> Form:
    """``floor((c*A + B)/c) = A + floor(B/c)`` term by term, and nothing else."""
    taken, rest = _extracted_by_terms(context, numerator, divisor)
    return taken.plus(context.quotient_atom(rest, divisor)) if rest.terms else taken


def _extracted_by_terms(context: Context, numerator: Form, divisor: int) -> tuple[Form, Form]:
    """``A`` and ``B`` of the numerator as ``c*A + B``, where the weights of ``B`` are small."""
    whole, rest = divmod(numerator.constant, divisor)
    outside: dict[Atom, int] = {}
    terms = dict(numerator.terms)
    for atom, factor in numerator.terms.items():
        if not -divisor < 2 * factor <= divisor:
            _reduce(terms, atom, divisor, outside)
    if not whole and not outside:
        return ZERO, numerator
    context.fired(law.EXTRACTION)
    return Form(whole, outside), Form(rest, terms)


def kept_remainder(context: Context, numerator: Form, divisor: int) -> Form:
    """``N mod c`` as it stands, with small coefficients; ``N mod -c = -(-N mod c)``."""
    sign = 1 if divisor > 0 else -1
    divisor = abs(divisor)
    residue = forms.collected(
        sign * numerator.constant % divisor,
        {atom: sign * factor % divisor for atom, factor in numerator.terms.items()},
    )
    context.fired(CONGRUENT_RESIDUES)
    if sign < 0:
        context.fired(law.REMAINDER)
        context.fired(law.NEGATIVE_DIVISOR)
    lower, upper = context.range_of(residue)
    if isinstance(lower, int) and lower // divisor == upper // divisor:
        context.fired(law.ONE_VALUE)
        return residue.plus_constant(-(lower // divisor) * divisor).times(sign)
    remainder = forms.atom_of(AtomKind.MOD, (residue, forms.constant(divisor)))
    return context.remember(remainder, (0, divisor - 1)).times(sign)


def merge(context: Context, numerator: Form, divisor: int) -> tuple[Form, int] | None:
    """``floor((B - floor(A/a))/c) = floor((a*B - A + a - 1)/(a*c))``, where ``B`` contains ``A``.

    Before anything else: ``x - floor(x/2)`` must not be expanded.
    """
    for atom, factor in numerator.terms.items():
        if factor in (1, -1) and atom.kind is FLOORDIV:
            inner = atom.numerator.terms.items()
            if all(n * factor * numerator.terms.get(each, 0) < 0 for each, n in inner):
                return flatten(context, numerator, divisor, atom)
    return None


def _reduced(view: DigitView, divisor: int, *, turning: bool) -> tuple[Form, DigitView]:
    """``A`` and ``B`` of a view as ``c*A + B``: ``floor((c*A + B)/c) = A + floor(B/c)``.

    ``A`` is gathered from digits and single atoms, never from inside a digit. The weights of ``B``
    are nearest to zero. Half of ``c`` stays; it is positive then, but on quotients only if they may
    turn.
    """
    whole, rest = divmod(view.constant, divisor)
    outside: dict[Atom, int] = {}
    units: list[tuple[int, Unit]] = []
    for weight, unit in view.units:
        if -divisor < 2 * weight <= divisor:
            units.append((weight, unit))
            continue
        residue = _residue(weight, divisor, turning=turning or not unit.holds_quotient)
        if residue != weight:
            multiple = (weight - residue) // divisor
            whole += multiple * unit.value.constant
            forms.accumulate(outside, unit.value, multiple)
        if residue:
            units.append((residue, unit))
    taken = Form(whole, forms.in_order(outside)) if whole or outside else ZERO
    return taken, DigitView(rest, units)


def _residue(value: int, divisor: int, *, turning: bool) -> int:
    """The number congruent to ``value`` nearest to zero; half of the divisor is positive.

    But -1 keeps its sign in halves where it may not turn, on quotients.
    """
    residue = value % divisor
    if 2 * residue > divisor or (value == -1 and divisor == 2 and not turning):  # noqa: PLR2004
        residue -= divisor
    return residue


def split(context: Context, residue: DigitView, divisor: int) -> tuple[Form, int] | None:
    """``floor((g*A + S)/(g*c)) = floor((A + floor(S/g))/c)``, where ``floor(S/g)`` is affine.

    One law covers quotients that are constant, small terms that never matter, common factors,
    coefficients that are congruent to smaller ones, and variables of two values.
    """
    if not residue.units:
        return ZERO, 1
    for factor in (divisor, *_common_factors([weight for weight, _ in residue.units], divisor)):
        is_reduced = factor == divisor > 2  # noqa: PLR2004 - halves may have to turn
        found = (_affine_remainder if is_reduced else _affine_quotient)(residue, factor)
        if found is not None:
            quotient, why = found
            if factor < divisor and why is not law.SPLIT:
                context.fired(law.SPLIT)
            context.fired(why)
            return quotient, divisor // factor
    return None


def _common_factors(weights: Sequence[int], divisor: int) -> Sequence[int]:
    """Common factors of the divisor and one or two weights, greatest first.

    A single weight may be next to a multiple of one: ``x * 2049 = x * 2048 + x``.
    """
    weight, *others = weights
    if not others and weight in (1, -1):
        return ()
    found = {gcd(weight, divisor) for weight in weights}
    if not others and found == {1}:
        found = {gcd(weight - 1, divisor), gcd(weight + 1, divisor)}
    found -= {1, divisor}
    return sorted({gcd(a, b) for a in found for b in found} - {1}, reverse=True)


def _affine_quotient(residue: DigitView, divisor: int) -> tuple[Form, Law] | None:
    """``floor(residue/divisor)`` without a quotient, and why, or ``None``."""
    sizes = [min(n % divisor, -n % divisor) * (u.upper - u.lower) for n, u in residue.units]
    if sum(sizes) >= divisor:  # too large to be all below the divisor
        return None
    outside, small = _reduced(residue, divisor, turning=True)
    found = _affine_remainder(small, divisor)
    return None if found is None else (outside.plus(found[0]), found[1])


def _affine_remainder(small: DigitView, divisor: int) -> tuple[Form, Law] | None:
    """The quotient of terms smaller than the divisor, and its law: one value, or one of two."""
    lower, upper = small.ends()
    value = lower // divisor
    if value == upper // divisor and isinstance(value, int):
        return forms.constant(value), law.ONE_VALUE if small.units else law.SPLIT
    if len(small.units) == 1:
        ((weight, unit),) = small.units
        found = _two_valued(unit, weight, small.constant, divisor)
        if found is not None:
            return found, law.TWO_VALUES
    return None


def _two_valued(unit: Unit, weight: int, offset: int, divisor: int) -> Form | None:
    """Any function of something with two values is affine in it."""
    low = unit.lower
    if unit.upper != low + 1 or not isinstance(low, int):
        return None
    first = (offset + weight * low) // divisor
    step = (offset + weight * (low + 1)) // divisor - first
    return unit.value.times(step).plus_constant(first - step * low)


def open_digits(rest: Form, residue: DigitView, divisor: int) -> tuple[Form, Form, Weighted]:
    """``r*(L mod n) = r*L - r*n*floor(L/n)``: where ``c`` divides ``r*n``, the quotient leaves.

    ``residue`` shows the rest. Gives what leaves, what is left, and what stays whole in it: clamps,
    and digits that do not close on ``c``. The other atoms are reduced again.
    """
    digits = [
        (weight, unit, unit.quotient) for weight, unit in residue.units if unit.quotient is not None
    ]
    whole = [(weight, unit.value) for weight, unit in residue.units if _is_clamp(unit)]
    if not digits:
        return ZERO, rest, whole
    terms = dict(rest.terms)
    outside: dict[Atom, int] = {}
    for weight, unit, quotient in digits:
        factor = terms.get(quotient, 0)
        closing = weight * unit.radix
        if factor and (factor % divisor == 0 or factor != -closing):
            if closing % divisor == 0:
                terms[quotient] = factor + closing
                outside[quotient] = outside.get(quotient, 0) - closing // divisor
            _reduce(terms, quotient, divisor, outside)
    whole += [
        (weight, unit.value)
        for weight, unit, quotient in digits
        if terms.get(quotient) == -weight * unit.radix
    ]
    closed = {atom for _, value in whole for atom in value.terms}
    for atom in list(terms):
        if atom not in closed:
            _reduce(terms, atom, divisor, outside)
    return forms.collected(0, outside), Form(rest.constant, terms), whole


def _is_clamp(unit: Unit) -> bool:
    """Whether the unit is a difference that maxima clamp."""
    value = unit.value.terms
    return len(value) > 1 and any(atom.kind is MAX for atom in value)


def _reduce(terms: dict[Atom, int], atom: Atom, divisor: int, outside: dict[Atom, int]) -> None:
    """Leave of a term only its residue; the multiple goes outside."""
    factor = terms[atom]
    residue = _residue(factor, divisor, turning=atom.kind is not FLOORDIV)
    if residue != factor:
        outside[atom] = outside.get(atom, 0) + (factor - residue) // divisor
    if residue:
        terms[atom] = residue
    else:
        del terms[atom]


def _inner(numerator: Form) -> Atom | None:
    """The last quotient with the coefficient 1 or -1."""
    terms = reversed(numerator.terms.items())
    return next((a for a, factor in terms if factor in (1, -1) and a.kind is FLOORDIV), None)


def exchange(context: Context, numerator: Form, divisor: int) -> tuple[Form, int] | None:
    """``floor((g*q + S)/(g*c)) = floor((q + floor(S/g))/c)`` for quotients of which ``q`` is last.

    So the same one of both is flattened, whichever was, unless the divisor would become greater.
    """
    for atom, factor in numerator.terms.items():
        scale = abs(factor)
        if not 0 < atom.divisor <= scale or divisor % scale:
            continue
        terms = {each: value for each, value in numerator.terms.items() if value % scale}
        small = Form(numerator.constant % scale, terms)
        other = context.floordiv(small, scale) if small.is_affine else ZERO
        both = numerator.plus(small, -1).exactly_divided(scale).plus(other)
        if len(other.terms) == 1 and _inner(other) and _inner(both) is atom:
            context.fired(law.SPLIT)
            return both, divisor // scale
    return None


def flatten(context: Context, numerator: Form, divisor: int, inner: Atom) -> tuple[Form, int]:
    """``floor((floor(A/a) + B)/c) = floor((A + a*B)/(a*c))``.

    A negative quotient is turned first: ``-floor(A/a) = floor((a - 1 - A)/a)``.
    """
    radix = inner.divisor
    source = inner.numerator
    if numerator.terms[inner] < 0:
        context.fired(law.REFLECT)
        source = source.times(-1).plus_constant(radix - 1)
    context.fired(law.FLATTEN)
    return source.plus(numerator.without(inner), radix), radix * divisor


def reflect(context: Context, numerator: Form, divisor: int, whole: Weighted = ()) -> Form:
    """``floor(N/c) = -floor((c - 1 - N)/c)``, whichever has fewer negative weights.

    The part of the numerator that stays whole has one weight.
    """
    beside = numerator.plus(forms.weighted_sum(whole), -1) if whole else numerator
    weights = [*[weight for weight, _ in whole], *beside.terms.values()]
    if not _is_reflected(weights, beside.constant, divisor):
        return context.quotient_atom(numerator, divisor)
    # Half of the divisor stays positive: -x*c/2 is x*c/2 - x*c.
    halves = Form(0, {atom: 1 for atom, weight in beside.terms.items() if 2 * weight == divisor})
    for weight, value in whole:
        if 2 * weight == divisor:
            halves = halves.plus(value)
    context.fired(law.REFLECT)
    turned = (halves.times(divisor) - numerator).plus_constant(divisor - 1)
    return halves.plus(context.quotient_atom(turned, divisor), -1)


def _is_reflected(weights: Iterable[int], offset: int, divisor: int) -> bool:
    signs = [1 if weight > 0 else -1 for weight in weights if 2 * weight != divisor]
    surplus = sum(signs)
    if surplus:
        return surplus < 0
    turned = divisor - 1 - offset
    return turned < offset or (turned == offset and bool(signs) and signs[0] < 0)
