"""The data flow of a loop that runs a known number of times, iteration by iteration.

The state of such a loop is followed through time: one iteration is a map, and a walk along many is
a composition. Walks through an array that stays in place, or that is moved by as much in every
iteration, are one map, and so are those that come back to where they were. Of all others it is
forgotten how many iterations they took.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from indexing.transform.determined import from_zero, without_determined_ranges
from ops import limits
from ops.analysis.dataflow import Budget, Interner
from ops.analysis.loops import Fixpoint, decided, without_parts
from ops.analysis.timed_loop import for_any_iteration
from ops.dependence.dependence import NOTHING, AnyDependence, Dependence, combined
from ops.dependence.links import Link
from ops.dependence.operand_indexing import OperandIndexing, for_any_values
from ops.index_maps import dim, dimensions_of, index_map
from ops.rules.op_indexing import Unknown
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.tools.postorder import postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ops.analysis.timed_loop import TimedLoop


def iterated(loop: TimedLoop, body: Iterable[Link], condition: Iterable[Link]) -> list[Link]:
    """The links between the arrays of a loop's state before and after all of its iterations.

    Arguments are those of :func:`ops.analysis.loops.repeated`. The condition decides after every
    iteration, so what is not kept depends on all that it ever reads.
    """
    walks = _Walks(loop, [*body], [*condition])
    begins = range(len(loop.arrays))
    found = [(begin, end, each) for begin in begins for end, each in walks.of(begin).items()]
    if loop.is_backward:
        return [Link(begin, 0, end, each) for begin, end, each in found]
    return [Link(end, 0, begin, each) for begin, end, each in found]


class _Walks:
    """The walks through all iterations of a loop, from each array of its state."""

    def __init__(self, loop: TimedLoop, body: Sequence[Link], condition: Sequence[Link]) -> None:
        self._loop = loop
        self._interner = Interner()
        self._budget = Budget(self._interner, free=0)
        self._uneven: set[int] = set()
        self._steps: dict[int, dict[int, AnyDependence]] = defaultdict(dict)
        self._untimed: dict[int, list[tuple[int, AnyDependence]]] = defaultdict(list)
        for number in loop.kept:
            self._steps[number][number] = Dependence((loop.stay(number),))
        for link in body:
            if link.output not in loop.kept:
                begin, end = link.ends(loop.direction)
                before = self._steps[begin].get(end, NOTHING)
                self._steps[begin][end] = before.union(link.dependence.apply(loop.step))
                self._untimed[begin].append((end, link.dependence.apply(for_any_iteration)))
                if any(each.runtime for each in link.dependence.indexings):
                    self._uneven.add(begin)
        self._condition = [
            link._replace(dependence=link.dependence.apply(for_any_values)) for link in condition
        ]
        self._left: dict[int, dict[int, AnyDependence]] = {}
        first = {each[0] for each in self._component.values()}
        for number in postorder(sorted(first), self._behind):
            self._find(self._component[number])

    def _after(self, consumer: AnyDependence, producer: AnyDependence) -> AnyDependence:
        """The composition, within the budget of all these walks."""
        interned = self._interner.interned
        return _existing(self._budget.compose(interned(consumer), interned(producer)))

    def of(self, begin: int) -> dict[int, AnyDependence]:
        """All arrays that walks through all iterations end at, and the dependences on them."""
        loop = self._loop
        sizes = loop.sizes(begin)
        results = [*dimensions_of(sizes), forms.constant(loop.trips)]
        start = Dependence((OperandIndexing(index_map(results, sizes)),))
        found: defaultdict[int, list[AnyDependence]] = defaultdict(list)
        for end, each in self._left[begin].items():
            found[end].append(self._after(start, each))
        if loop.is_backward and begin not in loop.kept:
            for end, each in self._decisions_behind(begin):
                found[end].append(each)
        return {
            end: combined(NOTHING, each, without_parts) for end, each in self._united(found).items()
        }

    # Arrays that lead to each other.

    @cached_property
    def _component(self) -> Mapping[int, tuple[int, ...]]:
        """For each array all those that lead to it and that it leads to, in order."""
        numbers = range(len(self._loop.arrays))
        reached = {each: self._reached(each) for each in numbers}
        return {
            each: tuple(other for other in sorted(reached[each]) if each in reached[other])
            for each in numbers
        }

    def _reached(self, number: int) -> set[int]:
        reached, waiting = {number}, [number]
        while waiting:
            fresh = self._steps.get(waiting.pop(), {}).keys() - reached
            reached |= fresh
            waiting += fresh
        return reached

    def _behind(self, number: int) -> list[int]:
        """The first array of each component that a component leads to."""
        inside = self._component[number]
        ends = (end for each in inside for end in self._steps.get(each, {}) if end not in inside)
        return [self._component[end][0] for end in ends]

    # Walks from the arrays of one component.

    def _find(self, component: tuple[int, ...]) -> None:
        """Find the walks from some arrays, as those behind them are known."""
        leaving = {each: self._leaving(each, component) for each in component}
        for begin, inside in self._inside(component).items():
            found: defaultdict[int, list[AnyDependence]] = defaultdict(list)
            for through, (passing, arriving) in inside.items():
                found[through].append(self._after(arriving, _arrival(self._loop, through)))
                for end, each in leaving[through].items():
                    found[end].append(self._after(passing, each))
            self._left[begin] = self._united(found)

    def _leaving(self, number: int, component: Collection[int]) -> dict[int, AnyDependence]:
        """The walks whose first iteration leads out of a component."""
        found: defaultdict[int, list[AnyDependence]] = defaultdict(list)
        for next_, step in self._steps.get(number, {}).items():
            if next_ not in component:
                for end, each in self._left[next_].items():
                    found[end].append(self._after(step, each))
        if not self._loop.is_backward:
            for end, each in self._decided_by(number):
                found[end].append(each)
        return self._united(found)

    def _inside(self, component: tuple[int, ...]) -> dict[int, dict[int, _WalksInside]]:
        """From each array of a component, the walks to each other that do not leave it."""
        if len(component) == 1:
            (single,) = component
            inside = self._inside_single(single)
            if inside:
                return {single: {single: inside}}
        steps = {
            each: [(end, step) for end, step in self._untimed[each] if end in component]
            for each in component
        }
        fixpoint = Fixpoint(self._loop.arrays, steps)
        found: dict[int, dict[int, _WalksInside]] = {}
        for begin in component:
            is_even = self._uneven.isdisjoint(component)
            orbit = _Orbit.of(begin, steps, self._loop, self._after) if is_even else None
            inside = orbit.walks(self._loop) if orbit else self._forgetful(fixpoint.reached(begin))
            found[begin] = {end: _WalksInside(each, each) for end, each in inside.items()}
        return found

    def _forgetful(self, reached: Mapping[int, AnyDependence]) -> dict[int, AnyDependence]:
        """The walks to what is reached after any number of iterations."""
        return {end: each.apply(self._loop.some_time) for end, each in reached.items()}

    def _inside_single(self, number: int) -> _WalksInside | None:
        """The walks from an array to itself, if it stays in place or moves evenly."""
        loop = self._loop
        step = self._steps.get(number, {}).get(number, NOTHING)
        if step == NOTHING:
            stays = Dependence((loop.at_once(number),))
            return _WalksInside(stays, stays)
        shift = _shift(step)
        if shift is None:
            return None
        moved = Dependence((loop.moved(number, shift),))
        window = loop.windows.get(number)
        if window is None or any(shift) or len(step.indexings) > 1:
            return _WalksInside(moved, moved)
        spared = Dependence((loop.at_once(number), loop.spared(number, window)))
        # A walk back goes on from what an iteration writes, and a later one writes elsewhere.
        is_written_once = loop.is_backward and window.is_disjoint
        return _WalksInside(moved if is_written_once else spared, spared)

    # Decisions.

    def _decisions_behind(self, begin: int) -> Iterator[tuple[int, AnyDependence]]:
        """What all decisions depend on that an array before them depends on."""
        decision = decided(self._loop.arrays[begin], self._loop.direction)
        for link in self._condition:
            read = decision.compose(link.dependence).apply(self._loop.ever)
            for end, each in self._left[link.element].items():
                yield end, self._after(read, each)

    def _decided_by(self, number: int) -> Iterator[tuple[int, AnyDependence]]:
        """What depends on an array because decisions depend on it: all that changes."""
        loop = self._loop
        changed = [each for each in range(len(loop.arrays)) if each not in loop.kept]
        for link in self._condition:
            if link.element == number:
                for end in changed:
                    all_of_it = decided(loop.arrays[end], loop.direction)
                    yield end, link.dependence.compose(all_of_it).apply(loop.whenever)

    def _united(self, found: Mapping[int, Sequence[AnyDependence]]) -> dict[int, AnyDependence]:
        """All dependences on each array as one."""
        united = {
            end: each[0].union(*each[1:], sizes=self._loop.sizes(end))
            for end, each in found.items()
        }
        return {end: each for end, each in united.items() if each != NOTHING}


class _WalksInside(NamedTuple):
    """The walks between two arrays that lead on from there, and those that may end there."""

    passing: AnyDependence
    arriving: AnyDependence


@dataclass(frozen=True, slots=True)
class _Orbit:
    """Where iterations lead from an array, if they come back to where they were before.

    ``rows[k]`` are the arrays after ``k`` iterations, and how the first depends on them. The last
    ``period`` rows repeat. If there is no period, no walk is longer than the rows.
    """

    rows: Sequence[Mapping[int, Dependence]]
    period: int = 0

    @classmethod
    def of(
        cls,
        begin: int,
        steps: Mapping[int, Sequence[tuple[int, AnyDependence]]],
        loop: TimedLoop,
        compose: Callable[[AnyDependence, AnyDependence], AnyDependence],
    ) -> _Orbit | None:
        """The orbit from an array by these steps, unless it has too many maps."""
        rows = [{begin: Dependence((loop.itself(begin),))}]
        while sum(len(each) for row in rows for each in row.values()) <= limits.MAX_MAPS_OF_LOOP:
            row: dict[int, AnyDependence] = {}
            for through, before in rows[-1].items():
                for end, step in steps[through]:
                    more = compose(before, step)
                    row[end] = combined(row.get(end, NOTHING), more, _all_of)
            known = {
                end: each for end, each in row.items() if isinstance(each, Dependence) and each
            }
            if len(known) < sum(each != NOTHING for each in row.values()):
                return None
            if not known or len(rows) > loop.trips:
                return cls(rows)
            same = [number for number, each in enumerate(rows) if _are_same(each, known)]
            if same:
                return cls(rows, len(rows) - same[0])
            rows.append(known)
        return None

    def walks(self, loop: TimedLoop) -> dict[int, AnyDependence]:
        """All walks of the orbit, by the array where they end."""
        found: defaultdict[int, list[OperandIndexing]] = defaultdict(list)
        for number, row in enumerate(self.rows):
            period = self.period if number >= len(self.rows) - self.period else 0
            for end, each in row.items():
                found[end] += (loop.after(one, number, period) for one in each)
        return {end: Dependence(each) for end, each in found.items()}


def _are_same(row: Mapping[int, Dependence], other: Mapping[int, Dependence]) -> bool:
    """Whether two rows have the same maps, in whatever order."""
    return {end: {*each} for end, each in row.items()} == {
        end: {*each} for end, each in other.items()
    }


def _all_of(one: Dependence, other: Dependence) -> Dependence:
    return Dependence(dict.fromkeys(one + other))


def _existing(dependence: AnyDependence) -> AnyDependence:
    """The dependence without maps that have no point, and with as few ranges as may be."""
    if isinstance(dependence, Unknown):
        return dependence
    least = dependence.apply(_without_determined_ranges)
    return Dependence(each for each in least if not each.map.is_known_empty)


def _without_determined_ranges(indexing: OperandIndexing) -> OperandIndexing:
    if indexing.runtime or indexing.replica_id is not None:
        return indexing
    fewer = from_zero(without_determined_ranges(indexing.map))
    return indexing if fewer is indexing.map else replace(indexing, map=fewer.simplify())


def _arrival(loop: TimedLoop, number: int) -> AnyDependence:
    """The elements of an array when no iteration is left."""
    extents = [*loop.timed(number)[:-1], Interval(0, 0)]
    done = index_map(dimensions_of(loop.sizes(number)), extents)
    return Dependence((OperandIndexing(done),))


def _shift(step: AnyDependence) -> tuple[int, ...] | None:
    """By how much an iteration moves elements, if it is the same for all of them."""
    shifts = {_shift_of(each) for each in step.indexings}
    return shifts.pop() if len(shifts) == 1 else None


def _shift_of(step: OperandIndexing) -> tuple[int, ...] | None:
    if step.runtime or step.replica_id is not None or step.approximation:
        return None
    *moved, _ = (form - dim(axis) for axis, form in enumerate(step.map.forms))
    return (
        tuple(each.constant for each in moved) if all(each.is_constant for each in moved) else None
    )
