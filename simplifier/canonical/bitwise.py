"""Laws of ``bitand``, ``bitor`` and ``bitxor``, on numbers in two's complement."""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TYPE_CHECKING, Final

from simplifier.bounds.interval import INFINITY, NEGATIVE_INFINITY, End, Range
from simplifier.expr import operations
from simplifier.expr.form import ZERO, AtomKind, Form, constant
from simplifier.laws.catalogue.bits import (
    ALL_BITS,
    ANY_BITS,
    COMMON_BITS,
    DISTINCT_BITS,
    FILLED_BITS,
    FLIPPED_BITS,
    LOW_BITS,
    NO_BITS,
    SAME_BITS,
    SHIFTED_MASK,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplifier.bounds.context import Context


def bitwise(context: Context, kind: AtomKind, operands: Sequence[Form]) -> Form:
    """A function of the bits of canonical forms."""
    return reduce(lambda left, right: _of_two(context, kind, left, right), operands)


def _of_two(context: Context, kind: AtomKind, left: Form, right: Form) -> Form:
    if left == right:
        context.fired(SAME_BITS)
        return ZERO if kind is AtomKind.BITXOR else left
    for number, mask in ((left, right), (right, left)):
        if mask.is_constant:
            found = _masked(context, kind, number, mask.constant)
            if found is not None:
                return found
    split = _split(context, left, right)
    if split > 1:
        context.fired(_BY_DIGITS[kind])
        low = [context.mod(each, constant(split)) for each in (left, right)]
        high = [context.floordiv(each, split) for each in (left, right)]
        return _of_two(context, kind, *high).times(split).plus(_lower(context, kind, *low))
    return _atom(context, kind, left, right)


def _lower(context: Context, kind: AtomKind, left: Form, right: Form) -> Form:
    """A function of the lower bits of two forms, which are not split again."""
    if left.is_constant or right.is_constant or left == right:
        return _of_two(context, kind, left, right)
    return _atom(context, kind, left, right)


def _atom(context: Context, kind: AtomKind, left: Form, right: Form) -> Form:
    form = operations.bitwise(kind, (left, right))
    for atom in form.terms:
        context.remember(atom, _range(kind, context.range_of(left), context.range_of(right)))
    return form


_BY_DIGITS: Final = {
    AtomKind.BITXOR: DISTINCT_BITS,
    AtomKind.BITOR: ANY_BITS,
    AtomKind.BITAND: COMMON_BITS,
}


def _masked(context: Context, kind: AtomKind, number: Form, mask: int) -> Form | None:
    """A function of a number and a constant: of no bits, all, the lower or the higher ones."""
    if number.is_constant:
        return operations.bitwise(kind, (number, constant(mask)))
    if mask in (0, -1):
        context.fired(ALL_BITS if mask else NO_BITS)
        return _by_all_or_none(kind, number, mask)
    size = mask + 1
    if mask > 0 and not mask & size:  # a power of two
        remainder = context.mod(number, constant(size))
        if kind is AtomKind.BITAND:
            context.fired(LOW_BITS)
            return remainder
        context.fired(FILLED_BITS if kind is AtomKind.BITOR else FLIPPED_BITS)
        return number.plus(remainder, -1 if kind is AtomKind.BITOR else -2).plus_constant(mask)
    lowest = mask & -mask
    if kind is AtomKind.BITAND and lowest > 1:
        context.fired(SHIFTED_MASK)
        high = context.floordiv(number, lowest)
        return _of_two(context, kind, high, constant(mask // lowest)).times(lowest)
    return None


def _by_all_or_none(kind: AtomKind, number: Form, mask: int) -> Form:
    if kind is AtomKind.BITAND:
        return number if mask else ZERO
    if kind is AtomKind.BITOR:
        return constant(-1) if mask else number
    return (-number).plus_constant(-1) if mask else number


def _split(context: Context, left: Form, right: Form) -> int:
    """A power of two so that the lower or the higher bits of one operand are constant; 1 if none.

    Either all coefficients are multiples of it, or one operand has the same higher bits
    everywhere, and they are not zero in both.
    """
    common = gcd(*left.terms.values(), *right.terms.values())
    lowest = common & -common
    if lowest > 1:
        return lowest
    for small, great in ((left, right), (right, left)):
        lower, upper = context.range_of(small)
        multiple = gcd(*great.terms.values()) if great.terms else 0
        shift = multiple & -multiple
        if lower >= 0 and shift > 1 and upper < shift:
            return shift
        size = _size_of_lower_bits(lower, upper)
        least, most = context.range_of(great)
        is_apart = size > 1 and not (0 <= lower < size and least >= 0 and most < size)
        if is_apart and _is_no_longer(context, great, size):
            return size
    return 1


def _size_of_lower_bits(lower: End, upper: End) -> int:
    """The least power of two so that all numbers in a range have the same higher bits, or 0.

    A single number has no higher bits.
    """
    if not isinstance(lower, int) or not isinstance(upper, int) or (lower < 0) != (upper < 0):
        return 0
    if lower == upper:
        return 1 << upper.bit_length() if upper >= 0 else 0
    return 1 << (lower ^ upper).bit_length()


def _is_no_longer(context: Context, form: Form, size: int) -> bool:
    """Whether taking the lower bits of a form makes it no longer."""
    return len(context.mod(form, constant(size)).terms) <= len(form.terms)


def _range(kind: AtomKind, left: Range, right: Range) -> Range:
    """The range of a function of bits, by the bits that the operands have."""
    ends = [*left, *right]
    if kind is AtomKind.BITAND and (left[0] >= 0 or right[0] >= 0):
        return 0, min(upper for lower, upper in (left, right) if lower >= 0)
    if not all(isinstance(end, int) for end in ends):
        return (0 if left[0] >= 0 and right[0] >= 0 else NEGATIVE_INFINITY), INFINITY
    bits = max((end if end >= 0 else -1 - end).bit_length() for end in ends if isinstance(end, int))
    if left[0] < 0 or right[0] < 0:
        return -1 << bits, (1 << bits) - 1
    least = max(left[0], right[0]) if kind is AtomKind.BITOR else 0
    return least, (1 << bits) - 1
