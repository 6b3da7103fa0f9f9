"""Variables of one value that are kept in sight instead of being replaced by it.

To the simplifier each of them is a foreign term, of which it knows nothing but the range: the laws
apply, but the term itself stays a term.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.domain import substituted_constraints
from simplifier import symbol
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indexing.domain import Constraint, Domain
    from simplifier.expr.form import Atom, Form


class Kept(NamedTuple):
    """The foreign terms that stand for variables, by place, and their values."""

    terms: Mapping[str, Form]
    facts: tuple[Constraint, ...]

    @classmethod
    def of(cls, domain: Domain) -> Kept:
        """Terms for all variables of a domain that have one value."""
        points = {place: bounds for place, bounds in domain.bounds.items() if bounds.is_point}
        terms = {place: forms.opaque(place, symbol(place)) for place in points}
        return cls(terms, tuple((terms[place], bounds) for place, bounds in points.items()))

    def hidden(self, constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """Constraints with the terms in place of the variables."""
        constraints = tuple(constraints)
        return (
            tuple(substituted_constraints(constraints, self.terms)) if self.terms else constraints
        )

    def shown(self, constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """Constraints with the variables in place of the terms."""
        return tuple((self.form_shown(form), interval) for form, interval in constraints)

    def form_hidden(self, form: Form) -> Form:
        """The form with the terms in place of the variables."""
        return operations.substitute((form,), self.terms)[0] if self.terms else form

    def form_shown(self, form: Form) -> Form:
        """The form with the variables in place of the terms."""
        return operations.replace(form, self._variables) if self.terms else form

    @property
    def _variables(self) -> dict[Atom, Form]:
        return {
            atom: forms.variable(place) for place, term in self.terms.items() for atom in term.terms
        }


NOTHING: Final = Kept({}, ())
