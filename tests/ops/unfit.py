"""Instructions whose shapes and attributes do not fit: their maps are unknown, with the error."""

from __future__ import annotations

from ops import InstructionIndexing, Unknown, output_to_input
from ops.hlo import Instruction


def why_unfit(instruction: Instruction) -> str:
    """The place and the message of the error, the same for all operands."""
    return only_reason(output_to_input(instruction))


def only_reason(answer: InstructionIndexing) -> str:
    """Why all maps are unknown."""
    (reason,) = {each.reason for each in answer.indexing if isinstance(each, Unknown)}
    assert all(isinstance(each, Unknown) for each in answer.indexing)
    return reason
