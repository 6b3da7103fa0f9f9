"""The table of all laws as users see it."""

from __future__ import annotations

from simplifier import Rules, rules
from simplifier.laws.catalogue import LAWS
from simplifier.laws.catalogue.floordiv import FLATTEN, REMAINDER
from simplifier.laws.rewrite_log import Recorder


def test_the_table_holds_every_law_in_order() -> None:
    table = rules()
    assert isinstance(table, Rules)
    assert [rule.name for rule in table] == [law.name for law in LAWS]
    assert [rule.identity for rule in table] == [law.identity for law in LAWS]
    assert {rule.group for rule in table} >= {"quotients", "extraction"}


def test_what_was_announced_is_counted() -> None:
    before = {rule.name: rule.fired for rule in rules()}
    scope = Recorder()
    scope.fired(REMAINDER)
    scope.fired(FLATTEN)
    scope.used(FLATTEN)
    after = {rule.name: rule.fired for rule in rules()}
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert changed == {REMAINDER.name: 1, FLATTEN.name: 2}


def test_the_text_has_one_line_a_law() -> None:
    head, *lines = str(rules()).splitlines()
    assert head.split() == ["fired", "name", "identity,", "and", "when", "it", "holds"]
    assert len(lines) == len(LAWS)
    assert any(line.endswith("A floordiv 1 == A") for line in lines)
    assert any(line.endswith("A == k  if k <= A <= k") for line in lines)


def test_the_html_is_escaped() -> None:
    html = rules()._repr_html_()
    assert html.count("<tr>") == len(LAWS) + 1
    assert "k &lt;= A &lt;= k" in html
    assert "k <= A" not in html
