"""How many operators an expression has as it is written, weighted: a measure to compare by.

It was the cost function of earlier versions. Operators weigh as much as in the cost, but nothing is
shared, and digits that overlap cost no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr.fold import fold
from simplifier.extraction.cost import cost_of_operation, operators_as_written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simplifier.expr.form import Atom, Form


def operator_count_of_form(form: Form) -> int:
    """The weighted number of operators of a form, each counted wherever it stands.

    >>> from simplifier.expr.parser import parse_form
    >>> for text in ("x mod 8 + x floordiv 8", "x - (x floordiv 8) * 7", "min(x, y, 3) * 5"):
    ...     print(operator_count_of_form(parse_form(text)))
    7
    5
    7
    """
    return _of_sum(form, fold((form,), _of_atom, _of_sum))


def _of_atom(atom: Atom, arguments: tuple[int, ...]) -> int:
    return cost_of_operation(atom.kind, len(arguments)) + sum(arguments)


def _of_sum(form: Form, counts: Mapping[Atom, int]) -> int:
    return operators_as_written(form) + sum(counts[atom] for atom in form.terms)
