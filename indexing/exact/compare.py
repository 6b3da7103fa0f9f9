"""Differences of two maps: the first point, and the elements that one of them reaches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Literal

from indexing.errors import MapError
from indexing.exact import few_points, isl
from indexing.exact.counting import count_points, independent_parts
from indexing.exact.index_set import IndexSet, read_set, set_of_rows
from indexing.exact.symbolic_counting import symbolic_count
from indexing.exact.symbolic_inverse import tells_points
from indexing.relation import Relation, RelationT, check_map, check_without_parameters
from indexing.variable import Variable, united
from simplifier.exact import BUDGET, Budget, NotQuasiAffineError, asked, load_isl
from simplifier.forms import EVERYTHING
from simplifier.tools.late import sympy

if TYPE_CHECKING:
    import islpy


@dataclass(frozen=True, slots=True)
class Difference:
    """The first point at which two maps reach different elements, as a witness that they differ.

    Attributes:
        dims: the values of the dimensions there.
        runtime: the values of the runtime variables there, if these are parameters.
        left: everything that the first map reaches from there; empty where it is not defined.
        right: everything that the second map reaches.
        element: the first element that only one of them reaches.
        parameters: the values of the parameters there, with their names.

    >>> from indexing import first_difference, parse_map
    >>> rounds = parse_map("(d0) -> (d0 floordiv 4), domain: d0 in [0, 9]")
    >>> print(first_difference(rounds, parse_map("(d0) -> (d0 ceildiv 4), domain: d0 in [0, 9]")))
    at (1): the first map gives (0), the second (1)
    """

    dims: tuple[int, ...]
    runtime: tuple[int, ...]
    left: IndexSet
    right: IndexSet
    element: tuple[int, ...]
    parameters: tuple[tuple[str, int], ...] = ()

    @property
    def kind(self) -> Literal["domain", "value"]:
        """Whether only one of the maps is defined at the point, or both with different results."""
        return "domain" if self.left.is_empty or self.right.is_empty else "value"

    def __str__(self) -> str:
        runtime = f" {{{_joined(self.runtime)}}}" if self.runtime else ""
        named = ", ".join(f"{name} = {value}" for name, value in self.parameters)
        where = f"({_joined(self.dims)}){runtime}{named and f' with {named}'}"
        return f"at {where}: {self._sides()}"

    def _sides(self) -> str:
        if self.kind == "domain":
            only, given = ("first", self.left) if self.right.is_empty else ("second", self.right)
            return f"only the {only} map is defined; it gives {_text_of(given)}"
        return f"the first map gives {_text_of(self.left)}, the second {_text_of(self.right)}"


def first_difference(
    left: Relation, right: Relation, *, budget: Budget = BUDGET, runtime_as_parameters: bool = False
) -> Difference | None:
    """The lexicographically first point at which two maps reach different elements.

    ``None`` where the maps are :meth:`equal <indexing.map.IndexingMap.equals>`. Along a dimension
    that goes down without end, 0 comes first and the negative values last.

    Raises:
        MapError: the maps have different numbers of dimensions or results, or of parameters.
        NotQuasiAffineError: an expression multiplies variables or divides by one.
        BudgetError: the answer takes more than the budget.
    """
    check_map(left, "first_difference: the map")
    check_map(right, "first_difference: the other map")
    if left == right:
        return None
    if not are_comparable(left, right, runtime_as_parameters=runtime_as_parameters):
        message = f"first_difference: {_arity(left)} against {_arity(right)}; expected as many"
        raise MapError(message)

    one, two = with_same_parameters((left, right))

    def ask(context: islpy.Context) -> Difference | None:
        mine, others = (
            isl.relation_at_runtime(each, context, runtime_as_parameters=runtime_as_parameters)
            for each in (one, two)
        )
        only_one = mine.subtract(others).union(others.subtract(mine))
        if only_one.is_empty():
            return None
        point = isl.first_point(only_one.domain())
        element = isl.first_point(_reached(only_one, point))
        reached = [_reached(side, point) for side in (mine, others)]
        dims, named = len(left.domain.dims), one.parameters
        here, there = (read_set(points, budget=budget) for points in reached)
        values = len(point) - len(named)
        parameters = zip((each.name for each in named), point[values:], strict=True)
        return Difference(point[:dims], point[dims:values], here, there, element, (*parameters,))

    return asked(ask, budget)


def are_comparable(left: Relation, right: Relation, *, runtime_as_parameters: bool) -> bool:
    """Whether the maps have as many dimensions and results, and parameters if these count."""
    here, there = (
        (len(side.domain.dims), len(side.forms), runtime_as_parameters * len(side.domain.runtime))
        for side in (left, right)
    )
    return here == there


def with_same_parameters(maps: Sequence[RelationT]) -> Sequence[RelationT]:
    """The maps with the parameters of all: a map holds for every value of one it has not."""
    if len({each.parameters for each in maps}) <= 1:
        return maps
    every = [parameter.within(EVERYTHING) for each in maps for parameter in each.parameters]
    return [_with_parameters(each, every) for each in maps]


def _with_parameters(relation: RelationT, more: Iterable[Variable]) -> RelationT:
    parameters = united((*relation.parameters, *more))
    return relation.derived(relation.forms, replace(relation.domain, parameters=parameters))


def _reached(relation: islpy.Map, point: tuple[int, ...]) -> islpy.Set:
    """The elements related to a point."""
    where = isl.point_set(point, relation.domain().get_space())
    return relation.intersect_domain(where).range()


def _arity(indexing_map: Relation) -> str:
    domain = indexing_map.domain
    return (
        f"{len(domain.dims)} dimensions, {len(indexing_map.forms)} results "
        f"and {len(domain.runtime)} runtime variables"
    )


def _joined(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))


def _text_of(elements: IndexSet) -> str:
    """The only element, or the set."""
    is_lone = all(bounds.is_point for bounds in elements.bounds)
    return f"({_joined(next(iter(elements)))})" if is_lone else str(elements)


# The elements that maps reach, how many they are, and those that are reached again.


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

    def ask(context: islpy.Context) -> IndexSet:
        images = (isl.image_of(each, context) for each in given)
        found = reduce(load_isl().Set.union, images, _nothing(rank + len(names), context))
        return read_set(found, parameters=names, budget=budget)

    def go_through(most: int) -> IndexSet | None:
        return None if names else set_of_rows(few_points.reached(given, most))

    return asked(ask, budget, otherwise=go_through)


def count_reached(
    maps: Sequence[Relation], rank: int, parameters: Sequence[Variable], budget: Budget = BUDGET
) -> sympy.Expr | int:
    """Number of elements of a tensor that some maps reach, over parameters within these bounds.

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
    given = [*maps]
    for each in given:
        check_without_parameters(each, "reached")

    def ask(context: islpy.Context) -> IndexSet:
        again = seen = _nothing(rank, context)
        for each in given:
            image = isl.image_of(each, context)
            again = again.union(_reached_twice(each, image)).union(image.intersect(seen))
            seen = seen.union(image)
        return read_set(again, budget=budget)

    return asked(
        ask, budget, otherwise=lambda most: set_of_rows(few_points.reached_again(given, most))
    )


def _nothing(rank: int, context: islpy.Context) -> islpy.Set:
    islpy = load_isl()
    return islpy.Set.empty(islpy.Space.set_alloc(context, 0, rank))


def _reached_twice(indexing_map: Relation, image: islpy.Set) -> islpy.Set:
    """The elements that a map reaches from two points: two points of some part lead there."""
    parts, (rest,) = independent_parts([indexing_map])
    context, rank = image.get_ctx(), len(indexing_map.forms)
    if count_points(isl.points_of(rest, context)) > 1:
        return image
    found = _nothing(rank, context)
    for part in parts:
        (each,) = part.maps
        twice = _from_two_points(isl.relation_of(each, context))
        for axis in range(rank):
            if axis not in part.coordinates:
                twice = twice.insert_dims(isl.coordinates(), axis, 1)
        found = found.union(twice.intersect(image))
    return found


def _from_two_points(pairs: islpy.Map) -> islpy.Set:
    """The results that a relation relates to two different points."""
    if pairs.is_injective():
        return pairs.range().subtract(pairs.range())
    same = pairs.apply_range(pairs.reverse())
    others = same.subtract(load_isl().Map.identity(same.get_space()))
    return others.domain().apply(pairs)
