"""What tensor operations do: shapes and attributes in, indexing maps out."""

from indexing.layout import ShapeError
from ops.analysis import input_to_output, output_to_input
from ops.answers import (
    InstructionIndexing,
    OperandIndexing,
    OpIndexing,
    Origin,
    RuntimeOrigin,
    Unknown,
)
from ops.bitcasting import bitcast, bitcast_convert
from ops.broadcasting import broadcast
from ops.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_of_tuple,
    reduce_scatter,
)
from ops.contraction import dot, ragged_dot, scaled_dot
from ops.convolution import convolution
from ops.dynamic import dynamic_slice, dynamic_update_slice
from ops.dynamic_sizes import dynamic_reshape, get_dimension_size, set_dimension_size
from ops.fourier import fft
from ops.fusion import fusion_indexing
from ops.gather import gather
from ops.linear_algebra import cholesky, triangular_solve
from ops.normalization import batch_norm_grad, batch_norm_inference, batch_norm_training
from ops.ordering import sort, top_k
from ops.padding import pad
from ops.pointwise import elementwise, generated
from ops.ragged_exchange import ragged_all_to_all
from ops.random import rng, rng_bit_generator
from ops.reduction import reduce
from ops.registry import REGISTRY, Registry
from ops.reordering import reverse, transpose
from ops.reshaping import reshape
from ops.scanning import scan
from ops.scatter import scatter
from ops.shuffling import permute, rotate
from ops.slicing import concatenate, slice  # noqa: A004 - the operation's name
from ops.transfers import Root, collective_broadcast, collective_permute, collective_reduce
from ops.windows import reduce_window, select_and_scatter

__all__ = [
    "REGISTRY",
    "InstructionIndexing",
    "OpIndexing",
    "OperandIndexing",
    "Origin",
    "Registry",
    "Root",
    "RuntimeOrigin",
    "ShapeError",
    "Unknown",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_of_tuple",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "bitcast",
    "bitcast_convert",
    "broadcast",
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
    "select_and_scatter",
    "set_dimension_size",
    "slice",
    "sort",
    "top_k",
    "transpose",
    "triangular_solve",
]
