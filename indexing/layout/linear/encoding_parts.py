"""What Triton's encodings share: blocks of a cluster, boxes, and how a layout fills a shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.linear.linear_layout import LinearLayout, bit_count
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


def dimension_names(rank: int) -> list[str]:
    """The out-dimensions of a tensor: ``dim0``, ``dim1``, ..."""
    return [f"dim{dim}" for dim in range(rank)]


def dimensions(sizes: Sizes) -> dict[str, int]:
    """The out-dimensions of a tensor with their sizes."""
    return dict(zip(dimension_names(len(sizes)), sizes, strict=True))


def counting(where: str, name: str, sizes: Sizes, order: Sizes, rank: int) -> LinearLayout:
    """Places that count through a box, along ``order[0]`` first."""
    check_length(f"{where}: {name}", sizes, rank)
    check_order(where, order, rank)
    layout = LinearLayout({name: []}, {f"dim{dim}": 1 for dim in order})
    for dim in order:
        layout *= LinearLayout.identity(sizes[dim], name, f"dim{dim}")
    return layout


def filled(where: str, layout: LinearLayout, shape: Sizes, blocks: BlockSplit) -> LinearLayout:
    """A layout of one block made as large as its part of a shape, and the blocks beside it."""
    cluster = layout_of_blocks(where, shape, blocks)
    wanted = dimensions(part_of_block(shape, cluster))
    first = next(iter(layout.in_dims))
    for name in layout.out_dims:
        size = layout.out_dims[name]
        if wanted[name] > size:
            layout *= LinearLayout.identity(wanted[name] // size, first, name)
    return (_cut(layout, wanted) * cluster).with_out_dims(dimension_names(len(shape)))


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


def layout_of_blocks(where: str, shape: Sizes, blocks: BlockSplit) -> LinearLayout:
    """From the number of a block to where its part of the shape begins, counted in parts."""
    check_type(blocks, BlockSplit, f"{where}: blocks", "a BlockSplit")
    rank = len(shape)
    per_cluster = tuple(blocks.per_cluster) or (1,) * rank
    split = tuple(blocks.split) or per_cluster
    order = tuple(blocks.order) or tuple(reversed(range(rank)))
    for name, values in {"per_cluster": per_cluster, "split": split}.items():
        check_length(f"{where}: blocks.{name}", values, rank)
    check_order(where, order, rank)
    layout = LinearLayout({BLOCK: []}, dimensions((1,) * rank))
    for dim in order:
        check_power(where, "blocks.split", split[dim])
        if per_cluster[dim] % split[dim]:
            message = f"{per_cluster[dim]} blocks hold {split[dim]} parts"
            raise ShapeError(f"{where}: {message} along dimension {dim}; expected a multiple")
        layout *= LinearLayout.identity(split[dim], BLOCK, f"dim{dim}")
        layout *= LinearLayout.zeros(per_cluster[dim] // split[dim], BLOCK, f"dim{dim}")
    return _cut(layout, dimensions(shape))


def part_of_block(shape: Sizes, cluster: LinearLayout) -> list[int]:
    """The part of a shape that one block holds."""
    pairs = zip(shape, cluster.out_dims.values(), strict=True)
    return [max(1, size // parts) for size, parts in pairs]


def check_shape(where: str, shape: Sizes) -> int:
    """The rank of a shape whose sizes are powers of two."""
    check_integers(shape, f"{where}: the shape")
    if not shape:
        raise ShapeError(f"{where}: the shape has no dimensions")
    for size in shape:
        check_power(where, "a size of the shape", size)
    return len(shape)


def check_length(what: str, values: Sizes, rank: int) -> None:
    """Check that there is an integer for each dimension."""
    check_integers(values, what)
    if len(values) != rank:
        raise ShapeError(f"{what} {tuple(values)}; expected {rank} numbers, as the shape has")


def check_order(where: str, order: Sizes, rank: int) -> None:
    """Check that an order names each dimension once."""
    check_integers(order, f"{where}: the order")
    if sorted(order) != list(range(rank)):
        expected = f"expected the dimensions 0 to {rank - 1} in some order"
        raise ShapeError(f"{where}: order {tuple(order)}; {expected}")


def check_power(where: str, what: str, value: int) -> None:
    """Check that a value is a power of two."""
    check_type(value, int, f"{where}: {what}", "an integer")
    bit_count(value, f"{where}: {what}")
