"""The data flow of loops and choices: between the arrays before and after any number of iterations.

The steps of one iteration lead between the arrays of the loop's state. They are taken again and
again, until they lead along no other maps: a fixpoint. If the maps do not come to an end, one map
that holds whatever iterations may do takes their place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap, Variable
from indexing.layout import ElementType
from indexing.passes import from_zero, without_determined_ranges
from ops import index_maps, limits
from ops.analysis.dataflow import Array, Budget, Interner
from ops.dependence import operand_indexing
from ops.dependence.dependence import (
    NOTHING,
    AnyDependence,
    Dependence,
    Link,
    boxed,
    identity_of,
    is_seen_to_be_subset,
)
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin, for_any_values
from ops.devices import Devices
from ops.hlo import Instruction
from ops.index_maps import Size
from ops.rules.constant_folding import Element, clamped, value_of
from ops.rules.control import source_of
from ops.rules.counted_loops import CountedLoop
from ops.rules.dynamic import known_sizes, with_bounds
from ops.rules.rule import Calls, Direction, if_known
from simplifier import forms
from simplifier.forms import Form, Interval
from simplifier.tools.graphs import postorder

# Choices.


def selected(arrays: Sequence[Array], selector: int, direction: Direction) -> list[Link]:
    """The links to the scalar operand that chooses where these arrays come from."""
    return [
        Link(output, selector, 0, decided(array, direction)) for output, array in enumerate(arrays)
    ]


def decided(array: Array, direction: Direction) -> AnyDependence:
    """The dependence between all elements of an array and a scalar that decides their values."""

    def decided_by(sizes: tuple[Size, ...]) -> Dependence:
        to_scalar, from_scalar = index_maps.paired(sizes, ())
        found = to_scalar if direction is Direction.OUTPUT_TO_INPUT else from_scalar
        return Dependence((OperandIndexing(with_bounds(found, array[0])),))

    return if_known(decided_by, known_sizes(*array))


def chosen(array: Array, calls: Calls, number: int) -> AnyDependence | None:
    """The dependence of an array on one choice: itself, where the selector has its value.

    ``None`` if there is no other choice. A flag that is true chooses the first of two; a number
    that no choice has chooses the last, like XLA's.
    """
    count = len(calls.choices)
    if calls.selector is None or count == 1:
        return None
    selector, value = array[0].operands[calls.selector], index_maps.runtime_value(0)
    is_flag = selector.shape.element_type is ElementType.PRED
    values = Interval(0, 1) if is_flag else Interval(-1, count - 1)
    is_last = not is_flag and number == count - 1
    form = value % count if is_last else value
    wanted = Interval.of(1 - number if is_flag else number)

    def where_chosen(itself: OperandIndexing) -> OperandIndexing:
        domain = replace(itself.map.domain, runtime=(Variable(values),))
        index = IndexingMap.from_forms((), replace(domain, runtime=(), constraints=()))
        element = IndexingMap.from_forms(itself.map.forms, domain.constrained([(form, wanted)]))
        return replace(itself, map=element, runtime=(RuntimeOrigin(selector, index, values),))

    return identity_of(*array).apply(where_chosen)


# Loops.


def repeated(
    body: Iterable[Link],
    condition: Iterable[Link],
    arrays: Sequence[Array],
    kept: Collection[int],
    direction: Direction,
) -> list[Link]:
    """The links between the arrays of a loop's state before and after any number of iterations.

    ``body`` links the state after an iteration with that before it, ``condition`` the decision that
    there is another iteration with the state. The arrays that every iteration has ``kept`` are
    linked with themselves alone; all others depend on how many iterations there are, and so on the
    decision. A runtime variable of an iteration has another value in each of them, so it becomes a
    range here, except for the number of the device that asks.
    """
    steps = [link for link in body if link.output not in kept]
    decisions = [
        Link(changed, 0, link.element, _through_decision(link, arrays[changed], direction))
        for changed in range(len(arrays))
        if changed not in kept
        for link in condition
    ]
    edges: dict[int, list[tuple[int, AnyDependence]]] = defaultdict(list)
    for link in (*steps, *decisions):
        begin, end = link.ends(direction)
        edges[begin].append((end, link.dependence.apply(for_any_values)))
    loop = Fixpoint(arrays, edges)
    return _links({begin: loop.reached(begin) for begin in range(len(arrays))}, direction)


def _links(found: Mapping[int, Mapping[int, AnyDependence]], direction: Direction) -> list[Link]:
    """The links between arrays of a state, from the dependences by where they begin and end."""
    is_backward = direction is Direction.OUTPUT_TO_INPUT
    return [
        Link(begin, 0, end, each) if is_backward else Link(end, 0, begin, each)
        for begin, ends in found.items()
        for end, each in ends.items()
    ]


def _through_decision(link: Link, array: Array, direction: Direction) -> AnyDependence:
    """The dependence between an array and the operands of the decision."""
    decision = decided(array, direction)
    if direction is Direction.OUTPUT_TO_INPUT:
        return decision.compose(link.dependence)
    return link.dependence.compose(decision)


class _Meeting(NamedTuple):
    """A dependence between two arrays of some sizes, to which more comes; maybe without end."""

    before: AnyDependence
    more: AnyDependence
    sizes: tuple[tuple[int, ...], tuple[int, ...]]
    is_endless: bool


class Fixpoint:
    """The steps of one iteration, which begin at each array of the state, by their numbers.

    Results for one array are remembered for the others: they often take the same steps.
    """

    def __init__(
        self, arrays: Sequence[Array], steps: Mapping[int, Sequence[tuple[int, AnyDependence]]]
    ) -> None:
        self._sizes = [each.shape.arrays[number].dimensions for each, number in arrays]
        self._interner = Interner()
        self._itself = [self._interner.interned(identity_of(*array)) for array in arrays]
        self._steps = {
            begin: [(end, self._interner.interned(step)) for end, step in each]
            for begin, each in steps.items()
        }
        ways = [way for each in steps.values() for _, step in each for way in step.indexings]
        self._devices = operand_indexing.devices_in(ways)
        self._budget = Budget(self._interner, free=0)
        self._meetings: dict[_Meeting, tuple[AnyDependence, AnyDependence]] = {}

    def reached(self, begin: int) -> dict[int, AnyDependence]:
        """All arrays that steps lead to from one of them, and the dependences on them."""
        found: dict[int, AnyDependence] = {begin: self._itself[begin]}
        fresh = dict(found)
        came: Counter[int] = Counter()
        while fresh:
            position = next(iter(fresh))
            dependence = fresh.pop(position)
            for target, step in self._steps.get(position, ()):
                before = found.get(target, NOTHING)
                more = self._budget.compose(dependence, step)
                sizes = self._sizes[begin], self._sizes[target]
                is_endless = came[target] > limits.MAX_MAPS_OF_LOOP
                found[target], new = self._met(_Meeting(before, more, sizes, is_endless))
                if new != NOTHING:
                    came[target] += len(new.indexings) or 1
                    both = if_known(_all_of, fresh.get(target, NOTHING), new)
                    fresh[target] = self._interner.interned(both)
        return {position: each for position, each in found.items() if each != NOTHING}

    def _met(self, meeting: _Meeting) -> tuple[AnyDependence, AnyDependence]:
        """The dependence between two arrays when more is found, and its new part."""
        before = meeting.before
        if meeting.more is before:
            return before, NOTHING
        if meeting not in self._meetings:
            widest = if_known(partial(_widest, meeting, self._devices), before, meeting.more)
            after = self._interner.interned(widest)
            known = before.indexings
            new = NOTHING if after == before else after.only(lambda each: each not in known)
            self._meetings[meeting] = after, self._interner.interned(new)
        return self._meetings[meeting]


def _widest(
    meeting: _Meeting, devices: Devices | None, before: Dependence, more: Dependence
) -> Dependence:
    """All indexings but those that are parts of others, or one indexing if they do not end."""
    most = limits.MAX_MAPS_OF_LOOP
    left = without_parts(before, more)
    reasons = [each.approximation for each in left if each.approximation]
    goes_on = meeting.is_endless or len(left) > most or (before and reasons)
    if left == before or not goes_on:
        return left
    reason = f"iterations of a loop along more than {most} different maps"
    both = (*before, *more)
    return Dependence([boxed(both, [*reasons, reason][0], *meeting.sizes, devices)])


def without_parts(before: Dependence, more: Dependence) -> Dependence:
    """The indexings that are not parts of others; if they are too many, maybe not all."""
    left: tuple[OperandIndexing, ...] = before
    for one in more:
        if not one.map.is_known_empty and not any(_is_part(one, wide) for wide in left):
            left = (*(other for other in left if not _is_part(other, one)), one)
        if len(left) > limits.MAX_MAPS_OF_LOOP:
            break
    return Dependence(left)


def _is_part(narrow: OperandIndexing, wide: OperandIndexing) -> bool:
    """Whether everything that one indexing relates is seen to be related by another one."""
    is_remote = narrow.replica_id is not None or wide.replica_id is not None
    if is_remote or narrow.runtime != wide.runtime:
        return narrow == wide
    return _has_smaller_domain(narrow.map, wide.map) or (
        bool(narrow.map.ranges and wide.map.ranges) and _reaches_no_further(narrow.map, wide.map)
    )


def _has_smaller_domain(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether the first is the second with less in its domain."""
    less, more = narrow.domain, wide.domain
    is_alike = narrow.forms == wide.forms and less.identifiers == more.identifiers
    return (
        is_alike
        and {*more.constraints} <= {*less.constraints}
        and all(bounds.contains(less.bounds[place]) for place, bounds in more.bounds.items())
    )


