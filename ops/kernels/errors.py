"""What a kernel says that it cannot be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from ops.hlo.module import Instruction


class KernelError(IndexingError, ValueError):
    """A fusion that cannot be written as a kernel: which instruction, and why."""


def refused(instruction: Instruction, reason: str) -> KernelError:
    """The error of an instruction."""
    return KernelError(f"emit_kernel: %{instruction.name}: {reason}")
