"""A fusion as one function in C or CUDA: a loop nest over its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import prod
from typing import Final

from indexing import IndexingMap
from indexing.code import LocalNames, LoopBlock, helpers_in
from indexing.layout import ElementType, Kind, Shape, logical_to_linear
from indexing.passes import substituted_constraints
from ops.analysis.dataflow import Array
from ops.fusion import Fusion
from ops.hlo.module import Instruction
from ops.hlo.opcodes import FOLD
from ops.index_maps import as_form, in_order, product
from ops.kernels import elements
from ops.kernels.elements import VIEWS, ElementWriter, Index, shape_of
from ops.kernels.operations import CUDA, EXTREMA, C, names_in_templates
from ops.rules.rule import OpIndexing
from ops.xla_gpu import FusionSchedule, Schedule
from simplifier import forms
from simplifier.forms import AtomKind, Form, Interval, constant, variable, variables_of


class CKernel(ElementWriter):
    """Writes one fusion in C or CUDA."""

    def __init__(
        self, fusion: Fusion, language: str, schedule: Schedule | FusionSchedule | None = None
    ) -> None:
        dialect = C if language == "c" else CUDA
        taken = names_in_templates(elements.element_types(fusion))
        super().__init__(fusion, dialect, LocalNames(dialect.language, taken))
        self._reductions: dict[str, str] = {}
        self._schedule = schedule

    def text(self, name: str) -> str:
        """The whole text."""
        dialect, language = self.dialect, self.dialect.language
        results = self.named_results()
        top = self.sizes.top()
        for number, (pointer, array) in enumerate(results.items()):
            if self._schedule is None:
                self._write_result(top, pointer, array)
                continue
            for written in scheduled_writes(self._schedule, array, number):
                self._write_scheduled(top, written, pointer, array)
        parameters = [
            *(
                f"const {self.stored_type(each, each.shape)} *restrict {pointer}"
                for each, pointer in self.pointers.items()
            ),
            *(
                f"{self.stored_type(array[0], shape_of(array))} *restrict {pointer}"
                for pointer, array in results.items()
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
        types = elements.element_types(self.fusion)
        needed = {
            "#include <string.h>": any("memcpy" in each for each in helpers),
            "#include <cuda_fp16.h>": self.dialect is CUDA and ElementType.F16 in types,
        }
        return [line for line, is_needed in needed.items() if is_needed]

    # Results.

    def _write_result(self, top: LoopBlock, pointer: str, array: Array) -> None:
        source, _ = array
        if self.dialect is CUDA:
            self._write_by_threads(top, pointer, array)
        elif self._has_columns(source):
            self._write_columns(top, pointer, source)
        elif inside := self._inside_of(source):
            self._write_inside(top, pointer, source, *inside)
        else:
            self._write_in_loops(top, pointer, array)

    def _write_in_loops(self, top: LoopBlock, pointer: str, array: Array) -> None:
        sizes = self.sizes.of(array)
        block, index = top, dict[int, Form]()
        for group in self.joined_dimensions(array):
            total = constant(0)
            joined = product(sizes[each] for each in group)
            for size, stride in self.split(array, group, joined):
                if size != 1:
                    block, counter = self.looped(block, size, f"d{group[0]}")
                    total += counter * stride
            index |= self.index_of(array, total, block, group)
        self._store(block, in_order(index), pointer, array)
        self.close(block, top)

    def _write_by_threads(self, top: LoopBlock, pointer: str, array: Array) -> None:
        count = product(self.sizes.of(array))
        inner, place = self.looped(top, count or 1, "i")
        counter = inner.variables[-1]
        self._store(inner, in_order(self.index_of(array, place, inner)), pointer, array)
        kind = top.type_of(counter.bounds)
        thread = "(int64_t)blockIdx.x * blockDim.x + threadIdx.x"
        (limit,) = top.texts([as_form(count)])
        top.lines.append(f"if ({thread} < {limit}) {{")
        top.lines.append(f"  const {kind} {counter.name} = {thread};")
        top.lines += [*(f"  {line}" for line in inner.lines), "}"]

    def _store(self, block: LoopBlock, index: Index, pointer: str, array: Array) -> None:
        index = tuple(map(block.simplified, index))
        value = self.stored(shape_of(array), self.value(array, index, block))
        self._put(block, pointer, self.offset(array, index, block), value)

    def _put(self, block: LoopBlock, pointer: str, offset: Form, value: str) -> None:
        (place,) = block.texts([offset])
        block.lines.append(f"{pointer}[{place}] = {value};")

    # Reductions.

    def pragma_of(self, source: Instruction, totals: Sequence[str]) -> str:
        """Allows to fold neighbours in any order."""
        operator = self._operator_on_rows(source)
        return f"#pragma omp simd reduction({operator} : {totals[0]})" if operator else ""

    def _operator_on_rows(self, source: Instruction) -> str | None:
        """Operator that folds neighbours in memory, if the compiler may choose the order."""
        operation, root = elements.operation_of(source), source.attributes["to_apply"].root
        if source.opcode != "reduce" or self.dialect is not C or not operation:
            return None
        last = elements.major_first(source.operands[0].shape)[-1]
        if last != max(source.attributes["dimensions"]):
            return None
        kind = root.shape.element_type.kind
        if kind is not Kind.FLOAT:  # integers wrap, and OpenMP's do not
            return "|" if operation == "add" and kind is Kind.BOOLEAN else None
        if operation == "add":
            return "+"
        if operation not in EXTREMA:
            return None
        value = self.type_of(root, root.shape)
        name = f"{operation}_of_{value}"
        self._reductions[name] = EXTREMA[operation].format(name=name, kind=value)
        return name

    # Results that are written in more than one pass: columns of a reduction, and padding.

    def _has_columns(self, source: Instruction) -> bool:
        """Whether neighbours in the result come from neighbours in the operand of a reduction."""
        if source.opcode not in FOLD or source.shape.is_tuple:
            return False
        if source in self.pointers or not source.shape.rank:
            return False
        kept = elements.major_first(source.shape)[-1]
        read = elements.major_first(source.operands[0].shape)[-1]
        found, column = self.map_of(source, 0), f"d{kept}"
        is_asked = any(column in variables_of((form,)) for form, _ in found.domain.constraints)
        size, columns = self.sizes.of((source, 0))[kept], found.dims[kept].bounds.size
        is_whole = columns is not None and size == columns <= _MAX_COLUMNS
        return found.forms[read] == variable(column) and not is_asked and is_whole

    def _write_columns(self, top: LoopBlock, pointer: str, source: Instruction) -> None:
        """Adds row to row, where a loop for each column would jump from row to row."""
        shape, sizes = source.shape, self.sizes.of((source, 0))
        *others, kept = elements.major_first(shape)
        columns = Interval(0, shape.dimensions[kept] - 1)
        block, index = self.nested(top, {number: sizes[number] for number in others})
        total = self.names.fresh(source.name)
        start = self.value((source.operands[1], 0), (), block)
        block.lines.append(f"{self.type_of(source, shape)} {total}[{shape.dimensions[kept]}];")
        first, _ = block.loop(columns, f"d{kept}")
        first.lines.append(f"{total}[{first.variables[-1].name}] = {start};")
        block.close_loop(first)
        self._fold_rows(source, total, index, block)
        last, index[kept] = block.loop(columns, f"d{kept}")
        value = self.stored(shape, f"{total}[{last.variables[-1].name}]")
        self._put(last, pointer, self.offset((source, 0), in_order(index), last), value)
        self.close(last, top)

    def _fold_rows(
        self, source: Instruction, total: str, index: Mapping[int, Form], block: LoopBlock
    ) -> None:
        """Loops over the reduced dimensions, and inside over the columns."""
        found, kept = self.map_of(source, 0), elements.major_first(source.shape)[-1]
        body, point = self.loops_over(found, in_order({**index, kept: constant(0)}), block)
        column, place = body.loop(Interval(0, source.shape.dimensions[kept] - 1), f"d{kept}")
        columns = in_order({**index, kept: place})
        read = self.applied(found, (*columns, *point[len(columns) :]))
        value = self.value((source.operands[0], 0), read, column)
        cell = f"{total}[{column.variables[-1].name}]"
        self.combine(source, source.attributes["to_apply"], [cell], [value], column)
        self.close(column, block, "#pragma omp simd")

    def _inside_of(self, source: Instruction) -> tuple[Instruction, IndexingMap] | None:
        """The padding that a result is a part of, and the place of its operand in the result."""
        pad, views = source, list[Instruction]()
        while pad.opcode in VIEWS and pad not in self.pointers:
            views.append(pad)
            pad = pad.operands[0]
        is_cast = any(view.shape.element_type is not pad.shape.element_type for view in views)
        is_pad = pad.opcode == "pad" and pad not in self.pointers
        if not is_pad or is_cast or source.shape.dynamic_dimensions:
            return None
        steps = [self._forward_map(each) for each in (pad, *reversed(views))]
        known = [step for step in steps if step is not None]
        if len(known) < len(steps):
            return None
        found = reduce(lambda before, step: step @ before, known).simplify()
        is_plain = not (found.ranges or found.domain.constraints)
        return (pad, found) if is_plain and not found.is_known_empty else None

    def _forward_map(self, source: Instruction) -> IndexingMap | None:
        """Map from an element of the first operand to that of the result, if that is known."""
        found = self.fusion.registry.maps(source)
        one = found.input_to_output[0] if isinstance(found, OpIndexing) else None
        is_numeric = one is not None and not (one.is_undefined or one.runtime or one.parameters)
        return one if is_numeric else None

    def _write_inside(
        self, top: LoopBlock, pointer: str, source: Instruction, pad: Instruction, to: IndexingMap
    ) -> None:
        """Write the border, and the padded operand, without a condition for each element."""
        operand = pad.operands[0]
        padding = self.stored(source.shape, self.value((pad.operands[1], 0), (), top))
        index: dict[int, Form] = {}

        def store(block: LoopBlock, place: Form) -> None:
            value = self.value((operand, 0), in_order(index), block)
            stored = self.stored(source.shape, value)
            self._put(block, pointer, block.simplified(place), stored)

        def fill(block: LoopBlock, place: Form, count: int) -> None:
            if count == 1:
                self._put(block, pointer, block.simplified(place), padding)
            elif count:
                filled, counter = block.loop(Interval(0, count - 1), "i")
                self._put(filled, pointer, filled.simplified(place + counter), padding)
                block.close_loop(filled)

        def write(block: LoopBlock, levels: Sequence[_BoxLevel], place: Form) -> None:
            if not levels:
                store(block, place)
                return
            level, *rest = levels
            size = prod(each.total for each in rest)
            fill(block, place, level.low * size)
            inner, counter = block.loop(Interval(0, level.count - 1), f"d{level.dimensions[0]}")
            first = counter + level.first
            index.update(self.index_of((operand, 0), first, inner, level.dimensions))
            write(inner, rest, place + (counter + level.low) * size)
            block.close_loop(inner)
            behind = level.low + level.count
            fill(block, place + constant(behind * size), (level.total - behind) * size)

        levels = self._levels(source.shape, operand, to)
        if levels is not None:
            write(top, levels, constant(0))
            return
        fill(top, constant(0), prod(source.shape.dimensions))
        bounds = {number: to.dims[number].bounds for number in elements.major_first(operand.shape)}
        block, index = self.nested(top, bounds)
        known = dict(zip(to.domain.identifiers, in_order(index), strict=True))
        store(block, self.offset((source, 0), forms.substitute(to.forms, known), block))
        self.close(block, top)

    def _levels(
        self, shape: Shape, operand: Instruction, to: IndexingMap
    ) -> list[_BoxLevel] | None:
        """The padded operand as a box of the result, the largest steps first, if it is one."""
        (memory,) = logical_to_linear(shape).forms
        if any(atom.kind is not AtomKind.VARIABLE for atom in memory.terms):
            return None
        together = self.joined_dimensions((operand, 0))
        levels: list[_BoxLevel] = []
        for number in elements.major_first(shape):
            form, total = to.forms[number], shape.dimensions[number]
            name = (form - form.constant).single_variable()
            if name is None or form - form.constant != variable(name):
                return None
            own = int(name[1:])
            bounds = to.dims[own].bounds
            first, count = bounds.lower or 0, bounds.size or 0
            level = _BoxLevel(first, form.constant + first, count, total, (own,))
            is_whole = count == total == operand.shape.dimensions[own]
            before = levels[-1].dimensions[-1] if levels else -1
            if is_whole and any((before, own) in pairwise(group) for group in together):
                levels[-1] = levels[-1].joined(level)
            else:
                levels.append(level)
        order = [each for level in levels for each in level.dimensions]
        return levels if order == elements.major_first(operand.shape) else None

    # Threads that write what a schedule says: its coordinates and loops lead to elements.

    def _write_scheduled(
        self, top: LoopBlock, written: IndexingMap, pointer: str, array: Array
    ) -> None:
        """Writes the elements of a map from the coordinates of a launch.

        Conditions on the coordinates alone are checked outside of the loops of a thread.
        """
        coordinates: dict[int, Form] = {}
        block = top
        for number, name in reversed([*enumerate(COORDINATES)]):
            bounds = written.dims[number].bounds
            coordinates[number] = constant(bounds.lower or 0)
            if bounds.size != 1:
                block, coordinates[number] = block.loop(bounds, name)
        index, limits = in_order(coordinates), written.domain.constraints
        known = dict(zip(written.domain.identifiers, index, strict=False))
        rows = [row for row in limits if known.keys() >= {*variables_of((row[0],))}]
        thread = self.guarded(block, elements.unknown(substituted_constraints(rows, known), block))
        body, point = self.loops_over(written, index, thread)
        self._store(body, self.applied(written, point), pointer, array)
        self.close(body, top)

    def close_loop(self, block: LoopBlock, inner: LoopBlock, pragma: str) -> None:
        """Adds a loop, or the line that names a coordinate of a launch, with a block's lines."""
        counter = inner.variables[-1]
        wish = "_".join(counter.name.split("_")[:2])
        if self.dialect is C or wish not in COORDINATES:
            super().close_loop(block, inner, pragma)
            return
        kind = block.type_of(counter.bounds)
        line = f"const {kind} {counter.name} = {COORDINATES[wish]};"
        block.lines += [line, *inner.lines]


