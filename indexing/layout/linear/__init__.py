"""Triton's linear layouts: bases over the field of two elements, encodings, conversions, maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.tools.late import exports

if TYPE_CHECKING:
    from indexing.layout.linear.accesses import LayoutConversion as LayoutConversion
    from indexing.layout.linear.accesses import SharedAccess as SharedAccess
    from indexing.layout.linear.accesses import SharedChoice as SharedChoice
    from indexing.layout.linear.accesses import best_shared as best_shared
    from indexing.layout.linear.accesses import conversion as conversion
    from indexing.layout.linear.accesses import invert_and_compose as invert_and_compose
    from indexing.layout.linear.accesses import shared_access as shared_access
    from indexing.layout.linear.accesses import vector_width as vector_width
    from indexing.layout.linear.encoding_text import parse_encoding as parse_encoding
    from indexing.layout.linear.encodings import BlockSplit as BlockSplit
    from indexing.layout.linear.encodings import amd_dot_operand as amd_dot_operand
    from indexing.layout.linear.encodings import amd_mfma as amd_mfma
    from indexing.layout.linear.encodings import amd_wmma as amd_wmma
    from indexing.layout.linear.encodings import blocked as blocked
    from indexing.layout.linear.encodings import blocked_for as blocked_for
    from indexing.layout.linear.encodings import dot_operand as dot_operand
    from indexing.layout.linear.encodings import nvidia_mma as nvidia_mma
    from indexing.layout.linear.encodings import nvmma_shared as nvmma_shared
    from indexing.layout.linear.encodings import slice_of as slice_of
    from indexing.layout.linear.encodings import swizzled_shared as swizzled_shared
    from indexing.layout.linear.encodings import tensor_memory as tensor_memory
    from indexing.layout.linear.encodings import wmma_dot_operand as wmma_dot_operand
    from indexing.layout.linear.layout import LinearLayout as LinearLayout
    from indexing.layout.linear.layout import from_map as from_map
    from indexing.layout.linear.layout import parse as parse
    from indexing.layout.linear.layout import picture as picture
    from indexing.layout.linear.layout import to_map as to_map
else:
    __all__, __getattr__, __dir__ = exports(__name__)
