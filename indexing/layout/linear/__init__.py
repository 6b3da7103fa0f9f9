"""Triton's linear layouts: bases over the field of two elements, encodings, conversions, maps."""

from indexing.layout.linear.conversion import (
    LayoutConversion,
    SharedAccess,
    conversion,
    invert_and_compose,
    shared_access,
    vector_width,
)
from indexing.layout.linear.encoding_parts import BlockSplit
from indexing.layout.linear.encoding_text import parse_encoding
from indexing.layout.linear.encodings import (
    amd_dot_operand,
    amd_mfma,
    blocked,
    blocked_for,
    dot_operand,
    nvidia_mma,
    slice_of,
)
from indexing.layout.linear.linear_layout import LinearLayout
from indexing.layout.linear.linear_maps import from_map, to_map
from indexing.layout.linear.linear_picture import picture
from indexing.layout.linear.linear_text import parse
from indexing.layout.linear.shared_encodings import nvmma_shared, swizzled_shared

__all__ = [
    "BlockSplit",
    "LayoutConversion",
    "LinearLayout",
    "SharedAccess",
    "amd_dot_operand",
    "amd_mfma",
    "blocked",
    "blocked_for",
    "conversion",
    "dot_operand",
    "from_map",
    "invert_and_compose",
    "nvidia_mma",
    "nvmma_shared",
    "parse",
    "parse_encoding",
    "picture",
    "shared_access",
    "slice_of",
    "swizzled_shared",
    "to_map",
    "vector_width",
]
