"""Examples of the catalogue as questions to the simplifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

import sympy

from simplifier import Interval, parse_expr
from simplifier.expr.form import Form
from simplifier.expr.sympy import to_sympy
from simplifier.laws.catalogue import LAWS
from simplifier.laws.law import Example, Law, NearMiss
from tests.cases import rows
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


_WAYS: Final = """
nested quotient, turned => (y - x floordiv 3) floordiv 5 => (y * 3 - x + 2) floordiv 15
but => (y - (x floordiv 3) * 2) floordiv 5 => twice a quotient is no quotient
nested quotient, backwards => (x floordiv (n * 4)) * 4 + (x floordiv n) mod 4 => x floordiv n
but => (x floordiv (n * -4)) floordiv n => the outer divisor may be negative
split, of a constant => (x * 2 + 5) floordiv 8 => (x + 2) floordiv 4
but => (x * 6 + y * 3) floordiv 8 => 2 divides one coefficient only, 3 does not divide the divisor
split, of symbols => (n * x + y) floordiv (n * m) => x floordiv m => m >= 1
        and y >= 0 and n - y >= 1
but => (n * x + y) floordiv (m * n) => y may be n => m >= 1 and y >= 0 and n - y >= 0
hoisted quotient, turned => max(-(x floordiv 4), y floordiv 4) => max(-x + 3, y) floordiv 4
but => max((x floordiv 4) * -2, y floordiv 4) => twice a quotient is no quotient
hoisted quotient, backwards => min(x * 8 + y, 63) floordiv 8 => min(x, 7) => 0 <= y <= 7
but => max(x, y) floordiv 8 => one quotient is cheaper than two
operand dominated by several, by two => max(x, x * 5, 4) => max(x * 5, 4)
but => max(x, x * 5, -4) => -1 is more than both -4 and -5
comparison with the greatest value, negated => select(x >= 1, 5, 0) => select(x == 0, 0, 5)
    x >= 0
but => select(x >= 1, 5, 0) => x may be -1 => x >= -1
quotient in a comparison, turned => select(y >= (x + 1) floordiv 8, 5, 0) => select(x >= y * 8 + 7,
        0, 5)
but => select(y >= (x floordiv 8) * 2, 5, 0) => the quotient is multiplied
ceiling, backwards => 1 - (-x) floordiv n => x ceildiv n + 1 => 0 <= x and 1 <= n
but => -(x floordiv n) + 1 => -x has a sign more
digit, of symbolic radix => (x mod (n * m)) floordiv n => (x floordiv n) mod m => m >= 1
but => x floordiv n - (x floordiv (m * n)) * m => m may be negative
digit, the lowest => x * 3 - (x floordiv 8) * 24 => (x mod 8) * 3
but => x * 3 - (y floordiv 8) * 24 => y is not x
distribution, backwards => x * y + x * z => (y + z) * x
but => w * z + x * y => no factor is common
minimum, backwards => x - max(x - y, 0) => min(x, y)
but => max(y - x, 0) + x => the terms have the same sign =>  => max(x, y)
reflection, backwards => -((x + 7) floordiv 8) => (-x) floordiv 8
but => -(x floordiv 8) => 7 - x costs more
extraction, backwards => x * 3 + (y - x) floordiv 7 => (x * 20 + y) floordiv 7 => 0 <= x and 0 <= y
but => (y floordiv 8) * 2 + x * 3 => 2 does not divide 3
side of a quotient with what is beside it, alone => (x floordiv n) mod 32 => x floordiv n => x >= 0
        and n >= 1 and x - 32 * n <= -1
but => (x floordiv n) mod 32 => x floordiv n may be 32 => x >= 0 and n >= 1 and x - 32 * n <= 0
range of a digit, of symbolic radix => min(x mod n, n - 1) => x mod n => n >= 1
but => min(n - 2, x mod n) => the digit may be n - 1 => n >= 1
range of a maximum, negated => max(min(x, y), 0) => min(x, y) => 0 <= x <= 9 and 0 <= y <= 9
but => max(min(x, y), 1) => 0 is reached => 0 <= x <= 9 and 0 <= y <= 9
range of a quotient, by a number => max(x floordiv 8, 12) => 12 => 0 <= x <= 99
but => max(x floordiv 8, 120) => 121 is reached => 0 <= x <= 968
extraction, of symbols => (x * n + y) floordiv n => y floordiv n + x
but => (n * x + y) floordiv (n + 1) => x * n - x * (n + 1) + y has a term more
choice within a choice, negated => select(x >= 5, select(z >= 3, y, 0), 0) => select(x >= 5 and z >=
        3, y, 0)
but => select(x >= 5, select(z >= 3, y, 0), 1) => the branches differ by 1
decided comparison, negated => select(x >= 8, 5, 0) => 0 => x <= 7
but => select(x >= 8, 5, 0) => x may be 9 => x <= 9
nested maximum, backwards => min(w - x, y - x, z) => min(min(w, y) - x, z)
but => min(w + x, y - x, z) => two signs
pivot, scaled => max(x * 3, 5) * 2 => max(x * 6, 10)
but => max(x, 5) * 2 => max(10, x * 2) costs the same
pivot, backwards => max(y - x, 0) + x => max(x, y)
but => max(y - z, 0) + x => nothing cancels
reflection, of a remainder => 7 - (x + 1) mod 8 => (-x + 6) mod 8
but => 7 - (7 - x) mod 8 => the digit itself is shorter =>  => x mod 8
"""


def _other_ways() -> Iterator[tuple[Law, str, Example, NearMiss]]:
    by_name, table = {law.name: law for law in LAWS}, rows(_WAYS)
    for (title, *example), (_, *near_miss) in zip(table[::2], table[1::2], strict=True):
        name, _, way = title.partition(",")
        yield by_name[name], f",{way}", Example(*example), NearMiss(*near_miss)


OTHER_WAYS: Final = tuple(_other_ways())
"""Cases in which a law is read from right to left, negated, or in a special case.

Of a near miss here only the result is fixed: the law may apply in its own way.
"""
