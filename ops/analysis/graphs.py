"""The arrays of a computation and the steps between them: a graph that is walked from anywhere."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ops.analysis.known import Compositions
from ops.builders.building import arrays_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from ops.analysis.known import Known
    from ops.hlo import Instruction

Array: TypeAlias = "tuple[Instruction, int]"
"""One array of an instruction's result: a tuple holds several, counted through nested tuples."""

Step: TypeAlias = "tuple[int, Known | None]"
"""A neighbour, and the maps that lead there; ``None`` where every element leads to its like."""

Node = TypeVar("Node")


@dataclass(frozen=True)
class Graph:
    """``steps[k]`` are the steps from ``arrays[k]``. No path leads back to where it began."""

    arrays: Sequence[Array]
    steps: Sequence[Sequence[Step]]

    @cached_property
    def numbers(self) -> Mapping[Array, int]:
        """The place of each array."""
        return {array: number for number, array in enumerate(self.arrays)}

    def walk(
        self, starts: Mapping[Array, Known], within: Container[Instruction] | None = None
    ) -> dict[Array, Known]:
        """From arrays to all arrays that steps lead to, in order of paths.

        Steps from instructions that ``within`` does not hold are not taken.
        """
        steps = self.steps if within is None else self._within(within)
        arriving: dict[int, dict[Known, None]] = defaultdict(dict)
        for array, known in starts.items():
            arriving[self.numbers[array]][known] = None
        found: dict[Array, Known] = {}
        compositions = Compositions()
        order = postorder([*arriving], lambda number: [to for to, _ in steps[number]])
        for number in reversed(order):
            instruction, element = array = self.arrays[number]
            first, *others = arriving.pop(number)
            known = found[array] = first.joined(others, arrays_of(instruction.shape)[element])
            for target, step in steps[number]:
                here = known if step is None else compositions.followed(known, step)
                arriving[target][here] = None
        return found

    def towards(self, ends: Iterable[Array]) -> Graph:
        """The graph with the steps alone from which a path leads to one of the ends."""
        before: list[list[int]] = [[] for _ in self.arrays]
        for number, steps in enumerate(self.steps):
            for target, _ in steps:
                before[target].append(number)
        leading = {*postorder((self.numbers[end] for end in ends), before.__getitem__)}
        steps = [[step for step in each if step[0] in leading] for each in self.steps]
        return Graph(self.arrays, steps)

    def _within(self, instructions: Container[Instruction]) -> list[Sequence[Step]]:
        """The steps from some instructions."""
        return [
            steps if array[0] in instructions else ()
            for array, steps in zip(self.arrays, self.steps, strict=True)
        ]


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
