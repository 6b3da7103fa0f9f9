"""Parts of asynchronous operations, and transfers: arrays that pass from a start to its end.

A start gives its operands, its results, and a context; its end gives the results. What is received
from outside of the program depends on nothing in it, as a parameter does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ElementType
from ops.builders.building import arrays_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.adapters.shared import Route, Router
    from ops.hlo import Instruction


def _nothing(_: Instruction) -> Iterator[Route]:
    """Tokens and contexts, and data from outside."""
    return iter(())


def _first_arrays(instruction: Instruction) -> Iterator[Route]:
    """The result has the arrays that the operand has first, but for tokens."""
    return _from(instruction, 0)


def _results_of_start(instruction: Instruction) -> Iterator[Route]:
    """The results stand behind as many operands."""
    return _from(instruction, len(arrays_of(instruction.shape)))


def _results_of_wrapped(instruction: Instruction) -> Iterator[Route]:
    """The results stand behind the tuple of the operands."""
    operands, *_ = instruction.operands[0].shape.elements
    return _from(instruction, len(arrays_of(operands)))


def _from(instruction: Instruction, first: int) -> Iterator[Route]:
    """The arrays of the result are those of the operand from one on."""
    arrays = arrays_of(instruction.shape)
    return (
        (output, 0, first + output)
        for output, array in enumerate(arrays)
        if array.element_type is not ElementType.TOKEN
    )


def _copied(_: Instruction) -> Iterator[Route]:
    """The copy, and the operand itself."""
    return iter(((0, 0, 0), (1, 0, 0)))


def _sent(instruction: Instruction) -> Iterator[Route]:
    """The arrays that are sent, as they are."""
    data, _ = instruction.operands
    return ((number, 0, number) for number in range(len(arrays_of(data.shape))))


ROUTES: Final[Mapping[str, Router]] = {
    "all-gather-done": _results_of_start,
    "all-reduce-done": _first_arrays,
    "async-done": _results_of_wrapped,
    "async-update": _first_arrays,
    "collective-permute-done": _results_of_start,
    "copy-done": _first_arrays,
    "copy-start": _copied,
    "infeed": _nothing,
    "outfeed": _nothing,
    "recv": _nothing,
    "recv-done": _first_arrays,
    "send": _sent,
    "send-done": _nothing,
}
"""Opcode -> which array of the result is which array of an operand."""
