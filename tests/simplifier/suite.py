"""Questions of the suite, as texts: the published expressions, and families written by hand.

Each ``tests/data/simplifier/families/*.txt`` is one family; its first line says which. A row is
``expression => result``, ``expression stays`` or ``expression lies in [lower, upper]``, and after
``where`` its domain: the first interval of a variable is its bounds, everything else a constraint,
which may be a comparison. Tables inside tests have rows of the same kind, some with a name before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

import sympy

from simplifier import Interval, parse_expr
from tests.cases import for_all
from tests.conformance import rows
from tests.extent import part

Limit: TypeAlias = tuple[str, Interval]
"""The text of a variable or an expression, and where it lies."""

FOLDER = Path(__file__).parents[1] / "data" / "simplifier" / "families"
RELATION = r"(?: +(=>|lies in|equals|differs from) +(.+?)| +stays)"
ROW = re.compile(rf"(?:([^:]+): +)?(.+?){RELATION}(?: +where (.+))?")
LIMIT = re.compile(r"(.+?)(?: in \[(-inf|-?\d+), (inf|-?\d+)\]|( (?:[<>]=?|==) .+?))(?:, |$)")


class Question(NamedTuple):
    expression: str
    bounds: tuple[Limit, ...]
    constraints: tuple[Limit, ...] = ()

    def parsed(self) -> tuple[sympy.Expr, dict[str, Interval], list[tuple[sympy.Expr, Interval]]]:
        constraints = [(parse_expr(text), interval) for text, interval in self.constraints]
        return parse_expr(self.expression), dict(self.bounds), constraints

    def __str__(self) -> str:
        limits = (f"{text} in {interval}" for text, interval in self.bounds + self.constraints)
        domain = ", ".join(limits)
        return f"{self.expression}{domain and ' where '}{domain}"


class Row(NamedTuple):
    name: str
    question: Question
    relation: str
    expected: str

    @classmethod
    def of(cls, name: str, line: str) -> Row:
        """The row of a line, by its own name or by that of its table."""
        match = ROW.fullmatch(line)
        if match is None or LIMIT.sub("", match[5] or ""):
            raise ValueError(f"{name}: {line!r} is no row: 'a  =>  b  where x in [0, 3]'")
        own_name, expression, relation, expected, domain = match.groups("")
        asked = Question(expression, *_limits(domain))
        return cls(own_name or name, asked, relation or "=>", expected or expression)

    def __str__(self) -> str:
        return f"{self.name}: {self.question}".removeprefix(": ")


def _limits(domain: str) -> tuple[tuple[Limit, ...], tuple[Limit, ...]]:
    bounds: dict[str, Interval] = {}
    constraints: list[Limit] = []
    for text, lower, upper, compared in LIMIT.findall(domain):
        interval = Interval(1, 1) if compared else Interval(_end(lower), _end(upper))
        if text.isidentifier() and text not in bounds and not compared:
            bounds[text] = interval
        else:
            constraints.append((text + compared, interval))
    return tuple(bounds.items()), tuple(constraints)


def _end(text: str) -> int | None:
    return None if text.endswith("inf") else int(text)


def table(text: str, name: str = "") -> tuple[Row, ...]:
    """The rows of a text; what is indented goes on with the line above."""
    lines = text.replace("\n    ", " ").splitlines()
    return tuple(Row.of(name, line) for line in lines if line and not line.startswith("#"))


def for_questions(text: str) -> Callable[[Callable[..., None]], Callable[[], None]]:
    return for_all(table(text))


@lru_cache
def families() -> tuple[Row, ...]:
    files = sorted(FOLDER.glob("*.txt"))
    return tuple(row for file in files for row in table(file.read_text("utf-8"), file.stem))


def questions() -> Sequence[Question]:
    """The published questions, and those of all families; each once, some of them outside of CI."""
    published = [
        Question(
            row["expr"], tuple((name, Interval(*ends)) for name, ends in row["bounds"].items())
        )
        for row in rows("expressions")
    ]
    return part([*dict.fromkeys([*published, *(row.question for row in families())])], 400)
