"""Instructions that pass arrays on as they are, or call computations with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import Call, Calls, arrays_in_operands
from ops.builders.building import arrays_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.adapters.shared import Caller, Route, Router
    from ops.hlo import Instruction


def _through_tuple(instruction: Instruction) -> Iterator[Route]:
    """The arrays of all operands, in order."""
    return (
        (output, number, element)
        for output, (number, element) in enumerate(arrays_in_operands(instruction))
    )


def _through_get_tuple_element(instruction: Instruction) -> Iterator[Route]:
    """The arrays of one element, which stand behind those of the elements before it."""
    (operand,) = instruction.operands
    before = operand.shape.elements[: instruction.attributes["index"]]
    first = sum(len(arrays_of(element)) for element in before)
    return ((output, 0, first + output) for output in range(len(arrays_of(instruction.shape))))


def _always(*routes: Route) -> Router:
    """The same routes for every instruction."""
    return lambda _: routes


ROUTES: Final[Mapping[str, Router]] = {
    "add-dependency": _always((0, 0, 0)),  # the value, and a token
    "after-all": _always(),
    "domain": _through_tuple,
    "get-tuple-element": _through_get_tuple_element,
    "opt-barrier": _through_tuple,
    "parameter": _always(),
    "tuple": _through_tuple,
}
"""Opcode -> which array of the result is which array of an operand."""


def _with_all_operands(attribute: str, *, is_start: bool = False) -> Caller:
    """The computation in an attribute, of which the operands are the arguments."""

    def adapted(instruction: Instruction) -> Calls:
        operands = tuple(range(len(instruction.operands)))
        return Calls((Call(instruction.attributes[attribute], operands),), is_start=is_start)

    return adapted


def _branches(instruction: Instruction) -> Calls:
    """One branch for each operand after the first, which chooses."""
    branches = enumerate(instruction.branches, start=1)
    return Calls(tuple(Call(branch, (number,)) for number, branch in branches), selector=0)


def _rounds(instruction: Instruction) -> Calls:
    """The body of a loop, which runs on its own result."""
    attributes = instruction.attributes
    return Calls((Call(attributes["body"], (0,)),), condition=attributes["condition"])


CALLS: Final[Mapping[str, str]] = {"call": "to_apply", "fusion": "calls"}
"""Opcode -> the attribute that holds the computation, of which the operands are the arguments."""

CALLERS: Final[Mapping[str, Caller]] = {
    **{opcode: _with_all_operands(attribute) for opcode, attribute in CALLS.items()},
    "async-start": _with_all_operands("calls", is_start=True),
    "conditional": _branches,
    "while": _rounds,
}
"""Opcode -> the computations that it runs."""
