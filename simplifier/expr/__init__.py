"""Expressions: linear forms over interned atoms, their text, and sympy at the border."""

from __future__ import annotations
