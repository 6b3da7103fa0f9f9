"""Documents: what a command answers, as text for people or as JSON for programs.

A document is a list of items. An item is made, printed and forgotten, so that documents may be of
any length; a long one is printed in pieces. JSON has one item of a :class:`Row` on a line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from ops.hlo import HloTextError
from simplifier.errors import IndexingError, TextError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")

Fields: TypeAlias = "dict[str, Any]"
"""The members of a JSON object; ``schema.json`` describes them."""

SCHEMA_VERSION: Final = 1
"""Goes up when a program that reads older documents would misread newer ones."""


class Item(Protocol):
    """One part of a document, in both renderings; each piece is one or more whole lines."""

    @property
    def is_unknown(self) -> bool:
        """Whether something is unknown of what it is about."""
        ...

    def text_pieces(self) -> Iterator[str]:
        """The item for people."""
        ...

    def json_pieces(self) -> Iterator[str]:
        """The item for programs."""
        ...


class Row:
    """An item of one piece, whose JSON is an object of fields."""

    __slots__ = ()

    @property
    def is_unknown(self) -> bool:
        """Whether something is unknown of what it is about."""
        return False

    def text(self) -> str:
        """The item for people."""
        raise NotImplementedError

    def fields(self) -> Fields:
        """The item for programs."""
        raise NotImplementedError

    def text_pieces(self) -> Iterator[str]:
        """The text, if there is any."""
        text = self.text()
        if text:
            yield text

    def json_pieces(self) -> Iterator[str]:
        """The fields on one line."""
        yield json.dumps(self.fields())


@dataclass(frozen=True, slots=True)
class Lines(Row):
    """An item of some lines, and fields that are made when they are asked for."""

    lines: Sequence[str]
    about: Callable[[], Fields]
    lacks_something: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether something is unknown of what it is about."""
        return self.lacks_something

    def text(self) -> str:
        """The lines."""
        return "\n".join(self.lines)

    def fields(self) -> Fields:
        """What it is about, with all figures."""
        return self.about()


class Verbatim:
    """An item that is printed as it stands, whatever the rendering."""

    __slots__ = ("_pieces",)

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = pieces

    @property
    def is_unknown(self) -> bool:
        """What is printed says so itself."""
        return False

    def text_pieces(self) -> Iterator[str]:
        """The pieces."""
        return iter(self._pieces)

    def json_pieces(self) -> Iterator[str]:
        """The pieces."""
        return iter(self._pieces)


@dataclass(frozen=True, slots=True)
class Document:
    """What a command answers: a list of items, which may be made while they are printed.

    An item that is an error takes the place of an answer. In JSON, ``name`` is the name of the list
    and ``fields`` stand beside it. In text, ``title`` is a line above the items, if there are
    any, and ``separator`` one between two of them.
    """

    name: str
    items: Iterable[Item | IndexingError]
    fields: Fields
    title: str | None = None
    separator: str | None = None


def fields_of_command(command: str) -> Fields:
    """The first fields of the documents of a command."""
    return {"schema_version": SCHEMA_VERSION, "command": command}


# Errors of single items, while the others are answered.


class ErrorLog:
    """The errors of a document, each once; ``report`` gets the message as soon as one is met.

    Attributes:
        has_unknown: whether something is unknown in an answer so far.
    """

    def __init__(self, report: Callable[[str], None] | None = None) -> None:
        self._report = report
        self._errors: dict[str, IndexingError] = {}
        self.has_unknown = False

    @property
    def messages(self) -> tuple[str, ...]:
        """The messages so far."""
        return tuple(self._errors)

    @property
    def fields(self) -> list[Fields]:
        """The errors so far, as JSON says them."""
        return list(map(_error_fields, self._errors.values()))

    def answers(self, items: Iterable[Item | IndexingError]) -> Iterator[Item]:
        """The items that are no errors."""
        for item in items:
            if isinstance(item, IndexingError):
                self._meet(item)
            else:
                self.has_unknown |= item.is_unknown
                yield item

    def _meet(self, error: IndexingError) -> None:
        message = str(error)
        if message not in self._errors and self._report:
            self._report(message)
        self._errors[message] = error


def _error_fields(error: IndexingError) -> Fields:
    """The message, and the position of an error in a text."""
    if not isinstance(error, TextError):
        return {"message": str(error)}
    place = {"file": error.span.file, "line": error.span.line, "column": error.span.column}
    named = {"instruction": error.instruction} if isinstance(error, HloTextError) else {}
    return {"message": error.message} | place | named


def attempt(answer: Callable[..., T], *arguments: object) -> T | IndexingError:
    """The answer, or the error in its place, so that the other items are answered."""
    try:
        return answer(*arguments)
    except IndexingError as error:
        return error


# Renderings.

Rendering: TypeAlias = "Callable[[Document, ErrorLog], Iterator[str]]"
"""Makes a document in pieces of whole lines; the log gets the errors among its items."""


def as_text(document: Document, errors: ErrorLog) -> Iterator[str]:
    """The texts of the items, each as soon as it is made; empty ones leave no line."""
    before = document.title
    for item in errors.answers(document.items):
        for number, piece in enumerate(item.text_pieces()):
            if number == 0 and before is not None:
                yield before
            before = document.separator
            yield piece


def as_json(document: Document, errors: ErrorLog) -> Iterator[str]:
    """One JSON object: the fields, the items as soon as they are made, the errors."""
    yield f'{json.dumps(document.fields)[:-1]}, "{document.name}": ['
    before = ""
    for item in errors.answers(document.items):
        for number, piece in enumerate(item.json_pieces()):
            if before:
                yield f"{before}," if number == 0 else before
            before = piece
    yield from (before,) if before else ()
    yield f'], "errors": {json.dumps(errors.fields)}}}'
