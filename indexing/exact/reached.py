"""The elements that maps reach, how many they are, and those that are reached again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.exact import few_points
from indexing.exact.counting import count_points
from indexing.exact.differences import with_same_parameters
from indexing.exact.isl_sets import coordinates, image_of, points_of, relation_of
from indexing.exact.multiplicity import independent_parts
from indexing.exact.sets import read_set, set_of_rows
from indexing.exact.symbolic_counting import symbolic_count
from indexing.exact.symbolic_inversion import tells_points
from indexing.relation import check_without_parameters
from simplifier import NotQuasiAffineError
from simplifier.exact import BUDGET, Space
from simplifier.exact.budget import asked
from simplifier.exact.isl import load_isl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import islpy
    import sympy

    from indexing.exact.sets import IndexSet
    from indexing.relation import Relation
    from indexing.variable import Variable
    from simplifier.exact import Budget


def reached(maps: Iterable[Relation], rank: int, *, budget: Budget = BUDGET) -> IndexSet:
    """The elements of a tensor of this rank that one of the maps reaches.

    They depend on the parameters of the maps.

    >>> from indexing import parse_map
    >>> ends = [f"(d0) -> (d0 + {start}), domain: d0 in [0, 3]" for start in (0, 6)]
    >>> print(reached(map(parse_map, ends), 1))
    (d0): d0 in [0, 3] or d0 in [6, 9]
    """
    given = with_same_parameters([*maps])
    names = [parameter.name for each in given[:1] for parameter in each.parameters]

    def ask(space: Space) -> IndexSet:
        found = _nothing(rank + len(names), space.context)
        for each in given:
            found = found.union(image_of(each.forms, each.domain, space.context))
        return read_set(found, space, parameters=names, budget=budget)

    def go_through(most: int) -> IndexSet | None:
        return None if names else set_of_rows(few_points.reached(given, most))

    return asked(ask, budget, otherwise=go_through)


def count_reached(
    maps: Sequence[Relation],
    rank: int,
    parameters: Sequence[Variable],
    budget: Budget = BUDGET,
) -> sympy.Expr | int:
    """How many elements of a tensor some maps reach, over parameters within these bounds.

    Raises:
        MapError: there is no such expression.
        NotQuasiAffineError: a map is not quasi-affine, and no law shows that it reaches nothing
            twice.

    >>> from indexing import parse_map
    >>> rows = parse_map("(d0)<N> -> (d0 floordiv 4), domain: d0 in [0, N * 4 - 1], N in [0, inf]")
    >>> count_reached([rows], 1, rows.parameters)
    N
    """
    try:
        pieces = reached(maps, rank, budget=budget).disjoint_pieces("count_results")
    except NotQuasiAffineError:
        if len(maps) > 1 or not tells_points(maps[0]):
            raise
        pieces = (maps[0].domain,)
    return symbolic_count(pieces, parameters)


def reached_again(maps: Iterable[Relation], rank: int, *, budget: Budget = BUDGET) -> IndexSet:
    """The elements of a tensor of this rank that are reached at least twice.

    By two maps, or by one from two points of its domain.

    >>> from indexing import parse_map
    >>> windows = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]")
    >>> print(reached_again([windows], 1))
    (d0): d0 in [2, 18] step 2
    """
    given = _without_parameters(maps)

    def ask(space: Space) -> IndexSet:
        again = seen = _nothing(rank, space.context)
        for each in given:
            image = image_of(each.forms, each.domain, space.context)
            again = again.union(_reached_twice(each, image)).union(image.intersect(seen))
            seen = seen.union(image)
        return read_set(again, space, budget=budget)

    return asked(
        ask, budget, otherwise=lambda most: set_of_rows(few_points.reached_again(given, most))
    )


def _without_parameters(maps: Iterable[Relation]) -> list[Relation]:
    given = [*maps]
    for each in given:
        check_without_parameters(each, "reached")
    return given


def _nothing(rank: int, context: islpy.Context) -> islpy.Set:
    isl = load_isl()
    return isl.Set.empty(isl.Space.set_alloc(context, 0, rank))


def _reached_twice(indexing_map: Relation, image: islpy.Set) -> islpy.Set:
    """The elements that a map reaches from two points: two points of some part lead there."""
    parts, (rest,) = independent_parts([indexing_map])
    context, rank = image.get_ctx(), len(indexing_map.forms)
    if count_points(points_of(rest, context)) > 1:
        return image
    found = _nothing(rank, context)
    for part in parts:
        (each,) = part.maps
        twice = _from_two_points(relation_of(each, context))
        for axis in range(rank):
            if axis not in part.coordinates:
                twice = twice.insert_dims(coordinates(), axis, 1)
        found = found.union(twice.intersect(image))
    return found


def _from_two_points(pairs: islpy.Map) -> islpy.Set:
    """The results that a relation relates to two different points."""
    if pairs.is_injective():
        return pairs.range().subtract(pairs.range())
    same = pairs.apply_range(pairs.reverse())
    others = same.subtract(load_isl().Map.identity(same.get_space()))
    return others.domain().apply(pairs)
