"""What a language makes of the values of elements: a table of templates for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from indexing.layout import ElementType
from indexing.layout.element_type import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from indexing.formats.code.language import Language
    from ops.hlo.module import Instruction

SMALL_FLOATS: Final = (ElementType.F16, ElementType.BF16)
"""Only stored: their values are computed as those of ``f32``."""

FUNCTIONS: Final = {
    "floor": "floor",
    "ceil": "ceil",
    "round-nearest-even": "rint",
    "round-nearest-afz": "round",
    "exponential": "exp",
    "exponential-minus-one": "expm1",
    "log": "log",
    "log-plus-one": "log1p",
    "tanh": "tanh",
    "sine": "sin",
    "cosine": "cos",
    "tan": "tan",
    "erf": "erf",
    "sqrt": "sqrt",
    "cbrt": "cbrt",
}
"""Opcode -> a function of one float, as C calls it; NumPy and Triton call theirs alike."""


def calls_of(template: str, opcodes: Iterable[str] = FUNCTIONS) -> dict[str, str]:
    """The templates of opcodes from that of a ``{function}``."""
    return {opcode: template.replace("{function}", FUNCTIONS[opcode]) for opcode in opcodes}


DIRECTIONS: Final = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a language writes element types, operations and numbers.

    A template takes operands ``{0}``, ``{1}``, the type ``{t}`` of the result, the unsigned type
    ``{u}`` to compute with, and the ending ``{f}`` of functions of that type.
    """

    language: Language
    """Of the indices."""
    types: Mapping[ElementType, str]
    operations: Mapping[Kind, Mapping[str, str]]
    number: Callable[[float, ElementType], str]
    cast: str
    """Between numbers, and of an index."""
    is_finite: str
    rounded: Mapping[ElementType, str]
    """To a type that is only stored, and back."""
    beside_a_number: Mapping[str, str] = field(default_factory=dict[str, str])
    """Extrema of which one operand is no NaN."""
    loaded: Mapping[ElementType, str] = field(default_factory=dict[ElementType, str])
    """What is loaded as a value, where it is not that already."""
    stored: Mapping[ElementType, str] = field(default_factory=dict[ElementType, str])
    """A value as what is stored."""
    helpers: Mapping[str, str] = field(default_factory=dict[str, str])
    """The functions that templates call, by name."""

    constant: str = "{name} = {value}"
    variable: str = "{name} = {value}"
    assigned: str = "{name} = {value}"

    def type_of(self, element_type: ElementType) -> str | None:
        """The type of a value; ``None`` if the language has none."""
        if element_type in SMALL_FLOATS and element_type in self.rounded:
            return self.types[ElementType.F32]
        return self.types.get(element_type)

    def template_of(self, instruction: Instruction) -> str | None:
        """The template of an elementwise operation; ``None`` if the tables do not have it."""
        element_type = instruction.shape.element_type
        if instruction.opcode == "compare":
            if "type" in instruction.attributes:
                return None  # a total order, in which 0 is above -0
            return f"{{0}} {DIRECTIONS[instruction.attributes['direction']]} {{1}}"
        if instruction.opcode == "is-finite":
            return self.is_finite
        if instruction.opcode == "convert":
            return self._conversion(instruction.operands[0].shape.element_type, element_type)
        if element_type.kind is Kind.FLOAT and instruction.opcode in self.beside_a_number:
            first, second = map(_is_number, instruction.operands)
            if first or second:
                template = self.beside_a_number[instruction.opcode]
                return template if second else template.format("{1}", "{0}")
        return self.operations.get(element_type.kind, {}).get(instruction.opcode)

    def _conversion(self, given: ElementType, wanted: ElementType) -> str | None:
        """A float beyond the integers of a type is undefined in C, and the nearest one in XLA."""
        if wanted.kind is Kind.BOOLEAN:
            return "{0} != 0"
        if given.kind is Kind.FLOAT and wanted.kind is not Kind.FLOAT:
            return None
        return self.rounded.get(wanted, self.cast)

    def written(self, template: str, operands: Sequence[str], element_type: ElementType) -> str:
        """The expression of a template."""
        unsigned = f"uint{max(element_type.bits, 32)}_t"
        kind = self.type_of(element_type)
        return template.format(*operands, t=kind, u=unsigned, f=ending(element_type))


def ending(element_type: ElementType) -> str:
    """Of the functions of C on a type."""
    return "" if element_type is ElementType.F64 else "f"


def _is_number(instruction: Instruction) -> bool:
    """Whether an operand is a constant, maybe broadcast, that is no NaN."""
    while instruction.opcode == "broadcast":
        (instruction,) = instruction.operands
    values = instruction.literal.values if instruction.literal is not None else None
    return values is not None and all(value == value for value in values)  # noqa: PLR0124 - NaN
