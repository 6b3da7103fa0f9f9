"""The arrays of a computation and the steps between them: a graph that is walked from anywhere.

Several questions walk it together. Most of them meet the same answer on an array, such as all
results of a layer in front of it, so an array holds each answer once, with the questions that have
it there: a set of them is an integer with a bit for each.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from ops.analysis.known import Known
    from ops.hlo import Instruction

Array: TypeAlias = "tuple[Instruction, int]"
"""One array of an instruction's result: a tuple holds several, counted through nested tuples."""

Step: TypeAlias = "tuple[Array, Known | None]"
"""A neighbour, and the maps that lead there; ``None`` where every element leads to its like."""

Crowd: TypeAlias = "Mapping[Known, int]"
"""The answers on an array, each with the set of questions that have it; no question has two."""

Node = TypeVar("Node")


class Graph:
    """``steps[k]`` are the steps from ``arrays[k]``; all lead to arrays behind it."""

    def __init__(
        self, arrays: Sequence[Array], steps: Sequence[Sequence[tuple[int, Known | None]]]
    ) -> None:
        self.arrays = arrays
        self.steps = steps
        self.numbers = {array: number for number, array in enumerate(arrays)}

    @classmethod
    def of(
        cls,
        steps: Mapping[Array, Sequence[Step]],
        begins: Sequence[Array],
    ) -> Graph:
        """The graph with these steps, its arrays in order of the paths from where they begin."""
        neighbours = {array: [target for target, _ in each] for array, each in steps.items()}
        arrays = postorder([*steps, *reversed(begins)], neighbours.__getitem__)[::-1]
        numbers = {array: number for number, array in enumerate(arrays)}
        return cls(arrays, [[(numbers[to], known) for to, known in steps[at]] for at in arrays])

    def walk(
        self, starts: Mapping[Array, Crowd], within: Container[Instruction] | None = None
    ) -> dict[Array, Crowd]:
        """From arrays to all arrays that steps lead to, in order of paths.

        Steps from instructions that ``within`` does not hold are not taken.
        """
        found = {self.numbers[array]: crowd for array, crowd in starts.items()}
        waiting = [*found]
        heapify(waiting)
        reached: dict[Array, Crowd] = {}
        while waiting:
            number = heappop(waiting)
            array, crowd = self.arrays[number], found.pop(number)
            reached[array] = crowd
            for target, step in self.steps[number] if within is None or array[0] in within else ():
                here = crowd if step is None else _followed(crowd, step)
                if target in found:
                    found[target] = _joined(found[target], here)
                else:
                    found[target] = here
                    heappush(waiting, target)
        return reached

    def towards(self, ends: Iterable[Array]) -> Graph:
        """The graph with the steps alone from which a path leads to one of the ends."""
        leading = {self.numbers[end] for end in ends}
        for number in reversed(range(len(self.arrays))):
            if any(target in leading for target, _ in self.steps[number]):
                leading.add(number)
        steps = [[step for step in each if step[0] in leading] for each in self.steps]
        return Graph(self.arrays, steps)


def _followed(crowd: Crowd, step: Known) -> Crowd:
    """The answers behind a step."""
    behind: dict[Known, int] = {}
    for known, who in crowd.items():
        here = known.followed(step)
        behind[here] = behind.get(here, 0) | who
    return behind


def _joined(left: Crowd, right: Crowd) -> Crowd:
    """The answers of all questions where two ways meet."""
    if left == right:
        return left
    together: dict[Known, int] = {}
    for known, who in _pairs(left, right):
        together[known] = together.get(known, 0) | who
    return together


def _pairs(left: Crowd, right: Crowd) -> Iterator[tuple[Known, int]]:
    """The answers of the questions that came on one way, and of those that came on both."""
    both = _everybody(left) & _everybody(right)
    for crowd in (left, right):
        yield from ((known, who & ~both) for known, who in crowd.items() if who & ~both)
    if len(left) * len(right) <= both.bit_count():
        for known, who in left.items():
            for other, others in right.items():
                if who & others:
                    yield known.joined(other), who & others
    else:
        there = _one_by_one(right, both)
        for question, known in _one_by_one(left, both).items():
            yield known.joined(there[question]), question


def _everybody(crowd: Crowd) -> int:
    """All questions that have an answer: the sets have none in common."""
    return sum(crowd.values())


def _one_by_one(crowd: Crowd, among: int) -> dict[int, Known]:
    """The answer of each of some questions."""
    return {question: known for known, who in crowd.items() for question in singles(who & among)}


def singles(questions: int) -> Iterator[int]:
    """The sets of one question each that make up a set.

    >>> [bin(question) for question in singles(0b1101)]
    ['0b1', '0b100', '0b1000']
    """
    while questions:
        lowest = questions & -questions
        yield lowest
        questions ^= lowest


def postorder(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Everything that can be reached, each after all that it leads to. Nothing may lead to itself.

    >>> postorder("a", {"a": "bc", "b": "d", "c": "d", "d": ""}.__getitem__)
    ['d', 'c', 'b', 'a']
    """
    done: dict[Node, None] = {}
    opened: set[Node] = set()
    waiting = [*starts]
    while waiting:
        node = waiting[-1]
        if node in opened:
            done.setdefault(waiting.pop())
        else:
            opened.add(node)
            waiting += [after for after in successors(node) if after not in opened]
    return list(done)
