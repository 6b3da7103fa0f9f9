"""The two renderings of a document, in pieces of whole lines: text for people, JSON for programs.

A piece is made when its item is, and forgotten when it is printed: documents may be of any length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ops.cli.errors import error_fields
from ops.cli.json_text import dumped, moved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ops.cli.documents import Document
    from ops.cli.errors import Complaints
    from ops.cli.fields import Fields

Rendering: TypeAlias = "Callable[[Document, Complaints], Iterator[str]]"
"""Makes the pieces of a document; the complaints are those of its items that are errors."""


def as_text(document: Document, complaints: Complaints) -> Iterator[str]:
    """The texts of the items, each as soon as it is made; those that say nothing leave no line."""
    before = document.title
    for item in complaints.sifted(document.items):
        pieces = iter(item.text_pieces())
        for first in pieces:
            yield from () if before is None else (before,)
            yield first
            yield from pieces
            before = document.separator


def as_json(document: Document, complaints: Complaints) -> Iterator[str]:
    """One JSON object: the fields, the items as soon as they are made, the errors."""
    yield dumped(document.fields).removesuffix("\n}") + ","
    items = complaints.sifted(document.items)
    yield from _streamed(document.name, (item.json_pieces() for item in items))
    errors: Fields = {"errors": [error_fields(error) for error in complaints.errors]}
    yield dumped(errors).removeprefix("{\n")


def _streamed(name: str, values: Iterable[Iterable[str]]) -> Iterator[str]:
    r"""A member of an object whose value is a list of these, piece by piece.

    >>> print(*_streamed("found", [["1"], ["[", "  2", "]"]]), sep="\n")
      "found": [
        1,
        [
          2
        ]
      ],
    >>> print(*_streamed("found", []))
      "found": [],
    """
    held, comma = f'  "{name}": [', ""
    for pieces in values:
        for piece in pieces:
            yield held + comma
            held, comma = f"    {moved(piece, '    ')}", ""
        comma = ","
    yield f"{held}\n  ]," if comma else f"{held}],"
