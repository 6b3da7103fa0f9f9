"""Constraints that other constraints imply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.simplify.normal_form import connected, scope_within
from simplifier.extraction.cost import cost_of_form
from simplifier.fixpoint import range_of
from simplifier.fixpoint import simplified as simplified_form

if TYPE_CHECKING:
    from indexing.domain import Constraint, Domain
    from indexing.simplify.normal_form import PreservedVariables
    from simplifier.canonical.scope import Scope


_MAX_COMPARED: Final = 12
"""Constraints that share variables are compared with all others: time grows with the square."""


def without_redundancy(domain: Domain, preserved: PreservedVariables) -> Domain:
    """The domain without implied constraints, and each other as small as the rest allows.

    The costliest constraint is looked at first.
    """
    if len(domain.constraints) <= 1 or domain.is_known_empty:
        return domain
    left: list[Constraint] = []
    for group in connected(preserved.hidden(domain.constraints)):
        if 1 < len(group) <= _MAX_COMPARED:
            needed = _needed(domain, group, preserved.facts)
            if needed is None:
                return domain.emptied()
            left += needed
        else:
            left += group
    return domain.with_constraints().constrained(preserved.shown(left))


def _needed(
    domain: Domain, group: list[Constraint], facts: tuple[Constraint, ...]
) -> list[Constraint] | None:
    """What is left of the group; ``None`` if it contradicts itself."""
    left = sorted(group, key=_cost_and_order)
    for constraint in left[::-1]:
        index = left.index(constraint)
        others = tuple(left[:index] + left[index + 1 :])
        scope = scope_within(domain, (*facts, *others))
        if scope.is_empty:
            return None
        left[index : index + 1] = _beside_others(scope, constraint)
    return left


def _cost_and_order(constraint: Constraint) -> tuple[object, ...]:
    return cost_of_form(constraint[0]), constraint[0].order


def _beside_others(scope: Scope, constraint: Constraint) -> list[Constraint]:
    """The constraint where the others hold; nothing if they imply it."""
    form, interval = constraint
    values = range_of(scope, form)
    if interval.contains(values):
        return []
    smaller = simplified_form(scope, form)
    if cost_of_form(smaller) >= cost_of_form(form):
        smaller = form
    return [(smaller, interval.intersect(values))]
