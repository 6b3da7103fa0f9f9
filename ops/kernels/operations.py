"""Each operation in C, CUDA, NumPy and Triton."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from indexing.code import LANGUAGES, Language, guarded_helpers
from indexing.layout import ElementType, Kind
from ops.hlo.module import Instruction
from ops.rules.constant_folding import DIRECTIONS
from ops.rules.registry import ANNOTATIONS

# Operations of a language on the values of elements: a table of templates for each.

SMALL_FLOATS: Final = (ElementType.F16, ElementType.BF16)
"""Only stored: their values are computed as those of ``f32``."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Syntax of a language for element types, operations and numbers.

    A template takes operands ``{0}``, ``{1}``, the type ``{t}`` of the result, the unsigned type
    ``{u}`` to compute with, and the ending ``{f}`` of functions of that type. ``{n}`` are the bits
    of the result, and ``{s}`` and ``{w}`` are the integers of so many, signed and unsigned.
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
    same_bits: str
    """A stored value, of type ``{o}``, as one of type ``{t}``, which has as many bits."""
    beside_a_number: Mapping[str, str] = field(default_factory=dict[str, str])
    """Extrema of which one operand is no NaN."""
    loaded: Mapping[ElementType, str] = field(default_factory=dict[ElementType, str])
    """Template of a loaded value, where the load is not one already."""
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
        opcode, element_type = instruction.opcode, instruction.shape.element_type
        special = _SPECIAL.get(opcode)
        if special is not None:
            return special(self, instruction)
        if element_type.kind is Kind.FLOAT and opcode in self.beside_a_number:
            first, second = map(_is_number, instruction.operands)
            if first or second:
                template = self.beside_a_number[opcode]
                return template if second else template.format("{1}", "{0}")
        return self.operations.get(element_type.kind, {}).get(opcode)

    def conversion(self, given: ElementType, wanted: ElementType) -> str | None:
        """A float beyond the integers of a type becomes the nearest one, and NaN becomes 0."""
        if wanted.kind is Kind.BOOLEAN:
            return "{0} != 0"
        cast = self.rounded.get(wanted, self.cast)
        if given.kind is not Kind.FLOAT or wanted.kind is Kind.FLOAT:
            return cast
        least, most = wanted.value_range.lower or 0, wanted.value_range.upper or 0
        computed = ElementType.F32 if given in SMALL_FLOATS else given
        low, high = (self.number(end, computed) for end in (least, most + 1))
        zero, first, last = (self.number(end, wanted) for end in (0, least, most))
        choose = self.operations[wanted.kind]["select"]
        text = choose.format("{0} == {0}", cast, zero)
        text = choose.format(f"{{0}} < {low}", first, text)
        return choose.format(f"{{0}} >= {high}", last, text)

    def reinterpretation(self, given: ElementType, wanted: ElementType) -> str | None:
        """The bits of a number as a number of another type; ``None`` if it has other bits."""
        is_known = given in self.types and wanted in self.types
        if not is_known or given.bits != wanted.bits or Kind.BOOLEAN in (given.kind, wanted.kind):
            return None
        stored = self.stored.get(given, "{0}")
        text = self.same_bits.format(stored, o=self.types[given], t=self.types[wanted])
        return self.loaded.get(wanted, "{0}").format(text)

    def written(self, template: str, operands: Sequence[str], element_type: ElementType) -> str:
        """The expression of a template."""
        bits = element_type.bits
        unsigned, signed, other = (
            self.types.get(ElementType(name)) if bits >= _LEAST_BITS else None
            for name in (f"u{max(bits, 32)}", f"s{bits}", f"u{bits}")
        )
        kind, end = self.type_of(element_type), ending(element_type)
        return template.format(*operands, t=kind, u=unsigned, f=end, n=bits, s=signed, w=other)


def ending(element_type: ElementType) -> str:
    """Suffix of the functions of C on a type."""
    return "" if element_type is ElementType.F64 else "f"


def _is_number(instruction: Instruction) -> bool:
    """Whether an operand is a constant, maybe broadcast, that is no NaN."""
    while instruction.opcode == "broadcast":
        (instruction,) = instruction.operands
    values = instruction.literal.values if instruction.literal is not None else None
    return values is not None and all(value == value for value in values)  # noqa: PLR0124 - NaN


# Operations whose templates depend on attributes, or on the types of operands.

