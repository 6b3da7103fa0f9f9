"""What is known of forms beyond the bounds of variables: constraints, made ready for ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simplifier.expr.form import Atom, Form, Kind, content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simplifier.bounds.interval import End, Range
    from simplifier.canonical.scope import Scope


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
        scale = content(form)
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

    def multiple_in(self, form: Form) -> int:
        """How many times the fact's form is contained in another; 0 if it is not."""
        multiple, remainder = divmod(form.terms.get(self.lead, 0), self.form.terms[self.lead])
        if remainder:
            return 0
        contained = all(
            form.terms.get(atom) == multiple * value for atom, value in self.form.terms.items()
        )
        return multiple if contained else 0

    def multiples_near(self, form: Form) -> Iterator[int]:
        """Multiples of the fact's form, if it is affine, that cancel some term of another."""
        found: dict[int, None] = {}
        if any(atom.kind is not Kind.VARIABLE for atom in self.form.terms):
            return iter(found)
        for atom, value in self.form.terms.items():
            multiple, remainder = divmod(form.terms.get(atom, 0), value)
            if multiple and not remainder:
                found[multiple] = None
        return iter(found)

    def range_within(self, scope: Scope, form: Form, multiple: int, depth: int) -> Range:
        """The range of a form, read as a multiple of the fact's form and the rest."""
        low, high = self.ends if multiple > 0 else (self.ends[1], self.ends[0])
        lower, upper = scope.range_of(form.plus(self.form, -multiple), depth - 1)
        return lower + multiple * low, upper + multiple * high


def digit_range(facts: Iterable[Fact], digit: Form, radix: int) -> Range:
    """``L mod radix`` is from 0 to ``radix - 1``, or what facts say of it."""
    lower: End = 0
    upper: End = radix - 1
    for fact in facts:
        multiple = fact.multiple_in(digit)
        if multiple and len(fact.form.terms) == len(digit.terms):
            low, high = fact.ends if multiple > 0 else fact.ends[::-1]
            lower = max(lower, digit.constant + multiple * low)
            upper = min(upper, digit.constant + multiple * high)
    return lower, upper
