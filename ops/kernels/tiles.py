"""Tiles that programs of Triton compute: their axes, the shapes of values, and their widths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from indexing.code import LoopBlock
from ops.analysis.dataflow import Array
from ops.hlo.module import Instruction
from ops.index_maps import Size, as_form, ceil_divided
from ops.kernels.elements import KernelError
from ops.tiling import DimensionKind, Propagation

BLOCK: Final = 1024
"""The elements of a tile, as far as sizes allow."""

LARGE: Final = 4
"""A tile has so many times as many at most, where that spares a loop."""

SQUARE: Final = 32
"""The elements along each of two axes that are both neighbours in some memory."""

_WASTE: Final = 1.25
"""A tile has so many times as many places as elements, at most, if a smaller one has fewer."""

PIECES: Final = 4
"""The most pieces of a dimension that a program has lines for."""

_WARP: Final = 128
"""The elements that a warp loads at once, as vectors of four."""

_WARPS: Final = 4
"""The most warps of a program; Triton's own number."""

UNBOUNDED: Final = 1 << 62
"""More than any size."""


# Axes, and the shapes of values.


@dataclass(frozen=True, eq=False)
class BlockAxis:
    """An axis of the tiles of a block.

    Attributes:
        place: the number of axes behind it.
        width: its elements, a power of two.
        size: how many values the variable along it has.
        is_whole: whether the tile has all of these.
        mask: the name of what says which elements are inside; empty if all are.
    """

    place: int
    width: int
    size: Size
    is_whole: bool
    mask: str

    def has_all(self, size: Size) -> bool:
        """Whether a tile has all of so many elements."""
        return self.is_whole and self.size == size


@dataclass(frozen=True)
class TileShape:
    """The axes of a value, which has one element along all others, and their number."""

    axes: frozenset[BlockAxis] = frozenset()
    rank: int = 0

    def __or__(self, other: TileShape) -> TileShape:
        return TileShape(self.axes | other.axes, max(self.rank, other.rank))

    @property
    def text(self) -> str:
        """The sizes as a tuple of Python."""
        widths = {axis.place: axis.width for axis in self.axes}
        sizes = [widths.get(place, 1) for place in range(self.rank - 1, -1, -1)]
        return f"({', '.join(map(str, sizes))}{',' * (self.rank == 1)})"

    @property
    def elements(self) -> int:
        """How many elements a value has."""
        return prod(axis.width for axis in self.axes)

    def raised(self, text: str, rank: int) -> str:
        """A value of this shape with more axes in front."""
        if self.rank in (0, rank):
            return text
        new = ["None"] * (rank - self.rank) + [":"] * self.rank
        return f"{text if text.isidentifier() else f'({text})'}[{', '.join(new)}]"

    def spread(self, text: str, wanted: TileShape) -> str:
        """A value of this shape with more elements along axes."""
        whole = self | wanted
        if whole == self:
            return text
        return f"tl.broadcast_to({self.raised(text, whole.rank)}, {whole.text})"


@dataclass(frozen=True)
class TiledPart:
    """Dimensions of a result that lie in memory as one, or a digit of their number, in tiles.

    Attributes:
        dimensions: of the result.
        size, stride: of the digit.
        width: elements of a tile.
        is_looped: whether a program goes along all tiles; else, each is of another program.
        is_unrolled: whether a program has lines for each value of the digit.
    """

    dimensions: tuple[int, ...]
    size: Size
    stride: int
    width: int = 1
    is_looped: bool = False
    is_unrolled: bool = False

    @property
    def programs(self) -> Size:
        """The tiles that programs count."""
        is_of_one = self.is_looped or self.is_unrolled or not self.size
        return 1 if is_of_one else ceil_divided(self.size, self.width)

    @property
    def pieces(self) -> range:
        """The values that have lines of their own."""
        return range(self.size if self.is_unrolled and isinstance(self.size, int) else 1)


# Tiles that the user of a kernel asks for.


@dataclass(frozen=True)
class WantedTiles:
    """The tiles of the arrays of a fusion.

    Raises:
        KernelError: Triton has no such tiles.
    """

    propagation: Propagation

    def __post_init__(self) -> None:
        pairs = zip(self.propagation.space.dimensions, self.propagation.sizes, strict=True)
        for dimension, size in pairs:
            if size not in (dimension.size, power_above(int(size))):
                expected = f"expected a power of two, or all {dimension.size}"
                raise KernelError(f"emit_kernel: tiling: {dimension} has {size} values; {expected}")

    def of(self, array: Array) -> dict[int, int]:
        """The elements of a tile of a result along each dimension."""
        found = self.propagation.of(*array)
        if not found:
            reason = "has no tiles, only what is written over it; expected no tiling"
            raise KernelError(f"emit_kernel: tiling: %{array[0].name} {reason}")
        return {axis: int(size) for axis, size in enumerate(found[0].checked_tile().sizes)}

    def along(self, source: Instruction) -> dict[int, int]:
        """The elements of a tile along each dimension of the first operand that is gone through."""
        pairs = zip(self.propagation.space.dimensions, self.propagation.sizes, strict=True)
        return {
            dimension: int(size)
            for each, size in pairs
            if each.instruction is source and each.kind is not DimensionKind.PARALLEL
            for operand, dimension in each.axes
            if not operand
        }


