"""Quotients come back as remainders, take terms in, turn their signs, and merge with others."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from math import gcd
from typing import TYPE_CHECKING, TypeAlias

from simplifier.bounds.branches import is_clamp
from simplifier.expr.form import ZERO, Atom, AtomKind, Form, constant, content, postorder
from simplifier.expr.operations import mod, replace
from simplifier.extraction.candidates import Candidates
from simplifier.extraction.natural import cheapest_residue
from simplifier.extraction.width import reduced, with_multiples
from simplifier.laws.catalogue.spellings import (
    ABSORB_TERM,
    ALL_RESIDUES,
    DIGIT,
    REFLECTED_REMAINDER,
    SAME_STEP,
    TURNED_QUOTIENT,
    WHOLE_REMAINDER,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key
    from simplifier.extraction.candidates import Limit
    from simplifier.laws.law import Law

    _TakesIn: TypeAlias = tuple[Form, int, tuple[Law, ...]]

_WHOLE = (WHOLE_REMAINDER,), (WHOLE_REMAINDER, REFLECTED_REMAINDER)
_DIGIT = (DIGIT,), (DIGIT, REFLECTED_REMAINDER)
"""As it is, and reflected."""


def reflection_steps(scope: Scope, form: Form, limit: Limit) -> Iterator[Candidates]:
    """``-k*(L mod n) = k*((n - 1 - L) mod n) - k*(n - 1)``, where a remainder is subtracted."""
    for atom, factor in form.terms.items():
        if atom.kind is AtomKind.MOD and factor < 0 < atom.divisor:
            last = atom.divisor - 1
            rest, dividend = form.without(atom).plus_constant(factor * last), last - atom.numerator
            if limit.admits_division(rest) and all(
                inner in scope.ranges for inner in dividend.terms
            ):
                residues = _residues(scope, limit, dividend, atom.divisor)
                yield Candidates(
                    rest, -factor, AtomKind.MOD, residues, (REFLECTED_REMAINDER,), dividend
                )


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
    """Whether the atom is a quotient in normal shape, not one of a spelling."""
    return atom.kind is AtomKind.FLOORDIV and scope.is_canonical(atom)


def _residues(scope: Scope, limit: Limit, source: Form, radix: int) -> Iterator[tuple[Form, Form]]:
    """Numerators congruent to the source, over the radix."""
    modulus = constant(radix)
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
    return content(difference) % modulus == 0 and difference.constant % modulus == 0


def _shifted_clamps(positive: Form, radix: int) -> Iterator[Form]:
    """Congruent forms whose constant moves into a clamp: ``max(0, x + 6) - 6 = max(-6, x)``."""
    for atom, factor in positive.terms.items():
        if is_clamp(atom):
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
                rest, weight, AtomKind.FLOORDIV, [(turned, divisor)], (TURNED_QUOTIENT,)
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
        (quotient.numerator, factor, (ABSORB_TERM,)),
        (turned, -factor, (TURNED_QUOTIENT, ABSORB_TERM)),
    )


def _with_term(
    numerator: Form, moved: Form, weight: int, divisor: Form
) -> Iterator[tuple[Form, Form]]:
    yield numerator.plus(moved.exactly_divided(weight), divisor.constant), divisor


def _movable(rest: Form, numerator: Form, weight: int) -> Iterator[Form]:
    """Sets of terms, as sums, that may move into a quotient of this weight."""
    terms = [Form(0, {atom: factor}) for atom, factor in rest.terms.items() if factor % weight == 0]
    if rest.constant and rest.constant % weight == 0:
        terms.append(constant(rest.constant))
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
    """Numbers congruent to what a quotient divides.

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
    """The form with remainders of what is congruent to the source, or reflected, taken of it."""
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
    """The form with remainders taken of what a quotient by the same divisor divides, if they can.

    >>> from simplifier.expr.parser import parse_form
    >>> print(with_shared_numbers(parse_form("min((x * 7 + y) floordiv 5, (x * 2 + y) mod 5)")))
    min((x * 7 + y) floordiv 5, (x * 7 + y) mod 5)
    """
    atoms = postorder((form,))
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
            yield Candidates(rest, form.terms[atom], AtomKind.SUM, [(moved,)], (SAME_STEP,))


def _step_of(scope: Scope, atom: Atom) -> tuple[Key, int, int] | None:
    """The source without constant and common factor, where it steps, and the value below."""
    ends = scope.ranges.get(atom)
    if ends is None or not isinstance(ends[0], int) or ends[1] != ends[0] + 1:
        return None
    numerator = atom.numerator
    scale = content(numerator)
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
            operands = [(lowest, constant(step))]
            rest = form.without(*atoms)
            yield Candidates(rest, factor, AtomKind.FLOORDIV, operands, (ALL_RESIDUES,))
        if divisor > 2 * len(form.terms) + 2:
            continue
        missing = _missing(scope, lowest, divisor, atoms)
        if missing is not None:
            total = lowest.plus_constant(-missing)
            rest = form.without(*atoms)
            yield Candidates(rest, factor, AtomKind.SUM, [(total,)], (ALL_RESIDUES,))


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
