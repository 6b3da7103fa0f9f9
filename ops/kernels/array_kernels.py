"""A fusion as a kernel whose values are arrays: in NumPy, or in Triton."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from indexing.code import LocalNames, LoopBlock, alone, helpers_in
from indexing.passes import Constraint
from ops.analysis.dataflow import Array
from ops.fusion import Fusion
from ops.hlo.module import Instruction
from ops.hlo.opcodes import neutral_element
from ops.index_maps import Extent, Size, as_form, row_major
from ops.kernels import elements
from ops.kernels.elements import ElementWriter, Index, Steps, shape_of
from ops.kernels.operations import NUMPY, Dialect
from simplifier.forms import Form, constant, variables_of

# Values of many elements at once: a condition is a mask, and a reduction folds along an axis.


class ArrayWriter(ElementWriter):
    """Writes elements of one fusion as arrays."""

    def __init__(self, fusion: Fusion, dialect: Dialect, names: LocalNames) -> None:
        super().__init__(fusion, dialect, names)
        self.masks: dict[LoopBlock, str] = {}
        """Of the blocks that only some elements are in."""

    # Conditions.

    def guarded(self, block: LoopBlock, facts: Sequence[Constraint]) -> LoopBlock:
        """A block for the elements that meet conditions."""
        inner = block.guarded(facts)
        if facts:
            text = self.condition(facts, block)
            mask = self.masks[inner] = self.names.fresh("is_inside")
            block.lines.append(self.dialect.constant.format(name=mask, value=text))
        return inner

    def close_guard(self, block: LoopBlock, inner: LoopBlock) -> None:
        """Adds the lines of a block: they compute all elements, and change only some."""
        block.lines += inner.lines

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

_NAME: Final = re.compile(r"\w+")

_HELPERS: Final = {"spread": _SPREAD, "taken": _TAKEN}


class NumpyKernel(ArrayWriter):
    """Writes one fusion in NumPy."""

    def __init__(self, fusion: Fusion) -> None:
        names = LocalNames(NUMPY.language, ["range", *_HELPERS])
        super().__init__(fusion, NUMPY, names)
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

    # Conditions.

    def mask_of(self, block: LoopBlock) -> str:
        """The name of the mask of the elements in a block; empty if all are."""
        return next((self.masks[each] for each in block.outward() if each in self.masks), "")

    def chosen_by(self, mask: str, value: str, other: str) -> str:
        """One value where a mask is true, and another elsewhere."""
        return f"np.where({mask}, {value}, {other})" if mask else value

    def condition(self, facts: Sequence[Constraint], block: LoopBlock) -> str:
        """The text of a question, and of those around it."""
        asked, around = super().condition(facts, block), self.mask_of(block)
        return f"{around} & {asked}" if around else asked

    def assign(self, block: LoopBlock, values: Mapping[str, str]) -> None:
        """Gives names new values, where the mask of a block is true."""
        mask = self.masks.get(block, "")
        chosen = {name: self.chosen_by(mask, value, name) for name, value in values.items()}
        super().assign(block, chosen)

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

    def runs_along(self, value: str, block: LoopBlock) -> bool:
        """Whether a value, by its operands, has the axis of a block's variable."""
        found = {*_NAME.findall(value)}
        for line in reversed(block.lines):
            names, _, text = line.partition(" = ")
            if not found.isdisjoint(_NAME.findall(names)):
                found.update(_NAME.findall(text))
        return not found.isdisjoint((block.variables[-1].name, self.masks.get(block, "")))

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
