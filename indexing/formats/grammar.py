"""What texts of maps are made of: lists in brackets, and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from simplifier import Interval
from simplifier.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from simplifier.expr.parser import ExpressionLexer

T = TypeVar("T")


def read_items(
    lexer: ExpressionLexer, brackets: str, purpose: str, read: Callable[[], T]
) -> list[T]:
    """What stands between brackets and commas; a comma may follow the last item."""
    opening, closing = brackets
    lexer.expect(opening, purpose)
    return lexer.separated(read, closing)


def read_names(
    lexer: ExpressionLexer, brackets: str, declared: Collection[str] = ()
) -> dict[str, None]:
    """New names between brackets, in order: ``(d0, d1)``."""
    names: dict[str, None] = {}

    def read() -> None:
        name = lexer.name("the name of a variable")
        if name in names or name in declared:
            span = lexer.span_at(lexer.position - 1)
            raise lexer.error(f"{quoted(name)} is declared twice", span)
        names[name] = None

    read_items(lexer, brackets, "before the dimensions", read)
    return names


def read_interval(lexer: ExpressionLexer) -> Interval:
    """A closed interval: ``[0, 3]``, ``[-inf, inf]``."""
    lexer.expect("[")
    lower = _read_end(lexer, "lower")
    lexer.expect(",", "between the ends of an interval")
    upper = _read_end(lexer, "upper")
    lexer.expect("]")
    return Interval(lower, upper)


def _read_end(lexer: ExpressionLexer, side: str) -> int | None:
    """An integer, or the infinity of that side."""
    if side == "upper" and lexer.accept("inf"):
        return None
    if side == "lower" and lexer.accept_all("-", "inf"):
        return None
    return lexer.integer()
