"""CuTe's layouts: shapes and strides that are nested, their algebra, swizzles, and maps."""

from indexing.layout.cute.cute_layout import CuteLayout
from indexing.layout.cute.cute_maps import from_map, to_map
from indexing.layout.cute.cute_picture import picture
from indexing.layout.cute.cute_text import parse, parse_composed, parse_swizzle
from indexing.layout.cute.divide_product import (
    blocked_product,
    flat_divide,
    flat_product,
    logical_divide,
    logical_product,
    raked_product,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)
from indexing.layout.cute.layout_algebra import (
    coalesce,
    complement,
    composition,
    filter_zeros,
    left_inverse,
    right_inverse,
)
from indexing.layout.cute.swizzle import ComposedLayout, Swizzle

__all__ = [
    "ComposedLayout",
    "CuteLayout",
    "Swizzle",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "filter_zeros",
    "flat_divide",
    "flat_product",
    "from_map",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "parse",
    "parse_composed",
    "parse_swizzle",
    "picture",
    "raked_product",
    "right_inverse",
    "tiled_divide",
    "tiled_product",
    "to_map",
    "zipped_divide",
    "zipped_product",
]
