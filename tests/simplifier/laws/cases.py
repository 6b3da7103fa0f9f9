"""Examples of the catalogue as questions to the simplifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simplifier import Interval, parse_expr
from simplifier.expr.sympy_conversion import to_sympy
from simplifier.laws.catalogue import LAWS

if TYPE_CHECKING:
    import sympy

    from simplifier.laws.law import Example, Law


class Question(NamedTuple):
    """What to simplify, under which bounds and constraints."""

    expression: sympy.Expr
    bounds: dict[str, Interval]
    constraints: list[tuple[sympy.Expr, Interval]]


def question(case: Example) -> Question:
    """The case as arguments of ``simplify``."""
    bounds: dict[str, Interval] = {}
    constraints: list[tuple[sympy.Expr, Interval]] = []
    for form, interval in case.known:
        name = form.single_variable()
        if name is None:
            constraints.append((to_sympy(form), interval))
        else:
            bounds[name] = bounds.get(name, Interval(None, None)).intersect(interval)
    return Question(parse_expr(case.expression), bounds, constraints)


def every_case() -> list[tuple[Law, str, Example]]:
    """Each law with its example and its near miss, and which of the two it is."""
    return [
        (law, kind, case)
        for law in LAWS
        for kind, case in (("example", law.example), ("near miss", law.near_miss))
    ]
