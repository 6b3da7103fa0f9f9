"""Indexing maps: which elements of one tensor are needed for which of another, as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from ops.explorer import Exploration, Explored

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


# Functions that users look for here and `ops` has: the second door upwards, like the command.


def explore(thing: Explored) -> Exploration:
    """A page to look at a program: the name here of :func:`ops.explore`.

    Raises:
        ArgumentError: ``thing`` is no module, computation, fusion or instruction.

    >>> from indexing import explore
    >>> from ops import hlo
    >>> explore(hlo.parse("ENTRY e { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }"))
    <page about module_e: e>
    """
    from ops.explorer import explore as page_about  # noqa: PLC0415 - ops imports this package

    return page_about(thing)
