"""Tightens a domain: bounds and constraints sharpen each other until nothing changes.

Plain arithmetic comes first: most constraints of everyday maps need no law of the simplifier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from indexing.domain import (
    Constraint,
    Domain,
    bounding,
    limited_variable,
    substituted_constraints,
    symbolic_ends,
    turned_to_variable,
    without_implied_ends,
)
from indexing.simplify.constraints import (
    MAX_REMEMBERED,
    NONE_PRESERVED,
    PreservedVariables,
    Residues,
    connected,
    extracted,
    interval_within,
    merged,
    normal,
    only_branch,
    renumbered,
    scope_with_facts,
    scope_within,
)
from indexing.variable import PARAMETER
from simplifier import forms
from simplifier.forms import CONDITIONS, EXTREMA, Fact, Form, Interval, Scope
from simplifier.forms import simplified as simplified_form

_MAX_ROUNDS: Final = 16
"""Rounds in which bounds and constraints sharpen each other: most domains need two or three."""


def simplified_domain(domain: Domain, *, preserve_size_one: bool = False) -> Domain:
    """The same points with sharper bounds, and few constraints in normal shape.

    Some constraints sharpen each other in many small steps, such as ``a < b < c < d < a``. If there
    is no fixpoint after a few rounds, these rounds count for nothing: the result must not depend on
    where they stop.
    """
    if not domain.constraints:
        return domain
    tightened = _tightened(domain, preserve_size_one=preserve_size_one)
    opened = with_open_ends(tightened)
    if opened is tightened:
        return tightened
    return simplified_domain(opened, preserve_size_one=preserve_size_one)


def _tightened(domain: Domain, *, preserve_size_one: bool) -> Domain:
    preserved = PreservedVariables.of if preserve_size_one else _none_preserved
    domain = with_bounds_of_constraints(domain)
    is_plain = not preserve_size_one and not domain.parameters and not domain.is_known_empty
    found: list[Constraint] = []
    for group in connected(domain.constraints):
        alone = domain.with_constraints(group)
        domain = _remembered(alone) if is_plain else _tightened_group(alone, preserved)
        found += domain.constraints
    return domain.with_constraints().constrained(found)


def _remembered(domain: Domain) -> Domain:
    """The domain of a group of constraints, tightened once for all that differ in names alone."""
    alone = renumbered(domain, domain.constraints)
    found = _tightened_alone(alone.domain)
    if found.is_known_empty:
        return domain.emptied()
    known = [*bounding(found.bounds), *found.constraints]
    limits = substituted_constraints(known, alone.names)
    return domain.with_constraints().constrained(limits)


@lru_cache(maxsize=MAX_REMEMBERED)
def _tightened_alone(domain: Domain) -> Domain:
    return _tightened_group(domain, _none_preserved)


def _tightened_group(domain: Domain, preserved: Callable[[Domain], PreservedVariables]) -> Domain:
    domain = without_implied(domain)
    if not domain.constraints:
        return domain
    return _fixpoint(domain, preserved) or _normalized(domain, preserved)


def _none_preserved(_: Domain) -> PreservedVariables:
    return NONE_PRESERVED


def _fixpoint(domain: Domain, preserved: Callable[[Domain], PreservedVariables]) -> Domain | None:
    """Bounds, each constraint, and all of them together; ``None`` after too many rounds."""
    before = final = None
    alone = domain
    for _ in range(_MAX_ROUNDS):
        tightened = _with_sharper_bounds(domain)
        if tightened != before:
            before, alone = tightened, _normal(tightened, preserved(tightened))
        if alone == final:
            return alone
        together = without_redundancy(alone, preserved(alone))
        if together == domain:
            return domain
        # Constraints that do not change together need not be compared again.
        final = alone if together == alone else None
        domain = together
    return None


def _normalized(domain: Domain, preserved: Callable[[Domain], PreservedVariables]) -> Domain:
    """Each constraint for itself, and the bounds that follow."""
    for _ in range(_MAX_ROUNDS):
        following = _normal(domain, preserved(domain))
        if following == domain:
            break
        domain = following
    return domain


def _with_sharper_bounds(domain: Domain) -> Domain:
    """The domain with the bounds of variables that follow from the constraints."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = scope_with_facts(domain)
    if scope.is_empty:
        return domain.emptied()
    narrowed = {name: sharp for name, sharp in scope.bounds.items() if domain.bounds[name] != sharp}
    for name, side, _ in symbolic_ends(domain) if domain.parameters else ():
        if name in narrowed:  # an expression over parameters stays the end
            narrowed[name] = _without_end(narrowed[name], side)
    return domain.constrained(bounding(narrowed)) if narrowed else domain


