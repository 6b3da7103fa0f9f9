"""The range of a form: the intersection of several readings, each sound on its own."""

from __future__ import annotations

from functools import reduce
from math import lcm
from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier.bounds.branches import branches, cancelling, maxima
from simplifier.bounds.context import UNBOUNDED, term_by_term
from simplifier.bounds.interval import (
    INFINITY,
    NEGATIVE_INFINITY,
    End,
    Infinity,
    Range,
    floordiv_range,
    meet,
)
from simplifier.bounds.linear import LinearFacts
from simplifier.bounds.multiplied_facts import at_most
from simplifier.bounds.polynomials import (
    common_factors,
    factors,
    monomial_form,
    multiples,
    symbolic_digits_apart,
)
from simplifier.bounds.symbolic_quotients import with_what_is_beside
from simplifier.expr.fold import fold
from simplifier.expr.form import FLOORDIV, MAX, VARIABLE, Atom, AtomKind, Form
from simplifier.expr.size import is_crowded, is_deep
from simplifier.laws.catalogue.lemmas import (
    BETWEEN_BRANCHES,
    BRANCHES_RANGE,
    BRANCHES_RANGE_NEGATIVE,
    CORNERS,
    DIGIT_RANGE,
    FACT_RANGE,
    FACTS_RANGE,
    MULTIPLIED_FACT,
    POWER_RANGE,
    PRODUCT_RANGE,
    QUOTIENT_RANGE,
    REMAINDER_RANGE,
    ROUNDING_RANGE,
    ROUNDINGS_RANGE,
    SUM_RANGE,
    SYMBOLIC_DIGIT,
)
from simplifier.limits import MAX_BITS, MAX_OPERANDS_COMPARED, MAX_RANGE_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from simplifier.bounds.context import Context, DigitView, Fact
    from simplifier.laws.law import Law

    Reading: TypeAlias = tuple[Law, Range]
    """A range, and the lemma that it rests on."""


def range_of(context: Context, form: Form, depth: int = MAX_RANGE_DEPTH) -> Range:
    """Lowest and highest value of a canonical form, by all readings."""
    ends = term_by_term(context.ranges, form)
    if len(form.terms) > 1 or (form.constant and context.facts):
        context.used(SUM_RANGE)
        if form.is_affine and not context.facts:
            return ends
        for lemma, reading in _readings(context, form, ends, depth):
            tighter = meet(ends, reading)
            if tighter != ends:
                context.used(lemma)
                ends = tighter
    return ends


def _readings(
    context: Context, form: Form, plain: Range, depth: int
) -> Iterator[tuple[Law, Range]]:
    if not depth or is_deep(form):
        return
    kinds = {atom.kind for atom in form.terms}
    if FLOORDIV in kinds and not is_crowded(form):
        # m*x - m*c*floor(x/c) is m times a digit.
        yield DIGIT_RANGE, context.view(form).ends()
        if (
            depth == MAX_RANGE_DEPTH
            or isinstance(plain[0], Infinity)
            or isinstance(plain[1], Infinity)
        ):
            yield from _without_rounding(context, form, depth)
        if depth == MAX_RANGE_DEPTH:
            yield from _without_any_rounding(context, form, depth)
    if MAX in kinds:
        yield from _by_maxima(context, form, depth)
    if AtomKind.PRODUCT in kinds:
        yield from _by_common_factor(context, form, depth)
        yield from _by_symbolic_digits(context, form, depth)
        yield from _by_multiplied_facts(context, form, plain, depth)
    if AtomKind.QUOTIENT in kinds and depth == MAX_RANGE_DEPTH:
        yield from with_what_is_beside(context, form)
    if context.facts:
        yield from _by_facts(context, form, depth)
        if depth == MAX_RANGE_DEPTH:
            yield from _by_facts_together(context, form)


