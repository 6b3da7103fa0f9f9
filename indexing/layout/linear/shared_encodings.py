"""Triton's encodings of shared memory: from an offset to the element that is there.

Source: Triton (lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from indexing.errors import ShapeError
from indexing.layout.linear.encoding_parts import (
    OFFSET,
    ONE_BLOCK,
    BlockSplit,
    check_order,
    check_power,
    check_shape,
    counting,
    dimension_names,
    dimensions,
    filled,
    layout_of_blocks,
    part_of_block,
)
from indexing.layout.linear.linear_layout import LinearLayout
from simplifier.errors import INTEGER, check_type, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    Sizes = Sequence[int]


def swizzled_shared(
    shape: Sizes,
    *,
    vec: int,
    per_phase: int,
    max_phase: int,
    order: Sizes = (),
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.swizzled_shared``: from an offset in shared memory to the element there.

    Groups of ``vec`` elements of row ``r`` change places: group ``g`` is where group
    ``g xor (r / per_phase mod max_phase)`` would be. ``order[0]`` is the dimension of the columns.

    Raises:
        ArgumentError: an argument is no integer or holds none.
        ShapeError: a size is no power of two, or the order is no permutation.

    >>> layout = swizzled_shared((4, 8), vec=2, per_phase=1, max_phase=4)
    >>> layout.bases["offset"]
    ((0, 1), (0, 2), (0, 4), (1, 2), (2, 4))
    """
    rank = check_shape("swizzled_shared", shape)
    dims = tuple(order) or tuple(reversed(range(rank)))
    check_order("swizzled_shared", dims, rank)
    for name, value in {"vec": vec, "per_phase": per_phase, "max_phase": max_phase}.items():
        check_power("swizzled_shared", name, value)
    inside = part_of_block(shape, layout_of_blocks("swizzled_shared", shape, blocks))
    steps = [(dim, 1 << bit) for dim in dims for bit in range(inside[dim].bit_length() - 1)]
    bases: list[tuple[int, ...]] = []
    for dim, step in steps:
        basis = [step if each == dim else 0 for each in range(rank)]
        if rank >= _MATRIX and dim == dims[1]:
            basis[dims[0]] = vec * (step // per_phase % max_phase) % inside[dims[0]]
        bases.append(tuple(basis))
    layout = LinearLayout({OFFSET: bases}, dimensions(inside))
    return filled("swizzled_shared", layout, shape, blocks)


def nvmma_shared(
    shape: Sizes,
    *,
    swizzle_bytes: int,
    element_bits: int,
    is_transposed: bool = False,
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.nvmma_shared``: shared memory as tensor memory copies and ``wgmma`` have it.

    A row of 8 has ``swizzle_bytes``, 32, 64 or 128. Its groups of 16 bytes change places with the
    row, as :func:`swizzled_shared` has it. A copy takes at most 256 elements along a dimension, and
    along the inner one only a row; these boxes follow each other. The inner dimension is the last,
    or the first if ``is_transposed``. With 0 bytes nothing changes places.

    Raises:
        ArgumentError: an argument is of another kind than its annotation says.
        ShapeError: there is no such swizzle, or the shape has less than 8 rows.

    >>> layout = nvmma_shared((8, 64), swizzle_bytes=128, element_bits=16)
    >>> layout.bases["offset"]
    ((0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 8), (2, 16), (4, 32))
    """
    rank = check_shape("nvmma_shared", shape)
    check_type(is_transposed, bool, "nvmma_shared: is_transposed", "a bool")
    _check_swizzle(swizzle_bytes, element_bits)
    whole = part_of_block(shape, layout_of_blocks("nvmma_shared", shape, blocks))
    box = [min(size, MAX_COPY) for size in whole]
    if not swizzle_bytes:
        order = tuple(reversed(range(rank)))
        layout = counting("nvmma_shared", OFFSET, box, order, rank)
        return filled("nvmma_shared", _in_order(layout), shape, blocks)
    inner = 0 if is_transposed else rank - 1
    row = 8 * swizzle_bytes // element_bits
    rows = box[-1] if is_transposed else prod(box[:-1])
    if rank < _MATRIX or box[inner] < row or rows < _ROWS:
        expected = f"expected a matrix with {_ROWS} rows or more of {row} elements or more"
        raise ShapeError(f"nvmma_shared: a part of {whole}; {expected}")
    box[inner] = row
    steps = _steps_of_copy(row, rows, prod(box) // rows, swizzle_bytes, element_bits)
    order = (inner, *(dim for dim in reversed(range(rank)) if dim != inner))
    sizes = {f"dim{dim}": box[dim].bit_length() - 1 for dim in order}
    layout = LinearLayout.of_matrix(steps, {OFFSET: len(steps)}, sizes)
    return filled("nvmma_shared", _in_order(layout), shape, blocks)


MAX_COPY: Final = 256
"""The elements of a tensor memory copy along a dimension, as the hardware has it."""

_MATRIX = 2
_ROWS = 8
"""The rows after which a swizzle begins again."""


def _steps_of_copy(
    row: int, rows: int, columns: int, swizzle_bytes: int, element_bits: int
) -> list[int]:
    """Where offsets 1, 2, 4, ... are in a box of rows, as numbers that count along rows first.

    First come the columns of a row with its swizzle, then all rows, then other columns.
    """
    vec, per_phase = 128 // element_bits, 128 // swizzle_bytes
    phases = _ROWS // per_phase
    return [
        *_powers(1, row),
        *(
            step * columns + (vec * (step // per_phase % phases) if step < _ROWS else 0)
            for step in _powers(1, rows)
        ),
        *_powers(row, columns),
    ]


def _powers(first: int, stop: int) -> list[int]:
    return [1 << bit for bit in range(first.bit_length() - 1, stop.bit_length() - 1)]


def _in_order(layout: LinearLayout) -> LinearLayout:
    return layout.with_out_dims(dimension_names(len(layout.out_dims)))


def _check_swizzle(swizzle_bytes: int, element_bits: int) -> None:
    values = {
        "swizzle_bytes": (swizzle_bytes, (0, 32, 64, 128)),
        "element_bits": (element_bits, (8, 16, 32, 64)),
    }
    for name, (value, known) in values.items():
        check_type(value, INTEGER, f"nvmma_shared: {name}", "an integer")
        if value not in known:
            raise ShapeError(
                f"nvmma_shared: {name} is {value}; expected one of {listed([*map(str, known)])}"
            )
