"""Orders in which everything comes after what it leads to, or before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
    simplifier.tools.postorder.CircleError: each of these leads to the next one: ['b', 'd', 'b']
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
