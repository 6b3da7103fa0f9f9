"""Maps in their smallest form: sharp bounds, few constraints, cheap results."""

from indexing.simplification.domains import simplified_domain
from indexing.simplification.finishing import finished
from indexing.simplification.maps import result_bounds, simplified
from indexing.simplification.scopes import scope_with_facts

__all__ = ["finished", "result_bounds", "scope_with_facts", "simplified", "simplified_domain"]
