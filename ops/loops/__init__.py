"""Loops: how often they run, and what their iterations have to do with each other."""

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
