"""What a spelling costs a reader.

``+ - *`` cost 1 each; ``floordiv``, ``mod`` and each further operand of ``min`` and ``max`` cost 3;
``a ceildiv c`` costs 4, as ``(a + c - 1) floordiv c`` does, so that only one of the two is ever
the cheapest.

Terms of a sum whose coefficients have the same size share one multiplication, as if it were written
``(a - b) * 3``; a sum without a positive term needs a sign, which costs 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.expr.form import EXTREMA, Atom, Form, Kind, postorder

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATOR: Final = 1
DIVISION: Final = 3


def cost_of_sum(
    form: Form,
    cost_of: Callable[[Atom], int],
    unit: int = 1,
    negative: int = 0,
    further: int = 0,
) -> int:
    """The cost of a form when its atoms cost what ``cost_of`` says.

    An operator costs ``unit``; each negative number costs ``negative`` more, which tells
    spellings apart that are equally dear. ``further`` is the coefficient of one more term, whose
    own cost is not counted.
    """
    count = len(form.terms) + (form.constant != 0)
    positive = 1 if form.constant > 0 else 0
    multipliers: set[int] = set()
    if further:
        count += 1
        positive += further > 0
        multipliers.add(abs(further))
    if not count:
        return 0
    cost = (count - 1) * unit
    for atom, factor in form.terms.items():
        cost += cost_of(atom)
        if factor > 0:
            positive += 1
            multipliers.add(factor)
        else:
            multipliers.add(-factor)
    multipliers.discard(1)
    if not positive and not (count == 1 and (form.constant or multipliers)):
        cost += unit
    return cost + len(multipliers) * unit + (count - positive) * negative


def cost_of_operation(kind: Kind, operands: int, unit: int = 1) -> int:
    """What an operation costs beside its operands."""
    if kind in EXTREMA:
        return DIVISION * unit * (operands - 1)
    if kind is Kind.PRODUCT:
        return OPERATOR * unit * (operands - 1)
    if kind is Kind.CEILDIV:
        return (DIVISION + OPERATOR) * unit
    if kind is Kind.SUM:
        return 0
    return DIVISION * unit if operands else 0


def cost_of_form(form: Form) -> int:
    """The cost of a form as it stands."""
    if form.cost is None:
        for atom in postorder((form,), skip=_is_priced):
            inner = sum(map(_with_known_atoms, atom.arguments))
            atom.cost = cost_of_operation(atom.kind, len(atom.arguments)) + inner
        form.cost = _with_known_atoms(form)
    return form.cost


def _is_priced(atom: Atom) -> bool:
    return atom.cost is not None


def _with_known_atoms(form: Form) -> int:
    return cost_of_sum(form, lambda atom: atom.cost or 0)
