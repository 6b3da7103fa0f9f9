"""Attributes in MLIR text: numbers, strings, lists, dense elements, and those of dialects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ops.mlir.dense_elements import DenseElements, read_dense
from ops.mlir.locations import Location, read_location
from ops.mlir.mlir_types import MAX_NESTING, Type, at_type, read_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.mlir.mlir_lexer import MlirLexer


@dataclass(frozen=True, slots=True)
class DialectAttribute:
    """An attribute of a dialect, such as ``#stablehlo<precision HIGH>``, or a name for one.

    ``body`` is the text in angle brackets, which stands at ``start`` of the source.
    """

    name: str
    body: str
    start: int


class SymbolReference(NamedTuple):
    """The name of a function, such as ``@main``."""

    name: str


class Keyword(NamedTuple):
    """A bare word in the place of a value, such as ``DEFAULT``."""

    word: str


Attribute = Any
"""``bool``, ``int``, ``float``, ``str``, tuples and dictionaries of these, types, dense elements,
symbols and attributes of dialects: as many types as MLIR's dialects have."""


class AttributeReader:
    """Takes attributes; ``types`` are the names that the text gives to types."""

    def __init__(self, lexer: MlirLexer) -> None:
        self.lexer = lexer
        self.types: dict[str, Type] = {}
        self._depth = 0

    def type(self) -> Type:
        """Take a type."""
        return read_type(self.lexer, self.types)

    def dictionary(self) -> dict[str, Attribute]:
        """Take ``{name = value, flag, ...}``."""
        self.lexer.expect("{", "before attributes")
        return self.fields("}")

    def fields(self, closing: str) -> dict[str, Attribute]:
        """Take ``name = value, flag, ...`` up to and including a mark."""
        lexer, found = self.lexer, dict[str, Attribute]()
        while lexer.text != closing:
            if found:
                lexer.expect(",", f"or {closing!r} after an attribute")
            start, is_quoted = lexer.start, lexer.kind == "string"
            name = lexer.string() if is_quoted else lexer.word("the name of an attribute")
            if name in found:
                raise lexer.error_since(start, f"attribute {name} stands here for the second time")
            found[name] = self.value() if lexer.accept("=") else True
        lexer.advance()
        return found

    def value(self) -> Attribute:
        """Take the value of an attribute."""
        if self._depth > MAX_NESTING:
            raise self.lexer.error(f"attributes are nested more than {MAX_NESTING} deep")
        self._depth += 1
        try:
            return self._value()
        finally:
            self._depth -= 1

    def _value(self) -> Attribute:
        lexer = self.lexer
        read = _BY_KIND.get(lexer.kind) or _BY_TEXT.get(lexer.text)
        if read:
            return read(self)
        if at_type(lexer):
            return self.type()
        if lexer.kind == "name":
            return Keyword(lexer.advance())
        raise lexer.expected("the value of an attribute")

    def _number(self) -> int | float:
        lexer = self.lexer
        text = lexer.text
        is_integer = "0x" in text or text.removeprefix("-").isdecimal()
        number = lexer.integer() if is_integer else float(lexer.advance())
        if lexer.accept(":"):
            self.type()
        return number

    def _string(self) -> str:
        text = self.lexer.string()
        if self.lexer.accept(":"):
            self.type()
        return text

    def _symbol(self) -> SymbolReference:
        name = self.lexer.symbol("a symbol")
        while self.lexer.accept("::"):
            name = self.lexer.symbol("a symbol")
        return SymbolReference(name)

    def _list(self) -> tuple[Attribute, ...]:
        return self.lexer.listed(self.value, "[", "]", "the items of a list")

    def _boolean(self) -> bool:
        return self.lexer.advance() == "true"

    def _unit(self) -> bool:
        self.lexer.advance()
        return True

    def _array(self) -> tuple[Attribute, ...]:
        """Take ``array<i64: 1, 2>``."""
        lexer = self.lexer
        lexer.advance()
        lexer.expect("<", "after array")
        self.type()
        if lexer.accept(">"):
            return ()
        return lexer.listed(self.value, ":", ">", "the items of an array")

    def _dense(self) -> DenseElements:
        return read_dense(self.lexer, self.type)

    def _location(self) -> Location:
        return read_location(self.lexer)

    def _alias(self) -> Attribute:
        """Take ``#name``, ``#dialect<body>`` or ``#dialect.name<body>``."""
        lexer = self.lexer
        if lexer.text[0] == "!":
            return self.type()
        name, body, start = lexer.advance()[1:], "", lexer.stop
        if lexer.text == "<" and lexer.start == lexer.previous_stop:
            start = lexer.start + 1
            body = lexer.balanced("'<'")[1:-1]
        return DialectAttribute(name, body, start)

    def _affine(self) -> DialectAttribute:
        """Take ``affine_map<...>`` or ``affine_set<...>``."""
        name = self.lexer.advance()
        start = self.lexer.start + 1
        return DialectAttribute(name, self.lexer.balanced(f"'<' after {name}")[1:-1], start)


_BY_KIND: Final[Mapping[str, Callable[[AttributeReader], Attribute]]] = {
    "number": AttributeReader._number,  # noqa: SLF001 - its own
    "string": AttributeReader._string,  # noqa: SLF001 - likewise
    "symbol": AttributeReader._symbol,  # noqa: SLF001 - likewise
    "alias": AttributeReader._alias,  # noqa: SLF001 - likewise
}

_BY_TEXT: Final[Mapping[str, Callable[[AttributeReader], Attribute]]] = {
    "[": AttributeReader._list,  # noqa: SLF001 - its own
    "{": AttributeReader.dictionary,
    "true": AttributeReader._boolean,  # noqa: SLF001 - likewise
    "false": AttributeReader._boolean,  # noqa: SLF001 - likewise
    "unit": AttributeReader._unit,  # noqa: SLF001 - likewise
    "array": AttributeReader._array,  # noqa: SLF001 - likewise
    "dense": AttributeReader._dense,  # noqa: SLF001 - likewise
    "dense_resource": AttributeReader._dense,  # noqa: SLF001 - likewise
    "loc": AttributeReader._location,  # noqa: SLF001 - likewise
    "affine_map": AttributeReader._affine,  # noqa: SLF001 - likewise
    "affine_set": AttributeReader._affine,  # noqa: SLF001 - likewise
}
"""How a value is read, by the kind of its first token, or by the token."""
