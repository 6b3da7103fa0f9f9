"""Answers as plain rows: what each says to people, as text, and to programs, as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from indexing import format_map
from ops.builders.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing import IndexingMap, Variable
    from ops.analysis.answers import Answer, OperandIndexing, RuntimeOrigin
    from simplifier import Interval
    from simplifier.errors import IndexingError

Fields: TypeAlias = "dict[str, Any]"
"""What JSON says of something."""


SCHEMA_VERSION: Final = 1
"""Counts the changes of the JSON documents that a reader of older ones does not understand."""


class Item(Protocol):
    """One part of a document, which both renderings know to print."""

    def text(self) -> str:
        """The item for people."""
        ...

    def json(self) -> str:
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


def dumped(fields: Fields) -> str:
    """Fields as JSON."""
    return json.dumps(fields, indent=2)


class Row:
    """An item that says to programs what its fields say."""

    __slots__ = ()

    def fields(self) -> Fields:
        """What JSON says of it."""
        raise NotImplementedError

    def json(self) -> str:
        """The fields as JSON."""
        return dumped(self.fields())


@dataclass(frozen=True, slots=True)
class Entry:
    """One pair of tensors, and the maps between them."""

    title: str
    answer: Answer
    about: Fields

    def text(self, of: str) -> str:
        """The maps, indented under a title; ``of`` is what the pair belongs to."""
        if isinstance(self.answer, Unknown):
            return f"{of}, {self.title}: {self.answer}"
        ways = (indented(way.text(multiline=True)) for way in self.answer)
        return "\n".join([f"{of}, {self.title}:", *ways])

    def fields(self) -> Fields:
        """``maps``, or the reason why they are ``unknown``."""
        if isinstance(self.answer, Unknown):
            return self.about | {"unknown": self.answer.reason}
        return self.about | {"maps": [_way_fields(way) for way in self.answer]}


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

    def text(self) -> str:
        """The content."""
        return self.content

    def json(self) -> str:
        """The content."""
        return self.content


def indented(text: str) -> str:
    """The lines of a text, moved to the right."""
    return "\n".join(f"  {line}" for line in text.splitlines())


def map_text(indexing_map: IndexingMap) -> str:
    """A map for people, a line for each part of its domain."""
    return format_map(indexing_map, multiline=True)


def _way_fields(way: OperandIndexing) -> Fields:
    whole = map_fields(way.map)
    origins = [
        {"variable": variable["name"]} | _origin_fields(origin)
        for variable, origin in zip(whole["runtime"], way.runtime, strict=True)
    ]
    return whole | {
        "runtime_origins": origins,
        "replica_id": _optional_map_fields(way.replica_id),
        "approximation": way.approximation or None,
    }


def _origin_fields(origin: RuntimeOrigin) -> Fields:
    return {
        "instruction": origin.instruction.name,
        "callers": [caller.name for caller in origin.callers],
        "text": str(origin),
        "map": map_fields(origin.map),
        "clamp": None if origin.clamp is None else _ends(origin.clamp),
        "replica_id": _optional_map_fields(origin.replica_id),
    }


def _optional_map_fields(indexing_map: IndexingMap | None) -> Fields | None:
    return None if indexing_map is None else map_fields(indexing_map)


def map_fields(indexing_map: IndexingMap) -> Fields:
    """A map for programs, whole and in its parts."""
    domain = indexing_map.domain
    names = iter(domain.names)

    def declared(variables: Iterable[Variable]) -> list[Fields]:
        return [{"name": next(names), "bounds": _ends(each.bounds)} for each in variables]

    return {
        "text": str(indexing_map),
        "results": [domain.text_of(form) for form in indexing_map.forms],
        "dims": declared(domain.dims),
        "ranges": declared(domain.ranges),
        "runtime": declared(domain.runtime),
        "constraints": [
            {"expression": text, "bounds": _ends(interval)}
            for text, (_, interval) in domain.constraint_texts()
        ],
        "known_empty": indexing_map.is_known_empty,
    }


def _ends(interval: Interval) -> list[int | None]:
    return [interval.lower, interval.upper]
