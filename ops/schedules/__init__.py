"""Which elements each thread of a GPU reads and writes, as maps from the launch's coordinates."""

from ops.schedules.launch import LaunchDimensions
from ops.schedules.loop_schedules import (
    concatenate_schedule,
    in_place_update_schedule,
    loop_schedule,
)
from ops.schedules.packed_transpose_schedule import packed_transpose_schedule
from ops.schedules.reduce_schedule import ReductionDimensions, reduce_schedule
from ops.schedules.schedule import Access, Schedule
from ops.schedules.transpose_schedule import SharedTile, TransposeSchedule, transpose_schedule

__all__ = [
    "Access",
    "LaunchDimensions",
    "ReductionDimensions",
    "Schedule",
    "SharedTile",
    "TransposeSchedule",
    "concatenate_schedule",
    "in_place_update_schedule",
    "loop_schedule",
    "packed_transpose_schedule",
    "reduce_schedule",
    "transpose_schedule",
]
