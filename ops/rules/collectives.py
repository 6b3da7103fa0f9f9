"""Collective operations: devices read elements that other devices hold.

Each has a map to the element and a map to the *replica* that holds it. If these depend on the
replica that the map starts from, its number is a runtime variable. A map from an operand to a
result starts at the replica that holds the operand, and leads to the replicas that hold results.

Replicas are all devices that run the program, numbered as in :mod:`ops.devices`. Replica groups
list which of them work together; without any, all ``replica_count`` replicas are one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Final, TypeAlias

from indexing.layout import ShapeError
from indexing.passes import Constraint, Ends, substituted_constraints
from ops import devices, index_maps
from ops.devices import DeviceGroups, DeviceIndex, JointIndexing
from ops.hlo import Instruction
from ops.index_maps import CheckedSizes, Size, Sizes
from ops.rules import rule
from ops.rules.elementwise import elementwise
from ops.rules.rule import Maps, MapsFunction, OpIndexing, OpRule, Origin, Pair, Unknown
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import Form, Interval, substitute, tabulated_partly


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
    members = _in_group(groups, OTHER, ReplicaMap(sizes, ranges=[groups.size]))
    return _on_replicas(sizes, groups.count, members, members)


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
    return _on_replicas(output_sizes, groups.count, there, back)


def _whole_and_blocks(
    groups: DeviceGroups, sizes: CheckedSizes, block_sizes: CheckedSizes, axis: int
) -> tuple[ReplicaMap, ReplicaMap]:
    """Map from an array to the block of each replica that an element lies in, and back."""
    element = index_maps.dimensions_of(sizes)
    number, within = index_maps.block_and_offset(index_maps.dim(axis), block_sizes[axis])
    begin = index_maps.scaled(groups.position(OWN_REPLICA), block_sizes[axis])
    inside = index_maps.with_value(element, axis, within)
    block = index_maps.with_value(element, axis, index_maps.dim(axis) + begin)
    whole = _in_group(groups, number, ReplicaMap(sizes, inside))
    return whole, _in_group(groups, OTHER, ReplicaMap(block_sizes, block, [groups.size]))


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
    return _on_replicas(output_sizes, groups.count, there, back).on_condition(conditions)


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
    position = groups.position(OWN_REPLICA)

    def replica_map(from_sizes: Sizes, cut: int, laid: int) -> ReplicaMap:
        """Map from blocks along one dimension to blocks along another."""
        number, within = index_maps.block_and_offset(index_maps.dim(cut), block_sizes[cut])
        element = index_maps.with_value(index_maps.dimensions_of(sizes), cut, within)
        begin = index_maps.scaled(position, block_sizes[laid])
        moved = index_maps.with_value(element, laid, element[laid] + begin)
        return _in_group(groups, number, ReplicaMap(from_sizes, moved))

    there, back = replica_map(output_sizes, concat, split), replica_map(sizes, split, concat)
    return _on_replicas(output_sizes, groups.count, there, back).on_condition(conditions)


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
    position = groups.position(OWN_REPLICA)

    def replica_map(at: int, towards: int) -> ReplicaMap:
        """Map from the replica at position ``at`` of a group to the one at ``towards``."""
        here = (position, Interval(at, at))
        return _in_group(groups, forms.constant(towards), ReplicaMap(sizes, constraints=[here]))

    def maps_between(result: int, operand: int) -> _Maps:
        there, back = replica_map(operand, result), replica_map(result, operand)
        return _simplified(there, groups.count), _simplified(back, groups.count)

    numbers = range(groups.size)
    return tuple(
        OpIndexing.between(sizes, *(maps_between(result, operand) for operand in numbers))
        for result in numbers
    )


def _block(op: str, sizes: CheckedSizes, axis: int, count: int) -> tuple[Size, list[Constraint]]:
    """The size of the blocks into which a dimension is cut, and the condition that it can be."""
    message = f"{op}: dimension {axis} of size {sizes[axis]} cannot be cut"
    return index_maps.divided(sizes[axis], count, f"{message} for groups of {count} replicas")


def _in_groups(build: Callable[..., OpIndexing]) -> Callable[[Instruction, Sizes], OpIndexing]:
    """Reads the groups of devices, and the dimension, if the operation works along one."""

    def of_operand(instruction: Instruction, sizes: Sizes) -> OpIndexing:
        is_along = "dimensions" in instruction.attributes
        axes = [rule.only_dimension(instruction)] if is_along else []
        groups, count = devices.groups_of(instruction), devices.device_count(instruction)
        return build(sizes, *axes, groups, count)

    return of_operand


_OfOperand: TypeAlias = "Callable[[Instruction, Sizes], OpIndexing]"
"""From an instruction and the sizes of an operand to the maps between it and its result."""


def _each_operand(build: _OfOperand) -> MapsFunction:
    """Every operand has its own result."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        results, count = instruction.shape.arrays, len(instruction.operands)
        index_maps.check_count(instruction.opcode, "the result", results, count, "operand")
        return _by_result(instruction, build)

    return maps


