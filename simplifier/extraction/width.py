"""How wide integers a formula needs: the greatest absolute values of what is computed.

A formula is narrow if none of its parts goes beyond the `natural_width` of the form: the widest of
the result, the variables, and what the digits of the form are taken of.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import inf

from simplifier.bounds.context import term_by_term
from simplifier.bounds.digits import as_quotient, factors, is_power_of_two
from simplifier.bounds.interval import Range
from simplifier.bounds.ranges import ranges_as_written, sum_at_a_glance
from simplifier.canonical.scope import Scope
from simplifier.expr.form import EXTREMA, FLOORDIV, MAX, VARIABLE, Atom, Form, is_deep, postorder
from simplifier.extraction.cost import DIVISIONS


class Width:
    """The natural width of a form, worked out only as far as numbers are compared with it.

    Where something has no bounds, or is nested too deeply to be looked into, it is infinite.
    """

    __slots__ = ("_form", "_growing", "_scope", "known")

    def __init__(self, scope: Scope, form: Form) -> None:
        self.known: float = inf if is_deep(form) else 0
        """As much as was worked out: all of it once a number was too wide."""
        self._scope = scope
        self._form = form if scope.ranges.keys() >= form.terms.keys() else scope.canonical(form)
        self._growing = _growing_width(scope, self._form)

    def admits(self, number: float) -> bool:
        """Whether a number is not too wide."""
        while self.known < number:
            following = next(self._growing, None)
            if following is None:
                return False
            self.known = following
        return True

    def is_exceeded(self, form: Form) -> bool:
        """Whether a term of a form, or a number that it divides, divides by or compares, is wide.

        What a factor of a product is computed from is looked into, too.
        """
        return not all(map(self._fits, self._computed(form)))

    def _computed(self, form: Form) -> Iterator[Form]:
        """The terms of a form, and the numbers that their factors are computed from.

        Less the operands of the canonical form, which fit, and extrema, which do if theirs do.
        """
        for atom, factor in form.terms.items():
            if abs(factor) != 1 or atom.kind not in EXTREMA:
                yield Form(0, {atom: factor})
            if atom not in self._form.terms:
                for each in factors(atom):  # a number that it divides by is not computed
                    is_computed = each.kind not in DIVISIONS or bool(each.arguments[1].terms)
                    yield from each.arguments if is_computed else each.arguments[:1]

    def _fits(self, form: Form) -> bool:
        """Whether no value is too wide, at a glance or by all that is known."""
        scope = self._scope
        for ends in (sum_at_a_glance, _range_of):
            widest = magnitude(ends(scope, form))
            if widest is None:
                self.admits(1)  # where something has no bounds, that is seen first
            if self.known == inf or (widest is not None and self.admits(widest)):
                return True
        return widest is None


def _range_of(scope: Scope, form: Form) -> Range:
    return scope.range_of(scope.canonical(form))


def _growing_width(scope: Scope, form: Form) -> Iterator[float]:
    """The natural width of a canonical form as far as it is worked out, step by step."""
    known: float = 0
    for width in _widths_at_a_glance(scope, form):
        known = inf if width is None else max(known, width)
        yield known
    for width in _further_widths(scope, form):
        known = inf if width is None else _within_word(known, width)
        yield known


def _within_word(width: float, following: float) -> float:
    """The greater width, if it needs no more words of 32 bits than the first."""
    return max(width, following) if max(width, following) <= _word(width) else width


def _word(width: float) -> float:
    """The greatest integer of as many words of 32 bits."""
    if width == inf:
        return inf
    words = int(width).bit_length() // 32 + 1
    return (1 << (32 * words - 1)) - 1


def needs_no_more_words(one: Range, other: Range) -> bool:
    """Whether numbers in the second range need no more words of 32 bits than those in the first."""
    width, following = magnitude(one), magnitude(other)
    return width is None or (following is not None and following <= _word(width))


def natural_width(scope: Scope, form: Form) -> int | None:
    """The greatest absolute value that the mixed-radix form of another computes.

    ``None`` where something has no bounds, or is nested too deeply to be looked into.
    """
    if is_deep(form):
        return None
    known = scope.memory("widths")
    found = known.get(form.key, -1)
    if found == -1:
        width = Width(scope, form)
        width.admits(inf)
        found = known[form.key] = None if width.known == inf else int(width.known)
    return found


def _widest(widths: Iterator[int | None]) -> int | None:
    widest = 0
    for width in widths:
        if width is None:
            return None
        widest = max(widest, width)
    return widest


def magnitude(ends: Range) -> int | None:
    """The greatest absolute value in a range; ``None`` if there is none."""
    widest = max(-ends[0], ends[1])
    return widest if isinstance(widest, int) else None


def _widths_at_a_glance(scope: Scope, form: Form) -> Iterator[int | None]:
    """Widths of the variables of a form, of its operands, and its own; the cheapest first."""
    for atom in form.terms:
        if atom.kind is VARIABLE:
            yield magnitude(scope.ranges[atom])
    operands = [argument for atom in form.terms for argument in atom.arguments]
    for argument in sorted(operands, key=lambda each: each.depth):
        yield magnitude(scope.range_of(argument))
    yield magnitude(scope.range_of(form))


def _further_widths(scope: Scope, form: Form) -> Iterator[int | None]:
    """Widths of the sources of its digits, and of readings inside its operations."""
    rest = form
    for weight, unit in scope.view(form).units:
        if unit.quotient is not None:
            yield magnitude(scope.range_of(unit.source))
            yield magnitude(scope.range_of(reduced(unit.source, unit.radix)))
            rest = rest.plus(unit.value, -weight)
    for atom in form.terms:
        if divided := as_quotient(scope, atom):  # nested quotients divide by a product at once
            yield magnitude(_range_of(scope, divided[1]))
        if atom.kind is FLOORDIV:
            yield from _widths_of_quotient(scope, form, rest, atom)
        elif atom.kind is MAX:
            yield from _widths_of_maximum(scope, form, atom)
        yield from (natural_width(scope, each) for each in atom.arguments if each.terms)


def _widths_of_quotient(
    scope: Scope, form: Form, rest: Form, quotient: Atom
) -> Iterator[int | None]:
    """Widths of the numerator of the quotient with its multiples, counted from either end.

    Those that belong to a digit stay there, unless the source gets no steeper with them. A constant
    takes one bit at most. A multiple of the divisor may keep the numerator from being negative.
    """
    numerator, divisor = quotient.numerator, quotient.divisor
    sources = [_gathered(rest, quotient) if quotient in rest.terms else numerator]
    source = _gathered(form, quotient)
    if all(abs(value) <= abs(numerator.terms[atom]) for atom, value in source.terms.items()):
        sources.append(source)
    for source in sources:
        lower, upper = scope.range_of(source)
        last = divisor - 1
        width = _widest(map(magnitude, ((lower, upper), (last - upper, last - lower))))
        if width is not None and source.constant != numerator.constant:
            less = magnitude(scope.range_of(Form(numerator.constant, source.terms)))
            width = width if less is None else min(width, 2 * less)
        yield width
    if not is_power_of_two(divisor):
        lower, upper = scope.range_of(numerator)
        for low, high in ((lower, upper), (divisor - 1 - upper, divisor - 1 - lower)):
            if isinstance(low, int) and low < 0:
                yield magnitude((0, high - low + low % divisor))


def _widths_of_maximum(scope: Scope, form: Form, maximum: Atom) -> Iterator[int | None]:
    """Widths of its operands with what may move into them, which takes one bit at most.

    So ``1 - max(0, 1 - x)`` is ``min(x, 1)``.
    """
    factor = form.terms[maximum]
    close = {atom for operand in maximum.arguments for atom in operand.terms}
    near = {atom: value for atom, value in form.terms.items() if atom in close}
    if any(value % factor for value in (form.constant, *near.values())):
        return
    beside = Form(form.constant, near).exactly_divided(factor)
    if beside.terms or beside.constant:
        less = _widest(magnitude(scope.range_of(operand)) for operand in maximum.arguments)
        for operand in maximum.arguments:
            width = magnitude(scope.range_of(operand.plus(beside)))
            yield width if width is None or less is None else min(width, 2 * less)


def _gathered(form: Form, quotient: Atom) -> Form:
    """The source of a quotient with the multiples of its divisor that stand beside it."""
    return with_multiples(form, quotient.numerator, quotient.divisor, form.terms[quotient])


def with_multiples(form: Form, source: Form, divisor: int, weight: int) -> Form:
    """The numerator of such a quotient, with the multiples of its divisor that the form has.

    A constant alone comes back only to a source that has one.
    """
    whole = source
    for atom in source.terms:
        beside = form.terms.get(atom, 0)
        if beside and beside % weight == 0:
            whole = whole.plus_atom(atom, divisor * beside // weight)
    if form.constant % weight == 0 and (source.constant or whole != source):
        whole = whole.plus_constant(divisor * form.constant // weight)
    return whole


def reduced(form: Form, radix: int) -> Form:
    """The congruent form without negative coefficients."""
    terms = {atom: value % radix for atom, value in form.terms.items() if value % radix}
    return Form(form.constant % radix, terms)


def is_wide(scope: Scope, form: Form, tolerance: int = 1) -> bool:
    """Whether some part of a form, as it is written, goes beyond the natural width.

    It may do so by the tolerance, so many times.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> scope = scope_of((("x", Interval(0, 4095)),))
    >>> for text in ("x * 64 - (x floordiv 8) * 511", "(x mod 8) * 64 + x floordiv 8"):
    ...     print(is_wide(scope, parse_form(text)))
    True
    False
    """
    widest = width_as_written(scope, form)
    natural = Width(scope, form)
    return not natural.admits(widest) and widest > natural.known * tolerance


def has_wide_term(scope: Scope, form: Form) -> bool:
    """Whether a term of a sum is wider than natural by more than half.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> scope = scope_of((("x", Interval(0, 255)),))
    >>> for text in ("x * 2 - (x floordiv 64) * 125", "x * 2 - x mod 6"):
    ...     print(has_wide_term(scope, parse_form(text)))
    True
    False
    """
    ranges = ranges_as_written(scope, (form,))
    widest = _widest(magnitude(term_by_term(ranges, term)) for term in _terms(form))
    return not Width(scope, form).admits(inf if widest is None else widest * 2 // 3)


def width_as_written(scope: Scope, form: Form) -> float:
    """The greatest absolute value of any part of a form; infinite where something has no bounds.

    Parts are all terms, and the sums inside operations; the form is as wide as its value.
    """
    ranges = ranges_as_written(scope, (form,))
    sums = [argument for atom in ranges for argument in atom.arguments]
    parts = chain(sums, *map(_terms, (form, *sums)))
    widest = _widest(magnitude(term_by_term(ranges, part)) for part in parts)
    return inf if widest is None else widest


def _terms(form: Form) -> Iterator[Form]:
    return (Form(0, {atom: factor}) for atom, factor in form.terms.items())


def divides_by_negative(form: Form) -> bool:
    """Whether some constant divisor in a form is negative.

    >>> from simplifier.expr.text import parse_form
    >>> [divides_by_negative(parse_form(text)) for text in ("x floordiv -3", "(-x) floordiv 3")]
    [True, False]
    """
    return any(atom.divisor < 0 for atom in postorder((form,)))
