"""Laws of ``max(A, B, ...)``, tried before ``max(0, ...)`` becomes an atom.

A minimum is a negated maximum, ``min(A, B) = -max(-A, -B)``, so each law serves both. The atom is
always ``P + g*max(0, (A - P)/g, ...)`` for a pivot ``P`` among the operands and the greatest common
factor ``g`` of the differences: shifting or scaling all operands gives the same atom.

The greatest operand is found for all values at once. ``A <= max(B, C)`` says that at every point
``B - A`` or ``C - A`` is not negative. Two together may show it where one alone does
not: ``x <= max(4, 5*x)``, as ``4*(4 - x) + 4*x >= 0``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, product
from math import gcd
from operator import attrgetter, itemgetter
from typing import Final

from simplifier.bounds.context import Context, term_by_term
from simplifier.bounds.digits import branches, cancelling, maxima
from simplifier.bounds.interval import Range
from simplifier.bounds.ranges import corners
from simplifier.expr import form as forms
from simplifier.expr.form import ZERO, Atom, AtomKind, Form, Key, constant, is_deep
from simplifier.laws.catalogue import maxima as law
from simplifier.laws.catalogue.floordiv import REFLECT
from simplifier.laws.law import Law
from simplifier.limits import MAX_CASES, MAX_NESTED_SIZE, MAX_OPERANDS, MAX_OPERANDS_COMPARED

_ORDER: Final = attrgetter("order")


def maximum(context: Context, operands: Iterable[Form]) -> Form:
    """The greatest of canonical forms, in canonical form."""
    operands = list(operands)
    if len(operands) > MAX_OPERANDS or any(is_deep(each) or _is_tangled(each) for each in operands):
        return kept_maximum(context, operands)
    kept = prune(context, operands)
    if len(kept) == 1:
        return kept[0]
    for apply in (two_valued, shorten_minimum, factor_minimum, hoist_quotient, take_end):
        found = apply(context, kept)
        if found is not None:
            return found
    return pivot(context, kept)


def _is_tangled(form: Form) -> bool:
    """Whether a form nests maxima in operations and is too large to be compared with others."""
    if all(atom.depth < _NESTED_DEPTH for atom in form.terms):
        return False
    inside = forms.postorder((form,))
    return len(inside) > MAX_NESTED_SIZE and any(
        each.kind is AtomKind.MAX
        for atom in inside
        if atom.kind is AtomKind.MAX
        for each in forms.postorder(atom.arguments)
    )


_NESTED_DEPTH: Final = 3
"""How deep a term is at least in which a maximum of a quotient of a maximum stands."""


def kept_maximum(context: Context, operands: Sequence[Form]) -> Form:
    """The maximum as it stands; of operands that differ by a constant only the greatest."""
    greatest: dict[Key, Form] = {}
    for operand in sorted(operands, key=_ORDER):
        base = Form(0, operand.terms)
        known = greatest.get(base.key)
        if known is None or known.constant < operand.constant:
            greatest[base.key] = operand
    ranges = {operand: context.range_of(operand) for operand in greatest.values()}
    least = max(ends[0] for ends in ranges.values())
    kept = [operand for operand, ends in ranges.items() if ends[1] > least or ends[0] == least]
    if len(kept) < len(operands):
        context.fired(law.PRUNE)
    if len(kept) == 1:
        return kept[0]
    ends = _range_of_greatest(map(ranges.__getitem__, kept))
    return context.remember(forms.atom_of(AtomKind.MAX, tuple(kept)), ends)


def _range_of_greatest(ranges: Iterable[Range]) -> Range:
    lows, highs = zip(*ranges, strict=True)
    return max(lows), max(highs)


def choices(form: Form, sign: int) -> list[Form]:
    """Forms whose maximum (sign 1) or minimum (sign -1) the form is."""
    found = (branches(form, atom) for atom in maxima(form) if form.terms[atom] * sign > 0)
    return next(found, [form])


def prune(context: Context, operands: Iterable[Form]) -> list[Form]:
    """``max(max(A, B), C) = max(A, B, C)``; and ``A`` goes where the others are not below it."""
    whole = _undominated(context, operands)
    flat = _flat(whole) if len(whole) > 1 else None
    if flat is None:
        return whole
    context.fired(law.FLATTEN_MAXIMA)
    return _undominated(context, flat)


def _flat(operands: Sequence[Form]) -> list[Form] | None:
    """The operands with the operands of maxima in their place; ``None`` if there are none."""
    flat: list[Form] = []
    todo = list(operands)
    while todo:
        parts = choices(todo.pop(), 1)
        (todo if len(parts) > 1 else flat).extend(parts)
    return flat if len(flat) > len(operands) else None


def _undominated(context: Context, operands: Iterable[Form]) -> list[Form]:
    """The operands, each once, less those that never exceed all others."""
    kept = sorted(dict.fromkeys(operands), key=_ORDER)
    for operand in tuple(kept):
        others = [each for each in kept if each is not operand]
        reason = is_reached(context, operand, others) if others else None
        if reason is not None:
            context.fired(reason)
            kept = others
    return kept


def two_valued(context: Context, operands: Sequence[Form]) -> Form | None:
    """Any function of something with two values is affine in it."""
    (atom, *others) = dict.fromkeys(atom for operand in operands for atom in operand.terms)
    low, high = context.ranges[atom]
    if others or not isinstance(low, int) or high != low + 1:
        return None
    context.fired(law.TWO_VALUED_MAXIMUM)
    first, second = (
        max(operand.constant + operand.terms.get(atom, 0) * value for operand in operands)
        for value in (low, low + 1)
    )
    return forms.collected(first - (second - first) * low, {atom: second - first})


def _minima(operands: Sequence[Form]) -> Iterator[tuple[list[Form], list[Form]]]:
    """The choices of each operand that is a minimum, and the operands beside it."""
    for index, operand in enumerate(operands):
        lesser = choices(operand, -1)
        if len(lesser) > 1:
            yield lesser, [*operands[:index], *operands[index + 1 :]]


def shorten_minimum(context: Context, operands: Sequence[Form]) -> Form | None:
    """``max(A, min(B, C)) = max(A, C)`` where ``C <= max(A, B)``."""
    for lesser, others in _minima(operands):
        for dropped in lesser:
            rest = [form for form in lesser if form is not dropped]
            if any(is_reached(context, form, [*others, dropped]) for form in rest):
                context.fired(law.SHORTEN_MINIMUM)
                return maximum(context, [*others, context.minimum(rest)])
    return None


def factor_minimum(context: Context, operands: Sequence[Form]) -> Form | None:
    """``max(min(e, A), min(e, B), C) = max(min(e, max(A, B)), C)``."""
    lesser = [choices(operand, -1) for operand in operands]
    for (first, left), (second, right) in combinations(enumerate(lesser), 2):
        common = [form for form in left if form in right]
        if common:
            joined = _joined(context, left, right, common)
            others = [form for n, form in enumerate(operands) if n not in (first, second)]
            return maximum(context, [joined, *others]) if others else joined
    return None


def _joined(context: Context, left: list[Form], right: list[Form], common: list[Form]) -> Form:
    """The greater of two minima that have operands in common."""
    rests = [[form for form in each if form not in common] for each in (left, right)]
    if not all(rests):
        context.fired(law.PRUNE)
        return context.minimum(common)
    context.fired(law.FACTOR_MINIMUM)
    return context.minimum([*common, maximum(context, [context.minimum(rest) for rest in rests])])


def take_end(context: Context, operands: Sequence[Form]) -> Form | None:
    """``max(A, B) = max(A, b)`` for the least value ``b`` of ``B``, where ``B <= max(A, b)``.

    Or for the greatest, where ``b <= max(A, B)``.
    """
    for index, operand in enumerate(operands):
        others = [*operands[:index], *operands[index + 1 :]]
        lower, upper = context.range_of(operand)
        if lower == upper or all(context.range_of(other)[1] < upper for other in others):
            continue
        if isinstance(lower, int) and is_reached(context, operand, [*others, constant(lower)]):
            context.fired(law.LEAST_VALUE)
            return maximum(context, [*others, constant(lower)])
        if isinstance(upper, int) and is_reached(context, constant(upper), [*others, operand]):
            context.fired(law.GREATEST_VALUE)
            return maximum(context, [*others, constant(upper)])
    return None


def hoist_quotient(context: Context, operands: Sequence[Form]) -> Form | None:
    """``max(floor(A/c), floor(B/c)) = floor(max(A, B)/c)``.

    Other terms ``t`` of an operand enter as ``c*t``.
    """
    quotients = [_quotients_by_divisor(operand) for operand in operands]
    common = set(quotients[0]).intersection(*quotients[1:])
    if not common:
        return None
    divisor = min(common)
    chosen = [*zip(operands, (own[divisor] for own in quotients), strict=True)]
    inner = [_inside(operand, atom, divisor) for operand, atom in chosen]
    if min(operand.terms[atom] for operand, atom in chosen) < 0:
        context.fired(REFLECT)
    context.fired(law.HOIST_QUOTIENT)
    return context.floordiv(maximum(context, inner), divisor)


def _quotients_by_divisor(form: Form) -> dict[int, Atom]:
    """Quotients with the coefficient 1 or -1; of several with one divisor the first."""
    return {
        atom.divisor: atom
        for atom, factor in reversed(form.terms.items())
        if atom.kind is AtomKind.FLOORDIV and abs(factor) == 1
    }


def _inside(operand: Form, quotient: Atom, divisor: int) -> Form:
    """The numerator over the quotient's divisor that has the operand as its quotient."""
    rest = operand.without(quotient).times(divisor)
    if operand.terms[quotient] > 0:
        return rest.plus(quotient.numerator)
    return rest.plus(quotient.numerator, -1).plus_constant(divisor - 1)


