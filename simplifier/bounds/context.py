"""Context of a problem: bounds of variables, facts about forms, and the ranges found so far.

Ranges need quotients in canonical form, and the laws of canonical forms need ranges. So both work
in a :class:`Context`, which declares the canonical operations;
:class:`simplifier.canonical.scope.Scope` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from simplifier.bounds.interval import (
    EVERYTHING,
    INFINITY,
    NEGATIVE_INFINITY,
    End,
    Interval,
    Range,
    meet,
)
from simplifier.expr import form as forms
from simplifier.expr.form import FLOORDIV, VARIABLE, Atom, AtomKind, Form
from simplifier.laws.catalogue.ranges import DIVISOR_RANGE, FACT_RANGE
from simplifier.laws.rewrite_log import Recorder, RewriteLog

Made = TypeVar("Made")

Bounds: TypeAlias = "tuple[tuple[str, Interval], ...]"
"""Bounds of variables by name; a variable that is missing is unbounded."""

Constraint: TypeAlias = "tuple[Form, Interval]"
Constraints: TypeAlias = "tuple[Constraint, ...]"
"""Forms, and the intervals that they lie in."""

UNBOUNDED: Final[Range] = (NEGATIVE_INFINITY, INFINITY)


class Fact(NamedTuple):
    """The form lies in the range.

    The form is primitive: no constant, coefficients without a common factor, the first one
    positive. So one fact serves every multiple and every shift of it.
    """

    form: Form
    lead: Atom
    ends: Range

    @classmethod
    def of(cls, form: Form, ends: Range) -> Fact | None:
        """The fact that a canonical form lies in a range; ``None`` if the form is a constant."""
        if not form.terms:
            return None
        lead, first = next(iter(form.terms.items()))
        scale = forms.content(form)
        lower, upper = ends[0] - form.constant, ends[1] - form.constant
        if first < 0:
            scale = -scale
            lower, upper = upper, lower
        primitive = Form(0, {atom: value // scale for atom, value in form.terms.items()})
        return cls(primitive, lead, (-(lower // -scale), upper // scale))

    @property
    def value(self) -> int | None:
        """The only value of the form, where the fact is an equation."""
        lower, upper = self.ends
        return lower if isinstance(lower, int) and lower == upper else None

    @property
    def is_polynomial(self) -> bool:
        """Whether the form is a sum of variables and products of variables."""
        return all(map(variables_multiplied, self.form.terms))

    def numerators(self) -> Iterator[tuple[Form, Range]]:
        """``R + floor(N/c)`` in ``[l, u]`` is ``c*R + N`` in ``[c*l, c*u + c - 1]``; ``c > 0``."""
        for atom, factor in self.form.terms.items():
            if atom.kind is FLOORDIV and atom.divisor > 0 and factor in (1, -1):
                lower, upper = self.ends if factor > 0 else (-self.ends[1], -self.ends[0])
                rest, divisor = self.form.without(atom).times(factor * atom.divisor), atom.divisor
                yield rest.plus(atom.numerator), (lower * divisor, upper * divisor + (divisor - 1))

    def multiple_in(self, form: Form) -> int:
        """Number of times that the fact's form is contained in another; 0 if it is not."""
        return forms.common_weight(form.terms, self.form) if self.lead in form.terms else 0

    def multiples_near(self, form: Form) -> Iterator[int]:
        """Multiples of the fact's form, if it is a polynomial, that cancel some term of another."""
        found: dict[int, None] = {}
        for atom, value in self.form.terms.items():
            multiple, remainder = divmod(form.terms.get(atom, 0), value)
            if multiple and not remainder:
                found[multiple] = None
        return iter(found if found and self.is_polynomial else ())


def variables_multiplied(atom: Atom) -> tuple[Atom, ...]:
    """The variables that an atom is the product of, maybe one; empty if it is something else."""
    parts = forms.factors(atom)
    return parts if all(part.kind is VARIABLE for part in parts) else ()


@dataclass(eq=False, slots=True)
class Unit:
    """A part of a form that has one weight: an atom, or a digit.

    The digit ``L mod radix`` is ``L - radix * quotient``. The value lies in ``[lower, upper]``;
    ``quotient`` is ``None`` and ``radix`` 0 for an atom.
    """

    value: Form
    lower: End
    upper: End
    quotient: Atom | None = None
    radix: int = 0

    @property
    def source(self) -> Form:
        """The dividend of the digit; for an atom, itself."""
        return self.value.plus_atom(self.quotient, self.radix) if self.quotient else self.value

    @property
    def holds_quotient(self) -> bool:
        """Whether the unit is a quotient that belongs to no digit."""
        return self.quotient is None and any(atom.kind is FLOORDIV for atom in self.value.terms)


