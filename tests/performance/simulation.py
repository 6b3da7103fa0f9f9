"""Warps as plain loops: which sectors, lines and banks each load touches, point by point."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from indexing import IndexingMap

COORDINATES: Final = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z")


class Gpu(NamedTuple):
    """A device with banks of four bytes and loads of at most 16 bytes."""

    lanes: int = 32
    sector: int = 32
    line: int = 128
    banks: int = 32


class Totals(NamedTuple):
    """What all loads touch, and the neighbours that one takes for a lane."""

    loads: int
    sectors: int
    ideal_sectors: int
    wasted_sectors: int
    most_sectors: int
    transactions: int
    bank_conflicts: int
    vector_width: int


def simulated(
    offsets: IndexingMap, element_bytes: int, gpu: Gpu, widest: int | None = None
) -> Totals:
    """Every load of every warp of a map from a launch to offsets."""
    touched = _touched(offsets, gpu)
    width = widest or 16 // element_bytes or 1
    while width > 1 and not _is_vector(touched, width, offsets):
        width //= 2
    loads: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
    for (warp, lane, loops), offset in touched.items():
        *outer, last = _innermost_last(loops, offsets)
        if last % width == 0:
            loads[*warp, *outer, last][lane] = offset
    return totals([*loads.values()], width, element_bytes, gpu)


def totals(loads: Sequence[dict[int, int]], width: int, element_bytes: int, gpu: Gpu) -> Totals:
    """What loads touch, of which each has the first offsets of its lanes."""
    sectors = [len(units(each.values(), element_bytes, gpu.sector, width)) for each in loads]
    ideal = [-(-len({*each.values()}) * width * element_bytes // gpu.sector) for each in loads]
    lines = (units(each.values(), element_bytes, gpu.line, width) for each in loads)
    return Totals(
        loads=len(loads),
        sectors=sum(sectors),
        ideal_sectors=sum(ideal),
        wasted_sectors=sum(sectors) - sum(ideal),
        most_sectors=max(sectors, default=0),
        transactions=sum(map(len, lines)),
        bank_conflicts=sum(waits(each, width, element_bytes, gpu) for each in loads),
        vector_width=width,
    )


_Touched = dict[tuple[tuple[int, ...], int, tuple[int, ...]], int]


def _touched(offsets: IndexingMap, gpu: Gpu) -> _Touched:
    """The offset by warp, lane and point of the loops, which count from 0."""
    sizes: dict[str, int] = dict.fromkeys(COORDINATES, 1)
    names = [variable.kind.value for variable in offsets.dims]
    for name, variable in zip(names, offsets.dims, strict=True):
        sizes[name] = (variable.bounds.upper or 0) + 1
    starts = [variable.bounds.lower or 0 for variable in offsets.ranges]
    found: _Touched = {}
    for dims, ranges, _, (offset,) in offsets.points():
        at = {**dict.fromkeys(COORDINATES, 0)} | dict(zip(names, dims, strict=True))
        thread = at["th_x"] + sizes["th_x"] * (at["th_y"] + sizes["th_y"] * at["th_z"])
        warp = (at["bl_x"], at["bl_y"], at["bl_z"], thread // gpu.lanes)
        loops = tuple(value - start for value, start in zip(ranges, starts, strict=True))
        found[warp, thread % gpu.lanes, loops] = offset
    return found


def _innermost_last(loops: tuple[int, ...], offsets: IndexingMap) -> list[int]:
    """The point of the loops with the last loop of more than one round at the end."""
    sizes = [variable.bounds.size or 0 for variable in offsets.ranges]
    place = max((n for n, size in enumerate(sizes) if size > 1), default=None)
    if place is None:
        return [*loops, 0]
    return [*loops[:place], *loops[place + 1 :], loops[place]]


def _is_vector(touched: _Touched, width: int, offsets: IndexingMap) -> bool:
    sizes = [size for variable in offsets.ranges if (size := variable.bounds.size or 0) > 1]
    if not sizes or sizes[-1] % width:
        return False
    rounds: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
    for (warp, lane, loops), offset in touched.items():
        *outer, last = _innermost_last(loops, offsets)
        rounds[*warp, lane, *outer, last // width][last % width] = offset
    return all(
        len(each) == width
        and each[0] % width == 0
        and all(offset == each[0] + step for step, offset in each.items())
        for each in rounds.values()
    )


def units(starts: Iterable[int], element_bytes: int, unit: int, width: int) -> set[int]:
    """The sectors, lines or words that hold some elements and their neighbours."""
    size = width * element_bytes
    bounds = ((start * element_bytes, start * element_bytes + size - 1) for start in starts)
    ends = ((first // unit, last // unit) for first, last in bounds)
    return {number for first, last in ends for number in range(first, last + 1)}


def waits(lanes: dict[int, int], width: int, element_bytes: int, gpu: Gpu) -> int:
    """How often a load waits for a bank: as many lanes at once as the banks have bytes for."""
    together = max(1, gpu.banks * 4 // max(4, width * element_bytes))
    waits = 0
    for first in range(0, gpu.lanes, together):
        served = (at for lane, at in lanes.items() if first <= lane < first + together)
        words = units(served, element_bytes, 4, width)
        in_banks = Counter(word % gpu.banks for word in words)
        waits += max(max(in_banks.values(), default=0) - 1, 0)
    return waits
