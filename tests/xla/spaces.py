"""What XLA's tests of tiles are about: the tiling space of a row, and the tiles of its arrays.

A row has the ``hlo`` of a module, whose entry is tiled, or a ``pair`` of instructions in it. An
array is the name of an instruction; ``fusion/x`` is in the run of a fusion, ``x:1`` is an element
of a tuple, ``x#1`` is read in another way than ``x#0``.

A tile of XLA's is a text, ``offsets [tid_0 * ts_0] sizes [ts_0] strides [2] upper bounds [9]``. Its
tests begin at tiles that step through an array: ``offset + stride * k`` along each dimension, where
ours are dense. So we compose a map with such steps with the maps of the space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import compress, product
from math import prod
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from indexing import IndexingMap, Tile, TileConstraints, TileError, parse_map
from ops import ArrayTile, Fusion, Propagation, TilingDimension, TilingSpace, hlo
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion.slicing import FlowNode
from ops.tiling.propagation import dimensions_of_one_value, propagate_in
from simplifier import symbol
from simplifier.expr.form import Form
from tests.conformance import Row
from tests.extent import IN_CI
from tests.tiling.tiles_by_enumeration import used_dimensions
from tests.xla.facts import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

Index: TypeAlias = "tuple[int, ...]"
Elements: TypeAlias = "set[Index] | None"
"""The elements of a tile, each behind the replica that has it, if maps tell; or none is given."""

MAX_SIZES: Final = 10
MAX_TILES: Final = 8 if IN_CI else 3
"""So many sizes, and so many tiles of each, are drawn."""

FEW_SIZES: Final = 4
"""So many outside of CI, where our answer is XLA's."""

MAX_POINTS: Final = 1000
"""Fewer tiles are drawn where they are larger than this together."""


def verdict_on_elements(touched: Elements, ours: Elements, theirs: Elements) -> Verdict:
    """What is exact is better than nothing, and nothing is better than what is wrong."""
    if ours is not None and ours != touched:
        return Verdict.WRONG
    if ours == theirs:
        return Verdict.SAME
    return Verdict.DIFFERENT if theirs == touched else Verdict.BETTER


def places(
    offsets: Iterable[int], sizes: Iterable[int], strides: Iterable[int], ends: Iterable[int]
) -> Iterator[Index]:
    """All points of a box with steps, as far as they are before the ends."""
    axes = (
        [at for step in range(size) if 0 <= (at := offset + stride * step) < end]
        for offset, size, stride, end in zip(offsets, sizes, strides, ends, strict=True)
    )
    return product(*axes)


class Tiled:
    """What is tiled, which several rows may ask about: a module, or a pair of instructions in it.

    The maps of the space begin at the results, or at the operand ``begin``.
    """

    def __init__(self, text: str, pair: tuple[str, ...], begin: str | None) -> None:
        entry = hlo.parse(text).entry
        paired = [entry[name] for name in pair]
        self.fusion = Fusion.of_instructions(paired) if pair else Fusion.of_computation(entry)
        self.space = (
            TilingSpace.from_operand(self.fusion, entry[begin])
            if begin
            else TilingSpace.of(self.fusion)
        )

    @cached_property
    def symbolic(self) -> Propagation:
        """The tiles of all arrays, of ``T0``, ``T1``, ... values along each dimension."""
        cut = [dimension.can_be_cut for dimension in self.space.dimensions]
        sizes = [symbol(f"T{number}") if is_cut else None for number, is_cut in enumerate(cut)]
        return propagate_in(self.space, sizes)


_tiled = lru_cache(maxsize=16)(Tiled)


class Space:
    """What a row asks about."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.tiled = _tiled(row["hlo"], tuple(row.get("pair", ())), row.get("from"))
        self.fusion, self.space = self.tiled.fusion, self.tiled.space
        # Which of our dimensions is each of XLA's: it may list others than parallel ones anew.
        self.order: list[int] = row.get("order", [*range(len(self.space.dimensions))])

    @property
    def names(self) -> Iterator[str]:
        for node, found in self.space.accesses.items():
            ways = enumerate(found.indexings)
            yield from (f"{path_of(node)}:{node.element}#{way}" for way, _ in ways)

    def array(self, name: str) -> tuple[FlowNode, OperandIndexing]:
        """The array of ``x``, ``fusion/x``, ``x:1`` or ``x#1``, and how it is read."""
        name, _, way = name.partition("#")
        path, _, element = name.partition(":")
        ((node, found),) = (
            (node, found)
            for node, found in self.space.accesses.items()
            if (path_of(node), node.element) == (path, int(element or 0))
        )
        ways = found.indexings
        assert way or len(ways) == 1, [*map(str, ways)]
        return node, ways[int(way or 0)]

    def drawn_sizes(self) -> list[Index]:
        """The sizes of the row, or some small ones."""
        if "sizes" in self.row:
            return [tuple(self.row["sizes"])]
        every = [*product(*map(_small_sizes, self.space.dimensions))]
        most = MAX_SIZES if IN_CI or "class" in self.row else FEW_SIZES
        return Random(0).sample(every, min(most, len(every)))  # noqa: S311 - no secret


