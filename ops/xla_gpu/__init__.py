"""Reads and writes of each thread of a GPU, as maps from the launch's coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.tools.late import exports

if TYPE_CHECKING:
    from ops.xla_gpu.emitters import KERNELS as KERNELS
    from ops.xla_gpu.emitters import Emitter as Emitter
    from ops.xla_gpu.emitters import Heroes as Heroes
    from ops.xla_gpu.emitters import emitter_and_heroes as emitter_and_heroes
    from ops.xla_gpu.emitters import results_of as results_of
    from ops.xla_gpu.fusions import FusionSchedule as FusionSchedule
    from ops.xla_gpu.fusions import schedule_of as schedule_of
    from ops.xla_gpu.loops import SortKernel as SortKernel
    from ops.xla_gpu.loops import SortSchedule as SortSchedule
    from ops.xla_gpu.loops import concatenate_schedule as concatenate_schedule
    from ops.xla_gpu.loops import in_place_update_schedule as in_place_update_schedule
    from ops.xla_gpu.loops import loop_schedule as loop_schedule
    from ops.xla_gpu.loops import scatter_schedule as scatter_schedule
    from ops.xla_gpu.loops import sort_schedule as sort_schedule
    from ops.xla_gpu.loops import sorted_scatter_schedule as sorted_scatter_schedule
    from ops.xla_gpu.schedule import WARP_SIZE as WARP_SIZE
    from ops.xla_gpu.schedule import Access as Access
    from ops.xla_gpu.schedule import AnyOrigin as AnyOrigin
    from ops.xla_gpu.schedule import BlockSchedule as BlockSchedule
    from ops.xla_gpu.schedule import LaunchDimensions as LaunchDimensions
    from ops.xla_gpu.schedule import Schedule as Schedule
    from ops.xla_gpu.schedule import block_level as block_level
    from ops.xla_gpu.schedule import block_schedule as block_schedule
    from ops.xla_gpu.schedule import unflattened as unflattened
    from ops.xla_gpu.shared_memory import ReductionDimensions as ReductionDimensions
    from ops.xla_gpu.shared_memory import SharedTile as SharedTile
    from ops.xla_gpu.shared_memory import TransposeSchedule as TransposeSchedule
    from ops.xla_gpu.shared_memory import packed_transpose_schedule as packed_transpose_schedule
    from ops.xla_gpu.shared_memory import permutation_of as permutation_of
    from ops.xla_gpu.shared_memory import reduce_schedule as reduce_schedule
    from ops.xla_gpu.shared_memory import transpose_schedule as transpose_schedule
else:
    __all__, __getattr__, __dir__ = exports(__name__)
