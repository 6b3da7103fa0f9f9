"""Tiles: which elements of one tensor belong to a tile of another, as formulas of the sizes."""

from __future__ import annotations
