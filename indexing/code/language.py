"""Languages as data: how each writes integers, operations and functions.

A language is a :class:`Language` of templates, and :data:`LANGUAGES` is the table of them. Nothing
here computes.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeAlias

from simplifier.forms import AtomKind

Templates: TypeAlias = "Mapping[AtomKind, str]"

NARROW: Final = 32
WIDE: Final = 64
"""The bits of integers."""


@dataclass(frozen=True, slots=True)
class Language:
    """Syntax of a language: how it writes computations.

    A template takes operands ``{0}``, ``{1}``, and ``{bits}``. Without a parenthesis it is an
    operator: compound operands, and itself inside a product, get parentheses.
    """

    name: str
    general: Templates
    """Operations on any integers."""
    natural: Templates = field(default_factory=dict[AtomKind, str])
    """Divisions of numbers that are never negative by positive ones."""
    by_power: Templates = field(default_factory=dict[AtomKind, str])
    """Divisions by ``2**{1}``; a remainder is by ``{1} + 1``."""
    wide: Templates = field(default_factory=dict[AtomKind, str])
    """Operations on integers of more than 32 bits, where these are written in another way."""
    reserved: frozenset[str] = frozenset()
    max_bits: int = WIDE
    """No value may need more, a sign included."""
    has_signed_zeros: bool = False
    """Whether a product may be -0, which is another value than 0."""

    has_typed_numbers: bool = False
    """Whether a number that stands alone, or beside 32 bits, has 32 bits, too."""

    integer: Mapping[int, str] = field(default_factory=dict[int, str])
    """The types of integers, by their bits."""
    cast: str = "({type}){0}"
    statement: str = "const {type} {name} = {value};"
    comment: str = "/* {0} */"
    head: tuple[str, ...] = ()
    """The lines that a file begins with."""
    helpers: Mapping[str, str] = field(default_factory=dict[str, str])
    """The functions that operations call, by name: whole texts that may be there twice."""

    function: str = "static inline {type} {name}({parameters}) {{"
    ends: str = "}"
    indent: str = "  "
    blank: tuple[str, ...] = ("",)
    """The lines between functions."""
    parameter: str = "{type} {name}"
    no_parameters: str = ""
    stores: str = "{results}[{position}] = {value};"
    """Of a result, where results go to memory; empty where a function returns them."""
    returns: str = "return {0};"
    values: str = "{0}"
    """Of several results that are returned."""
    both: str = " && "
    true: str = "true"
    compares: str = "{} {} {}"
    loop: str = "for ({type} {name} = {first}; {name} < {stop}; {next}) {{"
    """The head of a loop; ``span`` has what ``range`` takes."""
    condition: str = "if ({0}) {{"
    """The head of what is done under a condition; empty where values are arrays."""
    guard: str = "if (!({0})) return false;"
    """Ends a function that says whether a point is in a domain; empty if all is computed."""
    contains: str = "{name}_contains"
    """The name of such a function."""
    asked: tuple[int, int] = (WIDE, NARROW)
    """The bits of its parameters, 0 for any, and the least that it computes with."""

    def block(self, head: str, lines: Iterable[str]) -> list[str]:
        """Lines below a head that holds them, up to what ends them."""
        return [head, *(f"{self.indent}{line}" for line in lines), *filter(None, (self.ends,))]

    def declared(self, name: str, bits: int) -> str:
        """A parameter of a function, of a type with so many bits."""
        return self.parameter.format(type=self.integer.get(bits, ""), name=name)

    def assigned(self, name: str, value: str, bits: int) -> str:
        """The statement that gives a value a name and a type with so many bits."""
        return self.statement.format(type=self.integer.get(bits, ""), name=name, value=value)


_COMPARISONS: Final = {AtomKind.NONNEGATIVE: "({0} >= 0)", AtomKind.ZERO: "({0} == 0)"}
_BITWISE: Final = {
    AtomKind.BITAND: "({0} & {1})",
    AtomKind.BITOR: "({0} | {1})",
    AtomKind.BITXOR: "({0} ^ {1})",
}
_BY_SHIFTS: Final = {AtomKind.FLOORDIV: "{0} >> {1}", AtomKind.MOD: "{0} & {1}"}
"""Right for negative numbers, too: shifts copy the sign in each of the languages."""


def _called(suffix: str = "") -> Templates:
    """Divisions by helper functions, for languages that round towards zero."""
    kinds = {
        "floordiv": (AtomKind.FLOORDIV, AtomKind.QUOTIENT),
        "floormod": (AtomKind.MOD,),
        "ceildiv": (AtomKind.CEILDIV,),
    }
    return {kind: f"{name}{suffix}({{0}}, {{1}})" for name in kinds for kind in kinds[name]}


def _rounding(quotient: str) -> Templates:
    """Operators that divide and take remainders, right where they round as wanted."""
    return {AtomKind.FLOORDIV: quotient, AtomKind.QUOTIENT: quotient, AtomKind.MOD: "{0} % {1}"}


# C and CUDA.

_WORDS_OF_C: Final = """
    alignas alignof asm auto bool case catch char class const constexpr default delete do double
    enum explicit export extern false float friend goto inline int long mutable namespace new
    nullptr operator private protected public register restrict short signed sizeof static struct
    switch template this throw true typedef typeid typename typeof union unsigned using virtual
    void volatile
