"""The smallest form of a map: bounds and constraints first, then results with these as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.simplify.domain import simplified_domain
from indexing.simplify.grouping import connected, tells
from indexing.simplify.kept import NOTHING, Kept
from indexing.simplify.scopes import scope_with_facts, scope_within
from simplifier import Interval
from simplifier.fixpoint import range_of
from simplifier.fixpoint import simplified as simplified_form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing.domain import Domain
    from indexing.relation import Relation, RelationT
    from simplifier.expr.form import Form


def simplified(indexing_map: RelationT, *, preserve_size_one: bool = False) -> RelationT:
    """The same relation with simplified bounds, constraints and results; perhaps the map itself.

    Variables of one value are kept in sight, if wanted.
    """
    if preserve_size_one:
        return _simplified(indexing_map, preserve_size_one=True)
    return indexing_map.in_simplest_form(_simplified)


def _simplified(indexing_map: RelationT, *, preserve_size_one: bool = False) -> RelationT:
    domain = simplified_domain(indexing_map.domain, preserve_size_one=preserve_size_one)
    forms = indexing_map.forms
    if not domain.is_known_empty:
        kept = Kept.of(domain) if preserve_size_one else NOTHING
        forms = tuple(map(kept.form_shown, _simplified_forms(domain, kept, forms)))
    smallest = indexing_map.derived(forms, domain)
    return indexing_map if smallest == indexing_map else smallest


def _simplified_forms(domain: Domain, kept: Kept, forms: tuple[Form, ...]) -> Iterator[Form]:
    """Each form where those constraints hold that matter to it, with terms for what is kept."""
    groups = connected(kept.hidden(domain.constraints))
    for form in map(kept.form_hidden, forms):
        telling = [constraint for group in groups if tells(group, form) for constraint in group]
        yield simplified_form(scope_within(domain, (*kept.facts, *telling)), form)


def result_bounds(indexing_map: Relation) -> tuple[Interval, ...]:
    """An interval for each result that holds all its values."""
    if indexing_map.is_known_empty:
        return tuple(Interval(0, -1) for _ in indexing_map.forms)
    scope = scope_with_facts(indexing_map.domain)
    return tuple(range_of(scope, form) for form in indexing_map.forms)
