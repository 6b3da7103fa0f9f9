"""Statements as text: what is read, and what is refused where."""

from __future__ import annotations

from simplifier import Interval
from tests.cases import for_all
from tests.indexing.tables import errors_in
from tests.simplifier.laws.law_examples import interval_of
from tests.simplifier.laws.statements import statement, variables_in

READ: dict[str, list[str]] = {
    "": [], "A == k": ["A == k"], "l <= A < u": ["l <= A", "A < u"],
    "A > 0 and B >= 2 * A": ["A > 0", "B >= A * 2"], "andes == brand": ["andes == brand"],
}  # fmt: skip


@for_all([*READ.items()])
def test_read(text: str, parts: list[str]) -> None:
    assert [str(part) for part in statement(text)] == parts


test_refused = errors_in(statement)("""
A + 1«» => expected a comparison, but the text ends
A == 1 and B«» => expected a comparison, but the text ends
A == 1 and«» => expected an expression, but the text ends
A ==«» => expected an expression, but the text ends
A == 1 and B <= «)» < 2 => expected an expression, but found ')'
A «!=» 1 => expected a comparison, but found '!='
""")


def test_variables_are_in_the_order_of_the_alphabet() -> None:
    assert variables_in(statement("c * A <= B and A < d")) == ("A", "B", "c", "d")


INTERVALS: list[tuple[str, str, Interval]] = [
    ("x == 3", "x", Interval(3, 3)), ("x < 3", "x", Interval(None, 2)),
    ("3 <= x", "x", Interval(3, None)), ("3 > x + 1", "x", Interval(None, 1)),
    ("3 == x", "x", Interval(3, 3)), ("x + y <= 2 * y + 7", "x - y", Interval(None, 7)),
]  # fmt: skip


@for_all(INTERVALS)
def test_a_comparison_as_an_interval(text: str, form: str, interval: Interval) -> None:
    found, ends = interval_of(statement(text)[0])
    assert (str(found), ends) == (form, interval)
