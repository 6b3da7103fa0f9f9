"""Tensor operations: shapes and attributes in, indexing maps out."""

from __future__ import annotations

from indexing.layout import ShapeError
from ops.analysis.queries import (
    InstructionAnalysis,
    InstructionIndexing,
    ModuleAnalysis,
    analyze,
    fusion_indexing,
    input_to_output,
    output_to_input,
    parameter_indexing,
)
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
from ops.explorer import Exploration, explore
from ops.fusion import (
    Fusion,
    FusionError,
    Provenance,
    Reads,
    Reason,
    TileRead,
    access_picture,
    by_producer,
    fusion_graph,
    reads,
    why,
)
from ops.hlo.errors import AmbiguousNameError, NoSuchInstructionError
from ops.jax import from_jax
from ops.kernels import KernelError, emit_kernel
from ops.loops import Conflict, InPlaceUpdate, Loop, LoopDependence, LoopError, loops
from ops.modules.batch import Batch, FileAnswer, QuestionError, WorkerDiedError, analyze_files
from ops.modules.difference import Change, ChangeKind, ModuleDifference, diff
from ops.performance import (
    Coalescing,
    Summary,
    Utilization,
    coalescing,
    load_picture,
    summary,
    utilization,
)
from ops.rules.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_of_tuple,
    reduce_scatter,
)
from ops.rules.control import generated, rng, rng_bit_generator
from ops.rules.data_movement import (
    broadcast,
    concatenate,
    pad,
    permute,
    reverse,
    rotate,
    slice,  # noqa: A004 - the operation's name
    transpose,
)
from ops.rules.dot import dot, ragged_dot, scaled_dot
from ops.rules.dynamic_sizes import dynamic_reshape, get_dimension_size, set_dimension_size
from ops.rules.dynamic_slice import dynamic_slice, dynamic_update_slice
from ops.rules.elementwise import elementwise
from ops.rules.gather_scatter import gather, scatter
from ops.rules.linear_algebra import cholesky, fft, triangular_solve
from ops.rules.reduce import batch_norm_grad, batch_norm_inference, batch_norm_training, reduce
from ops.rules.registry import REGISTRY, Registry
from ops.rules.reshape import bitcast, bitcast_convert, reshape
from ops.rules.rule import OpIndexing, Origin, Unknown
from ops.rules.scan import StepUse, scan
from ops.rules.sort import sort, top_k
from ops.rules.transfers import (
    Root,
    collective_broadcast,
    collective_permute,
    collective_reduce,
    ragged_all_to_all,
)
from ops.rules.windows import convolution, reduce_window, select_and_scatter
from ops.stablehlo import MlirTextError
from ops.tiling import (
    ArrayTile,
    DimensionKind,
    Propagation,
    TilingCandidate,
    TilingDimension,
    Tilings,
    TilingSpace,
    propagate,
    tilings,
)
from ops.xla_gpu import Emitter, FusionSchedule, schedule_of

__all__ = [
    "REGISTRY",
    "AmbiguousNameError",
    "ArrayTile",
    "Batch",
    "Change",
    "ChangeKind",
    "Coalescing",
    "Conflict",
    "DimensionKind",
    "Emitter",
    "Exploration",
    "FileAnswer",
    "Fusion",
    "FusionError",
    "FusionSchedule",
    "InPlaceUpdate",
    "InstructionAnalysis",
    "InstructionIndexing",
    "KernelError",
    "Loop",
    "LoopDependence",
    "LoopError",
    "MlirTextError",
    "ModuleAnalysis",
    "ModuleDifference",
    "NoSuchInstructionError",
    "OpIndexing",
    "OperandIndexing",
    "Origin",
    "Propagation",
    "Provenance",
    "QuestionError",
    "Reads",
    "Reason",
    "Registry",
    "Root",
    "RuntimeOrigin",
    "ShapeError",
    "StepUse",
    "Summary",
    "TileRead",
    "TilingCandidate",
    "TilingDimension",
    "TilingSpace",
    "Tilings",
    "Unknown",
    "Utilization",
    "WorkerDiedError",
    "access_picture",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_of_tuple",
    "analyze",
    "analyze_files",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "bitcast",
    "bitcast_convert",
    "broadcast",
    "by_producer",
    "cholesky",
    "coalescing",
    "collective_broadcast",
    "collective_permute",
    "collective_reduce",
    "concatenate",
    "convolution",
    "diff",
    "dot",
    "dynamic_reshape",
    "dynamic_slice",
    "dynamic_update_slice",
    "elementwise",
    "emit_kernel",
    "explore",
    "fft",
    "from_jax",
    "fusion_graph",
    "fusion_indexing",
    "gather",
    "generated",
    "get_dimension_size",
    "input_to_output",
    "load_picture",
    "loops",
    "output_to_input",
    "pad",
    "parameter_indexing",
    "permute",
    "propagate",
    "ragged_all_to_all",
    "ragged_dot",
    "reads",
    "reduce",
    "reduce_scatter",
    "reduce_window",
    "reshape",
    "reverse",
    "rng",
    "rng_bit_generator",
    "rotate",
    "scaled_dot",
    "scan",
    "scatter",
    "schedule_of",
    "select_and_scatter",
    "set_dimension_size",
    "slice",
    "sort",
    "summary",
    "tilings",
    "top_k",
    "transpose",
    "triangular_solve",
    "utilization",
    "why",
]
