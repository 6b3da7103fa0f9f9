"""Queries of instructions and kernels: why they read, by tiles, by threads; how they use memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import starmap
from operator import attrgetter
from typing import ClassVar, Final, NamedTuple, TypeAlias

import simplifier
from indexing import IndexSet, MapError, Tile, TileError
from indexing.layout import Shape, ShapeError
from ops import ModuleAnalysis
from ops.advice import advise
from ops.cli import documents, maps
from ops.cli.documents import Bytes, Cells, Fields, Lines, SelectedQuery, Selection, TableQuery
from ops.dependence.dependence import Unknown
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion import Fusion, FusionError, Reason, TileRead, access_picture, reads, why
from ops.fusion.fusion import has_element
from ops.fusion.slicing import path_text
from ops.hlo import HloModule, HloTextError, Instruction
from ops.hlo.module import name_of_array, source_locations
from ops.loop_dependence import InPlaceUpdate, Loop, LoopDependence, loops
from ops.performance import DEVICES, Coalescing, DeviceError, OperandUtilization, coalescing
from ops.performance.coalescing import COUNTED
from ops.performance.kernels import emission_of
from ops.performance.summary import HEADING, KernelSummary
from ops.performance.tally import Deadline, at_most, bytes_of, ends_of_count
from ops.performance.utilization import OperandCounter
from ops.rules.elementwise import ELEMENTWISE
from ops.tiling import ArrayTile, KernelTiler, TilingCandidate, Tilings
from ops.xla_gpu import Access, FusionSchedule, schedule_of
from simplifier.errors import ArgumentError, IndexingError, listed
from simplifier.exact import BudgetError, NotQuasiAffineError

Index: TypeAlias = "tuple[int, ...] | None"


def _chosen(selection: Selection, module: HloModule) -> list[Instruction]:
    """The selected instructions; without a selection, those that run as one kernel each."""
    if selection.is_everything:
        return [kernel.roots[0] for kernel in selection.kernels(module)]
    return [*selection.of(module)]


# Why.


@dataclass(frozen=True, slots=True)
class InstructionReasons(SelectedQuery):
    """Reasons of each instruction for its reads: the paths behind each map."""

    name: ClassVar = "instructions"

    element: Index
    needed: Index
    paths: int

    def about(self) -> Fields:
        """The elements that are asked about."""
        return {"element": self.element, "needed": self.needed}

    def subjects(self, module: HloModule) -> Sequence[Instruction]:
        """The instructions that have such an element."""
        chosen = _chosen(replace(self.selection, parameters=()), module)
        self.selection.check(module)
        return [each for each in chosen if _has_element(each, self.element)] or chosen

    def answer(self, analysis: ModuleAnalysis, subject: Instruction) -> Lines:  # noqa: ARG002 - as all queries
        """The reasons of one instruction."""
        found = self._reasons(subject)
        lines = [line for reason in found for line in _lines_of_reason(reason)]
        if not lines and (self.element is not None or self.needed is not None):
            lines = [f"  {self._nothing()}"]
        return Lines(
            [maps.heading_of(subject), *lines] if lines else [],
            lambda: maps.fields_of_instruction(subject, reasons=[*map(_fields_of_reason, found)]),
            any(isinstance(reason.indexing, Unknown) for reason in found),
        )

    def _nothing(self) -> str:
        """The message if no map relates the elements."""
        names = f" of {', '.join(self.selection.parameters)}" if self.selection.parameters else ""
        if self.element is None:
            return f"nothing needs {self.needed}{names}"
        what = f"does not need {self.needed}" if self.needed else "needs nothing"
        return f"{self.element} {what}{names}"

    def _reasons(self, subject: Instruction) -> list[Reason]:
        """Reasons for its reads; or for a named instruction on all paths whose start is named, too.

        There is no end of ways from everything to everything.
        """
        explain = partial(why, element=self.element, needed=self.needed, paths=self.paths)
        if self.selection.is_everything or not self.selection.parameters:
            found = explain(subject)
            return [reason for reason in found if self.selection.is_read(reason.target)]
        others = (each for each in subject.computation.instructions if each is not subject)
        named = (each for each in others if self.selection.is_read(each))
        targets = (each for each in named if _has_element(each, self.needed))
        return [reason for target in targets for reason in explain(subject, target)]


def _has_element(instruction: Instruction, index: Index) -> bool:
    """Whether an array of a result has an element at an index."""
    return any(has_element(index, array) for array in instruction.shape.arrays)


def _lines_of_reason(reason: Reason) -> Iterator[str]:
    provenance = reason.provenance
    yield f"  {_label(reason)}"
    yield from (f"    {path_text(path)}" for path in provenance.paths)
    moving = (each for path in provenance.paths for each in path if _moves(each))
    known = source_locations(reason.instruction)[:1]
    for each in dict.fromkeys(moving):
        lines = source_locations(each)[:1]
        yield from (f"    %{each.name} {each.opcode}: {line}" for line in lines if lines != known)
    if more := provenance.rest_text():
        yield f"    {more}"


def _moves(instruction: Instruction) -> bool:
    """Whether what it reads lies elsewhere than what it writes: its source line is a reason."""
    return instruction.opcode not in ELEMENTWISE and instruction.opcode not in _WRAPPERS


_WRAPPERS: Final = ("bitcast", "call", "fusion", "get-tuple-element", "parameter", "tuple")


def _label(reason: Reason) -> str:
    """The operand, the result that reads it, and the map."""
    (instruction, output), operand = (reason.instruction, reason.output), reason.target
    indexing = reason.indexing
    head = _names(instruction, output, operand, indexing)
    if isinstance(indexing, Unknown):
        return f"{head}: {indexing}"
    result, read = instruction.shape.arrays[output], operand.shape.arrays[indexing.element]
    return f"{head}: {maps.short_text(indexing.map, (result.dimensions, read.dimensions))}"


def _names(
    instruction: Instruction, output: int, operand: Instruction, indexing: OperandIndexing | Unknown
) -> str:
    """The operand, and the result that reads it."""
    is_whole = isinstance(indexing, Unknown) or not operand.shape.is_tuple
    name = name_of_array(operand, None if is_whole else indexing.element)
    return f"{_result(instruction, output)}{name}"


def _result(instruction: Instruction, output: int) -> str:
    return f"result {output}, " if len(instruction.shape.arrays) > 1 else ""


def _fields_of_pair(
    output: int, operand: Instruction, indexing: OperandIndexing | Unknown
) -> Fields:
    about: Fields = {"result": output, "name": operand.name}
    if isinstance(indexing, Unknown):
        return about | {"unknown": indexing.reason}
    element = {"element": indexing.element} if operand.shape.is_tuple else {}
    return about | element | {"map": maps.indexing_fields(indexing)}


def _fields_of_reason(reason: Reason) -> Fields:
    paths = [[each.name for each in reversed(path)] for path in reason.provenance.paths]
    pair = _fields_of_pair(reason.output, reason.target, reason.indexing)
    return pair | {"path_count": reason.provenance.count, "paths": paths}


# Reads.


@dataclass(frozen=True, slots=True)
class InstructionReads(SelectedQuery):
    """Reads of each operand by each tile of the results of an instruction."""

    name: ClassVar = "instructions"

    tile: Index
    """The sizes of a tile; one element by default."""
    at: Index
    """The tile whose elements are listed."""
    picture: str | None
    """The file for a picture of what that tile reads, or all results; of one instruction."""

    def subjects(self, module: HloModule) -> Sequence[Instruction]:
        """The instructions that have such tiles.

        Raises:
            ArgumentError: there are several, and a picture is wanted.
        """
        chosen = _chosen(self.selection, module)
        fit = [each for each in chosen if self._outputs_with_tiles(each)]
        if self.picture is not None and len(fit) != 1:
            message = f"reads: a picture shows one instruction, and {len(fit)} are chosen"
            raise ArgumentError(f"{message}; expected a choice of one, such as --instruction NAME")
        return fit or chosen

    def answer(self, analysis: ModuleAnalysis, subject: Instruction) -> Lines:  # noqa: ARG002 - as all queries
        """Reads of the tiles of one instruction."""
        wanted = (
            each for each in reads(subject, self.tile) if self.selection.is_read(each.operand)
        )
        found = [(each, self._elements(each)) for each in wanted]
        lines = dict.fromkeys(line for each in found for line in _lines_of_read(*each))
        if self.picture is not None:
            output = self._outputs_with_tiles(subject)[0]
            region = self._region(subject.shape.arrays[output])
            documents.write_svg(self.picture, access_picture(subject, region, output=output).svg())
        return Lines(
            [maps.heading_of(subject), *lines] if lines else [],
            lambda: maps.fields_of_instruction(subject, reads=[*starmap(_fields_of_read, found)]),
            not all(isinstance(read.tile, Tile) for read, _ in found),
        )

    def _outputs_with_tiles(self, subject: Instruction) -> list[int]:
        """The numbers of the results that have such tiles."""
        wanted = self.tile if self.at is None else self.at
        return [
            number
            for number, array in enumerate(subject.shape.arrays)
            if wanted is None or (array.is_array and array.rank == len(wanted))
        ]

    def _region(self, drawn: Shape) -> list[range]:
        """The elements of a result that are drawn."""
        if self.at is None:
            return []
        sizes = self.tile or (1,) * len(self.at)
        rows = zip(self.at, sizes, drawn.dimensions, strict=True)
        return [range(at * size, min(at * size + size, end)) for at, size, end in rows]

    def _elements(self, read: TileRead) -> IndexSet | Unknown | None:
        """The elements that are read for one tile, if one is asked for."""
        if self.at is None:
            return None
        try:
            return read.elements(self.at)
        except (MapError, NotQuasiAffineError, BudgetError) as error:
            return Unknown(str(error))


def _lines_of_read(read: TileRead, elements: IndexSet | Unknown | None) -> Iterator[str]:
    yield f"  {_result(read.instruction, read.output)}{read}"
    if isinstance(read.indexing, Unknown):
        return
    yield from (f"    {name}: {note}" for name, note in read.indexing.notes())
    if elements is not None:
        count = "" if isinstance(elements, Unknown) else f"{elements.count()}: "
        yield f"    {count}{elements}"


def _fields_of_read(read: TileRead, elements: IndexSet | Unknown | None) -> Fields:
    pair = _fields_of_pair(read.output, read.operand, read.indexing)
    tile = read.tile
    if isinstance(tile, Unknown):
        return pair
    if isinstance(tile, TileError):
        return pair | {"unknown": str(tile)} | _fields_of_elements(read, elements)
    formulas = {
        "tile": list(read.sizes),
        **_parts(tile),
        "mask": None if tile.mask is None else simplifier.format_expr(tile.mask),
    }
    return pair | formulas | _fields_of_elements(read, elements)


_PARTS: Final = ("offsets", "sizes", "strides")


def _parts(tile: Tile) -> Fields:
    return {name: [*map(simplifier.format_expr, getattr(tile, name))] for name in _PARTS}


def _fields_of_elements(read: TileRead, elements: IndexSet | Unknown | None) -> Fields:
    if not isinstance(elements, IndexSet):
        return {}
    count = int(elements.count())
    bits = read.operand.shape.arrays[read.indexing.element].element_size_in_bits
    return {"elements": {"text": str(elements), "count": count, "bytes": bytes_of(count, bits)}}


# Schedules.


@dataclass(frozen=True, slots=True)
class FusionSchedules(SelectedQuery):
    """Reads and writes of each thread of a GPU for a fusion."""

    name: ClassVar = "schedules"
    nothing: ClassVar = "no kernel runs"

    unroll: int

    def subjects(self, module: HloModule) -> Sequence[tuple[Fusion, _Known]]:
        """The kernels, with the memory of those that are alike."""
        known: _Known = {}
        return [(kernel, known) for kernel in self.selection.kernels(module)]

    def answer(self, analysis: ModuleAnalysis, subject: tuple[Fusion, _Known]) -> Lines:  # noqa: ARG002 - as all queries
        """The schedule of one fusion, or why there is none."""
        (kernel,) = subject[0].roots
        try:
            found = self._scheduled(*subject)
        except (FusionError, MapError, ShapeError) as error:
            about = {"fusion": kernel.name, "unknown": str(error)}
            return Lines([maps.heading_of(kernel), f"  unknown ({error})"], lambda: about, True)  # noqa: FBT003
        lines = (_line_of_access(kernel, each) for each in found.accesses)
        return Lines(
            [maps.heading_of(kernel), f"  {_text_of_launch(kernel, found)}", *lines],
            partial(_fields_of_schedule, kernel, found),
        )

    def _scheduled(self, fusion: Fusion, known: _Known) -> _Scheduled:
        """The schedule of a kernel; one that is like an earlier one has that of it."""
        (kernel,) = fusion.roots
        key = emission_of(fusion), tuple(map(self.selection.is_read, kernel.operands))
        if key in known:
            return known[key]
        schedule = schedule_of(kernel, unroll=self.unroll)
        found = _Scheduled(kernel, schedule, (*_accesses(self.selection, kernel, schedule),))
        if {*found.heroes(kernel)} <= {None, kernel.name}:  # others differ in their names
            known[key] = found
        return found


@dataclass(frozen=True)
class _NumberedAccess:
    """Access of kernels that are alike to a result or an operand, by its number."""

    role: str
    number: int
    access: Access

    @cached_property
    def text(self) -> str:
        """What it says behind the name of the array."""
        return f"{self.access.shape.short_text}: {self.access}"


class _Scheduled(NamedTuple):
    """The schedule of a kernel, for those that are alike, too."""

    kernel: Instruction
    schedule: FusionSchedule
    accesses: tuple[_NumberedAccess, ...]

    def heroes(self, kernel: Instruction) -> list[str | None]:
        """The names of the heroes of this kernel, or of one that is like it."""
        names = [hero and hero.name for hero in self.schedule.heroes]
        return [kernel.name if name == self.kernel.name else name for name in names]


_Known: TypeAlias = "dict[Hashable, _Scheduled]"


def _accesses(
    selection: Selection, fusion: Instruction, schedule: FusionSchedule
) -> Iterator[_NumberedAccess]:
    """The writes of threads to each result, then their reads of each operand."""
    if not selection.parameters:
        for number in fusion.shape.array_indices:
            yield from (_NumberedAccess("result", number, each) for each in schedule.writes(number))
    for number, operand in enumerate(fusion.operands):
        if selection.is_read(operand):
            yield from (_NumberedAccess("operand", number, each) for each in schedule.reads(number))


def _text_of_launch(kernel: Instruction, found: _Scheduled) -> str:
    launch = found.schedule.schedule.launch
    heroes = dict.fromkeys(f"%{hero}" for hero in found.heroes(kernel) if hero)
    counts = ("x".join(map(str, each)) for each in (launch.threads, launch.blocks))
    threads, blocks = (each.removesuffix("x1").removesuffix("x1") for each in counts)
    of = f" of {', '.join(heroes)}" if heroes else ""
    return f"{found.schedule.emitter.value}{of}: threads {threads}, blocks {blocks}"


def _line_of_access(kernel: Instruction, found: _NumberedAccess) -> str:
    number, is_read = found.number, found.role == "operand"
    name = f"%{kernel.operands[number].name}" if is_read else f"%{kernel.name}"
    place = f" result {number}" if not is_read and kernel.shape.is_tuple else ""
    return f"  {'reads' if is_read else 'writes'} {name}{place} {found.text}"


def _fields_of_schedule(kernel: Instruction, found: _Scheduled) -> Fields:
    return {
        "fusion": kernel.name,
        "emitter": found.schedule.emitter.value,
        "heroes": found.heroes(kernel),
        **asdict(found.schedule.schedule.launch),
        "accesses": [_fields_of_access(kernel, each) for each in found.accesses],
    }


def _fields_of_access(kernel: Instruction, found: _NumberedAccess) -> Fields:
    named = {"name": kernel.operands[found.number].name} if found.role == "operand" else {}
    about = {found.role: found.number, **named, "shape": str(found.access.shape)}
    return about | {"map": maps.map_fields(found.access.map)}


# Queries of the loops of modules.

OF_LOOPS: Final = ("runs", "loop", "counters", "between iterations", "in place")


@dataclass(frozen=True, slots=True)
class ModuleLoops(TableQuery):
    """Number of iterations of each loop, its counter, and its dependences between iterations."""

    name: ClassVar = "loops"
    nothing: ClassVar = "no loop runs"

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """A row for each loop, in the order of the module, then errors."""
        chosen = frozenset(self.selection.of(module))
        wanted = (loop for loop in loops(module) if loop.instruction in chosen)
        return self.selection.by_weight(OF_LOOPS, wanted, _rows)


def _rows(loop: Loop) -> Iterator[Cells]:
    fields = _fields(loop)
    yield Cells(_cells(fields), lambda: fields, is_unknown=bool(fields["unknown"]))


def _fields(loop: Loop) -> Fields:
    unknown = loop.unknown
    dependences: list[Fields] = []
    updates: list[Fields] = []
    try:
        if loop.trip_count is not None:
            dependences = [_dependence(each) for each in loop.dependences()]
            updates = [_update(each) for each in loop.updates()]
    except BudgetError as error:
        unknown = str(error)
    return {
        "loop": loop.instruction.name,
        "computation": loop.instruction.computation.name,
        "trip_count": loop.trip_count,
        "unknown": unknown or None,
        "counters": [{"array": n} | each._asdict() for n, each in loop.counters.items()],
        "dependences": dependences,
        "updates": updates,
    }


def _dependence(found: LoopDependence) -> Fields:
    return {
        "array": found.array,
        "iterations": str(found.iterations),
        "distances": str(found.distances),
        "approximation": found.approximation or None,
    }


def _update(found: InPlaceUpdate) -> Fields:
    return {
        "array": found.array,
        "instructions": [each.name for each in found.instructions],
        "elements": [*map(str, found.elements)],
        "is_disjoint": found.is_disjoint(),
        "why": found.why(),
    }


def _cells(loop: Fields) -> Sequence[documents.Cell]:
    """A row in a line; an array of the state is named by its number."""
    if loop["trip_count"] is None:
        return "?", f"%{loop['loop']}", loop["unknown"], "", ""
    counters = (f"{each['array']}: {each['start']} by {each['step']}" for each in loop["counters"])
    updates = (
        f"{each['array']}: {'disjoint' if each['is_disjoint'] else each['why']}"
        for each in loop["updates"]
    )
    return (
        loop["trip_count"],
        f"%{loop['loop']}",
        "; ".join(counters),
        loop["unknown"] or "; ".join(map(_distances, loop["dependences"])) or "none",
        "; ".join(updates),
    )


def _distances(dependence: Fields) -> str:
    approximation = dependence["approximation"]
    _, _, distances = dependence["distances"].partition(" in ")
    at_most = f" at most: {approximation}" if approximation else ""
    return f"{dependence['array']}: {distances}{at_most}"


# Queries whose answers are tables: how kernels use memory.


# Coalescing.

OF_ACCESSES: Final = ("wasted", "sectors", "ideal", "ratio", "vector", "access")


@dataclass(frozen=True, slots=True)
class FusionCoalescing(TableQuery):
    """Loads of operands and results by the warps of each fusion, the most wasteful first."""

    name: ClassVar = "accesses"

    device: str
    unroll: int

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """A row for each access, then one for each fusion without a schedule, then errors."""
        rows_of = partial(self._rows, dict[object, list[_Counted]]())
        return self.selection.by_weight(OF_ACCESSES, self.selection.kernels(module), rows_of)

    def _rows(self, known: dict[object, list[_Counted]], kernel: Fusion) -> Sequence[Cells]:
        """The rows of a kernel; one that is like an earlier one has its accesses."""
        root, key = kernel.roots[0], emission_of(kernel)
        try:
            counted = known[key] = known.get(key) or [*self._counted(root)]
        except (FusionError, MapError, ShapeError, DeviceError) as error:
            return [_unknown(OF_ACCESSES, "fusion", root, str(error), str(error))]
        if self.selection.parameters:
            wanted = {n for n, each in enumerate(root.operands) if self.selection.is_read(each)}
            read = (each for each in counted if each[0].role == "operand")
            counted = [each for each in read if each[0].number in wanted]
        return [_access(root, *each) for each in counted]

    def _counted(self, root: Instruction) -> Iterator[_Counted]:
        """The accesses of a kernel, reads first."""
        _check_has_sectors(root)
        accesses = _accesses(Selection(), root, schedule_of(root, unroll=self.unroll))
        for each in sorted(accesses, key=attrgetter("role")):
            found = coalescing(each.access, DEVICES[self.device])
            yield each, found, f"{each.access.shape}{_text_of_coalescing(found)}"


_Counted: TypeAlias = "tuple[_NumberedAccess, Coalescing, str]"
"""An access of kernels that are alike, and what is said behind its number."""


def _check_has_sectors(kernel: Instruction) -> None:
    """Refuse a kernel of a TPU: no warps read what lies in tiles."""
    for each in (kernel, *kernel.operands):
        if any(shape.is_array and shape.array_layout.tiles for shape in each.shape.arrays):
            message = f"coalescing: %{each.name} lies in tiles, as on a TPU, which has no warps"
            raise FusionError(f"{message}; see utilization and tiles")


_SECTORS: Final = frozenset({"wasted_sectors", "sectors", "ideal_sectors"})


def _text_of_coalescing(found: Coalescing) -> str:
    """The condition, the bounds, and the verdict of XLA where exact counts say something else."""
    condition = f"; fewest where {found.condition}" if found.condition else ""
    shown = sorted(_SECTORS.intersection(found.bounds))
    bounds = f"; bounds: {listed(shown)}" if shown else ""
    is_agreed = found.is_coalesced is (found.wasted_sectors == 0)
    seen = "coalesced" if found.is_coalesced else "not coalesced"
    verdict = "" if is_agreed else f"; XLA, by one warp and the middle of values: {seen}"
    return f"{condition}{bounds}{verdict}"


def _access(fusion: Instruction, at: _NumberedAccess, found: Coalescing, text: str) -> Cells:
    sectors = (found.wasted_sectors, found.sectors, found.ideal_sectors)
    words = f"%{fusion.name}, {at.role} {at.number}, {text}"

    def fields() -> Fields:
        about = {"fusion": fusion.name, at.role: at.number, "shape": str(at.access.shape)}
        counts = {name: getattr(found, name) for name in found.__slots__}
        ends = {name: ends_of_count(counts[name]) for name in COUNTED if counts[name] is not None}
        return about | counts | ends

    cells, weight = (*sectors, found.ratio, found.vector_width, words), found.wasted_sectors
    return Cells(cells, fields, at_most(weight), (), bool(_SECTORS & {*found.bounds}))


def _unknown(
    heading: Sequence[str], role: str, kernel: Instruction, reason: str, text: str
) -> Cells:
    """The row of a kernel of which nothing is known; the text stands in the last column."""
    fields = {role: kernel.name, "unknown": reason}
    return Cells([*[None] * (len(heading) - 1), text], lambda: fields, -1, is_unknown=True)


# Summary.

OF_KERNELS: Final = HEADING


@dataclass(frozen=True, slots=True)
class KernelSummaries(TableQuery):
    """The kernels at a glance: reads and writes of each, and how; the greatest come first."""

    name: ClassVar = "kernels"

    seconds: float
    advise: bool

    def about(self) -> Fields:
        """The order, and the time."""
        return {"sort": self.selection.sort, "seconds": self.seconds}

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """A row for each kernel, then errors."""
        counter = OperandCounter(Deadline(self.seconds))
        kernels = self.selection.kernels(module)
        advice = advise(module, seconds=self.seconds) if self.advise else None
        heading = OF_KERNELS if advice is None else (*OF_KERNELS[:-1], "advice", OF_KERNELS[-1])
        counts: dict[Hashable, KernelSummary] = {}

        def summary_of(kernel: Fusion) -> KernelSummary:
            return KernelSummary(kernel, counter.rows(kernel))

        def rows(kernel: Fusion) -> Iterator[Cells]:
            key = counter.key(kernel)
            found = counts[key] = counts.get(key) or summary_of(kernel)
            advised: dict[str, list[str]] = {}
            if advice is not None:
                advised["advice"] = [*dict.fromkeys(each.kind for each in advice.about(kernel))]
            numbers = Bytes(found.bytes_read), Bytes(found.bytes_written), found.reuse
            yield Cells(
                (*numbers, *map(", ".join, advised.values()), lambda: str(summary_of(kernel))),
                lambda: advised | _summary_fields(summary_of(kernel)),
                at_most(found.bytes),
                is_unknown=found.is_unknown,
                alike=None if advised else key,
            )

        return self.selection.by_weight(heading, kernels, rows)


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

OF_OPERANDS: Final = ("unused", "again", "elements", "needed", "reads", "bytes", "operand")


@dataclass(frozen=True, slots=True)
class KernelUtilization(TableQuery):
    """Share of its operands that each kernel uses, the most wasteful first."""

    name: ClassVar = "operands"

    seconds: float

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """A row for each array that a kernel reads, then errors."""
        counter = OperandCounter(Deadline(self.seconds))
        kernels = self.selection.kernels(module)
        return self.selection.by_weight(OF_OPERANDS, kernels, partial(self._rows, counter))

    def _rows(self, counter: OperandCounter, kernel: Fusion) -> Iterator[Cells]:
        rows = counter.rows(kernel)
        return (_operand(row) for row in rows if self.selection.is_read(row.operand))


def _operand(row: OperandUtilization) -> Cells:
    (kernel,), operand = row.fusion.roots, row.operand
    place = f" output {row.element}" if operand.shape.is_tuple else ""
    shape = operand.shape.arrays[row.element]
    bounds = f"; bounds: {row.bounds}" if row.bounds else ""
    text = f"%{operand.name}{place}, {shape}, of %{kernel.name}{bounds}"
    in_vain, counts = (row.unused_bytes, row.reread_bytes), (row.elements, row.elements_read)
    cells = (*map(Bytes, in_vain), *counts, row.reads, Bytes(row.bytes), text)
    wasted = sum(each for each in in_vain if isinstance(each, int))
    return Cells(cells, partial(_operand_fields, row), wasted, is_unknown=bool(row.bounds))


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

OF_TILINGS: Final = ("wasted", "read", "written", "programs", "registers", "shared", "tiles")

_FEW: Final = 10
"""How many tilings of a kernel are shown where it is asked for by name."""


@dataclass(frozen=True, slots=True)
class KernelTiles(TableQuery):
    """The tile sizes of each kernel that move the fewest bytes; of one with a name, several."""

    name: ClassVar = "tilings"

    device: str

    def about(self) -> Fields:
        """The device, and the name of a kernel."""
        return {"device": self.device, "fusion": next(iter(self.selection.instructions), None)}

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """Rows for each kernel, then one for each kernel without tiles, then errors."""
        kernels = self.selection.kernels(module)
        tiler = KernelTiler(DEVICES[self.device], _FEW)
        return self.selection.by_weight(OF_TILINGS, kernels, partial(self._rows, tiler))

    def _rows(self, tiler: KernelTiler, kernel: Fusion) -> Iterator[Cells]:
        (root,) = kernel.roots
        try:
            found = tiler.tilings(kernel)
            if not found:
                yield _no_tiles(root, f"none of {found.considered} tilings fits {self.device}")
            is_named = bool(self.selection.instructions)
            for candidate in found[: _FEW if is_named else 1]:
                yield _tiling(root, found, candidate, is_named=is_named)
        except HloTextError:
            raise
        except IndexingError as error:
            yield _no_tiles(root, str(error))


def _tiling(
    root: Instruction, found: Tilings, candidate: TilingCandidate, *, is_named: bool
) -> Cells:
    """The row of a tiling; of a kernel that is named, with the tiles of arrays below it."""
    wasted, of_best = (each.bytes - found.least_bytes for each in (candidate, found[0]))
    sizes = "x".join(map(str, candidate.sizes)) or "1"
    mark = "" if candidate.is_exact else "<="
    moved = (Bytes(each, mark) for each in (candidate.bytes_read, candidate.bytes_written))
    costs = (candidate.programs, candidate.registers, Bytes(candidate.shared_memory_bytes))
    cells = (Bytes(wasted), *moved, *costs, f"{sizes} of %{root.name}")

    def fields() -> Fields:
        tiles = found.propagation(candidate)
        return {
            "kernel": root.name,
            "dimensions": [*map(str, found.space.dimensions)],
            "wasted_bytes": wasted,
            **asdict(candidate),
            "operands": [*map(_tile, tiles.operands)],
            "results": [*map(_tile, tiles.results)],
        }

    arrays = [each for name in ("operands", "results") if is_named for each in fields()[name]]
    return Cells(cells, fields, of_best, [*map(_remark, arrays)])


def _tile(array: ArrayTile) -> Fields:
    tile, others = array.checked_tile(), array.replicas
    fields = {"name": array.instruction.name, "element": array.element, **_parts(tile)}
    if others is None:
        return fields
    replicas = (*others.offsets, *others.sizes, *others.strides)
    return fields | {"replicas": [*map(simplifier.format_expr, replicas)]}


def _remark(tile: Fields) -> str:
    parts = (f"{name} {', '.join(tile[name])}" for name in _PARTS)
    text = f"  %{tile['name']}: {'; '.join(parts)}" if tile["sizes"] else f"  %{tile['name']}"
    if "replicas" not in tile:
        return text
    offset, size, stride = tile["replicas"]
    return f"{text}; replicas: offset {offset}, size {size}, stride {stride}"


def _no_tiles(root: Instruction, reason: str) -> Cells:
    return _unknown(OF_TILINGS, "kernel", root, reason, f"%{root.name}: {reason}")
