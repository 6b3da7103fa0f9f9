"""The instructions of a fusion with what they call, and the ways out of what is called."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ops.analysis.answers import called_by
from ops.analysis.chaining import followed
from ops.analysis.control_flow import Direction, decided, kept_arrays
from ops.analysis.graphs import postorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.analysis.answers import Answer
    from ops.analysis.graphs import Array
    from ops.analysis.paths import Paths, Reached
    from ops.hlo import Computation, Instruction
    from ops.rules.registry import Registry
    from ops.rules.rule import Calls


class CallSite(NamedTuple):
    """An instruction that calls computations, and which ones.

    ``kept`` are the numbers of the arrays in a loop's state that no round changes.
    """

    caller: Instruction
    calls: Calls
    kept: frozenset[int]


@dataclass(frozen=True, slots=True)
class Region:
    """Instructions of one computation, and all that they call.

    ``call_sites`` are those in the region, by the computation that is called there.
    """

    members: frozenset[Instruction]
    registry: Registry
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
        """The region with those members alone from which paths can lead to an instruction."""
        computations = self.computations_to(target)
        leading = {target}
        for each in self.computation.instructions:
            calls = self.registry.calls(each)
            is_entered = calls and not computations.isdisjoint(calls.computations)
            if is_entered or not leading.isdisjoint(each.operands):
                leading.add(each)
        return Region(self.members & leading or self.members, self.registry)

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


def ends_of(computation: Computation, direction: Direction) -> tuple[Instruction, ...]:
    """Where paths leave a computation: its parameters, or its root."""
    return computation.parameters if direction is Direction.OUTPUT_TO_INPUT else (computation.root,)


def behind_parameter(
    array: Array, answer: Answer, site: CallSite, paths: Paths
) -> Iterator[Reached]:
    """What an array of a parameter is made of where its computation is called.

    ``answer`` are the maps that lead to the array, and ``paths`` lead from outputs to inputs. The
    parameter of a loop is the state before some round: what the loop begins with, or what its
    rounds made of that.
    """
    (parameter, number), (caller, calls, _) = array, site
    answer = called_by(caller, answer)
    if calls.condition:
        for link in paths.links_from(caller, number):
            yield (caller.operands[0], link.element), followed(answer, link.answer)
        yield from paths.entered(caller, number, answer)
        return
    for call in calls.choices:
        if call.computation is parameter.computation:
            operand = call.operands[parameter.parameter_number or 0]
            yield (caller.operands[operand], number), answer


def behind_root(array: Array, answer: Answer, site: CallSite, paths: Paths) -> Iterator[Reached]:
    """What an array of a root takes part in where its computation is called.

    ``answer`` are the maps that lead to the array, and ``paths`` lead from inputs to outputs. The
    root of a loop is the state after some round, or the decision that there is another one.
    """
    (root, number), (caller, calls, kept) = array, site
    answer = called_by(caller, answer)
    if calls.condition is None:
        yield (caller, calls.first_output(caller) + number), answer
    elif root is calls.condition.root:
        for output, shape in enumerate(caller.shape.arrays):
            if output not in kept:
                decision = decided(shape, Direction.INPUT_TO_OUTPUT)
                yield (caller, output), followed(answer, decision)
    else:
        for link in paths.links_from(caller, 0):
            if link.element == number:
                yield (caller, link.output), followed(answer, link.answer)
