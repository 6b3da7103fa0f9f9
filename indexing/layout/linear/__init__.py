"""Triton's linear layouts: bases over the field of two elements, encodings, conversions, maps."""

from __future__ import annotations

from indexing.layout.linear.conversion import (
    LayoutConversion,
    SharedAccess,
    conversion,
    invert_and_compose,
    shared_access,
    vector_width,
)
from indexing.layout.linear.encodings import (
    BlockSplit,
    amd_dot_operand,
    amd_mfma,
    blocked,
    blocked_for,
    dot_operand,
    nvidia_mma,
    nvmma_shared,
    parse_encoding,
    slice_of,
    swizzled_shared,
)
from indexing.layout.linear.layout import LinearLayout, from_map, parse, picture, to_map

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
