"""Containment: whether one indexing relates all that another one does, as isl finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops import limits
from simplifier.errors import IndexingError
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing import IndexingMap
    from ops.dependence.operand_indexing import OperandIndexing


def without_contained(indexings: Iterable[OperandIndexing]) -> list[OperandIndexing]:
    """The indexings without those that another one contains; of equal ones, the first.

    If a comparison takes more than :data:`ops.limits.MAX_STEPS_OF_COMPARISON`, both stay.

    >>> from indexing import parse_map
    >>> from ops import OperandIndexing
    >>> texts = ["(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 2]",
    ...          "(d0) -> (d0 * 2 + 1), domain: d0 in [0, 3]"]
    >>> print(*without_contained(OperandIndexing(parse_map(text)) for text in texts))
    (d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 2]
    """
    left: list[OperandIndexing] = []
    for each in indexings:
        if not any(contains(other, each) for other in left):
            left = [*(other for other in left if not contains(each, other)), each]
    return left


def contains(wide: OperandIndexing, narrow: OperandIndexing) -> bool:
    """Whether isl finds, within the limit, that the first relates all that the second does.

    They lead to the same array of the same device, and their runtime variables are the same values.
    """
    is_same_place = (wide.element, wide.replica_id) == (narrow.element, narrow.replica_id)
    if not is_same_place or wide.replica_id is not None or wide.runtime != narrow.runtime:
        return False
    if any(_uses_ranges(origin.map) for origin in wide.runtime):
        return False
    return is_seen_to_be_subset(narrow.map, wide.map)


def is_seen_to_be_subset(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether isl finds, within the limit, that the second map has all pairs of the first."""
    try:
        return narrow.is_subset(
            wide, budget=limits.MAX_STEPS_OF_COMPARISON, runtime_as_parameters=True
        )
    except IndexingError:
        return False


def _uses_ranges(index: IndexingMap) -> bool:
    """Whether a value that is read depends on ranges: then it is not one value for an element."""
    _, ranges, _ = index.domain.by_role(index.domain.identifiers)
    limited = (form for form, _ in index.domain.constraints)
    return not {*ranges}.isdisjoint(forms.variables_of((*index.forms, *limited)))
