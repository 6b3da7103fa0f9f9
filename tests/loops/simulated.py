"""Loops run in Python, element by element: what each iteration reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from tests.ops.test_iterations import ARRAYS, SIZE, Node, Offset, Program

Element: TypeAlias = "tuple[str, int]"
"""An array of the state, and an index in it."""

Value: TypeAlias = "list[frozenset[Element]]"
"""For each element of an array what it is computed from, as it was when the iteration began."""

NUMBERS: Final = {name: number for number, name in enumerate(ARRAYS, 1)}
"""The numbers of the arrays in the state, behind the counter."""


@dataclass
class Trace:
    """What the iterations of a loop did: each was the last to write what a later one read."""

    carried: dict[str, set[tuple[int, int]]]
    written: dict[str, list[frozenset[int]]]


def trace(program: Program) -> Trace:
    """What happens when a program runs."""
    found = Trace({name: set() for name in ARRAYS}, {name: [] for name in ARRAYS})
    writers: dict[Element, int] = {}
    for iteration, counter in enumerate(program.counter):
        read: set[Element] = set()
        written: set[Element] = set()
        for name, node in (("x", program.x), ("y", program.y)):
            parts = [*_updates(node, name)] if is_in_place(node, name) else None
            if parts is None:
                read.update(*_value(node, counter))
                places = range(SIZE)
            else:
                read.update(*(each for update in parts for each in _part(update, counter)))
                places = {place for update in parts for place in _window(update, counter)}
            written |= {(name, place) for place in places}
            found.written[name].append(frozenset(places))
        for element in read & writers.keys():
            found.carried[element[0]].add((writers[element], iteration))
        writers |= dict.fromkeys(written, iteration)
    return found


def is_in_place(node: Node, name: str) -> bool:
    """Whether a node is an array with updates alone."""
    while node.operation == "update":
        node = node.operands[0]
    return node.operation == name


def is_read_as_it_is(program: Program) -> bool:
    """Whether nothing is read of an array of which a part has just been overwritten."""
    waiting = [
        each
        for name, node in (("x", program.x), ("y", program.y))
        for each in ([*_sources(node)] if is_in_place(node, name) else [node])
    ]
    while waiting:
        node = waiting.pop()
        if node.operation == "update":
            return False
        waiting += node.operands
    return True


def _updates(node: Node, name: str) -> Iterator[Node]:
    while node.operation != name:
        yield node
        node = node.operands[0]


def _sources(node: Node) -> Iterator[Node]:
    while node.operation == "update":
        yield node.operands[1]
        node = node.operands[0]


def _value(node: Node, counter: int) -> Value:
    if node.operation in ARRAYS:
        return [frozenset({(node.operation, place)}) for place in range(SIZE)]
    one = _value(node.operands[0], counter)
    match node.operation:
        case "reverse":
            return one[::-1]
        case "shift":
            return [*one[1:], frozenset()]
        case "rotate":
            return one[2:] + one[:2]
        case "update":
            for place, part in zip(_window(node, counter), _part(node, counter), strict=True):
                one[place] = part
            return one
        case _:
            pairs = zip(one, _value(node.operands[1], counter), strict=True)
            return [left | right for left, right in pairs]


def _part(update: Node, counter: int) -> Value:
    first = _clamped(update.offsets[0], counter, update.size)
    return _value(update.operands[1], counter)[first : first + update.size]


def _window(update: Node, counter: int) -> range:
    first = _clamped(update.offsets[1], counter, update.size)
    return range(first, first + update.size)


def _clamped(offset: Offset, counter: int, size: int) -> int:
    factor, first = offset
    return min(max(0, factor * counter + first), SIZE - size)
