"""Slices of a fusion: what an array depends on, and what depends on it, also in what is called.

From any instruction of a fusion a slice leads on in its computation, into the computations that are
called there, and out to where its own computation is called.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ops.analysis.dataflow import postorder
from ops.analysis.findings import flow_in
from ops.analysis.loops import decided, kept_arrays
from ops.analysis.slices import Arrival, Level, arrive, levels_inside
from ops.rules.op_indexing import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.analysis.calls import Crossing, DataFlow
    from ops.analysis.dataflow import Array
    from ops.hlo import Computation, Instruction
    from ops.rules.registry import Registry
    from ops.rules.rule import Calls


class CallSite(NamedTuple):
    """An instruction that calls computations, and which ones.

    ``kept`` are the numbers of the arrays in a loop's state that no iteration changes.
    """

    caller: Instruction
    calls: Calls
    kept: frozenset[int]

    def behind_parameter(self, array: Array, flow: DataFlow) -> Iterator[Crossing]:
        """What an array of a parameter is made of where its computation is called.

        ``flow`` leads from outputs to inputs. The parameter of a loop is the state before some
        iteration: what the loop begins with, or what its iterations made of that.
        """
        (parameter, number), (caller, calls, _) = array, self
        if calls.condition:
            for link in flow.links_from(caller, number):
                yield (caller.operands[0], link.element), link.dependence
            yield from flow.entries(caller, number)
            return
        for call in calls.choices:
            if call.computation is parameter.computation:
                operand = call.operands[parameter.parameter_number or 0]
                yield (caller.operands[operand], number), None

    def behind_root(self, array: Array, flow: DataFlow) -> Iterator[Crossing]:
        """What depends on an array of a root where its computation is called.

        ``flow`` leads from inputs to outputs. The root of a loop is the state after some iteration,
        or the decision that there is another one.
        """
        (root, number), (caller, calls, kept) = array, self
        if calls.condition is None:
            yield (caller, calls.first_output(caller) + number), None
        elif root is calls.condition.root:
            for output in caller.shape.array_indices:
                if output not in kept:
                    yield (caller, output), decided((caller, output), flow.direction)
        else:
            for link in flow.links_from(caller, 0):
                if link.element == number:
                    yield (caller, link.output), link.dependence


@dataclass(frozen=True, slots=True)
class Region:
    """Instructions of one computation, and all that they call.

    ``entered`` are the called computations in which a question is followed; ``None`` for all.
    ``call_sites`` are those in the region, by the computation that is called there.
    """

    members: frozenset[Instruction]
    registry: Registry
    entered: frozenset[Computation] | None = None
    computation: Computation = field(init=False)
    call_sites: Mapping[Computation, list[CallSite]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "computation", next(iter(self.members)).computation)
        object.__setattr__(self, "call_sites", self._call_sites())

    def __contains__(self, instruction: Instruction) -> bool:
        return instruction in self.members or instruction.computation in self.call_sites

    def limit(self, computation: Computation) -> frozenset[Instruction] | None:
        """The instructions of a computation that are in the region; ``None`` for all."""
        is_all = len(self.members) == len(self.computation.instructions)
        return None if is_all or computation is not self.computation else self.members

    def computations_to(self, instruction: Instruction) -> frozenset[Computation]:
        """Its computation, and those that call it, directly or not."""
        return frozenset(postorder([instruction.computation], self._callers))

    def towards(self, target: Instruction) -> Region:
        """The region with what paths to an instruction can lead through, and nothing else."""
        computations = self.computations_to(target)
        leading = {target}
        for each in self.computation.instructions:
            calls = self.registry.calls(each)
            is_entered = calls and not computations.isdisjoint(calls.computations)
            if is_entered or not leading.isdisjoint(each.operands):
                leading.add(each)
        return Region(self.members & leading or self.members, self.registry, computations)

    def _callers(self, computation: Computation) -> list[Computation]:
        return [site.caller.computation for site in self.call_sites.get(computation, ())]

    def _call_sites(self) -> Mapping[Computation, list[CallSite]]:
        sites: dict[Computation, list[CallSite]] = defaultdict(list)
        waiting = [each for each in self.computation.instructions if each in self.members]
        while waiting:
            caller = waiting.pop()
            calls = self.registry.calls(caller)
            if calls:
                body = calls.choices[0].computation
                kept = kept_arrays(body, self.registry) if calls.condition else frozenset[int]()
                for callee in dict.fromkeys(calls.computations):
                    waiting += () if callee in sites else callee.instructions
                    sites[callee].append(CallSite(caller, calls, kept))
        return sites


def backward_slice(start: Array, region: Region) -> list[Level]:
    """The levels from an array to all that it depends on, through the instructions of a region.

    What is in a called computation stands for all its runs.
    """
    flow = flow_in(region.computation.module, Direction.OUTPUT_TO_INPUT, region.registry)
    begun = {start[0].computation: Level.at(start)}
    levels: list[Level] = []
    for computation in postorder([region.computation], flow.callees):
        if computation not in begun:
            continue
        level = begun[computation]
        levels += levels_inside(level, flow, region.limit(computation), region.entered)
        parameters = [array for array in level.reached if array[0].parameter_number is not None]
        for site in region.call_sites.get(computation, ()):
            outside = site.caller.computation
            reached = {outside: begun[outside]} if outside in begun else {}
            for array in parameters:
                for crossing in site.behind_parameter(array, flow):
                    arrive(reached, Arrival(level, array, crossing, site.caller))
            if outside in reached:
                begun[outside] = reached.pop(outside)
            for earlier in reached.values():  # what an iteration of a loop before this one reaches
                levels += levels_inside(earlier, flow, entered=region.entered)
    return levels


def forward_slice(start: Array, region: Region) -> list[Level]:
    """The levels from an array to all that depends on it, in its computation and its callers."""
    flow = flow_in(region.computation.module, Direction.INPUT_TO_OUTPUT, region.registry)
    begun = {start[0].computation: Level.at(start)}
    levels: list[Level] = []
    for computation in postorder([region.computation], flow.callees):
        if computation not in begun:
            continue
        level = begun[computation].follow(flow, region.limit(computation))
        levels.append(level)
        for site in region.call_sites.get(computation, ()):
            for array in (array for array in level.reached if array[0] is computation.root):
                for crossing in site.behind_root(array, flow):
                    arrive(begun, Arrival(level, array, crossing, site.caller))
    return levels
