"""Tile propagation: from tile sizes of the results to the tile of every array of a fusion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import NamedTuple, TypeAlias

import sympy

from indexing import IndexingMap, Tile, TileConstraints, TileError, Variable
from indexing.passes import Domain, Formulas, is_symbolic, tile_of
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion import Fusion
from ops.fusion.slicing import FlowNode
from ops.hlo.module import Instruction
from ops.index_maps import dim
from ops.rules.rule import Unknown
from ops.tiling.space import TilingDimension, TilingSpace
from ops.xla_gpu import unflattened
from simplifier import forms
from simplifier.errors import check_integers, check_type, listed
from simplifier.forms import Form, Interval
from simplifier.tools.display import Displayed

TileSize: TypeAlias = "sympy.Expr | int | None"
"""How many values a tile has along a dimension; ``None`` for all of them."""

TileSizes: TypeAlias = "Sequence[TileSize] | Mapping[TilingDimension, TileSize]"
"""Sizes for the dimensions of a space in order, or for some of them; others are whole."""


@dataclass(frozen=True, slots=True, repr=False)
class ArrayTile(Displayed):
    """The elements of one array of a fusion that belong to one tile of its space.

    Attributes:
        instruction: the one that gives the array, or an operand of the fusion.
        element: the number of the array where the result is a tuple.
        callers: the fusions and calls, outermost first, in whose run it is computed.
        indexings: the maps from the space that have this tile, with their runtime variables.
        tile: the tile, or the reason why there is none.
        replicas: the tile of the map to the replicas that it is read from, if there are several.
    """

    instruction: Instruction
    element: int
    callers: tuple[Instruction, ...]
    indexings: tuple[OperandIndexing, ...]
    tile: Tile | Unknown
    replicas: Tile | None = None

    def __str__(self) -> str:
        within = "".join(f" in %{caller.name}" for caller in reversed(self.callers))
        place = f" output {self.element}" if self.instruction.shape.is_tuple else ""
        lines = str(self.tile).splitlines()
        if self.replicas is not None:
            lines += [f"replica {line}" for line in str(self.replicas).splitlines()]
        return "\n  ".join([f"%{self.instruction.name}{within}{place}", *lines])

    def checked_tile(self) -> Tile:
        """The tile.

        Raises:
            TileError: there is none; the message names the instruction, and says why.
        """
        if isinstance(self.tile, Unknown):
            name = self.instruction.name
            raise TileError(f"propagate: %{name} has no tile: {self.tile.reason}")
        return self.tile


@dataclass(frozen=True, slots=True, repr=False)
class Propagation(Displayed):
    """The tiles of all arrays of a fusion; ids ``t0, t1, ...`` count tiles of its dimensions.

    Attributes:
        space: the dimensions, and the maps from there.
        sizes: the tile size of each dimension.
        tiles: of every array, results first; an array that is read in two ways has two.
    """

    space: TilingSpace
    sizes: tuple[sympy.Expr | int, ...]
    tiles: tuple[ArrayTile, ...]

    def of(self, instruction: Instruction, element: int = 0) -> tuple[ArrayTile, ...]:
        """The tiles of an array: one for each different way in which it is read."""
        return tuple(
            each
            for each in self.tiles
            if each.instruction is instruction and each.element == element
        )

    @property
    def operands(self) -> tuple[ArrayTile, ...]:
        """The tiles of the operands of the fusion, in their order."""
        at = {operand: number for number, operand in enumerate(self.space.fusion.operands)}
        found = [each for each in self.tiles if each.instruction in at]
        return tuple(sorted(found, key=lambda each: (at[each.instruction], each.element)))

    @property
    def results(self) -> tuple[ArrayTile, ...]:
        """The tiles of the fusion's results, in the order of these."""
        at = {node: number for number, node in enumerate(self.space.results)}
        found = [each for each in self.tiles if _node(each) in at]
        return tuple(sorted(found, key=lambda each: at[_node(each)]))

    @property
    def refused(self) -> tuple[ArrayTile, ...]:
        """The arrays that have no tile; the tile of each is the reason."""
        return tuple(each for each in self.tiles if isinstance(each.tile, Unknown))

    @property
    def constraints(self) -> TileConstraints:
        """The sizes for which all tiles are exact."""
        found = (each.tile.constraints for each in self.tiles if isinstance(each.tile, Tile))
        return reduce(lambda one, other: one & other, found, TileConstraints())

    def check(self) -> Propagation:
        """The same, if every array has a tile.

        Raises:
            TileError: one has none, as :meth:`ArrayTile.checked_tile` says.
        """
        for each in self.tiles:
            each.checked_tile()
        return self

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of tiles along each dimension.

        Raises:
            TileError: a size is no number.
        """
        return tuple(map(_count, self.space.dimensions, self.sizes))

    def program_map(self, order: Sequence[int] | None = None) -> IndexingMap:
        """Map from the id of a program to the tile ids of the parallel dimensions.

        ``order`` lists these dimensions, the slowest first; by default as they are.

        Raises:
            TileError: a size is no number, or the order is no order of the parallel dimensions.
            ArgumentError: the order has other things than integers.

        >>> from ops import Fusion, hlo
        >>> text = "ENTRY e { x = f32[32,64] parameter(0) ROOT n = f32[32,64] negate(x) }"
        >>> found = propagate(Fusion.of_computation(hlo.parse(text).entry), [8, 8])
        >>> print(found.program_map())
        (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
        >>> print(found.program_map([1, 0]))
        (d0) -> (d0 mod 4, d0 floordiv 4), domain: d0 in [0, 31]
        """
        counts = self.grid[: len(self.space.parallel)]
        order = range(len(counts)) if order is None else order
        check_integers(order, "program_map: the order")
        if sorted(order) != [*range(len(counts))]:
            expected = f"expected each of 0 to {len(counts) - 1} once"
            raise TileError(f"program_map: the order is {listed([*map(str, order)])}; {expected}")
        digits = unflattened(dim(0), [counts[number] for number in order])
        ids = dict(zip(order, digits, strict=True))
        domain = Domain.of([Variable.of_size(prod(counts))])
        return IndexingMap.from_forms(map(ids.__getitem__, range(len(counts))), domain).simplify()

    def __iter__(self) -> Iterator[ArrayTile]:
        return iter(self.tiles)

    def __len__(self) -> int:
        return len(self.tiles)

    def __str__(self) -> str:
        return "\n".join(map(str, self.tiles))


def propagate(
    fusion: Fusion, tile_sizes: TileSizes, *, operand: Instruction | None = None, element: int = 0
) -> Propagation:
    """The tile of every array of a fusion, from tile sizes of its results, or of an operand.

    ``tile_sizes`` has a number, an expression, or ``None`` for all, for each of the parallel
    dimensions of :attr:`TilingSpace.dimensions`, and maybe for those that instructions go through;
    or it is a mapping. Other dimensions are whole. With an ``operand``, the sizes are those of its
    tile, and tiles are propagated forward, to all that is computed from them.

    Each tile holds exactly the elements that belong to a tile of the space, or says why there is
    none. Arrays behind it may have one nevertheless.

    Raises:
        TileError: a wrong number of sizes, or one that no tile has.
        FusionError: the operand is none of the fusion.

    >>> from ops import Fusion, hlo
    >>> module = hlo.parse('''ENTRY e { x = f32[4,8] parameter(0) y = f32[8,2] parameter(1)
    ...   ROOT d = f32[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }''')
    >>> print(propagate(Fusion.of_computation(module.entry), [2, 2, 4]))
    %d
      offsets: t0 * 2, 0
      sizes: 2, 2
      strides: 1, 1
    %x
      offsets: t0 * 2, t2 * 4
      sizes: 2, 4
      strides: 1, 1
    %y
      offsets: t2 * 4, 0
      sizes: 4, 2
      strides: 1, 1
    """
    space = (
        TilingSpace.of(fusion)
        if operand is None
        else TilingSpace.from_operand(fusion, operand, element)
    )
    return propagate_in(space, tile_sizes)


def propagate_in(space: TilingSpace, tile_sizes: TileSizes) -> Propagation:
    """The tile of every array of a space, from sizes of its dimensions as for :func:`propagate`.

    Raises:
        TileError: a wrong number of sizes, or one that no tile has.
    """
    sizes = _read_sizes(space, tile_sizes)
    return Propagation(space, sizes, tuple(_tiles(space, sizes)))


def _read_sizes(space: TilingSpace, tile_sizes: TileSizes) -> tuple[sympy.Expr | int, ...]:
    """A size for each dimension of a space; numbers fit into their dimension.

    Raises:
        TileError: a wrong number of sizes, or one that no tile has; the message says which.
    """
    check_type(tile_sizes, (Sequence, Mapping), "propagate: tile_sizes", "sizes, or a mapping")
    dimensions = space.dimensions
    if isinstance(tile_sizes, Mapping):
        for key in tile_sizes:
            if key not in dimensions:
                raise TileError(f"propagate: {key} is no dimension of the space")
        given = [tile_sizes.get(each) for each in dimensions]
    else:
        counts = dict.fromkeys([len(space.parallel), len(dimensions)])
        if len(tile_sizes) not in counts:
            expected = " or ".join(map(str, counts))
            message = f"propagate: {len(tile_sizes)} sizes are given; expected {expected}"
            raise TileError(f"{message}, one for each parallel dimension, or for all")
        given = [*tile_sizes] + [None] * (len(dimensions) - len(tile_sizes))
    return tuple(map(_read_size, dimensions, given))


def _read_size(dimension: TilingDimension, size: TileSize) -> sympy.Expr | int:
    whole = dimension.size
    if size is None:
        if whole is None:
            raise TileError(f"propagate: {dimension} has no numeric size; expected a tile size")
        return max(whole, 1)
    if is_symbolic(size):
        return size
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TileError(f"propagate: {dimension} has the tile size {size!r}; expected an integer")
    dimension.check_size("propagate", int(size))
    return int(size)


def _count(dimension: TilingDimension, size: sympy.Expr | int) -> int:
    whole = dimension.size
    if is_symbolic(size) or whole is None:
        raise TileError(f"propagate: {dimension} has the tile size {size}; expected numbers")
    return -(-whole // int(size))


# The tile of one array.


def _tiles(space: TilingSpace, sizes: Sequence[sympy.Expr | int]) -> Iterator[ArrayTile]:
    for (instruction, element, callers), accesses in space.accesses.items():
        if isinstance(accesses, Unknown):
            yield ArrayTile(instruction, element, callers, (), accesses)
            continue
        together: dict[object, tuple[list[OperandIndexing], _Tiles]] = {}
        for indexing in accesses:
            tiles = _tiles_of(indexing, space, sizes)
            key = *map(_meaning, tiles), indexing.runtime, indexing.replica_id
            together.setdefault(key, ([], tiles))[0].append(indexing)
        for found, (tile, replicas) in together.values():
            yield ArrayTile(instruction, element, callers, tuple(found), tile, replicas)


class _Tiles(NamedTuple):
    """The tile of one map, and that of the replicas that its elements are on."""

    tile: Tile | Unknown
    replicas: Tile | None = None


def _meaning(tile: Tile | Unknown | None) -> object:
    """Key that is equal for equal tiles."""
    return (tile.formulas, tile.constraints) if isinstance(tile, Tile) else tile


def _tiles_of(
    indexing: OperandIndexing, space: TilingSpace, sizes: Sequence[sympy.Expr | int]
) -> _Tiles:
    """The tile of one map: exact, or the reason why there is none.

    All other things that elements depend on are the same in a tile: each runtime value, and the
    replica. Only replicas that have nothing to do with the indices may be several.
    """
    if indexing.approximation:
        return _Tiles(Unknown(indexing.approximation))
    values = values_of(indexing)
    free = _free_replica(indexing)
    own = indexing.map.simplify()
    kept = [form for form in values if free is None or form not in free.forms]
    try:
        together = IndexingMap.from_forms([*own.forms, *kept], own.domain).simplify()
        found = tile_of(together, space.variables, sizes)
        replicas = None if free is None else tile_of(free, space.variables, sizes)
    except TileError as error:
        return _Tiles(Unknown(str(error).removeprefix("tile: ")))
    rank = len(own.forms)
    several = TileConstraints.of(
        [[(size, Interval.of(1))]] for _, size, _ in found.formulas.results[rank:]
    )
    if several.is_unsatisfiable:
        return _Tiles(Unknown(_differs(indexing, space, sizes)))
    first = {f"i{rank + number}": forms.ZERO for number in range(len(kept))}
    (condition,) = forms.substitute((found.formulas.condition,), first)
    formulas = Formulas(found.formulas.results[:rank], condition)
    constraints = found.constraints & several
    if replicas is not None:
        constraints &= replicas.constraints
    elif indexing.replica_id is not None:
        replicas = _one_replica(indexing.replica_id, kept, found)
    return _Tiles(replace(found, formulas=formulas, constraints=constraints), replicas)


def _one_replica(replica_id: IndexingMap, values: Sequence[Form], found: Tile) -> Tile | None:
    """The one replica of a tile of elements and values."""
    (form,) = replica_id.simplify().forms
    if form not in values:
        return None
    offset, *_ = found.formulas.results[values.index(form) - len(values)]
    formulas = Formulas(((offset, forms.ONE, forms.ZERO),), forms.ONE)
    return replace(found, formulas=formulas, constraints=TileConstraints())


def _differs(
    indexing: OperandIndexing, space: TilingSpace, sizes: Sequence[sympy.Expr | int]
) -> str:
    """The reason why a tile with several values has no one place that it is read from."""
    along = [
        f"{space.dimensions[number]}, of which tiles have {sizes[number]} values"
        for number in dimensions_of_one_value(indexing)
        if sizes[number] != 1
    ]
    return f"the value that says where it reads differs along {listed(along)}"


def dimensions_of_one_value(indexing: OperandIndexing) -> Iterator[int]:
    """The dimensions along which elements depend on other things than their indices."""
    used = frozenset(forms.variables_of(values_of(indexing)))
    yield from (number for number in range(len(indexing.map.dims)) if f"d{number}" in used)


def values_of(indexing: OperandIndexing) -> list[Form]:
    """Things that elements depend on besides their indices: runtime values, and the replica."""
    maps = [each.map for each in indexing.runtime]
    replicas = (each.replica_id for each in (*indexing.runtime, indexing))
    maps += [each for each in replicas if each is not None]
    found = dict.fromkeys(form for each in maps for form in each.simplify().forms)
    return [form for form in found if any(name[0] == "d" for name in forms.variables_of((form,)))]


def _free_replica(indexing: OperandIndexing) -> IndexingMap | None:
    """The map to the replica, if it shares no dimension with anything else."""
    if indexing.replica_id is None:
        return None
    replica, own = indexing.replica_id.simplify(), indexing.map.simplify()
    limits = (form for form, _ in own.domain.constraints)
    others = [form for form in values_of(indexing) if form not in replica.forms]
    used = frozenset(forms.variables_of((*own.forms, *limits, *others)))
    free = {name for name in forms.variables_of(replica.forms) if name[0] == "d"}
    if not used.isdisjoint(free):
        return None
    return IndexingMap.from_forms(replica.forms, own.domain.with_constraints(()))


def _node(each: ArrayTile) -> FlowNode:
    return FlowNode(each.instruction, each.element, each.callers)
