"""Maps in their smallest form: sharp bounds, few constraints, cheap results."""

from indexing.simplify.normal_form import scope_with_facts
from indexing.simplify.smallest import simplified_by_isl, result_bounds, simplified
from indexing.simplify.tightening import simplified_domain

__all__ = ["simplified_by_isl", "result_bounds", "scope_with_facts", "simplified", "simplified_domain"]
