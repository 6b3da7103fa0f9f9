"""What an array depends on, found the slow way: each way to each array, composed by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from indexing import IndexingMap
from ops import OperandIndexing, Unknown, output_to_input
from ops.dependence.dependence import Indexings
from ops.hlo import Instruction

Way: TypeAlias = "OperandIndexing | None"
"""``None`` where it is unknown."""

Place: TypeAlias = "tuple[Instruction, int, Way]"
"""An array, and a way that leads there."""


def slow_paths(root: Instruction, output: int = 0) -> dict[Instruction, frozenset[Way]]:
    """The ways from an array to the instructions of its computation.

    Each different way is followed by itself through one instruction after the other, whatever
    ways there are beside it: nothing is joined, and no order is kept.
    """
    waiting: list[Place] = [(root, output, _identity(root, output).simplify())]
    seen = {*waiting}
    while waiting:
        instruction, number, way = waiting.pop()
        answers = output_to_input(instruction, number).indexing
        for operand, answer in zip(instruction.operands, answers, strict=True):
            for element, step in _steps(operand, answer):
                is_plain = step and step.of_element(0) == _identity(instruction, number)
                place = operand, element, way if is_plain else way and step and way.compose(step)
                if place not in seen:
                    seen.add(place)
                    waiting.append(place)
    found: dict[Instruction, set[Way]] = defaultdict(set)
    for instruction, number, way in seen:
        found[instruction].add(way and way.of_element(number))
    return {instruction: frozenset(ways) for instruction, ways in found.items()}


def _identity(instruction: Instruction, number: int) -> OperandIndexing:
    return OperandIndexing(IndexingMap.identity(instruction.shape.arrays[number].dimensions))


def _steps(operand: Instruction, answer: Indexings) -> Iterator[tuple[int, Way]]:
    """The arrays of an operand that an answer leads to, and how."""
    if isinstance(answer, Unknown):
        yield from ((element, None) for element in range(len(operand.shape.arrays)))
    else:
        yield from ((step.element, step) for step in answer)


def agrees(ways: frozenset[Way], answer: Indexings) -> bool:
    """Whether an answer has these ways, each once; it is unknown if one of them is.

    It may leave out what tells nothing beside it: an empty way, and one that another way says
    without its conditions.
    """
    if isinstance(answer, Unknown):
        return None in ways
    listed = frozenset[Way](answer)
    is_complete = all(_tells_nothing(way, answer) for way in ways - listed)
    return listed <= ways and len(listed) == len(answer) and is_complete


def _tells_nothing(way: Way, beside: Sequence[OperandIndexing]) -> bool:
    return way is not None and any(
        way.map.is_known_empty or _says_more(other, way) for other in beside
    )


def _says_more(one: OperandIndexing, other: OperandIndexing) -> bool:
    """Whether a way has the results of another, and no condition that the other has not."""
    more, less = one.map, other.map
    pairs = zip((*more.dims, *more.ranges), (*less.dims, *less.ranges), strict=False)
    return (
        more.results == less.results
        and set(map(str, one.runtime)) <= set(map(str, other.runtime))
        and set(more.constraints) <= set(less.constraints)
        and all(wide.bounds.contains(narrow.bounds) for wide, narrow in pairs)
    )
