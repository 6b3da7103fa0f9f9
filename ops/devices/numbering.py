"""The devices that a program runs on, and their numbers.

A program runs on ``replica_count`` times ``num_partitions`` devices. All of them are numbered
through: partition ``p`` of replica ``r`` is device ``r * num_partitions + p``, so that devices are
replicas where a program is not partitioned, and partitions where it is not replicated. What an
element depends on may be held by another device. Which one may depend on the device that a map
starts from: its number is a runtime variable, whose value ``replica-id`` or ``partition-id`` gives.

The numbers in a collective instruction mean one of four things. Without ``channel_id`` they mean
replicas, and partitions with the same number work together. With it, they mean partitions, and each
replica works by itself. For operations that may have ``use_global_device_ids``, they mean devices
if it is true, and replicas with all of their partitions if not.

Source: XLA's modes of collective operations.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ops.hlo.module_reader import module_of
from ops.hlo.opcodes import find_opcode
from simplifier.expr import form as forms
from simplifier.expr.operations import floordiv, mod

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ops.hlo import HloModule, Instruction
    from simplifier.expr.form import Form


class Devices(NamedTuple):
    """How many replicas of a program run, and how many partitions each has."""

    replicas: int = 1
    partitions: int = 1

    @property
    def total(self) -> int:
        """The number of devices."""
        return self.replicas * self.partitions


@lru_cache(maxsize=64)
def devices_of(module: HloModule) -> Devices:
    """The devices that a module declares; a count of 1 stands for as many as its groups name.

    As for XLA's verifier, a count of 1 is no limit: tools that write a part of a program leave it.
    Numbers that mean all devices must fit, unless a module declares neither count.

    >>> from ops.hlo import parse
    >>> text = "f32[] collective-permute(a), source_target_pairs={{0,3}}"
    >>> devices_of(parse(f"ENTRY e {{ a = f32[] parameter(0) ROOT b = {text} }}"))
    Devices(replicas=4, partitions=1)
    """
    declared = Devices(*(module.attributes.get(n, 1) for n in ("replica_count", "num_partitions")))
    if 1 not in declared:
        return declared
    named = largest_number(module.instructions)
    replicas, partitions = declared
    if replicas == 1:
        replicas = max(
            named.get(each, 1) for each in (Mode.REPLICAS, Mode.REPLICAS_WITH_PARTITIONS)
        )
    if partitions == 1:
        partitions = named.get(Mode.PARTITIONS, 1)
    if declared.total == 1:
        partitions = max(partitions, -(-named.get(Mode.DEVICES, 1) // replicas))
    return Devices(replicas, partitions)


@lru_cache(maxsize=64)
def own_device(devices: Devices) -> Instruction:
    """An instruction whose value is the number of the device that runs it.

    >>> own_device(Devices(replicas=4))
    <%replica-id = u32[] replica-id()>
    >>> own_device(Devices(partitions=4))
    <%partition-id = u32[] partition-id()>
    >>> own_device(Devices(2, 4))
    <%device-id = u32[] add(%first-device-id, %partition-id)>
    """
    heading = f"replica_count={devices.replicas}, num_partitions={devices.partitions}"
    replica, partition = "replica-id = u32[] replica-id()", "partition-id = u32[] partition-id()"
    both = f"""{replica} {partition} count = u32[] constant({devices.partitions})
        first-device-id = u32[] multiply(replica-id, count)
        ROOT device-id = u32[] add(first-device-id, partition-id)"""
    single = f"ROOT {replica}" if devices.partitions == 1 else f"ROOT {partition}"
    body = single if 1 in devices else both
    return module_of(f"HloModule devices, {heading} ENTRY device_id {{ {body} }}").entry.root


def is_own_device(instruction: Instruction) -> bool:
    """Whether an instruction is one that :func:`own_device` gives."""
    module = instruction.computation.module
    return module.name == "devices" and own_device(devices_of(module)) is instruction


def is_number_of_device(instruction: Instruction) -> bool:
    """Whether the value is a number of the device, and so the same everywhere in a program."""
    return instruction.opcode in {"partition-id", "replica-id"} or is_own_device(instruction)


def value_on(instruction: Instruction, device: Form) -> Form | None:
    """The value of an instruction on a device, if it is a number of the device itself.

    >>> partitioned = Devices(partitions=4)
    >>> print(value_on(own_device(partitioned), forms.variable("d0")))
    d0
    """
    if is_own_device(instruction):
        return device
    replicas, partitions = devices_of(instruction.computation.module)
    if instruction.opcode == "replica-id":
        return floordiv(device, forms.constant(partitions)) if partitions > 1 else device
    if instruction.opcode == "partition-id":
        return mod(device, forms.constant(partitions)) if replicas > 1 else device
    return None


# The meaning of the numbers in a collective instruction.

Groups: TypeAlias = "Sequence[Sequence[int]]"
"""Lists of numbers that work together."""


class Mode(Enum):
    """What the numbers in a collective instruction mean."""

    REPLICAS = auto()
    PARTITIONS = auto()
    REPLICAS_WITH_PARTITIONS = auto()
    DEVICES = auto()


def mode_of(instruction: Instruction) -> Mode:
    """What the numbers in a collective instruction mean.

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
    """The groups or pairs that an instruction lists, in its own numbers."""
    groups = instruction.attributes.get("replica_groups")
    return groups.groups if groups else instruction.attributes.get("source_target_pairs", ())


def devices_by_number(mode: Mode, groups: Groups, replicas: int, partitions: int) -> Groups:
    """The groups of devices that groups of numbers mean.

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
    """One more than the largest number that collective instructions list, by its meaning."""
    found: dict[Mode, int] = {}
    for instruction in instructions:
        numbers = [number for group in numbers_in(instruction) for number in group]
        if numbers:
            mode = mode_of(instruction)
            found[mode] = max(found.get(mode, 0), max(numbers) + 1)
    return found
