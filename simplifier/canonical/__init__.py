"""Canonical forms: the laws that produce them, and the scope that applies the laws."""

from __future__ import annotations