_Special: TypeAlias = "Callable[[Dialect, Instruction], str | None]"


def _comparison(_: Dialect, instruction: Instruction) -> str | None:
    if instruction.attributes.get("type") == "TOTALORDER":
        return None  # 0 is above -0
    return f"{{0}} {DIRECTIONS[instruction.attributes['direction']]} {{1}}"


def _annotation(_: Dialect, instruction: Instruction) -> str | None:
    is_one = instruction.attributes["custom_call_target"] in ANNOTATIONS
    given = {each.shape.dimensions for each in instruction.operands}
    return "{0}" if is_one and given == {instruction.shape.dimensions} else None


def _of_two_types(template: Callable[[Dialect, ElementType, ElementType], str | None]) -> _Special:
    return lambda dialect, instruction: template(
        dialect, instruction.operands[0].shape.element_type, instruction.shape.element_type
    )


_SPECIAL: Final[Mapping[str, _Special]] = {
    "bitcast": _of_two_types(Dialect.reinterpretation),
    "bitcast-convert": _of_two_types(Dialect.reinterpretation),
    "compare": _comparison,
    "convert": _of_two_types(Dialect.conversion),
    "custom-call": _annotation,
    "is-finite": lambda dialect, _: dialect.is_finite,
}


# One element of an operation in C and CUDA.

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

_CLAMPED: Final = "{1} < {0} ? ({0} < {2} ? {0} : {2}) : {1} > {2} ? {2} : {1}"
"""A minimum of a maximum: where the bounds have changed sides, it is the upper one."""

_LEAST_BITS: Final = 8
"""The bits of the smallest integers that languages have."""

_KEEPS_NAN: Final = "propagate_nan=tl.PropagateNan.ALL"

_DIVISOR: Final = {
    "u": "tl.where({1} == 0, 1, {1})",
    "s": "tl.where(({1} == 0) | ({1} == -1), 1, {1})",
}
_REMAINDER: Final = "np.where({1} == 0, {0}, np.fmod({0}, {1}))"
_QUOTIENT: Final = "np.where({1} == 0, ~{t}(0), ({0} - np.fmod({0}, {1})) // {1})"

