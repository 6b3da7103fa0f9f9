"""Out of called computations: from where one begins or ends to the instructions that call it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.analysis.chaining import followed
from ops.analysis.control_flow import Direction, decided
from ops.builders.building import arrays_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ops.adapters.shared import Calls
    from ops.analysis.answers import Answer
    from ops.analysis.graphs import Array
    from ops.analysis.paths import Paths, Reached
    from ops.analysis.registry import Registry
    from ops.hlo import Computation, Instruction


def callers_among(
    instructions: Iterable[Instruction], registry: Registry
) -> Mapping[Computation, list[tuple[Instruction, Calls]]]:
    """What calls each computation: of the instructions given, and of those in what they call."""
    callers: dict[Computation, list[tuple[Instruction, Calls]]] = defaultdict(list)
    waiting = [*instructions]
    while waiting:
        caller = waiting.pop()
        calls = registry.calls(caller)
        for callee in dict.fromkeys(calls.computations if calls else ()):
            if calls and callee not in callers:
                waiting += callee.instructions
            if calls:
                callers[callee].append((caller, calls))
    return callers


def behind_parameter(
    array: Array, answer: Answer, caller: Instruction, calls: Calls, paths: Paths
) -> Iterator[Reached]:
    """What an array of a parameter is made of where its computation is called.

    ``answer`` are the maps that lead to the array, and ``paths`` lead from outputs to inputs. The
    parameter of a loop is the state before some round: what the loop begins with, or what its
    rounds made of that.
    """
    parameter, number = array
    if calls.condition:
        for link in paths.links_from(caller, number):
            yield (caller.operands[0], link.element), followed(answer, link.answer)
        yield from paths.entered(caller, number, answer)
        return
    for call in calls.choices:
        if call.computation is parameter.computation:
            operand = call.operands[parameter.parameter_number or 0]
            yield (caller.operands[operand], number), answer


def behind_root(
    array: Array, answer: Answer, caller: Instruction, calls: Calls, paths: Paths
) -> Iterator[Reached]:
    """What an array of a root takes part in where its computation is called.

    ``answer`` are the maps that lead to the array, and ``paths`` lead from inputs to outputs. The
    root of a loop is the state after some round, or the decision that there is another one.
    """
    root, number = array
    if calls.condition is None:
        yield (caller, calls.first_output(caller) + number), answer
        return
    if root is calls.condition.root:
        for output, shape in enumerate(arrays_of(caller.shape)):
            yield (caller, output), followed(answer, decided(shape, Direction.INPUT_TO_OUTPUT))
        return
    for link in paths.links_from(caller, 0):
        if link.element == number:
            yield (caller, link.output), followed(answer, link.answer)
