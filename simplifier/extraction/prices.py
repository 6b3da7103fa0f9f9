"""Prices: how wide a form is, and the fine costs by which forms are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from math import gcd, inf
from typing import Final, TypeAlias

from simplifier.bounds.context import term_by_term
from simplifier.bounds.interval import Range, meet
from simplifier.bounds.ranges import range_as_written, range_at_a_glance, ranges_as_written
from simplifier.canonical.scope import Scope
from simplifier.expr.form import (
    EXTREMA,
    FLOORDIV,
    MAX,
    VARIABLE,
    Atom,
    AtomKind,
    Form,
    is_deep,
    postorder,
)
from simplifier.extraction.cost import (
    DIVISIONS,
    USED_AGAIN,
    divided_by_digits,
    division_of,
    overlaps,
)

CostOf: TypeAlias = "Callable[[Atom], int]"


# How wide integers a formula needs: the greatest absolute values of what is computed.
#
# An extracted form is narrow if none of its parts goes beyond the `natural_width` of the form: the
# widest of the result, the variables, and what the digits of the form are taken of.


class Width:
    """The natural width of a form, worked out only as far as numbers are compared with it.

    Where something has no bounds, or is nested too deeply to be looked into, it is infinite. A
    number beyond the limit is too wide, too, unless the width is infinite.
    """

    __slots__ = ("_further", "_limit", "known")

    def __init__(self, scope: Scope, form: Form, limit: float = inf) -> None:
        canonical = scope.canonical(form)
        known = None if is_deep(form) else _widest(_widths_at_a_glance(scope, canonical))
        self.known: float = inf if known is None else known
        """As much as was worked out: all of it once a number was too wide."""
        self._further = _further_widths(scope, canonical)
        self._limit = limit

    @property
    def is_infinite(self) -> bool:
        """Whether no number is too wide."""
        return self.known == inf

    def admits(self, number: float) -> bool:
        """Whether a number is not too wide."""
        least = number if number <= self._limit else inf
        while self.known < least:
            following = next(self._further, -1)
            if following == -1:
                return False
            self.known = inf if following is None else max(self.known, following)
        return True

    def admits_at_a_glance(self, number: float) -> bool:
        """Whether a number is seen not to be too wide by the widths computed so far."""
        return number <= self.known and number <= self._limit


def natural_width(scope: Scope, form: Form) -> int | None:
    """The greatest absolute value that the mixed-radix form of another computes.

    ``None`` where something has no bounds, or is nested too deeply to be looked into.
    """
    if is_deep(form):
        return None
    known = scope.memory("widths")
    found = known.get(form.key, -1)
    if found == -1:
        canonical = scope.canonical(form)
        widths = chain(_widths_at_a_glance(scope, canonical), _further_widths(scope, canonical))
        found = known[form.key] = _widest(widths)
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
    lower, upper = ends
    if isinstance(lower, int) and isinstance(upper, int):
        return max(abs(lower), abs(upper))
    return None


def _widths_at_a_glance(scope: Scope, form: Form) -> Iterator[int | None]:
    """Widths of the form, its variables, and its operands; the cheapest first.

    Mostly the first number that is infinite ends the question.
    """
    for atom in form.terms:
        if atom.kind is VARIABLE:
            yield magnitude(scope.ranges[atom])
    for atom in form.terms:
        for argument in atom.arguments:
            yield magnitude(scope.range_of(argument))
    yield magnitude(scope.range_of(form))


def _further_widths(scope: Scope, form: Form) -> Iterator[int | None]:
    """Widths of the sources of its digits, and of readings inside its operations."""
    rest = form
    for weight, unit in scope.view(form).units:
        if unit.quotient is not None:
            yield from _widths_of_digit(scope, unit.source, unit.radix)
            rest = rest.plus(unit.value, -weight)
    for atom in form.terms:
        if atom.kind is FLOORDIV:
            yield from _widths_of_quotient(scope, form, rest, atom)
        elif atom.kind is MAX:
            yield from _widths_of_maximum(scope, form, atom)
        for argument in atom.arguments:
            yield natural_width(scope, argument)


def _widths_of_digit(scope: Scope, source: Form, radix: int) -> Iterator[int | None]:
    """Widths of the source of the digit, also without negative coefficients."""
    yield magnitude(scope.range_of(source))
    yield magnitude(scope.range_of(reduced(source, radix)))


def _widths_of_quotient(
    scope: Scope, form: Form, rest: Form, quotient: Atom
) -> Iterator[int | None]:
    """Widths of the numerator of the quotient with its multiples, counted from either end.

    Those that belong to a digit stay there, unless the source gets no steeper with them. A constant
    takes one bit at most.
    """
    numerator, divisor = quotient.numerator, quotient.divisor
    sources = [_gathered(rest, quotient) if quotient in rest.terms else numerator]
    source = _gathered(form, quotient)
    if all(abs(value) <= abs(numerator.terms[atom]) for atom, value in source.terms.items()):
        sources.append(source)
    for source in sources:
        turned = (-source).plus_constant(divisor - 1)
        width = _widest(magnitude(scope.range_of(counted)) for counted in (source, turned))
        if width is not None and source.constant != numerator.constant:
            less = magnitude(scope.range_of(Form(numerator.constant, source.terms)))
            width = width if less is None else min(width, 2 * less)
        yield width


def _widths_of_maximum(scope: Scope, form: Form, maximum: Atom) -> Iterator[int | None]:
    """Widths of its operands with the constant, which takes one bit at most.

    So ``1 - max(0, 1 - x)`` is ``min(x, 1)``.
    """
    beside, rest = divmod(form.constant, form.terms[maximum])
    for operand in maximum.arguments if beside and not rest else ():
        less = magnitude(scope.range_of(operand))
        width = magnitude(scope.range_of(operand.plus_constant(beside)))
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
    return Form(
        form.constant % radix,
        {atom: value % radix for atom, value in form.terms.items() if value % radix},
    )


def is_wide(scope: Scope, form: Form, tolerance: int = 1) -> bool:
    """Whether some part of a form, as it is written, goes beyond the natural width.

    What the form divides or compares may do so by the tolerance, so many times; then all of it may
    as much.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> scope = scope_of((("x", Interval(0, 4095)),))
    >>> for text in ("x * 64 - (x floordiv 8) * 511", "(x mod 8) * 64 + x floordiv 8"):
    ...     print(is_wide(scope, parse_form(text)))
    True
    False
    """
    ranges = ranges_as_written(scope, (form,))
    natural = Width(scope, form)
    width = max(_widths_of_parts(ranges, form))
    if natural.admits(width):
        return False
    operands = max((_width_of_operand(ranges, atom) for atom in ranges), default=0)
    return width > operands or operands > natural.known * tolerance


def width_as_written(scope: Scope, form: Form) -> float:
    """The greatest absolute value of any part of a form; infinite where something has no bounds."""
    return max(_widths_of_parts(ranges_as_written(scope, (form,)), form))


def width_if_exceeded(scope: Scope, form: Form, result: Form) -> float:
    """The width of a form, if a multiple in a result of it is wider; infinity if none is.

    Mostly there is a number as wide at a glance.
    """
    width = width_of_multiples(scope, result)
    if not width or any(width <= known for known in _widths_of_numbers(scope, form)):
        return inf
    limit = _width_of_all(scope, form)
    return limit if width > limit else inf


def _widths_of_numbers(scope: Scope, form: Form) -> Iterator[float]:
    """The greatest absolute values of sums of variables in the operations of a form."""
    for atom in postorder((form,)):
        for argument in atom.arguments:
            if argument.terms and argument.is_affine:
                width = magnitude(scope.plain_range(scope.canonical(argument)))
                yield inf if width is None else width


def _width_of_all(scope: Scope, form: Form) -> float:
    """The greatest absolute value of a form and of any part of it."""
    own = magnitude(range_as_written(scope, form))
    return max(width_as_written(scope, form), inf if own is None else own)


def _widths_of_parts(ranges: Mapping[Atom, Range], form: Form) -> Iterator[float]:
    """Widths of the terms of a form, and of all sums inside. The form is as wide as its value."""
    yield from _widths_of_terms(ranges, form)
    for atom in ranges:
        for argument in atom.arguments:
            yield _width_of_sum(ranges, argument)


def _width_of_operand(ranges: Mapping[Atom, Range], atom: Atom) -> float:
    """Width of a dividend, also counted from its other end; of the operands of an extremum."""
    if atom.kind in EXTREMA:
        return max(_width_of_sum(ranges, operand) for operand in atom.arguments)
    if atom.kind not in DIVISIONS:
        return 0
    divisor = magnitude(term_by_term(ranges, atom.arguments[1]))
    return inf if divisor is None else _width_of_sum(ranges, atom.numerator) + divisor


def _width_of_sum(ranges: Mapping[Atom, Range], form: Form) -> float:
    """The greatest absolute value of a sum and of its terms, each by itself."""
    whole = magnitude(term_by_term(ranges, form))
    return max(inf if whole is None else whole, *_widths_of_terms(ranges, form))


def _widths_of_terms(ranges: Mapping[Atom, Range], form: Form) -> Iterator[float]:
    yield 0
    for atom, factor in form.terms.items():
        width = magnitude(term_by_term(ranges, Form(0, {atom: factor})))
        yield inf if width is None else width


def goes_beyond(scope: Scope, form: Form, limit: float) -> bool:
    """Whether some multiple in a form is beyond the limit."""
    return limit < inf and width_of_multiples(scope, form) > limit


def width_of_multiples(scope: Scope, form: Form) -> int:
    """The greatest absolute value of multiples that may be greater than the form.

    Terms may where another one has the other sign. What is divided may; but a factor of the divisor
    only puts quotients together: ``(x * 2 + y floordiv 64) floordiv 3`` as ``(x * 128 + y) floordiv
    192``. Forms without bounds do not count.
    """
    widths = (magnitude(range_as_written(scope, each)) for each in _multiples(form))
    return max((width for width in widths if width is not None), default=0)


def _multiples(form: Form) -> Iterator[Form]:
    if any(factor < 0 for factor in form.terms.values()):
        yield from _terms_with_factors(form)
    for atom in postorder((form,)):
        divisor = atom.divisor
        if divisor:
            source = Form(0, atom.numerator.terms)
            apart = {each: factor // gcd(factor, divisor) for each, factor in source.terms.items()}
            if apart != source.terms:
                yield from _terms_with_factors(Form(0, apart))
            elif max(map(abs, apart.values()), default=0) > 1:
                yield source


def _terms_with_factors(form: Form) -> Iterator[Form]:
    for atom, factor in form.terms.items():
        if abs(factor) > 1:
            yield Form(0, {atom: factor})


def divides_by_negative(form: Form) -> bool:
    """Whether some constant divisor in a form is negative.

    >>> from simplifier.expr.text import parse_form
    >>> [divides_by_negative(parse_form(text)) for text in ("x floordiv -3", "(-x) floordiv 3")]
    [True, False]
    """
    return any(atom.divisor < 0 for atom in postorder((form,)))


# Fine costs, by which the search compares forms.
#
# Of forms of equal cost, the one with fewer terms is better, then the one with fewer numbers, then
# that with fewer signs. A form that needs wider integers than the problem is worse than any.

FINE: Final = 4096
"""The cost of an operator in fine units."""

TERM: Final = 256
"""The cost of a further term of a sum, beside that of the operator, in fine units."""

NUMBER: Final = 8
"""The cost of a number in fine units; a negative one costs 1 more."""

WIDE: Final = 1 << 48
"""The cost of a term that needs wider integers than the problem: above any number of operators."""


NO_LIMIT: Final = 1 << 200
"""Above all costs."""


class Prices:
    """The costs of sums in fine units, where ``cost_of`` gives those of atoms.

    A term that may be beyond the width costs :data:`WIDE`.
    """

    __slots__ = ("_cost_of", "_glances", "_is_alone", "_magnitudes", "_scope", "_width")

    def __init__(
        self, scope: Scope, cost_of: CostOf, width: Width, *, is_alone: bool = True
    ) -> None:
        self._scope = scope
        self._cost_of = cost_of
        self._width = width
        self._is_alone = is_alone
        self._magnitudes: dict[Atom, int | None] = {}
        self._glances: dict[Atom, int | None] = {}

    def sum(self, form: Form, further: int = 0, limit: int = NO_LIMIT) -> int:
        """The cost of a form and, if ``further`` is not zero, of one more term of this weight.

        What the further term costs itself is not counted. Beyond the limit it is what the form
        costs at least: nobody asks then whether it is wide.
        """
        cost = fine_cost(form, self._cost_of, further, limit, is_alone=self._is_alone)
        if cost < limit and not self._width.is_infinite:
            for atom, factor in form.terms.items():
                if self._is_wide(atom, abs(factor)):
                    cost += WIDE
        return cost

    def _is_wide(self, atom: Atom, factor: int) -> bool:
        greatest = self._magnitudes.get(atom, -1)
        if greatest == -1:
            at_most = self._magnitude_at_a_glance(atom)
            if at_most is not None and self._width.admits_at_a_glance(factor * at_most):
                return False
            greatest = magnitude(range_of_spelled(self._scope, atom))
            self._magnitudes[atom] = greatest
        return greatest is not None and not self._width.admits(factor * greatest)

    def _magnitude_at_a_glance(self, atom: Atom) -> int | None:
        found = self._glances.get(atom, -1)
        if found == -1:
            found = self._glances[atom] = magnitude(range_at_a_glance(self._scope, atom))
        return found

    def is_narrow_term(self, operation: Form, weight: int) -> bool:
        """Whether an operation, if it is one, times its weight is not beyond the width."""
        if self._width.is_infinite:
            return True
        atom = operation.only_atom
        return atom is None or not self._is_wide(atom, abs(weight))

    def is_narrow(self, operands: Iterable[Form]) -> bool:
        """Whether no operand may be beyond the width."""
        return self._width.is_infinite or all(map(self._fits, operands))

    def _fits(self, operand: Form) -> bool:
        scope = self._scope
        if all(atom in scope.ranges for atom in operand.terms):
            greatest = magnitude(scope.plain_range(operand))
            if greatest is not None and self._width.admits_at_a_glance(greatest):
                return True
        greatest = magnitude(scope.range_of(scope.canonical(operand)))
        return greatest is None or self._width.admits(greatest)


def range_of_spelled(scope: Scope, atom: Atom) -> Range:
    """The range of an atom of an extracted form."""
    ends = scope.ranges.get(atom)
    if ends is None:
        ends = scope.range_of(scope.canonical(Form(0, {atom: 1})))
        if atom.kind is AtomKind.MOD and atom.divisor > 0:
            ends = meet(ends, (0, atom.divisor - 1))
    return ends


def fine_cost(
    form: Form, cost_of: CostOf, further: int = 0, limit: int = NO_LIMIT, *, is_alone: bool = True
) -> int:
    """The cost in fine units of a form, and of one more term of this weight.

    A sum that is not alone stands beside a positive term, so that it needs no sign of its own.
    Beyond the limit it is a cost without digits that overlap.
    """
    terms, constant = form.terms, form.constant
    count = len(terms)
    multipliers: set[int] = set()
    negative = cost = 0
    if constant:
        count += 1
        cost = NUMBER
        negative = constant < 0
    if further:
        count += 1
        multipliers.add(abs(further))
        negative += further < 0
    if not count:
        return 0
    divisions = 0
    for atom, factor in terms.items():
        cost += cost_of(atom)
        if factor < 0:
            negative += 1
            multipliers.add(-factor)
        else:
            multipliers.add(factor)
        if atom.kind in DIVISIONS:
            divisions += 1
    multipliers.discard(1)
    operators = count - 1 + len(multipliers)
    if is_alone and negative == count and not (count == 1 and (multipliers or constant)):
        cost += FINE + TERM + 2 * NUMBER
    if divisions > 1:
        cost -= _shared(terms, cost_of)
    cost += operators * FINE + (count - 1) * TERM + len(multipliers) * NUMBER + negative
    if divisions and cost < limit:
        cost += overlaps(form) * (FINE + TERM)
    return cost


def _shared(terms: dict[Atom, int], cost_of: CostOf) -> int:
    """Savings by second uses of divisions."""
    seen = divided_by_digits(terms)
    saved = 0
    for atom in terms:
        if atom.kind in DIVISIONS:
            key = atom.division or division_of(atom)
            if key in seen:
                saved += cost_of(atom) - USED_AGAIN * FINE
            seen.add(key)
    return saved
