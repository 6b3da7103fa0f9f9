"""Collective operations: devices read elements that other devices hold.

Each has a map to the element and a map to the *replica* that holds it. If these depend on the
replica that the map starts from, its number is a runtime variable. A map from an operand to a
result starts at the replica that holds the operand, and leads to the replicas that hold results.

Replicas are all devices that run the program, numbered as in :mod:`ops.devices`. Replica groups
list which of them work together; without any, all ``replica_count`` replicas are one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeVar

from indexing import IndexingMap
from indexing.layout import ShapeError
from indexing.passes import Constraint, Ends, substituted_constraints
from ops import devices, index_maps
from ops.devices import DeviceGroups, DeviceIndex, JointIndexing
from ops.hlo import Instruction
from ops.index_maps import CheckedSizes, Size, Sizes
from ops.rules import rule
from ops.rules.elementwise import elementwise
from ops.rules.rule import Maps, MapsFunction, OpIndexing, OpRule, Origin, Pair
from simplifier import forms
from simplifier.forms import Form, Interval, substitute


def all_reduce(
    operand_sizes: Sizes,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> OpIndexing:
    """Combines the elements at each index on all replicas of a group.

    Shapes:
        operand, result: ``operand_sizes``.

    Source:
        XLA operation semantics, AllReduce; StableHLO, all_reduce.

    Raises:
        ShapeError: replica groups overlap, or name a replica that does not exist.

    >>> indexing = all_reduce((8,), [[0, 1], [2, 3]])
    >>> print(indexing.output_to_input[0])
    (d0)[s0]{rt0} -> (d0), domain: d0 in [0, 7], s0 in [0, 1], rt0 in [0, 3]
    >>> print(indexing.output_replicas[0])
    (d0)[s0]{rt0} -> ((rt0 floordiv 2) * 2 + s0), domain: d0 in [0, 7], s0 in [0, 1], rt0 in [0, 3]
    """
    sizes = index_maps.checked_sizes("all-reduce", "operand", operand_sizes)
    groups = devices.device_groups("all-reduce", replica_groups, replica_count).sorted()
    member = groups.member(OWN_REPLICA, index_maps.symbol(0))
    replica_map = ReplicaMap(
        sizes,
        index_maps.dimensions_of(sizes),
        member,
        [groups.size],
        groups.constraints(OWN_REPLICA, index_maps.symbol(0)),
    )
    return indexing_between(sizes, groups.count, replica_map, replica_map)


def all_gather(
    operand_sizes: Sizes,
    all_gather_dimension: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> OpIndexing:
    """Lays the operands of all replicas of a group one after the other along a dimension.

    Shapes:
        operand: ``operand_sizes``.
        result: the same, but for the dimension along which the operands of a group are laid.

    Source:
        XLA operation semantics, AllGather; StableHLO, all_gather.

    Raises:
        ShapeError: there is no such dimension, or replica groups are of different sizes, overlap,
            or name a replica that does not exist.

    >>> indexing = all_gather((4, 8), 0, [[0, 1]])
    >>> print(indexing.output_to_input[0])
    (d0, d1) -> (d0 mod 4, d1), domain: d0 in [0, 7], d1 in [0, 7]
    >>> print(indexing.output_replicas[0])
    (d0, d1) -> (d0 floordiv 4), domain: d0 in [0, 7], d1 in [0, 7]
    >>> print(indexing.input_to_output[0])
    (d0, d1)[s0]{rt0} -> (rt0 * 4 + d0, d1), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 1],
    rt0 in [0, 1]
    """
    op = "all-gather"
    sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    (axis,) = index_maps.checked_dimensions(op, "dimensions", [all_gather_dimension], len(sizes))
    groups = devices.even_groups(op, replica_groups, replica_count)
    output_sizes = index_maps.with_value(sizes, axis, sizes[axis] * groups.size)
    there, back = _whole_and_blocks(groups, output_sizes, sizes, axis)
    return indexing_between(output_sizes, groups.count, there, back)


def _whole_and_blocks(
    groups: DeviceGroups, sizes: CheckedSizes, block_sizes: CheckedSizes, axis: int
) -> tuple[ReplicaMap, ReplicaMap]:
    """Map from an array to the block of each replica that an element lies in, and back."""
    element, taking_part = index_maps.dimensions_of(sizes), groups.constraints(OWN_REPLICA)
    number, within = index_maps.block_and_offset(index_maps.dim(axis), block_sizes[axis])
    place = index_maps.dim(axis) + index_maps.scaled(
        groups.position(OWN_REPLICA), block_sizes[axis]
    )
    member = groups.member(OWN_REPLICA, number)
    whole = ReplicaMap(
        sizes, index_maps.with_value(element, axis, within), member, constraints=taking_part
    )
    every, extents = groups.member(OWN_REPLICA, index_maps.symbol(0)), [groups.size]
    block = index_maps.with_value(element, axis, place)
    return whole, ReplicaMap(block_sizes, block, every, extents, taking_part)


def reduce_scatter(
    operand_sizes: Sizes,
    scatter_dimension: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> OpIndexing:
    """Combines elements like an all-reduce, and gives each replica of a group one block.

    Shapes:
        operand: ``operand_sizes``.
        result: the same, but for the dimension that is cut into as many blocks as a group has
            replicas, in the order of the group.

    Source:
        XLA operation semantics, ReduceScatter; StableHLO, reduce_scatter.

    Raises:
        ShapeError: the dimension cannot be cut so, or replica groups are of different sizes,
            overlap, or name a replica that does not exist.

    >>> indexing = reduce_scatter((8,), 0, [[0, 1]])
    >>> print(indexing.output_to_input[0])
    (d0)[s0]{rt0} -> (rt0 * 4 + d0), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 1]
    >>> print(indexing.output_replicas[0])
    (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 1]
    """
    op = "reduce-scatter"
    sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    (axis,) = index_maps.checked_dimensions(op, "dimensions", [scatter_dimension], len(sizes))
    groups = devices.even_groups(op, replica_groups, replica_count)
    block, conditions = _block(op, sizes, axis, groups.size)
    output_sizes = index_maps.with_value(sizes, axis, block)
    back, there = _whole_and_blocks(groups, sizes, output_sizes, axis)
    maps = indexing_between(output_sizes, groups.count, there, back)
    return maps.on_condition(conditions)


def all_to_all(
    operand_sizes: Sizes,
    split_dimension: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
    concat_dimension: int | None = None,
) -> OpIndexing:
    """Sends one block of the operand to each replica of the group, and joins the blocks received.

    Shapes:
        operand: ``operand_sizes``, cut along ``split_dimension`` into as many blocks as a group
            has replicas; block ``i`` goes to replica ``i`` of the group.
        result: the blocks in the order of the replicas that sent them, one after the other along
            ``concat_dimension``, by default the split dimension.

    Source:
        XLA operation semantics, AllToAll; StableHLO, all_to_all.

    Raises:
        ShapeError: the dimension cannot be cut so, or replica groups are of different sizes,
            overlap, or name a replica that does not exist.

    >>> indexing = all_to_all((4, 8), 1, [[0, 1]], concat_dimension=0)
    >>> print(indexing.output_to_input[0])
    (d0, d1){rt0} -> (d0 mod 4, rt0 * 4 + d1), domain: d0 in [0, 7], d1 in [0, 3], rt0 in [0, 1]
    >>> print(indexing.output_replicas[0])
    (d0, d1) -> (d0 floordiv 4), domain: d0 in [0, 7], d1 in [0, 3]
    """
    op = "all-to-all"
    sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    concat = split_dimension if concat_dimension is None else concat_dimension
    (split,) = index_maps.checked_dimensions(op, "split dimension", [split_dimension], len(sizes))
    (concat,) = index_maps.checked_dimensions(op, "concat dimension", [concat], len(sizes))
    groups = devices.even_groups(op, replica_groups, replica_count)
    block, conditions = _block(op, sizes, split, groups.size)
    block_sizes = index_maps.with_value(sizes, split, block)
    output_sizes = index_maps.with_value(block_sizes, concat, block_sizes[concat] * groups.size)
    taking_part, position = groups.constraints(OWN_REPLICA), groups.position(OWN_REPLICA)

    def replica_map(from_sizes: Sizes, cut: int, laid: int) -> ReplicaMap:
        """Map from blocks along one dimension to blocks along another."""
        number, within = index_maps.block_and_offset(index_maps.dim(cut), block_sizes[cut])
        element = index_maps.with_value(index_maps.dimensions_of(sizes), cut, within)
        moved = index_maps.with_value(
            element, laid, element[laid] + index_maps.scaled(position, block_sizes[laid])
        )
        return ReplicaMap(
            from_sizes, moved, groups.member(OWN_REPLICA, number), constraints=taking_part
        )

    there, back = replica_map(output_sizes, concat, split), replica_map(sizes, split, concat)
    maps = indexing_between(output_sizes, groups.count, there, back)
    return maps.on_condition(conditions)


def all_to_all_of_tuple(
    operand_sizes: Sizes,
    operand_count: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> tuple[OpIndexing, ...]:
    """Sends one operand to each replica of the group, and gives a tuple of those received.

    A group has ``operand_count`` replicas. Result ``i`` on replica ``j`` of a group is operand
    ``j`` of replica ``i``, so it depends on one operand alone.

    Shapes:
        operands, results: ``operand_sizes``.

    Source:
        XLA operation semantics, AllToAll, in its form with a tuple.

    Raises:
        ShapeError: replica groups are of other sizes, overlap, or name a replica that does not
            exist.

    >>> first, second = all_to_all_of_tuple((3,), 2, [[0, 1]])
    >>> print(second.output_to_input[0])
    (d0){rt0} -> (d0), domain: d0 in [0, 2], rt0 in [0, 0]
    >>> print(second.output_replicas[0])
    (d0) -> (1), domain: d0 in [0, 2]
    """
    op = "all-to-all"
    sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    operand_count = index_maps.checked_operand_count(op, "operands", operand_count)
    groups = devices.even_groups(op, replica_groups, replica_count)
    if groups.size != operand_count:
        message = f"{op}: there are {operand_count} operands for groups of {groups.size} replicas"
        raise ShapeError(f"{message}; expected as many")
    taking_part, position = groups.constraints(OWN_REPLICA), groups.position(OWN_REPLICA)

    def replica_map(at: int, towards: int) -> ReplicaMap:
        """Map from the replica at position ``at`` of a group to the one at ``towards``."""
        member = groups.member(OWN_REPLICA, forms.constant(towards))
        here = (position, Interval(at, at))
        return ReplicaMap(
            sizes, index_maps.dimensions_of(sizes), member, constraints=[*taking_part, here]
        )

    return tuple(
        with_all_operands(
            indexing_between(
                sizes, groups.count, replica_map(operand, result), replica_map(result, operand)
            )
            for operand in range(groups.size)
        )
        for result in range(groups.size)
    )


def _block(op: str, sizes: CheckedSizes, axis: int, count: int) -> tuple[Size, list[Constraint]]:
    """The size of the blocks into which a dimension is cut, and the condition that it can be."""
    message = f"{op}: dimension {axis} of size {sizes[axis]} cannot be cut"
    return index_maps.divided(sizes[axis], count, f"{message} for groups of {count} replicas")


# Reading instructions.


def _in_groups(build: Callable[..., OpIndexing]) -> Callable[[Instruction, Sizes], OpIndexing]:
    """Reads the groups of devices, and the dimension, if the operation works along one."""

    def of_operand(instruction: Instruction, sizes: Sizes) -> OpIndexing:
        is_along = "dimensions" in instruction.attributes
        axes = [rule.only_dimension(instruction)] if is_along else []
        return build(
            sizes, *axes, devices.groups_of(instruction), devices.device_count(instruction)
        )

    return of_operand


def each_operand(build: Callable[[Instruction, Sizes], OpIndexing]) -> MapsFunction:
    """Every operand has its own result."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        results, operands = instruction.shape.arrays, instruction.operands
        index_maps.check_count(instruction.opcode, "the result", results, len(operands), "operand")
        return {
            (number, number): build(instruction, rule.sizes_of(operand))
            for number, operand in enumerate(operands)
        }

    return maps


