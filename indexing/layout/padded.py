"""The older form of padding: dimensions that are padded to a width, with a value in the padding.

Before there were tiles, a layout had ``padded_dimensions`` and a ``padding_value``. A padded array
lies in memory like a larger one. Today that is a layout with one tile as large as the larger array.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.layout import Layout
from indexing.layout.memory import memory_order
from simplifier.errors import check_integers
from simplifier.tools.lexer import ScanningLexer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing.layout.shape import Shape
    from indexing.layout.steps import Value


class PaddingValue(enum.Enum):
    """The value of padding."""

    INVALID_PAD = "nothing that is known"
    ZERO_PAD = "zero"
    ONE_PAD = "one"
    LOWEST_PAD = "the lowest value of the element type"
    HIGHEST_PAD = "the highest value of the element type"
    UNKNOWN_PAD = "one value that is not known"


@dataclass(frozen=True, slots=True)
class PaddedLayout:
    """An order of dimensions, the widths that they are padded to, and the value of the padding.

    There is one entry of ``padded_dimensions`` for each dimension, or none.

    Raises:
        ShapeError: a width has no dimension, or the order is no permutation.

    Source: XLA's ``LayoutProto`` before tiles; fields 1 to 3.

    >>> from indexing.layout import Shape
    >>> old = PaddedLayout.parse('''
    ...     minor_to_major: [0, 1]
    ...     padded_dimensions: [3, 5]
    ...     padding_value: ZERO_PAD
    ... ''')
    >>> shape = old.applied_to(Shape.parse("f32[2,3]"))
    >>> print(shape)
    f32[2,3]{0,1:T(5,3)}
    >>> values = {(0, 0): "a", (0, 1): "b", (0, 2): "c", (1, 0): "d", (1, 1): "e", (1, 2): "f"}
    >>> print(*old.in_memory(values, shape, padding="0"))
    a d 0 b e 0 c f 0 0 0 0 0 0 0
    """

    minor_to_major: tuple[int, ...]
    padded_dimensions: tuple[int, ...] = ()
    padding_value: PaddingValue = PaddingValue.INVALID_PAD

    def __post_init__(self) -> None:
        check_integers(self.minor_to_major, "PaddedLayout: minor_to_major")
        check_integers(self.padded_dimensions, "PaddedLayout: padded_dimensions")
        rank = len(self.minor_to_major)
        Layout(self.minor_to_major).check_fits(rank)
        if self.padded_dimensions and len(self.padded_dimensions) != rank:
            raise ShapeError(
                f"padded_dimensions has {len(self.padded_dimensions)} entries; "
                f"expected {rank}, one for each dimension"
            )

    @classmethod
    def parse(cls, text: str) -> PaddedLayout:
        """The layout from protocol buffer text: ``minor_to_major: 0 minor_to_major: 1 ...``.

        Raises:
            TextError: the text is not of that form, or names another field.
            ShapeError: as :class:`PaddedLayout`.
        """
        fields: dict[str, list[str]] = {name: [] for name in _READABLE}
        for name, values in _fields(text):
            fields[name] += values
        order, widths, padding = fields.values()
        return cls(
            tuple(map(int, order)),
            tuple(map(int, widths)),
            PaddingValue[padding[-1]] if padding else PaddingValue.INVALID_PAD,
        )

    def applied_to(self, shape: Shape) -> Shape:
        """The array with this layout as XLA writes it today, with one tile.

        Raises:
            ShapeError: the shape has another rank, or a dimension is wider than padded.
        """
        if len(self.minor_to_major) != shape.rank:
            raise ShapeError(f"{shape} has {shape.rank} dimensions; expected as many as {self}")
        widths = self.padded_dimensions
        for axis, (size, width) in enumerate(zip(shape.dimensions, widths, strict=bool(widths))):
            if size > width:
                raise ShapeError(
                    f"dimension {axis} has size {size} and is padded to {width}; "
                    f"expected a size up to {width}"
                )
        tile = tuple(max(widths[axis], 1) for axis in self.minor_to_major[::-1]) if widths else ()
        return shape.with_layout(Layout(self.minor_to_major, tiles=(tile,) if tile else ()))

    def in_memory(self, values: Value, shape: Shape, padding: Value) -> Iterator[Value]:
        """The elements in the order of memory, with ``padding`` between them.

        Args:
            values: an array, or any object whose items are the elements by index.
            shape: its shape, of any layout.
            padding: what ``padding_value`` is in the type of the elements.

        Raises:
            ShapeError: as :meth:`applied_to`.
        """
        for index in memory_order(self.applied_to(shape)):
            yield padding if index is None else values[index]

    def __str__(self) -> str:
        order, widths = (
            f"[{', '.join(map(str, numbers))}]"
            for numbers in (self.minor_to_major, self.padded_dimensions)
        )
        written = (order, widths, self.padding_value.name)
        return " ".join(f"{name}: {value}" for name, value in zip(_READABLE, written, strict=True))


_NUMBER = "[0-9]{1,19}"

_READABLE = {
    "minor_to_major": _NUMBER,
    "padded_dimensions": _NUMBER,
    "padding_value": "|".join(PaddingValue.__members__),
}
"""The fields in the order of their numbers, and the pattern of one value."""


class _FieldLexer(ScanningLexer):
    pattern = re.compile(r"\s*(?:(?P<word>\w+)|(?P<end>\Z)|(?P<mark>.))", re.ASCII | re.DOTALL)


def _fields(text: str) -> Iterator[tuple[str, list[str]]]:
    """The fields of a message in protocol buffer text with their values, in order."""
    lexer = _FieldLexer(text)
    while lexer.text:
        if lexer.text not in _READABLE:
            raise lexer.expected("a field of a layout", f"known are {', '.join(_READABLE)}")
        name = lexer.advance()
        lexer.expect(":", f"after {name}")
        read = partial(_value, lexer, name)
        yield name, lexer.separated(read, "]") if lexer.accept("[") else [read()]


def _value(lexer: _FieldLexer, name: str) -> str:
    if not re.fullmatch(_READABLE[name], lexer.text):
        raise lexer.expected(f"a {name}")
    return lexer.advance()
