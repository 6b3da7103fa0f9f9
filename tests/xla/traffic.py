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
from tests.xla.outcome import Answer, ends


def instruction_of(row: Row) -> Instruction:
    entry = hlo.parse(row["hlo"]).entry
    return entry[row["instruction"]] if "instruction" in row else entry.root


def kernel_of(row: Row) -> Fusion:
    """The instruction as a kernel, maybe with its producer."""
    root = instruction_of(row)
    producers = [each for each in root.operands if each.name == row.get("producer")]
    return Fusion.of_pair(producers[0], root) if producers else Fusion.of_instruction(root)


# Kernels.


def bytes_received(row: Row) -> object:
    """The bytes that a device takes from others and itself for its result of a collective."""
    kernel = kernel_of(row)
    (operand,) = (each for each in kernel.operands if each.name == row["operand"])
    reads = kernel.reads(operand)
    assert not isinstance(reads, Unknown)
    ways = [way for way in reads.ways if way.replica_id is not None] or reads.ways
    total = sum(with_midpoints(way.map).count() for way in ways)
    return total * operand.shape.element_type.bytes


def bytes_loaded(row: Row) -> int:
    instruction = instruction_of(row)
    names = [each.name for each in instruction.operands]
    return sum(map(_bytes_of, schedule_of(instruction).reads(names.index(row["operand"]))))


def _bytes_of(access: Access) -> int:
    count = with_midpoints(access.map).count()
    assert isinstance(count, int)
    return count * access.shape.element_type.bytes


def _rows(row: Row) -> list[OperandUtilization]:
    """What the kernel reads of the operand that a row names, or of all."""
    found = utilization(kernel_of(row)).rows
    return [each for each in found if each.operand.name == row.get("operand", each.operand.name)]


def _read(row: Row) -> list[Interval]:
    """The bytes of what is read, as often as evaluations need them."""
    return [
        _interval(each.reads) * each.operand.shape.arrays[each.element].element_type.bytes
        for each in _rows(row)
    ]


def _written(row: Row) -> int:
    return sum(root.shape.bytes for root in kernel_of(row).roots)


def _sum(counts: Iterable[Count]) -> Interval:
    return sum(map(_interval, counts), Interval(0, 0))


def _interval(count: Count) -> Interval:
    """The ends of a count; the rows have no symbolic sizes."""
    assert isinstance(count, int | Interval)
    return Interval.of(count)


def _total(counts: Iterable[Count]) -> int | list[int | None]:
    """A number, or the least and the most."""
    least, most = ends(_sum(counts))
    return least if least is not None and least == most else [least, most]


# Pairs.


def fused_moves_less(row: Row) -> bool:
    """Whether a producer and its consumer move fewer sectors as one kernel than as two."""
    producer, consumer, fused = _schedules(row)
    return _sectors(fused) < _sectors(producer) + _sectors(consumer)


def _schedules(row: Row) -> list[FusionSchedule]:
    """Those of a producer, of its consumer, and of both as one kernel."""
    consumer = instruction_of(row)
    (producer,) = (each for each in consumer.operands if each.name == row["producer"])
    return [schedule_of(producer), schedule_of(consumer), schedule_of(consumer, producer=producer)]


def _sectors(schedule: FusionSchedule) -> int:
    """Sectors that all warps load and store; at least, if that depends on values."""
    accesses = (*_reads(schedule), *schedule.writes())
    return _sum(coalescing(access, RTX_A6000).sectors for access in accesses).lower or 0


def _reads(schedule: FusionSchedule) -> list[Access]:
    count = len(schedule.fusion.operands)
    return [access for operand in range(count) for access in schedule.reads(operand)]


# Tiles.


def _of_tiling(answer: Callable[[TilingCandidate], object]) -> Answer:
    """The answer for the tiling of given sizes, of the results' dimensions and the others."""
    return lambda row: answer(fitting[0]) if (fitting := _of_sizes(row)) else None


def _of_sizes(row: Row) -> Tilings:
    kernel = {name: row[name] for name in ("hlo", "instruction", "producer") if name in row}
    return _of_kernel(tuple(kernel.items()), tuple(row["tile_sizes"]))


@lru_cache(maxsize=1)
def _of_kernel(kernel: tuple[tuple[str, str], ...], sizes: tuple[int, ...]) -> Tilings:
    """The tilings of a kernel; rows ask one after the other what its tiles read and write."""
    return tilings(kernel_of(dict(kernel)), RTX_A6000, sizes=[[size] for size in sizes])


QUESTIONS: Final[dict[str, Answer]] = {
    "best tile": lambda row: list(tilings(kernel_of(row), RTX_A6000)[0].sizes),
    "bytes loaded": bytes_loaded,
    "bytes moved": lambda row: _total([*_read(row), _written(row)]),
    # As often as evaluations need it above, each element once below.
    "bytes moved once": lambda row: _total([*(each.bytes for each in _rows(row)), _written(row)]),
    "bytes needed": lambda row: _total(each.bytes for each in _rows(row)),
    "bytes read": lambda row: _total(_read(row)),
    "bytes received": bytes_received,
    "bytes stored": lambda row: sum(map(_bytes_of, schedule_of(instruction_of(row)).writes())),
    "bytes written": _written,
    # All, for XLA.
    "fused reads coalesced": lambda row: all(
        coalescing(each, RTX_A6000).is_coalesced for each in _reads(_schedules(row)[2])
    ),
    "fused moves less": fused_moves_less,
    "reads of each": lambda row: [each.reuse for each in _rows(row)],
    "tile bytes read": _of_tiling(lambda tiling: tiling.bytes_read),
    "tile bytes written": _of_tiling(lambda tiling: tiling.bytes_written),
    "tile fits": lambda row: bool(_of_sizes(row)),
}
