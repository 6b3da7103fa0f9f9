"""The domain of a map: bounds and constraints sharpen each other until nothing changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from indexing.simplification.constraints import normal, spelled
from indexing.simplification.kept import NOTHING, Kept
from indexing.simplification.redundancy import without_redundancy
from indexing.simplification.residues import Residues, merged
from indexing.simplification.scopes import scope_with_facts, scope_within
from simplifier import Interval
from simplifier import form as forms
from simplifier.cost import cost_of_form
from simplifier.settling import range_of
from simplifier.settling import simplified as simplified_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indexing.domain import Constraint, Domain
    from simplifier.facts import Fact
    from simplifier.form import Form
    from simplifier.scope import Scope

_ROUNDS: Final = 16
"""How often bounds and constraints may sharpen each other."""


def simplified_domain(domain: Domain, *, preserve_size_one: bool = False) -> Domain:
    """The same points with sharper bounds, and few constraints in normal shape.

    Some constraints chase each other in small steps, such as ``a < b < c < d < a``. So that it does
    not matter where the chase is stopped, such constraints do not sharpen anything.
    """
    if not domain.constraints:
        return domain
    kept = Kept.of if preserve_size_one else _nothing
    sharpened = _settled(domain, lambda each: _sharpened(each, kept))
    return sharpened or _settled(domain, lambda each: _normal(each, kept(each))) or domain


def _settled(domain: Domain, step: Callable[[Domain], Domain]) -> Domain | None:
    """Step after step until nothing changes; ``None`` if that takes too many."""
    for _ in range(_ROUNDS):
        following = step(domain)
        if following == domain:
            return domain
        domain = following
    return None


def _nothing(_: Domain) -> Kept:
    return NOTHING


def _sharpened(domain: Domain, kept: Callable[[Domain], Kept]) -> Domain:
    domain = _tightened(domain)
    domain = _normal(domain, kept(domain))
    return without_redundancy(domain, kept(domain))


def _tightened(domain: Domain) -> Domain:
    """Bounds narrowed by what constraints leave to single variables."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = scope_with_facts(domain)
    if scope.is_empty:
        return domain.emptied()
    bounds = scope.bounds
    return domain.constrained((forms.variable(place), bounds[place]) for place in domain.places)


# Each constraint for itself, and remainders together.


def _normal(domain: Domain, kept: Kept) -> Domain:
    """Constraints in normal shape, none that bounds imply; remainders of one form are merged."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = scope_within(domain, kept.facts)
    remainders: list[Residues] = []
    others: list[Constraint] = []
    for constraint in kept.hidden(domain.constraints):
        facts = normal(scope, constraint)
        if facts is None:
            return domain.emptied()
        read, rest = _parted(scope, facts)
        if _cost(rest) + sum(each.cost for each in read) > cost_of_form(constraint[0]):
            others.append(_as_given(scope, constraint))
        else:
            remainders += read
            others += rest
    left = merged(remainders)
    if left is None:
        return domain.emptied()
    written = [each.constraint_within(scope.range_of(each.form)) for each in left]
    intervals = _ending_at(left, [*_bounds(domain), *others])
    return replace(domain, constraints=()).constrained(kept.shown([*written, *intervals]))


def _parted(scope: Scope, facts: Iterable[Fact]) -> tuple[list[Residues], list[Constraint]]:
    """The facts about remainders, and the others as they are written."""
    remainders: list[Residues] = []
    others: list[Constraint] = []
    for fact in facts:
        read = Residues.of(scope, fact)
        if read is None:
            others.append(spelled(scope, fact))
        else:
            remainders.append(read)
    return remainders, others


def _cost(constraints: Iterable[Constraint]) -> int:
    return sum(cost_of_form(form) for form, _ in constraints)


def _as_given(scope: Scope, constraint: Constraint) -> Constraint:
    """The constraint as it stands, where normal shape is dearer."""
    form = simplified_form(scope, constraint[0])
    interval = constraint[1].intersect(range_of(scope, form))
    return form.plus_constant(-form.constant), interval - form.constant


def _bounds(domain: Domain) -> list[Constraint]:
    return [(forms.variable(place), bounds) for place, bounds in domain.bounds.items()]


def _ending_at(remainders: list[Residues], constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints with intervals that end at numbers that remainders leave."""
    return [(form, _ending(form, interval, remainders)) for form, interval in constraints]


def _ending(form: Form, interval: Interval, remainders: list[Residues]) -> Interval:
    for each in remainders:
        said = None if interval.is_empty else each.about(form)
        if said is not None:
            interval = Interval.from_range(said.within(interval.ends))
    return interval
