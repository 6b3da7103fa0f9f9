"""Schedules of transposes through shared memory: of whole elements, or of several in a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from indexing import IndexingMap
from indexing.layout import Shape, ShapeError, Transpose
from indexing.passes import Constraint
from ops.index_maps import check_count, check_sizes, checked_dimensions
from ops.xla_gpu.launch import (
    WARP_SIZE,
    Access,
    LaunchDimensions,
    Schedule,
    block_number,
    check_positive,
    in_array,
    loop_id,
    step_count,
    thread_id,
    unflattened,
    within,
)
from simplifier import forms
from simplifier.forms import Form

# The transpose schedule: blocks bring tiles into shared memory row by row, and write columns.

TILE_SIZE: Final = 32
"""Elements along each side of a tile: one for each bank of shared memory."""

ROWS_OF_BLOCK: Final = 8
"""Rows of a tile that a block moves at a time, with a thread for each column."""


@dataclass(frozen=True, slots=True)
class SharedTile:
    """A tile in shared memory, through which the threads of a block exchange elements.

    Attributes:
        sizes: its dimensions. Unless rows are shifted, one dimension is padded, so that no two
            elements of a column lie in one bank.
        written: from a thread to the index where it puts the element that it reads.
        read: from a thread to the index where it takes the element that it writes.
    """

    sizes: tuple[int, ...]
    written: IndexingMap
    read: IndexingMap


@dataclass(frozen=True, slots=True)
class TransposeSchedule(Schedule):
    """A :class:`Schedule` in which every element goes through a tile in shared memory."""

    shared: SharedTile


def transpose_schedule(
    operand: Shape,
    result: Shape,
    dimensions: Sequence[int],
    *,
    rows: int = ROWS_OF_BLOCK,
    vector_size: int = 1,
    most_blocks: int | None = None,
) -> TransposeSchedule:
    """Transposes tiles of 32 by 32 elements through shared memory, one for each block.

    The tile spans the last dimension of the operand in memory and that of the result, so that
    neighbouring threads read and write neighbours. Dimensions that stay neighbours count as one.
    With vectors, both sides of a tile are ``vector_size`` times longer, and a thread moves
    ``vector_size`` neighbours at a time. If the last dimension stays the last, all of it is one
    vector, and tiles span the dimension before it.

    Shapes:
        operand, result: as of a transpose by ``dimensions``. Their layouts matter, so a copy to
        another layout has a schedule, too.
        launch: ``32 * rows`` threads a block; a block for each tile, in x and y if there are
        more than ``most_blocks``.

    Source:
        XLA's transpose emitter.

    Raises:
        ShapeError: the shapes are not those of a transpose, or the order of the elements in memory
            does not change.

    >>> from indexing.layout import Shape
    >>> schedule = transpose_schedule(
    ...     Shape.parse("f32[100,32,64]"), Shape.parse("f32[100,64,32]"), (0, 2, 1)
    ... )
    >>> print(schedule.writes[0].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[loop_id, vector_id] ->
    (bl_x floordiv 2, (bl_x mod 2) * 32 + loop_id * 8 + th_x floordiv 32, th_x mod 32),
    domain: th_x in [0, 255], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 199], bl_y in [0, 0],
    bl_z in [0, 0], loop_id in [0, 3], vector_id in [0, 0]
    >>> schedule.shared.sizes, schedule.writes_exactly_once()
    ((1, 32, 33), True)
    """
    check_positive("transpose", "rows", rows)
    check_positive("transpose", "vector_size", vector_size)
    sizes, order = merged_in_memory(operand, result, dimensions)
    if len(order) < 2:  # noqa: PLR2004 - nothing is moved
        message = f"transpose: {operand} and {result} lie in memory in one order"
        raise ShapeError(f"{message}; expected a transposed one")
    tiling = _Tiling.of(sizes, order, rows, vector_size)
    return _scheduled(tiling, operand, result, TILE_SIZE * rows, most_blocks)


def _scheduled(
    tiling: _Tiling | _Packing, operand: Shape, result: Shape, threads: int, most_blocks: int | None
) -> TransposeSchedule:
    """The schedule of blocks of so many threads, one for each tile."""
    launch = LaunchDimensions.of(prod(tiling.tile_counts), threads, most_blocks=most_blocks)
    read, written = tiling.read(launch, operand), tiling.written(launch, result)
    return TransposeSchedule(launch, (read,), (written,), tiling.shared(launch))


def merged_in_memory(
    operand: Shape, result: Shape, dimensions: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the operand and their order in the result, with as few dimensions as possible.

    Dimensions of size 1 are left out; dimensions that stay neighbours are merged.
    """
    checked = checked_dimensions("transpose", "dimensions", dimensions, operand.rank)
    check_count("transpose", "dimensions", checked, operand.rank)
    moved = [operand.dimensions[source] for source in checked]
    check_sizes("transpose", "the result", result.dimensions, moved, "as in the operand")
    before = [axis for axis in operand.array_layout.major_to_minor if operand.dimensions[axis] != 1]
    after = [checked[axis] for axis in result.array_layout.major_to_minor]
    order = [before.index(axis) for axis in after if axis in before]
    sizes = [operand.dimensions[axis] for axis in before]
    return _merged(sizes, order)


