"""What a spelling costs a reader.

``+ - *`` cost 1 each; ``floordiv``, ``mod`` and each further operand of ``min`` and ``max`` cost 3;
``a ceildiv c`` costs 4, as ``(a + c - 1) floordiv c`` does, so that only one of the two is ever
the cheapest.

Terms of a sum whose coefficients have the same size share one multiplication, as if it were written
``(a - b) * 3``; a sum without a positive term needs a sign, which costs 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.form import Atom, Form, Kind, postorder

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATOR: Final = 1
DIVISION: Final = 3


def cost_of_sum(
    form: Form, cost_of: Callable[[Atom], int], unit: int = 1, negative: int = 0
) -> int:
    """The cost of a form when its atoms cost what ``cost_of`` says.

    An operator costs ``unit``; each negative number costs ``negative`` more, which tells
    spellings apart that are equally dear.
    """
    count = len(form.terms) + (form.constant != 0)
    if not count:
        return 0
    cost = (count - 1) * unit
    positive = 1 if form.constant > 0 else 0
    multipliers: set[int] = set()
    for atom, factor in form.terms.items():
        cost += cost_of(atom)
        if factor > 0:
            positive += 1
        if factor not in (1, -1):
            multipliers.add(abs(factor))
    if not positive and not (count == 1 and (form.constant or multipliers)):
        cost += unit
    return cost + len(multipliers) * unit + (count - positive) * negative


def cost_of_atom(atom: Atom, cost_of: Callable[[Form], int], unit: int = 1) -> int:
    """The cost of an atom when the forms inside it cost what ``cost_of`` says."""
    inner = sum(cost_of(argument) for argument in atom.arguments)
    if atom.kind in (Kind.MIN, Kind.MAX):
        return DIVISION * unit * (len(atom.arguments) - 1) + inner
    if atom.kind is Kind.PRODUCT:
        return OPERATOR * unit * (len(atom.arguments) - 1) + inner
    if atom.kind is Kind.CEILDIV:
        return (DIVISION + OPERATOR) * unit + inner
    return (DIVISION * unit if atom.arguments else 0) + inner


def cost_of_form(form: Form) -> int:
    """The cost of a form as it stands."""
    if any(atom.cost is None for atom in form.terms):
        for atom in postorder((form,), skip=_is_priced):
            atom.cost = cost_of_atom(atom, _known_cost)
    return _known_cost(form)


def _is_priced(atom: Atom) -> bool:
    return atom.cost is not None


def _known_cost(form: Form) -> int:
    return cost_of_sum(form, lambda atom: atom.cost or 0)
