"""A fusion as one function in C or CUDA: a loop nest over its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Final

from indexing import IndexingMap
from indexing.code import LocalNames, LoopBlock, digits_of, divisors_of, helpers_in
from indexing.layout import ElementType, Kind, Shape, logical_to_linear
from ops.fusion import Fusion
from ops.hlo.module import Instruction
from ops.hlo.opcodes import FOLD
from ops.index_maps import Extent, Size, as_form, in_order, product
from ops.kernels import elements
from ops.kernels.elements import VIEWS, ElementWriter, Index
from ops.kernels.operations import CUDA, EXTREMA, C, names_in_templates
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
                f"{self.stored_type(source, elements.array_of(source, output))} *restrict {pointer}"
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
        types = elements.element_types(self.fusion)
        needed = {
            "#include <string.h>": any("memcpy" in each for each in helpers),
            "#include <cuda_fp16.h>": self.dialect is CUDA and ElementType.F16 in types,
        }
        return [line for line, is_needed in needed.items() if is_needed]

    # Results.

    def _write_result(self, top: LoopBlock, pointer: str, source: Instruction, output: int) -> None:
        if self.dialect is CUDA:
            self._write_by_threads(top, pointer, source, output)
        elif has_columns(self, source):
            write_columns(self, top, pointer, source)
        elif inside := inside_of(self, source):
            write_inside(self, top, pointer, source, *inside)
        else:
            self._write_in_loops(top, pointer, source, output)

    def _write_in_loops(
        self, top: LoopBlock, pointer: str, source: Instruction, output: int
    ) -> None:
        sizes = self.sizes.of(source, output)
        order = elements.major_first(elements.array_of(source, output))
        block, index = top, dict[int, Form]()
        for group in joined_dimensions(self, source, output):
            total = constant(0)
            for size, stride in self._split(source, output, group):
                if size != 1:
                    block, counter = self.looped(block, size, f"d{group[0]}")
                    total += counter * stride
            index |= elements.index_of(total, sizes, order, block, group)
        self._store(block, in_order(index), pointer, source, output)
        self.close(block, top)

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
            for each in dependence.indexings
            for form in each.map.forms
        ]
        return digits_of(divisors_of(forms, f"d{group[0]}", size), size)

    def _write_by_threads(
        self, top: LoopBlock, pointer: str, source: Instruction, output: int
    ) -> None:
        sizes = self.sizes.of(source, output)
        order = elements.major_first(elements.array_of(source, output))
        count = product(sizes)
        inner, place = self.looped(top, count or 1, "i")
        counter = inner.variables[-1]
        index = in_order(elements.index_of(place, sizes, order, inner))
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
        block.lines.append(
            f"{pointer}[{offset}] = {self.stored(elements.array_of(source, output), value)};"
        )

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

_MAX_COLUMNS: Final = 1 << 12
"""Of accumulators on the stack."""


# Columns.


def has_columns(writer: ElementWriter, source: Instruction) -> bool:
    """Whether neighbours in the result come from neighbours in the operand of a reduction."""
    if source.opcode not in FOLD or source.shape.is_tuple:
        return False
    if source in writer.pointers or not source.shape.rank:
        return False
    kept = elements.major_first(source.shape)[-1]
    read = elements.major_first(source.operands[0].shape)[-1]
    found, column = writer.map_of(source, 0), f"d{kept}"
    is_asked = any(column in variables_of((form,)) for form, _ in found.domain.constraints)
    size, columns = writer.sizes.of(source, 0)[kept], found.dims[kept].bounds.size
    is_whole = columns is not None and size == columns <= _MAX_COLUMNS
    return found.forms[read] == variable(column) and not is_asked and is_whole


def write_columns(writer: ElementWriter, top: LoopBlock, pointer: str, source: Instruction) -> None:
    """Adds row to row, where a loop for each column would jump from row to row."""
    shape, sizes = source.shape, writer.sizes.of(source, 0)
    *others, kept = elements.major_first(shape)
    columns = Interval(0, shape.dimensions[kept] - 1)
    block, index = _nested(writer, top, {number: sizes[number] for number in others})
    total = writer.names.fresh(source.name)
    start = writer.value(source.operands[1], 0, (), block)
    block.lines.append(f"{writer.type_of(source, shape)} {total}[{shape.dimensions[kept]}];")
    first, _ = block.loop(columns, f"d{kept}")
    first.lines.append(f"{total}[{_counter(first)}] = {start};")
    block.close_loop(first)
    _fold_rows(writer, source, total, {**index, kept: Form(0, {})}, block)
    last, index[kept] = block.loop(columns, f"d{kept}")
    offset = writer.place(source, 0, in_order(index), last)
    value = f"{total}[{_counter(last)}]"
    last.lines.append(f"{pointer}[{offset}] = {writer.stored(shape, value)};")
    writer.close(last, top)


def _fold_rows(
    writer: ElementWriter, source: Instruction, total: str, index: dict[int, Form], block: LoopBlock
) -> None:
    """Loops over the reduced dimensions, and inside over the columns."""
    found, kept = writer.map_of(source, 0), elements.major_first(source.shape)[-1]
    body, point = writer.loops_over(found, in_order(index), block)
    column, place = body.loop(Interval(0, source.shape.dimensions[kept] - 1), f"d{kept}")
    columns = in_order({**index, kept: place})
    read = writer.applied(found, (*columns, *point[len(columns) :]))
    value = writer.value(source.operands[0], 0, read, column)
    cell = f"{total}[{_counter(column)}]"
    writer.combine(source, source.attributes["to_apply"], [cell], [value], column)
    writer.close(column, block, "#pragma omp simd")


# Padding.


def inside_of(writer: ElementWriter, source: Instruction) -> tuple[Instruction, IndexingMap] | None:
    """The padding that a result is a part of, and the place of its operand in the result."""
    pad, views = source, list["Instruction"]()
    while pad.opcode in VIEWS and pad not in writer.pointers:
        views.append(pad)
        pad = pad.operands[0]
    is_cast = any(view.shape.element_type is not pad.shape.element_type for view in views)
    if pad.opcode != "pad" or pad in writer.pointers or is_cast or source.shape.dynamic_dimensions:
        return None
    found = writer.forward_map(pad)
    for view in reversed(views):
        step = writer.forward_map(view)
        found = step @ found if found is not None and step is not None else None
    if found is None:
        return None
    found = found.simplify()
    is_plain = not (found.ranges or found.domain.constraints)
    return (pad, found) if is_plain and not found.is_known_empty else None


def write_inside(
    writer: ElementWriter,
    top: LoopBlock,
    pointer: str,
    source: Instruction,
    pad: Instruction,
    to: IndexingMap,
) -> None:
    """Write the border, and the padded operand, without a condition for each element."""
    operand = pad.operands[0]
    padding = writer.stored(source.shape, writer.value(pad.operands[1], 0, (), top))
    index: dict[int, Form] = {}

    def put(block: LoopBlock, place: Form, value: str) -> None:
        (offset,) = block.texts([block.simplified(place)])
        block.lines.append(f"{pointer}[{offset}] = {value};")

    def store(block: LoopBlock, place: Form) -> None:
        value = writer.value(operand, 0, in_order(index), block)
        put(block, place, writer.stored(source.shape, value))

    def fill(block: LoopBlock, place: Form, count: int) -> None:
        if count == 1:
            put(block, place, padding)
        elif count:
            filled, counter = block.loop(Interval(0, count - 1), "i")
            put(filled, place + counter, padding)
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
        order = elements.major_first(operand.shape)
        sizes = operand.shape.dimensions
        index.update(elements.index_of(first, sizes, order, inner, level.dimensions))
        write(inner, rest, place + (counter + level.low) * size)
        block.close_loop(inner)
        behind = level.low + level.count
        fill(block, place + constant(behind * size), (level.total - behind) * size)

    levels = _levels(writer, source.shape, operand, to)
    if levels is not None:
        write(top, levels, constant(0))
        return
    fill(top, constant(0), prod(source.shape.dimensions))
    bounds = {number: to.dims[number].bounds for number in elements.major_first(operand.shape)}
    block, found = _nested(writer, top, bounds)
    index.update(found)
    known = dict(zip(to.domain.identifiers, in_order(index), strict=True))
    store(block, writer.offset(source, 0, forms.substitute(to.forms, known), block))
    writer.close(block, top)


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


def _levels(
    writer: ElementWriter, shape: Shape, operand: Instruction, to: IndexingMap
) -> list[_BoxLevel] | None:
    """The padded operand as a box of the result, the largest steps first, if it is one."""
    (memory,) = logical_to_linear(shape).forms
    if any(atom.kind is not AtomKind.VARIABLE for atom in memory.terms):
        return None
    together = joined_dimensions(writer, operand)
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
        pair = [levels[-1].dimensions[-1], own] if levels else []
        is_joined = any(pair == group[k : k + 2] for group in together for k in range(len(group)))
        if pair and is_joined and is_whole:
            levels[-1] = levels[-1].joined(level)
        else:
            levels.append(level)
    order = [each for level in levels for each in level.dimensions]
    return levels if order == elements.major_first(operand.shape) else None


# Loops.


def _nested(
    writer: ElementWriter, top: LoopBlock, extents: Mapping[int, Extent]
) -> tuple[LoopBlock, dict[int, Form]]:
    """The block in loops over numbered variables, and their forms."""
    block, forms = top, dict[int, Form]()
    for number, extent in extents.items():
        block, forms[number] = writer.looped(block, extent, f"d{number}")
    return block, forms


def _counter(block: LoopBlock) -> str:
    return block.variables[-1].name


# Dimensions that may be one loop: all that is read moves along them as along one.


def joined_dimensions(
    writer: ElementWriter, source: Instruction, output: int = 0
) -> list[list[int]]:
    """The dimensions of an array, the major ones first; those that may be one loop together."""
    shape = elements.array_of(source, output)
    if writer.sizes.arguments:  # they say only when the kernel runs whether dimensions join
        return [[dimension] for dimension in elements.major_first(shape)]
    moves = [_Moves.of(each, shape) for each in _offsets(writer, source, output)]
    groups: list[list[int]] = []
    order = elements.major_first(shape)
    for dimension in order:
        size = shape.dimensions[dimension]
        is_fit = dimension != order[-1] or all(each.is_dense(dimension) for each in moves)
        if groups and is_fit and all(each.joins(groups[-1][-1], dimension, size) for each in moves):
            groups[-1].append(dimension)
        else:
            groups.append([dimension])
    return groups


@dataclass(frozen=True, slots=True)
class _Moves:
    """Steps of an offset with each dimension: a multiple, or another function."""

    steps: dict[str, int]
    others: frozenset[str]

    @classmethod
    def of(cls, offset: IndexingMap, shape: Shape) -> _Moves:
        sizes = enumerate(shape.dimensions)
        whole = {f"d{number}": Interval(0, size - 1) for number, size in sizes}
        (form,) = offset.forms
        plain = {
            atom.name: step for atom, step in form.terms.items() if atom.kind is AtomKind.VARIABLE
        }
        atoms = (atom for atom in form.terms if atom.kind is not AtomKind.VARIABLE)
        inner = [argument for atom in atoms for argument in atom.arguments]
        asked = [form for form, _ in offset.domain.constraints]
        bounds = offset.domain.bounds.items()
        cut = {name for name, each in bounds if name in whole and each != whole[name]}
        return cls(plain, frozenset(variables_of([*inner, *asked])) | cut)

    def is_dense(self, dimension: int) -> bool:
        """Whether neighbours are neighbours: else, compilers do better with a short inner loop."""
        return self.steps.get(f"d{dimension}", 0) in (0, 1)

    def joins(self, outer: int, inner: int, size: int) -> bool:
        """Whether a step of the outer dimension is as many of the inner one as that has."""
        names = f"d{outer}", f"d{inner}"
        first, second = (self.steps.get(name, 0) for name in names)
        return first == second * size and self.others.isdisjoint(names)


def _offsets(writer: ElementWriter, source: Instruction, output: int) -> Iterator[IndexingMap]:
    """Offset in memory of the element of an array, and of all that it is computed from."""
    yield logical_to_linear(elements.array_of(source, output))
    fusion = writer.fusion
    if source in writer.pointers or source not in fusion.instructions:
        return
    for read, dependence in fusion.indexing(source, output).items():
        is_index = read.opcode == "iota"
        if not (is_index or read in writer.pointers):
            continue
        for each in dependence.indexings:
            if is_index:
                yield from map(each.map.select_results, ([k] for k in range(len(each.map.forms))))
            else:
                yield (logical_to_linear(read.shape) @ each.map).simplify()


# A kernel whose threads write what a schedule says: its coordinates and loops lead to elements.

COORDINATES: Final = {
    f"{letters}_{axis}": f"{word}Idx.{axis}"
    for letters, word in (("th", "thread"), ("bl", "block"))
    for axis in "xyz"
}
"""The dimensions of a schedule's maps in CUDA."""


