"""Shapes and the layouts of their elements in memory."""

from indexing.layout.element_type import ElementType, Kind
from indexing.layout.errors import ShapeError
from indexing.layout.layout import COMBINE_DIMENSION, Layout, LevelKind, LevelType, SplitConfig
from indexing.layout.shape import UNBOUNDED_SIZE, Shape

__all__ = [
    "COMBINE_DIMENSION",
    "UNBOUNDED_SIZE",
    "ElementType",
    "Kind",
    "Layout",
    "LevelKind",
    "LevelType",
    "Shape",
    "ShapeError",
    "SplitConfig",
]
