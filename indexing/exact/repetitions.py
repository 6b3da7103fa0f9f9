"""The elements that some maps to one tensor reach, and those that they reach more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.exact import points as pointwise
from indexing.exact.counting import count_points
from indexing.exact.parts import parts_of
from indexing.exact.reading import read_set
from indexing.exact.relations import image_of, points_of, relation_of
from simplifier.exact import BUDGET, Space
from simplifier.exact.isl import load_isl

if TYPE_CHECKING:
    from collections.abc import Iterable

    import islpy

    from indexing.exact.sets import IndexSet
    from indexing.relation import Relation


def reached(maps: Iterable[Relation], rank: int, *, budget: int | None = BUDGET) -> IndexSet:
    """The elements of a tensor of this rank that one of the maps reaches.

    >>> from indexing import parse_map
    >>> ends = [f"(d0) -> (d0 + {start}), domain: d0 in [0, 3]" for start in (0, 6)]
    >>> print(reached(map(parse_map, ends), 1))
    (d0): d0 in [0, 3] or d0 in [6, 9]
    """
    space = Space({}, budget=budget)
    with space.within_budget():
        found = _nothing(rank, space.context)
        for each in maps:
            found = found.union(image_of(each.forms, each.domain, space.context))
    return read_set(found, space)


def reached_again(maps: Iterable[Relation], rank: int, *, budget: int | None = BUDGET) -> IndexSet:
    """The elements of a tensor of this rank that are reached at least twice.

    By two maps, or by one from two points of its dimensions and ranges.

    >>> from indexing import parse_map
    >>> windows = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]")
    >>> print(reached_again([windows], 1))
    (d0): d0 in [2, 18] step 2
    """
    space = Space({}, budget=budget)
    with space.within_budget():
        again = seen = _nothing(rank, space.context)
        for each in maps:
            image = image_of(each.forms, each.domain, space.context)
            again = again.union(_twice(each, image)).union(image.intersect(seen))
            seen = seen.union(image)
    return read_set(again, space)


def _nothing(rank: int, context: islpy.Context) -> islpy.Set:
    isl = load_isl()
    return isl.Set.empty(isl.Space.set_alloc(context, 0, rank))


def _twice(indexing_map: Relation, image: islpy.Set) -> islpy.Set:
    """The elements that a map reaches from two points: from two of some part of it."""
    parts, (rest,) = parts_of([indexing_map])
    context, rank = image.get_ctx(), len(indexing_map.forms)
    if count_points(points_of(rest, context)) > 1:
        return image
    found = _nothing(rank, context)
    for coordinates, (each,) in parts:
        twice = _from_two_points(relation_of(each, context))
        for place in range(rank):
            if place not in coordinates:
                twice = twice.insert_dims(pointwise.coordinates(), place, 1)
        found = found.union(twice.intersect(image))
    return found


def _from_two_points(pairs: islpy.Map) -> islpy.Set:
    """What a relation relates to two different points."""
    if pairs.is_injective():
        return pairs.range().subtract(pairs.range())
    same = pairs.apply_range(pairs.reverse())
    others = same.subtract(load_isl().Map.identity(same.get_space()))
    return others.domain().apply(pairs)
