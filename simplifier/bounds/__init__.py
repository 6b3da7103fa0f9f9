"""Bounds: between which values an expression lies, and what follows from constraints."""

from __future__ import annotations
