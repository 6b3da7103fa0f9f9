"""A schedule: which elements each thread of a launch reads and writes, and whether that is all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import Any, Final, TypeAlias, TypeVar

from indexing import IndexingMap, Tile, TileError, Variable
from indexing.layout import Reshape, Shape, ShapeError, Transpose, logical_to_linear
from indexing.passes import Constraint, Domain, form_of, number_of_points, read_grid, tile_of
from ops.dependence.operand_indexing import RuntimeOrigin
from ops.fusion.fusion import FusionError
from ops.hlo import Instruction
from ops.index_maps import check_count, dim, runtime_value, symbol
from ops.rules.rule import Origin
from simplifier import forms
from simplifier.errors import INTEGER, check_type, naming_wrong_arguments
from simplifier.exact import BUDGET
from simplifier.forms import Form, Interval, facts_of, substitute
from simplifier.tools.display import Displayed

T = TypeVar("T")

AnyOrigin: TypeAlias = "Origin | RuntimeOrigin"


# The launch of a GPU kernel: its threads and blocks, and maps from their coordinates.

Counts: TypeAlias = tuple[int, int, int]
"""How many threads or blocks there are in x, y and z."""

WARP_SIZE: Final = 32
"""Threads that run together."""

THREADS_OF_BLOCK: Final = 4 * WARP_SIZE
"""Threads of a block by default: a warp for each scheduler of a multiprocessor."""

_AXES: Final = 3


@dataclass(frozen=True, slots=True)
class LaunchDimensions:
    """The numbers of threads in a block and of blocks, in x, y and z.

    Raises:
        ShapeError: a number is not positive, or there are not three of each.

    >>> launch = LaunchDimensions.of(8, threads=128)
    >>> launch
    LaunchDimensions(threads=(128, 1, 1), blocks=(8, 1, 1))
    >>> launch.grid, launch.thread_count
    ((128, 1, 1, 8, 1, 1), 1024)
    """

    threads: Counts
    blocks: Counts

    def __post_init__(self) -> None:
        for role, counts in (("threads", self.threads), ("blocks", self.blocks)):
            if len(counts) != _AXES or any(count < 1 for count in counts):
                message = f"launch: there are {counts} {role}; expected three positive numbers"
                raise ShapeError(message)

    def __str__(self) -> str:
        """The launch in words.

        >>> print(LaunchDimensions((32, 4, 1), (8, 1, 1)))
        8 blocks of 32 x 4 threads
        """
        blocks, threads = (
            " x ".join(str(count) for count in counts if count != 1) or "1"
            for counts in (self.blocks, self.threads)
        )
        return f"{blocks} blocks of {threads} threads"

    @classmethod
    def of(
        cls, blocks: int, threads: int, *, groups: int = 1, most_blocks: int | None = None
    ) -> LaunchDimensions:
        """A launch in x, and in z a group of blocks for each of several jobs.

        More than ``most_blocks`` are laid out in x and y. Then some blocks may have nothing to do.

        >>> LaunchDimensions.of(10, 32, groups=2, most_blocks=4).blocks
        (4, 3, 2)
        """
        if most_blocks is None:
            return cls((threads, 1, 1), (blocks, 1, groups))
        check_positive("launch", "most_blocks", most_blocks)
        rows = step_count(blocks, most_blocks)
        return cls((threads, 1, 1), (-(-blocks // rows), rows, groups))

    @classmethod
    def for_elements(
        cls, count: int, *, unroll: int = 1, most_blocks: int | None = None
    ) -> LaunchDimensions:
        """A launch with a thread for every ``unroll`` elements, which is XLA's default.

        With at most ``most_blocks`` blocks, as many as the device runs at a time, threads go on to
        further elements.

        >>> LaunchDimensions.for_elements(20).grid
        (20, 1, 1, 1, 1, 1)
        >>> LaunchDimensions.for_elements(6_000_000, unroll=4, most_blocks=1008).grid
        (128, 1, 1, 1008, 1, 1)
        """
        check_positive("launch", "unroll", unroll)
        wanted = step_count(count, unroll)
        threads = min(wanted, THREADS_OF_BLOCK)
        blocks = step_count(wanted, threads)
        return cls.of(blocks if most_blocks is None else min(blocks, most_blocks), threads)

    @property
    def grid(self) -> tuple[int, ...]:
        """The sizes of the coordinates of a launch: ``th_x th_y th_z bl_x bl_y bl_z``."""
        return (*self.threads, *self.blocks)

    @property
    def thread_count(self) -> int:
        """The number of threads of all blocks."""
        return prod(self.grid)

    def map(
        self,
        results: Iterable[Form],
        ranges: Mapping[str, int],
        constraints: Iterable[Constraint] = (),
        runtime: Iterable[Variable] = (),
        parameters: Iterable[Variable] = (),
    ) -> IndexingMap:
        """The map from the coordinates of a thread and the loops that it runs, by name.

        It is simplified, and keeps all loops.
        """
        loops = (Variable.of_size(size, name) for name, size in ranges.items())
        domain = Domain.of(read_grid(self.grid), loops, runtime, constraints, parameters)
        return IndexingMap.from_forms(results, domain).simplify(preserve_ranges=True)


def step_count(size: int, step: int) -> int:
    """Number of steps that cover a size; one for size 0, so that there is a launch.

    >>> step_count(10, 4), step_count(0, 4)
    (3, 1)
    """
    return max(1, -(-size // step))


def check_positive(op: str, role: str, number: int) -> None:
    """Raise an error unless a number of a schedule is a positive integer.

    Raises:
        ShapeError: it is less than 1.
        ArgumentError: it is no integer.
    """
    check_type(number, INTEGER, f"{op}: {role}", "a positive integer")
    if number < 1:
        raise ShapeError(f"{op}: {role} is {number}; expected 1 or more")


def thread_id(axis: int = 0) -> Form:
    """The number of a thread in its block, along x, y or z."""
    return dim(axis)


def block_id(axis: int = 0) -> Form:
    """The number of a block, along x, y or z."""
    return dim(_AXES + axis)


def loop_id(number: int) -> Form:
    """The iteration of one of the loops that a thread runs."""
    return symbol(number)


def block_number(launch: LaunchDimensions) -> Form:
    """The number of a block, which :meth:`LaunchDimensions.of` may have laid out in x and y."""
    return block_id(0) + block_id(1) * launch.blocks[0]


# Indices of elements: from a number, and from an index in memory.


def unflattened(number: Form, sizes: Sequence[int]) -> tuple[Form, ...]:
    """The row-major index of a number in a tensor of these sizes.

    >>> from ops.index_maps import dim
    >>> for digit in unflattened(dim(0), (4, 8)):
    ...     print(digit)
    d0 floordiv 8
    d0 mod 8
    """
    return tuple(map(form_of, Reshape.of([((prod(sizes),), tuple(sizes))]).forward((number,))))


def in_array(shape: Shape, sizes: Sequence[int], index: Sequence[Form]) -> tuple[Form, ...]:
    """The index of an element of an array, from its index in dimensions of other sizes.

    These are the dimensions of the array in memory, major first, merged or split. Tiles do not
    matter.

    >>> from indexing.layout import Shape
    >>> from ops.index_maps import dim
    >>> for part in in_array(Shape.parse("f32[8,4,2]{0,2,1}"), (8, 8), (dim(0), dim(1))):
    ...     print(part)
    d1
    d0 floordiv 2
    d0 mod 2
    """
    order = Transpose.of(shape.dimensions, shape.array_layout.major_to_minor)
    there = Reshape.between(tuple(sizes), order.sizes).forward(tuple(index))
    return tuple(map(form_of, order.backward(there)))


def within(sizes: Sequence[int], index: Sequence[Form]) -> list[Constraint]:
    """The constraints that an index lies in a tensor of these sizes."""
    return [(part, Interval(0, size - 1)) for part, size in zip(index, sizes, strict=True)]


# Schedules.


@dataclass(frozen=True, slots=True, repr=False)
class Access(Displayed):
    """The elements of an array that each thread of a launch reads or writes.

    ``map`` leads from the six coordinates of a thread, ``th_x th_y th_z bl_x bl_y bl_z``, to the
    index of an element of an array of this shape. Its ranges are the loops that the thread runs;
    its runtime variables are values that the kernel has read before. ``origins`` say where each
    comes from; without them, each has one value for all threads.

    Raises:
        ShapeError: the map has another number of results than the array has dimensions.
    """

    map: IndexingMap
    shape: Shape
    origins: tuple[AnyOrigin, ...] = ()

    def __post_init__(self) -> None:
        check_count("access", f"the index of {self.shape}", self.map.forms, self.shape.rank)

    def through(
        self, indexing: IndexingMap, shape: Shape, origins: tuple[AnyOrigin, ...] = ()
    ) -> Access:
        """Accesses of a thread to another array, for the elements that it accesses of this one.

        ``indexing`` is a map from an element of this array to those of an array of that ``shape``.
        A map from a result to an operand gives the reads of a thread for its writes; a map from a
        hero to the root of its fusion gives the writes of the epilogue. ``origins`` are those of
        its runtime variables.

        Raises:
            MapError: ``indexing`` does not have one dimension for each of this array.

        >>> from indexing.layout import Shape
        >>> from ops import broadcast
        >>> from ops.xla_gpu import LaunchDimensions, loop_schedule
        >>> result, operand = Shape.parse("f32[10,20,30]"), Shape.parse("f32[20]")
        >>> launch = LaunchDimensions.for_elements(result.element_count)
        >>> (written,) = loop_schedule(result, launch).writes
        >>> indexing = broadcast((20,), (10, 20, 30), (1,)).output_to_input[0]
        >>> print(written.through(indexing, operand).map)
        (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
        (((bl_x * 128 + th_x) floordiv 30) mod 20),
        domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0],
        bl_x in [0, 46], bl_y in [0, 0], bl_z in [0, 0],
        chunk_id in [0, 0], unroll_id in [0, 0], bl_x * 128 + th_x in [0, 5999]
        """
        found, *behind = (
            self.map.compose(each).simplify(preserve_ranges=True)
            for each in (indexing, *(origin.map for origin in origins))
        )
        before = {f"s{n}": symbol(n + len(indexing.ranges)) for n in range(len(self.map.ranges))}
        for number in range(len(self.map.runtime)):
            before[f"rt{number}"] = runtime_value(number + len(indexing.runtime))
        own = (substitute(origin.map.forms, before) for origin in self.origins)
        maps = (*behind, *(IndexingMap.from_forms(index, found.domain) for index in own))
        every = zip((*origins, *self.origins), maps, strict=True)
        return Access(found, shape, tuple(replace(origin, map=index) for origin, index in every))

    def in_memory(self) -> IndexingMap:
        """Offsets in memory at which a thread accesses the array, in elements, with its tiles.

        Raises:
            ShapeError: as :func:`indexing.layout.tiling_steps`.

        >>> from indexing.layout import Shape
        >>> from ops.xla_gpu import LaunchDimensions, loop_schedule
        >>> column_major = Shape.parse("f32[64,32]{0,1}")
        >>> launch = LaunchDimensions.of(4, threads=128)
        >>> print(loop_schedule(column_major, launch, unroll=4).writes[0].in_memory())
        (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
        (th_x * 4 + bl_x * 512 + unroll_id),
        domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 3], bl_y in [0, 0],
        bl_z in [0, 0], chunk_id in [0, 0], unroll_id in [0, 3]
        """
        return self.map.compose(logical_to_linear(self.shape)).simplify(preserve_ranges=True)

    def __str__(self) -> str:
        """The map without the coordinates and loops that have one value only.

        >>> from indexing.layout import Shape
        >>> from ops.xla_gpu import LaunchDimensions, loop_schedule
        >>> launch = LaunchDimensions.of(6, threads=128)
        >>> print(loop_schedule(Shape.parse("f32[6,128]"), launch).writes[0])
        (th_x, bl_x) -> (bl_x, th_x), domain: th_x in [0, 127], bl_x in [0, 5]
        """
        return str(without_points(self.map))

    def covers(self, *, budget: int | None = BUDGET) -> bool:
        """Whether every element is accessed; see :meth:`IndexingMap.covers`."""
        return self.map.covers(self.shape.dimensions, budget=budget)

    def is_exactly_once(self, *, budget: int | None = BUDGET) -> bool:
        """Whether every element is accessed exactly once: by one thread, in one iteration."""
        return self.map.is_bijective_onto(self.shape.dimensions, budget=budget)

    def never_twice(self, *, budget: int | None = BUDGET) -> bool:
        """Whether no element is accessed twice, for any values of the runtime variables."""
        return self.map.is_injective(budget=budget, runtime_as_parameters=True)

    def meets(self, other: Access, *, budget: int | None = BUDGET) -> bool:
        """Whether there is an element of the array that both access."""
        return not self.map.compose(other.map.inverse()).is_empty(budget=budget)


def access_of(
    launch: LaunchDimensions,
    shape: Shape,
    sizes: Sequence[int],
    index: Sequence[Form],
    loops: Mapping[str, int],
    limits: Iterable[Constraint] = (),
) -> Access:
    """The access to an array at an index in dimensions of other sizes, as :func:`in_array` has it.

    A thread accesses what lies within these sizes, and within the limits.
    """
    inside = [*within(sizes, index), *limits]
    return Access(launch.map(in_array(shape, sizes, index), loops, inside), shape)


@dataclass(frozen=True, slots=True, repr=False)
class Schedule(Displayed):
    """Division of the work of a kernel among the threads of a launch.

    Attributes:
        launch: how many threads and blocks there are.
        reads: what each thread reads of each operand of the hero, the operation that the schedule
            is made for; ``None`` if the schedule does not decide it.
        writes: what each thread writes of the result; several accesses if the kernel writes it
            part by part.
    """

    launch: LaunchDimensions
    reads: tuple[Access | None, ...]
    writes: tuple[Access, ...]

    def __str__(self) -> str:
        reads = (
            f"reads operand {number}: {'as it likes' if access is None else access}"
            for number, access in enumerate(self.reads)
        )
        writes = (f"writes: {access}" for access in self.writes)
        return "\n".join([str(self.launch), *reads, *writes])

    def writes_exactly_once(self, *, budget: int | None = BUDGET) -> bool:
        """Whether every element of the result is written exactly once.

        The answer is exact: milliseconds to seconds of isl, see :class:`indexing.relation.Relation`
        for what it raises. A schedule that updates in place writes only a part of the result: check
        it with :meth:`never_writes_twice`.

        >>> from indexing.layout import Shape
        >>> from ops.xla_gpu import LaunchDimensions, loop_schedule
        >>> matrix, launch = Shape.parse("f32[100,30]"), LaunchDimensions.of(6, threads=128)
        >>> loop_schedule(matrix, launch, unroll=4).writes_exactly_once()
        True
        """
        if len(self.writes) == 1:
            return self.writes[0].is_exactly_once(budget=budget)
        counts = [_counts(access, budget) for access in self.writes]
        every, inside = (sum(column) for column in zip(*counts, strict=True))
        is_all = every == inside == self.writes[0].shape.element_count
        return is_all and self.never_writes_twice(budget=budget)

    def never_writes_twice(self, *, budget: int | None = BUDGET) -> bool:
        """Whether no element of the result is written twice, for any runtime variables."""
        return all(access.never_twice(budget=budget) for access in self.writes) and not any(
            one.meets(other, budget=budget) for one, other in combinations(self.writes, 2)
        )


def without_points(accessed: IndexingMap) -> IndexingMap:
    """The map without the coordinates and loops that have one value only: for people to read."""
    pairs = zip(accessed.domain.names, (*accessed.dims, *accessed.ranges), strict=False)
    points = {
        name: variable.bounds.lower
        for name, variable in pairs
        if variable.bounds.size == 1 and variable.bounds.lower is not None
    }
    return accessed.substitute(points) if points else accessed


def _counts(access: Access, budget: int | None) -> tuple[int, int]:
    """Number of accesses, and of those that are in the array."""
    inside = access.map.compose(IndexingMap.identity(access.shape.dimensions))
    return number_of_points(access.map, budget), number_of_points(inside, budget)


# Block schedules: a block computes a tile, and its threads share each array that it touches.

VECTOR_BITS: Final = 128
"""The most that a thread loads with one instruction."""


@dataclass(frozen=True, slots=True)
class BlockSchedule(Schedule):
    """A :class:`Schedule` in which each block computes one tile of the result.

    Attributes:
        tile: the sizes of a tile of the result.
        result: the array that is written.
    """

    tile: tuple[int, ...]
    result: Shape

    def load(
        self,
        indexing: IndexingMap,
        operand: Shape,
        steps: Sequence[int] = (),
        origins: tuple[AnyOrigin, ...] = (),
    ) -> Access:
        """Loads of an operand by each thread, if a block loads the tile that belongs to its own.

        ``indexing`` leads from elements of the result to those of the operand. A block goes through
        its last ranges in ``steps`` of so many values, as through the contracted dimension of a
        dot. ``origins`` are those of its runtime variables. Where the elements form no tile, or
        have values of their own, a thread loads those that its own elements of the result need.

        >>> from indexing.layout import Shape
        >>> from ops import broadcast
        >>> result, bias = Shape.parse("f32[64,256]"), Shape.parse("f32[256]")
        >>> schedule = block_schedule(result, (16, 64), warps=4)
        >>> print(schedule.load(broadcast((256,), (64, 256), (1,)).output_to_input[0], bias))
        (th_x, bl_x) -> ((bl_x mod 4) * 64 + th_x mod 64), domain: th_x in [0, 127],
        bl_x in [0, 15]
        """
        ranges = len(indexing.ranges)
        stepped = indexing.ranges_to_dims(range(ranges - len(steps), ranges))
        try:
            tile = tile_of(stepped.simplify(), stepped.dims, [*self.tile, *steps])
        except TileError:
            tile = None
        indices = [form for origin in origins for form in origin.map.forms]
        sizes = [size for _, size, _ in tile.formulas.results] if tile else []
        if tile is None or not all(form.is_constant for form in (*indices, *sizes)):
            return self.writes[0].through(indexing, operand, origins)
        return Access(self._loaded(tile, operand), operand, origins)

    def _loaded(self, tile: Tile, operand: Shape) -> IndexingMap:
        """The elements of a tile that each thread loads, in every round.

        Tiles are numbered as far as the map reaches, which may be less than the result.
        """
        counts = [count.constant if count else 1 for count in tile.tiles]
        rounds = counts[self.result.rank :]
        rows = tile.formulas.results
        sizes = [size.constant for _, size, _ in rows]
        shared = _Distribution.of(sizes, operand, self.launch.threads[0])
        first = len(rounds)
        positions = shared.positions(first)
        ids = (*self._ids(), *map(loop_id, range(first)))
        values = {f"t{number}": id_ for number, id_ in enumerate(ids)}
        values |= {f"i{number}": position for number, position in enumerate(positions)}
        found = [
            offset + forms.product((stride, forms.variable(f"i{number}")))
            for number, (offset, _, stride) in enumerate(rows)
        ]
        *results, condition = forms.substitute((*found, tile.formulas.condition), values)
        loops = {f"step_id{number or ''}": count for number, count in enumerate(rounds)}
        limits = [*within(counts, ids), *within(sizes, positions), *facts_of(condition)]
        names = tile.domain.runtime, tile.domain.parameters
        return self.launch.map(results, loops | shared.loops, limits, *names)

    def _ids(self) -> tuple[Form, ...]:
        """The number of the tile of a block along each dimension."""
        pairs = zip(self.result.dimensions, self.tile, strict=True)
        return unflattened(block_number(self.launch), [step_count(*pair) for pair in pairs])


@naming_wrong_arguments
def block_schedule(result: Shape, tile: Sequence[int], *, warps: int = 4) -> BlockSchedule:
    """Each block computes a tile of the result, as a program of Triton does.

    A tile has power-of-two sizes in the registers of a block; what is beyond the sizes given, or
    beyond the array, is masked. Lanes lie along the minor dimension, each with up to 16 bytes of
    neighbours, then along the next. If a tile has fewer elements than the block has threads, the
    first threads write.

    Shapes:
        result: any array. Its layout says which dimension is the minor one; tiles are numbered in
            row-major order.
        launch: a block of so many ``warps`` for each tile.

    Source:
        XLA's Triton emitter; the distribution among threads is that of Triton's blocked layout as
        its coalescing pass sets it. The rest of Triton's compiler may choose another.

    Raises:
        ShapeError: there is not a positive size for each dimension, or no warp.

    >>> from indexing.layout import Shape
    >>> schedule = block_schedule(Shape.parse("f32[8,16,100]"), (1, 2, 100), warps=2)
    >>> schedule.launch
    LaunchDimensions(threads=(64, 1, 1), blocks=(64, 1, 1))
    >>> print(schedule.writes[0])
    (th_x, bl_x)[vector_id] ->
    (bl_x floordiv 8, (bl_x mod 8) * 2 + th_x floordiv 32, (th_x mod 32) * 4 + vector_id),
    domain: th_x in [0, 56], bl_x in [0, 63], vector_id in [0, 3], th_x mod 32 in [0, 24]
    >>> schedule.writes_exactly_once()
    True
    """
    check_count("block", "the tile", tile, result.rank)
    check_positive("block", "warps", warps)
    for size in tile:
        check_positive("block", "a size of the tile", size)
    counts = [step_count(*pair) for pair in zip(result.dimensions, tile, strict=True)]
    launch = LaunchDimensions.of(prod(counts), warps * WARP_SIZE)
    shared = _Distribution.of(tile, result, warps * WARP_SIZE)
    own = shared.positions(0)
    ids = unflattened(block_number(launch), counts)
    index = [id_ * size + part for id_, size, part in zip(ids, tile, own, strict=True)]
    limits = [*within(result.dimensions, index), *within(tile, own), *shared.first_threads()]
    written = launch.map(index, shared.loops, limits)
    return BlockSchedule(launch, (), (Access(written, result),), tuple(tile), result)


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Division of a tile among the threads of a block.

    Attributes:
        sizes: of the tile, rounded up to powers of 2.
        order: its dimensions, minor ones first.
        vector: neighbours along the minor dimension that a thread has.
        threads: how many lie along each dimension, in the lanes of a warp and in warps.
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    vector: int
    threads: tuple[tuple[int, ...], tuple[int, ...]]

    @classmethod
    def of(cls, tile: Sequence[int], array: Shape, count: int) -> _Distribution:
        """The distribution of a tile of an array among so many threads."""
        sizes = tuple(1 << (size - 1).bit_length() for size in tile)
        order = array.array_layout.minor_to_major
        vector = _vector_size(sizes, array, count)
        lanes, warps = [1] * len(sizes), [1] * len(sizes)
        left_lanes, left_warps = WARP_SIZE, count // WARP_SIZE
        for axis in order:
            wanted = max(1, sizes[axis] // (vector if axis == order[0] else 1))
            lanes[axis] = min(wanted, left_lanes)
            warps[axis] = min(max(1, wanted // lanes[axis]), left_warps)
            left_lanes //= lanes[axis]
            left_warps //= warps[axis]
        if order:  # the outermost dimension takes what is left
            lanes[order[-1]] *= left_lanes
            warps[order[-1]] *= left_warps
        return cls(sizes, order, vector, (tuple(lanes), tuple(warps)))

    @property
    def loops(self) -> dict[str, int]:
        """The loops of a thread: through the tile, and along its vector."""
        return {"repeat_id": prod(self._repeats), "vector_id": self.vector}

    def positions(self, first_loop: int) -> list[Form]:
        """The index in the tile of an element of a thread; its loops begin with this one."""
        repeats = self._digits(loop_id(first_loop), self._repeats)
        rows = zip(self._own(first_loop), self.sizes, repeats, self._covered, strict=True)
        return [own % size + repeat * covered for own, size, repeat, covered in rows]

    def first_threads(self) -> list[Constraint]:
        """Leaves the first thread of those that have the same elements, if a tile is small."""
        if not self.order:
            return within([1], [thread_id()])
        ends = [min(pair) for pair in zip(self.sizes, self._covered, strict=True)]
        return within(ends, self._own(0))

    def _own(self, first_loop: int) -> list[Form]:
        """The place of a thread along each dimension, before the tile ends."""
        lane, warp = thread_id() % WARP_SIZE, thread_id() // WARP_SIZE
        lanes, warps = self.threads
        digits = zip(self._digits(warp, warps), lanes, self._digits(lane, lanes), strict=True)
        own = [warp * count + lane for warp, count, lane in digits]
        if self.order:
            minor = self.order[0]
            own[minor] = own[minor] * self.vector + loop_id(first_loop + 1)
        return own

    def _digits(self, number: Form, sizes: Sequence[int]) -> list[Form]:
        """The index of a number along each dimension, minor ones fastest."""
        outer_first = Transpose.of(tuple(sizes), self.order[::-1])
        return [*outer_first.backward(unflattened(number, outer_first.sizes))]

    @property
    def _covered(self) -> tuple[int, ...]:
        """Number of elements along each dimension that all threads have at a time."""
        lanes, warps = self.threads
        counts = [lane * warp for lane, warp in zip(lanes, warps, strict=True)]
        if self.order:
            counts[self.order[0]] *= self.vector
        return tuple(counts)

    @property
    def _repeats(self) -> tuple[int, ...]:
        """Number of repetitions along each dimension."""
        pairs = zip(self.sizes, self._covered, strict=True)
        return tuple(max(1, size // covered) for size, covered in pairs)


def _vector_size(sizes: Sequence[int], array: Shape, threads: int) -> int:
    """Number of neighbours of a thread: as one instruction loads, where rows are aligned."""
    if not sizes:
        return 1
    minor = array.array_layout.minor_to_major[0]
    most = [VECTOR_BITS // array.element_size_in_bits, prod(sizes) // threads, sizes[minor]]
    if array.rank > 1:
        most.append(array.dimensions[minor] & -array.dimensions[minor])
    return max(1, min(most))


# The `backend_config` of a kernel of tiles: its library, its tiles, and its warps.


@dataclass(frozen=True, slots=True)
class BlockLevel:
    """The parameters of a fusion whose blocks compute tiles.

    Attributes:
        kind: what XLA calls the library, such as ``__triton``.
        output_tiles: the tile of each array of the result; empty if the library chooses.
        warps: how many warps a block has.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { p = f32[8,128] parameter(0) ROOT r = f32[8,128] negate(p) }
    ... ENTRY e { p = f32[8,128] parameter(0)
    ...   ROOT r = f32[8,128] fusion(p), kind=kCustom, calls=f, backend_config={
    ...     "fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{
    ...       "num_warps":"2","output_tiles":[{"sizes":["1","128"]}]}}} }''')
    >>> block_level(module.entry.root)
    BlockLevel(kind='__triton', output_tiles=((1, 128),), warps=2)
    """

    kind: str
    output_tiles: tuple[tuple[int, ...], ...]
    warps: int


@naming_wrong_arguments
def block_level(fusion: Instruction) -> BlockLevel | None:
    """The block level in the ``backend_config`` of a fusion; ``None`` if it names no library.

    Raises:
        FusionError: it is not written as XLA writes it.
    """
    return _read(fusion, _block_level)


def _block_level(backend: Any) -> BlockLevel | None:  # noqa: ANN401 - JSON
    config: Any = backend.get("fusion_backend_config") or {}
    if not config.get("kind"):
        return None
    blocks: Any = config.get("block_level_fusion_config") or {}
    sizes = (tile.get("sizes", ()) for tile in blocks.get("output_tiles", ()))
    tiles = tuple(tuple(map(int, each)) for each in sizes)
    return BlockLevel(str(config["kind"]), tiles, int(blocks.get("num_warps", 1)))


def contracted_tile(dot: Instruction) -> tuple[int, ...]:
    """The tile of each contracted dimension that the ``backend_config`` of a dot names.

    Raises:
        FusionError: it is not written as XLA writes it.
    """
    return _read(dot, lambda config: tuple(map(int, config.get("sizes", ()))))


def _read(instruction: Instruction, read: Callable[[Any], T]) -> T:
    """The answer for the object of a ``backend_config``, which older texts hold as a string."""
    value: Any = instruction.attributes.get("backend_config")
    while isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    try:
        return read(value if isinstance(value, dict) else {})
    except (AttributeError, TypeError, ValueError):
        message = f"fusion: the backend_config of %{instruction.name} names no tiles"
        expected = "expected lists of sizes, and a number of warps"
        raise FusionError(f"{message} that can be read; {expected}") from None
