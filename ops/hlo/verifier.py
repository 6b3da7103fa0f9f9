"""What must hold in an instruction beyond the grammar, so that later code need not wonder.

Each check looks at an instruction and answers with what is wrong, or with an empty text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.hlo.module import Computation, Instruction


def complaint(instruction: Instruction) -> str:
    """What is wrong with an instruction; empty if nothing is."""
    check = _CHECKS.get(instruction.opcode)
    return check(instruction) if check else ""


def _reshape(instruction: Instruction) -> str:
    operand, result = instruction.operands[0].shape, instruction.shape
    if operand.is_unbounded or result.is_unbounded:
        return ""
    if not operand.is_array or not result.is_array:
        return f"reshape makes an array from an array, but not {result} from {operand}"
    if operand.element_count != result.element_count:
        return (
            f"reshape keeps the number of elements, but {operand} has {operand.element_count} "
            f"and {result} has {result.element_count}"
        )
    return ""


def _get_tuple_element(instruction: Instruction) -> str:
    shape = instruction.operands[0].shape
    index: int = instruction.attributes["index"]
    if not shape.is_tuple:
        return f"get-tuple-element takes an element of a tuple, but the operand is {shape}"
    if not 0 <= index < len(shape.elements):
        return f"the tuple {shape} has no element {index}"
    if not shape.elements[index].is_compatible_with(instruction.shape):
        return f"element {index} of the operand is {shape.elements[index]}, not {instruction.shape}"
    return ""


def _tuple(instruction: Instruction) -> str:
    elements = instruction.shape.elements if instruction.shape.is_tuple else ()
    if len(elements) != len(instruction.operands):
        count = len(instruction.operands)
        return f"{instruction.shape} does not have one element for each of {count} operands"
    return ""


def _start_indices(before: int) -> Callable[[Instruction], str]:
    """The last operands are one start index for each dimension, or one for all of them."""

    def check(instruction: Instruction) -> str:
        given = len(instruction.operands) - before
        rank = instruction.operands[0].shape.rank
        if given == rank or (given == 1 and instruction.operands[-1].shape.rank == 1):
            return ""
        shape = instruction.operands[0].shape
        return f"{shape} takes {rank} start indices, but {given} are given"

    return check


def _calls(attribute: str) -> Callable[[Instruction], str]:
    """The computation takes as many parameters as there are operands."""

    def check(instruction: Instruction) -> str:
        return _arity_complaint(instruction.attributes[attribute], len(instruction.operands))

    return check


def _arity_complaint(computation: Computation, count: int) -> str:
    parameters = len(computation.parameters)
    if parameters == count:
        return ""
    return f"computation %{computation.name} takes {parameters} operands, but {count} are given"


def _while(instruction: Instruction) -> str:
    condition, body = instruction.attributes["condition"], instruction.attributes["body"]
    return _arity_complaint(condition, 1) or _arity_complaint(body, 1)


def _conditional(instruction: Instruction) -> str:
    branches = instruction.branches
    given = len(instruction.operands) - 1
    if len(branches) != given:
        return f"there are {len(branches)} branches, but {given} operands for them"
    return next(filter(None, (_arity_complaint(branch, 1) for branch in branches)), "")


def _async_start(instruction: Instruction) -> str:
    elements = instruction.shape.elements if instruction.shape.is_tuple else ()
    if len(elements) < 2 or not elements[0].is_tuple:  # noqa: PLR2004  (operands and outputs)
        return f"the shape of a start is ((operands), outputs, state...), not {instruction.shape}"
    if len(elements[0].elements) != len(instruction.operands):
        count = len(instruction.operands)
        return f"{elements[0]} does not have one element for each of {count} operands"
    return _calls("calls")(instruction)


def _async_successor(instruction: Instruction) -> str:
    operand = instruction.operands[0]
    if operand.opcode not in {"async-start", "async-update"}:
        return f"{instruction.opcode} continues an asynchronous operation, not {operand.opcode}"
    mine, theirs = instruction.attributes["calls"], operand.attributes["calls"]
    return "" if mine is theirs else f"the operand calls %{theirs.name}, not %{mine.name}"


_CHECKS: dict[str, Callable[[Instruction], str]] = {
    "async-done": _async_successor,
    "async-start": _async_start,
    "async-update": _async_successor,
    "call": _calls("to_apply"),
    "conditional": _conditional,
    "dynamic-slice": _start_indices(1),
    "dynamic-update-slice": _start_indices(2),
    "fusion": _calls("calls"),
    "get-tuple-element": _get_tuple_element,
    "map": _calls("to_apply"),
    "reshape": _reshape,
    "tuple": _tuple,
    "while": _while,
}
