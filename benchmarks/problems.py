"""A problem of the benchmarks: an expression as text, and bounds of its variables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final, Literal, TypeAlias

import numpy as np

from simplifier.bounds.context import Bounds
from simplifier.bounds.interval import Interval
from simplifier.expr.form import Form
from simplifier.expr.printer import Syntax, format_form
from simplifier.expr.text import parse_form
from tests.evaluation import Columns

CONFORMANCE: Final = Path(__file__).parents[1] / "tests/data/conformance/expressions.jsonl"

FAR: Final = 10**6 + 3
"""How far beyond its finite bound an unbounded variable is sampled."""

Ends: TypeAlias = "tuple[int | None, int | None]"


Step: TypeAlias = "tuple[Literal['reshape', 'transpose'], tuple[int, ...]]"
"""The sizes of a reshape, or the permutation of a transpose."""


@dataclass(frozen=True, slots=True)
class Movement:
    """A program that moves the elements of an array, for peers that read no expressions."""

    operand: tuple[int, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """An expression, and the bounds of its variables."""

    name: str
    text: str
    ends: Mapping[str, Ends]
    movement: Movement | None = None
    """The program whose result reads its operand there: at one of its indices or its offset."""

    @property
    def form(self) -> Form:
        """The expression as it is written."""
        return parse_form(self.text)

    @property
    def bounds(self) -> Bounds:
        """The bounds in the form that a scope takes."""
        return tuple(sorted((name, Interval(*ends)) for name, ends in self.ends.items()))

    @property
    def collected(self) -> Problem:
        """The same problem with like terms collected and sums multiplied out."""
        return replace(self, text=python_text(self.form))

    def points(self, random: Random, count: int) -> Columns:
        """Points of the box: every mix of lowest and highest values, and random ones."""
        ends = [_finite(pair) for pair in self.ends.values()]
        corners = [
            [pair[corner >> place & 1] for place, pair in enumerate(ends)]
            for corner in range(min(count, 1 << len(ends)))
        ]
        inner = [[random.randint(*pair) for pair in ends] for _ in range(count - len(corners))]
        columns = np.array(corners + inner, dtype=object).reshape(-1, len(ends)).T
        return dict(zip(self.ends, columns, strict=True))


def seeded(*seed: object) -> Random:
    """Random numbers that depend on the seed alone, in every process."""
    return Random(" ".join(map(str, seed)))  # noqa: S311 - nothing is kept secret


def happens(random: Random, probability: float) -> bool:
    """True with this probability."""
    return random.random() < probability


_PYTHON: Final = Syntax("//", "%")


def python_text(form: Form) -> str:
    """The text of a form, with Python's signs for division."""
    return format_form(form, syntax=_PYTHON)


def _finite(ends: Ends) -> tuple[int, int]:
    lower, upper = ends
    if lower is None:
        return (-FAR if upper is None else upper - FAR), (FAR if upper is None else upper)
    return lower, (lower + FAR if upper is None else upper)


def published() -> list[Problem]:
    """The expressions of the conformance file."""
    rows = (json.loads(line) for line in CONFORMANCE.read_text("utf-8").splitlines())
    return [
        Problem(
            row["id"],
            row["expr"],
            {name: (lower, upper) for name, (lower, upper) in row["bounds"].items()},
        )
        for row in rows
    ]
