"""Statements as text: what is read, and what is refused where."""

from __future__ import annotations

import pytest

from simplifier import Interval, TextError
from simplifier.laws.law import statement, variables_in
from tests.cases import for_all
from tests.simplifier.laws.law_examples import interval_of

READ: list[tuple[str, list[str]]] = [
    ("", []),
    ("A == k", ["A == k"]),
    ("l <= A < u", ["l <= A", "A < u"]),
    ("A > 0 and B >= 2 * A", ["A > 0", "B >= A * 2"]),
    ("andes == brand", ["andes == brand"]),
]


@for_all(READ)
def test_read(text: str, parts: list[str]) -> None:
    assert [str(part) for part in statement(text)] == parts


REFUSED: list[tuple[str, str, int]] = [
    # text, error, column
    ("A + 1", "expected a comparison, but the text ends", 6),
    ("A == 1 and B", "expected a comparison, but the text ends", 13),
    ("A == 1 and", "expected an expression, but the text ends", 11),
    ("A ==", "expected an expression, but the text ends", 5),
    ("A == 1 and B <= ) ", "expected an expression, but found ')'", 17),
    ("A != 1", "expected a comparison, but found '!='", 3),
]


@for_all(REFUSED)
def test_refused(text: str, error: str, column: int) -> None:
    with pytest.raises(TextError, match=error.replace(")", r"\)")) as caught:
        statement(text)
    assert caught.value.span.source == text
    assert caught.value.span.column == column


INTERVALS: list[tuple[str, str, Interval]] = [
    ("x == 3", "x", Interval(3, 3)),
    ("x < 3", "x", Interval(None, 2)),
    ("3 <= x", "x", Interval(3, None)),
    ("3 > x + 1", "x", Interval(None, 1)),
    ("3 == x", "x", Interval(3, 3)),
    ("x + y <= 2 * y + 7", "x - y", Interval(None, 7)),
]


@for_all(INTERVALS)
def test_a_comparison_as_an_interval(text: str, form: str, interval: Interval) -> None:
    found, ends = interval_of(statement(text)[0])
    assert (str(found), ends) == (form, interval)


def test_variables_in_the_order_of_the_alphabet() -> None:
    assert variables_in(statement("c * A <= B and A < d")) == ("A", "B", "c", "d")
