"""Laws of maxima: what becomes of ``max(A, B, ...)`` before ``max(0, ...)`` may become an atom.

A minimum is a negated maximum, ``min(A, B) = -max(-A, -B)``, so each law serves both. The atom is
always ``P + g*max(0, (A - P)/g, ...)`` for a pivot ``P`` among the operands and the greatest common
factor ``g`` of the differences: shifting or scaling all operands gives the same atom.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING

from simplifier.canonical.clamps import branches, maxima
from simplifier.canonical.order import is_reached
from simplifier.expr.form import ZERO, Atom, Form, Kind, atom_of, collected, constant
from simplifier.laws.catalogue.extrema import (
    ABSORB,
    FACTOR_MINIMUM,
    FLATTEN_MAXIMA,
    GREATEST_VALUE,
    HOIST_QUOTIENT,
    HOIST_TURNED,
    LEAST_VALUE,
    PIVOT,
    PRUNE,
    SHORTEN_MINIMUM,
    TWO_VALUED_MAXIMUM,
)
from simplifier.limits import are_many, is_deep, is_tangled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key


def maximum(scope: Scope, operands: Iterable[Form]) -> Form:
    """The greatest of canonical forms, in canonical form."""
    operands = list(operands)
    if are_many(operands) or any(is_deep(each) or is_tangled(each) for each in operands):
        return kept_maximum(scope, operands)
    kept = prune(scope, operands)
    if len(kept) == 1:
        return kept[0]
    for law in (two_valued, absorb, shorten_minimum, factor_minimum, hoist_quotient, take_end):
        found = law(scope, kept)
        if found is not None:
            return found
    return pivot(scope, kept)


def kept_maximum(scope: Scope, operands: Sequence[Form]) -> Form:
    """The maximum as it stands; of operands that differ by a constant only the greatest."""
    greatest: dict[Key, Form] = {}
    for operand in sorted(operands, key=lambda form: form.order):
        base = Form(0, operand.terms)
        known = greatest.get(base.key)
        if known is None or known.constant < operand.constant:
            greatest[base.key] = operand
    ranges = {operand: scope.range_of(operand) for operand in greatest.values()}
    least = max(ends[0] for ends in ranges.values())
    kept = [operand for operand, ends in ranges.items() if ends[1] > least or ends[0] == least]
    if len(kept) < len(operands):
        scope.fired(PRUNE)
    if len(kept) == 1:
        return kept[0]
    ends = max(ranges[form][0] for form in kept), max(ranges[form][1] for form in kept)
    return scope.remember(atom_of(Kind.MAX, tuple(kept)), ends)


def choices(form: Form, sign: int) -> list[Form]:
    """Forms whose maximum (sign 1) or minimum (sign -1) the form is."""
    for atom in maxima(form):
        if form.terms[atom] * sign > 0:
            return branches(form, atom)
    return [form]


def prune(scope: Scope, operands: Iterable[Form]) -> list[Form]:
    """``max(max(A, B), C) = max(A, B, C)``; and ``A`` goes where the others are not below it."""
    whole = _undominated(scope, operands)
    flat = _flat(whole)
    if flat is None:
        return whole
    scope.fired(FLATTEN_MAXIMA)
    return _undominated(scope, flat)


def _flat(operands: Sequence[Form]) -> list[Form] | None:
    """The operands with all maxima among them opened; ``None`` if there are none."""
    flat: list[Form] = []
    todo = list(operands)
    while todo:
        parts = choices(todo.pop(), 1)
        if len(parts) > 1:
            todo += parts
        else:
            flat += parts
    return flat if len(flat) > len(operands) else None


def _undominated(scope: Scope, operands: Iterable[Form]) -> list[Form]:
    """The operands, each once, that the others together do not reach everywhere."""
    kept = sorted(dict.fromkeys(operands), key=lambda form: form.order)
    place = 0
    while place < len(kept):
        others = [*kept[:place], *kept[place + 1 :]]
        law = is_reached(scope, kept[place], others) if others else None
        if law is not None:
            scope.fired(law)
            kept = others
        else:
            place += 1
    return kept


def two_valued(scope: Scope, operands: Sequence[Form]) -> Form | None:
    """Any function of something with two values is affine in it."""
    (atom, *others) = dict.fromkeys(atom for operand in operands for atom in operand.terms)
    low, high = scope.ranges[atom]
    if others or not isinstance(low, int) or high != low + 1:
        return None
    scope.fired(TWO_VALUED_MAXIMUM)
    first, second = (
        max(operand.constant + operand.terms.get(atom, 0) * value for operand in operands)
        for value in (low, low + 1)
    )
    return collected(first - (second - first) * low, {atom: second - first})


def absorb(scope: Scope, operands: Sequence[Form]) -> Form | None:
    """``max(y, min(max(x, y), z)) = max(y, min(x, z))``."""
    for place, operand in enumerate(operands):
        lesser = choices(operand, -1)
        if len(lesser) == 1:
            continue
        others = [*operands[:place], *operands[place + 1 :]]
        shortened = [_without_choices(scope, form, others) for form in lesser]
        if shortened != lesser:
            scope.fired(ABSORB)
            return maximum(scope, [*others, scope.minimum(shortened)])
    return None


def _without_choices(scope: Scope, form: Form, known: Sequence[Form]) -> Form:
    """The form as a maximum, less the choices that stand beside it already; some choice is left."""
    greater = choices(form, 1)
    left = [choice for choice in greater if choice not in known]
    return maximum(scope, left) if left and len(left) < len(greater) else form


def shorten_minimum(scope: Scope, operands: Sequence[Form]) -> Form | None:
    """``max(A, min(B, C)) = max(A, C)`` where ``C <= max(A, B)``."""
    for place, operand in enumerate(operands):
        lesser = choices(operand, -1)
        if len(lesser) == 1:
            continue
        others = [*operands[:place], *operands[place + 1 :]]
        for dropped in lesser:
            rest = [form for form in lesser if form is not dropped]
            if any(is_reached(scope, form, [*others, dropped]) for form in rest):
                scope.fired(SHORTEN_MINIMUM)
                return maximum(scope, [*others, scope.minimum(rest)])
    return None


def factor_minimum(scope: Scope, operands: Sequence[Form]) -> Form | None:
    """``max(min(e, A), min(e, B), C) = max(min(e, max(A, B)), C)``."""
    lesser = [choices(operand, -1) for operand in operands]
    for (first, left), (second, right) in combinations(enumerate(lesser), 2):
        common = [form for form in left if form in right]
        if common:
            joined = _joined(scope, left, right, common)
            others = [form for n, form in enumerate(operands) if n not in (first, second)]
            return maximum(scope, [joined, *others]) if others else joined
    return None


def _joined(scope: Scope, left: list[Form], right: list[Form], common: list[Form]) -> Form:
    """The greater of two minima that have operands in common."""
    rests = [[form for form in forms if form not in common] for forms in (left, right)]
    if not all(rests):
        scope.fired(PRUNE)
        return scope.minimum(common)
    scope.fired(FACTOR_MINIMUM)
    return scope.minimum([*common, maximum(scope, [scope.minimum(rest) for rest in rests])])


def take_end(scope: Scope, operands: Sequence[Form]) -> Form | None:
    """``max(A, B) = max(A, b)`` for the least value ``b`` of ``B``, where ``B <= max(A, b)``.

    Or for the greatest, where ``b <= max(A, B)``.
    """
    for place, operand in enumerate(operands):
        others = [*operands[:place], *operands[place + 1 :]]
        lower, upper = scope.range_of(operand)
        if lower == upper or all(scope.range_of(other)[1] < upper for other in others):
            continue
        if isinstance(lower, int) and is_reached(scope, operand, [*others, constant(lower)]):
            scope.fired(LEAST_VALUE)
            return maximum(scope, [*others, constant(lower)])
        if isinstance(upper, int) and is_reached(scope, constant(upper), [*others, operand]):
            scope.fired(GREATEST_VALUE)
            return maximum(scope, [*others, constant(upper)])
    return None


def hoist_quotient(scope: Scope, operands: Sequence[Form]) -> Form | None:
    """``max(floor(A/c), floor(B/c)) = floor(max(A, B)/c)``.

    Other terms ``t`` of an operand enter as ``c*t``.
    """
    quotients = [_quotients_by_divisor(operand) for operand in operands]
    common = set(quotients[0]).intersection(*quotients[1:])
    if not common:
        return None
    divisor = min(common)
    inner = [
        _inside(operand, own[divisor], divisor)
        for operand, own in zip(operands, quotients, strict=True)
    ]
    signs = [operand.terms[own[divisor]] for operand, own in zip(operands, quotients, strict=True)]
    scope.fired(HOIST_QUOTIENT if min(signs) > 0 else HOIST_TURNED)
    return scope.floordiv(maximum(scope, inner), divisor)


def _quotients_by_divisor(form: Form) -> dict[int, Atom]:
    """Quotients with the coefficient 1 or -1; of several with one divisor the first."""
    return {
        atom.divisor: atom
        for atom, factor in reversed(form.terms.items())
        if atom.kind is Kind.FLOORDIV and abs(factor) == 1
    }


def _inside(operand: Form, quotient: Atom, divisor: int) -> Form:
    """The numerator over the quotient's divisor that has the operand as its quotient."""
    rest = operand.without(quotient).times(divisor)
    if operand.terms[quotient] > 0:
        return rest.plus(quotient.numerator)
    return rest.plus(quotient.numerator, -1).plus_constant(divisor - 1)


