"""Loops: how often they run, and what their iterations have to do with each other."""

from ops.loops.updates import Conflict, InPlaceUpdate
from ops.loops.while_loop import Loop, LoopDependence, LoopError, loops

__all__ = ["Conflict", "InPlaceUpdate", "Loop", "LoopDependence", "LoopError", "loops"]
