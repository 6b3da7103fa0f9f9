"""Digits with known values, and the numbers that they make up.

A digit of a number ``n`` is ``floor(n / weight) mod radix``: a reshape or a tiled layout stores an
index as such digits.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd, lcm
from typing import TYPE_CHECKING, NamedTuple

from simplifier.bounds.context import Unit
from simplifier.bounds.interval import INFINITY, Infinity
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom


class Digit(NamedTuple):
    """``floor(source / weight) mod radix = value``; without ``mod`` if the radix is 0."""

    source: Form
    weight: int
    radix: int
    value: Form

    @property
    def end(self) -> int | Infinity:
        """The weight of the next digit; infinite after the top digit."""
        return self.weight * self.radix or INFINITY

    @property
    def meaning(self) -> Form:
        """The form that the value equals."""
        quotient = floordiv(self.source, self.weight)
        return mod(quotient, self.radix) if self.radix else quotient

    def of_source(self, source: Form) -> Digit | None:
        """The same digit of another source, if one determines the other.

        It does if the sources differ by multiples of ``weight * radix``, and at weight 1 by
        anything constant.
        """
        apart = self.source - source
        turn = self.weight * self.radix
        if any(factor % turn if turn else factor for factor in apart.terms.values()):
            return None
        shift = apart.constant % turn if turn else apart.constant
        if not shift:
            return self._replace(source=source)
        if self.weight > 1 or not turn:
            return None
        return self._replace(source=source, value=mod(self.value.plus_constant(-shift), turn))

    def reduced(self) -> Digit:
        """For a multiple of one term, the digit of the term: ``a*x mod n`` gives ``x mod n``."""
        if self.weight > 1 or len(self.source.terms) != 1:
            return self
        ((atom, factor),) = self.source.terms.items()
        if abs(factor) == 1 or not self.radix or gcd(factor, self.radix) > 1:
            return self
        times = pow(factor, -1, self.radix)
        value = self.value.plus_constant(-self.source.constant).times(times)
        return Digit(Form(0, {atom: 1}), 1, self.radix, mod(value, self.radix))

    def carry(self, quotient: Atom) -> tuple[Form, Form] | None:
        """A quotient of the source plus a constant, as one of the source and a carry.

        ``floor((x + k*w) / (w*n)) = floor(x / (w*n)) + floor((floor(x / w) mod n + k) / n)``.
        """
        if quotient.divisor != self.end or self.weight == 1:
            return None
        shift = quotient.numerator - self.source
        times, rest = divmod(shift.constant, self.weight)
        if shift.terms or rest or not times:
            return None
        carried = floordiv(self.value.plus_constant(times), self.radix)
        return floordiv(self.source, quotient.divisor), carried

    def has_part_from(self, weight: int) -> bool:
        """Whether part of the value is a digit that begins at a weight.

        ``floor(x mod 16 / 12)`` is no digit of ``x``, because 12 does not divide 16.
        """
        is_inside = self.weight <= weight < self.end and weight % self.weight == 0
        return is_inside and (not self.radix or self.weight * self.radix % weight == 0)

    def from_weight(self, weight: int) -> Form:
        """The part of the value that counts units of a weight within the digit."""
        return floordiv(self.value, weight // self.weight)


def with_gathered_quotient(
    scope: Scope, units: Sequence[tuple[int, Unit]]
) -> list[tuple[int, Unit]]:
    """The units with the first quotient that can be put together again.

    Canonical forms write ``floor((5*x + y) / 4)`` as ``x + floor((x + y) / 4)``, and
    ``floor((x + 1) / 2)`` as ``x mod 2 + floor(x / 2)``.
    """
    for weight, unit in units:
        quotient = _quotient(unit)
        if quotient is not None:
            parts = [
                pair
                for pair in units
                if pair[1] is unit or _belongs_to_quotient(quotient, weight, pair)
            ]
            if len(parts) > 1:
                value = forms.ZERO
                for factor, part in parts:
                    value = value.plus(part.value, factor // weight)
                rest = [pair for pair in units if pair not in parts]
                return [*rest, (weight, Unit(value, *scope.range_of(value)))]
    return list(units)


def _quotient(unit: Unit) -> Atom | None:
    """The unit as a quotient, if it is one."""
    atom = next(iter(unit.value.terms))
    is_quotient = atom.kind is AtomKind.FLOORDIV and unit.value == Form(0, {atom: 1})
    return atom if is_quotient else None


def _belongs_to_quotient(quotient: Atom, weight: int, pair: tuple[int, Unit]) -> bool:
    """Whether a weighted unit can have come out of a quotient of that weight."""
    factor, unit = pair
    if unit.quotient is quotient:
        return unit.radix == 2 and factor == weight  # noqa: PLR2004 - halves
    return factor % weight == 0 and any(
        unit.value == Form(0, {atom: 1}) for atom in quotient.numerator.terms
    )


def digit_of(unit: Unit, value: Form) -> Digit | None:
    """The unit with its value as a digit, if it is one."""
    if unit.quotient is not None:
        divisor = unit.quotient.divisor
        return Digit(unit.quotient.numerator, divisor // unit.radix, unit.radix, value)
    for atom, factor in unit.value.terms.items():
        if atom.kind is AtomKind.FLOORDIV and factor == 1:
            beside = unit.value.without(atom)
            return Digit(atom.numerator.plus(beside, atom.divisor), atom.divisor, 0, value)
        if atom.divisor == 2 and unit.value.plus_atom(atom) == atom.numerator:  # noqa: PLR2004 - halves
            return Digit(atom.numerator.plus_constant(1), 2, 0, value)
    return None


class Chain(NamedTuple):
    """Digits that follow each other from weight 1 on."""

    links: tuple[tuple[int, Digit], ...]
    """Each with the weight from which it is used; it may overlap the one before."""

    end: int
    """The weight of the first missing digit; 0 if none is missing."""

    @property
    def value(self) -> Form:
        """The number with these digits."""
        total = forms.ZERO
        for weight, digit in self.links:
            total = total.plus(digit.from_weight(weight), weight)
        return total

    def contains(self, digit: Digit) -> bool:
        """Whether the digit is a link, used from its own weight on."""
        return (digit.weight, digit) in self.links


def chain(digits: Iterable[Digit]) -> Chain:
    """The known digits of one source that follow each other.

    >>> y, z = map(forms.variable, "yz")
    >>> chain([Digit(forms.variable("x"), 8, 0, y), Digit(forms.variable("x"), 1, 8, z)]).value
    Form(y * 8 + z)
    """
    digits = [*digits]
    digits += _by_chinese_remainders(digits)
    links: list[tuple[int, Digit]] = []
    weight = 1
    while here := [digit for digit in digits if digit.has_part_from(weight)]:
        digit = max(here, key=lambda digit: (digit.weight, digit.end))
        links.append((weight, digit))
        if not digit.radix:
            return Chain(tuple(links), 0)
        weight = digit.weight * digit.radix
    return Chain(tuple(links), weight)


def _by_chinese_remainders(digits: list[Digit]) -> list[Digit]:
    """The remainders by products of coprime divisors, by the Chinese remainder theorem."""
    found: list[Digit] = []
    for one, other in combinations(digits, 2):
        if one.weight == other.weight and one.radix and other.radix:
            turn = lcm(one.radix, other.radix)
            if gcd(one.radix, other.radix) == 1 < turn:
                by_one = other.radix * pow(other.radix, -1, one.radix)
                by_other = one.radix * pow(one.radix, -1, other.radix)
                total = one.value.times(by_one).plus(other.value, by_other)
                found.append(one._replace(radix=turn, value=mod(total, turn)))
    return found


def floordiv(form: Form, divisor: int) -> Form:
    """The form divided by a constant, rounded down."""
    return form if divisor == 1 else operations.floordiv(form, forms.constant(divisor))


def mod(form: Form, divisor: int) -> Form:
    """The remainder of the form by a constant."""
    return operations.mod(form, forms.constant(divisor))
