"""What is known of forms beyond the bounds of variables: constraints, made ready for ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier.form import Atom, Form, Kind, content
from simplifier.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simplifier.interval import Range
    from simplifier.scope import Scope


_ROUNDS: Final = 3
"""How often facts and bounds may sharpen each other."""


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

    def multiple_in(self, form: Form) -> int:
        """How many times the fact's form is contained in another; 0 if it is not."""
        multiple, remainder = divmod(form.terms.get(self.lead, 0), self.form.terms[self.lead])
        if remainder:
            return 0
        contained = all(
            form.terms.get(atom) == multiple * value for atom, value in self.form.terms.items()
        )
        return multiple if contained else 0

    def range_within(self, scope: Scope, form: Form, depth: int) -> Range:
        """The range of a form that contains a multiple of the fact's form."""
        multiple = self.multiple_in(form)
        low, high = self.ends if multiple > 0 else (self.ends[1], self.ends[0])
        lower, upper = scope.range_of(form.plus(self.form, -multiple), depth - 1)
        return lower + multiple * low, upper + multiple * high


def tightened(scope: Scope, facts: Sequence[Fact]) -> dict[str, Interval] | None:
    """Bounds of the scope's variables, narrowed by what each fact leaves to each of them.

    ``None`` if some variable has no value left: the facts contradict the bounds, or each other.
    """
    ranges = dict(scope.ranges)
    for _ in range(_ROUNDS):
        before = dict(ranges)
        for fact in facts:
            for atom in fact.form.terms:
                if atom.kind is Kind.VARIABLE:
                    left = _met(ranges[atom], _left_to(atom, fact, ranges))
                    if left[0] > left[1]:
                        return None
                    ranges[atom] = left
        if ranges == before:
            break
    variables = (atom for atom in ranges if atom.kind is Kind.VARIABLE)
    found = {atom.name: Interval.from_range(ranges[atom]) for atom in variables}
    return dict(scope.bounds) | found


def _met(old: Range, new: Range) -> Range:
    return max(old[0], new[0]), min(old[1], new[1])


def _left_to(atom: Atom, fact: Fact, ranges: Mapping[Atom, Range]) -> Range:
    """What a fact leaves to one of its atoms when all the others take any value."""
    lower, upper = fact.ends
    for other, factor in fact.form.terms.items():
        if other is not atom:
            low, high = ranges[other] if factor > 0 else ranges[other][::-1]
            lower, upper = lower - factor * high, upper - factor * low
    factor = fact.form.terms[atom]
    if factor < 0:
        lower, upper, factor = -upper, -lower, -factor
    return -(-lower // factor), upper // factor
