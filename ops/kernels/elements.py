"""The values of a fusion's elements, line by line, in any language.

Each instruction is a line with its own name, in the outermost block where its index is known. A
reduction is a loop around its accumulator, a contraction too: a dot or convolution. Padding is a
condition. An index that the program computes is a value, clamped as in XLA, with its own name.
Each language overrides methods in its own writer.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from indexing import IndexingMap, Variable, passes
from indexing.code import (
    LANGUAGES,
    Language,
    LocalNames,
    LoopBlock,
    alone,
    comparisons,
    digits_of,
    divisors_of,
    is_narrow,
    solving,
)
from indexing.layout import UNBOUNDED_SIZE, ElementType, Shape, logical_to_linear
from indexing.passes import PARAMETER, Constraint, Ends, substituted_constraints
from ops import index_maps
from ops.analysis.calls import arrays_of
from ops.analysis.dataflow import Array
from ops.dependence.dependence import check_answer, errors_in
from ops.fusion import Fusion
from ops.hlo.module import Computation, Instruction
from ops.hlo.opcodes import CALLEE_ATTRIBUTES, FOLD, NEUTRAL, PASS_ELEMENTS
from ops.hlo.true_sizes import parameters_of, size_facts, size_origins
from ops.index_maps import Extent, Size, as_form, in_order
from ops.kernels.operations import Dialect
from ops.rules.control import source_of
from ops.rules.dynamic import known_sizes
from ops.rules.rule import Direction, MapOfOperand, OpIndexing, Unknown, known
from simplifier import forms
from simplifier.errors import IndexingError
from simplifier.forms import AtomKind, Form, Interval, constant, variable, variables_of

# Refusals to write a kernel.


class KernelError(IndexingError, ValueError):
    """A fusion that cannot be written as a kernel: which instruction, and why."""


def refused(instruction: Instruction, reason: str) -> KernelError:
    """The error of an instruction."""
    return KernelError(f"emit_kernel: %{instruction.name}: {reason}")


# Values of elements.

T = TypeVar("T")
Steps: TypeAlias = "Generator[Steps[Any], Any, T]"
"""Returns a value, and yields the steps that it waits for: programs are deeper than the stack."""

VIEWS: Final = PASS_ELEMENTS - {"copy"} | {"dynamic-reshape", "set-dimension-size"}
"""Operations that only say which element of their first operand an element is."""

MOVES: Final = VIEWS | {"dynamic-slice", "gather"}
"""The same, and those that ask values of other operands for that."""

CHOICES: Final[Mapping[str, tuple[slice, int | None]]] = {
    "pad": (slice(1), 1),
    "concatenate": (slice(None), None),
    "dynamic-update-slice": (slice(1, 2), 0),
}
"""Operations whose element is that of one of some operands, where its map is defined; and else that
of another operand."""

CONTRACTIONS: Final = frozenset(("dot", "convolution"))
"""Operations that sum products of elements of two operands."""


class ElementWriter:
    """Writer of the elements of one fusion; blocks remember the values computed in them."""

    def __init__(self, fusion: Fusion, dialect: Dialect, names: LocalNames) -> None:
        self.fusion = fusion
        self.dialect = dialect
        self.names = names
        self.pointers: Mapping[Instruction, str] = {
            each: names.fresh(each.name) for each in fusion.operands
        }
        self.sizes = KernelSizes(fusion, names)
        self.sources = [self.source_of(array) for array in fusion.results]
        """The arrays of the result, where they are computed."""
        for each in instructions_of(fusion):
            if each not in self.pointers:
                with errors_in(each):
                    check_answer(each, fusion.registry.maps(each))

    def source_of(self, array: Array) -> Array:
        """The array that is passed on as this one: through tuples, and into what is called."""
        return source_of(array, self.pointers, self.fusion.registry.routes)

    def named_results(self) -> dict[str, Array]:
        """The arrays of the result by the names of their pointers."""
        return {self.names.fresh(array[0].name): array for array in self.sources}

    # Values.

    def value(self, array: Array, index: Index, block: LoopBlock) -> str:
        """The name of an element, computed in the outermost block where its index is known."""
        return _finished(self.element(array, index, block))

    def element(self, array: Array, index: Index, block: LoopBlock) -> Steps[str]:
        """The same in steps, for values computed from other elements."""
        array, index = self.source_of(array), tuple(map(block.simplified, index))
        found = block.find((array, index))
        if found is None:
            home = block.home_of(index)
            found = home.values[array, index] = yield self._computed(array, index, home)
        return found

    def elements(
        self, sources: Iterable[Instruction], index: Index, block: LoopBlock
    ) -> Steps[list[str]]:
        """The elements of several arrays at an index; scalars have none."""
        found: list[str] = []
        for each in sources:
            place = index if each.shape.rank == len(index) else ()
            found.append((yield self.element((each, 0), place, block)))
        return found

    def _computed(self, array: Array, index: Index, block: LoopBlock) -> Steps[str]:
        source, opcode = array[0], array[0].opcode
        if 0 in shape_of(array).dimensions:
            raise refused(source, "an array without elements is not emitted")
        if source in self.pointers:
            return self.loaded(source, index, block)
        if opcode == "parameter":
            raise refused(source, "its computation is called at several places; expected one")
        if opcode in MOVES:
            return (yield self._moved(source, index, block))
        if opcode in CHOICES:
            return (yield self._chosen(source, index, block))
        if opcode in FOLD:
            return (yield self._reduced(array, index, block))
        if opcode in CONTRACTIONS:
            return (yield self._contracted(source, index, block))
        return self.named(source, block, (yield self._expression(source, index, block)))

    def loaded(self, source: Instruction, index: Index, block: LoopBlock) -> str:
        """The name of an element of an operand."""
        form = self.offset((source, 0), index, block)
        text = self.load(self.pointers[source], form, block)
        template = self.dialect.loaded.get(source.shape.element_type, "{0}")
        return self.named(source, block, template.format(text))

    def load(self, pointer: str, offset: Form, block: LoopBlock) -> str:
        """The text of an element in memory."""
        (text,) = block.texts([offset])
        return f"{pointer}[{text}]"

    def _expression(self, source: Instruction, index: Index, block: LoopBlock) -> Steps[str]:
        if source.opcode == "constant":
            return self.constant(source)
        kind = "" if source.shape.is_tuple else self.type_of(source, source.shape)
        if source.opcode in ("iota", "get-dimension-size"):
            (text,) = block.texts([self._counted(source, index)])
            is_call = "({0}" in self.dialect.cast
            return self.dialect.cast.format(text if is_call else f"({text})", t=kind)
        template = self._template_of(source)
        values = yield self.elements(source.operands, index, block)
        return self.dialect.written(template, values, source.shape.element_type)

    def _template_of(self, source: Instruction) -> str:
        template = self.dialect.template_of(source)
        if template is None:
            raise refused(source, f"{source.opcode} of {source.shape} is not emitted")
        return template

    def _counted(self, source: Instruction, index: Index) -> Form:
        """The integer that an element is, which depends on no other element."""
        if source.opcode == "iota":
            dimension: int = source.attributes["iota_dimension"]
            return index[dimension]
        (dimension,) = source.attributes["dimensions"]
        return as_form(self.sizes.of((source.operands[0], 0))[dimension])

    def constant(self, source: Instruction) -> str:
        """The text of a constant."""
        values = source.literal.values if source.literal is not None else None
        if not values or len(set(map(repr, values))) > 1:
            raise refused(source, "a constant array of different values is not emitted")
        if isinstance(values[0], complex):
            raise refused(source, "complex numbers are not emitted")
        self.type_of(source, source.shape)
        return self.dialect.number(values[0], source.shape.element_type)

    def _moved(self, source: Instruction, index: Index, block: LoopBlock) -> Steps[str]:
        operand = source.operands[0]
        found, point, inner = yield self._placed(source, 0, index, block)
        value = yield self.element((operand, 0), self.applied(found, point), inner)
        if operand.shape.element_type is source.shape.element_type:
            return value
        text = self.dialect.written(self._template_of(source), [value], source.shape.element_type)
        return self.named(source, block, text)

    def _chosen(self, source: Instruction, index: Index, block: LoopBlock) -> Steps[str]:
        """The element of one of several operands: the first one whose map is defined there."""
        tried, other = CHOICES[source.opcode]
        inner = block
        rows: list[tuple[Instruction, IndexingMap, Index, list[Constraint]]] = []
        for number in range(*tried.indices(len(source.operands))):
            found, point, inner = yield self._placed(source, number, index, inner)
            asked = self.asked(found, point, inner)
            rows.append((source.operands[number], found, point, asked))
            if not asked:
                place = self.applied(found, point)
                return (yield self.element((source.operands[number], 0), place, inner))
        if other is None:
            last = self.dialect.number(0, source.shape.element_type)
        else:
            (last,) = yield self.elements([source.operands[other]], index, block)
        result = self.declared(source, source.shape, inner, last)
        for operand, found, point, facts in rows:
            if any(map(inner.fails, facts)):
                continue
            body = self.guarded(inner, facts)
            value = yield self.element((operand, 0), self.applied(found, point), body)
            self.assign(body, {result: value})
            self.close(body, inner)
        return result

    # Indices that are values.

    def _placed(
        self, source: Instruction, operand: int, index: Index, block: LoopBlock
    ) -> Steps[tuple[IndexingMap, Index, LoopBlock]]:
        """The map to an operand, its point at an index, and a block that knows the values in it."""
        way = self.way_of(source, operand)
        point, inner = index, block
        for origin in way.origins:
            if origin.operand is None or origin.clamp is None:
                raise refused(source, f"{source.opcode} has no map that is known before it runs")
            read = source.operands[origin.operand]
            value = yield self.element((read, 0), self.applied(origin.map, index), inner)
            inner, start = self._index_in(read, value, origin.clamp, inner)
            point = (*point, start)
        return way.map, point, inner

    def _index_in(
        self, read: Instruction, value: str, clamp: Interval | Ends, block: LoopBlock
    ) -> tuple[LoopBlock, Form]:
        """A block that knows a value as an index, clamped to where it has to lie."""
        values = read.shape.element_type.value_range
        if not Interval(-(1 << 63), (1 << 63) - 1).contains(values):
            raise refused(read, f"indices of {read.shape.element_type} are not emitted")
        inner, given = self.known_as(block, self.cast_to_index(value, values), values, read.name)
        lower, upper = (
            self._ends_of(clamp)
            if isinstance(clamp, Ends)
            else (constant(clamp.lower or 0), constant(clamp.upper or 0))
        )
        (text,) = inner.texts([forms.maximum([forms.minimum([given, upper]), lower])])
        extent = Ends(lower, upper) if isinstance(clamp, Ends) else clamp
        return self.known_as(inner, text, extent, read.name)

    def known_as(
        self, block: LoopBlock, text: str, extent: Extent, wish: str
    ) -> tuple[LoopBlock, Form]:
        """The block that knows an integer by a name of its own, and has the same lines."""
        inner, form = self.looped(block, extent, wish)
        counter = inner.variables[-1]
        kind = block.type_of(counter.bounds)
        line = self.dialect.constant.format(type=kind, name=counter.name, value=alone(text))
        inner.lines = block.lines
        inner.lines.append(line)
        return inner, form

    def cast_to_index(self, value: str, values: Interval) -> str:
        """The text of a value in the type of indices that have some values."""
        kind = ElementType.S32 if is_narrow(values) else ElementType.S64
        return self.dialect.cast.format(value, t=self.dialect.types[kind])

    # Reductions.

    def _reduced(self, array: Array, index: Index, block: LoopBlock) -> Steps[str]:
        source, output = array
        count = len(source.operands) // 2
        totals = yield self.reduced_at_once(source, index, block)
        if totals is None:
            starts = yield self.elements(source.operands[count:], (), block)
            totals = [
                self.accumulator(source, shape, index, block, start)
                for shape, start in zip(source.shape.arrays, starts, strict=True)
            ]
            found = self.map_of(source, 0)
            body, point = self.loops_over(found, index, block)
            values = yield self.elements(source.operands[:count], self.applied(found, point), body)
            self.combine(source, source.attributes["to_apply"], totals, values, body)
            is_plain = body is not block and not body.asked
            self.close(body, block, self.pragma_of(source, totals) if is_plain else "")
        for number, total in enumerate(totals):
            block.values[(source, number), index] = total
        return totals[output]

    def reduced_at_once(
        self, source: Instruction, index: Index, block: LoopBlock
    ) -> Steps[list[str] | None]:
        """The names of reduced values, where a language has better than a loop."""
        del source, index, block
        yield from ()
        return None

    # Contractions.

    def _contracted(self, source: Instruction, index: Index, block: LoopBlock) -> Steps[str]:
        """The sum of products of the elements that two operands have in each step of a loop."""
        total = yield self.contracted_at_once(source, index, block)
        if total is None:
            start = self.dialect.number(0, source.shape.element_type)
            total = self.accumulator(source, source.shape, index, block, start)
            body, point = self.loops_over(self.map_of(source, 0), index, block)
            factors = yield self.factors(source, point, [body, body])
            product = self.named(source, body, self.operation(source, "multiply", factors))
            self.assign(body, {total: self.operation(source, "add", [total, product])})
            self.close(body, block)
        block.values[(source, 0), index] = total
        return total

    def contracted_at_once(
        self, source: Instruction, index: Index, block: LoopBlock
    ) -> Steps[str | None]:
        """The name of a sum of products, where a language has better than a loop."""
        del source, index, block
        yield from ()
        return None

    def factors(
        self, source: Instruction, point: Index, blocks: Sequence[LoopBlock]
    ) -> Steps[list[str]]:
        """The elements that a contraction multiplies at a point, in the type of its result."""
        found: list[str] = []
        wanted = self.type_of(source, source.shape)
        for number, (operand, block) in enumerate(zip(source.operands, blocks, strict=True)):
            place = self.applied(self.map_of(source, number), point)
            value = yield self.element((operand, 0), place, block)
            is_wanted = self.type_of(operand, operand.shape) == wanted
            found.append(value if is_wanted else self.dialect.cast.format(value, t=wanted))
        return found

    def operation(self, source: Instruction, opcode: str, values: Sequence[str]) -> str:
        """The text of an operation on values of the type of an instruction."""
        element_type = source.shape.element_type
        template = self.dialect.operations[element_type.kind][opcode]
        return self.dialect.written(template, values, element_type)

    def pragma_of(self, source: Instruction, totals: Sequence[str]) -> str:  # noqa: ARG002 - C asks
        """The pragma before the innermost loop of a reduction."""
        return ""

    def loops_over(
        self, found: IndexingMap, index: Index, block: LoopBlock
    ) -> tuple[LoopBlock, Index]:
        """A block in loops over the ranges of a map, where it is defined, and its point there."""
        known = {**self.sizes.known, **dict(zip(found.domain.identifiers, index, strict=False))}
        left = [*found.domain.constraints]
        inner = block
        looped = found.domain.identifiers[len(index) : len(index) + len(found.ranges)]
        for identifier, each in zip(looped, found.ranges, strict=True):
            place = f"d{len(inner.variables)}"
            known[identifier] = variable(place)
            if each.bounds.is_point:
                known[identifier] = constant(each.bounds.lower or 0)
                continue
            about = [row for row in left if known.keys() >= {*variables_of((row[0],))}]
            rows = substituted_constraints(about, known)
            facts = solving(place, [row for row in rows if self.may_solve(row, inner)])
            met = [asked for asked, row in zip(about, rows, strict=True) if row in facts]
            left = [row for row in left if row not in met]
            inner, _ = inner.loop(each.bounds, "s0", facts)
        bounds = zip(index, (each.bounds for each in found.dims), strict=True)
        asked = unknown([*bounds, *substituted_constraints(left, known)], inner)
        return self.guarded(inner, asked), (*index, *(known[each] for each in looped))

    def may_solve(self, constraint: Constraint, block: LoopBlock) -> bool:  # noqa: ARG002 - as above
        """Whether a loop may go where a constraint holds."""
        return True

    def combine(
        self,
        source: Instruction,
        computation: Computation,
        totals: Sequence[str],
        values: Sequence[str],
        block: LoopBlock,
    ) -> None:
        """Folds values into totals."""
        results = self.folded(source, computation, [*totals, *values], block)
        self.assign(block, dict(zip(totals, results, strict=True)))

    def folded(
        self, source: Instruction, computation: Computation, given: Sequence[str], block: LoopBlock
    ) -> list[str]:
        """The names of the results of a computation of scalars on values."""
        known = dict(zip(computation.parameters, given, strict=True))
        for each in computation.instructions:
            if each in known or each.opcode == "tuple":
                continue
            if each.opcode == "constant":
                text = self.constant(each)
            else:
                template = self.dialect.template_of(each)
                if template is None:
                    raise refused(source, f"{each.opcode} in its computation is not emitted")
                operands = [known[operand] for operand in each.operands]
                text = self.dialect.written(template, operands, each.shape.element_type)
            known[each] = self.named(each, block, text)
        root = computation.root
        return [known[each] for each in (root.operands if root.opcode == "tuple" else (root,))]

    # Conditions.

    def guarded(self, block: LoopBlock, facts: Sequence[Constraint]) -> LoopBlock:
        """A block inside a condition."""
        return block.guarded(facts)

    def close_guard(self, block: LoopBlock, inner: LoopBlock) -> None:
        """Adds the lines of a block under its condition."""
        block.close_guard(inner, self.condition(inner.asked, block))

    def close_loop(self, block: LoopBlock, inner: LoopBlock, pragma: str) -> None:
        """Adds the loop over a block's last variable, with the lines of the block in it."""
        block.close_loop(inner, pragma)

    def close(self, inner: LoopBlock, outer: LoopBlock, pragma: str = "") -> None:
        """Adds the lines of a block, and of those around it, to one that is further outside."""
        while inner is not outer and inner.parent is not None:
            if inner.asked:
                self.close_guard(inner.parent, inner)
            else:
                self.close_loop(inner.parent, inner, pragma)
            inner, pragma = inner.parent, ""

    def assign(self, block: LoopBlock, values: Mapping[str, str]) -> None:
        """Gives names new values."""
        block.lines += [
            self.dialect.assigned.format(name=name, value=value) for name, value in values.items()
        ]

    def asked(self, found: IndexingMap, index: Index, block: LoopBlock) -> list[Constraint]:
        """The conditions on an index under which a map is defined there."""
        bounds = zip(index, (each.bounds for each in found.dims), strict=False)
        limits = substituted_constraints(found.domain.constraints, self._known_at(found, index))
        return unknown([*bounds, *limits], block)

    def applied(self, found: IndexingMap, point: Sequence[Form]) -> Index:
        """The results of a map at a point."""
        return forms.substitute(found.forms, self._known_at(found, point))

    def _known_at(self, found: IndexingMap, point: Sequence[Form]) -> dict[str, Form]:
        """The values of all variables of a map: those with positions, and sizes."""
        return {**self.sizes.known, **dict(zip(found.domain.identifiers, point, strict=False))}

    def condition(self, facts: Sequence[Constraint], block: LoopBlock) -> str:
        """The text of a question."""
        language = self.dialect.language
        texts = block.texts([form for form, _ in facts])
        rows = zip(texts, map(block.left_to_ask, facts), strict=True)
        return language.both.join(comparisons(rows, language))

    def stored(self, array: Shape, value: str) -> str:
        """The text of a value as it is stored in an array."""
        return self.dialect.stored.get(array.element_type, "{0}").format(value)

    # Indices.

    def map_of(self, source: Instruction, operand: int) -> IndexingMap:
        """Map from an element of the result to those of an operand, by its index alone."""
        way = self.way_of(source, operand)
        if way.origins:
            raise refused(source, f"{source.opcode} has no map that is known before it runs")
        return way.map

    def way_of(self, source: Instruction, operand: int) -> MapOfOperand:
        """The same, and where the values are that it depends on."""
        found = known(self.fusion.registry.maps(source), partial(refused, source))
        is_one = isinstance(found, OpIndexing)
        way = found.map_of_operand(Direction.OUTPUT_TO_INPUT, operand) if is_one else None
        if way is None or way.map.is_undefined or way.replica is not None:
            raise refused(source, f"{source.opcode} has no map that is known before it runs")
        return way

    def offset(self, array: Array, index: Index, block: LoopBlock) -> Form:
        """Offset of an element in memory."""
        shape, layout = shape_of(array), shape_of(array).layout
        if not shape.is_unbounded:
            (form,) = self.applied(logical_to_linear(shape), index)
        elif layout and (layout.tiles or layout.split_configs or layout.is_sparse):
            raise refused(array[0], f"the steps between elements of {shape} are unknown")
        else:
            form = index_maps.row_major(index, self.sizes.in_memory(array), major_first(shape))
        return block.simplified(form)

    def index_of(
        self, array: Array, place: Form, block: LoopBlock, dimensions: Collection[int] | None = None
    ) -> dict[int, Form]:
        """The index in some dimensions of an array (all) that has a number in the order of memory.

        The number is below the product of their sizes in the block.
        """
        order, sizes = major_first(shape_of(array)), self.sizes.of(array)
        counted = [each for each in order if dimensions is None or each in dimensions]
        found = digits(place, [sizes[each] for each in counted], block)
        return dict(zip(counted, found, strict=True))

    # Dimensions that may be one loop: all that is read moves along them as along one.

    def joined_dimensions(self, array: Array) -> list[list[int]]:
        """The dimensions of an array, the major ones first; those that may be one loop together."""
        shape = shape_of(array)
        order = major_first(shape)
        if self.sizes.arguments:  # they say only when the kernel runs whether dimensions join
            return [[dimension] for dimension in order]
        moves = [_Moves.of(each, shape) for each in self._offsets(array)]
        groups: list[list[int]] = []
        for dimension in order:
            size = shape.dimensions[dimension]
            is_fit = dimension != order[-1] or all(each.is_dense(dimension) for each in moves)
            if (
                groups
                and is_fit
                and all(each.joins(groups[-1][-1], dimension, size) for each in moves)
            ):
                groups[-1].append(dimension)
            else:
                groups.append([dimension])
        return groups

    def _offsets(self, array: Array) -> Iterator[IndexingMap]:
        """Offset in memory of the element of an array, and of all that it is computed from."""
        yield logical_to_linear(shape_of(array))
        found = self.fusion.indexing(*array) if self.is_computed(array) else {}
        for read, dependence in found.items():
            for each in dependence.indexings:
                if read.opcode == "iota":
                    yield from (each.map.select_results([k]) for k in range(len(each.map.forms)))
                elif read in self.pointers:
                    yield (logical_to_linear(read.shape) @ each.map).simplify()

    def split(self, array: Array, group: Sequence[int], size: Size) -> Sequence[tuple[Size, int]]:
        """Sizes and strides of the loops over dimensions, so that quotients are counters."""
        if group[1:] or not self.is_computed(array) or isinstance(size, Form):
            return [(size, 1)]
        forms = [
            form
            for dependence in self.fusion.indexing(*array).values()
            for each in dependence.indexings
            for form in each.map.forms
        ]
        return digits_of(divisors_of(forms, f"d{group[0]}", size), size)

    def is_computed(self, array: Array) -> bool:
        """Whether the fusion computes an array itself."""
        return array[0] in self.fusion.instructions and array[0] not in self.pointers

    # Loops over sizes.

    def looped(self, block: LoopBlock, extent: Extent, wish: str) -> tuple[LoopBlock, Form]:
        """A block in a loop over some values, and the counter of the loop."""
        counter, facts = index_maps.variable_of(f"d{len(block.variables)}", extent)
        return block.loop(counter.bounds, wish, facts)

    def nested(
        self, block: LoopBlock, extents: Mapping[int, Extent]
    ) -> tuple[LoopBlock, dict[int, Form]]:
        """A block in loops over numbered variables, and their counters."""
        counters: dict[int, Form] = {}
        for number, extent in extents.items():
            block, counters[number] = self.looped(block, extent, f"d{number}")
        return block, counters

    def ranges_of(self, found: IndexingMap) -> list[Extent]:
        """The values of the ranges of a map."""
        if not found.parameters:
            return [each.bounds for each in found.ranges]
        ends, _ = passes.ends_and_constraints(found.domain)
        count = len(found.dims)
        ranges = [*ends.values()][count : count + len(found.ranges)]
        return [Ends(*self._ends_of(each)) for each in ranges]

    def _ends_of(self, extent: Ends) -> tuple[Form, ...]:
        """The first and last value of a range over sizes."""
        pair = extent.lower or forms.ZERO, extent.upper or forms.ZERO
        return forms.substitute(pair, self.sizes.known)

    # What an element is computed from.

    def sources_of(
        self, array: Array, index: Index, block: LoopBlock
    ) -> Iterator[tuple[Instruction, Index, LoopBlock]]:
        """All that an element is computed from, by what the maps say, with indices in blocks.

        What a map ranges over, and what a program computes as an index, are counters of the blocks.
        """
        seen: set[object] = set()
        left = [(array, index, block)]
        while left:
            array, index, block = left.pop()
            array, index = self.source_of(array), tuple(map(block.simplified, index))
            source, _ = array
            if (array, index) in seen:
                continue
            seen.add((array, index))
            yield source, index, block
            found = self.fusion.registry.maps(source)
            if source in self.pointers or not isinstance(found, OpIndexing):
                continue
            for operand, each in zip(source.operands, found.output_to_input, strict=True):
                if each.is_undefined:
                    continue
                moved = [*self.ranges_of(each), *(given.bounds for given in each.runtime)]
                inner, counters = self.nested(block, dict(enumerate(moved)))
                place = self.applied(each, (*index, *in_order(counters)))
                left.append(((operand, 0), place, inner))

    # Names and types.

    def named(self, source: Instruction, block: LoopBlock, text: str) -> str:
        """A name for a value of an instruction."""
        name = self.names.fresh(source.name)
        kind = self.type_of(source, source.shape)
        block.lines.append(self.dialect.constant.format(type=kind, name=name, value=text))
        return name

    def declared(self, source: Instruction, array: Shape, block: LoopBlock, text: str) -> str:
        """A name for a value that changes."""
        name = self.names.fresh(source.name)
        kind = self.type_of(source, array)
        block.lines.append(self.dialect.variable.format(type=kind, name=name, value=text))
        return name

    def accumulator(
        self,
        source: Instruction,
        array: Shape,
        index: Index,  # noqa: ARG002 - a tile has the axes of it
        block: LoopBlock,
        start: str,
    ) -> str:
        """A name for a value at an index that loops change, from a start on."""
        return self.declared(source, array, block, start)

    def type_of(self, source: Instruction, shape: Shape) -> str:
        """The type of an element as a value."""
        found = None if shape.is_tuple else self.dialect.type_of(shape.element_type)
        if found is None:
            raise refused(source, f"the element type of {shape} is not emitted")
        return found

    def stored_type(self, source: Instruction, shape: Shape) -> str:
        """The type of an element in memory."""
        self.type_of(source, shape)
        return self.dialect.types[shape.element_type]


