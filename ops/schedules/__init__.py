"""Which elements each thread of a GPU reads and writes, as maps from the launch's coordinates."""

from ops.schedules.block_schedule import BlockSchedule, block_schedule
from ops.schedules.launch import LaunchDimensions
from ops.schedules.loop_schedules import (
    concatenate_schedule,
    in_place_update_schedule,
    loop_schedule,
)
from ops.schedules.packed_transpose_schedule import packed_transpose_schedule
from ops.schedules.reduce_schedule import ReductionDimensions, reduce_schedule
from ops.schedules.scatter_schedule import scatter_schedule, sorted_scatter_schedule
from ops.schedules.schedule import Access, Schedule
from ops.schedules.sort_schedule import SortKernel, SortSchedule, sort_schedule
from ops.schedules.transpose_schedule import SharedTile, TransposeSchedule, transpose_schedule

__all__ = [
    "Access",
    "BlockSchedule",
    "LaunchDimensions",
    "ReductionDimensions",
    "Schedule",
    "SharedTile",
    "SortKernel",
    "SortSchedule",
    "TransposeSchedule",
    "block_schedule",
    "concatenate_schedule",
    "in_place_update_schedule",
    "loop_schedule",
    "packed_transpose_schedule",
    "reduce_schedule",
    "scatter_schedule",
    "sort_schedule",
    "sorted_scatter_schedule",
    "transpose_schedule",
]
