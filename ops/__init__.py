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
    collective_broadcast,
    collective_permute,
    reduce_scatter,
)
from ops.contraction import dot
from ops.convolution import convolution
from ops.dynamic import dynamic_slice, dynamic_update_slice
from ops.fusion import fusion_indexing
from ops.gather import gather
from ops.padding import pad
from ops.pointwise import elementwise, generated
from ops.ragged_exchange import ragged_all_to_all
from ops.reduction import reduce
from ops.registry import REGISTRY, Registry
from ops.reordering import reverse, transpose
from ops.reshaping import reshape
from ops.scatter import scatter
from ops.shuffling import permute, rotate
from ops.slicing import concatenate, slice  # noqa: A004 - the operation's name
from ops.windows import reduce_window, select_and_scatter

__all__ = [
    "REGISTRY",
    "InstructionIndexing",
    "OpIndexing",
    "OperandIndexing",
    "Origin",
    "Registry",
    "RuntimeOrigin",
    "ShapeError",
    "Unknown",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_of_tuple",
    "bitcast",
    "bitcast_convert",
    "broadcast",
    "collective_broadcast",
    "collective_permute",
    "concatenate",
    "convolution",
    "dot",
    "dynamic_slice",
    "dynamic_update_slice",
    "elementwise",
    "fusion_indexing",
    "gather",
    "generated",
    "input_to_output",
    "output_to_input",
    "pad",
    "permute",
    "ragged_all_to_all",
    "reduce",
    "reduce_scatter",
    "reduce_window",
    "reshape",
    "reverse",
    "rotate",
    "scatter",
    "select_and_scatter",
    "slice",
    "transpose",
]
