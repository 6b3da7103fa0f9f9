"""The arrays of a computation and the steps between them: a graph that is walked from anywhere."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ops.analysis.crowds import Compositions, met

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from ops.analysis.crowds import Crowd
    from ops.analysis.known import Known
    from ops.hlo import Instruction

Array: TypeAlias = "tuple[Instruction, int]"
"""One array of an instruction's result: a tuple holds several, counted through nested tuples."""

Step: TypeAlias = "tuple[Array, Known | None]"
"""A neighbour, and the maps that lead there; ``None`` where every element leads to its like."""

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
    def of(cls, steps: Mapping[Array, Sequence[Step]], begins: Sequence[Array]) -> Graph:
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
        arriving = {self.numbers[array]: [crowd] for array, crowd in starts.items()}
        waiting = [*arriving]
        heapify(waiting)
        compositions = Compositions()
        found: dict[Array, Crowd] = {}
        while waiting:
            number = heappop(waiting)
            instruction, element = array = self.arrays[number]
            crowd = met(arriving.pop(number), instruction.shape.arrays[element])
            found[array] = crowd
            if within is not None and instruction not in within:
                continue
            for target, step in self.steps[number]:
                if target not in arriving:
                    arriving[target] = []
                    heappush(waiting, target)
                arriving[target].append(
                    crowd if step is None else compositions.followed(crowd, step)
                )
        return found

    def towards(self, ends: Iterable[Array]) -> Graph:
        """The graph with the steps alone from which a path leads to one of the ends."""
        leading = {self.numbers[end] for end in ends}
        for number in reversed(range(len(self.arrays))):
            if any(target in leading for target, _ in self.steps[number]):
                leading.add(number)
        steps = [[step for step in each if step[0] in leading] for each in self.steps]
        return Graph(self.arrays, steps)


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
