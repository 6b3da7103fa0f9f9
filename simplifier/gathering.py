"""Quotients of one source, told by how they are written: so that they cancel before all else.

In ``(N floordiv 36) * 36 + ((N floordiv 18) mod 2) * 18 + N mod 18`` the quotients by 36 and 18
cancel, whatever ``N`` is. Each of them in canonical form may look so different under its bounds
that nobody sees it any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr import operations
from simplifier.expr.form import Form, Kind, combine, constant, postorder
from simplifier.extraction.cost import cost_of_form
from simplifier.laws.catalogue.quotients import FLATTEN, REMAINDER
from simplifier.laws.rewrite_log import Fact

if TYPE_CHECKING:
    from simplifier.expr.form import Atom


def gathered(form: Form) -> Fact | None:
    """The form without remainders by constants, and with one quotient for each quotient of another.

    ``None`` where no quotient is divided and nothing gets cheaper: the canonical form sees as much.
    """
    inside = postorder((form,))
    if not any(atom.kind is Kind.MOD and atom.divisor > 1 for atom in inside):
        return None
    values: dict[Atom, Form] = {}
    for atom in inside:
        arguments = tuple([combine(argument, values) for argument in atom.arguments])
        if atom.divisor > 1 and atom.kind in _DIVISIONS:
            values[atom] = _divided(atom, arguments[0])
        else:
            values[atom] = operations.rebuilt(atom, arguments)
    after = combine(form, values)
    if not _holds_nested_quotient(form) and cost_of_form(after) >= cost_of_form(form):
        return None
    return Fact((REMAINDER, FLATTEN), form, after)


_DIVISIONS = (Kind.FLOORDIV, Kind.MOD)


def _divided(atom: Atom, numerator: Form) -> Form:
    quotient = _quotient(numerator, atom.divisor)
    return quotient if atom.kind is Kind.FLOORDIV else numerator.plus(quotient, -atom.divisor)


def _quotient(numerator: Form, divisor: int) -> Form:
    """``floor((floor(N/g) + k)/c) = floor((N + g*k)/(g*c))``."""
    inner = _only_quotient(numerator)
    if inner is not None:
        numerator = inner.numerator.plus_constant(numerator.constant * inner.divisor)
        divisor *= inner.divisor
    return operations.floordiv(numerator, constant(divisor))


def _holds_nested_quotient(form: Form) -> bool:
    return any(
        atom.divisor > 1 and atom.kind in _DIVISIONS and _only_quotient(atom.numerator) is not None
        for atom in postorder((form,))
    )


def _only_quotient(form: Form) -> Atom | None:
    """The quotient of which the form is the only multiple beside a constant, once."""
    if len(form.terms) == 1:
        ((atom, factor),) = form.terms.items()
        if factor == 1 and atom.kind is Kind.FLOORDIV and atom.divisor > 1:
            return atom
    return None
