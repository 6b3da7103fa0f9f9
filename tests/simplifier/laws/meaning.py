"""What laws claim, evaluated: on random points, and by z3 for all integers."""

from __future__ import annotations

import operator
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from typing import Any, Final

import numpy as np

from simplifier.expr.form import BITWISE, CONDITIONS, EXTREMA, Atom, AtomKind, Form, postorder
from simplifier.expr.operations import ON_BITS
from simplifier.laws.catalogue import LAWS
from simplifier.laws.law import RELATIONS, Comparison, Law, statement
from tests.evaluation import Column, Columns, values_of

POINTS: Final = 20_000
REACH: Final = 6
"""Metavariables run from minus this to this on random points."""

RESOURCES: Final = 5_000_000
"""How much work z3 may put into one question; a count, so that no busy machine changes answers."""

TACTICS: Final = ("simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "smt")


def is_identity(law: Law) -> bool:
    """Whether the law says that two sides are equal; lemmas bound a form instead."""
    return [comparison.relation for comparison in law.claim] == ["=="]


def given_and_shown(law: Law) -> tuple[list[Form], list[Form]]:
    """Forms that are defined by assumption, and those that the law says are then defined, too."""
    conditions = [side for part in law.conditions for side in (part.left, part.right)]
    if is_identity(law):
        return [law.claim[0].left, *conditions], [law.claim[0].right]
    return [side for part in law.claim for side in (part.left, part.right)] + conditions, []


# On random points.


@dataclass(frozen=True)
class Sample:
    """A law's truth at random points; each row of ``conditions`` is one part of the condition."""

    points: Columns
    is_defined: Column
    conditions: Sequence[Column]
    claim: Column

    def counterexample(self, without: int | None = None) -> dict[str, int] | None:
        """A point where the law fails, with its condition, or with a part of it left out."""
        kept = [part for place, part in enumerate(self.conditions) if place != without]
        wrong = reduce(np.logical_and, kept, self.is_defined & ~self.claim)
        if not wrong.any():
            return None
        place = int(wrong.argmax())
        return {name: int(column[place]) for name, column in self.points.items()}

    @property
    def count(self) -> int:
        """How many of the points meet the condition."""
        return int(reduce(np.logical_and, self.conditions, self.is_defined).sum())


@cache
def sample(law: Law) -> Sample:
    """The law at the same random points in every run."""
    points = _random_points(law.metavariables)
    given, shown = given_and_shown(law)
    claim = _holds(law.claim, points)
    return Sample(
        points,
        _defined(given, points),
        [_holds([part], points) for part in law.conditions],
        claim & _defined(shown, points),
    )


def _random_points(names: Sequence[str]) -> Columns:
    draw = random.Random(" ".join(names))  # noqa: S311 - the same points in every run
    rows = [[draw.randint(-REACH, REACH) for _ in range(POINTS)] for _ in names]
    return {name: np.array(row, dtype=object) for name, row in zip(names, rows, strict=True)}


def _holds(comparisons: Iterable[Comparison], points: Columns) -> Column:
    held = [
        RELATIONS[part.relation](values_of(part.left, points)[0], values_of(part.right, points)[0])
        for part in comparisons
    ]
    return np.array(reduce(np.logical_and, held), dtype=bool)


def _defined(forms: Iterable[Form], points: Columns) -> Column:
    masks = [values_of(form, points)[1] for form in forms]
    return reduce(np.logical_and, masks, np.ones(POINTS, dtype=bool))


# By z3.

DIVISIONS: Final = (AtomKind.FLOORDIV, AtomKind.CEILDIV, AtomKind.MOD, AtomKind.QUOTIENT)


class Encoding:
    """Forms as terms of z3 over all integers.

    A quotient is an unknown ``q`` with ``N = d*q + r`` and ``r`` between zero and ``d``, where the
    divisor is not zero; nothing is said of it elsewhere. Each encoding has a context of its own,
    so that no answer depends on what z3 was asked before.
    """

    def __init__(self) -> None:
        self.z3: Any = import_module("z3")
        self.context: Any = self.z3.Context()
        self.axioms: list[Any] = []
        self._terms: dict[Atom, Any] = {}
        self._divisors: dict[Atom, Any] = {}
        self._quotients: dict[tuple[Form, Form], tuple[Any, Any]] = {}

    def comparison(self, part: Comparison) -> Any:  # noqa: ANN401 - z3 is not typed
        """A comparison as a formula."""
        return RELATIONS[part.relation](self.form(part.left), self.form(part.right))

    def defined(self, forms: Iterable[Form]) -> Any:  # noqa: ANN401 - z3 is not typed
        """That no divisor in the forms is zero."""
        divisors = [self._divisors[atom] for atom in postorder(forms) if atom in self._divisors]
        return self.conjunction([divisor != 0 for divisor in divisors])

    def conjunction(self, formulas: Iterable[Any]) -> Any:  # noqa: ANN401 - z3 is not typed
        """That all of the formulas hold."""
        return self.z3.And(*formulas, self.context)

    def all_of(self, parts: Iterable[Comparison]) -> Any:  # noqa: ANN401 - z3 is not typed
        """That all of the comparisons hold."""
        return self.conjunction(map(self.comparison, parts))

    def solver(self) -> Any:  # noqa: ANN401 - z3 is not typed
        """A solver of these tactics; z3's usual one looks at the clock to choose its own."""
        solver = self.z3.Then(*TACTICS, ctx=self.context).solver()
        solver.set("rlimit", RESOURCES)
        return solver

    def variable(self, name: str) -> Any:  # noqa: ANN401 - z3 is not typed
        """Any integer."""
        return self.z3.Int(name, self.context)

    def constant(self, value: int) -> Any:  # noqa: ANN401 - z3 is not typed
        """An integer."""
        return self.z3.IntVal(value, self.context)

    def form(self, form: Form) -> Any:  # noqa: ANN401 - z3 is not typed
        """A form as a term."""
        for atom in postorder((form,)):
            if atom not in self._terms:
                self._terms[atom] = self._atom(atom)
        return self._sum(form)

    def _sum(self, form: Form) -> Any:  # noqa: ANN401 - z3 is not typed
        terms = [factor * self._terms[atom] for atom, factor in form.terms.items()]
        return sum(terms, self.constant(form.constant))

    def _atom(self, atom: Atom) -> Any:  # noqa: ANN401 - z3 is not typed
        if atom.kind is AtomKind.VARIABLE:
            return self.variable(atom.name)
        if atom.kind in DIVISIONS:
            return self._division(atom)
        arguments = [self._sum(argument) for argument in atom.arguments]
        when = self.z3.If
        if atom.kind in EXTREMA:
            is_maximum = atom.kind is AtomKind.MAX
            return reduce(lambda a, b: when((a >= b) == is_maximum, a, b), arguments)
        if atom.kind is AtomKind.SELECT:
            return when(arguments[0] == 1, *arguments[1:])
        if atom.kind in CONDITIONS:
            return when(self._condition(atom, arguments), self.constant(1), self.constant(0))
        return reduce(ON_BITS.get(atom.kind, operator.mul), arguments)

    def _condition(self, atom: Atom, arguments: Sequence[Any]) -> Any:  # noqa: ANN401 - z3 is not typed
        if atom.kind is AtomKind.AND:
            return self.conjunction([argument == 1 for argument in arguments])
        (compared,) = arguments
        return compared >= 0 if atom.kind is AtomKind.NONNEGATIVE else compared == 0

    def _division(self, atom: Atom) -> Any:  # noqa: ANN401 - z3 is not typed
        numerator, divisor = atom.arguments
        self._divisors[atom] = self._sum(divisor)
        if atom.kind is AtomKind.CEILDIV:
            return -self._divided(numerator.times(-1), divisor)[0]
        quotient, rest = self._divided(numerator, divisor)
        return rest if atom.kind is AtomKind.MOD else quotient

    def _divided(self, dividend: Form, by: Form) -> tuple[Any, Any]:
        """Quotient and rest."""
        if (dividend, by) not in self._quotients:
            count = len(self._quotients)
            quotient, rest = (self.variable(f"{name} {count}") for name in "qr")
            self._quotients[dividend, by] = quotient, rest
            self._define(self._sum(dividend), self._sum(by), quotient, rest)
        return self._quotients[dividend, by]

    def _define(self, dividend: Any, divisor: Any, quotient: Any, rest: Any) -> None:  # noqa: ANN401 - z3 is not typed
        either, both = self.z3.Or, self.z3.And
        self.axioms += [
            either(divisor == 0, dividend == divisor * quotient + rest),
            either(divisor == 0, both(rest >= 0, rest < divisor), both(rest <= 0, rest > divisor)),
        ]


class BitEncoding(Encoding):
    """Forms as numbers of bits in two's complement: z3 proves laws of bits for small integers.

    What is computed from them does not leave the numbers of bits.
    """

    REACH: Final = 16
    BITS: Final = 14

    def variable(self, name: str) -> Any:  # noqa: ANN401 - z3 is not typed
        made = self.z3.BitVec(name, self.BITS, self.context)
        self.axioms += [made >= -self.REACH, made < self.REACH]
        return made

    def constant(self, value: int) -> Any:  # noqa: ANN401 - z3 is not typed
        return self.z3.BitVecVal(value, self.BITS, self.context)


def _encoding(law: Law) -> Encoding:
    sides = [side for part in (*law.claim, *law.conditions) for side in (part.left, part.right)]
    has_bits = any(atom.kind in BITWISE for atom in postorder(sides))
    return BitEncoding() if has_bits else Encoding()


def verdicts(law: Law) -> list[str]:
    """What z3 says of each step of the proof, and last of the law, given what was proved before.

    ``unsat`` if it is proved, ``sat`` if there is a counterexample, or ``unknown``.
    """
    encoding = _encoding(law)
    given, shown = given_and_shown(law)
    known = [encoding.comparison(part) for part in law.conditions]
    steps = [encoding.all_of(statement(step)) for step in law.proof]
    claim = encoding.all_of(law.claim)
    known += encoding.axioms
    known.append(encoding.defined(given))
    answers: list[str] = []
    for step in (*steps, encoding.conjunction([encoding.defined(shown), claim])):
        answers.append(_verdict(encoding, known, step))
        known.append(step)
    return answers


def _verdict(encoding: Encoding, known: Sequence[Any], claim: Any) -> str:  # noqa: ANN401 - z3 is not typed
    solver = encoding.solver()
    solver.add(*known, encoding.z3.Not(claim))
    return str(solver.check())


def every_condition() -> list[tuple[Law, int]]:
    """Each law with the place of each part of its condition."""
    return [(law, place) for law in LAWS for place in range(len(law.conditions))]
