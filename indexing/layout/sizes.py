"""How much memory an array takes, and how much of that is padding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

from indexing.layout.errors import ShapeError
from indexing.layout.steps import memory_size

if TYPE_CHECKING:
    from indexing.layout.shape import Shape


@dataclass(frozen=True, slots=True)
class ArraySize:
    """What :func:`array_size` counts: places for elements, and the bits that each one fills."""

    elements: int
    """Places for elements, those of padding included."""
    padding: int
    """Places that hold no element."""
    element_bits: int

    @property
    def bits(self) -> int:
        """The size in bits."""
        return self.elements * self.element_bits

    @property
    def bytes(self) -> int:
        """The size in bytes; the last one may be filled in part."""
        return -(-self.bits // 8)

    @property
    def padding_share(self) -> float:
        """The part of the memory that is padding, from 0 to 1."""
        return self.padding / self.elements if self.elements else 0.0


def array_size(shape: Shape) -> ArraySize:
    """The memory that an array takes, padding included.

    Of an array that is split between memories, the size of the largest piece: as much is kept free
    in each of them. What the layout keeps free before the elements, its
    ``dynamic_shape_metadata_prefix_bytes``, does not count.

    Raises:
        ShapeError: the shape is no array, a dimension has no bound, or the layout is sparse.

    Source:
        XLA's ``ShapeUtil::ArraySize``, which knows the first tile only.

    >>> from indexing.layout import Shape
    >>> size = array_size(Shape.parse("bf16[3,200]{1,0:T(8,128)(2,1)}"))
    >>> size.elements, size.bits, size.bytes, size.padding, size.padding_share
    (2048, 32768, 4096, 1448, 0.70703125)
    >>> array_size(Shape.parse("s4[5]{0:E(4)}")).bytes
    3
    """
    bits = shape.element_size_in_bits
    sizes = [
        ArraySize(memory, memory - piece.shape.element_count, bits)
        for piece in pieces(shape)
        for memory in [memory_size(piece.shape)]
    ]
    return max(sizes, key=lambda size: size.elements)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an array in one memory: the index of its first element, and its shape."""

    start: tuple[int, ...]
    shape: Shape


def pieces(shape: Shape) -> tuple[Piece, ...]:
    """The pieces of an array whose layout splits dimensions; the whole, if it splits none.

    Raises:
        ShapeError: the shape is no array, or a piece begins before the one that it follows or
            behind the end of its dimension.

    >>> from indexing.layout import Shape
    >>> for piece in pieces(Shape.parse("f32[100,8]{1,0:T(8,128)SC(0:64)}")):
    ...     print(piece.start, piece.shape)
    (0, 0) f32[64,8]{1,0:T(8,128)}
    (64, 0) f32[36,8]{1,0:T(8,128)}
    """
    layout = shape.array_layout
    cuts = {config.dimension: config.indices for config in layout.split_configs}
    parts = [
        _parts(size, cuts.get(place, ()), place, shape)
        for place, size in enumerate(shape.dimensions)
    ]
    whole = replace(shape, layout=replace(layout, split_configs=()))
    return tuple(
        Piece(
            tuple(start for start, _ in part),
            replace(whole, dimensions=tuple(size for _, size in part)),
        )
        for part in product(*parts)
    )


def _parts(size: int, cuts: tuple[int, ...], place: int, shape: Shape) -> list[tuple[int, int]]:
    """Where each part of a dimension starts, and its size."""
    if not cuts:
        return [(0, size)]
    ends = (0, *cuts, size)
    if any(start > stop for start, stop in pairwise(ends)):
        raise ShapeError(
            f"{shape}: dimension {place} is split at {cuts}; expected rising places up to {size}"
        )
    return [(start, stop - start) for start, stop in pairwise(ends)]
