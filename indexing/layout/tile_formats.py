"""The tile formats of XLA by name, and which of them XLA picks for an array on a TPU.

A vector register of a TPU holds 8 rows of 128 elements of 32 bits. Arrays with fewer rows get
smaller tiles. A second tile packs narrower elements of neighbouring rows into 32 bits.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from indexing.errors import ShapeError
from indexing.layout.layout import ElementType, Layout, check_shapes
from indexing.layout.maps import Value, memory_order
from indexing.layout.shape import Shape
from simplifier.errors import check_integers, check_type
from simplifier.tools.lexer import ScanningLexer

ROWS, LANES, REGISTER_BITS = 8, 128, 32
"""A register: its rows, the elements of a row, and the bits of an element."""


@dataclass(frozen=True, slots=True)
class TileFormat:
    """The name of tiles that are used often."""

    name: str
    tiles: tuple[tuple[int, ...], ...] = ()


UNTILED = TileFormat("untiled")
"""Row after row, as in C: the format of most arrays that are not on a TPU."""

PACKINGS = (1, 2, 4, 8, 16, 32)
"""The number of elements of a column in 32 bits, for elements of 32, 16, 8, 4, 2 or 1 bits."""


def _plane(rows: int, packing: int) -> TileFormat:
    """Tiles for arrays of two or more dimensions."""
    return _format(packing, (rows, LANES))


def _line(rows: int, packing: int) -> TileFormat:
    """Tiles for arrays of one dimension, which fill registers row by row."""
    return _format(packing, (rows * LANES,), (LANES,))


def _format(packing: int, tile: tuple[int, ...], *rows: tuple[int, ...]) -> TileFormat:
    size, bits = "x".join(map(str, tile)), REGISTER_BITS // packing
    if packing == 1:
        return TileFormat(f"TPU {size}", (tile,))
    return TileFormat(f"TPU {bits}-bit {size}", (tile, *rows, (packing, 1)))


def _possible(packing: int) -> list[int]:
    """The numbers of rows that a tile may have, so that no row is packed in part."""
    return [rows for rows in (1, 2, 4, 8, 16, 32) if packing <= rows <= max(packing, ROWS)]


FORMATS = (
    UNTILED,
    *(_plane(rows, packing) for packing in PACKINGS for rows in _possible(packing)),
    *(_line(rows, packing) for packing in PACKINGS for rows in _possible(packing)),
)
"""All formats with a name.

