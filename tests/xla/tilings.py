"""What XLA's tests ask of tiling spaces: their dimensions, and the tiles of arrays.

A tile of XLA's is a text, ``offsets [tid_0 * ts_0] sizes [ts_0] strides [2] upper bounds [9]``. Its
tests begin at tiles that step through an array: ``offset + stride * k`` along each dimension, where
ours are dense. So we compose a map with such steps with the maps of the space. Both answers are
compared with all that is touched, in some tiles of some sizes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing import IndexingMap, TileError, parse_map
from ops import DimensionKind, Fusion, TilingSpace, Unknown, hlo, propagate
from ops.tiling.tile_propagation import dimensions_of_one_value
from simplifier import symbol
from tests.xla.facts import Verdict
from tests.xla.outcome import Outcome, ends, of_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing import Tile
    from ops import TilingDimension
    from ops.dependence.operand_indexing import OperandIndexing
    from ops.hlo import Instruction
    from tests.conformance import Row
    from tests.xla.outcome import Question

Index: TypeAlias = "tuple[int, ...]"
Elements: TypeAlias = "set[Index] | None"
"""The elements of a tile, each behind the replica that has it, if maps tell; or none is given."""

MAX_SIZES: Final = 10
MAX_TILES: Final = 8
"""So many sizes, and so many tiles of each, are drawn."""

MAX_POINTS: Final = 1000
"""Fewer tiles are drawn where they are larger than this together."""


# Dimensions.


def dimensions(row: Row) -> Outcome:
    """Which dimensions are parallel, which are not, and how large they are."""
    return of_values([*map(_described, _Space(row).space.dimensions)], row)


def _described(dimension: TilingDimension) -> str:
    is_parallel = dimension.kind is DimensionKind.PARALLEL
    return f"{'parallel' if is_parallel else 'sequential'} {dimension.size}"


def runtime_bounds(row: Row) -> Outcome:
    """The values that runtime variables may have."""
    (indexing,) = _Space(row).indexings(row["to"])
    return of_values([ends(each.bounds) for each in indexing.map.runtime], row)


# Tiles.


def tile_of_array(row: Row) -> Outcome:
    """Our tiles of an array beside XLA's."""
    asked = _Space(row)
    (indexing,) = asked.indexings(row["to"])
    verdicts, shown = {Verdict.SAME}, "no tile"
    for sizes in asked.drawn_sizes():
        steps = _Steps(asked, indexing, sizes)
        shown = steps.text or shown
        verdicts |= {
            _verdict(steps.touched(ids), steps.ours(ids), steps.theirs(ids))
            for ids in steps.drawn_tiles()
        }
    expected = "no tile" if row["expected"] is None else row["expected"]
    return Outcome(max(verdicts, key=_SERIOUS.index), shown, expected)


_SERIOUS: Final = [Verdict.SAME, Verdict.BETTER, Verdict.DIFFERENT, Verdict.WRONG]


def _verdict(touched: Elements, ours: Elements, theirs: Elements) -> Verdict:
    """What is exact is better than nothing, and nothing is better than what is wrong."""
    if ours is not None and ours != touched:
        return Verdict.WRONG
    if ours == theirs:
        return Verdict.SAME
    return Verdict.DIFFERENT if theirs == touched else Verdict.BETTER


@dataclass(frozen=True)
class _Space:
    """The space that a row asks about."""

    row: Row

    @cached_property
    def fusion(self) -> Fusion:
        module = hlo.parse(self.row["hlo"])
        return Fusion.of_computation(module.entry)

    @cached_property
    def space(self) -> TilingSpace:
        if self.begin is None:
            return TilingSpace.of(self.fusion)
        return TilingSpace.from_operand(self.fusion, self.begin)

    @property
    def begin(self) -> Instruction | None:
        """The operand from which tiles are propagated; results, if there is none."""
        return self.array(self.row["from"])[0] if "from" in self.row else None

    def array(self, name: str) -> tuple[Instruction, int]:
        """The array of ``%name`` or ``%name:1``."""
        name, _, element = name.partition(":")
        found = {each.name: each for each in (*self.fusion.operands, *self.fusion.instructions)}
        return found[name], int(element or 0)

    def indexings(self, name: str) -> Sequence[OperandIndexing]:
        found = self.space.of_instruction(*self.array(name))
        assert not isinstance(found, Unknown), found.reason
        return tuple(found)

    @property
    def order(self) -> list[int]:
        """Which of our dimensions is each of XLA's: it may list others than parallel ones anew."""
        return self.row.get("order", [*range(len(self.space.dimensions))])

    def drawn_sizes(self) -> list[Index]:
        """The sizes of the row, or some small ones."""
        if "sizes" in self.row:
            return [tuple(self.row["sizes"])]
        every = [*product(*map(_small_sizes, self.space.dimensions))]
        return Random(0).sample(every, min(MAX_SIZES, len(every)))  # noqa: S311 - no secret


