"""Queries of modules whose answers are tables: how kernels use memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from typing import ClassVar, Final

from indexing import MapError
from indexing.layout import ShapeError
from ops.cli.documents import Cells, Fields, Lines, TableQuery, by_weight
from ops.fusion import Fusion, FusionError
from ops.hlo import HloModule, HloTextError, Instruction
from ops.hlo.module import source_locations
from ops.performance import DEVICES, Coalescing, OperandUtilization, coalescing
from ops.performance.coalescing import COUNTED
from ops.performance.kernels import moves_something
from ops.performance.summary import HEADING, KernelSummary, cells_of
from ops.performance.tally import Count, Deadline, ends_of_count, text_of_count
from ops.performance.utilization import OperandCounter
from ops.tiling import ArrayTile, TilingCandidate, Tilings, tilings
from ops.xla_gpu import Access, schedule_of
from simplifier import format_expr
from simplifier.errors import IndexingError, listed
from simplifier.forms import Interval

WITH_WARPS: Final = tuple(name for name, device in DEVICES.items() if device.warp_size)
"""The names of the devices whose threads run in warps."""


# Coalescing.

_OF_ACCESSES: Final = ("wasted", "sectors", "ideal", "ratio", "vector", "XLA", "access")


@dataclass(frozen=True, slots=True)
class FusionCoalescing(TableQuery):
    """Loads of operands and results by the warps of each fusion, the most wasteful first."""

    name: ClassVar = "accesses"

    device: str
    unroll: int

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """A row for each access, then one for each fusion without a schedule, then errors."""
        fusions = (each for each in self.selection.of(module) if each.opcode == "fusion")
        return by_weight(_OF_ACCESSES, fusions, self._rows, self.selection)

    def _rows(self, fusion: Instruction) -> Sequence[Cells]:
        try:
            return list(self._accesses(fusion))
        except (FusionError, MapError, ShapeError) as error:
            return [_unknown(_OF_ACCESSES, "fusion", fusion, str(error), str(error))]

    def _accesses(self, fusion: Instruction) -> Iterator[Cells]:
        schedule = schedule_of(fusion, unroll=self.unroll)
        sides: tuple[tuple[str, int, Callable[[int], Sequence[Access]]], ...] = (
            ("operand", len(fusion.operands), schedule.reads),
            ("result", len(fusion.shape.arrays), schedule.writes),
        )
        for role, count, accesses in sides:
            for number in range(count):
                if not self._is_asked_for(fusion, role, number):
                    continue
                for access in accesses(number):
                    found = coalescing(access, DEVICES[self.device])
                    yield _access(fusion, role, number, access, found)

    def _is_asked_for(self, fusion: Instruction, role: str, number: int) -> bool:
        if role == "result":
            return not self.selection.parameters
        return self.selection.is_read(fusion.operands[number])


def _access(
    fusion: Instruction, role: str, number: int, access: Access, found: Coalescing
) -> Cells:
    sectors = (found.wasted_sectors, found.sectors, found.ideal_sectors)
    condition = f"; fewest where {found.condition}" if found.condition else ""
    shown = sorted({"wasted_sectors", "sectors", "ideal_sectors"}.intersection(found.bounds))
    bounds = f"; bounds: {listed(shown)}" if shown else ""
    cells = (
        *map(text_of_count, sectors),
        "" if found.ratio is None else f"{found.ratio:.2f}",
        str(found.vector_width),
        "yes" if found.is_coalesced else "no",
        f"%{fusion.name}, {role} {number}, {access.shape}{condition}{bounds}",
    )
    fields: Fields = {"fusion": fusion.name, role: number, "shape": str(access.shape)}
    fields |= {name: getattr(found, name) for name in found.__slots__}
    fields |= {name: ends_of_count(fields[name]) for name in COUNTED if fields[name] is not None}
    return Cells(cells, lambda: fields, _greatest(found.wasted_sectors), (), bool(bounds))


def _unknown(
    heading: Sequence[str], role: str, kernel: Instruction, reason: str, text: str
) -> Cells:
    """The row of a kernel of which nothing is known; the text stands in the last column."""
    fields = {role: kernel.name, "unknown": reason}
    return Cells([*[""] * (len(heading) - 1), text], lambda: fields, -1, is_unknown=True)


# Summary.

_OF_KERNELS: Final[Mapping[str, Callable[[KernelSummary], Count | float | None]]] = {
    "bytes": lambda kernel: kernel.bytes,
    "read": lambda kernel: kernel.bytes_read,
    "written": lambda kernel: kernel.bytes_written,
    "reuse": lambda kernel: kernel.reuse,
}
ORDERS: Final = (*_OF_KERNELS, "module")
"""The values of ``--sort``, the default first; in the order of the module nothing is sorted."""


@dataclass(frozen=True, slots=True)
class KernelSummaries(TableQuery):
    """The kernels at a glance: reads and writes of each, and how; the greatest come first."""

    name: ClassVar = "kernels"

    sort: str
    seconds: float

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """A row for each kernel, then errors."""
        counter = OperandCounter(Deadline(self.seconds))
        kernels = self.selection.kernels(module)
        return by_weight(HEADING, kernels, partial(self._rows, counter), self.selection)

    def _rows(self, counter: OperandCounter, kernel: Fusion) -> Iterator[Cells]:
        found = KernelSummary(kernel, counter.rows(kernel))
        weight = 0 if self.sort == "module" else _greatest(_OF_KERNELS[self.sort](found))
        fields = partial(_summary_fields, found)
        yield Cells(cells_of(found), fields, weight, is_unknown=found.is_unknown)


def _greatest(count: Count | float | None) -> float:
    """A number to sort by: the greatest possible; a count without a number comes first."""
    if isinstance(count, Interval):
        count = count.upper
    return count if isinstance(count, int | float) else inf


def _summary_fields(kernel: KernelSummary) -> Fields:
    (root,) = kernel.fusion.roots
    return {
        "kernel": root.name,
        "computation": root.computation.name,
        "opcode": root.opcode,
        "kind": root.attributes.get("kind"),
        "shape": str(root.shape),
        "op_name": root.attributes.get("metadata", {}).get("op_name"),
        "source": [*map(str, source_locations(root))],
        "bytes_read": ends_of_count(kernel.bytes_read),
        "bytes_written": ends_of_count(kernel.bytes_written)[1],
        "reuse": kernel.reuse,
        "operands": [_operand_fields(row) for row in kernel.operands],
    }


# Utilization.

_OF_OPERANDS: Final = ("unused", "again", "elements", "needed", "reads", "bytes", "operand")


@dataclass(frozen=True, slots=True)
class KernelUtilization(TableQuery):
    """Share of its operands that each kernel uses, the most wasteful first."""

    name: ClassVar = "operands"

    seconds: float

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """A row for each array that a kernel reads, then errors."""
        counter = OperandCounter(Deadline(self.seconds))
        kernels = self.selection.kernels(module)
        return by_weight(_OF_OPERANDS, kernels, partial(self._rows, counter), self.selection)

    def _rows(self, counter: OperandCounter, kernel: Fusion) -> Iterator[Cells]:
        rows = counter.rows(kernel)
        return (_operand(row) for row in rows if self.selection.is_read(row.operand))


def _operand(row: OperandUtilization) -> Cells:
    (kernel,), operand = row.fusion.roots, row.operand
    place = f" output {row.element}" if operand.shape.is_tuple else ""
    shape = operand.shape.arrays[row.element]
    bounds = f"; bounds: {row.bounds}" if row.bounds else ""
    counts = (row.elements, row.elements_read, row.reads, row.bytes)
    cells = (
        text_of_count(row.unused_bytes),
        text_of_count(row.reread_bytes),
        *map(text_of_count, counts),
        f"%{operand.name}{place}, {shape}, of %{kernel.name}{bounds}",
    )
    wasted = (each for each in (row.unused_bytes, row.reread_bytes) if isinstance(each, int))
    fields = partial(_operand_fields, row)
    return Cells(cells, fields, sum(wasted), is_unknown=bool(row.bounds))


def _operand_fields(row: OperandUtilization) -> Fields:
    (kernel,), operand = row.fusion.roots, row.operand
    return {
        "kernel": kernel.name,
        "name": operand.name,
        "element": row.element,
        "shape": str(operand.shape.arrays[row.element]),
        "access": [*map(str, row.kinds)],
        "elements": ends_of_count(row.elements)[1],
        "elements_read": ends_of_count(row.elements_read),
        "reads": ends_of_count(row.reads),
        "bytes_read": ends_of_count(row.bytes),
        "unused_bytes": ends_of_count(row.unused_bytes)[0],
        "reread_bytes": ends_of_count(row.reread_bytes)[0],
        "approximation": row.bounds or None,
        "conditions": list(map(str, row.conditions)),
    }


# Tiles.

_OF_TILINGS: Final = ("wasted", "read", "written", "programs", "registers", "shared", "tiles")

_FEW: Final = 10
"""How many tilings of a kernel are shown where it is asked for by name."""


@dataclass(frozen=True, slots=True)
class KernelTiles(TableQuery):
    """The tile sizes of each kernel that move the fewest bytes, or of those with a name.

    ``most`` is how many are shown of each: one, or some of a kernel with a name.
    """

    name: ClassVar = "tilings"

    device: str
    fusion: str | None
    most: int | None

    def about(self) -> Fields:
        """The device, and the options of the query."""
        return {"device": self.device, "fusion": self.fusion}

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """Rows for each kernel, then one for each kernel without tiles, then errors.

        Raises:
            NoSuchInstructionError: no instruction has the name.
            FusionError: no kernel runs for those that have it.
        """
        if self.fusion is None:
            kernels: Iterable[Fusion] = self.selection.kernels(module)
        else:
            kernels = map(Fusion.of_instruction, _moving(module.named(self.fusion)))
        return by_weight(_OF_TILINGS, kernels, self._rows, self.selection)

    def _rows(self, kernel: Fusion) -> Iterator[Cells]:
        (root,) = kernel.roots
        try:
            found = tilings(kernel, DEVICES[self.device])
            if not found:
                yield _no_tiles(root, f"none of {found.considered} tilings fits {self.device}")
            for candidate in found[: self.most or (_FEW if self.fusion else 1)]:
                row = _tiling(root, found, candidate)
                yield row if self.fusion is None else _with_tiles(row)
        except HloTextError:
            raise
        except IndexingError as error:
            yield _no_tiles(root, str(error))


def _moving(named: Sequence[Instruction]) -> list[Instruction]:
    """Instructions that a kernel may run for."""
    found = [*filter(moves_something, named)]
    if not found:
        opcodes = listed([f"a {each}" for each in dict.fromkeys(each.opcode for each in named)])
        message = f"%{named[0].name} is {opcodes}, for which no kernel runs"
        raise FusionError(f"tiles: {message}; expected an instruction that moves elements")
    return found


def _tiling(root: Instruction, found: Tilings, candidate: TilingCandidate) -> Cells:
    wasted, of_best = (each.bytes - found.least_bytes for each in (candidate, found[0]))
    sizes = "x".join(map(str, candidate.sizes)) or "1"
    costs = (candidate.programs, candidate.registers, candidate.shared_memory_bytes)
    moved = candidate.shown_bytes
    cells = (str(wasted), *moved, *map(str, costs), f"{sizes} of %{root.name}")
    tiles = found.propagation(candidate)
    fields = {
        "kernel": root.name,
        "dimensions": [*map(str, found.space.dimensions)],
        "wasted_bytes": wasted,
        **asdict(candidate),
        "operands": [*map(_tile, tiles.operands)],
        "results": [*map(_tile, tiles.results)],
    }
    return Cells(cells, lambda: fields, of_best)


def _tile(array: ArrayTile) -> Fields:
    tile, others = array.checked_tile(), array.replicas
    fields = {
        "name": array.instruction.name,
        "element": array.element,
        "offsets": [*map(format_expr, tile.offsets)],
        "sizes": [*map(format_expr, tile.sizes)],
        "strides": [*map(format_expr, tile.strides)],
    }
    if others is None:
        return fields
    replicas = (*others.offsets, *others.sizes, *others.strides)
    return fields | {"replicas": [*map(format_expr, replicas)]}


def _with_tiles(row: Cells) -> Cells:
    """The row with the tiles of operands and results below it."""
    fields = row.fields()
    arrays = (*fields["operands"], *fields["results"])
    return row._replace(remarks=[*map(_remark, arrays)])


def _remark(tile: Fields) -> str:
    parts = (f"{name} {', '.join(tile[name])}" for name in ("offsets", "sizes", "strides"))
    text = f"  %{tile['name']}: {'; '.join(parts)}" if tile["sizes"] else f"  %{tile['name']}"
    if "replicas" not in tile:
        return text
    offset, size, stride = tile["replicas"]
    return f"{text}; replicas: offset {offset}, size {size}, stride {stride}"


def _no_tiles(root: Instruction, reason: str) -> Cells:
    return _unknown(_OF_TILINGS, "kernel", root, reason, f"%{root.name}: {reason}")