Those that XLA's documentation lists are ``untiled``, ``TPU 8x128``, the small ``TPU 2x128`` and
``TPU 4x128``, ``TPU 16-bit 8x128``, ``TPU 8-bit 8x128`` and ``TPU 1-bit 32x128``.
"""

PLATFORMS = ("cpu", "gpu", "tpu")


def tile_format(shape: Shape, platform: str = "tpu") -> TileFormat:
    """The format that XLA picks for an array, from its element type and its size in memory order.

    On a TPU a tile has as many rows as the second most minor dimension, rounded up to a power of
    two, at most 8 and at least as many as are packed. A predicate fills a byte unless the layout
    says ``E(1)``. Other platforms use no tiles.

    Raises:
        ShapeError: the shape is no array, a dimension has no bound, or XLA has no such platform.

    Source:
        XLA documentation, "Tiled layout"; modules that XLA compiled for TPUs. For a single row the
        documentation has 2x128, XLA today 1x128.

    >>> from indexing.layout import Shape
    >>> for text in "f32[64,512]", "f32[3,512]", "bf16[64,512]", "s8[64,512]", "f32[512,1]{0,1}":
    ...     chosen = tile_format(Shape.parse(text))
    ...     print(chosen.name, chosen.tiles)
    TPU 8x128 ((8, 128),)
    TPU 4x128 ((4, 128),)
    TPU 16-bit 8x128 ((8, 128), (2, 1))
    TPU 8-bit 8x128 ((8, 128), (4, 1))
    TPU 1x128 ((1, 128),)
    >>> tile_format(Shape.parse("f32[64,512]"), "gpu").name
    'untiled'
    """
    check_shapes("tile_format", shape=shape)
    if platform not in PLATFORMS:
        raise ShapeError(f"tile_format: no platform {platform!r}; expected one of {PLATFORMS}")
    layout = shape.array_layout
    if shape.is_unbounded:
        raise ShapeError(f"tile_format: {shape} has a dimension without bound; expected one")
    if platform != "tpu":
        return UNTILED
    packing = max(1, REGISTER_BITS // _packed_bits(shape))
    if not shape.dimensions:
        return _line(packing, 1)
    if shape.rank == 1:
        return _line(_rows(-(-shape.dimensions[0] // LANES), packing), packing)
    return _plane(_rows(shape.dimensions[layout.minor_to_major[1]], packing), packing)


def tpu_shape(shape: Shape) -> Shape:
    """The array with the tiles that XLA gives it on a TPU; elements of less than a byte packed.

    Raises:
        ShapeError: as :func:`tile_format`.

    >>> from indexing.layout import Shape
    >>> print(tpu_shape(Shape.parse("bf16[2,500]{1,0:S(1)}")), tpu_shape(Shape.parse("s4[8,16]")))
    bf16[2,500]{1,0:T(2,128)(2,1)S(1)} s4[8,16]{1,0:T(8,128)(8,1)E(4)}
    """
    check_shapes("tpu_shape", shape=shape)
    bits = _packed_bits(shape)
    packed = bits if bits < ElementType.U8.bits else 0
    tiles = tile_format(shape).tiles
    layout = replace(shape.array_layout, tiles=tiles, element_size_in_bits=packed)
    return shape.with_layout(layout)


def format_of(layout: Layout) -> TileFormat | None:
    """The format with the tiles of a layout, if any.

    >>> from indexing.layout import Layout
    >>> format_of(Layout((1, 0), tiles=((2, 128),)))
    TileFormat(name='TPU 2x128', tiles=((2, 128),))
    """
    check_type(layout, Layout, "format_of: the layout", "a Layout")
    return next((known for known in FORMATS if known.tiles == layout.tiles), None)


def _packed_bits(shape: Shape) -> int:
    """Bits of an element in a register: those of its type, a whole byte for a predicate."""
    if shape.element_type is ElementType.PRED:
        return shape.element_size_in_bits
    return shape.array_layout.element_size_in_bits or shape.element_type.bits


def _rows(count: int, packing: int) -> int:
    """The rows of a tile for an array with so many rows."""
    power_of_two = 1 << max(0, count - 1).bit_length()
    return max(packing, min(ROWS, power_of_two))


# The older form of padding: dimensions that are padded to a width, with a value in the padding.
#
# Before there were tiles, a layout had `padded_dimensions` and a `padding_value`. A padded array
# lies in memory like a larger one. Today that is a layout with one tile as large as the larger
# array.


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
            entries = f"padded_dimensions has {len(self.padded_dimensions)} entries"
            raise ShapeError(f"{entries}; expected {rank}, one for each dimension")

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
                padded = f"dimension {axis} has size {size} and is padded to {width}"
                raise ShapeError(f"{padded}; expected a size up to {width}")
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
        order, widths = [*map(int, self.minor_to_major)], [*map(int, self.padded_dimensions)]
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


def _fields(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The fields of a message in protocol buffer text with their values, in order."""
    lexer = _FieldLexer(text)
    while lexer.text:
        known = f"known are {', '.join(_READABLE)}"
        name = lexer.one_of(_READABLE, "a field of a layout", known)
        lexer.expect(":", f"after {name}")
        read = partial(_value, lexer, name)
        yield name, lexer.separated(read, "]") if lexer.accept("[") else (read(),)


def _value(lexer: _FieldLexer, name: str) -> str:
    if not re.fullmatch(_READABLE[name], lexer.text):
        raise lexer.expected(f"a {name}")
    return lexer.advance()
