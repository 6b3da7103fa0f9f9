"""How well the warps of a kernel use what they load from memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import IndexingMap, MapError
from indexing.layout import ElementType, Shape, ShapeError
from ops.accelerators import Device
from ops.index_maps import check_count
from ops.performance.warps import Loads, loads_of_warps, vector_width
from ops.performance.xla_verdict import is_coalesced, with_midpoints
from ops.schedules import Access
from simplifier.errors import check_integers, check_type
from simplifier.tools.display import html_of_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ops.performance.tally import Column

BITS: Final = 8
"""Of a byte."""


@dataclass(frozen=True, slots=True)
class Coalescing:
    """What the warps of a launch load for one access, all of them together.

    A *load* is one instruction of a warp. It takes ``vector_width`` neighbours for each lane. The
    memory gives whole sectors: one that several lanes of a load touch comes once, one that several
    loads touch comes for each of them.

    Attributes:
        loads: of all warps, those where some lane is active.
        sectors: that they touch.
        ideal_sectors: the fewest that hold as many different elements, load by load.
        most_sectors: that one load touches.
        transactions: lines of the cache that they touch.
        vector_width: elements that one instruction loads for a lane.
        bank_conflicts: how often a load waits because lanes want different words of one bank, if
            the array lies in shared memory; ``None`` if the device has no banks.
        is_coalesced: the verdict of XLA's coalescing analysis, which looks at one warp only.
    """

    loads: int
    sectors: int
    ideal_sectors: int
    most_sectors: int
    transactions: int
    vector_width: int
    bank_conflicts: int | None
    is_coalesced: bool

    @property
    def ratio(self) -> float:
        """How many sectors are touched for each one that is needed; 1 is best."""
        return self.sectors / self.ideal_sectors if self.ideal_sectors else 1.0

    def _repr_html_(self) -> str:
        rows = ((name.replace("_", " "), str(getattr(self, name))) for name in self.__slots__)
        return html_of_table(("counted", "number"), rows, title=str(self))

    def __str__(self) -> str:
        verdict = "coalesced" if self.is_coalesced else "not coalesced"
        return (
            f"{self.sectors} sectors for {self.ideal_sectors}, ratio {self.ratio:.3g}; "
            f"{self.loads} loads of {self.vector_width}, {verdict} for XLA"
        )


def coalescing(
    access: Access | IndexingMap, device: Device, *, element_type: ElementType | str | None = None
) -> Coalescing:
    """The sectors that the warps of a launch load for an access.

    ``access`` is one of a schedule, or a map from the coordinates of a launch to the offset of an
    element in memory, of the ``element_type``. A coordinate that a map lacks has one value. Arrays
    begin where a line of the cache begins. Runtime variables have the middle of their values, as
    in XLA: substitute others before you ask.

    The answer is exact. Blocks that touch the same elements, moved by whole periods of memory, are
    looked at once, so most launches take milliseconds, however large they are.

    Raises:
        MapError: the map is not from the coordinates of a launch to one offset, or not bounded, or
            there are more than :data:`ops.performance.warps.MAX_LOADS` different loads.
        DeviceError: the device lacks a figure.
        ArgumentError: an argument is of another kind.

    >>> from indexing import parse_map
    >>> from ops.performance import A100
    >>> rows = parse_map('''(th_x, bl_x) -> (bl_x * 32 + th_x),
    ... domain: th_x in [0, 31], bl_x in [0, 7]''')
    >>> print(coalescing(rows, A100, element_type="f32"))
    32 sectors for 32, ratio 1; 8 loads of 1, coalesced for XLA
    >>> columns = parse_map('''(th_x, bl_x) -> (th_x * 8 + bl_x),
    ... domain: th_x in [0, 31], bl_x in [0, 7]''')
    >>> print(coalescing(columns, A100, element_type="f32"))
    256 sectors for 32, ratio 8; 8 loads of 1, not coalesced for XLA
    """
    check_type(device, Device, "coalescing: the device", "a Device such as A100")
    offsets, bits = offsets_and_bits(access, element_type)
    offsets = with_midpoints(offsets)
    memory = Memory.of(device, bits)
    width = vector_width(offsets, memory.widest, memory.period)
    loads = loads_of_warps(offsets, memory.warp_size, memory.period, width)
    counts = _Counts.total(memory.counts(each, width) for each in loads)
    return Coalescing(
        loads=counts.loads,
        sectors=counts.sectors,
        ideal_sectors=counts.ideal_sectors,
        most_sectors=counts.most_sectors,
        transactions=counts.transactions,
        bank_conflicts=counts.bank_conflicts if memory.banks else None,
        vector_width=width,
        is_coalesced=is_coalesced(offsets, -(-bits // BITS)),
    )


def offsets_and_bits(
    access: Access | IndexingMap, element_type: ElementType | str | None
) -> tuple[IndexingMap, int]:
    """The map to offsets, and the bits of an element."""
    if isinstance(access, Access):
        if element_type is not None:
            expected = "expected none beside an access, whose array has one"
            raise MapError(f"coalescing: element_type is {element_type}; {expected}")
        return access.in_memory(), access.shape.element_size_in_bits
    check_type(access, IndexingMap, "coalescing: the access", "an Access or an IndexingMap")
    if element_type is None:
        raise MapError("coalescing: a map has no element_type; expected one, such as 'f32'")
    count = len(access.forms)
    if count != 1:
        message = f"coalescing: the map has {count} results; expected one, the offset of an element"
        raise MapError(message)
    return access, Shape.parse(f"{element_type}[]").element_size_in_bits


def bandwidth_utilization(
    shape: Shape,
    tile_sizes: Sequence[int],
    device: Device,
    *,
    tile_strides: Sequence[int] | None = None,
) -> float:
    """The part of what moves between memory and cache that a tile of an array needs.

    The elements of a tile that lie side by side are read together, in whole units of
    ``dram_transaction_bytes``. Tile sizes beyond the array's count as those of the array.

    Raises:
        ShapeError: there is not a positive size, and a stride, for each dimension.
        DeviceError: the device lacks ``dram_transaction_bytes``.

    Source:
        XLA's ``BandwidthUtilizationRateHeuristicForTiledMemoryAccess``.

    >>> from ops.performance import A100
    >>> bytes_of_rows = Shape.parse("s8[256,16]")
    >>> bandwidth_utilization(bytes_of_rows, (1, 16), A100)
    0.25
    >>> bandwidth_utilization(bytes_of_rows, (4, 16), A100)
    1.0
    """
    strides = tile_strides if tile_strides is not None else [1] * shape.rank
    for role, given in (("tile_sizes", tile_sizes), ("tile_strides", strides)):
        check_integers(given, f"bandwidth_utilization: {role}")
        check_count("bandwidth_utilization", role, given, shape.rank)
    if any(size < 1 for size in tile_sizes):
        message = (
            f"bandwidth_utilization: tile_sizes are {tuple(tile_sizes)}; expected positive ones"
        )
        raise ShapeError(message)
    together = 1
    for number in shape.array_layout.minor_to_major:
        if strides[number] != 1:
            break
        together *= min(tile_sizes[number], shape.dimensions[number])
        if tile_sizes[number] < shape.dimensions[number]:
            break
    needed = together * shape.element_type.bytes
    unit = device.figure("dram_transaction_bytes", "bandwidth_utilization")
    return needed / (unit * -(-needed // unit)) if needed else 1.0


# Counts.


class _Counts(NamedTuple):
    """What some loads touch; see :class:`Coalescing`."""

    loads: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    transactions: int = 0
    bank_conflicts: int = 0
    most_sectors: int = 0

    @classmethod
    def total(cls, parts: Iterable[_Counts]) -> _Counts:
        """The sums; the most sectors of one load are the most of all."""
        found = [cls(), *parts]
        sums = [sum(column) for column in zip(*found, strict=True)]
        return cls(*sums)._replace(most_sectors=max(each.most_sectors for each in found))


class Memory(NamedTuple):
    """What counts of a device, for elements of some bits.

    Attributes:
        widest: the most elements that one instruction loads for a lane.
        period: elements after which sectors, lines and banks are as before.
        banks: how many there are, and the bytes of each; ``None`` where there are none.
    """

    bits: int
    warp_size: int
    sector_bits: int
    line_bits: int
    widest: int
    period: int
    banks: tuple[int, int] | None

    @classmethod
    def of(cls, device: Device, bits: int) -> Memory:
        """What the device tells; raises :class:`DeviceError` for what it lacks."""
        sector, line, vector = (
            device.figure(name, "coalescing") * BITS
            for name in ("sector_bytes", "transaction_bytes", "vector_bytes")
        )
        banks = None
        if device.bank_count and device.bank_bytes:
            banks = device.bank_count, device.bank_bytes
        warp_size = device.figure("warp_size", "coalescing")
        period = lcm(sector, line, vector, prod(banks or (1,)) * BITS, bits) // bits
        return cls(bits, warp_size, sector, line, max(1, vector // bits), period, banks)

    def sectors_of(self, loads: Loads) -> Column:
        """How many sectors each load touches."""
        return _distinct(loads.offsets * self.bits // self.sector_bits, loads.is_active)

    def counts(self, loads: Loads, width: int) -> _Counts:
        """What these loads touch, of so many neighbours for each lane."""
        is_load = loads.is_active.any(axis=1)
        loads = Loads(*(each[is_load] for each in loads[:3]))
        offsets, is_active, counts, _ = loads
        bits, sectors = offsets * self.bits, self.sectors_of(loads)
        needed = _distinct(offsets, is_active) * (width * self.bits)
        return _Counts(
            loads=int(counts.sum()),
            sectors=int(sectors @ counts),
            ideal_sectors=int(-(-needed // self.sector_bits) @ counts),
            transactions=int(_distinct(bits // self.line_bits, is_active) @ counts),
            bank_conflicts=int(self._waits(bits, is_active, width) @ counts),
            most_sectors=int(sectors.max(initial=0)),
        )

    def _waits(self, bits: Column, is_active: Column, width: int) -> Column:
        """How often each load waits for a bank.

        The banks serve as many lanes at once as they have bytes for.
        """
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        count, bank_bytes = self.banks or (1, 1)
        words = max(1, width * self.bits // (bank_bytes * BITS))
        lanes = max(1, count // words)
        first = bits // (bank_bytes * BITS)
        waits = np.zeros(len(bits), dtype=np.int64)
        for start in range(0, self.warp_size, lanes):
            phase = slice(start, start + lanes)
            every = np.repeat(first[:, phase], words, axis=1)
            every += np.tile(np.arange(words), every.shape[1] // words)
            served = np.repeat(is_active[:, phase], words, axis=1)
            waits += np.maximum(_most_in_a_bank(every, served, count) - 1, 0)
        return waits


_NONE: Final = (1 << 63) - 1
"""What a lane touches that loads nothing; it is behind all else."""


def _distinct(values: Column, is_active: Column) -> Column:
    """How many different values each row has, of the active ones."""
    return _is_new(_in_order(values, is_active)).sum(axis=1)


def _in_order(values: Column, is_active: Column) -> Column:
    """The active values of each row in order, and :data:`_NONE` for the others."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    ordered = np.where(is_active, values, _NONE)
    ordered.sort(axis=1)
    return ordered


def _is_new(ordered: Column) -> Column:
    """Where a value is the first of its kind in its row."""
    is_new = ordered != _NONE
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return is_new


def _most_in_a_bank(words: Column, is_active: Column, count: int) -> Column:
    """The most different words of a row that lie in one bank."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    ordered = _in_order(words, is_active)
    rows, places = _is_new(ordered).nonzero()
    banks = rows * count + ordered[rows, places] % count
    found = np.bincount(banks, minlength=len(words) * count)
    return found.reshape(len(words), count).max(axis=1, initial=0)
