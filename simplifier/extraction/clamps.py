"""Clamps come back as maxima and minima."""

from __future__ import annotations

from itertools import combinations, permutations
from math import gcd
from typing import TYPE_CHECKING, Final

from simplifier.bounds.branches import branches, is_clamp, maxima
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import ZERO, Atom, AtomKind, Form, constant
from simplifier.extraction.candidates import Candidates
from simplifier.laws.catalogue.extrema import PRUNE
from simplifier.laws.catalogue.spellings import (
    DOUBLE_CLAMP,
    GROUPED_EXTREMA,
    OPPOSITE_CLAMPS,
    QUOTIENTS_INSIDE,
    SCALED_EXTREMA,
    SHIFTED_EXTREMA,
    WRITTEN_MINIMUM,
)
from simplifier.limits import MAX_TERMS_MOVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.extraction.candidates import Limit
    from simplifier.laws.law import Law

_PAIR: Final = 2
_OTHER: Final = {AtomKind.MAX: AtomKind.MIN, AtomKind.MIN: AtomKind.MAX}


def extremum_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    """Terms move into extrema; maxima come back as minima; quotients move to operands."""
    found = maxima(form)
    for atom in found:
        factor, rest = form.terms[atom], form.without(atom)
        operands = [argument.times(factor) for argument in atom.arguments]
        yield from _shifted(limit, rest, _greatest_of(factor), operands)
    for atom, other in permutations(found, 2):
        if form.terms[atom] * form.terms[other] < 0 and is_clamp(atom) and is_clamp(other):
            yield from _clamps(scope, form, limit, atom, other)
    for atom in form.terms:
        if atom.kind is AtomKind.FLOORDIV and maxima(atom.numerator) and scope.is_canonical(atom):
            yield from _quotients(scope, form, limit, atom)


def _greatest_of(factor: int) -> AtomKind:
    """What ``k*max(...)`` is of the operands times ``k``."""
    return AtomKind.MAX if factor > 0 else AtomKind.MIN


def _clamps(scope: Scope, form: Form, limit: Limit, near: Atom, far: Atom) -> Iterator[Candidates]:
    """``max(0, D) - max(0, E)`` with ends in order, each of which may be turned.

    ``min(max(0, D), D - E)`` where ``D >= E``; ``min(max(0, D), D + E) - E`` where ``D + E >= 0``;
    ``max(D, min(0, -E))`` where ``D + E <= 0``.
    """
    if not (scope.is_canonical(near) and scope.is_canonical(far)):
        return
    factor = form.terms[near]
    if abs(factor) > abs(form.terms[far]):
        factor = -form.terms[far]
    rest = form.plus_atom(near, -factor).plus_atom(far, factor)
    lower, upper = near.arguments[1].times(factor), far.arguments[1].times(factor)
    step, total = lower.plus(upper, -1), lower.plus(upper)
    inner = _greatest_of(factor)
    if _is_never_negative(scope, step, factor):
        yield from _clamped(limit, rest, inner, (ZERO, lower, step), DOUBLE_CLAMP)
    if _is_never_negative(scope, total, factor):
        yield from _clamped(limit, rest.plus(upper, -1), inner, (ZERO, lower, total), DOUBLE_CLAMP)
    if _is_never_negative(scope, total, -factor):
        yield from _clamped(limit, rest, _OTHER[inner], (ZERO, -upper, lower), OPPOSITE_CLAMPS)


def _is_never_negative(scope: Scope, form: Form, sign: int) -> bool:
    lower, upper = scope.range_of(form)
    return lower >= 0 if sign > 0 else upper <= 0


def _clamped(
    limit: Limit, rest: Form, inner: AtomKind, ends: Sequence[Form], why: Law
) -> Iterator[Candidates]:
    """``min(max(A, B), C) + t = min(max(A + t, B + t), C + t)``."""
    for moved in dict.fromkeys(_moves(rest, ends)):
        left, inside = rest.plus(moved, -1), [end.plus(moved) for end in ends]
        if not limit.admits_extrema(left, 2):
            continue
        for weight, kind, (*clamped, last), turning in _turned(inner, inside):
            operands = (operations.build(kind, tuple(clamped)), last)
            laws = (why, *_moving(moved), *turning)
            yield Candidates(left, weight, _OTHER[kind], [operands], laws)


