"""Pictures: SVG, axes of grids, and which elements a map reads."""

from __future__ import annotations