def pivot(context: Context, operands: Sequence[Form]) -> Form:
    """``max(A, B, ...) = P + g*max(0, (B - P)/g, ...)``.

    The pivot ``P`` is the operand that nests the fewest maxima and leaves the most positive terms.
    Constants have the last word: clamps ``max(0, D)`` and ``max(0, D - b)`` are turned alike.
    """
    ranked: list[tuple[int, list[tuple[object, ...]], Form, list[Form]]] = []
    for candidate in operands:
        others = (operand for operand in operands if operand is not candidate)
        differences = sorted((other.plus(candidate, -1) for other in others), key=_ORDER)
        nested = sum(form.terms[atom] > 0 for form in differences for atom in maxima(form))
        if nested:
            # A clamp of a clamp: max(0, max(0, D) - b) = max(0, D - b).
            flat = prune(context, [ZERO, *differences])
            if len(flat) <= len(operands):
                context.fired(law.PIVOT)
                return candidate.plus(maximum(context, flat))
        ranked.append((nested, [_turn(form) for form in differences], candidate, differences))
    *_, chosen, differences = min(ranked, key=itemgetter(0, 1))
    context.fired(law.PIVOT)
    scale = gcd(*(value for form in differences for value in (form.constant, *form.terms.values())))
    reduced = [form.exactly_divided(scale) for form in differences]
    return chosen.plus(maximum_atom(context, reduced), scale)


