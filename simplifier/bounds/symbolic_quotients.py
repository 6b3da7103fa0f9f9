"""Ranges of ``floor(A / B)`` for a divisor ``B >= 1`` that is not a constant.

A quotient is at least ``k`` where ``A - k*B`` is not negative, and less where that is negative. So
facts about ``A`` and ``B`` bound it by the right ``k``. What stands beside a quotient is part of
it: ``floor(A/B) + C`` is ``floor((A + B*C)/B)``, and with ``x < n*m``, ``floor(x/n) - m`` is
negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.bounds.interval import INFINITY, NEGATIVE_INFINITY, Range, floordiv_range, meet
from simplifier.expr.form import FLOORDIV, AtomKind, Form
from simplifier.laws.catalogue.lemmas import CORNERS, QUOTIENT_AND_REST, QUOTIENT_BY_FACT
from simplifier.limits import MAX_FLATTENED_TERMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplifier.bounds.context import Context
    from simplifier.expr.form import Atom
    from simplifier.laws.law import Law

_SIGNS: Final = (0, 1)
"""A quotient is compared with these to tell its sign."""


def quotient_range(context: Context, numerator: Form, divisor: Form) -> Range:
    """The range of ``floor(A/B)`` for ``B >= 1``."""
    ends = range_by_corners(context, numerator, divisor)
    context.used(CORNERS)
    for count in dict.fromkeys(_counts(context, numerator, divisor)):
        context.used(QUOTIENT_BY_FACT)
        ends = meet(ends, _side_of(context, numerator, divisor, count))
    return ends


def range_by_corners(context: Context, numerator: Form, divisor: Form) -> Range:
    """The range of ``floor(A/B)`` for ``B >= 1`` by the ends of both."""
    return floordiv_range((context.range_of(numerator), context.divisor_range(divisor)))


def range_less_multiple(context: Context, numerator: Form, divisor: Form, count: int) -> Range:
    """The range of ``A - k*B`` where ``B`` is not zero."""
    low, high = context.range_of(numerator)
    least, most = context.divisor_range(divisor)[:: 1 if count <= 0 else -1]
    plain = low - count * least, high - count * most
    return meet(context.range_of(numerator.plus(divisor, -count)), plain)


def with_what_is_beside(context: Context, form: Form) -> Iterator[tuple[Law, Range]]:
    """``floor(A/B) + C`` as one quotient, for each quotient of a form that stands there once."""
    for atom, factor in form.terms.items():
        if atom.kind is not AtomKind.QUOTIENT or factor not in (1, -1):
            continue
        numerator, divisor = atom.arguments
        rest = form.without(atom).times(factor)
        is_short = len(rest.terms) * len(divisor.terms) <= MAX_FLATTENED_TERMS
        if is_short and context.divisor_range(divisor)[0] >= 1:
            whole = numerator.plus(context.product(rest, divisor))
            ends = range_by_corners(context, whole, divisor)
            for count in _SIGNS:
                ends = meet(ends, _side_of(context, whole, divisor, count))
            yield QUOTIENT_AND_REST, ends if factor > 0 else (-ends[1], -ends[0])


def _side_of(context: Context, numerator: Form, divisor: Form, count: int) -> Range:
    """``floor(A/B) >= k`` where ``A - k*B >= 0``, and less where it is negative."""
    lower, upper = range_less_multiple(context, numerator, divisor, count)
    return (
        count if lower >= 0 else NEGATIVE_INFINITY,
        count - 1 if upper < 0 else INFINITY,
    )


def _counts(context: Context, numerator: Form, divisor: Form) -> Iterator[int]:
    """Integers ``k`` for which something is known of ``A - k*B``."""
    total = 0
    for atom, value in numerator.terms.items():
        for other, factor in divisor.terms.items():
            found = list(_counts_by_facts(context, (atom, value), (other, factor)))
            yield from found
            total += max(found, default=0)
    if total:
        yield total
    yield from _counts_by_rounding(numerator, divisor)


def _counts_by_facts(
    context: Context, term: tuple[Atom, int], unit: tuple[Atom, int]
) -> Iterator[int]:
    """How often facts say that a term of the numerator holds one of the divisor."""
    (atom, value), (other, factor) = term, unit
    for fact in context.facts:
        within = fact.form.terms
        if atom in within and other in within:
            count, remainder = divmod(-within[other] * value, factor * within[atom])
            if not remainder:
                yield count


def _counts_by_rounding(numerator: Form, divisor: Form) -> Iterator[int]:
    """``A - c*floor(A/c)`` is a digit: ``floor(A/floor(A/c)) >= c``."""
    for atom, factor in divisor.terms.items():
        if atom.kind is FLOORDIV:
            for inner, value in atom.numerator.terms.items():
                yield numerator.terms.get(inner, 0) * atom.divisor // (value * factor)
