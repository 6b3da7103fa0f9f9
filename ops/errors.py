"""What can be wrong with an operation."""

from __future__ import annotations

from simplifier.errors import IndexingError


class ShapeError(IndexingError, ValueError):
    """Sizes of operands, sizes of the result and attributes that do not fit each other."""
