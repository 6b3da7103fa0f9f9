"""Data flow of modules: the elements that instructions, computations and fusions need."""

from __future__ import annotations
