"""Tiles of fusions by enumeration: the elements that the points of a tile of the space read."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from indexing import Tile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ops import ArrayTile, Propagation
    from ops.hlo import Instruction

Index: TypeAlias = tuple[int, ...]


def ids_of(found: Propagation) -> Iterator[Index]:
    """The ids of all tiles of the space."""
    yield from product(*map(range, found.grid))


def checked_tiles(found: Propagation) -> int:
    """Check every tile of every array against all points of its maps; how many there are."""
    return sum(_checked(each, found) for each in found if isinstance(each.tile, Tile))


def _checked(each: ArrayTile, found: Propagation) -> int:
    assert isinstance(each.tile, Tile)
    used = _used_dimensions(each, found)
    for indexing in each.indexings:
        touched: dict[tuple[Index, Index], set[Index]] = {}
        for dims, ranges, runtime, results in indexing.map.points():
            assert not ranges
            ids = tuple(
                value // int(size) if number in used else 0
                for number, (value, size) in enumerate(zip(dims, found.sizes, strict=True))
            )
            touched.setdefault((ids, runtime), set()).add(tuple(results))
        values = {runtime for _, runtime in touched}
        for ids in product(*(range(n) if at in used else [0] for at, n in enumerate(found.grid))):
            for runtime in values:
                elements = set(each.tile.elements(ids, runtime))
                assert elements == touched.get((ids, runtime), set()), (str(each), ids)
    return len(each.indexings)


def _used_dimensions(each: ArrayTile, found: Propagation) -> set[int]:
    """The dimensions that the tile depends on; others give the same for each of their tiles."""
    used: set[int] = set()
    for indexing in each.indexings:
        expressions = [*indexing.map.results, *(form for form, _ in indexing.map.constraints)]
        names = {str(name) for expression in expressions for name in expression.free_symbols}
        for number, variable in enumerate(indexing.map.dims):
            whole = found.space.variables[number].bounds
            if f"d{number}" in names or variable.bounds != whole:
                used.add(number)
    return used


def elements_in(found: Propagation, instruction: Instruction, begin: Sequence[int]) -> set[Index]:
    """The elements of an array in the tiles with these first ids, whatever the others are."""
    elements: set[Index] = set()
    for ids in ids_of(found):
        if ids[: len(begin)] == tuple(begin):
            for each in found.of(instruction):
                assert isinstance(each.tile, Tile)
                elements |= set(each.tile.elements(ids))
    return elements
