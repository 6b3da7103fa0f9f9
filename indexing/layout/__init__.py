"""Shapes and the layouts of their elements in memory."""

from indexing.layout.element_type import ElementType, Kind
from indexing.layout.errors import ShapeError
from indexing.layout.layout import COMBINE_DIMENSION, Layout, LevelKind, LevelType, SplitConfig
from indexing.layout.maps import (
    linear_to_logical,
    logical_to_linear,
    logical_to_physical,
    logical_to_tiled,
    physical_to_logical,
    step_map,
    tiled_to_logical,
)
from indexing.layout.offsets import is_padding, linear_index, memory_order, multi_index
from indexing.layout.shape import UNBOUNDED_SIZE, Shape
from indexing.layout.steps import Pad, Reshape, Step, Transpose, tiled_sizes, tiling_steps

__all__ = [
    "COMBINE_DIMENSION",
    "UNBOUNDED_SIZE",
    "ElementType",
    "Kind",
    "Layout",
    "LevelKind",
    "LevelType",
    "Pad",
    "Reshape",
    "Shape",
    "ShapeError",
    "SplitConfig",
    "Step",
    "Transpose",
    "is_padding",
    "linear_index",
    "linear_to_logical",
    "logical_to_linear",
    "logical_to_physical",
    "logical_to_tiled",
    "memory_order",
    "multi_index",
    "physical_to_logical",
    "step_map",
    "tiled_sizes",
    "tiled_to_logical",
    "tiling_steps",
]