def started(build: Callable[[Instruction, Sizes], OpIndexing]) -> MapsFunction:
    """The result holds the operands, then the results of the operation, then contexts."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        count = len(instruction.operands)
        every = [rule.sizes_of(operand) for operand in instruction.operands]
        themselves = {(number, number): elementwise([sizes]) for number, sizes in enumerate(every)}
        results = {
            (count + number, number): build(instruction, sizes)
            for number, sizes in enumerate(every)
        }
        return themselves | results

    return maps


def _all_to_all(instruction: Instruction) -> Maps:
    groups, count = devices.groups_of(instruction), devices.device_count(instruction)
    every = [rule.sizes_of(operand) for operand in instruction.operands]
    if "dimensions" in instruction.attributes:
        axis = rule.only_dimension(instruction)
        return {
            (number, number): all_to_all(sizes, axis, groups, count)
            for number, sizes in enumerate(every)
        }
    elementwise(every)
    return all_to_all_of_tuple(every[0], len(every), groups, count)


RULES: Final[Mapping[str, OpRule]] = {
    "all-gather": OpRule(each_operand(_in_groups(all_gather)), values=devices.devices_running),
    "all-gather-start": OpRule(started(_in_groups(all_gather)), values=devices.devices_running),
    "all-reduce": OpRule(each_operand(_in_groups(all_reduce)), values=devices.devices_running),
    "all-reduce-start": OpRule(
        each_operand(_in_groups(all_reduce)), values=devices.devices_running
    ),
    "all-to-all": OpRule(_all_to_all, values=devices.devices_running),
    "reduce-scatter": OpRule(
        each_operand(_in_groups(reduce_scatter)), values=devices.devices_running
    ),
}


# Maps between elements on different replicas, for collective operations.

T = TypeVar("T")

_OWN: Final = "own"
OWN_REPLICA: Final = forms.variable(_OWN)
"""The number of the replica that a map starts from."""


@dataclass(frozen=True, slots=True)
class RuntimeElement:
    """A runtime variable up to ``largest``: an element of an operand, on any replica."""

    operand: int
    largest: Size
    index: Form
    replica: Form = OWN_REPLICA

    @property
    def clamp(self) -> Interval | Ends:
        """The values that it has."""
        return index_maps.between(0, self.largest)


@dataclass(frozen=True, slots=True)
class ReplicaMap:
    """One direction: from an element on its own replica to elements on other replicas.

    A rule writes it like this; its maps are found by way of a :class:`JointIndexing`.
    """

    sizes: Sizes
    element: Sequence[Form]
    replica: Form
    ranges: Sizes = ()
    constraints: Sequence[Constraint] = ()
    reads: Sequence[RuntimeElement] = ()


def indexing_between(
    output_sizes: Sizes, count: int, there: ReplicaMap, back: ReplicaMap
) -> OpIndexing:
    """The maps of an operation with one operand on ``count`` replicas, from both directions."""
    to_input, output_origins, output_replica = _simplified(there, count)
    to_output, input_origins, input_replica = _simplified(back, count)
    return OpIndexing(
        tuple(output_sizes),
        (to_input,),
        (to_output,),
        (output_origins,),
        (input_origins,),
        (output_replica,),
        (input_replica,),
    )


def with_all_operands(operations: Iterable[OpIndexing]) -> OpIndexing:
    """Operations with one operand each as one operation with all their operands."""
    listed = [*operations]
    return OpIndexing(
        listed[0].output_sizes,
        _chained(each.output_to_input for each in listed),
        _chained(each.input_to_output for each in listed),
        _chained(each.output_origins or ((),) * len(each.output_to_input) for each in listed),
        _chained(each.input_origins or ((),) * len(each.output_to_input) for each in listed),
        _chained(each.output_replicas or (None,) * len(each.output_to_input) for each in listed),
        _chained(each.input_replicas or (None,) * len(each.output_to_input) for each in listed),
    )


def _chained(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(parts))


def _simplified(
    replica_map: ReplicaMap, count: int
) -> tuple[IndexingMap, tuple[Origin, ...], IndexingMap | None]:
    """The map to the element, the origins of its runtime variables, and the map to the replica."""
    device = {_OWN: index_maps.dim(len(replica_map.sizes))}
    parts = [
        (replica_map.element, replica_map.replica, None),
        *(([read.index], read.replica, read) for read in replica_map.reads),
    ]
    domain = index_maps.index_map(
        (),
        (*replica_map.sizes, count),
        replica_map.ranges,
        substituted_constraints(replica_map.constraints, device),
        [read.clamp for read in replica_map.reads],
    ).domain
    found = JointIndexing(
        tuple(
            DeviceIndex(substitute(index, device), *substitute([on], device), source=read)
            for index, on, read in parts
        ),
        domain,
        Interval(0, count - 1),
    ).separate()
    origins = (
        Origin(None if read is None else read.operand, index, None, replica)
        for read, index, replica in found.runtime
    )
    return found.map, tuple(origins), found.replica
