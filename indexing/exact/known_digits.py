"""Digits whose values are known, and the numbers that they make up.

A digit of a number ``n`` is ``floor(n / weight) mod radix``: what a reshape or a tiled layout
stores of an index.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd, lcm
from typing import TYPE_CHECKING, NamedTuple

from simplifier.bounds.context import Unit
from simplifier.bounds.interval import INFINITY, Infinity
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom


class Digit(NamedTuple):
    """``floor(source / weight) mod radix = value``; without ``mod`` where the radix is 0."""

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
        """What the value has to equal."""
        quotient = floordiv(self.source, self.weight)
        return mod(quotient, self.radix) if self.radix else quotient

    def of_source(self, source: Form) -> Digit | None:
        """The same digit of another source, if one tells the other.

        So it is where the sources are whole turns apart; at weight 1 the distance may be any.
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
        """Of a multiple of one term, the digit of the term: ``a*x mod n`` tells ``x mod n``."""
        if self.weight > 1 or len(self.source.terms) != 1:
            return self
        ((atom, factor),) = self.source.terms.items()
        if abs(factor) == 1 or not self.radix or gcd(factor, self.radix) > 1:
            return self
        times = pow(factor, -1, self.radix)
        value = self.value.plus_constant(-self.source.constant).times(times)
        return Digit(Form(0, {atom: 1}), 1, self.radix, mod(value, self.radix))

    def carry(self, quotient: Atom) -> tuple[Form, Form] | None:
        """A quotient of the source plus a constant, as one of the source and what is carried over.

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

    def from_weight(self, weight: int) -> Form:
        """The part of the value that counts units of a weight within the digit."""
        return floordiv(self.value, weight // self.weight)


def gathered(scope: Scope, units: Sequence[tuple[int, Unit]]) -> list[tuple[int, Unit]]:
    """The units with the first quotient for which that can be done gathered with what it lacks.

    Canonical forms tell ``floor((5*x + y) / 4)`` as ``x + floor((x + y) / 4)``, and
    ``floor((x + 1) / 2)`` as ``x mod 2 + floor(x / 2)``.
    """
    for weight, unit in units:
        quotient = _quotient(unit)
        if quotient is not None:
            parts = [pair for pair in units if pair[1] is unit or _lacks(quotient, weight, pair)]
            if len(parts) > 1:
                value = forms.ZERO
                for factor, part in parts:
                    value = value.plus(part.value, factor // weight)
                rest = [pair for pair in units if pair not in parts]
                return [*rest, (weight, Unit(value, *scope.range_of(value)))]
    return list(units)


def _quotient(unit: Unit) -> Atom | None:
    """The quotient that a unit is, if it is one."""
    atom = next(iter(unit.value.terms))
    is_quotient = atom.kind is Kind.FLOORDIV and unit.value == Form(0, {atom: 1})
    return atom if is_quotient else None


def _lacks(quotient: Atom, weight: int, pair: tuple[int, Unit]) -> bool:
    """Whether a weighted unit may have come out of a quotient of that weight."""
    factor, unit = pair
    if unit.quotient is quotient:
        return unit.radix == 2 and factor == weight  # noqa: PLR2004 - halves
    return factor % weight == 0 and any(
        unit.value == Form(0, {atom: 1}) for atom in quotient.numerator.terms
    )


def digit_of(unit: Unit, value: Form) -> Digit | None:
    """What a unit is a digit of, if it is one: of a quotient, or what is gathered round one."""
    if unit.quotient is not None:
        divisor = unit.quotient.divisor
        return Digit(unit.quotient.numerator, divisor // unit.radix, unit.radix, value)
    for atom, factor in unit.value.terms.items():
        if atom.kind is Kind.FLOORDIV and factor == 1:
            beside = unit.value.without(atom)
            return Digit(atom.numerator.plus(beside, atom.divisor), atom.divisor, 0, value)
        if atom.divisor == 2 and unit.value.plus_atom(atom) == atom.numerator:  # noqa: PLR2004 - halves
            return Digit(atom.numerator.plus_constant(1), 2, 0, value)
    return None


class Chain(NamedTuple):
    """Digits that follow each other from weight 1 on."""

    links: tuple[tuple[int, Digit], ...]
    """Each with the weight from which it is used; it may begin before and overlap the last one."""

    end: int
    """The weight of the first digit that is missing; 0 if none is."""

    @property
    def value(self) -> Form:
        """The number made up by the digits."""
        total = forms.ZERO
        for weight, digit in self.links:
            total = total.plus(digit.from_weight(weight), weight)
        return total

    def tells(self, digit: Digit) -> bool:
        """Whether the digit is one of those that follow each other, used from its own weight on."""
        return (digit.weight, digit) in self.links


def chain(digits: Iterable[Digit]) -> Chain:
    """The known digits of one source that follow each other.

    >>> y, z = map(forms.variable, "yz")
    >>> chain([Digit(forms.variable("x"), 8, 0, y), Digit(forms.variable("x"), 1, 8, z)]).value
    Form(y * 8 + z)
    """
    digits = [*digits]
    digits += _joined(digits)
    links: list[tuple[int, Digit]] = []
    weight = 1
    while here := [digit for digit in digits if digit.end > weight and not weight % digit.weight]:
        digit = max(here, key=lambda digit: (digit.weight, digit.end))
        links.append((weight, digit))
        if not digit.radix:
            return Chain(tuple(links), 0)
        weight = digit.weight * digit.radix
    return Chain(tuple(links), weight)


def _joined(digits: list[Digit]) -> list[Digit]:
    """What two remainders by divisors without common factor say of one by their product.

    That is the Chinese remainder theorem.
    """
    joined: list[Digit] = []
    for one, other in combinations(digits, 2):
        if one.weight == other.weight and one.radix and other.radix:
            turn = lcm(one.radix, other.radix)
            if gcd(one.radix, other.radix) == 1 < turn:
                by_one = other.radix * pow(other.radix, -1, one.radix)
                by_other = one.radix * pow(one.radix, -1, other.radix)
                total = one.value.times(by_one).plus(other.value, by_other)
                joined.append(one._replace(radix=turn, value=mod(total, turn)))
    return joined


def floordiv(form: Form, divisor: int) -> Form:
    """The form divided by a constant, rounded down."""
    return form if divisor == 1 else operations.floordiv(form, forms.constant(divisor))


def mod(form: Form, divisor: int) -> Form:
    """What is left of the form by a constant."""
    return operations.mod(form, forms.constant(divisor))
