"""Quotients that are nearly unit fractions: ``(x * 64) floordiv 511`` may be ``x floordiv 8``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr.form import Form, collected
from simplifier.laws.catalogue.quotients import REFLECT, UNIT_FRACTION
from simplifier.limits import MAX_WEIGHTS

if TYPE_CHECKING:
    from simplifier.bounds.context import Context
    from simplifier.bounds.interval import End, Range


def unit_fraction(context: Context, numerator: Form, divisor: int) -> Form | None:
    """``floor((w*A + B)/c) = floor(A/n)``, where ``w/c`` is nearly ``1/n``; otherwise ``None``.

    If ``w`` divides ``c``, this is a split.
    """
    signs = {factor > 0 for factor in numerator.terms.values() if divisor % factor}
    for is_positive in sorted(signs, reverse=True):
        turned = numerator if is_positive else (-numerator).plus_constant(divisor - 1)
        outside, positive = _with_positive_weights(turned, divisor)
        found = _unit_fraction(context, positive, divisor)
        if found is not None:
            if is_positive:
                return outside.plus(found)
            context.fired(REFLECT)
            return -outside.plus(found)
    return None


def _with_positive_weights(numerator: Form, divisor: int) -> tuple[Form, Form]:
    """A numerator as ``c*A + B``, where the weights of ``B`` are positive."""
    outside = collected(
        numerator.constant // divisor,
        {atom: factor // divisor for atom, factor in numerator.terms.items()},
    )
    return outside, numerator.plus(outside, -divisor)


def _unit_fraction(context: Context, numerator: Form, divisor: int) -> Form | None:
    weights = {*numerator.terms.values()}
    if len(weights) > MAX_WEIGHTS:
        return None
    for weight in sorted(weights):
        if divisor % weight == 0:
            continue
        source, rest = _ranges_apart(context, numerator, weight)
        below = divisor // weight
        for radix in (below + 1, below):
            if _is_unit_fraction(source, rest, weight, radix, divisor):
                context.fired(UNIT_FRACTION)
                return context.floordiv(_multiples(numerator, weight), radix)
    return None


def _multiples(numerator: Form, weight: int) -> Form:
    """The ``A`` of ``w*A + B``."""
    return Form(
        numerator.constant // weight,
        {
            atom: factor // weight
            for atom, factor in numerator.terms.items()
            if factor % weight == 0
        },
    )


def _ranges_apart(context: Context, numerator: Form, weight: int) -> tuple[Range, Range]:
    """The ranges of ``A`` and ``B``, term by term: all weights are positive."""
    lower: End
    upper: End
    low: End
    high: End
    whole, constant_left = divmod(numerator.constant, weight)
    lower = upper = whole
    low = high = constant_left
    for atom, factor in numerator.terms.items():
        least, most = context.ranges[atom]
        multiple, remainder = divmod(factor, weight)
        if remainder:
            low, high = low + factor * least, high + factor * most
        else:
            lower, upper = lower + multiple * least, upper + multiple * most
    return (lower, upper), (low, high)


def _is_unit_fraction(source: Range, rest: Range, weight: int, radix: int, divisor: int) -> bool:
    """Whether ``0 <= w*(A mod n) + (w*n - c)*floor(A/n) + B < c``, by the ranges of A and B."""
    first, last = source[0] // radix, source[1] // radix
    if not isinstance(first, int) or not isinstance(last, int):
        return False
    drift = weight * radix - divisor
    drifts = drift * first, drift * last
    lowest, highest = 0, radix - 1
    if first == last:
        lowest, highest = source[0] - first * radix, source[1] - first * radix
    return (
        weight * lowest + min(drifts) + rest[0] >= 0
        and weight * highest + max(drifts) + rest[1] < divisor
    )
