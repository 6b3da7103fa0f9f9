"""Triton's text of encodings: ``#ttg.blocked<{sizePerThread = [1, 4], ...}>`` and its like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, Union

from indexing.errors import ShapeError
from indexing.layout.linear.encodings import (
    BlockSplit,
    amd_mfma,
    blocked,
    dot_operand,
    nvidia_mma,
    slice_of,
    swizzled_shared,
)
from indexing.layout.linear.linear_layout import LinearLayout
from simplifier.errors import TextError, check_type, listed
from simplifier.tools.lexer import ScanningLexer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simplifier.errors import Span

MAX_PARENTS: Final = 8
"""Encodings inside encodings: a slice of a slice of an operand is as deep as kernels have them."""


def parse_encoding(text: str, shape: Sequence[int]) -> LinearLayout:
    """The layout of a tensor with this encoding in Triton's intermediate representation.

    Reads ``blocked``, ``linear``, ``nvidia_mma``, ``amd_mfma``, ``dot_op``, ``slice`` and
    ``swizzled_shared``; a parent stands inside its child, not behind an alias.

    Raises:
        ArgumentError: the text is no string, or the shape holds no integers.
        TextError: the text is no such encoding or does not fit the shape, with a caret under the
            place.

    >>> layout = parse_encoding("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], "
    ...                         "warpsPerCTA = [4, 1], order = [1, 0]}>", (32, 16))
    >>> layout.bases["lane"]
    ((0, 4), (0, 8), (1, 0), (2, 0), (4, 0))
    >>> parse_encoding("#ttg.blocked<{sizePerThread = [1, 4]}>", (32, 16))
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:6: blocked lacks threadsPerWarp
    #ttg.blocked<{sizePerThread = [1, 4]}>
         ^^^^^^^
    """
    check_type(text, str, "parse_encoding: the text", "a string")
    lexer = _EncodingLexer(text)
    encoding = _read(lexer, 0)
    lexer.finish()
    return encoding.layout(tuple(shape))


Value: TypeAlias = Union[int, bool, "list[Value]", "_Encoding"]


class _EncodingLexer(ScanningLexer):
    pattern = re.compile(
        r"\s*(?:(?P<integer>[0-9]{1,18})|(?P<word>[A-Za-z_]\w*)|(?P<mark>\S)|(?P<end>\Z))"
    )


@dataclass(frozen=True, slots=True)
class _Encoding:
    """A name and its fields, with the place of the name."""

    name: str
    fields: Mapping[str, Value]
    span: Span

    def layout(self, shape: tuple[int, ...]) -> LinearLayout:
        """The layout for a shape; its errors point at the name."""
        try:
            return _MAKERS[self.name](self, shape)
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
        if not isinstance(value, int):
            raise TextError(f"{name} of {self.name} is no integer", self.span)
        return value

    def numbers(self, name: str) -> list[int]:
        """A field that is a list of integers."""
        value = self.value(name)
        if not isinstance(value, list):
            raise TextError(f"{name} of {self.name} is no list", self.span)
        found = [each for each in value if isinstance(each, int)]
        if len(found) < len(value):
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
        names = ("CTAsPerCGA", "CTASplitNum", "CTAOrder")
        return BlockSplit(*(self.numbers(each) if each in self.fields else () for each in names))


def _read(lexer: _EncodingLexer, depth: int) -> _Encoding:
    """``#ttg.name<{field = value, ...}>``; ``#triton_gpu.`` as older versions write it."""
    if depth == MAX_PARENTS:
        raise lexer.error(f"encodings are nested deeper than {MAX_PARENTS}")
    lexer.expect("#", "before an encoding")
    if lexer.text not in {"ttg", "triton_gpu"}:
        raise lexer.expected("ttg")
    lexer.advance()
    lexer.expect(".")
    span, name = lexer.span, lexer.text
    if name not in _MAKERS:
        raise lexer.expected("an encoding", hint=f"one of {listed(_MAKERS)}")
    lexer.advance()
    lexer.expect("<")
    lexer.expect("{", "before the fields")
    fields = dict(lexer.separated(lambda: _read_field(lexer, depth), "}"))
    lexer.expect(">")
    return _Encoding(name, fields, span)


