"""Examples of the catalogue as questions to the simplifier."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import sympy

from simplifier import Interval, parse_expr
from simplifier.expr.form import Form
from simplifier.expr.sympy import to_sympy
from simplifier.laws.catalogue import LAWS
from simplifier.laws.law import Example, Law, NearMiss
from tests.simplifier.laws.statements import Comparison, statement

Case: TypeAlias = Example | NearMiss


class Question(NamedTuple):
    expression: sympy.Expr
    bounds: dict[str, Interval]
    constraints: list[tuple[sympy.Expr, Interval]]


def known(case: Case) -> tuple[tuple[Form, Interval], ...]:
    """The intervals in which the statement of a case says that forms lie."""
    return tuple(interval_of(comparison) for comparison in statement(case.where))


def interval_of(comparison: Comparison) -> tuple[Form, Interval]:
    """The form that lies in an interval, where the other side is a constant."""
    difference = comparison.left - comparison.right
    form, limit = Form(0, difference.terms), -difference.constant
    lower = {"==": limit, ">=": limit, ">": limit + 1}.get(comparison.relation)
    upper = {"==": limit, "<=": limit, "<": limit - 1}.get(comparison.relation)
    interval = Interval(lower, upper)
    return (-form, -interval) if comparison.left.is_constant else (form, interval)


def question(case: Case) -> Question:
    bounds: dict[str, Interval] = {}
    constraints: list[tuple[sympy.Expr, Interval]] = []
    for form, interval in known(case):
        name = form.single_variable()
        if name is None:
            constraints.append((to_sympy(form), interval))
        else:
            bounds[name] = bounds.get(name, Interval(None, None)).intersect(interval)
    return Question(parse_expr(case.expression), bounds, constraints)


def every_case() -> list[tuple[Law, str, Case]]:
    return [
        (law, kind, case)
        for law in LAWS
        for kind, case in (("example", law.example), ("near miss", law.near_miss))
    ]
