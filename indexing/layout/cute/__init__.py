"""CuTe's layouts: shapes and strides that are nested, their algebra, swizzles, and maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.tools.late import exports

if TYPE_CHECKING:
    from indexing.layout.cute.algebra import ComposedLayout as ComposedLayout
    from indexing.layout.cute.algebra import Swizzle as Swizzle
    from indexing.layout.cute.algebra import blocked_product as blocked_product
    from indexing.layout.cute.algebra import coalesce as coalesce
    from indexing.layout.cute.algebra import complement as complement
    from indexing.layout.cute.algebra import composition as composition
    from indexing.layout.cute.algebra import filter_zeros as filter_zeros
    from indexing.layout.cute.algebra import flat_divide as flat_divide
    from indexing.layout.cute.algebra import flat_product as flat_product
    from indexing.layout.cute.algebra import left_inverse as left_inverse
    from indexing.layout.cute.algebra import logical_divide as logical_divide
    from indexing.layout.cute.algebra import logical_product as logical_product
    from indexing.layout.cute.algebra import raked_product as raked_product
    from indexing.layout.cute.algebra import recast as recast
    from indexing.layout.cute.algebra import right_inverse as right_inverse
    from indexing.layout.cute.algebra import slice_and_offset as slice_and_offset
    from indexing.layout.cute.algebra import tiled_divide as tiled_divide
    from indexing.layout.cute.algebra import tiled_product as tiled_product
    from indexing.layout.cute.algebra import with_shape as with_shape
    from indexing.layout.cute.algebra import zipped_divide as zipped_divide
    from indexing.layout.cute.algebra import zipped_product as zipped_product
    from indexing.layout.cute.layout import CuteLayout as CuteLayout
    from indexing.layout.cute.layout import SymbolicLayout as SymbolicLayout
    from indexing.layout.cute.maps import from_map as from_map
    from indexing.layout.cute.maps import parse as parse
    from indexing.layout.cute.maps import parse_composed as parse_composed
    from indexing.layout.cute.maps import parse_swizzle as parse_swizzle
    from indexing.layout.cute.maps import parse_symbolic as parse_symbolic
    from indexing.layout.cute.maps import picture as picture
    from indexing.layout.cute.maps import to_map as to_map
else:
    __all__, __getattr__, __dir__ = exports(__name__)
