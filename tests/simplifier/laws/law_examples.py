"""Examples of the catalogue as questions to the simplifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import sympy

from simplifier import Interval, parse_expr
from simplifier.expr.form import Form
from simplifier.expr.sympy import to_sympy
from simplifier.laws.catalogue import LAWS
from simplifier.laws.catalogue.comparisons import AT_THE_END, COMPARED_QUOTIENT, DECIDED
from simplifier.laws.catalogue.conditions import CHOSEN_TWICE
from simplifier.laws.catalogue.floordiv import CEILING, EXTRACTION, FLATTEN, REFLECT, SPLIT
from simplifier.laws.catalogue.maxima import (
    FLATTEN_MAXIMA,
    HOIST_QUOTIENT,
    MINIMUM,
    PIVOT,
    PRUNE_BY_SEVERAL,
)
from simplifier.laws.catalogue.nonlinear import DISTRIBUTE
from simplifier.laws.catalogue.ranges import BRANCHES_RANGE, CORNERS, DIGIT_RANGE, QUOTIENT_AND_REST
from simplifier.laws.catalogue.steps import DIGIT
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
    own = [(law, "", law.example, law.near_miss) for law in LAWS]
    return [
        (law, kind + way, case)
        for law, way, example, near_miss in (*own, *OTHER_WAYS)
        for kind, case in (("example", example), ("near miss", near_miss))
    ]


OTHER_WAYS: Final[Sequence[tuple[Law, str, Example, NearMiss]]] = (
    (
        FLATTEN,
        ", turned",
        Example("(y - x floordiv 3) floordiv 5", "(y * 3 - x + 2) floordiv 15"),
        NearMiss("(y - (x floordiv 3) * 2) floordiv 5", "twice a quotient is no quotient"),
    ),
    (
        FLATTEN,
        ", backwards",
        Example("(x floordiv (n * 4)) * 4 + (x floordiv n) mod 4", "x floordiv n"),
        NearMiss("(x floordiv (n * -4)) floordiv n", "the outer divisor may be negative"),
    ),
    (
        SPLIT,
        ", of a constant",
        Example("(x * 2 + 5) floordiv 8", "(x + 2) floordiv 4"),
        NearMiss(
            "(x * 6 + y * 3) floordiv 8",
            "2 divides one coefficient only, 3 does not divide the divisor",
        ),
    ),
    (
        SPLIT,
        ", of symbols",
        Example("(n * x + y) floordiv (n * m)", "x floordiv m", "m >= 1 and y >= 0 and n - y >= 1"),
        NearMiss("(n * x + y) floordiv (m * n)", "y may be n", "m >= 1 and y >= 0 and n - y >= 0"),
    ),
    (
        HOIST_QUOTIENT,
        ", turned",
        Example("max(-(x floordiv 4), y floordiv 4)", "max(-x + 3, y) floordiv 4"),
        NearMiss("max((x floordiv 4) * -2, y floordiv 4)", "twice a quotient is no quotient"),
    ),
    (
        HOIST_QUOTIENT,
        ", backwards",
        Example("min(x * 8 + y, 63) floordiv 8", "min(x, 7)", "0 <= y <= 7"),
        NearMiss("max(x, y) floordiv 8", "one quotient is cheaper than two"),
    ),
    (
        PRUNE_BY_SEVERAL,
        ", by two",
        Example("max(x, x * 5, 4)", "max(x * 5, 4)"),
        NearMiss("max(x, x * 5, -4)", "-1 is more than both -4 and -5"),
    ),
    (
        AT_THE_END,
        ", negated",
        Example("select(x >= 1, 5, 0)", "select(x == 0, 0, 5)", "x >= 0"),
        NearMiss("select(x >= 1, 5, 0)", "x may be -1", "x >= -1"),
    ),
    (
        COMPARED_QUOTIENT,
        ", turned",
        Example("select(y >= (x + 1) floordiv 8, 5, 0)", "select(x >= y * 8 + 7, 0, 5)"),
        NearMiss("select(y >= (x floordiv 8) * 2, 5, 0)", "the quotient is multiplied"),
    ),
    (
        CEILING,
        ", backwards",
        Example("1 - (-x) floordiv n", "x ceildiv n + 1", "0 <= x and 1 <= n"),
        NearMiss("-(x floordiv n) + 1", "-x has a sign more"),
    ),
    (
        DIGIT,
        ", of symbolic radix",
        Example("(x mod (n * m)) floordiv n", "(x floordiv n) mod m", "m >= 1"),
        NearMiss("x floordiv n - (x floordiv (m * n)) * m", "m may be negative"),
    ),
    (
        DIGIT,
        ", the lowest",
        Example("x * 3 - (x floordiv 8) * 24", "(x mod 8) * 3"),
        NearMiss("x * 3 - (y floordiv 8) * 24", "y is not x"),
    ),
    (
        DISTRIBUTE,
        ", backwards",
        Example("x * y + x * z", "(y + z) * x"),
        NearMiss("w * z + x * y", "no factor is common"),
    ),
    (
        MINIMUM,
        ", backwards",
        Example("x - max(x - y, 0)", "min(x, y)"),
        NearMiss("max(y - x, 0) + x", "the terms have the same sign", becomes="max(x, y)"),
    ),
    (
        REFLECT,
        ", backwards",
        Example("-((x + 7) floordiv 8)", "(-x) floordiv 8"),
        NearMiss("-(x floordiv 8)", "7 - x costs more"),
    ),
    (
        EXTRACTION,
        ", backwards",
        Example("x * 3 + (y - x) floordiv 7", "(x * 20 + y) floordiv 7", "0 <= x and 0 <= y"),
        NearMiss("(y floordiv 8) * 2 + x * 3", "2 does not divide 3"),
    ),
    (
        QUOTIENT_AND_REST,
        ", alone",
        Example("(x floordiv n) mod 32", "x floordiv n", "x >= 0 and n >= 1 and x - 32 * n <= -1"),
        NearMiss(
            "(x floordiv n) mod 32",
            "x floordiv n may be 32",
            "x >= 0 and n >= 1 and x - 32 * n <= 0",
        ),
    ),
    (
        DIGIT_RANGE,
        ", of symbolic radix",
        Example("min(x mod n, n - 1)", "x mod n", "n >= 1"),
        NearMiss("min(n - 2, x mod n)", "the digit may be n - 1", "n >= 1"),
    ),
    (
        BRANCHES_RANGE,
        ", negated",
        Example("max(min(x, y), 0)", "min(x, y)", "0 <= x <= 9 and 0 <= y <= 9"),
        NearMiss("max(min(x, y), 1)", "0 is reached", "0 <= x <= 9 and 0 <= y <= 9"),
    ),
    (
        CORNERS,
        ", by a number",
        Example("max(x floordiv 8, 12)", "12", "0 <= x <= 99"),
        NearMiss("max(x floordiv 8, 120)", "121 is reached", "0 <= x <= 968"),
    ),
    (
        EXTRACTION,
        ", of symbols",
        Example("(x * n + y) floordiv n", "y floordiv n + x"),
        NearMiss("(n * x + y) floordiv (n + 1)", "x * n - x * (n + 1) + y has a term more"),
    ),
    (
        CHOSEN_TWICE,
        ", negated",
        Example("select(x >= 5, select(z >= 3, y, 0), 0)", "select(x >= 5 and z >= 3, y, 0)"),
        NearMiss("select(x >= 5, select(z >= 3, y, 0), 1)", "the branches differ by 1"),
    ),
    (
        DECIDED,
        ", negated",
        Example("select(x >= 8, 5, 0)", "0", "x <= 7"),
        NearMiss("select(x >= 8, 5, 0)", "x may be 9", "x <= 9"),
    ),
    (
        FLATTEN_MAXIMA,
        ", backwards",
        Example("min(w - x, y - x, z)", "min(min(w, y) - x, z)"),
        NearMiss("min(w + x, y - x, z)", "two signs"),
    ),
    (
        PIVOT,
        ", scaled",
        Example("max(x * 3, 5) * 2", "max(x * 6, 10)"),
        NearMiss("max(x, 5) * 2", "max(10, x * 2) costs the same"),
    ),
    (
        PIVOT,
        ", backwards",
        Example("max(y - x, 0) + x", "max(x, y)"),
        NearMiss("max(y - z, 0) + x", "nothing cancels"),
    ),
    (
        REFLECT,
        ", of a remainder",
        Example("7 - (x + 1) mod 8", "(-x + 6) mod 8"),
        NearMiss("7 - (7 - x) mod 8", "the digit itself is shorter", becomes="x mod 8"),
    ),
)
"""Cases in which a law is read from right to left, of what is turned first, or of a special case.

Of a near miss here only the result is fixed: the law may apply in its own way.
"""