def _quotients(scope: Scope, form: Form, limit: Limit, atom: Atom) -> Iterator[Candidates]:
    """``floor(max(A, B)/c) = max(floor(A/c), floor(B/c))``."""
    factor, rest, numerator = form.terms[atom], form.without(atom), atom.numerator
    inner = maxima(numerator)[0]
    parts = branches(numerator, inner)
    kind = _greatest_of(numerator.terms[inner] * factor)
    divided = [scope.floordiv(part, atom.divisor).times(factor) for part in parts]
    greatest = scope.maximum(divided) if kind is AtomKind.MAX else scope.minimum(divided)
    if greatest in divided:
        yield Candidates(rest, 1, AtomKind.SUM, [(greatest,)], (QUOTIENTS_INSIDE, PRUNE))
    operands = operations.extremum_operands(kind, divided)
    yield from _shifted(limit, rest, kind, operands, (QUOTIENTS_INSIDE,))


def _shifted(
    limit: Limit, rest: Form, kind: AtomKind, operands: Sequence[Form], why: tuple[Law, ...] = ()
) -> Iterator[Candidates]:
    """``max(A, B) + t = max(A + t, B + t)``."""
    for moved in dict.fromkeys(_moves(rest, operands)):
        left, inside = rest.plus(moved, -1), [operand.plus(moved) for operand in operands]
        if not limit.admits_extrema(left, len(inside) - 1):
            continue
        for weight, turned, parts, turning in _turned(kind, inside):
            laws = (*why, *_moving(moved), *turning)
            yield Candidates(left, weight, turned, [parts], laws)
            for grouped in _grouped(turned, parts):
                yield Candidates(left, weight, turned, [grouped], (*laws, GROUPED_EXTREMA))


def _moving(moved: Form) -> tuple[Law, ...]:
    return () if moved == ZERO else (SHIFTED_EXTREMA,)


def _turned(
    kind: AtomKind, operands: Sequence[Form]
) -> Iterator[tuple[int, AtomKind, tuple[Form, ...], tuple[Law, ...]]]:
    """``max(g*A, g*B) = g*max(A, B) = -g*min(-A, -B)``."""
    scale = gcd(*(value for form in operands for value in (form.constant, *form.terms.values())))
    for factor in dict.fromkeys((scale or 1, 1)):
        for weight, turned in ((factor, kind), (-factor, _OTHER[kind])):
            laws = (WRITTEN_MINIMUM,) if turned is AtomKind.MIN else ()
            laws += (SCALED_EXTREMA,) if factor == 1 != scale else ()
            yield weight, turned, tuple([form.exactly_divided(weight) for form in operands]), laws


def _moves(rest: Form, operands: Sequence[Form]) -> Iterator[Form]:
    """Terms to move: none, all; of those near to the operands all, each, or what cancels in one."""
    close = {atom for operand in operands for atom in operand.terms}
    near = {atom: value for atom, value in rest.terms.items() if atom in close}
    yield ZERO
    yield Form(rest.constant, near)
    if len(rest.terms) <= MAX_TERMS_MOVED and any(atom.kind is AtomKind.FLOORDIV for atom in near):
        # With what is beside it a quotient may be a remainder.
        far = {atom: value for atom, value in rest.terms.items() if atom.kind is AtomKind.VARIABLE}
        yield Form(rest.constant, forms.in_order({**near, **far}))
    for atom, value in near.items():
        yield Form(0, {atom: value})
    if rest.constant:
        yield constant(rest.constant)
    for operand in operands:
        terms = {
            atom: -operand.terms[atom]
            for atom, value in near.items()
            if operand.terms.get(atom, 0) * value < 0
        }
        yield Form(-operand.constant if operand.constant * rest.constant < 0 else 0, terms)
    yield Form(0, near)


def _grouped(kind: AtomKind, operands: Sequence[Form]) -> Iterator[tuple[Form, ...]]:
    """``max(A + t, B + t, C) = max(max(A, B) + t, C)``."""
    if len(operands) == _PAIR:  # nothing to group
        return
    for left, right in combinations(operands, 2):
        same = {atom: k for atom, k in left.terms.items() if right.terms.get(atom) == k}
        if same:
            shared = Form(left.constant if left.constant == right.constant else 0, same)
            pair = operations.build(kind, (left.plus(shared, -1), right.plus(shared, -1)))
            yield (*(form for form in operands if form not in (left, right)), pair.plus(shared))
