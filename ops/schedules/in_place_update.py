"""The in-place update schedule: threads write the update over what is there, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.rules.dynamic_slice import dynamic_update_slice
from ops.schedules.loop import thread_map
from ops.schedules.schedule import Access, Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.layout import Shape
    from ops.schedules.launch import LaunchDimensions


def in_place_update_schedule(
    operand: Shape,
    update: Shape,
    launch: LaunchDimensions,
    unroll: int = 1,
    start_indices: Sequence[int | None] = (),
) -> Schedule:
    """A loop over the update of a dynamic-update-slice whose result is its operand's memory.

    Of the operand nothing is read, and of the result only the part that the update covers is
    written, at start indices that the program computes: the runtime variables, in the order of
    :func:`ops.dynamic_update_slice`. That each part is written once, wherever it begins, is
    :meth:`Schedule.never_writes_twice` and that the update is read exactly once.

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
    read = Access(thread_map(update, launch, unroll), update)
    written = read.through(indexing.input_to_output[1], operand)
    return Schedule(launch, (None, read, *(None,) * len(sizes)), (written,))
