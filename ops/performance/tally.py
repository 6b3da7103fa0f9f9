"""Points of maps and the elements that they lead to, counted within a time.

A map has a closed form where its results tell its variables, or where its result is a sum, as in
everyday maps. Any other is gone through by NumPy if it has few points, else asked of isl; what is
left is gone through while there is time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import lru_cache
from math import gcd, isnan, prod
from time import process_time
from typing import Any, Final, NamedTuple, TypeAlias, overload

import simplifier
from indexing import IndexingMap, passes
from indexing.layout import UNBOUNDED_SIZE
from indexing.passes import MAX_INT64
from ops.fusion.reads import tells_ranges
from ops.hlo import Instruction
from ops.hlo.true_sizes import true_sizes
from simplifier.errors import ArgumentError, check_type
from simplifier.exact import ATTEMPT, Budget, BudgetError, NotQuasiAffineError
from simplifier.forms import VARIABLE, Interval, np
from simplifier.tools.late import sympy

Column: TypeAlias = Any
"""An array of NumPy."""

_FEW: Final = 1 << 18
"""Points that are gone through before isl is asked: milliseconds."""

MAX_POINTS: Final = 1 << 30
"""Points that are gone through while there is time."""

MAX_MARKS: Final = 1 << 27
"""Elements that are marked one by one: 128 MB."""

_YEAR: Final = 365 * 24 * 3600
"""Seconds: more is as good as forever."""

REMEMBERED: Final = 1 << 12
"""Maps whose numbers are remembered: the layers of a model repeat them."""


class OutOfTimeError(Exception):
    """There is no exact answer within the time."""


class Deadline:
    """Seconds of processor time from now on, as isl counts them; ``None`` is forever."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else process_time() + seconds

    @classmethod
    def of(cls, op: str, seconds: float | None) -> Deadline:
        """The time that somebody gives an operation.

        Raises:
            ArgumentError: it is no number.
        """
        if seconds is not None:
            check_type(seconds, (int, float), f"{op}: seconds", "a number, or None for no limit")
            if isnan(seconds):
                raise ArgumentError(f"{op}: seconds is nan; expected a number, or None")
        return cls(seconds)

    def check(self) -> None:
        """Raise an :class:`OutOfTimeError` unless there is time left."""
        if self._end is not None and process_time() >= self._end:
            raise OutOfTimeError

    @property
    def budget(self) -> Budget:
        """Operations left for isl.

        Raises:
            OutOfTimeError: that is nothing.
        """
        self.check()
        if self._end is None:
            return None
        return timedelta(seconds=min(self._end - process_time(), _YEAR))


class Tally(NamedTuple):
    """Numbers of points of some maps, and of elements that they lead to."""

    points: int
    elements: int


def tally_of(maps: Sequence[IndexingMap], deadline: Deadline) -> Tally:
    """The points of some maps of dimensions alone, and the elements that one of them leads to.

    Raises:
        MapError: a map has parameters.
        OutOfTimeError: they cannot be counted within the time.
        NotQuasiAffineError: there are too many to go through, and isl cannot express the maps.

    >>> from indexing import parse_map
    >>> windows = parse_map("(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 2]")
    >>> tally_of([windows], Deadline(1))
    Tally(points=30, elements=12)
    """
    for each in maps:
        passes.check_without_parameters(each, "tally")
    found = _at_a_glance(*maps) if len(maps) == 1 else None
    if found is None:
        deadline.check()
        found = _quickly(tuple(maps))
    if found is not None:
        return found
    if sum(map(volume, maps)) <= MAX_POINTS and size_of(passes.hull_of(maps)) <= MAX_MARKS:
        points, is_reached = marked(maps, (), passes.hull_of(maps), deadline)
        return Tally(int(points.sum()), int(is_reached.sum()))
    try:
        return _by_isl(maps, deadline.budget)
    except BudgetError:
        raise OutOfTimeError from None


@lru_cache(maxsize=REMEMBERED)
def _at_a_glance(part: IndexingMap) -> Tally | None:
    """The numbers where no two points lead to one element, or where elements are sums."""
    if part.domain.constraints:
        return None
    points = volume(part)
    if tells_ranges(passes.arranged(part, (), part.domain.identifiers)):
        return Tally(points, points)
    strides = strides_of_sum(part)
    if strides is None:
        return None if part.forms else Tally(points, 1)
    sizes = [part.domain.bounds[name].size for name in strides]
    known = [size for size in sizes if size is not None]
    elements = number_of_sums(strides.values(), known) if len(known) == len(sizes) else None
    return None if elements is None else Tally(points, elements)


@lru_cache(maxsize=REMEMBERED)
def _quickly(maps: tuple[IndexingMap, ...]) -> Tally | None:
    """The numbers by going through the points if they are few, or by isl if that is quick."""
    if sum(map(volume, maps)) <= _FEW:
        counts, rows = [*map(passes.few_points.count, maps)], passes.few_points.reached(maps)
        points = sum(count for count in counts if count is not None)
        if rows is not None and None not in counts:
            return Tally(points, len(rows))
    try:
        return _by_isl(maps, ATTEMPT)
    except (BudgetError, NotQuasiAffineError):
        return None


