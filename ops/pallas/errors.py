"""What a call of Pallas, its grid or its blocks have wrong."""

from __future__ import annotations

from simplifier.errors import IndexingError


class PallasError(IndexingError, ValueError):
    """A grid, a block or an index map that makes no sense, or that cannot be read."""
