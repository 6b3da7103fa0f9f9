"""Coalescing: the part of the loaded memory that the warps of a kernel use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations
from math import gcd, lcm, prod
from typing import Final, NamedTuple

from indexing import IndexingMap, MapError
from indexing.layout import ElementType, Shape, ShapeError
from indexing.passes import numbered, over_domain
from indexing.pictures.grids import Box, Cell, painted
from indexing.pictures.svg import Panel, Picture, legend, paragraphs, text, text_width
from ops.devices import deciding
from ops.index_maps import check_count
from ops.limits import Device
from ops.performance import tally
from ops.performance.kernels import is_coalesced, with_midpoints
from ops.performance.tally import BITS_OF_BYTE, Column, Count, Loads, loads_of_warps, parted
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.rule import Origin
from ops.xla_gpu import Access, AnyOrigin
from simplifier import forms
from simplifier.errors import check_integers, check_type, listed, naming_wrong_arguments
from simplifier.forms import Form, Interval, np, points_in, values_of
from simplifier.tools.display import html_of_table


@dataclass(frozen=True, slots=True)
class Coalescing:
    """Loads of the warps of a launch for one access, all of them together.

    A *load* is one instruction of a warp. It takes ``vector_width`` neighbours for each lane. The
    memory gives whole sectors: one that several lanes of a load touch comes once, one that several
    loads touch comes for each of them.

    A count is a number if it is the same whatever values the program computes, else the interval
    from the least to the most over all values of the runtime variables.

    Attributes:
        loads: of all warps, those where some lane is active.
        sectors: that they touch.
        ideal_sectors: the fewest that hold as many different elements, load by load.
        wasted_sectors: the sectors beyond these.
        most_sectors: that one load touches.
        transactions: lines of the cache that they touch.
        vector_width: elements that one instruction loads for a lane, for all values.
        bank_conflicts: how often a load waits because lanes want different words of one bank, if
            the array lies in shared memory; ``None`` if the device has no banks.
        is_coalesced: the verdict of XLA's coalescing analysis, which looks at one warp only, with
            runtime variables in the middle of their values.
        condition: for which values the fewest sectors are touched, if that is known and not all.
        bounds: the names of counts whose ends are bounds that need not be met.
    """

    loads: Count
    sectors: Count
    ideal_sectors: Count
    wasted_sectors: Count
    most_sectors: Count
    transactions: Count
    vector_width: int
    bank_conflicts: Count | None
    is_coalesced: bool
    condition: str = ""
    bounds: tuple[str, ...] = ()

    @property
    def ratio(self) -> float | None:
        """Number of sectors touched for each one that is needed; 1 is best.

        ``None`` if that depends on values.
        """
        if not isinstance(self.sectors, int) or not isinstance(self.ideal_sectors, int):
            return 1.0 if self.wasted_sectors == 0 else None
        return self.sectors / self.ideal_sectors if self.ideal_sectors else 1.0

    def _repr_html_(self) -> str:
        shared = {"bank_conflicts": "bank conflicts, if it lies in shared memory"}
        names = ((name, shared.get(name, name.replace("_", " "))) for name in self.__slots__)
        values = ((title, getattr(self, name)) for name, title in names)
        rows = (
            (name, tally.text_of_count(each) if isinstance(each, Interval) else str(each))
            for name, each in values
        )
        return html_of_table(("counted", "number"), rows, title=str(self))

    def __str__(self) -> str:
        counts = self.sectors, self.ideal_sectors, self.loads
        sectors, ideal, loads = map(tally.text_of_count, counts)
        ratio = "" if self.ratio is None else f", ratio {self.ratio:.3g}"
        verdict = "coalesced" if self.is_coalesced else "not coalesced"
        condition = f"; fewest where {self.condition}" if self.condition else ""
        bounds = f" (bounds: {listed(self.bounds)})" if self.bounds else ""
        return (
            f"{sectors} sectors for {ideal}{ratio}{condition}; "
            f"{loads} loads of {self.vector_width}, {verdict} for XLA{bounds}"
        )


def coalescing(
    access: Access | IndexingMap, device: Device, *, element_type: ElementType | str | None = None
) -> Coalescing:
    """The sectors that the warps of a launch load for an access.

    ``access`` is one of a schedule, or a map from the coordinates of a launch to the offset of an
    element in memory, of the ``element_type``. A coordinate that a map lacks has one value. Arrays
    begin where a line of the cache begins.

    A runtime variable may have any value within its bounds: one for each index of its origin if the
    access tells it, else the same for all threads. Then counts that depend on it are intervals.

    The answer is exact, but for counts that :attr:`Coalescing.bounds` names. Blocks that touch the
    same elements, moved by whole periods of memory, are looked at once, so most launches take
    milliseconds, however large they are.

    Raises:
        MapError: the map is not from the coordinates of a launch to one offset, or not bounded, or
            there are more than :data:`ops.performance.tally.MAX_LOADS` different loads.
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
    >>> window = parse_map("(th_x){rt0} -> (th_x + rt0), domain: th_x in [0, 31], rt0 in [0, 99]")
    >>> print(coalescing(window, A100, element_type="f32"))
    4 to 5 sectors for 4; fewest where rt0 mod 8 in [0, 0]; 1 loads of 1, coalesced for XLA
    """
    return survey(access, device, element_type).found


class Survey(NamedTuple):
    """Cost of the loads of an access, for all values of its runtime variables.

    Attributes:
        found: the counts.
        memory: of the device.
        worst: the map to offsets at those values tried where one load touches most.
    """

    found: Coalescing
    memory: Memory
    worst: IndexingMap


def survey(
    access: Access | IndexingMap, device: Device, element_type: ElementType | str | None
) -> Survey:
    """The loads of an access; arguments and errors are those of :func:`coalescing`."""
    check_type(device, Device, "coalescing: the device", "a Device such as A100")
    offsets, bits = offsets_and_bits(access, element_type)
    tally.check_launch(offsets)
    origins = access.origins if isinstance(access, Access) else ()
    found = _surveyed if offsets.runtime else _remembered
    return found(offsets, origins, Memory.of(device, bits))


def _surveyed(offsets: IndexingMap, origins: Sequence[AnyOrigin], memory: Memory) -> Survey:
    moving = MovingOffsets.of(offsets, origins)
    constants, is_whole = moving.constants(memory.period)
    tried = [moving.at(each) for each in constants]
    is_each_tried = is_whole and moving.is_same_for_all and moving.is_free
    apart = None if is_each_tried else moving.apart(constants if is_whole else None, memory.period)
    width = memory.widest if is_whole else 1
    for each in (*tried, *([apart.map] if apart else [])):
        width = tally.vector_width(each, width, memory.period)
    totals = [memory.total(each, width) for each in tried]
    units = 1, max(1, memory.sector_bits // memory.bits), memory.period
    for unit in () if moving.is_same_for_all or not moving.is_free else units:
        with suppress(MapError):  # too many loads: then it is not known whether bounds are met
            spread = moving.spread(constants[0], unit)
            totals.append(memory.total(spread, width))
            tried.append(spread)
    ends = met = _Counts.ends([*totals, _Counts()] if moving.may_be_nothing else totals)
    if apart:
        is_sure = not (moving.may_be_nothing or moving.is_limited)
        ends = memory.bounds(apart, width, is_sure=is_sure)
    sectors = [each.sectors for each in totals]
    pairs = [Interval(*pair) for pair in zip(*ends, strict=True)]
    reached = [Interval(*pair) if moving.is_free else None for pair in zip(*met, strict=True)]
    rows = zip(COUNTED, pairs, reached, strict=True)
    found = Coalescing(
        **{name: tally.count_of(each) for name, each in zip(COUNTED, pairs, strict=True)},
        vector_width=width,
        is_coalesced=is_coalesced(with_midpoints(offsets), -(-memory.bits // BITS_OF_BYTE)),
        condition="" if apart else moving.where_least(constants, sectors, memory.period),
        bounds=tuple(name for name, each, met in rows if each != met and each.size != 1),
    )
    if memory.banks == _NO_BANKS:
        found = replace(found, bank_conflicts=None)
    most = [each.most_sectors for each in totals]
    return Survey(found, memory, tried[most.index(max(most))])


_remembered: Final = lru_cache(maxsize=1 << 10)(_surveyed)
"""Kernels of a module have the same few launches, most of whose offsets are known."""


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


@naming_wrong_arguments
def bandwidth_utilization(
    shape: Shape,
    tile_sizes: Sequence[int],
    device: Device,
    *,
    tile_strides: Sequence[int] | None = None,
) -> float:
    """The part of the bytes moved between memory and cache that a tile of an array needs.

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
        given = f"bandwidth_utilization: tile_sizes are {tuple(tile_sizes)}"
        raise ShapeError(f"{given}; expected positive ones")
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
    """Counts of some loads; see :class:`Coalescing`."""

    loads: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    wasted_sectors: int = 0
    transactions: int = 0
    bank_conflicts: int = 0
    most_sectors: int = 0

    @classmethod
    def total(cls, parts: Iterable[_Counts]) -> _Counts:
        """The sums; the most sectors of one load are the most of all."""
        found = [cls(), *parts]
        sums = [sum(column) for column in zip(*found, strict=True)]
        return cls(*sums)._replace(most_sectors=max(each.most_sectors for each in found))

    @classmethod
    def ends(cls, found: Sequence[_Counts]) -> tuple[_Counts, _Counts]:
        """The least and the most of each."""
        columns = [*zip(*found, strict=True)]
        return cls(*map(min, columns)), cls(*map(max, columns))


