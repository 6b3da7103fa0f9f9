"""Counts: numbers, expressions over symbolic sizes, or the least and the most that may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, overload

import sympy

from indexing.layout import UNBOUNDED_SIZE
from ops.hlo.true_sizes import true_sizes
from simplifier import CeilDiv, Interval, format_expr, simplify

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.hlo import Instruction

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
    if isinstance(count, int):
        return str(count)
    if not isinstance(count, Interval):
        return format_expr(count)
    if count.upper is None:
        return f"at least {count.lower}" if count.lower else "any number of"
    return f"{count.lower} to {count.upper}"


def cell_of_count(count: Count) -> str:
    """The text where it stands alone: what has to hold comes last if the count is zero elsewhere.

    >>> from simplifier import symbol
    >>> M, N = symbol("M"), symbol("N")
    >>> print(cell_of_count(4 * sympy.Piecewise((N, sympy.Eq(M, N)), (0, True))))
    N * 4 if M == N
    """
    if not isinstance(count, sympy.Expr):
        return text_of_count(count)
    for piece in count.atoms(sympy.Piecewise):
        (value, condition), *others = (each.args for each in piece.args)
        if [each[0] for each in others] == [0] and not count.subs(piece, 0):
            whole = simplest(count.subs(piece, value))
            holds = format_expr(condition)
            bare = holds.removeprefix("(").removesuffix(")")
            return f"{text_of_count(whole)} if {holds if '(' in bare else bare}"
    return text_of_count(count)


def ends_of_count(count: Count) -> list[int | str | None]:
    """The least and the most, as numbers or texts of expressions; ``None`` where nobody knows.

    >>> from simplifier import symbol
    >>> ends_of_count(Interval(1, None)), ends_of_count(symbol("N") * 4)
    ([1, None], ['N * 4', 'N * 4'])
    """
    if isinstance(count, Interval):
        return [count.lower, count.upper]
    return [count if isinstance(count, int) else text_of_count(count)] * 2


@overload
def sum_of_counts(counts: Iterable[Size]) -> Size: ...
@overload
def sum_of_counts(counts: Iterable[Count]) -> Count: ...
def sum_of_counts(counts: Iterable[Count]) -> Count:
    """The sum of numbers, expressions and intervals; beside intervals, expressions are at least 0.

    >>> from simplifier import symbol
    >>> print(sum_of_counts([3, Interval(1, 4)]), sum_of_counts([3, 4, symbol("N") * 4]))
    [4, 7] 4*N + 7
    """
    listed = [*counts]
    integers = [each for each in listed if isinstance(each, int)]
    numbers = sum(integers)
    if len(integers) == len(listed):
        return numbers
    between = [each for each in listed if isinstance(each, Interval)]
    symbolic = [each for each in listed if isinstance(each, sympy.Expr)]
    if not between:
        return simplest(sum(symbolic, sympy.Integer(0)) + numbers)
    unknown = [Interval(0, None)] if symbolic else []
    return count_of(sum((*between, *unknown), Interval(numbers, numbers)))


def difference(one: Size, other: Size) -> Size:
    """The one less the other."""
    apart = one - other
    return apart if isinstance(apart, int) else simplest(apart)


def elements_of(operand: Instruction, number: int) -> Count:
    """How many elements an array of a result has.

    >>> from ops import hlo
    >>> entry = hlo.parse("ENTRY e { ROOT x = f32[<=8,4] parameter(0) }").entry
    >>> elements_of(entry.root, 0)
    4*x_0
    """
    array = operand.shape.arrays[number]
    if not array.dynamic_dimensions:
        return array.element_count
    sizes = true_sizes(operand, number)
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes):
        return simplest(sympy.Mul(*known))
    is_bounded = UNBOUNDED_SIZE not in array.dimensions
    return Interval(0, array.element_count if is_bounded else None)


@overload
def bytes_of(elements: Size, bits: int) -> Size: ...
@overload
def bytes_of(elements: Count, bits: int) -> Count: ...
def bytes_of(elements: Count, bits: int) -> Count:
    """The bytes of so many elements of some bits.

    >>> from simplifier import symbol
    >>> bytes_of(3, 4), bytes_of(symbol("N"), 32)
    (2, 4*N)
    """
    if isinstance(elements, Interval):
        return count_of(-(-(elements * bits) // BITS_OF_BYTE))
    if isinstance(elements, int):
        return -(-elements * bits // BITS_OF_BYTE)
    return simplest(CeilDiv(elements * bits, sympy.Integer(BITS_OF_BYTE)))


def ratio(one: Size, other: Size) -> float | None:
    """How many times the one is the other; ``None`` if that depends on sizes."""
    if isinstance(one, int) and isinstance(other, int):
        return one / other if other else 0.0
    found = sympy.cancel((sympy.Integer(0) + one) / other)
    if not isinstance(found, sympy.Rational):
        return None
    above, below = found.as_numer_denom()
    return int(above) / int(below)


def simplest(expression: sympy.Expr) -> Size:
    """An expression over sizes, which are not negative; an integer if it is one."""
    sizes = {each: Interval(0, None) for each in expression.free_symbols}
    found = simplify(expression, sizes)
    return int(found) if isinstance(found, sympy.Integer) else found