def _finished(first: Steps[str]) -> str:
    """The result of steps; those that they wait for are run before, however deep they are."""
    waiting: list[Steps[object]] = [first]
    found: object = None
    while waiting:
        try:
            waiting.append(waiting[-1].send(found))
            found = None
        except StopIteration as stop:
            waiting.pop()
            found = stop.value
    return str(found)


def instructions_of(fusion: Fusion) -> Iterator[Instruction]:
    """All instructions, and those of the computations that they call."""
    left = [*reversed(fusion.instructions)]
    while left:
        yield (each := left.pop())
        if each.opcode in CALLEE_ATTRIBUTES:
            left += reversed(each.attributes[CALLEE_ATTRIBUTES[each.opcode]].instructions)


def shape_of(array: Array) -> Shape:
    """The shape of an array of the result of an instruction."""
    instruction, number = array
    return instruction.shape.arrays[number]


def element_types(fusion: Fusion) -> set[ElementType]:
    """The element types of all instructions."""
    return {shape_of(array).element_type for array in arrays_of(instructions_of(fusion))}


def operation_of(source: Instruction) -> str:
    """The operation that a reduction folds with, if it is one; else empty."""
    computation = source.attributes["to_apply"]
    root = computation.root
    is_one = {*root.operands} == {*computation.parameters} and not root.shape.is_tuple
    return root.opcode if is_one and root.opcode in NEUTRAL else ""


