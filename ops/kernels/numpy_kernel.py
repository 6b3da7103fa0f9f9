"""A fusion as a function of NumPy arrays: indices are arrays that broadcast.

Each dimension of a result has an axis, and each range of a reduction an axis in front of those. So
a value has only the axes that it needs, and is computed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.formats.code.coder import alone, helpers_in
from indexing.formats.code.loop_nest import LocalNames
from ops.hlo.neutral_elements import neutral_element
from ops.kernels.array_operations import NUMPY
from ops.kernels.array_writer import ArrayWriter, operation_of
from ops.kernels.element_writer import array_of, source_of
from ops.kernels.indices import row_major
from ops.sizes import as_form
from simplifier.expr.form import Form, constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing.formats.code.loop_nest import LoopBlock
    from ops.fusion import Fusion
    from ops.hlo.module import Instruction
    from ops.kernels.element_writer import Steps
    from ops.kernels.indices import Index
    from ops.sizes import Extent, Size

_FOLDS: Final = {
    "add": "np.add",
    "multiply": "np.multiply",
    "and": "np.bitwise_and",
    "or": "np.bitwise_or",
    "xor": "np.bitwise_xor",
    "maximum": "np.maximum",
    "minimum": "np.minimum",
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
        sources = [source_of(root, output) for root, output in self.fusion.results]
        tops: dict[tuple[Size, ...], tuple[LoopBlock, Index]] = {}
        results: list[str] = []
        for source, output in sources:
            sizes = self.sizes.of(source, output)
            if sizes not in tops:
                tops[sizes] = self._axes_of(sizes)
            block, index = tops[sizes]
            value = self.value(source, output, index, block)
            results.append(self._result(block, source, output, value))
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

    def _result(self, block: LoopBlock, source: Instruction, output: int, value: str) -> str:
        """The name of an array of the result."""
        shape = array_of(source, output)
        name = self.names.fresh(source.name)
        kind = self.stored_type(source, shape)
        sizes = block.texts([as_form(size) for size in self.sizes.of(source, output)])
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

    def offset(self, source: Instruction, output: int, index: Index, block: LoopBlock) -> Form:
        """The number of an element, the last dimension first: NumPy knows where it lies."""
        sizes = self.sizes.of(source, output)
        return block.simplified(row_major(index, sizes, range(len(sizes))))

    def loaded(self, source: Instruction, index: Index, block: LoopBlock) -> str:
        """The name of elements of an operand; nothing is read of one that has no elements."""
        if self.mask_of(block) and self.sizes.may_be_empty(source, 0):
            self._may_be_empty.add(self.pointers[source])
        return super().loaded(source, index, block)

    def load(self, pointer: str, offset: Form, block: LoopBlock) -> str:
        """The text of elements of an operand; what is outside of a mask may be anywhere."""
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
        operation = operation_of(source)
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
        facts = self.asked(found, point, inner)
        body = self.guarded(inner, facts) if facts else inner
        value = yield self.element(source.operands[0], 0, self.applied(found, point), body)
        element_type = source.shape.element_type
        nothing = self.dialect.number(neutral_element(operation, element_type), element_type)
        if facts:
            value = self.chosen_by(self.masks[body], value, nothing)
            self.close_guard(inner, body, facts)
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
        """How many axes values in a block may have."""
        around: LoopBlock | None = block
        while around is not None and around not in self._axes:
            around = around.parent
        return self._axes[around] if around is not None else 0


def _tuple_of(texts: Iterable[str]) -> str:
    """The text of a tuple."""
    given = tuple(texts)
    return f"({', '.join(given)}{',' * (len(given) == 1)})"


def _length(axis: LoopBlock) -> str:
    """How many elements an axis has."""
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
