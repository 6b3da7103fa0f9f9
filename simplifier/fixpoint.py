"""The smallest form of a form within a scope: written out, read again, until nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.bounds.interval import Interval
from simplifier.bounds.ranges import range_as_written, ranges_as_written
from simplifier.expr.fold import fold
from simplifier.expr.form import EXTREMA, Atom, Form, Kind, combine, constant, postorder
from simplifier.expr.operations import floordiv, rebuilt, replace
from simplifier.extraction import written
from simplifier.extraction.cost import cost_of_form
from simplifier.extraction.lower_bounds import UNIT, least_price_of_parts
from simplifier.laws.catalogue.extrema import PRUNE
from simplifier.laws.catalogue.quotients import FLATTEN, ONLY_VALUE, REMAINDER
from simplifier.laws.rewrite_log import Fact
from simplifier.limits import DEEPEST, WORTH_ANOTHER_WAY, is_large

if TYPE_CHECKING:
    from simplifier.bounds.equations import Solution
    from simplifier.canonical.scope import Scope


def simplified(scope: Scope, form: Form) -> Form:
    """The cheapest form found; simplifying it again changes nothing."""
    known = scope.simplified.get(form.key)
    if known is None:
        is_smallest = form.is_affine and _is_smallest(scope, form)
        known = scope.simplified[form.key] = form if is_smallest else _settled(scope, form)
    return known


def _is_smallest(scope: Scope, form: Form) -> bool:
    """Whether an affine form is the smallest at a glance: no variable of it has one value."""
    return scope.smaller is None and scope.journal is None and scope.canonical(form) == form


def _settled(scope: Scope, form: Form) -> Form:
    """Step after step, until nothing changes; in a round trip, its cheapest form."""
    trail = [form]
    while (following := _step(scope, trail[-1])) not in trail:
        trail.append(following)
    circle = trail[trail.index(following) :]
    cheapest = min(circle, key=lambda candidate: (cost_of_form(candidate), candidate.order))
    if scope.journal is not None:
        scope.journal.rounds[form.key] = trail[: trail.index(cheapest) + 1]
    return _without_constants(scope, cheapest)


def _without_constants(scope: Scope, form: Form) -> Form:
    """The form with a number for every part that interval arithmetic sees to have one value."""
    found = _filled(scope, form)
    if found is None:
        return form
    shorter = simplified(scope, found.after)
    if cost_of_form(shorter) > cost_of_form(form):
        return form
    scope.filled(found)
    return shorter


def _filled(scope: Scope, form: Form) -> Fact | None:
    """The form with a number for every part of one value, if there is one."""
    if form.depth <= 1:
        # The laws see as much of what holds no more than variables.
        return None
    found = ranges_as_written(scope, form)
    points = {
        atom: constant(lower)
        for atom, (lower, upper) in found.items()
        if isinstance(lower, int) and lower == upper and atom.kind is not Kind.OPAQUE
    }
    return Fact((ONLY_VALUE,), form, replace(form, points)) if points else None


def _step(scope: Scope, form: Form) -> Form:
    """The form spelled as it stands, or read in another way, where that is cheaper."""
    spelling = _spelled(scope, form)
    if spelling != form and cost_of_form(spelling) >= WORTH_ANOTHER_WAY and not is_large(form):
        spelling = _spelled_otherwise(scope, form, spelling)
    return spelling if scope.smaller is None else _solved(scope, form, spelling, *scope.smaller)


def _spelled_otherwise(scope: Scope, form: Form, spelling: Form) -> Form:
    """The spelling, or a cheaper one of what the form tells as it is written."""
    for read in (_gathered(form), _filled(scope, form)):
        if read is not None:
            other = _spelled(scope, read.after)
            if cost_of_form(other) < cost_of_form(spelling):
                scope.read(read)
                spelling = other
    return _cheapest_of_parts(scope, form, spelling)


def _solved(scope: Scope, form: Form, spelling: Form, solution: Solution, smaller: Scope) -> Form:
    """What the form comes to in a smaller problem; where that is dearer, the spelling."""
    found = simplified(smaller, solution.substituted(form))
    restored = solution.restored(found)
    other = _spelled(scope, restored)
    if cost_of_form(other) >= cost_of_form(spelling):
        return spelling
    scope.solved(Fact(solution.laws_for(found), form, restored))
    return other


def _spelled(scope: Scope, form: Form) -> Form:
    """The canonical form written out; where that is dearer, the form with its parts written out."""
    spelling = written(scope, scope.canonical(form))
    if spelling == form:
        return form
    if cost_of_form(spelling) <= cost_of_form(form):
        return _cheapest_of_parts(scope, form, spelling) if _has_extremum(form) else spelling
    return _by_parts(scope, form)


def _has_extremum(form: Form) -> bool:
    return any(atom.kind in EXTREMA for atom in form.terms)


def _cheapest_of_parts(scope: Scope, form: Form, spelling: Form) -> Form:
    """What is written may say more as it stands than multiplied out."""
    if least_price_of_parts(form, scope.canonical) >= cost_of_form(spelling) * UNIT:
        return spelling
    journal = scope.journal
    known = None if journal is None else journal.parts.pop(form.key, None)
    parts = _by_parts(scope, form)
    if cost_of_form(parts) < cost_of_form(spelling):
        if journal is not None:
            journal.read.pop(form.key, None)
        return parts
    if journal is not None:
        del journal.parts[form.key]
        if known is not None:
            journal.parts[form.key] = known
    return spelling


def _by_parts(scope: Scope, form: Form) -> Form:
    """The form with each argument of its atoms written out where that is cheaper."""
    values: dict[Atom, Form] = {}
    parts: list[Form] = []
    for atom in postorder((form,)):
        arguments = tuple(combine(argument, values) for argument in atom.arguments)
        if atom.depth <= DEEPEST:
            parts += arguments
            arguments = tuple(_cheaper(scope, argument) for argument in arguments)
            if atom.kind in EXTREMA:
                arguments = _undominated(scope, atom.kind, arguments)
        values[atom] = rebuilt(atom, arguments)
    if scope.journal is not None:
        scope.journal.parts[form.key] = [part for part in parts if _cheaper(scope, part) != part]
    return combine(form, values)


def _undominated(scope: Scope, kind: Kind, operands: tuple[Form, ...]) -> tuple[Form, ...]:
    """The operands of an extremum without those that another one never leaves behind."""
    ranges = [range_as_written(scope, operand) for operand in operands]
    if kind is Kind.MIN:
        best = min(upper for _, upper in ranges)
        kept = [lower < best or upper == best for lower, upper in ranges]
    else:
        best = max(lower for lower, _ in ranges)
        kept = [upper > best or lower == best for lower, upper in ranges]
    if not all(kept):
        scope.fired(PRUNE)
    return tuple(operand for operand, is_kept in zip(operands, kept, strict=True) if is_kept)


def _cheaper(scope: Scope, form: Form) -> Form:
    """The canonical form written out, unless the form itself is cheaper."""
    spelling = written(scope, scope.canonical(form))
    return form if cost_of_form(spelling) > cost_of_form(form) else spelling


def range_of(scope: Scope, form: Form) -> Interval:
    """An interval that holds every value of the form."""
    interval = Interval.from_range(range_as_written(scope, form))
    if scope.smaller is None:
        return interval
    solution, smaller = scope.smaller
    return interval.intersect(range_of(smaller, solution.substituted(form)))


# Quotients of one source, told by how they are written.


def _gathered(form: Form) -> Fact | None:
    """The form without remainders by constants, and with one quotient for each quotient of another.

    In ``(N floordiv 36) * 36 + ((N floordiv 18) mod 2) * 18 + N mod 18`` the quotients by 36 and 18
    cancel, whatever ``N`` is. Each of them in canonical form may look so different under its bounds
    that nobody sees it any more. ``None`` where the canonical form sees as much: where no quotient
    is divided and nothing gets cheaper.
    """
    inside = postorder((form,))
    if not any(atom.kind is Kind.MOD and atom.divisor > 1 for atom in inside):
        return None
    after = combine(form, fold((form,), _as_quotient, combine))
    is_nested = any(_divides_by_number(atom) and _only_quotient(atom.numerator) for atom in inside)
    if not is_nested and cost_of_form(after) >= cost_of_form(form):
        return None
    return Fact((REMAINDER, FLATTEN), form, after)


def _as_quotient(atom: Atom, arguments: tuple[Form, ...]) -> Form:
    """``N mod c = N - c*floor(N/c)``; ``floor((floor(N/g) + k)/c) = floor((N + g*k)/(g*c))``."""
    if not _divides_by_number(atom):
        return rebuilt(atom, arguments)
    source, divisor = arguments[0], atom.divisor
    inner = _only_quotient(source)
    if inner is not None:
        source = inner.numerator.plus_constant(source.constant * inner.divisor)
        divisor *= inner.divisor
    quotient = floordiv(source, constant(divisor))
    return quotient if atom.kind is Kind.FLOORDIV else arguments[0].plus(quotient, -atom.divisor)


def _divides_by_number(atom: Atom) -> bool:
    return atom.divisor > 1 and (atom.kind is Kind.FLOORDIV or atom.kind is Kind.MOD)


def _only_quotient(form: Form) -> Atom | None:
    """The quotient of which the form is the only multiple beside a constant, once."""
    if len(form.terms) == 1:
        ((atom, factor),) = form.terms.items()
        if factor == 1 and atom.kind is Kind.FLOORDIV and atom.divisor > 1:
            return atom
    return None
