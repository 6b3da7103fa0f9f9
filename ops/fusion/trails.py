"""All paths along which a map is made, counted and measured together, listed one by one.

Paths to one array along one map are a :class:`Trail`. Its last steps begin at other trails, so that
they take no more room than the maps do, however many paths there are.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ops.analysis.paths import itself
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.analysis.answers import Answer, OperandIndexing
    from ops.analysis.graphs import Array
    from ops.hlo import Instruction

Way: TypeAlias = "OperandIndexing | Unknown"
Path: TypeAlias = "tuple[Instruction, ...]"


class Trail:
    """All paths to an array along one map.

    ``length`` is the number of instructions on the shortest of them. Without a last step, the
    array is where paths begin.
    """

    __slots__ = ("array", "count", "length", "steps", "way")

    def __init__(self, array: Array, way: Way) -> None:
        self.array = array
        self.way = way
        self.count = 0
        self.length = 0
        self.steps: dict[Step, None] = {}

    def arrive(self, step: Step) -> None:
        """One more last step, of which all paths are known; the same step counts once."""
        if step not in self.steps:
            self.steps[step] = None
            self.count += step.before.count * (step.inside.count if step.inside else 1)
            self.length = min(self.length or step.length, step.length)


class Step(NamedTuple):
    """From a trail to the next array; through a called computation along the trail ``inside``."""

    before: Trail
    inside: Trail | None = None

    @property
    def length(self) -> int:
        """The number of instructions on the shortest path with this step."""
        return self.before.length + (self.inside.length if self.inside else 0) + 1


Trails: TypeAlias = "dict[Array, dict[Way, Trail]]"


def beginning(array: Array) -> Trails:
    """The path without a step."""
    (way,) = ways_of(itself(array))
    trail = Trail(array, way)
    trail.count = trail.length = 1
    return {array: {way: trail}}


def trail_at(trails: Trails, array: Array, way: Way) -> Trail:
    """The trail to an array along a map, maybe a new one."""
    ways = trails.setdefault(array, {})
    return ways.setdefault(way, Trail(array, way))


def ways_of(answer: Answer) -> tuple[Way, ...]:
    """The maps one by one; that there is none is one as well."""
    return (answer,) if isinstance(answer, Unknown) else answer


def answer_of(way: Way) -> Answer:
    """The one map as an answer."""
    return way if isinstance(way, Unknown) else (way,)


# Listed.


class _Tail(NamedTuple):
    """The end of a path."""

    instruction: Instruction
    tail: _Tail | None


class _Rest(NamedTuple):
    """Where a path goes on backwards behind the called computations that it is inside of."""

    trail: Trail
    rest: _Rest | None


def shortest_paths(ends: Iterable[Trail]) -> Iterator[Path]:
    """The paths of some trails, the shortest first.

    They are made backwards, always on along what can become the shortest; of equally short ones
    the newest goes on, so that one is finished before others are begun.
    """
    numbers = count(0, -1)
    unfinished: list[tuple[int, int, Trail, _Tail | None, _Rest | None]] = []

    def put(length: int, trail: Trail, tail: _Tail | None, rest: _Rest | None) -> None:
        heappush(unfinished, (length, next(numbers), trail, tail, rest))

    for end in reversed([*ends]):
        put(end.length, end, None, None)
    while unfinished:
        length, _, trail, tail, rest = heappop(unfinished)
        tail = _Tail(trail.array[0], tail)
        if not trail.steps and rest is None:
            yield tuple(_instructions(tail))
        elif not trail.steps and rest is not None:
            put(length, rest.trail, tail, rest.rest)
        for step in reversed(trail.steps):
            more = length - trail.length + step.length
            if step.inside is None:
                put(more, step.before, tail, rest)
            else:
                put(more, step.inside, tail, _Rest(step.before, rest))


def _instructions(tail: _Tail | None) -> Iterator[Instruction]:
    while tail:
        yield tail.instruction
        tail = tail.tail
