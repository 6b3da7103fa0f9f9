"""Which elements each thread of a GPU reads and writes, as maps from the launch's coordinates."""

from __future__ import annotations

from ops.xla_gpu.blocks import BlockSchedule, block_schedule
from ops.xla_gpu.fusion_schedule import Emitter, FusionSchedule, schedule_of
from ops.xla_gpu.launch import Access, LaunchDimensions, Schedule
from ops.xla_gpu.loops import (
    SortKernel,
    SortSchedule,
    concatenate_schedule,
    in_place_update_schedule,
    loop_schedule,
    scatter_schedule,
    sort_schedule,
    sorted_scatter_schedule,
)
from ops.xla_gpu.reduce import ReductionDimensions, reduce_schedule
from ops.xla_gpu.transpose import (
    SharedTile,
    TransposeSchedule,
    packed_transpose_schedule,
    transpose_schedule,
)

__all__ = [
    "Access",
    "BlockSchedule",
    "Emitter",
    "FusionSchedule",
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
    "schedule_of",
    "sort_schedule",
    "sorted_scatter_schedule",
    "transpose_schedule",
]
