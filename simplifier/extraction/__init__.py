"""From canonical form to the cheapest spelling: remainders, minima, factored products come back.

:mod:`~simplifier.extraction.search` looks for the cheapest; the other modules say, one kind of
operation each, which spellings are equal.
"""

from simplifier.extraction.search import Speller, written

__all__ = ["Speller", "written"]