def _turn(form: Form) -> tuple[object, ...]:
    """Ranks a difference against its negative."""
    return (-sum(factor > 0 for factor in form.terms.values()), form.order)


def maximum_atom(context: Context, differences: Sequence[Form]) -> Form:
    """``max(0, D1, D2, ...)`` as an atom."""
    atom = forms.atom_of(AtomKind.MAX, (ZERO, *differences))
    ranges = map(context.range_of, (ZERO, *differences))
    return context.remember(atom, _range_of_greatest(ranges))


# The greatest operand.


def is_reached(context: Context, form: Form, others: Sequence[Form]) -> Law | None:
    """The law by which ``form <= max(others)``, if one shows it; else ``None``."""
    for corner in context.once(corners):
        lower, _ = term_by_term(corner, form)
        if all(term_by_term(corner, other)[1] < lower for other in others):
            return None
    differences = [other.plus(form, -1) for other in others]
    if any(_is_nonnegative(context, difference) for difference in differences):
        return law.PRUNE
    if len(differences) > MAX_OPERANDS_COMPARED:
        return None
    is_covered = _is_some_nonnegative(context, differences, MAX_CASES)
    return law.PRUNE_BY_SEVERAL if is_covered else None


def _is_some_nonnegative(context: Context, differences: Iterable[Form], cases: int) -> bool:
    """Whether some form is seen not to be negative at every point; maxima case by case."""
    pairs = ((form, _smooth(form)) for form in differences)
    differences = list(dict.fromkeys(chain.from_iterable(pairs)))
    if any(context.range_of(form)[0] >= 0 for form in differences):
        return True
    atom = next((atom for form in differences for atom in maxima(form)), None)
    if atom is None or cases < len(atom.arguments):
        return _contradict(context, differences)
    left = cases // len(atom.arguments)
    return all(_is_some_nonnegative(context, case, left) for case in _cases(differences, atom))


