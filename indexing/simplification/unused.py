"""Variables that nothing depends on."""

from __future__ import annotations

from indexing.domain import Domain
from indexing.evaluation import has_point
from indexing.map import IndexingMap
from simplifier import Interval, operations
from simplifier import form as forms


def without_unused_symbols(indexing_map: IndexingMap) -> IndexingMap:
    """The map less the :func:`unused_symbols`; empty if their constraints have no solution."""
    unused = unused_symbols(indexing_map)
    if not unused:
        return indexing_map
    if has_point(_part(indexing_map.domain, unused)) is False:
        return IndexingMap.from_forms(indexing_map.forms, indexing_map.domain.emptied())
    return without(indexing_map, unused)


def unused_symbols(indexing_map: IndexingMap) -> frozenset[str]:
    """Places of ranges and runtime variables that nothing depends on, such as ``{"s0", "rt1"}``.

    A symbol is unused if no result uses it and every constraint on it is on such symbols
    alone. Where nobody can tell soon whether these constraints have a solution, their symbols
    count as used.
    """
    domain = indexing_map.domain
    free = set(domain.places[len(domain.dims) :]) - set(forms.variables_of(indexing_map.forms))
    groups = [set(forms.variables_of((form,))) for form, _ in domain.constraints]
    while bound := {place for group in groups if not group <= free for place in group & free}:
        free -= bound
    unused = frozenset(free)
    if unused and has_point(_part(domain, unused)) is None:
        return unused - {place for group in groups for place in group}
    return unused


def _part(domain: Domain, places: frozenset[str]) -> Domain:
    """The domain of some variables and the constraints on them alone; the others are held at 0."""
    fixed = Interval(0, 0)
    held = (
        variable if place in places else variable.within(fixed)
        for place, variable in zip(domain.places, domain.variables, strict=True)
    )
    kept = [
        (form, interval)
        for form, interval in domain.constraints
        if places.issuperset(forms.variables_of((form,)))
    ]
    return Domain(*domain.by_role(held), tuple(kept))


def without(indexing_map: IndexingMap, places: frozenset[str]) -> IndexingMap:
    """The map less the ranges and runtime variables at these places, which nothing depends on."""
    domain = indexing_map.domain
    left = [place for place in domain.places if place not in places]
    dims, ranges, runtime = (
        tuple(variable for place, variable in role if place not in places)
        for role in domain.by_role(zip(domain.places, domain.variables, strict=True))
    )
    moved = Domain(dims, ranges, runtime)
    renumbering = {
        old: forms.variable(new) for old, new in zip(left, moved.places, strict=True) if old != new
    }
    kept = [
        (form, interval)
        for form, interval in domain.constraints
        if places.isdisjoint(forms.variables_of((form,)))
    ]
    renumbered = operations.substitute([form for form, _ in kept], renumbering)
    constraints = zip(renumbered, (interval for _, interval in kept), strict=True)
    return IndexingMap.from_forms(
        operations.substitute(indexing_map.forms, renumbering), moved.constrained(constraints)
    )
