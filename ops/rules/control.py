"""Instructions that pass arrays on as they are, or call computations with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ElementType
from ops.rules.rule import Call, Calls, OpRule, arrays_in_operands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.hlo import Instruction
    from ops.rules.rule import CallsFunction, Route, RoutesFunction


def _through_tuple(instruction: Instruction) -> Iterator[Route]:
    """The arrays of all operands, in order."""
    return (
        (output, number, element)
        for output, (number, element) in enumerate(arrays_in_operands(instruction))
    )


def _through_get_tuple_element(instruction: Instruction) -> Iterator[Route]:
    """The arrays of one element, which follow those of the elements before it."""
    (operand,) = instruction.operands
    before = operand.shape.elements[: instruction.attributes["index"]]
    first = sum(len(element.arrays) for element in before)
    return ((output, 0, first + output) for output in range(len(instruction.shape.arrays)))


def _always(*routes: Route) -> RoutesFunction:
    """The same routes for every instruction."""
    return lambda _: routes


def _with_all_operands(attribute: str, *, is_start: bool = False) -> CallsFunction:
    """The computation in an attribute, with all operands as arguments."""

    def calls(instruction: Instruction) -> Calls:
        operands = tuple(range(len(instruction.operands)))
        return Calls((Call(instruction.attributes[attribute], operands),), is_start=is_start)

    return calls


def _branches(instruction: Instruction) -> Calls:
    """One branch for each operand after the first; the first chooses."""
    branches = enumerate(instruction.branches, start=1)
    return Calls(tuple(Call(branch, (number,)) for number, branch in branches), selector=0)


def _iterations(instruction: Instruction) -> Calls:
    """The body of a loop, which runs on its own result."""
    attributes = instruction.attributes
    return Calls((Call(attributes["body"], (0,)),), condition=attributes["condition"])


CALLEE_ATTRIBUTES: Final[Mapping[str, str]] = {"call": "to_apply", "fusion": "calls"}
"""Opcode -> the attribute that holds the computation, for calls with all operands as arguments."""

# Parts of asynchronous operations, and transfers. A start gives its operands, its results and a
# context; its end gives the results. Data from outside of the program depends on nothing in it.


def _first_arrays(instruction: Instruction) -> Iterator[Route]:
    """The result is the first arrays of the operand, without tokens."""
    return _from(instruction, 0)


def _results_of_start(instruction: Instruction) -> Iterator[Route]:
    """The results follow as many operands."""
    return _from(instruction, len(instruction.shape.arrays))


def _results_of_wrapped(instruction: Instruction) -> Iterator[Route]:
    """The results follow the tuple of the operands."""
    operands, *_ = instruction.operands[0].shape.elements
    return _from(instruction, len(operands.arrays))


def _from(instruction: Instruction, first: int) -> Iterator[Route]:
    """The arrays of the result are those of the operand from number ``first`` on."""
    arrays = instruction.shape.arrays
    return (
        (output, 0, first + output)
        for output, array in enumerate(arrays)
        if array.element_type is not ElementType.TOKEN
    )


def _sent(instruction: Instruction) -> Iterator[Route]:
    """The arrays that are sent, as they are."""
    data, _ = instruction.operands
    return ((number, 0, number) for number in range(len(data.shape.arrays)))


_OF_NOTHING: Final = ("after-all", "infeed", "outfeed", "parameter", "recv", "send-done")
"""The opcodes of tokens, contexts and data from outside, which depend on nothing."""

_OF_FIRST_ARRAYS: Final = ("all-reduce-done", "async-update", "copy-done", "recv-done")

RULES: Final[Mapping[str, OpRule]] = {
    **dict.fromkeys(_OF_NOTHING, OpRule(routes=_always())),
    **dict.fromkeys(_OF_FIRST_ARRAYS, OpRule(routes=_first_arrays)),
    **dict.fromkeys(("domain", "opt-barrier", "tuple"), OpRule(routes=_through_tuple)),
    "add-dependency": OpRule(routes=_always((0, 0, 0))),  # the value, and a token
    "all-gather-done": OpRule(routes=_results_of_start),
    "async-done": OpRule(routes=_results_of_wrapped),
    "async-start": OpRule(calls=_with_all_operands("calls", is_start=True)),
    "collective-permute-done": OpRule(routes=_results_of_start),
    "conditional": OpRule(calls=_branches),
    "copy-start": OpRule(routes=_always((0, 0, 0), (1, 0, 0))),  # the copy, and the operand
    "get-tuple-element": OpRule(routes=_through_get_tuple_element),
    "send": OpRule(routes=_sent),
    "while": OpRule(calls=_iterations),
    **{
        opcode: OpRule(calls=_with_all_operands(attribute))
        for opcode, attribute in CALLEE_ATTRIBUTES.items()
    },
}