def unknown(rows: Iterable[Constraint], block: LoopBlock) -> list[Constraint]:
    """The constraints that a block does not know to hold."""
    short = [passes.bare((block.simplified(form), interval)) for form, interval in rows]
    return [row for row in short if not block.holds(row)]


# Indices of arrays: as numbers of elements in an order of the dimensions, and back.

Index: TypeAlias = "tuple[Form, ...]"


def major_first(shape: Shape) -> list[int]:
    """The dimensions, the one with the largest steps in memory first."""
    layout = shape.layout
    order = layout.minor_to_major if layout is not None else range(shape.rank - 1, -1, -1)
    return [*reversed(order)]


def digits(place: Form, sizes: Sequence[Size], block: LoopBlock) -> list[Form]:
    """The index that has this number in an array of some sizes, the major ones first.

    The block, where the number is below the product of all sizes, knows the bounds of the index.
    """
    found: list[Form] = []
    stride: Size = 1
    for size in reversed(sizes):
        quotient = forms.floordiv(place, as_form(stride))
        found.append(block.simplified(forms.mod(quotient, as_form(size))))
        stride = index_maps.product((stride, size))
    found.reverse()
    below = [
        (digit - size, Interval(None, -1))
        for digit, size in zip(found, sizes, strict=True)
        if isinstance(size, Form)
    ]
    block.learn(row for row in below if not row[0].is_constant)
    return found


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


