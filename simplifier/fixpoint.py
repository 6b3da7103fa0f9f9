"""Canonical form and extraction in turn, until nothing changes: the cheapest form in a scope."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from itertools import count
from math import inf
from typing import Final

from simplifier import conditions
from simplifier.bounds.interval import Interval
from simplifier.bounds.propagation import Smaller
from simplifier.bounds.ranges import range_as_written
from simplifier.canonical.scope import Scope, scope_of
from simplifier.conditions import Abstraction, is_logical
from simplifier.expr import form as forms
from simplifier.expr.form import EXTREMA, FLOORDIV, LOGICAL, Atom, AtomKind, Form
from simplifier.expr.operations import build, rebuilt, replace, substitute, without_common_factors
from simplifier.extraction import count_maxima, extracted, extracted_within, natural_cost, prices
from simplifier.extraction.cost import cost_of_form
from simplifier.extraction.natural import is_plain
from simplifier.extraction.steps import with_shared_numbers
from simplifier.laws.catalogue.floordiv import COMMON_FACTOR
from simplifier.laws.catalogue.maxima import PRUNE
from simplifier.laws.rewrite_log import Rewrite, RewriteLog
from simplifier.limits import (
    MAX_DEPTH,
    MAX_EXPANSION,
    MAX_EXPANSION_OF_DIGITS,
    MAX_EXTRACTED_TERMS,
    MAX_MAXIMA_INSIDE,
    MAX_MAXIMA_SEARCHED,
    MAX_WIDENING,
    MIN_COST_TO_READ_AGAIN,
)

_REMEMBERED_RESULTS: Final = 1 << 14
"""After so many results of one scope all are forgotten: each takes some kilobytes."""


def simplified(scope: Scope, form: Form) -> Form:
    """The cheapest form found; simplifying it again changes nothing."""
    results = scope.memory("results")
    result = results.get(form.key)
    if result is None:
        result = _simplified(scope, form)
        count = len(results)
        results[form.key] = result
        if scope.log is None:
            results[result.key] = result
            if count // _REMEMBERED_RESULTS < len(results) // _REMEMBERED_RESULTS:
                scope_of.cache_clear()  # whoever has a scope keeps it
    return result


def _simplified(scope: Scope, form: Form) -> Form:
    if _is_cheapest(scope, form):
        return form
    if scope.smaller is not None and scope.log is None:
        within = scope.of_variables_in(form)
        if within is not scope:
            return simplified(within, form)
    return _fixpoint(scope, form)


def _is_cheapest(scope: Scope, form: Form) -> bool:
    """Whether a form is the cheapest at a glance: affine, and no variable of it has one value."""
    if not form.is_affine or scope.smaller is not None or scope.log is not None:
        return False
    return scope.canonical(form) == form


def _fixpoint(scope: Scope, form: Form) -> Form:
    path = settled(form, partial(_remembered_step, scope))
    if scope.log is not None:
        scope.log.iterations[form.key] = path
    return path[-1]


def settled(form: Form, step: Callable[[Form], Form]) -> list[Form]:
    """The steps from a form until nothing changes; of a cycle, to its cheapest form."""
    path = [form]
    while (following := step(path[-1])) not in path:
        path.append(following)
    cycle = path[path.index(following) :]
    cheapest = min(cycle, key=lambda candidate: (cost_of_form(candidate), candidate.order))
    return path[: path.index(cheapest) + 1]


def _remembered_step(scope: Scope, form: Form) -> Form:
    if scope.log is not None:
        return _step(scope, form)
    if _is_cheapest(scope, form):
        return form
    steps = scope.memory("steps")  # forms meet on their ways
    if form.key not in steps:
        steps[form.key] = _step(scope, form)
    return steps[form.key]


def _step(scope: Scope, form: Form) -> Form:
    """The form extracted as it stands, or read in another way, where that is better."""
    inside = forms.postorder((form,))
    kinds = {atom.kind for atom in inside}
    if not kinds.isdisjoint(LOGICAL):
        return conditions.step(scope, form, _QUESTIONS)
    if scope.smaller is not None:
        result = _solved(scope, form, scope.smaller)
        if result != form:
            return result
    has_extrema = not (kinds.isdisjoint(EXTREMA) or _is_large(form, inside))
    extrema = _extrema_to_keep(scope, form) if has_extrema else ()
    if not extrema:
        result = _read(scope, form, inside)
    else:
        result = _with_extrema(scope, form, extrema)
        natural = natural_cost(scope, scope.canonical(form))
        if scope.facts or natural < cost_of_form(result):
            result = min(result, _read(scope, form, inside), key=cost_of_form)
    return result if result != form else _in_lowest_terms(scope, form)


def _in_lowest_terms(scope: Scope, form: Form) -> Form:
    """The form without the factors that numerators share with divisors, if it is no dearer."""
    result = without_common_factors(form)
    if result == form or cost_of_form(result) > cost_of_form(form):
        return form
    scope.read(Rewrite((COMMON_FACTOR,), form, result))
    return result


def _read(scope: Scope, form: Form, inside: Sequence[Atom]) -> Form:
    """The form extracted as a whole, or in parts, or as an abstraction: the cheapest of them."""
    result = _extracted(scope, form)
    if not _is_large(form, inside):
        is_dear = cost_of_form(result) >= MIN_COST_TO_READ_AGAIN
        if result != form and is_dear and not is_plain(result):
            result = _cheapest_of_parts(scope, form, result)
        is_settled = result == form or result.is_affine
        limit = inf if is_settled else prices.width_if_exceeded(scope, form, result)
        if limit < inf:
            result = _narrower(scope, form, result, limit)
        if limit < inf or (is_dear and (not is_plain(result) or inner_operations(result))):
            result = _abstracted(scope, form, result, limit)
    return result


def _is_large(form: Form, inside: Sequence[Atom]) -> bool:
    """Whether a form has too many operations, or too deeply nested, to be read in every way."""
    return forms.is_deep(form) or len(inside) > MAX_EXTRACTED_TERMS


def _abstracted(scope: Scope, form: Form, result: Form, limit: float) -> Form:
    """The result, or the form with variables for its inner operations simplified.

    That is taken where it is cheaper, or where the result has multiples beyond the limit.
    """
    operations = lasting_operations(scope, form)
    if not operations:
        return result
    abstraction = abstraction_of(scope, form, operations)
    inner = abstraction.scope
    canonical = inner.canonical(abstraction.form)
    if count_maxima(canonical) > MAX_MAXIMA_SEARCHED:
        return result
    # Subtracted terms may be part of a remainder that the search passed by. Elsewhere, where the
    # variables only rename parts of the canonical form, a search would start from the same form.
    is_searched = limit == inf and not subtracts(result)
    if is_searched and substitute([canonical], abstraction.meanings) == (scope.canonical(form),):
        return result
    meanings = {name: _cheaper(scope, each) for name, each in abstraction.meanings.items()}
    reading = _extracted if limit == inf else _step
    (other,) = substitute([reading(inner, abstraction.form)], meanings)

    def rank(reading: Form) -> tuple[bool, int]:
        return prices.goes_beyond(scope, reading, limit), cost_of_form(reading)

    is_better = rank(other) < rank(result) or (limit != inf and rank(other) == rank(result))
    is_costlier = cost_of_form(other) > cost_of_form(form) and is_kept(scope, form)
    if not is_better or is_costlier or not is_kept(scope, other):
        return result
    _log_abstraction(scope, inner, form, abstraction, other)
    return other


def _extrema_to_keep(scope: Scope, form: Form) -> Sequence[Atom]:
    """The extrema in divisions, where the canonical form holds too many maxima to be searched."""
    extrema = inner_extrema(form)
    if not extrema or count_maxima(scope.canonical(form)) <= MAX_MAXIMA_INSIDE:
        return ()
    return extrema


def _with_extrema(scope: Scope, form: Form, extrema: Sequence[Atom]) -> Form:
    """The form simplified with variables for some extrema; these by themselves."""
    abstraction = abstraction_of(scope, form, extrema)
    inner = abstraction.scope
    result = _restored(scope, simplified(inner, abstraction.form), abstraction)
    if cost_of_form(result) > cost_of_form(form):
        parts = _restored(scope, _cheapest_parts(inner, abstraction.form), abstraction)
        kept = [each for each in (form, parts) if is_kept(scope, each)]
        result = min((result, *kept), key=cost_of_form)
    if result != form:
        _log_abstraction(scope, inner, form, abstraction, result)
    return result


def _restored(scope: Scope, form: Form, abstraction: Abstraction) -> Form:
    """The form with the cheapest meanings of its variables, and quotients of one as a whole.

    So ``min(x, 31) floordiv 8`` is ``min(x floordiv 8, 3)``.
    """
    given = {
        name: meaning
        for name in forms.variables_of((form,))
        if (meaning := abstraction.meanings.get(name)) is not None
    }
    found = {name: simplified(scope, meaning) for name, meaning in given.items()}
    alone: dict[Atom, Form] = {}
    for atom in quotients_of(form, given):
        whole = Form(0, {atom: 1})
        by_parts, as_given = (substitute([whole], each)[0] for each in (found, given))
        alone[atom] = min(by_parts, _cheaper(scope, as_given), key=cost_of_form)
    (result,) = substitute([replace(form, alone)], found)
    shared = with_shared_numbers(result)
    return shared if cost_of_form(shared) < cost_of_form(result) else result


def _log_abstraction(
    scope: Scope, inner: Scope, form: Form, abstraction: Abstraction, after: Form
) -> None:
    """Log one step, by the laws applied to the abstraction and to the terms of its variables."""
    if scope.log is None:
        return
    steps = [*_steps(inner, abstraction.form)]
    for meaning in abstraction.meanings.values():
        steps += _steps(scope, meaning)
    laws = dict.fromkeys(law for step in steps for law in step.laws)
    scope.read(Rewrite(tuple(laws), form, after))
    scope.log.parts[after.key] = []


def _steps(scope: Scope, form: Form) -> Iterator[Rewrite]:
    """The steps from a form to its cheapest one, where that is known, or to an extracted one."""
    log = scope.log or RewriteLog()
    for begun in log.iterations.get(form.key, (form, form))[:-1]:
        if begun.key in log.read:
            yield log.read[begun.key]
        else:
            yield from whole_or_parts(scope, begun)


def _solved(scope: Scope, form: Form, smaller: Smaller[Scope]) -> Form:
    """The form simplified in a smaller problem; the form itself, where that costs as much."""
    solution = smaller.solution
    limit = cost_of_form(scope.canonical(form))
    found = _in_smallest(smaller.context, solution.substituted(form), limit)
    if found is None:
        return form
    restored = solution.restored(found)
    other = _extracted(scope, restored)
    if cost_of_form(other) >= cost_of_form(form):
        return form
    scope.solved(Rewrite(solution.laws_for(found), form, restored))
    return other


def _in_smallest(scope: Scope, form: Form, limit: int) -> Form | None:
    """The form with all equations solved, in terms of this problem.

    ``None`` where its canonical form costs as much there: nothing would vanish. The problems
    between are only passed: each would be searched for itself.
    """
    if scope.smaller is None:
        return simplified(scope, form) if cost_of_form(scope.canonical(form)) < limit else None
    solution, inner = scope.smaller
    found = _in_smallest(inner, solution.substituted(form), limit)
    if found is None:
        return None
    restored = solution.restored(found)
    scope.solved(Rewrite(solution.laws_for(found), form, restored))
    if scope.log is not None:
        scope.log.iterations[form.key] = [form, restored]
        scope.log.parts[restored.key] = []
    return restored


# The form as a whole, or its parts.


def _extracted(scope: Scope, form: Form) -> Form:
    """The extraction of the canonical form; where that costs more, the form by its parts."""
    canonical = scope.canonical(form)
    if canonical.depth >= _EXPANDED_DEPTH and _is_expanded(scope, form, canonical, MAX_EXPANSION):
        parts = _cheapest_parts(scope, form)
        if is_kept(scope, parts):
            return parts
    result = extracted(scope, canonical)
    if result == form:
        return form
    if cost_of_form(result) <= cost_of_form(form):
        return _cheapest_of_parts(scope, form, result) if _has_extremum(form) else result
    parts = _cheapest_parts(scope, form)
    return parts if is_kept(scope, parts) or _is_no_wider(scope, parts, result) else result


def _is_no_wider(scope: Scope, form: Form, result: Form) -> bool:
    """Whether a form needs no wider integers than a result, and divides by no negative number."""
    if prices.divides_by_negative(form):
        return False
    return prices.width_as_written(scope, form) <= prices.width_as_written(scope, result)


def _is_expanded(scope: Scope, form: Form, canonical: Form, expansion: float) -> bool:
    """Whether a canonical form shows so little of the form that no search leads back to it.

    Both it and its mixed-radix form are so many times costlier.
    """
    most = cost_of_form(form) * expansion
    return cost_of_form(canonical) > most and natural_cost(scope, canonical) > most


def _expansion_of_part(canonical: Form) -> float:
    """Greatest ratio of the cost of a part's canonical form to its own, if it is to be searched.

    Without maxima, that of digits of digits may be no costlier, and that of digits of numbers half
    as much again.
    """
    is_nested = canonical.depth >= _EXPANDED_DEPTH
    if count_maxima(canonical):
        return MAX_EXPANSION if is_nested else inf
    return 1 if is_nested else MAX_EXPANSION_OF_DIGITS


_EXPANDED_DEPTH: Final = 2
"""How deep digits of digits are."""


def is_kept(scope: Scope, form: Form) -> bool:
    """Whether a form may stay because it is cheaper.

    It may not if it divides by a negative number, or is a trick with wide integers.
    """
    return not (prices.divides_by_negative(form) or prices.is_wide(scope, form, MAX_WIDENING))


def _has_extremum(form: Form) -> bool:
    return any(atom.kind in EXTREMA for atom in form.terms)


def _cheapest_of_parts(scope: Scope, form: Form, result: Form) -> Form:
    """The result, or the form by its parts: as it stands it may say more than multiplied out."""
    return _parts_if(scope, form, result, lambda parts: cost_of_form(parts) < cost_of_form(result))


def _narrower(scope: Scope, form: Form, result: Form, limit: float) -> Form:
    """An extracted form, the form by its parts, or as it stands: all of it within the limit."""
    most: float = inf
    if is_kept(scope, form):
        result, most = form, cost_of_form(form)

    def is_better(other: Form) -> bool:
        return cost_of_form(other) <= most and not prices.goes_beyond(scope, other, limit)

    found = _extracted_within(scope, form, limit, is_better)
    return _parts_if(scope, form, result, is_better) if found is None else found


def _extracted_within(
    scope: Scope, form: Form, limit: float, is_better: Callable[[Form], bool]
) -> Form | None:
    """The extraction where no term may be beyond the limit, if that is better."""
    canonical, log = scope.canonical(form), scope.log
    if natural_cost(scope, canonical) > cost_of_form(form):
        return None  # no search leads back
    steps = {}
    if log is not None:
        steps, log.extracted = log.extracted, steps
    result = extracted_within(scope, canonical, limit)
    is_taken = is_better(result)
    if log is not None:
        log.extracted = {**steps, **log.extracted} if is_taken else steps
    return result if is_taken else None


def _parts_if(scope: Scope, form: Form, result: Form, is_better: Callable[[Form], bool]) -> Form:
    log = scope.log
    before = None if log is None else log.parts.pop(form.key, None)
    parts = _by_parts(scope, form)
    if is_better(parts) and is_kept(scope, parts):
        if log is not None:
            log.read.pop(form.key, None)
        return parts
    if log is not None:
        del log.parts[form.key]
        if before is not None:
            log.parts[form.key] = before
    return result


def _cheapest_parts(scope: Scope, form: Form) -> Form:
    """The form by its parts, or as it is: a use shared by several parts may get lost."""
    parts = _by_parts(scope, form)
    return form if cost_of_form(parts) > cost_of_form(form) else parts


def _by_parts(scope: Scope, form: Form) -> Form:
    """The form with each argument of its atoms extracted where that is cheaper.

    An operation that is none on the domain leaves: ``x floordiv 1``.
    """
    parts: list[Form] = []

    def of_atom(atom: Atom, arguments: tuple[Form, ...]) -> Form:
        if atom.depth <= MAX_DEPTH:
            parts.extend(arguments)
            arguments = tuple(_cheaper(scope, argument) for argument in arguments)
            if atom.kind in EXTREMA:
                arguments = _undominated(scope, atom.kind, arguments)
            whole = Form(0, {atom: 1})
            value = scope.canonical(whole)
            if value.is_affine and cost_of_form(value) <= cost_of_form(whole):
                parts.append(whole)
                return value
        return rebuilt(atom, arguments)

    result = forms.combine(form, forms.fold((form,), of_atom, forms.combine))
    if scope.log is not None:
        scope.log.parts[form.key] = [part for part in parts if _cheaper(scope, part) != part]
    return result


def whole_or_parts(scope: Scope, form: Form) -> Iterator[Rewrite]:
    """The steps of the form as a whole, to its canonical form and from there; or of its parts."""
    log = scope.log or RewriteLog()
    for part in log.parts.get(form.key, (form,)):
        yield from log.operations(part)
        yield from log.extractions(scope.canonical(part))


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
    """The extraction of the canonical form, unless the form itself is cheaper."""
    if form.is_constant:
        return form
    canonical = scope.canonical(form)
    if _is_expanded(scope, form, canonical, _expansion_of_part(canonical)):
        return form
    result = extracted(scope, canonical)
    return form if cost_of_form(result) > cost_of_form(form) else result


def range_of(scope: Scope, form: Form) -> Interval:
    """An interval that holds every value of the form."""
    if not form.is_affine and is_logical(forms.postorder((form,))):
        return conditions.range_of(scope, form, _QUESTIONS)
    interval = Interval.from_range(range_as_written(scope, form))
    if scope.smaller is None:
        return interval
    within = scope.smaller.solution.substituted(form)
    return interval.intersect(range_of(scope.smaller.context, within))


_QUESTIONS: Final = conditions.Questions(simplified, range_of)


# Dividends of languages that round to 0.


def natural_dividend(atom: Atom, range_of: Callable[[Form], Interval]) -> tuple[Form, int] | None:
    """The numerator of a division and as many divisors as make it at least 0; and how many.

    ``None`` if none are known to be enough, or the divisor may be less than 1.
    """
    numerator, divisor = atom.arguments
    least, size = range_of(numerator).lower, range_of(divisor).lower
    if size is None or size < 1:
        return None
    for times in (0, 1, 0 if least is None else -(least // size)):
        more = numerator.plus(divisor, times) if times else numerator
        if Interval(0, None).contains(range_of(more)):
            return more, times
    return None


def with_natural_dividends(scope: Scope, given: Form, form: Form) -> Form:
    """The form with dividends of at least 0 as far as possible, as for languages that round to 0.

    If some may be negative, but none of the form that was given, it is that one.
    """
    ranges = partial(range_of, scope)

    def of_atom(atom: Atom, arguments: tuple[Form, ...]) -> Form:
        whole = rebuilt(atom, arguments)
        division = whole.only_atom
        if division is None or division.kind not in _DIVISIONS:
            return whole
        numerator, count = natural_dividend(division, ranges) or (division.numerator, 0)
        again = build(division.kind, (numerator, division.arguments[1]))
        return again if division.kind is AtomKind.MOD else again.plus_constant(-count)

    def is_natural(form: Form) -> bool:
        divisions = (atom for atom in forms.postorder((form,)) if atom.kind in _DIVISIONS)
        return all((natural_dividend(atom, ranges) or (form, 1))[1] == 0 for atom in divisions)

    natural = forms.combine(form, forms.fold((form,), of_atom, forms.combine))
    return given if is_natural(given) and not is_natural(natural) else natural


_DIVISIONS: Final = (AtomKind.FLOORDIV, AtomKind.QUOTIENT, AtomKind.MOD)


# Abstraction: an expression simplified with variables for its inner operations.
#
# In `((x mod 5) * 3 + x floordiv 5) floordiv 2` the digits of `x` become variables of their own,
# `(a * 3 + b) floordiv 2` with `a` in [0, 4]. Nothing is known of them but their ranges, so
# digits stay digits. The canonical form, which knows that both belong to `x`, may multiply them
# out into quotients that nobody reads, of greater numbers than the expression computes.


def abstraction_of(scope: Scope, form: Form, inner: Sequence[Atom]) -> Abstraction:
    """The form with a variable for each inner operation.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> scope = scope_of((("x", Interval(0, 59)),))
    >>> form = parse_form("((x mod 5) * 3 + x floordiv 5) floordiv 2")
    >>> found = abstraction_of(scope, form, inner_operations(form))
    >>> print(found.form)
    (inner.1 * 3 + inner.0) floordiv 2
    >>> for name, interval in found.scope.bounds.items():
    ...     print(name, "in", interval, "is", found.meanings[name])
    inner.0 in [0, 11] is x floordiv 5
    inner.1 in [0, 4] is x mod 5
    """
    taken = {*scope.bounds, *forms.variables_of((form,))}
    free = (name for index in count() if (name := f"{_PREFIX}{index}") not in taken)
    names = dict(zip(inner, free, strict=False))
    known = tuple(scope.bounds.items()), ()
    return conditions.abstracted(scope, form, names, partial(_interval, scope), known)


_PREFIX = "inner."
"""No text can name such a variable, but a symbol of SymPy may be called so."""


def inner_operations(form: Form) -> list[Atom]:
    """Digits of numbers, and extrema of such, that stand in other operations."""
    simple: set[Atom] = set()
    inner: dict[Atom, None] = {}
    for atom in forms.postorder((form,)):
        inside = [each for argument in atom.arguments for each in argument.terms if each.arguments]
        if _is_simple(atom, inside, simple):
            simple.add(atom)
        else:
            inner.update((each, None) for each in inside if each in simple)
    return list(inner)


def _is_simple(atom: Atom, inside: list[Atom], simple: set[Atom]) -> bool:
    """Whether an operation is a digit of a number without operations, or an extremum of numbers."""
    if atom.kind in EXTREMA:
        return all(each.kind in EXTREMA and each in simple for each in inside)
    if atom.divisor <= 0:
        return False
    return not inside or (atom.numerator.only_atom in simple and inside[0].divisor > 0)


def lasting_operations(scope: Scope, form: Form) -> list[Atom]:
    """The inner operations, less those that stand only in sums that are numbers.

    As a variable each of them would hide the number, which ``(x floordiv 3) * 3 + x mod 3`` is.
    """
    inner = inner_operations(form)
    if not inner:
        return inner
    lasting = {
        each
        for atom in forms.postorder((form,))
        for argument in atom.arguments
        if not scope.canonical(argument).is_affine
        for each in argument.terms
    }
    return [each for each in inner if each in lasting]


def subtracts(form: Form) -> bool:
    """Whether a coefficient is negative, also inside.

    >>> from simplifier.expr.text import parse_form
    >>> subtracts(parse_form("(x - y) floordiv 4")), subtracts(parse_form("x floordiv 4 + y"))
    (True, False)
    """
    inside = (argument for atom in forms.postorder((form,)) for argument in atom.arguments)
    return any(factor < 0 for each in (form, *inside) for factor in each.terms.values())


def inner_extrema(form: Form) -> list[Atom]:
    """The outermost extrema in divisions by numbers; products are not looked into.

    >>> from simplifier.expr.text import parse_form
    >>> found = inner_extrema(parse_form("max(min(max(x, 1), 9) mod 4, max(y, 2), 0) + max(x, 3)"))
    >>> print(*(Form(0, {atom: 1}) for atom in found))
    min(max(x, 1), 9)
    """
    found: dict[Atom, None] = {}
    seen: set[tuple[Atom, bool]] = set()
    waiting = [(atom, False) for atom in form.terms]
    while waiting:
        atom, is_inside = waiting.pop()
        is_extremum = atom.kind in EXTREMA
        if is_extremum and is_inside:
            found[atom] = None
        elif (is_extremum or atom.divisor) and (atom, is_inside) not in seen:
            seen.add((atom, is_inside))
            waiting += [
                (each, not is_extremum) for argument in atom.arguments for each in argument.terms
            ]
    return list(found)


def quotients_of(form: Form, names: Container[str]) -> list[Atom]:
    """The quotients of multiples of one of the named variables.

    >>> from simplifier.expr.text import parse_form
    >>> form = parse_form("((x + 1) floordiv 2 + z floordiv 4 + (x + y) floordiv 3) mod 5")
    >>> print(*(Form(0, {atom: 1}) for atom in quotients_of(form, {"x", "y"})))
    (x + 1) floordiv 2
    """
    found: list[Atom] = []
    for atom in forms.postorder((form,)):
        if atom.kind is FLOORDIV and len(atom.numerator.terms) == 1:
            (inner,) = atom.numerator.terms
            if inner.name in names:
                found.append(atom)
    return found


def _interval(scope: Scope, atom: Atom) -> Interval:
    return Interval.from_range(scope.range_of(scope.canonical(Form(0, {atom: 1}))))
