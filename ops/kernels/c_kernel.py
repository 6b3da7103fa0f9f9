"""A fusion as one function in C or CUDA: a loop nest over its results."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from indexing.formats.code.coder import helpers_in
from indexing.formats.code.loop_bounds import digits_of, divisors_of
from indexing.formats.code.loop_nest import LocalNames, LoopBlock
from indexing.layout import ElementType, Kind
from ops.kernels.element_writer import ElementWriter, array_of, element_types, source_of
from ops.kernels.indices import in_order, index_of, major_first
from ops.kernels.joined_loops import joined_dimensions
from ops.kernels.multi_pass import has_columns, inside_of, write_columns, write_inside
from ops.kernels.scalar_operations import CUDA, EXTREMA, C, names_in_templates
from ops.kernels.scheduled import scheduled_writes, write_scheduled
from ops.rules.op_indexing import Unknown
from ops.sizes import as_form, product
from simplifier.expr.form import Form, constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.fusion import Fusion, FusionSchedule
    from ops.hlo.module import Computation, Instruction
    from ops.kernels.indices import Index
    from ops.schedules import Schedule
    from ops.sizes import Size


class CKernel(ElementWriter):
    """Writes one fusion in C or CUDA."""

    def __init__(
        self, fusion: Fusion, language: str, schedule: Schedule | FusionSchedule | None = None
    ) -> None:
        dialect = C if language == "c" else CUDA
        taken = names_in_templates(element_types(fusion))
        super().__init__(fusion, dialect, LocalNames(dialect.language, taken))
        self._reductions: dict[str, str] = {}
        self._schedule = schedule

    def text(self, name: str) -> str:
        """The whole text."""
        dialect, language = self.dialect, self.dialect.language
        sources = [source_of(root, output) for root, output in self.fusion.results]
        results = [(self.names.fresh(source.name), source, output) for source, output in sources]
        top = self.sizes.top()
        for number, (pointer, source, output) in enumerate(results):
            if self._schedule is None:
                self._write_result(top, pointer, source, output)
                continue
            for written in scheduled_writes(self._schedule, source, output, number):
                store = partial(self._store, pointer=pointer, source=source, output=output)
                write_scheduled(self, top, written, store, has_threads=self.dialect is CUDA)
        parameters = [
            *(
                f"const {self.stored_type(each, each.shape)} *restrict {pointer}"
                for each, pointer in self.pointers.items()
            ),
            *(
                f"{self.stored_type(source, array_of(source, output))} *restrict {pointer}"
                for pointer, source, output in results
            ),
            *(f"{top.type_of(each.bounds)} {each.name}" for each in self.sizes.arguments),
        ]
        head = f"void {name}({', '.join(parameters)}) {{"
        if dialect is CUDA:
            head = f'extern "C" __global__ {head}'.replace("*restrict", "*__restrict__")
        helpers = helpers_in(top.lines, {**language.helpers, **dialect.helpers})
        includes = ["#include <math.h>", *language.head, *self._includes(helpers)]
        lines = [*self._reductions.values(), *top.lines]
        told = self.sizes.comments(language)
        body = [*told, head, *(f"  {line}" for line in lines), "}"]
        return "\n".join([*includes, "", *helpers, *body]) + "\n"

    def _includes(self, helpers: Sequence[str]) -> list[str]:
        types = element_types(self.fusion)
        needed = {
            "#include <string.h>": any("memcpy" in each for each in helpers),
            "#include <cuda_fp16.h>": self.dialect is CUDA and ElementType.F16 in types,
        }
        return [line for line, is_needed in needed.items() if is_needed]

    # Results.

    def _write_result(self, top: LoopBlock, pointer: str, source: Instruction, output: int) -> None:
        sizes, order = self.sizes.of(source, output), major_first(array_of(source, output))
        if self.dialect is CUDA:
            self._write_by_threads(top, pointer, source, output)
            return
        if has_columns(self, source):
            write_columns(self, top, pointer, source)
            return
        if inside := inside_of(self, source):
            write_inside(self, top, pointer, source, *inside)
            return
        block, loops = top, list[tuple[LoopBlock, LoopBlock]]()
        index: dict[int, Form] = {}
        for group in joined_dimensions(self, source, output):
            total = constant(0)
            for size, stride in self._split(source, output, group):
                if size != 1:
                    inner, counter = self.looped(block, size, f"d{group[0]}")
                    loops.append((block, inner))
                    block, total = inner, total + counter * stride
            found = index_of(total, sizes, order, block, group) if group[1:] else {group[0]: total}
            index |= found
        self._store(block, in_order(index), pointer, source, output)
        for outer, inner in reversed(loops):
            outer.close_loop(inner)

    def _split(
        self, source: Instruction, output: int, group: Sequence[int]
    ) -> Sequence[tuple[Size, int]]:
        """Sizes and strides of the loops over dimensions, so that quotients are counters."""
        sizes = self.sizes.of(source, output)
        size = product(sizes[each] for each in group)
        is_read = source in self.fusion.instructions and source not in self.pointers
        if group[1:] or not is_read or isinstance(size, Form):
            return [(size, 1)]
        forms = [
            form
            for dependence in self.fusion.indexing(source, output).values()
            if not isinstance(dependence, Unknown)
            for each in dependence.indexings
            for form in each.map.forms
        ]
        return digits_of(divisors_of(forms, f"d{group[0]}", size), size)

    def _write_by_threads(
        self, top: LoopBlock, pointer: str, source: Instruction, output: int
    ) -> None:
        sizes, order = self.sizes.of(source, output), major_first(array_of(source, output))
        count = product(sizes)
        inner, place = self.looped(top, count or 1, "i")
        counter = inner.variables[-1]
        index = in_order(index_of(place, sizes, order, inner))
        self._store(inner, index, pointer, source, output)
        kind = top.type_of(counter.bounds)
        thread = "(int64_t)blockIdx.x * blockDim.x + threadIdx.x"
        (limit,) = top.texts([as_form(count)])
        top.lines.append(f"if ({thread} < {limit}) {{")
        top.lines.append(f"  const {kind} {counter.name} = {thread};")
        top.lines += [*(f"  {line}" for line in inner.lines), "}"]

    def _store(
        self, block: LoopBlock, index: Index, pointer: str, source: Instruction, output: int
    ) -> None:
        index = tuple(map(block.simplified, index))
        value = self.value(source, output, index, block)
        offset = self.place(source, output, index, block)
        block.lines.append(f"{pointer}[{offset}] = {self.stored(array_of(source, output), value)};")

    # Reductions.

    def pragma_of(self, source: Instruction, totals: Sequence[str]) -> str:
        """Allows to fold neighbours in any order."""
        operator = self._operator_on_rows(source)
        return f"#pragma omp simd reduction({operator} : {totals[0]})" if operator else ""

    def _operator_on_rows(self, source: Instruction) -> str | None:
        """How neighbours in memory are folded, if a compiler may do it in any order, as XLA."""
        computation: Computation = source.attributes["to_apply"]
        root = computation.root
        is_plain = {*root.operands} == {*computation.parameters}
        if (
            not is_plain
            or source.opcode != "reduce"
            or self.dialect is not C
            or root.shape.is_tuple
        ):
            return None
        if major_first(source.operands[0].shape)[-1] != max(source.attributes["dimensions"]):
            return None
        if root.shape.element_type.kind is not Kind.FLOAT:  # integers wrap, and OpenMP's do not
            is_any = root.opcode == "add" and root.shape.element_type.kind is Kind.BOOLEAN
            return "|" if is_any else None
        if root.opcode == "add":
            return "+"
        if root.opcode not in EXTREMA:
            return None
        kind = self.type_of(root, root.shape)
        name = f"{root.opcode}_of_{kind}"
        self._reductions[name] = EXTREMA[root.opcode].format(name=name, kind=kind)
        return name