# The sizes that a kernel takes as arguments: those that only the running program knows.
#
# They are the first variables of the block on top, so that all loops and offsets are over them.


class KernelSizes:
    """The parameters of the sizes and maps of a fusion, and the sizes of its arrays over them."""

    def __init__(self, fusion: Fusion, names: LocalNames) -> None:
        module = fusion.computation.module
        declared = parameters_of(module)
        used = {*_parameters_in(fusion)} if declared else set[str]()
        given = sorted((each for each in declared if each.name in used), key=lambda one: one.name)
        self.arguments = tuple(Variable(each.bounds, names.fresh(each.name)) for each in given)
        """Integers, with the names that they have in the kernel."""
        self.known = {
            passes.parameter_identifier(each.name): variable(f"d{number}")
            for number, each in enumerate(given)
        }
        """The forms of parameters of maps in blocks, by identifier."""
        self.identifiers = frozenset(f"d{number}" for number in range(len(given)))
        self._names = names
        self._origins = [size_origins(module)[each.name] for each in given]
        for argument, origin in zip(self.arguments, self._origins, strict=True):
            made, is_value = origin.instruction, origin.dimension is None
            if is_value and made in fusion.instructions and made not in fusion.operands:
                reason = f"the kernel computes it, and it is the size {argument.name} of an array"
                raise refused(made, f"{reason}; expected sizes that are known before it runs")
        self._facts: tuple[Constraint, ...] = ()
        if given:
            sizes = (size for array in _arrays(fusion) for size in self.of(array))
            self._learn((*self._told(fusion), *index_maps.not_negative(sizes)))

    # Sizes of arrays.

    def of(self, array: Array) -> tuple[Size, ...]:
        """Number of elements of an array in each dimension, over variables of blocks.

        Raises:
            KernelError: a size has several values in a run of the program.
        """
        shape = shape_of(array)
        if not shape.dynamic_dimensions:
            return shape.dimensions
        sizes = known(known_sizes(*array), partial(refused, array[0]))
        return tuple(map(self._placed, sizes))

    def in_memory(self, array: Array) -> tuple[Size, ...]:
        """Number of elements that memory has a place for: the bound of a size."""
        pairs = zip(shape_of(array).dimensions, self.of(array), strict=True)
        return tuple(size if bound == UNBOUNDED_SIZE else bound for bound, size in pairs)

    def may_be_empty(self, array: Array) -> bool:
        """Whether sizes may say that an array has no elements."""
        count = index_maps.product(self.of(array))
        return not isinstance(count, int) and not (self.top().range_of(count).lower or 0)

    def _placed(self, size: Size) -> Size:
        if isinstance(size, int):
            return size
        return index_maps.plain(forms.substitute((size,), self.known)[0])

    # Facts.

    def top(self, names: LocalNames | None = None) -> LoopBlock:
        """A block in which the sizes are known, with their conditions."""
        return LoopBlock(names or self._names, self.arguments, self._facts)

    def _learn(self, facts: Iterable[Constraint]) -> None:
        """Take the facts that do not follow from others, short ones first."""
        known = self.top()
        for form, interval in sorted(map(passes.bare, facts), key=lambda row: len(row[0].terms)):
            if not known.holds((known.simplified(form), interval)):
                known.learn([(form, interval)])
        self._facts, self.arguments = known.constraints, known.domain.dims

    def _told(self, fusion: Fusion) -> list[Constraint]:
        """The module's facts about the sizes."""
        names = [identifier.removeprefix(PARAMETER) for identifier in self.known]
        return substituted_constraints(size_facts(fusion.instructions[0], names), self.known)

    # Texts.

    def python_function(self, name: str, size: Size) -> list[str]:
        """The lines of a function of Python that computes a size from the arguments."""
        host = self.top(LocalNames(_PYTHON, ["max", "min"]))
        (text,) = host.texts([as_form(size)])
        given = ", ".join(each.name for each in self.arguments)
        lines = [*host.lines, f"return {alone(text)}"]
        return [f"def {name}({given}):", *(f"{_PYTHON.indent}{line}" for line in lines)]

    def comments(self, language: Language) -> list[str]:
        """A line for each argument, and for each condition on several of them."""
        domain = self.top().domain
        texts = [
            f"{given.name} in {given.bounds}: {origin}"
            for given, origin in zip(domain.dims, self._origins, strict=True)
        ]
        texts += [f"{text} in {interval}" for text, (_, interval) in domain.constraint_texts()]
        return [language.comment.format(text) for text in texts]


_PYTHON: Final = replace(
    LANGUAGES["numpy"],
    name="python",
    reserved=frozenset(),
    general={
        **LANGUAGES["numpy"].general,
        AtomKind.MIN: "min({0}, {1})",
        AtomKind.MAX: "max({0}, {1})",
    },
    integer={},
)
"""Its integers have any number of bits."""


def _arrays(fusion: Fusion) -> list[Array]:
    return arrays_of(dict.fromkeys((*fusion.operands, *fusion.instructions)))


def _parameters_in(fusion: Fusion) -> Iterator[str]:
    """The names of the parameters in the sizes of arrays, and in maps between these."""
    for array in _arrays(fusion):
        sizes = known_sizes(*array)
        if not isinstance(sizes, Unknown):
            used = forms.variables_of(size for size in sizes if isinstance(size, Form))
            yield from (identifier.removeprefix(PARAMETER) for identifier in used)
    for each in fusion.instructions:
        found = fusion.registry.maps(each)
        maps = found.output_to_input if isinstance(found, OpIndexing) else ()
        for one in maps:
            if not one.is_undefined:
                yield from (parameter.name for parameter in one.parameters)
