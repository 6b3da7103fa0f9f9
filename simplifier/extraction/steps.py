"""The steps of the search: which forms of one kind of operation are equal to a form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import gcd
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from simplifier.bounds import digits
from simplifier.bounds.digits import SymbolicDigit, is_power_of_two
from simplifier.bounds.ranges import sum_at_a_glance
from simplifier.canonical.nonlinear import turned
from simplifier.canonical.scope import Scope
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import ONE, ZERO, Atom, AtomKind, Form, Key
from simplifier.expr.operations import replace
from simplifier.extraction.natural import Residue
from simplifier.extraction.width import needs_no_more_words, reduced, with_multiples
from simplifier.laws.catalogue import steps as law
from simplifier.laws.catalogue.floordiv import CEILING, EXTRACTION, FLATTEN, REFLECT
from simplifier.laws.catalogue.maxima import FLATTEN_MAXIMA, HOIST_QUOTIENT, MINIMUM, PIVOT, PRUNE
from simplifier.laws.catalogue.nonlinear import DISTRIBUTE, TURNED_BY_SYMBOLS
from simplifier.laws.law import Law
from simplifier.limits import MAX_QUOTIENTS


class Step(NamedTuple):
    """What a form becomes in one step: ``rest + weight * operation(operands)``."""

    rest: Form
    weight: int
    kind: AtomKind
    operands: tuple[Form, ...]
    laws: tuple[Law, ...]
    """Why it is equal."""

    @property
    def result(self) -> Form:
        """The form after the step."""
        return self.rest.plus(operations.build(self.kind, self.operands), self.weight)


# Quotients come back as remainders, take terms in, turn their signs, and merge with others.

_DIGIT = (law.DIGIT,), (law.DIGIT, REFLECT)
"""As it is, and reflected."""


def remainder_steps(scope: Scope, form: Form, residue: Residue) -> Iterator[Step]:
    """``k*floor(N/c) = m*(L mod n) - m*L`` with ``L = floor(N/g)``, ``n = c/g``, ``m = -k/n``.

    ``L`` is there already: ``N`` has atoms of the form, or ``floor(N/g)`` is a term of it.
    """
    terms = form.terms
    for atom in [each for each in terms if _is_quotient(scope, each)]:
        factor, divisor = terms[atom], atom.divisor
        smallest = divisor // gcd(factor, divisor)
        for step in _steps_below(terms, atom):
            source, radix = scope.floordiv(atom.numerator, step), divisor // step
            if step % smallest:
                yield from _beside_quotient(form.without(atom), factor, source, radix)
                continue
            weight = -factor // radix
            rest, last = form.plus(source, -weight).without(atom), radix - 1
            ways = [(rest, weight, source)]
            if _may_turn(scope, source, last):  # L mod n = n - 1 - ((n - 1 - L) mod n)
                ways.append((rest.plus_constant(weight * last), -weight, last - source))
            for (left, scale, dividend), why in zip(ways, _DIGIT, strict=False):
                number = residue(dividend, radix)
                laws = why if number == dividend else (*why, law.CONGRUENT_RESIDUES)
                yield Step(left, scale, AtomKind.MOD, (number, forms.constant(radix)), laws)


def _beside_quotient(rest: Form, factor: int, source: Form, radix: int) -> Iterator[Step]:
    """``k*floor(N/c) + m*N = m*(N mod c) + (k + m*c)*floor(N/c)`` where that is a smaller factor.

    So ``L mod 8 + L floordiv 8`` comes back, also where ``N`` is ``L`` without multiples of 8.
    """
    ratios = [divmod(rest.terms.get(atom, 0), value) for atom, value in source.terms.items()]
    for ratio in dict.fromkeys(ratio for ratio, left in ratios if ratio and not left):
        low, high, number = ratio, factor + ratio * radix, source
        if 0 < abs(high) < abs(factor):
            if low < 0 and _has_negative(source):
                low, high, number = -low, -high, _turned_source(source, radix)
            beside = rest.plus(number, -low)
            index = with_multiples(beside, number, radix, high)
            left = beside.plus(index.plus(number, -1).exactly_divided(radix), -high)
            operands, laws = (index, forms.constant(radix)), (law.DIGIT, REFLECT, EXTRACTION)
            yield Step(left.plus(index % radix, low), high, AtomKind.FLOORDIV, operands, laws)


def _steps_below(terms: Mapping[Atom, int], quotient: Atom) -> Iterator[int]:
    """Divisors of the divisor of a quotient by which its dividend is divided in a form, or is."""
    numerator = quotient.numerator
    if any(atom in terms for atom in numerator.terms):
        yield 1
    for atom in terms:
        step = atom.divisor
        is_below = 1 < step < quotient.divisor and quotient.divisor % step == 0
        if is_below and atom.kind is AtomKind.FLOORDIV and atom.numerator == numerator:
            yield step


def _is_quotient(scope: Scope, atom: Atom) -> bool:
    """Whether the atom is a quotient in normal shape, not one of an extracted form."""
    return atom.kind is AtomKind.FLOORDIV and scope.is_canonical(atom)


def _is_congruent(one: Form, other: Form, modulus: int) -> bool:
    if (one.constant - other.constant) % modulus:
        return False
    return forms.content(one.plus(other, -1)) % modulus == 0


# Quotients that take terms in or turn their signs.


def quotient_steps(scope: Scope, form: Form) -> Iterator[Step]:
    """``k*floor(N/c) + t = k*floor(M/c) + u`` where ``M - N`` is a multiple of ``c``; also turned.

    So a quotient gets back the linear index that its multiples have left. Remainders of congruent
    numbers by the same divisor are taken of the index, too.
    """
    for atom, factor in form.terms.items():
        if atom.kind is AtomKind.MOD and atom.divisor > 0:
            yield from _index_again(scope, form.without(atom), atom, factor)
        if atom.kind is not AtomKind.FLOORDIV or atom.divisor < 1:
            continue
        numerator, divisor, rest = atom.numerator, atom.divisor, form.without(atom)
        mods = [a for a in rest.terms if a.kind is AtomKind.MOD and a.divisor == divisor]
        back = _turned_source(numerator, divisor)
        is_negative = factor < 0 and not rest.has_positive_term
        if is_negative or _has_negative(numerator) or _may_turn(scope, numerator, divisor - 1):
            yield Step(rest, -factor, atom.kind, (back, atom.arguments[1]), (REFLECT,))
        ways = (numerator, factor, (EXTRACTION,)), (back, -factor, (REFLECT, EXTRACTION))
        for number, weight, laws in ways:
            for source in _congruent(rest, number, divisor, weight):
                left = source.plus(number, -1).exactly_divided(divisor)
                if left != ZERO and all(each in rest.terms for each in left.terms):
                    beside = _with_dividend(rest.plus(left, -weight), mods, source)
                    yield Step(beside, weight, atom.kind, (source, atom.arguments[1]), laws)


def _has_negative(form: Form) -> bool:
    return any(value < 0 for value in form.terms.values())


def _may_turn(scope: Scope, source: Form, last: int) -> bool:
    """Whether ``last - N`` may be cheaper to divide: without a constant, or never negative."""
    return source.constant == last or sum_at_a_glance(scope, source)[0] < 0


def _turned_source(source: Form, divisor: int) -> Form:
    """``floor(N/c) = -floor((c - 1 - N)/c)``."""
    return (-source).plus_constant(divisor - 1)


def _index_again(scope: Scope, rest: Form, remainder: Atom, weight: int) -> Iterator[Step]:
    """``(floor(N/c) + A) mod n = floor(M/c) mod n`` where ``M`` has no negative coefficients."""
    source, radix = remainder.numerator, remainder.divisor
    for atom, factor in source.terms.items():
        if factor == 1 and atom.kind is AtomKind.FLOORDIV and len(source.terms) > 1:
            whole = atom.numerator.plus(source.without(atom), atom.divisor)
            index = reduced(whole, atom.divisor * radix)
            ends = (sum_at_a_glance(scope, each) for each in (atom.numerator, index))
            if index.is_affine and needs_no_more_words(*ends):
                operands = index // atom.divisor, forms.constant(radix)
                laws = (EXTRACTION, law.CONGRUENT_RESIDUES)
                yield Step(rest, weight, AtomKind.MOD, operands, laws)


def _congruent(rest: Form, number: Form, divisor: int, weight: int) -> dict[Form, None]:
    """Dividends congruent to that of a quotient.

    They are the number with its multiples beside it, with all that is there, with one of them or a
    quotient; the number without negative coefficients; and what is divided elsewhere.
    """
    found = [with_multiples(rest, number, divisor, weight)]
    moved = [
        Form(0, {atom: value // weight})
        for atom, value in rest.terms.items()
        if value % weight == 0 and (atom in number.terms or _is_digit_of(atom, number))
    ]
    found += [number.plus(each, divisor) for each in moved]
    if rest.constant % weight == 0:
        found.append(number.plus_constant(divisor * rest.constant // weight))
        if len(moved) == len(rest.terms):
            found.append(number.plus(rest.exactly_divided(weight), divisor))
    divided = [atom.numerator for atom in rest.terms if atom.divisor > 0]
    found += [each for each in divided if _is_congruent(each, number, divisor)]
    return dict.fromkeys([*found, Form(number.constant, reduced(number, divisor).terms)])


def _is_digit_of(atom: Atom, number: Form) -> bool:
    """Whether an atom is a quotient of something that the number has."""
    return atom.kind is AtomKind.FLOORDIV and any(a in number.terms for a in atom.numerator.terms)


def with_common_dividends(form: Form) -> Iterator[Form]:
    """The form with each of its dividends in the place of all that are congruent to it.

    >>> from simplifier.expr.text import parse_form
    >>> for found in with_common_dividends(parse_form("(y - x * 2) mod 3 + (x + y) floordiv 6")):
    ...     print(found)
    (x + y) mod 3 + (x + y) floordiv 6
    """
    divisions = [atom for atom in forms.postorder((form,)) if atom.divisor > 0]
    if len(divisions) <= MAX_QUOTIENTS:
        sources = {atom.numerator.key: atom.numerator for atom in divisions}
        for source in sources.values() if len(sources) > 1 else ():
            found = _with_dividend(form, divisions, source)
            if found is not form:
                yield found


def _with_dividend(form: Form, divisions: Iterable[Atom], source: Form) -> Form:
    """The form with some divisions of numbers congruent to a source, or reflected, taken of it."""
    changed: dict[Atom, Form] = {}
    for atom in divisions:
        numerator, divisor = atom.numerator, atom.divisor
        if numerator == source:
            continue
        if _is_congruent(numerator, source, divisor):
            again = operations.build(atom.kind, (source, atom.arguments[1]))
            more = source.plus(numerator, -1).exactly_divided(divisor)
            changed[atom] = again if atom.kind is AtomKind.MOD else again.plus(more, -1)
        elif atom.kind is AtomKind.MOD and _is_congruent(-numerator, source + 1, divisor):
            changed[atom] = divisor - 1 - operations.build(atom.kind, (source, atom.arguments[1]))
    return replace(form, changed) if changed else form


def with_shared_quotients(form: Form) -> Form:
    """The form with quotients of quotients that are there, where that divides once less.

    Only a power of two is left to divide by, or there is a remainder by what is left.

    >>> from simplifier.expr.text import parse_form
    >>> for text in ("(x floordiv 3) * 5 + x floordiv 24", "(x floordiv 8) mod 3 + x floordiv 24"):
    ...     print(with_shared_quotients(parse_form(text)))
    (x floordiv 3) * 5 + (x floordiv 3) floordiv 8
    (x floordiv 8) mod 3 + (x floordiv 8) floordiv 3
    """
    quotients: dict[Form, list[Atom]] = {}
    remainders: set[tuple[Atom | None, int]] = set()
    for atom in forms.postorder((form,)):
        if atom.kind is AtomKind.FLOORDIV:
            quotients.setdefault(atom.numerator, []).append(atom)
        elif atom.kind is AtomKind.MOD:
            remainders.add((atom.numerator.only_atom, atom.divisor))
    nested: dict[Atom, Form] = {}
    for atoms in quotients.values():
        atoms.sort(key=attrgetter("divisor"))
        for inner, outer in combinations(atoms, 2) if len(atoms) <= MAX_QUOTIENTS else ():
            ratio, rest = divmod(outer.divisor, inner.divisor)
            is_shift = is_power_of_two(ratio) and not is_power_of_two(inner.divisor)
            if inner.divisor > 0 and not rest and (is_shift or (inner, ratio) in remainders):
                nested[outer] = nested.get(inner, Form(0, {inner: 1})) // ratio
    return replace(form, nested) if nested else form


# Sums of quotients.


def sum_steps(scope: Scope, form: Form) -> Iterator[Step]:
    """Quotients that step at the same place become one; all residues of one source become it."""
    quotients = [atom for atom in form.terms if atom.kind is AtomKind.FLOORDIV]
    if len(quotients) > 1:
        yield from _same_step(scope, form, quotients)
        yield from _all_residues(scope, form, quotients)


def _same_step(scope: Scope, form: Form, quotients: list[Atom]) -> Iterator[Step]:
    """``floor(A/a) = floor(B/b) + n`` where both take two values and change at the same point."""
    known: dict[tuple[Key, int], tuple[Atom, int]] = {}
    for atom in quotients:
        step = _step_of(scope, atom)
        if step is None:
            continue
        source, threshold, lower = step
        other, base = known.setdefault((source, threshold), (atom, lower))
        if other is not atom:
            moved = Form(lower - base, {other: 1})
            rest = form.without(atom)
            yield Step(rest, form.terms[atom], AtomKind.SUM, (moved,), (law.SAME_STEP,))


def _step_of(scope: Scope, atom: Atom) -> tuple[Key, int, int] | None:
    """The source without constant and common factor, where it steps, and the value below."""
    ends = scope.ranges.get(atom)
    if ends is None or not isinstance(ends[0], int) or ends[1] != ends[0] + 1:
        return None
    numerator = atom.numerator
    scale = forms.content(numerator)
    source = Form(0, numerator.terms).exactly_divided(scale)
    threshold = -((numerator.constant - (ends[0] + 1) * atom.divisor) // scale)
    return source.key, threshold, ends[0]


def _all_residues(scope: Scope, form: Form, quotients: list[Atom]) -> Iterator[Step]:
    """``floor(N/c) + floor((N + 1)/c) + ... + floor((N + c - 1)/c) = N`` (Hermite).

    Quotients that have only one value may be missing.
    """
    groups: dict[tuple[Key, int, int], list[Atom]] = {}
    for atom in quotients:
        source = Form(0, atom.numerator.terms)
        groups.setdefault((source.key, atom.divisor, form.terms[atom]), []).append(atom)
    for (_, divisor, factor), atoms in groups.items():
        if len(atoms) == 1:
            continue
        lowest = min(atoms, key=lambda atom: atom.numerator.constant).numerator
        step, remainder = divmod(divisor, len(atoms))
        offsets = sorted(atom.numerator.constant - lowest.constant for atom in atoms)
        if not remainder and offsets == [step * index for index in range(len(atoms))]:
            # Every step-th residue: the sum is floor(N / step).
            operands = lowest, forms.constant(step)
            rest = form.without(*atoms)
            yield Step(rest, factor, AtomKind.FLOORDIV, operands, (law.ALL_RESIDUES,))
        if divisor > 2 * len(form.terms) + 2:
            continue
        missing = _missing(scope, lowest, divisor, atoms)
        if missing is not None:
            total = lowest.plus_constant(-missing)
            rest = form.without(*atoms)
            yield Step(rest, factor, AtomKind.SUM, (total,), (law.ALL_RESIDUES,))


def _missing(scope: Scope, lowest: Form, divisor: int, atoms: list[Atom]) -> int | None:
    """The sum of the quotients that are not among the atoms, if each has only one value."""
    quotients = [scope.floordiv(lowest + residue, divisor) for residue in range(divisor)]
    total = forms.weighted_sum((1, each) for each in quotients)
    rest = total.plus(Form(0, forms.in_order(dict.fromkeys(atoms, 1))), -1)
    return rest.constant if rest.is_constant else None


# Clamps come back as maxima and minima.

_OTHER: Final = {AtomKind.MAX: AtomKind.MIN, AtomKind.MIN: AtomKind.MAX}


CostOf: TypeAlias = "Callable[[Form], int]"
"""What a form costs as it stands."""


def extremum_steps(scope: Scope, form: Form, cost_of: CostOf) -> Iterator[Step]:
    """Terms move into extrema; maxima come back as minima; quotients move to operands."""
    found = digits.maxima(form)
    for atom in found:
        factor, rest = form.terms[atom], form.without(atom)
        operands = [argument.times(factor) for argument in atom.arguments]
        yield from _shifted(cost_of, rest, _greatest_of(factor), operands)
    for atom, other in permutations(found, 2):
        are_clamps = digits.is_clamp(atom) and digits.is_clamp(other)
        if are_clamps and form.terms[atom] * form.terms[other] < 0:
            yield from _cheapest(cost_of, _clamps(scope, form, atom, other))
    for atom in form.terms:
        if atom.divisor > 0 and digits.maxima(atom.numerator) and _is_quotient(scope, atom):
            yield from _quotients(scope, form, atom, cost_of)


def _cheapest(cost_of: CostOf, steps: Iterable[Step]) -> list[Step]:
    """The step to the form that costs least as it stands, and that of those that move no terms.

    Terms that are moved inside may make operands too wide.
    """
    found = list(steps)
    still = [step for step in found if PIVOT not in step.laws]
    return [min(ways, key=lambda each: cost_of(each.result)) for ways in (found, still) if ways]


def _greatest_of(factor: int) -> AtomKind:
    """Kind of ``k*max(...)`` over the operands times ``k``."""
    return AtomKind.MAX if factor > 0 else AtomKind.MIN


def _clamps(scope: Scope, form: Form, near: Atom, far: Atom) -> Iterator[Step]:
    """``max(0, D) - max(0, E)`` with ends in order, each of which may be turned.

    ``min(max(0, D), D - E)`` where ``D >= E``; ``min(max(0, D), D + E) - E`` where ``D + E >= 0``;
    ``max(D, min(0, -E))`` where ``D + E <= 0``.
    """
    if not (scope.is_canonical(near) and scope.is_canonical(far)):
        return
    factor = form.terms[near]
    if abs(factor) > abs(form.terms[far]):
        factor = -form.terms[far]
    rest = form.plus_atom(near, -factor).plus_atom(far, factor)
    lower, upper = near.arguments[1].times(factor), far.arguments[1].times(factor)
    step, total = lower.plus(upper, -1), lower.plus(upper)
    inner = _greatest_of(factor)
    if _is_never_negative(scope, step, factor):
        yield from _clamped(rest, inner, (ZERO, lower, step), law.DOUBLE_CLAMP)
    if _is_never_negative(scope, total, factor):
        yield from _clamped(rest.plus(upper, -1), inner, (ZERO, lower, total), law.DOUBLE_CLAMP)
    if _is_never_negative(scope, total, -factor):
        yield from _clamped(rest, _OTHER[inner], (ZERO, -upper, lower), law.OPPOSITE_CLAMPS)


def _is_never_negative(scope: Scope, form: Form, sign: int) -> bool:
    lower, upper = scope.range_of(form)
    return lower >= 0 if sign > 0 else upper <= 0


def _clamped(rest: Form, inner: AtomKind, ends: Sequence[Form], why: Law) -> Iterator[Step]:
    """``min(max(A, B), C) + t = min(max(A + t, B + t), C + t)``."""
    for left, weight, kind, (*clamped, last), laws in _moved(rest, inner, ends):
        operands = operations.build(kind, clamped), last
        yield Step(left, weight, _OTHER[kind], operands, (why, *laws))


def _quotients(scope: Scope, form: Form, atom: Atom, cost_of: CostOf) -> Iterator[Step]:
    """``floor(max(A, B)/c) = max(floor(A/c), floor(B/c))``."""
    factor, rest, numerator = form.terms[atom], form.without(atom), atom.numerator
    inner = digits.maxima(numerator)[0]
    parts = digits.branches(numerator, inner)
    kind = _greatest_of(numerator.terms[inner] * factor)
    divided = [scope.floordiv(part, atom.divisor).times(factor) for part in parts]
    greatest = _greatest(scope, divided, kind)
    if greatest is not None:
        yield Step(rest, 1, AtomKind.SUM, (greatest,), (HOIST_QUOTIENT, PRUNE))
    operands = operations.extremum_operands(kind, divided)
    yield from _shifted(cost_of, rest, kind, operands, HOIST_QUOTIENT)


def _greatest(scope: Scope, operands: Sequence[Form], kind: AtomKind) -> Form | None:
    """The operand that is never exceeded by the others, or of a minimum never undercut."""
    sign = 1 if kind is AtomKind.MAX else -1
    ends = [scope.range_of(each.times(sign)) for each in operands]
    least, most = max(lower for lower, _ in ends), [upper for _, upper in ends]
    for place, operand in enumerate(operands):
        others = most[:place] + most[place + 1 :]
        if ends[place][0] == least and all(upper <= least for upper in others):
            return operand
    return None


def _shifted(
    cost_of: CostOf, rest: Form, kind: AtomKind, operands: Sequence[Form], *why: Law
) -> Iterator[Step]:
    """``max(A, B) + t = max(A + t, B + t)`` with the terms moved that make it cheapest."""
    found = _shiftings(rest, kind, operands, why)
    yield min(found, key=lambda each: cost_of(each.result))


def _shiftings(
    rest: Form, kind: AtomKind, operands: Sequence[Form], why: tuple[Law, ...]
) -> Iterator[Step]:
    for left, weight, extremum, parts, laws in _moved(rest, kind, operands):
        yield Step(left, weight, extremum, parts, (*why, *laws))
        for grouped in _grouped(extremum, parts):
            yield Step(left, weight, extremum, grouped, (*why, *laws, FLATTEN_MAXIMA))


_Extremum: TypeAlias = "tuple[Form, int, AtomKind, tuple[Form, ...], tuple[Law, ...]]"
"""What is beside an extremum, its weight, kind and operands, and why all that is equal."""


def _moved(rest: Form, kind: AtomKind, operands: Sequence[Form]) -> Iterator[_Extremum]:
    """``g*max(A, B) + t = max(g*A + t, g*B + t) = -min(-g*A - t, -g*B - t)``."""
    for moved in dict.fromkeys(_moves(rest, operands)):
        left, inside = rest.plus(moved, -1), [operand.plus(moved) for operand in operands]
        scale = gcd(*(value for form in inside for value in (form.constant, *form.terms.values())))
        for factor in dict.fromkeys((scale or 1, 1)):
            pivoted = (PIVOT,) if moved != ZERO or factor == 1 != scale else ()
            for weight, extremum in ((factor, kind), (-factor, _OTHER[kind])):
                laws = (*pivoted, MINIMUM) if extremum is AtomKind.MIN else pivoted
                parts = tuple([form.exactly_divided(weight) for form in inside])
                yield left, weight, extremum, parts, laws


def _moves(rest: Form, operands: Sequence[Form]) -> Iterator[Form]:
    """Terms to move: none, those near to the operands with the constant or without it, that."""
    close = {atom for operand in operands for atom in operand.terms}
    near = {atom: value for atom, value in rest.terms.items() if atom in close}
    yield ZERO
    yield Form(rest.constant, near)
    yield Form(0, near)
    yield forms.constant(rest.constant)


def _grouped(kind: AtomKind, operands: Sequence[Form]) -> Iterator[tuple[Form, ...]]:
    """``max(A + t, B + t, C) = max(max(A, B) + t, C)``."""
    for left, right in combinations(operands, 2) if len(operands) > 2 else ():  # noqa: PLR2004 - of two
        same = {atom: k for atom, k in left.terms.items() if right.terms.get(atom) == k}
        if same:
            shared = Form(left.constant if left.constant == right.constant else 0, same)
            pair = operations.build(kind, (left.plus(shared, -1), right.plus(shared, -1)))
            yield (*(form for form in operands if form not in (left, right)), pair.plus(shared))


# Products are factored again, and quotients by symbols come back as remainders.


def product_steps(scope: Scope, form: Form, extracted: Callable[[Form], Form]) -> Iterator[Step]:
    """Common factors leave sums of products; quotients by symbols become remainders."""
    yield from _factored(form, extracted)
    yield from _symbolic_remainders(scope, form)
    yield from _symbolic_quotients(scope, form)


def _factored(form: Form, extracted: Callable[[Form], Form]) -> Iterator[Step]:
    """``x*A + x*B = x*(A + B)``."""
    sharing: dict[Atom, list[Atom]] = {}
    for atom in form.terms:
        for factor in dict.fromkeys(digits.factors(atom)):
            sharing.setdefault(factor, []).append(atom)
    for factor, inside in sharing.items():
        if len(inside) > 1:
            cofactors = [(form.terms[atom], _cofactor(atom, factor)) for atom in inside]
            shared = forms.weighted_sum(cofactors)
            scale = gcd(shared.constant, *shared.terms.values())
            scale = scale if shared.has_positive_term else -scale
            shared = shared.exactly_divided(scale)
            rest = form.without(*inside)
            yield from _with_cofactor(rest, factor, shared, extracted(shared), scale)


def _cofactor(atom: Atom, factor: Atom) -> Form:
    """The rest of a monomial without one of its factors."""
    left = list(digits.factors(atom))
    left.remove(factor)
    return operations.product(Form(0, {other: 1}) for other in left)


def _with_cofactor(
    rest: Form, factor: Atom, shared: Form, extracted: Form, scale: int
) -> Iterator[Step]:
    single = Form(0, {factor: 1})
    yield Step(rest, scale, AtomKind.PRODUCT, (single, shared), (DISTRIBUTE,))
    weight = forms.common_weight(rest.terms, shared)
    if weight and weight % scale == 0 and rest == shared.times(weight):
        both = single.plus_constant(weight // scale)
        yield Step(ZERO, scale, AtomKind.PRODUCT, (both, shared), (DISTRIBUTE,))
    if len(extracted.terms) == 1 and not extracted.constant:
        yield Step(rest, scale, AtomKind.PRODUCT, (single, extracted), (DISTRIBUTE,))


def _symbolic_remainders(scope: Scope, form: Form) -> Iterator[Step]:
    """``m*L - m*R*floor(L/R) = m*(L mod R)``, also counted from its other end."""
    parts = [factor for atom in form.terms for factor in digits.factors(atom)]
    if not any(map(digits.is_symbolic_quotient, parts)):
        return
    terms = {atom: value for atom, value in form.terms.items() if _is_canonical(scope, atom)}
    kept = form.without(*terms)
    canonical = Form(0, terms)
    plain = digits.symbolic_digits(scope, canonical)
    for digit in (*plain, *digits.symbolic_digits(scope, canonical, have_strides=True)):
        yield _remainder(kept, digit, law.DIGIT)
        if scope.divisor_range(digit.radix)[0] >= 1:
            turned = digits.from_its_end(scope, digit)
            yield _remainder(kept, turned, law.DIGIT, TURNED_BY_SYMBOLS)


def _remainder(kept: Form, digit: SymbolicDigit, *laws: Law) -> Step:
    rest, weight, source, radix, stride = digit
    if stride == ONE:
        return Step(rest.plus(kept), weight, AtomKind.MOD, (source, radix), laws)
    strided = stride, operations.mod(source, radix)
    return Step(rest.plus(kept), weight, AtomKind.PRODUCT, strided, laws)


def _is_canonical(scope: Scope, atom: Atom) -> bool:
    return all(map(scope.is_canonical, digits.factors(atom)))


def _symbolic_quotients(scope: Scope, form: Form) -> Iterator[Step]:
    """Quotients by symbols are flattened, turned, and rounded up instead of down."""
    for atom, factor in form.terms.items():
        divided = digits.as_quotient(scope, atom)
        if divided is None or not scope.is_canonical(atom):
            continue
        numerator, divisor = divided
        rest = form.without(atom)
        flat = (FLATTEN,) if atom.kind is AtomKind.FLOORDIV else ()
        yield Step(rest, factor, AtomKind.QUOTIENT, divided, flat)
        up = (*flat, CEILING)
        yield Step(rest, -factor, AtomKind.CEILDIV, (-numerator, divisor), up)
        if scope.divisor_range(divisor)[0] >= 1:
            # floor(A/B) + 1 = ceil((A + 1)/B) = -floor((-A - 1)/B).
            less = rest.plus_constant(-factor)
            above, other = (numerator.plus_constant(1), divisor), (*flat, TURNED_BY_SYMBOLS)
            yield Step(less, factor, AtomKind.CEILDIV, above, (*other, CEILING))
            below = turned(numerator), divisor
            yield Step(less, -factor, AtomKind.QUOTIENT, below, other)
