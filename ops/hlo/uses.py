"""What an instruction asks of what it reads, beyond shapes: arrays, places in memory, starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import bitcast_map
from ops.hlo.errors import AttributeValueError, EditError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ops.hlo.draft import ComputationDraft
    from ops.hlo.module import Instruction

_ASYNC: Final = frozenset({"async-start", "async-update"})

STARTS: Final[Mapping[str, frozenset[str]]] = {
    "async-done": _ASYNC,
    "async-update": _ASYNC,
    **{
        f"{each}-done": frozenset({f"{each}-start"})
        for each in ("all-gather", "all-reduce", "collective-permute", "copy")
    },
}
"""What may be the operand of an instruction that continues an asynchronous operation."""

_TAKE_TUPLES: Final = frozenset(
    [
        *STARTS,
        *("add-dependency", "after-all", "async-start", "call", "collective-permute"),
        *("collective-permute-start", "conditional", "copy", "custom-call", "domain", "fusion"),
        *("get-tuple-element", "infeed", "opt-barrier", "outfeed", "recv", "recv-done", "send"),
        *("send-done", "tuple", "while"),
    ]
)
"""The opcodes whose operands may be tuples or tokens; others take arrays."""


def check_operands(opcode: str, operands: Sequence[Instruction]) -> None:
    """Raise an :class:`AttributeValueError` unless an operation takes operands of these kinds."""
    for each in operands:
        if not each.shape.is_array and opcode not in _TAKE_TUPLES:
            raise AttributeValueError(f"%{each.name} is {each.shape}; expected an array")
        if each.opcode not in STARTS.get(opcode, (each.opcode,)):
            expected = " or ".join(sorted(STARTS[opcode]))
            raise AttributeValueError(f"%{each.name} is {each.opcode}; expected {expected}")


def check_bitcast(instruction: Instruction) -> None:
    """Raise an :class:`AttributeValueError` if a bitcast changes how much memory there is."""
    before, after = instruction.operands[0].shape, instruction.shape
    if not after.is_array:
        raise AttributeValueError(f"the result is {after}; expected an array")
    if not any(each.dynamic_dimensions for each in (before, after)) and before.bytes != after.bytes:
        sizes = f"{before} has {before.bytes} bytes, but {after} has {after.bytes}"
        raise AttributeValueError(f"a bitcast keeps the memory as it is: {sizes}")


def check_use(asker: str, user: Instruction, old: Instruction, new: Instruction) -> None:
    """Raise an :class:`EditError` unless ``new`` may take the place of ``old`` in a user.

    A bitcast finds elements by their places in memory, and what continues an asynchronous operation
    reads what starts it.
    """
    if user.opcode == "bitcast" and not _finds_the_same(user, old, new):
        read = f"%{new.name} is {new.shape}, but %{old.name}, which it reads, is {old.shape}"
        message = f"{asker}: bitcast %{user.name} would find other elements: {read}"
        raise EditError(f"{message}; expected the same layout")
    starts = STARTS.get(user.opcode, ())
    if old.opcode in starts and not _is_same_start(old, new, starts):
        message = f"{asker}: %{user.name} continues %{old.name}, but %{new.name} is {new.opcode}"
        raise EditError(f"{message}; expected what starts the same operation")


def check_together(
    asker: str, chosen: Collection[Instruction], uses: Iterable[tuple[Instruction, Instruction]]
) -> None:
    """Raise an :class:`EditError` if one of a start and its end is chosen; uses are pairs."""
    for user, read in uses:
        if (user in chosen) is not (read in chosen) and read.opcode in STARTS.get(user.opcode, ()):
            message = f"{asker}: %{user.name} continues %{read.name}"
            raise EditError(f"{message}; expected both of them or none")


def check_inlined(call: Instruction, draft: ComputationDraft, inner: ComputationDraft) -> None:
    """Raise an :class:`EditError` unless what is inside may read operands instead of parameters.

    Who reads the call then reads the root.
    """
    given = dict(zip(inner.computation.parameters, draft.operands[call], strict=True))
    for parameter, operand in given.items():
        for user in inner.users(parameter):
            check_use("inline", user, parameter, operand)
    for user in draft.users(call):
        check_use("inline", user, call, given.get(inner.root, inner.root))


def _finds_the_same(bitcast: Instruction, old: Instruction, new: Instruction) -> bool:
    if old.shape == new.shape:
        return True
    if any(each.shape.dynamic_dimensions for each in (bitcast, old, new)):
        return False
    before, after = (bitcast_map(each.shape, bitcast.shape).simplify() for each in (old, new))
    return not before.is_undefined and before == after


def _is_same_start(old: Instruction, new: Instruction, starts: Collection[str]) -> bool:
    return new.opcode in starts and new.attributes.get("calls") is old.attributes.get("calls")
