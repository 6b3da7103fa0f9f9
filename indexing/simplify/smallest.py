"""The smallest form of a map: bounds and constraints first, then results with these as facts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexing.simplify.normal_form import NOTHING, Kept, connected, scope_with_facts, scope_within
from indexing.simplify.tightening import simplified_domain
from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.exact import BudgetError, exact_range
from simplifier.exact.improve import finished as finished_form
from simplifier.expr import form as forms
from simplifier.fixpoint import range_of
from simplifier.fixpoint import simplified as simplified_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexing.domain import Constraint, Domain
    from indexing.relation import Relation, RelationT
    from simplifier.expr.form import Form


def simplified(indexing_map: RelationT, *, preserve_size_one: bool = False) -> RelationT:
    """The same relation with simplified bounds, constraints and results; perhaps the map itself.

    Variables of one value are kept in sight, if wanted.
    """
    if preserve_size_one:
        return _simplified(indexing_map, preserve_size_one=True)
    return indexing_map.in_simplest_form(_simplified)


def _simplified(indexing_map: RelationT, *, preserve_size_one: bool = False) -> RelationT:
    domain = simplified_domain(indexing_map.domain, preserve_size_one=preserve_size_one)
    forms = indexing_map.forms
    if not domain.is_known_empty:
        kept = Kept.of(domain) if preserve_size_one else NOTHING
        forms = tuple(map(kept.form_shown, _simplified_forms(domain, kept, forms)))
    smallest = indexing_map.derived(forms, domain)
    return indexing_map if smallest == indexing_map else smallest


def _simplified_forms(domain: Domain, kept: Kept, forms: tuple[Form, ...]) -> Iterator[Form]:
    """Each form where those constraints hold that matter to it, with terms for what is kept."""
    groups = connected(kept.hidden(domain.constraints))
    for form in map(kept.form_hidden, forms):
        telling = [constraint for group in groups if tells(group, form) for constraint in group]
        yield simplified_form(scope_within(domain, (*kept.facts, *telling)), form)


def result_bounds(indexing_map: Relation) -> tuple[Interval, ...]:
    """An interval for each result that holds all its values."""
    if indexing_map.is_known_empty:
        return tuple(Interval(0, -1) for _ in indexing_map.forms)
    scope = scope_with_facts(indexing_map.domain)
    return tuple(range_of(scope, form) for form in indexing_map.forms)


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
            identifier: bounds
            for identifier, bounds in domain.bounds.items()
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
        for identifier in domain.identifiers:
            with suppress(BudgetError):
                variable = forms.variable(identifier)
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


def tells(group: Iterable[Constraint], form: Form) -> bool:
    """Whether the simplest form may be another where a group of constraints in normal shape holds.

    A variable stays as it is: what it is bounded by is known. So does any affine form, where
    constraints are affine, too, and no equations.
    """
    if form.single_variable() is not None:
        return False
    if form.is_affine and all(_is_plain(constraint) for constraint in group):
        return False
    names = {*forms.variables_of([form])}
    return not names.isdisjoint(forms.variables_of(limited for limited, _ in group))


def _is_plain(constraint: Constraint) -> bool:
    return constraint[0].is_affine and not constraint[1].is_point
