"""Tiles of whole fusions: the tiling space, the tile of every array, and the best sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

import simplifier
from indexing import IndexingMap, Tile, TileError, Variable
from indexing.passes import Formulas, evaluate_forms, few_points, numbered, part_over, tile_of
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion import Fusion
from ops.hlo import Instruction
from ops.index_maps import dim, with_value
from ops.limits import Device
from ops.performance import tally
from ops.performance.kernels import Likeness, likeness_of, with_midpoints
from ops.performance.tally import Column, Deadline, OutOfTimeError, tally_of
from ops.tiling.propagation import (
    ArrayTile,
    DimensionKind,
    Propagation,
    TilingDimension,
    TilingSpace,
    propagate,
    propagate_in,
    values_of,
)
from simplifier import forms
from simplifier.errors import INTEGER, check_type, naming_wrong_arguments
from simplifier.exact import NotQuasiAffineError
from simplifier.forms import MAX_INT64, Interval, np
from simplifier.tools.display import MAX_ROWS, aligned, html_of_table
from simplifier.tools.graphs import united

__all__ = [
    "ArrayTile",
    "DimensionKind",
    "Propagation",
    "TilingCandidate",
    "TilingDimension",
    "TilingSpace",
    "Tilings",
    "propagate",
    "tilings",
]


# Tilings: the tile sizes that a fusion may have on a device, ranked by the bytes that they move.
#
# A program computes one tile of each parallel dimension. It goes through the other dimensions
# tile by tile, and loads each different tile of an operand once for each step that the tile
# depends on. So what all programs load is the number of different pairs of tile ids and elements.

MAX_CANDIDATES: Final = 1 << 20
"""Tilings that are looked at: some hundred MB."""

REGISTERS_PER_TILE: Final = 0.4
"""The part of the registers of a block that one tile may take, as in XLA."""

_EXCHANGED: Final = frozenset({"dot", "reduce", "scaled-dot", "transpose"})
"""Opcodes whose threads read what others hold: their operands pass through shared memory."""

_REGISTER_BITS: Final = 32


@dataclass(frozen=True, slots=True)
class TilingCandidate:
    """Tile sizes of a fusion, and their cost.

    Attributes:
        sizes: for each dimension of the :class:`TilingSpace`.
        bytes_read: what all programs load.
        bytes_written: what all programs store.
        programs: how many there are.
        registers: of 32 bits, that the largest tile takes.
        shared_memory_bytes: that the largest exchange between threads takes.
        is_exact: whether programs load and store just so many bytes; else no more than these.
    """

    sizes: tuple[int, ...]
    bytes_read: int
    bytes_written: int
    programs: int
    registers: int
    shared_memory_bytes: int
    is_exact: bool = True

    @property
    def shown_bytes(self) -> tuple[str, str]:
        """The bytes that are read and written, for people: a bound is marked as one."""
        mark = "" if self.is_exact else "<="
        return f"{mark}{self.bytes_read}", f"{mark}{self.bytes_written}"

    @property
    def bytes(self) -> int:
        """Bytes that all programs move."""
        return self.bytes_read + self.bytes_written


_HEADING: Final = ("read", "written", "programs", "registers", "shared", "sizes")


def _cells(tiling: TilingCandidate) -> tuple[str, ...]:
    """A row of the table of tilings: figures, the sizes last."""
    figures = (tiling.programs, tiling.registers, tiling.shared_memory_bytes)
    return *tiling.shown_bytes, *map(str, figures), " x ".join(map(str, tiling.sizes))


@dataclass(frozen=True, repr=False)
class Tilings(Sequence[TilingCandidate]):
    """The tilings of a fusion that satisfy all constraints and fit a device, the best first.

    Attributes:
        fusion: what runs as one kernel.
        columns: a row for each tiling, as arrays of NumPy by the names of :class:`TilingCandidate`.
        considered: how many candidates there were.
        least_bytes: what one tile that is as large as the arrays moves: no tiling moves less.
    """

    fusion: Fusion
    columns: Mapping[str, Column]
    considered: int
    least_bytes: int

    @cached_property
    def space(self) -> TilingSpace:
        """The dimensions that tiles have sizes for."""
        return TilingSpace.of(self.fusion)

    def __len__(self) -> int:
        return len(self.columns["sizes"])

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - one tiling, or several
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        row: dict[str, Any] = {name: each[index].tolist() for name, each in self.columns.items()}
        row["sizes"] = tuple(row["sizes"])
        return TilingCandidate(**row)

    def __repr__(self) -> str:
        return f"<{len(self)} of {self.considered} tilings>"

    def __str__(self) -> str:
        shown = aligned([_HEADING, *(_cells(each) for each in self[:MAX_ROWS])])
        more = len(self) - MAX_ROWS
        return "\n".join([*shown, *([f"and {more:,} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        shown = (_cells(each) for each in self[:MAX_ROWS])
        return html_of_table(_HEADING, shown, title=repr(self)[1:-1], total=len(self))

    def propagation(self, tiling: TilingCandidate) -> Propagation:
        """The tiles of all arrays for one of the tilings."""
        return propagate_in(self.space, tiling.sizes)


@naming_wrong_arguments
def tilings(
    fusion: Fusion,
    device: Device,
    *,
    sizes: Sequence[Iterable[int] | None] | None = None,
    divisible: bool = False,
    most: int | None = None,
) -> Tilings:
    """The tile sizes that a fusion may have on a device: the fewest bytes, then tiles, first.

    Candidates are the powers of two below the size of each dimension, and the size itself, as in
    XLA; or ``sizes``, which has some for each dimension of the :class:`ops.TilingSpace`, or
    ``None``. With ``divisible``, only those that divide their dimension. Those are left for which
    all tiles are exact, and fit, or the best of them, ``most`` at most:

    * no tile, padded to powers of two, may take more than 0.4 of the registers of a block;
    * what dots, reductions and transposes read passes through shared memory, and must fit in it;
    * a device without warps keeps all tiles in its shared memory.

    All candidates are judged at once, thousands in a second.

    Raises:
        TileError: an array has no tile, a size is none of its dimension, or there are too many.
        DeviceError: the device lacks a figure.
        ArgumentError: an argument is of another kind.

    >>> from ops import Fusion, hlo
    >>> from ops.performance import A100
    >>> module = hlo.parse('''ENTRY e { x = f32[64,128] parameter(0) y = f32[128,32] parameter(1)
    ...   ROOT d = f32[64,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }''')
    >>> found = tilings(Fusion.of_computation(module.entry), A100)
    >>> found.considered, len(found)
    (336, 336)
    >>> found[0].sizes, found[0].bytes_read == 4 * (64 * 128 + 128 * 32)
    ((64, 32, 128), True)
    >>> found.least_bytes == found[0].bytes
    True
    >>> found[-1].sizes
    (1, 1, 1)
    """
    check_type(device, Device, "tilings: the device", "a Device such as A100")
    limits = _Limits.of(device)
    space = TilingSpace.of(fusion)
    names = [f"T{number}" for number in range(len(space.dimensions))]
    propagation = propagate_in(space, [simplifier.symbol(name) for name in names]).check()
    choices = _choices(space, sizes, divisible=divisible)
    considered = prod(map(len, choices))
    if considered > MAX_CANDIDATES:
        expected = f"expected at most {MAX_CANDIDATES}; give sizes"
        raise TileError(f"tilings: there are {considered} candidates; {expected}")
    columns = _combinations(choices)
    given = dict(zip(names, columns, strict=True))
    costs = limits.costs(propagation, given)
    is_kept = propagation.constraints.satisfied(given) & limits.are_met(costs)
    loads = TileLoads(space, choices)
    once = TileLoads(space, [[each] for each in loads.wholes])
    wholes, both = _combinations(once.choices), (propagation.operands, propagation.results)
    least = sum(int(np.max(once.bytes_of(arrays, wholes).number)) for arrays in both)
    read = loads.bytes_of(propagation.operands, columns, is_kept)
    written = loads.bytes_of(propagation.results, columns, is_kept)
    costs |= {
        "bytes_read": read.number,
        "bytes_written": written.number,
        "programs": loads.programs(columns),
        "is_exact": read.is_exact & written.is_exact,
    }
    return Tilings(fusion, _ranked(columns, costs, is_kept, loads, most), considered, least)


class KernelTiler:
    """Finds tilings of kernels on a device, all or the best, and those of kernels alike once."""

    def __init__(self, device: Device, most: int | None = None) -> None:
        self._device, self._most = device, most
        self._known: dict[Likeness | Fusion, Tilings] = {}

    def tilings(self, kernel: Fusion) -> Tilings:
        """The answer of :func:`tilings`, which raises what this raises."""
        key = likeness_of(kernel) or kernel
        if key not in self._known:
            self._known[key] = tilings(kernel, self._device, most=self._most)
        return replace(self._known[key], fusion=kernel)


def _ranked(
    columns: Sequence[Column],
    costs: Mapping[str, Column],
    is_kept: Column,
    loads: TileLoads,
    most: int | None,
) -> dict[str, Column]:
    """The rows of the tilings that are kept, the fewest bytes first, then the fewest tiles."""
    shape = _shape_of(columns)
    places = np.flatnonzero(np.broadcast_to(is_kept, shape))
    whole = partial(np.broadcast_to, shape=shape)
    keys = whole(costs["bytes_read"] + costs["bytes_written"]), whole(loads.tiles(columns))
    kept = [each.reshape(-1)[places] for each in keys]
    best = _least(kept, len(places) if most is None else most)
    rows = np.unravel_index(places[best], shape)
    sizes = [whole(each)[rows] for each in columns]
    stacked = np.stack(sizes, axis=1) if sizes else np.zeros((len(best), 0), dtype=np.int64)
    return {"sizes": stacked} | {name: whole(each)[rows] for name, each in costs.items()}


def _least(keys: Sequence[Column], count: int) -> Column:
    """The places of so many least rows, by the first key, then by the next, then by place."""
    if count >= len(keys[0]) or len(keys) == 1:
        return np.lexsort(keys[::-1])[:count]
    end = np.partition(keys[0], count)[count]
    surely, maybe = np.flatnonzero(keys[0] < end), np.flatnonzero(keys[0] == end)
    first = surely[np.lexsort([each[surely] for each in reversed(keys)])]
    others = maybe[_least([each[maybe] for each in keys[1:]], count - len(surely))]
    return np.concatenate([first, others])


# Candidates.


def _choices(
    space: TilingSpace, sizes: Sequence[Iterable[int] | None] | None, *, divisible: bool
) -> list[list[int]]:
    """The sizes that each dimension may have."""
    dimensions = space.dimensions
    given = [None] * len(dimensions) if sizes is None else sizes
    check_type(given, Sequence, "tilings: sizes", "sizes, or None, for each dimension")
    if len(given) != len(dimensions):
        expected = f"expected {len(dimensions)}, one for each dimension of the space"
        raise TileError(f"tilings: {len(given)} lists of sizes are given; {expected}")
    pairs = zip(dimensions, given, strict=True)
    return [list(_sizes_of(*pair, divisible=divisible)) for pair in pairs]


def _sizes_of(
    dimension: TilingDimension, given: Iterable[int] | None, *, divisible: bool
) -> Iterator[int]:
    if dimension.size is None:
        raise TileError(f"tilings: {dimension} has no numeric size; substitute the parameters")
    whole = max(dimension.size, 1)
    if given is None:
        powers = [1 << log for log in range((whole - 1).bit_length())]
        given = [*powers, whole] if dimension.can_be_cut else [whole]
    check_type(given, Iterable, f"tilings: the sizes of {dimension}", "integers, or None")
    for size in dict.fromkeys(given):
        check_type(size, INTEGER, f"tilings: a size of {dimension}", "an integer")
        dimension.check_size("tilings", size)
        if not (divisible and whole % size):
            yield size


def _combinations(choices: Sequence[Sequence[int]]) -> list[Column]:
    """Each choice with each: a column for each dimension, along an axis of its own.

    What depends on few dimensions is computed for their choices alone. A last axis of size 1 keeps
    them arrays where there is no dimension.
    """
    arrays = (np.array(each, dtype=np.int64) for each in (*choices, [0]))
    *columns, _ = np.meshgrid(*arrays, indexing="ij", sparse=True)
    return columns


def _shape_of(columns: Sequence[Column]) -> tuple[int, ...]:
    """The shape of the candidates, which :func:`_combinations` makes columns of."""
    return np.broadcast_shapes((1,), *(each.shape for each in columns))


# Memory.


@dataclass(frozen=True, slots=True)
class _Limits:
    """Limits of a device for tiles; without ``registers``, all tiles lie in shared memory."""

    shared_memory_bytes: int
    registers: int | None

    @classmethod
    def of(cls, device: Device) -> _Limits:
        shared = device.figure("shared_memory_bytes", "tilings")
        has_warps = device.warp_size is not None
        return cls(shared, device.figure("registers", "tilings") if has_warps else None)

    def costs(self, propagation: Propagation, given: Mapping[str, Column]) -> dict[str, Column]:
        """The registers and the bytes of shared memory that tilings take."""
        tiles = [(each, _padded_bits(each, given)) for each in propagation]
        bits = [each for _, each in tiles]
        zero = np.int64(0)
        if self.registers is None:
            return {"registers": zero, "shared_memory_bytes": sum(bits, zero) // tally.BITS_OF_BYTE}
        return {
            "registers": -(-reduce(np.maximum, bits, zero) // _REGISTER_BITS),
            "shared_memory_bytes": -(-_exchanged_bits(tiles) // tally.BITS_OF_BYTE),
        }

    def are_met(self, costs: Mapping[str, Column]) -> Column:
        """Whether tilings with these costs fit."""
        fits = costs["shared_memory_bytes"] <= self.shared_memory_bytes
        if self.registers is None:
            return fits
        return fits & (costs["registers"] <= int(REGISTERS_PER_TILE * self.registers))


def _exchanged_bits(tiles: Sequence[tuple[ArrayTile, Column]]) -> Column:
    """The bits of the largest exchange; an array that has several tiles counts as the largest."""
    zero = np.int64(0)
    by_element: dict[Instruction, dict[int, Column]] = defaultdict(dict)
    for at, bits in tiles:
        elements = by_element[at.instruction]
        elements[at.element] = np.maximum(elements.get(at.element, zero), bits)
    held = {each: sum(elements.values(), zero) for each, elements in by_element.items()}
    exchanged = (each.operands for each in held if each.opcode in _EXCHANGED)
    sums = (sum((held.get(each, zero) for each in operands), zero) for operands in exchanged)
    return reduce(np.maximum, sums, zero)


def _padded_bits(array: ArrayTile, given: Mapping[str, Column]) -> Column:
    """The bits of a tile whose sizes are padded to powers of two."""
    sizes = evaluate_forms([size for _, size, _ in array.checked_tile().formulas.results], given)
    bits: Column = np.int64(array.instruction.shape.arrays[array.element].element_size_in_bits)
    powers = 1 << np.arange(63, dtype=np.int64)
    for size in sizes:
        bits = bits * powers[np.searchsorted(powers, size)]
    return bits


# Loads and stores of all programs of a tiling, for many candidate sizes at once.
#
# An access splits into parts that share no dimension: their numbers multiply. The numbers of a
# part are counted once for each combination of sizes of its few dimensions.

SECONDS: Final = 10.0
"""Budget of counting: a part that is injective is counted at once, others are small. Behind
that time, numbers are bounds, and say so."""


class LoadCount(NamedTuple):
    """Number of elements loaded for each combination of sizes; at most that many if not exact."""

    number: Column
    is_exact: Column | bool


class TileLoads:
    """Counts of the elements that programs touch; ``choices`` are the sizes of each dimension."""

    def __init__(self, space: TilingSpace, choices: Sequence[Sequence[int]]) -> None:
        self.variables = space.variables
        self.wholes = [max(each.size or 1, 1) for each in space.dimensions]
        self.parallel = range(len(space.parallel))
        self.choices = choices
        self.deadline = Deadline(SECONDS)

    def programs(self, columns: Sequence[Column]) -> Column:
        """Number of programs."""
        return self._product(self.parallel, columns)

    def tiles(self, columns: Sequence[Column]) -> Column:
        """Number of tiles of the space."""
        return self._product(range(len(columns)), columns)

    def bytes_of(
        self, arrays: Sequence[ArrayTile], columns: Sequence[Column], kept: Column | None = None
    ) -> LoadCount:
        """The bytes of all tiles of some arrays, each different tile of an array once.

        Only the numbers for the sizes that are kept mean something.
        """
        total: Column = np.int64(0)
        is_exact: Column = np.True_
        compared = TileComparison(self.variables, columns, np.True_ if kept is None else kept)
        for number, array in enumerate(arrays):
            bits = array.instruction.shape.arrays[array.element].element_size_in_bits
            is_new, is_decided = np.True_, np.True_
            for before in arrays[:number]:
                if before.instruction is array.instruction and before.element == array.element:
                    found = compared.in_grid(before, array)
                    is_new, is_decided = is_new & ~found.is_equal, is_decided & found.is_decided
            counted = self._elements(array.indexings[0], columns)
            total = total + is_new * -(-counted.number * bits // tally.BITS_OF_BYTE)
            is_exact = is_exact & (~is_new | (is_decided & counted.is_exact))
        return LoadCount(total, is_exact)

    def _product(self, numbers: Iterable[int], columns: Sequence[Column]) -> Column:
        found: Column = np.int64(1)
        for number in numbers:
            found = found * -(-self.wholes[number] // columns[number])
        return found

    def _elements(self, access: OperandIndexing, columns: Sequence[Column]) -> LoadCount:
        """Number of elements that all programs load for an access."""
        parts = _parts(access, self.variables)
        used = {number for dimensions in parts for number in dimensions}
        found = self._product((each for each in self.parallel if each not in used), columns)
        is_exact = True
        for dimensions, part in parts.items():
            try:
                found = found * self._of_part(dimensions, part, columns)
            except (OutOfTimeError, NotQuasiAffineError):  # each point loads one at most
                found, is_exact = found * tally.volume(part), False
        return LoadCount(found, is_exact)

    def _of_part(
        self, dimensions: tuple[int, ...], part: IndexingMap, columns: Sequence[Column]
    ) -> Column:
        """The pairs of tile ids and elements, for the sizes in the columns.

        Steps that load the same as the step before them do not count: if each step loads as much as
        all steps together, all load the same.

        Raises:
            OutOfTimeError, NotQuasiAffineError: they cannot be counted.
        """
        whole = tally_of([part], self.deadline)
        if whole.points == whole.elements:
            return whole.points
        steps = [each for each in dimensions if each not in self.parallel]
        single = {each: [self.wholes[each]] for each in steps}  # their size, if there is one
        choices = [sorted({*self.choices[each], *single.get(each, ())}) for each in dimensions]
        times = prod(map(len, choices))
        counts = touched(part, choices) or [
            tally_of([_with_tile_ids(part, sizes)], self.deadline, times=times).elements
            for sizes in product(*choices)
        ]
        table = np.array(counts).reshape([len(each) for each in choices])

        def counted(columns: Sequence[Column]) -> Column:
            pairs = zip(choices, dimensions, strict=True)
            places: list[Column] = [np.searchsorted(row, columns[axis]) for row, axis in pairs]
            return table[tuple(places)]

        found = counted(columns)
        for number in steps:
            size, whole = columns[number], self.wholes[number]
            in_one_step = counted(with_value(columns, number, 0 * size + whole))
            is_same = found == in_one_step * -(-whole // size)
            columns = with_value(columns, number, np.where(is_same, whole, size))
            found = counted(columns)
        return found


def _parts(
    access: OperandIndexing, variables: Sequence[Variable]
) -> dict[tuple[int, ...], IndexingMap]:
    """The independent parts of an access, by the dimensions of a space that each is a map from.

    A dimension of which the access has some values only is one: other tiles load nothing. An
    element at another place, or on another replica, is another one, too.
    """
    together = [*access.map.forms, *values_of(access)]
    found = with_midpoints(IndexingMap.from_forms(together, access.map.domain)).simplify()
    used = [set(forms.variables_of((form,))) for form in found.forms]
    groups = united([*used, *_dependent([found], variables)])
    return {_numbers(names): _part(found, _places(used, names), names) for names in groups}


def _dependent(maps: Sequence[IndexingMap], variables: Sequence[Variable]) -> Iterator[set[str]]:
    """The variables that constraints relate, and each dimension of which a map has some values."""
    for each in maps:
        yield from (set(forms.variables_of((form,))) for form, _ in each.domain.constraints)
        pairs = enumerate(zip(each.dims, variables, strict=True))
        yield from ({f"d{number}"} for number, (part, all_) in pairs if part.bounds != all_.bounds)


def _numbers(names: Iterable[str]) -> tuple[int, ...]:
    """The numbers of dimensions."""
    return tuple(sorted(int(name[1:]) for name in names if name[0] == "d"))


def _places(used: Sequence[set[str]], names: set[str]) -> list[int]:
    """The results that use some variables."""
    return [place for place, own in enumerate(used) if own & names]


def _with_tile_ids(part: IndexingMap, sizes: Sequence[int]) -> IndexingMap:
    """The map that leads to tile ids, too."""
    ids = [dim(number) // size for number, size in enumerate(sizes)]
    return IndexingMap.from_forms([*part.forms, *ids], part.domain).simplify()


# How many elements the tiles of a map touch, all tiles together, for many tile sizes at once.
#
# A sum of dimensions, such as a window, has a closed form. The points of any other map are gone
# through once if they are few: from the pairs of tiles and elements for a size of one dimension
# follow those for all sizes of the next.


def touched(part: IndexingMap, choices: Sequence[Sequence[int]]) -> list[int] | None:
    """The pairs of tiles and elements, for each combination of sizes, the last fastest.

    ``choices`` are the sizes of a tile along each dimension. ``None`` if there is no closed form,
    and there are many points.

    >>> from indexing import parse_map
    >>> windows = parse_map("(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 2]")
    >>> touched(windows, [[5, 10], [1, 3]])
    [30, 14, 30, 12]
    """
    found = _by_sums(part, choices)
    return _by_points(part, choices) if found is None else found


# Sums.


def _by_sums(part: IndexingMap, choices: Sequence[Sequence[int]]) -> list[int] | None:
    strides = tally.strides_of_sum(part)
    bounds = [part.domain.bounds[name] for name in part.domain.identifiers]
    wholes = [each.size for each in bounds if each.lower == 0 and each.size is not None]
    if strides is None or part.domain.constraints or len(wholes) < len(bounds):
        return None
    found: list[int] = []
    for sizes in product(*choices):
        total = 0
        for tile in product(*map(_extents, wholes, sizes)):
            elements = tally.number_of_sums(strides.values(), [extent for extent, _ in tile])
            if elements is None:
                return None
            total += elements * prod(times for _, times in tile)
        found.append(total)
    return found


def _extents(whole: int, size: int) -> Iterator[tuple[int, int]]:
    """The extents of tiles along a dimension, and how often each occurs."""
    if whole >= size:
        yield size, whole // size
    if whole % size:
        yield whole % size, 1


# Points.


def _by_points(part: IndexingMap, choices: Sequence[Sequence[int]]) -> list[int] | None:
    """A point is one number, its dimensions the lowest digits, the first dimension the lowest."""
    names = part.domain.identifiers
    bounds = [part.domain.bounds[name] for name in names]
    rows = few_points.elements(part, [*part.forms, *map(dim, reversed(range(len(names))))])
    if rows is None or any(each.lower is None or each.lower < 0 for each in bounds):
        return None
    if not len(rows):
        return [0] * prod(map(len, choices))
    results, indices = rows[:, : len(part.forms)], rows[:, len(part.forms) :]
    digits = [few_points.are_new(results).cumsum() - 1, *indices.T]
    sizes = [int(digit.max()) + 1 for digit in digits]
    if prod(sizes) > MAX_INT64:
        return None
    points = numbered(digits, [Interval(0, size - 1) for size in sizes])
    return list(_counts(points, prod(sizes), sizes[:0:-1], choices))


def _counts(
    points: Column, room: int, wholes: Sequence[int], choices: Sequence[Sequence[int]]
) -> Iterator[int]:
    """Number of points left where dimensions become tiles; all points are below ``room``."""
    if not wholes:
        yield len(points)
        return
    others, index = points // wholes[0], points % wholes[0]
    room //= wholes[0]
    for size in choices[0]:
        tiles = -(-wholes[0] // size)
        pairs = _different(index // size * room + others)
        yield from _counts(pairs, room * tiles, wholes[1:], choices[1:])


def _different(numbers: Column) -> Column:
    """Each number once; sorting runs is faster than a hash table."""
    numbers.sort(kind="stable")
    return numbers[few_points.are_new(numbers[:, None])]


# Tile sizes for which two tiles of an array are the same, so that a program loads it once.
#
# Two tiles are the same if they have the same elements, for all ids. For thousands of sizes that is
# asked in steps: a corner of one tile that is not in the other tells most apart; where there are
# few points, their elements are compared; else the formulas, with the numbers for sizes. One set
# may have several formulas, so where these differ the answer is open.

_FEW: Final = 1 << 8
"""Sizes of the dimensions in which two tiles differ that are looked at: a second at most."""

_VERY_FEW: Final = 1 << 6
"""Sizes of all dimensions that are looked at."""

_MAX_ROWS: Final = 1 << 22
"""Points, for all sizes together, whose elements are compared: a second or two."""


class TileEquality(NamedTuple):
    """Sizes for which two tiles are known to be equal, and those for which that is decided."""

    is_equal: Column
    is_decided: Column


class TileComparison(NamedTuple):
    """Compares tiles of a space, for the sizes in some columns that are kept."""

    variables: Sequence[Variable]
    columns: Sequence[Column]
    kept: Column

    def in_grid(self, one: ArrayTile, other: ArrayTile) -> TileEquality:
        """The same where each column is along an axis of its own."""
        shape = _shape_of(self.columns)
        kept, *columns = (
            np.broadcast_to(each, shape).reshape(-1) for each in (self.kept, *self.columns)
        )
        found = TileComparison(self.variables, columns, kept)(one, other)
        return TileEquality(*(each.reshape(shape) for each in found))

    def __call__(self, one: ArrayTile, other: ArrayTile) -> TileEquality:
        """Sizes for which two tiles of one array are equal."""
        every = np.ones(self.kept.shape, dtype=bool)
        here, there = _origins(one), _origins(other)
        if here != there:
            return TileEquality(~every, every & (set(here) != set(there)))
        left = self._share_corners(one, other)
        by_points = self._by_points(_accessed(one), _accessed(other), left)
        if by_points is not None:
            return TileEquality(by_points, every)
        by_formulas = self._by_formulas(one, other, left)
        return TileEquality(by_formulas, by_formulas | ~left)

    def _distinct(self, numbers: Sequence[int], wanted: Column) -> tuple[Any, Column]:
        """The sizes that some dimensions have together, a row each; and the row of each wanted."""
        columns = [self.columns[number][wanted] for number in numbers]
        table = np.stack([*columns, 0 * wanted[wanted]])
        rows, places = np.unique(table, axis=1, return_inverse=True)
        return rows[:-1].T, places.reshape(-1)

    # Corners.

    def _share_corners(self, one: ArrayTile, other: ArrayTile) -> Column:
        """Sizes for which the corners of each tile that are looked at are in the other, too."""
        left = np.flatnonzero(self.kept)
        numbers = _dimensions_that_differ(one.checked_tile(), other.checked_tile())
        for corner in _corners(numbers):
            for inner, outer in ((one, other), (other, one)):
                if len(left):
                    left = left[self._has_corner(inner, outer.checked_tile(), corner, left)]
        found = np.zeros(self.kept.shape, dtype=bool)
        found[left] = True
        return found

    def _has_corner(
        self, inner: ArrayTile, outer: Tile, corner: Mapping[int, int], rows: Column
    ) -> Column:
        """Whether the element of a point, if it is one, is in the tile of the same ids."""
        own = inner.indexings[0].map.simplify()
        given: dict[str, Column] = {
            f"rt{number}": 0 * rows + (each.bounds.lower or 0)
            for number, each in enumerate(own.runtime)
        }
        sizes = [column[rows] for column in self.columns]
        rows_of_dims = zip(own.dims, sizes, outer.counts, strict=True)
        for number, (each, size, count) in enumerate(rows_of_dims):
            place = _place(corner.get(number, corner[_OTHERS]), each.bounds, size)
            given |= {f"d{number}": place, f"t{number}": place // size}
            given |= dict.fromkeys(forms.variables_of((count,)), size)
        limits = own.domain.constraints
        values = evaluate_forms([*own.forms, *(form for form, _ in limits)], given)
        is_point: Column = True
        for value, (_, interval) in zip(values[len(own.forms) :], limits, strict=True):
            lower, upper = interval.ends
            is_point = is_point & (value >= lower) & (value <= upper)
        return ~(is_point & ~_is_inside(outer.formulas, values[: len(own.forms)], given))

    # Points.

    def _by_points(self, one: IndexingMap, other: IndexingMap, wanted: Column) -> Column | None:
        """Whether two maps reach the same elements from all tiles; ``None`` for too many points.

        They do if independent parts of them do.
        """
        found = wanted.copy()
        for numbers, left, right in _parts_that_differ(one, other, self.variables):
            rows, places = self._distinct(numbers, found)
            most = _MAX_ROWS // max(len(rows), 1)
            reached, again = _table(left, most), _table(right, most)
            if reached is None or again is None or reached.shape[1] != again.shape[1]:
                return None
            agreed = np.array([_agree(reached, again, sizes) for sizes in rows], dtype=bool)
            found[found] = agreed[places]
        return found

    # Formulas.

    def _by_formulas(self, one: ArrayTile, other: ArrayTile, wanted: Column) -> Column:
        """Whether two tiles have the same formulas, as far as there are few sizes to look at."""
        found = np.zeros(wanted.shape, dtype=bool)
        numbers = _dimensions_that_differ(one.checked_tile(), other.checked_tile())
        for dimensions, most in ((numbers, _FEW), (range(len(self.columns)), _VERY_FEW)):
            left = wanted & ~found
            rows, places = self._distinct(dimensions, left)
            if len(rows) > most:
                break
            sizes = [dict(zip(dimensions, row, strict=True)) for row in rows.tolist()]
            agreed = [self._have_one_formula(one, other, each) for each in sizes]
            found[left] = np.array(agreed, dtype=bool)[places]
        return found

    def _have_one_formula(self, one: ArrayTile, other: ArrayTile, sizes: Mapping[int, int]) -> bool:
        """Whether two tiles have the same formulas where some dimensions have these sizes."""
        try:
            return self._formulas(one, sizes) == self._formulas(other, sizes)
        except TileError:  # no tile has these sizes
            return False

    def _formulas(self, array: ArrayTile, sizes: Mapping[int, int]) -> Formulas:
        """The formulas of a tile where some dimensions have these sizes."""
        symbols = map(forms.to_sympy, array.checked_tile().counts)
        given = [sizes.get(number, each) for number, each in enumerate(symbols)]
        return tile_of(_accessed(array), self.variables, given).formulas


def _origins(array: ArrayTile) -> tuple[object, ...]:
    """Values that are known at runtime only, wherever in their array they are."""
    access = array.indexings[0]
    runtime = [(each.instruction, each.callers, each.clamp) for each in access.runtime]
    return (access.replica_id is None, *runtime)


def _accessed(array: ArrayTile) -> IndexingMap:
    """The map to elements, to the places of values at runtime, and to replicas."""
    access = array.indexings[0]
    own = access.map.simplify()
    values = [form for each in access.other_maps for form in each.simplify().forms]
    return IndexingMap.from_forms([*own.forms, *values], own.domain)


def _dimensions_that_differ(one: Tile, other: Tile) -> tuple[int, ...]:
    """The dimensions that the formulas in which two tiles differ use."""
    pairs = [
        *zip(one.formulas.results, other.formulas.results, strict=True),
        ((one.formulas.condition,), (other.formulas.condition,)),
    ]
    differing = [form for pair in pairs if pair[0] != pair[1] for row in pair for form in row]
    used = set(forms.variables_of(differing))
    sizes = enumerate(each.single_variable() for each in one.counts)
    return tuple(number for number, size in sizes if used & {f"t{number}", size})


# Corners: along each dimension a place in the first or the last tile.

_OTHERS: Final = -1
"""Stands for the dimensions that are not named."""


def _corners(numbers: Sequence[int]) -> Iterator[dict[int, int]]:
    """All dimensions at one place; then one of them at another place than the others."""
    yield from ({_OTHERS: place} for place in (1, 2, 3, 0))
    if len(numbers) > 1:
        yield from ({_OTHERS: 0, number: place} for number in numbers for place in (1, 2, 3))


def _place(place: int, bounds: Interval, size: Column) -> Column:
    """The first and the last place in the first tile, then in the last one."""
    lower, upper = bounds.lower or 0, bounds.upper or 0
    match place:
        case 0:
            return 0 * size + lower
        case 1:
            return np.minimum(lower // size * size + size - 1, upper)
        case 2:
            return np.maximum(upper // size * size, lower)
        case _:
            return 0 * size + upper


def _is_inside(
    formulas: Formulas, indices: Sequence[Column], given: Mapping[str, Column]
) -> Column:
    """Whether a tile has an element; also where several of its positions may lead there."""
    found: Column = True
    is_unique: Column = True
    positions: dict[str, Column] = {}
    for number, (row, index) in enumerate(zip(formulas.results, indices, strict=True)):
        offset, size, stride = evaluate_forms(row, given)
        distance = index - offset
        position = distance // np.where(stride == 0, 1, stride)
        found = found & (position * stride == distance) & (position >= 0) & (position < size)
        is_unique = is_unique & ((stride != 0) | (size == 1))
        positions[f"i{number}"] = position
    (condition,) = evaluate_forms((formulas.condition,), {**given, **positions})
    return found & ((condition != 0) | ~np.asarray(is_unique))


# Points: tables of what a part of a map reaches from there.


def _parts_that_differ(
    one: IndexingMap, other: IndexingMap, variables: Sequence[Variable]
) -> Iterator[tuple[tuple[int, ...], IndexingMap, IndexingMap]]:
    """The parts of two maps that share no variable with others, and the dimensions of each.

    A dimension of which a map has some values only is part of it.
    """
    used = [set(forms.variables_of(row)) for row in zip(one.forms, other.forms, strict=True)]
    constant = [place for place, names in enumerate(used) if not names]
    for names in (set[str](), *united([*used, *_dependent((one, other), variables)])):
        places = _places(used, names) if names else constant
        left, right = (_part(each, places, names) for each in (one, other))
        if left != right:
            yield _numbers(names), left, right


def _part(whole: IndexingMap, places: Sequence[int], names: set[str]) -> IndexingMap:
    """Some results of a map, over the variables that they use."""
    order = [name for name in whole.domain.identifiers if name in names]
    dims, runtime = ([name for name in order if name[0] == role] for role in "dr")
    return part_over(whole, [whole.forms[place] for place in places], dims, runtime)


def _table(part: IndexingMap, most: int) -> Any | None:  # noqa: ANN401 - a matrix of NumPy
    """The points of a part, the elements, and the values at runtime; ``None`` for too many."""
    dims, _, runtime = part.domain.by_role_as_forms
    return few_points.elements(part, (*dims, *part.forms, *runtime), most)


def _agree(one: Any, other: Any, sizes: Column) -> bool:  # noqa: ANN401 - matrices of NumPy
    """Whether points of two tables reach the same from each tile."""
    divisors = np.ones(one.shape[1], dtype=np.int64)
    divisors[: len(sizes)] = sizes
    return np.array_equal(*(few_points.different(rows // divisors) for rows in (one, other)))
