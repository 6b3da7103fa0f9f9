"""Maps in other languages, one module for each; :mod:`indexing.readers` has the way back."""

from __future__ import annotations
