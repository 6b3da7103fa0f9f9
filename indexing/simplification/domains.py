"""The domain of a map: bounds and constraints sharpen each other until nothing changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from indexing.simplification.constraints import normal, spelled
from indexing.simplification.residues import Residues, merged
from simplifier import Interval
from simplifier import form as forms
from simplifier.cost import cost_of_form
from simplifier.scope import Scope, scope_of
from simplifier.settling import range_of
from simplifier.settling import simplified as simplified_form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.domain import Constraint, Domain
    from simplifier.facts import Fact
    from simplifier.form import Form

_ROUNDS: Final = 16
"""Bounds and constraints sharpen each other at most this often; what is left is still right."""


def scope_with_facts(domain: Domain) -> Scope:
    """The scope in which the domain's bounds and constraints hold."""
    return _scope(domain, domain.constraints)


def simplified_domain(domain: Domain) -> Domain:
    """The same points with sharper bounds, and only the constraints that bounds do not imply."""
    for _ in range(_ROUNDS if domain.constraints else 0):
        sharper = _without_redundancy(_normal(_tightened(domain)))
        if sharper == domain:
            break
        domain = sharper
    return domain


def _scope(domain: Domain, constraints: tuple[Constraint, ...] = ()) -> Scope:
    return scope_of(tuple(domain.bounds.items()), constraints)


def _tightened(domain: Domain) -> Domain:
    """Bounds narrowed by what constraints leave to single variables."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = scope_with_facts(domain)
    if scope.is_empty:
        return domain.emptied()
    return domain.constrained(
        (forms.variable(place), scope.bounds[place]) for place in domain.places
    )


# Each constraint for itself, and remainders together.


def _normal(domain: Domain) -> Domain:
    """Constraints in normal shape, none that bounds imply; remainders of one form are merged."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = _scope(domain)
    remainders: list[Residues] = []
    others: list[Constraint] = []
    for constraint in domain.constraints:
        facts = normal(scope, constraint)
        if facts is None:
            return domain.emptied()
        read, rest = _parted(scope, facts)
        if _cost(rest) + sum(each.cost for each in read) > cost_of_form(constraint[0]):
            others.append(_as_given(scope, constraint))
        else:
            remainders += read
            others += rest
    left = merged(remainders)
    return domain.emptied() if left is None else _with_residues(domain, left, others)


def _parted(scope: Scope, facts: Iterable[Fact]) -> tuple[list[Residues], list[Constraint]]:
    """The facts about remainders, and the others as they are written."""
    remainders: list[Residues] = []
    others: list[Constraint] = []
    for fact in facts:
        read = Residues.of(scope, fact)
        if read is None:
            others.append(spelled(scope, fact))
        else:
            remainders.append(read)
    return remainders, others


def _cost(constraints: Iterable[Constraint]) -> int:
    return sum(cost_of_form(form) for form, _ in constraints)


def _as_given(scope: Scope, constraint: Constraint) -> Constraint:
    """The constraint as it stands, where normal shape is dearer."""
    form = simplified_form(scope, constraint[0])
    interval = constraint[1].intersect(range_of(scope, form))
    return form.plus_constant(-form.constant), interval - form.constant


def _with_residues(
    domain: Domain, remainders: list[Residues], others: Iterable[Constraint]
) -> Domain:
    """The domain of these constraints; intervals end at residues that are left."""
    bounds = [(forms.variable(place), bounds) for place, bounds in domain.bounds.items()]
    intervals = [
        (form, _ending(form, interval, remainders)) for form, interval in (*bounds, *others)
    ]
    written = [each.constraint for each in remainders]
    return replace(domain, constraints=()).constrained([*intervals, *written])


def _ending(form: Form, interval: Interval, remainders: Iterable[Residues]) -> Interval:
    for each in remainders:
        said = None if interval.is_empty else each.about(form)
        if said is not None:
            interval = Interval.from_range(said.within(interval.ends))
    return interval


# Constraints that others imply.


def _without_redundancy(domain: Domain) -> Domain:
    """Each constraint as small as the others allow, the costliest first; none that they imply."""
    if len(domain.constraints) <= 1 or domain.is_known_empty:
        return domain
    for constraint in sorted(domain.constraints, key=_price, reverse=True):
        others = tuple(other for other in domain.constraints if other != constraint)
        scope = _scope(domain, others)
        if scope.is_empty:
            return domain.emptied()
        domain = replace(domain, constraints=others).constrained(_needed(scope, constraint))
    return domain


def _price(constraint: Constraint) -> tuple[object, ...]:
    return cost_of_form(constraint[0]), constraint[0].order


def _needed(scope: Scope, constraint: Constraint) -> list[Constraint]:
    """The constraint where the others hold, if they do not imply it."""
    form, interval = constraint
    values = range_of(scope, form)
    if interval.contains(values):
        return []
    smaller = simplified_form(scope, form)
    if cost_of_form(smaller) >= cost_of_form(form):
        smaller = form
    return [(smaller, interval.intersect(values))]
