"""Shapes, and how their elements lie in memory: offsets, maps, bitcasts and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.tools.late import exports

if TYPE_CHECKING:
    from indexing.errors import ShapeError as ShapeError
    from indexing.layout import cute as cute
    from indexing.layout import linear as linear
    from indexing.layout.bitcasts import align_layouts as align_layouts
    from indexing.layout.bitcasts import bitcast_map as bitcast_map
    from indexing.layout.bitcasts import copy_is_bitcast as copy_is_bitcast
    from indexing.layout.bitcasts import decompose_bitcast as decompose_bitcast
    from indexing.layout.bitcasts import deduce_transpose as deduce_transpose
    from indexing.layout.bitcasts import reshape_is_bitcast as reshape_is_bitcast
    from indexing.layout.bitcasts import transpose_is_bitcast as transpose_is_bitcast
    from indexing.layout.layout import COMBINE_DIMENSION as COMBINE_DIMENSION
    from indexing.layout.layout import UNBOUNDED_SIZE as UNBOUNDED_SIZE
    from indexing.layout.layout import ArrayShape as ArrayShape
    from indexing.layout.layout import ElementType as ElementType
    from indexing.layout.layout import Kind as Kind
    from indexing.layout.layout import Layout as Layout
    from indexing.layout.layout import LevelKind as LevelKind
    from indexing.layout.layout import LevelType as LevelType
    from indexing.layout.layout import OneSizedDimensions as OneSizedDimensions
    from indexing.layout.layout import SplitConfig as SplitConfig
    from indexing.layout.layout import common_blocks as common_blocks
    from indexing.layout.layout import delete_dimensions as delete_dimensions
    from indexing.layout.layout import dimensions_after_reshape as dimensions_after_reshape
    from indexing.layout.layout import (
        dimensions_unmodified_by_reshape as dimensions_unmodified_by_reshape,
    )
    from indexing.layout.layout import in_memory_order as in_memory_order
    from indexing.layout.layout import (
        one_sized_dimensions_changed_by_reshape as one_sized_dimensions_changed_by_reshape,
    )
    from indexing.layout.layout import reorder_dimensions as reorder_dimensions
    from indexing.layout.maps import ArraySize as ArraySize
    from indexing.layout.maps import Crop as Crop
    from indexing.layout.maps import Pad as Pad
    from indexing.layout.maps import Piece as Piece
    from indexing.layout.maps import Reshape as Reshape
    from indexing.layout.maps import Step as Step
    from indexing.layout.maps import Transpose as Transpose
    from indexing.layout.maps import array_size as array_size
    from indexing.layout.maps import is_padding as is_padding
    from indexing.layout.maps import linear_index as linear_index
    from indexing.layout.maps import linear_to_logical as linear_to_logical
    from indexing.layout.maps import logical_to_linear as logical_to_linear
    from indexing.layout.maps import logical_to_physical as logical_to_physical
    from indexing.layout.maps import logical_to_tiled as logical_to_tiled
    from indexing.layout.maps import memory_order as memory_order
    from indexing.layout.maps import multi_index as multi_index
    from indexing.layout.maps import physical_to_logical as physical_to_logical
    from indexing.layout.maps import pieces as pieces
    from indexing.layout.maps import step_map as step_map
    from indexing.layout.maps import strides as strides
    from indexing.layout.maps import tiled_sizes as tiled_sizes
    from indexing.layout.maps import tiled_to_logical as tiled_to_logical
    from indexing.layout.maps import tiling_steps as tiling_steps
    from indexing.layout.picture import LayoutPicture as LayoutPicture
    from indexing.layout.picture import layout_picture as layout_picture
    from indexing.layout.picture import order_in_words as order_in_words
    from indexing.layout.picture import size_in_words as size_in_words
    from indexing.layout.shape import Shape as Shape
    from indexing.layout.tile_formats import FORMATS as FORMATS
    from indexing.layout.tile_formats import UNTILED as UNTILED
    from indexing.layout.tile_formats import PaddedLayout as PaddedLayout
    from indexing.layout.tile_formats import PaddingValue as PaddingValue
    from indexing.layout.tile_formats import TileFormat as TileFormat
    from indexing.layout.tile_formats import format_of as format_of
    from indexing.layout.tile_formats import tile_format as tile_format
    from indexing.layout.tile_formats import tpu_shape as tpu_shape
else:
    __all__, __getattr__, __dir__ = exports(__name__)
