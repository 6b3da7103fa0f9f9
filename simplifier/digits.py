"""The digit view: a form read as a sum of mixed-radix digits, without changing it.

Where a form holds ``m * L - m * n * floor(L / n)``, with ``floor(L / n)`` one of its atoms,
that is ``m`` times the digit ``L mod n``, which lies in ``[0, n - 1]``, whatever ``L`` is.
Ranges and splits that look at single terms lose this; on the view they keep it. For a quotient
``floor(N / c)`` the candidates for ``L`` are ``N`` and ``floor(N / g)`` for the smaller
divisors ``g`` of ``c`` whose quotient of the same form is present: the chain ``1 | g | c`` of a
tensor's strides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier.form import Atom, Form, Kind, accumulate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simplifier.interval import End
    from simplifier.scope import Scope


MOST_QUOTIENTS: Final = 24
"""A form of more quotients is crowded."""


class Unit(NamedTuple):
    """``weight * value`` with ``lower <= value <= upper``: one atom, or the digit ``L mod radix``.

    A digit is ``L - radix * quotient``; for a single atom ``quotient`` is ``None`` and ``radix`` 0.
    """

    weight: int
    value: Form
    lower: End
    upper: End
    quotient: Atom | None = None
    radix: int = 0


class View(NamedTuple):
    """``constant + sum(unit.weight * unit.value)``."""

    constant: int
    units: tuple[Unit, ...]


def is_crowded(form: Form) -> bool:
    """Whether a form holds so many quotients that comparing each with each would take too long."""
    if len(form.terms) <= MOST_QUOTIENTS:
        return False
    return sum(atom.kind is Kind.FLOORDIV for atom in form.terms) > MOST_QUOTIENTS


def digit_view(scope: Scope, form: Form) -> View:
    """The form as digits and single atoms; a crowded form is read as single atoms alone."""
    quotients = [atom for atom in form.terms if atom.kind is Kind.FLOORDIV]
    if not quotients or is_crowded(form):
        return View(form.constant, _single_units(scope, form.terms.items()))
    quotients.sort(key=lambda atom: atom.divisor)
    rest = _Rest(form)
    digits: list[Unit] = []
    # Digits that the form holds as they are come first; only then those that leave a part over
    # for the next one up.
    for exact in (True, False):
        quotients = [
            atom
            for atom in quotients
            if not _take_digit(scope, rest, atom, quotients, digits, exact=exact)
        ]
    return View(rest.constant, (*digits, *_single_units(scope, rest.terms.items())))


def _single_units(scope: Scope, terms: Iterable[tuple[Atom, int]]) -> tuple[Unit, ...]:
    return tuple(Unit(factor, Form(0, {atom: 1}), *scope.ranges[atom]) for atom, factor in terms)


class _Rest:
    """What of the form has not become a digit yet."""

    __slots__ = ("constant", "terms")

    def __init__(self, form: Form) -> None:
        self.constant = form.constant
        self.terms = dict(form.terms)

    def subtract(self, form: Form, factor: int) -> None:
        self.constant -= factor * form.constant
        accumulate(self.terms, form, -factor)

    def add_atom(self, atom: Atom, factor: int) -> None:
        total = self.terms.get(atom, 0) + factor
        if total:
            self.terms[atom] = total
        else:
            self.terms.pop(atom, None)


def _take_digit(
    scope: Scope,
    rest: _Rest,
    quotient: Atom,
    quotients: list[Atom],
    digits: list[Unit],
    *,
    exact: bool,
) -> bool:
    """Move a quotient's digit from the rest to the digits; tells whether the quotient is done."""
    factor = rest.terms.get(quotient)
    if factor is None:
        return True
    for chain_divisor in _chain(rest, quotient, quotients):
        source = scope.floordiv(quotient.numerator, chain_divisor)
        radix = quotient.divisor // chain_divisor
        weight = (
            _exact_weight(rest.terms, source, factor, radix)
            if exact
            else _common_weight(rest.terms, source)
        )
        if weight:
            rest.subtract(source, weight)
            rest.add_atom(quotient, weight * radix)
            digit = source.plus_atom(quotient, -radix)
            digits.append(Unit(weight, digit, 0, radix - 1, quotient, radix))
            return True
    return False


def _chain(rest: _Rest, quotient: Atom, quotients: list[Atom]) -> list[int]:
    """Divisors below the quotient's own for which a quotient is present, greatest first, and 1."""
    divisor = quotient.divisor
    below = {
        other.divisor
        for other in quotients
        if other.divisor < divisor and divisor % other.divisor == 0 and other in rest.terms
    }
    return [*sorted(below, reverse=True), 1]


def _exact_weight(terms: Mapping[Atom, int], source: Form, factor: int, radix: int) -> int:
    """The weight that makes the quotient vanish, if more atoms of the source cancel than appear.

    Else 0.
    """
    weight, remainder = divmod(-factor, radix)
    if remainder:
        return 0
    cancelled = sum(terms.get(atom) == weight * value for atom, value in source.terms.items())
    missing = sum(atom not in terms for atom in source.terms)
    return weight if cancelled > missing else 0


def _common_weight(terms: Mapping[Atom, int], source: Form) -> int:
    """How many times the whole source is contained; 0 if it is not."""
    weight = 0
    for atom, value in source.terms.items():
        contained = terms.get(atom)
        if contained is None:
            return 0
        if not weight:
            weight, remainder = divmod(contained, value)
            if remainder:
                return 0
        elif contained != weight * value:
            return 0
    return weight
