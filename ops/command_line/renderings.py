"""The two renderings of a document, in pieces of whole lines: text for people, JSON for programs.

A piece is made when its item is, and forgotten when it is printed: documents may be of any length.
"""

from __future__ import annotations

import json
from textwrap import indent
from typing import TYPE_CHECKING, Final

from ops.hlo import HloTextError
from simplifier.errors import TextError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.command_line.documents import Document, Fields, Item
    from simplifier.errors import IndexingError

SCHEMA_VERSION: Final = 1
"""Counts the changes of the JSON documents that a reader of older ones does not understand."""


def as_text(document: Document, items: Iterable[Item], _: Iterable[IndexingError]) -> Iterator[str]:
    """The texts of the items, each as soon as it is made."""
    for number, item in enumerate(items):
        if number and document.separator:
            yield document.separator
        yield item.text()


def as_json(
    document: Document, items: Iterable[Item], errors: Iterable[IndexingError]
) -> Iterator[str]:
    """One JSON document; ``errors`` are looked at when all items are made."""
    head = _dumped({"schema_version": SCHEMA_VERSION, **document.fields})
    yield head.removesuffix("\n}") + ","
    yield from _streamed(document.name, (_dumped(item.fields()) for item in items))
    yield _dumped({"errors": [_error_fields(error) for error in errors]}).removeprefix("{\n")


def _streamed(name: str, texts: Iterable[str]) -> Iterator[str]:
    r"""A member of an object whose value is a list of these texts, a piece for each of them.

    >>> print(*_streamed("found", ["1", "[]"]), sep="\n")
      "found": [
        1,
        []
      ],
    >>> print(*_streamed("found", []))
      "found": [],
    """
    held, comma = f'  "{name}": [', ""
    for text in texts:
        yield held + comma
        held, comma = indent(text, "    "), ","
    yield f"{held}\n  ]," if comma else f"{held}],"


def _dumped(fields: Fields) -> str:
    return json.dumps(fields, indent=2)


def _error_fields(error: IndexingError) -> Fields:
    if not isinstance(error, TextError):
        return {"message": str(error)}
    place = {"file": error.span.file, "line": error.span.line, "column": error.span.column}
    named = {"instruction": error.instruction} if isinstance(error, HloTextError) else {}
    return {"message": error.message} | place | named
