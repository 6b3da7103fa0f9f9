"""Collective operations: devices read elements that other devices hold.

Beside the map to the element each of these has a map to the *replica* that holds it. Where it
depends on the replica that asks, the number of the latter is a runtime variable. A map from an
operand to a result starts at the replica that holds the operand, and leads to the replicas on
which results are.

Replicas are all devices that run the program, numbered as :mod:`ops.devices` says. Replica groups
list which of them work together; none listed mean one group of all ``replica_count``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.devices.groups import checked_replica_count, device_groups, even_groups
from ops.devices.numbering import Groups, Mode, devices_by_number, devices_of, mode_of, numbers_in
from ops.index_maps import (
    checked_dimensions,
    checked_sizes,
    dim,
    dimensions_of,
    symbol,
)
from ops.rules.elementwise import elementwise
from ops.rules.replica_maps import ASKING, Way, beside, indexing_between, parted, with_value
from ops.rules.rule import OpRule, sizes_of
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ops.devices.numbering import Devices
    from ops.hlo import Instruction
    from ops.index_maps import Sizes
    from ops.rules.op_indexing import OpIndexing
    from ops.rules.rule import Builder, Maps, Pair


def all_reduce(
    operand_sizes: Sizes,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> OpIndexing:
    """Every element of the result combines those at its index on all replicas of the group.

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
    sizes = checked_sizes("all-reduce", "operand", operand_sizes)
    groups = device_groups("all-reduce", replica_groups, replica_count).sorted()
    member = groups.member(ASKING, symbol(0))
    way = Way(
        sizes, dimensions_of(sizes), member, [groups.size], groups.constraints(ASKING, symbol(0))
    )
    return indexing_between(sizes, groups.count, way, way)


