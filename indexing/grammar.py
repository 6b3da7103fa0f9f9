"""What texts of maps are made of: names and expressions in brackets, and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier import Interval
from simplifier.errors import quoted
from simplifier.text import read_expression

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from simplifier.form import Form
    from simplifier.tokens import Reader


def read_names(reader: Reader, brackets: str, declared: Collection[str] = ()) -> dict[str, None]:
    """New names between brackets, in order: ``(d0, d1)``."""
    names: dict[str, None] = {}
    for _ in _items(reader, brackets, "before the dimensions"):
        token = reader.name("the name of a variable")
        if token.text in names or token.text in declared:
            raise reader.error(f"{quoted(token.text)} is declared twice", token)
        names[token.text] = None
    return names


def read_results(reader: Reader, known: Mapping[str, Form]) -> list[Form]:
    """Expressions over known names between parentheses: ``(d0 * 8, d1)``."""
    items = _items(reader, "()", "before the results")
    return [read_expression(reader, known) for _ in items]


def _items(reader: Reader, brackets: str, purpose: str) -> Iterator[None]:
    """Yields where an item stands; a comma may follow the last one."""
    opening, closing = brackets
    reader.expect(opening, purpose)
    while not reader.accept(closing):
        yield
        if reader.word != closing and not reader.accept(","):
            raise reader.expected(f"',' or {closing!r}")


def read_interval(reader: Reader) -> Interval:
    """A closed interval: ``[0, 3]``, ``[-inf, inf]``."""
    reader.expect("[")
    lower = _read_end(reader, "lower")
    reader.expect(",", "between the ends of an interval")
    upper = _read_end(reader, "upper")
    reader.expect("]")
    return Interval(lower, upper)


def _read_end(reader: Reader, side: str) -> int | None:
    """An integer, or the infinity of that side."""
    if side == "upper" and reader.accept("inf"):
        return None
    if side == "lower" and reader.accept_all("-", "inf"):
        return None
    return reader.integer()
