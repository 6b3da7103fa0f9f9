"""Answers between elements as they lie in memory, instead of between their indices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexing import IndexingMap
from indexing.layout import ShapeError, logical_to_linear, logical_to_tiled, tiled_to_logical
from ops.analysis.answers import Answer, OperandIndexing
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from indexing.layout import Shape
    from ops.analysis.answers import RuntimeOrigin


class View(NamedTuple):
    """How elements are told: by their index, by the tiled dimensions, or by the offset.

    ``physical_layout`` is for both ends of every map, ``linear_offsets`` for the far end alone, and
    goes before.
    """

    physical_layout: bool = False
    linear_offsets: bool = False

    def of(self, answer: Answer, source: Shape, target: Shape) -> Answer:
        """An answer from one array to another; unknown where a layout does not tell places."""
        if isinstance(answer, Unknown) or self == View():
            return answer
        try:
            begin, end = self._near_end(source), self._far_end(target)
            ways = (begin.compose(way).compose(end) for way in answer)
            return tuple(map(self._with_origins, ways))
        except ShapeError as error:
            return Unknown(str(error))

    def _near_end(self, shape: Shape) -> OperandIndexing:
        is_tiled = self.physical_layout and shape.is_array
        identity = IndexingMap.identity(shape.dimensions)
        return OperandIndexing(tiled_to_logical(shape) if is_tiled else identity)

    def _far_end(self, shape: Shape) -> OperandIndexing:
        if not shape.is_array:
            return OperandIndexing(IndexingMap.identity(()))  # a token is nowhere
        place_of = logical_to_linear if self.linear_offsets else logical_to_tiled
        return OperandIndexing(place_of(shape))

    def _with_origins(self, way: OperandIndexing) -> OperandIndexing:
        return replace(way, runtime=tuple(map(self._origin, way.runtime)))

    def _origin(self, origin: RuntimeOrigin) -> RuntimeOrigin:
        end = self._far_end(origin.instruction.shape).map
        return replace(origin, map=origin.map.compose(end).simplify())
