"""Statements of laws, read: conjunctions of comparisons."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from simplifier.expr.form import Form, variables_of
from simplifier.expr.text import ExpressionLexer, read_expression
from simplifier.laws.law import Law

RELATIONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


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


def claim_of(law: Law) -> tuple[Comparison, ...]:
    """The identity, read."""
    return statement(law.identity)


def conditions_of(law: Law) -> tuple[Comparison, ...]:
    """The parts of the condition, read; ``a <= b < c`` are two."""
    return statement(law.condition)


def metavariables_of(law: Law) -> tuple[str, ...]:
    """The letters of identity and condition, in the order of the alphabet."""
    return variables_in(claim_of(law) + conditions_of(law))
