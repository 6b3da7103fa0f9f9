"""Families of expressions, written by hand: what an expert would write is what we print."""

from __future__ import annotations

import pytest

from simplifier import bounds_of, cost, format_expr, simplify
from simplifier.expr.form import variables_of
from simplifier.expr.sympy import from_sympy
from tests.cases import for_all
from tests.evaluation import differing_point, sampled, values_of, where
from tests.simplifier.objective import is_good
from tests.simplifier.suite import Row, families

SIMPLIFICATIONS = [row for row in families() if row.relation == "=>"]
RANGES = [row for row in families() if row.relation == "lies in"]


@for_all(SIMPLIFICATIONS)
def test_an_expert_would_write_the_result(row: Row) -> None:
    expression, bounds, constraints = row.question.parsed()
    result = simplify(expression, bounds, constraints)
    assert format_expr(result) == row.expected
    assert differing_point(expression, result, bounds, constraints) is None
    known = bounds, constraints
    assert cost(result, *known) <= cost(expression, *known) or not is_good(expression, *known)
    assert simplify(result, bounds, constraints) == result


@for_all(RANGES)
def test_ranges_are_as_narrow_as_they_can_be(row: Row) -> None:
    expression, bounds, constraints = row.question.parsed()
    interval = bounds_of(expression, bounds, constraints)
    assert str(interval) == row.expected
    form, known = from_sympy(expression), [(from_sympy(a), ends) for a, ends in constraints]
    names = {*variables_of([form, *(constraint for constraint, _ in known)]), *bounds}
    values, defined = values_of(form, where(sampled(names, bounds), known))
    assert all(int(value) in interval for value in values[defined])


@pytest.mark.parametrize("line", ["x + 1", "x  =>  y  where x is 3", "x  =>  x  where x in [0, 1"])
def test_a_line_that_is_no_row_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is no row"):
        Row.of("broken", line)
