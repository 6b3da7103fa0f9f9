"""Maps in their smallest form: sharp bounds, few constraints, cheap results."""

from indexing.simplify.normal_form import scope_with_facts
from indexing.simplify.size_conditions import conditioned
from indexing.simplify.smallest import (
    result_bounds,
    simplified,
    simplified_by_isl,
    simplified_in,
)
from indexing.simplify.tightening import simplified_domain

__all__ = [
    "conditioned",
    "result_bounds",
    "scope_with_facts",
    "simplified",
    "simplified_by_isl",
    "simplified_domain",
    "simplified_in",
]
