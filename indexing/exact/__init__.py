"""Questions about maps that isl answers exactly: complete where the map is quasi-affine."""

from __future__ import annotations

from indexing.exact.counting import multiplicities

__all__ = ["multiplicities"]
