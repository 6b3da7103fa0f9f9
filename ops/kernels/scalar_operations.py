"""What one element of an operation is in C and CUDA."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from indexing.formats.code.language import LANGUAGES
from indexing.layout import ElementType
from indexing.layout.element_type import Kind
from ops.kernels.dialect import Dialect, calls_of, ending

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TYPES: Final[Mapping[ElementType, str]] = {
    ElementType.PRED: "uint8_t",
    ElementType.F16: "_Float16",
    ElementType.BF16: "uint16_t",
    ElementType.F32: "float",
    ElementType.F64: "double",
    **{ElementType(f"s{bits}"): f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{ElementType(f"u{bits}"): f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}
"""The element types of arrays."""

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
    "clamp": "{1} < {0} ? ({0} < {2} ? {0} : {2}) : {1} > {2} ? {2} : {1}",
}
"""A clamp is a minimum of a maximum: where the bounds have changed sides, it is the upper one."""

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
    **calls_of("{function}{f}({0})"),
    "maximum": "{0} > {1} || {0} != {0} ? {0} : {1}",
    "minimum": "{0} < {1} || {0} != {0} ? {0} : {1}",
    "clamp": f"{{0}} != {{0}} ? {{0}} : {{2}} != {{2}} ? {{2}} : {_ORDERED['clamp']}",
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
    "rsqrt": "1 / sqrt{f}({0})",
    "logistic": "1 / (1 + exp{f}(-{0}))",
}

_BY_KIND: Final[Mapping[Kind, Mapping[str, str]]] = {
    Kind.BOOLEAN: _ON_TRUTH,
    Kind.SIGNED: _ON_INTEGERS,
    Kind.UNSIGNED: _ON_INTEGERS,
    Kind.FLOAT: _ON_FLOATS,
}

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


def names_in_templates(element_types: Iterable[ElementType]) -> set[str]:
    """The names that no variable may have where results have these types.

    >>> {"exp", "expf"} & names_in_templates([ElementType.F32])
    {'expf'}
    """
    functions = re.findall(r"(\w+)\{f\}", " ".join(_ON_FLOATS.values()))
    endings = {ending(each) for each in element_types if each.kind is Kind.FLOAT}
    called = {f"{function}{ending}" for function in functions for ending in endings}
    kept = {"isfinite", "INFINITY", "INT64_MIN", "NAN", *_HELPERS, *_CUDA_HELPERS}
    return {*kept, *TYPES.values(), *called}


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
    text += ending(element_type)
    return f"({text})" if value < 0 or text.startswith("-") else text


# Floats of 16 bits.

_FROM_BFLOAT = (
    "uint32_t bits = (uint32_t)stored << 16; float value; memcpy(&value, &bits, 4); return value;"
)
_TO_BFLOAT = (
    "uint32_t bits; memcpy(&bits, &value, 4); "
    "if (value != value) return (uint16_t)(bits >> 16 | 64); "
    "return (uint16_t)((bits + 32767 + (bits >> 16 & 1)) >> 16);"
)


def _helpers(function: str) -> dict[str, str]:
    """Conversions, each guarded, so that two texts can be in one file."""
    bodies = {
        "float_of_bfloat": ("float", "uint16_t stored", _FROM_BFLOAT),
        "bfloat_of_float": ("uint16_t", "float value", _TO_BFLOAT),
    }
    return {
        name: "\n".join(
            (
                f"#ifndef INDEXING_{name.upper()}",
                f"#define INDEXING_{name.upper()}",
                f"{function} {kind} {name}({parameter}) {{ {body} }}",
                "#endif",
            )
        )
        for name, (kind, parameter, body) in bodies.items()
    }


_HELPERS: Final = _helpers("static inline")
_CUDA_HELPERS: Final = _helpers("static __device__ __forceinline__")

C: Final = Dialect(
    language=LANGUAGES["c"],
    types=TYPES,
    operations=_BY_KIND,
    number=number,
    cast="({t}){0}",
    is_finite="isfinite({0})",
    rounded={
        ElementType.F16: "(float)(_Float16){0}",
        ElementType.BF16: "float_of_bfloat(bfloat_of_float({0}))",
    },
    beside_a_number=_BESIDE_A_NUMBER,
    loaded={ElementType.BF16: "float_of_bfloat({0})"},
    stored={ElementType.BF16: "bfloat_of_float({0})", ElementType.F16: "(_Float16){0}"},
    helpers=_HELPERS,
    constant="const {type} {name} = {value};",
    variable="{type} {name} = {value};",
    assigned="{name} = {value};",
)

CUDA: Final = replace(
    C,
    language=LANGUAGES["cuda"],
    types={**TYPES, ElementType.F16: "__half"},
    rounded={**C.rounded, ElementType.F16: "__half2float(__float2half({0}))"},
    loaded={**C.loaded, ElementType.F16: "__half2float({0})"},
    stored={**C.stored, ElementType.F16: "__float2half({0})"},
    helpers=_CUDA_HELPERS,
)