def _without_rounding(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``floor(N/c)`` is ``(N - r)/c`` with ``r`` in ``[0, c-1]``.

    Worth a look where atoms of ``N`` occur in the form, or a fact speaks of the sum.
    """
    for atom, factor in form.terms.items():
        divisor = atom.divisor
        if atom.kind is not FLOORDIV or not factor % divisor:
            continue
        exact = form.without(atom).times(divisor).plus(atom.numerator, factor)
        if context.facts_about(exact) or any(inner in form.terms for inner in atom.numerator.terms):
            lower, upper = range_of(context, exact, depth - 1)
            if factor > 0:
                lower = lower - factor * (divisor - 1)
            else:
                upper = upper - factor * (divisor - 1)
            yield ROUNDING_RANGE, (-(-lower // divisor), upper // divisor)


def _without_any_rounding(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``f*floor(M/b) + g*floor(N/c)`` is ``(f*c*M + g*b*N)/(b*c)`` less what is rounded off.

    Worth a look where quotients of both signs are not all digits.
    """
    quotients = [atom for atom in form.terms if atom.kind is FLOORDIV]
    signs = {form.terms[atom] > 0 for atom in quotients}
    if len(signs) < 2 or not _has_single_quotient(context.view(form)):  # noqa: PLR2004 - both
        return
    whole = lcm(*[atom.divisor for atom in quotients])
    exact = form.without(*quotients).times(whole)
    least = most = 0
    for atom in quotients:
        weight = form.terms[atom] * whole // atom.divisor
        exact = exact.plus(atom.numerator, weight)
        least += min(weight, 0) * (atom.divisor - 1)
        most += max(weight, 0) * (atom.divisor - 1)
    lower, upper = range_of(context, exact, depth - 1)
    yield ROUNDINGS_RANGE, (-(-(lower - most) // whole), (upper - least) // whole)


def _has_single_quotient(view: DigitView) -> bool:
    """Whether some quotient belongs to no digit."""
    return any(unit.holds_quotient for _, unit in view.units)


def _by_maxima(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """By the branches of the first maximum; at the top, of every one."""
    found = maxima(form)
    for atom in (
        found if depth == MAX_RANGE_DEPTH and len(found) <= MAX_OPERANDS_COMPARED else found[:1]
    ):
        law = BRANCHES_RANGE if form.terms[atom] > 0 else BRANCHES_RANGE_NEGATIVE
        yield law, _by_branches(context, form, atom, depth - 1)


def _by_branches(context: Context, form: Form, atom: Atom, depth: int) -> Range:
    """``T + k*max(A, B)`` is one of ``T + k*A`` and ``T + k*B``: the lesser if ``k < 0``.

    Two branches ``A`` and ``B`` are on both sides of ``(p*A + q*B)/(p + q)``.
    """
    parts = branches(form, atom)
    ends = [range_of(context, part, depth) for part in parts]
    is_greatest = form.terms[atom] > 0
    choose = max if is_greatest else min
    lower, upper = choose(low for low, _ in ends), choose(high for _, high in ends)
    for p, q in cancelling(*parts) if len(parts) == 2 else ():  # noqa: PLR2004 - two branches
        context.used(BETWEEN_BRANCHES)
        low, high = range_of(context, parts[0].times(p).plus(parts[1], q), depth)
        if is_greatest:
            lower = max(lower, -(-low // (p + q)))
        else:
            upper = min(upper, high // (p + q))
    return lower, upper


def _by_facts(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``k*F + B`` lies between ``k`` times what is known of ``F`` and what ``B`` adds.

    Where terms of ``F`` are left over, only the whole form is read so.
    """
    for fact in context.facts:
        multiple = fact.multiple_in(form)
        if multiple:
            yield FACT_RANGE, _around_fact(context, fact, form, multiple, depth)
        elif depth == MAX_RANGE_DEPTH:
            for near in fact.multiples_near(form):
                yield FACT_RANGE, _around_fact(context, fact, form, near, depth)


def _around_fact(context: Context, fact: Fact, form: Form, multiple: int, depth: int) -> Range:
    """The range of a form, read as a multiple of the fact's form and the rest."""
    low, high = fact.ends if multiple > 0 else fact.ends[::-1]
    lower, upper = context.range_of(form.plus(fact.form, -multiple), depth - 1)
    return lower + multiple * low, upper + multiple * high


def _by_facts_together(context: Context, form: Form) -> Iterator[Reading]:
    """Facts and bounds, each as often as it takes to add up to the form."""
    ends = context.memory(_linear_facts).range_of(form, context.known_range)
    if ends is not None:
        yield FACTS_RANGE, ends


def _linear_facts(context: Context) -> LinearFacts:
    return LinearFacts(context.facts)


def _by_multiplied_facts(
    context: Context, form: Form, plain: Range, depth: int
) -> Iterator[Reading]:
    """What facts say of factors takes the place of their products; once, where an end is open."""
    if depth < MAX_RANGE_DEPTH:
        return
    if plain[1] == INFINITY and (bound := at_most(context, form)) is not None:
        yield MULTIPLIED_FACT, (NEGATIVE_INFINITY, range_of(context, bound, depth - 1)[1])
    if plain[0] == NEGATIVE_INFINITY and (bound := at_most(context, -form)) is not None:
        yield MULTIPLIED_FACT, (-range_of(context, bound, depth - 1)[1], INFINITY)


def _by_common_factor(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``G*A + S`` for factors ``G`` of all terms, or of those that are a digit with its stride."""
    common = common_factors(form)
    for group in (common,) if common else _strides(form):
        whole, rest = multiples(context, form, group)
        factor = range_of(context, monomial_form(context, group), depth - 1)
        lower, upper = product_range(factor, range_of(context, whole, depth - 1))
        least, most = range_of(context, rest, depth - 1)
        yield PRODUCT_RANGE, (lower + least, upper + most)


def _strides(form: Form) -> Iterator[tuple[Atom]]:
    """The variables that multiply a quotient in one term, and something else in another."""
    parts = [factors(atom) for atom in form.terms]
    seen = dict.fromkeys(factor for part in parts if len(part) > 1 for factor in part)
    for factor in seen:
        beside = [part for part in parts if factor in part]
        has_quotient = any(other.kind is FLOORDIV for part in beside for other in part)
        if factor.kind is VARIABLE and len(beside) > 1 and has_quotient:
            yield (factor,)


def _by_symbolic_digits(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``T + m*(L mod R)``, where the digit lies between 0 and ``R - 1``; so with all digits.

    The sum of ``T`` and the radix is looked at as a whole, for what the two have in common.
    """
    with context.aside():
        taken = list(symbolic_digits_apart(context, form))
    if not taken:
        return
    low = high = taken[-1].rest
    least: End = 0
    most: End = 0
    for _, weight, source, radix, _ in taken:
        ends = context.divisor_range(radix)
        if ends[0] >= 1:
            last = radix.plus_constant(-1)
            low, high = low.plus(last, min(weight, 0)), high.plus(last, max(weight, 0))
        else:
            context.used(REMAINDER_RANGE)
            lower, upper = _digit_range(context.range_of(source), ends)
            least = least + (weight * lower if weight > 0 else weight * upper)
            most = most + (weight * upper if weight > 0 else weight * lower)
    lower, upper = range_of(context, low, depth - 1)[0], range_of(context, high, depth - 1)[1]
    yield SYMBOLIC_DIGIT, (least + lower, most + upper)


def _digit_range(source: Range, radix: Range) -> Range:
    """A digit has the sign of its radix, and is not beyond the source if that has it, too."""
    lower, upper = min(radix[0] + 1, 0), max(radix[1] - 1, 0)
    if source[0] >= 0:
        upper = min(upper, source[1])
    if source[1] <= 0:
        lower = max(lower, source[0])
    return lower, upper


def product_range(left: Range, right: Range) -> Range:
    """The range of a product."""
    corners = [a * b for a in left for b in right]
    return _bounded(min(corners), max(corners))


def _bounded(lower: End, upper: End) -> Range:
    """A range, or a wider one where its ends would grow without limit."""
    limit = 1 << MAX_BITS
    return (
        NEGATIVE_INFINITY if lower < -limit else min(lower, limit),
        INFINITY if upper > limit else max(upper, -limit),
    )


def monomial_range(context: Context, atoms: Iterable[Atom]) -> Range:
    """The range of a product of atoms; a power by its parity."""
    exponents: dict[Atom, int] = {}
    for atom in atoms:
        exponents[atom] = exponents.get(atom, 0) + 1
    ends: Range = (1, 1)
    for atom, exponent in exponents.items():
        context.used(POWER_RANGE if exponent > 1 else PRODUCT_RANGE)
        ends = product_range(ends, _power_range(context.ranges[atom], exponent))
    return ends


def _power_range(ends: Range, exponent: int) -> Range:
    low, high = (_power(end, exponent) for end in ends)
    if exponent % 2 or ends[0] >= 0:
        return _bounded(low, high)
    return _bounded(high, low) if ends[1] <= 0 else _bounded(0, max(low, high))


def _power(end: End, exponent: int) -> End:
    if isinstance(end, Infinity):
        return INFINITY if end.sign > 0 or exponent % 2 == 0 else NEGATIVE_INFINITY
    return end**exponent


def range_as_written(context: Context, form: Form) -> Range:
    """The range of any form: that of its canonical form, met with interval arithmetic.

    The canonical form sees correlations that the form as written hides, and the other way round:
    ``(y mod 3) floordiv 2`` lies in ``[0, 1]`` at a glance, but not when its digit is taken apart.
    """
    arithmetic = term_by_term(ranges_as_written(context, (form,)), form)
    return meet(context.range_of(context.canonical(form)), arithmetic)


def ranges_as_written(context: Context, forms: Iterable[Form]) -> dict[Atom, Range]:
    """The ranges of all atoms inside any forms, found as for :func:`range_as_written`."""

    def of_atom(atom: Atom, operands: tuple[Range, ...]) -> Range:
        ends = context.range_of(context.canonical(Form(0, {atom: 1})))
        if atom.kind not in _ARITHMETIC:
            return ends
        lemma, arithmetic = _ARITHMETIC[atom.kind]
        narrow = meet(ends, arithmetic(operands))
        if narrow != ends:
            context.used(lemma)
        return narrow

    return fold(forms, of_atom, _arithmetic)


def range_at_a_glance(context: Context, atom: Atom) -> Range:
    """A range of any operation by interval arithmetic alone, from what is known of its operands."""
    if atom.kind not in _ARITHMETIC:
        return UNBOUNDED
    _, arithmetic = _ARITHMETIC[atom.kind]
    known = context.ranges
    return arithmetic(
        [
            term_by_term(known, operand) if known.keys() >= operand.terms.keys() else UNBOUNDED
            for operand in atom.arguments
        ]
    )


def _arithmetic(form: Form, ranges: Mapping[Atom, Range]) -> Range:
    return term_by_term(ranges, form)


def _ceildiv_range(operands: Sequence[Range]) -> Range:
    (lower, upper), divisor = operands
    low, high = floordiv_range([(-upper, -lower), divisor])
    return -high, -low


def _mod_range(operands: Sequence[Range]) -> Range:
    """Remainders have the sign of the divisor, and are no greater than what has that sign, too."""
    numerator, divisor = operands
    if divisor == (0, 0):
        return NEGATIVE_INFINITY, INFINITY
    low, high = floordiv_range(operands)
    if isinstance(low, int) and low == high and divisor[0] == divisor[1]:
        return numerator[0] - low * divisor[0], numerator[1] - low * divisor[0]
    lower, upper = min(divisor[0] + 1, 0), max(divisor[1] - 1, 0)
    if numerator[0] >= 0:
        upper = min(upper, numerator[1])
    if numerator[1] <= 0:
        lower = max(lower, numerator[0])
    return lower, upper


def _least(operands: Sequence[Range]) -> Range:
    return min(low for low, _ in operands), min(high for _, high in operands)


def _greatest(operands: Sequence[Range]) -> Range:
    return max(low for low, _ in operands), max(high for _, high in operands)


_ARITHMETIC: Final[Mapping[AtomKind, tuple[Law, Callable[[Sequence[Range]], Range]]]] = {
    AtomKind.FLOORDIV: (QUOTIENT_RANGE, floordiv_range),
    AtomKind.QUOTIENT: (CORNERS, floordiv_range),
    AtomKind.CEILDIV: (QUOTIENT_RANGE, _ceildiv_range),
    AtomKind.MOD: (REMAINDER_RANGE, _mod_range),
    AtomKind.MIN: (BRANCHES_RANGE_NEGATIVE, _least),
    AtomKind.MAX: (BRANCHES_RANGE, _greatest),
    AtomKind.PRODUCT: (PRODUCT_RANGE, lambda operands: reduce(product_range, operands)),
    AtomKind.SUM: (SUM_RANGE, lambda operands: operands[0]),
}
