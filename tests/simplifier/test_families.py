"""Families of expressions, written by hand: what an expert would write is what we print.

Each ``tests/data/simplifier/families/*.txt`` is one family; its first line says which. A row is
``expression => result``, or ``expression lies in [lower, upper]``, and after ``where`` its domain:
the first interval of a variable is its bounds, everything else is a constraint.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from simplifier import Interval, bounds_of, cost, format_expr, parse_expr, simplify
from simplifier.convert import from_sympy
from simplifier.form import variables_of
from tests.evaluation import values_of, where
from tests.simplifier.test_peers import differing_point, sampled

if TYPE_CHECKING:
    import sympy

    from tests.simplifier.test_peers import Bounds, Constraints

FOLDER = Path(__file__).parents[1] / "data" / "simplifier" / "families"
ROW = re.compile(r"(.+?)  (=>|lies in)  (.+?)(?:  where (.+))?")
LIMIT = re.compile(r"(.+?) in \[(-inf|-?\d+), (inf|-?\d+)\](?:, |$)")


class Row(NamedTuple):
    """One line of a family."""

    family: str
    expression: str
    relation: str
    expected: str
    domain: str

    @classmethod
    def of(cls, family: str, line: str) -> Row:
        """The row of a line."""
        match = ROW.fullmatch(line)
        if match is None or LIMIT.sub("", match[4] or ""):
            raise ValueError(f"{family}: {line!r} is no row: 'a  =>  b  where x in [0, 3]'")
        return cls(family, *match.groups(""))

    def question(self) -> tuple[sympy.Expr, Bounds, Constraints]:
        """The expression, its bounds, its constraints."""
        bounds: Bounds = {}
        constraints: Constraints = []
        for text, lower, upper in LIMIT.findall(self.domain):
            interval = Interval(_end(lower), _end(upper))
            if text.isidentifier() and text not in bounds:
                bounds[text] = interval
            else:
                constraints.append((parse_expr(text), interval))
        return parse_expr(self.expression), bounds, constraints

    def __str__(self) -> str:
        return f"{self.family}: {self.expression}{self.domain and ' where '}{self.domain}"


def _end(text: str) -> int | None:
    return None if text.endswith("inf") else int(text)


ROWS = [
    Row.of(path.stem, line)
    for path in sorted(FOLDER.glob("*.txt"))
    for line in path.read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
SIMPLIFICATIONS = [row for row in ROWS if row.relation == "=>"]
RANGES = [row for row in ROWS if row.relation == "lies in"]


@pytest.mark.parametrize("row", SIMPLIFICATIONS, ids=map(str, SIMPLIFICATIONS))
def test_an_expert_would_write_the_result(row: Row) -> None:
    expression, bounds, constraints = row.question()
    result = simplify(expression, bounds, constraints)
    assert format_expr(result) == row.expected
    assert differing_point(expression, result, bounds, constraints) is None
    assert cost(result) <= cost(expression)
    assert simplify(result, bounds, constraints) == result


@pytest.mark.parametrize("row", RANGES, ids=map(str, RANGES))
def test_ranges_are_as_narrow_as_they_can_be(row: Row) -> None:
    expression, bounds, constraints = row.question()
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