def _started(build: _OfOperand) -> MapsFunction:
    """The result holds the operands, then the results of the operation, then contexts."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        themselves = _by_result(instruction, lambda _, sizes: elementwise([sizes]))
        return themselves | _by_result(instruction, build, len(instruction.operands))

    return maps


def _by_result(
    instruction: Instruction, build: _OfOperand, first: int = 0
) -> dict[Pair, OpIndexing]:
    """The maps of each operand, whose results begin with the first one."""
    sizes = map(rule.sizes_of, instruction.operands)
    return {(first + n, n): build(instruction, each) for n, each in enumerate(sizes)}


def _all_to_all(instruction: Instruction) -> Maps:
    if "dimensions" in instruction.attributes:
        return _each_operand(_in_groups(all_to_all))(instruction)
    groups, count = devices.groups_of(instruction), devices.device_count(instruction)
    every = [rule.sizes_of(operand) for operand in instruction.operands]
    elementwise(every)
    return all_to_all_of_tuple(every[0], len(every), groups, count)


# Maps between elements on different replicas, for collective operations.

_Maps: TypeAlias = "tuple[rule.MapOfOperand, rule.MapOfOperand]"
"""The map from the result to an operand, and back."""

_OWN: Final = "own"
OWN_REPLICA: Final = forms.variable(_OWN)
"""The number of the replica that a map starts from."""

OTHER: Final = index_maps.symbol(0)
"""The position of any replica in the group: a range from the first to the last."""


@dataclass(frozen=True, slots=True)
class RuntimeElement:
    """A runtime variable with values ``clamp``: an element of an operand, on any replica."""

    operand: int
    clamp: Interval | Ends
    index: Form
    replica: Form = OWN_REPLICA


@dataclass(frozen=True, slots=True)
class ReplicaMap:
    """One direction: from an element on its own replica to elements on other replicas.

    A rule writes it like this; its maps are found by way of a :class:`JointIndexing`. Without an
    ``element``, the index is the same, and the replica is the own one unless another is given.
    """

    sizes: Sizes
    element: Sequence[Form] | None = None
    ranges: Sizes = ()
    constraints: Sequence[Constraint] = ()
    reads: Sequence[RuntimeElement] = ()
    replica: Form = OWN_REPLICA


def _on_replicas(
    output_sizes: Sizes, count: int, there: ReplicaMap, back: ReplicaMap
) -> OpIndexing:
    """The maps of an operation with one operand on ``count`` replicas, from both directions."""
    return OpIndexing.between(output_sizes, (_simplified(there, count), _simplified(back, count)))


def _in_group(groups: DeviceGroups, position: Form, way: ReplicaMap) -> ReplicaMap:
    """The map to the element on the replica at a position of the group, if there is one."""
    member = groups.member(OWN_REPLICA, position)
    constraints = [*groups.constraints(OWN_REPLICA, position), *way.constraints]
    return replace(way, replica=member, constraints=constraints)


def _simplified(replica_map: ReplicaMap, count: int) -> rule.MapOfOperand:
    """The map to the element, the origins of its runtime variables, and the map to the replica."""
    sizes, element = replica_map.sizes, replica_map.element
    device = {_OWN: index_maps.dim(len(sizes))}
    same = index_maps.dimensions_of(sizes)
    parts = [
        (same if element is None else element, replica_map.replica, None),
        *(([read.index], read.replica, read) for read in replica_map.reads),
    ]
    domain = index_maps.index_map(
        (),
        (*sizes, count),
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
    return rule.MapOfOperand(found.map, tuple(origins), found.replica)


# Between one device and others: transfers, broadcasts, reductions to a root.


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
    role = "source_target_pairs"
    pairs = [index_maps.checked_integers(op, role, pair) for pair in source_target_pairs]
    for pair in pairs:
        index_maps.check_count(op, f"the pair {pair}", pair, 2)
    named = [replica for pair in pairs for replica in pair]
    count = max(1, devices.checked_replica_count(op, named, replica_count))
    there = _moved(op, sizes, [pair[::-1] for pair in pairs], "target")
    return _on_replicas(sizes, count, there, _moved(op, sizes, pairs, "source"))


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
    sizes, count, to_root, from_root = _rooted_maps(
        "collective-broadcast", operand_sizes, replica_groups, replica_count, root
    )
    return _on_replicas(sizes, count, to_root, from_root)


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
    sizes, count, to_root, from_root = _rooted_maps(
        "collective-reduce", operand_sizes, replica_groups, replica_count, root
    )
    return _on_replicas(sizes, count, from_root, to_root)


def _rooted_maps(
    op: str,
    operand_sizes: Sizes,
    replica_groups: Iterable[Iterable[int]],
    replica_count: int | None,
    root: Root | None,
) -> tuple[Sizes, int, ReplicaMap, ReplicaMap]:
    """Sizes, the number of replicas, and the maps from every replica to its root, and back."""
    check_type(root, (Root, NoneType), f"{op}: root", "a Root")
    sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    groups = devices.device_groups(op, replica_groups, replica_count)
    position, reads = forms.ZERO, list[RuntimeElement]()
    if root:
        position, index = index_maps.runtime_value(0), forms.constant(root.index)
        reads = [RuntimeElement(root.operand, Interval(0, groups.size - 1), index)]
    to_root = _in_group(groups, position, ReplicaMap(sizes, reads=reads))
    is_root = (groups.position(OWN_REPLICA) - position, Interval(0, 0))
    from_root = ReplicaMap(sizes, ranges=[groups.size], constraints=[is_root], reads=reads)
    return sizes, groups.count, to_root, _in_group(groups, OTHER, from_root)


def _moved(op: str, sizes: Sizes, pairs: Sequence[Sequence[int]], role: str) -> ReplicaMap:
    """Map from the first replica of each pair to the second."""
    partners: dict[int, int] = {}
    for first, second in pairs:
        if first in partners:
            raise ShapeError(f"{op}: replica {first} is the {role} of two pairs; expected of one")
        partners[first] = second
    if not partners:
        return ReplicaMap(sizes, constraints=[(OWN_REPLICA, Interval(0, -1))])
    partner, constraints = tabulated_partly(partners, OWN_REPLICA)
    return ReplicaMap(sizes, constraints=constraints, replica=partner)


def _collective_permute(instruction: Instruction, sizes: Sizes) -> OpIndexing:
    pairs, count = devices.listed_groups(instruction), devices.device_count(instruction)
    return collective_permute(sizes, pairs, count)


def _rooted(build: Callable[..., OpIndexing]) -> MapsFunction:
    """Maps in which the last operand, if it chooses the root, is needed for all results, too."""

    def maps(instruction: Instruction) -> Mapping[Pair, OpIndexing]:
        has_roots = bool(instruction.attributes.get("has_dynamic_root"))
        data = instruction.operands[: len(instruction.operands) - has_roots]
        if has_roots:
            roots = rule.sizes_of(instruction.operands[-1])
            index_maps.check_sizes(instruction.opcode, "the vector of roots", roots, (len(data),))
        results = instruction.shape.arrays
        index_maps.check_count(instruction.opcode, "the result", results, len(data), "operand")
        found: dict[Pair, OpIndexing] = {}
        groups, count = devices.groups_of(instruction), devices.device_count(instruction)
        for number, operand in enumerate(data):
            sizes, root = rule.sizes_of(operand), Root(len(data), number) if has_roots else None
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
    return OpIndexing.between(sizes, (index_maps.index_map([chosen], sizes), back))


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
    conditions = [*_check(op, sizes, results, offset_count, groups.size)]
    same = index_maps.index_map(index_maps.dimensions_of(results), results)
    every = [index_maps.symbol(axis) for axis in range(len(results))]
    to_own = ReplicaMap(results, [index_maps.symbol(0)], (offset_count,))
    from_own = ReplicaMap((offset_count,), every, results)
    maps = (
        _rows(sizes, results, offset_count // groups.size, groups),
        (same, same),
        *[_offsets(results, offset_count, groups)] * 3,
        (_simplified(to_own, 1), _simplified(from_own, 1)),
    )
    return OpIndexing.between(results, *maps).on_condition(conditions)


def _rows(sizes: CheckedSizes, results: CheckedSizes, updates: int, groups: DeviceGroups) -> _Maps:
    """From a row of the result to the one that was sent there, if this is so, and back."""
    start, count, target = (index_maps.runtime_value(number) for number in range(3))
    update = index_maps.symbol(1)
    theirs = groups.position(OWN_REPLICA) * updates + update, groups.member(OWN_REPLICA, OTHER)
    mine = OTHER * updates + update, OWN_REPLICA

    sent, written = (index_maps.between(0, each[0]) for each in (sizes, results))
    counted = index_maps.between(0, index_maps.least(sizes[0], results[0]))

    def replica_map(
        begin: CheckedSizes, end: CheckedSizes, before: Form, after: Form, source: tuple[Form, Form]
    ) -> ReplicaMap:
        """Between rows that begin at ``before`` and rows that begin at ``after``."""
        row = index_maps.dim(0) - before
        within = [(row, Interval(0, None)), (row - count, Interval(None, -1))]
        reached = row + after
        element = index_maps.with_value(index_maps.dimensions_of(begin), 0, reached)
        conditions = [*within, *index_maps.inside(reached, end[0])]
        values = enumerate((sent, counted, written), 2)
        reads = [RuntimeElement(operand, each, *source) for operand, each in values]
        ranges = groups.size, updates
        return _in_group(groups, OTHER, ReplicaMap(begin, element, ranges, conditions, reads))

    there = replica_map(results, sizes, target, start, theirs)
    back = replica_map(sizes, results, start, target, mine)
    return _simplified(there, groups.count), _simplified(back, groups.count)


def _offsets(results: Sizes, count: int, groups: DeviceGroups) -> _Maps:
    """Every element of a result depends on the offsets of every replica of the group."""
    updates = count // groups.size
    position = groups.position(OWN_REPLICA) * updates + index_maps.symbol(1)
    number, _ = index_maps.block_and_offset(index_maps.dim(0), updates)
    there = _in_group(groups, OTHER, ReplicaMap(results, [position], (groups.size, updates)))
    every = [index_maps.symbol(axis) for axis in range(len(results))]
    back = _in_group(groups, number, ReplicaMap((count,), every, results))
    return _simplified(there, groups.count), _simplified(back, groups.count)


def _check(
    op: str, sizes: CheckedSizes, results: CheckedSizes, offset_count: int, group_size: int
) -> Iterator[Constraint]:
    """The conditions that sizes fit together."""
    if not sizes or len(sizes) != len(results):
        message = f"{op}: the operand has rank {len(sizes)} and the output {len(results)}"
        raise ShapeError(f"{message}; expected the same, and not 0")
    yield from index_maps.not_negative((*sizes, *results))
    for axis, (size, other) in enumerate(zip(sizes[1:], results[1:], strict=True), 1):
        message = f"{op}: dimension {axis} has size {size} in the operand, {other} in the output"
        yield from index_maps.equal(size, other, f"{message}; expected the same")
    if offset_count < 1 or offset_count % group_size:
        message = f"{op}: there are {offset_count} offsets for groups of {group_size} replicas"
        raise ShapeError(f"{message}; expected as many, or a multiple")


def _ragged_all_to_all(instruction: Instruction) -> OpIndexing:
    operand, output, *offsets = instruction.operands
    count, *_ = *offsets[0].shape.dimensions, 0
    for each in offsets:
        index_maps.check_sizes(instruction.opcode, f"%{each.name}", rule.sizes_of(each), (count,))
    groups, replicas = devices.groups_of(instruction), devices.device_count(instruction)
    sizes, results = rule.sizes_of(operand), rule.sizes_of(output)
    return ragged_all_to_all(sizes, results, count, groups, replicas)


RULES: Final[Mapping[str, OpRule]] = {
    opcode: OpRule(maps, values=devices.devices_running)
    for opcode, maps in (
        ("all-gather", _each_operand(_in_groups(all_gather))),
        ("all-gather-start", _started(_in_groups(all_gather))),
        ("all-reduce", _each_operand(_in_groups(all_reduce))),
        ("all-reduce-start", _each_operand(_in_groups(all_reduce))),
        ("all-to-all", _all_to_all),
        ("reduce-scatter", _each_operand(_in_groups(reduce_scatter))),
        ("collective-broadcast", _rooted(collective_broadcast)),
        ("collective-permute", _on_arrays(_each_operand(_collective_permute))),
        ("collective-permute-start", _on_arrays(_started(_collective_permute))),
        ("collective-reduce", _rooted(collective_reduce)),
        ("ragged-all-to-all", _ragged_all_to_all),
    )
}
