"""Triton's encodings of registers as linear layouts: blocked, mma, dot operand and slice.

Each is a function of the shape of a tensor. As in Triton, a layout smaller than the shape repeats
in registers, and of a larger one the places beyond the shape hold what others hold.

Source: Triton (lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

from indexing.errors import ShapeError
from indexing.layout.linear.layout import (
    BLOCK,
    LANE,
    OFFSET,
    REGISTER,
    WARP,
    Basis,
    LinearLayout,
    bit_count,
    dimension_names,
)
from simplifier.errors import INTEGER, check_integers, check_type, listed, naming_wrong_arguments

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


@naming_wrong_arguments
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


@naming_wrong_arguments
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


def amd_wmma(
    shape: Sizes,
    version: int,
    warps_per_cta: Sizes,
    *,
    is_transposed: bool = False,
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.amd_wmma``: the result of a ``wmma`` of 16 x 16 in warps of 32 lanes.

    The two halves of a warp have every other row in version 1, of RDNA 3, and the upper and lower
    rows in version 2, of RDNA 4.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: the version is neither 1 nor 2, or sizes do not fit.

    >>> amd_wmma((16, 16), 1, (1, 1)).bases["lane"]
    ((0, 1), (0, 2), (0, 4), (0, 8), (1, 0))
    >>> amd_wmma((16, 16), 2, (1, 1)).bases["lane"]
    ((0, 1), (0, 2), (0, 4), (0, 8), (8, 0))
    """
    rank = _check_wmma("amd_wmma", shape, version, warps_per_cta)
    rows, columns = rank - 2, rank - 1
    along, across = (columns, rows) if is_transposed else (rows, columns)
    halves: _Part = (2, LANE, along)
    parts: list[_Part] = [(1, REGISTER, along), (16, LANE, across), halves, (8, REGISTER, along)]
    if version != _WMMA_VERSIONS[0]:
        parts = [(8, REGISTER, along), (16, LANE, across), halves]
    order = tuple(reversed(range(rank)))
    warps = ((warps_per_cta[dim], WARP, dim) for dim in order)
    return _encoded("amd_wmma", order, (*parts, *warps), shape, blocks)


def wmma_dot_operand(
    shape: Sizes,
    operand: int,
    version: int,
    warps_per_cta: Sizes,
    k_width: int,
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.dot_op`` of an ``amd_wmma`` parent: operand 0 (M x K) or 1 (K x N) in registers.

    In version 1 the two halves of a warp hold the same; in version 2 they share K.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: there is no such operand or version, or sizes do not fit.

    >>> wmma_dot_operand((16, 16), 0, 1, (1, 1), 16).bases["lane"]
    ((1, 0), (2, 0), (4, 0), (8, 0), (0, 0))
    """
    rank = _check_wmma("wmma_dot_operand", shape, version, warps_per_cta)
    check_type(operand, INTEGER, "wmma_dot_operand: operand", "an integer")
    bit_count(k_width, "wmma_dot_operand: k_width")
    if operand not in (0, 1):
        raise ShapeError(f"wmma_dot_operand: operand {operand}; expected 0 or 1")
    order = _along_depth(operand, rank)
    depth, other = order[:_MATRIX]
    halves = None if version == _WMMA_VERSIONS[0] else depth
    parts = ((k_width, REGISTER, depth), (16, LANE, other), (2, LANE, halves))
    warps = _shared_by_warps(warps_per_cta, depth, is_reversed=True)
    return _encoded("wmma_dot_operand", order, (*parts, *warps), shape, blocks)


def _check_wmma(where: str, shape: Sizes, version: int, warps: Sizes) -> int:
    """The rank of a tensor of an instruction of this version."""
    rank = _check_shape(where, shape)
    _check_length(f"{where}: warps_per_cta", warps, rank)
    if version not in _WMMA_VERSIONS or rank < _MATRIX:
        message = f"version {version} for rank {rank}; expected 1 or 2, and rank 2 or 3"
        raise ShapeError(f"{where}: {message}")
    return rank


_WMMA_VERSIONS = (1, 2)


def tensor_memory(
    shape: Sizes, block_m: int, block_n: int, col_stride: int = 1, blocks: BlockSplit = ONE_BLOCK
) -> LinearLayout:
    """``#ttng.tensor_memory_encoding``: Blackwell's memory of 128 rows, with columns of 32 bits.

    A product of 128 rows has a row for each; one of 64 has rows 0 to 15 of each 32, and the next
    block of rows, or else of columns, is in rows 16 to 31.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: ``block_m`` is neither 64 nor 128, ``col_stride`` is not 1, or sizes do not fit.

    >>> tensor_memory((128, 64), 64, 64).bases["row"]
    ((1, 0), (2, 0), (4, 0), (8, 0), (64, 0), (16, 0), (32, 0))
    """
    rank = _check_shape("tensor_memory", shape)
    bit_count(block_n, "tensor_memory: block_n")
    if block_m not in _TENSOR_ROWS or rank != _MATRIX or col_stride != 1:
        message = f"block_m {block_m}, stride {col_stride}, rank {rank}; expected 64 or 128, 1, 2"
        raise ShapeError(f"tensor_memory: {message}")
    cluster, (rows, columns) = _split_among_blocks("tensor_memory", shape, blocks)
    width = min(block_n, columns)
    more_rows = [(bit, 0) for bit in _powers(block_m, rows)]
    more_columns = [(0, bit) for bit in _powers(width, columns)]
    places = [(1 << bit, 0) for bit in range(block_m.bit_length() - 1)]
    if block_m < max(_TENSOR_ROWS):
        other = more_rows or more_columns or [(0, 0)]
        places.insert(4, other[0])
        del other[0]
    along = [*((0, bit) for bit in _powers(1, width)), *more_rows, *more_columns]
    kept = [(row if row < rows else 0, column) for row, column in places]
    layout = LinearLayout({"row": kept, "col": along}, _dimensions((rows, columns)))
    return (layout * cluster).with_out_dims(dimension_names(rank))


_TENSOR_ROWS = (64, 128)


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


@naming_wrong_arguments
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
