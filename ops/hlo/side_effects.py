"""Which instructions do more than to give a result, so that they stay though nothing reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.hlo.module import Computation, Instruction

_OPCODES: Final = """
    all-gather-done all-gather-start all-reduce-done all-reduce-start collective-broadcast
    collective-permute-done collective-permute-start infeed outfeed recv recv-done rng
    rng-get-and-update-state send send-done
"""

_HAVE_EFFECTS: Final = frozenset(_OPCODES.split())

_FLAGS: Final = ("constrain_layout", "custom_call_has_side_effect")
"""Attributes that bind an instruction to the outside if they are true."""


class SideEffects:
    """What has side effects, also by what it calls; callees are noted before their callers.

    Source: XLA's ``HasSideEffect``; what has a channel counts always.
    """

    __slots__ = ("_computations",)

    def __init__(self) -> None:
        self._computations: set[Computation] = set()

    def of(self, instruction: Instruction) -> bool:
        """Whether an instruction has side effects."""
        return (
            instruction.opcode in _HAVE_EFFECTS
            or "channel_id" in instruction.attributes
            or any(instruction.attributes.get(flag) for flag in _FLAGS)
            or not self._computations.isdisjoint(instruction.computations)
        )

    def note(self, computation: Computation, instructions: Iterable[Instruction]) -> None:
        """Take in a computation, and what is in it by now, for those who call it."""
        if any(map(self.of, instructions)):
            self._computations.add(computation)

    def __contains__(self, computation: Computation) -> bool:
        return computation in self._computations
