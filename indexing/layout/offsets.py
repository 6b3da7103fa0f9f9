"""Where in memory an element lies, and which element lies there: one index, or arrays of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.layout.errors import ShapeError
from indexing.layout.steps import backward, forward, memory_size, memory_steps
from indexing.transform.evaluate import LARGEST, checked_value, is_array
from simplifier.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing.layout.shape import Shape
    from indexing.layout.steps import Index, Value

_CHUNK = 1 << 14
"""Offsets that are turned into indices at a time."""


def linear_index(index: Sequence[Value], shape: Shape) -> Value:
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
    steps = memory_steps(shape)
    values = _checked_index(index, shape)
    (offset,) = forward(steps, tuple(_wide(value, shape) for value in values))
    return offset


def multi_index(offset: Value, shape: Shape) -> Index | None:
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
    index, padding = _element_at(offset, shape)
    if not is_array(padding):
        return None if padding else index
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    return tuple(np.where(padding, -1, values) for values in index)


def is_padding(offset: Value, shape: Shape) -> Value:
    """Whether no element lies at an offset in memory; for an array of offsets, an array.

    Raises:
        ShapeError: as :func:`multi_index`.
        MapError: as :func:`multi_index`.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[3]{0:L(4)}")
    >>> [is_padding(offset, shape) for offset in range(4)]
    [False, False, False, True]
    """
    return _element_at(offset, shape)[1]


def memory_order(shape: Shape) -> Iterator[Index | None]:
    """What lies at every offset in memory, in order: the index of an element, or ``None``.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> list(memory_order(Shape.parse("f32[2,3]{0,1}")))
    [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    >>> list(memory_order(Shape.parse("f32[3]{0:T(2)}")))
    [(0,), (1,), (2,), None]
    """
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    total = memory_size(shape)
    for start in range(0, total, _CHUNK):
        offsets = np.arange(start, min(start + _CHUNK, total))
        index, padding = _element_at(offsets, shape)
        columns = (np.broadcast_to(values, offsets.shape).tolist() for values in index)
        rows = zip(*columns, strict=True) if index else [()] * len(offsets)
        for row, is_none in zip(rows, padding.tolist(), strict=True):
            yield None if is_none else row


def _element_at(offset: Value, shape: Shape) -> tuple[Index, Value]:
    """The index of what lies at an offset, and whether that is padding."""
    steps = memory_steps(shape)
    offset = checked_value(offset, "multi_index: the offset")
    _check_within(offset, memory_size(shape), "multi_index: the offset", shape)
    index, limits = backward(steps, (_wide(offset, shape),))
    padding = offset < 0  # nowhere: an offset is within the memory
    for value, size in limits:
        padding = padding | (value >= size)
    return index, padding


def _checked_index(index: Sequence[Value], shape: Shape) -> Index:
    expected = f"expected {shape.rank}, one for each dimension of {shape}"
    if not hasattr(index, "__len__"):
        raise ShapeError(f"linear_index: the index is {quoted(index)}, no sequence; {expected}")
    if len(index) != shape.rank:
        raise ShapeError(f"linear_index: the index has {len(index)} entries; {expected}")
    values = tuple(checked_value(value, "linear_index: the index") for value in index)
    for place, (value, size) in enumerate(zip(values, shape.dimensions, strict=True)):
        _check_within(value, size, f"linear_index: the index of dimension {place}", shape)
    return values


def _check_within(value: Value, size: int, what: str, shape: Shape) -> None:
    if not is_array(value):
        low = high = value
    elif value.size:
        low, high = value.min(), value.max()
    else:
        return
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise ShapeError(f"{what} is {wrong}; expected 0 to {size - 1}, in {shape}")


def _wide(value: Value, shape: Shape) -> Value:
    """An array that no offset overflows; 64 bits are enough for almost every shape."""
    if not is_array(value):
        return value
    return value.astype("int64" if memory_size(shape) <= LARGEST else object, copy=False)