@dataclass(eq=False, slots=True)
class DigitView:
    """A form as ``constant + sum(weight * unit.value for weight, unit in units)``."""

    constant: int
    units: list[tuple[int, Unit]]

    def ends(self) -> Range:
        """Lowest and highest value, unit by unit."""
        lower: End = self.constant
        upper: End = self.constant
        for weight, unit in self.units:
            if weight > 0:
                lower, upper = lower + weight * unit.lower, upper + weight * unit.upper
            else:
                lower, upper = lower + weight * unit.upper, upper + weight * unit.lower
        return lower, upper


def term_by_term(ranges: Mapping[Atom, Range], form: Form) -> Range:
    """The range of a form by interval arithmetic; exact where the atoms are independent."""
    lower: End = form.constant
    upper: End = form.constant
    for atom, factor in form.terms.items():
        low, high = ranges[atom]
        if factor < 0:
            low, high = high, low
        lower = lower + factor * low
        upper = upper + factor * high
        if lower is NEGATIVE_INFINITY and upper is INFINITY:
            break
    return lower, upper


class Context(Recorder):
    """Bounds and facts, the ranges of atoms, and the canonical operations that a scope has."""

    # The operations of a scope.

    range_of: Callable[..., Range]
    """Lowest and highest value of a canonical form; the true range may be narrower."""
    view: Callable[[Form], DigitView]
    """The digits of a canonical form."""
    canonical: Callable[[Form], Form]
    """The canonical form that is equal on the domain."""
    single: Callable[[Form], Form]
    """The form as one term, which laws do not look into."""
    floordiv: Callable[[Form, int], Form]
    """``floor(numerator / divisor)`` for a divisor other than zero."""
    quotient_atom: Callable[[Form, int], Form]
    """A quotient in normal shape as an atom, or its only value."""
    quotient: Callable[[Form, Form], Form]
    """``floor(numerator / divisor)`` for any divisor."""
    mod: Callable[[Form, Form], Form]
    """``numerator - divisor * floor(numerator / divisor)``."""
    product: Callable[..., Form]
    """The product, multiplied out."""
    monomial: Callable[..., Atom]
    """The atom that multiplies atoms."""
    minimum: Callable[[Iterable[Form]], Form]
    """The least of canonical forms."""

    def __init__(self, bounds: Bounds, log: RewriteLog | None = None) -> None:
        self.log = log
        self.bounds = dict(bounds)
        self.facts: tuple[Fact, ...] = ()
        self.is_empty = False
        """Whether the constraints were seen to contradict the bounds or each other."""
        self.ranges: dict[Atom, Range] = {}
        """Ranges of all atoms that occur in canonical forms."""
        self.units: dict[Atom, Unit] = {}
        """The same atoms as units of digit views."""
        self._memories: dict[str, dict[Any, Any]] = {}

    def memory(self, name: str) -> dict[Any, Any]:
        """Results found in this context by name, such as the ``"results"``; empty at first."""
        return self._memories.setdefault(name, {})

    def once(self, make: Callable[[Any], Made]) -> Made:
        """The value of a function of this context, made at the first call."""
        made = self.memory("made")
        if make not in made:
            made[make] = make(self)
        return made[make]

    def remember(self, atom: Atom, ends: Range) -> Form:
        """The form of an atom, whose range is stored."""
        if atom not in self.ranges:
            for fact in self.facts:
                if fact.lead is atom and len(fact.form.terms) == 1:
                    self.used(FACT_RANGE)
                    ends = meet(ends, fact.ends)
            # The range last: another thread that finds it finds the unit, too.
            self.units[atom] = Unit(Form(0, {atom: 1}), *ends)
            self.ranges[atom] = ends
        return self.units[atom].value

    def variable_range(self, atom: Atom) -> Range:
        """The bounds of a variable."""
        interval = self.bounds.get(atom.name)
        return UNBOUNDED if interval is None else interval.ends

    def known_range(self, atom: Atom) -> Range:
        """The range of an atom, as far as it was found."""
        ends = self.ranges.get(atom)
        if ends is not None:
            return ends
        return self.variable_range(atom) if atom.kind is VARIABLE else UNBOUNDED

    def divisor_range(self, divisor: Form) -> Range:
        """The range of a divisor where a quotient by it is defined: zero is not one of its ends."""
        lower, upper = self.range_of(divisor)
        if lower == upper or (lower and upper):
            return lower, upper
        self.used(DIVISOR_RANGE)
        return lower or 1, upper or -1