"""

_C_VALUES: Final = {
    "ceildiv": "a / b + (a % b != 0 && (a % b < 0) == (b < 0))",
    "floordiv": "a / b - (a % b != 0 && (a % b < 0) != (b < 0))",
    "floormod": "a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0)",
    "minimum": "a < b ? a : b",
    "maximum": "a > b ? a : b",
}
_C_TYPES: Final = {bits: f"int{bits}_t" for bits in (NARROW, WIDE)}


_C_HELPERS: Final = {
    f"{name}{bits}": f"{kind} {name}{bits}({kind} a, {kind} b) {{ return {value}; }}"
    for name, value in _C_VALUES.items()
    for bits, kind in _C_TYPES.items()
}
"""The helpers in both widths."""


def guarded_helpers(kind: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Helpers of C, functions of a kind, that two texts in one file may have, each."""
    guards = {name: f"INDEXING_{name.upper()}" for name in texts}
    return {
        name: f"#ifndef {guards[name]}\n#define {guards[name]}\n{kind} {text}\n#endif"
        for name, text in texts.items()
    }


C: Final = Language(
    name="c",
    general={
        **_called("{bits}"),
        AtomKind.MIN: "minimum{bits}({0}, {1})",
        AtomKind.MAX: "maximum{bits}({0}, {1})",
        AtomKind.AND: "({0} && {1})",
        AtomKind.SELECT: "({0} ? {1} : {2})",
        **_COMPARISONS,
        **_BITWISE,
    },
    natural=_rounding("{0} / {1}"),
    by_power=_BY_SHIFTS,
    reserved=frozenset({*_WORDS_OF_C.split(), *_C_HELPERS}),
    integer=_C_TYPES,
    no_parameters="void",
    head=("#include <stdbool.h>", "#include <stdint.h>"),
    helpers=guarded_helpers("static inline", _C_HELPERS),
)