COUNTED: Final = _Counts._fields
"""The attributes of a :class:`Coalescing` that may depend on values."""


class Memory(NamedTuple):
    """Memory of a device, for elements of some bits.

    Attributes:
        widest: the most elements that one instruction loads for a lane.
        period: elements after which sectors, lines and banks are as before.
        banks: how many there are, and the bits of each; :data:`_NO_BANKS` where there are none.
    """

    bits: int
    warp_size: int
    sector_bits: int
    line_bits: int
    widest: int
    period: int
    banks: tuple[int, int]

    @classmethod
    def of(cls, device: Device, bits: int) -> Memory:
        """The memory of a device; raises :class:`DeviceError` for a figure that it lacks."""
        sector, line, vector = (
            device.figure(name, "coalescing") * BITS_OF_BYTE
            for name in ("sector_bytes", "transaction_bytes", "vector_bytes")
        )
        banks = _NO_BANKS
        if device.bank_count and device.bank_bytes:
            banks = device.bank_count, device.bank_bytes * BITS_OF_BYTE
        warp_size = device.figure("warp_size", "coalescing")
        period = lcm(sector, line, vector, prod(banks), bits) // bits
        return cls(bits, warp_size, sector, line, max(1, vector // bits), period, banks)

    def total(self, offsets: IndexingMap, width: int) -> _Counts:
        """Counts of all loads, of so many neighbours for each lane."""
        loads = loads_of_warps(offsets, self.warp_size, self.period, width)
        touched = ((each, self.touched(each.offsets, each.is_active, width)) for each in loads)
        return _Counts.total(self._sums(found, each.counts, width) for each, found in touched)

    def touched(self, offsets: Column, is_active: Column, width: int) -> Column:
        """Counts of each load: elements, sectors, lines, waits, phases, and bits in vain."""
        bits = offsets * self.bits
        units = (width * self.bits, self.sector_bits, self.line_bits)
        ordered = (_in_order(bits // unit, is_active) for unit in units)
        found = [_is_new(each).sum(axis=1) for each in ordered]
        unwanted = found[1] * self.sector_bits - found[0] * width * self.bits
        return np.stack([*found, *self._waits(bits, is_active, width), unwanted])

    def _sums(self, touched: Column, counts: Column, width: int) -> _Counts:
        elements, sectors, lines, waits, _, unwanted = touched
        ideal = -(-elements * width * self.bits // self.sector_bits)
        columns = (elements > 0, sectors, ideal, unwanted // self.sector_bits, lines, waits)
        sums = _Counts(*(int(each @ counts) for each in columns))
        return sums._replace(most_sectors=int(sectors.max(initial=0)))

    def _waits(self, bits: Column, is_active: Column, width: int) -> tuple[Column, Column]:
        """Number of waits of each load for a bank, and of phases.

        The banks serve as many lanes at once as they have bytes for.
        """
        count, word = self.banks
        words = max(1, width * self.bits // word)
        lanes, first = max(1, count // words), bits // word
        waits, phases = np.zeros((2, len(bits)), dtype=np.int64)
        for start in range(0, self.warp_size, lanes):
            phase = slice(start, start + lanes)
            every = np.repeat(first[:, phase], words, axis=1)
            every += np.tile(np.arange(words), every.shape[1] // words)
            served = np.repeat(is_active[:, phase], words, axis=1)
            waits += np.maximum(_most_in_a_bank(every, served, count) - 1, 0)
            phases += served.any(axis=1)
        return waits, phases

    def bounds(self, apart: Apart, width: int, *, is_sure: bool) -> tuple[_Counts, _Counts]:
        """The least and the most that all loads may touch, wherever values move offsets.

        Load by load: lanes that have the same values keep their places to each other, and others
        may fall together or not. Unless it is sure, nothing may be loaded.
        """
        ends = [_Counts()], [_Counts()]
        for loads in loads_of_warps(apart.map, self.warp_size, self.period, width):
            for found, touched in zip(ends, self._ends(loads, apart, width), strict=True):
                found.append(self._sums(touched, loads.counts, width))
        least, most = map(_Counts.total, ends)
        return least if is_sure else _Counts(), most

    def _ends(self, loads: Loads, apart: Apart, width: int) -> tuple[Column, Column]:
        """The least and the most that each load may touch, as :meth:`touched` has them."""
        rows, alone = _by_value(loads)
        each, every = (
            np.stack([self.touched(where + shift, lanes, width) for shift in apart.shifts])
            for where, lanes in (alone, loads[:2])
        )
        ends: Column = np.zeros((2, *every.shape[1:]), dtype=np.int64)
        least, most = ends
        np.maximum.at(least.T, rows, each.min(axis=0).T)
        np.add.at(most.T, rows, each.max(axis=0).T)
        most[3] += most[4] - every[0, 4]
        lane = width * self.bits
        for row, unit in enumerate((lane, self.sector_bits, self.line_bits)):
            first, last = ((loads.offsets + end) * self.bits // unit for end in apart.hull.ends)
            fewest, reach = _fewest(first, last, loads.is_active)
            least[row] = np.maximum(least[row], fewest)
            most[row] = np.minimum(most[row], reach)
        count, word = self.banks
        first, last = ((loads.offsets + end) * self.bits for end in apart.hull.ends)
        _, words = _fewest(first // word, (last + lane - 1) // word, loads.is_active)
        most[3] = np.minimum(most[3], (-(-words // count) - 1).clip(min=0) * every[0, 4])
        is_alone = np.bincount(rows, minlength=len(loads.offsets)) == 1
        loaded = ends[:, 1] * self.sector_bits
        least[5] = np.maximum(least[5] * is_alone, loaded[0] - most[0] * lane)
        most[5] = np.minimum(most[5], loaded[1] - np.maximum(least[0], most[1]) * lane)
        return least, most


_NO_BANKS: Final = 1, BITS_OF_BYTE
"""Stands for memory without banks: one, of a byte."""

_NONE: Final = (1 << 63) - 1
"""The key of a lane that loads nothing; it is behind all others."""

_FAR: Final = 1 << 62
"""Behind all that some lane touches, and near enough to be subtracted."""


def _by_value(loads: Loads) -> tuple[Column, tuple[Column, Column]]:
    """Loads of the lanes that have the same values: the load that each is of, and its lanes."""
    rows, lanes = loads.is_active.nonzero()
    keys = np.stack([rows, *(each[rows, lanes] for each in loads.others)])
    _, first, number = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    offsets = np.zeros((len(first), loads.is_active.shape[1]), dtype=np.int64)
    is_active = np.zeros(offsets.shape, dtype=bool)
    offsets[number.ravel(), lanes] = loads.offsets[rows, lanes]
    is_active[number.ravel(), lanes] = True
    return rows[first], (offsets, is_active)


def _fewest(first: Column, last: Column, is_active: Column) -> tuple[Column, Column]:
    """The fewest numbers of which each lane has one, from its first to its last, and how many."""
    order = np.argsort(np.where(is_active, last, _NONE), axis=1)
    lanes = (np.take_along_axis(each, order, axis=1).T for each in (first, last, is_active))
    found, chosen = np.zeros(len(order), dtype=np.int64), np.full(len(order), -_NONE)
    for begin, end, is_lane in zip(*lanes, strict=True):
        is_beyond = is_lane & (begin > chosen)
        chosen = np.where(is_beyond, end, chosen)
        found += is_beyond
    furthest = np.where(is_active, last, -_FAR).max(axis=1)
    reach = furthest - np.where(is_active, first, _FAR).min(axis=1)
    return found, (reach + 1) * (found > 0)


def _in_order(values: Column, is_active: Column) -> Column:
    """The active values of each row in order, and :data:`_NONE` for the others."""
    ordered = np.where(is_active, values, _NONE)
    ordered.sort(axis=1)
    return ordered


def _is_new(ordered: Column) -> Column:
    """Whether a value is the first of its kind in its row."""
    is_new = ordered != _NONE
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return is_new


def _most_in_a_bank(words: Column, is_active: Column, count: int) -> Column:
    """The most different words of a row that lie in one bank."""
    ordered = _in_order(words, is_active)
    rows, places = _is_new(ordered).nonzero()
    banks = rows * count + ordered[rows, places] % count
    found = np.bincount(banks, minlength=len(words) * count)
    return found.reshape(len(words), count).max(axis=1, initial=0)


# Offsets that runtime values move: which values make a difference, and how far they lead.
#
# A runtime variable has one value for each index of its origin. If that is one index, the value
# moves all threads alike, and of those that differ by whole periods of memory one is tried. If
# there are several, such as those of a gather, all values may be the same, or as different as
# they can.

MAX_TRIED: Final = 1 << 9
"""Values that are looked at one by one: each takes some milliseconds."""

_CYCLE: Final = 1 << 10
"""Different values in a row; no block has more threads, and powers of 2 go well with launches."""


class Apart(NamedTuple):
    """Offsets without the part that runtime values add.

    Attributes:
        map: to such an offset, and to what tells the values of a thread from those of others.
        shifts: what values add, up to whole periods of memory.
        hull: what they add, from the least to the most.
    """

    map: IndexingMap
    shifts: Sequence[int]
    hull: Interval


class MovingOffsets(NamedTuple):
    """The offsets of a launch, and where the values of their runtime variables come from.

    Attributes:
        map: from the coordinates of a launch.
        origins: of the runtime variables, if they are known.
        indices: of the values, by runtime variable.
    """

    map: IndexingMap
    origins: Sequence[AnyOrigin]
    indices: Mapping[str, tuple[Form, ...]]

    @classmethod
    def of(cls, offsets: IndexingMap, origins: Sequence[AnyOrigin]) -> MovingOffsets:
        """The offsets with these origins; without any, a value is the same for all threads."""
        *_, names = offsets.domain.by_role(offsets.domain.identifiers)
        found = (origin.map.forms for origin in origins) if origins else [()] * len(names)
        index = dict(zip(names, found, strict=True))
        used = {*forms.variables_of((*offsets.forms, *(f for f, _ in offsets.domain.constraints)))}
        for name in names:  # what leads to an index comes behind it
            used.update(forms.variables_of(index[name]) if name in used else ())
        is_empty = offsets.domain.is_known_empty
        kept = {name: index[name] for name in names if name in used and not is_empty}
        return cls(offsets, origins, kept)

    # Facts about the values.

    @property
    def may_be_nothing(self) -> bool:
        """Whether values that the program may give lead nowhere."""
        plain = self.map.domain.with_constraints()
        return bool(self.origins) and any(deciding(plain, self.origins))

    @property
    def is_limited(self) -> bool:
        """Whether values say which threads load."""
        limited = forms.variables_of(form for form, _ in self.map.domain.constraints)
        return not self.indices.keys().isdisjoint(limited)

    @property
    def is_same_for_all(self) -> bool:
        """Whether all threads have the same values."""
        return all(form.is_constant for key in self._keys for form in key)

    @property
    def is_free(self) -> bool:
        """Whether no value depends on another one, as far as we see."""
        known = {"parameter", *ELEMENTWISE}
        pairs = combinations(self.origins, 2)
        return not any(may_be_same(*pair) for pair in pairs) and all(
            isinstance(each, Origin) or each.instruction.opcode in known for each in self.origins
        )

    @property
    def _keys(self) -> list[tuple[Form, ...]]:
        """Keys that tell each value from others: its index, or the coordinates that lead there."""
        keys: dict[str, tuple[Form, ...]] = {}
        for name, index in reversed([*self.indices.items()]):  # what leads to an index is behind it
            used = [*dict.fromkeys(forms.variables_of(index))]
            parts = [parted(form, self.indices) for form in index]
            places = (forms.variable(other) for other in used if other not in self.indices)
            own = [each[1] for each in parts if each] if all(parts) else places
            keys[name] = (*own, *chain.from_iterable(keys.get(other, ()) for other in used))
        return [*keys.values()]

    @property
    def _parts(self) -> tuple[Form, Form] | None:
        """The part of an offset that values add, and the rest; ``None`` where both are mixed."""
        return parted(self.map.forms[0], self.indices)

    @property
    def _shift(self) -> Form | None:
        """The part that values add, if they do nothing else."""
        return self._parts[0] if self._parts and not self.is_limited else None

    def _factor(self, name: str) -> int:
        """Factor of a value in an offset."""
        return self._parts[0].terms.get(forms.variable_atom(name), 0) if self._parts else 0

    # Values to try.

    def at(self, values: Mapping[str, Form]) -> IndexingMap:
        """The offsets at some values, which may depend on the coordinates."""
        plain = self.map.domain.over(self.map.dims, self.map.ranges, ())
        return over_domain(self.map, plain, values)

    def constants(self, period: int) -> tuple[list[dict[str, Form]], bool]:
        """Values that are the same for all threads, and whether all others are like one of them."""
        box = {name: self.map.domain.bounds[name] for name in self.indices}
        if self._shift is not None and self._shift.is_affine:
            for name, bounds in box.items():
                distinct = period // gcd(period, self._factor(name))
                first = bounds.lower or 0
                box[name] = bounds.intersect(Interval(first, first + distinct - 1))
        count = tally.size_of(box.values())
        tried = min(count, MAX_TRIED)
        columns = points_in(box, np.linspace(0, count - 1, tried, dtype=np.int64))
        if self._shift is not None and box:
            added = values_of([self._shift], columns)[0] % period
            _, first = np.unique(np.broadcast_to(added, tried), return_index=True)
            columns = {name: column[first] for name, column in columns.items()}
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        found = [dict(zip(box, map(forms.constant, row), strict=True)) for row in rows]
        return found if box else [{}], count <= MAX_TRIED

    def spread(self, base: Mapping[str, Form], unit: int) -> IndexingMap:
        """The offsets where values differ from key to key, by multiples of ``unit`` elements."""
        everywhere = self.map.domain.with_constraints()
        values: dict[str, Form] = {}
        for name, index in self.indices.items():
            step = unit // gcd(unit, self._factor(name) or 1)
            size = Interval(base[name].constant, self.map.domain.bounds[name].upper).size or 1
            box = IndexingMap.from_forms(index, everywhere).result_bounds()
            number = (forms.ZERO + numbered(index, box)) % min((size - 1) // step + 1, _CYCLE)
            values[name] = number * step + base[name]
        for _ in values:
            values = dict(zip(values, forms.substitute(values.values(), values), strict=True))
        return self.at(values).simplify(preserve_ranges=True)

    def where_least(
        self, constants: Sequence[Mapping[str, Form]], counts: Sequence[int], period: int
    ) -> str:
        """The condition for the least count; empty if always, or if no remainder says it."""
        if self._shift is None or len({*counts}) == 1:
            return ""
        added = [forms.substitute((self._shift,), each)[0].constant for each in constants]
        pairs = [*zip(added, counts, strict=True)]
        for modulus in (number for number in range(2, period + 1) if period % number == 0):
            least = {each % modulus for each, count in pairs if count == min(counts)}
            others = {each % modulus for each, count in pairs if count > min(counts)}
            if least.isdisjoint(others) and max(least) - min(least) < len(least):
                remainder = self.map.domain.text_of(self._shift % modulus)
                return f"{remainder} in [{min(least)}, {max(least)}]"
        return ""

    def apart(self, constants: Sequence[Mapping[str, Form]] | None, period: int) -> Apart:
        """The offsets without the part that values add.

        ``constants`` are all that make a difference; ``None`` if nobody knows. Where values and
        coordinates are mixed, each thread is led anywhere.
        """
        domain = self.map.domain
        plain = domain.over(domain.dims, domain.ranges, ())
        dims, ranges, _ = domain.by_role(domain.identifiers)
        inside = plain.constrained(domain.constraints_among((*dims, *ranges)))
        if self._parts is None:
            places = [forms.ZERO, *map(forms.variable, (*dims, *ranges))]
            return Apart(IndexingMap.from_forms(places, inside), (0,), *self.map.result_bounds())
        moved, still = self._parts
        keys = dict.fromkeys(chain.from_iterable(self._keys))
        shifts = {forms.substitute([moved], each)[0].constant % period for each in constants or ()}
        added = IndexingMap.from_forms([moved], domain.with_constraints())
        whole = IndexingMap.from_forms([still, *keys], inside)
        return Apart(whole, sorted(shifts) or range(period), *added.result_bounds())


def may_be_same(one: AnyOrigin, other: AnyOrigin) -> bool:
    """Whether two values may be one element of an array."""
    arrays = [
        each.operand if isinstance(each, Origin) else (each.instruction, each.callers)
        for each in (one, other)
    ]
    pairs = zip(one.map.forms, other.map.forms, strict=False)
    is_apart = any((here - there).is_constant and here != there for here, there in pairs)
    return arrays[0] == arrays[1] and not is_apart


# Picture of the elements that the threads of a warp read: a row for each line of the cache.

_MAX_LINES: Final = 32
"""Of the cache: as many as the threads of most warps."""

_HEIGHT: Final = 20
_SECTOR_GAP: Final = 4
_MAX_NUMBERED: Final = 32
"""Elements of a line that have room for the number of a thread."""


@dataclass(frozen=True, slots=True, repr=False)
class LoadPicture(Picture):
    """One load of a warp: the elements that its threads want, and the sectors that come.

    Attributes:
        title: what all loads of the access cost.
        threads: for each element that is wanted, by its offset, the threads that want it.
        elements_of_line: how many elements a line of the cache has.
        elements_of_sector: how many come together.
        bytes_of_line: of a line of the cache.
    """

    title: str
    threads: Mapping[int, tuple[int, ...]]
    elements_of_line: int
    elements_of_sector: int
    bytes_of_line: int

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the cache that are touched, by number."""
        return tuple(sorted({offset // self.elements_of_line for offset in self.threads}))

    @property
    def sectors(self) -> frozenset[int]:
        """The sectors that come, by number."""
        return frozenset(offset // self.elements_of_sector for offset in self.threads)

    def panels(self) -> Iterator[Panel]:
        """A row for each line of the cache, with a legend."""
        length = self.elements_of_line
        offsets = {line: range(line * length, (line + 1) * length) for line in self.lines}
        cells = {line: [*map(self._cell, inside)] for line, inside in offsets.items()}
        used = {cell.color for row in cells.values() for cell in row}
        yield paragraphs([self._summary], "label")
        yield self._rows({line: cells[line] for line in self.lines[:_MAX_LINES]})
        yield legend({class_: meaning for class_, meaning in _MEANINGS.items() if class_ in used})
        yield paragraphs(self._notes(), "label")

    def __str__(self) -> str:
        return "\n".join([self.title, self._summary, *self._notes()])

    @property
    def _summary(self) -> str:
        come = len(self.sectors) * self.elements_of_sector
        return (
            f"the load of a warp that touches most: {len(self.threads)} elements wanted, "
            f"{come} loaded, in {len(self.sectors)} sectors of {len(self.lines)} lines"
        )

    def _notes(self) -> list[str]:
        left_out = len(self.lines) - _MAX_LINES
        return [f"The first {_MAX_LINES} of {len(self.lines)} lines are shown."] * (left_out > 0)

    def _rows(self, cells: Mapping[int, Sequence[Cell]]) -> Panel:
        """The lines of the cache by number, each behind the address at which it begins."""
        starts = [f"byte {line * self.bytes_of_line:,}" for line in cells]
        left = max((text_width(start, "label") for start in starts), default=0) + 8
        width = 20 if self.elements_of_line <= _MAX_NUMBERED else 9
        xs = [
            left + number * width + number // self.elements_of_sector * _SECTOR_GAP
            for number in range(self.elements_of_line)
        ]
        boxes = [
            Box(x, row * _HEIGHT, width, _HEIGHT, cell)
            for row, line in enumerate(cells.values())
            for x, cell in zip(xs, line, strict=True)
        ]
        labels = (
            text(left - 8, row * _HEIGHT + 14, start, "label", "end")
            for row, start in enumerate(starts)
        )
        return Panel(xs[-1] + width, len(cells) * _HEIGHT, (*labels, *painted(boxes)))

    def _cell(self, offset: int) -> Cell:
        threads = self.threads.get(offset, ())
        if not threads:
            is_loaded = offset // self.elements_of_sector in self.sectors
            return Cell("loaded" if is_loaded else "untouched")
        color, label = (
            ("wanted", str(threads[0])) if len(threads) == 1 else ("shared", f"{len(threads)}x")
        )
        return Cell(color, label if self.elements_of_line <= _MAX_NUMBERED else "", "thread")


_MEANINGS: Final = {
    "wanted": "wanted by the thread with this number",
    "shared": "wanted by several threads",
    "loaded": "loaded because sectors come whole",
    "untouched": "not loaded",
}


def load_picture(
    access: Access | IndexingMap, device: Device, *, element_type: ElementType | str | None = None
) -> LoadPicture:
    """The load of a warp that touches the most sectors, the first of them.

    Arguments are as for :func:`ops.coalescing`, whose counts are the title. Runtime variables have
    values with which a load touches most.

    Raises:
        MapError, DeviceError, ArgumentError: as :func:`ops.coalescing`.

    >>> from indexing import parse_map
    >>> from ops.performance import A100
    >>> columns = parse_map("(th_x) -> (th_x * 64), domain: th_x in [0, 31]")
    >>> print(load_picture(columns, A100, element_type="f32"))
    32 sectors for 4, ratio 8; 1 loads of 1, not coalesced for XLA
    the load of a warp that touches most: 32 elements wanted, 256 loaded, in 32 sectors of 32 lines
    """
    found, memory, offsets = survey(access, device, element_type)
    width = found.vector_width
    threads: dict[int, tuple[int, ...]] = {}
    most = 0
    for loads in loads_of_warps(offsets, memory.warp_size, memory.period, width):
        _, sectors, *_ = memory.touched(loads.offsets, loads.is_active, width)
        if sectors.max(initial=0) > most:
            row = int(sectors.argmax())
            most = int(sectors[row])
            threads = _threads(loads.offsets[row].tolist(), loads.is_active[row].tolist(), width)
    in_sector, in_line = memory.sector_bits // memory.bits, memory.line_bits // memory.bits
    return LoadPicture(str(found), threads, in_line, in_sector, memory.line_bits // BITS_OF_BYTE)


def _threads(offsets: list[int], is_active: list[bool], width: int) -> dict[int, tuple[int, ...]]:
    """The threads that want each element, of ``width`` neighbours for each of them."""
    found: dict[int, tuple[int, ...]] = {}
    for thread, (offset, wants) in enumerate(zip(offsets, is_active, strict=True)):
        for each in range(offset, offset + width * wants):
            found[each] = (*found.get(each, ()), thread)
    return found