def runs(
    group: Sequence[int], tile: Mapping[int, int], sizes: Mapping[int, Size]
) -> Iterator[Sequence[int]]:
    """The neighbours in memory that are one axis of a tile: all but the first one are whole.

    >>> [*runs([0, 1, 2], {0: 4, 1: 8, 2: 16}, {0: 9, 1: 32, 2: 16})]
    [[0], [1, 2]]
    """
    found: list[list[int]] = []
    for each in group:
        if found and tile[each] == sizes[each]:
            found[-1].append(each)
        else:
            found.append([each])
    for run in found:
        count = prod(tile[each] for each in run)
        is_one = tile[run[0]] == sizes[run[0]] or count == power_above(count)
        yield from [run] if is_one else [[each] for each in run]


# How wide a tile is: few places without elements, and vectors along what is close in memory.


@dataclass(frozen=True)
class ReadParts:
    """What a result is computed from.

    Attributes:
        close: the parts of the result along which what moves most has neighbours in memory.
        kept: the parts that decide what is reduced.
        reduced: so many elements are reduced to one, at most.
    """

    close: frozenset[int]
    kept: frozenset[int]
    reduced: int


def planned(
    parts: Sequence[TiledPart], most: Sequence[int], reads: ReadParts
) -> tuple[TiledPart, ...]:
    """The parts of a result, of sizes that are at most so great, with the tiles of a program.

    Axes along which some memory has neighbours come first. Where neighbours are reduced, there
    are as many others as fit beside them; a program goes along what reads reduced values.

    >>> parts = [TiledPart((dimension,), 1000, 1) for dimension in (0, 1)]
    >>> transpose = ReadParts(close=frozenset([0, 1]), kept=frozenset(), reduced=1)
    >>> [part.width for part in planned(parts, [1000, 1000], transpose)]
    [32, 32]
    >>> softmax = ReadParts(close=frozenset([1]), kept=frozenset([0]), reduced=1000)
    >>> [part.width for part in planned(parts, [1000, 1000], softmax)]
    [1, 1024]
    """
    tiled = [number for number, each in enumerate(parts) if not each.is_unrolled]
    budget = max(1, BLOCK // prod(len(each.pieces) for each in parts))
    kept = [number for number in tiled if number in reads.kept or not reads.kept]
    close = [number for number in reversed(kept) if number in reads.close]
    if reads.kept:
        beside = max(1, budget // min(budget, power_above(reads.reduced)))
        budget = square = max(beside, SQUARE) if close else beside
    else:
        square = SQUARE if len(close) > 1 else budget
    widths = dict.fromkeys(range(len(parts)), 1)
    for number in close:
        widths[number] = width_for(most[number], min(square, budget), SQUARE)
        budget //= widths[number]
    for number in sorted(kept, key=lambda each: (each not in close, -each)):
        width = max(widths[number], width_for(most[number], budget * widths[number], 1))
        budget //= width // widths[number]
        widths[number] = width
    held = prod(widths.values())
    looped = set[int]()
    for number in (each for each in reversed(tiled) if each not in kept):
        widths[number] = width_beside(held, most[number])
        held *= widths[number]
        looped |= {number} if widths[number] < most[number] else set()
    return tuple(
        replace(each, width=widths[number], is_looped=number in looped)
        for number, each in enumerate(parts)
    )


def greatest(count: Size, block: LoopBlock) -> int:
    """The greatest value of a size in a block."""
    most = block.range_of(as_form(count)).upper
    return UNBOUNDED if most is None else most


def warps_for(count: int) -> int:
    """The warps of a program whose largest tile has so many elements.

    Threads that have one element each load no vectors.

    >>> [warps_for(count) for count in (8, 128, 256, 512, 4096)]
    [1, 1, 2, 4, 4]
    """
    return min(_WARPS, max(1, count // _WARP))


def power_above(count: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(count - 1, 0).bit_length()


def width_for(size: int, most: int, least: int) -> int:
    """The width of tiles along which few places have no element; of the widest ones if none."""
    whole = width = min(most, power_above(size))
    while width >= least:
        if -(size // -width) * width <= size * _WASTE:
            return width
        width //= 2
    return whole


def width_beside(held: int, size: int) -> int:
    """The width along all of a size if a tile can hold it beside other axes, or along a part."""
    whole = power_above(size)
    return whole if whole * held <= LARGE * BLOCK else max(1, BLOCK // held)


def is_ragged(size: Size, width: int) -> bool:
    """Whether tiles of a width have places without elements."""
    return width > 1 and (ceil_divided(size, width) * width != size)
