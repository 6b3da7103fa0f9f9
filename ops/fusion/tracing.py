"""Trails through the instructions of a fusion: along the answers that its analysis gives."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from ops.analysis.answers import called_by
from ops.analysis.chaining import MOST_MAPS, followed, joined
from ops.analysis.control_flow import Direction, decided
from ops.analysis.findings import paths_in
from ops.analysis.graphs import postorder
from ops.analysis.patterns import identity_of
from ops.fusion.region import behind_parameter
from ops.fusion.trails import Step, Trail, answer_of, beginning, trail_at, ways_of
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ops.analysis.answers import Answer
    from ops.analysis.graphs import Array
    from ops.analysis.paths import Reached
    from ops.fusion.region import Region
    from ops.fusion.trails import Trails, Way
    from ops.hlo import Computation, Instruction
    from ops.rules.rule import Calls

    Begun = dict[Computation, Trails]
    Further = tuple[Array, Answer | None, Trail | None]
    """A neighbour, the maps that lead there, and the paths inside of what is called on the way."""


def trails_to(target: Instruction, start: Array, region: Region) -> list[Trail]:
    """The trails from an array to the arrays of an instruction, through a region."""
    return _Tracing(target, region).trails_from(start)


class _Tracing:
    """Steps along trails as :mod:`ops.fusion.reaching` does along answers."""

    def __init__(self, target: Instruction, region: Region) -> None:
        self._target = target
        self._region = region
        module = region.computation.module
        self._paths = paths_in(module, Direction.OUTPUT_TO_INPUT, region.registry)
        self._inside: dict[Array, Trails] = {}
        self._found: list[Trail] = []
        self._leading = region.computations_to(target)
        """The computations from which paths can enter that of the target."""

    def trails_from(self, start: Array) -> list[Trail]:
        """The trails from an array to the target."""
        begun: Begun = {start[0].computation: beginning(start)}
        order = postorder([self._region.computation], self._paths.callees)
        for computation in order:
            self._summarize(computation)
        for computation in order:
            if begun.get(computation):
                level = self._inwards(computation, begun[computation])
                self._outwards(computation, level, begun)
        return self._found

    def _leading_callees(self, computation: Computation) -> list[Computation]:
        return [callee for callee in self._paths.callees(computation) if callee in self._leading]

    # Between computations.

    def _summarize(self, computation: Computation) -> None:
        """The trails from the root of what is called, other than by a loop, to its parameters."""
        sites = self._region.call_sites.get(computation, ())
        if any(site.calls.condition is None for site in sites):
            for number in range(len(computation.root.shape.arrays)):
                trails = self._within(computation, beginning((computation.root, number)))
                self._inside[computation.root, number] = {
                    array: ways
                    for array, ways in trails.items()
                    if array[0] in computation.parameters
                }

    def _inwards(self, computation: Computation, starts: Trails) -> Trails:
        """The trails in a computation, when those in what it calls have been followed, too."""
        begun: Begun = {computation: starts}
        level: Trails = {}
        for inner in reversed(postorder([computation], self._leading_callees)):
            if inner in begun:
                trails = self._within(inner, begun[inner])
                level = trails if inner is computation else level
                self._collect(trails)
                self._enter(trails, begun)
        return level

    def _collect(self, trails: Trails) -> None:
        ends = (ways for array, ways in trails.items() if array[0] is self._target)
        self._found += [trail for ways in ends for trail in ways.values() if trail.count]

    def _enter(self, trails: Trails, begun: Begun) -> None:
        """Step into called computations that lead to the target."""
        for (instruction, number), ways in trails.items():
            calls = self._calls(instruction)
            if calls and not self._leading.isdisjoint(calls.computations):
                for trail in ways.values():
                    entered = self._paths.entered(instruction, number, answer_of(trail.way))
                    _arrive(entered, trail, begun)

    def _outwards(self, computation: Computation, level: Trails, begun: Begun) -> None:
        """Step out to where a computation is called, or into earlier rounds of a loop."""
        for site in self._region.call_sites.get(computation, ()):
            outside = site.caller.computation
            reached: Begun = {outside: begun.setdefault(outside, {})}
            for array in (array for array in level if array[0] in computation.parameters):
                for way, trail in level[array].items():
                    behind = behind_parameter(array, answer_of(way), site, self._paths)
                    _arrive(behind, trail, reached)
            for inner, starts in reached.items():
                if inner is not outside:
                    self._inwards(inner, starts)

    # In one computation.

    def _within(self, computation: Computation, begun: Trails) -> Trails:
        """All trails from some arrays of a computation to others."""

        def targets(array: Array) -> list[Array]:
            return [target for target, *_ in self._steps_from(array)]

        starts = {array: _joined(ways) for array, ways in begun.items()}
        answers = self._paths.follow(starts, self._region.limit(computation))
        trails = {array: _untrodden(array, answer) for array, answer in answers.items()}
        for array, ways in begun.items():
            trails[array] |= ways
        for array in reversed(postorder(begun, targets)):
            steps = self._steps_from(array)
            for trail in [trail for trail in trails[array].values() if trail.count]:
                for target, step, inside in steps:
                    for way in ways_of(_after(trail.way, step)):
                        kept = _kept(way, trails[target])
                        trail_at(trails, target, kept).arrive(Step(trail, inside))
        return trails

    def _calls(self, instruction: Instruction) -> Calls | None:
        """What an instruction of the region calls."""
        return self._region.registry.calls(instruction) if instruction in self._region else None

    def _steps_from(self, array: Array) -> list[Further]:
        """The neighbours of an array in its computation; what a loop does is one step."""
        instruction, output = array
        if instruction not in self._region:
            return []
        calls = self._calls(instruction)
        if calls and calls.condition is None:
            root = calls.choices[0].computation.root
            inner = output - calls.first_output(instruction)
            if inner in range(len(root.shape.arrays)):
                return [*self._through(array, calls, inner)]
        return [(target, step, None) for target, step in self._paths.steps_from(array)]

    def _through(self, array: Array, calls: Calls, inner: int) -> Iterator[Further]:
        """From a result to the operands, along trails in what is called, and to what chooses."""
        instruction, output = array
        result = instruction.shape.arrays[output]
        for call in calls.choices:
            for (parameter, element), ways in self._inside[call.computation.root, inner].items():
                operand = instruction.operands[call.operands[parameter.parameter_number or 0]]
                for way, inside in ways.items():
                    if inside.count:
                        answer = called_by(instruction, answer_of(way))
                        step = None if answer == identity_of(result) else answer
                        yield (operand, element), step, inside
        if calls.selector is not None:
            decision = decided(result, Direction.OUTPUT_TO_INPUT)
            yield (instruction.operands[calls.selector], 0), decision, None


def _arrive(reached: Iterable[Reached], trail: Trail, begun: Begun) -> None:
    """Begin in other computations where one is left."""
    for target, answer in reached if trail.count else ():
        trails = begun.setdefault(target[0].computation, {})
        for way in ways_of(answer):
            trail_at(trails, target, way).arrive(Step(trail))


def _untrodden(array: Array, answer: Answer) -> dict[Way, Trail]:
    """The trails that the analysis knows of."""
    return {way: Trail(array, way) for way in ways_of(answer)}


def _joined(ways: Iterable[Way]) -> Answer:
    return joined(*map(answer_of, ways))


def _after(way: Way, step: Answer | None) -> Answer:
    return answer_of(way) if step is None else followed(answer_of(way), step)


def _kept(way: Way, ways: Mapping[Way, Trail]) -> Way:
    """The map itself; or what stands for it in the analysis, where there are too many.

    That is the one that holds them all; beside an unknown one some are told apart.
    """
    if way in ways:
        return way
    wide = (each for each in ways if not isinstance(each, Unknown) and each.approximation)
    unknown = (each for each in ways if isinstance(each, Unknown) and len(ways) >= MOST_MAPS)
    return next(chain(wide, unknown), way)
