"""Triton's text of encodings: ``#ttg.blocked<{sizePerThread = [1, 4], ...}>`` and its like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, Union

from indexing.errors import ShapeError
from indexing.layout.linear.encoding_parts import BlockSplit, dimensions
from indexing.layout.linear.encodings import (
    amd_dot_operand,
    amd_mfma,
    blocked,
    dot_operand,
    nvidia_mma,
    slice_of,
)
from indexing.layout.linear.linear_layout import LinearLayout
from indexing.layout.linear.shared_encodings import nvmma_shared, swizzled_shared
from simplifier.errors import Span, TextError, check_integers, check_type, listed
from simplifier.tools.lexer import ScanningLexer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_PARENTS: Final = 8
"""Encodings inside encodings: a slice of a slice of an operand is as deep as kernels have them."""


def parse_encoding(text: str, shape: Sequence[int], definitions: str = "") -> LinearLayout:
    """The layout of a tensor with this encoding in Triton's intermediate representation.

    Reads ``blocked``, ``linear``, ``nvidia_mma``, ``amd_mfma``, ``dot_op``, ``slice``,
    ``swizzled_shared`` and ``nvmma_shared``. The text may be an alias such as ``#mma``, or name
    some; ``definitions`` is the module, or the part of it, that defines them.

    Raises:
        ArgumentError: a text is no string, or the shape holds no integers.
        TextError: the text is no such encoding, has fields that mean something else, or does not
            fit the shape, with a caret under the place.

    >>> kernel = '''
    ... #A = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1],
    ...                    order = [1, 0]}>
    ... #rows = #ttg.slice<{dim = 1, parent = #A}>
    ... '''
    >>> parse_encoding("#A", (32, 16), kernel).bases["lane"]
    ((0, 4), (0, 8), (1, 0), (2, 0), (4, 0))
    >>> parse_encoding("#rows", [32], kernel).bases["warp"]
    ((8,), (16,))
    >>> parse_encoding("#ttg.blocked<{sizePerThread = [1, 4]}>", (32, 16))
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:6: blocked lacks threadsPerWarp
    #ttg.blocked<{sizePerThread = [1, 4]}>
         ^^^^^^^
    """
    check_type(text, str, "parse_encoding: the text", "a string")
    check_type(definitions, str, "parse_encoding: the definitions", "a string")
    check_integers(shape, "parse_encoding: the shape")
    lexer = _EncodingLexer(text, 0, definitions)
    encoding = _read(lexer, 0)
    lexer.finish()
    return encoding.layout(tuple(shape))


Value: TypeAlias = Union[int, bool, "list[Value]", "_Encoding"]


class _EncodingLexer(ScanningLexer):
    __slots__ = ("definitions",)

    pattern = re.compile(
        r"\s*(?:(?P<integer>[0-9]{1,18})|(?P<word>[A-Za-z_]\w*)|(?P<mark>\S)|(?P<end>\Z))"
    )

    def __init__(self, source: str, position: int, definitions: str) -> None:
        super().__init__(source, position=position)
        self.definitions = definitions


@dataclass(frozen=True, slots=True)
class _Encoding:
    """A name and its fields, with the place of the name."""

    name: str
    fields: Mapping[str, Value]
    span: Span

    def layout(self, shape: tuple[int, ...]) -> LinearLayout:
        """The layout for a shape; its errors point at the name."""
        try:
            return _MAKERS[self.name].make(self, shape)
        except ShapeError as error:
            raise TextError(str(error), self.span) from None

    def value(self, name: str) -> Value:
        """A field that must be there."""
        if name not in self.fields:
            raise TextError(f"{self.name} lacks {name}", self.span)
        return self.fields[name]

    def number(self, name: str) -> int:
        """A field that is an integer."""
        value = self.value(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise TextError(f"{name} of {self.name} is no integer", self.span)
        return value

    def flag(self, name: str) -> bool:
        """A field that is true or false."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise TextError(f"{name} of {self.name} is neither true nor false", self.span)
        return value

    def numbers(self, name: str) -> list[int]:
        """A field that is a list of integers."""
        value = self.value(name)
        if not isinstance(value, list):
            raise TextError(f"{name} of {self.name} is no list", self.span)
        return self.integers(name, value)

    def integers(self, name: str, values: list[Value]) -> list[int]:
        """The values of a list, which are integers."""
        found = [each for each in values if isinstance(each, int) and not isinstance(each, bool)]
        if len(found) < len(values):
            raise TextError(f"{name} of {self.name} is no list of integers", self.span)
        return found

    @property
    def parent(self) -> _Encoding:
        """The field ``parent``."""
        value = self.value("parent")
        if not isinstance(value, _Encoding):
            raise TextError(f"the parent of {self.name} is no encoding", self.span)
        return value

    @property
    def blocks(self) -> BlockSplit:
        """How blocks of a cluster share the tensor; nothing is said of one block."""
        return BlockSplit(*(self.numbers(each) if each in self.fields else () for each in _BLOCKS))


