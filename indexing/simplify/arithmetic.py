"""What constraints say by plain arithmetic, without the laws of the simplifier.

Most constraints of everyday maps are of these kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.simplify.constraints import numerator
from indexing.simplify.residues import Residues, merged
from indexing.simplify.scopes import scope_within
from simplifier import Interval
from simplifier.bounds.context import Fact, term_by_term
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from indexing.domain import Constraint, Domain
    from simplifier.expr.form import Form


def bounded(domain: Domain) -> Domain:
    """The same points: ``k*x + c``, or a quotient of it, in ``[l, u]`` is a bound of ``x``."""
    limits = [_limit(constraint) for constraint in domain.constraints]
    if not any(limits):
        return domain
    pairs = zip(domain.constraints, limits, strict=True)
    others = (constraint for constraint, limit in pairs if limit is None)
    return domain.with_constraints(others).constrained(filter(None, limits))


def _limit(constraint: Constraint) -> Constraint | None:
    form, interval = constraint
    fact = None if interval.is_empty else Fact.of(form, interval.ends)
    while fact is not None and len(fact.form.terms) == 1:
        if fact.form.is_affine:
            return fact.form, Interval.from_range(fact.ends)
        following = numerator(fact)
        fact = Fact.of(*following[0]) if following else None
    return None


def without_implied(domain: Domain) -> Domain:
    """The same points without the constraints that bounds imply."""
    if domain.is_known_empty:
        return domain
    left: list[Constraint] = []
    for form, interval in domain.constraints:
        values = _values(domain, form)
        if interval.intersect(values).is_empty:
            return domain.emptied()
        if not interval.contains(values):
            left.append((form, interval))
    return domain if len(left) == len(domain.constraints) else domain.with_constraints(left)


def _values(domain: Domain, form: Form) -> Interval:
    """Between which values a form lies by bounds alone."""
    if form.is_affine:
        ranges = {atom: domain.bounds[atom.name].ends for atom in form.terms}
        return Interval.from_range(term_by_term(ranges, form))
    scope = scope_within(domain, ())
    return Interval.from_range(scope.range_of(scope.canonical(form)))


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
    return domain.with_constraints().constrained([bound, one.constraint_within(values)])
