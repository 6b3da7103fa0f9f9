"""Triton's encodings of registers as linear layouts: blocked, mma, dot operand and slice.

Each is a function of the shape of a tensor. As in Triton, a layout smaller than the shape repeats
in registers, and of a larger one the places beyond the shape hold what others hold.

Source: Triton (lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias, Union

from indexing.errors import ShapeError
from indexing.layout.linear.layout import (
    BLOCK,
    LANE,
    OFFSET,
    REGISTER,
    WARP,
    Basis,
    LayoutLexer,
    LinearLayout,
    bit_count,
    dimension_names,
)
from simplifier.errors import INTEGER, Span, TextError, check_integers, check_type, listed

Sizes = Sequence[int]


@dataclass(frozen=True, slots=True)
class BlockSplit:
    """Blocks of a cluster that share a tensor: CTAsPerCGA, CTASplitNum and CTAOrder of Triton.

    Along each dimension there are ``per_cluster`` blocks, which hold ``split`` different parts; the
    numbers of blocks count along ``order[0]`` first. Without any, there is one block.
    """

    per_cluster: Sizes = ()
    split: Sizes = ()
    order: Sizes = ()


ONE_BLOCK = BlockSplit()


def blocked(
    shape: Sizes,
    size_per_thread: Sizes,
    threads_per_warp: Sizes,
    warps_per_cta: Sizes,
    order: Sizes,
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.blocked``: each thread holds a box of elements, each warp a box of threads.

    ``order[0]`` is the dimension along which registers, lanes and warps count first.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: a size is no power of two, lengths differ, or the order is no permutation.

    >>> print(blocked((16, 16), (1, 4), (8, 4), (2, 1), (1, 0)))
     - register=1 -> (0, 1)
       register=2 -> (0, 2)
     - lane=1 -> (0, 4)
       lane=2 -> (0, 8)
       lane=4 -> (1, 0)
       lane=8 -> (2, 0)
       lane=16 -> (4, 0)
     - warp=1 -> (8, 0)
     - block is a size 1 dimension
    where out dims are: [dim0 (size 16), dim1 (size 16)]
    """
    rank = _check_shape("blocked", shape)
    given = {REGISTER: size_per_thread, LANE: threads_per_warp, WARP: warps_per_cta}
    for name, sizes in given.items():
        _check_length(f"blocked: {name}", sizes, rank)
    _check_order("blocked", order, rank)
    parts = ((sizes[dim], name, dim) for name, sizes in given.items() for dim in order)
    return _encoded("blocked", order, parts, shape, blocks)


