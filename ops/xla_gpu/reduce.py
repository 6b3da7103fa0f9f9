"""Reduction schedules: threads fold elements on their own, then with each other, and one writes.

Every reduction has three dimensions in memory. If the last one is folded, it reduces rows: major
folded, kept, minor folded. If not, it reduces columns: major kept, folded, minor kept. Each kind of
schedule says in these dimensions the elements that a thread reads and writes, and which threads
write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Final, TypeAlias

from indexing.layout import Shape, ShapeError, delete_dimensions
from ops.index_maps import check_sizes, checked_dimensions
from ops.xla_gpu.launch import (
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
)
from simplifier import forms
from simplifier.forms import Form, Interval

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
    launch = LaunchDimensions.of(
        prod(plan.blocks), plan.threads, groups=groups, most_blocks=most_blocks
    )
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
        columns = forms.floordiv(thread_id() + loop_id(0) * threads, forms.constant(rows))
        loops = {"element_id": step_count(folded * minor, at_a_time), "vector_id": vector_size}
        writer = forms.mod(thread_id(), forms.constant(rows))
        return _ThreadWork(read, loops, (block[0], columns), {"vector_id": vector_size}, writer)

    return _Plan(threads, (max(1, major),), step)


_KINDS: Final[Mapping[str, tuple[bool, Callable[[Triple, int], _Plan]]]] = {
    "row": (True, _row),
    "multi_row": (True, _multi_row),
    "column": (False, _column),
    "small_column": (False, _small_column),
}
"""For each kind of schedule: whether it is for rows, and its plan for sizes and vectors."""
