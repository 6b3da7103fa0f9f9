"""Connected components: items that share a key, directly or through others, form a group."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    Item = TypeVar("Item")
    Key = TypeVar("Key", bound=Hashable)


def connected_components(
    items: Iterable[Item], keys_of: Callable[[Item], Iterable[Hashable]]
) -> list[list[Item]]:
    """Items in groups, such that no two groups share a key; groups and items in the order given.

    An item without keys is a group of its own.

    >>> connected_components(["ab", "c", "bd", ""], list)
    [['ab', 'bd'], ['c'], ['']]
    """
    leaders: dict[Hashable, Hashable] = {}
    first_keys: list[tuple[Item, Hashable]] = []
    for number, item in enumerate(items):
        first: Hashable = (_ALONE, number)
        for index, key in enumerate(keys_of(item)):
            if index == 0:
                first = _leader(leaders, key)
            else:
                leaders[_leader(leaders, key)] = first
        first_keys.append((item, first))
    groups: dict[Hashable, list[Item]] = {}
    for item, key in first_keys:
        groups.setdefault(_leader(leaders, key), []).append(item)
    return list(groups.values())


_ALONE = object()
"""Marks the key of an item that has none."""


def _leader(leaders: dict[Hashable, Hashable], key: Hashable) -> Hashable:
    """The key that stands for a group: the one that follows no other. Shortens the way there."""
    leader = key
    while (following := leaders.get(leader, leader)) != leader:
        leader = following
    while key != leader:
        following = leaders[key]
        leaders[key] = leader
        key = following
    return leader


def united(groups: Iterable[set[Key]]) -> list[set[Key]]:
    """The unions of groups that have something in common.

    >>> [sorted(group) for group in united([{1, 2}, {3}, {2, 4}])]
    [[1, 2, 4], [3]]
    """
    components = connected_components(groups, iter)
    return [set(chain.from_iterable(component)) for component in components]
