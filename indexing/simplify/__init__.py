"""Maps in their smallest form: sharp bounds, few constraints, cheap results."""

from indexing.simplify.domain import simplified_domain
from indexing.simplify.exact import finished
from indexing.simplify.results import result_bounds, simplified
from indexing.simplify.scopes import scope_with_facts

__all__ = ["finished", "result_bounds", "scope_with_facts", "simplified", "simplified_domain"]