CUDA: Final = replace(
    C,
    name="cuda",
    reserved=C.reserved | {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"},
    head=("#include <stdint.h>",),
    helpers=guarded_helpers("static __host__ __device__ __forceinline__", _C_HELPERS),
    function="static __host__ __device__ __forceinline__ {type} {name}({parameters}) {{",
)

# JavaScript: numbers are doubles, exact up to 53 bits; operators on bits take 32.

_WORDS_OF_JAVASCRIPT: Final = """
    arguments await debugger eval function in instanceof let Math Number var yield BigInt NaN
    Infinity undefined null package implements interface with super
"""

_JAVASCRIPT_VALUES: Final = {
    "floordiv": "Math.floor(a / b) + 0",
    "floormod": _C_VALUES["floormod"],
    "ceildiv": "Math.ceil(a / b) + 0",
}

JAVASCRIPT: Final = Language(
    name="javascript",
    general={
        **_called(),
        AtomKind.MIN: "Math.min({0}, {1})",
        AtomKind.MAX: "Math.max({0}, {1})",
        AtomKind.AND: "({0} && {1})",
        AtomKind.NONNEGATIVE: "({0} >= 0 ? 1 : 0)",
        AtomKind.ZERO: "({0} === 0 ? 1 : 0)",
        AtomKind.SELECT: "({0} ? {1} : {2})",
        **_BITWISE,
    },
    natural={AtomKind.MOD: "{0} % {1}"},
    by_power=_BY_SHIFTS,
    wide={
        **_called(),
        **{
            kind: f"Number{template.format('BigInt({0})', 'BigInt({1})')}"
            for kind, template in _BITWISE.items()
        },
    },
    reserved=frozenset({*_WORDS_OF_C.split(), *_WORDS_OF_JAVASCRIPT.split(), *_JAVASCRIPT_VALUES}),
    max_bits=54,
    has_signed_zeros=True,
    statement="const {name} = {value};",
    comment="// {0}",
    helpers={
        name: f"var {name} = (a, b) => {value};" for name, value in _JAVASCRIPT_VALUES.items()
    },
    function="function {name}({parameters}) {{",
    parameter="{name}",
    loop="for (let {name} = {first}; {name} < {stop}; {next}) {{",
    stores="",
    values="[{0}]",
)

# NumPy rounds down by itself.

NUMPY: Final = Language(
    name="numpy",
    general={
        **_rounding("{0} // {1}"),
        AtomKind.CEILDIV: "(-((-{0}) // {1}))",
        AtomKind.MIN: "np.minimum({0}, {1})",
        AtomKind.MAX: "np.maximum({0}, {1})",
        AtomKind.NONNEGATIVE: "np.int{bits}({0} >= 0)",
        AtomKind.ZERO: "np.int{bits}({0} == 0)",
        AtomKind.AND: "np.minimum({0}, {1})",
        AtomKind.SELECT: "np.where({0}, {1}, {2})",
        **_BITWISE,
    },
    by_power=_BY_SHIFTS,
    reserved=frozenset({*keyword.kwlist, "np"}),
    integer={bits: f"np.int{bits}" for bits in (NARROW, WIDE)},
    cast="{type}({0})",
    statement="{name} = {value}",
    comment="# {0}",
    head=("import numpy as np",),
    function="def {name}({parameters}):",
    ends="",
    indent="    ",
    blank=("", ""),
    parameter="{name}",
    stores="",
    returns="return {0}",
    both=" & ",
    true="True",
    compares="({} {} {})",
    loop="for {name} in range({span}):",
    condition="",
    guard="",
    contains="{name}_mask",
    asked=(0, WIDE),
)

# Triton divides integers as C does, towards 0; remainders have the sign of the numerator. What it
# knows of contiguous elements passes through ``//`` and ``%`` by powers of 2, not through bits.

_TRITON_VALUES: Final = {
    "ceildiv": "tl.where((a % b != 0) & ((a % b < 0) == (b < 0)), a // b + 1, a // b)",
    "floordiv": "tl.where((a % b != 0) & ((a % b < 0) != (b < 0)), a // b - 1, a // b)",
    "floormod": "tl.where((a % b != 0) & ((a % b < 0) != (b < 0)), a % b + b, a % b)",
}

TRITON: Final = replace(
    NUMPY,
    name="triton",
    general={
        **_called(),
        AtomKind.MIN: "tl.minimum({0}, {1})",
        AtomKind.MAX: "tl.maximum({0}, {1})",
        AtomKind.NONNEGATIVE: "tl.where({0} >= 0, 1, 0)",
        AtomKind.ZERO: "tl.where({0} == 0, 1, 0)",
        AtomKind.AND: "tl.minimum({0}, {1})",
        AtomKind.SELECT: "tl.where({0} != 0, {1}, {2})",
        **_BITWISE,
    },
    natural=_rounding("{0} // {1}"),
    by_power={},
    reserved=frozenset({*keyword.kwlist, "tl", "triton", *_TRITON_VALUES}),
    has_typed_numbers=True,
    integer={bits: f"tl.int{bits}" for bits in (NARROW, WIDE)},
    cast="tl.cast({0}, {type})",
    head=("import triton", "import triton.language as tl"),
    helpers={
        name: f"@triton.jit\ndef {name}(a, b):\n    return {value}"
        for name, value in _TRITON_VALUES.items()
    },
    function="@triton.jit\ndef {name}({parameters}):",
    asked=(0, NARROW),
)

LANGUAGES: Final[Mapping[str, Language]] = MappingProxyType(
    {language.name: language for language in (C, CUDA, TRITON, NUMPY, JAVASCRIPT)}
)
"""Languages of functions, by name; MLIR, whose every operation has a name, is a room of its own."""
