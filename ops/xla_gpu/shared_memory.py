"""Schedules whose threads exchange elements in shared memory: of transposes and reductions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap
from indexing.layout import Shape, ShapeError, Transpose, delete_dimensions
from indexing.passes import Constraint
from ops.hlo import Instruction
from ops.index_maps import check_count, check_sizes, checked_dimensions
from ops.xla_gpu.schedule import (
    WARP_SIZE,
    Access,
    LaunchDimensions,
    Schedule,
    access_of,
    block_id,
    block_number,
    check_positive,
    loop_id,
    step_count,
    thread_id,
    unflattened,
    within,
)
from simplifier.errors import naming_wrong_arguments
from simplifier.forms import Form, Interval

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


@naming_wrong_arguments
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
    array = merged_in_memory(operand, result, dimensions)
    if array.changes_nothing:
        message = f"transpose: {operand} and {result} lie in memory in one order"
        raise ShapeError(f"{message}; expected a transposed one")
    tiling = _tiled(array, rows, vector_size)
    return _scheduled(tiling, operand, result, TILE_SIZE * rows, most_blocks)


@naming_wrong_arguments
def permutation_of(instruction: Instruction) -> tuple[int, ...]:
    """The dimensions of a transpose; those of a copy stay, and only its layout changes."""
    if instruction.opcode == "copy":
        return tuple(range(instruction.shape.rank))
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    return dimensions


def transpose_in_memory(hero: Instruction) -> Transpose:
    """The transpose that a hero is in memory."""
    return merged_in_memory(hero.operands[0].shape, hero.shape, permutation_of(hero))


def merged_in_memory(operand: Shape, result: Shape, dimensions: Sequence[int]) -> Transpose:
    """The transpose of the memory of the operand, with as few dimensions as possible.

    Dimensions of size 1 are left out; dimensions that stay neighbours are merged.
    """
    checked = checked_dimensions("transpose", "dimensions", dimensions, operand.rank)
    check_count("transpose", "dimensions", checked, operand.rank)
    moved = [operand.dimensions[source] for source in checked]
    check_sizes("transpose", "the result", result.dimensions, moved, "as in the operand")
    before = [axis for axis in operand.array_layout.major_to_minor if operand.dimensions[axis] != 1]
    after = [checked[axis] for axis in result.array_layout.major_to_minor]
    order = [before.index(axis) for axis in after if axis in before]
    return _merged([operand.dimensions[axis] for axis in before], order)


def _merged(sizes: Sequence[int], order: Sequence[int]) -> Transpose:
    """Merge each run of dimensions that stay neighbours.

    >>> print(_merged((2, 3, 5, 7), (2, 3, 0, 1)))
    transpose (6,35) to (35,6)
    """
    runs: list[list[int]] = []
    for axis in order:
        if runs and runs[-1][-1] + 1 == axis:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    in_order = sorted(runs)
    merged = tuple(prod(sizes[axis] for axis in run) for run in in_order)
    return Transpose.of(merged, tuple(map(in_order.index, runs)))


def keeps_last(array: Transpose) -> bool:
    """Whether the last dimension stays the last, or there is none."""
    return array.order[-1:] == (len(array.order) - 1,) or not array.order


class _MovedElement(NamedTuple):
    """An element of a tile that a thread moves.

    Attributes:
        element: its index in the tile, along the dimensions of the operand.
        shared: where it is in shared memory.
        loops: those that the thread runs.
        limits: what holds if there is such an element.
    """

    element: Sequence[Form]
    shared: Sequence[Form]
    loops: Mapping[str, int]
    limits: Sequence[Constraint]


class _Tiling(NamedTuple):
    """Tiles of the dimensions of the operand, and the walk of threads through one.

    Attributes:
        array: the sizes of the operand, and their order in the result.
        tile: the sizes of a tile along the dimensions of the operand.
        shared: the sizes of a tile in shared memory.
        read: what a thread reads, and puts into shared memory.
        written: what it takes from there, and writes.
        is_by_result: whether tiles are numbered in the order of the result.
    """

    array: Transpose
    tile: tuple[int, ...]
    shared: tuple[int, ...]
    read: _MovedElement
    written: _MovedElement
    is_by_result: bool = False


def _scheduled(
    tiling: _Tiling, operand: Shape, result: Shape, threads: int, most_blocks: int | None
) -> TransposeSchedule:
    """The schedule of blocks of so many threads, one for each tile."""
    array, read, written = tiling.array, tiling.read, tiling.written
    pairs = zip(array.sizes_before, tiling.tile, strict=True)
    counts = [step_count(size, max(1, step)) for size, step in pairs]
    if tiling.is_by_result:
        counts = [counts[axis] for axis in array.order]
    launch = LaunchDimensions.of(prod(counts), threads, most_blocks=most_blocks)
    block = unflattened(block_number(launch), counts)
    tiles = array.backward(block) if tiling.is_by_result else block
    there, here = (
        [at * size + own for at, size, own in zip(tiles, tiling.tile, each.element, strict=True)]
        for each in (read, written)
    )
    reads = access_of(launch, operand, array.sizes_before, there, read.loops, read.limits)
    moved = array.forward(tuple(here))
    writes = access_of(launch, result, array.sizes, moved, written.loops, written.limits)
    shared = (launch.map(each.shared, each.loops, each.limits) for each in (read, written))
    return TransposeSchedule(launch, (reads,), (writes,), SharedTile(tiling.shared, *shared))


def _tiled(array: Transpose, rows: int, vector_size: int) -> _Tiling:
    """Tiles along the dimensions that are the last ones of operand and result.

    In reading and in writing, threads are numbered in the order of memory.
    """
    order, last = array.order, len(array.order) - 1
    tile = [1] * len(order)
    padded = last
    if keeps_last(array):
        tile[last] = vector_size = max(1, array.sizes_before[last])
        tile[last - 1] = tile[order[last - 1]] = TILE_SIZE
        padded -= 1
    else:
        tile[last] = tile[order[last]] = TILE_SIZE * vector_size
    in_tile, count = Transpose.of(tuple(tile), order), prod(tile)
    at_a_time = TILE_SIZE * rows * vector_size
    number = loop_id(0) * at_a_time + thread_id() * vector_size + loop_id(1)
    loops = {"loop_id": -(-count // at_a_time), "vector_id": vector_size}
    limits = within((count,), (number,))
    read, written = unflattened(number, tile), unflattened(number, in_tile.sizes)
    return _Tiling(
        array,
        tuple(tile),
        tuple(size + (axis == padded) for axis, size in enumerate(in_tile.sizes)),
        _MovedElement(read, in_tile.forward(read), loops, limits),
        _MovedElement(in_tile.backward(written), written, loops, limits),
    )


# The packed transpose schedule: a word of shared memory holds several narrow elements.

BANKS: Final = 32
"""Words of shared memory that can be accessed at the same time."""

BITS_OF_BANK: Final = 32

WARPS_OF_BLOCK: Final = 4


@naming_wrong_arguments
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
    array = merged_in_memory(operand, result, dimensions)
    vector_size = BITS_OF_BANK // operand.element_size_in_bits
    if vector_size < 2:  # noqa: PLR2004 - several to a word
        message = f"transpose: elements of {operand} have {operand.element_size_in_bits} bits"
        raise ShapeError(f"{message}; expected less than {BITS_OF_BANK}, to pack them")
    if keeps_last(array):
        message = f"transpose: the last dimension in memory of {operand} stays the last"
        raise ShapeError(f"{message}; expected another, to pack elements along both")
    tiling = _packed(array, vector_size, warps)
    return _scheduled(tiling, operand, result, WARP_SIZE * warps, most_blocks)


FEWEST_WORDS: Final = 10
"""Words along either side of a tile that make packing worth while."""


def is_packable(array: Transpose, bits: int) -> bool:
    """Whether XLA takes this schedule for a transpose of elements of so many bits.

    >>> is_packable(Transpose.of((64, 128), (1, 0)), bits=16)
    True
    >>> is_packable(Transpose.of((64, 16), (1, 0)), bits=16)
    False
    """
    vector_size = BITS_OF_BANK // bits
    if vector_size < 2 or keeps_last(array):  # noqa: PLR2004 - several to a word
        return False
    rows, columns = _extents(_packed_tile(array, BANKS * vector_size), array.order[-1])
    left = array.sizes[-1] % rows if rows else 0
    is_whole = not any(count % vector_size for count in (rows, columns, left))
    return is_whole and min(rows, columns) >= FEWEST_WORDS * vector_size


def _packed_tile(array: Transpose, side: int) -> tuple[int, ...]:
    """The sizes of a tile, whose rows are numbered along the last dimension of the result.

    Either side has so many elements at most.
    """
    sizes, along_rows = array.sizes_before, array.order[-1]
    last = len(sizes) - 1
    tile = [1] * len(sizes)
    tile[last] = min(sizes[last], side)
    if along_rows != last - 1:
        tile[last - 1] = min(sizes[last - 1], side // max(1, tile[last]))
    tile[along_rows] = min(sizes[along_rows], side)
    return tuple(tile)


def _extents(tile: tuple[int, ...], along_rows: int) -> tuple[int, int]:
    """Number of rows and columns of a tile in use."""
    rows = tile[along_rows]
    return rows, prod(tile) // max(1, rows)


def _packed(array: Transpose, vector_size: int, warps: int) -> _Tiling:
    """Tiles with several elements in a word; the rows are shifted in shared memory.

    A warp reads a row at a time, a lane a word. It writes a column of words, a lane a square.
    """
    side, along_rows = BANKS * vector_size, array.order[-1]
    tile = _packed_tile(array, side)
    rows, columns = _extents(tile, along_rows)
    flat = [1 if axis == along_rows else size for axis, size in enumerate(tile)]
    in_word = thread_id() % WARP_SIZE * vector_size
    line = loop_id(0) * warps + thread_id() // WARP_SIZE

    def cell(row: Form, column: Form, loops: Mapping[str, int]) -> _MovedElement:
        index = [*unflattened(column, flat)]
        index[along_rows] = row
        shared = row, (column + row // vector_size * vector_size) % side
        return _MovedElement(index, shared, loops, within((rows, columns), (row, column)))

    loops = {"loop_id": -(-rows // warps), "vector_id": vector_size}
    read = cell(line, in_word + loop_id(1), loops)
    steps = -(-columns // (vector_size * warps))
    loops = {"loop_id": steps, "column_id": vector_size, "row_id": vector_size}
    written = cell(in_word + loop_id(2), line * vector_size + loop_id(1), loops)
    return _Tiling(array, tile, (side, side), read, written, is_by_result=True)


# Reduction schedules: threads fold elements on their own, then with each other, and one writes.
#
# Every reduction has three dimensions in memory. If the last one is folded, it reduces rows: major
# folded, kept, minor folded. If not, it reduces columns: major kept, folded, minor kept. Each kind
# of schedule says in these dimensions the elements that a thread reads and writes, and which
# threads write.

Triple: TypeAlias = tuple[int, int, int]

_BLOCK: Final = 256
"""The number of threads that a block of a row reduction should have."""

_MAX_THREADS: Final = 1024
"""The largest number of threads in a block that GPUs run."""

_ELEMENTS_OF_THREAD: Final = 16
"""Elements of a row that a thread folds before threads fold with each other."""

_SMALL_COLUMN_THREADS: Final = 128


@dataclass(frozen=True, slots=True)
class ReductionDimensions:
    """A reduction in memory: whether it reduces rows or columns, and three sizes.

    For rows ``(major folded, kept, minor folded)``, for columns ``(major kept, folded, minor
    kept)``.

    Source:
        XLA's ``GetReductionKindAndContiguousComponents``.
    """

    of_rows: bool
    sizes: Triple

    @classmethod
    def of(cls, operand: Shape, dimensions: Sequence[int]) -> ReductionDimensions:
        """The reduction of an array along some of its dimensions.

        Raises:
            ShapeError: there is no such dimension, or folded and kept dimensions alternate more
                often in memory.

        >>> from indexing.layout import Shape
        >>> ReductionDimensions.of(Shape.parse("f32[7,100,4,32]"), (0, 2, 3))
        ReductionDimensions(of_rows=True, sizes=(7, 100, 128))
        >>> ReductionDimensions.of(Shape.parse("f32[100,64,32]"), (1,))
        ReductionDimensions(of_rows=False, sizes=(100, 64, 32))
        """
        folded = checked_dimensions("reduce", "dimensions", dimensions, operand.rank)
        order = operand.array_layout.major_to_minor
        wide = [axis for axis in order if operand.dimensions[axis] != 1]
        runs = [
            (is_folded, prod(operand.dimensions[axis] for axis in run))
            for is_folded, run in groupby(wide, key=folded.__contains__)
        ]
        if len(runs) > 3:  # noqa: PLR2004 - the dimensions of rows and columns
            message = f"reduce: in memory, {operand} has {len(runs)} runs of folded and kept"
            raise ShapeError(f"{message} dimensions along {folded}; expected at most 3")
        first, second, third = (1, 1, 1, *(size for _, size in runs))[-3:]
        return cls(not runs or runs[-1][0], (first, second, third))

    @property
    def kept(self) -> tuple[int, ...]:
        """The sizes of the kept dimensions."""
        first, second, third = self.sizes
        return (second,) if self.of_rows else (first, third)

    @property
    def kind(self) -> str:
        """The kind of schedule that XLA takes, vectors aside."""
        minor = self.sizes[2]
        if self.of_rows:
            is_short = 0 < minor <= WARP_SIZE and minor.bit_count() == 1
            return "multi_row" if is_short else "row"
        return "small_column" if minor and WARP_SIZE % minor == 0 else "column"


@naming_wrong_arguments
def reduce_schedule(  # noqa: PLR0913 - what a launch depends on
    operand: Shape,
    result: Shape,
    dimensions: Sequence[int],
    *,
    kind: str = "",
    vector_size: int = 1,
    inputs: int = 1,
    group: int = 0,
    groups: int = 1,
    most_blocks: int | None = None,
) -> Schedule:
    """Folds some rows or columns in each block; the first thread of a row or column writes it.

    The kinds of schedule, each for rows or for columns:

    * ``row``: warps fold a row together, several rows a block where they are short;
    * ``multi_row``: a warp folds several rows of at most 32 vectors;
    * ``column``: 32 by 32 threads fold 32 columns, and exchange rows for columns to do so;
    * ``small_column``: a block goes through all columns where their number divides 32.

    The default ``kind`` is :attr:`ReductionDimensions.kind`. A thread reads ``vector_size``
    neighbours at a time. In z, a launch may have blocks for several ``groups`` of independent
    reductions; these are the maps of one ``group``. If a row has more elements than a block folds,
    several blocks share it and each writes its part: then the check says that elements are written
    twice.

    Shapes:
        operand: the shape of each of the ``inputs``. The initial values are scalars, without maps.
        result: the sizes of the dimensions that are not in ``dimensions``, in any layout.

    Source:
        XLA's reduction emitters.

    Raises:
        ShapeError: the shapes are not those of a reduction, or the kind is not for it.

    >>> from indexing.layout import Shape
    >>> schedule = reduce_schedule(Shape.parse("f32[100,64,512]"), Shape.parse("f32[100,64]"), (2,))
    >>> print(schedule.reads[0].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[major_id, minor_id, vector_id] ->
    (bl_x floordiv 8, (bl_x mod 8) * 8 + th_x floordiv 32, minor_id * 32 + th_x mod 32),
    domain: th_x in [0, 255], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 799], bl_y in [0, 0],
    bl_z in [0, 0], major_id in [0, 0], minor_id in [0, 15], vector_id in [0, 0]
    >>> print(schedule.writes[0].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z) ->
    (bl_x floordiv 8, (bl_x mod 8) * 8 + th_x floordiv 32),
    domain: th_x in [0, 224], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 799], bl_y in [0, 0],
    bl_z in [0, 0], th_x mod 32 in [0, 0]
    >>> schedule.reads[0].is_exactly_once(), schedule.writes_exactly_once()
    (True, True)
    """
    check_positive("reduce", "inputs", inputs)
    if not 0 <= group < groups:
        raise ShapeError(f"reduce: group is {group}; expected one of {groups}, from 0 on")
    found = ReductionDimensions.of(operand, dimensions)
    left = delete_dimensions(operand, dimensions)
    check_sizes("reduce", "the result", result.dimensions, left.dimensions, "as in the operand")
    plan = _planned(found, kind or found.kind, vector_size)
    blocks = prod(plan.blocks)
    launch = LaunchDimensions.of(blocks, plan.threads, groups=groups, most_blocks=most_blocks)
    step = plan.step(unflattened(block_number(launch), plan.blocks))
    mine = (block_id(2), Interval(group, group))
    read = access_of(launch, operand, found.sizes, step.read, step.read_loops, [mine])
    limits = [mine, (step.writer, Interval(0, 0))]
    written = access_of(launch, left, found.kept, step.written, step.write_loops, limits)
    writes = (Access(written.map, result),)
    return Schedule(launch, (*(read,) * inputs, *(None,) * inputs), writes)


@dataclass(frozen=True, slots=True)
class _ThreadWork:
    """Work of a thread: the element that it reads, the element that it writes, and who writes.

    ``read`` is an index in the three dimensions of the reduction, ``written`` one in the kept
    dimensions. The thread for which ``writer`` is 0 writes.
    """

    read: tuple[Form, ...]
    read_loops: Mapping[str, int]
    written: tuple[Form, ...]
    write_loops: Mapping[str, int]
    writer: Form


@dataclass(frozen=True, slots=True)
class _Plan:
    """The threads and blocks of a reduction, and the work of a thread."""

    threads: int
    blocks: tuple[int, ...]
    step: Callable[[Sequence[Form]], _ThreadWork]


def _planned(found: ReductionDimensions, kind: str, vector_size: int) -> _Plan:
    if kind not in _KINDS:
        raise ShapeError(f"reduce: kind is {kind!r}; expected one of {', '.join(_KINDS)}")
    if vector_size < 1 or vector_size.bit_count() != 1:
        raise ShapeError(f"reduce: vector_size is {vector_size}; expected a power of 2")
    of_rows, plan = _KINDS[kind]
    if of_rows != found.of_rows:
        what = "rows" if found.of_rows else "columns"
        raise ShapeError(f"reduce: {kind} is not for a reduction of {what} of sizes {found.sizes}")
    return plan(found.sizes, vector_size)


def threads_of_row(minor: int) -> int:
    """Number of threads that fold a row of so many elements with each other.

    >>> threads_of_row(512), threads_of_row(1000)
    (32, 64)
    """
    warps = step_count(step_count(minor, _ELEMENTS_OF_THREAD), WARP_SIZE)
    return min(_MAX_THREADS, warps * WARP_SIZE)


def block_count(found: ReductionDimensions, kind: str, vector_size: int) -> int:
    """Number of blocks in the launch of a reduction.

    >>> block_count(ReductionDimensions(True, (1, 6400, 4)), "multi_row", 1)
    100
    """
    return prod(_planned(found, kind, vector_size).blocks)


def _row(sizes: Triple, vector_size: int) -> _Plan:
    minor = sizes[2]
    vectors, folding = step_count(minor, vector_size), threads_of_row(minor)
    rounds = min(max(1, _ELEMENTS_OF_THREAD // vector_size), step_count(vectors, folding))
    return _of_rows(sizes, vector_size, folding, rounds)


def _multi_row(sizes: Triple, vector_size: int) -> _Plan:
    folding = step_count(sizes[2], vector_size)
    if folding > WARP_SIZE:
        message = f"reduce: multi_row folds {folding} vectors of a row"
        raise ShapeError(f"{message}; expected at most {WARP_SIZE}, one for each thread of a warp")
    return _of_rows(sizes, vector_size, folding)


def _of_rows(sizes: Triple, vector_size: int, folding: int, rounds: int | None = None) -> _Plan:
    """Plan of rows: so many threads fold one, each in some rounds, or each one vector."""
    major, kept, minor = sizes
    keeping = max(1, min(kept, _BLOCK // folding))
    tile = (rounds or 1) * folding
    in_rounds = {} if rounds is None else {"minor_id": rounds}
    loops = {"major_id": major, **in_rounds, "vector_id": vector_size}

    def step(block: Sequence[Form]) -> _ThreadWork:
        row_of_block, thread = unflattened(thread_id(), (keeping, folding))
        row = block[0] * keeping + row_of_block
        vector = block[1] * tile + thread
        if rounds is not None:
            vector += loop_id(1) * folding
        read = (loop_id(0), row, vector * vector_size + loop_id(len(loops) - 1))
        return _ThreadWork(read, loops, (row,), {}, thread)

    blocks = step_count(kept, keeping), step_count(step_count(minor, vector_size), tile)
    return _Plan(keeping * folding, blocks, step)


def _column(sizes: Triple, vector_size: int) -> _Plan:
    major, folded, minor = sizes
    side = WARP_SIZE

    def step(block: Sequence[Form]) -> _ThreadWork:
        row, column = unflattened(thread_id(), (side, side))
        first = block[1] * side
        read = (block[0], row + loop_id(0) * side, (first + column) * vector_size + loop_id(1))
        written = (block[0], (first + row) * vector_size + loop_id(0))
        loops = {"element_id": step_count(folded, side), "vector_id": vector_size}
        return _ThreadWork(read, loops, written, {"vector_id": vector_size}, column)

    return _Plan(side * side, (max(1, major), step_count(minor, side * vector_size)), step)


def _small_column(sizes: Triple, vector_size: int) -> _Plan:
    major, folded, minor = sizes
    if not minor or WARP_SIZE % minor:
        message = f"reduce: small_column has {minor} columns"
        raise ShapeError(f"{message}; expected a divisor of {WARP_SIZE}")
    # Threads fold with each other in rows of a warp or less.
    vector_size = min(vector_size, max(1, WARP_SIZE * minor // _SMALL_COLUMN_THREADS))
    threads = min(_SMALL_COLUMN_THREADS, WARP_SIZE * minor // vector_size)
    rows = vector_size * threads // minor
    at_a_time = vector_size * threads

    def step(block: Sequence[Form]) -> _ThreadWork:
        number = thread_id() * vector_size + loop_id(1) + loop_id(0) * at_a_time
        read = (block[0], *unflattened(number, (folded, minor)))
        columns = (thread_id() + loop_id(0) * threads) // rows
        loops = {"element_id": step_count(folded * minor, at_a_time), "vector_id": vector_size}
        written = {"vector_id": vector_size}
        return _ThreadWork(read, loops, (block[0], columns), written, thread_id() % rows)

    return _Plan(threads, (max(1, major),), step)


_KINDS: Final[Mapping[str, tuple[bool, Callable[[Triple, int], _Plan]]]] = {
    "row": (True, _row),
    "multi_row": (True, _multi_row),
    "column": (False, _column),
    "small_column": (False, _small_column),
}
"""For each kind of schedule: whether it is for rows, and its plan for sizes and vectors."""
