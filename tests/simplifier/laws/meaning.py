"""What laws claim, evaluated: on random points, and by z3 for all integers."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from typing import Any, Final, TypeAlias

import numpy as np

from simplifier.expr.form import BITWISE, CONDITIONS, EXTREMA, Atom, AtomKind, Form, postorder
from simplifier.expr.operations import ON_BITS
from simplifier.laws.catalogue import LAWS
from simplifier.laws.law import Law
from tests.evaluation import Column, Columns, values_of
from tests.simplifier.laws.statements import (
    RELATIONS,
    Comparison,
    claim_of,
    conditions_of,
    metavariables_of,
    statement,
)

POINTS: Final = 20_000
REACH: Final = 6
"""Metavariables run from minus this to this on random points."""

RESOURCES: Final = 5_000_000
"""How much work z3 may put into one question; a count, so that no busy machine changes answers."""

TACTICS: Final = ("simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "smt")


Term: TypeAlias = Any
"""Of z3, which is not typed."""


def given_and_shown(law: Law) -> tuple[list[Form], list[Form]]:
    """Forms that are defined by assumption, and those that the law says are then defined, too.

    Those of an identity are its two sides; lemmas bound a form instead.
    """
    conditions = _sides(conditions_of(law))
    if [comparison.relation for comparison in claim_of(law)] == ["=="]:
        return [claim_of(law)[0].left, *conditions], [claim_of(law)[0].right]
    return _sides(claim_of(law)) + conditions, []


def _sides(comparisons: Iterable[Comparison]) -> list[Form]:
    return [side for part in comparisons for side in (part.left, part.right)]


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
        return int(reduce(np.logical_and, self.conditions, self.is_defined).sum())


@cache
def sample(law: Law) -> Sample:
    draw = random.Random(" ".join(metavariables_of(law)))  # noqa: S311 - the same points in every run
    rows = ([draw.randint(-REACH, REACH) for _ in range(POINTS)] for _ in metavariables_of(law))
    points = {name: np.array(next(rows), dtype=object) for name in metavariables_of(law)}
    given, shown = given_and_shown(law)
    claim = _holds(claim_of(law), points) & _defined(shown, points)
    conditions = [_holds([part], points) for part in conditions_of(law)]
    return Sample(points, _defined(given, points), conditions, claim)


def _holds(comparisons: Iterable[Comparison], points: Columns) -> Column:
    held = [
        RELATIONS[part.relation](values_of(part.left, points)[0], values_of(part.right, points)[0])
        for part in comparisons
    ]
    return np.array(reduce(np.logical_and, held), dtype=bool)


def _defined(forms: Iterable[Form], points: Columns) -> Column:
    masks = [values_of(form, points)[1] for form in forms]
    return reduce(np.logical_and, masks, np.ones(POINTS, dtype=bool))


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

    def defined(self, forms: Iterable[Form]) -> Term:
        """That no divisor in the forms is zero."""
        divisors = [self._divisors[atom] for atom in postorder(forms) if atom in self._divisors]
        return self.conjunction([divisor != 0 for divisor in divisors])

    def conjunction(self, formulas: Iterable[Term]) -> Term:
        return self.z3.And(*formulas, self.context)

    def all_of(self, parts: Iterable[Comparison]) -> Term:
        sides = [(each, self.form(each.left), self.form(each.right)) for each in parts]
        return self.conjunction(RELATIONS[each.relation](a, b) for each, a, b in sides)

    def verdict(self, known: Sequence[Term], claim: Term) -> str:
        """By a solver of these tactics; z3's usual one looks at the clock to choose its own."""
        solver = self.z3.Then(*TACTICS, ctx=self.context).solver()
        solver.set("rlimit", RESOURCES)
        solver.add(*known, self.z3.Not(claim))
        return str(solver.check())

    def variable(self, name: str) -> Term:
        return self.z3.Int(name, self.context)

    def constant(self, value: int) -> Term:
        return self.z3.IntVal(value, self.context)

    def form(self, form: Form) -> Term:
        for atom in postorder((form,)):
            if atom not in self._terms:
                self._terms[atom] = self._atom(atom)
        return self._sum(form)

    def _sum(self, form: Form) -> Term:
        terms = [factor * self._terms[atom] for atom, factor in form.terms.items()]
        return sum(terms, self.constant(form.constant))

    def _atom(self, atom: Atom) -> Term:
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
            holds = [_HOLDS[atom.kind](argument) for argument in arguments]
            return when(self.conjunction(holds), self.constant(1), self.constant(0))
        return reduce(ON_BITS.get(atom.kind, operator.mul), arguments)

    def _division(self, atom: Atom) -> Term:
        numerator, divisor = atom.arguments
        self._divisors[atom] = self._sum(divisor)
        if atom.kind is AtomKind.CEILDIV:
            return -self._divided(numerator.times(-1), divisor)[0]
        quotient, rest = self._divided(numerator, divisor)
        return rest if atom.kind is AtomKind.MOD else quotient

    def _divided(self, dividend: Form, by: Form) -> tuple[Any, Any]:
        if (dividend, by) not in self._quotients:
            count = len(self._quotients)
            quotient, rest = (self.variable(f"{name} {count}") for name in "qr")
            self._quotients[dividend, by] = quotient, rest
            divisor, either, both = self._sum(by), self.z3.Or, self.z3.And
            within = both(rest >= 0, rest < divisor), both(rest <= 0, rest > divisor)
            is_sum = self._sum(dividend) == divisor * quotient + rest
            self.axioms += [either(divisor == 0, is_sum), either(divisor == 0, *within)]
        return self._quotients[dividend, by]


_HOLDS: Final[Mapping[AtomKind, Callable[[Term], Term]]] = {
    AtomKind.AND: lambda argument: argument == 1,
    AtomKind.NONNEGATIVE: lambda argument: argument >= 0,
    AtomKind.ZERO: lambda argument: argument == 0,
}


class BitEncoding(Encoding):
    """Forms as numbers of bits in two's complement: z3 proves laws of bits for small integers.

    What is computed from them does not leave the numbers of bits.
    """

    REACH: Final = 16
    BITS: Final = 14

    def variable(self, name: str) -> Term:
        made = self.z3.BitVec(name, self.BITS, self.context)
        self.axioms += [made >= -self.REACH, made < self.REACH]
        return made

    def constant(self, value: int) -> Term:
        return self.z3.BitVecVal(value, self.BITS, self.context)


def verdicts(law: Law) -> list[str]:
    """What z3 says of each step of the proof, and last of the law, given what was proved before.

    ``unsat`` if it is proved, ``sat`` if there is a counterexample, or ``unknown``.
    """
    sides = postorder(_sides([*claim_of(law), *conditions_of(law)]))
    encoding = BitEncoding() if any(each.kind in BITWISE for each in sides) else Encoding()
    given, shown = given_and_shown(law)
    known = [encoding.all_of(conditions_of(law))]
    steps = [encoding.all_of(statement(step)) for step in law.proof]
    claim = encoding.all_of(claim_of(law))
    known += encoding.axioms
    known.append(encoding.defined(given))
    answers: list[str] = []
    for step in (*steps, encoding.conjunction([encoding.defined(shown), claim])):
        answers.append(encoding.verdict(known, step))
        known.append(step)
    return answers


def every_condition() -> list[tuple[Law, int]]:
    return [(law, place) for law in LAWS for place in range(len(conditions_of(law)))]
