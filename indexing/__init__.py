"""Indexing maps: which elements of one tensor are needed for which of another, as formulas."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from indexing import startup as startup  # first: it prepares the process of the command line
from indexing.code import emit, emit_loops
from indexing.errors import MapError, TileError
from indexing.exact.boxes import StridedInterval
from indexing.exact.compare import Difference, first_difference
from indexing.exact.index_set import IndexSet
from indexing.exact.strides import ByVariable, Contiguity, Stride
from indexing.formats.einsum import EinopsPattern, to_einsum
from indexing.formats.text import format_map
from indexing.index_relation import IndexRelation, flow_dependences
from indexing.map import IndexingMap, UndefinedMap
from indexing.readers import (
    from_affine_map,
    from_einops,
    from_einsum,
    from_isl,
    parse_map,
    parse_relation,
)
from indexing.tile.constraints import TileConstraints
from indexing.tile.tile import Tile
from indexing.transform.substitute import compose
from indexing.variable import Variable, VariableKind
from simplifier.errors import check_type

__all__ = [
    "ByVariable",
    "Contiguity",
    "Difference",
    "EinopsPattern",
    "IndexRelation",
    "IndexSet",
    "IndexingMap",
    "MapError",
    "Stride",
    "StridedInterval",
    "Tile",
    "TileConstraints",
    "TileError",
    "UndefinedMap",
    "Variable",
    "VariableKind",
    "compose",
    "emit",
    "emit_loops",
    "explore",
    "first_difference",
    "flow_dependences",
    "format_map",
    "from_affine_map",
    "from_einops",
    "from_einsum",
    "from_isl",
    "parse_map",
    "parse_relation",
    "to_einsum",
]


@singledispatch
def explore(thing: object) -> Any:  # noqa: ANN401 - of what registers itself
    """A page to look at a program: the name here of :func:`ops.explore`.

    Raises:
        ArgumentError: ``thing`` is no module, computation, fusion or instruction.

    >>> from indexing import explore
    >>> from ops import hlo
    >>> explore(hlo.parse("ENTRY e { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }"))
    <page about module_e: e>
    """
    check_type(thing, (), "explore", "a module, a computation, a fusion or an instruction")
