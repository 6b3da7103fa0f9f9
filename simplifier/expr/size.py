"""How large a form is: laws do not look into a form that is too deep or has too many quotients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr.form import EXTREMA, FLOORDIV, postorder
from simplifier.limits import MAX_DEPTH, MAX_QUOTIENTS

if TYPE_CHECKING:
    from typing import Final

    from simplifier.expr.form import Atom, Form

NESTED_EXTREMA_DEPTH: Final = 3
"""How deep a term is at least in which an extremum of a quotient of an extremum stands."""


def is_deep(form: Form) -> bool:
    """Whether operations are nested too deeply in a form to look into it."""
    for atom in form.terms:  # noqa: SIM110 - twice as fast as any(), and asked all the time
        if atom.depth > MAX_DEPTH:
            return True
    return False


def is_crowded(form: Form) -> bool:
    """Whether a form holds more quotients than are compared with each other."""
    if len(form.terms) <= MAX_QUOTIENTS:
        return False
    return sum(atom.kind is FLOORDIV for atom in form.terms) > MAX_QUOTIENTS


def nests_extrema(form: Form) -> bool:
    """Whether an extremum stands inside another: each candidate for one asks for all of the other.

    >>> from simplifier.expr.parser import parse_form
    >>> nests_extrema(parse_form("max(0, min(x, y) floordiv 2)"))
    True
    """
    if all(atom.depth < NESTED_EXTREMA_DEPTH for atom in form.terms):
        return False
    holding: set[Atom] = set()
    for atom in postorder((form,)):
        is_extremum = atom.kind in EXTREMA
        if any(inner in holding for argument in atom.arguments for inner in argument.terms):
            if is_extremum:
                return True
            holding.add(atom)
        elif is_extremum:
            holding.add(atom)
    return False
