"""What isl can still make of a simplified map: exact bounds, fewer constraints, smaller results.

A step that takes more than its budget is left out; what the other steps find is kept.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexing.simplify.domain import simplified_domain
from indexing.simplify.results import simplified
from simplifier.canonical.scope import scope_of
from simplifier.exact import BudgetError, exact_range
from simplifier.exact.improve import finished as finished_form
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from indexing.domain import Constraint, Domain
    from indexing.relation import RelationT
    from simplifier.expr.form import Form


def finished(
    indexing_map: RelationT, budget: int | None, *, preserve_size_one: bool = False
) -> RelationT:
    """The same relation with bounds and constraints as sharp as they can be, and what follows.

    Every bound of a variable is reached by some point, no constraint is implied by the others, and
    results are simplified by isl.

    Raises:
        NotQuasiAffineError: a product of variables, or a divisor that is not a constant.
    """
    finish = _Finish(budget, preserve_size_one)
    smallest = simplified(indexing_map, preserve_size_one=preserve_size_one)
    domain = finish.domain(smallest.domain)
    sharper = smallest.derived(smallest.forms, domain)
    if domain.is_known_empty:
        return sharper
    begun = simplified(sharper, preserve_size_one=preserve_size_one)
    return indexing_map.derived(
        (finish.form(form, domain, domain.constraints) for form in begun.forms), domain
    )


class _Finish(NamedTuple):
    """How to finish: operations of isl for each attempt, and what to keep in sight."""

    budget: int | None
    preserve_size_one: bool

    def form(self, form: Form, domain: Domain, constraints: tuple[Constraint, ...]) -> Form:
        """The form as small as isl finds it where the constraints hold.

        To isl a variable that is kept may have any value, so that it is not replaced by one.
        """
        bounds = {
            place: bounds
            for place, bounds in domain.bounds.items()
            if not (self.preserve_size_one and bounds.is_point)
        }
        scope = scope_of(tuple(bounds.items()), constraints)
        return finished_form(scope, form, bounds, constraints, self.budget)

    def domain(self, domain: Domain) -> Domain:
        """Bounds and constraints sharpen each other until nothing changes."""
        while domain.constraints and not domain.is_known_empty:
            sharper = self._without_redundancy(self._tightened(domain))
            if sharper == domain:
                break
            domain = sharper
        return domain

    def _simplified(self, domain: Domain) -> Domain:
        return simplified_domain(domain, preserve_size_one=self.preserve_size_one)

    def _tightened(self, domain: Domain) -> Domain:
        """Each variable within its least and greatest value."""
        narrowed: list[Constraint] = []
        for place in domain.places:
            with suppress(BudgetError):
                variable = forms.variable(place)
                values = exact_range(variable, domain.bounds, domain.constraints, self.budget)
                narrowed.append((variable, values))
        return self._simplified(domain.constrained(narrowed))

    def _without_redundancy(self, domain: Domain) -> Domain:
        """Each constraint as small as the others allow; none that they imply."""
        for constraint in domain.constraints:
            others = tuple(other for other in domain.constraints if other != constraint)
            with suppress(BudgetError):
                needed = self._needed(domain, constraint, others)
                domain = replace(domain, constraints=others).constrained(needed)
        return self._simplified(domain)

    def _needed(
        self, domain: Domain, constraint: Constraint, others: tuple[Constraint, ...]
    ) -> list[Constraint]:
        """The constraint where the others hold, if they do not imply it."""
        form, interval = constraint
        values = exact_range(form, domain.bounds, others, self.budget)
        if interval.contains(values):
            return []
        return [(self.form(form, domain, others), interval.intersect(values))]
