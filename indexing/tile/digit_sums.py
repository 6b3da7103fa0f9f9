"""Sums of digits: at which sizes their tile is one run of digits, and where each digit is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from indexing.tile.progressions import Progression
from indexing.tile.radices import greatest_count
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from indexing.domain import Constraint
    from indexing.tile.radices import Radices, TileDigit
    from simplifier.expr.form import Form


class DigitRun(NamedTuple):
    """The terms with several values: from the first to the last, all but the last whole."""

    first: int
    last: int
    limits: tuple[Constraint, ...]
    """The sizes for which these are."""


@dataclass(frozen=True, slots=True)
class DigitSum:
    """Digits of several axes, each times its factor, and what is the same in a whole tile."""

    fixed: Form
    terms: tuple[tuple[int, TileDigit], ...]
    """The smallest factor first."""

    @property
    def sign(self) -> int:
        """-1 if all digits count down."""
        return -1 if self.terms and all(factor < 0 for factor, _ in self.terms) else 1

    def base(self, radices: Mapping[str, Radices], sign: int) -> Form:
        """The value at position 0: the least, or the greatest if ``sign`` is -1."""
        found = self.fixed
        for factor, digit in self.terms:
            found = found + digit.of(radices[digit.variable].axis.begin).times(factor)
            if factor * sign < 0:
                last = radices[digit.variable].count(digit).plus_constant(-1)
                found = found + last.times(factor)
        return found

    def size(self, radices: Mapping[str, Radices]) -> Form:
        """How many values there are."""
        return operations.product(radices[digit.variable].count(digit) for _, digit in self.terms)

    def places(
        self, radices: Mapping[str, Radices], position: Form, sign: int
    ) -> dict[TileDigit, Form]:
        """How far each digit is from its first value, at a position."""
        below = forms.ONE
        found: dict[TileDigit, Form] = {}
        for factor, digit in self.terms:
            count = radices[digit.variable].count(digit)
            place = operations.floordiv(position, below)
            if digit != self.terms[-1][1]:
                place = operations.mod(place, count)
            if factor * sign < 0:  # it counts down while the position counts up
                place = (count - place).plus_constant(-1)
            found[digit] = place
            below = operations.product((below, count))
        return found

    def runs(self, radices: Mapping[str, Radices]) -> Iterator[DigitRun]:
        """The digits that may have several values: they follow each other."""
        ones, wholes = self.ones(radices), self.wholes(radices)
        for first in range(len(self.terms)):
            for last in range(first, len(self.terms)):
                yield DigitRun(first, last, (*ones[:first], *wholes[first:last], *ones[last + 1 :]))
                (factor, digit), following = self.terms[last], self.terms[last + 1 : last + 2]
                count = greatest_count(radices[digit.variable].axis, digit)
                if count is None or not following or abs(factor) * count != abs(following[0][0]):
                    break

    def ones(self, radices: Mapping[str, Radices]) -> tuple[Constraint, ...]:
        """The sizes for which each digit has one value."""
        return tuple(
            radices[digit.variable].axis.limited(Interval(1, digit.weight))
            for _, digit in self.terms
        )

    def wholes(self, radices: Mapping[str, Radices]) -> tuple[Constraint, ...]:
        """The sizes for which each digit has all values, if their number is known."""
        found: list[Constraint] = []
        for _, digit in self.terms:
            axis = radices[digit.variable].axis
            others = (greatest_count(axis, digit) or 1) - 1
            found.append(axis.limited(Interval(digit.weight * others + 1, None)))
        return tuple(found)


def of_digits(total: DigitSum, radices: Mapping[str, Radices]) -> Progression:
    """The tile of a sum of digits, where those with several values are one run."""
    sign = total.sign
    is_run = len(total.terms) > 1  # a single digit always is
    return Progression(
        total.base(radices, sign),
        total.size(radices),
        _stride(total, radices, sign),
        clause=tuple(run.limits for run in total.runs(radices)) if is_run else ((),),
    )


def _stride(total: DigitSum, radices: Mapping[str, Radices], sign: int) -> Form:
    """The stride of the lowest digit with several values; that of the only digit, if it is one."""
    if len(total.terms) == 1:
        return forms.constant(total.terms[0][0])
    stride = forms.ZERO
    for factor, digit in reversed(total.terms):
        count = radices[digit.variable].axis.count
        several = operations.nonnegative(count.plus_constant(-digit.weight - 1))
        stride = operations.select(several, forms.constant(sign * abs(factor)), stride)
    return stride
