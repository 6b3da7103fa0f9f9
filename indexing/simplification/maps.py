"""The smallest form of a map: bounds and constraints first, then results with these as facts."""

from __future__ import annotations

from indexing.map import IndexingMap
from indexing.simplification.domains import scope_with_facts, simplified_domain
from simplifier import Interval
from simplifier.settling import range_of
from simplifier.settling import simplified as simplified_form


def simplified(indexing_map: IndexingMap) -> IndexingMap:
    """The same relation with simplified bounds, constraints and results."""
    domain = simplified_domain(indexing_map.domain)
    if domain.is_known_empty:
        return IndexingMap.from_forms(indexing_map.forms, domain)
    scope = scope_with_facts(domain)
    return IndexingMap.from_forms(
        (simplified_form(scope, form) for form in indexing_map.forms), domain
    )


def result_bounds(indexing_map: IndexingMap) -> tuple[Interval, ...]:
    """An interval for each result that holds all its values."""
    if indexing_map.is_known_empty:
        return tuple(Interval(0, -1) for _ in indexing_map.forms)
    scope = scope_with_facts(indexing_map.domain)
    return tuple(range_of(scope, form) for form in indexing_map.forms)
