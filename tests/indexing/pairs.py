"""What relations relate, as Python's sets of pairs."""

from __future__ import annotations

from indexing import IndexingMap, IndexRelation
from tests.evaluation import Pair, related


def pairs_of(relation: IndexRelation[IndexingMap]) -> set[Pair]:
    """What the maps of a relation relate."""
    return {pair for made in relation.maps for pair in related(made)}
