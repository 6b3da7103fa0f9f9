"""Tiles of whole fusions: the tiling space, and the tile of every instruction and operand."""

from ops.tiling.tile_propagation import ArrayTile, Propagation, propagate
from ops.tiling.tiling_dimension import DimensionKind, TilingDimension
from ops.tiling.tiling_space import TilingSpace

__all__ = [
    "ArrayTile",
    "DimensionKind",
    "Propagation",
    "TilingDimension",
    "TilingSpace",
    "propagate",
]
