"""Triton's encodings as linear layouts: blocked, mma, dot operand, slice and shared.

Each is a function of the shape of a tensor. As in Triton, a layout smaller than the shape repeats
in registers, and of a larger one the places beyond the shape hold what others hold.

Source: Triton (lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.linear.linear_layout import LinearLayout
from simplifier.errors import check_integers, check_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    Sizes = Sequence[int]

REGISTER, LANE, WARP, BLOCK, OFFSET = "register", "lane", "warp", "block", "offset"
"""The in-dimensions of Triton's layouts."""


@dataclass(frozen=True, slots=True)
class BlockSplit:
    """How the blocks of a cluster share a tensor: CTAsPerCGA, CTASplitNum and CTAOrder of Triton.

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
    layout = LinearLayout.empty()
    for name, sizes in given.items():
        layout *= _identity("blocked", name, sizes, order, rank)
    return _filled("blocked", layout, shape, blocks)


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
    if version not in _MMA_VERSIONS or rank < _MATRIX:
        message = f"version {version} for a tensor of rank {rank}; expected 2 or 3, and rank 2 or 3"
        raise ShapeError(f"nvidia_mma: {message}")
    ampere = version == _MMA_VERSIONS[0]
    tile = (*[1] * (rank - len(instr_shape)), *instr_shape) if ampere else tuple(instr_shape[:2])
    inner_first = tuple(reversed(range(rank)))
    layout = _mma_tile("nvidia_mma", tile, _MMA_WIDTH, inner_first)
    warp_order = inner_first if ampere else tuple(range(rank))
    layout *= _identity("nvidia_mma", WARP, warps_per_cta, warp_order, rank)
    return _filled("nvidia_mma", layout, shape, blocks)


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
    is_first = operand == 0
    if operand not in (0, 1) or version not in _MMA_VERSIONS or (version != _MMA_WIDTH and operand):
        expected = "expected operand 0 or 1, and only 0 for version 3"
        raise ShapeError(f"dot_operand: operand {operand} of version {version}; {expected}")
    if rank < _MATRIX:
        raise ShapeError(f"dot_operand: a tensor of rank {rank}; expected 2 or 3")
    batch, rows, columns = tuple(range(rank - 2)), rank - 2, rank - 1
    depth = 8 * k_width
    tile = (*[1] * (rank - 2), 16, depth) if is_first else (*[1] * (rank - 2), depth, 8)
    inner, outer = (columns, rows) if is_first else (rows, columns)
    layout = _mma_tile("dot_operand", tile, k_width, (inner, outer, *reversed(batch)))
    order = tuple(reversed(range(rank))) if version == _MMA_WIDTH else tuple(range(rank))
    _check_length("dot_operand: warps_per_cta", warps_per_cta, rank)
    for dim in order:
        size, make = warps_per_cta[dim], LinearLayout.identity
        layout *= (LinearLayout.zeros if dim == inner else make)(size, WARP, f"dim{dim}")
    return _filled("dot_operand", layout, shape, blocks)


def amd_mfma(
    shape: Sizes,
    warps_per_cta: Sizes,
    instr_shape: Sizes,
    *,
    is_transposed: bool = False,
    blocks: BlockSplit = ONE_BLOCK,
) -> LinearLayout:
    """``#ttg.amd_mfma``: the result of an ``mfma`` of 32 x 32 or 16 x 16 in warps of 64 lanes.

    Raises:
        ArgumentError: an argument holds no integers.
        ShapeError: the instruction has another shape, or sizes do not fit.

    >>> amd_mfma((16, 16), (1, 1), (16, 16)).bases["lane"]
    ((0, 1), (0, 2), (0, 4), (0, 8), (4, 0), (8, 0))
    """
    rank = _check_shape("amd_mfma", shape)
    instruction = tuple(instr_shape)
    if instruction not in _MFMA or rank < _MATRIX:
        expected = "expected (32, 32) or (16, 16), and rank 2 or 3"
        raise ShapeError(f"amd_mfma: instr_shape {instruction} for rank {rank}; {expected}")
    registers, lanes = _MFMA[instruction]
    rows, columns = (rank - 1, rank - 2) if is_transposed else (rank - 2, rank - 1)
    bases = {
        REGISTER: [_basis(rank, rows, step) for step in registers],
        LANE: [
            *(_basis(rank, columns, 1 << bit) for bit in range(instruction[0].bit_length() - 1)),
            *(_basis(rank, rows, step) for step in lanes),
        ],
    }
    layout = LinearLayout(bases, _names(rank)).with_out_dims(_names(rank)[::-1])
    layout *= _identity("amd_mfma", WARP, warps_per_cta, tuple(reversed(range(rank))), rank)
    return _filled("amd_mfma", layout, shape, blocks)


_MFMA: dict[tuple[int, ...], tuple[Sizes, Sizes]] = {
    (32, 32): ((1, 2, 8, 16), (4,)),
    (16, 16): ((1, 2), (4, 8)),
}
"""For each shape, the steps along M of registers, and of the lanes beyond those along N."""


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
    names = list(parent.out_dims)
    if not 0 <= dim < len(names) or len(names) < _MATRIX:
        message = f"dimension {dim} of {len(names)}; expected one of several"
        raise ShapeError(f"slice_of: {message}")
    kept = parent.sublayout(parent.in_dims, names[:dim] + names[dim + 1 :])
    bases = {
        name: [vector for vector in vectors if name != REGISTER or any(vector)]
        for name, vectors in kept.bases.items()
    }
    sizes = kept.out_dims.values()
    return LinearLayout(bases, dict(zip(_names(len(sizes)), sizes, strict=True)))


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
        _check_power("swizzled_shared", name, value)
    inside = _inside(shape, _of_blocks("swizzled_shared", shape, blocks))
    steps = [(dim, 1 << bit) for dim in dims for bit in range(inside[dim].bit_length() - 1)]
    bases: list[tuple[int, ...]] = []
    for dim, step in steps:
        basis = [*_basis(rank, dim, step)]
        if rank >= _MATRIX and dim == dims[1]:
            basis[dims[0]] = vec * (step // per_phase % max_phase) % inside[dims[0]]
        bases.append(tuple(basis))
    sizes = dict(zip(_names(rank), inside, strict=True))
    return _filled("swizzled_shared", LinearLayout({OFFSET: bases}, sizes), shape, blocks)


# Parts of encodings.


def _names(rank: int) -> list[str]:
    return [f"dim{dim}" for dim in range(rank)]


def _basis(rank: int, dim: int, step: int) -> tuple[int, ...]:
    return tuple(step if each == dim else 0 for each in range(rank))


def _identity(where: str, name: str, sizes: Sizes, order: Sizes, rank: int) -> LinearLayout:
    """Places that count through a box, along ``order[0]`` first."""
    _check_length(f"{where}: {name}", sizes, rank)
    _check_order(where, order, rank)
    layout = LinearLayout({name: []}, {f"dim{dim}": 1 for dim in order})
    for dim in order:
        layout *= LinearLayout.identity(sizes[dim], name, f"dim{dim}")
    return layout


def _mma_tile(where: str, tile: Sizes, width: int, order: Sizes) -> LinearLayout:
    """The places of one instruction: 4 lanes along the inner dimension, 8 along the outer one."""
    inner, outer = order[:2]
    columns, rows = tile[inner], tile[outer]
    if width < 1 or columns % (4 * width) or rows % 8:
        expected = f"expected rows by 8 and columns by {4 * width}"
        raise ShapeError(f"{where}: a tile of {rows} x {columns}; {expected}")
    layout = LinearLayout({REGISTER: [], LANE: []}, {f"dim{dim}": 1 for dim in order})
    parts = (
        (width, REGISTER, inner),
        (4, LANE, inner),
        (8, LANE, outer),
        (rows // 8, REGISTER, outer),
        (columns // (4 * width), REGISTER, inner),
    )
    for size, name, dim in parts:
        layout *= LinearLayout.identity(size, name, f"dim{dim}")
    return layout


def _filled(where: str, layout: LinearLayout, shape: Sizes, blocks: BlockSplit) -> LinearLayout:
    """A layout of one block made as large as its part of a shape, and the blocks beside it."""
    cluster = _of_blocks(where, shape, blocks)
    wanted = dict(zip(_names(len(shape)), _inside(shape, cluster), strict=True))
    first = next(iter(layout.in_dims))
    for name in layout.out_dims:
        size = layout.out_dims[name]
        if wanted[name] > size:
            layout *= LinearLayout.identity(wanted[name] // size, first, name)
    return (_cut(layout, wanted) * cluster).with_out_dims(_names(len(shape)))


def _cut(layout: LinearLayout, sizes: dict[str, int]) -> LinearLayout:
    """A layout whose bases beyond the sizes are 0."""
    names = list(layout.out_dims)
    bases = {
        name: [
            tuple(i if i < sizes[out] else 0 for i, out in zip(vector, names, strict=True))
            for vector in vectors
        ]
        for name, vectors in layout.bases.items()
    }
    return LinearLayout(bases, {name: min(layout.out_dims[name], sizes[name]) for name in names})


def _of_blocks(where: str, shape: Sizes, blocks: BlockSplit) -> LinearLayout:
    """From the number of a block to where its part of the shape begins, counted in parts."""
    rank = len(shape)
    per_cluster = tuple(blocks.per_cluster) or (1,) * rank
    split = tuple(blocks.split) or per_cluster
    order = tuple(blocks.order) or tuple(reversed(range(rank)))
    for name, values in {"per_cluster": per_cluster, "split": split}.items():
        _check_length(f"{where}: blocks.{name}", values, rank)
    _check_order(where, order, rank)
    layout = LinearLayout({BLOCK: []}, dict.fromkeys(_names(rank), 1))
    for dim in order:
        _check_power(where, "blocks.split", split[dim])
        if per_cluster[dim] % split[dim]:
            message = f"{per_cluster[dim]} blocks hold {split[dim]} parts"
            raise ShapeError(f"{where}: {message} along dimension {dim}; expected a multiple")
        layout *= LinearLayout.identity(split[dim], BLOCK, f"dim{dim}")
        layout *= LinearLayout.zeros(per_cluster[dim] // split[dim], BLOCK, f"dim{dim}")
    return _cut(layout, dict(zip(_names(rank), shape, strict=True)))


def _inside(shape: Sizes, cluster: LinearLayout) -> list[int]:
    """The part of a shape that one block holds."""
    pairs = zip(shape, cluster.out_dims.values(), strict=True)
    return [max(1, size // parts) for size, parts in pairs]


def _check_shape(where: str, shape: Sizes) -> int:
    check_integers(shape, f"{where}: the shape")
    if not shape:
        raise ShapeError(f"{where}: the shape has no dimensions")
    for size in shape:
        _check_power(where, "a size of the shape", size)
    return len(shape)


def _check_length(what: str, values: Sizes, rank: int) -> None:
    check_integers(values, what)
    if len(values) != rank:
        raise ShapeError(f"{what} {tuple(values)}; expected {rank} numbers, as the shape has")


def _check_order(where: str, order: Sizes, rank: int) -> None:
    check_integers(order, f"{where}: the order")
    if sorted(order) != list(range(rank)):
        expected = f"expected the dimensions 0 to {rank - 1} in some order"
        raise ShapeError(f"{where}: order {tuple(order)}; {expected}")


def _check_power(where: str, what: str, value: int) -> None:
    check_type(value, int, f"{where}: {what}", "an integer")
    if value < 1 or value & (value - 1):
        raise ShapeError(f"{where}: {what} is {value}; expected a power of two")
