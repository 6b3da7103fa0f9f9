"""Instructions that pass arrays on as they are, or call computations with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import arrays_in_operands
from ops.building import arrays_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.adapters.shared import Route, Router
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

CALLS: Final[Mapping[str, str]] = {"call": "to_apply", "fusion": "calls"}
"""Opcode -> the attribute that holds the computation, of which the operands are the arguments."""