def _cases(differences: Sequence[Form], atom: Atom) -> Iterator[list[Form]]:
    """The forms where the first operand of a maximum is the greatest, where the second is, ...

    That ``A`` is the greatest of ``A`` and ``B`` enters as one more form, ``B - A - 1``: only where
    this is negative, the others matter.
    """
    for chosen in atom.arguments:
        others = (each for each in atom.arguments if each is not chosen)
        yield [
            *(form.without(atom).plus(chosen, form.terms.get(atom, 0)) for form in differences),
            *(other.plus(chosen, -1).plus_constant(-1) for other in others),
        ]


def _contradict(context: Context, differences: Sequence[Form]) -> bool:
    """Whether some of ``A < 0``, ``B < 0``, ``C < 0`` are seen to contradict each other.

    Two do where ``p*A + q*B > -p - q``; otherwise ``p*A + q*B + p + q - 1 < 0`` follows, which may
    contradict a third.
    """
    concluded = [form for pair in combinations(differences, 2) for form in _sums(*pair)]
    if any(_is_nonnegative(context, form) for form in concluded):
        return True
    plain = [form for form in differences if form.is_affine]
    pairs = product([form for form in concluded if form.is_affine], plain)
    by_three = (form for pair in pairs for form in _sums(*pair))
    return any(_is_nonnegative(context, form) for form in by_three)


def _sums(left: Form, right: Form) -> Iterator[Form]:
    """Forms with a term less that are negative where both are."""
    for p, q in cancelling(left, right):
        yield left.times(p).plus(right, q).plus_constant(p + q - 1)


def _is_nonnegative(context: Context, form: Form) -> bool:
    return context.range_of(form)[0] >= 0


def _smooth(form: Form) -> Form:
    """A form without quotients that is negative wherever this one is.

    ``S + k*floor(N/c) >= 0`` where ``c*S + k*N >= (k - 1)*(c - 1)`` for positive ``k``, and where
    ``c*S + k*N + c - 1 >= 0`` for negative ``k``.
    """
    while True:
        quotient = next((a for a in reversed(form.terms) if a.kind is AtomKind.FLOORDIV), None)
        if quotient is None:
            return form
        factor, divisor = form.terms[quotient], quotient.divisor
        rest = form.without(quotient).times(divisor).plus(quotient.numerator, factor)
        form = rest.plus_constant((divisor - 1) * (1 - max(factor, 0)))
