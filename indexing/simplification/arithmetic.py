"""What constraints say by plain arithmetic, without the laws of the simplifier.

Most constraints of everyday maps are of these kinds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.simplification.residues import Residues, merged
from indexing.simplification.scopes import scope_within
from simplifier import Interval
from simplifier import form as forms
from simplifier.facts import Fact

if TYPE_CHECKING:
    from indexing.domain import Constraint, Domain


def bounded(domain: Domain) -> Domain:
    """The same points: ``k*x + c`` in ``[l, u]`` is a bound of ``x``."""
    limits = [_limit(constraint) for constraint in domain.constraints]
    if not any(limits):
        return domain
    pairs = zip(domain.constraints, limits, strict=True)
    others = tuple(constraint for constraint, limit in pairs if limit is None)
    return replace(domain, constraints=others).constrained(filter(None, limits))


def _limit(constraint: Constraint) -> Constraint | None:
    form, interval = constraint
    if len(form.terms) != 1 or not form.is_affine:
        return None
    fact = Fact.of(form, interval.ends)
    return fact and (fact.form, Interval.from_range(fact.ends))


def without_implied(domain: Domain) -> Domain:
    """The same points without the constraints that bounds imply."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = scope_within(domain, ())
    left: list[Constraint] = []
    for form, interval in domain.constraints:
        values = Interval.from_range(scope.range_of(scope.canonical(form)))
        if not interval.contains(values):
            left.append((form, interval))
        if interval.intersect(values).is_empty:
            return domain.emptied()
    if len(left) == len(domain.constraints):
        return domain
    return replace(domain, constraints=tuple(left))


def progression(domain: Domain) -> Domain | None:
    """The same points, where all constraints are about one variable and leave one residue each.

    By the Chinese remainder theorem the residues are one, and bounds are moved inwards to it.
    """
    places = [*forms.variables_of(form for form, _ in domain.constraints)]
    if len(places) != 1:
        return None
    residues = [*map(Residues.as_written, domain.constraints)]
    if not all(each and (not each.count or each.form.single_variable()) for each in residues):
        return None
    left = merged(filter(None, residues))
    if left is None:
        return domain.emptied()
    (one,) = left
    values = one.within(domain.bounds[places[0]].ends)
    bound = (one.form, Interval.from_range(values))
    return replace(domain, constraints=()).constrained([bound, one.constraint_within(values)])
