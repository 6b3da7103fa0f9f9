"""Graphs: orders in which everything comes after its targets, and connected components."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

Item = TypeVar("Item")

Key = TypeVar("Key", bound=Hashable)


# Connected components: items that share a key, directly or through others, form a group.


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
        keys = [*keys_of(item)] or [(_ALONE, number)]
        first = _leader(leaders, keys[0])
        for key in keys[1:]:
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
    while (following := leaders.get(key, key)) != key:
        leaders[key] = leaders.get(following, following)
        key = following
    return key


def united(groups: Iterable[set[Key]]) -> list[set[Key]]:
    """The unions of groups that have something in common.

    >>> [sorted(group) for group in united([{1, 2}, {3}, {2, 4}])]
    [[1, 2, 4], [3]]
    """
    components = connected_components(groups, iter)
    return [set(chain.from_iterable(component)) for component in components]


# Orders in which everything comes after what it leads to, or before it.

Node = TypeVar("Node")


class CircleError(ValueError):
    """Some nodes lead to each other; ``circle`` begins and ends with the same one."""

    def __init__(self, circle: list[Any]) -> None:
        super().__init__(f"each of these leads to the next one: {circle}")
        self.circle = circle


def postorder(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Everything that can be reached, each after all that it leads to, else in the order given.

    Raises:
        CircleError: some lead to each other.

    >>> postorder("a", {"a": "bc", "b": "d", "c": "d", "d": ""}.__getitem__)
    ['d', 'b', 'c', 'a']
    >>> postorder("a", {"a": "b", "b": "cd", "c": "", "d": "b"}.__getitem__)
    Traceback (most recent call last):
        ...
    simplifier.tools.graphs.CircleError: each of these leads to the next one: ['b', 'd', 'b']
    """
    is_done: dict[Node, bool] = {}
    done: list[Node] = []
    for start in starts:
        if start not in is_done:
            is_done[start] = False
            path: list[tuple[Node, Iterator[Node]]] = [(start, iter(successors(start)))]
            while path:
                node, rest = path[-1]
                for after in rest:
                    known = is_done.get(after)
                    if known is None:
                        is_done[after] = False
                        path.append((after, iter(successors(after))))
                        break
                    if not known:
                        nodes = [each for each, _ in path]
                        raise CircleError([*nodes[nodes.index(after) :], after])
                else:
                    path.pop()
                    is_done[node] = True
                    done.append(node)
    return done


def topological_order(
    starts: Sequence[Node], successors: Callable[[Node], Sequence[Node]]
) -> list[Node]:
    """Everything that can be reached, each before all that it leads to, else in the order given.

    Raises:
        CircleError: some lead to each other.

    >>> topological_order("a", {"a": "bc", "b": "d", "c": "d", "d": ""}.__getitem__)
    ['a', 'b', 'c', 'd']
    """
    return postorder(starts[::-1], lambda node: successors(node)[::-1])[::-1]
