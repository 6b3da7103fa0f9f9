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
from ops.contraction import dot
from ops.fusion import fusion_indexing
from ops.gather import gather
from ops.padding import pad
from ops.pointwise import elementwise, generated
from ops.reduction import reduce
from ops.registry import REGISTRY, Registry
from ops.reordering import reverse, transpose
from ops.reshaping import reshape
from ops.scatter import scatter
from ops.slicing import concatenate, slice  # noqa: A004 - the operation's name

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
    "bitcast",
    "bitcast_convert",
    "broadcast",
    "concatenate",
    "dot",
    "elementwise",
    "fusion_indexing",
    "gather",
    "generated",
    "input_to_output",
    "output_to_input",
    "pad",
    "reduce",
    "reshape",
    "reverse",
    "scatter",
    "slice",
    "transpose",
]