# Conditions and assumptions as facts: forms, and the intervals that they lie in.


def facts_of(condition: Form) -> Constraints:
    """The facts in a condition; one that is no fact stays a condition, which is 1.

    A condition that is 1 by itself says nothing.

    >>> from simplifier.expr.text import parse_form
    >>> condition = parse_form("x < y and z mod 8 == 0 and not (x > 5 and y > 5)")
    >>> for form, interval in facts_of(condition):
    ...     print(form, "in", interval)
    x - y in [..., -1]
    z mod 8 in [0, 0]
    (x >= 6 and y >= 6) in [0, 0]
    """
    return tuple(_facts(condition, Interval(1, 1)))


def read_fact(form: Form, interval: Interval) -> Constraints:
    """A fact as it was given; a condition that is 0 or 1 becomes the fact that it states.

    >>> from simplifier.expr.text import parse_form
    >>> ((form, interval),) = read_fact(parse_form("x >= 5"), Interval(0, 0))
    >>> print(form, "in", interval)
    x in [..., 4]
    """
    return tuple(_facts(form, interval))


def assumed(known: Any) -> Interval:  # noqa: ANN401 - of sympy
    """The interval that assumptions leave to a symbol, an expression, or the values of a function.

    >>> import sympy
    >>> print(assumed(sympy.Symbol("n", positive=True)), assumed(sympy.Function("f")))
    [1, inf] [-inf, inf]
    """
    # What a function does not assume, its class has as a property, which is no answer but true.
    signs = (interval for sign, interval in _SIGNS.items() if getattr(known, sign, None) is True)
    return reduce(Interval.intersect, signs, EVERYTHING)


_SIGNS: Final = {
    "is_positive": Interval(1, None),
    "is_nonnegative": Interval(0, None),
    "is_negative": Interval(None, -1),
    "is_nonpositive": Interval(None, 0),
}
"""What an assumption of sympy says of a value."""


def _facts(form: Form, interval: Interval) -> Iterator[tuple[Form, Interval]]:
    if not form.terms and form.constant in interval:
        return
    if len(form.terms) != 1 or not interval.is_point or interval.lower is None:
        yield form, interval
        return
    ((atom, factor),) = form.terms.items()
    value, remainder = divmod(interval.lower - form.constant, factor)
    if atom.kind not in forms.CONDITIONS or remainder or value not in (0, 1):
        yield form, interval
    else:
        yield from _of_condition(atom, holds=value == 1)


def _of_condition(atom: Atom, *, holds: bool) -> Iterator[tuple[Form, Interval]]:
    if atom.kind is AtomKind.NONNEGATIVE:
        yield _compared(atom.arguments[0], Interval(0, None) if holds else Interval(None, -1))
    elif holds and atom.kind is AtomKind.ZERO:
        yield _compared(atom.arguments[0], Interval(0, 0))
    elif holds:
        for condition in atom.arguments:
            yield from _facts(condition, Interval(1, 1))
    else:
        if atom.kind is AtomKind.AND:
            yield from _of_branches(_facts(each, Interval(0, 0)) for each in atom.arguments)
        yield Form(0, {atom: 1}), Interval(0, 0)


def _of_branches(branches: Iterable[Iterable[tuple[Form, Interval]]]) -> Constraints:
    """Bounds from any branch for each form that all bound: ``x < 5 or x < 3``."""
    said = [_joined(branch) for branch in branches]
    shared = (form for form in said[0] if all(form in each for each in said))
    hulls = {form: reduce(Interval.union, (each[form] for each in said)) for form in shared}
    return tuple((form, hull) for form, hull in hulls.items() if hull != EVERYTHING)


def _joined(facts: Iterable[tuple[Form, Interval]]) -> dict[Form, Interval]:
    """The facts, one for each form."""
    joined: dict[Form, Interval] = {}
    for form, interval in facts:
        joined[form] = joined.get(form, EVERYTHING).intersect(interval)
    return joined


def _compared(difference: Form, interval: Interval) -> tuple[Form, Interval]:
    """The fact without a constant: ``x in [..., 4]``. The first coefficient is positive."""
    return difference.plus_constant(-difference.constant), interval - difference.constant
