"""Indexing maps: which elements of one tensor are needed for which of another, as formulas."""

from indexing.composition import compose
from indexing.errors import MapError
from indexing.exact import Difference, IndexSet, StridedInterval, first_difference
from indexing.interchange.isl import from_isl
from indexing.interchange.mlir import from_affine_map
from indexing.map import IndexingMap
from indexing.text import format_map, parse_map
from indexing.undefined import UndefinedMap
from indexing.variable import Variable, VariableKind

__all__ = [
    "Difference",
    "IndexSet",
    "IndexingMap",
    "MapError",
    "StridedInterval",
    "UndefinedMap",
    "Variable",
    "VariableKind",
    "compose",
    "first_difference",
    "format_map",
    "from_affine_map",
    "from_isl",
    "parse_map",
]
