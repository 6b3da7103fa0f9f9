"""Triton's text of encodings: `#ttg.blocked<{sizePerThread = [1, 4], ...}>` and its like."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, Union

from indexing.errors import ShapeError
from indexing.layout.linear.encodings import (
    BlockSplit,
    amd_dot_operand,
    amd_mfma,
    amd_wmma,
    blocked,
    dot_operand,
    nvidia_mma,
    nvmma_shared,
    slice_of,
    swizzled_shared,
    tensor_memory,
    wmma_dot_operand,
)
from indexing.layout.linear.layout import LayoutLexer, LinearLayout, dimension_names
from simplifier.errors import Span, TextError, check_integers, check_type, listed

MAX_PARENTS: Final = 8
"""Encodings inside encodings: a slice of a slice of an operand is as deep as kernels have them."""


def parse_encoding(text: str, shape: Sequence[int], definitions: str = "") -> LinearLayout:
    """The layout of a tensor with this encoding in Triton's intermediate representation.

    Reads ``blocked``, ``linear``, ``nvidia_mma``, ``amd_mfma``, ``amd_wmma``, ``dot_op``,
    ``slice``, ``swizzled_shared``, ``nvmma_shared`` and ``tensor_memory_encoding``. The text may be
    an alias such as ``#mma``, or name some; ``definitions`` is the module, or the part of it, that
    defines them.

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


class _EncodingLexer(LayoutLexer):
    __slots__ = ("definitions",)

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
        maker = _MAKERS[self.name]
        if self.fields.get("hasLeadingOffset") is True:
            message = f"hasLeadingOffset of {self.name} is true: that is nvmma_shared"
            raise TextError(message, self.span)
        try:
            if not maker.fields:
                return maker.make(shape, self)
            return maker.make(shape, **self.arguments(maker.fields))
        except ShapeError as error:
            raise TextError(str(error), self.span) from None

    def arguments(self, names: Sequence[str]) -> dict[str, Any]:
        """The arguments that some fields are, without those that may be missing and are."""
        given = [name for name in names if name in self.fields or name not in _OPTIONAL]
        found: dict[str, Any] = {_FIELDS[name][0]: self._value(name) for name in given}
        if _BLOCKS[0] in names:
            found["blocks"] = BlockSplit(*(found.pop(each, ()) for each in _BLOCKS))
        return found

    def _value(self, name: str) -> Value:
        """A field that must be there, and of its kind."""
        if name not in self.fields:
            raise TextError(f"{self.name} lacks {name}", self.span)
        value, (_, kind) = self.fields[name], _FIELDS[name]
        if type(value) is not kind:
            raise TextError(f"{name} of {self.name} {_OF_OTHER_KIND[kind]}", self.span)
        return self.integers(name, value) if isinstance(value, list) else value

    def integers(self, name: str, values: list[Value]) -> list[Value]:
        """The values of a list, which must be integers."""
        if any(type(each) is not int for each in values):
            raise TextError(f"{name} of {self.name} is no list of integers", self.span)
        return values


_OF_OTHER_KIND: Final[Mapping[type, str]] = {
    int: "is no integer",
    bool: "is neither true nor false",
    list: "is no list",
    _Encoding: "is no encoding",
}


def _read(lexer: _EncodingLexer, depth: int) -> _Encoding:
    """``#ttg.name<{field = value, ...}>``, with ``#triton_gpu.`` in older versions, or an alias."""
    if depth == MAX_PARENTS:
        raise lexer.error(f"encodings are nested deeper than {MAX_PARENTS}")
    lexer.expect("#", "before an encoding")
    if lexer.text not in _PREFIXES:
        return _read_alias(lexer, depth)
    lexer.advance()
    lexer.expect(".")
    span, name = lexer.span, _RENAMED.get(lexer.text, lexer.text)
    if name not in _MAKERS:
        raise lexer.expected("an encoding", hint=f"one of {listed(_MAKERS)}")
    lexer.advance()
    lexer.expect("<")
    is_bare = name == "tensor_memory"
    if not is_bare:
        lexer.expect("{", "before the fields")
    fields: dict[str, Value] = {}
    lexer.separated(lambda: _read_field(lexer, name, fields, depth), ">" if is_bare else "}")
    if not is_bare:
        lexer.expect(">")
    return _Encoding(name, fields, span)


_PREFIXES: Final = ("ttg", "triton_gpu", "ttng", "triton_nvidia_gpu")
"""The dialects, by their names and those of older versions."""


def _read_alias(lexer: _EncodingLexer, depth: int) -> _Encoding:
    """Read the encoding that the definitions give a name."""
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
    known = (*maker.ignored, *maker.fields)
    if name in fields:
        raise lexer.error(f"{name} is there twice")
    if known and name not in known:
        raise lexer.expected(f"a field of {encoding}", hint=f"one of {listed(known)}")
    lexer.advance()
    lexer.expect("=", "behind the name of a field")
    is_encoding = name == "parent" and lexer.text == "#"
    fields[name] = _read(lexer, depth + 1) if is_encoding else _read_value(lexer, 0)


def _read_value(lexer: _EncodingLexer, depth: int) -> Value:
    if lexer.text == "[":
        if depth + 1 == MAX_PARENTS:
            raise lexer.error(f"lists are nested deeper than {MAX_PARENTS}")
        lexer.advance()
        return [*lexer.separated(lambda: _read_value(lexer, depth + 1), "]")]
    if lexer.text in {"true", "false"}:
        return lexer.advance() == "true"
    return lexer.integer("an integer, a list, true or false")


