"""A fusion as a kernel whose values are arrays: in NumPy, or in Triton."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from indexing.code import LocalNames, LoopBlock, alone, helpers_in, is_narrow
from indexing.layout import Shape
from indexing.passes import Constraint, Ends
from ops.analysis.dataflow import Array
from ops.fusion import Fusion
from ops.hlo.module import Computation, Instruction
from ops.hlo.opcodes import FOLD, neutral_element
from ops.index_maps import Extent, Size, as_form, ceil_divided, in_order, plain, product, row_major
from ops.kernels import elements
from ops.kernels.elements import VIEWS, ElementWriter, Index, Steps, shape_of
from ops.kernels.operations import NUMPY, TRITON, Dialect
from simplifier import forms
from simplifier.forms import Form, Interval, constant, variables_of

# Values of many elements at once: a condition is a mask, and a reduction folds along an axis.

_NAME: Final = re.compile(r"\w+")


class ArrayWriter(ElementWriter):
    """Writes elements of one fusion as arrays."""

    def __init__(self, fusion: Fusion, dialect: Dialect, names: LocalNames, where: str) -> None:
        super().__init__(fusion, dialect, names)
        self.masks: dict[LoopBlock, str] = {}
        """Of the blocks that only some elements are in."""
        self._where = where

    def mask_of(self, block: LoopBlock) -> str:
        """The name of the mask of the elements in a block; empty if all are."""
        return next((self.masks[each] for each in block.outward() if each in self.masks), "")

    def chosen_by(self, mask: str, value: str, other: str) -> str:
        """One value where a mask is true, and another elsewhere."""
        return f"{self._where}({mask}, {value}, {other})" if mask else value

    # Conditions.

    def guarded(self, block: LoopBlock, facts: Sequence[Constraint]) -> LoopBlock:
        """A block for the elements that meet conditions."""
        inner = block.guarded(facts)
        if facts:
            asked = self.condition(facts, block)
            around = self.mask_of(block)
            mask = self.masks[inner] = self.names.fresh("is_inside")
            text = f"{around} & {asked}" if around else asked
            block.lines.append(self.dialect.constant.format(name=mask, value=text))
        return inner

    def close_guard(self, block: LoopBlock, inner: LoopBlock) -> None:
        """Adds the lines of a block: they compute all elements, and change only some."""
        block.lines += inner.lines

    def assign(self, block: LoopBlock, values: Mapping[str, str]) -> None:
        """Gives names new values, where the mask of a block is true."""
        mask = self.masks.get(block, "")
        chosen = {name: self.chosen_by(mask, value, name) for name, value in values.items()}
        super().assign(block, chosen)

    def may_solve(self, constraint: Constraint, block: LoopBlock) -> bool:
        """Loops are the same for all elements: they end where sizes say."""
        own = f"d{len(block.variables)}"
        return {*variables_of(constraint[:1])} <= {own, *self.sizes.identifiers}

    # Reductions.

    def from_start(
        self, source: Instruction, operation: str, total: str, block: LoopBlock
    ) -> Steps[str]:
        """The value of an operation, if it is one, on a start and the total of a reduction."""
        if not operation:
            return total
        start, element_type = source.operands[1], source.shape.element_type
        values = start.literal.values if start.literal is not None else None
        if [*(values or ())] == [neutral_element(operation, element_type)]:
            return total
        template = self.dialect.operations[element_type.kind][operation]
        operands = [(yield self.element((start, 0), (), block)), total]
        return self.named(source, block, self.dialect.written(template, operands, element_type))

    def runs_along(self, value: str, block: LoopBlock) -> bool:
        """Whether a value, by its operands, has the axis of a block's variable."""
        found = {*_NAME.findall(value)}
        for line in reversed(block.lines):
            names, _, text = line.partition(" = ")
            if not found.isdisjoint(_NAME.findall(names)):
                found.update(_NAME.findall(text))
        return not found.isdisjoint((block.variables[-1].name, self.masks.get(block, "")))


# A fusion as a function of NumPy arrays: indices are arrays that broadcast.
#
# Each dimension of a result has an axis, and each range of a reduction an axis in front of those.
# So a value has only the axes that it needs, and is computed once.

_FOLDS: Final = {
    **{operation: f"np.{operation}" for operation in ("add", "multiply", "maximum", "minimum")},
    **{operation: f"np.bitwise_{operation}" for operation in ("and", "or", "xor")},
}

