"""Kernels as plain loops: what each thread of a launch touches, round by round, and in what order.

Nothing here comes from maps. A touch is the coordinates of a thread and the index of an element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from indexing import IndexingMap
from indexing.layout import Shape
from ops.xla_gpu import Access, LaunchDimensions, Schedule, TransposeSchedule

Index: TypeAlias = tuple[int, ...]
Touch: TypeAlias = tuple[Index, Index]
Touches: TypeAlias = Counter[Touch]
Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


def touches(found: IndexingMap) -> Touches:
    """How often each thread touches each element, by the map."""
    return Counter((dims, results) for dims, _, _, results in found.points())


def in_memory_order(shape: Shape) -> list[Index]:
    order = shape.array_layout.minor_to_major[::-1]
    indices: list[Index] = []
    for place in np.ndindex(*(shape.dimensions[number] for number in order)):
        at = dict(zip(order, place, strict=True))
        indices.append(tuple(at[number] for number in range(shape.rank)))
    return indices


def loop_kernel(shape: Shape, launch: LaunchDimensions, unroll: int) -> Iterator[Touch]:
    """A grid-stride loop over the elements in the order of memory."""
    elements = in_memory_order(shape)
    pairs = zip(launch.threads, launch.blocks, strict=True)
    width, height, depth = (threads * blocks for threads, blocks in pairs)
    for coordinates in product(*map(range, launch.grid)):
        threads, blocks = coordinates[:3], coordinates[3:]
        along = zip(threads, blocks, launch.threads, strict=True)
        x, y, z = (block * size + thread for thread, block, size in along)
        start = ((z * height + y) * width + x) * unroll
        while start < len(elements):
            for element in elements[start : start + unroll]:
                yield coordinates, element
            start += width * height * depth * unroll


def transpose_kernel(sizes: Index, rows: int, vector_size: int) -> tuple[Touches, Touches]:
    """Reads of ``[batch, n, m, inner]`` and writes of ``[batch, m, n, inner]``, tile by tile.

    With ``inner`` above 1, a vector is all of it, otherwise ``vector_size`` neighbours along m.
    """
    batch, height, width, inner = sizes
    side = 32 if inner > 1 else 32 * vector_size
    down, across = -(-height // side), -(-width // side)
    reads, writes = Touches(), Touches()
    for block, thread in product(range(batch * down * across), range(32 * rows)):
        coordinates = (thread, 0, 0, block, 0, 0)
        number, tile_column = divmod(block, across)
        image, tile_row = divmod(number, down)
        for first, item in product(range(0, side, rows), range(max(inner, vector_size))):
            row, column, part = thread // 32 + first, thread % 32, item
            if inner == 1:
                column, part = column * vector_size + item, 0
            if row >= side:
                continue
            read = (image, tile_row * side + row, tile_column * side + column, part)
            written = (image, tile_column * side + row, tile_row * side + column, part)
            if read[1] < height and read[2] < width:
                reads[coordinates, read] += 1
            if written[1] < width and written[2] < height:
                writes[coordinates, written] += 1
    return reads, writes


def transposed(schedule: TransposeSchedule, operand: Array, result: Array) -> Array:
    """The result that the blocks write, each through its tile in shared memory."""
    (read,), (written,) = schedule.reads, schedule.writes
    assert read is not None
    tiles: dict[tuple[Index, Index], Any] = {}
    for (dims, _, _, element), cell in _along(read.map, schedule.shared.written):
        key = (dims[3:], cell)
        assert key not in tiles, "two threads write one place in shared memory"
        assert all(0 <= part < size for part, size in zip(cell, schedule.shared.sizes, strict=True))
        tiles[key] = operand[element]
    for (dims, _, _, element), cell in _along(written.map, schedule.shared.read):
        result[element] = tiles[dims[3:], cell]
    return result


def most_threads_on_a_bank(places: IndexingMap, sizes: Index, elements_of_word: int) -> int:
    """How many threads of a warp want different words of one bank of shared memory, at most.

    The tile lies in it row by row, word after word over 32 banks.
    """
    words: dict[tuple[object, ...], set[int]] = {}
    for dims, ranges, _, cell in places.points():
        offset = 0
        for part, size in zip(cell, sizes, strict=True):
            offset = offset * size + part
        word = offset // elements_of_word
        words.setdefault((dims[0] // 32, dims[1:], ranges, word % 32), set()).add(word)
    return max(map(len, words.values()))


def _along(main: IndexingMap, other: IndexingMap) -> Iterator[tuple[Any, Index]]:
    """The points of a map, each with the results of another map there."""
    for point in main.points():
        dims, ranges, _, _ = point
        assert other.contains(dims, ranges)
        yield point, tuple(int(part) for part in other.evaluate(dims, ranges))


def reduced(schedule: Schedule, operand: Array, result: Array) -> Array:
    """The sums that blocks write: each block adds up what its threads read for each kept element.

    ``result`` also says which dimensions are kept: its axes of size 1 are folded.
    """
    read = schedule.reads[0]
    assert read is not None
    sums: Counter[tuple[Index, Index]] = Counter()
    for dims, _, _, element in read.map.points():
        kept = tuple(part for part, size in zip(element, result.shape, strict=True) if size != 1)
        sums[dims[3:], kept] += int(operand[element])
    (written,) = schedule.writes
    flat = result.reshape([size for size in result.shape if size != 1])
    for dims, _, _, element in written.map.points():
        flat[element] = sums[dims[3:], element]
    return result


def moved(reads: Iterable[tuple[Access, Array]], writes: Iterable[Access], result: Array) -> Array:
    """The result when each thread writes what it has read, in the same round of its loops."""
    for (read, operand), written in zip(reads, writes, strict=True):
        for dims, ranges, _, element in read.map.points():
            place = tuple(int(part) for part in written.map.evaluate(dims, ranges))
            result[place] = operand[element]
    return result


def numbered(shape: Shape) -> Array:
    """An array of which each element tells its place."""
    return np.arange(prod(shape.dimensions)).reshape(shape.dimensions)
