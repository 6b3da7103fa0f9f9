"""What operations combine with a value without changing it: where folds of such values begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout.element_type import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing.layout import ElementType


def neutral_element(opcode: str, element_type: ElementType) -> float:
    """The value that an operation of :data:`NEUTRAL` combines with any other one to that.

    Of ``and`` and ``or``, it has all bits, or none.

    >>> from indexing.layout import ElementType
    >>> neutral_element("maximum", ElementType.S8), neutral_element("add", ElementType.F32)
    (-128, 0)
    """
    if element_type.kind is Kind.BOOLEAN:
        return opcode in ("and", "minimum", "multiply")
    values = element_type.value_range
    match opcode:
        case "maximum" if values.lower is not None:
            return values.lower
        case "minimum" if values.upper is not None:
            return values.upper
        case "and" if element_type.kind is Kind.UNSIGNED and values.upper is not None:
            return values.upper
        case _:
            return NEUTRAL[opcode]


NEUTRAL: Final[Mapping[str, float]] = {
    "add": 0,
    "multiply": 1,
    "and": -1,
    "or": 0,
    "maximum": float("-inf"),
    "minimum": float("inf"),
    "xor": 0,
}
"""By opcode; extrema of integers have those of their type instead."""
