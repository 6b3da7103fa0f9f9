"""Whether maps are equal or empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.exact.relations import relation_of
from simplifier.exact import BUDGET, Space

if TYPE_CHECKING:
    from indexing.relation import Relation


def equals(left: Relation, right: Relation, budget: int | None = BUDGET) -> bool:
    """Whether two maps relate the same ``dims`` to the same ``results``.

    Ranges and runtime variables count for what they reach: two elements are related if some values
    of these variables within the domain relate them. Names and number of such variables do not
    matter.

    Costs milliseconds for maps of everyday operations; in the worst case the time would grow
    exponentially with the number of ranges, quotients and extrema.

    Raises:
        NotQuasiAffineError: a product of variables, or a divisor that is not a constant.
        BudgetError: the answer takes more operations of isl than the budget.

    >>> from indexing import parse_map
    >>> pairs = "()[s0, s1] -> (s0 * 2 + s1), domain: s0 in [0, 3], s1 in [0, 1]"
    >>> equals(parse_map(pairs), parse_map("()[s0] -> (s0), domain: s0 in [0, 7]"))
    True
    """
    if left == right:
        return True
    if _arity(left) != _arity(right):
        return False
    space = Space(left.domain.bounds, budget=budget)
    with space.within_budget():
        return bool(relation_of(left, space.context).is_equal(relation_of(right, space.context)))


def is_empty(indexing_map: Relation, budget: int | None = BUDGET) -> bool:
    """Whether no point meets all bounds and constraints.

    Costs one integer programme over the map's variables: milliseconds in everyday maps.

    Raises:
        NotQuasiAffineError: a constraint has a product of variables, or a divisor that is not a
            constant.
        BudgetError: the answer takes more operations of isl than the budget.

    >>> from indexing import parse_map
    >>> odd = "(d0) -> (d0), domain: d0 in [0, 99], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]"
    >>> is_empty(parse_map(odd))
    True
    """
    domain = indexing_map.domain
    if domain.is_known_empty:
        return True
    space = Space(domain.bounds, budget=budget)
    with space.within_budget():
        return bool(space.domain(domain.constraints).is_empty())


def _arity(indexing_map: Relation) -> tuple[int, int]:
    """The numbers of dimensions and of results."""
    return len(indexing_map.domain.dims), len(indexing_map.forms)
