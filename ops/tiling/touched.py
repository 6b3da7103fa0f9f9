"""How many elements the tiles of a map touch, all tiles together, for many tile sizes at once.

A sum of dimensions, such as a window, has a closed form. The points of any other map are gone
through once if they are few: from the pairs of tiles and elements for a size of one dimension
follow those for all sizes of the next.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from indexing.exact import few_points
from ops.index_maps import dim
from ops.performance.tally import number_of_sums, numbered, strides_of_sum
from simplifier import Interval
from simplifier.evaluation import MAX_INT64

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing import IndexingMap
    from ops.performance.tally import Column


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
    strides = strides_of_sum(part)
    bounds = [part.domain.bounds[name] for name in part.domain.identifiers]
    wholes = [each.size for each in bounds if each.lower == 0 and each.size is not None]
    if strides is None or part.domain.constraints or len(wholes) < len(bounds):
        return None
    found: list[int] = []
    for sizes in product(*choices):
        total = 0
        for tile in product(*map(_extents, wholes, sizes)):
            elements = number_of_sums(strides.values(), [extent for extent, _ in tile])
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
    digits = [_starts(results).cumsum() - 1, *indices.T]
    sizes = [int(digit.max()) + 1 for digit in digits]
    if prod(sizes) > MAX_INT64:
        return None
    points = numbered(digits, [Interval(0, size - 1) for size in sizes])
    return list(_counts(points, prod(sizes), sizes[:0:-1], choices))


def _counts(
    points: Column, room: int, wholes: Sequence[int], choices: Sequence[Sequence[int]]
) -> Iterator[int]:
    """How many points are left where dimensions become tiles; all points are below ``room``."""
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
    return numbers[_starts(numbers[:, None])]


def _starts(rows: Column) -> Column:
    """Where ordered rows differ from the row before."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    found = np.ones(len(rows), dtype=bool)
    found[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return found
