"""The catalogue is well made, and every example and near miss comes out as it says."""

from __future__ import annotations

from simplifier import format_expr, simplify
from simplifier.laws.catalogue import GROUPS, LAWS
from simplifier.laws.law import Law, NearMiss
from tests.cases import for_all
from tests.simplifier.laws.law_examples import Case, every_case, question


@for_all({f"{law.name}, {kind}": case for law, kind, case in every_case()})
def test_cases(case: Case) -> None:
    assert format_expr(simplify(*question(case))) == case.result


@for_all(LAWS)
def test_a_law_says_what_it_must(law: Law) -> None:
    assert law.claim
    assert law.why.endswith(".")
    assert isinstance(law.near_miss, NearMiss)
    assert law.near_miss.why
    assert all(len(letter) == 1 for letter in law.metavariables)


@for_all(LAWS)
def test_an_example_is_no_near_miss(law: Law) -> None:
    cases = (law.example, law.near_miss)
    assert len({(case.expression, case.where) for case in cases}) == len(cases)


def test_each_law_stands_once_under_its_own_name() -> None:
    assert len({law.name for law in LAWS}) == len(LAWS)
    assert len({law.identity for law in LAWS}) == len(LAWS)
    assert sum(map(len, GROUPS.values())) == len(LAWS)


def test_a_law_is_printed_with_its_condition() -> None:
    printed = {str(law) for law in LAWS}
    assert "only value: A == k  if k <= A <= k" in printed
    assert "unit divisor: A floordiv 1 == A" in printed
    assert repr(LAWS[0]) == "<law remainder>"
