"""Types in MLIR text: arrays, tuples and tokens as shapes, functions, and others as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing.layout import UNBOUNDED_SIZE, ElementType, Shape, ShapeError
from indexing.layout.element_type import ARRAY_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.mlir.mlir_lexer import MlirLexer


@dataclass(frozen=True, slots=True)
class FunctionType:
    """What a function takes and gives."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class OtherType:
    """A type that is no shape, as it is written."""

    text: str


Type: TypeAlias = "Shape | FunctionType | OtherType"

MAX_NESTING: Final = 50
"""Of types, attributes and regions in each other; JAX writes a few levels, and Python's stack holds
these."""

_SHAPED: Final = re.compile(
    r"""(?:tensor|memref|vector)<\s*
    (?P<sizes>(?:(?:\d{1,19}|\?)x)*)
    (?P<element>complex<\w+>|[A-Za-z]\w*)\s*
    (?:,\s*(?P<bounds>\#stablehlo\.bounds<[^<>]*>))?\s*>""",
    re.VERBOSE | re.ASCII,
)
"""An array, of known sizes or not; ``#stablehlo.bounds<4, ?>`` bounds those that are not known."""

_SHAPED_WITH_LAYOUT: Final = re.compile(
    r"(?:tensor|memref|vector)<\s*(?P<sizes>(?:(?:\d{1,19}|\?)x)*)(?P<element>complex<\w+>|\w+)\s*,",
    re.ASCII,
)
"""An array with an encoding or a layout, which says nothing of its elements."""

_NUMBER: Final = re.compile(r"(?:u|s)?i\d+|index|b?f\d+\w*|tf32", re.ASCII)


def read_type(lexer: MlirLexer, aliases: Mapping[str, Type], depth: int = 0) -> Type:
    """Take a type; ``aliases`` are the names that the text gives to types.

    Raises:
        MlirTextError: there is no type here, or no such array.
    """
    if depth > MAX_NESTING:
        raise lexer.error(f"types are nested more than {MAX_NESTING} deep")
    if lexer.text in {"tensor", "memref", "vector"}:
        return _read_array(lexer)
    if lexer.text == "(":
        return read_function_type(lexer, aliases, depth)
    if lexer.text == "tuple":
        return _read_tuple(lexer, aliases, depth)
    if lexer.kind == "alias" and lexer.text[0] == "!":
        return _read_dialect_type(lexer, aliases)
    if lexer.text == "none":
        return OtherType(lexer.advance())
    return Shape(_read_element_type(lexer))


def shapes_of(types: tuple[Type, ...]) -> tuple[Shape, ...] | None:
    """Types as shapes; ``None`` if one is something else."""
    shapes = tuple(each for each in types if isinstance(each, Shape))
    return shapes if len(shapes) == len(types) else None


def at_type(lexer: MlirLexer) -> bool:
    """Whether a type begins here."""
    text = lexer.text
    return text in _WORDS or text[:1] == "!" or bool(_NUMBER.fullmatch(text))


_WORDS: Final = {"tensor", "memref", "vector", "tuple", "(", "complex", "none"}


def read_result_types(
    lexer: MlirLexer, aliases: Mapping[str, Type], depth: int = 0
) -> tuple[Type, ...]:
    """Take the type of a result, or those of several in parentheses."""
    if lexer.text != "(":
        return (read_type(lexer, aliases, depth),)
    read = partial(read_type, lexer, aliases, depth + 1)
    return lexer.listed(read, "(", ")", "the types of results")


def read_function_type(
    lexer: MlirLexer, aliases: Mapping[str, Type], depth: int = 0
) -> FunctionType:
    """Take ``(tensor<2xf32>) -> tensor<f32>``."""
    inputs = lexer.listed(lambda: read_type(lexer, aliases, depth + 1), "(", ")", "the types")
    lexer.expect("->", "after the types of operands")
    return FunctionType(inputs, read_result_types(lexer, aliases, depth + 1))


def _read_array(lexer: MlirLexer) -> Shape:
    """Take an array; most are written as others were."""
    start = lexer.start
    found = _SHAPED.match(lexer.source, start)
    stop = found.end() if found else start
    if found is None:
        found = _SHAPED_WITH_LAYOUT.match(lexer.source, start)
        lexer.advance()
        if found is None:
            raise lexer.error_since(start, _NO_ARRAY)
        lexer.balanced("'<'")
        stop = lexer.previous_stop
    bounds = found.groupdict().get("bounds")
    try:
        shape = _array(found["sizes"], found["element"], bounds or "")
    except (ShapeError, ValueError) as error:
        raise lexer.error(str(error), lexer.span_of(start, stop)) from None
    lexer.jump(stop)
    return shape


_NO_ARRAY: Final = "expected the type of an array, such as tensor<2x3xf32>"


@lru_cache(maxsize=1 << 12)
def _array(sizes: str, element: str, bounds: str) -> Shape:
    numbers = [UNBOUNDED_SIZE if each == "?" else int(each) for each in sizes.split("x")[:-1]]
    element_type = element_type_of(element)
    if element_type is None:
        raise ShapeError(f"HLO has no elements of type {element}")
    if not bounds:
        return Shape(element_type, tuple(numbers))
    limits = [each.strip() for each in bounds.partition("<")[2].rstrip(">").split(",")]
    if len(limits) != len(numbers) or not all(each == "?" or each.isdecimal() for each in limits):
        raise ShapeError(f"expected {len(numbers)} bounds, numbers or ?, but found {bounds}")
    pairs = [*zip(numbers, limits, strict=True)]
    bounded = tuple(size if limit == "?" else int(limit) for size, limit in pairs)
    return Shape(element_type, bounded, None, tuple(limit != "?" for _, limit in pairs))


def _read_tuple(lexer: MlirLexer, aliases: Mapping[str, Type], depth: int) -> Shape:
    start = lexer.start
    lexer.advance()
    types = lexer.listed(lambda: read_type(lexer, aliases, depth + 1), "<", ">", "the elements")
    shapes = shapes_of(types)
    if shapes is None:
        raise lexer.error_since(start, "a tuple has arrays, tuples and tokens as elements")
    return Shape.of_tuple(shapes)


def _read_dialect_type(lexer: MlirLexer, aliases: Mapping[str, Type]) -> Type:
    start = lexer.start
    name = lexer.advance()
    if name in aliases:
        return aliases[name]
    if name in _TOKENS:
        return Shape(ElementType.TOKEN)
    if lexer.text == "<":
        lexer.balanced("'<'")
    return OtherType(lexer.source[start : lexer.previous_stop])


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
    return _ARRAYS.get(name)


_ARRAYS: Final = {str(each): each for each in ARRAY_TYPES}

_ELEMENTS: Final[Mapping[str, str]] = {
    "i1": "pred",
    "index": "s64",
    "complex<f32>": "c64",
    "complex<f64>": "c128",
    "tf32": "f32",
}
"""Elements whose names are no names of HLO in small letters."""
