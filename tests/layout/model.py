"""The memory of an array as NumPy makes it: pad, reshape, transpose, ravel."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from indexing.layout import COMBINE_DIMENSION, Shape

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
    array = array.reshape((1,) * (len(tile) - array.ndim) + array.shape)
    first = array.ndim - len(tile)
    array = array.reshape(*array.shape[:first], *_combined(array.shape[first:], tile))
    steps = [step for step in tile if step != COMBINE_DIMENSION]
    missing = [-size % step for size, step in zip(array.shape[first:], steps, strict=True)]
    widths = [(0, width) for width in [0] * first + missing]
    array = np.pad(array, widths, constant_values=PADDING)
    cut = zip(array.shape[first:], steps, strict=True)
    parts = [part for size, step in cut for part in (size // step, step)]
    array = array.reshape(*array.shape[:first], *parts)
    split = range(first, array.ndim)
    return array.transpose(*range(first), *split[::2], *split[1::2])


def _combined(sizes: tuple[int, ...], tile: tuple[int, ...]) -> list[int]:
    """The sizes after every dimension under ``*`` has gone into the next one."""
    combined: list[int] = []
    held = 1
    for size, step in zip(sizes, tile, strict=True):
        held *= size
        if step != COMBINE_DIMENSION:
            combined.append(held)
            held = 1
    return combined


def index_of(number: int, shape: Shape) -> tuple[int, ...] | None:
    """The index of an element by its number in row-major order; ``None`` for padding."""
    if number == PADDING:
        return None
    return tuple(int(part) for part in np.unravel_index(number, shape.dimensions))


def wavefronts(starts: list[int], bytes_at_once: int) -> int:
    """The words of the busiest of 32 banks, over the parts of a warp that 128 bytes allow."""
    part = 32 * 4 // max(4, bytes_at_once)
    total = 0
    for first in range(0, 32, part):
        words = {
            byte // 4
            for start in starts[first : first + part]
            for byte in range(start // bytes_at_once * bytes_at_once, start + bytes_at_once)
        }
        total += int(np.bincount([word % 32 for word in words]).max())
    return total
