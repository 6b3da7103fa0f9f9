"""Operations of StableHLO that one function writes: the type of such functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ops.hlo.module import Instruction
    from ops.hlo.stablehlo.given_operation import GivenOperation
    from ops.hlo.stablehlo.operation_writer import OperationWriter

Construction: TypeAlias = "Callable[[OperationWriter, GivenOperation], Sequence[Instruction]]"
"""From an operation to an instruction for each result."""

AttributesOf: TypeAlias = "Callable[[GivenOperation], dict[str, Any]]"
"""From an operation to the attributes of its instruction."""


def one_instruction(opcode: str, attributes: AttributesOf, *computations: str) -> Construction:
    """An operation that is one instruction; its regions are ``computations``."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        called = writer.called(given, computations)
        return writer.results(given, opcode, attributes(given) | called)

    return construct
