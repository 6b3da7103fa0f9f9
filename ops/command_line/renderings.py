"""The two renderings of a document, in pieces of whole lines: text for people, JSON for programs.

A piece is made when its item is, and forgotten when it is printed: documents may be of any length.
"""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING, TypeAlias

from ops.command_line.documents import dumped
from ops.command_line.errors import error_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ops.command_line.documents import Document
    from ops.command_line.errors import Complaints

Rendering: TypeAlias = "Callable[[Document, Complaints], Iterator[str]]"
"""Makes the pieces of a document; the complaints are those of its items that are errors."""


def as_text(document: Document, complaints: Complaints) -> Iterator[str]:
    """The texts of the items, each as soon as it is made."""
    before = document.title
    for item in complaints.sifted(document.items):
        if before is not None:
            yield before
        yield item.text()
        before = document.separator


def as_json(document: Document, complaints: Complaints) -> Iterator[str]:
    """One JSON object: the fields, the items as soon as they are made, the errors."""
    yield dumped(document.fields).removesuffix("\n}") + ","
    yield from _streamed(document.name, (item.json() for item in complaints.sifted(document.items)))
    errors = [error_fields(error) for error in complaints.errors]
    yield dumped({"errors": errors}).removeprefix("{\n")


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
