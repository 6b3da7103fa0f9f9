"""What texts of maps are made of: lists in brackets, and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from simplifier import Interval
from simplifier.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from simplifier.tools.lexer import Reader

T = TypeVar("T")


def read_items(reader: Reader, brackets: str, purpose: str, read: Callable[[], T]) -> list[T]:
    """What stands between brackets and commas; a comma may follow the last item."""
    opening, closing = brackets
    items: list[T] = []
    reader.expect(opening, purpose)
    while not reader.accept(closing):
        items.append(read())
        if reader.word != closing and not reader.accept(","):
            raise reader.expected(f"',' or {closing!r}")
    return items


def read_names(reader: Reader, brackets: str, declared: Collection[str] = ()) -> dict[str, None]:
    """New names between brackets, in order: ``(d0, d1)``."""
    names: dict[str, None] = {}

    def read() -> None:
        name = reader.name("the name of a variable")
        if name in names or name in declared:
            token = reader.token_at(reader.position - 1)
            raise reader.error(f"{quoted(name)} is declared twice", token)
        names[name] = None

    read_items(reader, brackets, "before the dimensions", read)
    return names


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
