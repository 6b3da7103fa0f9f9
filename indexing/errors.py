"""The error of this package."""

from __future__ import annotations

from simplifier.errors import IndexingError


class MapError(IndexingError, ValueError):
    """A map or a question makes no sense: wrong arity, unknown variable, name used twice."""
