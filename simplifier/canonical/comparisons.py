"""Laws of conditions and selects: ``A >= 0``, ``A == 0``, ``and``, ``select``.

Ranges decide conditions. The rest becomes an atom in one shape, so that equal conditions are one.
Branches are not looked into here: :mod:`simplifier.conditions` reads them under their conditions.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from simplifier.bounds.context import Context
from simplifier.expr import operations
from simplifier.expr.form import FLOORDIV, ONE, ZERO, AtomKind, Form, constant, content
from simplifier.laws.catalogue import comparisons as law
from simplifier.laws.catalogue.floordiv import REFLECT


def nonnegative(context: Context, form: Form) -> Form:
    """``A >= 0`` for a canonical form."""
    lower, upper = context.range_of(form)
    if lower >= 0:
        context.fired(law.DECIDED)
        return ONE
    if upper < 0:
        context.fired(law.DECIDED)
        return ZERO
    shorter = _without_factor(context, form) or _without_quotient(context, form)
    if shorter is not None:
        return nonnegative(context, shorter)
    if upper == 0:
        context.fired(law.AT_THE_END)
        return zero(context, form)
    if lower == -1:
        context.fired(law.AT_THE_END)
        return operations.negation(zero(context, form.plus_constant(1)))
    return _known(context, operations.nonnegative(form))


def _without_factor(context: Context, form: Form) -> Form | None:
    """A form with the same sign, without the factor of its coefficients."""
    scale = content(form)
    if scale == 1:
        return None
    context.fired(law.COMPARED_MULTIPLE)
    rounded = form.plus_constant(-(form.constant % scale))
    return rounded.exactly_divided(scale)


def _without_quotient(context: Context, form: Form) -> Form | None:
    """A form with the same sign, without its only quotient, or with one for a difference of two."""
    found = _quotient_and_rest(context, form)
    if found is None:
        return None
    sign, numerator, divisor, rest = found
    if sign < 0:
        context.fired(REFLECT)
        numerator = (-numerator).plus_constant(divisor - 1)
    context.fired(law.COMPARED_QUOTIENT)
    return rest.times(divisor).plus(numerator)


def _quotient_and_rest(context: Context, form: Form) -> tuple[int, Form, int, Form] | None:
    """``s``, ``A``, ``c`` and ``B`` of a form ``s * (A floordiv c) + B``, where ``s`` is 1 or -1.

    ``(N + k) floordiv c - N floordiv c`` is ``(N mod c + k) floordiv c``.
    """
    quotients = [atom for atom in form.terms if atom.kind is FLOORDIV]
    if not 1 <= len(quotients) <= 2 or any(abs(form.terms[each]) != 1 for each in quotients):  # noqa: PLR2004 - a difference
        return None
    *others, far = sorted(quotients, key=lambda atom: atom.numerator.constant)
    sign, numerator, divisor = form.terms[far], far.numerator, far.divisor
    for near in others:
        is_alike = near.numerator.terms == numerator.terms and near.divisor == divisor
        if not is_alike or form.terms[near] == sign:
            return None
        context.fired(law.COMPARED_QUOTIENTS)
        numerator = numerator.plus_atom(near, -divisor)
    return sign, numerator, divisor, form.without(*quotients)


def zero(context: Context, form: Form) -> Form:
    """``A == 0`` for a canonical form."""
    lower, upper = context.range_of(form)
    if lower > 0 or upper < 0:
        context.fired(law.REFUTED_EQUATION)
        return ZERO
    if lower == upper:
        context.fired(law.DECIDED)
        return ONE
    scale = content(form)
    if scale > 1:
        if form.constant % scale:
            context.fired(law.INDIVISIBLE)
            return ZERO
        context.fired(law.EQUATED_MULTIPLE)
        form = form.exactly_divided(scale)
    for end, side in ((upper, form), (lower, -form)):
        if end == 0 and len(side.terms) > 1 and (shorter := _without_quotient(context, side)):
            return nonnegative(context, shorter)
    return _known(context, operations.zero(form))


def _known(context: Context, condition: Form) -> Form:
    """A condition as an atom, or its value by a fact."""
    for atom in condition.terms:
        context.remember(atom, (0, 1))
        lower, upper = context.ranges[atom]
        if isinstance(lower, int) and lower == upper:
            return constant(condition.constant + condition.terms[atom] * lower)
    return condition


def conjunction(context: Context, conditions: Iterable[Form]) -> Form:
    """Whether all conditions hold; none, where one is the negation of another."""
    conditions = list(conditions)
    keys = {condition.key for condition in conditions}
    if any(operations.negation(condition).key in keys for condition in conditions):
        return ZERO
    joined = operations.conjunction(conditions)
    atom = joined.only_atom
    return _known(context, joined) if atom and atom.kind is AtomKind.AND else joined


def select(context: Context, condition: Form, chosen: Form, other: Form) -> Form:
    """One of two canonical forms; their common terms stand outside of the select."""
    if not condition.terms or chosen == other:
        return operations.select(condition, chosen, other)
    if next(iter(condition.terms.values())) < 0:
        condition, chosen, other = operations.negation(condition), other, chosen
    common, chosen, other = apart(context, chosen, other)
    if chosen.is_constant and other.is_constant:
        context.fired(law.CHOICE_OF_NUMBERS)
        return common.plus(condition, chosen.constant - other.constant) + other.constant
    scale, parts = in_lowest_terms(context, chosen, other)
    choice = operations.select(condition, *parts)
    (atom,) = choice.terms
    lows, highs = zip(*map(context.range_of, parts), strict=True)
    return context.remember(atom, (min(lows), max(highs))).times(scale).plus(common)


def apart(context: Context, chosen: Form, other: Form) -> tuple[Form, Form, Form]:
    """The terms that two branches have in common, and the rest of each."""
    terms = {atom: n for atom, n in chosen.terms.items() if other.terms.get(atom) == n}
    common = Form(chosen.constant if chosen.constant == other.constant else 0, terms)
    if common != ZERO:
        context.fired(law.SHARED)
    return common, chosen - common, other - common


def in_lowest_terms(context: Context, *branches: Form) -> tuple[int, list[Form]]:
    """The greatest number that divides all coefficients of the branches, and what is left."""
    values = (value for form in branches for value in (form.constant, *form.terms.values()))
    factor = gcd(*values) or 1
    if factor > 1:
        context.fired(law.MULTIPLES_CHOSEN)
    return factor, [each.exactly_divided(factor) for each in branches]
