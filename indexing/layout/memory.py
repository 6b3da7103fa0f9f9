"""The memory of an array: the offset of each element, the element at each offset, the size.

Indices and offsets are integers, or NumPy arrays of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from indexing.errors import ShapeError
from indexing.layout.layout import SHAPE, ArrayShape, check_shapes
from indexing.layout.maps import Index, Value, backward, forward, memory_size, memory_steps
from indexing.transform.evaluate import checked_value, least_and_greatest
from simplifier.errors import check_type, quoted
from simplifier.forms import MAX_INT64, is_array, np

_CHUNK = 1 << 14
"""Offsets that are turned into indices at a time."""


def linear_index(index: Sequence[Value], shape: ArrayShape) -> Value:
    """The offset in memory of the element at an index, counted in elements.

    Args:
        index: one integer for each dimension, or NumPy arrays that broadcast.
        shape: an array; all tiles of its layout count.

    Raises:
        ShapeError: the index has another rank or lies outside of the array; or as
            :func:`~indexing.layout.tiling_steps`.
        MapError: the index is not made of integers.

    Source:
        XLA documentation, "Tiled layout"; XLA's ``LayoutUtil::LinearIndex`` knows the first tile
        only.

    >>> from indexing.layout import Shape
    >>> linear_index((2, 3), Shape.parse("f32[3,5]{1,0:T(2,2)}"))
    17
    """
    check_shapes("linear_index", shape=shape)
    steps = memory_steps(shape)
    values = _checked_index(index, shape)
    (offset,) = forward(steps, tuple(_wide(value, shape) for value in values))
    return offset


def multi_index(offset: Value, shape: ArrayShape) -> Index | None:
    """The index of the element at an offset in memory, counted in elements.

    Args:
        offset: an integer, or a NumPy array of them.
        shape: an array; all tiles of its layout count.

    Returns:
        One integer for each dimension, or ``None`` where only padding is. For an array of offsets,
        one array for each dimension, with -1 in all of them where :func:`is_padding`.

    Raises:
        ShapeError: the offset lies outside of the memory of the array; or as
            :func:`~indexing.layout.tiling_steps`.
        MapError: the offset is no integer.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[3,5]{1,0:T(2,2)}")
    >>> multi_index(17, shape), multi_index(23, shape)
    ((2, 3), None)
    """
    check_shapes("multi_index", shape=shape)
    index, padding = _element_at(offset, shape)
    if not is_array(padding):
        return None if padding else index
    return tuple(np.where(padding, -1, values) for values in index)


def is_padding(offset: Value, shape: ArrayShape) -> Value:
    """Whether no element lies at an offset in memory; for an array of offsets, an array.

    Raises:
        ShapeError: as :func:`multi_index`.
        MapError: as :func:`multi_index`.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[3]{0:L(4)}")
    >>> [is_padding(offset, shape) for offset in range(4)]
    [False, False, False, True]
    """
    check_shapes("is_padding", shape=shape)
    return _element_at(offset, shape)[1]


def memory_order(shape: ArrayShape) -> Iterator[Index | None]:
    """The index of the element at every offset in memory, in order; ``None`` for padding.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> list(memory_order(Shape.parse("f32[2,3]{0,1}")))
    [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    >>> list(memory_order(Shape.parse("f32[3]{0:T(2)}")))
    [(0,), (1,), (2,), None]
    """
    check_shapes("memory_order", shape=shape)
    total = memory_size(shape)
    for start in range(0, total, _CHUNK):
        offsets = np.arange(start, min(start + _CHUNK, total))
        index, padding = _element_at(offsets, shape)
        columns = (np.broadcast_to(values, offsets.shape).tolist() for values in index)
        rows = zip(*columns, strict=True) if index else [()] * len(offsets)
        for row, is_none in zip(rows, padding.tolist(), strict=True):
            yield None if is_none else row


def _element_at(offset: Value, shape: ArrayShape) -> tuple[Index, Value]:
    """The index of the element at an offset, and whether there is padding instead."""
    steps = memory_steps(shape)
    offset = checked_value(offset, "multi_index: the offset")
    _check_within(offset, memory_size(shape), "multi_index: the offset", shape)
    index, limits = backward(steps, (_wide(offset, shape),))
    padding = offset < 0  # false everywhere: an offset is within the memory
    for value, size in limits:
        padding = padding | (value >= size)
    return index, padding


def _checked_index(index: Sequence[Value], shape: ArrayShape) -> Index:
    expected = f"expected {shape.rank}, one for each dimension of {shape}"
    if getattr(index, "ndim", 1) == 0 or not hasattr(index, "__len__"):
        raise ShapeError(f"linear_index: the index is {quoted(index)}, no sequence; {expected}")
    if len(index) != shape.rank:
        raise ShapeError(f"linear_index: the index has {len(index)} entries; {expected}")
    values = tuple(checked_value(value, "linear_index: the index") for value in index)
    for axis, (value, size) in enumerate(zip(values, shape.dimensions, strict=True)):
        _check_within(value, size, f"linear_index: the index of dimension {axis}", shape)
    return values


def _check_within(value: Value, size: int, what: str, shape: ArrayShape) -> None:
    low, high = least_and_greatest(value)
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise ShapeError(f"{what} is {wrong}; expected 0 to {size - 1}, in {shape}")


def _wide(value: Value, shape: ArrayShape) -> Value:
    """An array whose integers hold every offset; 64 bits are enough for almost every shape."""
    if not is_array(value):
        return value
    return value.astype("int64" if memory_size(shape) <= MAX_INT64 else object, copy=False)


# Sizes.


@dataclass(frozen=True, slots=True)
class ArraySize:
    """The memory of an array: how many elements it holds, and how many bits each of them fills."""

    elements: int
    """Elements, with those of padding."""
    padding: int
    """Elements of padding."""
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
        """The share of the memory that is padding, from 0 to 1."""
        return self.padding / self.elements if self.elements else 0.0


def array_size(shape: ArrayShape) -> ArraySize:
    """The memory that an array takes, with its padding.

    An array that is split between memories takes the size of its largest piece in each of them.
    The bytes that the layout keeps free before the elements
    (``dynamic_shape_metadata_prefix_bytes``) do not count.

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
    check_type(shape, ArrayShape, "array_size: the shape", SHAPE)
    largest = max((piece.shape for piece in pieces(shape)), key=memory_size)
    places = memory_size(largest)
    return ArraySize(places, places - largest.element_count, shape.element_size_in_bits)


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of an array in one memory: the index of its first element, and its shape."""

    start: tuple[int, ...]
    shape: ArrayShape


def pieces(shape: ArrayShape) -> tuple[Piece, ...]:
    """The pieces of an array whose layout splits dimensions; the whole, if it splits none.

    Raises:
        ShapeError: the shape is no array, or a piece begins before the previous one or behind the
            end of its dimension.

    >>> from indexing.layout import Shape
    >>> for piece in pieces(Shape.parse("f32[100,8]{1,0:T(8,128)SC(0:64)}")):
    ...     print(piece.start, piece.shape)
    (0, 0) f32[64,8]{1,0:T(8,128)}
    (64, 0) f32[36,8]{1,0:T(8,128)}
    >>> [piece.start for piece in pieces(Shape.parse("f32[100,8]{0,1:SC(0:4)}"))]
    [(0, 0), (0, 4)]
    """
    check_shapes("pieces", shape=shape)
    layout = shape.array_layout
    if not layout.split_configs:
        return (Piece((0,) * shape.rank, shape),)
    in_memory = layout.major_to_minor
    cuts = {in_memory[config.dimension]: config.indices for config in layout.split_configs}
    parts = [
        _parts(size, cuts.get(axis, ()), axis, shape) for axis, size in enumerate(shape.dimensions)
    ]
    whole = replace(shape, layout=replace(layout, split_configs=()))
    return tuple(
        Piece(
            tuple(start for start, _ in part),
            replace(whole, dimensions=tuple(size for _, size in part)),
        )
        for part in product(*parts)
    )


def _parts(size: int, cuts: tuple[int, ...], axis: int, shape: ArrayShape) -> list[tuple[int, int]]:
    """The start and the size of each part of a dimension."""
    if not cuts:
        return [(0, size)]
    ends = (0, *cuts, size)
    if any(start > stop for start, stop in pairwise(ends)):
        expected = f"expected rising positions up to {size}"
        raise ShapeError(f"{shape}: dimension {axis} is split at {cuts}; {expected}")
    return [(start, stop - start) for start, stop in pairwise(ends)]