def _by_isl(maps: Sequence[IndexingMap], budget: Budget) -> Tally:
    points = sum(passes.number_of_points(each, budget) for each in maps)
    return Tally(points, passes.number_of_results(maps, budget))


# Sums.


def strides_of_sum(part: IndexingMap) -> dict[str, int] | None:
    """The factor of each variable, if the only result is a sum of multiples of variables."""
    if len(part.forms) != 1 or any(atom.kind is not VARIABLE for atom in part.forms[0].terms):
        return None
    factors = {str(atom.name): factor for atom, factor in part.forms[0].terms.items()}
    return {name: factors.get(name, 0) for name in part.domain.identifiers}


def number_of_sums(strides: Iterable[int], sizes: Iterable[int]) -> int | None:
    """Number of values of a sum of ``stride * x`` with ``0 <= x < size``; ``None`` if unknown.

    Small terms together are a digit of what follows, or they fill the gaps of the next stride.

    >>> number_of_sums([1, 1], [10, 3])
    12
    >>> number_of_sums([100, 2, 1], [4, 10, 3])
    84
    """
    pairs = [(abs(stride), size) for stride, size in zip(strides, sizes, strict=True)]
    if not all(size for _, size in pairs):
        return 0
    terms = sorted((stride, size) for stride, size in pairs if stride and size > 1)
    below, unit, run, span = 1, 1, 1, 0  # the sums so far are digits, and a run of units above
    for number, (stride, size) in enumerate(terms):
        if span < gcd(*(each for each, _ in terms[number:])):
            below, unit, run = below * run, stride, size
        elif stride % unit == 0 and stride <= unit * run:
            run += stride // unit * (size - 1)
        else:
            return None
        span += stride * (size - 1)
    return below * run


# Going through points.


def marked(
    maps: Sequence[IndexingMap],
    rows: Sequence[Interval],
    columns: Sequence[Interval],
    deadline: Deadline,
) -> tuple[Column, Column]:
    """Number of points that lead to each row of a table, and the columns that they lead to.

    The results of each map are an index of a row, and behind it one of a column.

    Raises:
        OutOfTimeError: there are too many points or columns, or no time is left.
    """
    height, width = size_of(rows), size_of(columns)
    if height * width > MAX_MARKS or sum(map(volume, maps)) > MAX_POINTS:
        raise OutOfTimeError
    points = np.zeros(height, dtype=np.int64)
    is_reached = np.zeros((height, width), dtype=bool)
    for each in maps:
        for count, found in passes.result_columns(each):
            deadline.check()
            row = np.broadcast_to(passes.numbered(found[: len(rows)], rows), count)
            points += np.bincount(row, minlength=height)
            is_reached[row, passes.numbered(found[len(rows) :], columns)] = True
    return points, is_reached


def volume(whole: IndexingMap) -> int:
    """The points of dimensions and ranges within the bounds."""
    dims, ranges, _ = whole.domain.by_role(whole.domain.identifiers)
    return size_of(whole.domain.bounds[name] for name in (*dims, *ranges))


def size_of(box: Iterable[Interval]) -> int:
    """The points of a box, very many if it is not bounded."""
    sizes = [each.size for each in box]
    return MAX_INT64 if None in sizes else prod(size or 0 for size in sizes)


# Counts: numbers, expressions over symbolic sizes, or the least and the most that may be.

Size: TypeAlias = "int | sympy.Expr"
"""A number, or an expression over the symbolic sizes of arrays."""

Count: TypeAlias = "Size | Interval"
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
        return simplifier.format_expr(count)
    if count.upper is None:
        return f"at least {count.lower}" if count.lower else "any number of"
    return f"{count.lower} to {count.upper}"


def cell_of_count(count: Count) -> str:
    """The text where it stands alone: the condition comes last if the count is zero elsewhere.

    >>> from simplifier import symbol
    >>> M, N = symbol("M"), symbol("N")
    >>> print(cell_of_count(4 * sympy.Piecewise((N, sympy.Eq(M, N)), (0, True))))
    N * 4 if M == N
    """
    if isinstance(count, int | Interval):
        return text_of_count(count)
    for piece in count.atoms(sympy.Piecewise):
        (value, condition), *others = (each.args for each in piece.args)
        if [each[0] for each in others] == [0] and not count.subs(piece, 0):
            whole = simplest(count.subs(piece, value))
            holds = simplifier.format_expr(condition)
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
    symbolic = [each for each in listed if not isinstance(each, int | Interval)]
    if not between:
        return simplest(sum(symbolic, sympy.Integer(0)) + numbers)
    unknown = [Interval(0, None)] if symbolic else []
    return count_of(sum((*between, *unknown), Interval(numbers, numbers)))


def difference(one: Size, other: Size) -> Size:
    """The one less the other."""
    apart = one - other
    return apart if isinstance(apart, int) else simplest(apart)


def elements_of(operand: Instruction, number: int) -> Count:
    """Number of elements of an array of a result.

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
    return simplest(simplifier.CeilDiv(elements * bits, sympy.Integer(BITS_OF_BYTE)))


def ratio(one: Size, other: Size) -> float | None:
    """Factor between two sizes; ``None`` if it depends on parameters."""
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
    found = simplifier.simplify(expression, sizes)
    return int(found) if isinstance(found, sympy.Integer) else found
