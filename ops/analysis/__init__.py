"""What a module's instructions, computations and fusions need, by the maps of its operations."""

from __future__ import annotations