def _reaches_no_further(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether isl finds, without much effort, that the second has all pairs of the first."""
    pairs = zip(narrow.result_bounds(), wide.result_bounds(), strict=True)
    is_within = all(theirs.contains(mine) for mine, theirs in pairs)
    return is_within and is_seen_to_be_subset(narrow, wide)


def _all_of(one: Dependence, other: Dependence) -> Dependence:
    """All indexings of both, each once, however many they are."""
    return Dependence(dict.fromkeys(one + other))


# The data flow of a loop that runs a known number of times, iteration by iteration.
#
# The state of such a loop is followed through time: one iteration is a map, and a walk along many
# is a composition. Walks through an array that stays in place, or that is moved by as much in
# every iteration, are one map, and so are those that come back to where they were. Of all others
# it is forgotten how many iterations they took.


def iterated(loop: TimedLoop, body: Iterable[Link], condition: Iterable[Link]) -> list[Link]:
    """The links between the arrays of a loop's state before and after all of its iterations.

    Arguments are those of :func:`ops.analysis.loops.repeated`. The condition decides after every
    iteration, so what is not kept depends on all that it ever reads.
    """
    walks = _Walks(loop, [*body], [*condition])
    return _links({begin: walks.of(begin) for begin in range(len(loop.arrays))}, loop.direction)


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
        start = Dependence((_extended(loop.itself(begin), [forms.constant(loop.trips)]),))
        found = [(end, self._after(start, each)) for end, each in self._left[begin].items()]
        if loop.is_backward and begin not in loop.kept:
            found += self._decisions_behind(begin)
        return {
            end: if_known(without_parts, NOTHING, each) for end, each in self._united(found).items()
        }

    # Arrays that lead to each other.

    @cached_property
    def _component(self) -> Mapping[int, tuple[int, ...]]:
        """Arrays that lead to each one and that it leads to, in order."""
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
        leaving = {each: self._united(self._leaving(each, component)) for each in component}
        for begin, inside in self._inside(component).items():
            found: list[tuple[int, AnyDependence]] = []
            for through, (passing, arriving) in inside.items():
                found.append((through, self._after(arriving, self._loop.arrival(through))))
                found += (
                    (end, self._after(passing, each)) for end, each in leaving[through].items()
                )
            self._left[begin] = self._united(found)

    def _leaving(
        self, number: int, component: Collection[int]
    ) -> Iterator[tuple[int, AnyDependence]]:
        """The walks whose first iteration leads out of a component."""
        for next_, step in self._steps.get(number, {}).items():
            if next_ not in component:
                for end, each in self._left[next_].items():
                    yield end, self._after(step, each)
        if not self._loop.is_backward:
            yield from self._decided_by(number)

    def _inside(self, component: tuple[int, ...]) -> dict[int, dict[int, _WalksInside]]:
        """Walks from each array of a component to the others that do not leave it."""
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
            if orbit:
                inside = orbit.walks(self._loop)
            else:  # how many iterations there were is forgotten
                reached = fixpoint.reached(begin).items()
                some_time = partial(self._loop.after, count=0, period=1)
                inside = {end: each.apply(some_time) for end, each in reached}
            found[begin] = {end: (each, each) for end, each in inside.items()}
        return found

    def _inside_single(self, number: int) -> _WalksInside | None:
        """The walks from an array to itself, if it stays in place or moves evenly."""
        loop = self._loop
        step = self._steps.get(number, {}).get(number, NOTHING)
        if step == NOTHING:
            stays = Dependence((loop.at_once(number),))
            return stays, stays
        shift = _shift(step)
        if shift is None:
            return None
        moved = Dependence((loop.moved(number, shift),))
        window = loop.windows.get(number)
        if window is None or any(shift) or len(step.indexings) > 1:
            return moved, moved
        spared = Dependence((loop.at_once(number), loop.spared(number, window)))
        # A walk back goes on from what an iteration writes, and a later one writes elsewhere.
        is_written_once = loop.is_backward and window.is_disjoint
        return moved if is_written_once else spared, spared

    # Decisions.

    def _decisions_behind(self, begin: int) -> Iterator[tuple[int, AnyDependence]]:
        """The dependence of all decisions on arrays that an array before them depends on."""
        decision = decided(self._loop.arrays[begin], self._loop.direction)
        for link in self._condition:
            read = decision.compose(link.dependence).apply(self._loop.ever)
            for end, each in self._left[link.element].items():
                yield end, self._after(read, each)

    def _decided_by(self, number: int) -> Iterator[tuple[int, AnyDependence]]:
        """Arrays that depend on an array because decisions depend on it: all that change."""
        loop = self._loop
        changed = [each for each in range(len(loop.arrays)) if each not in loop.kept]
        for link in self._condition:
            if link.element == number:
                for end in changed:
                    all_of_it = decided(loop.arrays[end], loop.direction)
                    yield end, link.dependence.compose(all_of_it).apply(loop.whenever)

    def _united(self, found: Iterable[tuple[int, AnyDependence]]) -> dict[int, AnyDependence]:
        """All dependences on each array as one."""
        by_end: defaultdict[int, list[AnyDependence]] = defaultdict(list)
        for end, each in found:
            by_end[end].append(each)
        united = {
            end: each[0].union(*each[1:], sizes=self._loop.sizes(end))
            for end, each in by_end.items()
        }
        return {end: each for end, each in united.items() if each != NOTHING}


_WalksInside: TypeAlias = "tuple[AnyDependence, AnyDependence]"
"""The walks between two arrays that lead on from there, and those that may end there."""


@dataclass(frozen=True, slots=True)
class _Orbit:
    """The walk of iterations from an array, if it comes back to an array that it left.

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
                    row[end] = if_known(_all_of, row.get(end, NOTHING), more)
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
    return row.keys() == other.keys() and all({*row[end]} == {*other[end]} for end in row)


def _existing(dependence: AnyDependence) -> AnyDependence:
    """The dependence without maps that have no point, and with as few ranges as may be."""
    least = dependence.apply(_without_determined_ranges)
    return least.only(lambda each: not each.map.is_known_empty)


def _without_determined_ranges(indexing: OperandIndexing) -> OperandIndexing:
    if indexing.runtime or indexing.replica_id is not None:
        return indexing
    fewer = _with_fewer_ranges(indexing.map)
    return indexing if fewer is indexing.map else replace(indexing, map=fewer)


@lru_cache(maxsize=limits.MAX_REMEMBERED_COMPOSITIONS)
def _with_fewer_ranges(index: IndexingMap) -> IndexingMap:
    """The map without determined ranges; the layers in a loop lead along few different ones."""
    fewer = from_zero(without_determined_ranges(index))
    return index if fewer is index else fewer.simplify()


def _shift(step: AnyDependence) -> tuple[int, ...] | None:
    """Distance that an iteration moves elements, if it is the same for all of them."""
    shifts = {_shift_of(each) for each in step.indexings}
    return shifts.pop() if len(shifts) == 1 else None


def _shift_of(step: OperandIndexing) -> tuple[int, ...] | None:
    if step.runtime or step.replica_id is not None or step.approximation:
        return None
    *moved, _ = (form - index_maps.dim(axis) for axis, form in enumerate(step.map.forms))
    is_even = all(each.is_constant for each in moved)
    return tuple(each.constant for each in moved) if is_even else None


# The maps of a counted loop through time: one iteration, none, or any number of them.
#
# Where iterations are left to be walked, their number stands behind the index of an element. So
# one iteration is a map from `(..., n)` to `(..., n - 1)`, which may use the counter of the loop.


@dataclass(frozen=True, slots=True)
class TimedLoop:
    """A counted loop, followed in one direction: its state, and the arrays that stay in place."""

    counted: CountedLoop
    arrays: Sequence[Array]
    kept: Collection[int]
    direction: Direction
    windows: Mapping[int, UpdateWindow]

    @property
    def is_backward(self) -> bool:
        """Whether walks lead from results to operands."""
        return self.direction is Direction.OUTPUT_TO_INPUT

    @property
    def trips(self) -> int:
        """The number of iterations."""
        return self.counted.trip_count

    def sizes(self, number: int) -> tuple[int, ...]:
        """The sizes of an array of the state."""
        instruction, element = self.arrays[number]
        return instruction.shape.arrays[element].dimensions

    def timed(self, number: int) -> list[Interval]:
        """The extents of the elements of an array, and how many iterations may be left."""
        extents = [Interval(0, size - 1) for size in self.sizes(number)]
        return [*extents, Interval(0, self.trips)]

    def index(self, number: int) -> list[Form]:
        """An element of an array, and how many iterations are left, as variables."""
        return [*map(index_maps.dim, range(len(self.sizes(number)) + 1))]

    # One iteration.

    def step(self, indexing: OperandIndexing) -> OperandIndexing:
        """One iteration, from a map of the body that holds for any of them."""
        left = index_maps.dim(len(indexing.map.dims))
        value = self.counted.induction.after(left - 1 if self.is_backward else -left + self.trips)
        loop = self.counted.instruction
        known = {n: value for n, origin in enumerate(indexing.runtime) if origin.loop is loop}
        extended = _extended(indexing, [left - 1], dims=[Interval(1, self.trips)])
        return operand_indexing.jointly(extended, lambda joint: joint.for_any_values(), known)

    def stay(self, number: int) -> OperandIndexing:
        """One iteration of an array that is kept."""
        return self.after(self.itself(number), count=1, period=0)

    # Any number of iterations.

    def at_once(self, number: int) -> OperandIndexing:
        """No iteration."""
        return self.after(self.itself(number), count=0, period=0)

    def moved(self, number: int, shift: Sequence[int]) -> OperandIndexing:
        """Iterations that each move elements by as much."""
        extents = self.timed(number)
        *index, left = self.index(number)
        after = index_maps.symbol(0)
        moved = [each + (left - after) * by for each, by in zip(index, shift, strict=True)]
        within = [*zip(moved, extents, strict=False), (left - after, extents[-1])]
        return OperandIndexing(index_maps.index_map([*moved, after], extents, extents[-1:], within))

    def spared(self, number: int, window: UpdateWindow) -> OperandIndexing:
        """One iteration or more, of the elements that none of them overwrites."""
        extents = self.timed(number)
        *index, left = self.index(number)
        after = index_maps.symbol(0)
        first, last = after, left - 1
        if not self.is_backward:
            first, last = -left + self.trips, -after + (self.trips - 1)
        within = [
            (window.outside(first, last), Interval(1, None)),
            (left - after, Interval(1, self.trips)),
        ]
        return OperandIndexing(index_maps.index_map([*index, after], extents, extents[-1:], within))

    def arrival(self, number: int) -> AnyDependence:
        """The elements of an array when no iteration is left."""
        return Dependence((_extended(self.itself(number), dims=[Interval(0, 0)]),))

    def itself(self, number: int) -> OperandIndexing:
        """An array, without time."""
        return OperandIndexing(IndexingMap.identity(self.sizes(number)))

    def after(self, indexing: OperandIndexing, count: int, period: int) -> OperandIndexing:
        """A number of iterations, or so many more as are a multiple of a period."""
        left = index_maps.dim(len(indexing.map.dims))
        if not period:
            return _extended(indexing, [left - count], dims=[Interval(count, self.trips)])
        times, after = Interval(0, self.trips), index_maps.symbol(len(indexing.map.ranges))
        wide = _extended(indexing, [after], dims=[times], ranges=[times])
        more = left - after - count
        timed = index_maps.constrained(wide.map, more, times)
        return replace(wide, map=index_maps.constrained(timed, more % period, Interval(0, 0)))

    def ever(self, indexing: OperandIndexing) -> OperandIndexing:
        """The same, ending when any number of iterations is left."""
        after = index_maps.symbol(len(indexing.map.ranges))
        return _extended(indexing, [after], ranges=[Interval(0, self.trips)])

    def whenever(self, indexing: OperandIndexing) -> OperandIndexing:
        """The same, beginning when any number of iterations is left."""
        return _extended(indexing, dims=[Interval(0, self.trips)])


def for_any_iteration(indexing: OperandIndexing) -> OperandIndexing:
    """The indexing in any iteration; clamped and divided counters may have any value there."""
    if not indexing.runtime:
        return indexing
    found = for_any_values(indexing)
    own = found.map
    free = [each.bounds for each in own.domain.ranges]
    results: list[Form] = []
    for form, bounds in zip(own.forms, own.result_bounds(), strict=True):
        if _is_affine_in_ranges(form, len(own.domain.ranges)):
            results.append(form)
        else:
            results.append(index_maps.symbol(len(free)))
            free.append(bounds)
    affine = [each for each in own.domain.constraints if _is_affine_in_ranges(each[0], len(free))]
    domain = replace(own.domain, ranges=tuple(map(Variable, free)), constraints=())
    relaxed = IndexingMap.from_forms(results, domain.constrained(affine))
    return replace(found, map=relaxed.simplify())


def _is_affine_in_ranges(form: Form, count: int) -> bool:
    """Whether no quotient or extremum has a range in it."""
    ranges = {f"s{number}" for number in range(count)}
    inner = (argument for atom in form.terms for argument in atom.arguments)
    return ranges.isdisjoint(forms.variables_of(inner))


def _extended(
    indexing: OperandIndexing,
    results: Sequence[Form] = (),
    *,
    dims: Sequence[Interval] = (),
    ranges: Sequence[Interval] = (),
) -> OperandIndexing:
    """The indexing with more results, and more variables behind its dimensions and ranges."""
    own = indexing.map
    wider = replace(
        own.domain,
        dims=(*own.domain.dims, *map(Variable, dims)),
        ranges=(*own.domain.ranges, *map(Variable, ranges)),
    )
    return replace(indexing, map=IndexingMap.from_forms((*own.forms, *results), wider))


# Updates in place: which part of an array of its state each iteration of a loop overwrites.


class UpdateWindow(NamedTuple):
    """The part that each iteration overwrites: ``size`` indices of one dimension from an offset.

    The offset is ``start`` in the first iteration, and ``step`` more in each further one. Of all
    other dimensions every index is overwritten.
    """

    axis: int
    start: int
    step: int
    size: int

    @property
    def is_disjoint(self) -> bool:
        """Whether no two iterations overwrite the same element."""
        return abs(self.step) >= self.size

    def outside(self, first: Form, last: Form) -> Form:
        """A form that is positive at the elements that none of some iterations overwrites.

        >>> form = UpdateWindow(0, 2, 4, 4).outside(forms.constant(0), index_maps.dim(1))
        >>> print(form)
        max(-d0 + 2, d0 - d1 * 4 - 5)
        """
        low, high = (first, last) if self.step >= 0 else (last, first)
        begin = low * self.step + self.start
        end = high * self.step + (self.start + self.size - 1)
        sides = [begin - index_maps.dim(self.axis), index_maps.dim(self.axis) - end]
        if abs(self.step) > self.size:
            place = index_maps.dim(self.axis) - self.start
            sides.append(place % abs(self.step) - (self.size - 1))
        return forms.maximum(sides)


def windows_of(loop: CountedLoop) -> dict[int, UpdateWindow]:
    """The arrays of a loop's state that are updated in place by windows along one dimension.

    An array whose update is more complicated is none of them.
    """
    body = loop.instruction.attributes["body"]
    (state,) = body.parameters
    found: dict[int, UpdateWindow] = {}
    for number in range(len(state.shape.arrays)):
        update, _ = source_of((body.root, number), (state,))
        if update.opcode == "dynamic-update-slice":
            target = source_of((update.operands[0], 0), (state,))
            window = window_of(update, loop) if target == (state, number) else None
            if window:
                found[number] = window
    return found


def window_of(update: Instruction, loop: CountedLoop) -> UpdateWindow | None:
    """The window that a ``dynamic-update-slice`` overwrites in each iteration, if it is one."""
    operand, part, *starts = update.operands
    sizes, part_sizes = operand.shape.dimensions, part.shape.dimensions
    cut = [axis for axis, size in enumerate(sizes) if part_sizes[axis] != size]
    if len(cut) != 1 or len(starts) != len(sizes):
        return None
    (axis,) = cut
    size = part_sizes[axis]
    offset = offset_of(starts[axis], loop, Interval(0, sizes[axis] - size))
    return offset and UpdateWindow(axis, *offset, size)


def offset_of(start: Instruction, loop: CountedLoop, clamp: Interval) -> tuple[int, int] | None:
    """A clamped start index in the first iteration, and the step that each further one adds."""
    iterations = index_maps.index_map((), (Interval(0, loop.trip_count - 1),))
    value = value_of(start, Element(iterations, None, loop.given_after(_ITERATION)))
    if value is None:
        return None
    form = clamped(value, clamp, iterations)
    step = next(iter(form.terms.values()), 0)
    rest = form - _ITERATION * step
    return (rest.constant, step) if rest.is_constant else None


_ITERATION: Final = index_maps.dim(0)
