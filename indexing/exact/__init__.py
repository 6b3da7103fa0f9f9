"""Questions about maps that isl answers exactly: complete where the map is quasi-affine."""

from indexing.exact.multiplicity import multiplicities

__all__ = ["multiplicities"]
