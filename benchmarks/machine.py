"""Counts the instructions that compilers make of formulas.

Each formula becomes a function in C whose arguments are its variables, many of them in one file. An
operation has 32 bits unless a number in it needs 64. Where no dividend and no divisor is negative,
both are divided without signs; other divisions round down. What is negative or large is seen at the
points at which width is measured (see benchmarks/width.py): the code is counted, it never runs. The
instructions of a call do not count: reading arguments, giving back the result, returning.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from benchmarks.problems import Problem
from benchmarks.width import points_of
from simplifier.expr.form import Atom, AtomKind, Form, evaluate
from tests.evaluation import Column


@dataclass(frozen=True, slots=True)
class Machine:
    """A compiler, and where the functions stand in what it writes."""

    name: str
    compiler: str
    flags: tuple[str, ...]
    suffix: str
    """That of files in its language."""
    function: re.Pattern[str]
    """The number of a function, and its instructions."""

    @property
    def is_there(self) -> bool:
        """Whether the compiler is installed."""
        return shutil.which(self.compiler) is not None

    def counts(self, formulas: Iterable[Formula]) -> dict[Formula, int]:
        """The instructions of each, compiled together."""
        functions = dict.fromkeys(formulas)
        lines = (f"EXPORTED {each.function(f'f{n}')}" for n, each in enumerate(functions))
        with TemporaryDirectory() as folder:
            source, code = Path(folder) / f"formulas{self.suffix}", Path(folder) / "code"
            source.write_text("\n".join([_HEAD, *lines, ""]), "utf-8")
            command = [self.compiler, *self.flags, "-o", str(code), str(source)]
            subprocess.run(command, check=True)
            bodies = dict(self.function.findall(code.read_text("utf-8")))
        return {each: len(_INSTRUCTION.findall(bodies[str(n)])) for n, each in enumerate(functions)}


_INSTRUCTION: Final = re.compile(r"^\t(?!ret|ld\.param|st\.param)[a-z@]", re.MULTILINE)
_TEXT: Final = re.MULTILINE | re.DOTALL

MACHINES: Final = (
    Machine(
        "gcc",
        "gcc",
        ("-O2", "-S", "-fno-ipa-icf", "-fno-asynchronous-unwind-tables", "-fcf-protection=none"),
        ".c",
        re.compile(r"^f(\d+):\n(.*?)^\t\.size", _TEXT),
    ),
    Machine(
        "PTX",
        "nvcc",
        ("-ptx", "-rdc=true", "-arch=sm_80", "-w"),
        ".cu",
        re.compile(r"^\.visible \.func [^{]*?\bf(\d+)\([^{]*^\{(.*?)^\}", _TEXT),
    ),
)

_HEAD: Final = """
#ifdef __CUDACC__
#define EXPORTED extern "C" __device__
#define INLINED static __device__ __forceinline__
#else
#define EXPORTED
#define INLINED static inline __attribute__((always_inline))
#endif
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
#define OPERATIONS(N)                                                \\
  INLINED i##N least##N(i##N a, i##N b) { return a < b ? a : b; }    \\
  INLINED i##N greatest##N(i##N a, i##N b) { return a > b ? a : b; } \\
  INLINED i##N floor##N(i##N a, i##N b) {                            \\
    if (b < 0) a = -a, b = -b;                                       \\
    i##N sign = a >> (N - 1);                                        \\
    return (i##N)((u##N)(a ^ sign) / (u##N)b) ^ sign;                \\
  }
