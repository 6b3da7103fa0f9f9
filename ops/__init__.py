"""What tensor operations do: shapes and attributes in, indexing maps out."""

from indexing.layout import ShapeError
from ops.analysis.findings import InstructionIndexing
from ops.analysis.queries import (
    fusion_indexing,
    input_to_output,
    output_to_input,
    parameter_indexing,
)
from ops.analysis.registry import REGISTRY, Registry
from ops.builders.bitcasting import bitcast, bitcast_convert
from ops.builders.broadcasting import broadcast
from ops.builders.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_of_tuple,
    reduce_scatter,
)
from ops.builders.contraction import dot, ragged_dot, scaled_dot
from ops.builders.convolution import convolution
from ops.builders.dynamic import dynamic_slice, dynamic_update_slice
from ops.builders.dynamic_sizes import dynamic_reshape, get_dimension_size, set_dimension_size
from ops.builders.fourier import fft
from ops.builders.gather import gather
from ops.builders.linear_algebra import cholesky, triangular_solve
from ops.builders.normalization import batch_norm_grad, batch_norm_inference, batch_norm_training
from ops.builders.op_indexing import OpIndexing, Origin, Unknown
from ops.builders.ordering import sort, top_k
from ops.builders.padding import pad
from ops.builders.pointwise import elementwise, generated
from ops.builders.ragged_exchange import ragged_all_to_all
from ops.builders.random import rng, rng_bit_generator
from ops.builders.reduction import reduce
from ops.builders.reordering import reverse, transpose
from ops.builders.reshaping import reshape
from ops.builders.scanning import scan
from ops.builders.scatter import scatter
from ops.builders.shuffling import permute, rotate
from ops.builders.slicing import concatenate, slice  # noqa: A004 - the operation's name
from ops.builders.transfers import Root, collective_broadcast, collective_permute, collective_reduce
from ops.builders.windows import reduce_window, select_and_scatter
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
from ops.fusion import (
    Emitter,
    Fusion,
    FusionError,
    FusionSchedule,
    Provenance,
    Reads,
    by_producer,
    schedule_of,
)
from ops.modules.analysis import InstructionAnalysis, ModuleAnalysis, analyze
from ops.modules.batch import Batch, FileAnswer, QuestionError, WorkerDiedError, analyze_files
from ops.modules.names import AmbiguousNameError, NoSuchInstructionError

__all__ = [
    "REGISTRY",
    "AmbiguousNameError",
    "Batch",
    "Emitter",
    "FileAnswer",
    "Fusion",
    "FusionError",
    "FusionSchedule",
    "InstructionAnalysis",
    "InstructionIndexing",
    "ModuleAnalysis",
    "NoSuchInstructionError",
    "OpIndexing",
    "OperandIndexing",
    "Origin",
    "Provenance",
    "QuestionError",
    "Reads",
    "Registry",
    "Root",
    "RuntimeOrigin",
    "ShapeError",
    "Unknown",
    "WorkerDiedError",
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
    "collective_broadcast",
    "collective_permute",
    "collective_reduce",
    "concatenate",
    "convolution",
    "dot",
    "dynamic_reshape",
    "dynamic_slice",
    "dynamic_update_slice",
    "elementwise",
    "fft",
    "fusion_indexing",
    "gather",
    "generated",
    "get_dimension_size",
    "input_to_output",
    "output_to_input",
    "pad",
    "parameter_indexing",
    "permute",
    "ragged_all_to_all",
    "ragged_dot",
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
    "top_k",
    "transpose",
    "triangular_solve",
]
