"""Symbols that take only every n-th value count these instead: fewer values, no remainders."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from indexing.domain import Domain
from indexing.simplify.normal_form import normal
from indexing.simplify.residues import Residues, merged
from indexing.transform.substitute import over_domain
from simplifier import Interval
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing.domain import Constraint
    from indexing.relation import RelationT


def rescale_symbols(indexing_map: RelationT) -> RelationT:
    """The map with ``c*s + r`` for each symbol ``s`` that constraints leave only such values.

    The constraints go, and the bounds of the symbol become those of its steps. Several constraints
    on one symbol are combined by the Chinese remainder theorem.
    """
    while (rescaled := _rescaled(indexing_map)) is not indexing_map:
        indexing_map = rescaled
    return indexing_map


def _rescaled(indexing_map: RelationT) -> RelationT:
    """The map rescaled once; other constraints may then leave fewer steps."""
    domain = indexing_map.domain
    scope = scope_of(tuple((identifier, Interval(None, None)) for identifier in domain.identifiers))
    symbols = frozenset(domain.identifiers[len(domain.dims) :])
    read = [(pair, _residues(scope, symbols, pair)) for pair in domain.constraints]
    rest = tuple(pair for pair, found in read if found is None)
    if len(rest) == len(domain.constraints):
        return indexing_map
    steps = merged(chain.from_iterable(found or () for _, found in read))
    if steps is None:
        return indexing_map.derived(indexing_map.forms, domain.emptied())
    bare = indexing_map.derived(indexing_map.forms, replace(domain, constraints=rest))
    return _counting(bare, {_variable(step): step for step in steps})


def _residues(
    scope: Scope, symbols: frozenset[str], constraint: Constraint
) -> list[Residues] | None:
    """The residues of symbols that say the same as a constraint, if there are such."""
    facts = normal(scope, constraint)
    if facts is None:
        return None
    found = [Residues.of(scope, fact) for fact in facts]
    residues = [each for each in found if each and each.is_single and _variable(each) in symbols]
    return residues if len(residues) == len(found) else None


def _variable(residues: Residues) -> str:
    """The identifier of the variable that has the residues; empty if another form has them."""
    return residues.form.single_variable() or ""


def _counting(indexing_map: RelationT, steps: Mapping[str, Residues]) -> RelationT:
    """The map with some variables that count their steps."""
    domain = indexing_map.domain
    dims, ranges, runtime = domain.by_role(
        variable.within(_count(variable.bounds, steps[identifier]))
        if identifier in steps
        else variable
        for identifier, variable in zip(domain.identifiers, domain, strict=True)
    )
    values = {
        identifier: forms.variable(identifier).times(step.modulus).plus_constant(step.first)
        for identifier, step in steps.items()
    }
    return over_domain(indexing_map, Domain(dims, ranges, runtime), values)


def _count(bounds: Interval, step: Residues) -> Interval:
    """The numbers of the steps within the bounds."""
    lower, upper = bounds.lower, bounds.upper
    return Interval(
        None if lower is None else (lower - step.first + step.modulus - 1) // step.modulus,
        None if upper is None else (upper - step.first) // step.modulus,
    )
