"""Analyses in which nothing is shared: what is found out holds for one instruction alone."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Final, TypeVar

from ops import Registry
from ops.adapters import BUILDERS, CALLERS, CUSTOM_CALLS, ROUTES
from ops.builders.building import arrays_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops import InstructionAnalysis, InstructionIndexing
    from ops.hlo import Instruction

_T = TypeVar("_T")


def _by_users(table: Mapping[str, Callable[[Instruction], _T]]) -> dict[str, Callable[..., _T]]:
    """The same functions as if users had registered them, who may look at anything."""
    return {name: _like(function) for name, function in table.items()}


def _like(function: Callable[[Instruction], _T]) -> Callable[[Instruction], _T]:
    @wraps(function)
    def call(instruction: Instruction) -> _T:
        return function(instruction)

    return call


UNSHARED: Final = Registry(
    _by_users(BUILDERS), _by_users(ROUTES), _by_users(CALLERS), _by_users(CUSTOM_CALLS)
)
"""What the library answers for, but no two instructions are seen to be alike."""


def all_answers(
    each: InstructionAnalysis, *, physical_layout: bool = False
) -> Iterator[InstructionIndexing]:
    """From every result of an instruction to its operands, and from every operand back."""
    for output in range(len(arrays_of(each.instruction.shape))):
        yield each.output_to_input(output, physical_layout=physical_layout)
    for number in range(len(each.instruction.operands)):
        yield each.input_to_output(number, physical_layout=physical_layout)
