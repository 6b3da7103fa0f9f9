"""Which laws made a result: sound step by step, the same whatever came before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from simplifier import Interval, Trace, format_expr, operations, parse_expr, simplify
from simplifier.form import Form, constant, variable, variables_of
from simplifier.laws.catalogue import LAWS
from simplifier.scope import scope_of, traced_scope
from simplifier.settling import simplified
from simplifier.text import parse_form
from simplifier.tracing import facts_of
from tests.conformance import Row, for_each, rows
from tests.evaluation import first_difference, where
from tests.simplifier.laws.cases import every_case, question
from tests.strategies import Problem, points_of, problems, reshape_chains

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simplifier.laws.law import Example, Law
    from simplifier.scope import Constraints

every_law_and_case = pytest.mark.parametrize(
    ("law", "kind", "case"),
    [pytest.param(*row, id=f"{row[0].name}, {row[1]}") for row in every_case()],
)


def traced(case: Example) -> Trace:
    trace = Trace()
    assert format_expr(simplify(*question(case), trace=trace)) == case.result
    return trace


# What fires where.


@every_law_and_case
def test_a_law_fires_in_its_example(law: Law, kind: str, case: Example) -> None:
    trace = traced(case)
    if kind == "example":
        assert law in (*trace.laws, *trace.lemmas), f"{case}\n{trace}"
    else:
        assert law not in trace.laws, f"{case}\n{trace}"