_BLOCKS: Final = ("CTAsPerCGA", "CTASplitNum", "CTAOrder")


def _read(lexer: _EncodingLexer, depth: int) -> _Encoding:
    """``#ttg.name<{field = value, ...}>``, with ``#triton_gpu.`` in older versions, or an alias."""
    if depth == MAX_PARENTS:
        raise lexer.error(f"encodings are nested deeper than {MAX_PARENTS}")
    lexer.expect("#", "before an encoding")
    if lexer.text not in {"ttg", "triton_gpu"}:
        return _read_alias(lexer, depth)
    lexer.advance()
    lexer.expect(".")
    span, name = lexer.span, _RENAMED.get(lexer.text, lexer.text)
    if name not in _MAKERS:
        raise lexer.expected("an encoding", hint=f"one of {listed(_MAKERS)}")
    lexer.advance()
    lexer.expect("<")
    lexer.expect("{", "before the fields")
    fields: dict[str, Value] = {}
    lexer.separated(lambda: _read_field(lexer, name, fields, depth), "}")
    lexer.expect(">")
    return _Encoding(name, fields, span)


def _read_alias(lexer: _EncodingLexer, depth: int) -> _Encoding:
    """What the definitions say of a name."""
    definitions, name = lexer.definitions, lexer.text
    found = [each for each in _DEFINITION.finditer(definitions) if each["name"] == name]
    if not found:
        raise lexer.expected("ttg or the name of a definition")
    if len(found) > 1:
        span = Span(definitions, *found[1].span("name"))
        raise lexer.error(f"{name} is defined twice", span)
    lexer.advance()
    return _read(_EncodingLexer(definitions, found[0].end(), definitions), depth + 1)


_DEFINITION: Final = re.compile(r"^[ \t]*#(?P<name>[A-Za-z_]\w*)[ \t]*=\s*(?=#)", re.MULTILINE)
"""The beginning of a definition; a module has other lines, which are not read."""


def _read_field(lexer: _EncodingLexer, encoding: str, fields: dict[str, Value], depth: int) -> None:
    """``name = value``, into the fields. A field that is not known could change the layout."""
    if lexer.kind != "word":
        raise lexer.expected("the name of a field")
    name, maker = lexer.text, _MAKERS[encoding]
    if name in fields:
        raise lexer.error(f"{name} is there twice")
    if maker.fields and name not in maker.fields:
        raise lexer.expected(f"a field of {encoding}", hint=f"one of {listed(maker.fields)}")
    lexer.advance()
    lexer.expect("=", "behind the name of a field")
    is_encoding = name == "parent" and lexer.text == "#"
    fields[name] = _read(lexer, depth + 1) if is_encoding else _read_value(lexer, 0)


def _read_value(lexer: _EncodingLexer, depth: int) -> Value:
    if lexer.text == "[":
        return _read_list(lexer, depth + 1)
    if lexer.text in {"true", "false"}:
        return lexer.advance() == "true"
    if lexer.kind != "integer":
        raise lexer.expected("an integer, a list, true or false")
    return int(lexer.advance())


def _read_list(lexer: _EncodingLexer, depth: int) -> Value:
    if depth == MAX_PARENTS:
        raise lexer.error(f"lists are nested deeper than {MAX_PARENTS}")
    lexer.expect("[")
    return lexer.separated(lambda: _read_value(lexer, depth), "]")


_RENAMED: Final = {"shared": "swizzled_shared", "mma": "nvidia_mma", "mfma": "amd_mfma"}
"""Names of older versions, which had the prefix ``triton_gpu``."""


# From fields to layouts.


