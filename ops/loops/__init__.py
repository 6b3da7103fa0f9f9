"""Loops: how often they run, and what their iterations have to do with each other."""

from __future__ import annotations

from ops.loops.while_loop import Conflict, InPlaceUpdate, Loop, LoopDependence, LoopError, loops

__all__ = ["Conflict", "InPlaceUpdate", "Loop", "LoopDependence", "LoopError", "loops"]