def _read_field(lexer: _EncodingLexer, depth: int) -> tuple[str, Value]:
    if lexer.kind != "word":
        raise lexer.expected("the name of a field")
    name = lexer.advance()
    lexer.expect("=", "behind the name of a field")
    return name, _read_value(lexer, depth)


def _read_value(lexer: _EncodingLexer, depth: int) -> Value:
    if lexer.text == "#":
        return _read(lexer, depth + 1)
    if lexer.text == "[":
        return _read_list(lexer, depth + 1)
    if lexer.text in {"true", "false"}:
        return lexer.advance() == "true"
    if lexer.kind != "integer":
        raise lexer.expected("an integer, a list or an encoding")
    return int(lexer.advance())


def _read_list(lexer: _EncodingLexer, depth: int) -> Value:
    if depth == MAX_PARENTS:
        raise lexer.error(f"lists are nested deeper than {MAX_PARENTS}")
    lexer.expect("[")
    return lexer.separated(lambda: _read_value(lexer, depth), "]")


# From fields to layouts.


def _blocked(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    names = ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order")
    size, threads, warps, order = map(encoding.numbers, names)
    return blocked(shape, size, threads, warps, order, encoding.blocks)


def _linear(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    bases: dict[str, list[list[int]]] = {}
    for name in encoding.fields:
        vectors = encoding.value(name)
        is_list = isinstance(vectors, list)
        rows = [each for each in vectors if isinstance(each, list)] if is_list else []
        if not isinstance(vectors, list) or len(rows) < len(vectors):
            raise TextError(f"{name} of linear is no list of bases", encoding.span)
        bases[name] = [[each for each in row if isinstance(each, int)] for row in rows]
    return LinearLayout(bases, {f"dim{dim}": size for dim, size in enumerate(shape)})


def _nvidia_mma(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    warps, instruction = encoding.numbers("warpsPerCTA"), encoding.numbers("instrShape")
    version = encoding.number("versionMajor")
    return nvidia_mma(shape, version, warps, instruction, encoding.blocks)


def _amd_mfma(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    return amd_mfma(
        shape,
        encoding.numbers("warpsPerCTA"),
        encoding.numbers("instrShape"),
        is_transposed=bool(encoding.number("isTransposed")),
        blocks=encoding.blocks,
    )


def _dot_operand(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    parent = encoding.parent
    if parent.name != "nvidia_mma":
        raise TextError("dot_op: expected nvidia_mma as the parent", parent.span)
    version = parent.number("versionMajor")
    operand, width = encoding.number("opIdx"), encoding.number("kWidth")
    warps = parent.numbers("warpsPerCTA")
    return dot_operand(shape, operand, warps, width, parent.blocks, version=version)


def _slice(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    dim = encoding.number("dim")
    return slice_of(encoding.parent.layout((*shape[:dim], 1, *shape[dim:])), dim)


def _swizzled_shared(encoding: _Encoding, shape: tuple[int, ...]) -> LinearLayout:
    return swizzled_shared(
        shape,
        vec=encoding.number("vec"),
        per_phase=encoding.number("perPhase"),
        max_phase=encoding.number("maxPhase"),
        order=encoding.numbers("order"),
        blocks=encoding.blocks,
    )


_MAKERS: Final[Mapping[str, Callable[[_Encoding, tuple[int, ...]], LinearLayout]]] = {
    "blocked": _blocked,
    "linear": _linear,
    "nvidia_mma": _nvidia_mma,
    "amd_mfma": _amd_mfma,
    "dot_op": _dot_operand,
    "slice": _slice,
    "swizzled_shared": _swizzled_shared,
}
