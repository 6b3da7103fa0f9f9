"""Values of many elements at once: a condition is a mask, and a reduction folds along an axis."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ops.hlo.neutral_elements import NEUTRAL, neutral_element
from ops.kernels.element_writer import ElementWriter
from simplifier.expr.form import variables_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.domain import Constraint
    from indexing.formats.code.loop_nest import LocalNames, LoopBlock
    from ops.fusion import Fusion
    from ops.hlo.module import Instruction
    from ops.kernels.dialect import Dialect
    from ops.kernels.element_writer import Steps

_NAME: Final = re.compile(r"\w+")


class ArrayWriter(ElementWriter):
    """Writes elements of one fusion as arrays."""

    def __init__(self, fusion: Fusion, dialect: Dialect, names: LocalNames, where: str) -> None:
        super().__init__(fusion, dialect, names)
        self.masks: dict[LoopBlock, str] = {}
        """Of the blocks that only some elements are in."""
        self._where = where

    def mask_of(self, block: LoopBlock) -> str:
        """The name of what says which elements are in a block; empty if all are."""
        around: LoopBlock | None = block
        while around is not None:
            if around in self.masks:
                return self.masks[around]
            around = around.parent
        return ""

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
            self.masks[inner] = self.mask(f"{around} & {asked}" if around else asked, block)
        return inner

    def mask(self, text: str, block: LoopBlock) -> str:
        """The name of a mask."""
        name = self.names.fresh("is_inside")
        block.lines.append(self.dialect.constant.format(name=name, value=text))
        return name

    def close_guard(self, block: LoopBlock, inner: LoopBlock, facts: Sequence[Constraint]) -> None:
        """Adds the lines of a block: they compute all elements, and change only some."""
        del facts
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
        """What an operation, if it is one, makes of a start and of all that is reduced."""
        if not operation:
            return total
        start, element_type = source.operands[1], source.shape.element_type
        values = start.literal.values if start.literal is not None else None
        if [*(values or ())] == [neutral_element(operation, element_type)]:
            return total
        template = self.dialect.operations[element_type.kind][operation]
        operands = [(yield self.element(start, 0, (), block)), total]
        return self.named(source, block, self.dialect.written(template, operands, element_type))

    def runs_along(self, value: str, block: LoopBlock) -> bool:
        """Whether a value, by what it is computed from, has the axis of a block's variable."""
        found = {*_NAME.findall(value)}
        for line in reversed(block.lines):
            names, _, text = line.partition(" = ")
            if not found.isdisjoint(_NAME.findall(names)):
                found.update(_NAME.findall(text))
        return not found.isdisjoint((block.variables[-1].name, self.masks.get(block, "")))


def operation_of(source: Instruction) -> str:
    """The operation that a reduction folds with, if it is one; else empty."""
    computation = source.attributes["to_apply"]
    root = computation.root
    is_one = {*root.operands} == {*computation.parameters} and not root.shape.is_tuple
    return root.opcode if is_one and root.opcode in NEUTRAL else ""
