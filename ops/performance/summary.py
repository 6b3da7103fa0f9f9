"""The kernels of a module at a glance: kind, reads and writes of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ops.fusion import Fusion
from ops.hlo import Computation, HloModule, Instruction
from ops.performance import tally
from ops.performance.kernels import evaluated_by, kernels_of
from ops.performance.tally import Count, Deadline
from ops.performance.utilization import SECONDS, OperandCounter, OperandUtilization
from ops.rules.registry import REGISTRY, Registry
from simplifier.tools.display import Displayed, aligned, html_of_table


@dataclass(frozen=True, repr=False)
class KernelSummary(Displayed):
    """Reads and writes of a kernel, with the kinds of reads of each operand.

    Attributes:
        fusion: what runs as one kernel.
        operands: a row for each array that it reads.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   x = f32[4,8] parameter(0)
    ...   y = f32[8,4] transpose(x), dimensions={1,0}
    ...   bias = f32[4] parameter(1)
    ...   wide = f32[8,4] broadcast(bias), dimensions={1}
    ...   ROOT z = f32[8,4] add(y, wide)
    ... }''')
    >>> print(summary(module.entry))
    read  written  reuse  kernel
     144      128   1.78  %z = f32[8,4] add(%x f32[4,8] transpose, %bias f32[4] broadcast)
    """

    fusion: Fusion
    operands: tuple[OperandUtilization, ...]

    @cached_property
    def bytes_read(self) -> Count:
        """The elements that are read, each once."""
        return tally.sum_of_counts(row.bytes for row in self.operands)

    @cached_property
    def bytes_written(self) -> Count:
        """The elements of all results, each once; of an update in place those of the update."""
        written = (each.written for each in evaluated_by(self.fusion))
        arrays = ((each, number, each.shape.arrays[number]) for each, number in written)
        return tally.sum_of_counts(
            tally.bytes_of(tally.elements_of(each, number), array.element_size_in_bits)
            for each, number, array in arrays
            if array.is_array
        )

    @cached_property
    def bytes(self) -> Count:
        """Bytes read and written: at the least those that move from memory and to it."""
        return tally.sum_of_counts([self.bytes_read, self.bytes_written])

    @cached_property
    def reuse(self) -> float | None:
        """Bytes of all reads for each byte that is read; ``None`` if that depends on values."""
        if any(row.reuse is None for row in self.operands):
            return None
        again = (row.reread_bytes for row in self.operands)
        return tally.ratio(tally.sum_of_counts([*again, self.bytes_read]), self.bytes_read)

    @property
    def is_unknown(self) -> bool:
        """Whether some figures are bounds that need not be met."""
        return any(row.bounds for row in self.operands)

    def __str__(self) -> str:
        operands = ", ".join(map(_text_of_operand, self.operands))
        return f"{', '.join(root.result_text() for root in self.fusion.roots)}({operands})"


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Displayed):
    """The kernels of a module, in the order in which they stand there."""

    kernels: tuple[KernelSummary, ...]

    def __iter__(self) -> Iterator[KernelSummary]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __repr__(self) -> str:
        return f"<summary of {len(self)} kernel{'s' * (len(self) != 1)}>"

    def _repr_html_(self) -> str:
        return html_of_table(HEADING, map(cells_of, self.kernels), total=len(self))

    def __str__(self) -> str:
        return "\n".join(aligned([HEADING, *map(cells_of, self.kernels)]))


def summary(
    fusion_or_module: Fusion | Instruction | Computation | HloModule,
    *,
    seconds: float | None = SECONDS,
    registry: Registry = REGISTRY,
) -> Summary:
    """The kernels of a module at a glance; or one kernel.

    Takes and raises what :func:`utilization` does: when ``seconds`` have passed, what is not known
    yet stays between bounds.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e { x = f32[4,8] parameter(0) y = f32[8,2] parameter(1)
    ...   dot = f32[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ...   ROOT negative = f32[4,2] negate(dot) }''')
    >>> print(summary(module))
    read  written  reuse  kernel
     192       32   2.67  %dot = f32[4,2] dot(%x f32[4,8] reduce+broadcast, %y f32[8,2] \
reduce+broadcast)
      32       32      1  %negative = f32[4,2] negate(%dot f32[4,2] identity)
    """
    kernels = kernels_of(fusion_or_module, registry=registry)
    counter = OperandCounter(Deadline.of("summary", seconds))
    return Summary(tuple(KernelSummary(each, counter.rows(each)) for each in kernels))


HEADING = ("read", "written", "reuse", "kernel")
"""Above the cells of kernels."""


def cells_of(kernel: KernelSummary) -> tuple[str, ...]:
    """Cells of a kernel in a table."""
    moved = map(tally.cell_of_count, (kernel.bytes_read, kernel.bytes_written))
    return *moved, "" if kernel.reuse is None else f"{kernel.reuse:.3g}", str(kernel)


def _text_of_operand(row: OperandUtilization) -> str:
    place = f" output {row.element}" if row.operand.shape.is_tuple else ""
    shape = row.operand.shape.arrays[row.element].short_text
    kinds = " and ".join(map(str, row.kinds)) or ("unknown" if row.bounds else "unused")
    return f"%{row.operand.name}{place} {shape} {kinds}"
