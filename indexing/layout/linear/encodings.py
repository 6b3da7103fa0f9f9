"""Triton's encodings of registers as linear layouts: blocked, mma, dot operand and slice.

Each is a function of the shape of a tensor. As in Triton, a layout smaller than the shape repeats
in registers, and of a larger one the places beyond the shape hold what others hold.

Source: Triton (lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.linear.encoding_parts import (
    LANE,
    ONE_BLOCK,
    REGISTER,
    WARP,
    BlockSplit,
    check_length,
    check_order,
    check_power,
    check_shape,
    counting,
    dimensions,
    filled,
)
from indexing.layout.linear.linear_layout import LinearLayout
from simplifier.errors import INTEGER, check_integers, check_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Sizes = Sequence[int]


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
    rank = check_shape("blocked", shape)
    given = {REGISTER: size_per_thread, LANE: threads_per_warp, WARP: warps_per_cta}
    layout = LinearLayout.empty()
    for name, sizes in given.items():
        layout *= counting("blocked", name, sizes, order, rank)
    return filled("blocked", layout, shape, blocks)


def blocked_for(
    shape: Sizes,
    num_warps: int,
    *,
    size_per_thread: Sizes = (),
    order: Sizes = (),
    lanes: int = 32,
) -> LinearLayout:
    """``#ttg.blocked`` whose lanes and warps follow ``order`` until they cover a dimension.

    What is left of them is along the last dimension of the order. Unless given, a thread holds one
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
    rank = check_shape("blocked_for", shape)
    sizes = tuple(size_per_thread) or (1,) * rank
    dims = tuple(order) or tuple(reversed(range(rank)))
    check_length("blocked_for: size_per_thread", sizes, rank)
    check_order("blocked_for", dims, rank)
    for name, value in {"num_warps": num_warps, "lanes": lanes}.items():
        check_power("blocked_for", name, value)
    for value in sizes:
        check_power("blocked_for", "a size per thread", value)
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
    rank = check_shape("nvidia_mma", shape)
    check_integers(instr_shape, "nvidia_mma: instr_shape")
    if version not in _MMA_VERSIONS or rank < _MATRIX:
        message = f"version {version} for a tensor of rank {rank}; expected 2 or 3, and rank 2 or 3"
        raise ShapeError(f"nvidia_mma: {message}")
    if len(instr_shape) < _MATRIX:
        raise ShapeError(f"nvidia_mma: instr_shape {tuple(instr_shape)}; expected M and N")
    ampere = version == _MMA_VERSIONS[0]
    tile = (*[1] * (rank - len(instr_shape)), *instr_shape) if ampere else tuple(instr_shape[:2])
    inner_first = tuple(reversed(range(rank)))
    layout = _mma_tile("nvidia_mma", tile, _MMA_WIDTH, inner_first)
    warp_order = inner_first if ampere else tuple(range(rank))
    layout *= counting("nvidia_mma", WARP, warps_per_cta, warp_order, rank)
    return filled("nvidia_mma", layout, shape, blocks)


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
    rank = check_shape("dot_operand", shape)
    check_power("dot_operand", "k_width", k_width)
    is_first, ampere = operand == 0, version == _MMA_VERSIONS[0]
    if operand not in (0, 1) or version not in _MMA_VERSIONS or not (is_first or ampere):
        expected = "expected operand 0 or 1, and only 0 for version 3"
        raise ShapeError(f"dot_operand: operand {operand} of version {version}; {expected}")
    if rank < _MATRIX:
        raise ShapeError(f"dot_operand: a tensor of rank {rank}; expected 2 or 3")
    batch, rows, columns = tuple(range(rank - 2)), rank - 2, rank - 1
    depth = 8 * k_width
    tile = (*[1] * (rank - 2), 16, depth) if is_first else (*[1] * (rank - 2), depth, 8)
    inner, outer = (columns, rows) if is_first else (rows, columns)
    layout = _mma_tile("dot_operand", tile, k_width, (inner, outer, *reversed(batch)))
    check_length("dot_operand: warps_per_cta", warps_per_cta, rank)
    order = reversed(range(rank)) if ampere else range(rank)
    layout *= _shared_by_warps(warps_per_cta, inner, order)
    return filled("dot_operand", layout, shape, blocks)


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
    check_length("amd_mfma: tiles_per_warp", tiles, rank)
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
    return filled("amd_mfma", _product(tuple(reversed(range(rank))), parts), shape, blocks)


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
    check_power("amd_dot_operand", "k_width", k_width)
    if operand not in (0, 1):
        raise ShapeError(f"amd_dot_operand: operand {operand}; expected 0 or 1")
    depth, other = (rank - 2, rank - 1) if operand else (rank - 1, rank - 2)
    parts = ((k_width, REGISTER, depth), (side, LANE, other), (64 // side, LANE, depth))
    order = (depth, other, *reversed(range(rank - _MATRIX)))
    layout = _product(order, parts) * _shared_by_warps(warps_per_cta, depth, reversed(range(rank)))
    return filled("amd_dot_operand", layout, shape, blocks)


def _check_mfma(where: str, shape: Sizes, warps: Sizes, instr_shape: Sizes) -> tuple[int, int]:
    """The rank of a tensor, and M and N of an instruction, which are the same."""
    rank = check_shape(where, shape)
    check_length(f"{where}: warps_per_cta", warps, rank)
    check_integers(instr_shape, f"{where}: instr_shape")
    if tuple(instr_shape[:_MATRIX]) not in _MFMA or len(instr_shape) > 3 or rank < _MATRIX:  # noqa: PLR2004 - M, N and K
        expected = "expected (32, 32) or (16, 16), and rank 2 or 3"
        raise ShapeError(f"{where}: instr_shape {tuple(instr_shape)} for rank {rank}; {expected}")
    return rank, instr_shape[0]


_MFMA = ((32, 32), (16, 16))


def slice_of(parent: LinearLayout, dim: int) -> LinearLayout:
    """``#ttg.slice``: a layout without one of its out-dimensions, as of what a reduction leaves.

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
    return LinearLayout(bases, dimensions(tuple(kept.out_dims.values())))


def _mma_tile(where: str, tile: Sizes, width: int, order: Sizes) -> LinearLayout:
    """The places of one instruction: 4 lanes along the inner dimension, 8 along the outer one."""
    inner, outer = order[:2]
    columns, rows = tile[inner], tile[outer]
    if width < 1 or columns % (4 * width) or rows % 8:
        expected = f"expected rows by 8 and columns by {4 * width}"
        raise ShapeError(f"{where}: a tile of {rows} x {columns}; {expected}")
    parts = (
        (width, REGISTER, inner),
        (4, LANE, inner),
        (8, LANE, outer),
        (rows // 8, REGISTER, outer),
        (columns // (4 * width), REGISTER, inner),
    )
    return _product(order, parts)


def _product(order: Sizes, parts: Iterable[tuple[int, str, int]]) -> LinearLayout:
    """A product of identities: sizes, in-dimensions, and dimensions of the tensor."""
    layout = LinearLayout({REGISTER: [], LANE: []}, {f"dim{dim}": 1 for dim in order})
    for size, name, dim in parts:
        layout *= LinearLayout.identity(size, name, f"dim{dim}")
    return layout


def _shared_by_warps(warps_per_cta: Sizes, depth: int, order: Iterable[int]) -> LinearLayout:
    """Warps that count along ``order``; those beside each other along K hold the same."""
    layout = LinearLayout.empty()
    for dim in order:
        make = LinearLayout.zeros if dim == depth else LinearLayout.identity
        layout *= make(warps_per_cta[dim], WARP, f"dim{dim}")
    return layout
