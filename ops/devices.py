"""The numbers of devices, and the groups in which they work together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from indexing import IndexingMap, Variable
from indexing.layout import ShapeError
from indexing.passes import (
    Constraint,
    Domain,
    Ends,
    arranged,
    retabulated,
    shortened,
    without_conditional_ranges,
)
from ops.hlo import HloModule, Instruction
from ops.hlo.opcodes import find_opcode
from ops.hlo.parser import module_of
from ops.index_maps import checked_integers, dim
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import EVERYTHING, Form, Interval, floordiv, mod, tabulated, tabulated_partly

# The devices that a program runs on, and their numbers.
#
# A program runs on `replica_count` times `num_partitions` devices. All of them are numbered
# through: partition `p` of replica `r` is device `r * num_partitions + p`, so that devices are
# replicas where a program is not partitioned, and partitions where it is not replicated. What an
# element depends on may be held by another device. Which one may depend on the device that a map
# starts from: its number is a runtime variable, whose value `replica-id` or `partition-id` gives.
#
# The numbers in a collective instruction mean one of four things. Without `channel_id` they mean
# replicas, and partitions with the same number work together. With it, they mean partitions, and
# each replica works by itself. For operations that may have `use_global_device_ids`, they mean
# devices if it is true, and replicas with all of their partitions if not.
#
# Source: XLA's modes of collective operations.


class Devices(NamedTuple):
    """Numbers of replicas of a program, and of partitions of each."""

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
        modes = Mode.REPLICAS, Mode.REPLICAS_WITH_PARTITIONS
        replicas = max(named.get(each, 1) for each in modes)
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
    """Meaning of the numbers in a collective instruction."""

    REPLICAS = auto()
    PARTITIONS = auto()
    REPLICAS_WITH_PARTITIONS = auto()
    DEVICES = auto()


def mode_of(instruction: Instruction) -> Mode:
    """The meaning of the numbers in a collective instruction.

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


# Groups of devices that work together, as formulas in the number of a device.

MAX_REPLICAS: Final = 1 << 20
"""Groups list devices one by one, which takes a second for a million of them."""