OPERATIONS(32)
OPERATIONS(64)
"""


# Formulas in C.


class Formula(NamedTuple):
    """A formula as a function in C."""

    result_type: str
    parameters: str
    result: str
    signed: frozenset[int]
    """Divisors of what is negative somewhere; 0 for those that are no constants."""

    def function(self, name: str) -> str:
        """The function with this name."""
        return f"{self.result_type} {name}({self.parameters}) {{ return {self.result}; }}"


class Writer:
    """Writes formulas of one problem.

    >>> from simplifier.expr.text import parse_form
    >>> formula = Writer(Problem("", "x", {"x": (-8, 7)})).formula(parse_form("x floordiv 3"))
    >>> formula.function("f"), formula.signed
    ('i32 f(i32 x) { return (i32)(floor32((i32)x, (i32)3LL)); }', frozenset({3}))
    """

    def __init__(self, problem: Problem) -> None:
        points = points_of(problem)
        self._variables = {name: _Value(name, points[name]) for name, _ in problem.bounds}
        types = (f"i{value.bits} {name}" for name, value in self._variables.items())
        self._parameters = ", ".join(types) or "void"
        self._known: dict[Atom, Any] = {}

    def formula(self, form: Form) -> Formula:
        """The function of a form; ``KeyError`` if an operation in it is no arithmetic."""
        (found,) = evaluate((form,), self._variables, _OPERATIONS, self._known)
        result = _value(found)
        return Formula(f"i{result.bits}", self._parameters, result.text, result.signed)


@dataclass(frozen=True, slots=True)
class _Value:
    """An expression in C, and what it is at some points."""

    text: str
    values: Column
    signed: frozenset[int] = frozenset()

    def __add__(self, other: _Number) -> _Value:
        return _operation("{0} + {1}", np.add, self, other)

    def __mul__(self, other: _Number) -> _Value:
        return _operation("{0} * {1}", np.multiply, self, other)

    @property
    def bits(self) -> int:
        """How many hold it at all points."""
        return 32 if max(self.values.max(), ~self.values.min()) < 1 << 31 else 64

    @property
    def is_negative(self) -> bool:
        """Whether it is negative somewhere."""
        return bool(self.values.min() < 0)


_Number: TypeAlias = "_Value | int"
_Meaning: TypeAlias = "Callable[..., Column]"
_Operation: TypeAlias = "Callable[[Atom, Sequence[_Number]], _Number]"


def _value(number: _Number) -> _Value:
    if isinstance(number, _Value):
        return number
    return _Value(f"{number}LL", np.array([number], dtype=object))


def _operation(template: str, meaning: _Meaning, *operands: _Number) -> _Value:
    """An operation of 32 bits, if these hold its operands and itself."""
    inner = [*map(_value, operands)]
    result = _Value("", meaning(*(each.values for each in inner)))
    bits = max(each.bits for each in (*inner, result))
    text = template.format(*(f"(i{bits}){each.text}" for each in inner), bits=bits)
    signed = frozenset[int]().union(*(each.signed for each in inner))
    return _Value(f"(i{bits})({text})", result.values, signed)


def _of_all(template: str, meaning: _Meaning) -> _Operation:
    operation = partial(_operation, template, meaning)
    return lambda _, operands: reduce(operation, operands)


def _quotient(_: Atom, operands: Sequence[_Number]) -> _Number:
    dividend, divisor = operands
    if is_power_of_two(divisor):
        found = _operation("{0} >> {1}", np.right_shift, dividend, divisor.bit_length() - 1)
    else:
        template = (
            "floor{bits}({0}, {1})" if _has_signs(operands) else "(u{bits}){0} / (u{bits}){1}"
        )
        found = _operation(template, np.floor_divide, dividend, divisor)
    return _divided(found, operands)


def _remainder(_: Atom, operands: Sequence[_Number]) -> _Number:
    dividend, divisor = operands
    if is_power_of_two(divisor):
        found = _operation("{0} & {1}", np.bitwise_and, dividend, divisor - 1)
    else:
        rounded_down = "{0} - floor{bits}({0}, {1}) * {1}"
        template = rounded_down if _has_signs(operands) else "(u{bits}){0} % (u{bits}){1}"
        found = _operation(template, np.remainder, dividend, divisor)
    return _divided(found, operands)


def _rounded_up(atom: Atom, operands: Sequence[_Number]) -> _Number:
    dividend, divisor = operands
    return _quotient(atom, (_value(dividend) + (divisor + -1), divisor))


def is_power_of_two(number: _Number) -> TypeGuard[int]:
    """Whether dividing by a number is a shift or a mask."""
    return isinstance(number, int) and number > 0 and not number & (number - 1)


def _has_signs(operands: Sequence[_Number]) -> bool:
    return any(_value(each).is_negative for each in operands)


def _divided(found: _Value, operands: Sequence[_Number]) -> _Value:
    """A division that keeps its divisor if its dividend is negative somewhere."""
    dividend, divisor = operands
    if not _value(dividend).is_negative:
        return found
    return replace(found, signed=found.signed | {divisor if isinstance(divisor, int) else 0})


_OPERATIONS: Final[Mapping[AtomKind, _Operation]] = {
    AtomKind.FLOORDIV: _quotient,
    AtomKind.QUOTIENT: _quotient,
    AtomKind.CEILDIV: _rounded_up,
    AtomKind.MOD: _remainder,
    AtomKind.PRODUCT: _of_all("{0} * {1}", np.multiply),
    AtomKind.MIN: _of_all("least{bits}({0}, {1})", np.minimum),
    AtomKind.MAX: _of_all("greatest{bits}({0}, {1})", np.maximum),
    AtomKind.SUM: lambda _, operands: operands[0],
}
