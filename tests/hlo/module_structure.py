"""What a module computes, without the names and the order that a printer chooses.

Two texts say the same if their structures are equal. A structure is made of numbers: each row
(opcode, shape, operands, attributes, value) gets the number of the first row that equals it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from ops.hlo import Computation, HloModule, Instruction

NOT_COMPUTED = frozenset(
    ["metadata", "backend_config", "frontend_attributes", "sharding", "origin"]
)
"""Attributes that say nothing about what is computed; short styles leave them out."""

MAX_WRITTEN_ELEMENTS = 10
"""XLA's default style leaves out the values of constants that have more elements."""


@dataclass
class Structures:
    """Numbers rows; structures that are to be compared come from the same object."""

    ignored: frozenset[str] = frozenset()
    layouts: bool = True
    values: bool = True
    """Whether the values of constants count; languages round and write them differently."""
    unused: bool = True
    """Whether instructions count that the result does not need."""
    _numbers: dict[Any, int] = field(default_factory=dict[Any, int])

    def of(self, module: HloModule) -> int:
        """A number that modules with the same entry and the same callees share."""
        return self._computation(module.entry, {})

    def _number(self, row: tuple[object, ...]) -> int:
        return self._numbers.setdefault(row, len(self._numbers))

    def _computation(self, computation: Computation, known: dict[Any, int]) -> int:
        if computation not in known:
            for instruction in computation.instructions:
                known[instruction] = self._instruction(instruction, known)
            needed = computation.instructions if self.unused else (computation.root,)
            rows = sorted(known[instruction] for instruction in needed)
            known[computation] = self._number((known[computation.root], tuple(rows)))
        return known[computation]

    def _instruction(self, instruction: Instruction, known: dict[Any, int]) -> int:
        literal = instruction.literal
        is_short = instruction.shape.element_count <= MAX_WRITTEN_ELEMENTS
        written = self.values and literal is not None and is_short
        attributes = [
            (name, self._value(value, known))
            for name, value in sorted(instruction.attributes.items())
            if name not in self.ignored
        ]
        row = (
            instruction.opcode,
            instruction.shape.text(layout=self.layouts),
            instruction.parameter_number,
            str(literal.values) if literal and written else None,
            tuple(known[operand] for operand in instruction.operands),
            tuple(attributes),
        )
        return self._number(row)

    def _value(self, value: object, known: dict[Any, int]) -> object:
        if isinstance(value, tuple):
            items = cast("tuple[object, ...]", value)
            return tuple(self._value(item, known) for item in items)
        if isinstance(value, Computation):
            return self._computation(value, known)
        return known[value] if isinstance(value, Instruction) else str(value)
