"""What XLA's tests of cost and performance models ask: the bytes that a kernel or its tiles move.

A kernel is the entry's root, or the ``instruction`` that a row names, maybe joined with the
``producer`` that it reads. A count that depends on values is its least and its most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from ops import Fusion, FusionSchedule, Unknown, hlo, schedule_of
from ops.hlo import Instruction
from ops.performance import RTX_A6000, OperandUtilization, coalescing, utilization
from ops.performance.kernels import with_midpoints
from ops.performance.utilization import Count
from ops.tiling import TilingCandidate, Tilings, tilings
from ops.xla_gpu import Access
from simplifier import Interval
from tests.conformance import Row
from tests.xla.outcome import Outcome, Question, ends, of_values


def instruction_of(row: Row) -> Instruction:
    """The instruction that runs as a kernel."""
    entry = hlo.parse(row["hlo"]).entry
    return entry[row["instruction"]] if "instruction" in row else entry.root


def kernel_of(row: Row) -> Fusion:
    """The instruction as a kernel, maybe with its producer."""
    root = instruction_of(row)
    producers = [each for each in root.operands if each.name == row.get("producer")]
    return Fusion.of_pair(producers[0], root) if producers else Fusion.of_instruction(root)


# Kernels.


def bytes_read(row: Row) -> Outcome:
    """The bytes of an operand, as often as evaluations need them."""
    return of_values(_shown(_sum(map(_bytes_of_reads, _rows(row)))), row)


def bytes_needed(row: Row) -> Outcome:
    """The bytes of an operand that are needed at all."""
    return of_values(_shown(_sum(each.bytes for each in _rows(row))), row)


def bytes_written(row: Row) -> Outcome:
    """The bytes of the results."""
    return of_values(_written(kernel_of(row)), row)


def bytes_moved(row: Row) -> Outcome:
    """All bytes that a kernel reads, as often as evaluations need them, and writes."""
    reads = map(_bytes_of_reads, _rows(row))
    return of_values(_shown(_sum([*reads, _written(kernel_of(row))])), row)


def bytes_moved_once(row: Row) -> Outcome:
    """All bytes that a kernel reads, each once, and writes."""
    reads = (each.bytes for each in _rows(row))
    return of_values(_shown(_sum([*reads, _written(kernel_of(row))])), row)


def reads_of_each(row: Row) -> Outcome:
    """How often each element of an operand is read."""
    return of_values([each.reuse for each in _rows(row)], row)


def bytes_received(row: Row) -> Outcome:
    """The bytes that a device takes from others and itself for its result of a collective."""
    kernel = kernel_of(row)
    (operand,) = (each for each in kernel.operands if each.name == row["operand"])
    reads = kernel.reads(operand)
    assert not isinstance(reads, Unknown)
    ways = [way for way in reads.ways if way.replica_id is not None] or reads.ways
    total = sum(with_midpoints(way.map).count() for way in ways)
    return of_values(total * operand.shape.element_type.bytes, row)


def bytes_loaded(row: Row) -> Outcome:
    """The bytes that the threads of the kernel's schedule read of an operand."""
    schedule = schedule_of(instruction_of(row))
    names = [each.name for each in instruction_of(row).operands]
    return of_values(sum(map(_bytes_of, schedule.reads(names.index(row["operand"])))), row)


def bytes_stored(row: Row) -> Outcome:
    """The bytes that the threads of the kernel's schedule write."""
    return of_values(sum(map(_bytes_of, schedule_of(instruction_of(row)).writes())), row)


def _bytes_of(access: Access) -> int:
    count = with_midpoints(access.map).count()
    assert isinstance(count, int)
    return count * access.shape.element_type.bytes


def _rows(row: Row) -> list[OperandUtilization]:
    """What the kernel reads of the operand that a row names, or of all."""
    found = utilization(kernel_of(row)).rows
    return [each for each in found if each.operand.name == row.get("operand", each.operand.name)]


