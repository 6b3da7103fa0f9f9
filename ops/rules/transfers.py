"""Collective operations between one device and others: transfers, broadcasts, reductions to a root.

Devices are numbered and grouped as in :mod:`ops.rules.collectives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Final

from indexing.layout import ShapeError
from indexing.passes import Constraint
from ops import devices, index_maps
from ops.devices import DeviceGroups
from ops.hlo import Instruction
from ops.index_maps import CheckedSizes, Sizes
from ops.rules import collectives
from ops.rules.collectives import OWN_REPLICA, ReplicaMap, RuntimeElement
from ops.rules.elementwise import elementwise
from ops.rules.rule import Maps, MapsFunction, OpIndexing, OpRule, Pair, Unknown, sizes_of
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import Form, Interval, tabulated_partly


@dataclass(frozen=True, slots=True)
class Root:
    """The element of a vector that holds the position of the root in its group.

    ``operand`` is the number of the operand that is the vector, ``index`` the index of the element.
    """

    operand: int
    index: int


def collective_permute(
    operand_sizes: Sizes,
    source_target_pairs: Iterable[Sequence[int]],
    replica_count: int | None = None,
) -> OpIndexing:
    """Sends the operand of each source to its target; all other replicas get zeros.

    Shapes:
        operand, result: ``operand_sizes``.

    Source:
        XLA operation semantics, CollectivePermute; StableHLO, collective_permute.

    Raises:
        ShapeError: a replica is a source or a target twice, or does not exist.

    >>> indexing = collective_permute((8,), [(0, 1), (1, 2), (2, 3)])
    >>> print(indexing.output_replicas[0])
    (d0){rt0} -> (rt0 - 1), domain: d0 in [0, 7], rt0 in [1, 3]
    >>> print(indexing.input_replicas[0])
    (d0){rt0} -> (rt0 + 1), domain: d0 in [0, 7], rt0 in [0, 2]
    """
    op = "collective-permute"
    sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    check_type(source_target_pairs, Iterable, f"{op}: source_target_pairs", "pairs of replicas")
    pairs = [
        index_maps.checked_integers(op, "source_target_pairs", pair) for pair in source_target_pairs
    ]
    count = _count_of_pairs(op, pairs, replica_count)
    there = _moved(op, sizes, [pair[::-1] for pair in pairs], "target")
    return collectives.indexing_between(sizes, count, there, _moved(op, sizes, pairs, "source"))


def collective_broadcast(
    operand_sizes: Sizes,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
    root: Root | None = None,
) -> OpIndexing:
    """Sends the operand of the root to every replica of its group; all others get zeros.

    The root is the first replica of a group. With ``root``, the program reads its position in the
    group, which is a runtime variable.

    Shapes:
        operand, result: ``operand_sizes``.

    Source:
        XLA operation semantics, CollectiveBroadcast; StableHLO, collective_broadcast.

    Raises:
        ShapeError: replica groups overlap, or name a replica that does not exist.

    >>> print(collective_broadcast((8,), [[0, 1], [2, 3]]).output_replicas[0])
    (d0){rt0} -> ((rt0 floordiv 2) * 2), domain: d0 in [0, 7], rt0 in [0, 3]
    >>> print(collective_broadcast((8,), [[0, 1, 2]], root=Root(1, 0)).output_replicas[0])
    (d0){rt0} -> (rt0), domain: d0 in [0, 7], rt0 in [0, 2]
    """
    check_type(root, (Root, NoneType), "collective-broadcast: root", "a Root")
    sizes = index_maps.checked_sizes("collective-broadcast", "operand", operand_sizes)
    groups = devices.device_groups("collective-broadcast", replica_groups, replica_count)
    there, back = _to_root(groups, sizes, root), _from_root(groups, sizes, root)
    return collectives.indexing_between(sizes, groups.count, there, back)


def collective_reduce(
    operand_sizes: Sizes,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
    root: Root | None = None,
) -> OpIndexing:
    """Combines the elements at each index on the root of a group; all others get nothing.

    The root is as for :func:`collective_broadcast`.

    Shapes:
        operand, result: ``operand_sizes``.

    Source:
        StableHLO, collective_reduce.

    Raises:
        ShapeError: replica groups overlap, or name a replica that does not exist.

    >>> indexing = collective_reduce((8,), [[0, 1], [2, 3]])
    >>> print(indexing.output_to_input[0])
    (d0)[s0]{rt0} -> (d0), domain: d0 in [0, 7], s0 in [0, 1], rt0 in [0, 2], rt0 mod 2 in [0, 0]
    >>> print(indexing.input_replicas[0])
    (d0){rt0} -> ((rt0 floordiv 2) * 2), domain: d0 in [0, 7], rt0 in [0, 3]
    """
    check_type(root, (Root, NoneType), "collective-reduce: root", "a Root")
    sizes = index_maps.checked_sizes("collective-reduce", "operand", operand_sizes)
    groups = devices.device_groups("collective-reduce", replica_groups, replica_count)
    there, back = _from_root(groups, sizes, root), _to_root(groups, sizes, root)
    return collectives.indexing_between(sizes, groups.count, there, back)


def _to_root(groups: DeviceGroups, sizes: Sizes, root: Root | None) -> ReplicaMap:
    """Map from every replica of a group to its root."""
    position = index_maps.runtime_value(0) if root else forms.ZERO
    return ReplicaMap(
        sizes,
        index_maps.dimensions_of(sizes),
        groups.member(OWN_REPLICA, position),
        constraints=groups.constraints(OWN_REPLICA, position),
        reads=_reads(groups, root),
    )


def _from_root(groups: DeviceGroups, sizes: Sizes, root: Root | None) -> ReplicaMap:
    """Map from the root of a group to all replicas of it."""
    position = index_maps.runtime_value(0) if root else forms.ZERO
    is_root = (groups.position(OWN_REPLICA) - position, Interval(0, 0))
    return ReplicaMap(
        sizes,
        index_maps.dimensions_of(sizes),
        groups.member(OWN_REPLICA, index_maps.symbol(0)),
        [groups.size],
        [*groups.constraints(OWN_REPLICA, index_maps.symbol(0)), is_root],
        _reads(groups, root),
    )


def _reads(groups: DeviceGroups, root: Root | None) -> list[RuntimeElement]:
    return (
        [RuntimeElement(root.operand, groups.size - 1, forms.constant(root.index))] if root else []
    )


def _moved(op: str, sizes: Sizes, pairs: Sequence[Sequence[int]], role: str) -> ReplicaMap:
    """Map from the first replica of each pair to the second."""
    partners: dict[int, int] = {}
    for first, second in pairs:
        if first in partners:
            raise ShapeError(f"{op}: replica {first} is the {role} of two pairs; expected of one")
        partners[first] = second
    if not partners:
        return ReplicaMap(
            sizes,
            index_maps.dimensions_of(sizes),
            OWN_REPLICA,
            constraints=[(OWN_REPLICA, Interval(0, -1))],
        )
    partner, constraints = tabulated_partly(partners, OWN_REPLICA)
    return ReplicaMap(sizes, index_maps.dimensions_of(sizes), partner, constraints=constraints)


def _count_of_pairs(op: str, pairs: Sequence[Sequence[int]], count: int | None) -> int:
    for pair in pairs:
        index_maps.check_count(op, f"the pair {tuple(pair)}", pair, 2)
    named = [replica for pair in pairs for replica in pair]
    return max(1, devices.checked_replica_count(op, named, count))


# Reading instructions.


def _collective_permute(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    return collective_permute(
        sizes, devices.listed_groups(instruction), devices.device_count(instruction)
    )


def _rooted(build: Callable[..., OpIndexing]) -> MapsFunction:
    """Maps in which the last operand, if it chooses the root, is needed for all results, too."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        has_roots = bool(instruction.attributes.get("has_dynamic_root"))
        data = instruction.operands[: len(instruction.operands) - has_roots]
        if has_roots:
            roots = sizes_of(instruction.operands[-1])
            index_maps.check_sizes(instruction.opcode, "the vector of roots", roots, (len(data),))
        index_maps.check_count(
            instruction.opcode, "the result", instruction.shape.arrays, len(data), "operand"
        )
        found: dict[Pair, OpIndexing] = {}
        groups, count = devices.groups_of(instruction), devices.device_count(instruction)
        for number, operand in enumerate(data):
            sizes, root = sizes_of(operand), Root(len(data), number) if has_roots else None
            found[number, number] = build(sizes, groups, count, root)
            if has_roots:
                found[number, len(data)] = _from_element(number, sizes)
        return found

    return maps


