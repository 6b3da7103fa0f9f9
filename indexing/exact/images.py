"""What a map reaches and where it is defined, as sets and numbers; see the methods of maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.errors import MapError
from indexing.exact.counting import count_points
from indexing.exact.points import first_point, unbounded_place
from indexing.exact.reading import read_set
from indexing.exact.relations import domain_of, graph_of, image_of, points_of
from simplifier import Interval
from simplifier.exact import BUDGET, Space
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy

    from indexing.domain import Domain
    from indexing.exact.sets import IndexSet
    from indexing.relation import Relation
    from indexing.transform.evaluate import Point
    from simplifier.bounds.interval import IntervalLike


def image(
    indexing_map: Relation,
    dims: Sequence[IntervalLike] | None = None,
    *,
    budget: int | None = BUDGET,
    runtime_as_parameters: bool = False,
) -> IndexSet:
    """The elements that are reached, from all ``dims`` or from those in the intervals."""
    domain = indexing_map.domain if dims is None else _restricted(indexing_map.domain, dims)
    space = Space({}, budget=budget)
    with space.within_budget():
        points = image_of(
            indexing_map.forms, domain, space.context, runtime_as_parameters=runtime_as_parameters
        )
    return read_set(points, space, (), _parameters(domain) if runtime_as_parameters else ())


def domain_set(
    indexing_map: Relation, *, budget: int | None = BUDGET, runtime_as_parameters: bool = False
) -> IndexSet:
    """The ``dims`` at which something is reached."""
    domain = indexing_map.domain
    space = Space({}, budget=budget)
    with space.within_budget():
        points = domain_of(indexing_map, space.context, runtime_as_parameters=runtime_as_parameters)
    names, _, runtime = domain.by_role(domain.names)
    return read_set(points, space, names, runtime if runtime_as_parameters else ())


def count(indexing_map: Relation, *, budget: int | None = BUDGET) -> int:
    """The number of points of the domain."""
    space = Space({}, budget=budget)
    with space.within_budget():
        points = points_of(indexing_map, space.context)
        _check_bounded(points, indexing_map.domain.names, "count")
        return count_points(points)


def count_results(indexing_map: Relation, *, budget: int | None = BUDGET) -> int:
    """The number of different results."""
    names = [f"result {number}" for number in range(len(indexing_map.forms))]
    space = Space({}, budget=budget)
    with space.within_budget():
        graph = graph_of(indexing_map, space.context)
        reached = graph.range()
        _check_bounded(reached, names, "count_results")
        # Of a map that reaches nothing twice it is far less work to count the points.
        return count_points(graph.domain() if graph.is_injective() else reached)


def sample(indexing_map: Relation, *, budget: int | None = BUDGET) -> Point | None:
    """The first point of the domain with its results."""
    domain = indexing_map.domain
    space = Space({}, budget=budget)
    with space.within_budget():
        points = points_of(indexing_map, space.context)
        if points.is_empty():
            return None
        values = first_point(points)
    constants = dict(zip(domain.places, map(forms.constant, values), strict=True))
    results = operations.substitute(indexing_map.forms, constants)
    return (*domain.by_role(values), tuple(map(_value, results)))


def _restricted(domain: Domain, dims: Sequence[IntervalLike]) -> Domain:
    if len(dims) != len(domain.dims):
        raise MapError(f"image: dims has {len(dims)} intervals; expected {len(domain.dims)}")
    variables = map(forms.variable, domain.places)
    return domain.constrained(zip(variables, map(Interval.of, dims), strict=False))


def _parameters(domain: Domain) -> tuple[str, ...]:
    """The names of the runtime variables."""
    return domain.by_role(domain.names)[2]


def _check_bounded(points: islpy.Set, names: Sequence[str], question: str) -> None:
    place = unbounded_place(points)
    if place is not None:
        raise MapError(f"{question}: {names[place]} is not bounded; expected finitely many values")


def _value(result: forms.Form) -> int:
    if not result.is_constant:
        raise MapError(f"sample: {result} has no value; expected divisions by other than zero")
    return result.constant
