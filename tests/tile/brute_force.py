"""Tiles by enumeration: what a map touches from a tile, and what the formulas say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import sympy

from indexing import IndexingMap, Tile
from simplifier import symbol
from simplifier.expr import form as forms
from simplifier.expr import operations

Index = tuple[int, ...]


SIZES = ("A", "B", "C", "D", "E", "F")
"""The names of sizes, one for each dimension."""


def symbolic_sizes(indexing: IndexingMap) -> list[sympy.Expr]:
    """A symbol for the size of each dimension."""
    return [symbol(name) for name in SIZES[: len(indexing.dims)]]


def all_sizes(indexing: IndexingMap) -> Iterator[dict[str, int]]:
    """All sizes of tiles."""
    for sizes in product(*(range(1, extent + 1) for extent in extents(indexing))):
        yield named(indexing, sizes)


def named(indexing: IndexingMap, sizes: Sequence[int]) -> dict[str, int]:
    """The sizes by the names of their symbols."""
    return dict(zip(SIZES[: len(indexing.dims)], sizes, strict=True))


def extents(indexing: IndexingMap) -> list[int]:
    """From where tiles are counted to the greatest index of each dimension."""
    return [
        (bounds.upper or 0) + 1 - min(bounds.lower or 0, 0)
        for bounds in (dim.bounds for dim in indexing.dims)
    ]


def touched(indexing: IndexingMap, sizes: Sequence[int]) -> dict[tuple[Index, Index], set[Index]]:
    """What each tile touches for each value of the runtime variables."""
    origins = [min(dim.bounds.lower or 0, 0) for dim in indexing.dims]
    found: dict[tuple[Index, Index], set[Index]] = {}
    for dims, _, runtime, results in indexing.points():
        ids = tuple(
            (value - origin) // size
            for value, origin, size in zip(dims, origins, sizes, strict=True)
        )
        found.setdefault((ids, runtime), set()).add(tuple(results))
    return found


def described(tile: Tile, sizes: Mapping[str, int], ids: Index, runtime: Index) -> set[Index]:
    """The elements that the formulas of a tile give."""
    values = {name: forms.constant(value) for name, value in sizes.items()}
    values |= {f"t{number}": forms.constant(value) for number, value in enumerate(ids)}
    values |= {f"rt{number}": forms.constant(value) for number, value in enumerate(runtime)}
    rows = [operations.substitute(row, values) for row in tile.formulas.results]
    (mask,) = operations.substitute((tile.formulas.condition,), values)
    elements: set[Index] = set()
    for places in product(*(range(size.constant) for _, size, _ in rows)):
        here = {f"i{number}": forms.constant(place) for number, place in enumerate(places)}
        (holds,) = operations.substitute((mask,), here)
        if holds.constant:
            index = zip(rows, places, strict=True)
            elements.add(tuple(o.constant + s.constant * at for (o, _, s), at in index))
    return elements


def grid(indexing: IndexingMap, sizes: Sequence[int]) -> Iterator[Index]:
    """The ids of all tiles."""
    pairs = zip(extents(indexing), sizes, strict=True)
    return product(*(range(-(-extent // size)) for extent, size in pairs))