def _small_sizes(dimension: TilingDimension) -> list[int]:
    assert dimension.size is not None
    if not dimension.can_be_cut:
        return [dimension.size]
    return [size for size in (1, 2, 3, 4) if size <= dimension.size]


@dataclass(frozen=True)
class _Steps:
    """The tiles of one array for numeric sizes."""

    asked: _Space
    indexing: OperandIndexing
    sizes: Index

    @property
    def extents(self) -> list[int]:
        """The sizes of the dimensions."""
        return [dimension.size or 0 for dimension in self.asked.space.dimensions]

    @property
    def strides(self) -> list[int]:
        """The steps of the tile at the beginning."""
        given: list[int] = self.asked.row.get("strides", [])
        return [*given] + [1] * (len(self.sizes) - len(given))

    @property
    def offsets(self) -> list[int] | None:
        """Where the only tile begins, if the row says it."""
        return self.asked.row.get("offsets")

    @cached_property
    def grid(self) -> list[int]:
        """How many tiles there are along each dimension."""
        if self.offsets is not None:
            return [1] * len(self.sizes)
        return [-(-n // size) for n, size in zip(self.extents, self.sizes, strict=True)]

    def drawn_tiles(self) -> list[Index]:
        """The ids of the last tile, the first, and some others, with so many points together."""
        random = Random(0)  # noqa: S311 - no secret
        others = [tuple(map(random.randrange, self.grid)) for _ in range(MAX_TILES)]
        drawn = dict.fromkeys([tuple(n - 1 for n in self.grid), (0,) * len(self.grid), *others])
        return [*drawn][: 1 + MAX_POINTS // prod(self._used_sizes)]

    # What is touched.

    def touched(self, ids: Index) -> set[Index]:
        """All elements, one after the other."""
        found = self.indexing.map
        return {
            (*self._replica(point), *map(int, found.evaluate(point, (), self._runtime)))
            for point in self._points(ids)
            if found.contains(point, (), self._runtime)
        }

    def _points(self, ids: Index) -> Iterator[Index]:
        axes = zip(self._starts(ids), self.strides, self._used_sizes, self.extents, strict=True)
        yield from product(
            *(
                [place for step in range(size) if 0 <= (place := start + stride * step) < extent]
                for start, stride, size, extent in axes
            )
        )

    @cached_property
    def _used_sizes(self) -> Index:
        """The sizes, and 1 along dimensions that take no part in the map."""
        found = self.indexing.map
        replica = self.indexing.replica_id
        expressions = [*found.results, *(form for form, _ in found.constraints)]
        expressions += [] if replica is None else replica.results
        used = {str(name) for expression in expressions for name in expression.free_symbols}
        return tuple(size if f"d{at}" in used else 1 for at, size in enumerate(self.sizes))

    def _starts(self, ids: Index) -> Index:
        if self.offsets is not None:
            return tuple(self.offsets)
        return tuple(id_ * size for id_, size in zip(ids, self.sizes, strict=True))

    def _replica(self, point: Index) -> Index:
        replica = self.indexing.replica_id
        return () if replica is None else tuple(map(int, replica.evaluate(point)))

    @property
    def _runtime(self) -> Index:
        return tuple(each.bounds.upper or 0 for each in self.indexing.map.runtime)

    # Our answer.

    @property
    def text(self) -> str:
        """Our tile, in words."""
        return "" if self._tile is None else str(self._tile)

    def ours(self, ids: Index) -> Elements:
        """Our elements of a tile, if we give them."""
        if self._tile is None:
            return None
        replica = self._replica(self._starts(ids))
        padded = ids if self._is_dense else (*ids, *(0 for _ in ids))
        try:
            found = self._tile.elements(padded, self._runtime)
        except TileError:  # the map leads nowhere from there
            return set()
        return {(*replica, *each) for each in found}

    @property
    def _is_dense(self) -> bool:
        return self.offsets is None and set(self.strides) == {1}

    @cached_property
    def _tile(self) -> Tile | None:
        if any(self.sizes[number] != 1 for number in dimensions_of_one_value(self.indexing)):
            return None
        try:
            return self._propagated() if self._is_dense else self._stepping()
        except TileError:
            return None

    def _propagated(self) -> Tile | None:
        """The tile of symbolic sizes, at these sizes."""
        asked = self.asked
        cut = [dimension.can_be_cut for dimension in asked.space.dimensions]
        names = [symbol(f"T{number}") if is_cut else None for number, is_cut in enumerate(cut)]
        found = propagate(asked.fusion, names, operand=asked.begin)
        (of_array,) = found.of(*asked.array(asked.row["to"]))
        tile = of_array.checked_tile()
        numbers = {f"T{number}": size for number, size in enumerate(self.sizes)}
        return tile.substitute({name: numbers[name] for name in tile.symbols})

    def _stepping(self) -> Tile:
        """The tile of the composed map: tiles of one id, and of all steps."""
        made = self._steps_map().compose(self.indexing.map).simplify()
        ids, steps = made.dims[: len(self.sizes)], made.dims[len(self.sizes) :]
        return made.tile([1 for _ in ids] + [(each.bounds.upper or 0) + 1 for each in steps])

    def _steps_map(self) -> IndexingMap:
        """From the id of a tile and steps in it to the point of the space."""
        names = [f"{letter}{at}" for letter in "tk" for at in range(len(self.sizes))]
        bounds = [*self.grid, *self._used_sizes]
        starts = self.offsets or [
            f"t{at} * {size}" if self.offsets is None else "0" for at, size in enumerate(self.sizes)
        ]
        points = [
            f"{start} + k{at} * ({stride})"
            for at, (start, stride) in enumerate(zip(starts, self.strides, strict=True))
        ]
        parts = [f"{name} in [0, {n - 1}]" for name, n in zip(names, bounds, strict=True)]
        parts += [f"{p} in [0, {n - 1}]" for p, n in zip(points, self.extents, strict=True)]
        head = f"({', '.join(names)}) -> ({', '.join(points)})"
        return parse_map(f"{head}, domain: {', '.join(parts)}")

    # XLA's answer.

    def theirs(self, ids: Index) -> Elements:
        """XLA's elements of a tile: its formulas, or all that is touched if it only has a tile."""
        expected: str | None = self.asked.row["expected"]
        if expected is None:
            return None
        return self.touched(ids) if expected == A_TILE else self._read(expected, ids)

    def _read(self, text: str, ids: Index) -> set[Index]:
        columns = {key: self._evaluated(body, ids) for key, body in _FIELD.findall(text)}
        axes = [
            [place for place in range(offset, offset + stride * size, stride) if 0 <= place < bound]
            for offset, size, stride, bound in zip(
                *(columns[key] for key in ("offsets", "sizes", "strides", "upper bounds")),
                strict=True,
            )
        ]
        replicas = [columns[key] for key in ("replica_id",) if key in columns]
        replicas = replicas or {self._replica(point) for point in self._points(ids)}
        return {(*replica, *each) for replica in replicas for each in product(*axes)}

    def _evaluated(self, formulas: str, ids: Index) -> Index:
        """The values of a list of formulas."""
        values: dict[str, int] = {}
        for number, ours in enumerate(self.asked.order):
            values |= {f"tid_{number}": ids[ours], f"ts_{number}": self.sizes[ours]}
        known: dict[str, int | None] = self.asked.row.get("runtime", {})
        values |= {name: 0 if at is None else self._runtime[at] for name, at in known.items()}
        read = parse_map(f"({', '.join(values)}) -> ({formulas})", unbounded=True)
        return tuple(map(int, read.evaluate([*values.values()])))


A_TILE: Final = "a tile"
"""What a test expects that only says that there is an exact one."""

_FIELD: Final = re.compile(r"(offsets|sizes|strides|upper bounds|replica_id) \[(.*?)\]")


QUESTIONS: Final[dict[str, Question]] = {
    "dimensions of a space": dimensions,
    "runtime variables of a space": runtime_bounds,
    "tile of an array": tile_of_array,
}
