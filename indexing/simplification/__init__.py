"""Maps in their smallest form: sharp bounds, few constraints, cheap results."""

from indexing.simplification.domains import scope_with_facts, simplified_domain
from indexing.simplification.finishing import finished
from indexing.simplification.maps import result_bounds, simplified

__all__ = ["finished", "result_bounds", "scope_with_facts", "simplified", "simplified_domain"]
