"""The range of a form: the intersection of several readings, each sound on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from math import lcm
from operator import attrgetter, mul
from typing import Final, TypeAlias

from simplifier import limits
from simplifier.bounds import digits
from simplifier.bounds.context import UNBOUNDED, Context, Fact, term_by_term
from simplifier.bounds.interval import (
    INFINITY,
    NEGATIVE_INFINITY,
    End,
    Infinity,
    Range,
    floordiv_range,
    meet,
)
from simplifier.expr import form as forms
from simplifier.expr.form import FLOORDIV, MAX, VARIABLE, Atom, AtomKind, Form
from simplifier.laws.catalogue import ranges as law
from simplifier.laws.law import Law
from simplifier.limits import MAX_RANGE_DEPTH
from simplifier.tools.graphs import connected_components

Reading: TypeAlias = "tuple[Law, Range]"
"""A range, and the lemma that it rests on."""


def range_of(context: Context, form: Form, depth: int = MAX_RANGE_DEPTH) -> Range:
    """Lowest and highest value of a canonical form, by all readings."""
    ends = term_by_term(context.ranges, form)
    if len(form.terms) > 1 or (form.constant and context.facts):
        context.used(law.SUM_RANGE)
        if form.is_affine and not context.facts:
            return ends
        for lemma, reading in _readings(context, form, ends, depth):
            tighter = meet(ends, reading)
            if tighter != ends:
                context.used(lemma)
                ends = tighter
    return ends


def _readings(context: Context, form: Form, plain: Range, depth: int) -> Iterator[Reading]:
    if not depth or forms.is_deep(form):
        return
    is_outermost = depth == MAX_RANGE_DEPTH
    kinds = {atom.kind for atom in form.terms}
    if FLOORDIV in kinds and not forms.is_crowded(form):
        # m*x - m*c*floor(x/c) is m times a digit.
        yield law.DIGIT_RANGE, context.view(form).ends()
        if is_outermost or plain[0] is NEGATIVE_INFINITY or plain[1] is INFINITY:
            yield from _without_rounding(context, form, depth)
        if is_outermost:
            yield from _without_any_rounding(context, form, depth)
    if MAX in kinds:
        yield from _by_maxima(context, form, depth)
    if AtomKind.PRODUCT in kinds:
        yield from _by_common_factor(context, form, depth)
        yield from _by_symbolic_digits(context, form, depth)
    if is_outermost and (AtomKind.PRODUCT in kinds or AtomKind.QUOTIENT in kinds):
        yield from _by_multiplied_facts(context, form, plain)
        yield from with_what_is_beside(context, form)
    if context.facts:
        yield from _by_facts(context, form, depth)
        if is_outermost:
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
        meets_inner = any(inner in form.terms for inner in atom.numerator.terms)
        if meets_inner or any(fact.multiple_in(exact) for fact in context.facts):
            lower, upper = range_of(context, exact, depth - 1)
            least, most = min(factor, 0) * (divisor - 1), max(factor, 0) * (divisor - 1)
            yield law.ROUNDING_RANGE, (-(-(lower - most) // divisor), (upper - least) // divisor)


def _without_any_rounding(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``f*floor(M/b) + g*floor(N/c)`` is ``(f*c*M + g*b*N)/(b*c)`` less the remainders.

    Worth a look where quotients of both signs are not all digits.
    """
    quotients = [atom for atom in form.terms if atom.kind is FLOORDIV]
    signs = {form.terms[atom] > 0 for atom in quotients}
    units = context.view(form).units if len(signs) > 1 else ()
    if not any(unit.holds_quotient for _, unit in units):
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
    yield law.ROUNDINGS_RANGE, (-(-(lower - most) // whole), (upper - least) // whole)


def _by_maxima(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """Ranges by the branches of the first maximum; at the top, of every one."""
    found = digits.maxima(form)
    looks_at_all = depth == MAX_RANGE_DEPTH and len(found) <= limits.MAX_OPERANDS_COMPARED
    for atom in found if looks_at_all else found[:1]:
        yield law.BRANCHES_RANGE, _by_branches(context, form, atom, depth - 1)


def _by_branches(context: Context, form: Form, atom: Atom, depth: int) -> Range:
    """``T + k*max(A, B)`` is one of ``T + k*A`` and ``T + k*B``: the lesser if ``k < 0``.

    Two branches ``A`` and ``B`` are on both sides of ``(p*A + q*B)/(p + q)``.
    """
    parts = digits.branches(form, atom)
    ends = [range_of(context, part, depth) for part in parts]
    is_greatest = form.terms[atom] > 0
    choose = max if is_greatest else min
    lower, upper = choose(low for low, _ in ends), choose(high for _, high in ends)
    for p, q in digits.cancelling(*parts) if len(parts) == 2 else ():  # noqa: PLR2004 - two branches
        context.used(law.BETWEEN_BRANCHES)
        low, high = range_of(context, parts[0].times(p).plus(parts[1], q), depth)
        if is_greatest:
            lower = max(lower, -(-low // (p + q)))
        else:
            upper = min(upper, high // (p + q))
    return lower, upper


def _by_facts(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``k*F + B`` lies between ``k`` times the bounds of ``F`` plus those of ``B``.

    Where terms of ``F`` are left over, only the whole form is read so.
    """
    for fact in context.facts:
        multiple = fact.multiple_in(form)
        if multiple:
            yield law.FACT_RANGE, _around_fact(context, fact, form, multiple, depth)
        elif depth == MAX_RANGE_DEPTH:
            for near in fact.multiples_near(form):
                yield law.FACT_RANGE, _around_fact(context, fact, form, near, depth)


def _around_fact(context: Context, fact: Fact, form: Form, multiple: int, depth: int) -> Range:
    """The range of a form, read as a multiple of the fact's form and the rest."""
    low, high = fact.ends if multiple > 0 else fact.ends[::-1]
    lower, upper = context.range_of(form.plus(fact.form, -multiple), depth - 1)
    return lower + multiple * low, upper + multiple * high


def _by_facts_together(context: Context, form: Form) -> Iterator[Reading]:
    """Facts and bounds, each as often as it takes to add up to the form."""
    ends = context.once(_linear_facts).range_of(form, context.known_range)
    if ends is not None:
        yield law.FACTS_RANGE, ends


def _linear_facts(context: Context) -> LinearFacts:
    return LinearFacts(context.facts)


def _by_multiplied_facts(context: Context, form: Form, plain: Range) -> Iterator[Reading]:
    """Bounds of factors by facts take the place of their products, where an end is open."""
    depth = MAX_RANGE_DEPTH - 1
    if plain[1] == INFINITY and (bound := at_most(context, form)) is not None:
        yield law.MULTIPLIED_FACT, (NEGATIVE_INFINITY, range_of(context, bound, depth)[1])
    if plain[0] == NEGATIVE_INFINITY and (bound := at_most(context, -form)) is not None:
        yield law.MULTIPLIED_FACT, (-range_of(context, bound, depth)[1], INFINITY)


def _by_common_factor(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``G*A + S`` for factors ``G`` of all terms, or of those that are a digit with its stride."""
    common = digits.common_factors(form)
    for group in (common,) if common else _strides(form):
        whole, rest = digits.multiples(context, form, group)
        factor = range_of(context, digits.monomial_form(context, group), depth - 1)
        lower, upper = product_range(factor, range_of(context, whole, depth - 1))
        least, most = range_of(context, rest, depth - 1)
        yield law.PRODUCT_RANGE, (lower + least, upper + most)


def _strides(form: Form) -> Iterator[tuple[Atom]]:
    """The variables that multiply a quotient in one term, and something else in another."""
    products = [digits.factors(each) for each in form.terms if each.kind is AtomKind.PRODUCT]
    scaled = [part for part in products if any(factor.kind is FLOORDIV for factor in part)]
    for factor in dict.fromkeys(factor for part in scaled for factor in part):
        others = sum(factor in part for part in products) + (factor in form.terms)
        if factor.kind is VARIABLE and others > 1:
            yield (factor,)


def _by_symbolic_digits(context: Context, form: Form, depth: int) -> Iterator[Reading]:
    """``T + m*(L mod R)``, where the digit lies between 0 and ``R - 1``; so with all digits.

    The sum of ``T`` and the radix is looked at as a whole, for what the two have in common.
    """
    with context.aside():
        taken = list(digits.symbolic_digits_apart(context, form))
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
            context.used(law.REMAINDER_RANGE)
            lower, upper = _digit_range(context.range_of(source), ends)
            least = least + (weight * lower if weight > 0 else weight * upper)
            most = most + (weight * upper if weight > 0 else weight * lower)
    lower, upper = range_of(context, low, depth - 1)[0], range_of(context, high, depth - 1)[1]
    yield law.DIGIT_RANGE, (least + lower, most + upper)


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
    limit = 1 << limits.MAX_BITS
    low = NEGATIVE_INFINITY if lower < -limit else min(lower, limit)
    return low, INFINITY if upper > limit else max(upper, -limit)


def monomial_range(context: Context, atoms: Iterable[Atom]) -> Range:
    """The range of a product of atoms; a power by its parity."""
    ends: Range = (1, 1)
    for atom, exponent in Counter(atoms).items():
        context.used(law.POWER_RANGE if exponent > 1 else law.PRODUCT_RANGE)
        ends = product_range(ends, _power_range(context.ranges[atom], exponent))
    return ends


def _power_range(ends: Range, exponent: int) -> Range:
    low, high = (end**exponent for end in ends)
    if exponent % 2 or ends[0] >= 0:
        return _bounded(low, high)
    return _bounded(high, low) if ends[1] <= 0 else _bounded(0, max(low, high))


def range_as_written(context: Context, form: Form) -> Range:
    """The range of any form: that of its canonical form, met with interval arithmetic.

    The canonical form sees correlations that the form as written hides, and the other way round:
    ``(y mod 3) floordiv 2`` lies in ``[0, 1]`` at a glance, but not when its digit is taken apart.
    """
    arithmetic = term_by_term(ranges_as_written(context, (form,)), form)
    return meet(context.range_of(context.canonical(form)), arithmetic)


def ranges_as_written(context: Context, wanted: Iterable[Form]) -> dict[Atom, Range]:
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

    return forms.fold(wanted, of_atom, lambda form, ranges: term_by_term(ranges, form))


def sum_at_a_glance(context: Context, form: Form) -> Range:
    """A cheap range of any form by interval arithmetic, one level deep where atoms are unknown."""
    known = context.ranges
    if known.keys() >= form.terms.keys():
        return term_by_term(known, form)
    ranges = {atom: known.get(atom) or _at_a_glance(known, atom) for atom in form.terms}
    return term_by_term(ranges, form)


def _at_a_glance(known: Mapping[Atom, Range], atom: Atom) -> Range:
    if atom.kind not in _ARITHMETIC:
        return UNBOUNDED
    operands = [
        term_by_term(known, each) if known.keys() >= each.terms.keys() else UNBOUNDED
        for each in atom.arguments
    ]
    return _ARITHMETIC[atom.kind][1](operands)


def _ceildiv_range(operands: Sequence[Range]) -> Range:
    (lower, upper), divisor = operands
    low, high = floordiv_range([(-upper, -lower), divisor])
    return -high, -low


def _mod_range(operands: Sequence[Range]) -> Range:
    """Remainders have the sign of the divisor, and are no greater than a dividend of that sign."""
    numerator, divisor = operands
    if divisor == (0, 0):
        return NEGATIVE_INFINITY, INFINITY
    low, high = floordiv_range(operands)
    if isinstance(low, int) and low == high and divisor[0] == divisor[1]:
        return numerator[0] - low * divisor[0], numerator[1] - low * divisor[0]
    return _digit_range(numerator, divisor)


def _least(operands: Sequence[Range]) -> Range:
    return min(low for low, _ in operands), min(high for _, high in operands)


def _greatest(operands: Sequence[Range]) -> Range:
    return max(low for low, _ in operands), max(high for _, high in operands)


_ARITHMETIC: Final[Mapping[AtomKind, tuple[Law, Callable[[Sequence[Range]], Range]]]] = {
    AtomKind.FLOORDIV: (law.CORNERS, floordiv_range),
    AtomKind.QUOTIENT: (law.CORNERS, floordiv_range),
    AtomKind.CEILDIV: (law.CORNERS, _ceildiv_range),
    AtomKind.MOD: (law.REMAINDER_RANGE, _mod_range),
    AtomKind.MIN: (law.BRANCHES_RANGE, _least),
    AtomKind.MAX: (law.BRANCHES_RANGE, _greatest),
    AtomKind.PRODUCT: (law.PRODUCT_RANGE, lambda operands: reduce(product_range, operands)),
    AtomKind.SUM: (law.SUM_RANGE, lambda operands: operands[0]),
}


def corners(context: Context) -> Sequence[Mapping[Atom, Range]]:
    """The ranges of canonical atoms at points of the domain; at none, where there are facts."""
    return [] if context.facts else [_Corner(context.ranges, 0), _Corner(context.ranges, 1)]


class _Corner(dict[Atom, Range]):
    """The ranges of atoms where all variables are least (end 0), or all greatest (end 1)."""

    def __init__(self, known: Mapping[Atom, Range], end: int) -> None:
        self._known, self._end = known, end

    def __missing__(self, atom: Atom) -> Range:
        ends = self._known[atom]
        if atom.kind is VARIABLE and isinstance(ends[self._end], int):
            ends = ends[self._end], ends[self._end]
        elif atom.kind in _ARITHMETIC:
            ends = _ARITHMETIC[atom.kind][1]([term_by_term(self, each) for each in atom.arguments])
        return self.setdefault(atom, ends)


# Consequences of several facts: `a >= b`, `b >= c` and `c >= d` bound `a - d`.
#
# If facts and bounds, each taken a number of times that is not negative, add up to a form, they
# bound it. The best such numbers are the dual solution of a linear program. The simplex method
# finds them: it starts from the bounds of the atoms, which is interval arithmetic, and exchanges
# one inequality at a time, as long as the bound gets better. So each step is sound, and any step
# may be the last.
#
# Atoms count as variables, about which more is known: `floor(N/c)` is at most `N/c` and greater
# than `N/c - 1`, and a maximum is at least each of its operands.

_REMEMBERED_PROGRAMS: Final = 1 << 12
"""Scopes that differ in a fact ask the same of all others."""


class LinearFacts:
    """Facts about several atoms each, and inequalities of the operations among these atoms."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        known = list(facts)
        atoms = {atom: None for fact in known for atom in fact.form.terms}
        known += _defining(_of_extremum, atoms)
        self._groups = _in_groups(known)
        known += _defining(_of_quotient, atoms)
        self._about: dict[Atom, list[Fact]] = {}
        self._group_of: dict[Atom, int] = {}
        for number, group in enumerate(_in_groups(known)):
            for fact in group:
                for atom in fact.form.terms:
                    self._about.setdefault(atom, []).append(fact)
                    self._group_of[atom] = number

    def narrowed(self, range_of: Callable[[Atom], Range]) -> Iterator[tuple[Atom, Range]]:
        """The ranges that facts leave to variables, where facts without quotients form a cycle.

        Elsewhere facts one after the other narrow bounds as far as all together, or nearly so.
        """
        for group in self._groups:
            atoms = {atom: None for fact in group for atom in fact.form.terms}
            is_cyclic = sum(len(fact.form.terms) - 1 for fact in group) >= len(atoms)
            if is_cyclic and all(atom.kind is not FLOORDIV for atom in atoms):
                for atom in atoms:
                    if atom.kind is VARIABLE:
                        yield atom, _range_by(Form(0, {atom: 1}), self._near([atom]), range_of)

    def range_of(self, form: Form, range_of: Callable[[Atom], Range]) -> Range | None:
        """The range that facts and the ranges of atoms leave; ``None`` if no facts link atoms.

        Nor of a sum of many terms: of these the facts one after the other tell most.
        """
        if len(form.terms) > limits.MAX_TERMS_LINKED:
            return None
        facts = self._linking(form)
        return _range_by(form, facts, range_of) if facts else None

    def _linking(self, form: Form) -> list[Fact]:
        """The facts of groups that speak of two atoms of the form, if there are any."""
        own = _defining(definition, (atom for atom in form.terms if atom not in self._about))
        atoms = [*form.terms, *(atom for fact in own for atom in fact.form.terms)]
        groups = [self._group_of[atom] for atom in dict.fromkeys(atoms) if atom in self._about]
        if len(set(groups)) == len(groups):
            return []
        return [*own, *self._near(atoms)]

    def _near(self, atoms: Iterable[Atom]) -> list[Fact]:
        """Facts about some atoms, about other atoms in these, and so on, not too many."""
        about, found = self._about, dict[int, Fact]()
        waiting = list(dict.fromkeys(atoms))
        seen = set(waiting)
        for atom in waiting:
            for fact in about.get(atom, ()):
                new = [other for other in fact.form.terms if other not in seen]
                if not new or len(seen) + len(new) <= limits.MAX_LINKED_ATOMS:
                    found[id(fact)] = fact
                    seen.update(new)
                    waiting += new
        return list(found.values())


def inequalities(form: Form, ends: Range) -> Iterator[Form]:
    """Forms that are at least 0 because a form lies in a range."""
    lower, upper = ends
    if not isinstance(lower, Infinity):
        yield form.plus_constant(-lower)
    if not isinstance(upper, Infinity):
        yield (-form).plus_constant(upper)


def definition(atom: Atom) -> Iterator[tuple[Form, Range]]:
    """Inequalities of an operation and its operands: forms, and the ranges that they lie in.

    >>> from simplifier.expr.text import parse_form
    >>> (quotient,) = parse_form("x floordiv 4").terms
    >>> list(definition(quotient))
    [(Form(x - (x floordiv 4) * 4), (0, 3))]
    """
    yield from _of_extremum(atom)
    yield from _of_quotient(atom)


def _in_groups(facts: Iterable[Fact]) -> list[list[Fact]]:
    """Facts about several atoms, one about each form, in groups that have no atom in common."""
    found: dict[Form, Fact] = {}
    for fact in facts:
        if len(fact.form.terms) > 1:
            old = found.get(fact.form, fact)
            found[fact.form] = fact._replace(ends=meet(old.ends, fact.ends))
    return connected_components(found.values(), lambda fact: fact.form.terms)


def _defining(
    define: Callable[[Atom], Iterable[tuple[Form, Range]]], atoms: Iterable[Atom]
) -> list[Fact]:
    """Inequalities of operations and their operands, as facts."""
    facts = (Fact.of(form, ends) for atom in atoms for form, ends in define(atom))
    return [fact for fact in facts if fact is not None]


def _of_extremum(atom: Atom) -> Iterator[tuple[Form, Range]]:
    if atom.kind in forms.EXTREMA:
        sign = 1 if atom.kind is MAX else -1
        for operand in atom.arguments:
            yield operand.plus_atom(atom, -1).times(sign), (NEGATIVE_INFINITY, 0)


def _of_quotient(atom: Atom) -> Iterator[tuple[Form, Range]]:
    if atom.kind is FLOORDIV and atom.divisor > 0:
        yield atom.numerator.plus_atom(atom, -atom.divisor), (0, atom.divisor - 1)


# Linear programming.


def _range_by(form: Form, facts: Sequence[Fact], range_of: Callable[[Atom], Range]) -> Range:
    atoms = dict.fromkeys([*form.terms, *(atom for fact in facts for atom in fact.form.terms)])
    return _range_within(form, tuple(facts), tuple((atom, range_of(atom)) for atom in atoms))


@lru_cache(maxsize=_REMEMBERED_PROGRAMS)
def _range_within(
    form: Form, facts: tuple[Fact, ...], ranges: tuple[tuple[Atom, Range], ...]
) -> Range:
    atoms, ends = zip(*ranges, strict=True)
    none, scale = dict.fromkeys(atoms, 0), forms.content(form)
    stated = [(Form(0, {atom: 1}), each) for atom, each in ranges]
    stated += [(fact.form, fact.ends) for fact in facts]
    rows = [row for each, within in stated for row in inequalities(each, within)]
    known = [([-factor for factor in (none | row.terms).values()], row.constant) for row in rows]
    wanted = [factor // scale for factor in (none | form.terms).values()]
    upper = LinearProgram(wanted, ends, known).minimum()
    lower = -LinearProgram([-factor for factor in wanted], ends, known).minimum()
    return form.constant + scale * lower, form.constant + scale * upper


Inequality: TypeAlias = "tuple[Sequence[int], int]"
"""Factors of the atoms, and what their sum is at most."""


class LinearProgram:
    """The dual program: inequalities, a multiplier for each, and their sum.

    A tableau of integers over one denominator: a row for each atom, which holds how often its
    basic inequality is taken, and each inequality as a combination of the basic ones. Two further
    rows hold what each inequality would change the bound by: how many infinite ends, and how much.
    """

    def __init__(
        self, wanted: Sequence[int], ends: Sequence[Range], known: Iterable[Inequality]
    ) -> None:
        signs, infinite, finite = zip(*map(_basic, wanted, ends), strict=True)
        has_infinite = any(infinite)

        def column(factors: Sequence[int], end: int) -> list[int]:
            taken = list(map(mul, factors, signs))
            endless = sum(map(mul, infinite, taken)) if has_infinite else 0
            return [*taken, -endless, end - sum(map(mul, finite, taken))]

        columns = [column(wanted, 0), *(column(factors, end) for factors, end in known)]
        table = list(map(list, zip(*columns, strict=True)))
        self._rows, self._bound = table[:-2], table[-2:]
        self._denominator = 1

    def minimum(self) -> End:
        """The least bound: rounded down, as the bounded form is an integer."""
        for _ in range(limits.MAX_PIVOTS):
            changes = list(zip(*self._bound, strict=True))[1:]
            best = min(changes, default=(0, 0))
            if best >= (0, 0):
                break
            column = changes.index(best) + 1
            leaving = self._leaving(column)
            if leaving is None:
                return NEGATIVE_INFINITY
            self._exchange(leaving, column)
        infinite, finite = self._bound
        return INFINITY if infinite[0] else -finite[0] // self._denominator

    def _leaving(self, column: int) -> int | None:
        """The row of the inequality that is used up first."""
        best: int | None = None
        for at, row in enumerate(self._rows):
            if row[column] > 0:
                other = self._rows[best] if best is not None else None
                if other is None or row[0] * other[column] < other[0] * row[column]:
                    best = at
        return best

    def _exchange(self, leaving: int, column: int) -> None:
        """Take another inequality in place of a basic one; all divisions are exact."""
        pivots = self._rows[leaving]
        pivot, denominator = pivots[column], self._denominator
        for row in (*self._rows, *self._bound):
            factor = row[column]
            if row is not pivots and (factor or pivot != denominator):
                pairs = zip(row, pivots, strict=True)
                row[:] = [(own * pivot - factor * other) // denominator for own, other in pairs]
        self._denominator = pivot


def _basic(factor: int, ends: Range) -> tuple[int, int, int]:
    """The end of an atom that bounds it at first: 1 for the upper, -1 for the lower.

    And how many infinite ends it adds, and how much. Of an atom that is not asked for, it is a
    finite end.
    """
    lower, upper = ends
    if factor > 0 or (not factor and isinstance(upper, int)):
        return (1, 0, upper) if isinstance(upper, int) else (1, 1, 0)
    return (-1, 0, -lower) if isinstance(lower, int) else (-1, 1, 0)


# Ranges of `floor(A / B)` for a divisor `B >= 1` that is not a constant.
#
# A quotient is at least `k` where `A - k*B` is not negative, and less where that is negative. So
# facts about `A` and `B` bound it by the right `k`. What stands beside a quotient is part of it:
# `floor(A/B) + C` is `floor((A + B*C)/B)`, and with `x < n*m`, `floor(x/n) - m` is negative.

_SIGNS: Final = (0, 1)
"""A quotient is compared with these to tell its sign."""


def quotient_range(context: Context, numerator: Form, divisor: Form) -> Range:
    """The range of ``floor(A/B)`` for ``B >= 1``."""
    ends = range_by_corners(context, numerator, divisor)
    context.used(law.CORNERS)
    for times in dict.fromkeys(_counts(context, numerator, divisor)):
        context.used(law.QUOTIENT_AND_REST)
        ends = meet(ends, _side_of(context, numerator, divisor, times))
    return ends


def range_by_corners(context: Context, numerator: Form, divisor: Form) -> Range:
    """The range of ``floor(A/B)`` for ``B >= 1`` by the ends of both."""
    return floordiv_range((context.range_of(numerator), context.divisor_range(divisor)))


def range_less_multiple(context: Context, numerator: Form, divisor: Form, count: int) -> Range:
    """The range of ``A - k*B`` where ``B`` is not zero."""
    low, high = context.range_of(numerator)
    least, most = context.divisor_range(divisor)[:: 1 if count <= 0 else -1]
    plain = low - count * least, high - count * most
    return meet(context.range_of(numerator.plus(divisor, -count)), plain)


def with_what_is_beside(context: Context, form: Form) -> Iterator[tuple[Law, Range]]:
    """``floor(A/B) + C`` as one quotient, for each quotient of a form that stands there once."""
    for atom, factor in form.terms.items():
        if atom.kind is not AtomKind.QUOTIENT or factor not in (1, -1):
            continue
        numerator, divisor = atom.arguments
        rest = form.without(atom).times(factor)
        is_short = len(rest.terms) * len(divisor.terms) <= limits.MAX_FLATTENED_TERMS
        if is_short and context.divisor_range(divisor)[0] >= 1:
            whole = numerator.plus(context.product(rest, divisor))
            ends = range_by_corners(context, whole, divisor)
            for count in _SIGNS:
                ends = meet(ends, _side_of(context, whole, divisor, count))
            yield law.QUOTIENT_AND_REST, ends if factor > 0 else (-ends[1], -ends[0])


def _side_of(context: Context, numerator: Form, divisor: Form, count: int) -> Range:
    """``floor(A/B) >= k`` where ``A - k*B >= 0``, and less where it is negative."""
    lower, upper = range_less_multiple(context, numerator, divisor, count)
    return (count if lower >= 0 else NEGATIVE_INFINITY, count - 1 if upper < 0 else INFINITY)


def _counts(context: Context, numerator: Form, divisor: Form) -> Iterator[int]:
    """Integers ``k`` for which something is known of ``A - k*B``."""
    total = 0
    for atom, value in numerator.terms.items():
        for other, factor in divisor.terms.items():
            found = list(_counts_by_facts(context, (atom, value), (other, factor)))
            yield from found
            total += max(found, default=0)
    if total:
        yield total
    yield from _counts_by_rounding(numerator, divisor)


def _counts_by_facts(
    context: Context, term: tuple[Atom, int], unit: tuple[Atom, int]
) -> Iterator[int]:
    """Multiples of the divisor's term that a term of the numerator holds by facts."""
    (atom, value), (other, factor) = term, unit
    for fact in context.facts:
        within = fact.form.terms
        if atom in within and other in within:
            count, remainder = divmod(-within[other] * value, factor * within[atom])
            if not remainder:
                yield count


def _counts_by_rounding(numerator: Form, divisor: Form) -> Iterator[int]:
    """``A - c*floor(A/c)`` is a digit: ``floor(A/floor(A/c)) >= c``."""
    for atom, factor in divisor.terms.items():
        if atom.kind is FLOORDIV:
            for inner, value in atom.numerator.terms.items():
                yield numerator.terms.get(inner, 0) * atom.divisor // (value * factor)


# Facts times products: with `i < N` and `j < M`, `(i*M + j)*K - N*M*K` is at most `-K`.
#
# `F <= u` says `m*F <= m*u` of every product `m` of symbols that is not negative. Where a form
# has `m*F`, `m*u` takes its place and is nowhere less. So an index of any number of dimensions of
# symbolic size is compared with the size.

_ORDER = attrgetter("order")


def at_most(context: Context, form: Form) -> Form | None:
    """A shorter form that is nowhere less; ``None`` if no fact says so.

    Nor of a sum of many terms, or of one sign: nothing cancels there.

    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> naturals, positive = Interval(0, None), Interval(1, None)
    >>> bounds = ("i", naturals), ("j", naturals), *((size, positive) for size in "KMN")
    >>> facts = (parse_form("N - i"), positive), (parse_form("M - j"), positive)
    >>> scope = scope_of(bounds, facts)
    >>> print(at_most(scope, scope.canonical(parse_form("(i * M + j - N * M) * K"))))
    -K
    """
    known = context.once(_FactLimits)
    is_long = len(form.terms) > limits.MAX_TERMS_MULTIPLIED
    if is_long or not any(map(known.may_multiply, form.terms)):
        return None
    signs = {value > 0 for value in form.terms.values()}
    return _bounded_by_products(context, form, known) if len(signs) > 1 else None


class _FactLimits:
    """Forms that are at least 0 by facts that compare polynomials, by the atoms in them.

    A fact about a single atom is in its range; by bounds alone other readings are as tight.
    """

    def __init__(self, context: Context) -> None:
        self._about: dict[Atom, list[Form]] = {}
        for fact in context.facts:
            if len(fact.form.terms) > 1 and fact.is_polynomial:
                for known in inequalities(fact.form, fact.ends):
                    for atom in known.terms:
                        self._about.setdefault(atom, []).append(known)

    def about(self, atom: Atom) -> Sequence[Form]:
        """The facts in which the atom occurs."""
        return self._about.get(atom, ())

    def may_multiply(self, atom: Atom) -> bool:
        """Whether an atom is a product, and some fact is about a factor of it."""
        parts = digits.factors(atom) if self._about else ()
        return len(parts) > 1 and not self._about.keys().isdisjoint(parts)


def _bounded_by_products(context: Context, form: Form, known: _FactLimits) -> Form | None:
    """A form that is nowhere less, by facts and by bounds; ``None`` if no fact helps."""

    def by_bounds(atom: Atom) -> Iterator[Form]:
        return inequalities(Form(0, {atom: 1}), context.known_range(atom))

    is_by_fact = False
    for _ in form.terms:
        by_fact = next(_steps(context, form, known.about), None)
        shorter = by_fact or next(_steps(context, form, by_bounds), None)
        if shorter is None:
            break
        form, is_by_fact = shorter, is_by_fact or by_fact is not None
    return form if is_by_fact else None


def _steps(
    context: Context, form: Form, known_of: Callable[[Atom], Iterable[Form]]
) -> Iterator[Form]:
    """Shorter forms that are nowhere less, by one form each that is at least 0."""
    products = {digits.factors(atom): atom for atom in form.terms}
    for parts in sorted(products, key=len, reverse=True):
        atom = products[parts]
        value = form.terms[atom]
        for factor in dict.fromkeys(parts) if len(parts) > 1 else ():
            others = list(parts)
            others.remove(factor)
            for known in known_of(factor):
                count, remainder = divmod(-value, known.terms[factor])
                is_multiple = count > 0 and not remainder
                if is_multiple and _may_shorten(products, others, known, factor):
                    yield from _with_added(context, form, atom, others, known.times(count))


def _may_shorten(
    known: Container[tuple[Atom, ...]], others: Sequence[Atom], limit: Form, factor: Atom
) -> bool:
    """Whether as many products as a limit adds are in the form already, and may go."""
    added = [digits.factors(term) for term in limit.terms if term != factor]
    if limit.constant:
        added.append(())
    present = sum(tuple(sorted((*others, *each), key=_ORDER)) in known for each in added)
    return 2 * present >= len(added)


def _with_added(
    context: Context, form: Form, atom: Atom, others: list[Atom], limit: Form
) -> Iterator[Form]:
    """The form and a product of factors at least 0, if an atom goes and the form is shorter."""
    scale = digits.monomial_form(context, others)
    if context.range_of(scale)[0] >= 0:
        shorter = form.plus(context.product(scale, limit))
        if atom not in shorter.terms and len(shorter.terms) < len(form.terms):
            yield shorter
