"""Indexing maps: which elements of one tensor are needed for which of another, as formulas."""

from indexing.composition import compose
from indexing.errors import MapError
from indexing.map import IndexingMap
from indexing.text import format_map, parse_map
from indexing.undefined import UndefinedMap
from indexing.variable import Variable, VariableKind

__all__ = [
    "IndexingMap",
    "MapError",
    "UndefinedMap",
    "Variable",
    "VariableKind",
    "compose",
    "format_map",
    "parse_map",
]