def scheduled_writes(
    schedule: Schedule | FusionSchedule, source: Instruction, output: int, number: int
) -> tuple[IndexingMap, ...]:
    """Writes of threads to an array of the result, which has a number among all results.

    Raises:
        KernelError: the schedule is one of other arrays, or of other coordinates.
    """
    is_of_fusion = isinstance(schedule, FusionSchedule)
    writes = schedule.writes(number) if is_of_fusion else schedule.writes
    shape = elements.array_of(source, output)
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


def write_scheduled(
    writer: ElementWriter,
    top: LoopBlock,
    written: IndexingMap,
    store: Callable[[LoopBlock, Index], None],
    *,
    has_threads: bool,
) -> None:
    """Writes the elements of a map from the coordinates of a launch."""
    coordinates: dict[int, Form] = {}
    block = top
    for number, name in reversed([*enumerate(COORDINATES)]):
        bounds = written.dims[number].bounds
        coordinates[number] = constant(bounds.lower or 0)
        if bounds.size != 1:
            block, coordinates[number] = block.loop(bounds, name)
    _write_thread(writer, block, written, in_order(coordinates), store)
    if not has_threads:
        writer.close(block, top)
    while block is not top and block.parent is not None and has_threads:
        block.parent.lines += [_coordinate(block, block.parent), *block.lines]
        block = block.parent


def _coordinate(inner: LoopBlock, outer: LoopBlock) -> str:
    """The line that names a coordinate."""
    counter = inner.variables[-1]
    wish = "_".join(counter.name.split("_")[:2])
    return f"const {outer.type_of(counter.bounds)} {counter.name} = {COORDINATES[wish]};"


def _write_thread(
    writer: ElementWriter,
    block: LoopBlock,
    written: IndexingMap,
    index: Index,
    store: Callable[[LoopBlock, Index], None],
) -> None:
    """The loops of one thread; conditions on its coordinates alone are checked outside of them."""
    known = dict(zip(written.domain.identifiers, index, strict=False))
    rows = [row for row in written.domain.constraints if known.keys() >= {*variables_of((row[0],))}]
    thread = writer.guarded(block, elements.unknown(elements.placed(rows, known), block))
    body, point = writer.loops_over(written, index, thread)
    store(body, writer.applied(written, point))
    writer.close(body, block)
