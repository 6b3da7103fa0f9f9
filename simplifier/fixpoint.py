"""Canonical form and extraction in turn, until nothing changes: the cheapest form in a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.bounds.interval import Interval
from simplifier.bounds.ranges import range_as_written
from simplifier.expr.fold import fold
from simplifier.expr.form import EXTREMA, Atom, AtomKind, Form, combine, constant, postorder
from simplifier.expr.operations import floordiv, rebuilt
from simplifier.expr.size import is_deep
from simplifier.extraction import extracted, natural_cost
from simplifier.extraction.cost import cost_of_form
from simplifier.extraction.lower_bounds import least_cost_as_written, least_cost_of_parts
from simplifier.extraction.natural import is_plain
from simplifier.extraction.prices import FINE
from simplifier.extraction.width import divides_by_negative, is_wide
from simplifier.laws.catalogue.extrema import PRUNE
from simplifier.laws.catalogue.quotients import FLATTEN, REMAINDER
from simplifier.laws.rewrite_log import Rewrite
from simplifier.limits import (
    MAX_DEPTH,
    MAX_EXTRACTED_TERMS,
    MAX_TEAR,
    MAX_WIDENING,
    MIN_COST_TO_READ_AGAIN,
)

if TYPE_CHECKING:
    from simplifier.bounds.context import Context
    from simplifier.bounds.propagation import Smaller
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key


def simplified(scope: Scope, form: Form) -> Form:
    """The cheapest form found; simplifying it again changes nothing."""
    results = scope.memory(_Results)
    result = results.get(form.key)
    if result is None:
        is_cheapest = form.is_affine and _is_cheapest(scope, form)
        result = results[form.key] = form if is_cheapest else _fixpoint(scope, form)
    return result


class _Results(dict["Key", Form]):
    """The results of a scope, by the key of the form."""

    def __init__(self, _: Context) -> None:
        super().__init__()


def _is_cheapest(scope: Scope, form: Form) -> bool:
    """Whether an affine form is the cheapest at a glance: no variable of it has one value."""
    return scope.smaller is None and scope.log is None and scope.canonical(form) == form


def _fixpoint(scope: Scope, form: Form) -> Form:
    """Step after step, until nothing changes; of a cycle, its cheapest form."""
    path = [form]
    while (following := _step(scope, path[-1])) not in path:
        path.append(following)
    cycle = path[path.index(following) :]
    cheapest = min(cycle, key=lambda candidate: (cost_of_form(candidate), candidate.order))
    if scope.log is not None:
        scope.log.iterations[form.key] = path[: path.index(cheapest) + 1]
    return cheapest


def _step(scope: Scope, form: Form) -> Form:
    """The form extracted as it stands, or read in another way, where that is cheaper."""
    result = _extracted(scope, form)
    if (
        result != form
        and cost_of_form(result) >= MIN_COST_TO_READ_AGAIN
        and not is_plain(result)
        and not _is_large(form)
    ):
        result = _read_again(scope, form, result)
    return result if scope.smaller is None else _solved(scope, form, result, scope.smaller)


def _is_large(form: Form) -> bool:
    """Whether a form has too many operations, or too deeply nested, to be read in every way."""
    return is_deep(form) or len(postorder((form,))) > MAX_EXTRACTED_TERMS


def _read_again(scope: Scope, form: Form, result: Form) -> Form:
    """The result, or a cheaper one of the form with quotients gathered, or of its parts."""
    read = _gathered(form)
    if read is not None:
        other = _extracted(scope, read.after)
        if cost_of_form(other) < cost_of_form(result):
            scope.read(read)
            result = other
    return _cheapest_of_parts(scope, form, result)


def _solved(scope: Scope, form: Form, result: Form, smaller: Smaller[Scope]) -> Form:
    """What the form comes to in a smaller problem; where that costs more, the result."""
    solution = smaller.solution
    found = simplified(smaller.context, solution.substituted(form))
    restored = solution.restored(found)
    other = _extracted(scope, restored)
    if cost_of_form(other) >= cost_of_form(result):
        return result
    scope.solved(Rewrite(solution.laws_for(found), form, restored))
    return other


# The form as a whole, or its parts.


def _extracted(scope: Scope, form: Form) -> Form:
    """What is extracted of the canonical form; where that costs more, the form by its parts."""
    canonical = scope.canonical(form)
    if _is_torn(scope, form, canonical):
        parts = _cheapest_parts(scope, form)
        if is_kept(scope, parts):
            return parts
    result = extracted(scope, canonical)
    if result == form:
        return form
    if _is_no_costlier(result, form):
        return _cheapest_of_parts(scope, form, result) if _has_extremum(form) else result
    parts = _cheapest_parts(scope, form)
    return parts if is_kept(scope, parts) else result


def _is_torn(scope: Scope, form: Form, canonical: Form) -> bool:
    """Whether a canonical form shows so little of the form that no search leads back to it.

    Both it and its natural reading are many times costlier.
    """
    if canonical.depth < _TORN_DEPTH:
        return False
    most = cost_of_form(form) * MAX_TEAR
    return cost_of_form(canonical) > most and natural_cost(scope, canonical) > most


_TORN_DEPTH: Final = 2
"""How deep digits of digits are."""


def _is_no_costlier(result: Form, form: Form) -> bool:
    """Whether a result costs at most as much as a form; mostly that is seen at a glance."""
    cost = cost_of_form(result)
    return cost * FINE <= least_cost_as_written(form) or cost <= cost_of_form(form)


def is_kept(scope: Scope, form: Form) -> bool:
    """Whether a form may stay because it is cheaper.

    It may not if it divides by a negative number, or is a trick with wide integers.
    """
    return not (divides_by_negative(form) or is_wide(scope, form, MAX_WIDENING))


def _has_extremum(form: Form) -> bool:
    return any(atom.kind in EXTREMA for atom in form.terms)


def _cheapest_of_parts(scope: Scope, form: Form, result: Form) -> Form:
    """The result, or the form by its parts: as it stands it may say more than multiplied out."""
    if least_cost_of_parts(form, scope.canonical) >= cost_of_form(result) * FINE:
        return result
    log = scope.log
    before = None if log is None else log.parts.pop(form.key, None)
    parts = _by_parts(scope, form)
    if cost_of_form(parts) < cost_of_form(result) and is_kept(scope, parts):
        if log is not None:
            log.read.pop(form.key, None)
        return parts
    if log is not None:
        del log.parts[form.key]
        if before is not None:
            log.parts[form.key] = before
    return result


def _cheapest_parts(scope: Scope, form: Form) -> Form:
    """The form by its parts, or as it is: what several parts shared may get lost."""
    parts = _by_parts(scope, form)
    return form if cost_of_form(parts) > cost_of_form(form) else parts


def _by_parts(scope: Scope, form: Form) -> Form:
    """The form with each argument of its atoms extracted where that is cheaper."""
    parts: list[Form] = []

    def of_atom(atom: Atom, arguments: tuple[Form, ...]) -> Form:
        if atom.depth <= MAX_DEPTH:
            parts.extend(arguments)
            arguments = tuple(_cheaper(scope, argument) for argument in arguments)
            if atom.kind in EXTREMA:
                arguments = _undominated(scope, atom.kind, arguments)
        return rebuilt(atom, arguments)

    result = combine(form, fold((form,), of_atom, combine))
    if scope.log is not None:
        scope.log.parts[form.key] = [part for part in parts if _cheaper(scope, part) != part]
    return result


def _undominated(scope: Scope, kind: AtomKind, operands: tuple[Form, ...]) -> tuple[Form, ...]:
    """The operands of an extremum less those that another operand dominates."""
    ranges = [range_as_written(scope, operand) for operand in operands]
    if kind is AtomKind.MIN:
        best = min(upper for _, upper in ranges)
        kept = [lower < best or upper == best for lower, upper in ranges]
    else:
        best = max(lower for lower, _ in ranges)
        kept = [upper > best or lower == best for lower, upper in ranges]
    if not all(kept):
        scope.fired(PRUNE)
    return tuple(operand for operand, is_kept in zip(operands, kept, strict=True) if is_kept)


def _cheaper(scope: Scope, form: Form) -> Form:
    """What is extracted of the canonical form, unless the form itself is cheaper."""
    canonical = scope.canonical(form)
    if _is_torn(scope, form, canonical):
        return form
    result = extracted(scope, canonical)
    return form if cost_of_form(result) > cost_of_form(form) else result


def range_of(scope: Scope, form: Form) -> Interval:
    """An interval that holds every value of the form."""
    interval = Interval.from_range(range_as_written(scope, form))
    if scope.smaller is None:
        return interval
    within = scope.smaller.solution.substituted(form)
    return interval.intersect(range_of(scope.smaller.context, within))


# Quotients of one source, read as they are written.


def _gathered(form: Form) -> Rewrite | None:
    """The form without remainders by constants, and with one quotient for each quotient of another.

    In ``(N floordiv 36) * 36 + ((N floordiv 18) mod 2) * 18 + N mod 18`` the quotients by 36 and 18
    cancel, whatever ``N`` is. Each of them in canonical form may look so different under its bounds
    that nobody sees it any more. ``None`` where the canonical form sees as much: where no quotient
    is divided and nothing gets cheaper.
    """
    inside = postorder((form,))
    if not any(atom.kind is AtomKind.MOD and atom.divisor > 1 for atom in inside):
        return None
    after = combine(form, fold((form,), _as_quotient, combine))
    is_nested = any(_divides_by_number(atom) and _only_quotient(atom.numerator) for atom in inside)
    if not is_nested and cost_of_form(after) >= cost_of_form(form):
        return None
    return Rewrite((REMAINDER, FLATTEN), form, after)


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
    return (
        quotient if atom.kind is AtomKind.FLOORDIV else arguments[0].plus(quotient, -atom.divisor)
    )


def _divides_by_number(atom: Atom) -> bool:
    return atom.divisor > 1 and (atom.kind is AtomKind.FLOORDIV or atom.kind is AtomKind.MOD)


def _only_quotient(form: Form) -> Atom | None:
    """The quotient that is the only term of the form, with coefficient 1."""
    if len(form.terms) == 1:
        ((atom, factor),) = form.terms.items()
        if factor == 1 and atom.kind is AtomKind.FLOORDIV and atom.divisor > 1:
            return atom
    return None
