"""Constraints that are equations are solved: an equal problem has one variable less.

``x mod c = r`` is ``x = c*q + r`` for a new variable ``q``, which is ``x floordiv c``; ``x - 16*y =
3`` is ``x = 16*y + 3``. In the smaller problem every law applies to what used to be ``x``; what it
comes to there is restored afterwards. Residues of one variable by several divisors meet by
themselves, as in the Chinese remainder theorem: the second congruence is one of ``q``.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from simplifier.bounds.interval import Interval
from simplifier.expr import operations
from simplifier.expr.form import (
    Atom,
    Form,
    Kind,
    combine,
    constant,
    postorder,
    variable,
    variables_of,
)
from simplifier.laws.catalogue.constraints import CONGRUENCE, EQUATION, INVERSE, RESIDUE, RESTORED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simplifier.bounds.facts import Fact
    from simplifier.laws.law import Law

_MARK = "\0"
"""Ends the names of quotients, so that nobody else's variable is called so."""


class Quotient(NamedTuple):
    """A variable that stands for ``floor(numerator/divisor)``, where the remainder is known."""

    atom: Atom
    numerator: Form
    divisor: int
    remainder: int

    @classmethod
    def of(cls, numerator: Form, divisor: int, remainder: int) -> Quotient:
        """The quotient of a numerator that is ``remainder`` modulo the divisor."""
        name = numerator.single_variable() or numerator
        (atom,) = variable(f"{name} floordiv {divisor}{_MARK}").terms
        return cls(atom, numerator, divisor, remainder)

    def restored(self, factor: int) -> Form:
        """``factor`` times the quotient: of the numerator, or of a quotient by less, if possible.

        With ``N = c*q + r``: ``k*q`` is ``(k/c)*(N - r)`` where ``c`` divides ``k``, and
        ``floor(N/(c/k)) - floor(r/(c/k))`` where ``k`` divides ``c``.
        """
        numerator, divisor, remainder = self.numerator, self.divisor, self.remainder
        if factor % divisor == 0:
            return numerator.plus_constant(-remainder).times(factor // divisor)
        if divisor % factor:
            return operations.floordiv(numerator, constant(divisor)).times(factor)
        smaller = divisor // abs(factor)
        whole = operations.floordiv(numerator, constant(smaller))
        return whole.plus_constant(-(remainder // smaller)).times(1 if factor > 0 else -1)


class Solution(NamedTuple):
    """A variable, and what it is in terms of others; the quotient may be one of these."""

    unknown: Atom
    value: Form
    laws: tuple[Law, ...]
    quotient: Quotient | None = None

    def substituted(self, form: Form) -> Form:
        """The form with the value in place of the unknown."""
        return operations.replace(form, {self.unknown: self.value})

    def laws_for(self, form: Form) -> tuple[Law, ...]:
        """Why a form of the smaller problem is equal to what it is restored to."""
        return self.laws if self.restored(form) == form else (*self.laws, RESTORED)

    def restored(self, form: Form) -> Form:
        """The form with what the quotient stands for."""
        quotient = self.quotient
        if quotient is None:
            return form
        values: dict[Atom, Form] = {}
        for atom in postorder((form,)):
            if atom is not quotient.atom:
                arguments = tuple(_combined(part, values, quotient) for part in atom.arguments)
                values[atom] = operations.rebuilt(atom, arguments)
        return _combined(form, values, quotient)


def _combined(form: Form, values: dict[Atom, Form], quotient: Quotient) -> Form:
    factor = form.terms.get(quotient.atom, 0)
    rest = combine(form.without(quotient.atom), values)
    return rest.plus(quotient.restored(factor)) if factor else rest


def solution(facts: Iterable[Fact], bounds: dict[str, Interval]) -> Solution | None:
    """What the first equation that can be solved says of one variable.

    Of all variables it can be solved for an unbounded one is taken, if there is one.
    """
    for fact in facts:
        if fact.value is not None:
            found = [*_by_itself(fact.form, fact.value), *_by_residues(fact.form, fact.value)]
            if found:
                return min(found, key=lambda each: _ends(bounds, each.unknown))
    return None


def _ends(bounds: dict[str, Interval], atom: Atom) -> int:
    """How many ends the bounds of a variable have."""
    interval = bounds.get(atom.name, Interval(None, None))
    return (interval.lower is not None) + (interval.upper is not None)


def _unknowns(form: Form) -> Iterator[Atom]:
    """Variables that have a coefficient of 1 or -1 and occur nowhere else; the last ones first."""
    nested = set(variables_of(argument for atom in form.terms for argument in atom.arguments))
    for atom, factor in reversed(form.terms.items()):
        if atom.kind is Kind.VARIABLE and factor in (1, -1) and atom.name not in nested:
            yield atom


def _by_itself(form: Form, value: int) -> Iterator[Solution]:
    """``x + B = v`` is ``x = v - B``."""
    for atom in _unknowns(form):
        rest = form.without(atom).plus_constant(-value)
        yield Solution(atom, rest.times(-form.terms[atom]), (EQUATION,))


def _by_residues(form: Form, value: int) -> Iterator[Solution]:
    """``c*A + N = v`` says that ``N`` is ``v`` modulo ``c``."""
    divisors = sorted({abs(factor) for factor in form.terms.values()} - {1}, reverse=True)
    for divisor in divisors:
        terms = {atom: factor for atom, factor in form.terms.items() if factor % divisor}
        found = list(_by_residue(Form(0, terms), divisor, value % divisor))
        if found:
            yield from found
            return


def _by_residue(form: Form, divisor: int, remainder: int) -> Iterator[Solution]:
    """``N`` is ``c*q + r``; where ``b*x`` is ``r`` modulo ``c``, ``x`` is ``r/b`` modulo ``c``."""
    if len(form.terms) == 1:
        ((atom, factor),) = form.terms.items()
        common = gcd(factor, divisor)
        if atom.kind is Kind.VARIABLE and remainder % common == 0:
            modulus = divisor // common
            inverse = pow(factor // common, -1, modulus)
            itself, residue = Form(0, {atom: 1}), remainder // common * inverse
            laws = (RESIDUE, CONGRUENCE) if factor == 1 else (RESIDUE, INVERSE, CONGRUENCE)
            yield _with_quotient(atom, itself, modulus, residue, laws)
        return
    for atom in _unknowns(form):
        yield _with_quotient(atom, form, divisor, remainder, (RESIDUE, CONGRUENCE))


def _with_quotient(
    atom: Atom, numerator: Form, divisor: int, remainder: int, laws: tuple[Law, ...]
) -> Solution:
    quotient = Quotient.of(numerator, divisor, remainder % divisor)
    value = Form(quotient.remainder, {quotient.atom: divisor}).plus(numerator.without(atom), -1)
    return Solution(atom, value.times(numerator.terms[atom]), laws, quotient)
