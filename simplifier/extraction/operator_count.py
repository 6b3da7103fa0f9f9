"""How many operators an expression has as it is written, weighted: a measure to compare by.

It was the cost function of earlier versions. Operators weigh as much as in the cost, but nothing is
shared, and digits that overlap cost no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr.fold import fold
from simplifier.expr.printer import negated
from simplifier.extraction.cost import cost_of_operation, operators_as_written, operators_inside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simplifier.expr.form import Atom, Form


def operator_count_of_form(form: Form) -> int:
    """The weighted number of operators of a form, each counted wherever it stands.

    >>> from simplifier.expr.parser import parse_form
    >>> for text in ("x mod 8 + x floordiv 8", "min(x, y, 3) * 5", "select(x > y, x + 1, 0)"):
    ...     print(operator_count_of_form(parse_form(text)))
    7
    7
    5
    """
    own = 0 if negated(form) else operators_as_written(form)
    return own + _of_atoms(form, fold((form,), _of_atom, _of_atoms))


def _of_atom(atom: Atom, inside: tuple[int, ...]) -> int:
    own = cost_of_operation(atom.kind, len(inside))
    return own + operators_inside(atom, operators_as_written) + sum(inside)


def _of_atoms(form: Form, counts: Mapping[Atom, int]) -> int:
    """The operators inside the atoms of a sum."""
    return sum(counts[atom] for atom in form.terms)
