"""Shapes, and how their elements lie in memory: offsets, maps, bitcasts and pictures."""

from __future__ import annotations

from indexing.errors import ShapeError
from indexing.layout import cute, linear
from indexing.layout.array_shape import UNBOUNDED_SIZE, ArrayShape
from indexing.layout.bitcasts import (
    align_layouts,
    bitcast_map,
    copy_is_bitcast,
    decompose_bitcast,
    deduce_transpose,
    reshape_is_bitcast,
    transpose_is_bitcast,
)
from indexing.layout.dimensions import (
    OneSizedDimensions,
    common_blocks,
    delete_dimensions,
    dimensions_after_reshape,
    dimensions_unmodified_by_reshape,
    in_memory_order,
    one_sized_dimensions_changed_by_reshape,
    reorder_dimensions,
)
from indexing.layout.element_type import ElementType, Kind
from indexing.layout.layout import COMBINE_DIMENSION, Layout, LevelKind, LevelType, SplitConfig
from indexing.layout.maps import (
    linear_to_logical,
    logical_to_linear,
    logical_to_physical,
    logical_to_tiled,
    physical_to_logical,
    step_map,
    strides,
    tiled_to_logical,
)
from indexing.layout.memory import (
    ArraySize,
    Piece,
    array_size,
    is_padding,
    linear_index,
    memory_order,
    multi_index,
    pieces,
)
from indexing.layout.picture import (
    LayoutPicture,
    layout_picture,
    order_in_words,
    size_in_words,
)
from indexing.layout.shape import (
    Shape,
)
from indexing.layout.steps import Crop, Pad, Reshape, Step, Transpose, tiled_sizes, tiling_steps
from indexing.layout.tile_formats import (
    FORMATS,
    UNTILED,
    PaddedLayout,
    PaddingValue,
    TileFormat,
    format_of,
    tile_format,
    tpu_shape,
)

__all__ = [
    "COMBINE_DIMENSION",
    "FORMATS",
    "UNBOUNDED_SIZE",
    "UNTILED",
    "ArrayShape",
    "ArraySize",
    "Crop",
    "ElementType",
    "Kind",
    "Layout",
    "LayoutPicture",
    "LevelKind",
    "LevelType",
    "OneSizedDimensions",
    "Pad",
    "PaddedLayout",
    "PaddingValue",
    "Piece",
    "Reshape",
    "Shape",
    "ShapeError",
    "SplitConfig",
    "Step",
    "TileFormat",
    "Transpose",
    "align_layouts",
    "array_size",
    "bitcast_map",
    "common_blocks",
    "copy_is_bitcast",
    "cute",
    "decompose_bitcast",
    "deduce_transpose",
    "delete_dimensions",
    "dimensions_after_reshape",
    "dimensions_unmodified_by_reshape",
    "format_of",
    "in_memory_order",
    "is_padding",
    "layout_picture",
    "linear",
    "linear_index",
    "linear_to_logical",
    "logical_to_linear",
    "logical_to_physical",
    "logical_to_tiled",
    "memory_order",
    "multi_index",
    "one_sized_dimensions_changed_by_reshape",
    "order_in_words",
    "physical_to_logical",
    "pieces",
    "reorder_dimensions",
    "reshape_is_bitcast",
    "size_in_words",
    "step_map",
    "strides",
    "tile_format",
    "tiled_sizes",
    "tiled_to_logical",
    "tiling_steps",
    "tpu_shape",
    "transpose_is_bitcast",
]