def _from_element(number: int, sizes: Sizes) -> OpIndexing:
    """Every element of a result depends on one element of a vector."""
    chosen = forms.constant(number)
    index = (index_maps.symbol(axis) for axis in range(len(sizes)))
    back = index_maps.index_map(index, [Interval(number, number)], sizes)
    return OpIndexing(tuple(sizes), (index_maps.index_map([chosen], sizes),), (back,))


def _on_arrays(build: MapsFunction) -> MapsFunction:
    """The maps of permutations that do not move slices in place; those are unknown."""

    def maps(instruction: Instruction) -> Maps:
        if "slice_sizes" in instruction.attributes:
            return Unknown(f"{instruction.opcode}: no indexing map of slices that move in place")
        return build(instruction)

    return maps


# Ragged all-to-all: devices send each other rows, in numbers and to offsets that operands give.


def ragged_all_to_all(
    operand_sizes: Sizes,
    output_sizes: Sizes,
    offset_count: int,
    replica_groups: Iterable[Iterable[int]] = (),
    replica_count: int | None = None,
) -> OpIndexing:
    """Sends rows of the operand to each replica of the group, to offsets that operands give.

    Replica ``j`` of the group gets ``send_sizes[j]`` rows from ``input_offsets[j]`` on, which its
    result has from ``output_offsets[j]`` on. Where nothing is written, the result is ``output``:
    the map to it holds all that may be needed. Offsets and sizes are runtime variables, read on the
    replica that sends. With several updates for each replica, their offsets follow each other.

    Shapes:
        operand: ``operand_sizes``; output, result: ``output_sizes``; they differ in dimension 0.
        input_offsets, send_sizes, output_offsets, recv_sizes: ``(offset_count,)``, a multiple of
            the size of a group.

    Source:
        XLA operation semantics, RaggedAllToAll; jax.lax.ragged_all_to_all.

    Raises:
        ShapeError: sizes do not fit, or replica groups are of different sizes, overlap, or name a
            replica that does not exist.

    >>> indexing = ragged_all_to_all((8,), (8,), 2, [[0, 1]])
    >>> print(indexing.output_to_input[0])
    (d0)[s0]{rt0, rt1, rt2, rt3} -> (d0 + rt1 - rt3), domain: d0 in [0, 7], s0 in [0, 1],
    rt0 in [0, 1], rt1 in [0, 7], rt2 in [1, 8], rt3 in [0, 7], d0 + rt1 - rt3 in [0, 7],
    d0 - rt3 in [0, 7], rt2 + rt3 - d0 in [1, 8]
    >>> print(indexing.output_replicas[0])
    (d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 1]
    >>> [origin.operand for origin in indexing.output_origins[0]]
    [None, 2, 3, 4]
    """
    op = "ragged-all-to-all"
    sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    offset_count = index_maps.checked_operand_count(op, "offsets", offset_count)
    results = index_maps.checked_sizes(op, "output", output_sizes)
    groups = devices.even_groups(op, replica_groups, replica_count)
    conditions = _check(op, sizes, results, offset_count, groups.size)
    rows = _rows(sizes, results, offset_count // groups.size, groups)
    offsets = _offsets(results, offset_count, groups)
    return collectives.with_all_operands(
        [rows, elementwise([results]), *[offsets] * 3, _own(results, offset_count)]
    ).on_condition(conditions)


def _rows(
    sizes: CheckedSizes, results: CheckedSizes, updates: int, groups: DeviceGroups
) -> OpIndexing:
    """From a row of the result to the one that was sent there, if this is so, and back."""
    start, count, target = (index_maps.runtime_value(number) for number in range(3))
    member, update = groups.member(OWN_REPLICA, index_maps.symbol(0)), index_maps.symbol(1)
    theirs = groups.position(OWN_REPLICA) * updates + update, member
    mine = index_maps.symbol(0) * updates + update, OWN_REPLICA

    def replica_map(
        begin: CheckedSizes, end: CheckedSizes, before: Form, after: Form, source: tuple[Form, Form]
    ) -> ReplicaMap:
        """Between rows that begin at ``before`` and rows that begin at ``after``."""
        row = index_maps.dim(0) - before
        within = [(row, Interval(0, None)), (row - count, Interval(None, -1))]
        reached = row + after
        return ReplicaMap(
            begin,
            index_maps.with_value(index_maps.dimensions_of(begin), 0, reached),
            member,
            (groups.size, updates),
            [
                *groups.constraints(OWN_REPLICA),
                *within,
                *index_maps.inside(reached, index_maps.between(0, end[0] - 1)),
            ],
            [
                RuntimeElement(2, sizes[0], *source),
                RuntimeElement(3, index_maps.least(sizes[0], results[0]), *source),
                RuntimeElement(4, results[0], *source),
            ],
        )

    there = replica_map(results, sizes, target, start, theirs)
    back = replica_map(sizes, results, start, target, mine)
    return collectives.indexing_between(results, groups.count, there, back)


def _offsets(results: Sizes, count: int, groups: DeviceGroups) -> OpIndexing:
    """Every element of a result depends on the offsets of every replica of the group."""
    updates = count // groups.size
    taking_part = groups.constraints(OWN_REPLICA)
    position = groups.position(OWN_REPLICA) * updates + index_maps.symbol(1)
    number, _ = index_maps.block_and_offset(index_maps.dim(0), updates)
    member = groups.member(OWN_REPLICA, index_maps.symbol(0))
    there = ReplicaMap(results, [position], member, (groups.size, updates), taking_part)
    every = [index_maps.symbol(axis) for axis in range(len(results))]
    back = ReplicaMap((count,), every, groups.member(OWN_REPLICA, number), results, taking_part)
    return collectives.indexing_between(results, groups.count, there, back)


def _own(results: Sizes, count: int) -> OpIndexing:
    """Every element of a result depends on all elements of a vector on its own replica."""
    there = ReplicaMap(results, [index_maps.symbol(0)], OWN_REPLICA, (count,))
    back = ReplicaMap(
        (count,), [index_maps.symbol(axis) for axis in range(len(results))], OWN_REPLICA, results
    )
    return collectives.indexing_between(results, 1, there, back)


def _check(
    op: str, sizes: CheckedSizes, results: CheckedSizes, offset_count: int, group_size: int
) -> list[Constraint]:
    """The conditions that sizes fit together."""
    if not sizes or len(sizes) != len(results):
        message = f"{op}: the operand has rank {len(sizes)} and the output {len(results)}"
        raise ShapeError(f"{message}; expected the same, and not 0")
    conditions = index_maps.not_negative((*sizes, *results))
    for axis, (size, other) in enumerate(zip(sizes[1:], results[1:], strict=True), 1):
        message = f"{op}: dimension {axis} has size {size} in the operand, {other} in the output"
        conditions += index_maps.equal(size, other, f"{message}; expected the same")
    if offset_count < 1 or offset_count % group_size:
        message = f"{op}: there are {offset_count} offsets for groups of {group_size} replicas"
        raise ShapeError(f"{message}; expected as many, or a multiple")
    return conditions


# Reading instructions.


def _ragged_all_to_all(instruction: Instruction) -> OpIndexing:
    operand, output, *offsets = instruction.operands
    count, *_ = *offsets[0].shape.dimensions, 0
    for each in offsets:
        index_maps.check_sizes(instruction.opcode, f"%{each.name}", sizes_of(each), (count,))
    return ragged_all_to_all(
        sizes_of(operand),
        sizes_of(output),
        count,
        devices.groups_of(instruction),
        devices.device_count(instruction),
    )


RULES: Final[Mapping[str, OpRule]] = {
    "collective-broadcast": OpRule(_rooted(collective_broadcast), values=devices.devices_running),
    "collective-permute": OpRule(
        _on_arrays(collectives.each_operand(_collective_permute)), values=devices.devices_running
    ),
    "collective-permute-start": OpRule(
        _on_arrays(collectives.started(_collective_permute)), values=devices.devices_running
    ),
    "collective-reduce": OpRule(_rooted(collective_reduce), values=devices.devices_running),
    "ragged-all-to-all": OpRule(_ragged_all_to_all, values=devices.devices_running),
}
