"""Errors of shapes and layouts."""

from __future__ import annotations

from simplifier.errors import IndexingError


class ShapeError(IndexingError, ValueError):
    """A shape or layout that makes no sense: a negative size, a layout of another rank."""
