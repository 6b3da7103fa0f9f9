"""The steps of the search: which forms of one kind of operation are equal to a form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, permutations
from math import gcd
from typing import Final, NamedTuple, Protocol, TypeAlias

from simplifier.bounds import digits
from simplifier.bounds.digits import SymbolicDigit
from simplifier.canonical.nonlinear import turned
from simplifier.canonical.scope import Scope
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import EXTREMA, ONE, ZERO, Atom, AtomKind, Form, Key
from simplifier.expr.operations import extremum_operands, mod, replace
from simplifier.extraction.cost import DIVISION, DIVISIONS, USED_AGAIN
from simplifier.extraction.natural import cheapest_residue
from simplifier.extraction.prices import FINE, CostOf, Prices, fine_cost, reduced, with_multiples
from simplifier.laws.catalogue import steps as law
from simplifier.laws.catalogue.floordiv import FLATTEN
from simplifier.laws.catalogue.maxima import PRUNE
from simplifier.laws.catalogue.nonlinear import INTEGER_OUTSIDE, TURNED_BY_SYMBOLS
from simplifier.laws.law import Law
from simplifier.laws.rewrite_log import Rewrite
from simplifier.limits import MAX_TERMS_MOVED

_TakesIn: TypeAlias = "tuple[Form, int, tuple[Law, ...]]"


# Candidates of one step of the search, and the cost that one of them has to undercut.
#
# A candidate is described before it is built. Most cost too much, and many are known to by what
# stands beside the new operation, or by what it costs at least. Only of the others the operands
# are extracted, and only what is below the limit is asked whether it is narrow.


class CostModel(Protocol):
    """Cost of the new parts of a candidate, by a helper."""

    cost: CostOf

    def cost_of(self, kind: AtomKind, operands: Sequence[Form], limit: int) -> int:
        """The cost of an operation, its operands extracted; beyond the limit its least cost."""
        ...

    def extract(self, form: Form) -> Form:
        """The cheapest form found, its arguments left as they are."""
        ...


_UNBUILT: Final = (AtomKind.MOD, AtomKind.FLOORDIV, *EXTREMA)
"""The cost of these is found before they are built."""


class Candidates(NamedTuple):
    """``rest + weight * operation(operands)``, for each of the alternative operands."""

    rest: Form
    weight: int
    kind: AtomKind
    alternatives: Iterable[tuple[Form, ...]]
    laws: tuple[Law, ...]
    """Why it is equal."""
    source: Form | None = None
    """Of a remainder, what it is taken of; the alternatives are congruent to it."""

    def built(self, operands: tuple[Form, ...]) -> Form:
        """The candidate with these operands."""
        return self.rest.plus(operations.build(self.kind, operands), self.weight)

    def laws_for(self, operands: tuple[Form, ...]) -> tuple[Law, ...]:
        """Laws by which the candidate with these operands is equal."""
        if self.source is None or operands[0] == self.source:
            return self.laws
        return (*self.laws, law.CONGRUENT_RESIDUES)


class _Best(NamedTuple):
    """The cheapest candidate so far."""

    candidates: Candidates
    operands: tuple[Form, ...]


class Limit:
    """Limit for a candidate: the cost of the best one so far."""

    __slots__ = ("_helper", "_prices", "cost", "cost_of")

    def __init__(self, cost: int, prices: Prices, helper: CostModel) -> None:
        self.cost = cost
        self._prices = prices
        self._helper = helper
        self.cost_of: CostOf = helper.cost
        """The cost of an atom that a candidate brings in."""

    def admits_division(self, rest: Form) -> bool:
        """Whether a division beside the rest may be cheap enough."""
        return self._prices.sum(rest, 1, self.cost) + USED_AGAIN * FINE < self.cost

    def admits_extrema(self, rest: Form, count: int) -> bool:
        """Whether so many extrema may be cheap enough."""
        return self._prices.sum(rest, 1, self.cost) + count * DIVISION * FINE < self.cost

    def cheapest(self, form: Form, families: Iterable[Candidates]) -> Rewrite | None:
        """The first of the cheapest candidates below the limit, and why it equals the form."""
        best: _Best | None = None
        for candidates in families:
            beside = 0
            if candidates.kind in _UNBUILT:
                beside = self._prices.sum(candidates.rest, candidates.weight, self.cost)
                if beside + USED_AGAIN * FINE > self.cost:
                    continue
            for operands in candidates.alternatives:
                cost = self._cost(candidates, operands, beside)
                if cost < self.cost and self._is_narrow(candidates, operands):
                    best, self.cost = _Best(candidates, operands), cost
        if best is None:
            return None
        candidates, operands = best
        return Rewrite(candidates.laws_for(operands), form, candidates.built(operands))

    def _is_narrow(self, candidates: Candidates, operands: tuple[Form, ...]) -> bool:
        """Whether neither the operands nor the operation times its weight is too wide."""
        if candidates.kind is AtomKind.SUM:
            return True
        return self._prices.is_narrow(operands) and (
            self._prices.is_narrow_term(
                operations.build(candidates.kind, operands), candidates.weight
            )
        )

    def _cost(self, candidates: Candidates, operands: tuple[Form, ...], beside: int) -> int:
        """The cost of a candidate, or a lower bound of it above the limit."""
        kind, helper = candidates.kind, self._helper
        if kind not in _UNBUILT or _is_beside(candidates.rest, kind, operands):
            return self._prices.sum(candidates.built(operands), limit=self.cost)
        if kind in EXTREMA:
            operands = tuple(extremum_operands(kind, operands))
            if len(operands) == 1:
                return beside + fine_cost(helper.extract(operands[0]), helper.cost)
        least = beside + helper.cost_of(kind, operands, self.cost - beside)
        if least < self.cost and kind in DIVISIONS and candidates.rest.terms:
            # With the digits that overlap.
            return self._prices.sum(candidates.built(operands), limit=self.cost)
        return least


def _is_beside(rest: Form, kind: AtomKind, operands: tuple[Form, ...]) -> bool:
    """Whether the operation is a term of the rest, or a division that shares work with one."""
    count = len(operands)
    for atom in rest.terms:
        if atom.kind is not kind and not (kind in DIVISIONS and atom.kind in DIVISIONS):
            continue
        if len(atom.arguments) == count and all(operand in atom.arguments for operand in operands):
            return True
    return False


# Quotients come back as remainders, take terms in, turn their signs, and merge with others.

_WHOLE = (law.WHOLE_REMAINDER,), (law.WHOLE_REMAINDER, law.REFLECTED_REMAINDER)
_DIGIT = (law.DIGIT,), (law.DIGIT, law.REFLECTED_REMAINDER)
"""As it is, and reflected."""


def remainder_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    """``k*floor(N/c) = m*(L mod n) - m*L`` with ``L = floor(N/g)``, ``n = c/g``, ``m = -k/n``."""
    quotients = [atom for atom in form.terms if _is_quotient(scope, atom)]
    for atom in quotients:
        factor, divisor = form.terms[atom], atom.divisor
        smallest = divisor // gcd(factor, divisor)
        divisors = {smallest, *(other.divisor for other in quotients)}
        for step in sorted(divisors):
            if step >= divisor or divisor % step or step % smallest:
                continue
            source = scope.floordiv(atom.numerator, step)
            radix, weight = divisor // step, -factor * step // divisor
            rest = form.plus(source, -weight).without(atom)
            if not limit.admits_division(Form(0, rest.terms)):
                continue
            plain, reflected = _WHOLE if step == 1 else _DIGIT
            # L mod n = n - 1 - ((n - 1 - L) mod n).
            last = radix - 1
            for left, factor_of_digit, dividend, why in (
                (rest, weight, source, plain),
                (rest.plus_constant(weight * last), -weight, last - source, reflected),
            ):
                residues = chain(
                    _residues(scope, limit, dividend, radix), _divided(left, dividend, radix)
                )
                yield Candidates(left, factor_of_digit, AtomKind.MOD, residues, why, dividend)


def _is_quotient(scope: Scope, atom: Atom) -> bool:
    """Whether the atom is a quotient in normal shape, not one of an extracted form."""
    return atom.kind is AtomKind.FLOORDIV and scope.is_canonical(atom)


def _residues(scope: Scope, limit: Limit, source: Form, radix: int) -> Iterator[tuple[Form, Form]]:
    """Numerators congruent to the source, over the radix."""
    modulus = forms.constant(radix)
    yield cheapest_residue(scope, source, radix, limit.cost_of), modulus
    for shifted in _shifted_clamps(reduced(source, radix), radix):
        yield shifted, modulus


def _divided(beside: Form, source: Form, radix: int) -> Iterator[tuple[Form, Form]]:
    """Numerators of quotients by the radix that are congruent to the source."""
    for atom in beside.terms:
        if (
            atom.kind is AtomKind.FLOORDIV
            and atom.divisor == radix
            and _is_congruent(atom.numerator, source, radix)
        ):
            yield atom.numerator, atom.arguments[1]


def _is_congruent(one: Form, other: Form, modulus: int) -> bool:
    difference = one.plus(other, -1)
    return forms.content(difference) % modulus == 0 and difference.constant % modulus == 0


def _shifted_clamps(positive: Form, radix: int) -> Iterator[Form]:
    """Congruent forms whose constant moves into a clamp: ``max(0, x + 6) - 6 = max(-6, x)``."""
    for atom, factor in positive.terms.items():
        if digits.is_clamp(atom):
            for weight in (factor, factor - radix):
                offset = -weight * atom.arguments[1].constant
                if (offset - positive.constant) % radix == 0:
                    yield Form(offset, {**positive.terms, atom: weight})


# Quotients that take terms in or turn their signs.


def quotient_steps(form: Form, limit: Limit) -> Iterator[Candidates]:
    """``k*floor(N/c) + t = k*floor((N + c*t/k)/c)``, with either sign of the quotient."""
    for atom, factor in form.terms.items():
        if atom.kind is not AtomKind.FLOORDIV or atom.divisor < 1:
            continue
        divisor, rest = atom.arguments[1], form.without(atom)
        either_way = _either_way(atom, factor)
        if limit.admits_division(rest):
            turned, weight, _ = either_way[1]
            yield Candidates(
                rest, weight, AtomKind.FLOORDIV, [(turned, divisor)], (law.TURNED_QUOTIENT,)
            )
        for numerator, weight, laws in either_way:
            for moved in _movable(rest, numerator, weight):
                yield Candidates(
                    rest.plus(moved, -1),
                    weight,
                    AtomKind.FLOORDIV,
                    _with_term(numerator, moved, weight, divisor),
                    laws,
                )


def _either_way(quotient: Atom, factor: int) -> tuple[_TakesIn, _TakesIn]:
    """The numerator of a quotient, its weight, and why it takes terms in; then turned."""
    turned = (-quotient.numerator).plus_constant(quotient.divisor - 1)
    return (
        (quotient.numerator, factor, (law.ABSORB_TERM,)),
        (turned, -factor, (law.TURNED_QUOTIENT, law.ABSORB_TERM)),
    )


def _with_term(
    numerator: Form, moved: Form, weight: int, divisor: Form
) -> Iterator[tuple[Form, Form]]:
    yield numerator.plus(moved.exactly_divided(weight), divisor.constant), divisor


def _movable(rest: Form, numerator: Form, weight: int) -> Iterator[Form]:
    """Sets of terms, as sums, that may move into a quotient of this weight."""
    terms = [Form(0, {atom: factor}) for atom, factor in rest.terms.items() if factor % weight == 0]
    if rest.constant and rest.constant % weight == 0:
        terms.append(forms.constant(rest.constant))
    near = [term for term in terms if all(atom in numerator.terms for atom in term.terms)]
    if len(near) > 1:
        yield _sum(near)
    if not _is_multiple(near, numerator):
        yield from near
    for term in terms:
        if any(atom.kind is AtomKind.FLOORDIV for atom in term.terms):
            yield term
            if near and term not in near:
                yield _sum([*near, term])


def _is_multiple(terms: Sequence[Form], numerator: Form) -> bool:
    """Whether some terms are together a multiple of a numerator of several variables."""
    if len(numerator.terms) == 1:
        return False
    whole = _sum(terms)
    if len(whole.terms) < len(numerator.terms):
        return False
    ratios = {Fraction(whole.terms[atom], value) for atom, value in numerator.terms.items()}
    return len(ratios) == 1


def _sum(terms: Iterable[Form]) -> Form:
    total = ZERO
    for term in terms:
        total = total.plus(term)
    return total


def source_steps(scope: Scope, form: Form) -> Iterator[Candidates]:
    """``k*floor(N/c) + t = k*floor(M/c) + u`` where ``M - N`` is a multiple of ``c``.

    So a quotient gets back the linear index that its multiples have left. Remainders of congruent
    numbers by the same divisor are taken of the index, too.
    """
    for atom, factor in form.terms.items():
        if not _is_quotient(scope, atom):
            continue
        modulus, divisor, rest = atom.arguments[1], atom.divisor, form.without(atom)
        for numerator, weight, laws in _either_way(atom, factor):
            for source in _sources(rest, numerator, divisor, weight):
                left = source.plus(numerator, -1).exactly_divided(divisor)
                beside = _with_remainders_of(rest.plus(left, -weight), source, divisor)
                yield Candidates(beside, weight, AtomKind.FLOORDIV, [(source, modulus)], laws)


def _sources(rest: Form, numerator: Form, divisor: int, weight: int) -> list[Form]:
    """Numbers congruent to the dividend of a quotient.

    They are the number itself with its multiples beside it, with or without the constant, or
    without negative coefficients, and what is divided elsewhere.
    """
    whole = with_multiples(rest, numerator, divisor, weight)
    found = [
        whole,
        Form(numerator.constant, whole.terms),
        Form(numerator.constant, reduced(numerator, divisor).terms),
    ]
    found += [
        atom.numerator
        for atom in rest.terms
        if atom.divisor > 0 and _is_congruent(atom.numerator, numerator, divisor)
    ]
    return [source for source in dict.fromkeys(found) if source != numerator]


def _with_remainders_of(form: Form, source: Form, divisor: int) -> Form:
    """The form with remainders of numbers congruent to the source, or reflected, taken of it."""
    last = divisor - 1
    for atom, factor in form.terms.items():
        if atom.kind is not AtomKind.MOD or atom.divisor != divisor or atom.numerator == source:
            continue
        remainder = mod(source, atom.arguments[1])
        if _is_congruent(atom.numerator, source, divisor):
            form = form.without(atom).plus(remainder, factor)
        elif _is_congruent(atom.numerator, last - source, divisor):
            form = form.without(atom).plus(last - remainder, factor)
    return form


def with_shared_numbers(form: Form) -> Form:
    """The form with remainders of the same dividends as its quotients, where divisors are equal.

    >>> from simplifier.expr.text import parse_form
    >>> print(with_shared_numbers(parse_form("min((x * 7 + y) floordiv 5, (x * 2 + y) mod 5)")))
    min((x * 7 + y) floordiv 5, (x * 7 + y) mod 5)
    """
    atoms = forms.postorder((form,))
    divided: dict[int, list[Form]] = {}
    for atom in atoms:
        if atom.kind is AtomKind.FLOORDIV and atom.divisor > 0:
            divided.setdefault(atom.divisor, []).append(atom.numerator)
    shared = {
        atom: mod(source, atom.arguments[1])
        for atom in atoms
        if atom.kind is AtomKind.MOD and atom.divisor in divided
        for source in divided[atom.divisor]
        if source != atom.numerator and _is_congruent(source, atom.numerator, atom.divisor)
    }
    return replace(form, shared) if shared else form


# Sums of quotients.


def sum_steps(scope: Scope, form: Form) -> Iterator[Candidates]:
    """Quotients that step at the same place become one; all residues of one source become it."""
    quotients = [atom for atom in form.terms if atom.kind is AtomKind.FLOORDIV]
    if len(quotients) > 1:
        yield from _same_step(scope, form, quotients)
        yield from _all_residues(scope, form, quotients)


def _same_step(scope: Scope, form: Form, quotients: list[Atom]) -> Iterator[Candidates]:
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
            yield Candidates(rest, form.terms[atom], AtomKind.SUM, [(moved,)], (law.SAME_STEP,))


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


def _all_residues(scope: Scope, form: Form, quotients: list[Atom]) -> Iterator[Candidates]:
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
            operands = [(lowest, forms.constant(step))]
            rest = form.without(*atoms)
            yield Candidates(rest, factor, AtomKind.FLOORDIV, operands, (law.ALL_RESIDUES,))
        if divisor > 2 * len(form.terms) + 2:
            continue
        missing = _missing(scope, lowest, divisor, atoms)
        if missing is not None:
            total = lowest.plus_constant(-missing)
            rest = form.without(*atoms)
            yield Candidates(rest, factor, AtomKind.SUM, [(total,)], (law.ALL_RESIDUES,))


def _missing(scope: Scope, lowest: Form, divisor: int, atoms: list[Atom]) -> int | None:
    """The sum of the quotients that are not among the atoms, if each has only one value."""
    total = ZERO
    for residue in range(divisor):
        quotient = scope.floordiv(lowest.plus_constant(residue), divisor)
        total = total.plus(quotient)
    rest = total.plus(Form(0, dict.fromkeys(sorted(atoms, key=_order), 1)), -1)
    return rest.constant if rest.is_constant else None


def _order(atom: Atom) -> Key:
    return atom.order


# Clamps come back as maxima and minima.

_PAIR: Final = 2
_OTHER: Final = {AtomKind.MAX: AtomKind.MIN, AtomKind.MIN: AtomKind.MAX}


def extremum_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    """Terms move into extrema; maxima come back as minima; quotients move to operands."""
    found = digits.maxima(form)
    for atom in found:
        factor, rest = form.terms[atom], form.without(atom)
        operands = [argument.times(factor) for argument in atom.arguments]
        yield from _shifted(limit, rest, _greatest_of(factor), operands)
    for atom, other in permutations(found, 2):
        if (
            form.terms[atom] * form.terms[other] < 0
            and digits.is_clamp(atom)
            and digits.is_clamp(other)
        ):
            yield from _clamps(scope, form, limit, atom, other)
    for atom in form.terms:
        if (
            atom.kind is AtomKind.FLOORDIV
            and digits.maxima(atom.numerator)
            and scope.is_canonical(atom)
        ):
            yield from _quotients(scope, form, limit, atom)


def _greatest_of(factor: int) -> AtomKind:
    """Kind of ``k*max(...)`` over the operands times ``k``."""
    return AtomKind.MAX if factor > 0 else AtomKind.MIN


def _clamps(scope: Scope, form: Form, limit: Limit, near: Atom, far: Atom) -> Iterator[Candidates]:
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
        yield from _clamped(limit, rest, inner, (ZERO, lower, step), law.DOUBLE_CLAMP)
    if _is_never_negative(scope, total, factor):
        yield from _clamped(
            limit, rest.plus(upper, -1), inner, (ZERO, lower, total), law.DOUBLE_CLAMP
        )
    if _is_never_negative(scope, total, -factor):
        yield from _clamped(limit, rest, _OTHER[inner], (ZERO, -upper, lower), law.OPPOSITE_CLAMPS)


def _is_never_negative(scope: Scope, form: Form, sign: int) -> bool:
    lower, upper = scope.range_of(form)
    return lower >= 0 if sign > 0 else upper <= 0


def _clamped(
    limit: Limit, rest: Form, inner: AtomKind, ends: Sequence[Form], why: Law
) -> Iterator[Candidates]:
    """``min(max(A, B), C) + t = min(max(A + t, B + t), C + t)``."""
    for moved in dict.fromkeys(_moves(rest, ends)):
        left, inside = rest.plus(moved, -1), [end.plus(moved) for end in ends]
        if not limit.admits_extrema(left, 2):
            continue
        for weight, kind, (*clamped, last), turning in _turned(inner, inside):
            operands = (operations.build(kind, tuple(clamped)), last)
            laws = (why, *_moving(moved), *turning)
            yield Candidates(left, weight, _OTHER[kind], [operands], laws)


def _quotients(scope: Scope, form: Form, limit: Limit, atom: Atom) -> Iterator[Candidates]:
    """``floor(max(A, B)/c) = max(floor(A/c), floor(B/c))``."""
    factor, rest, numerator = form.terms[atom], form.without(atom), atom.numerator
    inner = digits.maxima(numerator)[0]
    parts = digits.branches(numerator, inner)
    kind = _greatest_of(numerator.terms[inner] * factor)
    divided = [scope.floordiv(part, atom.divisor).times(factor) for part in parts]
    greatest = scope.maximum(divided) if kind is AtomKind.MAX else scope.minimum(divided)
    if greatest in divided:
        yield Candidates(rest, 1, AtomKind.SUM, [(greatest,)], (law.QUOTIENTS_INSIDE, PRUNE))
    operands = operations.extremum_operands(kind, divided)
    yield from _shifted(limit, rest, kind, operands, (law.QUOTIENTS_INSIDE,))


def _shifted(
    limit: Limit, rest: Form, kind: AtomKind, operands: Sequence[Form], why: tuple[Law, ...] = ()
) -> Iterator[Candidates]:
    """``max(A, B) + t = max(A + t, B + t)``."""
    for moved in dict.fromkeys(_moves(rest, operands)):
        left, inside = rest.plus(moved, -1), [operand.plus(moved) for operand in operands]
        if not limit.admits_extrema(left, len(inside) - 1):
            continue
        for weight, extremum, parts, turning in _turned(kind, inside):
            laws = (*why, *_moving(moved), *turning)
            yield Candidates(left, weight, extremum, [parts], laws)
            for grouped in _grouped(extremum, parts):
                yield Candidates(left, weight, extremum, [grouped], (*laws, law.GROUPED_EXTREMA))


def _moving(moved: Form) -> tuple[Law, ...]:
    return () if moved == ZERO else (law.SHIFTED_EXTREMA,)


def _turned(
    kind: AtomKind, operands: Sequence[Form]
) -> Iterator[tuple[int, AtomKind, tuple[Form, ...], tuple[Law, ...]]]:
    """``max(g*A, g*B) = g*max(A, B) = -g*min(-A, -B)``."""
    scale = gcd(*(value for form in operands for value in (form.constant, *form.terms.values())))
    for factor in dict.fromkeys((scale or 1, 1)):
        for weight, extremum in ((factor, kind), (-factor, _OTHER[kind])):
            laws = (law.WRITTEN_MINIMUM,) if extremum is AtomKind.MIN else ()
            laws += (law.SCALED_EXTREMA,) if factor == 1 != scale else ()
            yield weight, extremum, tuple([form.exactly_divided(weight) for form in operands]), laws


def _moves(rest: Form, operands: Sequence[Form]) -> Iterator[Form]:
    """Terms to move: none, all; of those near to the operands all, each, or those that cancel."""
    close = {atom for operand in operands for atom in operand.terms}
    near = {atom: value for atom, value in rest.terms.items() if atom in close}
    yield ZERO
    yield Form(rest.constant, near)
    if len(rest.terms) <= MAX_TERMS_MOVED and any(atom.kind is AtomKind.FLOORDIV for atom in near):
        # With what is beside it a quotient may be a remainder.
        far = {atom: value for atom, value in rest.terms.items() if atom.kind is AtomKind.VARIABLE}
        yield Form(rest.constant, forms.in_order({**near, **far}))
    for atom, value in near.items():
        yield Form(0, {atom: value})
    if rest.constant:
        yield forms.constant(rest.constant)
    for operand in operands:
        terms = {
            atom: -operand.terms[atom]
            for atom, value in near.items()
            if operand.terms.get(atom, 0) * value < 0
        }
        yield Form(-operand.constant if operand.constant * rest.constant < 0 else 0, terms)
    yield Form(0, near)


def _grouped(kind: AtomKind, operands: Sequence[Form]) -> Iterator[tuple[Form, ...]]:
    """``max(A + t, B + t, C) = max(max(A, B) + t, C)``."""
    if len(operands) == _PAIR:  # nothing to group
        return
    for left, right in combinations(operands, 2):
        same = {atom: k for atom, k in left.terms.items() if right.terms.get(atom) == k}
        if same:
            shared = Form(left.constant if left.constant == right.constant else 0, same)
            pair = operations.build(kind, (left.plus(shared, -1), right.plus(shared, -1)))
            yield (*(form for form in operands if form not in (left, right)), pair.plus(shared))


# Products are factored again, and quotients by symbols come back as remainders.


def product_steps(
    scope: Scope, form: Form, extracted: Callable[[Form], Form]
) -> Iterator[Candidates]:
    """Common factors leave sums of products; quotients by symbols become remainders."""
    yield from _factored(form, extracted)
    yield from _symbolic_remainders(scope, form)
    yield from _symbolic_quotients(scope, form)


def _factored(form: Form, extracted: Callable[[Form], Form]) -> Iterator[Candidates]:
    """``x*A + x*B = x*(A + B)``."""
    sharing: dict[Atom, list[Atom]] = {}
    for atom in form.terms:
        for factor in dict.fromkeys(digits.factors(atom)):
            sharing.setdefault(factor, []).append(atom)
    for factor, inside in sharing.items():
        if len(inside) > 1:
            shared = forms.weighted_sum(
                (form.terms[atom], _cofactor(atom, factor)) for atom in inside
            )
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
) -> Iterator[Candidates]:
    single = Form(0, {factor: 1})
    yield Candidates(rest, scale, AtomKind.PRODUCT, [(single, shared)], (law.FACTORED,))
    lead = next(iter(shared.terms), None)
    repeats = rest.terms.get(lead, 0) // (shared.terms[lead] * scale) if lead is not None else 0
    if repeats and rest == shared.times(repeats * scale):
        both = single.plus_constant(repeats)
        yield Candidates(ZERO, scale, AtomKind.PRODUCT, [(both, shared)], (law.FACTORED,))
    if len(extracted.terms) == 1 and not extracted.constant:
        yield Candidates(rest, scale, AtomKind.PRODUCT, [(single, extracted)], (law.FACTORED,))


def _symbolic_remainders(scope: Scope, form: Form) -> Iterator[Candidates]:
    """``m*L - m*R*floor(L/R) = m*(L mod R)``, also counted from its other end."""
    if not any(
        digits.is_symbolic_quotient(factor)
        for atom in form.terms
        for factor in digits.factors(atom)
    ):
        return
    terms = {atom: value for atom, value in form.terms.items() if _is_canonical(scope, atom)}
    kept = form.without(*terms)
    canonical = Form(0, terms)
    for digit in (
        *digits.symbolic_digits(scope, canonical),
        *digits.strided_digits(scope, canonical),
    ):
        readings: list[tuple[SymbolicDigit, tuple[Law, ...]]] = [(digit, (law.SYMBOLIC_REMAINDER,))]
        if scope.divisor_range(digit.radix)[0] >= 1:
            turned = digits.from_its_end(scope, digit)
            readings.append((turned, (law.SYMBOLIC_REMAINDER, law.REFLECTED_REMAINDER)))
        for (rest, weight, source, radix, stride), laws in readings:
            if stride == ONE:
                yield Candidates(rest.plus(kept), weight, AtomKind.MOD, [(source, radix)], laws)
            else:
                strided = stride, operations.mod(source, radix)
                yield Candidates(rest.plus(kept), weight, AtomKind.PRODUCT, [strided], laws)


def _is_canonical(scope: Scope, atom: Atom) -> bool:
    return all(map(scope.is_canonical, digits.factors(atom)))


def _symbolic_quotients(scope: Scope, form: Form) -> Iterator[Candidates]:
    """Quotients by symbols are flattened, turned, and rounded up instead of down."""
    for atom, factor in form.terms.items():
        divided = digits.as_quotient(scope, atom)
        if divided is None or not scope.is_canonical(atom):
            continue
        numerator, divisor = divided
        rest = form.without(atom)
        flat: tuple[Law, ...] = ()
        if atom.kind is AtomKind.FLOORDIV:
            flat = (INTEGER_OUTSIDE,) if len(atom.numerator.terms) == 1 else (FLATTEN,)
        yield Candidates(rest, factor, AtomKind.QUOTIENT, [divided], flat)
        up = (*flat, law.ROUNDED_UP)
        yield Candidates(rest, -factor, AtomKind.CEILDIV, [(-numerator, divisor)], up)
        if scope.divisor_range(divisor)[0] >= 1:
            # floor(A/B) + 1 = ceil((A + 1)/B) = -floor((-A - 1)/B).
            less = rest.plus_constant(-factor)
            above, other = [(numerator.plus_constant(1), divisor)], (*flat, TURNED_BY_SYMBOLS)
            yield Candidates(less, factor, AtomKind.CEILDIV, above, (*other, law.ROUNDED_UP))
            yield Candidates(
                less, -factor, AtomKind.QUOTIENT, [(turned(numerator), divisor)], other
            )
