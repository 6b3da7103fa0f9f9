"""Reads and writes of each thread of a GPU, as maps from the launch's coordinates."""

from __future__ import annotations

from ops.xla_gpu.blocks import BlockSchedule, block_level, block_schedule
from ops.xla_gpu.emitters import KERNELS, emitter_and_heroes, permutation_of, results_of
from ops.xla_gpu.fusion_schedule import Emitter, FusionSchedule, schedule_of
from ops.xla_gpu.launch import WARP_SIZE, Access, AnyOrigin, LaunchDimensions, Schedule, unflattened
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
    "KERNELS",
    "WARP_SIZE",
    "Access",
    "AnyOrigin",
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
    "block_level",
    "block_schedule",
    "concatenate_schedule",
    "emitter_and_heroes",
    "in_place_update_schedule",
    "loop_schedule",
    "packed_transpose_schedule",
    "permutation_of",
    "reduce_schedule",
    "results_of",
    "scatter_schedule",
    "schedule_of",
    "sort_schedule",
    "sorted_scatter_schedule",
    "transpose_schedule",
    "unflattened",
]
