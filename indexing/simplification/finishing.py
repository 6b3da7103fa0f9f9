"""What isl can still make of a simplified map: exact bounds, fewer constraints, smaller results.

A step that takes more than its budget is left out; what the other steps find is kept.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.map import IndexingMap
from indexing.simplification.domains import scope_with_facts, simplified_domain
from simplifier import form as forms
from simplifier.exact import BudgetError, exact_range
from simplifier.exact.finishing import finished as finished_form
from simplifier.scope import scope_of

if TYPE_CHECKING:
    from indexing.domain import Constraint, Domain


def finished(indexing_map: IndexingMap, budget: int | None) -> IndexingMap:
    """The same relation with bounds and constraints as sharp as they can be, and what follows.

    Every bound of a variable is reached by some point, no constraint is implied by the others, and
    results are simplified by isl.

    Raises:
        NotQuasiAffineError: a product of variables, or a divisor that is not a constant.
    """
    domain = _finished_domain(indexing_map.domain, budget)
    if domain.is_known_empty:
        return IndexingMap.from_forms(indexing_map.forms, domain)
    scope = scope_with_facts(domain)
    return IndexingMap.from_forms(
        (
            finished_form(scope, form, domain.bounds, domain.constraints, budget)
            for form in indexing_map.forms
        ),
        domain,
    )


def _finished_domain(domain: Domain, budget: int | None) -> Domain:
    """Bounds and constraints sharpen each other until nothing changes."""
    while domain.constraints and not domain.is_known_empty:
        sharper = _without_redundancy(_tightened(domain, budget), budget)
        if sharper == domain:
            break
        domain = sharper
    return domain


def _tightened(domain: Domain, budget: int | None) -> Domain:
    """Each variable within its least and greatest value."""
    narrowed: list[Constraint] = []
    for place in domain.places:
        with suppress(BudgetError):
            variable = forms.variable(place)
            values = exact_range(variable, domain.bounds, domain.constraints, budget)
            narrowed.append((variable, values))
    return simplified_domain(domain.constrained(narrowed))


def _without_redundancy(domain: Domain, budget: int | None) -> Domain:
    """Each constraint as small as the others allow; none that they imply."""
    for constraint in domain.constraints:
        others = tuple(other for other in domain.constraints if other != constraint)
        with suppress(BudgetError):
            needed = _needed(domain, constraint, others, budget)
            domain = replace(domain, constraints=others).constrained(needed)
    return simplified_domain(domain)


def _needed(
    domain: Domain, constraint: Constraint, others: tuple[Constraint, ...], budget: int | None
) -> list[Constraint]:
    """The constraint where the others hold, if they do not imply it."""
    form, interval = constraint
    values = exact_range(form, domain.bounds, others, budget)
    if interval.contains(values):
        return []
    scope = scope_of(tuple(domain.bounds.items()), others)
    smaller = finished_form(scope, form, domain.bounds, others, budget)
    return [(smaller, interval.intersect(values))]
