"""Indexing maps: which elements of one tensor are needed for which of another, as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing import startup as startup  # first: it prepares the process of the command line

try:
    from simplifier.tools.late import announce, exports
except ModuleNotFoundError as error:
    raise startup.explained(error) from None

if TYPE_CHECKING:
    from indexing.code import emit as emit
    from indexing.code import emit_loops as emit_loops
    from indexing.errors import MapError as MapError
    from indexing.errors import TileError as TileError
    from indexing.exact.boxes import StridedInterval as StridedInterval
    from indexing.exact.index_set import IndexSet as IndexSet
    from indexing.exact.questions import Difference as Difference
    from indexing.exact.questions import first_difference as first_difference
    from indexing.exact.strides import ByVariable as ByVariable
    from indexing.exact.strides import Contiguity as Contiguity
    from indexing.exact.strides import Stride as Stride
    from indexing.formats.einsum import EinopsPattern as EinopsPattern
    from indexing.formats.einsum import to_einsum as to_einsum
    from indexing.formats.text import format_map as format_map
    from indexing.index_relation import IndexRelation as IndexRelation
    from indexing.index_relation import flow_dependences as flow_dependences
    from indexing.map import IndexingMap as IndexingMap
    from indexing.map import UndefinedMap as UndefinedMap
    from indexing.readers import from_affine_map as from_affine_map
    from indexing.readers import from_einops as from_einops
    from indexing.readers import from_einsum as from_einsum
    from indexing.readers import from_isl as from_isl
    from indexing.readers import parse_map as parse_map
    from indexing.readers import parse_relation as parse_relation
    from indexing.tile.constraints import TileConstraints as TileConstraints
    from indexing.tile.tile import Tile as Tile
    from indexing.transform.substitute import compose as compose
    from indexing.variable import Variable as Variable
    from indexing.variable import VariableKind as VariableKind
    from ops.explorer import explore as explore
else:
    __all__, _load, __dir__ = exports(__name__)

    def __getattr__(name: str) -> object:
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            raise startup.explained(error) from None


announce("indexing.map.CODE_WRITERS", "indexing.code")
