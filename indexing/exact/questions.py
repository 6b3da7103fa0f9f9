"""Yes-or-no questions about maps, answered by isl; the methods of maps say what they mean."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from indexing.arguments import check_map
from indexing.errors import MapError
from indexing.exact.boxes import box_set, whole
from indexing.exact.counting import count_points
from indexing.exact.points import rank_of
from indexing.exact.relations import accesses_of, both, image_of, points_of
from simplifier import Interval
from simplifier.exact import BUDGET, Space

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy

    from indexing.relation import Relation


def is_empty(indexing_map: Relation, *, budget: int | None = BUDGET) -> bool:
    """Whether no point meets all bounds and constraints."""
    if indexing_map.domain.is_known_empty:
        return True
    space = Space({}, budget=budget)
    with space.within_budget():
        return bool(points_of(indexing_map, space.context).is_empty())


def equals(
    left: Relation,
    right: Relation,
    *,
    budget: int | None = BUDGET,
    runtime_as_parameters: bool = False,
) -> bool:
    """Whether two maps relate the same ``dims`` to the same ``results``."""
    check_map(right, "equals: the other map")
    if left == right:
        return True
    if not are_comparable(left, right, runtime_as_parameters=runtime_as_parameters):
        return False
    space = Space({}, budget=budget)
    with space.within_budget():
        mine, others = both(left, right, space.context, runtime_as_parameters=runtime_as_parameters)
        return bool(mine.is_equal(others))


def is_subset(
    inner: Relation,
    outer: Relation,
    *,
    budget: int | None = BUDGET,
    runtime_as_parameters: bool = False,
) -> bool:
    """Whether all that the inner map relates is related by the outer one."""
    check_map(outer, "is_subset: the other map")
    if inner == outer:
        return True
    if not are_comparable(inner, outer, runtime_as_parameters=runtime_as_parameters):
        return False
    space = Space({}, budget=budget)
    with space.within_budget():
        fewer, more = both(inner, outer, space.context, runtime_as_parameters=runtime_as_parameters)
        return bool(fewer.is_subset(more))


def are_comparable(left: Relation, right: Relation, *, runtime_as_parameters: bool) -> bool:
    """Whether the maps have as many dimensions and results, and parameters if these count."""
    sides = [
        (
            len(side.domain.dims),
            len(side.forms),
            len(side.domain.runtime) if runtime_as_parameters else 0,
        )
        for side in (left, right)
    ]
    return sides[0] == sides[1]


def is_injective(
    indexing_map: Relation, *, budget: int | None = BUDGET, runtime_as_parameters: bool = False
) -> bool:
    """Whether no element is reached from two points of dimensions and ranges."""
    space = Space({}, budget=budget)
    with space.within_budget():
        accesses = accesses_of(
            indexing_map, space.context, runtime_as_parameters=runtime_as_parameters
        )
        return bool(accesses.is_injective())


def covers(
    indexing_map: Relation,
    sizes: Sequence[int],
    *,
    budget: int | None = BUDGET,
    runtime_as_parameters: bool = False,
) -> bool:
    """Whether every element of a tensor of these sizes is reached."""
    space = Space({}, budget=budget)
    with space.within_budget():
        image = image_of(
            indexing_map.forms,
            indexing_map.domain,
            space.context,
            runtime_as_parameters=runtime_as_parameters,
        )
        return bool(_tensor(indexing_map, sizes, image).is_subset(image))


def is_bijective_onto(
    indexing_map: Relation,
    sizes: Sequence[int],
    *,
    budget: int | None = BUDGET,
    runtime_as_parameters: bool = False,
) -> bool:
    """Whether every element of a tensor is reached once, and none beyond it."""
    space = Space({}, budget=budget)
    with space.within_budget():
        accesses = accesses_of(
            indexing_map, space.context, runtime_as_parameters=runtime_as_parameters
        )
        image = accesses.range()
        tensor = _tensor(indexing_map, sizes, image)
        if not image.is_subset(tensor) or not accesses.is_injective():
            return False
        if indexing_map.domain.runtime:
            return bool(tensor.is_subset(image))
        # As many elements as points: to count these is far less work than to compare the sets.
        return count_points(points_of(indexing_map, space.context)) == prod(sizes)


def _tensor(indexing_map: Relation, sizes: Sequence[int], image: islpy.Set) -> islpy.Set:
    """The elements of a tensor, with every value of the parameters that the image has."""
    rank = len(indexing_map.forms)
    if len(sizes) != rank:
        raise MapError(f"sizes: {len(sizes)} are given; expected {rank}, one for each result")
    intervals = [Interval(0, size - 1) for size in sizes]
    if rank_of(image) > rank:
        intervals += [variable.bounds for variable in indexing_map.domain.runtime]
    return box_set(tuple(map(whole, intervals)), image.get_ctx())
