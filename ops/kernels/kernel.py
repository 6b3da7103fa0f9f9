"""The text of a fusion as one function: a loop nest over its results, in C or CUDA.

Each instruction is a line with its own name, in the outermost loop where its index is known. A
reduction is a loop around its accumulator, padding a condition.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from indexing.formats.code.coder import helpers_in
from indexing.formats.code.language import LANGUAGES
from indexing.formats.code.loop_nest import LocalNames, LoopBlock
from indexing.formats.code.map_functions import check_name, comparisons
from indexing.layout import Kind, logical_to_linear
from ops.fusion import Fusion
from ops.hlo.module import Instruction
from ops.kernels.multi_pass import (
    VIEWS,
    Index,
    has_columns,
    inside_of,
    major_first,
    write_columns,
    write_inside,
)
from ops.kernels.scalar_operations import (
    EXTREMA,
    TYPES,
    names_in_templates,
    number,
    template_of,
    written,
)
from ops.rules.op_indexing import OpIndexing
from simplifier import Interval
from simplifier.errors import IndexingError, check_type, listed, quoted
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form, postorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from indexing.domain import Constraint
    from indexing.layout import Shape
    from ops.hlo.module import Computation

KERNEL_LANGUAGES: Final = ("c", "cuda")


class KernelError(IndexingError, ValueError):
    """A fusion that cannot be written as a kernel: which instruction, and why."""


def emit_kernel(fusion: Fusion | Instruction, language: str = "c", name: str = "kernel") -> str:
    """A function ``void NAME(const T *operand, ..., T *result, ...)`` that computes a fusion.

    Operands and results are arrays in the layouts of their shapes. In C, loops run over a result in
    the order of its memory; they are split where that spares divisions. In CUDA, each thread
    computes the element of its number, and the launch has as many threads as the largest result
    has elements, or more.

    Args:
        fusion: a fusion, or an instruction: that of a fusion stands for what it calls.
        language: ``"c"`` or ``"cuda"``.
        name: of the function.

    Raises:
        KernelError: an operation or an element type that is not emitted, with the instruction.
        MapError: a name that the language cannot use.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   x = f32[8,32] parameter(0)
    ...   turned = f32[32,8] transpose(x), dimensions={1,0}
    ...   ROOT grown = f32[32,8] exponential(turned)
    ... }''')
    >>> print(emit_kernel(Fusion.of_computation(module.entry)))
    #include <math.h>
    #include <stdbool.h>
    #include <stdint.h>
    <BLANKLINE>
    void kernel(const float *restrict x, float *restrict grown) {
      for (int32_t d0 = 0; d0 < 32; ++d0) {
        for (int32_t d1 = 0; d1 < 8; ++d1) {
          const float x_2 = x[d1 * 32 + d0];
          const float grown_2 = expf(x_2);
          grown[d0 * 8 + d1] = grown_2;
        }
      }
    }
    <BLANKLINE>
    """
    check_type(fusion, (Fusion, Instruction), "emit_kernel: fusion", "a Fusion or an Instruction")
    if language not in KERNEL_LANGUAGES:
        expected = listed(KERNEL_LANGUAGES)
        raise KernelError(f"emit_kernel: language is {quoted(language)}; expected {expected}")
    check_name(name, "emit_kernel", LANGUAGES[language].reserved)
    return _KernelText(_fusion_of(fusion), language).text(name)


def _fusion_of(given: Fusion | Instruction) -> Fusion:
    if isinstance(given, Fusion):
        return given
    if given.opcode == "fusion":
        return Fusion.of_computation(given.attributes["calls"])
    return Fusion.of_instruction(given)


def _refused(instruction: Instruction, reason: str) -> KernelError:
    return KernelError(f"emit_kernel: %{instruction.name}: {reason}")


class _KernelText:
    """Writes one fusion; blocks remember what is computed in them."""

    def __init__(self, fusion: Fusion, language: str) -> None:
        self._fusion = fusion
        self._language = language
        types = {array.element_type for each in fusion.instructions for array in each.shape.arrays}
        self.names = LocalNames(LANGUAGES[language], names_in_templates(types))
        self._reductions: dict[str, str] = {}
        self._pointers = {each: self.names.fresh(each.name) for each in fusion.operands}

    def text(self, name: str) -> str:
        """The whole text."""
        language = LANGUAGES[self._language]
        sources = [self._source(root, output) for root, output in self._fusion.results]
        results = [(self.names.fresh(source.name), source, output) for source, output in sources]
        top = LoopBlock(self.names)
        for pointer, source, output in results:
            self._write_result(top, pointer, source, output)
        parameters = [
            *(
                f"const {self.type_of(each, each.shape)} *restrict {pointer}"
                for each, pointer in self._pointers.items()
            ),
            *(
                f"{self.type_of(source, _array(source, output))} *restrict {pointer}"
                for pointer, source, output in results
            ),
        ]
        head = f"void {name}({', '.join(parameters)}) {{"
        if self._language == "cuda":
            head = f'extern "C" __global__ {head}'.replace("*restrict", "*__restrict__")
        helpers = helpers_in(top.lines, language.helpers)
        includes = ["#include <math.h>", *language.head]
        lines = [*self._reductions.values(), *top.lines]
        body = [head, *(f"  {line}" for line in lines), "}"]
        return "\n".join([*includes, "", *helpers, *body]) + "\n"

    # Results.

    def _source(self, root: Instruction, output: int) -> tuple[Instruction, int]:
        """The instruction that computes an array of a root."""
        if root.opcode == "tuple" and all(not each.shape.is_tuple for each in root.operands):
            return root.operands[output], 0
        return root, output

    def _write_result(self, top: LoopBlock, pointer: str, source: Instruction, output: int) -> None:
        shape = _array(source, output)
        if self._language == "cuda":
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
        for dimension in major_first(shape):
            total = Form(0, {})
            for size, stride in self._split(source, output, dimension, shape.dimensions[dimension]):
                if size > 1:
                    inner, counter = block.loop(Interval(0, size - 1), f"d{dimension}")
                    loops.append((block, inner))
                    block, total = inner, total + counter * stride
            index[dimension] = total
        self._store(block, pointer, source, output, tuple(index[d] for d in range(shape.rank)))
        for outer, inner in reversed(loops):
            outer.close_loop(inner)

    def _split(
        self, source: Instruction, output: int, dimension: int, size: int
    ) -> list[tuple[int, int]]:
        """Sizes and strides of the loops over a dimension, so that its quotients are counters."""
        divisors = sorted(self._divisors(source, output, f"d{dimension}", size))
        chain = [1]
        for divisor in divisors:
            if divisor % chain[-1] == 0:
                chain.append(divisor)
        sizes = [
            (upper // lower, lower) for lower, upper in zip(chain, (*chain[1:], size), strict=True)
        ]
        return sizes[::-1]

    def _divisors(self, source: Instruction, output: int, variable: str, size: int) -> set[int]:
        if source not in self._fusion.instructions or source in self._pointers:
            return set()
        found: set[int] = set()
        for dependence in self._fusion.indexing(source, output).values():
            for each in dependence.indexings:
                for atom in postorder(each.map.forms):
                    if atom.kind in (AtomKind.FLOORDIV, AtomKind.MOD) and (
                        atom.arguments[0].single_variable() == variable
                    ):
                        found.add(atom.divisor)
        return {each for each in found if 1 < each < size and size % each == 0}

    def _write_by_threads(
        self, top: LoopBlock, pointer: str, source: Instruction, output: int
    ) -> None:
        shape = _array(source, output)
        count = prod(shape.dimensions)
        inner, place = top.loop(Interval(0, max(count - 1, 0)), "i")
        counter = inner.variables[-1]
        index: dict[int, Form] = {}
        stride = 1
        for dimension in reversed(major_first(shape)):
            size = shape.dimensions[dimension]
            index[dimension] = inner.simplified(
                operations.mod(operations.floordiv(place, Form(stride, {})), Form(max(size, 1), {}))
            )
            stride *= size
        self._store(inner, pointer, source, output, tuple(index[d] for d in range(shape.rank)))
        kind = top.type_of(counter.bounds)
        thread = "(int64_t)blockIdx.x * blockDim.x + threadIdx.x"
        top.lines.append(f"if ({thread} < {count}) {{")
        top.lines.append(f"  const {kind} {counter.name} = {thread};")
        top.lines += [*(f"  {line}" for line in inner.lines), "}"]

    def _store(
        self, block: LoopBlock, pointer: str, source: Instruction, output: int, index: Index
    ) -> None:
        index = tuple(map(block.simplified, index))
        value = self.value(source, output, index, block)
        offset = self.offset(_array(source, output), index, block)
        block.lines.append(f"{pointer}[{offset}] = {value};")

    # Values.

    def value(self, source: Instruction, output: int, index: Index, block: LoopBlock) -> str:
        """The name of an element, computed in the outermost loop where its index is known."""
        index = tuple(map(block.simplified, index))
        key = source, output, index
        found = block.find(key)
        if found is None:
            home = block.home_of(index)
            found = home.values[key] = self._computed(source, output, index, home)
        return found

    def _computed(self, source: Instruction, output: int, index: Index, block: LoopBlock) -> str:
        opcode = source.opcode
        if 0 in source.shape.arrays[output].dimensions:
            raise _refused(source, "an array without elements is not emitted")
        if source in self._pointers:
            return self._loaded(source, index, block)
        if opcode == "get-tuple-element":
            return self.value(source.operands[0], source.attributes["index"], index, block)
        if opcode in VIEWS:
            return self._viewed(source, index, block)
        if opcode in ("pad", "concatenate"):
            return self._chosen(source, index, block)
        if opcode in ("reduce", "reduce-window"):
            return self._reduced(source, output, index, block)
        return self._named(source, block, self._expression(source, index, block))

    def _loaded(self, source: Instruction, index: Index, block: LoopBlock) -> str:
        offset = self.offset(source.shape, index, block)
        return self._named(source, block, f"{self._pointers[source]}[{offset}]")

    def _expression(self, source: Instruction, index: Index, block: LoopBlock) -> str:
        if source.opcode == "constant":
            return self._constant(source)
        if source.opcode == "iota":
            dimension: int = source.attributes["iota_dimension"]
            (text,) = block.texts([index[dimension]])
            return f"({self.type_of(source, source.shape)})({text})"
        self.type_of(source, source.shape)
        template = template_of(source)
        if template is None:
            raise _refused(source, f"{source.opcode} of {source.shape} is not emitted")
        values = [
            self.value(each, 0, index if each.shape.rank == len(index) else (), block)
            for each in source.operands
        ]
        return written(template, values, source.shape.element_type)

    def _constant(self, source: Instruction) -> str:
        values = source.literal.values if source.literal is not None else None
        if not values or len(set(map(repr, values))) > 1:
            raise _refused(source, "a constant array of different values is not emitted")
        if isinstance(values[0], complex):
            raise _refused(source, "complex numbers are not emitted")
        return number(values[0], source.shape.element_type)

    def _viewed(self, source: Instruction, index: Index, block: LoopBlock) -> str:
        operand = source.operands[0]
        if operand.shape.element_type is not source.shape.element_type:
            raise _refused(source, "a bitcast to another element type is not emitted")
        found = self.map_of(source, 0)
        return self.value(operand, 0, _applied(found, index), block)

    def _chosen(self, source: Instruction, index: Index, block: LoopBlock) -> str:
        """What one of several operands has: the first one whose map is defined there."""
        is_pad = source.opcode == "pad"
        operands = source.operands[:1] if is_pad else source.operands
        kind = self.type_of(source, source.shape)
        last = self.value(source.operands[1], 0, (), block) if is_pad else "0"
        result = self.names.fresh(source.name)
        block.lines.append(f"{kind} {result} = {last};")
        for number_, operand in enumerate(operands):
            found = self.map_of(source, number_)
            facts = self.asked(found, index, (), block)
            inner = block.guarded(facts)
            value = self.value(operand, 0, _applied(found, index), inner)
            inner.lines.append(f"{result} = {value};")
            block.close_guard(inner, self.condition(facts, block))
        return result

    # Reductions.

    def _reduced(self, source: Instruction, output: int, index: Index, block: LoopBlock) -> str:
        count = len(source.operands) // 2
        inputs, starts = source.operands[:count], source.operands[count:]
        totals: list[str] = []
        for number_, start in enumerate(starts):
            value = self.value(start, 0, (), block)
            total = self.names.fresh(source.name)
            kind = self.type_of(source, _array(source, number_))
            block.lines.append(f"{kind} {total} = {value};")
            block.values[source, number_, index] = total
            totals.append(total)
        self._accumulate(source, inputs, totals, index, block)
        return totals[output]

    def _accumulate(
        self,
        source: Instruction,
        inputs: Sequence[Instruction],
        totals: Sequence[str],
        index: Index,
        block: LoopBlock,
    ) -> None:
        found = self.map_of(source, 0)
        opened: list[tuple[LoopBlock, LoopBlock]] = []
        inner, counters = block, list[Form]()
        for each in found.ranges:
            outer = inner
            inner, counter = outer.loop(each.bounds, "s0")
            counters.append(counter)
            opened.append((outer, inner))
        facts = self.asked(found, index, counters, inner)
        body = inner.guarded(facts) if facts else inner
        point = (*index, *counters)
        values = [self.value(each, 0, _applied(found, point), body) for each in inputs]
        self.combine(source, source.attributes["to_apply"], totals, values, body)
        if facts:
            inner.close_guard(body, self.condition(facts, inner))
        if opened and not facts and (operator := self._operator_on_rows(source)):
            opened[-1][0].lines.append(f"#pragma omp simd reduction({operator} : {totals[0]})")
        for outer, within in reversed(opened):
            outer.close_loop(within)

    def _operator_on_rows(self, source: Instruction) -> str | None:
        """How neighbours in memory are folded, if a compiler may do it in any order, as XLA."""
        computation: Computation = source.attributes["to_apply"]
        root = computation.root
        is_plain = {*root.operands} == {*computation.parameters}
        if (
            not is_plain
            or source.opcode != "reduce"
            or self._language != "c"
            or root.shape.is_tuple
        ):
            return None
        if major_first(source.operands[0].shape)[-1] != max(source.attributes["dimensions"]):
            return None
        if root.opcode == "add":
            return "|" if root.shape.element_type.kind is Kind.BOOLEAN else "+"
        if root.opcode not in EXTREMA or root.shape.element_type.kind is not Kind.FLOAT:
            return None
        kind = self.type_of(root, root.shape)
        name = f"{root.opcode}_of_{kind}"
        self._reductions[name] = EXTREMA[root.opcode].format(name=name, kind=kind)
        return name

    def combine(
        self,
        source: Instruction,
        computation: Computation,
        totals: Sequence[str],
        values: Sequence[str],
        block: LoopBlock,
    ) -> None:
        """Folds values into totals."""
        known = dict(zip(computation.parameters, (*totals, *values), strict=True))
        for each in computation.instructions:
            if each in known or each.opcode == "tuple":
                continue
            if each.opcode == "constant":
                text = self._constant(each)
            else:
                template = template_of(each)
                if template is None:
                    raise _refused(source, f"{each.opcode} in its computation is not emitted")
                operands = [known[operand] for operand in each.operands]
                text = written(template, operands, each.shape.element_type)
            known[each] = self._named(each, block, text)
        root = computation.root
        results = root.operands if root.opcode == "tuple" else (root,)
        block.lines += [
            f"{total} = {known[result]};" for total, result in zip(totals, results, strict=True)
        ]

    # Indices.

    def is_loaded(self, source: Instruction) -> bool:
        """Whether an instruction is an operand of the kernel."""
        return source in self._pointers

    def forward_map(self, source: Instruction) -> IndexingMap | None:
        """From an element of the first operand to that of the result, if that is known."""
        found = self._fusion.registry.maps(source)
        one = found.input_to_output[0] if isinstance(found, OpIndexing) else None
        return None if one is None or one.is_undefined or one.runtime else one

    def map_of(self, source: Instruction, operand: int) -> IndexingMap:
        """From an element of the result to those of an operand."""
        found = self._fusion.registry.maps(source)
        one = found.output_to_input[operand] if isinstance(found, OpIndexing) else None
        if one is None or one.is_undefined or one.runtime or one.parameters:
            raise _refused(source, f"{source.opcode} has no map that is known before it runs")
        return one

    def asked(
        self, found: IndexingMap, index: Index, counters: Sequence[Form], block: LoopBlock
    ) -> list[Constraint]:
        """What has to be asked of a point so that a map is defined there."""
        point = (*index, *counters)
        bounds = [(form, each.bounds) for form, each in zip(index, found.dims, strict=True)]
        known = dict(zip(found.domain.identifiers, point, strict=True))
        inner = [
            (operations.substitute([form], known)[0], interval)
            for form, interval in found.domain.constraints
        ]
        rows = [(block.simplified(form), interval) for form, interval in (*bounds, *inner)]
        return [row for row in rows if not block.holds(row)]

    def condition(self, facts: Sequence[Constraint], block: LoopBlock) -> str:
        """The text of a question."""
        if not facts:
            return "true"
        texts = block.texts([form for form, _ in facts])
        rows = zip(texts, map(block.left_to_ask, facts), strict=True)
        return " && ".join(comparisons(rows, LANGUAGES["c"]))

    def offset(self, shape: Shape, index: Index, block: LoopBlock) -> str:
        """Where in memory an element lies."""
        (form,) = _applied(logical_to_linear(shape), index)
        (text,) = block.texts([block.simplified(form)])
        return text

    # Names and types.

    def _named(self, source: Instruction, block: LoopBlock, text: str) -> str:
        name = self.names.fresh(source.name)
        block.lines.append(f"const {self.type_of(source, source.shape)} {name} = {text};")
        return name

    def type_of(self, source: Instruction, shape: Shape) -> str:
        """The type of an element."""
        if shape.is_tuple or shape.element_type not in TYPES:
            raise _refused(source, f"the element type of {shape} is not emitted")
        return TYPES[shape.element_type]


def _array(source: Instruction, output: int) -> Shape:
    return source.shape.arrays[output]


def _applied(found: IndexingMap, point: Sequence[Form]) -> Index:
    known = dict(zip(found.domain.identifiers, point, strict=True))
    return operations.substitute(found.forms, known)
