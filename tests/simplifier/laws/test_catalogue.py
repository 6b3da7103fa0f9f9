"""The catalogue is well made, and every example and near miss comes out as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simplifier import Interval, format_expr, parse_expr, simplify
from simplifier.convert import to_sympy
from simplifier.laws.catalogue import GROUPS, LAWS
from simplifier.laws.law import Example, Law, NearMiss

if TYPE_CHECKING:
    import sympy

CASES = [
    pytest.param(case, id=f"{law.name}, {kind}")
    for law in LAWS
    for kind, case in (("example", law.example), ("near miss", law.near_miss))
]


@pytest.mark.parametrize("case", CASES)
def test_cases(case: Example) -> None:
    bounds: dict[str, Interval] = {}
    constraints: list[tuple[sympy.Expr | int, Interval]] = []
    for form, interval in case.known:
        name = form.single_variable()
        if name is None:
            constraints.append((to_sympy(form), interval))
        else:
            bounds[name] = bounds.get(name, Interval(None, None)).intersect(interval)
    result = simplify(parse_expr(case.expression), bounds, constraints)
    assert format_expr(result) == case.result


every_law = pytest.mark.parametrize("law", LAWS, ids=str)


@every_law
def test_a_law_says_what_it_must(law: Law) -> None:
    assert law.claim
    assert law.why.endswith(".")
    assert isinstance(law.near_miss, NearMiss)
    assert law.near_miss.why
    assert law.example.result != law.near_miss.result
    assert all(len(letter) == 1 for letter in law.metavariables)


@every_law
def test_an_example_is_no_near_miss(law: Law) -> None:
    assert (law.example.expression, law.example.where) != (
        law.near_miss.expression,
        law.near_miss.where,
    )


def test_each_law_stands_once_under_its_own_name() -> None:
    assert len({law.name for law in LAWS}) == len(LAWS)
    assert len({law.identity for law in LAWS}) == len(LAWS)
    assert sum(len(group.laws) for group in GROUPS) == len(LAWS)


def test_a_law_is_printed_with_its_condition() -> None:
    printed = {str(law) for law in LAWS}
    assert "only value: A == k  if k <= A <= k" in printed
    assert "unit divisor: A floordiv 1 == A" in printed
    assert repr(LAWS[0]) == "<law remainder>"
