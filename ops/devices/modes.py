"""Which devices a collective instruction means by the numbers in its text.

Source: XLA's modes of collective operations. Without ``channel_id`` the numbers are those of
replicas, and each partition works with its like. With it, they are those of partitions, and each
replica works by itself; but of the operations that may have ``use_global_device_ids``, those of
replicas with all of their partitions, or if that is true, of devices.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias

from ops.hlo.opcodes import find_opcode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ops.hlo import Instruction

Groups: TypeAlias = "Sequence[Sequence[int]]"
"""Numbers of what works together."""


class Mode(Enum):
    """What the numbers in the groups of a collective operation stand for."""

    REPLICAS = auto()
    PARTITIONS = auto()
    REPLICAS_WITH_PARTITIONS = auto()
    DEVICES = auto()


def mode_of(instruction: Instruction) -> Mode:
    """What the numbers in a collective instruction stand for.

    >>> from ops import hlo
    >>> text = "collective-permute(a), channel_id=1, source_target_pairs={{0,1}}"
    >>> module = hlo.parse(f"ENTRY e {{ a = f32[] parameter(0) ROOT b = f32[] {text} }}")
    >>> mode_of(module.entry.root)
    <Mode.PARTITIONS: 2>
    """
    if "channel_id" not in instruction.attributes:
        return Mode.REPLICAS
    opcode = find_opcode(instruction.opcode)
    if opcode is None or "use_global_device_ids" not in opcode.optional:
        return Mode.PARTITIONS
    is_global = instruction.attributes.get("use_global_device_ids", False)
    return Mode.DEVICES if is_global else Mode.REPLICAS_WITH_PARTITIONS


def numbers_in(instruction: Instruction) -> Groups:
    """The groups, or pairs, that an instruction lists, whatever its numbers stand for."""
    groups = instruction.attributes.get("replica_groups")
    return groups.groups if groups else instruction.attributes.get("source_target_pairs", ())


def devices_by_number(mode: Mode, groups: Groups, replicas: int, partitions: int) -> Groups:
    """The groups of devices that groups of numbers stand for.

    >>> devices_by_number(Mode.REPLICAS, [[0, 1]], 2, 3)
    [[0, 3], [1, 4], [2, 5]]
    >>> devices_by_number(Mode.PARTITIONS, [[0, 2]], 2, 3)
    [[0, 2], [3, 5]]
    >>> devices_by_number(Mode.REPLICAS_WITH_PARTITIONS, [[1, 0]], 2, 3)
    [[3, 4, 5, 0, 1, 2]]
    """
    if mode is Mode.DEVICES:
        return groups
    if mode is Mode.REPLICAS_WITH_PARTITIONS:
        parts = range(partitions)
        return [[each * partitions + part for each in group for part in parts] for group in groups]
    step, starts = (partitions, range(partitions))
    if mode is Mode.PARTITIONS:
        step, starts = 1, range(0, replicas * partitions, partitions)
    return [[start + step * each for each in group] for start in starts for group in groups]


def largest_number(instructions: Iterable[Instruction]) -> dict[Mode, int]:
    """One more than the largest number that collective instructions list, by what it stands for."""
    found: dict[Mode, int] = {}
    for instruction in instructions:
        numbers = [number for group in numbers_in(instruction) for number in group]
        if numbers:
            mode = mode_of(instruction)
            found[mode] = max(found.get(mode, 0), max(numbers) + 1)
    return found
