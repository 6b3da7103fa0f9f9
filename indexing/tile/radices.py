"""Digits of variables in results, and at which sizes a tile is a box of digits.

``(v + shift) floordiv weight mod radix`` is a digit of a variable. A tile of ``T`` values at a
multiple of ``T`` is a box of digits if ``T`` divides the weight of the digit above those that it
fills: ``T mod weight == 0`` and ``next_weight mod T == 0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, starmap
from math import gcd
from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from indexing.domain import Constraint
    from indexing.tile.axes import TileAxis
    from simplifier.expr.form import Atom, Form


_ZERO: Final = Interval(0, 0)


class TileDigit(NamedTuple):
    """``((variable + shift) floordiv weight) mod radix``; without a radix the whole quotient."""

    variable: str
    shift: int
    weight: int
    radix: int | None

    @property
    def is_variable(self) -> bool:
        """Whether it is the variable itself."""
        return self[1:] == (0, 1, None)

    def of(self, value: Form) -> Form:
        """The digit of a value."""
        quotient = operations.floordiv(value.plus_constant(self.shift), forms.constant(self.weight))
        return (
            quotient if self.radix is None else operations.mod(quotient, forms.constant(self.radix))
        )


def digit_of(atom: Atom) -> TileDigit | None:
    """The digit that an atom is.

    >>> from simplifier.expr.parser import parse_form
    >>> digit_of(parse_form("((d0 + 1) floordiv 4) mod 6").only_atom)
    TileDigit(variable='d0', shift=1, weight=4, radix=6)
    """
    if atom.kind is AtomKind.VARIABLE:
        return TileDigit(atom.name, 0, 1, None)
    if atom.kind not in (AtomKind.FLOORDIV, AtomKind.MOD) or atom.divisor <= 0:
        return None
    numerator, divisor = atom.arguments[0], atom.divisor
    bare = numerator.plus_constant(-numerator.constant).only_atom
    inner = None if bare is None else digit_of(bare)
    if inner is None or (numerator.constant and not inner.is_variable):
        return None
    if inner.is_variable:
        inner = inner._replace(shift=numerator.constant)
    if atom.kind is AtomKind.MOD:
        is_smaller = inner.radix is None or inner.radix % divisor == 0
        return inner._replace(radix=divisor) if is_smaller else None
    if inner.radix is not None and inner.radix % divisor:
        return None
    radix = None if inner.radix is None else inner.radix // divisor
    return inner._replace(weight=inner.weight * divisor, radix=radix)


@dataclass(frozen=True, slots=True)
class Radices:
    """The digits of one axis that results use, and when a tile of it is a box of them."""

    axis: TileAxis
    digits: tuple[TileDigit, ...]
    clause: tuple[tuple[Constraint, ...], ...]
    """The sizes for which it is: one of these conjunctions holds."""
    is_complete: bool
    """Whether the digits tell the value."""
    is_cut: bool
    """Whether the box may have more values than the axis."""

    def position(self, places: Mapping[TileDigit, Form]) -> Form:
        """How far a value is from the first, for the places of its digits."""
        return forms.weighted_sum((digit.weight, places[digit]) for digit in self.digits)

    def count(self, digit: TileDigit) -> Form:
        """How many values a digit takes in a tile."""
        count = self.axis.count
        if digit.weight > 1:
            count = operations.ceildiv(count, forms.constant(digit.weight))
        if digit.radix is None:
            return count
        return operations.minimum((count, forms.constant(digit.radix)))


def radices_of(axis: TileAxis, used: Iterable[TileDigit]) -> Radices | None:
    """The digits of an axis, if they do not overlap and tiles begin where digits do."""
    digits = tuple(sorted(set(used), key=lambda digit: digit.weight))
    if len(digits) == 1 and digits[0].is_variable:
        return Radices(axis, digits, ((),), is_complete=True, is_cut=False)
    if len({digit.shift for digit in digits}) > 1 or any(starmap(_overlap, pairwise(digits))):
        return None
    cuts = cuts_of(digits)
    start = axis.begin if axis.is_range else forms.constant(axis.origin)
    if not start.is_constant or any((start.constant + digits[0].shift) % cut for cut in cuts):
        return None
    is_cut = axis.extent is None or any(axis.extent % cut for cut in cuts)
    clause = [*levels(axis.count, cuts)]
    if is_cut and axis.extent is not None:
        clause.append((axis.limited(Interval.of(axis.extent)),))
    return Radices(axis, digits, tuple(clause), is_complete=_tell(digits), is_cut=is_cut)


def _overlap(low: TileDigit, high: TileDigit) -> bool:
    """Whether two digits share a part of the number, or are no digits of one system."""
    return low.radix is None or high.weight % (low.weight * low.radix) != 0


def _tell(digits: tuple[TileDigit, ...]) -> bool:
    """Whether digits follow each other without a gap."""
    tops = [1, *(digit.weight * (digit.radix or 0) for digit in digits)]
    return [digit.weight for digit in digits] == tops[:-1] and tops[-1] == 0


def cuts_of(digits: Iterable[TileDigit]) -> list[int]:
    """Where digits begin and end."""
    ends = ((digit.weight, digit.weight * (digit.radix or 1)) for digit in digits)
    return sorted({cut for pair in ends for cut in pair if cut > 1})


def levels(
    count: Form, cuts: Sequence[int], factor: int = 1, step: int = 0
) -> Iterator[tuple[Constraint, ...]]:
    """When runs of ``count * factor`` values are boxes of digits.

    The size of a run lies between two weights: a multiple of the lower one, it divides the higher
    one. Runs begin at multiples of their size plus multiples of ``step``: it divides that, too, but
    above all weights it is enough if they begin at a multiple of the greatest.
    """
    for below, above in pairwise([1, *cuts, 0]):
        fills = operations.mod(count, forms.constant(below // gcd(below, factor))), _ZERO
        divided = gcd(step, above)
        if not above and step % below == 0:
            yield (fills,)
        elif above and divided % factor == 0:
            divides = operations.mod(forms.constant(divided // factor), count), _ZERO
            yield fills, divides


def greatest_count(axis: TileAxis, digit: TileDigit) -> int | None:
    """How many values a digit takes on the whole axis."""
    if digit.radix is not None:
        return digit.radix
    return None if axis.extent is None else -(-axis.extent // digit.weight)
