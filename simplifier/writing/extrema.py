"""Clamps come back as maxima and minima."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.form import ZERO, Atom, Form, Kind, constant
from simplifier.writing.rewriting import Rewriting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def extremum_steps(form: Form) -> Iterator[Rewriting]:
    """Terms move into extrema; maxima come back as minima."""
    clamps = [(atom, factor) for atom, factor in form.terms.items() if _is_clamp(atom)]
    for atom, factor in clamps:
        rest = form.without(atom)
        yield from _shifted_extrema(rest, factor, atom.arguments)
        if len(atom.arguments) == 2:  # noqa: PLR2004 - 0 and D
            yield from _double_clamps(rest, atom, factor, clamps)


def _is_clamp(atom: Atom) -> bool:
    return atom.kind is Kind.MAX and atom.arguments[0] == ZERO


def _double_clamps(
    rest: Form, atom: Atom, factor: int, clamps: Sequence[tuple[Atom, int]]
) -> Iterator[Rewriting]:
    """``max(0, D) - max(0, D - b) = min(max(0, D), b)``."""
    for other, value in clamps:
        if value == -factor and len(other.arguments) == 2:  # noqa: PLR2004 - 0 and D
            step = atom.arguments[1].plus(other.arguments[1], -1)
            if step.is_constant and step.constant > 0:
                operands = (Form(0, {atom: -1}), -step)
                near = atom.arguments[1]
                yield from _shifted_extrema(rest.without(other), -factor, operands, near)


def _shifted_extrema(
    rest: Form, weight: int, operands: Sequence[Form], near: Form = ZERO
) -> Iterator[Rewriting]:
    """``k*max(A, B) + t = k*max(A + t/k, B + t/k)``, also as a minimum of negated operands."""
    close = {atom for operand in (*operands, near) for atom in operand.terms}
    for factor, kind, sign in ((weight, Kind.MAX, 1), (-weight, Kind.MIN, -1)):
        signed = [operand.times(sign) for operand in operands]
        can_move = _part_divisible(rest, factor, close)
        for moved in _moves_into(can_move, signed):
            outside = rest.plus(moved, -factor)
            inside = tuple(operand.plus(moved) for operand in signed)
            yield Rewriting(outside, factor, kind, [inside])
            if abs(factor) > 1:
                scaled = tuple(operand.times(abs(factor)) for operand in inside)
                yield Rewriting(outside, 1 if factor > 0 else -1, kind, [scaled])


def _part_divisible(rest: Form, factor: int, close: set[Atom]) -> Form:
    """The terms of near atoms, and the constant, that the factor divides; divided."""
    terms = {
        atom: value // factor
        for atom, value in rest.terms.items()
        if atom in close and value % factor == 0
    }
    return Form(rest.constant // factor if rest.constant % factor == 0 else 0, terms)


def _moves_into(can_move: Form, operands: Sequence[Form]) -> Iterator[Form]:
    """Terms to move: none, all, each alone, what cancels in one operand, all but the constant."""
    yield ZERO
    yield can_move
    for atom, value in can_move.terms.items():
        yield Form(0, {atom: value})
    if can_move.constant:
        yield constant(can_move.constant)
    for operand in operands:
        terms = {
            atom: value
            for atom, value in can_move.terms.items()
            if operand.terms.get(atom) == -value
        }
        offset = (
            can_move.constant if can_move.constant and operand.constant == -can_move.constant else 0
        )
        yield Form(offset, terms)
    yield Form(0, can_move.terms)
