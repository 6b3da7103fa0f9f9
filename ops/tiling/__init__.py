"""Tiles of whole fusions: the tiling space, the tile of every array, and the best sizes."""

from __future__ import annotations

from ops.tiling.candidates import TilingCandidate, Tilings, tilings
from ops.tiling.propagation import ArrayTile, Propagation, propagate
from ops.tiling.space import DimensionKind, TilingDimension, TilingSpace

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
