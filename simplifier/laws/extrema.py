"""Laws of maxima: what becomes of ``max(A, B, ...)`` before ``max(0, ...)`` may become an atom.

A minimum is a negated maximum, ``min(A, B) = -max(-A, -B)``, so each law serves both. The atom is
always ``P + g*max(0, (A - P)/g, ...)`` for a pivot ``P`` among the operands and the greatest common
factor ``g`` of the differences: shifting or scaling all operands gives the same atom.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from simplifier.budget import are_many, is_deep
from simplifier.form import ZERO, Atom, Form, Kind, atom_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplifier.form import Key
    from simplifier.scope import Scope


def maximum(scope: Scope, operands: Iterable[Form]) -> Form:
    """The greatest of canonical forms, in canonical form."""
    operands = list(operands)
    if are_many(operands) or any(map(is_deep, operands)):
        return kept_maximum(scope, operands)
    kept = prune(scope, operands)
    if len(kept) == 1:
        return kept[0]
    for law in (absorb, factor_minimum, hoist_quotient):
        found = law(scope, kept)
        if found is not None:
            return found
    return pivot(scope, kept)


def kept_maximum(scope: Scope, operands: Iterable[Form]) -> Form:
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
    if len(kept) == 1:
        return kept[0]
    ends = max(ranges[form][0] for form in kept), max(ranges[form][1] for form in kept)
    return scope.remember(atom_of(Kind.MAX, tuple(kept)), ends)


def choices(form: Form, sign: int) -> list[Form]:
    """Forms whose maximum (sign 1) or minimum (sign -1) the form is.

    ``T + k*max(A, B)`` is the greater of ``T + k*A`` and ``T + k*B`` for positive ``k``.
    """
    for atom, factor in form.terms.items():
        if atom.kind is Kind.MAX and factor * sign > 0:
            rest = form.without(atom)
            return [rest.plus(argument, factor) for argument in atom.arguments]
    return [form]


def prune(scope: Scope, operands: Iterable[Form]) -> list[Form]:
    """``max(max(A, B), C) = max(A, B, C)``; and ``A`` goes where some other ``B >= A``."""
    flat: dict[Key, Form] = {}
    todo = sorted(operands, key=lambda form: form.order)
    while todo:
        operand = todo.pop()
        parts = choices(operand, 1)
        if len(parts) > 1:
            todo += parts
        else:
            flat.setdefault(operand.key, operand)
    kept = sorted(flat.values(), key=lambda form: form.order)
    place = 0
    while place < len(kept):
        dominated = any(
            other is not kept[place] and scope.range_of(other.plus(kept[place], -1))[0] >= 0
            for other in kept
        )
        if dominated:
            kept.pop(place)
        else:
            place += 1
    return kept


def absorb(scope: Scope, operands: Sequence[Form]) -> Form | None:
    """``max(y, min(max(x, y), z)) = max(y, min(x, z))``."""
    for place, operand in enumerate(operands):
        lesser = choices(operand, -1)
        if len(lesser) == 1:
            continue
        others = [*operands[:place], *operands[place + 1 :]]
        shortened = [_without_choices(scope, form, others) for form in lesser]
        if shortened != lesser:
            return maximum(scope, [*others, scope.minimum(shortened)])
    return None


def _without_choices(scope: Scope, form: Form, known: Sequence[Form]) -> Form:
    """The form as a maximum, less the choices that stand beside it already; some choice is left."""
    greater = choices(form, 1)
    left = [choice for choice in greater if choice not in known]
    return maximum(scope, left) if left and len(left) < len(greater) else form


def factor_minimum(scope: Scope, operands: Sequence[Form]) -> Form | None:
    """``max(min(e, A), min(e, B)) = min(e, max(A, B))``."""
    lesser = [choices(operand, -1) for operand in operands]
    common = [form for form in lesser[0] if all(form in others for others in lesser[1:])]
    if not common:
        return None
    rest = [
        scope.minimum([form for form in forms if form not in common])
        for forms in lesser
        if len(forms) > len(common)
    ]
    return scope.minimum([*common, maximum(scope, rest)] if len(rest) == len(lesser) else common)


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
                return candidate.plus(maximum(scope, flat))
        rank = (nested, [_turn(form) for form in differences])
        if best is None or rank < best[0]:
            best = (rank, candidate, differences)
    if best is None:
        return ZERO
    _, chosen, differences = best
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
