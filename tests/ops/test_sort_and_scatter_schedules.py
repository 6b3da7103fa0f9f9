"""Sorts and scatters run thread by thread, kernel by kernel, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from indexing.layout import Shape, ShapeError
from ops import xla_gpu
from tests.cases import for_all

Array = np.ndarray[Any, np.dtype[Any]]
Index = tuple[int, ...]


# Sorts.

ALL_BYTES = 48 << 10
SORTED = [
    # an array, the dimension, and the bytes of shared memory
    ("s32[2]", 0, ALL_BYTES),
    ("s32[3]", 0, ALL_BYTES),
    ("s32[3,9]{1,0}", 1, ALL_BYTES),
    ("s32[6,5]{1,0}", 0, ALL_BYTES),
    ("s32[6,5]{0,1}", 0, ALL_BYTES),
    ("s32[2,17,3]{1,2,0}", 1, ALL_BYTES),
    # more than a tile, more than one in each row, and many tiles
    ("s32[37]", 0, 32),
    ("s32[2,70]", 1, 64),
    ("s32[128]", 0, 16),
]


def exchanged(kernel: xla_gpu.SortKernel, values: Array, dimension: int, tile: int) -> None:
    """Run a kernel: compare and exchange what its masks say, within what its threads hold."""
    lines = np.moveaxis(values, dimension, -1)
    count = lines.shape[-1]
    for mask in kernel.masks:
        assert len(kernel.masks) == 1 or mask < tile
        for line in lines.reshape(-1, count):
            for number in range(count):
                partner = number ^ mask
                if number < partner < count and line[partner] < line[number]:
                    line[[number, partner]] = line[[partner, number]]
        assert np.shares_memory(lines, values)


@for_all(SORTED)
def test_the_masks_of_the_kernels_sort(text: str, dimension: int, shared_bytes: int) -> None:
    shape = Shape.parse(text)
    schedule = xla_gpu.sort_schedule([shape], dimension, shared_bytes=shared_bytes)
    values = np.random.default_rng(7).permutation(shape.element_count)
    lines = values.reshape([s for a, s in enumerate(shape.dimensions) if a != dimension] + [-1])
    expected = np.sort(lines, axis=-1)
    for kernel in schedule.kernels:
        exchanged(kernel, lines, -1, shared_bytes // 4)
    assert np.array_equal(lines, expected)


@for_all(SORTED)
def test_threads_hold_what_they_compare(text: str, dimension: int, shared_bytes: int) -> None:
    shape = Shape.parse(text)
    for kernel in xla_gpu.sort_schedule([shape], dimension, shared_bytes=shared_bytes).kernels:
        (read,), (written,) = kernel.schedule.reads, kernel.schedule.writes
        assert read == written
        if len(kernel.masks) > 1:
            assert written.is_exactly_once()
            continue
        pairs: dict[object, list[tuple[int, ...]]] = {}
        for dims, ranges, _, element in written.map.points():
            pairs.setdefault((dims, ranges[:-1]), []).append(element)
        mask = sum(kernel.masks)  # the only one
        for low, high in pairs.values():
            assert low[dimension] ^ high[dimension] == mask
        touched = [element for pair in pairs.values() for element in pair]
        every = {*np.ndindex(*shape.dimensions)}
        step = np.eye(len(shape.dimensions), dtype=int)[dimension] * mask
        partners = {tuple((np.array(each) ^ step).tolist()) for each in every}
        assert sorted(touched) == sorted(every & partners)


@for_all(SORTED)
def test_a_block_holds_a_whole_tile(text: str, dimension: int, shared_bytes: int) -> None:
    """Elements of one line and one tile are in one block, so it can compare them."""
    shape = Shape.parse(text)
    schedule = xla_gpu.sort_schedule([shape], dimension, shared_bytes=shared_bytes)
    if len(schedule.kernels[-1].masks) == 1:
        return
    tile = schedule.launch.threads[0] * 4
    blocks: dict[tuple[int, ...], set[int]] = {}
    for dims, _, _, element in schedule.writes[0].map.points():
        line = (*element[:dimension], *element[dimension + 1 :], element[dimension] // tile)
        blocks.setdefault(line, set()).add(dims[3])
    assert all(len(each) == 1 for each in blocks.values())


# Scatters.


def shapes_of(operand: Array, indices: Array, updates: Array) -> tuple[Shape, Shape, Shape]:
    first, second, third = (f"s32{[*each.shape]}" for each in (operand, indices, updates))
    return Shape.parse(first), Shape.parse(second), Shape.parse(third)


def scattered(schedule: xla_gpu.Schedule, operand: Array, indices: Array, updates: Array) -> Array:
    """Every thread adds what it reads where the vector says that it reads."""
    result = operand.copy()
    _, vectors, read = schedule.reads
    (written,) = schedule.writes
    assert vectors is not None
    assert read is not None
    windows = {element[0] for _, _, _, element in vectors.map.points()}
    assert windows == set(range(len(indices)))
    for dims, ranges, _, element in read.map.points():
        vector = [int(number) for number in indices[element[0]]]
        if not written.map.contains(dims, ranges, vector):
            continue
        result[tuple(map(int, written.map.evaluate(dims, ranges, vector)))] += updates[element]
    return result


SCATTERED = [
    # the operand, the window, the dimensions that vectors have, and how many elements at a time
    ((10, 4), (1, 4), (0,), 1),
    ((10, 5), (2, 3), (0,), 1),
    ((10, 5), (2, 3), (1,), 1),
    ((6, 5), (1, 1), (0, 1), 1),
    ((9, 8), (2, 8), (0,), 4),
    ((9, 8), (2, 8), (1, 0), 2),
]


@for_all([(*row, windows) for row in SCATTERED for windows in (None, 1, 3)])
def test_updates_land_where_numpy_adds_them(
    sizes: Index, window: Index, dimensions: Index, unroll: int, windows_of_warp: int | None
) -> None:
    generator = np.random.default_rng(3)
    operand = generator.integers(0, 9, sizes)
    indices = generator.integers(-1, 10, (23, len(dimensions)))
    updates = generator.integers(0, 9, (23, *window))
    expected = operand.copy()
    for vector, update in zip(indices, updates, strict=True):
        starts = [0, 0]
        for dimension, start in zip(dimensions, vector, strict=True):
            starts[dimension] = int(start)
        if all(0 <= s <= n - w for s, n, w in zip(starts, sizes, window, strict=True)):
            (row, column), (height, width) = starts, window
            expected[row : row + height, column : column + width] += update
    shapes = shapes_of(operand, indices, updates)
    if windows_of_warp:
        how = {"windows_of_warp": windows_of_warp, "vector_size": unroll}
        schedule = xla_gpu.sorted_scatter_schedule(*shapes, dimensions, **how)
    else:
        launch = xla_gpu.LaunchDimensions.for_elements(updates.size, unroll=unroll)
        schedule = xla_gpu.scatter_schedule(*shapes, dimensions, launch, unroll)
    assert [read and read.is_exactly_once() for read in schedule.reads[2:]] == [True]
    assert np.array_equal(scattered(schedule, operand, indices, updates), expected)


def test_a_variadic_scatter_reads_all_updates_alike() -> None:
    shapes = shapes_of(np.zeros((8, 4)), np.zeros((5, 1)), np.zeros((5, 1, 4)))
    schedule = xla_gpu.scatter_schedule(*shapes, (0,), xla_gpu.LaunchDimensions.of(1, 20), inputs=2)
    first, second, indices, *updates = schedule.reads
    assert first is second is None
    assert indices is not None
    assert updates == [updates[0]] * 2


def test_updates_without_windows_are_refused() -> None:
    shapes = shapes_of(np.zeros((8, 4)), np.zeros((5, 1)), np.zeros(()))
    with pytest.raises(ShapeError, match="expected windows that the first dimension numbers"):
        xla_gpu.sorted_scatter_schedule(*shapes, (0,), windows_of_warp=2)