def with_open_ends(domain: Domain) -> Domain:
    """The same points; a number is no end where one over parameters is no farther.

    ``d0 in [0, min(K - 1, 2)]`` is ``d0 in [0, K - 1]`` if ``K in [0, 3]``.
    """
    if not domain.parameters or domain.is_known_empty:
        return domain
    scope = scope_within(domain, domain.constraints_among(domain.parameter_identifiers))
    bounds: dict[str, Interval] = {}
    for name, side, end in symbolic_ends(domain):
        values = Interval.from_range(scope.range_of(scope.canonical(end)))
        beyond = _without_end(values, "upper" if side == "lower" else "lower")
        opened = without_implied_ends(domain.bounds[name], beyond)
        if opened != domain.bounds[name]:
            bounds[name] = opened
    return with_open_ends(domain.with_bounds(bounds, domain.constraints)) if bounds else domain


def _without_end(bounds: Interval, side: str) -> Interval:
    return Interval(None, bounds.upper) if side == "lower" else Interval(bounds.lower, None)


# Each constraint for itself, and remainders of one form together.


def _normal(domain: Domain, preserved: PreservedVariables) -> Domain:
    """Constraints in normal shape without those that bounds imply; remainders are merged."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = scope_within(domain, preserved.facts)
    remainders: list[Residues] = []
    others: list[Constraint] = []
    for constraint in preserved.hidden(domain.constraints):
        facts = normal(scope, constraint)
        if facts is None:
            return domain.emptied()
        read = [(fact, Residues.of(scope, fact)) for fact in facts]
        residues = [each for _, each in read if each is not None]
        rest = [extracted(scope, fact) for fact, each in read if each is None]
        is_costlier = _cost([*(each.constraint for each in residues), *rest]) > _cost([constraint])
        is_costlier &= not any(map(limited_variable, rest))  # it reads as an end
        remainders += () if is_costlier else residues
        others += [_in_given_shape(scope, constraint)] if is_costlier else rest
    left = merged(remainders)
    if left is None:
        return domain.emptied()
    written = [each.constraint_within(scope.range_of(each.form)) for each in left]
    if left:
        limits = (*bounding(domain.bounds), *others)
        others = [_ending_at(left, constraint) for constraint in limits]
    shown = preserved.shown([*written, *others])
    return domain.with_constraints().constrained(map(turned_to_variable, shown))


def _cost(constraints: Iterable[Constraint]) -> int:
    return sum(forms.cost_of_form(form) for form, _ in constraints)


def _in_given_shape(scope: Scope, constraint: Constraint) -> Constraint:
    """The constraint in the shape that it has, because normal shape costs more."""
    form = simplified_form(scope, constraint[0])
    interval = interval_within(form, constraint[1], forms.range_of(scope, form))
    return form.plus_constant(-form.constant), interval - form.constant


def _ending_at(remainders: list[Residues], constraint: Constraint) -> Constraint:
    """The constraint with an interval that ends at numbers with these remainders."""
    form, interval = constraint
    for each in remainders:
        said = None if interval.is_empty else each.about(form)
        if said is not None:
            interval = Interval.from_range(said.within(interval.ends))
    return form, interval


# By plain arithmetic.


def with_bounds_of_constraints(domain: Domain) -> Domain:
    """The same points with bounds in place of constraints on ``k*x + c`` or a quotient of it."""
    limits = [_bound_of(constraint) for constraint in domain.constraints]
    if not any(limits):
        return domain
    pairs = zip(domain.constraints, limits, strict=True)
    others = (constraint for constraint, limit in pairs if limit is None)
    return domain.with_constraints(others).constrained(filter(None, limits))


def _bound_of(constraint: Constraint) -> Constraint | None:
    form, interval = constraint
    fact = None if interval.is_empty else Fact.of(form, interval.ends)
    while fact is not None and len(fact.form.terms) == 1:
        if fact.form.is_affine:
            return fact.form, Interval.from_range(fact.ends)
        following = next(fact.numerators(), None)
        fact = Fact.of(*following) if following else None
    return None


def without_implied(domain: Domain) -> Domain:
    """The same points without constraints that the bounds imply."""
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
    """An interval that holds the form, by bounds alone."""
    if form.is_affine:
        ranges = {atom: domain.bounds[atom.name].ends for atom in form.terms}
        return Interval.from_range(forms.term_by_term(ranges, form))
    scope = scope_within(domain, ())
    if any(atom.kind in CONDITIONS for atom in form.terms):
        return forms.range_of(scope, form)
    return Interval.from_range(scope.range_of(scope.canonical(form)))


# Constraints that others imply.

_MAX_COMPARED: Final = 12
"""Constraints that share variables are compared with all others: time grows with the square."""

_MAX_COST_COMPARED: Final = 200
"""The cost of all of them: long ones take longer, as facts and as forms."""


def without_redundancy(domain: Domain, preserved: PreservedVariables) -> Domain:
    """The domain without implied constraints, and each other as small as the rest allows.

    The costliest constraint is looked at first.
    """
    if len(domain.constraints) <= 1 or domain.is_known_empty:
        return domain
    left: list[Constraint] = []
    for group in connected(preserved.hidden(domain.constraints)):
        if 1 < len(group) <= _MAX_COMPARED and _cost(group) <= _MAX_COST_COMPARED:
            needed = _needed(domain, group, preserved.facts)
            if needed is None:
                return domain.emptied()
            left += needed
        else:
            left += group
    return domain.with_constraints().constrained(preserved.shown(left))


def _needed(
    domain: Domain, group: list[Constraint], facts: tuple[Constraint, ...]
) -> list[Constraint] | None:
    """The constraints of the group that are needed; ``None`` if it contradicts itself."""
    left = sorted(group, key=lambda each: (forms.cost_of_form(each[0]), each[0].order))
    for constraint in left[::-1]:
        index = left.index(constraint)
        others = _comparable(constraint, left[:index] + left[index + 1 :])
        scope = scope_within(domain, (*facts, *others))
        if scope.is_empty:
            return None
        left[index : index + 1] = _beside_others(scope, constraint)
    return left


def _comparable(constraint: Constraint, others: list[Constraint]) -> tuple[Constraint, ...]:
    """The constraints that may imply another one.

    The bounds of a variable stay, whatever follows from constraints with other variables: so an end
    over parameters is compared only with what is on the same variable, and on parameters alone.
    """
    limited = limited_variable(constraint)
    if limited is None:
        return tuple(others)
    return tuple(
        other
        for other in others
        if all(name == limited or name[0] == PARAMETER for name in forms.variables_of(other[:1]))
    )


def _beside_others(scope: Scope, constraint: Constraint) -> list[Constraint]:
    """The constraint where the others hold; nothing if they imply it."""
    form, interval = constraint
    values = forms.range_of(scope, form)
    if interval.contains(values):
        return []
    smaller = simplified_form(scope, form)
    if forms.cost_of_form(smaller) >= forms.cost_of_form(form):
        smaller = form
    return [(smaller, interval_within(smaller, interval, values))]


# Conditions on parameters, written as a reader expects them when a map is made.
#
# They are not sharpened as in a simplified map: `M == N floordiv 2` is not `N - M * 2 in [0, 1]`.


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
