"""Extraction: the cheapest form that is equal to a canonical one.

:mod:`~simplifier.extraction.search` looks for it; the other modules say, one kind of operation
each, which forms are equal: remainders, minima and factored products come back. A good form is
defined in :mod:`~simplifier.extraction.cost` and :mod:`~simplifier.extraction.prices`.
"""

from __future__ import annotations