_OPERATIONS: Final[Sequence[tuple[str, str, *tuple[str, ...]]]] = (
    ("copy", "bif", "{0}"),
    ("optimization-barrier", "bif", "{0}"),
    ("select", "bif", "{0} ? {1} : {2}", "{m}.where({0}, {1}, {2})"),
    # Integers wrap in HLO; in C, only unsigned ones do.
    ("add", "i", "({t})(({u}){0} + ({u}){1})", "{0} + {1}"),
    ("subtract", "i", "({t})(({u}){0} - ({u}){1})", "{0} - {1}"),
    ("multiply", "i", "({t})(({u}){0} * ({u}){1})", "{0} * {1}"),
    ("negate", "i", "({t})(-({u}){0})", "-{0}"),
    ("abs", "i", "{0} < 0 ? ({t})(-({u}){0}) : {0}", "{m}.abs({0})"),
    ("add", "b", "{0} | {1}"),
    ("multiply", "b", "{0} & {1}"),
    ("and", "bi", "({t})({0} & {1})", "{0} & {1}"),
    ("or", "bi", "({t})({0} | {1})", "{0} | {1}"),
    ("xor", "bi", "({t})({0} ^ {1})", "{0} ^ {1}"),
    ("not", "i", "({t})~{0}", "~{0}"),
    ("not", "b", "!{0}", "~{0}", "{0} == 0"),
    # A shift by all bits or more leaves nothing, or the sign.
    (
        *("shift-left", "i", "({u}){1} < {n} ? ({t})(({u}){0} << ({u}){1}) : 0", "{0} << {1}"),
        "tl.where(({1} >= 0) & ({1} < {n}), {0} << {1}, 0)",
    ),
    (
        *("shift-right-logical", "i", "({u}){1} < {n} ? ({t})(({w}){0} >> ({u}){1}) : 0"),
        "(np.asarray({0}).astype({w}) >> np.asarray({1}).astype({w})).astype({t})",
        "tl.where(({1} >= 0) & ({1} < {n}), (tl.cast({0}, {w}) >> tl.cast({1}, {w})).to({t}), 0)",
    ),
    (
        *("shift-right-arithmetic", "i"),
        "({t})(({s}){0} >> (({u}){1} < {n} ? ({u}){1} : {n} - 1))",
        "(np.asarray({0}).astype({s}) >> np.asarray({1}).astype({s})).astype({t})",
        "(tl.cast({0}, {s}) >> tl.where(({1} >= 0) & ({1} < {n}), {1}, {n} - 1).to({s})).to({t})",
    ),
    # A quotient by 0 has all bits, and a remainder is the dividend; -1 divides without overflow.
    (
        *("divide", "u", "{1} == 0 ? ({t})-1 : {0} / {1}", _QUOTIENT),
        f"tl.where({{1}} == 0, ({{0}} & 0) - 1, {{0}} // {_DIVISOR['u']})",
    ),
    (
        *("divide", "s", "{1} == 0 ? -1 : {1} == -1 ? ({t})(-({u}){0}) : {0} / {1}", _QUOTIENT),
        f"tl.where({{1}} == 0, -1, tl.where({{1}} == -1, -{{0}}, {{0}} // {_DIVISOR['s']}))",
    ),
    (
        *("remainder", "u", "{1} == 0 ? {0} : {0} % {1}", _REMAINDER),
        f"tl.where({{1}} == 0, {{0}}, {{0}} % {_DIVISOR['u']})",
    ),
    (
        *("remainder", "s", "{1} == 0 ? {0} : {1} == -1 ? 0 : {0} % {1}", _REMAINDER),
        f"tl.where({{1}} == 0, {{0}}, {{0}} % {_DIVISOR['s']})",
    ),
    (
        *("sign", "s", "({0} > 0) - ({0} < 0)", "np.sign({0})"),
        "tl.where({0} > 0, 1, tl.where({0} < 0, -1, {0}))",
    ),
    ("sign", "u", "{0} != 0", "np.sign({0})", "tl.where({0} != 0, 1, {0})"),
    (
        *("popcnt", "i", "({t})bits_set(({w}){0})"),
        "np.bitwise_count(np.asarray({0}).astype({w})).astype({t})",
        "bits_set({0}, {n}).to({t})",
    ),
    (
        *("count-leading-zeros", "i", "({t})({n} - bits_needed(({w}){0}))", ""),
        "({n} - bits_needed(tl.cast({0}, {w}), {n})).to({t})",
    ),
    ("maximum", "i", "{0} > {1} ? {0} : {1}", "{m}.maximum({0}, {1})"),
    ("minimum", "i", "{0} < {1} ? {0} : {1}", "{m}.minimum({0}, {1})"),
    ("clamp", "i", _CLAMPED, "{m}.minimum({m}.maximum({1}, {0}), {2})"),
    ("maximum", "b", "{0} > {1} ? {0} : {1}", "{0} | {1}"),
    ("minimum", "b", "{0} < {1} ? {0} : {1}", "{0} & {1}"),
    ("clamp", "b", _CLAMPED, ""),
    (
        *("maximum", "f", "{0} > {1} || {0} != {0} ? {0} : {1}", "np.maximum({0}, {1})"),
        f"tl.maximum({{0}}, {{1}}, {_KEEPS_NAN})",
    ),
    (
        *("minimum", "f", "{0} < {1} || {0} != {0} ? {0} : {1}", "np.minimum({0}, {1})"),
        f"tl.minimum({{0}}, {{1}}, {_KEEPS_NAN})",
    ),
    (
        *("clamp", "f"),
        f"{{0}} != {{0}} ? {{0}} : {{2}} != {{2}} ? {{2}} : {_CLAMPED}",
        "np.minimum(np.maximum({1}, {0}), {2})",
        f"tl.minimum(tl.maximum({{1}}, {{0}}, {_KEEPS_NAN}), {{2}}, {_KEEPS_NAN})",
    ),
    ("add", "f", "{0} + {1}"),
    ("subtract", "f", "{0} - {1}"),
    ("multiply", "f", "{0} * {1}"),
    ("divide", "f", "{0} / {1}"),
    ("negate", "f", "-{0}"),
    ("abs", "f", "fabs{f}({0})", "{m}.abs({0})"),
    (
        *("sign", "f", "{0} != {0} ? {0} : ({t})(({0} > 0) - ({0} < 0))", "np.sign({0})"),
        "tl.where({0} > 0, 1.0, tl.where({0} < 0, -1.0, {0}))",
    ),
    ("remainder", "f", "fmod{f}({0}, {1})", "np.fmod({0}, {1})", "libdevice.fmod({0}, {1})"),
    ("power", "f", "pow{f}({0}, {1})", "np.power({0}, {1})", "libdevice.pow({0}, {1})"),
    ("atan2", "f", "atan2{f}({0}, {1})", "np.arctan2({0}, {1})", "libdevice.atan2({0}, {1})"),
    ("rsqrt", "f", "1 / sqrt{f}({0})", "1 / np.sqrt({0})", "tl.rsqrt({0})"),
    ("logistic", "f", "1 / (1 + exp{f}(-{0}))", "1 / (1 + np.exp(-{0}))", "tl.sigmoid({0})"),
    *(
        (opcode, "f", *(f"{home}({{0}})" for home in (f"{function}{{f}}", numpy, triton)))
        for opcode, function, numpy, triton in (
            ("floor", "floor", "np.floor", "tl.floor"),
            ("ceil", "ceil", "np.ceil", "tl.ceil"),
            ("round-nearest-even", "rint", "np.rint", "libdevice.rint"),
            ("exponential", "exp", "np.exp", "tl.exp"),
            ("exponential-minus-one", "expm1", "np.expm1", "libdevice.expm1"),
            ("log", "log", "np.log", "tl.log"),
            ("log-plus-one", "log1p", "np.log1p", "libdevice.log1p"),
            ("tanh", "tanh", "np.tanh", "libdevice.tanh"),
            ("sine", "sin", "np.sin", "tl.sin"),
            ("cosine", "cos", "np.cos", "tl.cos"),
            ("tan", "tan", "np.tan", "libdevice.tan"),
            ("asin", "asin", "np.arcsin", "libdevice.asin"),
            ("acos", "acos", "np.arccos", "libdevice.acos"),
            ("atan", "atan", "np.arctan", "libdevice.atan"),
            ("sinh", "sinh", "np.sinh", "libdevice.sinh"),
            ("cosh", "cosh", "np.cosh", "libdevice.cosh"),
            ("asinh", "asinh", "np.arcsinh", "libdevice.asinh"),
            ("acosh", "acosh", "np.arccosh", "libdevice.acosh"),
            ("atanh", "atanh", "np.arctanh", "libdevice.atanh"),
            ("sqrt", "sqrt", "np.sqrt", "tl.sqrt"),
            ("cbrt", "cbrt", "np.cbrt", "libdevice.cbrt"),
        )
    ),
    ("erf", "f", "erf{f}({0})", "", "tl.erf({0})"),
    ("round-nearest-afz", "f", "round{f}({0})", "", "libdevice.round({0})"),
)
"""An opcode, the kinds of its result (boolean, float, integer, or one with or without a sign), and
its text in C, NumPy, Triton.

A text that is left out is the one before it, with ``{m}`` for the module; an empty one is none.
"""

