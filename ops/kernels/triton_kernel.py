"""A fusion as a kernel of Triton: a program computes a row, or a block of elements.

If the fusion reduces neighbours in memory, a program computes all that reads one reduced value: it
folds a vector, and goes along the rest of the result as a vector. Else a program has a block of
neighbours in the result; where these do not change what is reduced, it goes along them in loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing.formats.code.coder import helpers_in, is_narrow
from indexing.formats.code.loop_nest import LocalNames, LoopBlock
from indexing.variable import Variable
from ops.kernels.array_operations import TRITON
from ops.kernels.array_writer import ArrayWriter, neutral, operation_of
from ops.kernels.element_writer import (
    VIEWS,
    applied,
    array_of,
    in_order,
    index_of,
    major_first,
    source_of,
)
from simplifier import Interval
from simplifier.expr import operations
from simplifier.expr.form import Form, constant, variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.fusion import Fusion
    from ops.hlo.module import Computation, Instruction
    from ops.kernels.element_writer import Index

BLOCK: Final = 1024
"""The elements of a vector, at most."""

_CALLED: Final = ("float", "libdevice", "range")
_LIBDEVICE: Final = "from triton.language.extra import libdevice"


_Result: TypeAlias = "tuple[str, Instruction, int]"
"""A pointer, and an array of what an instruction computes."""


@dataclass(frozen=True, slots=True)
class _WorkOfPrograms:
    """Which dimensions of a result programs count, which are vectors, and which are loops."""

    programs: frozenset[int] = frozenset()
    vector: frozenset[int] = frozenset()
    loops: frozenset[int] = frozenset()
    is_of_blocks: bool = False
    """Whether programs count blocks of the vector."""

    def programs_for(self, shape: Shape) -> int:
        """How many programs there are."""
        if self.is_of_blocks:
            count = _size(shape, self.vector)
            return -(-count // _width(count))
        return _size(shape, self.programs)


class TritonKernel(ArrayWriter):
    """Writes one fusion in Triton."""

    def __init__(self, fusion: Fusion, name: str) -> None:
        names = LocalNames(TRITON.language, [*_CALLED, name, f"{name}_programs"])
        super().__init__(fusion, TRITON, names, "tl.where")
        self._name = name
        self._widths: dict[LoopBlock, int] = {}
        """The elements of the vectors in blocks."""
        self._folds: dict[Computation, tuple[str, list[str]]] = {}
        """The functions that fold, by what they compute."""
        self._programs = 1

    def text(self) -> str:
        """The whole text."""
        name = self._name
        sources = [source_of(root, output) for root, output in self.fusion.results]
        results = [(self.names.fresh(source.name), source, output) for source, output in sources]
        plans = [self._plan(source, output) for source, output in sources]
        shapes = [array_of(source, output) for source, output in sources]
        self._programs = max(map(_WorkOfPrograms.programs_for, plans, shapes))
        top = LoopBlock(self.names)
        alike: dict[tuple[_WorkOfPrograms, Sequence[int], Sequence[int]], list[_Result]] = {}
        for row, plan, shape in zip(results, plans, shapes, strict=True):
            key = plan, shape.dimensions, tuple(major_first(shape))
            alike.setdefault(key, []).append(row)
        for (plan, *_), rows in alike.items():
            self._write_results(top, plan, rows)
        parameters = ", ".join([*self.pointers.values(), *(row[0] for row in results)])
        body = ["@triton.jit", f"def {name}({parameters}):", *_indented(top.lines)]
        functions = [lines for _, lines in self._folds.values()]
        written = [line for lines in (*functions, body) for line in lines]
        helpers = [[text] for text in helpers_in(written, self.dialect.language.helpers)]
        uses_libdevice = any("libdevice." in line for line in written)
        head = [*self.dialect.language.head, *([_LIBDEVICE] if uses_libdevice else [])]
        blocks = [head, *helpers, *functions, body, [f"{name}_programs = {self._programs}"]]
        return "\n\n\n".join("\n".join(lines) for lines in blocks) + "\n"

    # Results.

    def _write_results(
        self, top: LoopBlock, plan: _WorkOfPrograms, results: Sequence[_Result]
    ) -> None:
        """Writes results of one shape."""
        _, source, output = results[0]
        shape = array_of(source, output)
        opened: list[_Opened] = []
        index = dict.fromkeys(range(shape.rank), constant(0))
        block = top
        if plan.is_of_blocks:
            count = _size(shape, plan.vector)
            block, place = self._block_of_program(block, count, opened)
            index |= index_of(place, shape, block, plan.vector)
        else:
            block, place = self._program(block, _size(shape, plan.programs), opened)
            index |= index_of(place, shape, block, plan.programs)
            if plan.vector:
                block, place = self._along(block, _size(shape, plan.vector), "i", opened)
                index |= index_of(place, shape, block, plan.vector)
        for dimension in major_first(shape):
            if dimension in plan.loops:
                bounds = Interval(0, shape.dimensions[dimension] - 1)
                inner, index[dimension] = block.loop(bounds, f"d{dimension}")
                opened.append(_Opened(block, inner))
                block = inner
        for pointer, source, output in results:
            self._store(block, pointer, source, output, in_order(index))
        for each in reversed(opened):
            each.close()

    def _program(
        self, block: LoopBlock, count: int, opened: list[_Opened]
    ) -> tuple[LoopBlock, Form]:
        """The program as an index."""
        if count == self._programs == 1:
            return block, constant(0)
        inner, place = block.loop(Interval(0, count - 1), "program")
        name = inner.variables[-1].name
        guard = (f"if {name} < {count}:",) if count < self._programs else ()
        opened.append(_Opened(block, inner, (f"{name} = tl.program_id(0)", *guard)))
        return inner, place

    def _block_of_program(
        self, block: LoopBlock, count: int, opened: list[_Opened]
    ) -> tuple[LoopBlock, Form]:
        """A vector of neighbours for each program."""
        width = _width(count)
        inner, place = block.loop(Interval(0, count - 1), "i")
        is_small = is_narrow(Interval(0, self._programs * width))
        program = "tl.program_id(0)" if is_small else "tl.program_id(0).to(tl.int64)"
        lines = self._vector(inner, f"{program} * {width} + ", count, self._programs * width)
        opened.append(_Opened(block, inner, lines))
        return inner, place

    def _along(
        self, block: LoopBlock, count: int, wish: str, opened: list[_Opened]
    ) -> tuple[LoopBlock, Form]:
        """A vector of so many elements, in a loop if it is long."""
        width = _width(count)
        inner, place = block.loop(Interval(0, count - 1), wish)
        if count <= width:
            opened.append(_Opened(block, inner, self._vector(inner, "", count, width)))
            return inner, place
        start = self.names.fresh("start")
        lines = self._vector(inner, f"{start} + ", count, -(-count // width) * width)
        head = (f"for {start} in range(0, {count}, {width}):",)
        opened.append(_Opened(block, inner, head, lines))
        return inner, place

    def _vector(self, inner: LoopBlock, start: str, count: int, covered: int) -> tuple[str, ...]:
        """The lines that make the last variable of a block a vector."""
        name, width = inner.variables[-1].name, _width(count)
        self._widths[inner] = width
        line = f"{name} = {start}tl.arange(0, {width})"
        if covered == count:
            return (line,)
        mask = self.masks[inner] = self.names.fresh("is_inside")
        return line, f"{mask} = {name} < {count}"

    def _store(
        self, block: LoopBlock, pointer: str, source: Instruction, output: int, index: Index
    ) -> None:
        index = tuple(map(block.simplified, index))
        value = self.value(source, output, index, block)
        place = self._place(pointer, self.offset(array_of(source, output), index, block), block)
        mask = self.mask_of(block)
        block.lines.append(f"tl.store({place}, {value}{f', mask={mask}' if mask else ''})")

    # What to compute where.

    def _plan(self, source: Instruction, output: int) -> _WorkOfPrograms:
        shape = array_of(source, output)
        whole = frozenset(number for number, size in enumerate(shape.dimensions) if size > 1)
        bounds = (Interval(0, max(size - 1, 0)) for size in shape.dimensions)
        names = LocalNames(self.dialect.language)
        probe = LoopBlock(names, tuple(Variable(each, names.fresh("d")) for each in bounds))
        index = tuple(variable(f"d{number}") for number in range(shape.rank))
        found = [*self._reductions(source, output, index, probe)]
        if not found:
            return _WorkOfPrograms(vector=whole, is_of_blocks=bool(whole))
        used = {name for _, read in found for name in variables_of(read)}
        read = frozenset(number for number in whole if f"d{number}" in used)
        if any(map(_folds_neighbours, (each for each, _ in found))):
            return _WorkOfPrograms(programs=read, vector=whole - read)
        if not read:
            return _WorkOfPrograms(vector=whole, is_of_blocks=bool(whole))
        return _WorkOfPrograms(vector=read, loops=whole - read, is_of_blocks=True)

    def _reductions(
        self, source: Instruction, output: int, index: Index, block: LoopBlock
    ) -> Iterator[tuple[Instruction, Index]]:
        """The reductions that an element comes from, and their indices."""
        seen: set[object] = set()
        left = [(source, output, index)]
        while left:
            source, output, index = left.pop()
            index = tuple(map(block.simplified, index))
            if source in self.pointers or (source, output, index) in seen:
                continue
            seen.add((source, output, index))
            if source.opcode in ("reduce", "reduce-window"):
                yield source, index
            elif source.opcode == "get-tuple-element":
                left.append((source.operands[0], source.attributes["index"], index))
            elif source.opcode in VIEWS or source.opcode == "pad":
                left.append((source.operands[0], 0, applied(self.map_of(source, 0), index)))
            elif source.opcode == "concatenate":
                for number, each in enumerate(source.operands):
                    left.append((each, 0, applied(self.map_of(source, number), index)))
            else:
                alike = (each for each in source.operands if each.shape.rank == len(index))
                left += [(each, 0, index) for each in alike]

    # Elements.

    def _width_of(self, block: LoopBlock) -> tuple[int, str]:
        """The elements of the vector around a block (0: none), and its variable."""
        around: LoopBlock | None = block
        while around is not None:
            if around in self._widths:
                return self._widths[around], f"d{len(around.variables) - 1}"
            around = around.parent
        return 0, ""

    def load(self, pointer: str, offset: Form, block: LoopBlock) -> str:
        """The text of elements in memory."""
        mask = self.mask_of(block)
        place = self._place(pointer, offset, block)
        return f"tl.load({place}{f', mask={mask}' if mask else ''})"

    def _place(self, pointer: str, offset: Form, block: LoopBlock) -> str:
        """Pointers to elements: as many as the mask has."""
        (text,) = block.texts([offset])
        place = pointer if text == "0" else f"{pointer} + {text}"
        width, vector = self._width_of(block)
        if width and self.mask_of(block) and vector not in variables_of((offset,)):
            return f"tl.broadcast_to({place}, ({width},))"
        return place

    def declared(self, source: Instruction, array: Shape, block: LoopBlock, text: str) -> str:
        """A name for a value that changes: in a loop, its shape does not."""
        width, _ = self._width_of(block)
        text = f"tl.broadcast_to({text}, ({width},))" if width else text
        return super().declared(source, array, block, text)

    # Reductions.

    def reduced_at_once(
        self, source: Instruction, index: Index, block: LoopBlock
    ) -> list[str] | None:
        """Where there is no vector yet, what is reduced is one."""
        found = self.map_of(source, 0)
        if self._width_of(block)[0] or not found.ranges:
            return None
        operation, computation = operation_of(source), source.attributes["to_apply"]
        nothing = self._nothing(source, operation, block)
        sizes = [each.bounds.size or 0 for each in found.ranges]
        opened: list[_Opened] = []
        inner, place = self._along(block, prod(sizes), "s0", opened)
        values = self._row(source, found, (*index, *_digits(place, sizes, inner)), nothing, inner)
        width = self._widths[inner]
        if opened[0].is_loop:
            spread = [f"tl.broadcast_to({each}, ({width},))" for each in nothing]
            partial = [self._line(source, block, each) for each in spread]
            self.combine(source, computation, partial, values, inner)
            values = partial
        opened[0].close()
        totals = [self.names.fresh(source.name) for _ in values]
        given = values[0] if len(values) == 1 else f"({', '.join(values)})"
        fold = self._fold(source, computation)
        block.lines.append(f"{', '.join(totals)} = tl.reduce({given}, 0, {fold})")
        return [self.from_start(source, operation, totals[0], block)] if operation else totals

    def _nothing(self, source: Instruction, operation: str, block: LoopBlock) -> list[str]:
        """What changes nothing when it is folded; XLA demands that of the start, too."""
        if not operation:
            starts = source.operands[len(source.operands) // 2 :]
            return [self.value(each, 0, (), block) for each in starts]
        element_type = source.shape.element_type
        return [self.dialect.number(neutral(operation, element_type), element_type)]

    def _row(
        self,
        source: Instruction,
        found: IndexingMap,
        point: Index,
        nothing: Sequence[str],
        inner: LoopBlock,
    ) -> list[str]:
        """What is reduced, as vectors; nothing where there is nothing."""
        facts = self.asked(found, point, inner)
        body = self.guarded(inner, facts) if facts else inner
        inputs = source.operands[: len(nothing)]
        values = [self.value(each, 0, applied(found, point), body) for each in inputs]
        mask = self.mask_of(body)
        if facts:
            self.close_guard(inner, body, facts)
        width = self._widths[inner]
        rows: list[str] = []
        for value, other in zip(values, nothing, strict=True):
            is_row = self.homes.get(value) is inner
            spread = value if is_row else f"tl.broadcast_to({value}, ({width},))"
            text = self.chosen_by(mask, spread, other)
            rows.append(value if text == value else self._line(source, inner, text))
        return rows

    def _fold(self, source: Instruction, computation: Computation) -> str:
        """The name of the function that folds two values, or two tuples."""
        if computation not in self._folds:
            name = self.names.fresh(computation.name)
            given = [self.names.fresh(each.name) for each in computation.parameters]
            block = LoopBlock(self.names)
            results = self.folded(source, computation, given, block)
            lines = [*block.lines, f"return {', '.join(results)}"]
            head = ["@triton.jit", f"def {name}({', '.join(given)}):"]
            self._folds[computation] = name, [*head, *_indented(lines)]
        return self._folds[computation][0]

    def _line(self, source: Instruction, block: LoopBlock, text: str) -> str:
        """A name for a value on the way to that of an instruction."""
        name = self.names.fresh(source.name)
        block.lines.append(f"{name} = {text}")
        self.homes[name] = block
        return name


@dataclass(frozen=True, slots=True)
class _Opened:
    """A block inside another one: a loop over its variable, or what other lines begin."""

    outer: LoopBlock
    inner: LoopBlock
    head: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    @property
    def is_loop(self) -> bool:
        """Whether the block is run more than once."""
        return not self.head or self.head[-1].startswith("for ")

    def close(self) -> None:
        """Adds the lines of the inner block to the outer one."""
        if not self.head:
            self.outer.close_loop(self.inner)
            return
        lines = [*self.first, *self.inner.lines]
        is_nested = self.head[-1].endswith(":")
        self.outer.lines += [*self.head, *(_indented(lines) if is_nested else lines)]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{TRITON.language.indent}{line}" for line in lines]


def _size(shape: Shape, dimensions: Iterable[int]) -> int:
    return prod(shape.dimensions[each] for each in dimensions)


def _width(count: int) -> int:
    """The length of a vector for so many elements: a power of two."""
    return min(BLOCK, 1 << max(count - 1, 0).bit_length())


def _folds_neighbours(source: Instruction) -> bool:
    """Whether neighbours in memory are reduced."""
    last = major_first(source.operands[0].shape)[-1:]
    return source.opcode == "reduce" and not {*source.attributes["dimensions"]}.isdisjoint(last)


def _digits(place: Form, sizes: Sequence[int], block: LoopBlock) -> Index:
    """The index in an array of these sizes, the last dimension first."""
    found: list[Form] = []
    stride = 1
    for size in reversed(sizes):
        digit = operations.mod(operations.floordiv(place, constant(stride)), constant(size))
        found.append(block.simplified(digit))
        stride *= size
    return tuple(reversed(found))
