"""Loops: their numbers of iterations, and dependences between these."""

from __future__ import annotations

from ops.loops.while_loop import (
    UPDATES,
    Accesses,
    Conflict,
    InPlaceUpdate,
    Loop,
    LoopDependence,
    LoopError,
    combines,
    forgotten,
    loops,
)

__all__ = [
    "UPDATES",
    "Accesses",
    "Conflict",
    "InPlaceUpdate",
    "Loop",
    "LoopDependence",
    "LoopError",
    "combines",
    "forgotten",
    "loops",
]
