"""What commands answer: documents of rows, each of which people read as text, programs as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from indexing import format_map
from ops.cli.fields import map_fields, way_of
from ops.cli.json_text import dumped
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing import IndexingMap
    from ops.cli.fields import Fields
    from ops.dependence.dependence import AnyDependence
    from ops.dependence.operand_indexing import OperandIndexing
    from simplifier.errors import IndexingError


SCHEMA_VERSION: Final = 1
"""Counts the changes of the JSON documents that a reader of older ones does not understand."""


class Item(Protocol):
    """One part of a document, which both renderings know to print, in pieces of whole lines."""

    def text_pieces(self) -> Iterable[str]:
        """The item for people."""
        ...

    def json_pieces(self) -> Iterable[str]:
        """The item for programs."""
        ...


@dataclass(frozen=True, slots=True)
class Document:
    """What a command answers: a list of items, which may be made while they are printed.

    An item that is an error says what went wrong in place of an answer. ``fields`` are what JSON
    says beside the list, which it calls ``name``. ``title`` is a line above the texts, if there
    are any, and ``separator`` one between two of them.
    """

    name: str
    items: Iterable[Item | IndexingError]
    fields: Fields
    title: str | None = None
    separator: str | None = None


def asked(command: str) -> Fields:
    """What the documents of a command begin with."""
    return {"schema_version": SCHEMA_VERSION, "command": command}


class Row:
    """An item of one piece."""

    __slots__ = ()

    def text(self) -> str:
        """What it says to people."""
        raise NotImplementedError

    def fields(self) -> Fields:
        """What it says to programs."""
        raise NotImplementedError

    def text_pieces(self) -> Iterable[str]:
        """The text."""
        return (self.text(),)

    def json_pieces(self) -> Iterable[str]:
        """The fields as JSON."""
        return (dumped(self.fields()),)


@dataclass(frozen=True, slots=True)
class Entry:
    """One pair of tensors, and the maps between them."""

    title: str
    answer: AnyDependence
    about: Fields

    def text(self, of: str) -> str:
        """The maps, indented under a title; ``of`` is what the pair belongs to."""
        if isinstance(self.answer, Unknown):
            return f"{of}, {self.title}: {self.answer}"
        ways = (_way_text(way) if way.runtime else _plain_way_text(way) for way in self.answer)
        return "\n".join([f"{of}, {self.title}:", *ways])

    def fields(self) -> Fields:
        """``maps``, or the reason why they are ``unknown``."""
        if isinstance(self.answer, Unknown):
            return self.about | {"unknown": self.answer.reason}
        return self.about | {"maps": [way_of(way) for way in self.answer]}


@dataclass(frozen=True, slots=True)
class Section(Row):
    """What is answered for one instruction or computation."""

    title: str
    entries: Sequence[Entry]
    about: Fields

    def text(self) -> str:
        """The entries, one after another."""
        if not self.entries:
            return f"{self.title}: depends on nothing"
        return "\n".join(entry.text(self.title) for entry in self.entries)

    def fields(self) -> Fields:
        """The entries are called ``indexing``."""
        return self.about | {"indexing": [entry.fields() for entry in self.entries]}


@dataclass(frozen=True, slots=True)
class PlainMap(Row):
    """A map by itself."""

    map: IndexingMap

    def text(self) -> str:
        """The map, a line for each part of its domain."""
        return map_text(self.map)

    def fields(self) -> Fields:
        """The map, whole and in its parts."""
        return map_fields(self.map)


@dataclass(frozen=True, slots=True)
class Verbatim:
    """What is printed as it stands, whatever the rendering."""

    content: str

    def text_pieces(self) -> Iterable[str]:
        """The content."""
        return (self.content,)

    def json_pieces(self) -> Iterable[str]:
        """The content."""
        return (self.content,)


def _way_text(way: OperandIndexing) -> str:
    return indented(way.text(multiline=True))


_plain_way_text: Final = lru_cache(maxsize=1024)(_way_text)
"""Of a way without origins, which would hold on to their module; most of these are equal."""


def indented(text: str) -> str:
    """The lines of a text, moved to the right."""
    return "\n".join(f"  {line}" for line in text.splitlines())


def map_text(indexing_map: IndexingMap) -> str:
    """A map for people, a line for each part of its domain."""
    return format_map(indexing_map, multiline=True)
