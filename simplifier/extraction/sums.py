"""The expanded form: a canonical form as a sum of products of digits, whatever that costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from simplifier.bounds.digits import factors
from simplifier.canonical.scope import Scope
from simplifier.expr import operations
from simplifier.expr.form import FLOORDIV, ONE, Atom, Form, in_order, weighted_sum
from simplifier.extraction import DigitWriter
from simplifier.extraction.cost import operator_count_of_form
from simplifier.extraction.natural import natural_reading
from simplifier.laws.rewrite_log import Rewrite
from simplifier.limits import MAX_EXPANDED

_Factors: TypeAlias = tuple[Atom, ...]


def expanded(scope: Scope, form: Form) -> Form | None:
    """A form as a sum of products of digits; equal for forms with one canonical form.

    ``None`` if that is too long.

    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> print(expanded(scope_of(()), parse_form("(x mod 8 + y) * (s + 1) - (x floordiv 8) * 8")))
    (x mod 8) * s + s * y + x mod 8 + y - (x floordiv 8) * 8
    """
    found = scope.once(_SumWriter).written(scope.canonical(form))
    return found if operator_count_of_form(found) <= MAX_EXPANDED else None


class _SumWriter(DigitWriter):
    """Writes sums by their digits, also those that are multiplied by common factors."""

    def _log(self, steps: Sequence[Rewrite]) -> None:
        """Nothing: the steps of a trace lead to the cheapest form."""

    def _steps(self, form: Form) -> Sequence[Rewrite]:
        written, seen = self._by_digits(form), set[_Factors]()
        while sums := {each: s for each, s in self._sums(written).items() if each not in seen}:
            common = max(sums, key=len)  # what is left over joins the sum without products
            seen.add(common)
            change = self._by_digits(sums[common]).plus(sums[common], -1)
            written = written.plus(_multiplied(change, common))
        return (Rewrite((), form, written),)

    def _by_digits(self, form: Form) -> Form:
        """The sum with as many digits as make it no longer."""
        steps = natural_reading(self.scope, form, lambda source, _: source)
        readings = [form, *(step.after for step in steps)]
        return min(reversed(readings), key=lambda each: len(each.terms) + bool(each.constant))

    def _sums(self, form: Form) -> dict[_Factors, Form]:
        """What is multiplied by the same factors, for all factors beside one."""
        found: dict[_Factors, dict[Atom, int]] = {}
        for atom, weight in form.terms.items():
            parts = factors(atom)
            for place, part in enumerate(parts):
                if part in self.scope.ranges:  # digits as they are written are not read again
                    found.setdefault((*parts[:place], *parts[place + 1 :]), {})[part] = weight
        return {common: Form(0, in_order(terms)) for common, terms in found.items()}

    def _operation(self, atom: Atom) -> Form:
        """Multiples of the divisor leave a dividend whose digits are written."""
        whole = super()._operation(atom)
        division = whole.only_atom
        if division is None or division.divisor <= 0:
            return whole
        dividend, divisor = division.numerator, division.divisor
        left = {each: n // divisor for each, n in dividend.terms.items() if n % divisor == 0}
        rest = operations.build(
            division.kind, (dividend.plus(Form(0, left), -divisor), division.arguments[1])
        )
        return rest.plus(Form(0, left)) if division.kind is FLOORDIV else rest


def _multiplied(form: Form, common: _Factors) -> Form:
    """The form times factors, term by term."""
    beside = [Form(0, {atom: 1}) for atom in common]
    terms = [(weight, Form(0, {atom: 1})) for atom, weight in form.terms.items()]
    parts = [*terms, (form.constant, ONE)]
    return weighted_sum((weight, operations.product([part, *beside])) for weight, part in parts)
