"""Quotients of one source that say the same, or add up to the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr.form import ZERO, Atom, Form, Kind, constant, content
from simplifier.extraction.rewriting import Rewriting
from simplifier.laws.catalogue.spellings import ALL_RESIDUES, SAME_STEP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Key


def sum_steps(scope: Scope, form: Form) -> Iterator[Rewriting]:
    """Quotients that step at the same place become one; all residues of one source become it."""
    quotients = [atom for atom in form.terms if atom.kind is Kind.FLOORDIV]
    if len(quotients) > 1:
        yield from _same_step(scope, form, quotients)
        yield from _all_residues(scope, form, quotients)


def _same_step(scope: Scope, form: Form, quotients: list[Atom]) -> Iterator[Rewriting]:
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
            yield Rewriting(rest, form.terms[atom], Kind.SUM, [(moved,)], (SAME_STEP,))


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


def _all_residues(scope: Scope, form: Form, quotients: list[Atom]) -> Iterator[Rewriting]:
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
            yield Rewriting(rest, factor, Kind.FLOORDIV, operands, (ALL_RESIDUES,))
        if divisor > 2 * len(form.terms) + 2:
            continue
        missing = _missing(scope, lowest, divisor, atoms)
        if missing is not None:
            total = lowest.plus_constant(-missing)
            rest = form.without(*atoms)
            yield Rewriting(rest, factor, Kind.SUM, [(total,)], (ALL_RESIDUES,))


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
