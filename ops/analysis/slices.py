"""Slices: everything that an array depends on, in its computation and in those that it calls.

A slice consists of levels, one for each pass through a computation. A level remembers how others
led to it, so that whoever asks for the paths of a slice reads them backwards.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ops.analysis.calls import itself
from ops.dependence.dependence import NOTHING, called_by, of_element
from simplifier.tools.postorder import postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from ops.analysis.calls import Crossing, DataFlow
    from ops.analysis.dataflow import Array
    from ops.dependence.dependence import AnyDependence
    from ops.hlo import Computation, Instruction


class Level:
    """One pass through a computation: where it begins, how it came there, and what it reaches."""

    __slots__ = ("arrivals", "computation", "reached", "starts")

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.starts: dict[Array, AnyDependence] = {}
        self.arrivals: list[Arrival] = []
        self.reached: dict[Array, AnyDependence] = {}

    @classmethod
    def at(cls, start: Array) -> Level:
        """The level that begins at one array."""
        level = cls(start[0].computation)
        level.starts[start] = itself(start)
        return level

    def follow(self, flow: DataFlow, within: Container[Instruction] | None = None) -> Level:
        """Find what is reached; only instructions ``within`` are followed, by default all."""
        self.reached = flow.follow(self.starts, within)
        return self


class Arrival(NamedTuple):
    """A step from an array of one level to the start of another, maybe back to a caller."""

    level: Level
    array: Array
    crossing: Crossing
    caller: Instruction | None = None

    def after(self, dependence: AnyDependence) -> AnyDependence:
        """The dependence on the start of the next level, behind one on the array of this one."""
        if self.caller:
            dependence = called_by(self.caller, dependence)
        step = self.crossing[1]
        return dependence if step is None else dependence.compose(step)


def arrive(levels: dict[Computation, Level], arrival: Arrival) -> None:
    """Begin the level of a computation where another one leads to, too."""
    target, _ = arrival.crossing
    level = levels.setdefault(target[0].computation, Level(target[0].computation))
    level.arrivals.append(arrival)
    before = level.starts.get(target, NOTHING)
    level.starts[target] = before.union(arrival.after(arrival.level.reached[arrival.array]))


def levels_inside(
    outermost: Level,
    flow: DataFlow,
    within: Container[Instruction] | None = None,
    entered: Container[Computation] | None = None,
    callees: Callable[[Computation], Iterable[Computation]] | None = None,
) -> list[Level]:
    """The levels from the starts of one: in its computation, and in all that is called there.

    In the computation itself only the instructions ``within`` are followed, and only computations
    that are to be ``entered`` are; by default all. ``callees`` are those of these instructions. A
    level comes after those that lead to it.
    """
    levels = {outermost.computation: outermost}
    followed: list[Level] = []
    for computation in reversed(postorder([outermost.computation], callees or flow.callees)):
        level = levels.get(computation)
        if level:
            limit = within if level is outermost else None
            followed.append(level.follow(flow, limit))
            for array, crossing in _entries(level, flow, limit):
                if entered is None or crossing[0][0].computation in entered:
                    arrive(levels, Arrival(level, array, crossing))
    return followed


def _entries(
    level: Level, flow: DataFlow, limit: Container[Instruction] | None
) -> Iterator[tuple[Array, Crossing]]:
    """Where the arrays of a level are results of computations that are called."""
    for array in level.reached:
        if limit is None or array[0] in limit:
            for crossing in flow.entries(*array):
                yield array, crossing


def union_of(levels: Iterable[Level]) -> dict[Array, AnyDependence]:
    """What several levels reach, united."""
    found: dict[Array, AnyDependence] = {}
    for level in levels:
        for array, dependence in level.reached.items():
            before = found.get(array)
            found[array] = dependence if before is None else before.union(dependence)
    return found


def by_instruction(found: Mapping[Array, AnyDependence]) -> dict[Instruction, AnyDependence]:
    """The dependences on the arrays of each instruction as one, which tells them apart."""
    together: dict[Instruction, list[AnyDependence]] = defaultdict(list)
    for (instruction, number), dependence in found.items():
        together[instruction].append(of_element(dependence, number))
    return {
        instruction: first.union(*others) if others else first
        for instruction, (first, *others) in together.items()
    }
