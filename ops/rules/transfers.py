"""Collective operations between one device and others: transfers, broadcasts, reductions to a root.

Devices are numbered and grouped as in :mod:`ops.rules.collectives`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.devices.groups import (
    checked_replica_count,
    device_count,
    device_groups,
    devices_running,
    groups_of,
    listed_groups,
)
from ops.index_maps import (
    check_count,
    check_sizes,
    checked_integers,
    checked_sizes,
    dimensions_of,
    index_map,
    runtime_value,
    symbol,
)
from ops.rules.collectives import each_operand, started
from ops.rules.op_indexing import OpIndexing, Unknown
from ops.rules.replica_maps import OWN_REPLICA, ReplicaMap, RuntimeElement, indexing_between
from ops.rules.rule import OpRule, sizes_of
from simplifier import Interval
from simplifier.errors import check_type
from simplifier.expr import form as forms
from simplifier.tabulate import tabulated_partly

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.devices.groups import DeviceGroups
    from ops.hlo import Instruction
    from ops.index_maps import Sizes
    from ops.rules.rule import Maps, MapsFunction, Pair


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
    sizes = checked_sizes(op, "operand", operand_sizes)
    check_type(source_target_pairs, Iterable, f"{op}: source_target_pairs", "pairs of replicas")
    pairs = [checked_integers(op, "source_target_pairs", pair) for pair in source_target_pairs]
    count = _count_of_pairs(op, pairs, replica_count)
    there = _moved(op, sizes, [pair[::-1] for pair in pairs], "target")
    return indexing_between(sizes, count, there, _moved(op, sizes, pairs, "source"))


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
    sizes = checked_sizes("collective-broadcast", "operand", operand_sizes)
    groups = device_groups("collective-broadcast", replica_groups, replica_count)
    there, back = _to_root(groups, sizes, root), _from_root(groups, sizes, root)
    return indexing_between(sizes, groups.count, there, back)


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
    sizes = checked_sizes("collective-reduce", "operand", operand_sizes)
    groups = device_groups("collective-reduce", replica_groups, replica_count)
    there, back = _from_root(groups, sizes, root), _to_root(groups, sizes, root)
    return indexing_between(sizes, groups.count, there, back)


def _to_root(groups: DeviceGroups, sizes: Sizes, root: Root | None) -> ReplicaMap:
    """From every replica of a group to its root."""
    position = runtime_value(0) if root else forms.ZERO
    return ReplicaMap(
        sizes,
        dimensions_of(sizes),
        groups.member(OWN_REPLICA, position),
        constraints=groups.constraints(OWN_REPLICA, position),
        reads=_reads(groups, root),
    )


def _from_root(groups: DeviceGroups, sizes: Sizes, root: Root | None) -> ReplicaMap:
    """From the root of a group to all replicas of it."""
    position = runtime_value(0) if root else forms.ZERO
    is_root = (groups.position(OWN_REPLICA) - position, Interval(0, 0))
    return ReplicaMap(
        sizes,
        dimensions_of(sizes),
        groups.member(OWN_REPLICA, symbol(0)),
        [groups.size],
        [*groups.constraints(OWN_REPLICA, symbol(0)), is_root],
        _reads(groups, root),
    )


def _reads(groups: DeviceGroups, root: Root | None) -> list[RuntimeElement]:
    return (
        [RuntimeElement(root.operand, groups.size - 1, forms.constant(root.index))] if root else []
    )


def _moved(op: str, sizes: Sizes, pairs: Sequence[Sequence[int]], role: str) -> ReplicaMap:
    """From the first replica of each pair to the second."""
    partners: dict[int, int] = {}
    for first, second in pairs:
        if first in partners:
            raise ShapeError(f"{op}: replica {first} is the {role} of two pairs; expected of one")
        partners[first] = second
    if not partners:
        return ReplicaMap(
            sizes, dimensions_of(sizes), OWN_REPLICA, constraints=[(OWN_REPLICA, Interval(0, -1))]
        )
    partner, constraints = tabulated_partly(partners, OWN_REPLICA)
    return ReplicaMap(sizes, dimensions_of(sizes), partner, constraints=constraints)


def _count_of_pairs(op: str, pairs: Sequence[Sequence[int]], count: int | None) -> int:
    for pair in pairs:
        check_count(op, f"the pair {tuple(pair)}", pair, 2)
    named = [replica for pair in pairs for replica in pair]
    return max(1, checked_replica_count(op, named, count))


# Reading instructions.


def _collective_permute(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    return collective_permute(sizes, listed_groups(instruction), device_count(instruction))


def _rooted(build: Callable[..., OpIndexing]) -> MapsFunction:
    """If the last operand chooses the root of each array, the results depend on it, too."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        has_roots = bool(instruction.attributes.get("has_dynamic_root"))
        data = instruction.operands[: len(instruction.operands) - has_roots]
        if has_roots:
            roots = sizes_of(instruction.operands[-1])
            check_sizes(instruction.opcode, "the vector of roots", roots, (len(data),))
        check_count(
            instruction.opcode, "the result", instruction.shape.arrays, len(data), "operand"
        )
        found: dict[Pair, OpIndexing] = {}
        groups, count = groups_of(instruction), device_count(instruction)
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
    index = (symbol(axis) for axis in range(len(sizes)))
    back = index_map(index, [Interval(number, number)], sizes)
    return OpIndexing(tuple(sizes), (index_map([chosen], sizes),), (back,))


def _on_arrays(build: MapsFunction) -> MapsFunction:
    """The maps of permutations that do not move slices in place; those are unknown."""

    def maps(instruction: Instruction) -> Maps:
        if "slice_sizes" in instruction.attributes:
            return Unknown(f"{instruction.opcode}: no indexing map of slices that move in place")
        return build(instruction)

    return maps


RULES: Final[Mapping[str, OpRule]] = {
    "collective-broadcast": OpRule(_rooted(collective_broadcast), values=devices_running),
    "collective-permute": OpRule(
        _on_arrays(each_operand(_collective_permute)), values=devices_running
    ),
    "collective-permute-start": OpRule(
        _on_arrays(started(_collective_permute)), values=devices_running
    ),
    "collective-reduce": OpRule(_rooted(collective_reduce), values=devices_running),
}
