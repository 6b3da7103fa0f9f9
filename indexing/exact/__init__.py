"""Questions about maps that isl answers exactly: complete where the map is quasi-affine."""

from indexing.exact.questions import equals, is_empty

__all__ = ["equals", "is_empty"]