_SPREAD: Final = """def spread(values, sizes):
    return np.broadcast_to(values, np.broadcast_shapes(np.shape(values), sizes))
"""

_TAKEN: Final = """def taken(values, places):
    if not values.size:
        return np.zeros(np.shape(places), values.dtype)
    return values.take(places, mode="clip")
"""

_HELPERS: Final = {"spread": _SPREAD, "taken": _TAKEN}


class NumpyKernel(ArrayWriter):
    """Writes one fusion in NumPy."""

    def __init__(self, fusion: Fusion) -> None:
        names = LocalNames(NUMPY.language, ["range", *_HELPERS])
        super().__init__(fusion, NUMPY, names, "np.where")
        self._axes: dict[LoopBlock, int] = {}
        self._may_be_empty: set[str] = set()

    def text(self, name: str) -> str:
        """The whole text."""
        lines = [
            f"{pointer} = np.asarray({pointer}, {self.stored_type(each, each.shape)})"
            for each, pointer in self.pointers.items()
        ]
        tops: dict[tuple[Size, ...], tuple[LoopBlock, Index]] = {}
        results: list[str] = []
        for array in self.sources:
            sizes = self.sizes.of(array)
            if sizes not in tops:
                tops[sizes] = self._axes_of(sizes)
            block, index = tops[sizes]
            results.append(self._result(block, array, self.value(array, index, block)))
        for block, _ in tops.values():
            lines += _lines_down_to(block)
        lines.append(f"return {', '.join(results)}")
        arguments = [*self.pointers.values(), *(each.name for each in self.sizes.arguments)]
        head = f"def {name}({', '.join(arguments)}):"
        told = self.sizes.comments(self.dialect.language)
        body = [*told, '@np.errstate(all="ignore")', head, *(f"    {line}" for line in lines)]
        helpers = [line for text in helpers_in(lines, _HELPERS) for line in (text, "")]
        return "\n".join(["import numpy as np", "", "", *helpers, *body]) + "\n"

    def _axes_of(self, sizes: Sequence[Size]) -> tuple[LoopBlock, Index]:
        """A block with an axis for each dimension, and the index of all elements."""
        index: list[Form] = []
        block = self.sizes.top()
        self._axes[block] = len(sizes)
        for number, size in enumerate(sizes):
            if size == 1:
                index.append(constant(0))
                continue
            behind = len(sizes) - number - 1
            block, counter = self._axis(block, size, f"d{number}", behind)
            index.append(counter)
        return block, tuple(index)

    def _result(self, block: LoopBlock, array: Array, value: str) -> str:
        """The name of an array of the result."""
        name = self.names.fresh(array[0].name)
        kind = self.stored_type(array[0], shape_of(array))
        sizes = block.texts([as_form(size) for size in self.sizes.of(array)])
        whole = f"np.broadcast_to(np.asarray({value}, {kind}), {_tuple_of(map(alone, sizes))})"
        block.lines.append(f"{name} = {whole}.copy()")
        return name

    def _axis(
        self, block: LoopBlock, extent: Extent, wish: str, behind: int
    ) -> tuple[LoopBlock, Form]:
        """A block with one more axis, behind which there are others, and the index along it."""
        inner, counter = self.looped(block, extent, wish)
        first, stop = block.ends_of(inner)
        span = stop if first == "0" else f"{first}, {stop}"
        size = -1 if inner.steps else inner.variables[-1].bounds.size
        shape = f".reshape({size}{', 1' * behind})" if behind else ""
        inner.lines.append(f"{inner.variables[-1].name} = np.arange({span}){shape}")
        self._axes[inner] = max(self._depth_of(block), behind + 1)
        return inner, counter

    # Elements.

    def offset(self, array: Array, index: Index, block: LoopBlock) -> Form:
        """The number of an element, the last dimension first: NumPy knows where it lies."""
        sizes = self.sizes.of(array)
        return block.simplified(row_major(index, sizes, range(len(sizes))))

    def loaded(self, source: Instruction, index: Index, block: LoopBlock) -> str:
        """The name of elements of an operand; nothing is read of one that has no elements."""
        if self.mask_of(block) and self.sizes.may_be_empty((source, 0)):
            self._may_be_empty.add(self.pointers[source])
        return super().loaded(source, index, block)

    def load(self, pointer: str, offset: Form, block: LoopBlock) -> str:
        """The text of elements of an operand; those outside of a mask may be anywhere."""
        (text,) = block.texts([offset])
        if not self.mask_of(block):
            return f"{pointer}.take({text})"
        if pointer in self._may_be_empty:
            return f"taken({pointer}, {text})"
        return f'{pointer}.take({text}, mode="clip")'

    def reduced_at_once(
        self, source: Instruction, index: Index, block: LoopBlock
    ) -> Steps[list[str] | None]:
        """A reduction by a function of NumPy along axes of its own."""
        operation = elements.operation_of(source)
        found = self.map_of(source, 0)
        if not operation or not found.ranges:
            return None
        inner, counters, behind = block, list[Form](), self._depth_of(block)
        axes: list[LoopBlock] = []
        for number, extent in enumerate(self.ranges_of(found)):
            inner, counter = self._axis(inner, extent, "s0", behind + number)
            counters.append(counter)
            axes.append(inner)
        point = (*index, *counters)
        body = self.guarded(inner, self.asked(found, point, inner))
        value = yield self.element((source.operands[0], 0), self.applied(found, point), body)
        element_type = source.shape.element_type
        nothing = self.dialect.number(neutral_element(operation, element_type), element_type)
        if body is not inner:
            value = self.chosen_by(self.masks[body], value, nothing)
            self.close(body, inner)
        if inner.parent is not block or not self.runs_along(value, inner):
            sizes = [*map(_length, reversed(axes)), *["1"] * behind]
            value = f"spread({value}, {_tuple_of(sizes)})"
        block.lines += _lines_down_to(inner, block)
        along = tuple(range(len(counters))) if counters[1:] else 0
        kind = self.type_of(source, source.shape)
        first = f", initial={nothing}" if any(map(_may_have_no_elements, axes)) else ""
        fold = f"{_FOLDS[operation]}.reduce({value}, axis={along}, dtype={kind}{first})"
        total = self.named(source, block, fold)
        return [(yield self.from_start(source, operation, total, block))]

    def _depth_of(self, block: LoopBlock) -> int:
        """Number of axes that values in a block may have."""
        return next((self._axes[each] for each in block.outward() if each in self._axes), 0)


