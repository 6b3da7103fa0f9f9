"""Tilings of CuTe: divides split a layout into tiles, products repeat it over another.

Source: CuTe's documentation (NVIDIA/cutlass, media/docs/cpp/cute/02_layout_algebra.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.cute.cute_layout import CuteLayout
from indexing.layout.cute.layout_algebra import (
    Tiler,
    by_tiler,
    coalesce,
    complement,
    composition,
)
from simplifier.errors import check_type

if TYPE_CHECKING:
    from collections.abc import Callable


def logical_divide(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """Two modes for each that is divided: the tile, and the layout of the tiles.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: as :func:`~indexing.layout.cute.composition` and
            :func:`~indexing.layout.cute.complement`.

    >>> from indexing.layout.cute import parse
    >>> print(logical_divide(parse("(4,2,3):(2,1,8)"), parse("4:2")))
    ((2,2),(2,3)):((4,1),(2,8))
    """
    return by_tiler("logical_divide", _divided, layout, tiler)


def _divided(layout: CuteLayout, tile: CuteLayout) -> CuteLayout:
    return composition(layout, CuteLayout.of_modes([tile, complement(tile, layout.size)]))


def zipped_divide(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """The divided layout in two modes: all tiles, and all rests.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: as :func:`logical_divide`.

    >>> from indexing.layout.cute import parse
    >>> print(zipped_divide(parse("(9,(4,8)):(59,(13,1))"), (parse("3:3"), parse("(2,4):(1,8)"))))
    ((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))
    """
    return _zipped("zipped_divide", logical_divide, layout, tiler)


def tiled_divide(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """The divided layout with all tiles in the first mode and each rest in one of its own.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: as :func:`logical_divide`.

    >>> from indexing.layout.cute import parse
    >>> print(tiled_divide(parse("(8,16):(16,1)"), (4, 8)))
    ((4,8),2,2):((16,1),64,8)
    """
    tile, rest = zipped_divide(layout, tiler).modes
    return CuteLayout.of_modes([tile, *rest.modes])


def flat_divide(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """The divided layout with each tile and each rest in a mode of its own.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: as :func:`logical_divide`.

    >>> from indexing.layout.cute import parse
    >>> print(flat_divide(parse("(8,16):(16,1)"), (4, 8)))
    (4,8,2,2):(16,1,64,8)
    """
    tile, rest = zipped_divide(layout, tiler).modes
    return CuteLayout.of_modes([*tile.modes, *rest.modes])


def logical_product(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """Two modes: the layout, and its repetitions in the order of the tiler.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: as :func:`~indexing.layout.cute.composition` and
            :func:`~indexing.layout.cute.complement`.

    >>> from indexing.layout.cute import parse
    >>> print(logical_product(parse("(2,2):(4,1)"), parse("6:1")))
    ((2,2),(2,3)):((4,1),(2,8))
    """
    return by_tiler("logical_product", _multiplied, layout, tiler)


def _multiplied(layout: CuteLayout, tiler: CuteLayout) -> CuteLayout:
    free = complement(layout, layout.size * tiler.cosize)
    return CuteLayout.of_modes([layout, composition(free, tiler)])


def zipped_product(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """The product in two modes: all parts of the layout, and all repetitions.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(zipped_product(parse("(2,5):(5,1)"), (parse("3:5"), parse("4:6"))))
    ((2,5),(3,4)):((5,1),(10,30))
    """
    return _zipped("zipped_product", logical_product, layout, tiler)


def tiled_product(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """The product with the layout in the first mode and each repetition in one of its own.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(tiled_product(parse("(2,2):(4,1)"), parse("6:1")))
    ((2,2),2,3):((4,1),2,8)
    """
    tile, rest = zipped_product(layout, tiler).modes
    return CuteLayout.of_modes([tile, *rest.modes])


def flat_product(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """The product with each part of the layout and each repetition in a mode of its own.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(flat_product(parse("(2,2):(4,1)"), parse("6:1")))
    (2,2,2,3):(4,1,2,8)
    """
    tile, rest = zipped_product(layout, tiler).modes
    return CuteLayout.of_modes([*tile.modes, *rest.modes])


def blocked_product(block: CuteLayout, tiler: CuteLayout) -> CuteLayout:
    """A block repeated over a tiler, mode by mode: in each mode, the block counts fastest.

    Raises:
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(blocked_product(parse("(2,5):(5,1)"), parse("(3,4):(1,3)")))
    (6,(5,4)):(5,(1,30))
    """
    return _reassociated("blocked_product", block, tiler, first=0)


def raked_product(block: CuteLayout, tiler: CuteLayout) -> CuteLayout:
    """A block interleaved with a tiler, mode by mode: in each mode, the tiler counts fastest.

    Raises:
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(raked_product(parse("(2,5):(5,1)"), parse("(3,4):(1,3)")))
    ((3,2),(4,5)):((10,5),(30,1))
    """
    return _reassociated("raked_product", block, tiler, first=1)


def _zipped(
    name: str, split: Callable[[CuteLayout, Tiler], CuteLayout], layout: CuteLayout, tiler: Tiler
) -> CuteLayout:
    """The two modes of each part of a tiler, all first ones together and all second ones."""
    check_type(layout, CuteLayout, f"{name}: the layout", "a CuteLayout")
    if tiler is None:
        return CuteLayout.of_modes([CuteLayout(1, 0), layout])
    if not isinstance(tiler, tuple):
        return split(layout, tiler)
    modes = layout.modes
    if not 0 < len(tiler) <= len(modes):
        expected = f"expected 1 to {len(modes)}, as many as {layout} has"
        raise ShapeError(f"{name}: {len(tiler)} parts for the modes; {expected}")
    pairs = [_zipped(name, split, *pair).modes for pair in zip(modes, tiler, strict=False)]
    tiles, rests = zip(*pairs, strict=True)
    rest = CuteLayout.of_modes([*rests, *modes[len(tiler) :]])
    return CuteLayout.of_modes([CuteLayout.of_modes(tiles), rest])


def _reassociated(name: str, block: CuteLayout, tiler: CuteLayout, first: int) -> CuteLayout:
    check_type(block, CuteLayout, f"{name}: the block", "a CuteLayout")
    check_type(tiler, CuteLayout, f"{name}: the tiler", "a CuteLayout")
    rank = max(block.rank, tiler.rank)
    both = logical_product(_of_rank(block, rank), _of_rank(tiler, rank)).modes
    pairs = zip(both[first].modes, both[1 - first].modes, strict=True)
    return coalesce(CuteLayout.of_modes(map(CuteLayout.of_modes, pairs)), (1,) * rank)


def _of_rank(layout: CuteLayout, rank: int) -> CuteLayout:
    """A layout with modes 1:0 behind its own."""
    modes = layout.modes
    return CuteLayout.of_modes([*modes, *[CuteLayout(1, 0)] * (rank - len(modes))])
