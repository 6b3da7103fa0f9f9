"""Groups of devices that work together, as formulas in the number of a device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.devices.numbering import Groups, Mode, devices_by_number, devices_of, mode_of, numbers_in
from ops.index_maps import checked_integers
from simplifier import Interval
from simplifier.errors import check_type
from simplifier.tabulate import tabulated, tabulated_partly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.domain import Constraint
    from ops.devices.numbering import Devices
    from ops.hlo import Instruction
    from simplifier.expr.form import Form


MAX_REPLICAS: Final = 1 << 20
"""Groups list devices one by one, which takes a second for a million of them."""


@dataclass(frozen=True, slots=True)
class DeviceGroups:
    """Groups of devices, by their numbers, among ``count`` devices.

    >>> from simplifier.expr.form import variable
    >>> pairs = DeviceGroups(((0, 2), (1, 3)), 4)
    >>> print(pairs.member(variable("device"), variable("position")))
    position * 2 + device mod 2
    >>> print(pairs.position(variable("device")))
    device floordiv 2
    """

    groups: tuple[tuple[int, ...], ...]
    count: int

    @property
    def size(self) -> int:
        """The number of devices in a group, or in the largest one."""
        return max(map(len, self.groups))

    @property
    def is_even(self) -> bool:
        """Whether all groups are of one size."""
        return all(len(group) == self.size for group in self.groups)

    def sorted(self) -> DeviceGroups:
        """The same groups, without regard to the order of their devices."""
        return DeviceGroups(
            tuple(sorted(tuple(sorted(group)) for group in self.groups)), self.count
        )

    def member(self, device: Form, position: Form) -> Form:
        """The device at a position in the group of a device."""
        first, *others = ([each - group[0] for each in group] for group in self.groups)
        if all(offsets == first for offsets in others):
            leaders = [group[0] for group in self.groups]
            return self._of_group(device, leaders) + tabulated(first, position)
        longest = self.size
        own = self._groups_by_device()
        rows = (own.get(number, self.groups[0]) for number in range(self.count))
        table = [row[min(column, len(row) - 1)] for row in rows for column in range(longest)]
        return tabulated(table, device * longest + position)

    def position(self, device: Form) -> Form:
        """The position of a device in its group."""
        positions = {each: position for group in self.groups for position, each in enumerate(group)}
        return tabulated_partly(positions, device)[0]

    def constraints(self, device: Form, position: Form | None = None) -> list[Constraint]:
        """The constraints that a device is in a group, and that the group has a position."""
        every = dict.fromkeys(self._groups_by_device(), 0)
        taking_part = [] if len(every) == self.count else tabulated_partly(every, device)[1]
        if position is None or self.is_even:
            return taking_part
        size = self._of_group(device, [len(group) for group in self.groups])
        return [*taking_part, (size - position, Interval(1, self.size))]

    def _groups_by_device(self) -> dict[int, tuple[int, ...]]:
        return {each: group for group in self.groups for each in group}

    def _of_group(self, device: Form, values: Sequence[int]) -> Form:
        """The value for the group of a device, from one value for each group."""
        valued = zip(self.groups, values, strict=True)
        by_device = {each: value for group, value in valued for each in group}
        return tabulated_partly(by_device, device)[0]


def device_groups(op: str, groups: Iterable[Iterable[int]], count: int | None) -> DeviceGroups:
    """Groups among ``count`` devices, or as many as they name; no groups mean one group of all.

    Raises:
        ShapeError: a device is in two groups or out of range, a group is empty, or there are too
            many devices.
    """
    check_type(groups, Iterable, f"{op}: replica_groups", "lists of integers")
    listed = tuple(checked_integers(op, "replica_groups", group) for group in groups)
    named = [device for group in listed for device in group]
    total = checked_replica_count(op, named, count)
    if total < 1:
        raise ShapeError(f"{op}: no replica groups are listed; expected the number of replicas")
    _check(op, listed, named)
    return DeviceGroups(listed or (tuple(range(total)),), total)


def checked_replica_count(op: str, named: Sequence[int], count: int | None) -> int:
    """The number of replicas: ``count``, or just enough for those that are named.

    Raises:
        ShapeError: one that is named is out of range, or there are more than
            :data:`MAX_REPLICAS`.
    """
    enough = max(named, default=-1) + 1
    (total,) = checked_integers(op, "replica_count", [enough if count is None else count])
    if total > MAX_REPLICAS:
        raise ShapeError(f"{op}: there are {total} replicas; expected {MAX_REPLICAS} or fewer")
    for replica in named:
        if not 0 <= replica < total:
            raise ShapeError(f"{op}: there is no replica {replica} among {total}")
    return total


def _check(op: str, listed: tuple[tuple[int, ...], ...], named: list[int]) -> None:
    if not all(listed):
        raise ShapeError(f"{op}: a replica group is empty; expected at least one replica in it")
    if len(set(named)) < len(named):
        ((twice, _),) = Counter(named).most_common(1)
        raise ShapeError(f"{op}: replica {twice} is in the groups twice; expected it once")


def even_groups(
    op: str, replica_groups: Iterable[Iterable[int]], replica_count: int | None
) -> DeviceGroups:
    """Groups as :func:`device_groups` gives them, that are of one size.

    Raises:
        ShapeError: they are not.
    """
    groups = device_groups(op, replica_groups, replica_count)
    if not groups.is_even:
        sizes = ", ".join(str(len(group)) for group in groups.groups)
        raise ShapeError(
            f"{op}: the replica groups have {sizes} replicas; expected as many in each"
        )
    return groups


# The groups that an instruction lists.


def groups_of(instruction: Instruction) -> Groups:
    """The groups of devices of an instruction; if it lists none, one of all replicas or partitions.

    >>> from ops import hlo
    >>> text = "collective-permute(a), source_target_pairs={{0,1}}"
    >>> module = hlo.parse(f"ENTRY e {{ a = f32[] parameter(0) ROOT b = f32[] {text} }}")
    >>> groups_of(module.entry.root)
    [[0, 1]]
    """
    if numbers_in(instruction):
        return listed_groups(instruction)
    devices, mode = devices_running(instruction), mode_of(instruction)
    if mode is Mode.DEVICES:
        return [range(devices.total)]
    count = devices.partitions if mode is Mode.PARTITIONS else devices.replicas
    return devices_by_number(mode, [range(count)], *devices)


def listed_groups(instruction: Instruction) -> Groups:
    """The groups, or pairs, of devices that an instruction lists."""
    return devices_by_number(
        mode_of(instruction), numbers_in(instruction), *devices_running(instruction)
    )


def device_count(instruction: Instruction) -> int:
    """The number of devices that run the program."""
    return devices_running(instruction).total


def devices_running(instruction: Instruction) -> Devices:
    """The devices that run the program of an instruction, if they are not too many to be listed."""
    devices = devices_of(instruction.computation.module)
    checked_replica_count(instruction.opcode, (), devices.total)
    return devices
