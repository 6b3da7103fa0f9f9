"""What maps and relations relate, as Python's sets of pairs."""

from __future__ import annotations

from indexing import IndexingMap, IndexRelation
from tests.evaluation import Pair


def pairs(made: IndexingMap) -> set[Pair]:
    """The dimensions and results of all points."""
    return set() if made.is_known_empty else {(point[0], point[3]) for point in made.points()}


def pairs_of(relation: IndexRelation[IndexingMap]) -> set[Pair]:
    """What the maps of a relation relate."""
    return {pair for made in relation.maps for pair in pairs(made)}
