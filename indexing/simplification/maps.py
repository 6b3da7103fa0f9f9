"""The smallest form of a map: bounds and constraints first, then results with these as facts."""

from __future__ import annotations

from indexing.map import IndexingMap
from indexing.simplification.domains import simplified_domain
from indexing.simplification.kept import NOTHING, Kept
from indexing.simplification.scopes import scope_with_facts, scope_within
from simplifier import Interval
from simplifier.settling import range_of
from simplifier.settling import simplified as simplified_form


def simplified(indexing_map: IndexingMap, *, preserve_size_one: bool = False) -> IndexingMap:
    """The same relation with simplified bounds, constraints and results; perhaps the map itself.

    Variables of one value are kept in sight, if wanted.
    """
    domain = simplified_domain(indexing_map.domain, preserve_size_one=preserve_size_one)
    forms = indexing_map.forms
    if not domain.is_known_empty:
        kept = Kept.of(domain) if preserve_size_one else NOTHING
        scope = scope_within(domain, (*kept.facts, *kept.hidden(domain.constraints)))
        forms = tuple(
            kept.form_shown(simplified_form(scope, kept.form_hidden(form))) for form in forms
        )
    smallest = IndexingMap.from_forms(forms, domain)
    return indexing_map if smallest == indexing_map else smallest


def result_bounds(indexing_map: IndexingMap) -> tuple[Interval, ...]:
    """An interval for each result that holds all its values."""
    if indexing_map.is_known_empty:
        return tuple(Interval(0, -1) for _ in indexing_map.forms)
    scope = scope_with_facts(indexing_map.domain)
    return tuple(range_of(scope, form) for form in indexing_map.forms)
