"""Maps as isl's relations, and their domains and images as isl's sets.

Ranges and runtime variables are projected out. Runtime variables that are parameters become
coordinates behind the others.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from simplifier.exact import Space
from simplifier.exact.isl import load_isl
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import islpy

    from indexing.domain import Domain
    from indexing.relation import Relation
    from simplifier.expr.form import Form


def relation_of(
    indexing_map: Relation, context: islpy.Context, *, runtime_as_parameters: bool = False
) -> islpy.Map:
    """All pairs of ``dims`` and ``results``; parameters follow the ``dims``."""
    dims, _, runtime = _variables(indexing_map.domain)
    sources = (*dims, *runtime) if runtime_as_parameters else dims
    return _pairs(indexing_map.domain, sources, indexing_map.forms, context)


def both(
    left: Relation, right: Relation, context: islpy.Context, *, runtime_as_parameters: bool
) -> tuple[islpy.Map, islpy.Map]:
    """The relations of two maps in one context, so that isl can compare them."""
    return (
        relation_of(left, context, runtime_as_parameters=runtime_as_parameters),
        relation_of(right, context, runtime_as_parameters=runtime_as_parameters),
    )


def accesses_of(
    indexing_map: Relation, context: islpy.Context, *, runtime_as_parameters: bool = False
) -> islpy.Map:
    """All pairs of ``(dims, ranges)`` and ``results``; parameters follow the ``results``."""
    dims, ranges, runtime = _variables(indexing_map.domain)
    results = indexing_map.forms
    targets = (*results, *runtime) if runtime_as_parameters else results
    return _pairs(indexing_map.domain, (*dims, *ranges), targets, context)


def graph_of(indexing_map: Relation, context: islpy.Context) -> islpy.Map:
    """All pairs of a point of the domain and its ``results``."""
    variables = chain.from_iterable(_variables(indexing_map.domain))
    return _pairs(indexing_map.domain, [*variables], indexing_map.forms, context)


def points_of(indexing_map: Relation, context: islpy.Context) -> islpy.Set:
    """Every point of the domain: dimensions, ranges and runtime variables."""
    domain = indexing_map.domain
    return Space(domain.bounds, context).domain(domain.constraints)


def domain_of(
    indexing_map: Relation, context: islpy.Context, *, runtime_as_parameters: bool = False
) -> islpy.Set:
    """The ``dims`` that have a result; parameters follow them."""
    dims, _, runtime = _variables(indexing_map.domain)
    wanted = (*dims, *runtime) if runtime_as_parameters else dims
    return _tuples(indexing_map.domain, wanted, context)


def image_of(
    results: Sequence[Form],
    domain: Domain,
    context: islpy.Context,
    *,
    runtime_as_parameters: bool = False,
) -> islpy.Set:
    """The values of the results at all points; parameters follow them."""
    runtime = _variables(domain)[2] if runtime_as_parameters else ()
    return _tuples(domain, (*results, *runtime), context)


def _variables(domain: Domain) -> tuple[tuple[Form, ...], ...]:
    """Dimensions, ranges and runtime variables."""
    return domain.by_role(map(forms.variable, domain.identifiers))


def _tuples(domain: Domain, wanted: Iterable[Form], context: islpy.Context) -> islpy.Set:
    """The tuples of values that forms have at the points of a domain."""
    space = Space(domain.bounds, context)
    graph = space.isl.Map.from_domain(space.domain(domain.constraints))
    for value in space.expressions(wanted):
        graph = graph.flat_range_product(space.isl.Map.from_pw_aff(value))
    return graph.range()


def _pairs(
    domain: Domain, sources: Sequence[Form], targets: Sequence[Form], context: islpy.Context
) -> islpy.Map:
    """The pairs of values that two tuples of forms have at the points of a domain."""
    joint = load_isl().Map.from_range(_tuples(domain, (*sources, *targets), context))
    kind = load_isl().dim_type
    return joint.move_dims(kind.in_, 0, kind.out, 0, len(sources))