_MAX_COLUMNS: Final = 1 << 12
"""Of accumulators on the stack."""


@dataclass(frozen=True, slots=True)
class _BoxLevel:
    """Some dimensions as one: ``count`` of ``total``, from ``low``, are padded from ``first``."""

    first: int
    low: int
    count: int
    total: int
    dimensions: tuple[int, ...]
    """Dimensions of the padded operand."""

    def joined(self, inner: _BoxLevel) -> _BoxLevel:
        """This level and one inside that has no border, as one."""
        size = inner.total
        dimensions = self.dimensions + inner.dimensions
        return _BoxLevel(
            self.first * size, self.low * size, self.count * size, self.total * size, dimensions
        )


COORDINATES: Final = {
    f"{letters}_{axis}": f"{word}Idx.{axis}"
    for letters, word in (("th", "thread"), ("bl", "block"))
    for axis in "xyz"
}
"""The dimensions of a schedule's maps in CUDA."""


def scheduled_writes(
    schedule: Schedule | FusionSchedule, array: Array, number: int
) -> tuple[IndexingMap, ...]:
    """Writes of threads to an array of the result, which has a number among all results.

    Raises:
        KernelError: the schedule is one of other arrays, or of other coordinates.
    """
    is_of_fusion = isinstance(schedule, FusionSchedule)
    writes = schedule.writes(number) if is_of_fusion else schedule.writes
    source, shape = array[0], shape_of(array)
    if shape.dynamic_dimensions:
        raise elements.refused(
            source, f"a schedule is for sizes that are numbers, and the shape is {shape}"
        )
    for access in writes:
        if access.shape.dimensions != shape.dimensions:
            raise elements.refused(
                source, f"the schedule writes {access.shape}; expected one of {shape}"
            )
        if access.map.runtime or access.map.parameters:
            raise elements.refused(source, "the schedule writes where a value of the program says")
        if len(access.map.dims) != len(COORDINATES):
            raise elements.refused(source, "the schedule has no threads; expected one of a launch")
    return tuple(access.map for access in writes)