def all_gather(
    operand_sizes: Sizes,
    all_gather_dimension: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> OpIndexing:
    """The operands of all replicas of a group, one after the other along a dimension.

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
    sizes = checked_sizes(op, "operand", operand_sizes)
    (axis,) = checked_dimensions(op, "dimensions", [all_gather_dimension], len(sizes))
    groups = even_groups(op, replica_groups, replica_count)
    shard, element = sizes[axis], dimensions_of(sizes)
    output_sizes = with_value(sizes, axis, shard * groups.size)
    number, within = parted(dim(axis), shard)
    taking_part = groups.constraints(ASKING)
    there = Way(
        output_sizes,
        with_value(element, axis, within),
        groups.member(ASKING, number),
        constraints=taking_part,
    )
    back = Way(
        sizes,
        with_value(element, axis, dim(axis) + groups.place(ASKING) * shard),
        groups.member(ASKING, symbol(0)),
        [groups.size],
        taking_part,
    )
    return indexing_between(output_sizes, groups.count, there, back)


def reduce_scatter(
    operand_sizes: Sizes,
    scatter_dimension: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> OpIndexing:
    """Each replica of a group keeps one block of what an all-reduce of the group would give.

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
    sizes = checked_sizes(op, "operand", operand_sizes)
    (axis,) = checked_dimensions(op, "dimensions", [scatter_dimension], len(sizes))
    groups = even_groups(op, replica_groups, replica_count)
    block, element = _block(op, sizes, axis, groups.size), dimensions_of(sizes)
    output_sizes = with_value(sizes, axis, block)
    number, within = parted(dim(axis), block)
    taking_part = groups.constraints(ASKING)
    there = Way(
        output_sizes,
        with_value(element, axis, dim(axis) + groups.place(ASKING) * block),
        groups.member(ASKING, symbol(0)),
        [groups.size],
        taking_part,
    )
    back = Way(
        sizes,
        with_value(element, axis, within),
        groups.member(ASKING, number),
        constraints=taking_part,
    )
    return indexing_between(output_sizes, groups.count, there, back)


def all_to_all(
    operand_sizes: Sizes,
    split_dimension: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
    concat_dimension: int | None = None,
) -> OpIndexing:
    """Each replica sends one block of its operand to each of its group, and joins what it gets.

    Shapes:
        operand: ``operand_sizes``, cut along ``split_dimension`` into as many blocks as a group
            has replicas; the one at a place goes to the replica at that place.
        result: the blocks in the order of the replicas that they are from, one after the other
            along ``concat_dimension``, which is the split dimension if it is not given.

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
    sizes = checked_sizes(op, "operand", operand_sizes)
    concat = split_dimension if concat_dimension is None else concat_dimension
    split, concat = (
        *checked_dimensions(op, "split dimension", [split_dimension], len(sizes)),
        *checked_dimensions(op, "concat dimension", [concat], len(sizes)),
    )
    groups = even_groups(op, replica_groups, replica_count)
    block_sizes = with_value(sizes, split, _block(op, sizes, split, groups.size))
    output_sizes = with_value(block_sizes, concat, block_sizes[concat] * groups.size)
    taking_part, place = groups.constraints(ASKING), groups.place(ASKING)

    def way(from_sizes: Sizes, cut: int, laid: int) -> Way:
        """From what is cut along one dimension to what is laid along another."""
        number, within = parted(dim(cut), block_sizes[cut])
        element = with_value(dimensions_of(sizes), cut, within)
        moved = with_value(element, laid, element[laid] + place * block_sizes[laid])
        return Way(from_sizes, moved, groups.member(ASKING, number), constraints=taking_part)

    there, back = way(output_sizes, concat, split), way(sizes, split, concat)
    return indexing_between(output_sizes, groups.count, there, back)


def all_to_all_of_tuple(
    operand_sizes: Sizes,
    operand_count: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> tuple[OpIndexing, ...]:
    """Each replica sends one operand to each of its group, and gets a tuple of what is sent to it.

    There are as many operands, ``operand_count``, as a group has replicas. A result depends on an
    operand only where the replica that asks is at the place of the operand.

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
    sizes = checked_sizes(op, "operand", operand_sizes)
    groups = even_groups(op, replica_groups, replica_count)
    if groups.size != operand_count:
        message = f"{op}: there are {operand_count} operands for groups of {groups.size} replicas"
        raise ShapeError(f"{message}; expected as many")
    taking_part, place = groups.constraints(ASKING), groups.place(ASKING)

    def way(at: int, towards: int) -> Way:
        """Between replicas at two places: from the one that asks to the other."""
        member = groups.member(ASKING, forms.constant(towards))
        here = (place, Interval(at, at))
        return Way(sizes, dimensions_of(sizes), member, constraints=[*taking_part, here])

    return tuple(
        beside(
            indexing_between(sizes, groups.count, way(operand, result), way(result, operand))
            for operand in range(groups.size)
        )
        for result in range(groups.size)
    )


def _block(op: str, sizes: Sizes, axis: int, count: int) -> int:
    """The size of the blocks into which a dimension is cut."""
    if sizes[axis] % count:
        message = f"{op}: dimension {axis} of size {sizes[axis]} cannot be cut"
        raise ShapeError(f"{message} for groups of {count} replicas")
    return sizes[axis] // count


# Reading instructions.


def _all_reduce(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    return all_reduce(sizes, groups_of(instruction), count_of(instruction))


def _all_gather(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    axis = _dimension(instruction)
    return all_gather(sizes, axis, groups_of(instruction), count_of(instruction))


def _reduce_scatter(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    axis = _dimension(instruction)
    return reduce_scatter(sizes, axis, groups_of(instruction), count_of(instruction))


def groups_of(instruction: Instruction) -> Groups:
    """The groups of devices; none listed mean one of all replicas, or partitions."""
    if numbers_in(instruction):
        return listed_groups(instruction)
    devices, mode = _devices(instruction), mode_of(instruction)
    if mode is Mode.DEVICES:
        return [range(devices.total)]
    count = devices.partitions if mode is Mode.PARTITIONS else devices.replicas
    return devices_by_number(mode, [range(count)], *devices)


def listed_groups(instruction: Instruction) -> Groups:
    """The groups, or pairs, of devices that an instruction lists."""
    return devices_by_number(mode_of(instruction), numbers_in(instruction), *_devices(instruction))


def count_of(instruction: Instruction) -> int:
    """The number of devices that run the program."""
    return _devices(instruction).total


def _devices(instruction: Instruction) -> Devices:
    """The devices that run the program, if these are not too many to be listed."""
    devices = devices_of(instruction.computation.module)
    checked_replica_count(instruction.opcode, (), devices.total)
    return devices


def _dimension(instruction: Instruction) -> int:
    dimensions = instruction.attributes["dimensions"]
    if len(dimensions) != 1:
        count = len(dimensions)
        raise ShapeError(f"{instruction.opcode}: there are {count} dimensions; expected 1")
    return dimensions[0]


def each_operand(build: Callable[[Instruction, Sizes], OpIndexing]) -> Builder:
    """Every operand has a result of its own."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        return {
            (number, number): build(instruction, sizes_of(operand))
            for number, operand in enumerate(instruction.operands)
        }

    return maps


def started(build: Callable[[Instruction, Sizes], OpIndexing]) -> Builder:
    """The operands themselves, then the results; contexts behind them hold nothing."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        count = len(instruction.operands)
        every = [sizes_of(operand) for operand in instruction.operands]
        themselves = {(place, place): elementwise([sizes]) for place, sizes in enumerate(every)}
        results = {
            (count + place, place): build(instruction, sizes) for place, sizes in enumerate(every)
        }
        return themselves | results

    return maps


def _all_to_all(instruction: Instruction) -> Maps:
    groups, count = groups_of(instruction), count_of(instruction)
    every = [sizes_of(operand) for operand in instruction.operands]
    if "dimensions" in instruction.attributes:
        axis = _dimension(instruction)
        return {
            (place, place): all_to_all(sizes, axis, groups, count)
            for place, sizes in enumerate(every)
        }
    elementwise(every)
    return all_to_all_of_tuple(every[0], len(every), groups, count)


RULES: Final[Mapping[str, OpRule]] = {
    "all-gather": OpRule(each_operand(_all_gather)),
    "all-gather-start": OpRule(started(_all_gather)),
    "all-reduce": OpRule(each_operand(_all_reduce)),
    "all-reduce-start": OpRule(each_operand(_all_reduce)),
    "all-to-all": OpRule(_all_to_all),
    "reduce-scatter": OpRule(each_operand(_reduce_scatter)),
}