def path_of(node: FlowNode | ArrayTile) -> str:
    """The names of what calls an instruction, and its own."""
    return "/".join(each.name for each in (*node.callers, node.instruction))


def _small_sizes(dimension: TilingDimension) -> list[int]:
    assert dimension.size is not None
    if not dimension.can_be_cut:
        return [dimension.size]
    return [size for size in (1, 2, 3, 4) if size <= dimension.size]


class Steps:
    """The tiles of one array for numeric sizes.

    Runtime variables have their largest values, or their least ones.
    """

    def __init__(self, asked: Space, name: str, sizes: Index, *, is_first: bool = False) -> None:
        row, extents = asked.row, [each.size or 0 for each in asked.space.dimensions]
        self.asked, self.sizes, self.extents = asked, sizes, extents
        self.node, self.indexing = asked.array(name)
        self.shape = self.node.instruction.shape.arrays[self.node.element].dimensions
        ends = (each.bounds for each in self.indexing.map.runtime)
        self.runtime = tuple((each.lower if is_first else each.upper) or 0 for each in ends)
        # Of the tile at the beginning, and where it begins if it is the only one.
        strides: list[int] = row.get("strides", [])
        self.strides = [*strides] + [1] * (len(sizes) - len(strides))
        self.offsets: list[int] | None = row.get("offsets")
        self.is_dense = self.offsets is None and set(self.strides) == {1}
        tiles = [-(-n // size) for n, size in zip(extents, sizes, strict=True)]
        self.grid = tiles if self.offsets is None else [1] * len(sizes)
        used = used_dimensions(self.indexing, asked.space)
        self.used_sizes = [size if at in used else 1 for at, size in enumerate(sizes)]
        self.points = prod(self.used_sizes)

    def drawn_tiles(self) -> list[Index]:
        """The ids of the last tile, the first, and some others, with so many points together."""
        random = Random(0)  # noqa: S311 - no secret
        others = [tuple(map(random.randrange, self.grid)) for _ in range(MAX_TILES)]
        drawn = dict.fromkeys([tuple(n - 1 for n in self.grid), (0,) * len(self.grid), *others])
        return [*drawn][: 1 + MAX_POINTS // self.points]

    # What is touched.

    def touched(self, ids: Index) -> set[Index]:
        """All elements, at each point of the tile."""
        points = [*self._points(ids)]
        columns = _columns(points, len(self.sizes))
        inside = self.indexing.map.contains(columns, (), self.runtime)
        mask: NDArray[np.bool_] = np.broadcast_to(inside, len(points))
        points = [*compress(points, mask)]
        columns = _columns(points, len(self.sizes))
        replica = self.indexing.replica_id
        results = [] if replica is None else [*replica.evaluate(columns)]
        results += self.indexing.map.evaluate(columns, (), self.runtime)
        rows = [np.broadcast_to(each, len(points)).tolist() for each in results]
        return {*zip(*rows, strict=True)} if rows else {() for _ in points}

    def _points(self, ids: Index) -> Iterator[Index]:
        return places(self._starts(ids), self.used_sizes, self.strides, self.extents)

    def _starts(self, ids: Index) -> Index:
        if self.offsets is not None:
            return tuple(self.offsets)
        return tuple(id_ * size for id_, size in zip(ids, self.sizes, strict=True))

    def _replica(self, point: Index) -> Index:
        replica = self.indexing.replica_id
        return () if replica is None else tuple(map(int, replica.evaluate(point)))

    # Our answer.

    def ours(self, ids: Index) -> Elements:
        """Our elements of a tile, if we give them."""
        if self.tile is None:
            return None
        padded = ids if self.is_dense else (*ids, *(0 for _ in ids))
        try:
            found = self.tile.elements(padded, self.runtime)
        except TileError:  # the map leads nowhere from there
            return set()
        if not self.is_dense:  # the replica is in the map
            return {*found}
        return {(*replica, *each) for replica in self._replicas(ids) for each in found}

    def _replicas(self, ids: Index) -> Iterable[Index]:
        several = self._of_array.replicas
        if several is None:
            return [self._replica(self._starts(ids))]
        runtime = self.runtime if several.domain.runtime else ()
        return self._of_sizes(several).elements(ids, runtime)

    @cached_property
    def tile(self) -> Tile | None:
        try:
            return (
                self._of_sizes(self._of_array.checked_tile()) if self.is_dense else self._stepping()
            )
        except TileError:
            return None

    def _of_sizes(self, tile: Tile) -> Tile:
        """The tile at the sizes; one beyond its dimension is the whole dimension."""
        whole = [*map(min, self.sizes, self.extents)]
        return tile.substitute({name: whole[int(name[1:])] for name in tile.symbols})

    @cached_property
    def _of_array(self) -> ArrayTile:
        (of_array,) = (
            each
            for each in self.asked.tiled.symbolic.of(self.node.instruction, self.node.element)
            if each.callers == self.node.callers and self.indexing in each.indexings
        )
        return of_array

    def _stepping(self) -> Tile | None:
        """The tile of the composed map: tiles of one id, and of all steps."""
        if any(
            self.sizes[at] != 1
            for at in dimensions_of_one_value(replace(self.indexing, replica_id=None))
        ):
            return None
        replica, own = self.indexing.replica_id, self.indexing.map
        joined: list[Form] = [] if replica is None else [*replica.forms]
        joined += own.forms
        made = self._steps_map().compose(IndexingMap.from_forms(joined, own.domain)).simplify()
        ids, steps = made.dims[: len(self.sizes)], made.dims[len(self.sizes) :]
        return made.tile([1 for _ in ids] + [(each.bounds.upper or 0) + 1 for each in steps])

    def _steps_map(self) -> IndexingMap:
        """From the id of a tile and steps in it to the point of the space."""
        names = [f"{letter}{at}" for letter in "tk" for at in range(len(self.sizes))]
        starts = self.offsets or [f"t{at} * {size}" for at, size in enumerate(self.sizes)]
        columns = enumerate(zip(starts, self.strides, strict=True))
        points = [f"{start} + k{at} * ({stride})" for at, (start, stride) in columns]
        sizes = [*self.grid, *self.used_sizes, *self.extents]
        limits = [f"{x} in [0, {n - 1}]" for x, n in zip([*names, *points], sizes, strict=True)]
        return parse_map(
            f"({', '.join(names)}) -> ({', '.join(points)}), domain: {', '.join(limits)}"
        )

    # XLA's answer.

    def theirs(self, ids: Index) -> Elements:
        """XLA's elements of a tile: its formulas, or all that is touched if it only has a tile."""
        expected: str | None = self.asked.row["expected"]
        if expected is None:
            return None
        return self.touched(ids) if expected == A_TILE else self._read(expected, ids)

    def _read(self, text: str, ids: Index) -> set[Index]:
        values = self._values(ids)
        columns = {
            key: [*map(int, _formulas((*values,), formulas).evaluate([*values.values()]))]
            for key, formulas in _FIELD.findall(text)
        }
        if not all(TileConstraints.parse(x).satisfied(values) for x in _LIMITS.findall(text)):
            return set()
        found = {
            *places(*(columns[key] for key in ("offsets", "sizes", "strides", "upper bounds")))
        }
        replicas = [columns[key] for key in ("replica_id",) if key in columns]
        replicas = replicas or {self._replica(point) for point in self._points(ids)}
        return {(*replica, *each) for replica in replicas for each in found}

    def _values(self, ids: Index) -> dict[str, int]:
        values: dict[str, int] = {}
        for number, ours in enumerate(self.asked.order):
            values |= {f"tid_{number}": ids[ours], f"ts_{number}": self.sizes[ours]}
        known: dict[str, int | None] = self.asked.row.get("runtime", {})
        values |= {name: 0 if at is None else self.runtime[at] for name, at in known.items()}
        return values | self.asked.row.get("values", {})


def _columns(points: Sequence[Index], count: int) -> list[NDArray[np.int64]]:
    return [*np.array(points, dtype=np.int64).reshape(len(points), count).T]


@lru_cache(maxsize=256)
def _formulas(names: tuple[str, ...], formulas: str) -> IndexingMap:
    return parse_map(f"({', '.join(names)}) -> ({formulas})", unbounded=True)


A_TILE: Final = "a tile"
"""What a test expects that only says that there is an exact one."""

_FIELD: Final = re.compile(r"(offsets|sizes|strides|upper bounds|replica_id) \[(.*?)\]")

_LIMITS: Final = re.compile(r"constraints \{(.*?)\}")
