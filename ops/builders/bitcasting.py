"""Bitcast: the same memory under another shape; bitcast-convert: the same bits as another type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.layout import ShapeError
from ops.builders.building import (
    check_count,
    checked_dimensions,
    checked_sizes,
    dim,
    dimensions_of,
    index_map,
    major_to_minor,
    symbol,
)
from ops.builders.op_indexing import OpIndexing
from ops.builders.reshaping import checked_element_counts, flattened, reshaped_index
from simplifier import form as forms
from simplifier import operations
from simplifier.form import ZERO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.builders.building import Sizes
    from simplifier.form import Form


def bitcast(
    operand_sizes: Sizes,
    output_sizes: Sizes,
    operand_minor_to_major: Sequence[int] | None = None,
    output_minor_to_major: Sequence[int] | None = None,
) -> OpIndexing:
    """The elements in the same order in memory under another shape and layout.

    A layout lists the dimensions from the one that runs fastest in memory to the slowest;
    without one the last dimension is the fastest. A bitcast is a transpose to the operand's
    order in memory, a reshape, and a transpose from the result's order in memory, each of which
    may change nothing.

    Shapes:
        operand, result: as many elements, of the same width, without tiles.

    Source:
        XLA operation semantics, Bitcast; ``ShapeUtil::DecomposeBitcast``.

    Raises:
        ShapeError: the numbers of elements differ, or a layout is no permutation of the dimensions.

    >>> print(bitcast((16, 17, 3), (51, 16), None, (0, 1)).output_to_input[0])
    (d0, d1) -> (d1, d0 floordiv 3, d0 mod 3), domain: d0 in [0, 50], d1 in [0, 15]
    """
    operand_sizes, output_sizes = checked_element_counts("bitcast", operand_sizes, output_sizes)
    operand = _Memory.of(operand_sizes, operand_minor_to_major)
    output = _Memory.of(output_sizes, output_minor_to_major)
    return OpIndexing(
        output_sizes, (_reinterpreted(output, operand),), (_reinterpreted(operand, output),)
    )


@dataclass(frozen=True, slots=True)
class _Memory:
    """The sizes of a tensor, and its dimensions from the slowest in memory to the fastest."""

    sizes: Sizes
    order: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sizes, minor_to_major: Sequence[int] | None) -> _Memory:
        if minor_to_major is None:
            return cls(sizes, tuple(range(len(sizes))))
        checked = checked_dimensions("bitcast", "minor_to_major", minor_to_major, len(sizes))
        check_count("bitcast", "minor_to_major", checked, len(sizes))
        return cls(sizes, checked[::-1])

    @property
    def physical_sizes(self) -> list[int]:
        return [self.sizes[place] for place in self.order]


def _reinterpreted(source: _Memory, target: _Memory) -> IndexingMap:
    """From an index in one shape to the index of the same place in memory in another."""
    physical = reshaped_index(
        [dim(place) for place in source.order], source.physical_sizes, target.physical_sizes
    )
    results = dict(zip(target.order, physical, strict=True))
    index = (results[place] for place in range(len(results)))
    return index_map(index, source.sizes).simplify()


def bitcast_convert(operand_sizes: Sizes, output_sizes: Sizes) -> OpIndexing:
    """The bits of every element as elements of another type.

    Shapes:
        operand, result: equal, or one has a further last dimension: the narrow elements of each
        wide one.

    Source:
        StableHLO specification, bitcast_convert.

    Raises:
        ShapeError: the shapes differ in more than a last dimension.

    >>> indexing = bitcast_convert((7,), (7, 4))
    >>> print(indexing.output_to_input[0])
    (d0, d1) -> (d0), domain: d0 in [0, 6], d1 in [0, 3]
    >>> print(indexing.input_to_output[0])
    (d0)[s0] -> (d0, s0), domain: d0 in [0, 6], s0 in [0, 3]
    """
    operand_sizes = checked_sizes("bitcast-convert", "operand", operand_sizes)
    output_sizes = checked_sizes("bitcast-convert", "output", output_sizes)
    common = min(len(operand_sizes), len(output_sizes))
    if (
        operand_sizes[:common] != output_sizes[:common]
        or abs(len(operand_sizes) - len(output_sizes)) > 1
    ):
        message = (
            f"bitcast-convert: the operand has sizes {operand_sizes}, the result {output_sizes}"
        )
        raise ShapeError(f"{message}; expected them to differ at most by a last dimension")
    return OpIndexing(
        output_sizes,
        (_with_all_parts(output_sizes, operand_sizes),),
        (_with_all_parts(operand_sizes, output_sizes),),
    )


def _with_all_parts(source: Sizes, target: Sizes) -> IndexingMap:
    """From an element to the one, or to all, at its place in the other shape."""
    parts = target[len(source) :]
    return index_map(
        (*dimensions_of(source)[: len(target)], *(symbol(place) for place in range(len(parts)))),
        source,
        parts,
    )


# Layouts with tiles.


def obstacle(operand: Shape, output: Shape) -> str:
    """Why the layouts of a bitcast do not let it be a rearrangement of elements; ``""`` if they do.

    Elements must keep their width and their number. With tiles, the map without tiles must be
    seen to lead from every element of the result to the element of the operand at the same
    place in memory.

    >>> from indexing.layout import Shape
    >>> obstacle(Shape.parse("f32[8,128]{1,0:T(8,128)}"), Shape.parse("f32[1024]{0:T(1024)}"))
    ''
    >>> obstacle(Shape.parse("f32[8,256]{1,0:T(8,128)}"), Shape.parse("f32[2048]{0:T(1024)}"))
    'the tiles of f32[8,256]{1,0:T(8,128)} and f32[2048]{0:T(1024)} order the elements differently'
    >>> obstacle(Shape.parse("f32[8]"), Shape.parse("s8[32]"))
    'elements of 32 bits become elements of 8 bits'
    """
    widths = _width(operand), _width(output)
    if widths[0] != widths[1]:
        return f"elements of {widths[0]} bits become elements of {widths[1]} bits"
    if operand.element_count != output.element_count:
        return f"{operand.element_count} elements become {output.element_count}"
    if (_tiles(operand) or _tiles(output)) and not _is_same_place(operand, output):
        return f"the tiles of {operand} and {output} order the elements differently"
    return ""


def _width(shape: Shape) -> int:
    packed = shape.layout.element_size_in_bits if shape.layout else 0
    return packed or shape.element_type.bits


def bitcast_of_shapes(operand: Shape, output: Shape) -> OpIndexing:
    """:func:`bitcast` between two shapes with their layouts, less the tiles."""
    orders = (major_to_minor(shape)[::-1] for shape in (operand, output))
    return bitcast(operand.dimensions, output.dimensions, *orders)


def _tiles(shape: Shape) -> tuple[tuple[int, ...], ...]:
    return shape.layout.tiles if shape.layout else ()


def _is_same_place(operand: Shape, output: Shape) -> bool:
    """Whether the map without tiles is seen to keep the offset of every element."""
    if any(size < 1 for shape in (operand, output) for tile in _tiles(shape) for size in tile):
        return False
    to_input = bitcast_of_shapes(operand, output).output_to_input[0]
    here = _offset(dimensions_of(output.dimensions), output)
    there = _offset(to_input.forms, operand)
    return index_map((here - there,), output.dimensions).simplify().forms == (ZERO,)


def _offset(index: Sequence[Form], shape: Shape) -> Form:
    """The place in memory of an element, counted in elements."""
    order = major_to_minor(shape)
    sizes, digits = [shape.dimensions[place] for place in order], [index[place] for place in order]
    for tile in _tiles(shape):
        missing = max(0, len(tile) - len(sizes))
        sizes, digits = [1] * missing + sizes, [ZERO] * missing + digits
        first = len(sizes) - len(tile)
        steps = [forms.constant(size) for size in tile]
        tiled = list(zip(digits[first:], steps, strict=True))
        counts = [-(-size // step) for size, step in zip(sizes[first:], tile, strict=True)]
        sizes = [*sizes[:first], *counts, *tile]
        digits = [
            *digits[:first],
            *(operations.floordiv(*pair) for pair in tiled),
            *(operations.mod(*pair) for pair in tiled),
        ]
    return flattened(digits, sizes)