def pivot(scope: Scope, operands: Sequence[Form]) -> Form:
    """``max(A, B, ...) = P + g*max(0, (B - P)/g, ...)``.

    The pivot ``P`` is the operand that nests the fewest maxima and leaves the most positive terms.
    Constants have the last word: clamps ``max(0, D)`` and ``max(0, D - b)`` are turned alike.
    """
    best: tuple[tuple[object, ...], Form, list[Form]] | None = None
    for candidate in operands:
        others = (operand for operand in operands if operand is not candidate)
        differences = sorted(
            (other.plus(candidate, -1) for other in others), key=lambda form: form.order
        )
        nested = sum(
            factor > 0 and atom.kind is Kind.MAX
            for form in differences
            for atom, factor in form.terms.items()
        )
        if nested:
            # A clamp of a clamp: max(0, max(0, D) - b) = max(0, D - b).
            flat = prune(scope, [ZERO, *differences])
            if len(flat) <= len(operands):
                scope.fired(PIVOT)
                return candidate.plus(maximum(scope, flat))
        rank = (nested, [_turn(form) for form in differences])
        if best is None or rank < best[0]:
            best = (rank, candidate, differences)
    if best is None:
        return ZERO
    _, chosen, differences = best
    scope.fired(PIVOT)
    scale = gcd(*(value for form in differences for value in (form.constant, *form.terms.values())))
    reduced = [form.exactly_divided(scale) for form in differences]
    return chosen.plus(maximum_atom(scope, reduced), scale)


def _turn(form: Form) -> tuple[object, ...]:
    """Ranks a difference against its negative."""
    return (-sum(factor > 0 for factor in form.terms.values()), form.order)


def maximum_atom(scope: Scope, differences: Sequence[Form]) -> Form:
    """``max(0, D1, D2, ...)`` as an atom."""
    atom = atom_of(Kind.MAX, (ZERO, *differences))
    ranges = [(0, 0), *(scope.range_of(form) for form in differences)]
    return scope.remember(atom, (max(ends[0] for ends in ranges), max(ends[1] for ends in ranges)))
