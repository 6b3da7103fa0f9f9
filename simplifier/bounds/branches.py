"""Maxima read by their branches: ``k*max(0, D)`` is 0 where ``D <= 0``, and ``k*D`` elsewhere.

Maxima of one form depend on each other: where ``D`` in ``max(0, D)`` is not positive, ``D - b`` in
``max(0, D - b)`` is not either. So the difference of the two, which clamps ``D`` to ``[0, b]``, has
the branches ``0`` and ``min(D, b)``, or ``max(0, D)`` and ``b``.
"""

from __future__ import annotations

from itertools import permutations
from math import gcd
from typing import TYPE_CHECKING

from simplifier.expr.form import ZERO, AtomKind, Form, in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simplifier.bounds.context import Context
    from simplifier.bounds.interval import Range
    from simplifier.expr.form import Atom


def is_clamp(atom: Atom) -> bool:
    """Whether the atom is ``max(0, D)`` for one ``D``."""
    return (
        atom.kind is AtomKind.MAX and len(atom.arguments) == 2 and atom.arguments[0] == ZERO  # noqa: PLR2004
    )


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
        size = _step(near, far)
        if weight * other < 0 < size:
            weight = weight if abs(weight) <= abs(other) else -other
            left[near] -= weight
            left[far] += weight
            lower, upper = context.ranges[near]
            ends = min(lower, size), min(upper, size)
            yield weight, Form(0, in_order({near: 1, far: -1})), ends
    for atom in clamps:
        inside, weight = atom.arguments[1], -left[atom]
        if weight and all(left.get(a) == weight * value for a, value in inside.terms.items()):
            for used in (atom, *inside.terms):
                left[used] = 0
            lower, upper = context.range_of(inside)
            ends = min(lower, 0) - inside.constant, min(upper, 0) - inside.constant
            yield weight, Form(0, in_order({**inside.terms, atom: -1})), ends


def _step(near: Atom, far: Atom) -> int:
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
