"""Schedules of loops, scatters and sorts: each thread takes its elements one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Final

from indexing import IndexingMap
from indexing.layout import Shape, ShapeError
from ops.index_maps import check_sizes, checked_dimensions, dim, index_map, symbol
from ops.rules.data_movement import concatenate
from ops.rules.dynamic import dynamic_update_slice
from ops.rules.gather_scatter import scatter
from ops.xla_gpu.schedule import (
    WARP_SIZE,
    Access,
    LaunchDimensions,
    Schedule,
    block_id,
    check_positive,
    in_array,
    loop_id,
    step_count,
    thread_id,
    unflattened,
    within,
)
from simplifier import forms
from simplifier.errors import naming_wrong_arguments
from simplifier.forms import Form, Interval

# Schedules that are loops: threads go through an array in the order of its memory.


@naming_wrong_arguments
def loop_schedule(result: Shape, launch: LaunchDimensions, unroll: int = 1) -> Schedule:
    """Each thread computes ``unroll`` neighbours in memory, then goes on by the length of a launch.

    Threads are numbered along x, then y, then z, all blocks of an axis before the next axis. All
    threads end an iteration of ``chunk_id`` before any begins the next. The operation gives the
    reads of an operand by a thread: :meth:`Access.through`.

    Shapes:
        result: any array. Its layout decides the order of elements; tiles do not matter.

    Source:
        XLA's default map from threads to elements, of the loop emitter.

    Raises:
        ShapeError: ``unroll`` is not positive, or the result is no array.

    >>> from indexing.layout import Shape
    >>> from ops.xla_gpu import LaunchDimensions
    >>> launch = LaunchDimensions.for_elements(6_000_000, unroll=4, most_blocks=1008)
    >>> print(loop_schedule(Shape.parse("f32[100,200,300]"), launch, unroll=4).writes[0].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
    ((bl_x * 128 + chunk_id * 129024 + th_x) floordiv 15000, ((bl_x * 128 + chunk_id * 9024 +
    th_x) floordiv 75) mod 200, ((bl_x * 53 + chunk_id * 24 + th_x) mod 75) * 4 + unroll_id),
    domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 1007], bl_y in [0, 0],
    bl_z in [0, 0], chunk_id in [0, 11], unroll_id in [0, 3], bl_x * 128 + chunk_id * 129024 +
    th_x in [0, 1499999]
    """
    return Schedule(launch, (), (Access(_thread_map(result, launch, unroll), result),))


@naming_wrong_arguments
def concatenate_schedule(
    operands: Sequence[Shape],
    result: Shape,
    dimension: int,
    launch: LaunchDimensions,
    unroll: int = 1,
) -> Schedule:
    """Loops over the largest operand: a thread moves the element at one index of all operands.

    So no thread has to find out which operand an element of the result comes from. Each operand is
    written to its own part of the result, and ``writes`` has an access for each.

    Shapes:
        operands, result: as of a concatenation along ``dimension``. The layout of the largest
            operand decides the order of elements.
        launch: for the elements of the largest operand.

    Source:
        XLA's concatenate emitter. XLA has no map to the result, and one map for all operands, that
        of the largest; here each map ends where its operand ends.

    Raises:
        ShapeError: the shapes are not those of a concatenation, or as :func:`loop_schedule`.

    >>> from indexing.layout import Shape
    >>> from ops.xla_gpu import LaunchDimensions
    >>> operands = [Shape.parse(text) for text in ("f32[200]", "f32[400]", "f32[300]")]
    >>> launch = LaunchDimensions.for_elements(400)
    >>> schedule = concatenate_schedule(operands, Shape.parse("f32[900]"), 0, launch)
    >>> print(schedule.reads[2].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
    (bl_x * 128 + th_x),
    domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 2], bl_y in [0, 0],
    bl_z in [0, 0], chunk_id in [0, 0], unroll_id in [0, 0], bl_x * 128 + th_x in [0, 299]
    >>> print(schedule.writes[2].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
    (bl_x * 128 + th_x + 600),
    domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 2], bl_y in [0, 0],
    bl_z in [0, 0], chunk_id in [0, 0], unroll_id in [0, 0], bl_x * 128 + th_x in [0, 299]
    >>> schedule.writes_exactly_once()
    True
    """
    indexing = concatenate([operand.dimensions for operand in operands], dimension)
    sizes = indexing.output_sizes
    check_sizes("concatenate", "the result", result.dimensions, sizes, "as of the operands")
    largest = max(operands, key=lambda operand: operand.dimensions[dimension])
    every = Access(_thread_map(largest, launch, unroll), largest)
    # All operands have the index of the largest one, as far as they reach.
    reads = [every.through(IndexingMap.identity(each.dimensions), each) for each in operands]
    pairs = zip(reads, indexing.input_to_output, strict=True)
    writes = (read.through(to_result, result) for read, to_result in pairs)
    return Schedule(launch, tuple(reads), tuple(writes))


@naming_wrong_arguments
def in_place_update_schedule(
    operand: Shape,
    update: Shape,
    launch: LaunchDimensions,
    unroll: int = 1,
    start_indices: Sequence[int | None] = (),
) -> Schedule:
    """Loops over the update of a dynamic-update-slice that writes into its operand's memory.

    It reads nothing of the operand, and writes only the part of the result that the update covers.
    The start indices are runtime variables, in the order of :func:`ops.dynamic_update_slice`. To
    check that the part is written once, wherever it begins, use :meth:`Schedule.never_writes_twice`
    and check that the update is read exactly once.

    Shapes:
        operand, update: as of a dynamic-update-slice; the result has the shape of the operand.
        launch: for the elements of the update.

    Source:
        XLA's in-place dynamic-update-slice emitter, which has no map to the result.

    Raises:
        ShapeError: the update is larger than the operand, or as :func:`loop_schedule`.

    >>> from indexing.layout import Shape
    >>> from ops.xla_gpu import LaunchDimensions
    >>> operand, update = Shape.parse("f32[20,30]"), Shape.parse("f32[5,6]")
    >>> launch = LaunchDimensions.for_elements(30)
    >>> schedule = in_place_update_schedule(operand, update, launch)
    >>> print(schedule.reads[1].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
    (th_x floordiv 6, th_x mod 6),
    domain: th_x in [0, 29], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 0], bl_y in [0, 0],
    bl_z in [0, 0], chunk_id in [0, 0], unroll_id in [0, 0]
    >>> print(schedule.writes[0].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id]{rt0, rt1} ->
    (th_x floordiv 6 + rt0, th_x mod 6 + rt1),
    domain: th_x in [0, 29], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 0], bl_y in [0, 0],
    bl_z in [0, 0], chunk_id in [0, 0], unroll_id in [0, 0], rt0 in [0, 15], rt1 in [0, 24]
    >>> schedule.never_writes_twice(), schedule.reads[1].is_exactly_once()
    (True, True)
    """
    sizes = operand.dimensions
    indexing = dynamic_update_slice(sizes, update.dimensions, start_indices)
    read = Access(_thread_map(update, launch, unroll), update)
    written = read.through(indexing.input_to_output[1], operand, indexing.input_origins[1])
    return Schedule(launch, (None, read, *(None,) * len(sizes)), (written,))


def _thread_map(shape: Shape, launch: LaunchDimensions, unroll: int = 1) -> IndexingMap:
    """Map from the coordinates of a thread to the elements of an array that it goes through."""
    check_positive("loop", "unroll", unroll)
    count = shape.element_count
    step = unroll * launch.thread_count
    first = _linear_thread(launch) * unroll + loop_id(0) * step
    number = first + loop_id(1)
    # If ``unroll`` divides the count, one test is enough for all unrolled elements: a vector.
    whole = count % unroll == 0
    limit = (first, Interval(0, count - unroll)) if whole else (number, Interval(0, count - 1))
    ranges = {"chunk_id": step_count(count, step), "unroll_id": unroll}
    return launch.map(in_array(shape, (count,), (number,)), ranges, [limit])


def _linear_thread(launch: LaunchDimensions) -> Form:
    """The number of a thread among all threads of a launch."""
    number, stride = forms.ZERO, 1
    for axis, (threads, blocks) in enumerate(zip(launch.threads, launch.blocks, strict=True)):
        number += (block_id(axis) * threads + thread_id(axis)) * stride
        stride *= threads * blocks
    return number


# Scatter schedules: threads go through the updates, and change the result where indices say.

WARPS_OF_BLOCK: Final = 4


@naming_wrong_arguments
def scatter_schedule(  # noqa: PLR0913 - what a launch depends on
    operand: Shape,
    indices: Shape,
    updates: Shape,
    dimensions: Sequence[int],
    launch: LaunchDimensions,
    unroll: int = 1,
    *,
    inputs: int = 1,
) -> Schedule:
    """Loops over the updates: each thread changes the result by the updates that it reads.

    The result lies in the memory of the operand already. Where a thread changes it, the index
    vector of the window decides, whose components are the runtime variables of the access. An
    element is written as often as updates land on it; a window that does not lie in the operand is
    not written.

    Shapes:
        operand: that of each of the ``inputs``, and of the results.
        indices: an index vector in each row, for these ``dimensions`` of the operand.
        updates: the windows, numbered by the first dimension.
        launch: for the elements of the updates.

    Source:
        XLA's scatter emitter with distributed updates, which has no map to the result. XLA brings
        all scatters into this form before.

    Raises:
        ShapeError: the shapes are not those of such a scatter, or as :func:`loop_schedule`.

    >>> from indexing.layout import Shape
    >>> from ops.xla_gpu import LaunchDimensions
    >>> operand, indices, updates = map(Shape.parse, ("f32[10,4]", "s32[6,1]", "f32[6,1,4]"))
    >>> launch = LaunchDimensions.for_elements(24)
    >>> schedule = scatter_schedule(operand, indices, updates, (0,), launch)
    >>> print(schedule.reads[1])
    (th_x) -> (th_x floordiv 4, 0), domain: th_x in [0, 23]
    >>> print(schedule.writes[0])
    (th_x){rt0} -> (rt0, th_x mod 4), domain: th_x in [0, 23], rt0 in [0, 9]
    """
    (read,) = loop_schedule(updates, launch, unroll).writes
    return _of_updates(launch, read, operand, indices, dimensions, inputs)


@naming_wrong_arguments
def sorted_scatter_schedule(  # noqa: PLR0913 - what a launch depends on
    operand: Shape,
    indices: Shape,
    updates: Shape,
    dimensions: Sequence[int],
    *,
    windows_of_warp: int,
    vector_size: int = 1,
    inputs: int = 1,
) -> Schedule:
    """Each warp adds up the windows of several index vectors in a row.

    That pays where indices are sorted, so that neighbours are often equal: the warp writes only
    when the next window has another place. These maps have a write for each window.

    Shapes:
        operand, indices, updates: as of :func:`scatter_schedule`.
        launch: ``windows_of_warp`` windows for each of the 4 warps of a block. A thread reads
            ``vector_size`` neighbours at a time.

    Source:
        XLA's scatter emitter with distributed indices.

    Raises:
        ShapeError: as :func:`scatter_schedule`, or a number is not positive.

    >>> from indexing.layout import Shape
    >>> operand, indices = Shape.parse("f32[10,64]"), Shape.parse("s32[600,1]")
    >>> schedule = sorted_scatter_schedule(
    ...     operand, indices, Shape.parse("f32[600,1,64]"), (0,), windows_of_warp=5, vector_size=2
    ... )
    >>> print(schedule.reads[2])
    (th_x, bl_x)[window_id, vector_id] ->
    ((th_x floordiv 32) * 5 + bl_x * 20 + window_id, 0, (th_x mod 32) * 2 + vector_id),
    domain: th_x in [0, 127], bl_x in [0, 29], window_id in [0, 4], vector_id in [0, 1]
    """
    check_positive("scatter", "windows_of_warp", windows_of_warp)
    check_positive("scatter", "vector_size", vector_size)
    if not updates.rank:
        expected = "expected windows that the first dimension numbers"
        raise ShapeError(f"scatter: the updates are {updates}; {expected}")
    count, *window = updates.dimensions
    blocks = step_count(count, windows_of_warp * WARPS_OF_BLOCK)
    launch = LaunchDimensions.of(blocks, WARPS_OF_BLOCK * WARP_SIZE)
    warp = block_id() * WARPS_OF_BLOCK + thread_id() // WARP_SIZE
    number = warp * windows_of_warp + loop_id(0)
    vector = loop_id(1) * WARP_SIZE + thread_id() % WARP_SIZE
    element = vector * vector_size + loop_id(2)
    loops = {
        "window_id": windows_of_warp,
        "update_id": step_count(prod(window), WARP_SIZE * vector_size),
        "vector_id": vector_size,
    }
    inside = within((count, prod(window)), (number, element))
    places = launch.map((number, *unflattened(element, window)), loops, inside)
    read = Access(places, updates)
    return _of_updates(launch, read, operand, indices, dimensions, inputs)


def _of_updates(
    launch: LaunchDimensions,
    read: Access,
    operand: Shape,
    indices: Shape,
    dimensions: Sequence[int],
    inputs: int,
) -> Schedule:
    """The schedule in which threads read the updates so."""
    check_positive("scatter", "inputs", inputs)
    sizes = read.shape.dimensions
    indexing = scatter(
        operand.dimensions,
        indices.dimensions,
        sizes,
        update_window_dims=range(1, len(sizes)),
        inserted_window_dims=(),
        scatter_dims_to_operand_dims=dimensions,
        index_vector_dim=1,
    )
    vector = index_map((dim(0), symbol(0)), sizes, [len(dimensions)]).rename({"s0": "component_id"})
    written = read.through(indexing.input_to_output[2], operand, indexing.input_origins[2])
    reads = (*(None,) * inputs, read.through(vector, indices), *(read,) * inputs)
    return Schedule(launch, reads, (written,))


# Sort schedules: a bitonic sort, whose stages are kernels that exchange elements in place.

ELEMENTS_OF_THREAD: Final = 4
"""Neighbours that a thread brings into shared memory and back."""

MAX_THREADS: Final = 1024
"""The largest number of threads in a block that GPUs run."""

SHARED_BYTES: Final = 48 << 10
"""Shared memory of a block without asking for more."""


@dataclass(frozen=True, slots=True)
class SortKernel:
    """One launch of a sort, which compares the elements whose numbers differ by these masks.

    Attributes:
        masks: what each step xors the number of an element with to find its partner.
        schedule: what threads read and write of each input. A thread of a kernel with several
            masks moves neighbours; with one mask, it holds the two elements that it compares.
    """

    masks: tuple[int, ...]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class SortSchedule(Schedule):
    """A :class:`Schedule` of several launches.

    ``reads`` are those of the first kernel, ``launch`` and ``writes`` those of the last. The
    kernels between them read and write the result.
    """

    kernels: tuple[SortKernel, ...]


@naming_wrong_arguments
def sort_schedule(
    inputs: Sequence[Shape], dimension: int, *, shared_bytes: int = SHARED_BYTES
) -> SortSchedule:
    """Sorts along a dimension by comparing and exchanging elements, in place.

    Blocks bring tiles of the dimension into shared memory, 4 neighbours each thread, and make all
    comparisons there that stay within a tile. Comparisons of elements further apart have a kernel
    for each mask, in which a thread handles 4 pairs.

    Shapes:
        inputs: arrays of the same sizes; their order in memory is that of the first. The tile has
            the size of the dimension or, if that is less, as many elements as 1,024 threads move
            and as the shared memory holds of all inputs; a power of 2.
        launch: a block for each tile, in the order of memory, with the sorted dimension last.

    Source:
        XLA's sort emitter.

    Raises:
        ShapeError: there is no input, they have other sizes, there is no such dimension, or it has
            less than two elements, so that there is nothing to sort.

    >>> from indexing.layout import Shape
    >>> schedule = sort_schedule([Shape.parse("f32[6,5]")], 0)
    >>> print(schedule.reads[0])
    (th_x, bl_x)[unroll_id] -> (th_x * 4 + unroll_id, bl_x),
    domain: th_x in [0, 1], bl_x in [0, 4], unroll_id in [0, 3], th_x * 4 + unroll_id in [0, 5]
    >>> long = sort_schedule([Shape.parse("f32[20000]")], 0)
    >>> [len(kernel.masks) for kernel in long.kernels]
    [78, 1, 12, 1, 1, 12, 1, 1, 1, 12]
    """
    plan = _BitonicSort.of(inputs, dimension, shared_bytes)
    kernels = tuple(SortKernel(masks, plan.schedule(masks)) for masks in plan.kernels())
    first, last = kernels[0].schedule, kernels[-1].schedule
    return SortSchedule(last.launch, first.reads, last.writes, kernels)


@dataclass(frozen=True, slots=True)
class _BitonicSort:
    """The inputs, the dimension, and how many elements of it a block holds."""

    inputs: Sequence[Shape]
    dimension: int
    tile: int

    @classmethod
    def of(cls, inputs: Sequence[Shape], dimension: int, shared_bytes: int) -> _BitonicSort:
        if not inputs:
            raise ShapeError("sort: there is no input; expected one or more")
        first, *others = inputs
        (checked,) = checked_dimensions("sort", "dimensions", [dimension], first.rank)
        for other in others:
            if other.dimensions != first.dimensions:
                message = f"sort: the inputs are {first} and {other}"
                raise ShapeError(f"{message}; expected arrays of the same sizes")
        count = first.dimensions[checked]
        if count < 2:  # noqa: PLR2004 - a pair
            message = f"sort: {first} has {count} elements along dimension {checked}"
            raise ShapeError(f"{message}; expected two or more, to compare them")
        check_positive("sort", "shared_bytes", shared_bytes)
        held = shared_bytes // sum(shape.element_type.bytes for shape in inputs)
        most = max(2, min(MAX_THREADS * ELEMENTS_OF_THREAD, held))
        return cls(inputs, checked, min(1 << (most.bit_length() - 1), _power_above(count)))

    @property
    def count(self) -> int:
        """The elements that are sorted together."""
        return self.inputs[0].dimensions[self.dimension]

    def kernels(self) -> Iterator[tuple[int, ...]]:
        """The masks of each kernel: all of a row that stay within a tile, or one."""
        for is_within, run in groupby(_masks(self.count), self.tile.__gt__):
            masks = tuple(run)
            yield from [masks] if is_within else ((mask,) for mask in masks)

    def schedule(self, masks: tuple[int, ...]) -> Schedule:
        """Reads of the threads of one kernel, and its writes."""
        first, *others = masks
        return self._tiled() if others else self._exchanged(first)

    def _tiled(self) -> Schedule:
        threads = max(1, self.tile // ELEMENTS_OF_THREAD)
        steps = step_count(self.count, self.tile) * self.tile // ELEMENTS_OF_THREAD
        blocks = step_count(self._rows * steps, threads)
        element = self._step(threads, steps) * ELEMENTS_OF_THREAD + loop_id(0)
        loops = {"unroll_id": ELEMENTS_OF_THREAD}
        launch = LaunchDimensions.of(blocks, threads)
        return self._moving(launch, steps, loops, (element, element))

    def _exchanged(self, mask: int) -> Schedule:
        steps = step_count(_power_above(self.count) // 2, ELEMENTS_OF_THREAD)
        launch = LaunchDimensions.for_elements(self._rows * steps)
        pair = self._step(launch.threads[0], steps) * ELEMENTS_OF_THREAD + loop_id(0)
        loops = {"unroll_id": ELEMENTS_OF_THREAD, "side_id": 2}
        return self._moving(launch, steps, loops, _element_of_pair(pair, mask))

    def _step(self, threads: int, steps: int) -> Form:
        """The number of a thread among those that go through the same elements."""
        return (block_id() * threads + thread_id()) % steps

    def _moving(
        self, launch: LaunchDimensions, steps: int, loops: Mapping[str, int], of: tuple[Form, Form]
    ) -> Schedule:
        """Threads that read and write an element of the dimension, if the last of a pair is one."""
        element, last = of
        threads = block_id() * launch.threads[0] + thread_id()
        sizes = (*(self.inputs[0].dimensions[axis] for axis in self._others), steps)
        places = dict(zip(self._others, unflattened(threads, sizes), strict=False))
        index = [places.get(axis, element) for axis in range(self.inputs[0].rank)]
        moved = launch.map(index, loops, within((prod(sizes), self.count), (threads, last)))
        accesses = tuple(Access(moved, shape) for shape in self.inputs)
        return Schedule(launch, accesses, accesses[:1])

    @property
    def _rows(self) -> int:
        """Number of times that the dimension is there."""
        return prod(self.inputs[0].dimensions) // self.count

    @property
    def _others(self) -> tuple[int, ...]:
        """The dimensions that stay, in the order of the launch: minor ones first."""
        order = self.inputs[0].array_layout.minor_to_major
        return tuple(axis for axis in order if axis != self.dimension)


def _masks(count: int) -> Iterator[int]:
    """The masks of a bitonic sort: in each stage blocks of twice the size are turned, then merged.

    >>> list(_masks(8))
    [1, 3, 1, 7, 2, 1]
    """
    for stage in range((count - 1).bit_length()):
        yield (2 << stage) - 1
        yield from (1 << step for step in reversed(range(stage)))


def _element_of_pair(pair: Form, mask: int) -> tuple[Form, Form]:
    """Either element of a pair, by the side of the second loop, and the greater of both.

    A mask of ones turns a block around, so the sides meet in the middle; another mask is the
    distance of both.
    """
    turned = mask & (mask + 1) == 0
    half = (mask + 1) // 2 if turned else mask
    first, own, side = pair // half * (2 * half), pair % half, loop_id(1)
    if not turned or mask == 1:
        return first + own + side * mask, first + own + mask
    mirrored = side * mask - own
    return first + forms.maximum((mirrored, -mirrored)), first - own + mask


def _power_above(number: int) -> int:
    return 1 << (number - 1).bit_length()
