"""Indexing maps: which elements of one tensor are needed for which of another, as formulas."""

from indexing.errors import MapError
from indexing.exact import Difference, IndexSet, StridedInterval, first_difference
from indexing.formats.isl import from_isl
from indexing.formats.mlir import from_affine_map
from indexing.formats.text import format_map, parse_map
from indexing.map import IndexingMap
from indexing.transform.compose import compose
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