_KINDS: Final = {
    "b": (Kind.BOOLEAN,),
    "f": (Kind.FLOAT,),
    "i": (Kind.SIGNED, Kind.UNSIGNED),
    "s": (Kind.SIGNED,),
    "u": (Kind.UNSIGNED,),
}


def _operations(place: int, module: str = "") -> dict[Kind, dict[str, str]]:
    """The templates of the language at a place of the table, by the kind of the result."""
    found: dict[Kind, dict[str, str]] = {kind: {} for kinds in _KINDS.values() for kind in kinds}
    for opcode, kinds, *texts in _OPERATIONS:
        text = texts[min(place, len(texts) - 1)]
        for kind in (kind for letter in kinds for kind in _KINDS[letter] if text):
            found[kind][opcode] = text.replace("{m}", module)
    return found


_BESIDE_A_NUMBER: Final = {"maximum": "{0} < {1} ? {1} : {0}", "minimum": "{0} > {1} ? {1} : {0}"}
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
    functions = re.findall(r"(\w+)\{f\}", " ".join(C.operations[Kind.FLOAT].values()))
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

_HELPERS: Final = {
    "float_of_bfloat": f"float float_of_bfloat(uint16_t stored) {{ {_FROM_BFLOAT} }}",
    **{
        name: f"int {name}(uint64_t value) {{ int count = 0; for (; value; {step}) ++count; "
        "return count; }"
        for name, step in (("bits_set", "value &= value - 1"), ("bits_needed", "value >>= 1"))
    },
    "bfloat_of_float": f"uint16_t bfloat_of_float(float value) {{ {_TO_BFLOAT} }}",
}

