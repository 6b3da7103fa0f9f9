"""The arrays of a fusion as a graph, with one node for each run of what it calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ops.analysis.findings import flow_in
from ops.dependence.dependence import called_by
from ops.dependence.links import identity_of
from ops.rules.op_indexing import Direction
from simplifier.tools.postorder import topological_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.analysis.calls import DataFlow
    from ops.dependence.dependence import AnyDependence
    from ops.fusion import Fusion
    from ops.hlo import Instruction
    from ops.rules.rule import Call


class FlowNode(NamedTuple):
    """An array of an instruction's result, in the run that the callers make, outermost first."""

    instruction: Instruction
    element: int = 0
    callers: tuple[Instruction, ...] = ()


class FlowStep(NamedTuple):
    """From an array to one that it depends on, or that depends on it.

    Without a dependence, each element leads to its like. ``operand`` is the number of the operand
    of ``instruction`` that one of the two arrays is; ``callers`` are those of its run.
    """

    target: FlowNode
    instruction: Instruction
    operand: int
    dependence: AnyDependence | None
    callers: tuple[Instruction, ...] = ()


@dataclass(frozen=True)
class Flow:
    """Follows the arrays of a fusion in one direction, into all that runs once."""

    fusion: Fusion
    direction: Direction

    def nodes_from(self, starts: Iterable[FlowNode]) -> list[FlowNode]:
        """All arrays that can be reached, each before those that it leads to, else in order."""
        firsts = tuple(starts)
        return topological_order(firsts, lambda at: [to.target for to in self.steps_from(at)])

    def steps_from(self, at: FlowNode) -> list[FlowStep]:
        """The steps from an array."""
        backward = self.direction is Direction.OUTPUT_TO_INPUT
        return list(self._to_operands(at) if backward else self._to_users(at))

    def result(self, node: FlowNode) -> FlowNode:
        """The array that an element of a tuple is."""
        while node.instruction.opcode == "tuple":
            (step,) = Flow(self.fusion, Direction.OUTPUT_TO_INPUT).steps_from(node)
            node = step.target
        return node

    def source(self, node: FlowNode) -> FlowNode:
        """The array that is passed on as this one, through tuples and into what runs once."""
        backward = Flow(self.fusion, Direction.OUTPUT_TO_INPUT)
        while backward.passes_on(node.instruction) and (steps := backward.steps_from(node)):
            node = steps[0].target
        return node

    def passes_on(self, instruction: Instruction) -> bool:
        """Whether each array of a result is another array as it is."""
        registry = self.fusion.registry
        return bool(registry.routes(instruction) or self._only_call(instruction))

    @cached_property
    def _flow(self) -> DataFlow:
        module = self.fusion.computation.module
        return flow_in(module, self.direction, self.fusion.registry)

    @cached_property
    def _members(self) -> frozenset[Instruction]:
        return frozenset(self.fusion.instructions)

    def _only_call(self, instruction: Instruction) -> Call | None:
        """The computation that an instruction runs once, and no other."""
        calls = self.fusion.registry.calls(instruction)
        if not calls or calls.condition or calls.is_start or len(calls.choices) != 1:
            return None
        (call,) = calls.choices
        return call

    def _to_operands(self, at: FlowNode) -> Iterator[FlowStep]:
        instruction, element, callers = at
        number = instruction.parameter_number
        if number is not None and callers:
            *outer, caller = callers
            call = self._only_call(caller)
            operand = call.operands[number] if call else number
            target = FlowNode(caller.operands[operand], element, tuple(outer))
            yield FlowStep(target, caller, operand, None)
        elif callers or instruction in self._members:
            call = self._only_call(instruction)
            if call:
                inside = FlowNode(call.computation.root, element, (*callers, instruction))
                yield FlowStep(inside, instruction, 0, None)
                return
            for link in self._flow.links_from(instruction, element):
                target = FlowNode(instruction.operands[link.operand], link.element, callers)
                found = self._seen_from(at, link.dependence)
                yield FlowStep(target, instruction, link.operand, found, callers)

    def _to_users(self, at: FlowNode) -> Iterator[FlowStep]:
        instruction, element, callers = at
        for user in instruction.users:
            if not callers and user not in self._members:
                continue
            for operand, each in enumerate(user.operands):
                if each is instruction:
                    yield from self._into(at, user, operand)
        if callers and instruction.is_root:
            *outer, caller = callers
            yield FlowStep(FlowNode(caller, element, tuple(outer)), caller, 0, None)

    def _into(self, at: FlowNode, user: Instruction, operand: int) -> Iterator[FlowStep]:
        """The steps from an array into one of its users."""
        call = self._only_call(user)
        if call:
            for parameter, given in zip(call.computation.parameters, call.operands, strict=True):
                if given == operand:
                    inside = FlowNode(parameter, at.element, (*at.callers, user))
                    yield FlowStep(inside, user, operand, None)
            return
        for link in self._flow.links_from(user, operand):
            if link.element == at.element:
                found = self._seen_from(at, link.dependence)
                there = FlowNode(user, link.output, at.callers)
                yield FlowStep(there, user, operand, found, at.callers)

    def _seen_from(self, at: FlowNode, dependence: AnyDependence) -> AnyDependence | None:
        """A dependence with the callers of this run; ``None`` if it is an identity."""
        if dependence == identity_of(at.instruction, at.element):
            return None
        for caller in reversed(at.callers):
            dependence = called_by(caller, dependence)
        return dependence
