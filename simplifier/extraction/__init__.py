"""Extraction: the cheapest form that is equal to a canonical one, found from a few candidates.

Each part of a sum, and each operand inside, is written by itself. Candidates are the part as it
stands, its mixed-radix form, and what one step makes of either; the cheapest is taken, as long as
steps help. What a form costs says :mod:`~simplifier.extraction.cost`, which integers it needs
:mod:`~simplifier.extraction.width`, which forms are equal :mod:`~simplifier.extraction.steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Final, NamedTuple, TypeAlias, TypeVar

from simplifier.bounds.digits import factors, is_power_of_two, is_symbolic_quotient
from simplifier.bounds.interval import Interval, Range
from simplifier.bounds.ranges import sum_at_a_glance
from simplifier.canonical.scope import Scope
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import FLOORDIV, MAX, ONE, Atom, AtomKind, Form, Key, is_deep, postorder
from simplifier.extraction.cost import Costs, CostsToReaders, operator_count_of_form
from simplifier.extraction.natural import DIGITS, cheapest_residue, is_plain, natural_reading
from simplifier.extraction.steps import (
    Step,
    extremum_steps,
    product_steps,
    quotient_steps,
    remainder_steps,
    sum_steps,
    with_common_dividends,
    with_shared_quotients,
)
from simplifier.extraction.width import Width, needs_no_more_words
from simplifier.laws.catalogue.floordiv import EXTRACTION, FLATTEN
from simplifier.laws.catalogue.steps import CONGRUENT_RESIDUES
from simplifier.laws.rewrite_log import Rewrite
from simplifier.limits import (
    MAX_DEPTH_SEARCHED,
    MAX_EXPANDED,
    MAX_EXTRACTED_TERMS,
    MAX_MAXIMA_SEARCHED,
    MAX_QUOTIENTS_SEARCHED,
    MAX_STEPS,
)
from simplifier.tools.graphs import connected_components

_Asked = TypeVar("_Asked")
_Found = TypeVar("_Found")


def extracted(scope: Scope, form: Form) -> Form:
    """The cheapest form found for a canonical form, arguments and all."""
    return form if form.is_affine else scope.once(FormWriter).written(form)


def read(scope: Scope, form: Form) -> Form:
    """The cheaper of a canonical form and its mixed-radix form, arguments and all."""
    return form if form.is_affine else scope.once(DigitWriter).written(form)


def in_digits(scope: Scope, form: Form) -> Form:
    """A form as sums of digits times strides of linear indices, where that is better to read."""
    if form.is_affine:
        return form
    writer = scope.once(_writer_for_readers_of)
    return min(writer.written(scope.canonical(form)), form, key=writer.costs.of)


def expanded(scope: Scope, form: Form) -> Form | None:
    """A form as a sum of products of digits; equal for forms with one canonical form.

    ``None`` if that is too long.

    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> print(expanded(scope_of(()), parse_form("(x mod 8 + y) * (s + 1) - (x floordiv 8) * 8")))
    (x mod 8) * s + s * y + x mod 8 + y - (x floordiv 8) * 8
    """
    found = scope.once(_SumWriter).written(scope.canonical(form))
    return found if operator_count_of_form(found) <= MAX_EXPANDED else None


def sharing(scope: Scope, form: Form) -> Rewrite:
    """A form with dividends that it has, and quotients of its quotients, where that is cheaper."""
    return scope.once(DigitWriter).shared[form]


def _sharing(cost: Callable[[Form], int], form: Form) -> Rewrite:
    best, laws = form, ()
    if sum(atom.divisor > 0 for atom in postorder((form,))) <= 1:
        return Rewrite(laws, form, best)
    while (found := min([best, *with_common_dividends(best)], key=cost)) != best:
        best, laws = found, (EXTRACTION, CONGRUENT_RESIDUES)
    nested = with_shared_quotients(best)
    if nested is not best and cost(nested) < cost(best):
        best, laws = nested, (*laws, FLATTEN)
    return Rewrite(laws, form, best)


def natural_dividend(atom: Atom, range_of: Callable[[Form], Interval]) -> tuple[Form, int] | None:
    """The numerator of a division and as many divisors as make it at least 0; and how many.

    ``None`` if none are known to be enough, or the divisor may be less than 1.
    """
    numerator, divisor = atom.arguments
    least = range_of(numerator).lower
    size = range_of(divisor).lower if divisor.terms else divisor.constant
    if size is None or size < 1:
        return None
    enough = 0 if least is None else max(0, -(least // size))
    for times in (0, 1, enough) if divisor.terms else (enough,):
        more = numerator.plus(divisor, times) if times else numerator
        is_enough = least is not None and least + times * size >= 0
        if is_enough or (times and Interval(0, None).contains(range_of(more))):
            return more, times
    return None


def with_natural_dividend(division: Atom, range_of: Callable[[Form], Interval]) -> Form:
    """A division with so many divisors more in its dividend that this is never negative."""
    numerator, count = natural_dividend(division, range_of) or (division.numerator, 0)
    again = operations.build(division.kind, (numerator, division.arguments[1]))
    return again if division.kind is AtomKind.MOD else again.plus_constant(-count)


def costs_of(scope: Scope) -> Costs:
    """The costs of forms under a scope."""
    return scope.once(DigitWriter).costs


def _writer_for_readers_of(scope: Scope) -> FormWriter:
    return FormWriter(scope, DigitWriter(scope, CostsToReaders))


class DigitWriter:
    """Writes canonical forms by their digits where that is cheaper, and remembers what it wrote.

    Meanwhile the atoms of a form have canonical operands, and stand for what they are written as.
    """

    def __init__(self, scope: Scope, costs: type[Costs] = Costs) -> None:
        self.scope = scope
        self.meanings: dict[Key, Form] = {}
        """The canonical forms of what was written."""
        self._may_be_negative = _Memo(self._is_below_zero).__getitem__
        self.costs = costs(self._may_be_negative)
        self.least = costs(lambda _: False)
        """The costs of forms if no dividend were negative."""
        self.shared = _Memo(partial(_sharing, self.costs.of))
        self._written: dict[Key, Form] = {}
        self.spelled = _Memo(self._operation)
        """Operations on canonical operands with these written; a symbolic divisor is positive."""
        self._residues = _Memo(self._find_residue)

    def written(self, form: Form) -> Form:
        """The cheapest form found that is equal, arguments and all."""
        if form.is_affine:
            return form
        found = self._written.get(form.key)
        if found is None:
            if form.depth > _SHALLOW:  # from the inside out, so that no call goes deep
                for atom in postorder((form,), skip=self.spelled.__contains__):
                    self.spelled[atom]
            steps = () if _is_large(form) else self._steps(form)
            self._log(steps)
            found = self._written[form.key] = self.combined(_end(form, steps))
            self.meanings[found.key] = form
        return found

    def _is_below_zero(self, form: Form) -> bool:
        return sum_at_a_glance(self.scope, form)[0] < 0 and self._range_of(form)[0] < 0

    def _range_of(self, form: Form) -> Range:
        return self.scope.range_of(self.scope.canonical(self.meanings.get(form.key, form)))

    def _log(self, steps: Sequence[Rewrite]) -> None:
        """Log steps during a trace, if no others from the same form were."""
        if self.scope.log is not None:
            for rewrite in steps:
                self.scope.log.rewrites["extracted"].setdefault(rewrite.before.key, rewrite)

    def _operation(self, atom: Atom) -> Form:
        operands = tuple([self.written(each) for each in atom.arguments])
        is_symbolic = atom.kind is AtomKind.QUOTIENT and bool(operands[1].terms)
        if is_symbolic and not operands[1].has_positive_term:
            operands = tuple([self.written(-each) for each in atom.arguments])
        whole = operations.rebuilt(atom, operands)
        division = whole.only_atom
        if division is None or division.divisor <= 0 or is_power_of_two(division.divisor):
            return whole
        if is_deep(whole) or not self._may_be_negative(division.numerator):
            return whole
        natural = with_natural_dividend(division, self._interval_of)
        (moved,) = natural.terms
        more = moved.numerator.constant - division.numerator.constant
        lower, upper = self._range_of(division.numerator)
        is_narrow = needs_no_more_words((lower, upper), (lower + more, upper + more))
        return min(whole, natural, key=self.costs.of) if is_narrow else whole

    def _interval_of(self, form: Form) -> Interval:
        return Interval.from_range(self._range_of(form))

    def combined(self, form: Form) -> Form:
        """A form with its operands written."""
        return forms.combine(form, self.spelled)

    def cost_of(self, form: Form) -> int:
        """The cost of a form with its operands written."""
        return self.costs.of(self.combined(form))

    def residue(self, source: Form, radix: int) -> Form:
        """The cheapest number congruent to a source."""
        return self._residues[source, radix]

    def _find_residue(self, remainder: tuple[Form, int]) -> Form:
        return cheapest_residue(self.scope, *remainder, self._cost_of_remainder)

    def _cost_of_remainder(self, form: Form, radix: int) -> int:
        return self.cost_of(form % radix)

    def _steps(self, form: Form) -> Sequence[Rewrite]:
        """The steps to a cheaper form with the same operands."""
        if form.depth <= MAX_DEPTH_SEARCHED:
            if any(atom.kind is MAX for atom in form.terms):
                if count_maxima(form) <= MAX_MAXIMA_SEARCHED:
                    return _Search(self, form, self, _moves_of_extrema).steps()
            elif any(map(_is_symbolic, form.terms)):
                return _Search(self, form, self, _moves_of_products).steps()
        if len(form.terms) > 1:
            steps = natural_reading(self.scope, form, self.residue)
            if steps and self.cost_of(steps[-1].after) <= self.cost_of(form):
                return steps
            if steps and Width(self.scope, form).is_exceeded(form):
                return steps
        return ()


class FormWriter(DigitWriter):
    """Writes canonical forms in the cheapest way found; what a step brings in is only read."""

    def __init__(self, scope: Scope, reader: DigitWriter | None = None) -> None:
        super().__init__(scope)
        self.reader = reader or scope.once(DigitWriter)
        self.costs = self.reader.costs
        self.meanings = self.reader.meanings
        self._searched = _Memo(self._search)

    def _log(self, steps: Sequence[Rewrite]) -> None:
        for rewrite in steps:
            self.scope.rewrote("extracted", rewrite)

    def _steps(self, form: Form) -> Sequence[Rewrite]:
        """The steps to the cheapest form, part by part."""
        steps: list[Rewrite] = []
        whole = form
        for part in self._parts(form):
            for laws, before, after in self._searched[part]:
                following = whole.plus(before, -1).plus(after)
                steps.append(Rewrite(laws, whole, following))
                whole = following
        return steps

    def _parts(self, form: Form) -> list[Form]:
        """Sums of terms without a variable in common; one has the constant, if that is cheaper."""
        parts = _parts(form)
        if len(parts) == 1 or not form.constant:
            return parts
        best, gain = 0, 0
        for place, part in enumerate(parts):
            if _holds_constant(part):
                joined = part.plus_constant(form.constant)
                saved = self._cost_of_part(part) + 1 - self._cost_of_part(joined)
                if saved > gain:
                    best, gain = place, saved
        if gain:
            parts[best] = parts[best].plus_constant(form.constant)
        return parts

    def _cost_of_part(self, part: Form) -> int:
        return self.cost_of(_end(part, self._searched[part]))

    def _search(self, part: Form) -> Sequence[Rewrite]:
        return () if part.is_affine else _Search(self, part, self.reader, _moves).steps()


class _Memo(dict[_Asked, _Found]):
    """What was asked, with answers that are found when it is asked for the first time."""

    def __init__(self, find: Callable[[_Asked], _Found], *known: tuple[_Asked, _Found]) -> None:
        super().__init__(known)
        self._find = find

    def __missing__(self, asked: _Asked) -> _Found:
        found = self[asked] = self._find(asked)
        return found


_SHALLOW: Final = 3
"""Nests that are no deeper are worked out when they are asked for, if they are."""


# Sums of products of digits, whatever they cost.

_Factors: TypeAlias = tuple[Atom, ...]


class _SumWriter(DigitWriter):
    """Writes sums by their digits, also those that are multiplied by common factors."""

    def _log(self, steps: Sequence[Rewrite]) -> None:
        """Nothing: the steps of a trace lead to the cheapest form."""

    def _steps(self, form: Form) -> Sequence[Rewrite]:
        written, seen = self._by_digits(form), set[_Factors]()
        while sums := {each: s for each, s in self._sums(written).items() if each not in seen}:
            common = max(sums, key=len)  # what is left over joins the sum without products
            seen.add(common)
            change = self._by_digits(sums[common]).plus(sums[common], -1)
            written = written.plus(_multiplied(change, common))
        return (Rewrite((), form, written),)

    def _by_digits(self, form: Form) -> Form:
        """The sum with as many digits as make it no longer."""
        steps = natural_reading(self.scope, form, lambda source, _: source)
        readings = [form, *(step.after for step in steps)]
        return min(reversed(readings), key=lambda each: len(each.terms) + bool(each.constant))

    def _sums(self, form: Form) -> dict[_Factors, Form]:
        """What is multiplied by the same factors, for all factors beside one."""
        found: dict[_Factors, dict[Atom, int]] = {}
        for atom, weight in form.terms.items():
            parts = factors(atom)
            for place, part in enumerate(parts):
                if part in self.scope.ranges:  # digits as they are written are not read again
                    found.setdefault((*parts[:place], *parts[place + 1 :]), {})[part] = weight
        return {common: Form(0, forms.in_order(terms)) for common, terms in found.items()}

    def _operation(self, atom: Atom) -> Form:
        """Multiples of the divisor leave a dividend whose digits are written."""
        whole = super()._operation(atom)
        division = whole.only_atom
        if division is None or division.divisor <= 0:
            return whole
        dividend, divisor = division.numerator, division.divisor
        left = {each: n // divisor for each, n in dividend.terms.items() if n % divisor == 0}
        inside = dividend.plus(Form(0, left), -divisor), division.arguments[1]
        rest = operations.build(division.kind, inside)
        return rest.plus(Form(0, left)) if division.kind is FLOORDIV else rest


def _multiplied(form: Form, common: _Factors) -> Form:
    """The form times factors, term by term."""
    beside = [Form(0, {atom: 1}) for atom in common]
    terms = [(weight, Form(0, {atom: 1})) for atom, weight in form.terms.items()]
    parts = [*terms, (form.constant, ONE)]
    return forms.weighted_sum((n, operations.product([part, *beside])) for n, part in parts)


# The cheapest form of a part.


class _Candidate(NamedTuple):
    """A form equal to the one searched, and the steps to it."""

    cost: int
    written: Form
    form: Form
    steps: tuple[Rewrite, ...]


_BY_DIGITS: Final = 1
"""A dividend hardly gets cheaper by more when its digits are written."""

_BY_EXTREMA: Final = 2
"""A dividend with maxima hardly gets cheaper by more when these are moved."""

_NEAR: Final = 1
"""Steps are tried from a canonical form that is so little dearer than its mixed-radix form."""


class _Search:
    """The search for the cheapest form that equals a part of a sum."""

    def __init__(self, writer: DigitWriter, part: Form, reader: DigitWriter, moves: Moves) -> None:
        self._scope = writer.scope
        self._reader = reader
        self._costs = writer.costs
        self._part = part
        self._moves = moves
        self._seen: set[Key] = set()
        """What was priced: nothing is better that was not before."""
        written = [(atom, writer.spelled[atom]) for atom in part.terms]
        self._spelled = _Memo(reader.spelled.__getitem__, *written)

    @cached_property
    def _width(self) -> Width:
        return Width(self._scope, self._part)

    def steps(self) -> tuple[Rewrite, ...]:
        """The steps to the cheapest form found."""
        part = self._part
        few, many = MAX_QUOTIENTS_SEARCHED
        quotients = sum(atom.kind is FLOORDIV for atom in part.terms)
        if quotients > many or (len(part.terms) == 1 and is_plain(part)):
            return ()
        start = best = self._candidate(part, ())
        steps = tuple(natural_reading(self._scope, part, self._reader.residue))
        if steps:
            natural = self._candidate(steps[-1].after, steps)
            best = start if self._is_better(part, start.written, natural) else natural
        if quotients > few:
            return best.steps
        found = self._climbed(best)
        is_near = start.cost <= found.cost + _NEAR or any(map(_is_symbolic, part.terms))
        if best is not start and is_near:
            other = self._following(start, found)
            found = found if other is found else self._climbed(other)
        return found.steps

    def _climbed(self, best: _Candidate) -> _Candidate:
        """The end of the cheapest steps, as long as they help."""
        for _ in range(MAX_STEPS):
            if is_plain(best.form):
                break
            found = self._following(best, best)
            if found is best:
                break
            best = found
        return best

    def _following(self, origin: _Candidate, best: _Candidate) -> _Candidate:
        """The cheapest form one step away from the origin; the best, if none is better."""
        found = best
        for step in self._moves(self._scope, origin.form, self._reader):
            if not self._may_help(step, best.cost):
                continue
            after = step.result
            if after.key in self._seen:
                continue
            self._seen.add(after.key)
            written = self._spell(after)
            if self._is_better(after, written, found):
                steps = (*origin.steps, Rewrite(step.laws, origin.form, after))
                found = _Candidate(self._costs.of(written), written, after, steps)
        return found

    def _may_help(self, step: Step, cost: int) -> bool:
        """Whether a step may lead to a cheaper form: a dividend gets little cheaper by digits."""
        if step.kind not in DIGITS or step.operands[0].is_affine:
            return True
        operands = tuple([self._reader.combined(each) for each in step.operands])
        whole = self._spell(step.rest).plus(operations.build(step.kind, operands), step.weight)
        has_maxima = any(atom.kind is MAX for atom in step.operands[0].terms)
        saved = _BY_EXTREMA if has_maxima else _BY_DIGITS
        return self._reader.least.of(whole) <= cost + saved

    def _candidate(self, form: Form, steps: tuple[Rewrite, ...]) -> _Candidate:
        self._seen.add(form.key)
        written = self._spell(form)
        return _Candidate(self._costs.of(written), written, form, steps)

    def _spell(self, form: Form) -> Form:
        return forms.combine(form, self._spelled)

    def _is_better(self, form: Form, written: Form, best: _Candidate) -> bool:
        """Whether a form is cheaper than the best or, at the same cost, better to read; narrow."""
        costs = self._costs
        cost = costs.of(written)
        if cost > best.cost or written == best.written:
            return False
        if cost == best.cost and not costs.precedes(written, best.written):
            return False
        return not self._width.is_exceeded(form)


Moves: TypeAlias = "Callable[[Scope, Form, DigitWriter], Iterator[Step]]"
"""What one step makes of a form."""


def _moves(scope: Scope, form: Form, reader: DigitWriter) -> Iterator[Step]:
    if any(map(_is_symbolic, form.terms)):
        yield from product_steps(scope, form, reader.written)
    yield from sum_steps(scope, form)
    yield from remainder_steps(scope, form, reader.residue)
    yield from quotient_steps(scope, form)
    yield from extremum_steps(scope, form, reader.costs.of)


def _moves_of_products(scope: Scope, form: Form, reader: DigitWriter) -> Iterator[Step]:
    return product_steps(scope, form, reader.combined)


def _moves_of_extrema(scope: Scope, form: Form, reader: DigitWriter) -> Iterator[Step]:
    return extremum_steps(scope, form, reader.costs.of)


def _is_symbolic(atom: Atom) -> bool:
    return atom.kind is AtomKind.PRODUCT or is_symbolic_quotient(atom)


def _holds_constant(part: Form) -> bool:
    """Whether a constant beside a part may cancel one inside."""
    atoms = postorder((part,))
    return any(atom.kind is MAX or (atom.arguments and atom.numerator.constant) for atom in atoms)


def count_maxima(form: Form) -> int:
    """Number of maxima in a form: much can be moved in and out of each."""
    return sum(atom.kind is MAX for atom in postorder((form,)))


def _variables_in(atom: Atom) -> list[Atom]:
    inside = postorder(atom.arguments) if atom.inside is None else atom.inside
    return [inner for inner in inside if not inner.arguments] or [atom]


def _parts(form: Form) -> list[Form]:
    """Sums of terms without a variable in common, which stay apart in any extracted form."""
    terms = form.terms
    first, *others = map(_variables_in, terms)
    if all(not set(first).isdisjoint(each) for each in others):
        return [form]
    groups = connected_components(terms, _variables_in)
    if len(groups) == 1:
        return [form]
    affine = [first for first, *others in groups if not others and not first.arguments]
    others = [group for group in groups if group[0] not in affine]
    parts = [Form(0, forms.in_order({atom: terms[atom] for atom in group})) for group in others]
    return [*parts, Form(0, {atom: terms[atom] for atom in affine})] if affine else parts


def _end(form: Form, steps: Sequence[Rewrite]) -> Form:
    return steps[-1].after if steps else form


def _is_large(form: Form) -> bool:
    inside = [len(argument.terms) for atom in form.terms for argument in atom.arguments]
    return len(form.terms) + sum(inside) > MAX_EXTRACTED_TERMS or is_deep(form)
