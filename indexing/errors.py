"""What can be wrong with a map."""

from __future__ import annotations

from simplifier.errors import IndexingError


class MapError(IndexingError, ValueError):
    """A map, or a question to it, without sense: wrong arity, unknown variable, doubled name."""