@dataclass(frozen=True, slots=True)
class DeviceGroups:
    """Groups of devices, by their numbers, among ``count`` devices.

    >>> from simplifier.forms import variable
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
        groups = sorted(tuple(sorted(group)) for group in self.groups)
        return DeviceGroups(tuple(groups), self.count)

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
        message = f"{op}: the replica groups have {sizes} replicas; expected as many in each"
        raise ShapeError(message)
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
    mode, running = mode_of(instruction), devices_running(instruction)
    return devices_by_number(mode, numbers_in(instruction), *running)


def device_count(instruction: Instruction) -> int:
    """The number of devices that run the program."""
    return devices_running(instruction).total


def devices_running(instruction: Instruction) -> Devices:
    """The devices that run the program of an instruction, if they are not too many to be listed."""
    devices = devices_of(instruction.computation.module)
    checked_replica_count(instruction.opcode, (), devices.total)
    return devices


# The joint form of an indexing: all its maps over one domain, in which devices are a variable.
#
# An indexing consists of several maps of the same variables: to the element, to the device that
# holds it, and to the values of its runtime variables. When it is composed or widened, these maps
# go on sharing their variables. So algorithms work on the joint form, and separate it afterwards.


class Clamped(Protocol):
    """A value that the program computes."""

    @property
    def clamp(self) -> Interval | Ends | None:
        """The interval that the program clamps the value to, if it does."""
        ...


class NumberedSource(NamedTuple):
    """The source of a value by its number: all that maps depend on is its clamp."""

    number: int
    clamp: Interval | Ends | None = None


class DeviceIndex(NamedTuple):
    """The coordinates of an element, and the device that holds it.

    If a value of the program is read there, ``source`` is what the rules or the analysis say of it.
    """

    coordinates: tuple[Form, ...]
    device: Form
    source: Any = None


class Separated(NamedTuple):
    """The simplified maps of an indexing, in which the own device is no longer a dimension.

    The own device is the one that a map starts from. ``replica`` is ``None`` if the element is on
    it. ``runtime`` are the sources of the runtime variables that are left, with the maps to the
    index and the replica of their values. If anything depends on the number of the own device, that
    is the first of them.
    """

    map: IndexingMap
    replica: IndexingMap | None
    runtime: tuple[tuple[Any, IndexingMap, IndexingMap | None], ...]


@dataclass(frozen=True, slots=True)
class JointIndexing:
    """An indexing as parts over one domain, whose last dimension is the number of the own device.

    The first part is the element. For each runtime variable there is one more part, which tells
    where its value is found. ``devices`` holds the numbers of all devices, ``own`` is the source of
    the number of the own device. ``approximation`` is the reason why the indexing holds more than
    the program says, if it does.
    """

    parts: tuple[DeviceIndex, ...]
    domain: Domain
    devices: Interval = EVERYTHING
    own: Any = None
    approximation: str = ""

    def compose(self, producer: JointIndexing) -> JointIndexing:
        """The producer's parts as they are at this element, then all other parts of this.

        These pass through the producer in dimensions of their own.
        """
        element, *others = self.parts
        passing = [*_flat(others)]
        before = IndexingMap.from_forms((*_flat([element]), *passing), self.domain)
        own = producer.domain
        through = map(dim, range(len(own.dims), len(own.dims) + len(passing)))
        parts = (*producer.parts, *_like(others, through))
        free = [Variable(EVERYTHING)] * len(passing)
        wider = replace(own, dims=(*own.dims, *free))
        after = IndexingMap.from_forms(_flat(parts), wider)
        reason = self.approximation or producer.approximation
        whole = replace(self, parts=parts, approximation=reason)
        return whole.with_results_of(before.compose(after))

    @property
    def flat(self) -> IndexingMap:
        """One map of all parts."""
        return IndexingMap.from_forms(_flat(self.parts), self.domain)

    @property
    def element(self) -> IndexingMap:
        """The map of the element and the device that holds it."""
        return IndexingMap.from_forms(_flat(self.parts[:1]), self.domain)

    def element_as(self, element: IndexingMap) -> JointIndexing:
        """The element alone, as another map from the same variables or less."""
        return replace(self, parts=self.parts[:1]).with_results_of(element)

    def for_any_values(self) -> JointIndexing:
        """The element for any values of the runtime variables, which become further ranges.

        Values that only say when the element is meant are gone, with what they say.
        """
        dims, ranges, runtime = self.domain.by_role(self.domain.identifiers)
        element = self.element
        deciding = {*runtime} - {*forms.variables_of(element.forms)}
        pairs = self.domain.constraints
        kept = (pair for pair in pairs if deciding.isdisjoint(forms.variables_of(pair[:1])))
        wider = IndexingMap.from_forms(element.forms, self.domain.with_constraints(kept))
        return self.element_as(arranged(wider, dims, ranges + runtime))

    def shortened(self, most: int, limits: Sequence[Interval], reason: str) -> JointIndexing:
        """The element without formulas of more than ``most`` terms, marked with a reason.

        ``limits`` hold the indices and devices that it leads to.
        """
        *index, device = limits
        known = [*index, device.intersect(self.devices)]
        short = self.element_as(shortened(self.element, most, known))
        return replace(short, approximation=reason)

    def with_tables_of_devices(self) -> JointIndexing:
        """The same with shorter formulas in the number of a device."""
        flat = self.flat
        shorter = retabulated(flat, f"d{len(self.domain.dims) - 1}")
        return self if shorter is flat else self.with_results_of(shorter)

    @property
    def sources(self) -> tuple[Any, ...]:
        """Sources of the values."""
        return tuple(part.source for part in self.parts[1:])

    def numbered(self, first: int) -> JointIndexing:
        """The same wherever values are found: equal for instructions that are read alike.

        Sources have numbers, from a first one on; that of the own device is 0.
        """
        values = (
            part._replace(source=NumberedSource(number, part.source.clamp))
            for number, part in enumerate(self.parts[1:], first)
        )
        return replace(self, parts=(self.parts[0], *values), own=NumberedSource(0))

    def with_results_of(self, joint: IndexingMap) -> JointIndexing:
        """The parts as the results of one map of all of them, over its domain."""
        return replace(self, parts=_like(self.parts, iter(joint.forms)), domain=joint.domain)

    def separate(self) -> Separated:
        """The maps in their smallest form, without the variables that nothing depends on."""
        flat = self.flat.simplify()
        fewer = without_conditional_ranges(flat)
        return _separated(self.with_results_of(flat if fewer is flat else fewer.simplify()))


def _separated(joint: JointIndexing) -> Separated:
    (*dims, device), ranges, runtime = joint.domain.by_role(joint.domain.identifiers)
    wanted = [
        form for part in joint.parts for form in (*part.coordinates, *_elsewhere(part, joint))
    ]
    own = [device] if _depends_on_device(joint, wanted) else []
    kept = map(forms.variable, [*own, *deciding(joint.domain, joint.sources)])
    wide = IndexingMap.from_forms([*wanted, *kept], joint.domain)
    narrow = arranged(wide, dims, ranges, [*own, *runtime]).without_unused_symbols()
    results, domain = iter(narrow.forms), narrow.domain
    counts = ((len(part.coordinates), len(_elsewhere(part, joint))) for part in joint.parts)
    (element, holder), *values = [[(*islice(results, n),) for n in pair] for pair in counts]
    dropped = wide.unused_symbols()[2]
    runtime = (
        (source, _over(domain, index), _over(domain, on) if on else None)
        for number, (source, (index, on)) in enumerate(zip(joint.sources, values, strict=True))
        if number not in dropped
    )
    devices = ((joint.own, _over(domain, ()), None) for _ in own)
    replica = _over(domain, holder) if holder else None
    return Separated(IndexingMap.from_forms(element, domain), replica, (*devices, *runtime))


def _over(domain: Domain, results: Iterable[Form]) -> IndexingMap:
    return without_unused_runtime(IndexingMap.from_forms(results, domain))


def _elsewhere(part: DeviceIndex, joint: JointIndexing) -> list[Form]:
    """The device of a part, if it is not the own device."""
    is_own = part.device == dim(len(joint.domain.dims) - 1)
    is_only = joint.devices == Interval(0, 0) or joint.domain.is_known_empty
    return [] if is_own or is_only else [part.device]


def _depends_on_device(joint: JointIndexing, wanted: Sequence[Form]) -> bool:
    """Whether the results or the domain depend on the own device."""
    if joint.domain.is_known_empty:
        return False
    device = joint.domain.identifiers[len(joint.domain.dims) - 1]
    limited = (form for form, _ in joint.domain.constraints)
    is_used = device in forms.variables_of((*wanted, *limited))
    return is_used or joint.domain.bounds[device] != joint.devices


def deciding(domain: Domain, origins: Iterable[Clamped]) -> Iterator[str]:
    """The runtime variables that say when an element is meant, even if no result uses them.

    A constraint is on them, or some value that the program may give lies outside of their bounds.
    """
    if domain.is_known_empty:
        return
    *_, runtime = domain.by_role(domain.identifiers)
    limited = {*forms.variables_of(form for form, _ in domain.constraints)}
    for identifier, origin in zip(runtime, origins, strict=True):
        possible = origin.clamp if isinstance(origin.clamp, Interval) else EVERYTHING
        if identifier in limited or not domain.bounds[identifier].contains(possible):
            yield identifier


def _flat(parts: Iterable[DeviceIndex]) -> Iterator[Form]:
    return chain.from_iterable((*part.coordinates, part.device) for part in parts)


def _like(parts: Iterable[DeviceIndex], results: Iterator[Form]) -> tuple[DeviceIndex, ...]:
    return tuple(
        DeviceIndex(tuple(islice(results, len(part.coordinates))), next(results), part.source)
        for part in parts
    )


def without_unused_runtime(indexing_map: IndexingMap) -> IndexingMap:
    """The map without its runtime variables, if no result depends on them."""
    domain = indexing_map.domain
    dims, ranges, runtime = domain.by_role(domain.identifiers)
    if not {*runtime}.isdisjoint(forms.variables_of(indexing_map.forms)):
        return indexing_map
    others = {*dims, *ranges, *domain.parameter_identifiers}
    kept = (pair for pair in domain.constraints if others.issuperset(forms.variables_of(pair[:1])))
    left = replace(domain, runtime=(), constraints=tuple(kept))
    return IndexingMap.from_forms(indexing_map.forms, left)