_CUDA_HELPERS: Final = {
    "same_bits": "same_bits(To, From given) "
    "{ To taken; memcpy(&taken, &given, sizeof taken); return taken; }"
}

C: Final = Dialect(
    language=LANGUAGES["c"],
    types=TYPES,
    operations=_operations(0),
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
    same_bits="(union {{{{ {o} given; {t} taken; }}}}){{{{ {0} }}}}.taken",
    helpers=guarded_helpers("static inline", _HELPERS),
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
    same_bits="same_bits(({t})0, {0})",
    helpers={
        **guarded_helpers("static __device__ __forceinline__", _HELPERS),
        **guarded_helpers("template <class To, class From> __device__ To", _CUDA_HELPERS),
    },
)


# An operation on all elements at once in NumPy and Triton.

_BITS_OF_INTEGERS: Final = (8, 16, 32, 64)


def _types(prefix: str, truth: str) -> dict[ElementType, str]:
    """Element types, as modules of Python call them."""
    return {
        ElementType.PRED: truth,
        **{ElementType(f"f{bits}"): f"{prefix}.float{bits}" for bits in (16, 32, 64)},
        **{ElementType(f"s{bits}"): f"{prefix}.int{bits}" for bits in _BITS_OF_INTEGERS},
        **{ElementType(f"u{bits}"): f"{prefix}.uint{bits}" for bits in _BITS_OF_INTEGERS},
    }


# NumPy.

_NUMPY_TYPES: Final = _types("np", "np.bool_")


def _numpy_number(value: float, element_type: ElementType) -> str:
    text = _python_number(
        value, element_type, {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}
    )
    return f"{NUMPY.type_of(element_type)}({text})"


def _python_number(value: float, element_type: ElementType, words: Mapping[str, str]) -> str:
    """A number in Python, which has words for what is not finite."""
    text = str(float(value) if element_type.kind is Kind.FLOAT else int(value))
    return words.get(text, text)


NUMPY: Final = Dialect(
    language=replace(LANGUAGES["numpy"], integer={}),  # its integers have 64 bits by themselves
    types=_NUMPY_TYPES,
    operations=_operations(1, "np"),
    number=_numpy_number,
    cast="np.asarray({0}).astype({t})",
    is_finite="np.isfinite({0})",
    rounded={ElementType.F16: "np.asarray({0}, np.float16).astype(np.float32)"},
    same_bits="np.asarray({0}).view({t})",
    loaded={ElementType.F16: "{0}.astype(np.float32)"},
    stored={ElementType.F16: "np.asarray({0}, np.float16)"},
)

# Triton.

_TRITON_TYPES: Final = {**_types("tl", "tl.int1"), ElementType.BF16: "tl.bfloat16"}


def _triton_number(value: float, element_type: ElementType) -> str:
    words = {word: f'float("{word}")' for word in ("nan", "inf", "-inf")}
    text = _python_number(value, element_type, words)
    return f"tl.full((), {text}, {TRITON.type_of(element_type)})"


TRITON: Final = Dialect(
    language=LANGUAGES["triton"],
    types=_TRITON_TYPES,
    operations=_operations(2, "tl"),
    number=_triton_number,
    cast="tl.cast({0}, {t})",
    is_finite='tl.abs({0}) < float("inf")',
    rounded={each: f"{{0}}.to({_TRITON_TYPES[each]}).to(tl.float32)" for each in SMALL_FLOATS},
    same_bits="{0}.to({t}, bitcast=True)",
    loaded={ElementType.PRED: "{0} != 0", **dict.fromkeys(SMALL_FLOATS, "{0}.to(tl.float32)")},
    stored={each: f"{{0}}.to({_TRITON_TYPES[each]})" for each in SMALL_FLOATS},
    helpers={
        name: f"@triton.jit\ndef {name}(value, bits: tl.constexpr):\n    count = value & 0\n"
        f"    for bit in tl.static_range(bits):\n        count += {term}\n    return count"
        for name, term in (
            ("bits_set", "(value >> bit) & 1"),
            ("bits_needed", "tl.where((value >> bit) == 0, 0, 1).to(value.dtype)"),
        )
    },
)
