"""Slices of a fusion: what an array depends on, and what depends on it, also in what is called.

From any instruction of a fusion a slice leads on in its computation, into the computations that are
called there, and out to where its own computation is called.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ops.analysis.findings import flow_in
from ops.analysis.loops import chosen, decided
from ops.analysis.slices import Arrival, Level, arrive, levels_inside
from ops.rules.op_indexing import Direction
from ops.rules.sources import kept_by
from simplifier.tools.postorder import postorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
            result = caller, calls.first_output(caller) + number
            for choice, call in enumerate(calls.choices):
                if call.computation is root.computation:
                    yield result, chosen(result, calls, choice)
        elif root is calls.condition.root:
            for output in caller.shape.array_indices:
                if output not in kept:
                    yield (caller, output), decided((caller, output), flow.direction)
        else:
            for link in flow.links_from(caller, 0):
                if link.element == number:
                    yield (caller, link.output), link.dependence


@dataclass(frozen=True)
class Region:
    """Instructions of one computation, and all that they call.

    ``entered`` are the called computations in which a question is followed; ``None`` for all.
    Nothing goes through the other instructions of the computation: it may have many.
    """

    instructions: tuple[Instruction, ...]
    registry: Registry
    entered: frozenset[Computation] | None = None

    @property
    def computation(self) -> Computation:
        """The computation that the instructions are of."""
        return self.instructions[0].computation

    @cached_property
    def members(self) -> frozenset[Instruction]:
        """The instructions, to look them up."""
        return frozenset(self.instructions)

    def __contains__(self, instruction: Instruction) -> bool:
        return instruction in self.members or instruction.computation in self.call_sites

    def limit(self, computation: Computation) -> frozenset[Instruction] | None:
        """The instructions of a computation that are in the region; ``None`` for all."""
        is_all = len(self.members) == len(self.computation.instructions)
        return None if is_all or computation is not self.computation else self.members

    def callees(self, computation: Computation) -> Sequence[Computation]:
        """What the instructions of a computation that are in the region call, each once."""
        return self._callees.get(computation, ())

    def computations_to(self, instruction: Instruction) -> frozenset[Computation]:
        """Its computation, and those that call it, directly or not."""
        return frozenset(postorder([instruction.computation], self._callers))

    def towards(self, target: Instruction) -> Region:
        """The region with what paths to an instruction can lead through, and nothing else."""
        computations = self.computations_to(target)
        users: dict[Instruction, list[Instruction]] = defaultdict(list)
        begins = [target]
        for each in self.instructions:
            calls = self.registry.calls(each)
            if calls and not computations.isdisjoint(calls.computations):
                begins.append(each)
            for operand in each.operands:
                users[operand].append(each)
        leading = {*postorder(begins, lambda each: users.get(each, ()))}
        through = tuple(each for each in self.instructions if each in leading)
        return Region(through or self.instructions, self.registry, computations)

    def _callers(self, computation: Computation) -> list[Computation]:
        return [site.caller.computation for site in self.call_sites.get(computation, ())]

    @cached_property
    def call_sites(self) -> Mapping[Computation, list[CallSite]]:
        """The call sites in the region, by the computation that is called there."""
        sites: dict[Computation, list[CallSite]] = defaultdict(list)
        waiting = [*self.instructions]
        while waiting:
            caller = waiting.pop()
            calls = self.registry.calls(caller)
            if calls:
                body = calls.choices[0].computation
                kept = kept_by(body, self.registry.routes) if calls.condition else frozenset[int]()
                for callee in dict.fromkeys(calls.computations):
                    waiting += () if callee in sites else callee.instructions
                    sites[callee].append(CallSite(caller, calls, kept))
        return dict(sites)

    @cached_property
    def _callees(self) -> Mapping[Computation, Sequence[Computation]]:
        called: dict[Computation, dict[Computation, None]] = defaultdict(dict)
        for callee, sites in self.call_sites.items():
            for site in sites:
                called[site.caller.computation][callee] = None
        return {caller: tuple(reversed(callees)) for caller, callees in called.items()}


def backward_slice(start: Array, region: Region) -> list[Level]:
    """The levels from an array to all that it depends on, through the instructions of a region.

    What is in a called computation stands for all its runs.
    """
    flow = flow_in(region.computation.module, Direction.OUTPUT_TO_INPUT, region.registry)
    begun = {start[0].computation: Level.at(start)}
    levels: list[Level] = []
    for computation in postorder([region.computation], region.callees):
        if computation not in begun:
            continue
        level = begun[computation]
        inside = region.limit(computation)
        levels += levels_inside(level, flow, inside, region.entered, region.callees)
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
    for computation in postorder([region.computation], region.callees):
        if computation not in begun:
            continue
        level = begun[computation].follow(flow, region.limit(computation))
        levels.append(level)
        for site in region.call_sites.get(computation, ()):
            for array in (array for array in level.reached if array[0] is computation.root):
                for crossing in site.behind_root(array, flow):
                    arrive(begun, Arrival(level, array, crossing, site.caller))
    return levels
