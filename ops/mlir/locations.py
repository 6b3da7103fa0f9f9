"""Locations in MLIR text: where in the source of a program an operation comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ops.mlir.mlir_types import MAX_NESTING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.mlir.mlir_lexer import MlirLexer


class Location(NamedTuple):
    """A name, a line of a file, or the name of another location, with those that it is made of."""

    name: str = ""
    file: str = ""
    line: int = 0
    alias: str = ""
    parts: tuple[Location, ...] = ()


UNKNOWN: Final = Location()


def read_location(lexer: MlirLexer) -> Location:
    """Take ``loc(...)``.

    Raises:
        MlirTextError: there is no location here.
    """
    lexer.expect("loc", "before a location")
    lexer.expect("(", "after loc")
    found = _read_inner(lexer, 0)
    lexer.expect(")", "after a location")
    return found


def _read_inner(lexer: MlirLexer, depth: int) -> Location:
    if depth > MAX_NESTING:
        raise lexer.error(f"locations are nested more than {MAX_NESTING} deep")
    if lexer.kind == "alias" and lexer.text[0] == "#":
        return Location(alias=lexer.advance()[1:])
    if lexer.kind == "string":
        return _read_named(lexer, depth)
    if lexer.accept("unknown"):
        return UNKNOWN
    if lexer.accept("callsite"):
        lexer.expect("(", "after callsite")
        callee = _read_inner(lexer, depth + 1)
        lexer.expect("at", "between the locations of a call")
        caller = _read_inner(lexer, depth + 1)
        lexer.expect(")", "after the locations of a call")
        return Location(parts=(callee, caller))
    if lexer.accept("fused"):
        if lexer.text == "<":
            lexer.balanced("'<'")
        parts = lexer.listed(lambda: _read_inner(lexer, depth + 1), "[", "]", "the locations")
        return Location(parts=parts)
    raise lexer.expected('a location, such as "model.py":3:1')


def _read_named(lexer: MlirLexer, depth: int) -> Location:
    """Take a name, with a location behind it or not, or a place in a file."""
    text = lexer.string()
    if lexer.accept("("):
        part = _read_inner(lexer, depth + 1)
        lexer.expect(")", "after the location of a name")
        return Location(name=text, parts=(part,))
    if not lexer.accept(":"):
        return Location(name=text)
    line = lexer.integer("a line")
    while lexer.accept(":"):
        lexer.integer("a column")
    if lexer.accept("to"):
        if lexer.kind == "number":
            lexer.integer()
        while lexer.accept(":"):
            lexer.integer("a line or a column")
    return Location(file=text, line=line)


class SourcePlace(NamedTuple):
    """What a location says: the name of the operation, and a line of a file."""

    name: str
    file: str
    line: int


def place_of(location: Location, aliases: Mapping[str, Location]) -> SourcePlace:
    """The first name and the first line of a location, the innermost of nested calls."""
    name, file, line = "", "", 0
    for each in _parts(location, aliases):
        name = name or each.name
        if each.file and not file:
            file, line = each.file, each.line
    return SourcePlace(name, file, line)


def _parts(location: Location, aliases: Mapping[str, Location]) -> Iterator[Location]:
    """A location and those in it, in order; one that refers to itself ends."""
    waiting, seen = [location], set[str]()
    while waiting:
        each = waiting.pop()
        if each.alias and each.alias not in seen:
            seen.add(each.alias)
            waiting.append(aliases.get(each.alias, UNKNOWN))
        yield each
        waiting += reversed(each.parts)
