"""Dots and convolutions in Triton: a program multiplies tiles by ``tl.dot``, along all they sum.

What a dimension of the result moves along says what it is: in the first operand alone, a row of the
product; in the second alone, a column; in both, a matrix of a batch. A program has one matrix, and
a tile of its rows and columns. All that operands are computed from is computed for their tiles, and
all that reads the product for its tile. Where it is no product of matrices, a loop sums.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod
from typing import Final

from indexing import IndexingMap
from indexing.code import LocalNames, LoopBlock
from indexing.layout import ElementType
from indexing.passes import Constraint
from ops.analysis.dataflow import Array
from ops.hlo.module import Instruction
from ops.index_maps import Size, ceil_divided, in_order, product
from ops.kernels import elements
from ops.kernels.elements import CONTRACTIONS, Index, Steps, shape_of
from ops.kernels.tiles import BlockAxis, TiledPart, TileShape, greatest, power_above
from ops.kernels.triton_kernel import TritonKernel, size_of
from simplifier.forms import constant, variables_of

LEAST: Final = 16
"""The rows and columns of a tile that ``tl.dot`` takes, and the elements that it sums."""

MOST: Final = 64
"""The rows and columns of a tile, as far as sizes allow."""

_SUMMED: Final = {
    ElementType.F16: (ElementType.F32, 64),
    ElementType.BF16: (ElementType.F32, 64),
    ElementType.F32: (ElementType.F32, 32),
    ElementType.S8: (ElementType.S32, 64),
}
"""The type that a type of operands is summed in, and how many elements of a row a tile has."""


class ContractionKernel(TritonKernel):
    """Writes one fusion in Triton, contractions as products of tiles."""

    # Plans.

    def _plan(self, array: Array) -> tuple[TiledPart, ...]:
        """Tiles of rows and columns, if a result is computed from a product of matrices."""
        if self._wanted is not None:
            return super()._plan(array)
        sizes = self.sizes.of(array)
        top = self.sizes.top(LocalNames(self.dialect.language))
        probe, counters = self.nested(top, {k: size or 1 for k, size in enumerate(sizes)})
        numbers = {f"d{len(top.variables) + number}": number for number in counters}
        for source, index, block in self.sources_of(array, in_order(counters), probe):
            if not self._is_product(source):
                continue
            ranges = dict(enumerate(self.ranges_of(self.map_of(source, 0))))
            _, summed = self.nested(block, ranges)
            point = (*index, *in_order(summed))
            first, second = (
                {
                    numbers[name]
                    for name in variables_of(self.applied(self.map_of(source, k), point))
                    if name in numbers
                }
                for k in range(2)
            )
            if first - second and second - first:
                return self._parts_of_product(array, first - second, second - first)
        return super()._plan(array)

    def _is_product(self, source: Instruction) -> bool:
        """Whether ``tl.dot`` has the types of a contraction."""
        if source.opcode not in CONTRACTIONS or source in self.pointers:
            return False
        wanted = {_SUMMED.get(each.shape.element_type, (None, 0))[0] for each in source.operands}
        return wanted == {_SUMMED.get(source.shape.element_type, (ElementType.S32, 0))[0]}

    def _parts_of_product(
        self, array: Array, rows: Collection[int], columns: Collection[int]
    ) -> tuple[TiledPart, ...]:
        """A matrix of a batch, and a tile of it; the last axis has neighbours of the result."""
        sizes, order = self.sizes.of(array), elements.major_first(shape_of(array))
        last, other = (rows, columns) if order[-1] in rows else (columns, rows)
        others = {*order} - {*rows} - {*columns}
        groups = [tuple(each for each in order if each in group) for group in (others, other, last)]
        lengths = [product(sizes[each] for each in group) for group in groups]
        widths = [1, *(self._width_of(each, LEAST, MOST) for each in lengths[1:])]
        parts = zip(groups, lengths, widths, strict=True)
        return tuple(TiledPart(group, size, 1, width) for group, size, width in parts)

    def _width_of(self, size: Size, least: int, most: int) -> int:
        return min(most, max(least, power_above(greatest(size, self.sizes.top()))))

    # Products.

    def contracted_at_once(
        self, source: Instruction, index: Index, block: LoopBlock
    ) -> Steps[str | None]:
        """The product of two tiles, if one operand moves along rows and the other along columns."""
        found = self.map_of(source, 0)
        axes = self._rows_and_columns(source, found, index, block)
        if axes is None:
            return None
        sizes = [size_of(each) for each in self.ranges_of(found)]
        length = product(sizes)
        kind = min((each.shape.element_type for each in source.operands), key=_SUMMED.__getitem__)
        summed, most = _SUMMED[kind]
        least = LEAST if kind is not ElementType.S8 else 2 * LEAST
        width = self._width_of(length, least, most)
        if self._wanted is not None:
            width = max(least, power_above(prod(self._wanted.along(source).values())))
        loop, step = block, constant(0)
        if greatest(length, block) > width:
            loop, step = self.looped(block, ceil_divided(length, width), "step")
        tiles: list[str] = []
        for place, operand in enumerate(sorted(axes, key=lambda each: -axes[each].place)):
            inner, counter = self._axis(loop, length, width, "s0", place, step * width)
            point = (*index, *elements.digits(counter, sizes, inner))
            kept = {axes[operand], self._axes[inner]}
            tiles.append((yield self._tile(source, operand, point, kept, inner)))
        shape = TileShape(frozenset(axes.values()), 2)
        start = f"tl.full({shape.text}, 0, {self.dialect.types[summed]})"
        total = self._line(source, block, start, shape)
        loop.lines.append(f'{total} = tl.dot({", ".join(tiles)}, {total}, input_precision="ieee")')
        self.close(loop, block)
        return total

    def _rows_and_columns(
        self, source: Instruction, found: IndexingMap, index: Index, block: LoopBlock
    ) -> dict[int, BlockAxis] | None:
        """The axis of each operand, if the tile has two; ``None`` if it is no product there."""
        if not self._is_product(source) or any(each.asked for each in block.outward()):
            return None
        point = (*index, *[constant(0)] * len(found.ranges))
        axes = [
            self._shape_along(self.applied(self.map_of(source, k), point), block).axes
            for k in range(2)
        ]
        if not found.ranges or [*map(len, axes)] != [1, 1]:
            return None
        (first,), (second,) = axes
        asked = [self._shape_along(row[:1], block).axes for row in self.asked(found, point, block)]
        is_told = all(each <= axes[0] or each <= axes[1] for each in asked)
        is_large = min(first.width, second.width) >= LEAST
        is_matrix = {first.place, second.place} == {0, 1}
        return {0: first, 1: second} if is_told and is_large and is_matrix else None

    def _tile(
        self,
        source: Instruction,
        operand: int,
        point: Index,
        kept: Collection[BlockAxis],
        inner: LoopBlock,
    ) -> Steps[str]:
        """The elements of an operand along its axis and along all that is summed; 0 elsewhere."""
        found, given = self.map_of(source, operand), source.operands[operand]
        facts = self._asked_along(self.asked(found, point, inner), kept, inner)
        body = self.guarded(inner, facts)
        value = yield self.element((given, 0), self.applied(found, point), body)
        masks = [*filter(None, (self.masks.get(body), self._axes[inner].mask))]
        nothing = self.dialect.number(0, given.shape.element_type)
        chosen = self._chosen_by(masks, value, nothing, body)
        self.close(body, inner)
        whole = TileShape(frozenset(kept), 2)
        shape = self._shape_of(chosen, inner)
        text = shape.spread(chosen, whole)
        is_alike = len({each.shape.element_type for each in source.operands}) == 1
        if is_alike:
            text = self.dialect.stored.get(given.shape.element_type, "{0}").format(text)
        return self._line(source, inner, text, whole) if text != value else value

    def _asked_along(
        self, rows: Iterable[Constraint], kept: Collection[BlockAxis], block: LoopBlock
    ) -> Sequence[Constraint]:
        """The conditions that nothing but some axes decides."""
        return [row for row in rows if self._shape_along(row[:1], block).axes <= {*kept}]