def _merged(sizes: Sequence[int], order: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Merge each run of dimensions that stay neighbours.

    >>> _merged((2, 3, 5, 7), (2, 3, 0, 1))
    ((6, 35), (1, 0))
    """
    runs: list[list[int]] = []
    for axis in order:
        if runs and runs[-1][-1] + 1 == axis:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    in_order = sorted(runs)
    merged = tuple(prod(sizes[axis] for axis in run) for run in in_order)
    return merged, tuple(map(in_order.index, runs))


@dataclass(frozen=True, slots=True)
class _Tiling:
    """Tiles of the dimensions of the operand, and the walk of threads through one.

    ``sizes`` are the sizes of the operand, ``tile`` those of a tile, both with their order in the
    result.
    """

    sizes: Transpose
    tile: Transpose
    rows: int
    vector_size: int

    @classmethod
    def of(
        cls, sizes: tuple[int, ...], order: tuple[int, ...], rows: int, vector_size: int
    ) -> _Tiling:
        """Tiles along the dimensions that are the last ones of operand and result."""
        last = len(order) - 1
        tile = [1] * len(order)
        if order[last] == last:
            tile[last] = vector_size = max(1, sizes[last])
            tile[last - 1] = tile[order[last - 1]] = TILE_SIZE
        else:
            tile[last] = tile[order[last]] = TILE_SIZE * vector_size
        return cls(Transpose.of(sizes, order), Transpose.of(tuple(tile), order), rows, vector_size)

    @property
    def tile_counts(self) -> tuple[int, ...]:
        """The number of tiles along each dimension of the operand."""
        pairs = zip(self.sizes.sizes_before, self.tile.sizes_before, strict=True)
        return tuple(step_count(size, step) for size, step in pairs)

    @property
    def ranges(self) -> dict[str, int]:
        """The loops of a thread: along a tile, and along a vector."""
        return {
            "loop_id": -(-prod(self.tile.sizes) // self.at_a_time),
            "vector_id": self.vector_size,
        }

    @property
    def at_a_time(self) -> int:
        """The number of elements that all threads of a block move in one iteration."""
        return TILE_SIZE * self.rows * self.vector_size

    @property
    def number(self) -> Form:
        """The number of the element of a tile that a thread moves, in reading and in writing."""
        return loop_id(0) * self.at_a_time + thread_id() * self.vector_size + loop_id(1)

    def tiles(self, launch: LaunchDimensions) -> tuple[Form, ...]:
        """The index of the tile of the operand that a block moves."""
        return unflattened(block_number(launch), self.tile_counts)

    def read(self, launch: LaunchDimensions, operand: Shape) -> Access:
        """Reads of the operand by a thread."""
        sizes, tile = self.sizes.sizes_before, self.tile.sizes_before
        index = _element(self.tiles(launch), tile, unflattened(self.number, tile))
        return self._access(launch, operand, sizes, index)

    def written(self, launch: LaunchDimensions, result: Shape) -> Access:
        """Writes of the result by a thread."""
        sizes, tile = self.sizes.sizes, self.tile.sizes
        tiles = self.sizes.forward(self.tiles(launch))
        return self._access(
            launch, result, sizes, _element(tiles, tile, unflattened(self.number, tile))
        )

    def shared(self, launch: LaunchDimensions) -> SharedTile:
        """The tile in shared memory, with its dimensions in the order of the result."""
        written = self.tile.forward(unflattened(self.number, self.tile.sizes_before))
        read = unflattened(self.number, self.tile.sizes)
        padded = len(self.tile.sizes) - 1
        if self.tile.order[padded] == padded:
            padded -= 1
        sizes = tuple(size + (axis == padded) for axis, size in enumerate(self.tile.sizes))
        return SharedTile(sizes, self._map(launch, written), self._map(launch, read))

    def _access(
        self, launch: LaunchDimensions, shape: Shape, sizes: Sequence[int], index: Sequence[Form]
    ) -> Access:
        found = in_array(shape, sizes, index)
        return Access(self._map(launch, found, within(sizes, index)), shape)

    def _map(
        self,
        launch: LaunchDimensions,
        results: Sequence[Form],
        limits: Sequence[Constraint] = (),
    ) -> IndexingMap:
        inside = within((prod(self.tile.sizes),), (self.number,))
        return launch.map(results, self.ranges, [*inside, *limits]).simplify(preserve_ranges=True)


def _element(tiles: Sequence[Form], sizes: Sequence[int], within: Sequence[Form]) -> list[Form]:
    """The index of an element from the index of its tile and its index in the tile."""
    return [tile * size + own for tile, size, own in zip(tiles, sizes, within, strict=True)]


# The packed transpose schedule: a word of shared memory holds several narrow elements.

BANKS: Final = 32
"""Words of shared memory that can be accessed at the same time."""

BITS_OF_BANK: Final = 32

WARPS_OF_BLOCK: Final = 4


def packed_transpose_schedule(
    operand: Shape,
    result: Shape,
    dimensions: Sequence[int],
    *,
    warps: int = WARPS_OF_BLOCK,
    most_blocks: int | None = None,
) -> TransposeSchedule:
    """Transposes narrow elements through shared memory, several in a word.

    A block moves a tile whose rows are one word of each bank wide, and which has as many rows as a
    row has elements. A warp reads rows of the operand, a word each thread, and puts them into
    shared memory. Then each thread takes a square of elements out, one word wide, and writes its
    columns. Row ``i`` of words is shifted by ``i`` words, so that neither rows nor columns lie in
    one bank. If the last dimension of the operand does not fill a row, the dimension before it
    continues the row.

    Shapes:
        operand, result: as of :func:`transpose_schedule`, with elements of less than 32 bits.
        launch: ``32 * warps`` threads a block; a block for each tile, in x and y if there are
            more than ``most_blocks``.

    Source:
        XLA's packed transpose emitter.

    Raises:
        ShapeError: as :func:`transpose_schedule`; elements have 32 bits or more, or the last
            dimension in memory stays the last.

    >>> from indexing.layout import Shape
    >>> schedule = packed_transpose_schedule(
    ...     Shape.parse("bf16[128,64]"), Shape.parse("bf16[64,128]"), (1, 0)
    ... )
    >>> print(schedule.writes[0].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[loop_id, column_id, row_id] ->
    ((th_x floordiv 32) * 2 + loop_id * 8 + column_id, (th_x mod 32) * 2 + bl_x * 64 + row_id),
    domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 1], bl_y in [0, 0],
    bl_z in [0, 0], loop_id in [0, 7], column_id in [0, 1], row_id in [0, 1]
    >>> schedule.shared.sizes, schedule.writes_exactly_once()
    ((64, 64), True)
    """
    check_positive("transpose", "warps", warps)
    sizes, order = merged_in_memory(operand, result, dimensions)
    vector_size = BITS_OF_BANK // operand.element_size_in_bits
    if vector_size < 2:  # noqa: PLR2004 - several to a word
        message = f"transpose: elements of {operand} have {operand.element_size_in_bits} bits"
        raise ShapeError(f"{message}; expected less than {BITS_OF_BANK}, to pack them")
    if not order or order[-1] == len(order) - 1:
        message = f"transpose: the last dimension in memory of {operand} stays the last"
        raise ShapeError(f"{message}; expected another, to pack elements along both")
    tiling = _Packing(sizes, order, vector_size, warps)
    return _scheduled(tiling, operand, result, WARP_SIZE * warps, most_blocks)


FEWEST_WORDS: Final = 10
"""Words along either side of a tile that make packing worth while."""


def is_packable(sizes: tuple[int, ...], order: tuple[int, ...], array: Shape) -> bool:
    """Whether XLA takes this schedule for a transpose of these merged dimensions.

    >>> from indexing.layout import Shape
    >>> is_packable((64, 128), (1, 0), Shape.parse("bf16[128,64]"))
    True
    >>> is_packable((64, 16), (1, 0), Shape.parse("bf16[16,64]"))
    False
    """
    vector_size = BITS_OF_BANK // array.element_size_in_bits
    if vector_size < 2 or not order or order[-1] == len(order) - 1:  # noqa: PLR2004 - several to a word
        return False
    tiling = _Packing(sizes, order, vector_size, WARPS_OF_BLOCK)
    rows, columns = tiling.extents
    left = sizes[tiling.rows] % rows if rows else 0
    is_whole = not any(count % vector_size for count in (rows, columns, left))
    return is_whole and min(rows, columns) >= FEWEST_WORDS * vector_size


@dataclass(frozen=True, slots=True)
class _TileIndex:
    """The row and column of a thread in a tile, and the loops that it runs."""

    row: Form
    column: Form
    loops: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Packing:
    """Tiles of the dimensions of the operand; ``order`` is theirs in the result."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    vector_size: int
    warps: int

    @property
    def side(self) -> int:
        """The largest number of elements along either side of a tile."""
        return BANKS * self.vector_size

    @property
    def rows(self) -> int:
        """The dimension of the operand along which the rows of a tile are numbered."""
        return self.order[-1]

    @property
    def tile(self) -> tuple[int, ...]:
        """The sizes of a tile along the dimensions of the operand."""
        last = len(self.sizes) - 1
        tile = [1] * len(self.sizes)
        tile[last] = min(self.sizes[last], self.side)
        if self.rows != last - 1:
            tile[last - 1] = min(self.sizes[last - 1], self.side // max(1, tile[last]))
        tile[self.rows] = min(self.sizes[self.rows], self.side)
        return tuple(tile)

    @property
    def extents(self) -> tuple[int, int]:
        """Number of rows and columns of a tile in use."""
        rows = self.tile[self.rows]
        return rows, prod(self.tile) // max(1, rows)

    @property
    def tile_counts(self) -> tuple[int, ...]:
        """The number of tiles along each dimension of the result."""
        pairs = [(self.sizes[axis], self.tile[axis]) for axis in self.order]
        return tuple(step_count(size, max(1, step)) for size, step in pairs)

    @property
    def reading(self) -> _TileIndex:
        """Index that a thread reads: a warp a row at a time, a lane a word."""
        lane, warp = _lane_and_warp()
        row = loop_id(0) * self.warps + warp
        loops = {"loop_id": -(-self.extents[0] // self.warps), "vector_id": self.vector_size}
        return _TileIndex(row, lane * self.vector_size + loop_id(1), loops)

    @property
    def writing(self) -> _TileIndex:
        """Index that a thread writes: a warp a column of words at a time, a lane a square."""
        lane, warp = _lane_and_warp()
        column = (loop_id(0) * self.warps + warp) * self.vector_size + loop_id(1)
        loops = {
            "loop_id": -(-self.extents[1] // (self.vector_size * self.warps)),
            "column_id": self.vector_size,
            "row_id": self.vector_size,
        }
        return _TileIndex(lane * self.vector_size + loop_id(2), column, loops)

    def read(self, launch: LaunchDimensions, operand: Shape) -> Access:
        """Reads of the operand by a thread."""
        index = self._index(launch, self.reading)
        return self._access(launch, self.reading, operand, self.sizes, index)

    def written(self, launch: LaunchDimensions, result: Shape) -> Access:
        """Writes of the result by a thread."""
        to_result = Transpose.of(self.sizes, self.order)
        index = to_result.forward(self._index(launch, self.writing))
        return self._access(launch, self.writing, result, to_result.sizes, index)

    def shared(self, launch: LaunchDimensions) -> SharedTile:
        """The tile in shared memory, with its rows shifted."""
        written, read = (
            self._map(launch, cell, (cell.row, self._shifted(cell)), [])
            for cell in (self.reading, self.writing)
        )
        return SharedTile((self.side, self.side), written, read)

    def _shifted(self, cell: _TileIndex) -> Form:
        word = forms.floordiv(cell.row, forms.constant(self.vector_size))
        shifted = cell.column + word * self.vector_size
        return forms.mod(shifted, forms.constant(self.side))

    def _index(self, launch: LaunchDimensions, cell: _TileIndex) -> tuple[Form, ...]:
        """The index in the operand of a row and column of the block's tile."""
        tiles = Transpose.of(self.sizes, self.order).backward(
            unflattened(block_number(launch), self.tile_counts)
        )
        flat = [1 if axis == self.rows else size for axis, size in enumerate(self.tile)]
        within_tile = list(unflattened(cell.column, flat))
        within_tile[self.rows] = cell.row
        return tuple(
            tile * size + own for tile, size, own in zip(tiles, self.tile, within_tile, strict=True)
        )

    def _access(
        self,
        launch: LaunchDimensions,
        cell: _TileIndex,
        shape: Shape,
        sizes: Sequence[int],
        index: Sequence[Form],
    ) -> Access:
        limits = within(sizes, index)
        return Access(self._map(launch, cell, in_array(shape, sizes, index), limits), shape)

    def _map(
        self,
        launch: LaunchDimensions,
        cell: _TileIndex,
        results: Sequence[Form],
        limits: Sequence[Constraint],
    ) -> IndexingMap:
        inside = within(self.extents, (cell.row, cell.column))
        return launch.map(results, cell.loops, [*inside, *limits]).simplify(preserve_ranges=True)


def _lane_and_warp() -> tuple[Form, Form]:
    """The number of a thread in its warp, and that of the warp."""
    warp = forms.constant(WARP_SIZE)
    return forms.mod(thread_id(), warp), forms.floordiv(thread_id(), warp)