_RENAMED: Final = {
    "shared": "swizzled_shared",
    "mma": "nvidia_mma",
    "mfma": "amd_mfma",
    "wmma": "amd_wmma",
    "tensor_memory_encoding": "tensor_memory",
}
"""Names of older versions, which had the prefix ``triton_gpu``."""


# From fields to layouts.

_BLOCKS: Final = ("CTAsPerCGA", "CTASplitNum", "CTAOrder")
"""The arguments of a :class:`BlockSplit`; nothing is said of one block."""

_FIELDS: Final[Mapping[str, tuple[str, type]]] = {
    **{name: (name, list) for name in _BLOCKS},
    "sizePerThread": ("size_per_thread", list),
    "threadsPerWarp": ("threads_per_warp", list),
    "warpsPerCTA": ("warps_per_cta", list),
    "order": ("order", list),
    "versionMajor": ("version", int),
    "instrShape": ("instr_shape", list),
    "isTransposed": ("is_transposed", bool),
    "tilesPerWarp": ("tiles_per_warp", list),
    "opIdx": ("operand", int),
    "kWidth": ("k_width", int),
    "parent": ("parent", _Encoding),
    "dim": ("dim", int),
    "vec": ("vec", int),
    "perPhase": ("per_phase", int),
    "maxPhase": ("max_phase", int),
    "swizzlingByteWidth": ("swizzle_bytes", int),
    "transposed": ("is_transposed", bool),
    "elementBitWidth": ("element_bits", int),
    "version": ("version", int),
    "isTranspose": ("is_transposed", bool),
    "blockM": ("block_m", int),
    "blockN": ("block_n", int),
    "colStride": ("col_stride", int),
}
"""The argument that each field is, and the kind of its value."""

_OPTIONAL: Final = (*_BLOCKS, "tilesPerWarp", "isTranspose", "colStride")


def _linear(shape: tuple[int, ...], encoding: _Encoding) -> LinearLayout:
    bases: dict[str, list[list[Any]]] = {}
    for name, vectors in encoding.fields.items():
        given = vectors if isinstance(vectors, list) else [vectors]
        rows = [each for each in given if isinstance(each, list)]
        if len(rows) < len(given):
            raise TextError(f"{name} of linear is no list of bases", encoding.span)
        bases[name] = [encoding.integers(name, row) for row in rows]
    sizes = dict(zip(dimension_names(len(shape)), shape, strict=True))
    return LinearLayout(bases, sizes)


def _slice(shape: tuple[int, ...], dim: int, parent: _Encoding) -> LinearLayout:
    return slice_of(parent.layout((*shape[:dim], 1, *shape[dim:])), dim)


def _dot_operand(
    shape: tuple[int, ...], operand: int, parent: _Encoding, k_width: int
) -> LinearLayout:
    if parent.name not in _OPERANDS or "tilesPerWarp" in parent.fields:
        expected = f"expected one of {listed(_OPERANDS)}, without tilesPerWarp, as the parent"
        raise TextError(f"dot_op: {expected}", parent.span)
    make, fields = _OPERANDS[parent.name]
    return make(shape, operand, k_width=k_width, **parent.arguments(fields))


_OPERANDS: Final[Mapping[str, tuple[Callable[..., LinearLayout], tuple[str, ...]]]] = {
    "nvidia_mma": (dot_operand, ("warpsPerCTA", "versionMajor", *_BLOCKS)),
    "amd_mfma": (amd_dot_operand, ("warpsPerCTA", "instrShape", *_BLOCKS)),
    "amd_wmma": (wmma_dot_operand, ("version", "warpsPerCTA", *_BLOCKS)),
}
"""The layout of an operand of each instruction, and the fields of the instruction that it needs."""


class _Maker(NamedTuple):
    """The function of a shape and of fields that an encoding is.

    Without any fields, it is one of the whole encoding. Those that are ``ignored`` change nothing.
    """

    make: Callable[..., LinearLayout]
    fields: tuple[str, ...]
    ignored: tuple[str, ...] = ()


_MAKERS: Final[Mapping[str, _Maker]] = {
    "blocked": _Maker(
        blocked, ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order", *_BLOCKS)
    ),
    "linear": _Maker(_linear, ()),
    "nvidia_mma": _Maker(
        nvidia_mma, ("versionMajor", "warpsPerCTA", "instrShape", *_BLOCKS), ("versionMinor",)
    ),
    "amd_mfma": _Maker(
        amd_mfma,
        ("warpsPerCTA", "instrShape", "isTransposed", "tilesPerWarp", *_BLOCKS),
        ("version", "versionMajor", "versionMinor"),
    ),
    "amd_wmma": _Maker(amd_wmma, ("version", "warpsPerCTA", "isTranspose", *_BLOCKS)),
    "tensor_memory": _Maker(tensor_memory, ("blockM", "blockN", "colStride")),
    "dot_op": _Maker(_dot_operand, ("opIdx", "parent", "kWidth")),
    "slice": _Maker(_slice, ("dim", "parent")),
    "swizzled_shared": _Maker(
        swizzled_shared, ("vec", "perPhase", "maxPhase", "order", *_BLOCKS), ("hasLeadingOffset",)
    ),
    "nvmma_shared": _Maker(
        nvmma_shared, ("swizzlingByteWidth", "transposed", "elementBitWidth", *_BLOCKS)
    ),
}
