"""The loop schedule: threads go through the result in the order of its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.schedules.launch import block_id, check_positive, loop_id, thread_id
from ops.schedules.places import in_array
from ops.schedules.schedule import Access, Schedule
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.schedules.launch import LaunchDimensions
    from simplifier.expr.form import Form


def loop_schedule(result: Shape, launch: LaunchDimensions, unroll: int = 1) -> Schedule:
    """Every thread computes ``unroll`` neighbours in memory, and goes on a launch's length ahead.

    Threads are numbered through x, then y, then z, all blocks of an axis before the next axis.
    Round ``chunk_id`` of a thread begins where all threads of the launch have ended round
    ``chunk_id - 1``; there are as many rounds as the result needs. What a thread reads of an
    operand follows from the operation: :meth:`Access.through`.

    Shapes:
        result: any array; its layout tells the order of the elements, tiles take no part.

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
    written = Access(thread_map(result, launch, unroll), result)
    return Schedule(launch, (), (written,))


def thread_map(shape: Shape, launch: LaunchDimensions, unroll: int = 1) -> IndexingMap:
    """From the coordinates of a thread to the elements of an array that it goes through."""
    check_positive("loop", "unroll", unroll)
    count = shape.element_count
    step = unroll * launch.thread_count
    first = linear_thread(launch) * unroll + loop_id(0) * step
    place = first + loop_id(1)
    index = in_array(shape, (count,), (place,))
    # Where the rounds are whole, one test for all that is unrolled, so that these become a vector.
    whole = count % unroll == 0
    limit = (first, Interval(0, count - unroll)) if whole else (place, Interval(0, count - 1))
    ranges = {"chunk_id": max(1, -(-count // step)), "unroll_id": unroll}
    return launch.map(index, ranges, [limit]).simplify()


def linear_thread(launch: LaunchDimensions) -> Form:
    """The number of a thread among all threads of a launch."""
    number, stride = forms.ZERO, 1
    for axis, (threads, blocks) in enumerate(zip(launch.threads, launch.blocks, strict=True)):
        number += (block_id(axis) * threads + thread_id(axis)) * stride
        stride *= threads * blocks
    return number
