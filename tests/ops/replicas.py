"""What collective operations do, simulated: every element as the set of elements it is made of.

The value of a tensor is one array for each device, whose entries are sets of ``(device, index)`` of
the operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TypeAlias

import numpy as np

from indexing import IndexingMap
from indexing.transform.evaluate import Point
from ops import OperandIndexing, Origin
from tests.ops.labelled_elements import NOTHING, Array, Place, labelled

Element: TypeAlias = Place
"""A device, and an index on it."""

Groups: TypeAlias = "Sequence[Sequence[int]]"


def operands(sizes: Sequence[int], devices: int) -> list[Array]:
    """A tensor of which each element is made of itself."""
    return [labelled(device, tuple(sizes)) for device in range(devices)]


def nothing_like(values: Sequence[Array]) -> list[Array]:
    """Zeros, which are made of nothing."""
    return [np.full(array.shape, NOTHING, dtype=object) for array in values]


def all_reduce(values: Sequence[Array], groups: Groups) -> list[Array]:
    """Everybody has the sum of the group."""
    results = nothing_like(values)
    for group in groups:
        total = _sum(values[device] for device in group)
        for device in group:
            results[device] = total
    return results


def all_gather(values: Sequence[Array], groups: Groups, axis: int) -> list[Array]:
    """Everybody has the operands of the group behind each other."""
    results = list(values)
    for group in groups:
        for device in group:
            results[device] = np.concatenate([values[other] for other in group], axis)
    return results


def reduce_scatter(values: Sequence[Array], groups: Groups, axis: int) -> list[Array]:
    """Everybody has the own block of the sum of the group."""
    results = list(values)
    for group in groups:
        blocks = np.split(_sum(values[device] for device in group), len(group), axis)
        for device, block in zip(group, blocks, strict=True):
            results[device] = block
    return results


def all_to_all(
    values: Sequence[Array], groups: Groups, split: int, concat: int | None = None
) -> list[Array]:
    """Everybody has the blocks that the group has cut off for the own place."""
    results = list(values)
    for group in groups:
        blocks = [np.split(values[device], len(group), split) for device in group]
        for place, device in enumerate(group):
            mine = [cut[place] for cut in blocks]
            results[device] = np.concatenate(mine, split if concat is None else concat)
    return results


def collective_permute(values: Sequence[Array], pairs: Groups) -> list[Array]:
    """Every target has what its source has."""
    results = nothing_like(values)
    for source, target in pairs:
        results[target] = values[source]
    return results


def collective_broadcast(values: Sequence[Array], groups: Groups) -> list[Array]:
    """Everybody has what the first of the group has."""
    return collective_permute(values, [(group[0], device) for group in groups for device in group])


def collective_reduce(values: Sequence[Array], groups: Groups) -> list[Array]:
    """The first of a group has the sum."""
    results = nothing_like(values)
    for group in groups:
        results[group[0]] = _sum(values[device] for device in group)
    return results


def _sum(arrays: Iterable[Array]) -> Array:
    return reduce(np.bitwise_or, arrays)  # the union of sets


def ragged_all_to_all(
    values: Sequence[Array], results: Sequence[Array], groups: Groups, vectors: Sequence[Array]
) -> list[Array]:
    """Everybody writes rows of the own tensor into the results of the group.

    The vectors of a device say for each member of its group where its rows begin, how many there
    are, and where they are written.
    """
    written = [array.copy() for array in results]
    for group in groups:
        for sender in group:
            for receiver, (begin, count, target) in zip(group, vectors[sender].T, strict=True):
                rows = values[sender][begin : begin + count]
                written[receiver][target : target + count] = rows
    return written


# Relations between elements on devices.


def relation_of(values: Sequence[Array]) -> set[tuple[Element, Element]]:
    return {
        ((device, index), source)
        for device, array in enumerate(values)
        for index in np.ndindex(array.shape)
        for source in array[index]
    }


def relation_told(ways: Iterable[OperandIndexing], devices: int) -> set[tuple[Element, Element]]:
    """Which element depends on which, as maps say it for every device that asks."""
    return {
        ((device, point[0]), (_holder(way.replica_id, point, device), point[3]))
        for way in ways
        for point in way.map.points()
        for device in point[2] or range(devices)  # whose number is a value, or any
    }


def relation_read(
    indexing_map: IndexingMap,
    origins: Sequence[Origin],
    replica: IndexingMap | None,
    devices: int,
    values: Callable[[int, int], Array],
) -> set[tuple[Element, Element]]:
    """The same, with the values of runtime variables: in an operand on a device."""
    pairs = set[tuple[Element, Element]]()
    for point in indexing_map.points():
        dims, _, runtime, results = point
        for device in range(devices):
            if [_read(origin, point, device, values) for origin in origins] == [*runtime]:
                pairs.add(((device, dims), (_holder(replica, point, device), results)))
    return pairs


def _read(origin: Origin, point: Point, device: int, values: Callable[[int, int], Array]) -> int:
    if origin.operand is None:
        return device
    array = values(origin.operand, _holder(origin.replica, point, device))
    return int(array[_at(origin.map, point)])


def _holder(replica: IndexingMap | None, point: Point, device: int) -> int:
    return device if replica is None else _at(replica, point)[0]


def _at(place: IndexingMap, point: Point) -> tuple[int, ...]:
    dims, ranges, runtime, _ = point
    return tuple(map(int, place.evaluate(dims, ranges, runtime if place.runtime else ())))
