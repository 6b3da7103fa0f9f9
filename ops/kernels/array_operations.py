"""What an operation on all elements at once is in NumPy and Triton."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from indexing.formats.code.language import LANGUAGES
from indexing.layout import ElementType
from indexing.layout.element_type import Kind
from ops.kernels.dialect import FUNCTIONS, SMALL_FLOATS, Dialect, calls_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_BITS_OF_INTEGERS: Final = (8, 16, 32, 64)


def _types(prefix: str, truth: str) -> dict[ElementType, str]:
    """Element types, as modules of Python call them."""
    return {
        ElementType.PRED: truth,
        **{ElementType(f"f{bits}"): f"{prefix}.float{bits}" for bits in (16, 32, 64)},
        **{ElementType(f"s{bits}"): f"{prefix}.int{bits}" for bits in _BITS_OF_INTEGERS},
        **{ElementType(f"u{bits}"): f"{prefix}.uint{bits}" for bits in _BITS_OF_INTEGERS},
    }


_SAME: Final = {"copy": "{0}", "optimization-barrier": "{0}"}
_ARITHMETIC: Final = {
    **_SAME,
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "negate": "-{0}",
}
_ON_BITS: Final = {"and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}", "not": "~{0}"}
_ON_TRUTH: Final = {
    **_SAME,
    **_ON_BITS,
    **dict.fromkeys(("add", "maximum"), _ON_BITS["or"]),
    **dict.fromkeys(("multiply", "minimum"), _ON_BITS["and"]),
}
_DIVISION: Final = {"divide": "{0} / {1}"}


def _by_kind(
    any_kind: Mapping[str, str], numbers: Mapping[str, str], floats: Mapping[str, str], truth: str
) -> dict[Kind, dict[str, str]]:
    integers = {**any_kind, **_ARITHMETIC, **_ON_BITS, **numbers}
    return {
        Kind.BOOLEAN: {**any_kind, **_ON_TRUTH, "not": truth},
        Kind.SIGNED: integers,
        Kind.UNSIGNED: integers,
        Kind.FLOAT: {**any_kind, **_ARITHMETIC, **_DIVISION, **numbers, **floats},
    }


# NumPy.

_NUMPY_TYPES: Final = _types("np", "np.bool_")
_NUMPY_ORDERED: Final = {
    "maximum": "np.maximum({0}, {1})",
    "minimum": "np.minimum({0}, {1})",
    "clamp": "np.minimum(np.maximum({1}, {0}), {2})",
    "abs": "np.abs({0})",
}
_FUNCTIONS_OF_NUMPY: Final = [
    each for each in FUNCTIONS if each not in {"erf", "round-nearest-afz"}
]
_NUMPY_FLOATS: Final = {
    **calls_of("np.{function}({0})", _FUNCTIONS_OF_NUMPY),
    "sign": "np.sign({0})",
    "remainder": "np.fmod({0}, {1})",
    "power": "np.power({0}, {1})",
    "atan2": "np.arctan2({0}, {1})",
    "rsqrt": "1 / np.sqrt({0})",
    "logistic": "1 / (1 + np.exp(-{0}))",
}


def _numpy_number(value: float, element_type: ElementType) -> str:
    kind = NUMPY.type_of(element_type)
    if isinstance(value, float) and not math.isfinite(value):
        name = "nan" if math.isnan(value) else "inf"
        return f"{kind}({'-' if value < 0 else ''}np.{name})"
    is_float = element_type.kind is Kind.FLOAT
    return f"{kind}({float(value) if is_float else int(value)})"


NUMPY: Final = Dialect(
    language=replace(LANGUAGES["numpy"], integer={}),  # its integers have 64 bits by themselves
    types=_NUMPY_TYPES,
    operations=_by_kind(
        {"select": "np.where({0}, {1}, {2})"}, _NUMPY_ORDERED, _NUMPY_FLOATS, "~{0}"
    ),
    number=_numpy_number,
    cast="np.asarray({0}).astype({t})",
    is_finite="np.isfinite({0})",
    rounded={ElementType.F16: "np.asarray({0}, np.float16).astype(np.float32)"},
    loaded={ElementType.F16: "{0}.astype(np.float32)"},
)

# Triton.

_TRITON_TYPES: Final = {
    **_types("tl", "tl.int1"),
    ElementType.BF16: "tl.bfloat16",
}
_KEEPS_NAN: Final = "propagate_nan=tl.PropagateNan.ALL"
_TRITON_NUMBERS: Final = {
    "maximum": "tl.maximum({0}, {1})",
    "minimum": "tl.minimum({0}, {1})",
    "clamp": "tl.minimum(tl.maximum({1}, {0}), {2})",
    "abs": "tl.abs({0})",
}
_FUNCTIONS_OF_TRITON: Final = (
    *("floor", "ceil", "exponential", "log", "sine", "cosine", "erf", "sqrt"),
)
"""Its own; the others are of ``libdevice``."""
_TRITON_FLOATS: Final = {
    **calls_of("libdevice.{function}({0})"),
    **calls_of("tl.{function}({0})", _FUNCTIONS_OF_TRITON),
    "rsqrt": "tl.rsqrt({0})",
    "logistic": "tl.sigmoid({0})",
    "maximum": f"tl.maximum({{0}}, {{1}}, {_KEEPS_NAN})",
    "minimum": f"tl.minimum({{0}}, {{1}}, {_KEEPS_NAN})",
    "clamp": f"tl.minimum(tl.maximum({{1}}, {{0}}, {_KEEPS_NAN}), {{2}}, {_KEEPS_NAN})",
    "sign": "tl.where({0} > 0, 1.0, tl.where({0} < 0, -1.0, {0}))",
    "remainder": "libdevice.fmod({0}, {1})",
    "power": "libdevice.pow({0}, {1})",
    "atan2": "libdevice.atan2({0}, {1})",
}


def _triton_number(value: float, element_type: ElementType) -> str:
    return f"tl.full((), {_python_number(value, element_type)}, {TRITON.type_of(element_type)})"


def _python_number(value: float, element_type: ElementType) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return str(float(value) if element_type.kind is Kind.FLOAT else int(value))


TRITON: Final = Dialect(
    language=LANGUAGES["triton"],
    types=_TRITON_TYPES,
    operations=_by_kind(
        {"select": "tl.where({0}, {1}, {2})"}, _TRITON_NUMBERS, _TRITON_FLOATS, "{0} == 0"
    ),
    number=_triton_number,
    cast="tl.cast({0}, {t})",
    is_finite='tl.abs({0}) < float("inf")',
    rounded={each: f"{{0}}.to({_TRITON_TYPES[each]}).to(tl.float32)" for each in SMALL_FLOATS},
    loaded={
        ElementType.PRED: "{0} != 0",
        **dict.fromkeys(SMALL_FLOATS, "{0}.to(tl.float32)"),
    },
)
