"""Canonical form and extraction in turn, until nothing changes: the cheapest form in a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Final

from simplifier import conditions, extraction
from simplifier.bounds.digits import is_power_of_two
from simplifier.bounds.interval import Interval
from simplifier.bounds.propagation import Smaller
from simplifier.bounds.ranges import range_as_written
from simplifier.canonical.scope import Scope, scope_of
from simplifier.conditions import Abstraction, has_logic
from simplifier.expr import form as forms
from simplifier.expr.form import EXTREMA, Atom, AtomKind, Form
from simplifier.expr.operations import floordiv, rebuilt, substitute, without_common_factors
from simplifier.extraction import costs_of, count_maxima, extracted, read, with_natural_dividend
from simplifier.extraction.cost import overlaps
from simplifier.extraction.width import (
    divides_by_negative,
    has_wide_term,
    is_wide,
    width_as_written,
)
from simplifier.laws.catalogue.floordiv import ONLY_VALUE, SPLIT
from simplifier.laws.catalogue.maxima import PRUNE
from simplifier.laws.law import Law
from simplifier.laws.rewrite_log import Rewrite, RewriteLog
from simplifier.limits import MAX_DEPTH, MAX_DEPTH_ABSTRACTED, MAX_MAXIMA_SEARCHED, MAX_WIDENING

_REMEMBERED_RESULTS: Final = 1 << 14
"""After so many results of one scope all are forgotten: each takes some kilobytes."""


def simplified(scope: Scope, form: Form, *, is_alone: bool = True) -> Form:
    """The cheapest form found; simplifying it again changes nothing.

    What is computed beside a form that is not alone may share work with it, so its own spelling
    only stays where it is no longer as printed, either.
    """
    results = scope.memory("results" if is_alone else "results beside others")
    result = results.get(form.key)
    if result is None:
        result = _simplified(scope, form, is_alone=is_alone)
        count = len(results)
        results[form.key] = result
        if scope.log is None:
            results[result.key] = result
            if count // _REMEMBERED_RESULTS < len(results) // _REMEMBERED_RESULTS:
                scope_of.cache_clear()  # whoever has a scope keeps it
    return result


def _simplified(scope: Scope, form: Form, *, is_alone: bool) -> Form:
    if _is_cheapest(scope, form):
        return form
    if scope.smaller is not None and scope.log is None:
        within = scope.of_variables_in(form)
        if within is not scope:
            return simplified(within, form, is_alone=is_alone)
    path = settled(scope, form, partial(_remembered_step, scope, is_alone=is_alone))
    if scope.log is not None:
        scope.log.iterations[form.key] = path
    return path[-1]


def in_digits(scope: Scope, form: Form) -> Form:
    """A form as sums of digits times strides of linear indices, for those who read strides off.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> scope, form = scope_of((("x", Interval(0, 63)),)), parse_form("x - (x floordiv 8) * 4")
    >>> print(simplified(scope, form), "is", in_digits(scope, form))
    x - (x floordiv 8) * 4 is (x floordiv 8) * 4 + x mod 8
    """
    if has_logic(form):
        return form
    return extraction.in_digits(scope, form)


def _is_cheapest(scope: Scope, form: Form) -> bool:
    """Whether a form is the cheapest at a glance: affine, and no variable of it has one value."""
    if not form.is_affine or scope.smaller is not None or scope.log is not None:
        return False
    return scope.canonical(form) == form


def settled(scope: Scope, form: Form, step: Callable[[Form], Form]) -> list[Form]:
    """The steps from a form until nothing changes; of a cycle, to its cheapest form."""
    path = [form]
    while (following := step(path[-1])) not in path:
        path.append(following)
    begin = path.index(following)
    if begin == len(path) - 1:
        return path
    cheapest = min(path[begin:], key=costs_of(scope).rank)
    return path[: path.index(cheapest) + 1]


def _remembered_step(scope: Scope, form: Form, *, is_alone: bool) -> Form:
    if scope.log is not None:
        return _step(scope, form, is_alone=is_alone)
    if _is_cheapest(scope, form):
        return form
    # Forms meet on their ways.
    steps = scope.memory("steps" if is_alone else "steps beside others")
    if form.key not in steps:
        steps[form.key] = _step(scope, form, is_alone=is_alone)
    return steps[form.key]


def _step(scope: Scope, form: Form, *, is_alone: bool) -> Form:
    """The form written out in the cheapest way, or in a smaller problem."""
    plain = conditions.with_values(scope, form)
    if plain != form:
        return conditions.logged(scope, (ONLY_VALUE,), form, plain)
    if has_logic(form):
        return conditions.step(scope, form, _QUESTIONS)
    if scope.smaller is not None:
        result = _solved(scope, form, scope.smaller)
        if result != form:
            return result
    return _written(scope, form, is_alone=is_alone)


def _written(scope: Scope, form: Form, *, is_alone: bool = True) -> Form:
    """The cheapest of the canonical form written out, the form by its parts, and as it stands.

    Of a canonical form that is torn, of nested clamps, the best is found by abstraction, too.
    """
    costs, canonical = costs_of(scope), scope.canonical(form)
    is_torn = count_maxima(canonical) and costs.of(canonical) > max(_DEAR, costs.of(form) * _TORN)
    written = (read if is_torn else extracted)(scope, canonical)
    rewrite = extraction.sharing(scope, written)
    result = rewrite.after
    cost = costs.of(result)
    best = result
    if result != form and (cost >= _DEAR or costs.of(form) < cost * _MUCH):
        best = _best_reading(scope, form, result, is_alone=is_alone)
    lowest = without_common_factors(best)
    if lowest != best and costs.of(lowest) <= costs.of(best):
        scope.rewrote("shared", Rewrite((SPLIT,), best, lowest), form)
        return lowest
    if best == result != written:
        scope.rewrote("shared", rewrite, form)
    return best


def _best_reading(scope: Scope, form: Form, result: Form, *, is_alone: bool) -> Form:
    """The cheapest of a result, the form with inner operations abstracted, and itself by parts."""
    costs = costs_of(scope)
    laws, abstracted = _abstracted(scope, form)
    best = _best(scope, result, (abstracted, form), is_alone=is_alone)
    has_parts = len(form.terms) > 1 or form.depth > 1
    if has_parts and costs.of(form) < costs.of(best) * _MUCH:
        parts = _by_parts(scope, form)
        best = _best(scope, best, (parts, form), is_alone=is_alone)
        if best == parts:
            return best
        if scope.log is not None:
            del scope.log.parts[form.key]
    return best if best in (result, form) else conditions.logged(scope, laws, form, best)


def _abstracted(scope: Scope, form: Form) -> tuple[tuple[Law, ...], Form]:
    """The form with variables for its inner operations, written out; these by themselves."""
    operations = lasting_operations(scope, form) if form.depth <= MAX_DEPTH_ABSTRACTED else []
    if not operations:
        return (), form
    abstraction = abstraction_of(scope, form, operations)
    inner = abstraction.scope
    canonical = inner.canonical(abstraction.form)
    if count_maxima(canonical) > MAX_MAXIMA_SEARCHED:
        return (), form
    meanings = {name: _cheaper(scope, each) for name, each in abstraction.meanings.items()}
    (found,) = substitute([extracted(inner, canonical)], meanings)
    return tuple(dict.fromkeys(conditions.laws_logged(inner))), found


_MUCH: Final = 1.3
"""A form that costs so many times as much as what was found is not read by its parts."""

_TORN: Final = 1.2
"""A canonical form is torn if it costs so many times as much as the form, and over ``_DEAR``."""

_DEAR: Final = 24
"""A handful of divisions. Where less was found, a form that costs much more is not abstracted."""


def _best(scope: Scope, result: Form, others: Sequence[Form], *, is_alone: bool = True) -> Form:
    """The cheapest form; the result, if no other is better. The last of the others was given."""
    best, costs = result, costs_of(scope)
    for other in dict.fromkeys(others):
        if other != best and costs.prefers(other, best):
            is_short = is_alone or costs.operators(other) <= costs.operators(best)
            best = other if is_short and is_kept(scope, other, others[-1]) else best
    return best


def _solved(scope: Scope, form: Form, smaller: Smaller[Scope]) -> Form:
    """The form simplified in a smaller problem; the form itself, where that costs as much."""
    solution = smaller.solution
    limit = costs_of(scope).operators(scope.canonical(form))
    found = _in_smallest(smaller.context, solution.substituted(form), limit)
    if found is None:
        return form
    restored = solution.restored(found)
    other = _written(scope, restored)
    costs = costs_of(scope)
    if costs.of(other) >= costs.of(form):
        return form
    scope.rewrote("solved", Rewrite(solution.laws_for(found), form, restored))
    return other


def _in_smallest(scope: Scope, form: Form, limit: int) -> Form | None:
    """The form with all equations solved, in terms of this problem.

    ``None`` where its canonical form has as many operators there: nothing would vanish. The
    problems between are only passed: each would be searched for itself.
    """
    if scope.smaller is None:
        count = costs_of(scope).operators(scope.canonical(form))
        return simplified(scope, form) if count < limit else None
    solution, inner = scope.smaller
    found = _in_smallest(inner, solution.substituted(form), limit)
    if found is None:
        return None
    restored = solution.restored(found)
    scope.rewrote("solved", Rewrite(solution.laws_for(found), form, restored))
    if scope.log is not None:
        scope.log.iterations[form.key] = [form, restored]
        scope.log.parts[restored.key] = []
    return restored


# The form by its parts.


def is_kept(scope: Scope, form: Form, given: Form | None = None) -> bool:
    """Whether a form may stay because it is cheaper.

    It may not if it divides by a negative number, or is a trick with wide integers. Digits that are
    torn are one, when a term is wide. A form made of a given one may only be wide where that is as
    wide.
    """
    if divides_by_negative(form) or is_wide(scope, form, MAX_WIDENING):
        return False
    if overlaps(form) and has_wide_term(scope, form):
        return False
    if given is None or given == form or not is_wide(scope, form):
        return True
    return width_as_written(scope, form) <= width_as_written(scope, given)


def _by_parts(scope: Scope, form: Form) -> Form:
    """The form with each argument of its atoms extracted where that is cheaper.

    An operation that is none on the domain leaves: ``x floordiv 1``.
    """
    parts: list[Form] = []

    def of_atom(atom: Atom, arguments: tuple[Form, ...]) -> Form:
        if arguments and atom.depth <= MAX_DEPTH:
            parts.extend(arguments)
            arguments = tuple(_cheaper(scope, argument) for argument in arguments)
            if atom.kind in EXTREMA:
                arguments = _undominated(scope, atom.kind, arguments)
            whole = Form(0, {atom: 1})
            value = read(scope, scope.canonical(whole))
            own = rebuilt(atom, arguments)
            parts.append(whole)
            return _best(scope, value, (own,))
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
    if kind is AtomKind.MIN:  # the greatest of the negated operands
        ranges = [(-upper, -lower) for lower, upper in ranges]
    best = max(lower for lower, _ in ranges)
    kept = [upper > best or lower == best for lower, upper in ranges]
    if not all(kept):
        scope.fired(PRUNE)
    return tuple(operand for operand, is_kept in zip(operands, kept, strict=True) if is_kept)


def _cheaper(scope: Scope, form: Form) -> Form:
    """The canonical form written out, unless the form itself is cheaper."""
    if form.is_constant:
        return form
    return _best(scope, read(scope, scope.canonical(form)), (form,))


def range_of(scope: Scope, form: Form) -> Interval:
    """An interval that holds every value of the form."""
    if not form.is_affine and has_logic(form):
        return conditions.range_of(scope, form, _QUESTIONS)
    interval = Interval.from_range(range_as_written(scope, form))
    if scope.smaller is None:
        return interval
    within = scope.smaller.solution.substituted(form)
    return interval.intersect(range_of(scope.smaller.context, within))


_QUESTIONS: Final = conditions.Questions(partial(simplified, is_alone=False), range_of)


# What languages execute that round to 0.


def with_multiply_adds(scope: Scope, form: Form) -> Form:
    """The form with dividends in the place of remainders, where that costs no more.

    Machines multiply and add at once: times a number that is no power of two costs one less.
    Dividends are at least 0, and no number gets greater than the value of the sum.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> scope = scope_of((("x", Interval(0, 63)), ("y", Interval(0, 7))))
    >>> print(with_multiply_adds(scope, parse_form("(x floordiv 16) * 128 + x mod 16")))
    (x floordiv 16) * 112 + x
    >>> print(with_multiply_adds(scope, parse_form("y * 960 + (x mod 16) * 48 + x floordiv 16")))
    x * 48 + y * 960 - (x floordiv 16) * 767
    """
    cost_of = costs_of(scope).of

    def is_better(form: Form, flat: Form, number: Form, left: int) -> bool:
        if left >= 0:
            return cost_of(flat) <= cost_of(form)
        spared = not is_power_of_two(forms.content(number))
        is_narrow = range_of(scope, form).contains(range_of(scope, number))
        return is_narrow and cost_of(flat) <= cost_of(form) + spared

    def of_sum(form: Form) -> Form:
        for atom in form.terms:
            quotient = floordiv(*atom.arguments).only_atom if atom.kind is AtomKind.MOD else None
            weight = form.terms.get(atom, 0)
            taken = weight * atom.divisor
            factor = 0 if quotient is None else form.terms.get(quotient, 0)
            if quotient is not None and factor > 0 and taken > 0:
                number = atom.numerator.times(weight)
                flat = form.without(atom).plus(number).plus_atom(quotient, -taken)
                is_natural = _NATURAL.contains(range_of(scope, atom.numerator))
                if is_natural and is_better(form, flat, number, factor - taken):
                    form = flat
        return form

    found = forms.fold((form,), lambda atom, a: rebuilt(atom, tuple(map(of_sum, a))), forms.combine)
    return of_sum(forms.combine(form, found))


_NATURAL: Final = Interval(0, None)


def for_target(scope: Scope, given: Form, form: Form) -> Form:
    """The form with dividends of at least 0 as far as possible, and with multiply-adds."""
    return with_multiply_adds(scope, _with_natural_dividends(scope, given, form))


def _with_natural_dividends(scope: Scope, given: Form, form: Form) -> Form:
    """The form with dividends of at least 0 as far as possible.

    If some may be negative, but none of the form that was given, it is that one.
    """
    ranges = partial(range_of, scope)

    def of_atom(atom: Atom, arguments: tuple[Form, ...]) -> Form:
        whole = rebuilt(atom, arguments)
        division = whole.only_atom
        if division is None or division.kind not in _DIVISIONS:
            return whole
        return with_natural_dividend(division, ranges)

    def is_natural(form: Form) -> bool:
        divisions = (atom for atom in forms.postorder((form,)) if atom.kind in _DIVISIONS)
        found = (extraction.natural_dividend(atom, ranges) for atom in divisions)
        return all(each is not None and not each[1] for each in found)

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


def _interval(scope: Scope, atom: Atom) -> Interval:
    return Interval.from_range(scope.range_of(scope.canonical(Form(0, {atom: 1}))))
