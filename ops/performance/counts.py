"""Counts: numbers, expressions over symbolic sizes, or the least and the most that may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import sympy

from simplifier import CeilDiv, Interval, format_expr, simplify

if TYPE_CHECKING:
    from collections.abc import Iterable

Size: TypeAlias = int | sympy.Expr
"""A number, or an expression over the symbolic sizes of arrays."""

Count: TypeAlias = Size | Interval
"""A number, or the least and the most over all offsets; without upper end nobody knows the most."""

BITS_OF_BYTE: Final = 8


def count_of(interval: Interval) -> Count:
    """The number, if an interval has only one."""
    return interval.lower if interval.size == 1 and interval.lower is not None else interval


def text_of_count(count: Count) -> str:
    """A number, an expression, or ends in words.

    >>> print(text_of_count(3), "and", text_of_count(Interval(1, 4)))
    3 and 1 to 4
    """
    if not isinstance(count, Interval):
        return format_expr(count)
    if count.upper is None:
        return f"at least {count.lower}" if count.lower else "any number of"
    return f"{count.lower} to {count.upper}"


def sum_of_counts(counts: Iterable[Count]) -> Count:
    """The sum of numbers, expressions and intervals; beside intervals, expressions are at least 0.

    >>> from simplifier import symbol
    >>> print(sum_of_counts([3, Interval(1, 4)]), sum_of_counts([3, 4, symbol("N") * 4]))
    [4, 7] 4*N + 7
    """
    listed = [*counts]
    between = [each for each in listed if isinstance(each, Interval)]
    numbers = sum(each for each in listed if isinstance(each, int))
    symbolic = [each for each in listed if isinstance(each, sympy.Expr)]
    if not between:
        return simplest(sum(symbolic, sympy.Integer(0)) + numbers) if symbolic else numbers
    unknown = [Interval(0, None)] if symbolic else []
    return count_of(sum((*between, *unknown), Interval(numbers, numbers)))


def difference(one: Size, other: Size) -> Size:
    """The one less the other."""
    apart = one - other
    return apart if isinstance(apart, int) else simplest(apart)


def bytes_of(elements: Size, bits: int) -> Size:
    """The bytes of so many elements of some bits.

    >>> from simplifier import symbol
    >>> bytes_of(3, 4), bytes_of(symbol("N"), 32)
    (2, 4*N)
    """
    if isinstance(elements, int):
        return -(-elements * bits // BITS_OF_BYTE)
    return simplest(CeilDiv(elements * bits, sympy.Integer(BITS_OF_BYTE)))


def ratio(one: Size, other: Size) -> float | None:
    """How many times the one is the other; ``None`` if that depends on sizes."""
    if isinstance(one, int) and isinstance(other, int):
        return one / other if other else 0.0
    found = sympy.cancel(sympy.sympify(one) / other)
    if not isinstance(found, sympy.Rational):
        return None
    above, below = found.as_numer_denom()
    return int(above) / int(below)


def simplest(expression: sympy.Expr) -> Size:
    """An expression over sizes, which are not negative; an integer if it is one."""
    sizes = {each: Interval(0, None) for each in expression.free_symbols}
    found = simplify(expression, sizes)
    return int(found) if isinstance(found, sympy.Integer) else found
