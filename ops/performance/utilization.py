"""How much of each operand a kernel uses, and how often it reads it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing import IndexingMap, MapError
from indexing.transform.evaluate import MAX_INT64
from ops.analysis.findings import findings_in
from ops.devices.joint_indexing import deciding
from ops.index_maps import dim
from ops.performance.access_kind import AccessKind, kinds_of_accesses
from ops.performance.counts import (
    bytes_of,
    count_of,
    difference,
    elements_of,
    ratio,
    sum_of_counts,
    text_of_count,
)
from ops.performance.footprint import NO_IDEA, Footprint, footprint_of
from ops.performance.kernels import evaluated_by, kernels_of, tile_of
from ops.performance.tally import Deadline, OutOfTimeError
from ops.rules.op_indexing import Unknown
from ops.rules.registry import REGISTRY
from simplifier import BudgetError, Interval, NotQuasiAffineError
from simplifier.errors import listed
from simplifier.expr import form as forms
from simplifier.expr.operations import floordiv
from simplifier.tools.display import Displayed, html_of_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ops.analysis.dataflow import Array
    from ops.dependence.operand_indexing import OperandIndexing
    from ops.fusion import Fusion, Reads
    from ops.hlo.module import Computation, HloModule, Instruction
    from ops.performance.counts import Count, Size
    from ops.rules.registry import Registry
    from simplifier.expr.form import Form

SECONDS: Final = 10.0
"""What a question may take unless somebody gives it more; it takes milliseconds mostly."""


@dataclass(frozen=True, slots=True, repr=False)
class OperandUtilization(Displayed):
    """How much of an operand a kernel uses.

    A count is a number if it is the same whatever values the program computes, an expression if
    sizes are symbolic, else the interval from the least to the most over all values.

    Attributes:
        fusion: what runs as one kernel.
        operand: what it reads.
        element: the number of the array that is meant where the operand is a tuple.
        elements: of the array.
        elements_read: that are needed at all.
        reads: one for each element that an evaluation needs, as :meth:`Fusion.reads
            <ops.Fusion.reads>` counts them.
        bytes: of the elements that are read, each once.
        bounds: why the counts are bounds that need not be met; empty if they are exact.
        ways: the accesses; none if nobody knows them.
    """

    fusion: Fusion
    operand: Instruction
    element: int
    elements: Count
    elements_read: Count
    reads: Count
    bytes: Count
    bounds: str = ""
    ways: tuple[OperandIndexing, ...] = ()

    @property
    def conditions(self) -> tuple[OperandIndexing, ...]:
        """The accesses that only happen for some values.

        Constraints and bounds of their maps say for which ones.
        """
        return tuple(filter(_is_conditional, self.ways))

    @property
    def kinds(self) -> tuple[AccessKind, ...]:
        """What the accesses are, such as a transpose; empty if nobody knows."""
        results = [each.written for each in evaluated_by(self.fusion)]
        return kinds_of_accesses(self.ways, (self.operand, self.element), results)

    @property
    def reuse(self) -> float | None:
        """Reads for each element that is read; ``None`` if that depends on values."""
        reads, elements = self.reads, self.elements_read
        if isinstance(reads, Interval) or isinstance(elements, Interval):
            return None
        return ratio(reads, elements)

    @property
    def unused_bytes(self) -> Size:
        """What nobody needs of the operand; at least that much, if it depends on values."""
        if isinstance(self.elements, Interval) or isinstance(self._most_elements, Interval):
            return 0
        return self._bytes(difference(self.elements, self._most_elements))

    @property
    def reread_bytes(self) -> Size:
        """What is read again, after the first time; at least that much, if it depends on values."""
        least = (self.reads.lower or 0) if isinstance(self.reads, Interval) else self.reads
        most = self._most_elements
        again = 0 if isinstance(most, Interval) else difference(least, most)
        return self._bytes(max(0, again) if isinstance(again, int) else again)

    @property
    def _most_elements(self) -> Count:
        """How many elements are read at most."""
        read = self.elements_read
        most = read.upper if isinstance(read, Interval) else read
        return self.elements if most is None else most

    def _bytes(self, elements: Size) -> Size:
        return bytes_of(elements, self.operand.shape.arrays[self.element].element_size_in_bits)

    def __str__(self) -> str:
        place = f" output {self.element}" if self.operand.shape.is_tuple else ""
        reuse = "" if self.reuse is None else f", {self.reuse:.4g} of each"
        read, of_bytes, reads = map(text_of_count, (self.elements_read, self.bytes, self.reads))
        of = text_of_count(self.elements)
        counts = f"{read} of {of} elements, {of_bytes} bytes, {reads} reads{reuse}"
        head = f"%{self.operand.name}{place}: {counts}"
        lines = [f"{head} (bounds: {self.bounds})" if self.bounds else head]
        lines += (f"  only where {way}".replace("\n", "\n  ") for way in self.conditions)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, repr=False)
class Utilization(Displayed):
    """How much of their operands some kernels use: a row for each array that a kernel reads."""

    rows: tuple[OperandUtilization, ...]

    def __iter__(self) -> Iterator[OperandUtilization]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, operand: Instruction, element: int = 0) -> tuple[OperandUtilization, ...]:
        """The rows of the kernels that read an operand."""
        return tuple(row for row in self.rows if row.operand is operand and row.element == element)

    @property
    def bytes(self) -> Count:
        """What all kernels read, if each reads an element once."""
        return sum_of_counts(row.bytes for row in self.rows)

    def __repr__(self) -> str:
        return f"<utilization of {len(self)} operand{'s' * (len(self) != 1)}>"

    def _repr_html_(self) -> str:
        heading = ("kernel", "operand", "used", "of", "bytes", "reads", "reuse")
        return html_of_table(heading, map(_cells, self.rows), total=len(self))

    def __str__(self) -> str:
        kernels = {id(row.fusion): row.fusion for row in self.rows}
        if len(kernels) == 1:
            return "\n".join(map(str, self.rows))
        return "\n".join(
            "\n".join([str(fusion), *(f"  {row}" for row in self.rows if row.fusion is fusion)])
            for fusion in kernels.values()
        )


def _cells(row: OperandUtilization) -> tuple[str, ...]:
    """A row of the table that a notebook shows."""
    counts = (row.elements_read, row.elements, row.bytes, row.reads)
    reuse = "" if row.reuse is None else f"{row.reuse:.4g}"
    roots = ", ".join(f"%{root.name}" for root in row.fusion.roots)
    return roots, f"%{row.operand.name}", *map(text_of_count, counts), reuse


def utilization(
    fusion_or_module: Fusion | Instruction | Computation | HloModule,
    *,
    seconds: float | None = SECONDS,
    registry: Registry = REGISTRY,
) -> Utilization:
    """How many elements of each operand a kernel needs, how often it reads them, and their bytes.

    Of an instruction, a fusion, a pair that may be fused (:meth:`Fusion.of_pair
    <ops.Fusion.of_pair>`), a computation, or of every kernel of a module: of all instructions that
    run, but for those that move nothing. A kernel evaluates each element of its results on its own,
    and what has a loop once for each of them (:class:`ops.Reads`).

    The counts are exact, however large the arrays are, unless a row says so in ``bounds``: when
    ``seconds`` have passed, what is not known yet stays between bounds.

    Raises:
        ArgumentError: an argument is of another kind.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import Fusion, hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   x = f32[9] parameter(0)
    ...   start = s32[] parameter(1)
    ...   nothing = f32[] constant(0)
    ...   wide = f32[12] pad(x, nothing), padding=3_0
    ...   ROOT part = f32[4] dynamic-slice(wide, start), dynamic_slice_sizes={4}
    ... }''')
    >>> print(utilization(Fusion.of_computation(module.entry)).rows[0])
    %x: 1 to 4 of 9 elements, 4 to 16 bytes, 1 to 4 reads
      only where (d0){rt0} -> (d0 + rt0 - 3),
      domain: d0 in [0, 3], rt0 in [0, 8], d0 + rt0 in [3, 11]
      rt0: %start = s32[] parameter(1); (d0) -> ()
    """
    kernels = kernels_of(fusion_or_module, registry=registry)
    counter = OperandCounter(Deadline.of("utilization", seconds))
    return Utilization(tuple(row for kernel in kernels for row in counter.rows(kernel)))


class OperandCounter:
    """Counts the operands of kernels within a time, and those of kernels that are alike once.

    The layers of a model repeat their kernels.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._known: dict[_Likeness, tuple[OperandUtilization, ...]] = {}

    def rows(self, kernel: Fusion) -> tuple[OperandUtilization, ...]:
        """A row for each array that a kernel reads.

        Raises:
            HloTextError: what a rule of the user answers does not fit an instruction.
        """
        likeness = _likeness(kernel)
        known = self._known.get(likeness) if likeness else None
        if known is not None:
            pairs = zip(kernel.operands, known, strict=True)
            return tuple(replace(row, fusion=kernel, operand=operand) for operand, row in pairs)
        rows = tuple(_rows(kernel, self._deadline))
        if likeness and len(rows) == len(kernel.operands) and not any(map(_is_own, rows)):
            self._known[likeness] = rows
        return rows


_Likeness: TypeAlias = "tuple[int, Registry, tuple[int, ...], tuple[int, ...] | None]"
"""The number of an instruction, which of its operands are the same one, and the tile of a block."""


def _likeness(kernel: Fusion) -> _Likeness | None:
    """What kernels have in common that are alike; ``None`` for one of several instructions."""
    is_in_place = any(each.written not in kernel.results for each in evaluated_by(kernel))
    if len(kernel.instructions) > 1 or is_in_place:
        return None
    root = kernel.roots[0]
    number = findings_in(root.computation.module, kernel.registry).number(root)
    alike = tuple(map(root.operands.index, root.operands))
    return number, kernel.registry, alike, tile_of(kernel)


def _is_own(row: OperandUtilization) -> bool:
    """Whether a row names what other kernels need not have: values, or why nobody knows."""
    return bool(row.bounds) or any(way.runtime for way in row.ways)


def _rows(kernel: Fusion, deadline: Deadline) -> Iterator[OperandUtilization]:
    starts = tuple(array for each in evaluated_by(kernel) for array in each.read)
    for array, reads in kernel.reads_of_operands(starts).items():
        is_read = isinstance(reads, Unknown) or reads.ways
        if is_read or not (array[0].shape.is_tuple or starts != kernel.results):
            yield _row(kernel, array, reads, deadline)


def _row(
    kernel: Fusion, array: Array, reads: Reads | Unknown, deadline: Deadline
) -> OperandUtilization:
    operand, number = array
    elements = elements_of(operand, number)
    bits = operand.shape.arrays[number].element_size_in_bits
    if isinstance(reads, Unknown):
        found, bounds, ways = NO_IDEA, reads.reason, ()
    else:
        ways = reads.ways
        symbolic = _symbolic(reads, deadline)
        if symbolic is not None:
            counts = (*symbolic, bytes_of(symbolic[0], bits))
            return OperandUtilization(kernel, operand, number, elements, *counts, "", ways)
        found = _footprint(reads, tile_of(kernel), deadline)
        bounds = "" if found.is_exact else _reason(reads)
    most = elements.upper if isinstance(elements, Interval) else elements
    read = found.elements.intersect(Interval(0, most if isinstance(most, int) else None))
    counts = (count_of(read), count_of(found.reads), bytes_of(read, bits))
    return OperandUtilization(kernel, operand, number, elements, *counts, bounds, ways)


def _footprint(reads: Reads, tile: Sequence[int] | None, deadline: Deadline) -> Footprint:
    """What is read; a block that computes a tile reads an element once for all of the tile."""
    found = footprint_of(reads.ways, reads.sizes, deadline, reads.doubts)
    if tile is None:
        return found
    number = [floordiv(dim(axis), forms.constant(size)) for axis, size in enumerate(tile)]
    placed = [_with_results(way, number) for way in reads.ways]
    sizes = [*reads.sizes, *[MAX_INT64] * len(tile)]
    by_tile = footprint_of(placed, sizes, deadline, reads.doubts)
    return Footprint(by_tile.elements, found.elements, found.is_exact and by_tile.is_exact)


def _with_results(way: OperandIndexing, more: Sequence[Form]) -> OperandIndexing:
    wider = IndexingMap.from_forms([*way.map.forms, *more], way.map.domain)
    return replace(way, map=wider).simplify()


def _symbolic(reads: Reads, deadline: Deadline) -> tuple[Size, Size] | None:
    """Elements that are read, and reads, over symbolic sizes; ``None`` if nobody knows."""
    if not any(way.map.parameters for way in reads.ways):
        return None
    try:
        deadline.check()
        return reads.distinct(), reads.total()
    except (MapError, NotQuasiAffineError, BudgetError, OutOfTimeError):
        return None


def _is_conditional(way: OperandIndexing) -> bool:
    return any(deciding(way.map.domain, way.runtime))


def _reason(reads: Reads) -> str:
    """Why the counts of some accesses are no more than bounds."""
    doubt = next(filter(None, reads.doubts), None)
    if doubt is not None:
        return doubt.reason
    ways = reads.ways
    for way in ways:
        if way.approximation:
            return way.approximation
        if way.replica_id is not None:
            return "elements are read on other devices"
    values = dict.fromkeys(f"%{origin.instruction.name}" for way in ways for origin in way.runtime)
    return f"not all values of {listed([*values])} were tried" if values else "no time was left"
