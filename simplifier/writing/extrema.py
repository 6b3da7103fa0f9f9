"""Clamps come back as maxima and minima."""

from __future__ import annotations

from itertools import combinations, permutations
from math import gcd
from typing import TYPE_CHECKING, Final

from simplifier import operations
from simplifier.clamps import branches, is_clamp, maxima
from simplifier.form import ZERO, Atom, Form, Kind, constant
from simplifier.writing.rewriting import Rewriting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simplifier.scope import Scope

_OTHER: Final = {Kind.MAX: Kind.MIN, Kind.MIN: Kind.MAX}


def extremum_steps(scope: Scope, form: Form) -> Iterator[Rewriting]:
    """Terms move into extrema; maxima come back as minima; quotients move to operands."""
    found = maxima(form)
    for atom in found:
        factor, rest = form.terms[atom], form.without(atom)
        operands = [argument.times(factor) for argument in atom.arguments]
        yield from _shifted(rest, _greatest_of(factor), operands)
    for atom, other in permutations(found, 2):
        if form.terms[atom] * form.terms[other] < 0 and is_clamp(atom) and is_clamp(other):
            yield from _clamps(scope, form, atom, other)
    for atom in form.terms:
        if atom.kind is Kind.FLOORDIV and maxima(atom.numerator) and scope.is_canonical(atom):
            yield from _quotients(scope, form, atom)


def _greatest_of(factor: int) -> Kind:
    """What ``k*max(...)`` is of the operands times ``k``."""
    return Kind.MAX if factor > 0 else Kind.MIN


def _clamps(scope: Scope, form: Form, near: Atom, far: Atom) -> Iterator[Rewriting]:
    """``max(0, D) - max(0, D - b) = min(max(0, D), b)`` for ``b >= 0``.

    And ``max(0, D) - max(0, -b - D) = max(D, min(0, b + D))``, where the two are never positive
    together.
    """
    if not (scope.is_canonical(near) and scope.is_canonical(far)):
        return
    factor = form.terms[near]
    if abs(factor) > abs(form.terms[far]):
        factor = -form.terms[far]
    rest = form.plus_atom(near, -factor).plus_atom(far, factor)
    lower, upper = near.arguments[1], far.arguments[1]
    if _is_never_negative(scope, size := lower.plus(upper, -1)):
        ends = [end.times(factor) for end in (ZERO, lower, size)]
        yield from _clamped(rest, _greatest_of(factor), ends)
    if _is_never_negative(scope, -lower.plus(upper)):
        ends = [end.times(factor) for end in (ZERO, -upper, lower)]
        yield from _clamped(rest, _greatest_of(-factor), ends)


def _is_never_negative(scope: Scope, form: Form) -> bool:
    return scope.range_of(form)[0] >= 0


def _clamped(rest: Form, inner: Kind, ends: Sequence[Form]) -> Iterator[Rewriting]:
    """``min(max(A, B), C) + t = min(max(A + t, B + t), C + t)``."""
    for moved in dict.fromkeys(_moves(rest, ends)):
        inside = [end.plus(moved) for end in ends]
        for weight, kind, (*clamped, last) in _turned(inner, inside):
            operands = (operations.build(kind, tuple(clamped)), last)
            yield Rewriting(rest.plus(moved, -1), weight, _OTHER[kind], [operands])


def _quotients(scope: Scope, form: Form, atom: Atom) -> Iterator[Rewriting]:
    """``floor(max(A, B)/c) = max(floor(A/c), floor(B/c))``; or ``floor(-N/-c)``, also turned."""
    factor, rest, numerator = form.terms[atom], form.without(atom), atom.numerator
    inner = maxima(numerator)[0]
    parts = branches(numerator, inner)
    operands = [scope.floordiv(part, atom.divisor).times(factor) for part in parts]
    kind = _greatest_of(numerator.terms[inner] * factor)
    yield from _shifted(rest, kind, operands)
    turned = constant(-atom.divisor)
    moved = rest.constant // factor if rest.constant % factor == 0 else 0
    for whole in dict.fromkeys((0, moved)):
        left, shift = rest.plus_constant(-whole * factor), whole * atom.divisor
        near = (-numerator).plus_constant(-shift)
        far = numerator.plus_constant(1 - atom.divisor + shift)
        yield Rewriting(left, factor, Kind.FLOORDIV, [(near, turned)])
        yield Rewriting(left, -factor, Kind.FLOORDIV, [(far, turned)])


def _shifted(rest: Form, kind: Kind, operands: Sequence[Form]) -> Iterator[Rewriting]:
    """``max(A, B) + t = max(A + t, B + t)``."""
    for moved in dict.fromkeys(_moves(rest, operands)):
        inside = [operand.plus(moved) for operand in operands]
        for weight, turned, parts in _turned(kind, inside):
            alternatives = [parts, *_grouped(turned, parts)]
            yield Rewriting(rest.plus(moved, -1), weight, turned, alternatives)


def _turned(
    kind: Kind, operands: Sequence[Form]
) -> Iterator[tuple[int, Kind, tuple[Form, ...]]]:
    """``max(g*A, g*B) = g*max(A, B) = -g*min(-A, -B)``."""
    scale = gcd(*(value for form in operands for value in (form.constant, *form.terms.values())))
    for factor in dict.fromkeys((scale or 1, 1)):
        for weight, turned in ((factor, kind), (-factor, _OTHER[kind])):
            yield weight, turned, tuple([form.exactly_divided(weight) for form in operands])


def _moves(rest: Form, operands: Sequence[Form]) -> Iterator[Form]:
    """Terms to move: none, all, each alone, what cancels in one operand, all but the constant."""
    close = {atom for operand in operands for atom in operand.terms}
    near = {atom: value for atom, value in rest.terms.items() if atom in close}
    yield ZERO
    yield Form(rest.constant, near)
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


def _grouped(kind: Kind, operands: Sequence[Form]) -> Iterator[tuple[Form, ...]]:
    """``max(A + t, B + t, C) = max(max(A, B) + t, C)``."""
    if len(operands) == 2:  # noqa: PLR2004 - nothing to group
        return
    for left, right in combinations(operands, 2):
        terms = {atom: value for atom, value in left.terms.items() if right.terms.get(atom) == value}
        if terms:
            shared = Form(left.constant if left.constant == right.constant else 0, terms)
            pair = operations.build(kind, (left.plus(shared, -1), right.plus(shared, -1)))
            yield (*(form for form in operands if form not in (left, right)), pair.plus(shared))
