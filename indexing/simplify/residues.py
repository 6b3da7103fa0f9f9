"""Constraints on remainders: the residues that they leave a form.

Residues of one form by several divisors are combined by the Chinese remainder theorem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd, lcm
from typing import TYPE_CHECKING

from simplifier import Interval
from simplifier.bounds.interval import Infinity
from simplifier.expr import operations
from simplifier.expr.form import ZERO, AtomKind, Form, constant, content, in_order
from simplifier.extraction.cost import cost_of_form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.domain import Constraint
    from simplifier.bounds.context import Fact
    from simplifier.bounds.interval import Range
    from simplifier.canonical.scope import Scope


@dataclass(frozen=True, slots=True)
class Residues:
    """``form mod modulus`` is one of ``count`` consecutive residues from ``first`` on, cyclically.

    The form has no constant, and ``count`` is less than the modulus; it is 0 for a contradiction.
    """

    form: Form
    modulus: int
    first: int
    count: int

    @classmethod
    def of(cls, scope: Scope, fact: Fact) -> Residues | None:
        """The residues that a fact about a single digit leaves.

        ``(A floordiv g) mod n`` in ``[l, u]`` is ``A mod (g*n)`` in ``[g*l, g*u + g - 1]``.
        """
        view = scope.view(fact.form)
        if len(view.units) != 1 or (quotient := view.units[0][1].quotient) is None:
            return None
        weight, digit = view.units[0]
        # The form is primitive: the weight is 1 or -1.
        lower, upper = ((end - view.constant) * weight for end in fact.ends[::weight])
        values = Interval.from_range((lower, upper)).intersect(Interval(0, digit.radix - 1))
        if values.is_empty or values.lower is None or values.upper is None:
            return None
        group = quotient.divisor // digit.radix
        first = group * values.lower - quotient.numerator.constant
        form = quotient.numerator.plus_constant(-quotient.numerator.constant)
        count = group * (values.upper - values.lower + 1)
        return cls(form, quotient.divisor, first % quotient.divisor, count).scaled()

    @classmethod
    def as_written(cls, constraint: Constraint) -> Residues | None:
        """The residue that a constraint on ``N mod c + b`` leaves, if it leaves one or none.

        Divides by the common factor of ``c`` and the terms of ``N``. ``None`` for any other
        constraint, and if the modulus becomes 1.
        """
        form, interval = constraint
        if [*form.terms.values()] != [1]:
            return None
        (atom,) = form.terms
        if atom.kind is not AtomKind.MOD or atom.divisor < 1:
            return None
        values = (interval - form.constant).intersect(Interval(0, atom.divisor - 1))
        if not (values.is_empty or values.is_point):
            return None
        numerator = atom.numerator
        common = gcd(content(numerator), atom.divisor)
        residue = (values.lower or 0) - numerator.constant
        modulus = atom.divisor // common
        if modulus == 1:
            return None
        if values.is_empty or residue % common:
            return cls(ZERO, 1, 0, 0)
        bare = numerator.plus_constant(-numerator.constant).exactly_divided(common)
        return cls(bare, modulus, residue // common % modulus, 1).scaled()

    def __contains__(self, value: int) -> bool:
        return (value - self.first) % self.modulus < self.count

    @property
    def is_single(self) -> bool:
        """Whether one residue is left."""
        return self.count == 1

    @property
    def last(self) -> int:
        """The last residue, counted on from the first."""
        return self.first + self.count - 1

    @property
    def cost(self) -> int:
        """The cost of the constraint."""
        return cost_of_form(self.constraint[0])

    @property
    def constraint(self) -> Constraint:
        """The residues as a constraint; if they wrap around 0, a constant is added."""
        start = self.first if self.last < self.modulus else 0
        form = self.form.plus_constant((start - self.first) % self.modulus)
        remainder = operations.mod(form, constant(self.modulus))
        return remainder, Interval(start, start + self.count - 1)

    def constraint_within(self, values: Range) -> Constraint:
        """The constraint on a form with these values: an interval of it if that says the same."""
        lower, upper = self.within(values)
        if isinstance(lower, Infinity) or isinstance(upper, Infinity):
            return self.constraint
        are_neighbours = (lower - self.first) % self.modulus + upper - lower < self.count
        return (self.form, Interval(lower, upper)) if are_neighbours else self.constraint

    def from_value(self, value: int) -> int:
        """The least number with such a residue that is not less than a value."""
        ahead = (self.first - value) % self.modulus
        return value if value in self else value + ahead

    def to_value(self, value: int) -> int:
        """The greatest number with such a residue that is not greater than a value."""
        return value if value in self else value - (value - self.last) % self.modulus

    def scaled(self) -> Residues:
        """The same constraint on the cheapest multiple: ``b*A = r`` is ``A = r/b`` modulo ``c``.

        Only a single residue can be multiplied, by a number that has an inverse.
        """
        if not self.is_single or self.form.single_variable():
            return self
        units = [factor for factor in self.form.terms.values() if gcd(factor, self.modulus) == 1]
        inverses = [pow(sign * unit, -1, self.modulus) for unit in units for sign in (1, -1)]
        return min((self, *map(self._times, inverses)), key=Residues._rank)

    def _rank(self) -> tuple[object, ...]:
        factors = [*self.form.terms.values()]
        negative = sum(factor < 0 for factor in factors)
        return cost_of_form(self.form), negative, factors[0] < 0, self.form.order

    def _times(self, unit: int) -> Residues:
        form = _symmetric(self.form.times(unit), self.modulus)
        return Residues(form, self.modulus, self.first * unit % self.modulus, 1)

    def negated(self) -> Residues:
        """The same constraint on the negative form."""
        return Residues(-self.form, self.modulus, -self.last % self.modulus, self.count)

    def modulo(self, modulus: int) -> Residues:
        """The residues by a divisor of the modulus."""
        return Residues(self.form, modulus, self.first % modulus, min(self.count, modulus))

    def about(self, form: Form) -> Residues | None:
        """The same constraint on a form that is congruent to this one or its negative."""
        if form.terms.keys().isdisjoint(self.form.terms):
            return None
        for each in (self, self.negated()):
            if _are_congruent(form, each.form, self.modulus):
                return replace(each, form=form)
        return None

    def within(self, ends: Range) -> Range:
        """The ends of an interval of the form, moved inwards to numbers with such residues."""
        lower, upper = ends
        if not isinstance(lower, Infinity):
            lower = self.from_value(lower)
        if not isinstance(upper, Infinity):
            upper = self.to_value(upper)
        return lower, upper


def _symmetric(form: Form, modulus: int) -> Form:
    """The form modulo a number, with coefficients as near to 0 as can be and no constant."""
    half = (modulus - 1) // 2
    terms = {atom: (value + half) % modulus - half for atom, value in form.terms.items()}
    return Form(0, {atom: value for atom, value in terms.items() if value})


def _are_congruent(left: Form, right: Form, modulus: int) -> bool:
    return not _symmetric(left.plus(right, -1), modulus).terms


# Several residues.


def merged(residues: Iterable[Residues]) -> list[Residues] | None:
    """Fewer constraints that say the same, in normal order; ``None`` for a contradiction."""
    pending = sorted(set(residues), key=_order, reverse=True)
    done: list[Residues] = []
    while pending:
        one = pending.pop()
        if one.count == 0:
            return None
        for other in done:
            combined = _combined(one, other)
            if combined is not None:
                done.remove(other)
                pending += combined
                break
        else:
            done.append(one)
    return sorted(done, key=_order)


def _order(one: Residues) -> tuple[object, ...]:
    return one.modulus, one.form.order, one.first, one.count


def _combined(one: Residues, other: Residues) -> list[Residues] | None:
    """Fewer or smaller residues that say the same as these two; ``None`` if none are found."""
    if one.is_single and other.is_single:
        return _by_chinese_remainders(one, other) or _by_chinese_remainders(one, other.negated())
    if one.form == other.form:
        return _intersected(one, other) or _intersected(other, one)
    return None


def _by_chinese_remainders(one: Residues, other: Residues) -> list[Residues] | None:
    """``A`` modulo ``b`` and ``A`` modulo ``c`` are ``A`` modulo their least common multiple.

    ``A`` need not be the same form, only the same modulo ``b`` here, and modulo ``c`` there.
    """
    common, modulus = gcd(one.modulus, other.modulus), lcm(one.modulus, other.modulus)
    are_alike = one.form.terms.keys() == other.form.terms.keys()
    if not (are_alike or common > 1) or not _are_congruent(one.form, other.form, common):
        return None
    if (one.first - other.first) % common:
        return [replace(one, count=0)]
    if not are_alike and modulus not in (one.modulus, other.modulus):
        return None
    inverse = pow(one.modulus // common, -1, other.modulus // common)

    def meet(here: int, there: int) -> int:
        return here + (there - here) // common * inverse * one.modulus

    terms = {
        atom: meet(one.form.terms.get(atom, 0), other.form.terms.get(atom, 0))
        for atom in (one.form.terms | other.form.terms)
    }
    form = _symmetric(Form(0, in_order(terms)), modulus)
    both = Residues(form, modulus, meet(one.first, other.first) % modulus, 1).scaled()
    return [both] if both.cost < one.cost + other.cost else None


def _intersected(one: Residues, other: Residues) -> list[Residues] | None:
    """The first without what the other excludes at its ends; one of them if that is enough."""
    common = gcd(one.modulus, other.modulus)
    known = other.modulo(common)
    if known.count == common:
        return None
    first, last = known.from_value(one.first), known.to_value(one.last)
    left = replace(one, first=first % one.modulus, count=max(last - first + 1, 0))
    if known.from_value(last + 1) >= first + one.modulus:
        return [other]
    if other.modulus == common and (first - known.first) % common + left.count <= known.count:
        return [left]
    return None if left == one else [left, other]
