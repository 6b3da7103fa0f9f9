"""Terms move into quotients, and quotients turn their signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr.form import ZERO, Atom, Form, Kind, constant, content
from simplifier.extraction.candidates import Candidates
from simplifier.laws.catalogue.spellings import (
    ABSORB_TERM,
    ALL_RESIDUES,
    SAME_STEP,
    TURNED_QUOTIENT,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key
    from simplifier.extraction.candidates import Limit


def quotient_steps(form: Form, limit: Limit) -> Iterator[Candidates]:
    """``k*floor(N/c) + t = k*floor((N + c*t/k)/c)``, with either sign of the quotient."""
    for atom, factor in form.terms.items():
        if atom.kind is not Kind.FLOORDIV or atom.divisor < 1:
            continue
        divisor, rest = atom.arguments[1], form.without(atom)
        turned = (-atom.numerator).plus_constant(atom.divisor - 1)
        if limit.admits_division(rest):
            yield Candidates(rest, -factor, Kind.FLOORDIV, [(turned, divisor)], (TURNED_QUOTIENT,))
        for numerator, weight, laws in (
            (atom.numerator, factor, (ABSORB_TERM,)),
            (turned, -factor, (TURNED_QUOTIENT, ABSORB_TERM)),
        ):
            for moved in _movable(rest, numerator, weight):
                yield Candidates(
                    rest.plus(moved, -1),
                    weight,
                    Kind.FLOORDIV,
                    _with_term(numerator, moved, weight, divisor),
                    laws,
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
    yield from near
    plain = [term for term in terms if term.is_affine]
    for group in (near, plain):
        if len(group) > 1 or (group and group is plain and plain != near):
            yield _sum(group)
    for term in terms:
        if any(atom.kind is Kind.FLOORDIV for atom in term.terms):
            yield term
            if near and term not in near:
                yield _sum([*near, term])


def _sum(terms: Iterable[Form]) -> Form:
    total = ZERO
    for term in terms:
        total = total.plus(term)
    return total


def sum_steps(scope: Scope, form: Form) -> Iterator[Candidates]:
    """Quotients that step at the same place become one; all residues of one source become it."""
    quotients = [atom for atom in form.terms if atom.kind is Kind.FLOORDIV]
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
            yield Candidates(rest, form.terms[atom], Kind.SUM, [(moved,)], (SAME_STEP,))


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
        if not remainder and offsets == [step * place for place in range(len(atoms))]:
            # Every step-th residue: the sum is floor(N / step).
            operands = [(lowest, constant(step))]
            rest = form.without(*atoms)
            yield Candidates(rest, factor, Kind.FLOORDIV, operands, (ALL_RESIDUES,))
        if divisor > 2 * len(form.terms) + 2:
            continue
        missing = _missing(scope, lowest, divisor, atoms)
        if missing is not None:
            total = lowest.plus_constant(-missing)
            rest = form.without(*atoms)
            yield Candidates(rest, factor, Kind.SUM, [(total,)], (ALL_RESIDUES,))


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
