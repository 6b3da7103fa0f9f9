"""The catalogue: complete, true to its examples, shown to users as a table and on a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval, Rules, format_expr, rules, simplify
from simplifier.canonical.scope import Scope
from simplifier.expr.form import variable
from simplifier.laws.catalogue import GROUPS, LAWS
from simplifier.laws.catalogue.floordiv import FLATTEN, REMAINDER
from simplifier.laws.law import Law, NearMiss
from simplifier.laws.rewrite_log import Recorder
from tests.cases import for_all
from tests.simplifier.laws.documentation import LIST, appliers, laws, lists
from tests.simplifier.laws.law_examples import Case, every_case, question
from tests.simplifier.laws.statements import claim_of, metavariables_of
from tests.strategies import joined, split


@for_all({f"{law.name}, {kind}": case for law, kind, case in every_case()})
def test_cases(case: Case) -> None:
    assert format_expr(simplify(*question(case))) == case.result


@for_all(LAWS)
def test_a_law_says_what_it_must(law: Law) -> None:
    assert claim_of(law)
    assert law.why.endswith(".")
    assert isinstance(law.near_miss, NearMiss)
    assert law.near_miss.why
    assert all(len(letter) == 1 for letter in metavariables_of(law))
    asked, missed = ((case.expression, case.where) for case in (law.example, law.near_miss))
    assert asked != missed


def test_each_law_stands_once_under_its_own_name_and_in_the_table() -> None:
    assert len({law.name for law in LAWS}) == len({law.identity for law in LAWS}) == len(LAWS)
    assert sum(map(len, GROUPS.values())) == len(LAWS)
    table = rules()
    assert isinstance(table, Rules)
    named = [(law.name, law.identity) for law in LAWS]
    assert [(rule.name, rule.identity) for rule in table] == named
    assert {rule.group for rule in table} >= {"quotients", "extraction"}


def test_what_was_announced_is_counted() -> None:
    before = {rule.name: rule.fired for rule in rules()}
    scope = Recorder()
    for announce, law in ((scope.fired, REMAINDER), (scope.fired, FLATTEN), (scope.used, FLATTEN)):
        announce(law)
    after = {rule.name: rule.fired for rule in rules()}
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert changed == {REMAINDER.name: 1, FLATTEN.name: 2}


def test_the_text_has_one_line_a_law_and_the_html_is_escaped() -> None:
    printed = {str(law) for law in LAWS}
    assert printed >= {"only value: A == k  if k <= A <= k", "unit divisor: A floordiv 1 == A"}
    assert repr(LAWS[0]) == "<law remainder>"
    head, *lines = str(rules()).splitlines()
    assert head.split() == ["fired", "name", "identity,", "and", "when", "it", "holds"]
    assert len(lines) == len(LAWS)
    assert any(line.endswith("A floordiv 1 == A") for line in lines)
    assert any(line.endswith("A == k  if k <= A <= k") for line in lines)
    html = rules()._repr_html_()
    assert html.count("<tr>") == len(LAWS) + 1
    assert "k &lt;= A &lt;= k" in html
    assert "k <= A" not in html


def test_the_list_of_the_laws_is_that_of_the_catalogue() -> None:
    command = "python -m tests.simplifier.laws.documentation"
    assert LIST.read_text("utf-8") == lists(), f"{command} writes it"
    assert {*map(str, LAWS)} <= {*lists().splitlines()}


def test_a_law_stands_in_the_file_named_as_the_one_that_applies_it() -> None:
    applied = {law.name: appliers()[law][0] for law in LAWS}
    elsewhere = {law.name for home, law, _ in laws() if applied[law.name].split(".")[0] != home}
    assert {name: applied[name] for name in elsewhere} == ELSEWHERE


ELSEWHERE = {
    "ceiling": "scope._ceildiv", "minimum": "scope.Scope.minimum",
    "only value": "scope.Scope.variable", "quotient of a function of bits": "conditions.step",
    "range of a clamp": "digits._units", "range of a divisor": "context.Context.divisor_range",
    "unit divisor": "scope.Scope.floordiv",
}  # fmt: skip
"""Laws that a scope applies before it asks a file of laws, or a reader to what a file made."""


@st.composite
def shapes(draw: st.DrawFn, size: int) -> list[int]:
    shape: list[int] = []
    while size > 1:
        divisors = [divisor for divisor in range(2, size + 1) if size % divisor == 0]
        shape.append(draw(st.sampled_from(divisors)))
        size //= shape[-1]
    return shape


@pytest.mark.parametrize("size", [12, 36, 60, 64, 210, 360, 1024])
@given(st.data())
def test_a_chain_of_reshapes_is_one_reshape(size: int, data: st.DataObject) -> None:
    offset = variable("N")
    chain = data.draw(st.lists(shapes(size), min_size=2, max_size=5))
    reshaped = offset
    for shape in chain[:-1]:
        reshaped = joined(split(reshaped, shape), shape)
    scope = Scope((("N", Interval(0, size - 1)),))
    direct = [scope.canonical(digit) for digit in split(offset, chain[-1])]
    assert [scope.canonical(digit) for digit in split(reshaped, chain[-1])] == direct
    assert scope.canonical(reshaped) == offset