def _bytes_of_reads(row: OperandUtilization) -> Interval:
    return _interval(row.reads) * row.operand.shape.arrays[row.element].element_type.bytes


def _written(kernel: Fusion) -> int:
    return sum(root.shape.bytes for root in kernel.roots)


def _sum(counts: Iterable[Count]) -> Interval:
    return sum(map(_interval, counts), Interval(0, 0))


def _interval(count: Count) -> Interval:
    """The ends of a count; the rows have no symbolic sizes."""
    assert isinstance(count, int | Interval)
    return Interval.of(count)


def _shown(count: Interval) -> int | list[int | None]:
    """A number, or the least and the most."""
    least, most = ends(count)
    return least if least is not None and least == most else [least, most]


# Pairs.


def fused_moves_less(row: Row) -> Outcome:
    """Whether a producer and its consumer move fewer sectors as one kernel than as two."""
    consumer = instruction_of(row)
    (producer,) = (each for each in consumer.operands if each.name == row["producer"])
    fused = _sectors(schedule_of(consumer, producer=producer))
    return of_values(fused < _sectors(schedule_of(producer)) + _sectors(schedule_of(consumer)), row)


def reads_are_coalesced(row: Row) -> Outcome:
    """Whether all reads of a producer and its consumer as one kernel are coalesced for XLA."""
    consumer = instruction_of(row)
    (producer,) = (each for each in consumer.operands if each.name == row["producer"])
    schedule = schedule_of(consumer, producer=producer)
    found = (coalescing(each, RTX_A6000).is_coalesced for each in _reads(schedule))
    return of_values(all(found), row)


def _sectors(schedule: FusionSchedule) -> int:
    """Sectors that all warps load and store; at least, if that depends on values."""
    accesses = (*_reads(schedule), *schedule.writes())
    return _sum(coalescing(access, RTX_A6000).sectors for access in accesses).lower or 0


def _reads(schedule: FusionSchedule) -> list[Access]:
    count = len(schedule.fusion.operands)
    return [access for operand in range(count) for access in schedule.reads(operand)]


# Tiles.


def _of_tiling(answer: Callable[[TilingCandidate], object]) -> Question:
    """A question to the tiling whose sizes are given, of the results' dimensions and the others."""

    def question(row: Row) -> Outcome:
        found = _of_sizes(row)
        return of_values(answer(found[0]) if found else None, row)

    return question


def tile_fits(row: Row) -> Outcome:
    """Whether tiles of these sizes fit into the registers of a block."""
    return of_values(bool(_of_sizes(row)), row)


def best_tile(row: Row) -> Outcome:
    """The tile sizes that move the fewest bytes."""
    return of_values(list(tilings(kernel_of(row), RTX_A6000)[0].sizes), row)


def _of_sizes(row: Row) -> Tilings:
    kernel = {name: row[name] for name in ("hlo", "instruction", "producer") if name in row}
    return _of_kernel(tuple(kernel.items()), tuple(row["tile_sizes"]))


@lru_cache(maxsize=1)
def _of_kernel(kernel: tuple[tuple[str, str], ...], sizes: tuple[int, ...]) -> Tilings:
    """The tilings of a kernel; rows ask one after the other what its tiles read and write."""
    return tilings(kernel_of(dict(kernel)), RTX_A6000, sizes=[[size] for size in sizes])


QUESTIONS: Final[dict[str, Question]] = {
    "best tile": best_tile,
    "bytes loaded": bytes_loaded,
    "bytes moved": bytes_moved,
    "bytes moved once": bytes_moved_once,
    "bytes needed": bytes_needed,
    "bytes read": bytes_read,
    "bytes received": bytes_received,
    "bytes stored": bytes_stored,
    "bytes written": bytes_written,
    "fused reads coalesced": reads_are_coalesced,
    "fused moves less": fused_moves_less,
    "reads of each": reads_of_each,
    "tile bytes read": _of_tiling(lambda tiling: tiling.bytes_read),
    "tile bytes written": _of_tiling(lambda tiling: tiling.bytes_written),
    "tile fits": tile_fits,
}
