"""Closed integer intervals, unbounded at either end or not, and their three-valued comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, TypeAlias, final

from simplifier.errors import IndexingError, UndecidedError, quoted


@final
class Infinity:
    """One of the two ends beyond all integers; arithmetic with integers of any size works.

    Sums of opposite infinities do not occur in interval arithmetic; zero times infinity is zero.
    """

    __slots__ = ("sign",)

    def __init__(self, sign: int) -> None:
        self.sign = sign

    def __add__(self, other: End) -> Infinity:
        return self

    __radd__ = __add__

    def __sub__(self, other: End) -> Infinity:
        return self

    def __rsub__(self, other: int) -> Infinity:
        return -self

    def __neg__(self) -> Infinity:
        return NEGATIVE_INFINITY if self.sign > 0 else INFINITY

    def __mul__(self, other: End) -> End:
        sign = other.sign if isinstance(other, Infinity) else (other > 0) - (other < 0)
        return 0 if not sign else self if sign > 0 else -self

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Infinity:
        return self if other > 0 else -self

    def __pow__(self, exponent: int) -> Infinity:
        return self if exponent % 2 else INFINITY

    def __lt__(self, other: object) -> bool:
        return self.sign < 0 and other is not self

    def __gt__(self, other: object) -> bool:
        return self.sign > 0 and other is not self

    def __le__(self, other: object) -> bool:
        return self.sign < 0 or other is self

    def __ge__(self, other: object) -> bool:
        return self.sign > 0 or other is self

    def __repr__(self) -> str:
        return "inf" if self.sign > 0 else "-inf"


End: TypeAlias = "int | Infinity"
"""An end of a range: an integer, or beyond all integers."""

Range: TypeAlias = "tuple[End, End]"
"""Lowest and highest value, as the algorithms inside pass them around."""

INFINITY: Final = Infinity(1)
NEGATIVE_INFINITY: Final = Infinity(-1)


def meet(left: Range, right: Range) -> Range:
    """The intersection; the first range if it is empty, which happens only on empty domains."""
    lower, upper = max(left[0], right[0]), min(left[1], right[1])
    return (lower, upper) if lower <= upper else left


def floordiv_range(operands: Sequence[Range]) -> Range:
    """Quotients are extreme at the ends of numerator and divisor; no divisor is zero."""
    (lower, upper), divisor = operands
    size, greatest = divisor
    if isinstance(size, int) and size == greatest > 0:
        return lower // size, upper // size
    corners = [
        _rounded(sign * numerator, sign * size)
        for sign, sizes in _sides(divisor)
        for numerator in (lower, upper)
        for size in sizes
    ]
    return (min(corners), max(corners)) if corners else (NEGATIVE_INFINITY, INFINITY)


def _sides(divisor: Range) -> Iterator[tuple[int, Range]]:
    """The signs that a divisor may have, and its range with each."""
    lower, upper = divisor
    if upper >= 1:
        yield 1, (max(lower, 1), upper)
    if lower <= -1:
        yield -1, (lower, min(upper, -1))


def _rounded(numerator: End, divisor: End) -> End:
    """A quotient by a positive divisor; by infinity, its limit."""
    if isinstance(divisor, int):
        return numerator // divisor
    return 0 if numerator >= 0 else -1


@final
class Undecided:
    """The third answer of a comparison: true for some values and false for others."""

    __slots__ = ("question",)

    def __init__(self, question: str) -> None:
        self.question = question

    def __bool__(self) -> bool:
        raise UndecidedError(self.question)

    def __repr__(self) -> str:
        return f"unknown: {self.question}"


Ternary: TypeAlias = "bool | Undecided"


@dataclass(frozen=True, slots=True)
class Interval:
    """All integers from ``lower`` to ``upper``, both included; ``None`` is an end without bound.

    An infinite end, such as sympy's ``-oo`` below and ``oo`` above, is ``None``, too.

    Comparisons answer for every pair of values: ``True``, ``False``, or an unknown whose ``bool``
    raises :class:`~simplifier.errors.UndecidedError`. ``==`` compares the intervals themselves;
    :meth:`eq` their values. An interval with ``lower > upper`` is empty.

    >>> Interval(0, 3) < Interval(4, 9)
    True
    >>> Interval(0, 3) < Interval(3, 9)
    unknown: [0, 3] < [3, 9]
    >>> Interval(0, None) + 5
    Interval(lower=5, upper=None)
    """

    lower: int | None
    upper: int | None

    def __post_init__(self) -> None:
        if type(self.lower) is int and type(self.upper) is int:
            return
        for name, end, endless in (("lower", self.lower, -inf), ("upper", self.upper, inf)):
            if not hasattr(end, "__index__") and end == endless:
                object.__setattr__(self, name, None)
            elif end is not None and (not hasattr(end, "__index__") or isinstance(end, bool)):
                given = f"Interval: {name} end has value {quoted(end)}"
                raise IntervalError(f"{given}; expected an integer or None")
            elif end is not None and type(end) is not int:
                object.__setattr__(self, name, end.__index__())

    @classmethod
    def of(cls, bounds: IntervalLike) -> Interval:
        """An interval from an interval, a pair of ends, or one integer.

        >>> Interval.of((0, 7))
        Interval(lower=0, upper=7)
        """
        if isinstance(bounds, Interval):
            return bounds
        if isinstance(bounds, tuple | list):
            if len(bounds) != 2:  # noqa: PLR2004 - a pair
                message = f"Interval.of: {quoted(bounds)} has {len(bounds)} ends; expected 2"
                raise IntervalError(message)
            return cls(bounds[0], bounds[1])
        return cls(bounds, bounds)

    @classmethod
    def from_range(cls, ends: Range) -> Interval:
        """The interval of a pair of inner ends."""
        lower, upper = [None if isinstance(end, Infinity) else end for end in ends]
        return cls(lower, upper)

    @property
    def ends(self) -> Range:
        """Both ends with infinities in place of ``None``."""
        lower = NEGATIVE_INFINITY if self.lower is None else self.lower
        return lower, INFINITY if self.upper is None else self.upper

    @property
    def is_empty(self) -> bool:
        """Whether no integer lies in it."""
        return self.lower is not None and self.upper is not None and self.lower > self.upper

    @property
    def is_point(self) -> bool:
        """Whether exactly one integer lies in it."""
        return self.lower is not None and self.lower == self.upper

    @property
    def size(self) -> int | None:
        """Number of integers in it; ``None`` if infinitely many."""
        if self.is_empty:
            return 0
        return None if self.lower is None or self.upper is None else self.upper - self.lower + 1

    def __contains__(self, value: int) -> bool:
        lower, upper = self.ends
        return lower <= value <= upper

    def contains(self, other: IntervalLike) -> bool:
        """Whether every integer of the other interval lies in this one.

        >>> Interval(0, 9).contains((3, 4)), Interval(0, 9).contains(10)
        (True, False)
        """
        other = Interval.of(other)
        if other.is_empty:
            return True
        mine, others = self.ends, other.ends
        return mine[0] <= others[0] and mine[1] >= others[1]

    def __iter__(self) -> Iterator[int]:
        if self.lower is None or self.upper is None:
            message = f"{self} has no end to iterate to; expected a bounded interval"
            raise IntervalError(message)
        return iter(range(self.lower, self.upper + 1))

    def intersect(self, other: IntervalLike) -> Interval:
        """The integers in both; an empty result is ``[l, l - 1]``."""
        mine, others = self.ends, Interval.of(other).ends
        lower, upper = max(mine[0], others[0]), min(mine[1], others[1])
        if not isinstance(lower, Infinity) and upper < lower:
            upper = lower - 1
        return Interval.from_range((lower, upper))

    def union(self, other: IntervalLike) -> Interval:
        """The smallest interval that holds both."""
        other = Interval.of(other)
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        mine, others = self.ends, other.ends
        return Interval.from_range((min(mine[0], others[0]), max(mine[1], others[1])))

    # Values: what the operation gives on every pair of values.

    def __add__(self, other: IntervalLike) -> Interval:
        return self._combined(other, lambda a, b: a + b)

    __radd__ = __add__

    def __neg__(self) -> Interval:
        lower, upper = self.ends
        return Interval.from_range((-upper, -lower))

    def __sub__(self, other: IntervalLike) -> Interval:
        return self + -Interval.of(other)

    def __rsub__(self, other: IntervalLike) -> Interval:
        return Interval.of(other) + -self

    def __mul__(self, other: IntervalLike) -> Interval:
        return self._combined(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Interval:
        if not divisor:
            message = f"{self} // 0: expected a divisor other than zero"
            raise IntervalError(message)
        return self._combined(divisor, lambda a, b: a // b if isinstance(b, int) else a)

    def min(self, other: IntervalLike) -> Interval:
        """The range of the lesser of two values."""
        return self._combined(other, min)

    def max(self, other: IntervalLike) -> Interval:
        """The range of the greater of two values."""
        return self._combined(other, max)

    def _combined(self, other: IntervalLike, operation: Callable[[End, End], End]) -> Interval:
        """The hull over the corners: right for operations that are monotone in each argument."""
        other = Interval.of(other)
        if self.is_empty or other.is_empty:
            return EMPTY
        corners = [operation(a, b) for a in self.ends for b in other.ends]
        return Interval.from_range((min(corners), max(corners)))

    # Comparisons of every pair of values.

    def __gt__(self, other: IntervalLike) -> Ternary:
        return self._compared(other, ">")

    def __lt__(self, other: IntervalLike) -> Ternary:
        return self._compared(other, "<")

    def __ge__(self, other: IntervalLike) -> Ternary:
        return self._compared(other, ">=")

    def __le__(self, other: IntervalLike) -> Ternary:
        return self._compared(other, "<=")

    def eq(self, other: IntervalLike) -> Ternary:
        """Whether every value here equals every value there."""
        return self._compared(other, "==")

    def ne(self, other: IntervalLike) -> Ternary:
        """Whether every value here differs from every value there."""
        return self._compared(other, "!=")

    def _compared(self, other: IntervalLike, comparison: str) -> Ternary:
        other = Interval.of(other)
        if not (self.is_empty or other.is_empty):
            always, never = _for_all_and_for_none(self.ends, other.ends)[comparison]
            if always or never:
                return always
        return Undecided(f"{self} {comparison} {other}")

    def __str__(self) -> str:
        lower, upper = self.ends
        return f"[{lower}, {upper}]"


IntervalLike: TypeAlias = "Interval | tuple[int | None, int | None] | list[int | None] | int"

EMPTY: Final = Interval(0, -1)
EVERYTHING: Final = Interval(None, None)


def _for_all_and_for_none(here: Range, there: Range) -> Mapping[str, tuple[bool, bool]]:
    """For each comparison: whether it holds for all pairs of values, and whether for none."""
    (low, high), (least, most) = here, there
    is_above, is_below = low > most, high < least
    are_apart, are_same = is_above or is_below, low == high == least == most
    return {
        ">": (is_above, high <= least),
        "<": (is_below, low >= most),
        ">=": (low >= most, is_below),
        "<=": (high <= least, is_above),
        "==": (are_same, are_apart),
        "!=": (are_apart, are_same),
    }


class IntervalError(IndexingError, ValueError):
    """An interval that cannot be made, or a question that an interval cannot answer."""
