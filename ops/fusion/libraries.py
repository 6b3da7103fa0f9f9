"""Which fusions XLA's own emitters make a kernel for, and which it gives away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.fusion.block_level import BlockLevel, block_level
from ops.fusion.emitters import results_of
from ops.fusion.fusion import FusionError

if TYPE_CHECKING:
    from ops.hlo import Computation, Instruction

_OWN_KINDS: Final = frozenset({"kLoop", "kInput"})


def fused_computation(fusion: Instruction) -> tuple[Computation, BlockLevel | None]:
    """The computation of a fusion, with its tiles if it is for Triton.

    Raises:
        FusionError: XLA takes a library that names no tiles, or no kernel at all.
    """
    blocks = block_level(fusion) if fusion.opcode == "fusion" else None
    if blocks and not blocks.output_tiles:
        raise _for_library(fusion, blocks.kind)
    kind = fusion.attributes.get("kind")
    called: Computation | None = fusion.attributes.get("calls")
    if called is None or not (blocks or kind in _OWN_KINDS or called.root.opcode == "sort"):
        given = f"{fusion.opcode} of kind {kind}" if kind else fusion.opcode
        message = f"fusion: no schedule of %{fusion.name}, a {given}"
        raise FusionError(f"{message}; expected a fusion of kind kLoop or kInput")
    if all(map(_is_plain_copy, results_of(called.root))):
        raise FusionError(f"fusion: no schedule of %{fusion.name}, which only copies memory")
    return called, blocks


def check_no_library(instruction: Instruction) -> None:
    """Refuse a fusion that XLA gives to a library, which it does not join with others."""
    if instruction.opcode == "fusion":
        _, blocks = fused_computation(instruction)
        if blocks:
            raise _for_library(instruction, blocks.kind)


def _for_library(fusion: Instruction, kind: str) -> FusionError:
    message = f"fusion: no schedule of %{fusion.name}, which its backend_config gives to {kind}"
    return FusionError(f"{message}; expected a fusion for XLA's own emitters")


def _is_plain_copy(result: Instruction) -> bool:
    """Whether XLA calls a function that copies bytes, and makes no kernel."""
    if result.opcode != "copy":
        return False
    (operand,) = result.operands
    return operand.opcode == "parameter" and operand.shape.layout == result.shape.layout
