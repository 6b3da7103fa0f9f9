"""Tiles of whole fusions: the tiling space, the tile of every array, and the best sizes."""

from ops.tiling.tile_propagation import ArrayTile, Propagation, propagate
from ops.tiling.tiling_dimension import DimensionKind, TilingDimension
from ops.tiling.tiling_space import TilingSpace
from ops.tiling.tilings import TilingCandidate, Tilings, tilings

__all__ = [
    "ArrayTile",
    "DimensionKind",
    "Propagation",
    "TilingCandidate",
    "TilingDimension",
    "TilingSpace",
    "Tilings",
    "propagate",
    "tilings",
]