def _blocked(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    names = ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order")
    size, threads, warps, order = map(encoding.numbers, names)
    return blocked(shape, size, threads, warps, order, encoding.blocks)


def _linear(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    bases: dict[str, list[list[int]]] = {}
    for name, vectors in encoding.fields.items():
        given = vectors if isinstance(vectors, list) else [vectors]
        rows = [each for each in given if isinstance(each, list)]
        if len(rows) < len(given):
            raise TextError(f"{name} of linear is no list of bases", encoding.span)
        bases[name] = [encoding.integers(name, row) for row in rows]
    return LinearLayout(bases, dimensions(shape))


def _nvidia_mma(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    warps, instruction = encoding.numbers("warpsPerCTA"), encoding.numbers("instrShape")
    version = encoding.number("versionMajor")
    return nvidia_mma(shape, version, warps, instruction, encoding.blocks)


def _amd_mfma(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    return amd_mfma(
        shape,
        encoding.numbers("warpsPerCTA"),
        encoding.numbers("instrShape"),
        is_transposed=encoding.flag("isTransposed"),
        tiles_per_warp=encoding.numbers(_TILES) if _TILES in encoding.fields else (),
        blocks=encoding.blocks,
    )


_TILES: Final = "tilesPerWarp"


def _dot_operand(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    parent = encoding.parent
    if parent.name not in {"nvidia_mma", "amd_mfma"} or _TILES in parent.fields:
        expected = f"expected nvidia_mma or amd_mfma without {_TILES} as the parent"
        raise TextError(f"dot_op: {expected}", parent.span)
    operand, width = encoding.number("opIdx"), encoding.number("kWidth")
    warps = parent.numbers("warpsPerCTA")
    if parent.name == "amd_mfma":
        instruction = parent.numbers("instrShape")
        return amd_dot_operand(shape, operand, warps, instruction, width, parent.blocks)
    version = parent.number("versionMajor")
    return dot_operand(shape, operand, warps, width, parent.blocks, version=version)


def _slice(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    dim = encoding.number("dim")
    return slice_of(encoding.parent.layout((*shape[:dim], 1, *shape[dim:])), dim)


def _swizzled_shared(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    if _LEADING in encoding.fields and encoding.flag(_LEADING):
        raise TextError(
            f"{_LEADING} of {encoding.name} is true: that is nvmma_shared", encoding.span
        )
    return swizzled_shared(
        shape,
        vec=encoding.number("vec"),
        per_phase=encoding.number("perPhase"),
        max_phase=encoding.number("maxPhase"),
        order=encoding.numbers("order"),
        blocks=encoding.blocks,
    )


_LEADING: Final = "hasLeadingOffset"
"""A field of older versions."""


def _nvmma_shared(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    return nvmma_shared(
        shape,
        swizzle_bytes=encoding.number("swizzlingByteWidth"),
        element_bits=encoding.number("elementBitWidth"),
        is_transposed=encoding.flag("transposed"),
        blocks=encoding.blocks,
    )


@dataclass(frozen=True, slots=True)
class _Maker:
    """How an encoding becomes a layout, and the fields it may have; without any, all are read."""

    make: Callable[[_Encoding, tuple[int, ...]], LinearLayout]
    fields: tuple[str, ...] = ()


_MAKERS: Final[Mapping[str, _Maker]] = {
    "blocked": _Maker(
        _blocked, ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order", *_BLOCKS)
    ),
    "linear": _Maker(_linear),
    "nvidia_mma": _Maker(
        _nvidia_mma, ("versionMajor", "versionMinor", "warpsPerCTA", "instrShape", *_BLOCKS)
    ),
    "amd_mfma": _Maker(
        _amd_mfma,
        (
            "version",
            "versionMajor",
            "versionMinor",
            "warpsPerCTA",
            "instrShape",
            "isTransposed",
            _TILES,
            *_BLOCKS,
        ),
    ),
    "dot_op": _Maker(_dot_operand, ("opIdx", "parent", "kWidth")),
    "slice": _Maker(_slice, ("dim", "parent")),
    "swizzled_shared": _Maker(
        _swizzled_shared, ("vec", "perPhase", "maxPhase", "order", _LEADING, *_BLOCKS)
    ),
    "nvmma_shared": _Maker(
        _nvmma_shared, ("swizzlingByteWidth", "transposed", "elementBitWidth", *_BLOCKS)
    ),
}
