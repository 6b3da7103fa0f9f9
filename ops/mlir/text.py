"""The text of MLIR: tokens, types, attributes, dense elements and locations."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import copysign, frexp, inf, ldexp, nan
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeVar, cast

from indexing.layout import UNBOUNDED_SIZE, ElementType, Kind, Shape, ShapeError
from indexing.passes import ARRAY_TYPES
from simplifier.errors import Span, TextError
from simplifier.tools.lexer import ProgramLexer

_T = TypeVar("_T")

# The tokens of MLIR text: `MlirLexer` is what its readers work with.

VALUE: Final = r"%(?:\d++|[A-Za-z_$.](?>(?:[\w$.]|-(?!>))*))(?:\#\d++)?"
"""The regular expression of the name of a value, maybe with the number of a result."""

_STRING: Final = r'"(?>(?:[^"\\\n]++|\\.)*)"'
_BLANK: Final = r"(?>(?:\s++|//[^\n]*+)*)"

_TOKEN: Final = re.compile(
    _BLANK
    + rf"""(?:
      (?P<value>{VALUE})
    | (?P<name>[A-Za-z_][\w$.]*+)
    | (?P<mark>->|::|[(){{}}\[\]<>,=:*?+/|&])
    | (?P<number>-?(?:0x[0-9a-fA-F]++|\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?))
    | (?P<string>{_STRING})
    | (?P<symbol>@(?:[A-Za-z_$][\w$.]*+|{_STRING}))
    | (?P<alias>[#!][A-Za-z_][\w$.]*+)
    | (?P<block>\^[\w$.]++)
    | (?P<minus>-)
    | (?P<end>\Z)
    | (?P<strange>.)
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_BALANCED: Final = re.compile(
    r"""[^<>(){}\[\]"-]++|"(?>(?:[^"\\]++|\\.)*)"|->|[<>]=|.""", re.DOTALL
)
"""The pieces of a text in brackets: what holds no bracket that counts, and single characters."""


class MlirTextError(TextError):
    """MLIR text that does not follow its grammar, or that has no meaning as a program of HLO."""


class MlirLexer(ProgramLexer):
    r"""A position in MLIR text and the token that begins there.

    ``kind`` is ``value`` (``%0``), ``symbol`` (``@main``), ``alias`` (``#loc1``, ``!token``),
    ``block`` (``^bb0``), ``name``, ``number``, ``string``, ``mark``, ``minus``, ``end`` or
    ``strange``.

    >>> MlirLexer.unescaped(r'"a\22b\22 \0A"')
    'a"b" \n'
    """

    __slots__ = ()

    pattern = _TOKEN
    escape = re.compile(rb"\\(?:(?P<hex>[0-9a-fA-F]{2})|(?P<letter>.))", re.DOTALL)
    letters: ClassVar[Mapping[bytes, bytes]] = {b"n": b"\n", b"t": b"\t"}
    pieces = _BALANCED
    closing: ClassVar[Mapping[str, str]] = {"<": ">", "(": ")", "{": "}", "[": "]"}

    def word(self, what: str) -> str:
        """Take a name without a mark before it, such as a keyword."""
        return self.taken("name", what)

    def symbol(self, what: str) -> str:
        """Take a name such as ``@main``; without the mark and quotes."""
        text = self.taken("symbol", what)[1:]
        return self.unescaped(text) if text.startswith('"') else text

    def error(self, message: str, span: Span | None = None, hint: str = "") -> MlirTextError:
        """An error about the current token, or about another part of the text."""
        return MlirTextError(message, span or self.span, hint)


# Types in MLIR text: arrays, tuples and tokens as shapes, functions, and others as text.


@dataclass(frozen=True, slots=True)
class FunctionType:
    """Types of the arguments and results of a function."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class OtherType:
    """A type that is no shape, as it is written; an array of such has ``dimensions``."""

    text: str
    dimensions: tuple[int, ...] | None = None


Type: TypeAlias = "Shape | FunctionType | OtherType"

_ARRAYS: Final = ("tensor", "memref", "vector")

_TYPES: Final = frozenset((*_ARRAYS, "tuple", "(", "complex", "none"))
"""How types begin, if not with a mark or a number of bits."""

MAX_NESTING: Final = 50
"""Of types, attributes and regions in each other; JAX writes a few levels, and Python's stack holds
these."""

_SHAPED: Final = re.compile(
    r"""(?:tensor|memref|vector)<\s*
    (?P<sizes>(?:(?:\d{1,19}|\?)\s*x\s*)*)
    (?P<element>complex<\w+>|(?:vector|memref|tensor)<[^<>]*>|[A-Za-z]\w*|!|\*x[^<>,]*)\s*
    (?:,\s*(?P<bounds>\#stablehlo\.bounds<[^<>]*>)\s*)?(?P<end>[>,]|(?<=!))""",
    re.VERBOSE | re.ASCII,
)
"""An array, of known sizes or not; ``#stablehlo.bounds<4, ?>`` bounds those that are not known.

Behind a comma is an encoding or a layout, which says nothing of the elements. The mark ``!`` begins
the type of a dialect. Of ``memref<*xf32>`` not even the rank is known; it is read without sizes.
"""

_NUMBER: Final = re.compile(r"(?:u|s)?i\d+|index|b?f\d+\w*|tf32", re.ASCII)


def shapes_of(types: tuple[Type, ...]) -> tuple[Shape, ...] | None:
    """Types as shapes; ``None`` if one is something else."""
    shapes = tuple(each for each in types if isinstance(each, Shape))
    return shapes if len(shapes) == len(types) else None


def _read_array(lexer: MlirLexer) -> Shape | OtherType:
    """Take an array; most are written as others were."""
    start = lexer.start
    found = _SHAPED.match(lexer.source, start)
    if found is None or found["end"] != ">":
        lexer.advance()
        if found is None:
            message = "expected the type of an array, such as tensor<2x3xf32>"
            raise lexer.error_since(start, message)
        lexer.balanced("'<'")
    stop = found.end() if found["end"] == ">" else lexer.previous_stop
    known = element_type_of(found["element"])
    try:
        if known is None:
            shape = OtherType(lexer.source[start:stop], _numbers(found["sizes"]))
        else:
            shape = _array(found["sizes"], known, found["bounds"] or "")
    except (ShapeError, ValueError) as error:
        raise lexer.error(str(error), lexer.span_of(start, stop)) from None
    lexer.jump(stop)
    return shape


def _numbers(sizes: str) -> tuple[int, ...]:
    return tuple(UNBOUNDED_SIZE if each == "?" else int(each) for each in sizes.split("x")[:-1])


@lru_cache(maxsize=1 << 12)
def _array(sizes: str, element_type: ElementType, bounds: str) -> Shape:
    numbers = _numbers(sizes)
    if not bounds:
        return Shape(element_type, numbers)
    limits = [each.strip() for each in bounds.partition("<")[2].rstrip(">").split(",")]
    if len(limits) != len(numbers) or not all(each == "?" or each.isdecimal() for each in limits):
        raise ShapeError(f"expected {len(numbers)} bounds, numbers or ?, but found {bounds}")
    pairs = [*zip(numbers, limits, strict=True)]
    bounded = tuple(size if limit == "?" else int(limit) for size, limit in pairs)
    return Shape(element_type, bounded, None, tuple(limit != "?" for _, limit in pairs))


_TOKENS: Final = {"!stablehlo.token", "!mhlo.token"}


def _read_element_type(lexer: MlirLexer) -> ElementType:
    start = lexer.start
    text = lexer.word("a type")
    if text == "complex":
        lexer.balanced("'<' after complex")
        text = lexer.source[start : lexer.previous_stop]
    found = element_type_of(text)
    if found is None:
        raise lexer.error_since(start, f"expected a type, but found {text!r}")
    return found


@lru_cache(maxsize=1 << 8)
def element_type_of(text: str) -> ElementType | None:
    """The element type that MLIR calls so.

    >>> [element_type_of(text) for text in ("i1", "i8", "ui8", "f8E4M3FN", "complex<f32>")]
    [<ElementType.PRED: 'pred'>, <ElementType.S8: 's8'>, <ElementType.U8: 'u8'>,
    <ElementType.F8E4M3FN: 'f8e4m3fn'>, <ElementType.C64: 'c64'>]
    """
    name = _ELEMENTS.get(text) or text.lower()
    integer = re.fullmatch(r"(s|u)?i(\d+)", name)
    if integer:
        name = (integer[1] or "s") + integer[2]
    return _OF_ARRAYS.get(name)


_OF_ARRAYS: Final = {str(each): each for each in ARRAY_TYPES}

_ELEMENTS: Final[Mapping[str, str]] = {
    "i1": "pred",
    "index": "s64",
    "complex<f32>": "c64",
    "complex<f64>": "c128",
    "tf32": "f32",
}
"""Elements whose names are no names of HLO in small letters."""


# Attributes in MLIR text: numbers, strings, lists, dense elements, and those of dialects.


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


class AttributeReader(MlirLexer):
    """Takes types, attributes and locations; ``named_types`` are those with names in the text."""

    __slots__ = ("_depths", "named_types")

    def __init__(self, source: str, file: str = "", position: int = 0) -> None:
        super().__init__(source, file, position)
        self.named_types: dict[str, Type] = {}
        self._depths = Counter[str]()

    def nested(self, what: str, read: Callable[[], _T]) -> _T:
        """Take what may have others of its kind inside."""
        if self._depths[what] >= MAX_NESTING:
            raise self.error(f"{what} are nested more than {MAX_NESTING} deep")
        self._depths[what] += 1
        found = read()
        self._depths[what] -= 1
        return found

    # Types

    def type(self) -> Type:
        """Take a type."""
        if self.text in _ARRAYS:
            return _read_array(self)
        if self.text == "(":
            return self.function_type()
        if self.text == "tuple":
            return self._tuple_type()
        if self.kind == "alias" and self.text[0] == "!":
            return self._dialect_type()
        if self.text == "none":
            return OtherType(self.advance())
        return Shape(_read_element_type(self))

    def function_type(self) -> FunctionType:
        """Take ``(tensor<2xf32>) -> tensor<f32>``."""
        inputs = self._listed_types("(", ")", "the types")
        self.expect("->", "after the types of operands")
        return FunctionType(inputs, self.result_types())

    def result_types(self) -> tuple[Type, ...]:
        """Take the type of a result, or those of several in parentheses."""
        if self.text == "(":
            return self._listed_types("(", ")", "the types of results")
        return (self.type(),)

    def _listed_types(self, opening: str, closing: str, what: str) -> tuple[Type, ...]:
        return self.nested("types", lambda: self.listed(self.type, opening, closing, what))

    def _tuple_type(self) -> Shape:
        start = self.start
        self.advance()
        shapes = shapes_of(self._listed_types("<", ">", "the elements"))
        if shapes is None:
            message = "a tuple has arrays, tuples and tokens as elements"
            raise self.error_since(start, message)
        return Shape.of_tuple(shapes)

    def _dialect_type(self) -> Type:
        start = self.start
        name = self.advance()
        if name in self.named_types:
            return self.named_types[name]
        if name in _TOKENS:
            return Shape(ElementType.TOKEN)
        if self.text == "<":
            self.balanced("'<'")
        return OtherType(self.source[start : self.previous_stop])

    # Attributes

    def dictionary(self) -> dict[str, Attribute]:
        """Take ``{name = value, flag, ...}``."""
        self.expect("{", "before attributes")
        return self.fields("}")

    def fields(self, closing: str) -> dict[str, Attribute]:
        """Take ``name = value, flag, ...`` up to and including a mark."""

        def read() -> None:
            start, is_quoted = self.start, self.kind == "string"
            name = self.string() if is_quoted else self.word("the name of an attribute")
            if name in found:
                raise self.error_since(start, f"attribute {name} stands here for the second time")
            found[name] = self.value() if self.accept("=") else True

        found = dict[str, Attribute]()
        self.separated(read, closing, "after an attribute")
        return found

    def value(self) -> Attribute:
        """Take the value of an attribute."""
        return self.nested("attributes", self._value)

    def _value(self) -> Attribute:
        read = self._by_kind.get(self.kind) or self._by_text.get(self.text)
        if read:
            return read(self)
        if self.text in _TYPES or _NUMBER.fullmatch(self.text):
            return self.type()
        if self.kind == "name":
            return Keyword(self.advance())
        raise self.expected("the value of an attribute")

    def _number(self) -> int | float:
        text = self.text
        is_integer = "0x" in text or text.removeprefix("-").isdecimal()
        number = self.integer() if is_integer else float(self.advance())
        if self.accept(":"):
            self.type()
        return number

    def _string(self) -> str:
        text = self.string()
        if self.accept(":"):
            self.type()
        return text

    def _symbol(self) -> SymbolReference:
        *_, name = self.joined(lambda: self.symbol("a symbol"), "::")
        return SymbolReference(name)

    def _array(self) -> tuple[Attribute, ...]:
        """Take ``array<i64: 1, 2>``."""
        self.advance()
        self.expect("<", "after array")
        self.type()
        if self.accept(">"):
            return ()
        return self.listed(self.value, ":", ">", "the items of an array")

    def _alias(self) -> Attribute:
        """Take ``#name``, ``#dialect<body>`` or ``#dialect.name<body>``."""
        if self.text[0] == "!":
            return self.type()
        name = self.advance()[1:]
        if self.text == "<" and self.start == self.previous_stop:
            return self.body(name, "'<'")
        return DialectAttribute(name, "", self.stop)

    def body(self, name: str, what: str) -> DialectAttribute:
        """Take a text in brackets as the attribute of a dialect."""
        start = self.start + 1
        return DialectAttribute(name, self.balanced(what)[1:-1], start)

    def _affine(self) -> DialectAttribute:
        """Take ``affine_map<...>`` or ``affine_set<...>``."""
        name = self.advance()
        return self.body(name, f"'<' after {name}")

    def _flag(self) -> bool:
        return self.advance() != "false"

    def _dense(self) -> DenseElements:
        """Take ``dense<values> : type``."""
        start, is_elided = self.start, self.advance() == "dense_resource"
        body_at = self.start
        self.balanced("'<' after dense")
        self.expect(":", "before the type of dense elements")
        type_at, found = self.start, self.type()
        if not isinstance(found, Shape) or not found.is_array or found.is_unbounded:
            message = "expected the type of an array of known sizes, such as tensor<2xf32>"
            raise self.error_since(type_at, message)
        if is_elided:
            return DenseElements(found, None)
        inner = MlirLexer(self.source, self.file, body_at)
        inner.advance()
        values = _read_values(inner, found)
        if len(values) not in {1, found.element_count}:
            message = f"there are {len(values)} values for {found.text(layout=False)}"
            raise self.error_since(start, message)
        inner.expect(">", "after dense elements")
        return DenseElements(found, values)

    # Locations

    def location(self) -> Location | None:
        """Take ``loc(...)``, if it is there."""
        if not self.accept("loc"):
            return None
        self.expect("(", "after loc")
        found = self._inner_location()
        self.expect(")", "after a location")
        return found

    def _inner_location(self) -> Location:
        return self.nested("locations", self._location)

    def _location(self) -> Location:
        if self.kind == "alias" and self.text[0] == "#":
            return Location(alias=self.advance()[1:])
        if self.kind == "string":
            return self._named_location()
        if self.accept("unknown"):
            return UNKNOWN
        if self.accept("callsite"):
            self.expect("(", "after callsite")
            callee = self._inner_location()
            self.expect("at", "between the locations of a call")
            caller = self._inner_location()
            self.expect(")", "after the locations of a call")
            return Location(parts=(callee, caller))
        if self.accept("fused"):
            if self.text == "<":
                self.balanced("'<'")
            parts = self.listed(self._inner_location, "[", "]", "the locations")
            return Location(parts=parts)
        raise self.expected('a location, such as "model.py":3:1')

    def _named_location(self) -> Location:
        """Take a name, with a location behind it or not, or a place in a file."""
        text = self.string()
        if self.accept("("):
            part = self._inner_location()
            self.expect(")", "after the location of a name")
            return Location(name=text, parts=(part,))
        if not self.accept(":"):
            return Location(name=text)
        line = self.integer("a line")
        while self.accept(":"):
            self.integer("a column")
        if self.accept("to"):
            if self.kind == "number":
                self.integer("an integer")
            while self.accept(":"):
                self.integer("a line or a column")
        return Location(file=text, line=line)

    _by_kind: ClassVar[Mapping[str, Callable[..., Attribute]]] = {
        "number": _number,
        "string": _string,
        "symbol": _symbol,
        "alias": _alias,
    }
    _by_text: ClassVar[Mapping[str, Callable[[Any], Attribute]]] = {
        "[": lambda self: self.listed(self.value, "[", "]", "the items of a list"),
        "{": dictionary,
        **dict.fromkeys(("true", "false", "unit"), _flag),
        "array": _array,
        **dict.fromkeys(("dense", "dense_resource"), _dense),
        "loc": location,
        **dict.fromkeys(("affine_map", "affine_set"), _affine),
    }
    """How a value is read, by the kind of its first token, or by the token."""


# Dense elements, the values of constants: `dense<[1, 2]>`, or bytes: `dense<"0x01A2">`.

MAX_REPEATED: Final = 1 << 20
"""One value is repeated so often: attributes are lists of dimensions, groups and pairs."""

Number: TypeAlias = "bool | int | float | complex"


@dataclass(frozen=True, slots=True)
class DenseElements:
    """The elements of an array in row-major order; a single one stands for all.

    ``values`` is ``None`` if the text leaves them out.
    """

    shape: Shape
    values: tuple[Number, ...] | None

    def all_values(self) -> tuple[Number, ...] | None:
        """A value for each element; ``None`` if they are not known, or one stands for too many."""
        count = self.shape.element_count
        if self.values is None or len(self.values) == count:
            return self.values
        return self.values * count if count <= MAX_REPEATED else None


def integers_of(value: object) -> tuple[int, ...] | None:
    """Integers, however they are written; ``None`` if it is something else."""
    if isinstance(value, DenseElements):
        value = value.all_values()
    items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    found = tuple(int(each) for each in items if isinstance(each, int))
    return found if len(found) == len(items) else None


def _read_values(lexer: MlirLexer, shape: Shape) -> tuple[Number, ...]:
    if lexer.kind == "string":
        return _of_bytes(lexer, shape)
    if lexer.text == ">":
        return ()
    return tuple(_read_rows(lexer, shape, 0))


def _read_rows(lexer: MlirLexer, shape: Shape, depth: int) -> Iterator[Number]:
    """Values in brackets as deep as the shape has dimensions, or a single one."""
    if lexer.text != "[":
        if depth not in {0, shape.rank}:
            raise lexer.error(f"expected brackets nested {shape.rank} deep")
        yield _READERS[shape.element_type.kind](lexer, shape.element_type)
        return
    if depth == shape.rank:
        raise lexer.error(f"expected brackets nested {depth} deep, but these are nested deeper")
    lexer.advance()
    count, size = 0, shape.dimensions[depth]
    while not lexer.accept("]"):
        if count:
            lexer.expect(",", "or ']' after a value")
        yield from _read_rows(lexer, shape, depth + 1)
        count += 1
    if count != size:
        message = f"expected {size} elements in these brackets, but there are {count}"
        place = lexer.span_of(lexer.previous_stop - 1, lexer.previous_stop)
        raise lexer.error(message, place)


def _read_boolean(lexer: MlirLexer, _: ElementType) -> bool:
    return _BOOLEANS[lexer.one_of(_BOOLEANS, "true or false")]


_BOOLEANS: Final = {"true": True, "false": False, "1": True, "0": False, "-1": True}


def _read_integer(lexer: MlirLexer, element_type: ElementType) -> int:
    start, span = lexer.start, element_type.value_range
    value = lexer.integer(f"an integer as a value of type {element_type}")
    if value not in span:
        value -= 1 << element_type.bits if "0x" in lexer.source[start : lexer.previous_stop] else 0
    if value not in span:
        message = f"{value} does not fit in {element_type}, which holds the integers in {span}"
        raise lexer.error_since(start, message)
    return value


def _read_float(lexer: MlirLexer, element_type: ElementType) -> float:
    start = lexer.start
    text = lexer.taken("number", f"a number as a value of type {element_type}")
    if "0x" not in text:
        value = float(text)
        return copysign(inf, value) if abs(value) >= element_type.float_format.limit else value
    size = (element_type.bits + 7) // 8
    try:
        content = int(text, 16).to_bytes(size, "little")
    except OverflowError:
        message = f"{text} has more bits than {element_type}"
        raise lexer.error_since(start, message) from None
    return float(numbers_of(content, element_type)[0])  # pyright: ignore[reportArgumentType] - no complex


def _read_complex(lexer: MlirLexer, element_type: ElementType) -> complex:
    lexer.expect("(", f"before a value of type {element_type}")
    real = _read_float(lexer, element_type.component)
    lexer.expect(",", "after the real part")
    imaginary = _read_float(lexer, element_type.component)
    lexer.expect(")", "after the imaginary part")
    return complex(real, imaginary)


_READERS: Final[Mapping[Kind, Callable[[MlirLexer, ElementType], Number]]] = {
    Kind.BOOLEAN: _read_boolean,
    Kind.SIGNED: _read_integer,
    Kind.UNSIGNED: _read_integer,
    Kind.FLOAT: _read_float,
    Kind.COMPLEX: _read_complex,
}


# Bytes, as JAX writes large constants.


def _of_bytes(lexer: MlirLexer, shape: Shape) -> tuple[Number, ...]:
    text = lexer.string().removeprefix("0x")
    place = lexer.span_of(lexer.previous_stop - len(text) - 4, lexer.previous_stop)
    try:
        content = bytes.fromhex(text)
    except ValueError:
        raise lexer.error('expected hexadecimal digits, such as "0x0000803F"', place) from None
    element_type = shape.element_type
    if element_type is ElementType.PRED and len(content) != shape.element_count:
        return _of_bits(content, shape.element_count)
    size = (element_type.bits + 7) // 8
    if len(content) not in {size, size * shape.element_count}:
        expected = f"{size * shape.element_count} bytes for {shape.text(layout=False)}"
        raise lexer.error(f"expected {expected}, but there are {len(content)}", place)
    return numbers_of(content, element_type)


def _of_bits(content: bytes, count: int) -> tuple[bool, ...]:
    """Truth values of before LLVM 22, eight in a byte; one of ones or zeros stands for all."""
    if len(content) == 1 and content[0] in {0, 255}:
        return (content[0] == 255,) * count  # noqa: PLR2004 - all bits
    bits = range(min(count, len(content) * 8))
    return tuple(bool(content[bit // 8] >> bit % 8 & 1) for bit in bits)


def numbers_of(content: bytes, element_type: ElementType) -> tuple[Number, ...]:
    """The values of bytes."""
    if element_type is ElementType.BF16:
        pairs = (content[start : start + 2] for start in range(0, len(content), 2))
        return numbers_of(b"".join(b"\0\0" + pair for pair in pairs), ElementType.F32)
    if element_type.kind is Kind.COMPLEX:
        parts = numbers_of(content, element_type.component)
        return tuple(map(complex, parts[::2], parts[1::2]))  # pyright: ignore[reportArgumentType] - parts are real
    if element_type.bits <= 8:  # noqa: PLR2004 - of a byte
        return tuple(map(_numbers_of_bytes(element_type).__getitem__, content))
    letter = _LETTERS[element_type.kind][element_type.bits // 32]
    return struct.unpack(f"<{len(content) // element_type.bytes}{letter}", content)


_LETTERS: Final = {Kind.SIGNED: "hiq", Kind.UNSIGNED: "HIQ", Kind.FLOAT: "efd"}
"""Python's names for numbers of 16, 32 and 64 bits."""


@cache
def _numbers_of_bytes(element_type: ElementType) -> tuple[Number, ...]:
    """The number for each byte of a type with no more bits; its other bits do not count."""
    bits, kind = element_type.bits, element_type.kind
    codes = [byte & (1 << bits) - 1 for byte in range(256)]
    if kind is Kind.BOOLEAN:
        return tuple(byte > 0 for byte in range(256))
    if kind is Kind.FLOAT:
        return tuple(_float_of(code, element_type) for code in codes)
    sign = 1 << bits - 1 if kind is Kind.SIGNED else 0
    return tuple((code ^ sign) - sign for code in codes)


def _float_of(code: int, element_type: ElementType) -> float:
    """The floating-point number of some bits: sign, exponent, and fraction."""
    form, is_signed = element_type.float_format, element_type is not ElementType.F8E8M0FNU
    bits, behind = element_type.bits - is_signed, form.mantissa_bits
    is_negative, size = divmod(code, 1 << bits)
    exponent, fraction = divmod(size, 1 << behind)
    greatest = (1 << bits - behind) - 1 - (form.is_ieee or not is_signed)
    bias = greatest - (frexp(form.largest)[1] - 1)
    is_normal = exponent > 0 or not is_signed
    value = ldexp(fraction + (is_normal << behind), max(exponent, int(is_signed)) - bias - behind)
    if value > form.largest:
        value = inf if form.is_ieee and not fraction else nan
    elif is_negative and not size and element_type.endswith("fnuz"):
        value = nan
    return -value if is_negative else value


# Locations in MLIR text: where in the source of a program an operation comes from.


class Location(NamedTuple):
    """A name, a line of a file, or the name of another location, with those that it is made of."""

    name: str = ""
    file: str = ""
    line: int = 0
    alias: str = ""
    parts: tuple[Location, ...] = ()


UNKNOWN: Final = Location()


def parts_of(location: Location, aliases: Mapping[str, Location]) -> Iterator[Location]:
    """A location and those in it, in order; one that refers to itself ends."""
    waiting, seen = [location], set[str]()
    while waiting:
        each = waiting.pop()
        if each.alias and each.alias not in seen:
            seen.add(each.alias)
            waiting.append(aliases.get(each.alias, UNKNOWN))
        yield each
        waiting += reversed(each.parts)
