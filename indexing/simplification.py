"""The smallest form of a map: bounds and constraints first, then results with these as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.domain import Domain
from indexing.map import IndexingMap
from simplifier import Interval
from simplifier import form as forms
from simplifier.cost import cost_of_form
from simplifier.facts import Fact
from simplifier.form import Form, Kind
from simplifier.scope import Scope, scope_of
from simplifier.settling import range_of
from simplifier.settling import simplified as simplified_form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.domain import Constraint

_ROUNDS: Final = 16
"""Bounds and constraints sharpen each other at most this often; what is left is still right."""


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


def scope_with_facts(domain: Domain) -> Scope:
    """The scope in which the domain's bounds and constraints hold."""
    return scope_of(tuple(domain.bounds.items()), domain.constraints)


def _scope_of_bounds(domain: Domain) -> Scope:
    return scope_of(tuple(domain.bounds.items()))


# Domains.


def simplified_domain(domain: Domain) -> Domain:
    """The same points with sharper bounds, and only the constraints that bounds do not imply."""
    for _ in range(_ROUNDS if domain.constraints else 0):
        if domain.is_known_empty:
            break
        sharper = _reduced(_tightened(domain))
        if sharper == domain:
            break
        domain = sharper
    return domain


def _tightened(domain: Domain) -> Domain:
    """Bounds narrowed by what constraints leave to single variables."""
    scope = scope_with_facts(domain)
    if scope.is_empty:
        return domain.emptied()
    found = scope.bounds
    narrowed = [(forms.variable(place), found[place]) for place in domain.places]
    residues = (_residue_class(domain, constraint) for constraint in domain.constraints)
    return domain.constrained([*narrowed, *(constraint for constraint in residues if constraint)])


def _residue_class(domain: Domain, constraint: Constraint) -> Constraint | None:
    """``v mod c`` in ``[r, r]`` moves the bounds of ``v`` to numbers congruent to ``r``."""
    form, interval = constraint
    atom = _single_atom(form)
    if atom is None or atom.kind is not Kind.MOD or atom.divisor < 1 or not interval.is_point:
        return None
    place = atom.numerator.plus_constant(-atom.numerator.constant).single_variable()
    if place is None or form.constant:
        return None
    lower, upper = domain.bounds[place].lower, domain.bounds[place].upper
    residue = (interval.lower or 0) - atom.numerator.constant
    if lower is not None:
        lower += (residue - lower) % atom.divisor
    if upper is not None:
        upper -= (upper - residue) % atom.divisor
    return forms.variable(place), Interval(lower, upper)


def _single_atom(form: Form) -> forms.Atom | None:
    if len(form.terms) != 1:
        return None
    ((atom, factor),) = form.terms.items()
    return atom if factor == 1 else None


def _reduced(domain: Domain) -> Domain:
    """Constraints in normal shape, less those that the bounds imply."""
    if domain.is_known_empty:
        return domain
    scope = _scope_of_bounds(domain)
    unconstrained = Domain(domain.dims, domain.ranges, domain.runtime)
    return unconstrained.constrained(_needed(scope, domain.constraints))


def _needed(scope: Scope, constraints: Iterable[Constraint]) -> list[Constraint]:
    needed: list[Constraint] = []
    for constraint in constraints:
        form, interval = _cheaper(_normal_constraint(scope, constraint), constraint)
        values = range_of(scope, form)
        if not interval.contains(values):
            needed.append((form, interval.intersect(values)))
    return needed


def _cheaper(normal: Constraint, given: Constraint) -> Constraint:
    """The normal constraint, unless the given one is cheaper to write."""
    return given if cost_of_form(given[0]) < cost_of_form(normal[0]) else normal


def _normal_constraint(scope: Scope, constraint: Constraint) -> Constraint:
    """Without constant, common factor and outer quotient; the sign that is cheaper to write."""
    form, interval = constraint
    form = scope.canonical(form)
    while (fact := Fact.of(form, interval.ends)) is not None:
        form, interval = fact.form, Interval.from_range(fact.ends)
        atom = _single_atom(form)
        if atom is None or atom.kind is not Kind.FLOORDIV:
            break
        # floor(e / c) in [l, u] is e in [l*c, u*c + c - 1].
        interval = interval * atom.divisor + Interval(0, atom.divisor - 1)
        form = atom.numerator
    spelled = [simplified_form(scope, side) for side in (form, -form)]
    if _spelling_rank(spelled[1]) < _spelling_rank(spelled[0]):
        spelled.reverse()
        interval = -interval
    constant = spelled[0].constant
    return spelled[0].plus_constant(-constant), interval - constant


def _spelling_rank(form: Form) -> tuple[int, int]:
    bare = form.plus_constant(-form.constant)
    return cost_of_form(bare), sum(factor < 0 for factor in bare.terms.values())
