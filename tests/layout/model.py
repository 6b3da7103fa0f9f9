"""The memory of an array as NumPy makes it: pad, reshape, transpose, ravel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from indexing.layout import COMBINE_DIMENSION

if TYPE_CHECKING:
    from indexing.layout import Shape

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

PADDING = -1


def memory_of(shape: Shape) -> Array:
    """What lies at every offset: the number of an element in row-major order, or ``PADDING``."""
    layout = shape.array_layout
    elements = np.arange(shape.element_count).reshape(shape.dimensions)
    array = elements.transpose(layout.minor_to_major[::-1])
    for tile in layout.tiles:
        array = _tiled(array, tile)
    tail = -array.size % layout.tail_padding_alignment_in_elements
    return np.pad(array.ravel(), (0, tail), constant_values=PADDING)


def _tiled(array: Array, tile: tuple[int, ...]) -> Array:
    if array.ndim == 0:
        array = array.reshape(1)
    first = array.ndim - len(tile)
    sizes, steps = list(array.shape[:first]), []
    held = 1
    for size, step in zip(array.shape[first:], tile, strict=True):
        held *= size
        if step != COMBINE_DIMENSION:
            sizes.append(held)
            steps.append(step)
            held = 1
    array = array.reshape(sizes)
    missing = [(0, -size % step) for size, step in zip(sizes[first:], steps, strict=True)]
    array = np.pad(array, [(0, 0)] * first + missing, constant_values=PADDING)
    cut = [
        part
        for size, step in zip(array.shape[first:], steps, strict=True)
        for part in (size // step, step)
    ]
    array = array.reshape(*sizes[:first], *cut)
    split = range(first, array.ndim)
    return array.transpose(*range(first), *split[::2], *split[1::2])


def index_of(number: int, shape: Shape) -> tuple[int, ...] | None:
    """The index of an element by its number in row-major order; ``None`` for padding."""
    if number == PADDING:
        return None
    return tuple(int(part) for part in np.unravel_index(number, shape.dimensions))
