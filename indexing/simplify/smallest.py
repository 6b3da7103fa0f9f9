"""The smallest form of a map: its domain, its results with the constraints as facts, its ranges.

``simplified_by_isl`` lets isl do what the fast way leaves. It leaves out an attempt that takes more
than its share of the allowance, and keeps what the others find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from indexing.domain import Constraint, Domain
from indexing.relation import Relation, RelationT
from indexing.simplify.constraints import (
    NONE_PRESERVED,
    PreservedVariables,
    connected,
    scope_with_facts,
    scope_within,
)
from indexing.simplify.enumeration import with_fewest_ranges
from indexing.simplify.tightening import simplified_domain
from simplifier import forms
from simplifier.exact import MAX_ATTEMPTS, Allowance, Budget, BudgetError, range_within
from simplifier.exact import finished as finished_form
from simplifier.forms import VARIABLE, ZERO, Form, Interval, range_of, scope_of
from simplifier.forms import simplified as simplified_form


def simplified(
    indexing_map: RelationT, *, preserve_size_one: bool = False, preserve_ranges: bool = False
) -> RelationT:
    """The same relation with simplified bounds, constraints and results; perhaps the map itself.

    With ``preserve_size_one`` variables of one value stay variables. With ``preserve_ranges``
    several ranges do not become one.
    """
    if preserve_ranges:
        return _with_same_variables(indexing_map, preserve_size_one=preserve_size_one)
    if preserve_size_one:
        return _simplified(indexing_map, preserve_size_one=True)
    return indexing_map.in_simplest_form(_simplified)


def _simplified(indexing_map: RelationT, *, preserve_size_one: bool = False) -> RelationT:
    smallest = _with_same_variables(indexing_map, preserve_size_one=preserve_size_one)
    fewer = with_fewest_ranges(smallest)
    if fewer is smallest:
        return smallest
    return _simplified(fewer, preserve_size_one=preserve_size_one)


def _with_same_variables(indexing_map: RelationT, *, preserve_size_one: bool) -> RelationT:
    domain = simplified_domain(indexing_map.domain, preserve_size_one=preserve_size_one)
    forms = indexing_map.forms
    if not domain.is_known_empty:
        preserved = PreservedVariables.of(domain) if preserve_size_one else NONE_PRESERVED
        forms = tuple(map(preserved.form_shown, _simplified_forms(domain, preserved, forms)))
    is_same = forms == indexing_map.forms and domain == indexing_map.domain
    return indexing_map if is_same else indexing_map.derived(forms, domain)


def _simplified_forms(
    domain: Domain, preserved: PreservedVariables, forms: tuple[Form, ...]
) -> Iterator[Form]:
    """Each form simplified under the constraints that matter to it."""
    groups = connected(preserved.hidden(domain.constraints)) if domain.constraints else ()
    for form in map(preserved.form_hidden, forms):
        relevant = [
            constraint for group in groups if may_simplify(group, form) for constraint in group
        ]
        if not relevant and is_smallest_in_box(domain, form):
            yield form  # as most results of a program, without a scope for their bounds
        else:
            yield simplified_form(scope_within(domain, (*preserved.facts, *relevant)), form)


def is_smallest_in_box(domain: Domain, form: Form) -> bool:
    """Whether bounds alone cannot make a form smaller: a sum of variables of several values.

    >>> from indexing import parse_map
    >>> tile = parse_map("(d0, d1) -> (d0 + 2, d0 + d1), domain: d0 in [0, 7], d1 in [3, 3]")
    >>> [is_smallest_in_box(tile.domain, form) for form in tile.forms]
    [True, False]
    """
    for atom in form.terms:
        if atom.kind is not VARIABLE or domain.bounds[atom.name].is_point:
            return False
    return True


def simplified_in(box: Domain, form: Form) -> Form:
    """The smallest form with the same values on a domain without constraints.

    >>> from indexing import parse_map
    >>> tile = parse_map("(d0) -> (d0 floordiv 8 + d0 floordiv 4), domain: d0 in [0, 7]")
    >>> print(simplified_in(tile.domain, tile.forms[0]))
    d0 floordiv 4
    """
    if box.is_known_empty:
        return ZERO
    (smallest,) = _simplified_forms(box, NONE_PRESERVED, (form,))
    return smallest


def result_bounds(indexing_map: Relation) -> tuple[Interval, ...]:
    """An interval for each result that holds all its values."""
    if indexing_map.is_known_empty:
        return tuple(Interval(0, -1) for _ in indexing_map.forms)
    scope = scope_with_facts(indexing_map.domain)
    return tuple(range_of(scope, form) for form in indexing_map.forms)


def simplified_by_isl(
    indexing_map: RelationT,
    budget: Budget,
    *,
    preserve_size_one: bool = False,
    preserve_ranges: bool = False,
) -> RelationT:
    """The same relation, simplified by isl.

    Some point reaches every bound of a variable, no constraint follows from the others, and results
    are as small as isl finds them.

    Raises:
        NotQuasiAffineError: a product of variables, or a divisor that is not a constant.
    """
    exact = _ExactSimplification(Allowance(budget, MAX_ATTEMPTS), preserve_size_one)
    preserved = {"preserve_size_one": preserve_size_one, "preserve_ranges": preserve_ranges}
    smallest = simplified(indexing_map, **preserved)
    domain = exact.domain(smallest.domain)
    sharper = smallest.derived(smallest.forms, domain)
    if domain.is_known_empty:
        return sharper
    simplest = simplified(sharper, **preserved)
    domain = simplest.domain
    return indexing_map.derived(
        (exact.form(form, domain, domain.constraints) for form in simplest.forms), domain
    )


class _ExactSimplification(NamedTuple):
    """Simplification by isl, with one allowance of operations for all attempts."""

    allowance: Allowance
    preserve_size_one: bool

    def form(self, form: Form, domain: Domain, constraints: tuple[Constraint, ...]) -> Form:
        """The form as small as isl finds it under the constraints.

        isl is not told the bounds of a preserved variable, so that it does not replace it.
        """
        bounds = {
            identifier: bounds
            for identifier, bounds in domain.bounds.items()
            if not (self.preserve_size_one and bounds.is_point)
        }
        scope = scope_of(tuple(bounds.items()), constraints)
        return finished_form(scope, form, bounds, constraints, self.allowance)

    def domain(self, domain: Domain) -> Domain:
        """Bounds and constraints sharpen each other until nothing changes."""
        while domain.constraints and not domain.is_known_empty:
            sharper = self._without_redundancy(self._tightened(domain))
            if sharper == domain:
                break
            domain = sharper
        return domain

    def _simplified(self, domain: Domain) -> Domain:
        return simplified_domain(domain, preserve_size_one=self.preserve_size_one)

    def _tightened(self, domain: Domain) -> Domain:
        """The domain with the least and greatest value of each variable as its bounds."""
        narrowed: list[Constraint] = []
        for identifier in domain.identifiers:
            with suppress(BudgetError):
                variable = forms.variable(identifier)
                values = range_within(self.allowance, variable, domain.bounds, domain.constraints)
                narrowed.append((variable, values))
        return self._simplified(domain.constrained(narrowed))

    def _without_redundancy(self, domain: Domain) -> Domain:
        """The domain without implied constraints, and each other as small as the rest allows."""
        for constraint in domain.constraints:
            others = tuple(other for other in domain.constraints if other != constraint)
            with suppress(BudgetError):
                needed = self._needed(domain, constraint, others)
                domain = replace(domain, constraints=others).constrained(needed)
        return self._simplified(domain)

    def _needed(
        self, domain: Domain, constraint: Constraint, others: tuple[Constraint, ...]
    ) -> list[Constraint]:
        """The constraint under the others; nothing if they imply it."""
        form, interval = constraint
        values = range_within(self.allowance, form, domain.bounds, others)
        if interval.contains(values):
            return []
        return [(self.form(form, domain, others), interval.intersect(values))]


def may_simplify(group: Iterable[Constraint], form: Form) -> bool:
    """Whether constraints in normal shape may make a form simpler than the bounds alone do.

    They do not simplify a variable. Affine inequalities do not simplify an affine form.
    """
    if form.single_variable() is not None:
        return False
    if form.is_affine and all(_is_affine_inequality(constraint) for constraint in group):
        return False
    names = {*forms.variables_of([form])}
    return not names.isdisjoint(forms.variables_of(limited for limited, _ in group))


def _is_affine_inequality(constraint: Constraint) -> bool:
    return constraint[0].is_affine and not constraint[1].is_point
