"""Reshapes, transposes and changes of layout that move nothing in memory.

All tiles of both layouts count. XLA's helpers, which are named as sources, look only at the order
of dimensions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.array_shape import check_shapes
from indexing.layout.dimensions import common_blocks
from indexing.layout.maps import box_of, dims_of, form_of, logical_to_linear
from indexing.layout.steps import Reshape, Transpose, memory_size
from indexing.map import IndexingMap
from indexing.simplify import simplified_in
from simplifier.errors import check_integers
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing.layout.shape import Shape
    from indexing.layout.steps import Index, Sizes


def reshape_is_bitcast(source: Shape, target: Shape, *, ignore_element_type: bool = False) -> bool:
    """Whether a reshape leaves every element at its offset, and the memory as large.

    Args:
        source: the operand.
        target: the result.
        ignore_element_type: whether the types may differ, and how wide elements are; offsets count
            elements.

    Raises:
        ShapeError: the numbers of elements differ; or as :func:`~indexing.layout.tiling_steps`.

    Source: XLA's ``ShapeUtil::ReshapeIsBitcast``.

    >>> from indexing.layout import Shape
    >>> rows = Shape.parse("f32[16,256]{1,0:T(8,128)}")
    >>> reshape_is_bitcast(rows, Shape.parse("f32[2,8,256]{2,1,0:T(8,128)}"))
    True
    >>> reshape_is_bitcast(rows, Shape.parse("f32[4,4,256]{2,1,0:T(4,128)}"))
    False
    >>> reshape_is_bitcast(rows, Shape.parse("s8[4096]{0:T(8)}"), ignore_element_type=True)
    False
    """
    check_shapes("reshape_is_bitcast", source=source, target=target)
    reshape = Reshape.between(source.dimensions, target.dimensions)
    has_same_type = source.element_type is target.element_type
    return (ignore_element_type or has_same_type) and keeps_offsets(
        source,
        target,
        reshape.forward(dims_of(source.dimensions)),
        ignore_element_size=ignore_element_type,
    )


def transpose_is_bitcast(source: Shape, target: Shape, permutation: Sequence[int]) -> bool:
    """Whether a transpose leaves every element at its offset, and the memory as large.

    Dimension ``k`` of the target is dimension ``permutation[k]`` of the source.

    Raises:
        ShapeError: the target is no such transpose; or as :func:`~indexing.layout.tiling_steps`.

    Source: XLA's ``ShapeUtil::TransposeIsBitcast``.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[3,500]{1,0:T(4,128)}")
    >>> transpose_is_bitcast(shape, Shape.parse("f32[500,3]{0,1:T(4,128)}"), [1, 0])
    True
    """
    check_integers(permutation, "transpose_is_bitcast: permutation")
    check_shapes("transpose_is_bitcast", source=source, target=target)
    if sorted(permutation) != list(range(source.rank)):
        raise ShapeError(f"{tuple(permutation)} is no permutation of the dimensions of {source}")
    transpose = Transpose.of(source.dimensions, tuple(permutation))
    if transpose.sizes != target.dimensions:
        raise ShapeError(f"{target} is not {source} with the dimensions {tuple(permutation)}")
    return keeps_offsets(source, target, transpose.forward(dims_of(source.dimensions)))


def copy_is_bitcast(source: Shape, target: Shape) -> bool:
    """Whether a change of layout leaves every element at its offset, and the memory as large.

    Raises:
        ShapeError: the dimensions differ; or as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> copy_is_bitcast(Shape.parse("f32[1,8]{1,0:T(1,128)}"), Shape.parse("f32[1,8]{0,1:T(128)}"))
    False
    >>> copy_is_bitcast(Shape.parse("f32[1,8]{1,0:T(1,128)}"), Shape.parse("f32[1,8]{1,0:T(128)}"))
    True
    """
    check_shapes("copy_is_bitcast", source=source, target=target)
    return transpose_is_bitcast(source, target, range(source.rank))


def keeps_offsets(
    source: Shape, target: Shape, index: Index, *, ignore_element_size: bool = False
) -> bool:
    """Whether each element of the source has the offset of the target's element at ``index``.

    The index is made of forms in the dimensions of the source. Both memories must have one size.
    """
    is_as_wide = source.element_size_in_bits == target.element_size_in_bits
    if not (ignore_element_size or is_as_wide):
        return False
    if memory_size(source) != memory_size(target):
        return False
    box = box_of(source.dimensions)
    values = {f"d{axis}": form_of(value) for axis, value in enumerate(index)}
    (there,) = operations.substitute(logical_to_linear(target).forms, values)
    (here,) = logical_to_linear(source).forms
    if source.element_count == 0 or simplified_in(box, there - here) == forms.ZERO:
        return True
    return IndexingMap.from_forms([there], box).equals(IndexingMap.from_forms([here], box))


def deduce_transpose(source: Shape, target: Shape) -> tuple[int, ...] | None:
    """The permutation whose transpose is a bitcast from one shape to the other, if any.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    Source: XLA's ``ShapeUtil::DeduceTransposeDimensionsForBitcast``.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[5,3]{1,0}")
    >>> deduce_transpose(shape, Shape.parse("f32[3,5]{0,1}"))
    (1, 0)
    >>> deduce_transpose(shape, Shape.parse("f32[3,5]{1,0}")) is None
    True
    """
    check_shapes("deduce_transpose", source=source, target=target)
    here, there = _wide_dimensions_first(source), _wide_dimensions_first(target)
    pairs = dict(zip(there, here, strict=False))
    permutation = tuple(pairs.get(axis, -1) for axis in range(target.rank))
    is_transpose = len(here) == len(there) and all(
        source.dimensions[axis] == size
        for axis, size in zip(permutation, target.dimensions, strict=True)
    )
    if is_transpose and transpose_is_bitcast(source, target, permutation):
        return permutation
    return None


def _wide_dimensions_first(shape: Shape) -> list[int]:
    """The dimensions as they lie in memory, those of size 1 last: they could lie anywhere.

    A transpose that moves nothing keeps the distance to the next element along each of them.
    """
    offset = logical_to_linear(shape)

    def place(axis: int) -> tuple[bool, int]:
        is_narrow = shape.dimensions[axis] == 1
        second = [int(each == axis) for each in range(shape.rank)]
        return is_narrow, 0 if is_narrow else -offset.evaluate(second)[0]

    return sorted(shape.array_layout.major_to_minor, key=place)


def align_layouts(source: Shape, dimensions: Iterable[int]) -> Shape | None:
    """An array of these dimensions with a layout that makes the reshape to it a bitcast, if any.

    The layout of the source keeps its tiles and all else but the order of dimensions. A new
    dimension of size 1 comes behind the one listed before it.

    Raises:
        ShapeError: the numbers of elements differ; or as :func:`~indexing.layout.tiling_steps`.

    Source: XLA's ``ShapeUtil::AlignLayouts``.

    >>> from indexing.layout import Shape
    >>> print(align_layouts(Shape.parse("f32[3,8,5,7,11]{3,2,1,0,4}"), [3, 2, 4, 35, 11]))
    f32[3,2,4,35,11]{3,2,1,0,4}
    >>> print(align_layouts(Shape.parse("f32[4,16,256]{2,1,0:T(8,128)}"), [64, 256]))
    f32[64,256]{1,0:T(8,128)}
    >>> align_layouts(Shape.parse("f32[6,8]{0,1}"), [48]) is None
    True
    """
    check_integers(dimensions, "align_layouts: dimensions")
    check_shapes("align_layouts", source=source)
    sizes = tuple(dimensions)
    order = _aligned_order(source, sizes)
    if order is None:
        return None
    layout = replace(source.array_layout, minor_to_major=order[::-1])
    try:
        target = replace(source, dimensions=sizes, dynamic_dimensions=(), layout=layout)
    except ShapeError:  # a tile has more dimensions than are left
        return None
    return target if reshape_is_bitcast(source, target) else None


def _aligned_order(source: Shape, sizes: Sizes) -> tuple[int, ...] | None:
    """The new dimensions as they lie in memory, if each block of old ones is in one piece."""
    layout = source.array_layout
    wide = [axis for axis in layout.major_to_minor if source.dimensions[axis] != 1]
    at = -1
    blocks: list[tuple[int, range]] = []
    for before, after in common_blocks(source.dimensions, sizes):
        block = [axis for axis in before if source.dimensions[axis] != 1]
        if block:
            at = wide.index(block[0])
            if wide[at : at + len(block)] != block:
                return None
        blocks.append((at, after))
    ordered = sorted(blocks, key=lambda pair: pair[0])
    return tuple(axis for _, after in ordered for axis in after)
