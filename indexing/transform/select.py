"""Results of maps: some of them, in another order, or those of two maps together."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, TypeVar

from indexing.domain import ROLES
from indexing.errors import MapError
from indexing.relation import RelationT, check_map
from simplifier.errors import listed, quoted
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing.domain import Domain

T = TypeVar("T")


def select_results(indexing_map: RelationT, indices: Iterable[int]) -> RelationT:
    """The map with some results, in the order given; the domain stays.

    Raises:
        MapError: there is no such result.
    """
    selected = chosen(indexing_map.forms, indices, "select_results", "results")
    return indexing_map.derived(selected, indexing_map.domain)


def chosen(items: Sequence[T], indices: Iterable[int], where: str, what: str) -> list[T]:
    """The items at these indices; negative ones count from the end, as in Python.

    Raises:
        MapError: there is no such item.

    >>> chosen("abc", [2, 0, -1], "", "")
    ['c', 'a', 'c']
    """
    if isinstance(indices, str) or not hasattr(indices, "__iter__"):
        raise MapError(f"{where}: indices are {quoted(indices)}; expected a sequence of integers")
    return [items[_position(index, len(items), where, what)] for index in indices]


def _position(index: int, count: int, where: str, what: str) -> int:
    if not hasattr(index, "__index__") or isinstance(index, bool):
        raise MapError(f"{where}: {quoted(index)} is no index; expected an integer")
    if not -count <= index < count:
        there = f"{what} {-count} to {count - 1}" if count else f"no {what}"
        raise MapError(f"{where}: index {index} is out of range; the map has {there}")
    return operator.index(index)


def concatenate_results(first: RelationT, second: RelationT) -> RelationT:
    """The results of one map and then those of another, where both are defined.

    Raises:
        MapError: the maps differ in number or names of variables.
    """
    check_map(second, "concatenate_results: the other map")
    for side in (first, second):
        if side.is_undefined:
            return side
    _check_same_variables(first.domain, second.domain)
    bounds = ((forms.variable(place), within) for place, within in second.domain.bounds.items())
    domain = first.domain.constrained([*bounds, *second.domain.constraints])
    return first.derived(first.forms + second.forms, domain)


def _check_same_variables(first: Domain, second: Domain) -> None:
    for role, names, others in zip(
        ROLES, first.by_role(first.names), second.by_role(second.names), strict=True
    ):
        if names != others:
            message = (
                f"concatenate_results: the {role} are ({listed(names)}) in one map and "
                f"({listed(others)}) in the other; expected the same number and names"
            )
            raise MapError(message)
