"""What XLA's tests ask about memory: symbolic tiles, coalesced reads, and how many bytes move.

A kernel is the entry's root, or the ``instruction`` that a row names, maybe joined with the
``producer`` that it reads. A count that depends on values is its least and its most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product
from math import prod
from random import Random
from typing import Final

from indexing import IndexingMap, Tile, TileConstraints, TileError, parse_map
from ops import Fusion, FusionSchedule, Unknown, hlo, output_to_input, schedule_of
from ops.hlo import Instruction
from ops.performance import (
    RTX_A6000,
    OperandUtilization,
    bandwidth_utilization,
    coalescing,
    is_likely_coalesced,
    utilization,
)
from ops.performance.kernels import with_midpoints
from ops.performance.utilization import Count
from ops.tiling import TilingCandidate, Tilings, tilings
from ops.xla_gpu import Access
from simplifier import Interval, symbol
from simplifier.expr import form as forms
from simplifier.expr import operations
from tests.conformance import Row, rows_of
from tests.xla.facts import Answer, Outcome, Verdict, ends, of_values

MAX_SIZES: Final = 40
"""So many sizes of tiles are compared, drawn from all."""

MAX_POINTS: Final = 20_000
"""Of larger maps only so many points are looked at."""


def _whole(row: Row) -> Row:
    """The row with what stands in the one that ``of`` names, in another table."""
    table, _, name = row.get("of", "").partition("/")
    return {**rows_of(table, id=name)[0], **row} if table else row


def tile(row: Row) -> Outcome:
    """Our tile beside XLA's: which sizes each takes, and the elements of the first tile."""
    whole = _whole(row)
    indexing, expected = map_of(whole), whole["expected"]
    names = [symbol(f"T{number}") for number in range(len(indexing.dims))]
    try:
        ours = indexing.tile(names)
    except TileError as error:
        verdict = Verdict.SAME if expected is None else Verdict.WRONG
        return Outcome(verdict, str(error), _shown(expected))
    verdict = Verdict.BETTER if expected is None else _compared(ours, expected, indexing)
    return Outcome(verdict, str(ours), _shown(expected))


def map_of(row: Row) -> IndexingMap:
    """The only map of a row: as given, or from the root of a module to an operand."""
    if "map" in row:
        return parse_map(row["map"])
    root = hlo.parse(row["hlo"]).entry.root
    operand: int = row["operand"]
    indexings = output_to_input(root).indexing[operand]
    assert not isinstance(indexings, Unknown)
    (found,) = indexings
    return found.map


def _shown(expected: dict[str, str] | None) -> str:
    """XLA's tile in our words."""
    if expected is None:
        return "no tile"
    keys = {"offsets": "offset_map", "sizes": "size_map", "strides": "stride_map"}
    lines = [f"{ours}: {expected[theirs]}" for ours, theirs in keys.items()]
    return "\n".join([*lines, f"constraints: {expected['constraints']}"])


def _compared(ours: Tile, expected: dict[str, str], indexing: IndexingMap) -> Verdict:
    """Same if both take the same sizes and give the same elements; better if ours takes more.

    Where XLA takes a size that ours refuses, or gives other elements, it must be wrong there.
    """
    constraints = TileConstraints.parse(expected["constraints"])
    keys = ("offset_map", "size_map", "stride_map")
    formulas = [parse_map(expected[key], unbounded=True) for key in keys]
    is_better = False
    for sizes in _sizes(indexing):
        named = {f"T{number}": size for number, size in enumerate(sizes)}
        is_ours = ours.constraints.satisfied(named)
        if not constraints.satisfied({f"d{n}": size for n, size in enumerate(sizes)}):
            is_better |= is_ours
            continue
        columns = [each.evaluate(sizes, [0] * len(each.ranges)) for each in formulas]
        theirs = [_progression(*row) for row in zip(*columns, strict=True)]
        if is_ours and _first(ours.substitute(named)) == theirs:
            continue
        tiles = _touched(indexing, sizes)
        if all(_is_box(each) for each in tiles) and not is_ours:
            return Verdict.DIFFERENT
        if is_ours and _columns(tiles[0]) == theirs:
            return Verdict.WRONG
        is_better = True
    return Verdict.BETTER if is_better else Verdict.SAME


