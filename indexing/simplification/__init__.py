"""Maps in their smallest form: sharp bounds, few constraints, cheap results."""

from indexing.simplification.domains import scope_with_facts, simplified_domain
from indexing.simplification.maps import result_bounds, simplified
from indexing.simplification.unused import unused_symbols, without_unused_symbols

__all__ = [
    "result_bounds",
    "scope_with_facts",
    "simplified",
    "simplified_domain",
    "unused_symbols",
    "without_unused_symbols",
]
