"""Tiles of fusions by enumeration: the elements that the points of a tile of the space read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from indexing import IndexingMap, Tile
from indexing.transform.evaluate import evaluate_forms
from ops import ArrayTile, Propagation, TilingSpace
from ops.dependence.operand_indexing import OperandIndexing
from ops.hlo import Instruction
from ops.performance.kernels import with_midpoints
from ops.tiling.propagation import values_of
from simplifier.expr.form import variables_of

Index: TypeAlias = tuple[int, ...]


def checked_tiles(found: Propagation) -> int:
    """Check every tile of every array against all points of its maps; how many there are."""
    return sum(_checked(each, found) for each in found if isinstance(each.tile, Tile))


def _checked(each: ArrayTile, found: Propagation) -> int:
    tile = each.checked_tile()
    used = set[int]().union(*(used_dimensions(way, found.space) for way in each.indexings))
    for indexing in each.indexings:
        touched: dict[tuple[Index, Index], set[tuple[Index, Index]]] = {}
        for dims, ranges, runtime, results in indexing.map.points():
            assert not ranges
            ids = tuple(
                value // int(size) if number in used else 0
                for number, (value, size) in enumerate(zip(dims, found.sizes, strict=True))
            )
            replica = _replica(indexing.replica_id, dims, runtime)
            touched.setdefault((ids, runtime), set()).add((tuple(results), replica))
        values = {runtime for _, runtime in touched}
        for ids in product(*(range(n) if at in used else [0] for at, n in enumerate(found.grid))):
            for runtime in values:
                elements = set(tile.elements(ids, runtime))
                replicas = [()] if each.replicas is None else each.replicas.elements(ids, runtime)
                expected = touched.get((ids, runtime), set())
                assert {*product(elements, replicas)} == expected, (str(each), ids)
    return len(each.indexings)


def _replica(replica_id: IndexingMap | None, dims: Sequence[int], runtime: Index) -> Index:
    if replica_id is None:
        return ()
    given = runtime[: len(replica_id.runtime)]
    return tuple(map(int, replica_id.evaluate(dims, (), given)))


def used_dimensions(indexing: OperandIndexing, space: TilingSpace) -> set[int]:
    """The dimensions that a map depends on; others give the same for each of their tiles."""
    found, replica = indexing.map, indexing.replica_id
    expressions = [*found.results, *(form for form, _ in found.constraints)]
    expressions += [] if replica is None else replica.results
    names = {str(name) for expression in expressions for name in expression.free_symbols}
    bounds = enumerate(zip(found.dims, space.variables, strict=True))
    limited = {number for number, (own, whole) in bounds if own.bounds != whole.bounds}
    return limited | {number for number in range(len(found.dims)) if f"d{number}" in names}


def elements_in(found: Propagation, instruction: Instruction, begin: Sequence[int]) -> set[Index]:
    """The elements of an array in the tiles with these first ids, whatever the others are."""
    elements: set[Index] = set()
    for ids in product(*map(range, found.grid)):
        if ids[: len(begin)] == tuple(begin):
            for each in found.of(instruction):
                elements |= set(each.checked_tile().elements(ids))
    return elements


MAX_POINTS = 1 << 18
"""Points of a space that are gone through: some milliseconds."""


def bytes_by_points(found: Propagation, arrays: Sequence[ArrayTile]) -> int | None:
    """What all programs load or store of some arrays; ``None`` for too many points.

    It asks no tile. Each point of the space belongs to a program, and to a step of each dimension
    that an access depends on: the different elements of a step are loaded. Two accesses that reach
    the same from all tiles load once, as do steps.
    """
    total = 0
    for number, each in enumerate(arrays):
        again = [_is_again(found, before, each) for before in arrays[:number]]
        rows = _loads(found, each.indexings[0])
        if rows is None or None in again:
            return None
        if not any(again):
            bits = each.instruction.shape.arrays[each.element].element_size_in_bits
            total += -(-_loaded(found, *rows) * bits // 8)
    return total


def _is_again(found: Propagation, one: ArrayTile, other: ArrayTile) -> bool | None:
    """Whether two accesses reach the same from each tile, wherever values at runtime lead."""
    if one.instruction is not other.instruction or one.element != other.element:
        return False
    accesses = one.indexings[0], other.indexings[0]
    if accesses[0] == accesses[1]:
        return True
    origins = [[(at.instruction, at.callers) for at in each.runtime] for each in accesses]
    if origins[0] != origins[1] or len({each.replica_id is None for each in accesses}) > 1:
        return False
    needed = {number for each in accesses for number in _needed(found, _placed(each))}
    tables = [_loads(found, each, needed) for each in accesses]
    if tables[0] is None or tables[1] is None:
        return None
    return np.array_equal(tables[0][1], tables[1][1])


def _loaded(found: Propagation, numbers: list[int], rows: np.ndarray[Any, Any]) -> int:
    """How many rows are different, where steps that are all the same are one."""
    parallel = len(found.space.parallel)
    for place, number in reversed([*enumerate(numbers)]):
        if number >= parallel:
            others = np.delete(rows, place, axis=1)
            ids = range(found.grid[number])
            steps = {others[rows[:, place] == id_].tobytes() for id_ in ids}  # rows are in order
            rows = _different(others) if len(steps) == 1 else rows
    return len(rows)


def _placed(access: OperandIndexing) -> IndexingMap:
    """The map to elements and to what they depend on beside their indices."""
    placed = [*access.map.forms, *values_of(access)]
    return with_midpoints(IndexingMap.from_forms(placed, access.map.domain))


def _needed(found: Propagation, here: IndexingMap) -> set[int]:
    """The dimensions that an access depends on, and those of programs."""
    forms = [*here.forms, *(form for form, _ in here.domain.constraints)]
    pairs = enumerate(zip(here.dims, found.space.variables, strict=True))
    needed = {int(name[1:]) for name in variables_of(forms)}
    needed |= {number for number, (own, whole) in pairs if own.bounds != whole.bounds}
    parallel = range(len(found.space.parallel))
    return needed | {number for number in parallel if found.grid[number] > 1}


def _loads(
    found: Propagation, access: OperandIndexing, needed: set[int] | None = None
) -> tuple[list[int], np.ndarray[Any, Any]] | None:
    """The dimensions needed, and rows of their tile ids and what is read, each once."""
    here = _placed(access)
    numbers = sorted(_needed(found, here) if needed is None else needed)
    forms = [*here.forms, *(form for form, _ in here.domain.constraints)]
    ends = {number: here.dims[number].bounds for number in numbers}
    sides = [range(each.lower or 0, (each.upper or 0) + 1) for each in ends.values()]
    count = prod(map(len, sides))
    if count > MAX_POINTS:
        return None
    if not count:
        return numbers, np.zeros((0, len(ends) + len(here.forms)), dtype=np.int64)
    grids = np.meshgrid(*(np.array(side, dtype=np.int64) for side in sides), indexing="ij")
    flat = (grid.reshape(-1) for grid in grids)
    columns = {f"d{number}": column for number, column in zip(ends, flat, strict=True)}
    values = [np.broadcast_to(each, count) for each in evaluate_forms(forms, columns)]
    results, limited = values[: len(here.forms)], values[len(here.forms) :]
    is_point = np.ones(count, dtype=bool)
    for column, (_, interval) in zip(limited, here.domain.constraints, strict=True):
        lower, upper = interval.ends
        is_point &= (column >= lower) & (column <= upper)
    ids = [columns[f"d{number}"] // int(found.sizes[number]) for number in ends]
    rows = np.stack([*ids, *results, np.zeros(count, dtype=np.int64)], axis=1)
    return numbers, _different(rows[is_point])


def _different(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Each row once, in order; as numbers where one holds a row, which is ten times as fast."""
    if not len(rows):
        return rows
    least = rows.min(axis=0)
    sizes = tuple((rows.max(axis=0) - least + 1).tolist())
    if prod(sizes) >= 1 << 62:
        return np.unique(rows, axis=0)
    codes = np.unique(np.ravel_multi_index(tuple((rows - least).T), sizes))
    return np.stack(np.unravel_index(codes, sizes), axis=1) + least