def blocked_for(
    shape: Sizes, num_warps: int, *, size_per_thread: Sizes = (), order: Sizes = (), lanes: int = 32
) -> LinearLayout:
    """``#ttg.blocked`` whose lanes and warps follow ``order`` until they cover a dimension.

    The rest of them is along the last dimension of the order. Unless given, a thread holds one
    element, and the order begins with the last dimension.

    Raises:
        ArgumentError: an argument is no integer or holds none.
        ShapeError: a size is no power of two, lengths differ, or the order is no permutation.

    Source:
        The builder of Triton's ``BlockedEncodingAttr`` from a shape and a number of warps.

    >>> found = blocked_for((64, 64), 4, size_per_thread=(1, 4))
    >>> found == blocked((64, 64), (1, 4), (2, 16), (4, 1), (1, 0))
    True
    """
    rank = _check_shape("blocked_for", shape)
    sizes = tuple(size_per_thread) or (1,) * rank
    dims = tuple(order) or tuple(reversed(range(rank)))
    _check_length("blocked_for: size_per_thread", sizes, rank)
    _check_order("blocked_for", dims, rank)
    for name, value in {"num_warps": num_warps, "lanes": lanes}.items():
        bit_count(value, f"blocked_for: {name}")
    for value in sizes:
        bit_count(value, "blocked_for: a size per thread")
    of_lanes, of_warps = [1] * rank, [1] * rank
    for dim in dims[:-1]:
        wanted = max(1, shape[dim] // sizes[dim])
        of_lanes[dim] = min(wanted, lanes)
        of_warps[dim] = min(wanted // of_lanes[dim], num_warps)
        lanes //= of_lanes[dim]
        num_warps //= of_warps[dim]
    of_lanes[dims[-1]], of_warps[dims[-1]] = lanes, num_warps
    return blocked(shape, sizes, of_lanes, of_warps, dims)


def nvidia_mma(
    shape: Sizes,
    version: int,
    warps_per_cta: Sizes,
    instr_shape: Sizes,
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.nvidia_mma``: the result of ``mma`` (version 2) or ``wgmma`` (version 3).

    ``instr_shape`` is that of the instruction: ``(16, 8)``, or M, N and K for version 3.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: the version is neither 2 nor 3, or sizes do not fit.

    >>> layout = nvidia_mma((32, 32), 2, (1, 1), (16, 8))
    >>> layout.bases["register"], layout.bases["lane"]
    (((0, 1), (8, 0), (0, 8), (0, 16), (16, 0)), ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0)))
    """
    rank = _check_shape("nvidia_mma", shape)
    check_integers(instr_shape, "nvidia_mma: instr_shape")
    ampere = version == _MMA_VERSIONS[0]
    if version not in _MMA_VERSIONS or rank < _MATRIX or (rank > _MATRIX and not ampere):
        expected = "expected 2 or 3, and rank 2, or 3 with version 2"
        raise ShapeError(f"nvidia_mma: version {version} for a tensor of rank {rank}; {expected}")
    if len(instr_shape) < _MATRIX:
        raise ShapeError(f"nvidia_mma: instr_shape {tuple(instr_shape)}; expected M and N")
    _check_length("nvidia_mma: warp", warps_per_cta, rank)
    order = tuple(reversed(range(rank)))
    *_, rows, columns = instr_shape[:rank] if ampere else instr_shape[:_MATRIX]
    warps = ((warps_per_cta[dim], WARP, dim) for dim in (order if ampere else reversed(order)))
    parts = (*_mma_parts("nvidia_mma", (columns, rows), _MMA_WIDTH, order), *warps)
    return _encoded("nvidia_mma", order, parts, shape, blocks)


_MMA_VERSIONS = (2, 3)
_MATRIX = 2
_MMA_WIDTH = 2
"""The elements side by side that a thread holds of a result."""


def dot_operand(
    shape: Sizes,
    operand: int,
    warps_per_cta: Sizes,
    k_width: int,
    blocks: BlockSplit = ONE_BLOCK,
    *,
    version: int = 2,
) -> LinearLayout:
    """``#ttg.dot_op`` of an ``nvidia_mma`` parent: operand 0 (M x K) or 1 (K x N) in registers.

    Warps that need the same elements hold copies. A thread holds ``k_width`` elements side by side
    along K.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: there is no such operand in registers, or sizes do not fit.

    >>> layout = dot_operand((16, 16), 0, (1, 1), 2)
    >>> layout.bases["register"], layout.bases["lane"]
    (((0, 1), (8, 0), (0, 8)), ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0)))
    """
    rank = _check_shape("dot_operand", shape)
    bit_count(k_width, "dot_operand: k_width")
    is_first, ampere = operand == 0, version == _MMA_VERSIONS[0]
    if operand not in (0, 1) or version not in _MMA_VERSIONS or not (is_first or ampere):
        expected = "expected operand 0 or 1, and only 0 for version 3"
        raise ShapeError(f"dot_operand: operand {operand} of version {version}; {expected}")
    if rank < _MATRIX:
        raise ShapeError(f"dot_operand: a tensor of rank {rank}; expected 2 or 3")
    _check_length("dot_operand: warps_per_cta", warps_per_cta, rank)
    order = _along_depth(operand, rank)
    tile = (8 * k_width, 16 if is_first else 8)
    warps = _shared_by_warps(warps_per_cta, order[0], is_reversed=ampere)
    parts = (*_mma_parts("dot_operand", tile, k_width, order), *warps)
    return _encoded("dot_operand", order, parts, shape, blocks)


def amd_mfma(
    shape: Sizes,
    warps_per_cta: Sizes,
    instr_shape: Sizes,
    *,
    is_transposed: bool = False,
    tiles_per_warp: Sizes = (),
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.amd_mfma``: the result of an ``mfma`` of 32 x 32 or 16 x 16 in warps of 64 lanes.

    ``instr_shape`` is M and N of the instruction; K may follow. A warp has ``tiles_per_warp``
    results side by side, one if nothing is given.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: the instruction has another shape, or sizes do not fit.

    >>> amd_mfma((16, 16), (1, 1), (16, 16)).bases["lane"]
    ((0, 1), (0, 2), (0, 4), (0, 8), (4, 0), (8, 0))
    """
    rank, side = _check_mfma("amd_mfma", shape, warps_per_cta, instr_shape)
    tiles = tuple(tiles_per_warp) or (1,) * rank
    _check_length("amd_mfma: tiles_per_warp", tiles, rank)
    rows, columns = rank - 2, rank - 1
    along, across = (columns, rows) if is_transposed else (rows, columns)
    repeated = shape[columns] // max(1, side * warps_per_cta[columns] * tiles[columns])
    parts = (
        (4, REGISTER, along),
        (side, LANE, across),
        (64 // side, LANE, along),
        (side * side // 256, REGISTER, along),
        (tiles[columns], REGISTER, columns),
        (warps_per_cta[columns], WARP, columns),
        (max(1, repeated), REGISTER, columns),
        (tiles[rows], REGISTER, rows),
        (warps_per_cta[rows], WARP, rows),
        *((warps_per_cta[dim], WARP, dim) for dim in reversed(range(rank - _MATRIX))),
    )
    return _encoded("amd_mfma", tuple(reversed(range(rank))), parts, shape, blocks)


def amd_dot_operand(
    shape: Sizes,
    operand: int,
    warps_per_cta: Sizes,
    instr_shape: Sizes,
    k_width: int,
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.dot_op`` of an ``amd_mfma`` parent: operand 0 (M x K) or 1 (K x N) in registers.

    Warps that need the same elements hold copies. A thread holds ``k_width`` elements side by side
    along K.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: there is no such operand, the instruction has another shape, or sizes do not
            fit.

    >>> layout = amd_dot_operand((32, 32), 1, (1, 1), (32, 32), 8)
    >>> layout.bases["register"], layout.bases["lane"]
    (((1, 0), (2, 0), (4, 0), (16, 0)), ((0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (8, 0)))
    """
    rank, side = _check_mfma("amd_dot_operand", shape, warps_per_cta, instr_shape)
    check_type(operand, INTEGER, "amd_dot_operand: operand", "an integer")
    bit_count(k_width, "amd_dot_operand: k_width")
    if operand not in (0, 1):
        raise ShapeError(f"amd_dot_operand: operand {operand}; expected 0 or 1")
    order = _along_depth(operand, rank)
    depth, other = order[:_MATRIX]
    parts = (
        (k_width, REGISTER, depth),
        (side, LANE, other),
        (64 // side, LANE, depth),
        *_shared_by_warps(warps_per_cta, depth, is_reversed=True),
    )
    return _encoded("amd_dot_operand", order, parts, shape, blocks)


def _check_mfma(where: str, shape: Sizes, warps: Sizes, instr_shape: Sizes) -> tuple[int, int]:
    """The rank of a tensor, and M and N of an instruction, which are the same."""
    rank = _check_shape(where, shape)
    _check_length(f"{where}: warps_per_cta", warps, rank)
    check_integers(instr_shape, f"{where}: instr_shape")
    if tuple(instr_shape[:_MATRIX]) not in _MFMA or len(instr_shape) > 3 or rank < _MATRIX:  # noqa: PLR2004 - M, N and K
        expected = "expected (32, 32) or (16, 16), and rank 2 or 3"
        raise ShapeError(f"{where}: instr_shape {tuple(instr_shape)} for rank {rank}; {expected}")
    return rank, instr_shape[0]


_MFMA = ((32, 32), (16, 16))


def slice_of(parent: LinearLayout, dim: int) -> LinearLayout:
    """``#ttg.slice``: a layout without one of its out-dimensions, as of a reduction's result.

    Registers that would only hold copies go.

    Raises:
        ShapeError: there is no such dimension, or no other.

    >>> layout = slice_of(blocked((16, 16), (1, 4), (8, 4), (2, 1), (1, 0)), 1)
    >>> layout.bases["register"], layout.bases["lane"]
    ((), ((0,), (0,), (1,), (2,), (4,)))
    """
    check_type(parent, LinearLayout, "slice_of: the parent", "a LinearLayout")
    check_type(dim, INTEGER, "slice_of: dim", "an integer")
    names = list(parent.out_dims)
    if not 0 <= dim < len(names) or len(names) < _MATRIX:
        message = f"dimension {dim} of {len(names)}; expected one of several"
        raise ShapeError(f"slice_of: {message}")
    kept = parent.sublayout(parent.in_dims, names[:dim] + names[dim + 1 :])
    bases = {
        name: [vector for vector in vectors if name != REGISTER or any(vector)]
        for name, vectors in kept.bases.items()
    }
    return LinearLayout(bases, _dimensions(tuple(kept.out_dims.values())))


_Part: TypeAlias = "tuple[int, str, int | None]"
"""A number of places, their in-dimension, and the dimension of the tensor along which they count.

Places along none all have the same element.
"""


def _mma_parts(where: str, tile: Sizes, width: int, order: Sizes) -> tuple[_Part, ...]:
    """The places of one instruction: 4 lanes along the first dimension, 8 along the second."""
    (inner, outer), (columns, rows) = order[:_MATRIX], tile
    if width < 1 or columns % (4 * width) or rows % 8:
        expected = f"expected rows by 8 and columns by {4 * width}"
        raise ShapeError(f"{where}: a tile of {rows} x {columns}; {expected}")
    return (
        (width, REGISTER, inner),
        (4, LANE, inner),
        (8, LANE, outer),
        (rows // 8, REGISTER, outer),
        (columns // (4 * width), REGISTER, inner),
    )


def _along_depth(operand: int, rank: int) -> tuple[int, ...]:
    """The dimensions of an operand: K first, then M or N, then those of batches."""
    depth, other = (rank - 2, rank - 1) if operand else (rank - 1, rank - 2)
    return depth, other, *reversed(range(rank - _MATRIX))


def _shared_by_warps(warps_per_cta: Sizes, depth: int, *, is_reversed: bool) -> Iterator[_Part]:
    """Warps that count along the dimensions in order; those along K hold the same."""
    numbered = [*enumerate(warps_per_cta)]
    for dim, warps in reversed(numbered) if is_reversed else numbered:
        yield warps, WARP, None if dim == depth else dim


def _encoded(
    where: str, order: Sizes, parts: Iterable[_Part], shape: Sizes, blocks: BlockSplit
) -> LinearLayout:
    """The product of parts, made as large as its part of a shape."""
    return _filled(where, _product(order, parts), shape, blocks)


def _product(order: Sizes, parts: Iterable[_Part]) -> LinearLayout:
    """The layout whose places count through parts, of dimensions in order."""
    layout = LinearLayout({}, {f"dim{dim}": 1 for dim in order})
    for size, name, dim in parts:
        make = LinearLayout.zeros if dim is None else LinearLayout.identity
        layout *= make(size, name, f"dim{order[0] if dim is None else dim}")
    return layout


# Blocks of a cluster, and how a layout fills a shape.


def _dimensions(sizes: Sizes) -> dict[str, int]:
    """The out-dimensions of a tensor with their sizes."""
    return dict(zip(dimension_names(len(sizes)), sizes, strict=True))


def _filled(where: str, layout: LinearLayout, shape: Sizes, blocks: BlockSplit) -> LinearLayout:
    """A layout of one block made as large as its part of a shape, and the blocks beside it."""
    cluster, part = _split_among_blocks(where, shape, blocks)
    wanted = _dimensions(part)
    first = next(iter(layout.in_dims))
    for name in layout.out_dims:
        size = layout.out_dims[name]
        if wanted[name] > size:
            layout *= LinearLayout.identity(wanted[name] // size, first, name)
    return (_cut(layout, wanted) * cluster).with_out_dims(dimension_names(len(shape)))


def _cut(layout: LinearLayout, sizes: dict[str, int]) -> LinearLayout:
    """A layout whose bases beyond the sizes are 0."""
    kept = {name: min(size, sizes[name]) for name, size in layout.out_dims.items()}

    def cut(vector: Basis) -> Basis:
        return tuple(i if i < size else 0 for i, size in zip(vector, kept.values(), strict=True))

    bases = {name: [*map(cut, vectors)] for name, vectors in layout.bases.items()}
    return LinearLayout(bases, kept)


def _split_among_blocks(
    where: str, shape: Sizes, blocks: BlockSplit
) -> tuple[LinearLayout, list[int]]:
    """Map from a block to where its part of the shape begins, counted in parts, and their sizes."""
    check_type(blocks, BlockSplit, f"{where}: blocks", "a BlockSplit")
    rank = len(shape)
    per_cluster = tuple(blocks.per_cluster) or (1,) * rank
    split = tuple(blocks.split) or per_cluster
    order = tuple(blocks.order) or tuple(reversed(range(rank)))
    for name, values in {"per_cluster": per_cluster, "split": split}.items():
        _check_length(f"{where}: blocks.{name}", values, rank)
    _check_order(where, order, rank)
    parts: list[_Part] = []
    for dim in order:
        bit_count(split[dim], f"{where}: blocks.split")
        if per_cluster[dim] % split[dim]:
            message = f"{per_cluster[dim]} blocks hold {split[dim]} parts"
            raise ShapeError(f"{where}: {message} along dimension {dim}; expected a multiple")
        parts += [(split[dim], BLOCK, dim), (per_cluster[dim] // split[dim], BLOCK, None)]
    cluster = _cut(_product(range(rank), parts), _dimensions(shape))
    pairs = zip(shape, cluster.out_dims.values(), strict=True)
    return cluster, [max(1, size // count) for size, count in pairs]


def _check_shape(where: str, shape: Sizes) -> int:
    """The rank of a shape whose sizes are powers of two."""
    check_integers(shape, f"{where}: the shape")
    if not shape:
        raise ShapeError(f"{where}: the shape has no dimensions")
    for size in shape:
        bit_count(size, f"{where}: a size of the shape")
    return len(shape)


def _check_length(what: str, values: Sizes, rank: int) -> None:
    """Check that there is an integer for each dimension."""
    check_integers(values, what)
    if len(values) != rank:
        raise ShapeError(f"{what} {tuple(values)}; expected {rank} numbers, as the shape has")


def _check_order(where: str, order: Sizes, rank: int) -> None:
    """Check that an order names each dimension once."""
    check_integers(order, f"{where}: the order")
    if sorted(order) != list(range(rank)):
        expected = f"expected the dimensions 0 to {rank - 1} in some order"
        raise ShapeError(f"{where}: order {tuple(order)}; {expected}")


# Triton's encodings of shared memory: from an offset to the element that is there.
#
# Source: Triton (lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp).


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
    rank = _check_shape("swizzled_shared", shape)
    dims = tuple(order) or tuple(reversed(range(rank)))
    _check_order("swizzled_shared", dims, rank)
    for name, value in {"vec": vec, "per_phase": per_phase, "max_phase": max_phase}.items():
        bit_count(value, f"swizzled_shared: {name}")
    _, inside = _split_among_blocks("swizzled_shared", shape, blocks)
    row, rows = inside[dims[0]], inside[dims[1]] if rank > 1 else 1
    swizzled = _swizzled_rows(row, rows, row, (vec, per_phase, max_phase))
    positions = [*swizzled, *_powers(row * rows, prod(inside))]
    return _in_order_of_offsets("swizzled_shared", positions, inside, dims, shape, blocks)


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
    rank = _check_shape("nvmma_shared", shape)
    check_type(is_transposed, bool, "nvmma_shared: is_transposed", "a bool")
    _check_swizzle(swizzle_bytes, element_bits)
    _, whole = _split_among_blocks("nvmma_shared", shape, blocks)
    box = [min(size, MAX_COPY) for size in whole]
    if not swizzle_bytes:
        parts = ((box[dim], OFFSET, dim) for dim in reversed(range(rank)))
        return _encoded("nvmma_shared", range(rank), parts, shape, blocks)
    inner = 0 if is_transposed else rank - 1
    row = 8 * swizzle_bytes // element_bits
    rows = box[-1] if is_transposed else prod(box[:-1])
    if rank < _MATRIX or box[inner] < row or rows < _ROWS:
        expected = f"expected a matrix with {_ROWS} rows or more of {row} elements or more"
        raise ShapeError(f"nvmma_shared: a part of {whole}; {expected}")
    box[inner] = row
    columns, swizzle = prod(box) // rows, (128 // element_bits, 128 // swizzle_bytes)
    swizzled = _swizzled_rows(row, rows, columns, (*swizzle, swizzle_bytes // 16))
    order = (inner, *(dim for dim in reversed(range(rank)) if dim != inner))
    positions = [*swizzled, *_powers(row, columns)]
    return _in_order_of_offsets("nvmma_shared", positions, box, order, shape, blocks)


MAX_COPY: Final = 256
"""The elements of a tensor memory copy along a dimension, as the hardware has it."""

_ROWS = 8
"""The rows after which a swizzle begins again."""


def _swizzled_rows(
    row: int, rows: int, columns: int, swizzle: tuple[int, int, int]
) -> Iterator[int]:
    """Positions of offsets 1, 2, 4, ... in rows, as numbers that count along ``columns`` first.

    First come the columns of a row, then all rows, each with its swizzle.
    """
    vec, per_phase, max_phase = swizzle
    yield from _powers(1, row)
    for step in _powers(1, rows):
        yield step * columns + vec * (step // per_phase % max_phase) % row


def _in_order_of_offsets(
    where: str, positions: Sizes, box: Sizes, order: Sizes, shape: Sizes, blocks: BlockSplit
) -> LinearLayout:
    """The layout of a shape, of boxes that have these positions for the offsets 1, 2, 4, ..."""
    sizes = {f"dim{dim}": box[dim].bit_length() - 1 for dim in order}
    layout = LinearLayout.of_matrix(positions, {OFFSET: len(positions)}, sizes)
    return _filled(where, layout.with_out_dims(dimension_names(len(box))), shape, blocks)


def _powers(first: int, stop: int) -> list[int]:
    return [1 << bit for bit in range(first.bit_length() - 1, stop.bit_length() - 1)]


def _check_swizzle(swizzle_bytes: int, element_bits: int) -> None:
    for name, value, known in (
        ("swizzle_bytes", swizzle_bytes, (0, 32, 64, 128)),
        ("element_bits", element_bits, (8, 16, 32, 64)),
    ):
        check_type(value, INTEGER, f"nvmma_shared: {name}", "an integer")
        if value not in known:
            expected = f"expected one of {listed([*map(str, known)])}"
            raise ShapeError(f"nvmma_shared: {name} is {value}; {expected}")


# Triton's text of encodings: `#ttg.blocked<{sizePerThread = [1, 4], ...}>` and its like.

MAX_PARENTS: Final = 8
"""Encodings inside encodings: a slice of a slice of an operand is as deep as kernels have them."""


def parse_encoding(text: str, shape: Sequence[int], definitions: str = "") -> LinearLayout:
    """The layout of a tensor with this encoding in Triton's intermediate representation.

    Reads ``blocked``, ``linear``, ``nvidia_mma``, ``amd_mfma``, ``dot_op``, ``slice``,
    ``swizzled_shared`` and ``nvmma_shared``. The text may be an alias such as ``#mma``, or name
    some; ``definitions`` is the module, or the part of it, that defines them.

    Raises:
        ArgumentError: a text is no string, or the shape holds no integers.
        TextError: the text is no such encoding, has fields that mean something else, or does not
            fit the shape, with a caret under the place.

    >>> kernel = '''
    ... #A = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1],
    ...                    order = [1, 0]}>
    ... #rows = #ttg.slice<{dim = 1, parent = #A}>
    ... '''
    >>> parse_encoding("#A", (32, 16), kernel).bases["lane"]
    ((0, 4), (0, 8), (1, 0), (2, 0), (4, 0))
    >>> parse_encoding("#rows", [32], kernel).bases["warp"]
    ((8,), (16,))
    >>> parse_encoding("#ttg.blocked<{sizePerThread = [1, 4]}>", (32, 16))
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:6: blocked lacks threadsPerWarp
    #ttg.blocked<{sizePerThread = [1, 4]}>
         ^^^^^^^
    """
    check_type(text, str, "parse_encoding: the text", "a string")
    check_type(definitions, str, "parse_encoding: the definitions", "a string")
    check_integers(shape, "parse_encoding: the shape")
    lexer = _EncodingLexer(text, 0, definitions)
    encoding = _read(lexer, 0)
    lexer.finish()
    return encoding.layout(tuple(shape))


Value: TypeAlias = Union[int, bool, "list[Value]", "_Encoding"]


class _EncodingLexer(LayoutLexer):
    __slots__ = ("definitions",)

    def __init__(self, source: str, position: int, definitions: str) -> None:
        super().__init__(source, position=position)
        self.definitions = definitions


@dataclass(frozen=True, slots=True)
class _Encoding:
    """A name and its fields, with the place of the name."""

    name: str
    fields: Mapping[str, Value]
    span: Span

    def layout(self, shape: tuple[int, ...]) -> LinearLayout:
        """The layout for a shape; its errors point at the name."""
        maker = _MAKERS[self.name]
        if self.fields.get("hasLeadingOffset") is True:
            message = f"hasLeadingOffset of {self.name} is true: that is nvmma_shared"
            raise TextError(message, self.span)
        try:
            if not maker.fields:
                return maker.make(shape, self)
            return maker.make(shape, **self.arguments(maker.fields))
        except ShapeError as error:
            raise TextError(str(error), self.span) from None

    def arguments(self, names: Sequence[str]) -> dict[str, Any]:
        """The arguments that some fields are, without those that may be missing and are."""
        given = [name for name in names if name in self.fields or name not in _OPTIONAL]
        found: dict[str, Any] = {_FIELDS[name][0]: self._value(name) for name in given}
        if _BLOCKS[0] in names:
            found["blocks"] = BlockSplit(*(found.pop(each, ()) for each in _BLOCKS))
        return found

    def _value(self, name: str) -> Value:
        """A field that must be there, and of its kind."""
        if name not in self.fields:
            raise TextError(f"{self.name} lacks {name}", self.span)
        value, (_, kind) = self.fields[name], _FIELDS[name]
        if type(value) is not kind:
            raise TextError(f"{name} of {self.name} {_OF_OTHER_KIND[kind]}", self.span)
        return self.integers(name, value) if isinstance(value, list) else value

    def integers(self, name: str, values: list[Value]) -> list[Value]:
        """The values of a list, which must be integers."""
        if any(type(each) is not int for each in values):
            raise TextError(f"{name} of {self.name} is no list of integers", self.span)
        return values


_OF_OTHER_KIND: Final[Mapping[type, str]] = {
    int: "is no integer",
    bool: "is neither true nor false",
    list: "is no list",
    _Encoding: "is no encoding",
}


def _read(lexer: _EncodingLexer, depth: int) -> _Encoding:
    """``#ttg.name<{field = value, ...}>``, with ``#triton_gpu.`` in older versions, or an alias."""
    if depth == MAX_PARENTS:
        raise lexer.error(f"encodings are nested deeper than {MAX_PARENTS}")
    lexer.expect("#", "before an encoding")
    if lexer.text not in {"ttg", "triton_gpu"}:
        return _read_alias(lexer, depth)
    lexer.advance()
    lexer.expect(".")
    span, name = lexer.span, _RENAMED.get(lexer.text, lexer.text)
    if name not in _MAKERS:
        raise lexer.expected("an encoding", hint=f"one of {listed(_MAKERS)}")
    lexer.advance()
    lexer.expect("<")
    lexer.expect("{", "before the fields")
    fields: dict[str, Value] = {}
    lexer.separated(lambda: _read_field(lexer, name, fields, depth), "}")
    lexer.expect(">")
    return _Encoding(name, fields, span)


def _read_alias(lexer: _EncodingLexer, depth: int) -> _Encoding:
    """Read the encoding that the definitions give a name."""
    definitions, name = lexer.definitions, lexer.text
    found = [each for each in _DEFINITION.finditer(definitions) if each["name"] == name]
    if not found:
        raise lexer.expected("ttg or the name of a definition")
    if len(found) > 1:
        span = Span(definitions, *found[1].span("name"))
        raise lexer.error(f"{name} is defined twice", span)
    lexer.advance()
    return _read(_EncodingLexer(definitions, found[0].end(), definitions), depth + 1)


_DEFINITION: Final = re.compile(r"^[ \t]*#(?P<name>[A-Za-z_]\w*)[ \t]*=\s*(?=#)", re.MULTILINE)
"""The beginning of a definition; a module has other lines, which are not read."""


def _read_field(lexer: _EncodingLexer, encoding: str, fields: dict[str, Value], depth: int) -> None:
    """``name = value``, into the fields. A field that is not known could change the layout."""
    if lexer.kind != "word":
        raise lexer.expected("the name of a field")
    name, maker = lexer.text, _MAKERS[encoding]
    known = (*maker.ignored, *maker.fields)
    if name in fields:
        raise lexer.error(f"{name} is there twice")
    if known and name not in known:
        raise lexer.expected(f"a field of {encoding}", hint=f"one of {listed(known)}")
    lexer.advance()
    lexer.expect("=", "behind the name of a field")
    is_encoding = name == "parent" and lexer.text == "#"
    fields[name] = _read(lexer, depth + 1) if is_encoding else _read_value(lexer, 0)


def _read_value(lexer: _EncodingLexer, depth: int) -> Value:
    if lexer.text == "[":
        if depth + 1 == MAX_PARENTS:
            raise lexer.error(f"lists are nested deeper than {MAX_PARENTS}")
        lexer.advance()
        return [*lexer.separated(lambda: _read_value(lexer, depth + 1), "]")]
    if lexer.text in {"true", "false"}:
        return lexer.advance() == "true"
    return lexer.integer("an integer, a list, true or false")


_RENAMED: Final = {"shared": "swizzled_shared", "mma": "nvidia_mma", "mfma": "amd_mfma"}
"""Names of older versions, which had the prefix ``triton_gpu``."""


# From fields to layouts.

_BLOCKS: Final = ("CTAsPerCGA", "CTASplitNum", "CTAOrder")
"""The arguments of a :class:`BlockSplit`; nothing is said of one block."""

_FIELDS: Final[Mapping[str, tuple[str, type]]] = {
    **{name: (name, list) for name in _BLOCKS},
    "sizePerThread": ("size_per_thread", list),
    "threadsPerWarp": ("threads_per_warp", list),
    "warpsPerCTA": ("warps_per_cta", list),
    "order": ("order", list),
    "versionMajor": ("version", int),
    "instrShape": ("instr_shape", list),
    "isTransposed": ("is_transposed", bool),
    "tilesPerWarp": ("tiles_per_warp", list),
    "opIdx": ("operand", int),
    "kWidth": ("k_width", int),
    "parent": ("parent", _Encoding),
    "dim": ("dim", int),
    "vec": ("vec", int),
    "perPhase": ("per_phase", int),
    "maxPhase": ("max_phase", int),
    "swizzlingByteWidth": ("swizzle_bytes", int),
    "transposed": ("is_transposed", bool),
    "elementBitWidth": ("element_bits", int),
}
"""The argument that each field is, and the kind of its value."""

_OPTIONAL: Final = (*_BLOCKS, "tilesPerWarp")


def _linear(shape: tuple[int, ...], encoding: _Encoding) -> LinearLayout:
    bases: dict[str, list[list[Any]]] = {}
    for name, vectors in encoding.fields.items():
        given = vectors if isinstance(vectors, list) else [vectors]
        rows = [each for each in given if isinstance(each, list)]
        if len(rows) < len(given):
            raise TextError(f"{name} of linear is no list of bases", encoding.span)
        bases[name] = [encoding.integers(name, row) for row in rows]
    return LinearLayout(bases, _dimensions(shape))


def _slice(shape: tuple[int, ...], dim: int, parent: _Encoding) -> LinearLayout:
    return slice_of(parent.layout((*shape[:dim], 1, *shape[dim:])), dim)


def _dot_operand(
    shape: tuple[int, ...], operand: int, parent: _Encoding, k_width: int
) -> LinearLayout:
    if parent.name not in _OPERANDS or "tilesPerWarp" in parent.fields:
        expected = "expected nvidia_mma or amd_mfma without tilesPerWarp as the parent"
        raise TextError(f"dot_op: {expected}", parent.span)
    make, fields = _OPERANDS[parent.name]
    return make(shape, operand, k_width=k_width, **parent.arguments(fields))


_OPERANDS: Final[Mapping[str, tuple[Callable[..., LinearLayout], tuple[str, ...]]]] = {
    "nvidia_mma": (dot_operand, ("warpsPerCTA", "versionMajor", *_BLOCKS)),
    "amd_mfma": (amd_dot_operand, ("warpsPerCTA", "instrShape", *_BLOCKS)),
}
"""The layout of an operand of each instruction, and the fields of the instruction that it needs."""


class _Maker(NamedTuple):
    """The function of a shape and of fields that an encoding is.

    Without any fields, it is one of the whole encoding. Those that are ``ignored`` change nothing.
    """

    make: Callable[..., LinearLayout]
    fields: tuple[str, ...]
    ignored: tuple[str, ...] = ()


_MAKERS: Final[Mapping[str, _Maker]] = {
    "blocked": _Maker(
        blocked, ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order", *_BLOCKS)
    ),
    "linear": _Maker(_linear, ()),
    "nvidia_mma": _Maker(
        nvidia_mma, ("versionMajor", "warpsPerCTA", "instrShape", *_BLOCKS), ("versionMinor",)
    ),
    "amd_mfma": _Maker(
        amd_mfma,
        ("warpsPerCTA", "instrShape", "isTransposed", "tilesPerWarp", *_BLOCKS),
        ("version", "versionMajor", "versionMinor"),
    ),
    "dot_op": _Maker(_dot_operand, ("opIdx", "parent", "kWidth")),
    "slice": _Maker(_slice, ("dim", "parent")),
    "swizzled_shared": _Maker(
        swizzled_shared, ("vec", "perPhase", "maxPhase", "order", *_BLOCKS), ("hasLeadingOffset",)
    ),
    "nvmma_shared": _Maker(
        nvmma_shared, ("swizzlingByteWidth", "transposed", "elementBitWidth", *_BLOCKS)
    ),
}
