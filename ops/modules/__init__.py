"""Modules as a whole: the analysis of one, and one question about many files."""

from __future__ import annotations
