"""Maps as isl's relations between points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.exact import Space

if TYPE_CHECKING:
    import islpy

    from indexing.relation import Relation


def relation_of(indexing_map: Relation, context: islpy.Context | None = None) -> islpy.Map:
    """All pairs of ``dims`` and ``results``, as an isl map."""
    domain = indexing_map.domain
    space = Space(domain.bounds, context)
    pairs = space.isl.Map.from_domain(space.domain(domain.constraints))
    for result in space.expressions(indexing_map.forms):
        pairs = pairs.flat_range_product(space.isl.Map.from_pw_aff(result))
    dims = len(domain.dims)
    return pairs.project_out(space.isl.dim_type.in_, dims, len(domain.places) - dims)
