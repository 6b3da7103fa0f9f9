"""The domain of a map: bounds and constraints sharpen each other until nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.simplify.normal_form import (
    NOTHING,
    Kept,
    connected,
    normal,
    numerator,
    scope_with_facts,
    scope_within,
    spelled,
)
from indexing.simplify.redundancy import without_redundancy
from indexing.simplify.residues import Residues, merged
from simplifier import Interval
from simplifier.bounds.facts import Fact
from simplifier.bounds.ranges import term_by_term
from simplifier.expr import form as forms
from simplifier.extraction.cost import cost_of_form
from simplifier.fixpoint import range_of
from simplifier.fixpoint import simplified as simplified_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indexing.domain import Constraint, Domain
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


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
    domain = bounded(domain)
    groups = connected(domain.constraints)
    if len(groups) == 1:
        return _smallest(domain, kept)
    found: list[Constraint] = []
    for group in groups:
        domain = _smallest(domain.with_constraints(group), kept)
        found += domain.constraints
    return domain.with_constraints().constrained(found)


def _smallest(domain: Domain, kept: Callable[[Domain], Kept]) -> Domain:
    found = progression(domain)
    if found is None:
        domain = without_implied(domain)
        if not domain.constraints:
            return domain
        found = _sharpened(domain, kept) or _settled(domain, kept)
    return found


def _nothing(_: Domain) -> Kept:
    return NOTHING


def _sharpened(domain: Domain, kept: Callable[[Domain], Kept]) -> Domain | None:
    """Bounds, each constraint and all of them together; ``None`` if they take too many rounds."""
    before = final = None
    alone = domain
    for _ in range(_ROUNDS):
        tightened = _tightened(domain)
        if tightened != before:
            before, alone = tightened, _normal(tightened, kept(tightened))
        if alone == final:
            return alone
        together = without_redundancy(alone, kept(alone))
        if together == domain:
            return domain
        # Constraints that do not change together need not be compared again.
        final = alone if together == alone else None
        domain = together
    return None


def _settled(domain: Domain, kept: Callable[[Domain], Kept]) -> Domain:
    """Each constraint for itself, and what that says of bounds."""
    for _ in range(_ROUNDS):
        following = _normal(domain, kept(domain))
        if following == domain:
            break
        domain = following
    return domain


def _tightened(domain: Domain) -> Domain:
    """Bounds narrowed by what constraints leave to single variables."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = scope_with_facts(domain)
    if scope.is_empty:
        return domain.emptied()
    narrowed = [
        (forms.variable(identifier), scope.bounds[identifier])
        for identifier, bounds in domain.bounds.items()
        if scope.bounds[identifier] != bounds
    ]
    return domain.constrained(narrowed) if narrowed else domain


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
        is_dearer = _cost([*(each.constraint for each in read), *rest]) > _cost([constraint])
        remainders += () if is_dearer else read
        others += [_as_given(scope, constraint)] if is_dearer else rest
    left = merged(remainders)
    if left is None:
        return domain.emptied()
    written = [each.constraint_within(scope.range_of(each.form)) for each in left]
    if left:
        others = [_ending_at(left, constraint) for constraint in (*_bounds(domain), *others)]
    return domain.with_constraints().constrained(kept.shown([*written, *others]))


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
    return [(forms.variable(identifier), bounds) for identifier, bounds in domain.bounds.items()]


def _ending_at(remainders: list[Residues], constraint: Constraint) -> Constraint:
    """The constraint with an interval that ends at numbers that remainders leave."""
    form, interval = constraint
    for each in remainders:
        said = None if interval.is_empty else each.about(form)
        if said is not None:
            interval = Interval.from_range(said.within(interval.ends))
    return form, interval


def bounded(domain: Domain) -> Domain:
    """The same points: ``k*x + c``, or a quotient of it, in ``[l, u]`` is a bound of ``x``."""
    limits = [_limit(constraint) for constraint in domain.constraints]
    if not any(limits):
        return domain
    pairs = zip(domain.constraints, limits, strict=True)
    others = (constraint for constraint, limit in pairs if limit is None)
    return domain.with_constraints(others).constrained(filter(None, limits))


def _limit(constraint: Constraint) -> Constraint | None:
    form, interval = constraint
    fact = None if interval.is_empty else Fact.of(form, interval.ends)
    while fact is not None and len(fact.form.terms) == 1:
        if fact.form.is_affine:
            return fact.form, Interval.from_range(fact.ends)
        following = numerator(fact)
        fact = Fact.of(*following[0]) if following else None
    return None


def without_implied(domain: Domain) -> Domain:
    """The same points without the constraints that bounds imply."""
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
    """Between which values a form lies by bounds alone."""
    if form.is_affine:
        ranges = {atom: domain.bounds[atom.name].ends for atom in form.terms}
        return Interval.from_range(term_by_term(ranges, form))
    scope = scope_within(domain, ())
    return Interval.from_range(scope.range_of(scope.canonical(form)))


def progression(domain: Domain) -> Domain | None:
    """The same points, where all constraints are about one variable and leave one residue each.

    By the Chinese remainder theorem the residues are one, and bounds are moved inwards to it.
    """
    identifiers = [*forms.variables_of(form for form, _ in domain.constraints)]
    if len(identifiers) != 1:
        return None
    residues = [*map(Residues.as_written, domain.constraints)]
    if not all(each and (not each.count or each.form.single_variable()) for each in residues):
        return None
    left = merged(filter(None, residues))
    if left is None:
        return domain.emptied()
    (one,) = left
    values = one.within(domain.bounds[identifiers[0]].ends)
    bound = (one.form, Interval.from_range(values))
    return domain.with_constraints().constrained([bound, one.constraint_within(values)])