def _tuple_of(texts: Iterable[str]) -> str:
    """The text of a tuple."""
    given = tuple(texts)
    return f"({', '.join(given)}{',' * (len(given) == 1)})"


def _length(axis: LoopBlock) -> str:
    """Number of elements of an axis."""
    counter = axis.variables[-1]
    return f"{counter.name}.size" if axis.steps else str(counter.bounds.size)


def _may_have_no_elements(axis: LoopBlock) -> bool:
    """Whether padding alone is read, or sizes may say that an axis has none."""
    if axis.steps is None or axis.parent is None:
        return axis.variables[-1].bounds.is_empty
    last = axis.parent.range_of(axis.steps.last - axis.steps.first).lower
    return last is None or last < 0


def _lines_down_to(inner: LoopBlock, block: LoopBlock | None = None) -> list[str]:
    """The lines of all blocks around an inner one, inside of a block."""
    around = inner.parent
    outer = [] if around is block or around is None else _lines_down_to(around, block)
    return [*outer, *inner.lines]


# A fusion as a kernel of Triton: a program computes a row, or a block of elements.
#
# If the fusion reduces neighbours in memory, a program computes all that reads one reduced value:
# it folds a vector, and goes along the rest of the result as a vector. Else a program has a block
# of neighbours in the result; where these do not change what is reduced, it goes along them in
# loops.

BLOCK: Final = 1024
"""The elements of a vector, at most."""

_CALLED: Final = ("float", "libdevice", "range")
_LIBDEVICE: Final = "from triton.language.extra import libdevice"


@dataclass(frozen=True, slots=True)
class _WorkOfPrograms:
    """Dimensions of a result: those that programs count, vectors, and loops."""

    programs: frozenset[int] = frozenset()
    vector: frozenset[int] = frozenset()
    loops: frozenset[int] = frozenset()
    is_of_blocks: bool = False
    """Whether programs count blocks of the vector."""

    def programs_for(self, sizes: Sequence[Size], top: LoopBlock) -> Size:
        """Number of programs for an array of some sizes."""
        if self.is_of_blocks:
            count = _size(sizes, self.vector)
            return ceil_divided(count, _width(count, top))
        return _size(sizes, self.programs)


