"""The tile formats of XLA by name, and which of them XLA picks for an array on a TPU.

A vector register of a TPU holds 8 rows of 128 elements of 32 bits. Arrays with fewer rows get
smaller tiles. A second tile packs narrower elements of neighbouring rows into 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.array_shape import check_shapes
from indexing.layout.element_type import ElementType
from indexing.layout.layout import Layout
from simplifier.errors import check_type

if TYPE_CHECKING:
    from indexing.layout.shape import Shape

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
    if packing == 1:
        return TileFormat(f"TPU {rows}x{LANES}", ((rows, LANES),))
    bits = REGISTER_BITS // packing
    return TileFormat(f"TPU {bits}-bit {rows}x{LANES}", ((rows, LANES), (packing, 1)))


def _line(rows: int, packing: int) -> TileFormat:
    """Tiles for arrays of one dimension, which fill registers row by row."""
    width = rows * LANES
    if packing == 1:
        return TileFormat(f"TPU {width}", ((width,),))
    bits = REGISTER_BITS // packing
    return TileFormat(f"TPU {bits}-bit {width}", ((width,), (LANES,), (packing, 1)))


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
