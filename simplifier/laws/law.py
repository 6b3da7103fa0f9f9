"""Law: an identity over the integers and its side condition, with the reasons.

Identity and condition are statements in this project's own syntax. Capital letters stand for any
integer-valued expressions, small letters for integer constants. A law says: for all integers, where
the condition holds and the left side is defined, which is where it divides by nothing that is zero,
the right side is defined and the identity holds. Lemmas about ranges are laws whose identity is an
inequality.

A statement is a conjunction of comparisons as text, ``A <= B and B < A + c``, ``0 <= x <= 63``;
comparisons may be chained. So what laws say is data that programs read, too. The tests have z3
prove each law for all integers, and show that it fails without any one part of its condition.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from simplifier.expr.form import Form, variables_of
from simplifier.expr.text import ExpressionLexer, read_expression


@dataclass(frozen=True, slots=True)
class Example:
    """An expression that a law rewrites, and its result where a statement about variables holds."""

    expression: str
    result: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A similar expression to which the law does not apply, and why not."""

    expression: str
    why: str
    where: str = ""
    becomes: str = ""
    """What other laws make of it; without it, nothing."""

    @property
    def result(self) -> str:
        """The simplified expression: the expression itself, if no other law applies."""
        return self.becomes or self.expression


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Law:
    """A rewriting that keeps every value, from the left side of the identity to the right one.

    There is one object for each law, made in :mod:`simplifier.laws.catalogue`; compare with ``is``.
    """

    name: str
    identity: str
    condition: str = ""
    why: str
    proof: tuple[str, ...] = ()
    """Statements in between, each following from the condition and those before it."""
    example: Example
    near_miss: NearMiss

    @property
    def claim(self) -> tuple[Comparison, ...]:
        """The identity, read."""
        return statement(self.identity)

    @property
    def conditions(self) -> tuple[Comparison, ...]:
        """The parts of the condition, read; ``a <= b < c`` are two."""
        return statement(self.condition)

    @property
    def metavariables(self) -> tuple[str, ...]:
        """The letters of identity and condition, in the order of the alphabet."""
        return variables_in(self.claim + self.conditions)

    def __str__(self) -> str:
        return f"{self.name}: {claimed(self.identity, self.condition)}"

    def __repr__(self) -> str:
        return f"<law {self.name}>"


RELATIONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def claimed(identity: str, condition: str) -> str:
    """What a law says, in a line."""
    return f"{identity}  if {condition}" if condition else identity


# Statements.


class Comparison(NamedTuple):
    """``left relation right``."""

    left: Form
    relation: str
    right: Form

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


def statement(text: str) -> tuple[Comparison, ...]:
    """The comparisons that a text joins; an empty text says nothing.

    Raises:
        TextError: where a part compares nothing, or a side is not an expression.

    >>> [str(comparison) for comparison in statement("0 <= x < 8 and y == 2 * x")]
    ['0 <= x', 'x < 8', 'y == x * 2']
    """
    return tuple(_comparisons(ExpressionLexer(text)))


def _comparisons(lexer: ExpressionLexer) -> Iterator[Comparison]:
    """All that a text joins by ``and``; ``a <= b < c`` is two."""
    is_joined = bool(lexer.text)
    while is_joined:
        left, is_chained = read_expression(lexer), True
        while is_chained:
            relation = lexer.one_of(RELATIONS, "a comparison")
            right = read_expression(lexer)
            yield Comparison(left, relation, right)
            left, is_chained = right, lexer.text in RELATIONS
        is_joined = lexer.accept("and")
    lexer.finish()


def variables_in(comparisons: tuple[Comparison, ...]) -> tuple[str, ...]:
    """The names that occur, in the order of the alphabet."""
    sides = [side for comparison in comparisons for side in (comparison.left, comparison.right)]
    return tuple(sorted(variables_of(sides)))
