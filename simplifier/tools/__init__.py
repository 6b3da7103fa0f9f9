"""Tools that know nothing of expressions."""

from __future__ import annotations
