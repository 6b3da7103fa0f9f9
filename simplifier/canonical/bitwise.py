"""Laws of ``bitand``, ``bitor`` and ``bitxor``, on numbers in two's complement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial, reduce
from math import gcd
from typing import Final

from simplifier.bounds.context import Context
from simplifier.bounds.interval import INFINITY, NEGATIVE_INFINITY, End, Range
from simplifier.expr import operations
from simplifier.expr.form import ZERO, AtomKind, Form, constant
from simplifier.laws.catalogue import bitwise as law
from simplifier.limits import MAX_BITS_JOINED, MAX_NESTED_BITS


def bitwise(context: Context, kind: AtomKind, operands: Sequence[Form]) -> Form:
    """A function of the bits of canonical forms."""
    return reduce(lambda left, right: _of_two(context, kind, left, right), operands)


def divided_bits(
    kind: AtomKind, numerator: Form, divisor: Form, depth: int = MAX_NESTED_BITS
) -> Form:
    """A quotient or remainder of a function of bits by a power of two, divided by operands.

    >>> from simplifier.expr.text import parse_form
    >>> print(divided_bits(AtomKind.MOD, parse_form("bitxor(x, y)"), parse_form("8")))
    bitxor(x mod 8, y mod 8)
    """
    atom, size = numerator.only_atom, divisor.constant
    if not depth or atom is None or atom.kind not in _BY_DIGITS or size <= 0 or size & (size - 1):
        return operations.build(kind, (numerator, divisor))
    parts = (divided_bits(kind, each, divisor, depth - 1) for each in atom.arguments)
    return operations.bitwise(atom.kind, parts)


def _of_two(context: Context, kind: AtomKind, left: Form, right: Form) -> Form:
    if left == right:
        context.fired(law.SAME_BITS)
        return ZERO if kind is AtomKind.BITXOR else left
    operands = [*_operands(kind, left), *_operands(kind, right)]
    different = _that_count(kind, operands)
    if len(different) < len(operands):
        context.fired(law.BITS_TWICE)
        return bitwise(context, kind, different) if different else ZERO
    for number, mask in ((left, right), (right, left)):
        if mask.is_constant:
            found = _masked(context, kind, number, mask.constant)
            if found is not None:
                return found
    split = _split(context, left, right)
    low = [context.mod(each, constant(split)) if split > 1 else each for each in (left, right)]
    if low != [left, right]:
        context.fired(_BY_DIGITS[kind])
        high = [context.floordiv(each, split) for each in (left, right)]
        return _of_two(context, kind, *high).times(split).plus(_lower(context, kind, *low))
    return _joined(context, kind, left, right)


def _lower(context: Context, kind: AtomKind, left: Form, right: Form) -> Form:
    """A function of the lower bits of two forms, which are not split again."""
    if left.is_constant or right.is_constant or left == right:
        return _of_two(context, kind, left, right)
    return _joined(context, kind, left, right)


def _joined(context: Context, kind: AtomKind, left: Form, right: Form) -> Form:
    """A function of bits that no law splits, with the operands of its kind in order."""
    operands = [*_operands(kind, left), *_operands(kind, right)]
    operands.sort(key=lambda form: (not form.terms, form.order))
    joined = reduce(partial(_atom, context, kind), operands)
    if joined != operations.bitwise(kind, (left, right)):
        context.fired(law.REORDERED_BITS)
    return joined


def _operands(kind: AtomKind, form: Form) -> tuple[Form, ...]:
    """The operands of a function of bits within others of its kind; another form is one itself.

    One of too many operands is one itself, too.
    """
    found: list[Form] = []
    waiting = [form]
    while waiting:
        each = waiting.pop()
        atom = each.only_atom
        if atom is not None and atom.kind is kind:
            waiting += reversed(atom.arguments)
        else:
            found.append(each)
        if len(found) + len(waiting) > MAX_BITS_JOINED:
            return (form,)
    return tuple(found)


def _that_count(kind: AtomKind, operands: Sequence[Form]) -> list[Form]:
    """One of equal operands, none of two under an exclusive or; numbers as one number."""
    numbers = [operand for operand in operands if not operand.terms]
    counts = Counter(operand for operand in operands if operand.terms)
    is_exclusive = kind is AtomKind.BITXOR
    different = [form for form, times in counts.items() if times % 2 or not is_exclusive]
    return [*different, operations.bitwise(kind, numbers)] if numbers else different


def _atom(context: Context, kind: AtomKind, left: Form, right: Form) -> Form:
    form = operations.bitwise(kind, (left, right))
    for atom in form.terms:
        context.remember(atom, _range(kind, context.range_of(left), context.range_of(right)))
    return form


_BY_DIGITS: Final = {
    AtomKind.BITXOR: law.DISTINCT_BITS,
    AtomKind.BITOR: law.ANY_BITS,
    AtomKind.BITAND: law.COMMON_BITS,
}


def _masked(context: Context, kind: AtomKind, number: Form, mask: int) -> Form | None:
    """A function of a number and a constant: of no bits, all, the lower or the higher ones."""
    if mask in (0, -1):
        context.fired(law.ALL_BITS if mask else law.NO_BITS)
        of = partial(operations.ON_BITS[kind], mask)  # it is affine: two values tell all
        return number.times(of(1) - of(0)).plus_constant(of(0))
    size = mask + 1
    if mask > 0 and not mask & size:  # a power of two
        remainder = context.mod(number, constant(size))
        if kind is AtomKind.BITAND:
            context.fired(law.LOW_BITS)
            return remainder
        context.fired(law.FILLED_BITS if kind is AtomKind.BITOR else law.FLIPPED_BITS)
        return number.plus(remainder, -1 if kind is AtomKind.BITOR else -2).plus_constant(mask)
    lowest = mask & -mask
    if kind is AtomKind.BITAND and lowest > 1:
        context.fired(law.SHIFTED_MASK)
        high = context.floordiv(number, lowest)
        return _of_two(context, kind, high, constant(mask // lowest)).times(lowest)
    return None


def _split(context: Context, left: Form, right: Form) -> int:
    """A power of two so that the lower or the higher bits of one operand are constant; 1 if none.

    Either all coefficients are multiples of it, or one operand has the same higher bits
    everywhere, and they are not zero in both. Or the bits of both are equal on either side.
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
    factors = {factor & -factor for factor in (*left.terms.values(), *right.terms.values())}
    return next((size for size in sorted(factors) if _falls_apart(context, left, right, size)), 1)


def _falls_apart(context: Context, left: Form, right: Form, size: int) -> bool:
    """Whether both operands are sums of a multiple of a power of two and of less than that.

    And either the multiples or what is left are equal, or a number is among them.
    """
    if size == 1:
        return False
    low = [_lower_terms(form, size) for form in (left, right)]
    ends = map(context.range_of, low)
    if any(lower < 0 or upper >= size for lower, upper in ends):
        return False
    high = [form.plus(part, -1) for form, part in zip((left, right), low, strict=True)]
    return any(a == b or a.is_constant or b.is_constant for a, b in (low, high))


def _lower_terms(form: Form, size: int) -> Form:
    """The terms that are not multiples of a power of two, and the constant's rest by it."""
    terms = {atom: factor for atom, factor in form.terms.items() if factor % size}
    return Form(form.constant % size, terms)


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
