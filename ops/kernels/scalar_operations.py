"""What one element of an elementwise operation is in C and CUDA: tables of templates.

A template takes operands ``{0}``, ``{1}``, the type ``{t}`` of the result, the unsigned type
``{u}`` to compute with, and the ending ``{f}`` of functions of that type.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from indexing.layout import ElementType
from indexing.layout.element_type import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ops.hlo.module import Instruction

TYPES: Final[Mapping[ElementType, str]] = {
    ElementType.PRED: "uint8_t",
    ElementType.F32: "float",
    ElementType.F64: "double",
    **{ElementType(f"s{bits}"): f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{ElementType(f"u{bits}"): f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}
"""The element types that C and CUDA share."""

_WRAPPING: Final = {
    "add": "({t})(({u}){0} + ({u}){1})",
    "subtract": "({t})(({u}){0} - ({u}){1})",
    "multiply": "({t})(({u}){0} * ({u}){1})",
    "negate": "({t})(-({u}){0})",
}
"""Integers wrap in HLO; in C, only unsigned ones do."""

_ON_BITS: Final = {
    "and": "({t})({0} & {1})",
    "or": "({t})({0} | {1})",
    "xor": "({t})({0} ^ {1})",
}

_ANY: Final = {
    "copy": "{0}",
    "optimization-barrier": "{0}",
    "select": "{0} ? {1} : {2}",
}

_ORDERED: Final = {
    "maximum": "{0} > {1} ? {0} : {1}",
    "minimum": "{0} < {1} ? {0} : {1}",
    "clamp": "{1} < {0} ? {0} : {1} > {2} ? {2} : {1}",
}

_ON_INTEGERS: Final = {
    **_ANY,
    **_ORDERED,
    **_WRAPPING,
    **_ON_BITS,
    "not": "({t})~{0}",
    "abs": "{0} < 0 ? ({t})(-({u}){0}) : {0}",
}

_ON_TRUTH: Final = {
    **_ANY,
    **_ORDERED,
    **_ON_BITS,
    "add": "{0} | {1}",
    "multiply": "{0} & {1}",
    "not": "!{0}",
}

_ON_FLOATS: Final = {
    **_ANY,
    **_ORDERED,
    "maximum": "{0} > {1} || {0} != {0} ? {0} : {1}",
    "minimum": "{0} < {1} || {0} != {0} ? {0} : {1}",
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "remainder": "fmod{f}({0}, {1})",
    "power": "pow{f}({0}, {1})",
    "atan2": "atan2{f}({0}, {1})",
    "negate": "-{0}",
    "abs": "fabs{f}({0})",
    "sign": "{0} != {0} ? {0} : ({t})(({0} > 0) - ({0} < 0))",
    "floor": "floor{f}({0})",
    "ceil": "ceil{f}({0})",
    "round-nearest-even": "rint{f}({0})",
    "round-nearest-afz": "round{f}({0})",
    "exponential": "exp{f}({0})",
    "exponential-minus-one": "expm1{f}({0})",
    "log": "log{f}({0})",
    "log-plus-one": "log1p{f}({0})",
    "tanh": "tanh{f}({0})",
    "sine": "sin{f}({0})",
    "cosine": "cos{f}({0})",
    "tan": "tan{f}({0})",
    "erf": "erf{f}({0})",
    "sqrt": "sqrt{f}({0})",
    "rsqrt": "1 / sqrt{f}({0})",
    "cbrt": "cbrt{f}({0})",
    "logistic": "1 / (1 + exp{f}(-{0}))",
}

_BY_KIND: Final[Mapping[Kind, Mapping[str, str]]] = {
    Kind.BOOLEAN: _ON_TRUTH,
    Kind.SIGNED: _ON_INTEGERS,
    Kind.UNSIGNED: _ON_INTEGERS,
    Kind.FLOAT: _ON_FLOATS,
}

_DIRECTIONS: Final = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


def template_of(instruction: Instruction) -> str | None:
    """The template of an elementwise operation; ``None`` if the tables do not have it."""
    kind = instruction.shape.element_type.kind
    if instruction.opcode == "compare":
        if "type" in instruction.attributes:
            return None  # a total order, in which 0 is above -0
        return f"{{0}} {_DIRECTIONS[instruction.attributes['direction']]} {{1}}"
    if instruction.opcode == "is-finite":
        return "isfinite({0})"
    if instruction.opcode == "convert":
        return _conversion(instruction.operands[0].shape.element_type.kind, kind)
    if kind is Kind.FLOAT and instruction.opcode in _BESIDE_A_NUMBER:
        first, second = map(_is_number, instruction.operands)
        if first or second:
            template = _BESIDE_A_NUMBER[instruction.opcode]
            return template if second else template.format("{1}", "{0}")
    return _BY_KIND.get(kind, {}).get(instruction.opcode)


_BESIDE_A_NUMBER: Final = {
    "maximum": "{0} < {1} ? {1} : {0}",
    "minimum": "{0} > {1} ? {1} : {0}",
}
"""Beside a number, this keeps what is none without asking for it."""


EXTREMA: Final = {
    "maximum": "#pragma omp declare reduction({name} : {kind} : omp_out = omp_in > omp_out "
    "|| omp_in != omp_in ? omp_in : omp_out) initializer(omp_priv = omp_orig)",
    "minimum": "#pragma omp declare reduction({name} : {kind} : omp_out = omp_in < omp_out "
    "|| omp_in != omp_in ? omp_in : omp_out) initializer(omp_priv = omp_orig)",
}
"""How OpenMP folds parts of a row: its own extrema lose what is no number."""


def _is_number(instruction: Instruction) -> bool:
    """Whether an operand is a constant, maybe broadcast, that is no NaN."""
    while instruction.opcode == "broadcast":
        (instruction,) = instruction.operands
    values = instruction.literal.values if instruction.literal is not None else None
    return values is not None and all(value == value for value in values)  # noqa: PLR0124 - NaN


def _conversion(given: Kind, wanted: Kind) -> str | None:
    """A float beyond the integers of a type is undefined in C, and the nearest one in XLA."""
    if wanted is Kind.BOOLEAN:
        return "{0} != 0"
    if given is Kind.FLOAT and wanted is not Kind.FLOAT:
        return None
    return "({t}){0}"


def names_in_templates(element_types: Iterable[ElementType]) -> set[str]:
    """The names that no variable may have where results have these types.

    >>> {"exp", "expf"} & names_in_templates([ElementType.F32])
    {'expf'}
    """
    functions = re.findall(r"(\w+)\{f\}", " ".join(_ON_FLOATS.values()))
    endings = {_ending(each) for each in element_types if each.kind is Kind.FLOAT}
    called = {f"{function}{ending}" for function in functions for ending in endings}
    return {"isfinite", "INFINITY", "INT64_MIN", "NAN", *TYPES.values(), *called}


def _ending(element_type: ElementType) -> str:
    return "f" if element_type is ElementType.F32 else ""


def written(template: str, operands: list[str], element_type: ElementType) -> str:
    """The expression of a template."""
    kind = TYPES[element_type]
    unsigned = f"uint{max(element_type.bits, 32)}_t"
    return template.format(*operands, t=kind, u=unsigned, f=_ending(element_type))


def number(value: float, element_type: ElementType) -> str:
    """A constant in C."""
    kind = element_type.kind
    if kind is not Kind.FLOAT:
        least = -(1 << 63)
        return "INT64_MIN" if value == least else f"{int(value)}{'u' * (value > (1 << 63) - 1)}"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(float(value))
    text = text if "." in text or "e" in text else f"{text}.0"
    text += _ending(element_type)
    return f"({text})" if value < 0 or text.startswith("-") else text
