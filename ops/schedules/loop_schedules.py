"""Schedules that are loops: threads go through an array in the order of its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.index_maps import check_sizes, dimensions_of, index_map
from ops.rules.dynamic_slice import dynamic_update_slice
from ops.rules.slice import concatenate
from ops.schedules.launch import block_id, check_positive, in_array, loop_id, step_count, thread_id
from ops.schedules.schedule import Access, Schedule
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.schedules.launch import LaunchDimensions
    from simplifier.expr.form import Form


def loop_schedule(result: Shape, launch: LaunchDimensions, unroll: int = 1) -> Schedule:
    """Each thread computes ``unroll`` neighbours in memory, then goes on by the length of a launch.

    Threads are numbered along x, then y, then z, all blocks of an axis before the next axis.
    All threads end an iteration of ``chunk_id`` before any begins the next. What a thread reads of
    an operand follows from the operation: :meth:`Access.through`.

    Shapes:
        result: any array. Its layout decides the order of elements; tiles do not matter.

    Source:
        XLA's default map from threads to elements, of the loop emitter.

    Raises:
        ShapeError: ``unroll`` is not positive, or the result is no array.

    >>> from indexing.layout import Shape
    >>> from ops.schedules import LaunchDimensions
    >>> launch = LaunchDimensions.for_elements(6_000_000, unroll=4, most_blocks=1008)
    >>> print(loop_schedule(Shape.parse("f32[100,200,300]"), launch, unroll=4).writes[0].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
    ((bl_x * 128 + chunk_id * 129024 + th_x) floordiv 15000, ((bl_x * 128 + chunk_id * 9024 +
    th_x) floordiv 75) mod 200, ((bl_x * 53 + chunk_id * 24 + th_x) mod 75) * 4 + unroll_id),
    domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 1007], bl_y in [0, 0],
    bl_z in [0, 0], chunk_id in [0, 11], unroll_id in [0, 3], bl_x * 128 + chunk_id * 129024 +
    th_x in [0, 1499999]
    """
    written = Access(_thread_map(result, launch, unroll), result)
    return Schedule(launch, (), (written,))


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
    >>> from ops.schedules import LaunchDimensions
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
    reads = [
        every.through(index_map(dimensions_of(operand.dimensions), operand.dimensions), operand)
        for operand in operands
    ]
    writes = (
        read.through(to_result, result)
        for read, to_result in zip(reads, indexing.input_to_output, strict=True)
    )
    return Schedule(launch, tuple(reads), tuple(writes))


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
    >>> from ops.schedules import LaunchDimensions
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
    """From the coordinates of a thread to the elements of an array that it goes through."""
    check_positive("loop", "unroll", unroll)
    count = shape.element_count
    step = unroll * launch.thread_count
    first = _linear_thread(launch) * unroll + loop_id(0) * step
    number = first + loop_id(1)
    index = in_array(shape, (count,), (number,))
    # If ``unroll`` divides the count, one test is enough for all unrolled elements: a vector.
    whole = count % unroll == 0
    limit = (first, Interval(0, count - unroll)) if whole else (number, Interval(0, count - 1))
    ranges = {"chunk_id": step_count(count, step), "unroll_id": unroll}
    return launch.map(index, ranges, [limit]).simplify(preserve_ranges=True)


def _linear_thread(launch: LaunchDimensions) -> Form:
    """The number of a thread among all threads of a launch."""
    number, stride = forms.ZERO, 1
    for axis, (threads, blocks) in enumerate(zip(launch.threads, launch.blocks, strict=True)):
        number += (block_id(axis) * threads + thread_id(axis)) * stride
        stride *= threads * blocks
    return number