def _sizes(indexing: IndexingMap) -> list[tuple[int, ...]]:
    """Small sizes of tiles, and whole dimensions: always the same ones."""
    extents = [(dim.bounds.upper or 0) + 1 for dim in indexing.dims]
    known = (1, 2, 3, 4, 6, 7, 8, 35)
    every = [*product(*(sorted({n for n in (*known, end) if n <= end}) for end in extents))]
    return Random(0).sample(every, min(MAX_SIZES, len(every)))  # noqa: S311 - no secret


def _first(found: Tile) -> list[set[int]]:
    """The index of each result in the first tile, where runtime variables are 0."""
    columns: list[set[int]] = []
    for offset, size, stride in found.formulas.results:
        zeros = dict.fromkeys(forms.variables_of((offset,)), forms.ZERO)
        (start,) = operations.substitute((offset,), zeros)
        columns.append(_progression(start.constant, size.constant, stride.constant))
    return columns


def _progression(offset: int, size: int, stride: int) -> set[int]:
    return {offset + stride * place for place in range(size)}


def _touched(indexing: IndexingMap, sizes: tuple[int, ...]) -> list[set[tuple[int, ...]]]:
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for dims, _, _, results in islice(indexing.points(), MAX_POINTS):
        ids = tuple(dim // size for dim, size in zip(dims, sizes, strict=True))
        found.setdefault(ids, set()).add(tuple(results))
    return list(found.values())


def _columns(touched: set[tuple[int, ...]]) -> list[set[int]]:
    return [set(column) for column in zip(*touched, strict=True)]


def _is_box(touched: set[tuple[int, ...]]) -> bool:
    return len(touched) == prod(map(len, _columns(touched)))


def coalesced_operands(row: Row) -> list[bool]:
    """Whether the reads of each operand are coalesced, by XLA's rule on our schedule."""
    schedule = schedule_of(hlo.parse(row["hlo"]).entry.root)
    return [
        all(coalescing(access, RTX_A6000).is_coalesced for access in schedule.reads(operand))
        for operand in range(len(schedule.fusion.operands))
    ]


def _of_whole(answer: Callable[[Row], object], expected: str) -> Answer:
    """The answer to a row with what it names; that has XLA's answer under another name."""

    def found(row: Row) -> Outcome:
        whole = _whole(row)
        return of_values(answer(whole), {"expected": whole[expected], **row})

    return found


def instruction_of(row: Row) -> Instruction:
    entry = hlo.parse(row["hlo"]).entry
    return entry[row["instruction"]] if "instruction" in row else entry.root


def kernel_of(row: Row) -> Fusion:
    """The instruction as a kernel, maybe with its producer."""
    root = instruction_of(row)
    producers = [each for each in root.operands if each.name == row.get("producer")]
    return Fusion.of_pair(producers[0], root) if producers else Fusion.of_instruction(root)


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
    # The part of what moves from memory that a tile needs.
    "bandwidth rate": _of_whole(lambda row: bandwidth_utilization(
        hlo.parse(row["hlo"]).entry.parameters[0].shape, row["tile_sizes"],
        replace(RTX_A6000, dram_transaction_bytes=row["transaction_bytes"])), "rate"),
    "coalesced operands": _of_whole(coalesced_operands, "coalesced_per_operand"),
    # The guess from opcodes alone.
    "likely coalesced": _of_whole(lambda row: is_likely_coalesced(
        instruction_of(row).operands[0], instruction_of(row)), "coalesced"),
    "satisfied sizes": lambda row: TileConstraints.parse(row["text"]).satisfied(
        {f"v{number}": size for number, size in enumerate(row["sizes"])}
    ),
    # All parts multiplied out.
    "size constraints": lambda row: str(TileConstraints.parse(row["text"]).expanded()),
    "tile": tile,
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
}  # fmt: skip
