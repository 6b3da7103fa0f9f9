"""Questions about maps that isl answers exactly: complete where the map is quasi-affine."""
