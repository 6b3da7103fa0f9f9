"""The errors of this package: of maps, and of shapes and layouts."""

from __future__ import annotations

from simplifier.errors import IndexingError


class MapError(IndexingError, ValueError):
    """A map or a question makes no sense: wrong arity, unknown variable, name used twice."""


class ShapeError(IndexingError, ValueError):
    """A shape or layout that makes no sense: a negative size, a layout of another rank."""


class TileError(IndexingError, ValueError):
    """A tile that cannot be described, or sizes that it does not hold for, with the reason."""
