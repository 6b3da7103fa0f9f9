"""Maps without unused variables, and without unused values of symbols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

from indexing.domain import (
    ByRole,
    Constraint,
    Domain,
    conditions_for_values,
    ends_and_constraints,
    limited_variable,
)
from indexing.errors import MapError
from indexing.relation import Relation, RelationT
from indexing.simplify.constraints import Residues, merged, normal
from indexing.transform.evaluate import has_point
from indexing.transform.substitute import arranged, over_domain, substituted
from indexing.variable import Variable
from simplifier import forms
from simplifier.exact import ATTEMPT, Allowance, BudgetError, NotQuasiAffineError
from simplifier.forms import Form, Interval, Scope, floordiv, scope_of
from simplifier.tools.graphs import united


def unused_variables(indexing_map: Relation) -> ByRole[int]:
    """Positions of the variables that :func:`without_unused_variables` leaves out."""
    known = _with_conditions(indexing_map, _variables)
    return _positions(indexing_map.domain, _unused(known, _variables) or frozenset())


def unused_symbols(indexing_map: Relation) -> ByRole[int]:
    """Positions of the variables that :func:`without_unused_symbols` leaves out."""
    known = _with_conditions(indexing_map, _symbols)
    return _positions(indexing_map.domain, _unused(known, _symbols) or frozenset())


def without_unused_variables(indexing_map: RelationT) -> RelationT:
    """The map without unused variables; the empty map if these have no values."""
    known = _with_conditions(indexing_map, _variables)
    return _without(known, _unused(known, _variables))


def without_unused_symbols(indexing_map: RelationT) -> RelationT:
    """The map without unused symbols; the empty map if these have no values."""
    known = _with_conditions(indexing_map, _symbols)
    return _without(known, _unused(known, _symbols))


def _variables(domain: Domain) -> Sequence[str]:
    return [*chain(*domain.by_role(domain.identifiers))]


def _symbols(domain: Domain) -> Sequence[str]:
    _, ranges, runtime = domain.by_role(domain.identifiers)
    return ranges + runtime


def _positions(domain: Domain, identifiers: Collection[str]) -> ByRole[int]:
    dims, ranges, runtime = (
        tuple(position for position, identifier in enumerate(role) if identifier in identifiers)
        for role in domain.by_role(domain.identifiers)
    )
    return dims, ranges, runtime


def _with_conditions(
    indexing_map: RelationT, candidates: Callable[[Domain], Sequence[str]]
) -> RelationT:
    """The map with conditions on parameters in place of the ends of candidates between them.

    That some number lies between ends over parameters is all that they say of a candidate that
    nothing else depends on.
    """
    domain = indexing_map.domain
    if not domain.parameters or domain.is_known_empty:
        return indexing_map
    free = set(candidates(domain)) - set(forms.variables_of(indexing_map.forms))
    for pair in domain.constraints:
        if limited_variable(pair) not in free:
            free.difference_update(forms.variables_of(pair[:1]))
    others = [pair for pair in domain.constraints if limited_variable(pair) not in free]
    if len(others) == len(domain.constraints):
        return indexing_map
    ends, _ = ends_and_constraints(domain)
    known = (condition for name in free for condition in conditions_for_values(ends[name]))
    conditioned = domain.with_constraints(others).constrained([*known])
    return indexing_map.derived(indexing_map.forms, conditioned)


def _unused(
    indexing_map: Relation, candidates: Callable[[Domain], Sequence[str]]
) -> frozenset[str] | None:
    """The identifiers of unused candidates; ``None`` if the map has no point.

    A variable is unused if no result uses it and every constraint on it is on unused variables
    alone. If it takes long to decide whether these constraints have a solution, their variables
    count as used.
    """
    domain = indexing_map.domain
    if domain.is_known_empty:
        return None
    free = set(candidates(domain)) - set(forms.variables_of(indexing_map.forms))
    if not free or not domain.constraints:
        return frozenset(free)
    groups = [set(forms.variables_of((form,))) for form, _ in domain.constraints]
    while bound := {
        identifier for group in groups if not group <= free for identifier in group & free
    }:
        free -= bound
    for group in united(group for group in groups if group <= free):
        has_values = _has_point(_restricted(domain, group))
        if has_values is False:
            return None
        if has_values is None:
            free -= group
    return frozenset(free)


def _restricted(domain: Domain, identifiers: set[str]) -> Domain:
    """The domain of some variables with the constraints on them alone; the others are 0."""
    fixed = Interval(0, 0)
    held = (
        variable if identifier in identifiers else variable.within(fixed)
        for identifier, variable in zip(domain.identifiers, domain.variables, strict=True)
    )
    return domain.with_variables(held, domain.constraints_among(identifiers))


def _has_point(domain: Domain) -> bool | None:
    """Whether the domain has a point: tries some, then asks isl; ``None`` if that takes long."""
    with suppress(MapError, NotQuasiAffineError, BudgetError):
        found = has_point(domain)
        if found is not None:
            return found
        with Allowance(ATTEMPT).attempt(domain.bounds) as space:
            return not space.domain(domain.constraints).is_empty()
    return None


def _without(indexing_map: RelationT, identifiers: frozenset[str] | None) -> RelationT:
    """The map without these unused variables and the constraints on them."""
    if identifiers is None:
        return indexing_map.derived(indexing_map.forms, indexing_map.domain.emptied())
    if not identifiers:
        return indexing_map
    domain = indexing_map.domain
    left = [identifier for identifier in domain.identifiers if identifier not in identifiers]
    kept = domain.with_constraints(domain.constraints_among(left))
    roles = (
        [identifier for identifier in role if identifier not in identifiers]
        for role in domain.by_role(domain.identifiers)
    )
    return arranged(indexing_map.derived(indexing_map.forms, kept), *roles)


# Symbols that take only every n-th value count these instead: fewer values, no remainders.


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
    symbols = frozenset(_symbols(domain))
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
    counted = [
        variable.within(_count(variable.bounds, steps[identifier]))
        if identifier in steps
        else variable
        for identifier, variable in zip(domain.identifiers, domain, strict=True)
    ]
    values = {
        identifier: forms.variable(identifier).times(step.modulus).plus_constant(step.first)
        for identifier, step in steps.items()
    }
    return over_domain(indexing_map, domain.with_variables(counted), values)


def _count(bounds: Interval, step: Residues) -> Interval:
    """The numbers of the steps within the bounds."""
    lower, upper = bounds.lower, bounds.upper
    return Interval(
        None if lower is None else (lower - step.first + step.modulus - 1) // step.modulus,
        None if upper is None else (upper - step.first) // step.modulus,
    )


# Maps without ranges that a constraint determines, or that say no more than a constraint can.


def without_determined_ranges(indexing_map: RelationT) -> RelationT:
    """The same relation, not simplified, with fewer ranges where constraints are linear in them.

    A constraint ``a * s + rest in [l, u]`` on a range with integers ``a > 0`` has at most one
    solution if ``u - l < a``, which takes the place of the range. Where results and other
    constraints do not use the range and ``u - l >= a - 1``, there is a solution in ``[p, q]`` if
    and only if ``rest in [l - a * q, u - a * p]``.

    >>> from indexing import parse_map
    >>> blocks = parse_map("(d0)[s0] -> (s0, d0 - s0 * 4), "
    ...                    "domain: d0 in [0, 19], s0 in [0, 4], d0 - s0 * 4 in [0, 3]")
    >>> print(without_determined_ranges(blocks).simplify())
    (d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 19]
    >>> earlier = parse_map("(d0)[s0] -> (), domain: d0 in [0, 9], s0 in [2, 9], d0 - s0 in [1, 9]")
    >>> print(without_determined_ranges(earlier).simplify())
    (d0) -> (), domain: d0 in [3, 9]
    """
    domain = indexing_map.domain
    _, ranges, _ = domain.by_role(domain.identifiers)
    for name in ranges:
        for constraint in domain.constraints:
            found = _without_range(indexing_map, name, constraint)
            if found is not None:
                return without_determined_ranges(found)
    return indexing_map


def from_zero(indexing_map: RelationT) -> RelationT:
    """The same relation, not simplified, with ranges that begin at zero.

    >>> from indexing import parse_map
    >>> print(from_zero(parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [1, 3]")))
    (d0)[s0] -> (d0 + s0 + 1), domain: d0 in [0, 9], s0 in [0, 2]
    """
    domain = indexing_map.domain
    _, identifiers, _ = domain.by_role(domain.identifiers)
    pairs = [*zip(identifiers, domain.ranges, strict=True)]
    moved = {name: each.bounds.lower for name, each in pairs if each.bounds.lower}
    if not moved or domain.is_known_empty:
        return indexing_map
    values = {name: forms.variable(name) + by for name, by in moved.items()}
    ranges = (Variable(each.bounds - moved.get(name, 0), each.given_name) for name, each in pairs)
    free = replace(domain, ranges=tuple(ranges), constraints=())
    return over_domain(indexing_map, free, values)


def _without_range(indexing_map: RelationT, name: str, constraint: Constraint) -> RelationT | None:
    """The map without a range, if a constraint allows that."""
    form, limits = constraint
    domain = indexing_map.domain
    factor = form.terms.get(forms.variable_atom(name), 0)
    rest = form - forms.variable(name) * factor
    if not factor or name in forms.variables_of([rest]):
        return None
    if factor < 0:
        factor, rest, limits = -factor, -rest, -limits
    bounds = domain.bounds[name]
    if limits.upper is None or limits.size is None or bounds.size is None:
        return None
    others = [each for each in domain.constraints if each is not constraint]
    used = {*forms.variables_of((*indexing_map.forms, *(each for each, _ in others)))}
    if name not in used and limits.size >= factor:
        return _over(
            indexing_map, name, indexing_map.forms, [*others, (rest, limits - bounds * factor)]
        )
    if limits.size > factor:
        return None
    value = floordiv(-rest + limits.upper, forms.constant(factor))
    results, constraints = substituted(indexing_map, {name: value})
    return _over(indexing_map, name, results, [*constraints, (value, bounds)])


def _over(
    indexing_map: RelationT, name: str, results: Sequence[Form], constraints: Sequence[Constraint]
) -> RelationT:
    """The map with other results and constraints, which do not use one of its ranges."""
    free = replace(indexing_map.domain, constraints=()).constrained(constraints)
    dims, ranges, runtime = free.by_role(free.identifiers)
    left = [each for each in ranges if each != name]
    return arranged(indexing_map.derived(tuple(results), free), dims, left, runtime)
