"""Conditions on parameters, written as a reader expects them when a map is made.

They are not sharpened as in a simplified map: ``M == N floordiv 2`` is not ``N - M * 2 in [0, 1]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.simplify.normal_form import extracted, normal, only_branch, scope_within
from indexing.simplify.tightening import (
    with_bounds_of_constraints,
    with_open_ends,
    without_implied,
)
from indexing.symbolic_bounds import limited_variable
from simplifier.bounds.context import Fact
from simplifier.expr.form import EXTREMA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.domain import Constraint, Domain
    from simplifier.canonical.scope import Scope


def conditioned(domain: Domain, conditions: Iterable[Constraint]) -> Domain:
    """The domain where conditions hold as well, in their shape of least cost.

    Two that say the same are one, ``M - N`` and ``N - M``; what bounds decide is left out.
    """
    limited = with_bounds_of_constraints(domain.with_constraints().constrained(conditions))
    if limited.is_known_empty:
        return domain.emptied()
    scope = scope_within(limited, ())
    shaped = [_shaped(scope, each) for each in limited.constraints]
    limited = with_bounds_of_constraints(limited.with_constraints().constrained(shaped))
    scope = scope_within(limited, ())
    given = [each for known in domain.constraints for each in _decided(scope, known)]
    return with_open_ends(without_implied(limited.constrained(given)))


def _decided(scope: Scope, constraint: Constraint) -> list[Constraint]:
    """The limits of a variable in place of one by extrema, if parameters decide these."""
    if not (_has_extrema(constraint) and limited_variable(constraint)):
        return [constraint]
    limits = [extracted(scope, fact) for fact in normal(scope, constraint) or ()]
    return [constraint] if any(map(_has_extrema, limits)) else limits or [constraint]


def _has_extrema(constraint: Constraint) -> bool:
    return any(atom.kind in EXTREMA for atom in constraint[0].terms)


def _shaped(scope: Scope, constraint: Constraint) -> Constraint:
    """The constraint in its shape of least cost; quotients stay as they are."""
    form, interval = scope.canonical(constraint[0]), constraint[1]
    fact = Fact.of(form, interval.ends)
    if fact is None:
        return form, interval
    for branch, ends in only_branch(scope, fact):
        fact = Fact.of(branch, ends) or fact
    return extracted(scope, fact)
