"""A fusion as a function of NumPy arrays: indices are arrays that broadcast.

Each dimension of a result has an axis, and each range of a reduction an axis in front of those. So
a value has only the axes that it needs, and is computed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.formats.code.loop_nest import LocalNames, LoopBlock
from ops.kernels.array_operations import NUMPY
from ops.kernels.array_writer import ArrayWriter, neutral, operation_of
from ops.kernels.element_writer import applied, array_of, source_of
from simplifier import Interval
from simplifier.expr.form import Form, constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.layout import Shape
    from ops.fusion import Fusion
    from ops.hlo.module import Instruction
    from ops.kernels.element_writer import Index

_FOLDS: Final = {
    "add": "np.add",
    "multiply": "np.multiply",
    "and": "np.bitwise_and",
    "or": "np.bitwise_or",
    "maximum": "np.maximum",
    "minimum": "np.minimum",
}

_SPREAD: Final = """def spread(values, sizes):
    return np.broadcast_to(values, np.broadcast_shapes(np.shape(values), sizes))
"""


class NumpyKernel(ArrayWriter):
    """Writes one fusion in NumPy."""

    def __init__(self, fusion: Fusion) -> None:
        names = LocalNames(NUMPY.language, ["range", "spread"])
        super().__init__(fusion, NUMPY, names, "np.where")
        self._axes: dict[LoopBlock, int] = {}

    def text(self, name: str) -> str:
        """The whole text."""
        lines = [
            f"{pointer} = np.asarray({pointer}, {self._stored_type(each, each.shape)})"
            for each, pointer in self.pointers.items()
        ]
        sources = [source_of(root, output) for root, output in self.fusion.results]
        tops: dict[tuple[int, ...], tuple[LoopBlock, Index]] = {}
        results: list[str] = []
        for source, output in sources:
            sizes = array_of(source, output).dimensions
            if sizes not in tops:
                tops[sizes] = self._axes_of(sizes)
            block, index = tops[sizes]
            value = self.value(source, output, index, block)
            results.append(self._result(block, source, output, value))
        for block, _ in tops.values():
            lines += _lines_down_to(block)
        lines.append(f"return {', '.join(results)}")
        head = f"def {name}({', '.join(self.pointers.values())}):"
        body = ['@np.errstate(all="ignore")', head, *(f"    {line}" for line in lines)]
        helpers = [_SPREAD, ""] if any("spread(" in line for line in lines) else []
        return "\n".join(["import numpy as np", "", "", *helpers, *body]) + "\n"

    def _axes_of(self, sizes: Sequence[int]) -> tuple[LoopBlock, Index]:
        """A block with an axis for each dimension, and the index of all elements."""
        index: list[Form] = []
        block = LoopBlock(self.names)
        self._axes[block] = len(sizes)
        for number, size in enumerate(sizes):
            if size == 1:
                index.append(constant(0))
                continue
            behind = len(sizes) - number - 1
            block, counter = self._axis(block, Interval(0, size - 1), f"d{number}", behind)
            index.append(counter)
        return block, tuple(index)

    def _result(self, block: LoopBlock, source: Instruction, output: int, value: str) -> str:
        """The name of an array of the result."""
        shape = array_of(source, output)
        name = self.names.fresh(source.name)
        kind = self._stored_type(source, shape)
        whole = f"np.broadcast_to(np.asarray({value}, {kind}), {shape.dimensions})"
        block.lines.append(f"{name} = {whole}.copy()")
        return name

    def _axis(
        self, block: LoopBlock, bounds: Interval, wish: str, behind: int
    ) -> tuple[LoopBlock, Form]:
        """A block with one more axis, behind which there are others, and the index along it."""
        inner, counter = block.loop(bounds, wish)
        size = bounds.size or 0
        span = f"{bounds.lower}, {bounds.lower + size}" if bounds.lower else f"{size}"
        shape = f".reshape({size}{', 1' * behind})" if behind else ""
        inner.lines.append(f"{inner.variables[-1].name} = np.arange({span}){shape}")
        self._axes[inner] = max(self._depth_of(block), behind + 1)
        return inner, counter

    # Elements.

    def offset(self, shape: Shape, index: Index, block: LoopBlock) -> Form:
        """The number of an element, the last dimension first: NumPy knows where it lies."""
        total = constant(0)
        for size, form in zip(shape.dimensions, index, strict=True):
            total = total * size + form
        return block.simplified(total)

    def load(self, pointer: str, offset: Form, block: LoopBlock) -> str:
        """The text of elements of an operand; what is outside of a mask may be anywhere."""
        mode = ', mode="clip"' if self.mask_of(block) else ""
        (text,) = block.texts([offset])
        return f"{pointer}.take({text}{mode})"

    def reduced_at_once(
        self, source: Instruction, index: Index, block: LoopBlock
    ) -> list[str] | None:
        """A reduction by a function of NumPy along axes of its own."""
        operation = operation_of(source)
        found = self.map_of(source, 0)
        if not operation or not found.ranges:
            return None
        inner, counters, behind = block, list[Form](), self._depth_of(block)
        for number, each in enumerate(found.ranges):
            inner, counter = self._axis(inner, each.bounds, "s0", behind + number)
            counters.append(counter)
        point = (*index, *counters)
        facts = self.asked(found, point, inner)
        body = self.guarded(inner, facts) if facts else inner
        value = self.value(source.operands[0], 0, applied(found, point), body)
        if facts:
            nothing = self._number(source, neutral(operation, source.shape.element_type))
            value = self.chosen_by(self.masks[body], value, nothing)
            self.close_guard(inner, body, facts)
        if self.homes.get(value) is not inner or inner.parent is not block:
            sizes = ", ".join(str(each.bounds.size) for each in reversed(found.ranges))
            value = f"spread({value}, ({sizes}{', 1' * behind},))"
        block.lines += _lines_down_to(inner, block)
        axes = tuple(range(len(counters))) if counters[1:] else 0
        kind = self.type_of(source, source.shape)
        fold = f"{_FOLDS[operation]}.reduce({value}, axis={axes}, dtype={kind})"
        total = self.named(source, block, fold)
        return [self.from_start(source, operation, total, block)]

    def _depth_of(self, block: LoopBlock) -> int:
        """How many axes values in a block may have."""
        around: LoopBlock | None = block
        while around is not None and around not in self._axes:
            around = around.parent
        return self._axes[around] if around is not None else 0

    def _number(self, source: Instruction, value: float) -> str:
        return self.dialect.number(value, source.shape.element_type)

    def _stored_type(self, source: Instruction, shape: Shape) -> str:
        self.type_of(source, shape)
        return self.dialect.types[shape.element_type]


def _lines_down_to(inner: LoopBlock, block: LoopBlock | None = None) -> list[str]:
    """The lines of all blocks around an inner one, inside of a block."""
    around = inner.parent
    outer = [] if around is block or around is None else _lines_down_to(around, block)
    return [*outer, *inner.lines]