class TritonKernel(ArrayWriter):
    """Writes one fusion in Triton."""

    def __init__(self, fusion: Fusion, name: str) -> None:
        names = LocalNames(TRITON.language, [*_CALLED, name, f"{name}_programs"])
        super().__init__(fusion, TRITON, names, "tl.where")
        self._name = name
        self._widths: dict[LoopBlock, int] = {}
        """The elements of the vectors in blocks."""
        self._heads: dict[LoopBlock, tuple[Sequence[str], Sequence[str]]] = {}
        """What begins a block that is in no plain loop: the lines around it, and its first ones."""
        self._folds: dict[Computation, tuple[str, list[str]]] = {}
        """The functions that fold, by what they compute."""
        self._programs: Size = 1

    def text(self) -> str:
        """The whole text."""
        name = self._name
        results = self.named_results()
        plans = [self._plan(array) for array in self.sources]
        top = self.sizes.top()
        top.lines += self._arguments_in_their_types(top)
        sizes = [self.sizes.of(array) for array in self.sources]
        counts = [plan.programs_for(each, top) for plan, each in zip(plans, sizes, strict=True)]
        most = forms.maximum(as_form(count) for count in counts)
        self._programs = plain(top.simplified(most))
        alike: dict[tuple[_WorkOfPrograms, Sequence[Size], Sequence[int]], dict[str, Array]] = {}
        for (pointer, array), plan, each in zip(results.items(), plans, sizes, strict=True):
            key = plan, each, tuple(elements.major_first(shape_of(array)))
            alike.setdefault(key, {})[pointer] = array
        for (plan, *_), rows in alike.items():
            self._write_results(top, plan, rows)
        given = [*self.pointers.values(), *results, *(each.name for each in self.sizes.arguments)]
        told = self.sizes.comments(self.dialect.language)
        body = ["@triton.jit", f"def {name}({', '.join(given)}):", *_indented(top.lines)]
        functions = [lines for _, lines in self._folds.values()]
        written = [line for lines in (*functions, body) for line in lines]
        helpers = [[text] for text in helpers_in(written, self.dialect.language.helpers)]
        uses_libdevice = any("libdevice." in line for line in written)
        head = [*self.dialect.language.head, *([_LIBDEVICE] if uses_libdevice else [])]
        blocks = [head, *helpers, *functions, [*told, *body], self._count_of_programs()]
        return "\n\n\n".join("\n".join(lines) for lines in blocks) + "\n"

    def _arguments_in_their_types(self, top: LoopBlock) -> Iterator[str]:
        """Lines that widen sizes: Triton gives an integer the type that its value needs."""
        for each in self.sizes.arguments:
            value = top.language.cast.format(each.name, type=top.type_of(each.bounds))
            yield top.language.statement.format(name=each.name, value=value)

    def _count_of_programs(self) -> list[str]:
        """The lines that say how many programs there are: a number, or a function of sizes."""
        name = f"{self._name}_programs"
        if isinstance(self._programs, int):
            return [f"{name} = {self._programs}"]
        return self.sizes.python_function(name, self._programs)

    # Results.

    def _write_results(
        self, top: LoopBlock, plan: _WorkOfPrograms, results: Mapping[str, Array]
    ) -> None:
        """Writes results of one shape."""
        first = next(iter(results.values()))
        sizes, order = self.sizes.of(first), elements.major_first(shape_of(first))
        index = dict.fromkeys(order, constant(0))
        length = _size(sizes, plan.vector)
        if plan.is_of_blocks:
            block, place = self._block_of_program(top, length)
        else:
            block, place = self._program(top, _size(sizes, plan.programs))
            index |= self.index_of(first, place, block, plan.programs)
            if plan.vector:
                block, place = self._along(block, length, "i")
        if plan.vector:
            index |= self.index_of(first, place, block, plan.vector)
        looped = {dimension: sizes[dimension] for dimension in order if dimension in plan.loops}
        block, counters = self.nested(block, looped)
        for pointer, array in results.items():
            self._store(block, pointer, array, in_order(index | counters))
        self.close(block, top)

    def _program(self, block: LoopBlock, count: Size) -> tuple[LoopBlock, Form]:
        """The program as an index."""
        if count == self._programs == 1:
            return block, constant(0)
        inner, place = self.looped(block, count, "program")
        (text,) = block.texts([as_form(count)])
        name = inner.variables[-1].name
        guard = () if count == self._programs else (f"if {name} < {text}:",)
        program = _program_in_bits(inner.variables[-1].bounds)
        self._heads[inner] = (f"{name} = {program}", *guard), ()
        return inner, place

    def _block_of_program(self, block: LoopBlock, count: Size) -> tuple[LoopBlock, Form]:
        """A vector of neighbours for each program."""
        width = _width(count, block)
        inner, place = self.looped(block, count, "i")
        covered = self._programs * width
        program = _program_in_bits(Interval(0, block.range_of(as_form(covered)).upper))
        self._heads[inner] = self._vector(inner, f"{program} * {width} + ", count, covered), ()
        return inner, place

    def _along(self, block: LoopBlock, count: Size, wish: str) -> tuple[LoopBlock, Form]:
        """A vector of so many elements, in a loop if it is long."""
        width = _width(count, block)
        inner, place = self.looped(block, count, wish)
        if _most(count, block) <= width:
            self._heads[inner] = self._vector(inner, "", count, width), ()
            return inner, place
        start = self.names.fresh("start")
        lines = self._vector(inner, f"{start} + ", count, ceil_divided(count, width) * width)
        (limit,) = block.texts([as_form(count)])
        self._heads[inner] = (f"for {start} in range(0, {limit}, {width}):",), lines
        return inner, place

    def close_loop(self, block: LoopBlock, inner: LoopBlock, pragma: str) -> None:
        """Adds the lines of a block behind what begins it, if that is no plain loop."""
        if inner not in self._heads:
            super().close_loop(block, inner, pragma)
            return
        head, first = self._heads[inner]
        lines = [*first, *inner.lines]
        block.lines += [*head, *(_indented(lines) if head[-1].endswith(":") else lines)]

    def _vector(self, inner: LoopBlock, start: str, count: Size, covered: Size) -> tuple[str, ...]:
        """The lines that make the last variable of a block a vector."""
        around = inner.parent or inner
        name, width = inner.variables[-1].name, _width(count, around)
        self._widths[inner] = width
        line = f"{name} = {start}tl.arange(0, {width})"
        if covered == count:
            return (line,)
        mask = self.masks[inner] = self.names.fresh("is_inside")
        (limit,) = around.texts([as_form(count)])
        outer = self.mask_of(around)
        return line, f"{mask} = {f'{outer} & ({name} < {limit})' if outer else f'{name} < {limit}'}"

    def _store(self, block: LoopBlock, pointer: str, array: Array, index: Index) -> None:
        index = tuple(map(block.simplified, index))
        value = self.value(array, index, block)
        place = self._place(pointer, self.offset(array, index, block), block)
        mask = self.mask_of(block)
        block.lines.append(f"tl.store({place}, {value}{f', mask={mask}' if mask else ''})")

    # Loops and vectors of dimensions.

    def _plan(self, array: Array) -> _WorkOfPrograms:
        sizes = dict(enumerate(self.sizes.of(array)))
        whole = frozenset(number for number, size in sizes.items() if size not in (0, 1))
        top = self.sizes.top(LocalNames(self.dialect.language))
        probe, index = self.nested(top, {number: size or 1 for number, size in sizes.items()})
        found = [*self._reductions(array, in_order(index), probe)]
        if not found:
            return _WorkOfPrograms(vector=whole, is_of_blocks=bool(whole))
        used = {name for _, read in found for name in variables_of(read)}
        read = frozenset(number for number in whole if index[number].single_variable() in used)
        if any(map(_folds_neighbours, (each for each, _ in found))):
            return _WorkOfPrograms(programs=read, vector=whole - read)
        if not read:
            return _WorkOfPrograms(vector=whole, is_of_blocks=bool(whole))
        return _WorkOfPrograms(vector=read, loops=whole - read, is_of_blocks=True)

    def _reductions(
        self, array: Array, index: Index, block: LoopBlock
    ) -> Iterator[tuple[Instruction, Index]]:
        """The reductions that an element comes from, and their indices."""
        seen: set[object] = set()
        left = [(array, index)]
        while left:
            array, index = left.pop()
            source, index = array[0], tuple(map(block.simplified, index))
            if source in self.pointers or (array, index) in seen:
                continue
            seen.add((array, index))
            if source.opcode in FOLD:
                yield source, index
            elif source.opcode == "get-tuple-element":
                left.append(((source.operands[0], source.attributes["index"]), index))
            elif source.opcode in VIEWS or source.opcode in ("pad", "concatenate"):
                moved = source.operands if source.opcode == "concatenate" else source.operands[:1]
                for number, each in enumerate(moved):
                    left.append(((each, 0), self.applied(self.map_of(source, number), index)))
            else:
                alike = (each for each in source.operands if each.shape.rank == len(index))
                left += [((each, 0), index) for each in alike]

    # Elements.

    def _width_of(self, block: LoopBlock) -> tuple[int, str]:
        """The elements of the vector around a block (0: none), and its variable."""
        vectors = (each for each in block.outward() if each in self._widths)
        around = next(vectors, None)
        return (self._widths[around], f"d{len(around.variables) - 1}") if around else (0, "")

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
    ) -> Steps[list[str] | None]:
        """The reduced elements as a vector, where there is none yet."""
        found = self.map_of(source, 0)
        if self._width_of(block)[0] or not found.ranges:
            return None
        operation, computation = elements.operation_of(source), source.attributes["to_apply"]
        nothing = yield self._nothing(source, operation, block)
        sizes = [_size_of(each) for each in self.ranges_of(found)]
        inner, place = self._along(block, product(sizes), "s0")
        point = (*index, *elements.digits(place, sizes, inner))
        values = yield self._row(source, point, nothing, inner)
        width = self._widths[inner]
        if self._heads[inner][1]:
            spread = [f"tl.broadcast_to({each}, ({width},))" for each in nothing]
            partial = [self._line(source, block, each) for each in spread]
            self.combine(source, computation, partial, values, inner)
            values = partial
        self.close(inner, block)
        totals = [self.names.fresh(source.name) for _ in values]
        given = values[0] if len(values) == 1 else f"({', '.join(values)})"
        fold = self._fold(source, computation)
        block.lines.append(f"{', '.join(totals)} = tl.reduce({given}, 0, {fold})")
        return [(yield self.from_start(source, operation, totals[0], block)), *totals[1:]]

    def _nothing(self, source: Instruction, operation: str, block: LoopBlock) -> Steps[list[str]]:
        """The neutral element of a fold, which XLA demands of the start, too."""
        if not operation:
            starts = source.operands[len(source.operands) // 2 :]
            return (yield self.elements(starts, (), block))
        element_type = source.shape.element_type
        return [self.dialect.number(neutral_element(operation, element_type), element_type)]

    def _row(
        self, source: Instruction, point: Index, nothing: Sequence[str], inner: LoopBlock
    ) -> Steps[list[str]]:
        """The elements to reduce, as vectors; the neutral element where there is none."""
        found = self.map_of(source, 0)
        body = self.guarded(inner, self.asked(found, point, inner))
        inputs, place = source.operands[: len(nothing)], self.applied(found, point)
        values = yield self.elements(inputs, place, body)
        mask = self.mask_of(body)
        self.close(body, inner)
        width = self._widths[inner]
        rows: list[str] = []
        for value, other in zip(values, nothing, strict=True):
            is_row = self.runs_along(value, inner)
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
        return name


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{TRITON.language.indent}{line}" for line in lines]


def _size(sizes: Sequence[Size], dimensions: Iterable[int]) -> Size:
    return product(sizes[each] for each in sorted(dimensions))


def _size_of(extent: Extent) -> Size:
    """Number of values of a range that begins at 0."""
    if isinstance(extent, Ends):
        return plain((extent.upper or constant(0)) + 1)
    return extent.size or 0 if isinstance(extent, Interval) else 0


def _most(count: Size, block: LoopBlock) -> float:
    """The greatest value of a size in a block."""
    most = block.range_of(as_form(count)).upper
    return float("inf") if most is None else most


def _width(count: Size, block: LoopBlock) -> int:
    """The length of a vector for so many elements: a power of two."""
    most = min(BLOCK, _most(count, block))
    return 1 << max(int(most) - 1, 0).bit_length()


def _program_in_bits(values: Interval) -> str:
    """The number of a program, in as many bits as the values computed from it need."""
    return "tl.program_id(0)" if is_narrow(values) else "tl.program_id(0).to(tl.int64)"


def _folds_neighbours(source: Instruction) -> bool:
    """Whether neighbours in memory are reduced."""
    last = elements.major_first(source.operands[0].shape)[-1:]
    return source.opcode == "reduce" and not {*source.attributes["dimensions"]}.isdisjoint(last)
