"""Which of several forms is the greatest: decided for all values at once.

``A <= max(B, C)`` says that at every point ``B - A`` or ``C - A`` is not negative. Where no single
one is, several may leave no room together: ``x <= max(4, 5*x)``, as ``4*(4 - x) + 4*x >= 0``.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from simplifier.bounds.samples import is_somewhere_negative
from simplifier.canonical.clamps import cancelling, maxima
from simplifier.expr.form import Form, Kind
from simplifier.laws.catalogue.extrema import PRUNE, PRUNE_BY_THREE, PRUNE_BY_TWO
from simplifier.limits import MOST_CASES, MOST_COMPARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom
    from simplifier.laws.law import Law


def is_reached(scope: Scope, form: Form, others: Iterable[Form]) -> Law | None:
    """Why ``form <= max(others)``, if that is seen: by one of them, or by several."""
    differences = [other.plus(form, -1) for other in others]
    if any(_is_nonnegative(scope, difference) for difference in differences):
        return PRUNE
    if len(differences) > MOST_COMPARED or is_somewhere_negative(scope, differences):
        return None
    return _BY_COUNT[_count_needed(scope, differences, MOST_CASES)]


_BY_COUNT: Final = (None, PRUNE, PRUNE_BY_TWO, PRUNE_BY_THREE)


def _count_needed(scope: Scope, forms: Iterable[Form], cases: int) -> int:
    """How many forms tell that at every point some form is at least zero; 0 if that is not seen.

    Maxima are looked at case by case.
    """
    forms = list(dict.fromkeys(known for form in forms for known in (form, _smooth(form))))
    if any(scope.range_of(form)[0] >= 0 for form in forms):
        return 1
    atom = next((atom for form in forms for atom in maxima(form)), None)
    if atom is None or cases < len(atom.arguments):
        return _count_contradicting(scope, forms)
    left = cases // len(atom.arguments)
    most = 0
    for case in _cases(forms, atom):
        count = _count_needed(scope, case, left)
        if not count:
            return 0
        most = max(most, count)
    return most


def _cases(forms: Sequence[Form], atom: Atom) -> Iterator[list[Form]]:
    """The forms where the first operand of a maximum is the greatest, where the second is, ...

    That ``A`` is the greatest of ``A`` and ``B`` enters as one more form, ``B - A - 1``: only where
    this is negative, the others matter.
    """
    for chosen in atom.arguments:
        decided = [
            form.without(atom).plus(chosen, form.terms[atom]) if atom in form.terms else form
            for form in forms
        ]
        bounds = [
            other.plus(chosen, -1).plus_constant(-1)
            for other in atom.arguments
            if other is not chosen
        ]
        yield decided + bounds


def _count_contradicting(scope: Scope, forms: Sequence[Form]) -> int:
    """How many of ``A < 0``, ``B < 0``, ``C < 0`` are seen to contradict each other, or 0.

    Two do where ``p*A + q*B > -p - q``; otherwise ``p*A + q*B + p + q - 1 < 0`` follows, which may
    contradict a third.
    """
    concluded = [form for left, right in combinations(forms, 2) for form in _sums(left, right)]
    if any(_is_nonnegative(scope, form) for form in concluded):
        return 2
    plain = [form for form in forms if form.is_affine]
    by_three = (
        form
        for left in concluded
        if left.is_affine
        for right in plain
        for form in _sums(left, right)
    )
    return 3 if any(_is_nonnegative(scope, form) for form in by_three) else 0


def _sums(left: Form, right: Form) -> Iterator[Form]:
    """Forms with a term less that are negative where both are."""
    for p, q in cancelling(left, right):
        yield left.times(p).plus(right, q).plus_constant(p + q - 1)


def _is_nonnegative(scope: Scope, form: Form) -> bool:
    """Whether the range says so; most forms show at some point that it cannot."""
    return not is_somewhere_negative(scope, (form,)) and scope.range_of(form)[0] >= 0


def _smooth(form: Form) -> Form:
    """A form without quotients that is negative wherever this one is.

    ``S + k*floor(N/c) >= 0`` where ``c*S + k*N >= (k - 1)*(c - 1)`` for positive ``k``, and where
    ``c*S + k*N + c - 1 >= 0`` for negative ``k``.
    """
    while True:
        quotient = next((a for a in reversed(form.terms) if a.kind is Kind.FLOORDIV), None)
        if quotient is None:
            return form
        factor, divisor = form.terms[quotient], quotient.divisor
        rest = form.without(quotient).times(divisor).plus(quotient.numerator, factor)
        form = rest.plus_constant((divisor - 1) * (1 - max(factor, 0)))
