"""Ragged all-to-all: devices send each other rows, in numbers and to offsets that operands give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.devices.groups import device_count, devices_running, even_groups, groups_of
from ops.index_maps import (
    block_and_offset,
    check_sizes,
    checked_operand_count,
    checked_sizes,
    dim,
    dimensions_of,
    runtime_value,
    symbol,
)
from ops.rules.elementwise import elementwise
from ops.rules.replica_maps import (
    OWN_REPLICA,
    ReplicaMap,
    RuntimeElement,
    indexing_between,
    with_all_operands,
    with_value,
)
from ops.rules.rule import OpRule, sizes_of
from ops.sizes import between, equal, inside, least, not_negative
from simplifier import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indexing.domain import Constraint
    from ops.devices.groups import DeviceGroups
    from ops.hlo import Instruction
    from ops.index_maps import CheckedSizes, Sizes
    from ops.rules.op_indexing import OpIndexing
    from simplifier.expr.form import Form


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
    sizes = checked_sizes(op, "operand", operand_sizes)
    offset_count = checked_operand_count(op, "offsets", offset_count)
    results = checked_sizes(op, "output", output_sizes)
    groups = even_groups(op, replica_groups, replica_count)
    conditions = _check(op, sizes, results, offset_count, groups.size)
    rows = _rows(sizes, results, offset_count // groups.size, groups)
    offsets = _offsets(results, offset_count, groups)
    return with_all_operands(
        [rows, elementwise([results]), *[offsets] * 3, _own(results, offset_count)]
    ).on_condition(conditions)


def _rows(
    sizes: CheckedSizes, results: CheckedSizes, updates: int, groups: DeviceGroups
) -> OpIndexing:
    """From a row of the result to the one that was sent there, if this is so, and back."""
    start, count, target = (runtime_value(number) for number in range(3))
    member, update = groups.member(OWN_REPLICA, symbol(0)), symbol(1)
    theirs = groups.position(OWN_REPLICA) * updates + update, member
    mine = symbol(0) * updates + update, OWN_REPLICA

    def replica_map(
        begin: CheckedSizes,
        end: CheckedSizes,
        before: Form,
        after: Form,
        source: tuple[Form, Form],
    ) -> ReplicaMap:
        """Between rows that begin at ``before`` and rows that begin at ``after``."""
        row = dim(0) - before
        within = [(row, Interval(0, None)), (row - count, Interval(None, -1))]
        reached = row + after
        return ReplicaMap(
            begin,
            with_value(dimensions_of(begin), 0, reached),
            member,
            (groups.size, updates),
            [*groups.constraints(OWN_REPLICA), *within, *inside(reached, between(0, end[0] - 1))],
            [
                RuntimeElement(2, sizes[0], *source),
                RuntimeElement(3, least(sizes[0], results[0]), *source),
                RuntimeElement(4, results[0], *source),
            ],
        )

    there = replica_map(results, sizes, target, start, theirs)
    back = replica_map(sizes, results, start, target, mine)
    return indexing_between(results, groups.count, there, back)


def _offsets(results: Sizes, count: int, groups: DeviceGroups) -> OpIndexing:
    """Every element of a result depends on the offsets of every replica of the group."""
    updates = count // groups.size
    taking_part = groups.constraints(OWN_REPLICA)
    position = groups.position(OWN_REPLICA) * updates + symbol(1)
    number, _ = block_and_offset(dim(0), updates)
    member = groups.member(OWN_REPLICA, symbol(0))
    there = ReplicaMap(results, [position], member, (groups.size, updates), taking_part)
    every = [symbol(axis) for axis in range(len(results))]
    back = ReplicaMap((count,), every, groups.member(OWN_REPLICA, number), results, taking_part)
    return indexing_between(results, groups.count, there, back)


def _own(results: Sizes, count: int) -> OpIndexing:
    """Every element of a result depends on all elements of a vector on its own replica."""
    there = ReplicaMap(results, [symbol(0)], OWN_REPLICA, (count,))
    back = ReplicaMap(
        (count,), [symbol(axis) for axis in range(len(results))], OWN_REPLICA, results
    )
    return indexing_between(results, 1, there, back)


def _check(
    op: str, sizes: CheckedSizes, results: CheckedSizes, offset_count: int, group_size: int
) -> list[Constraint]:
    """The conditions that sizes fit together."""
    if not sizes or len(sizes) != len(results):
        message = f"{op}: the operand has rank {len(sizes)} and the output {len(results)}"
        raise ShapeError(f"{message}; expected the same, and not 0")
    conditions = not_negative((*sizes, *results))
    for axis, (size, other) in enumerate(zip(sizes[1:], results[1:], strict=True), 1):
        message = f"{op}: dimension {axis} has size {size} in the operand, {other} in the output"
        conditions += equal(size, other, f"{message}; expected the same")
    if offset_count < 1 or offset_count % group_size:
        message = f"{op}: there are {offset_count} offsets for groups of {group_size} replicas"
        raise ShapeError(f"{message}; expected as many, or a multiple")
    return conditions


# Reading instructions.


def _ragged_all_to_all(instruction: Instruction) -> OpIndexing:
    operand, output, *offsets = instruction.operands
    count, *_ = *offsets[0].shape.dimensions, 0
    for each in offsets:
        check_sizes(instruction.opcode, f"%{each.name}", sizes_of(each), (count,))
    return ragged_all_to_all(
        sizes_of(operand),
        sizes_of(output),
        count,
        groups_of(instruction),
        device_count(instruction),
    )


RULES: Final[Mapping[str, OpRule]] = {
    "ragged-all-to-all": OpRule(_ragged_all_to_all, values=devices_running),
}
