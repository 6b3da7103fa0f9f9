"""One question to the simplifier: an expression, bounds, constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from random import Random
from typing import Final

import numpy as np

from benchmarks.fuzzing.shrink import closer, smaller
from benchmarks.problems import Ends, Problem
from simplifier.bounds.interval import Interval
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.expr.printer import format_form
from simplifier.expr.text import parse_form
from tests.evaluation import Columns, where

NAMES: Final = ("x", "y", "z", "w")
"""The names of the variables of a shrunk case."""

MAX_POINTS: Final = 256
"""A box of at most this many points is checked completely, a larger one at this many points."""


@dataclass(frozen=True)
class Case:
    """An expression, the bounds of its variables, and the bounds of other expressions."""

    form: Form
    ends: Mapping[str, Ends]
    limits: Sequence[tuple[Form, Ends]] = ()

    @classmethod
    def of(
        cls, text: str, ends: Mapping[str, Ends], limits: Mapping[str, Ends] | None = None
    ) -> Case:
        """The case of a row of a table of tests."""
        constraints = [(parse_form(limit), pair) for limit, pair in (limits or {}).items()]
        return cls(parse_form(text), ends, constraints)

    @property
    def row(self) -> str:
        """The arguments of a row of the table of tests."""
        limits = {format_form(form): ends for form, ends in self.limits}
        return f"{_quoted(format_form(self.form))}, {_table(self.ends)}, {_table(limits)}"

    @property
    def bounds(self) -> dict[str, Interval]:
        """Bounds by name."""
        return {name: Interval(*ends) for name, ends in self.ends.items()}

    @property
    def constraints(self) -> tuple[tuple[Form, Interval], ...]:
        """The limits in the form that a scope takes."""
        return tuple((form, Interval(*ends)) for form, ends in self.limits)

    @property
    def scope(self) -> Scope:
        """The scope of the case; it remembers earlier answers."""
        return scope_of(tuple(sorted(self.bounds.items())), self.constraints)

    def points(self, random: Random) -> Columns:
        """Points within the bounds and limits, as columns; may be empty."""
        return where(self._points_of_box(random), self.constraints)

    def _points_of_box(self, random: Random) -> Columns:
        ends = [
            (lower, upper)
            for lower, upper in self.ends.values()
            if lower is not None and upper is not None
        ]
        if len(ends) < len(self.ends) or prod(b - a + 1 for a, b in ends) > MAX_POINTS:
            return Problem("", "", self.ends).points(random, MAX_POINTS)
        rows = list(product(*(range(lower, upper + 1) for lower, upper in ends)))
        columns = np.array(rows, dtype=object).reshape(len(rows), len(ends)).T
        return dict(zip(self.ends, columns, strict=True))

    def without_idle_variables(self) -> Case:
        """The case without the variables that do not occur."""
        used = set(forms.variables_of((self.form, *(form for form, _ in self.limits))))
        ends = {name: pair for name, pair in self.ends.items() if name in used}
        return Case(self.form, ends, self.limits)

    def neighbours(self) -> Iterator[Case]:
        """Smaller cases: fewer limits, smaller forms, closer ends, earlier names."""
        limits = list(self.limits)
        for place in range(len(limits)):
            yield replace(self, limits=limits[:place] + limits[place + 1 :])
        for form in smaller(self.form):
            yield replace(self, form=form)
        for name, ends in self.ends.items():
            for nearer in closer(ends):
                yield replace(self, ends={**self.ends, name: nearer})
            for other in NAMES[: len(self.ends)]:
                if other not in self.ends:
                    yield self._renamed(name, other)
        for place, (limit, ends) in enumerate(limits):
            others = [(form, ends) for form in smaller(limit)]
            others += [(limit, nearer) for nearer in closer(ends)]
            for other in others:
                yield replace(self, limits=[*limits[:place], other, *limits[place + 1 :]])

    def _renamed(self, name: str, other: str) -> Case:
        new = {name: forms.variable(other)}
        (form, *limits) = operations.substitute(
            (self.form, *(form for form, _ in self.limits)), new
        )
        return replace(
            self,
            form=form,
            ends={other if key == name else key: ends for key, ends in self.ends.items()},
            limits=[(limit, ends) for limit, (_, ends) in zip(limits, self.limits, strict=True)],
        )


def _table(ends: Mapping[str, Ends]) -> str:
    return "{" + ", ".join(f"{_quoted(key)}: {pair}" for key, pair in ends.items()) + "}"


def _quoted(text: str) -> str:
    return f'"{text}"'
