"""Fusions that kernels are written for: those of real modules, and chains; and their operands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import numpy as np
import pytest

from indexing.layout import Kind, Shape
from ops import Fusion, emit_kernel, hlo
from ops.hlo import Computation, HloModule
from ops.kernels import KernelError
from ops.xla_gpu import Schedule
from tests.hlo.modules import NAMES, module_text
from tests.ops import oracle
from tests.texts import texts

Array = np.ndarray[Any, Any]

METADATA = re.compile(r', metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}')

RUNNABLE = [name for name in NAMES if name.startswith(("cpu/", "gpu/"))]
"""Modules whose arrays are not tiled: memory has their elements alone."""


def emitted(
    computations: Sequence[Computation], language: str
) -> dict[Computation, tuple[str, str]]:
    """Names and texts of the kernels of those that can be emitted.

    What is refused says which instruction, and why.
    """
    found: dict[Computation, tuple[str, str]] = {}
    for number, each in enumerate(computations):
        name = f"kernel{number}"
        with suppress(KernelError):
            found[each] = name, kernel_of(each, language, name)
    return found


def fusions_of(name: str) -> list[Computation]:
    """The computations of the fusions of a module."""
    instructions = hlo.parse(module_text(name)).instructions
    called = (each.attributes["calls"] for each in instructions if each.opcode == "fusion")
    return list(dict.fromkeys(called))


def alone(computation: Computation) -> str:
    """The text of a module that is this computation and what it calls."""
    called: dict[Computation, None] = {}

    def visit(each: Computation) -> None:
        for instruction in each.instructions:
            for inner in instruction.computations:
                visit(inner)
        called[each] = None

    visit(computation)
    text = str(HloModule("alone", tuple(called), computation, {}, ""))
    return METADATA.sub("", text).replace(" bitcast(", " reshape(")


def runs_in_jax(computation: Computation) -> bool:
    """Whether JAX can run it by itself: on the CPU, a bitcast is only run as the reshape it is."""
    is_plain = all(
        minor_to_major(array) == tuple(range(array.rank))[::-1]
        for each in computation.instructions
        for array in each.shape.arrays
    )
    return is_plain or all(each.opcode != "bitcast" for each in computation.instructions)


def drawn(shape: Shape, random: np.random.Generator) -> Array:
    if shape.element_type.kind is Kind.FLOAT:
        return random.normal(size=shape.dimensions).astype(oracle.dtype_of(shape))
    return random.integers(
        0, 2 + 5 * (shape.element_type.kind is not Kind.BOOLEAN), shape.dimensions
    ).astype(oracle.dtype_of(shape))


def operands_of(computation: Computation) -> list[Array]:
    """Values of the parameters, always the same."""
    random = np.random.default_rng(7)
    return [drawn(each.shape, random) for each in computation.parameters]


def held_operands(computation: Computation) -> list[Array]:
    """The same, in the order of their layouts."""
    pairs = zip(operands_of(computation), computation.parameters, strict=True)
    return [in_memory(values, each.shape) for values, each in pairs]


def held_results(computation: Computation, results: Sequence[Array]) -> list[Array]:
    """Results in the order of their layouts."""
    pairs = zip(results, computation.root.shape.arrays, strict=True)
    return [in_memory(values, shape) for values, shape in pairs]


def check_close(found: Array, expected: Array, small: bool = False) -> None:
    """Compares integers exactly, and floats as their precision allows."""
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
        return
    tolerance = 2e-2 if small else 2e-5
    wide = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(*wide, rtol=tolerance, atol=tolerance)


def run_in_numpy(text: str, name: str, operands: Sequence[Array | int]) -> tuple[Array, ...]:
    """The results of a kernel in NumPy."""
    scope: dict[str, Any] = {}
    exec(text, scope)  # noqa: S102 - the text under test
    found: Any = scope[name](*operands)
    return cast("tuple[Array, ...]", found) if isinstance(found, tuple) else (found,)


def in_memory(values: Array, shape: Shape) -> Array:
    """The elements in the order of the layout."""
    return np.ascontiguousarray(values.transpose(minor_to_major(shape)[::-1]))


def minor_to_major(shape: Shape) -> tuple[int, ...]:
    return shape.layout.minor_to_major if shape.layout else tuple(range(shape.rank))[::-1]


REDUCERS = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
arg { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  less = pred[] compare(a, b), direction=GT
  value = f32[] select(less, a, b) place = s32[] select(less, i, j)
  ROOT r = (f32[], s32[]) tuple(value, place) }
total { a = f32[] parameter(0) b = f32[] parameter(1)
  less = pred[] compare(a, b), direction=GT, type=TOTALORDER ROOT r = f32[] select(less, a, b) }
"""

CHAINS = texts("""
# softmax
x = f32[5,37] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
peak = f32[5] reduce(x, low), dimensions={1}, to_apply=max
peaks = f32[5,37] broadcast(peak), dimensions={0} less = f32[5,37] subtract(x, peaks)
grown = f32[5,37] exponential(less)
total = f32[5] reduce(grown, zero), dimensions={1}, to_apply=add
totals = f32[5,37] broadcast(total), dimensions={0}
ROOT share = f32[5,37] divide(grown, totals)
# pad inside, between and behind
x = f32[4,8] parameter(0) c = f32[] constant(3)
ROOT d = f32[6,18] pad(x, c), padding=1_1x1_2_1
# negative pad
x = f32[4,8] parameter(0) c = f32[] constant(3)
ROOT d = f32[3,7] pad(x, c), padding=-1_0x1_-2
# concatenate of pad
x = f32[4,8] parameter(0) y = f32[3,10] parameter(1) c = f32[] constant(3)
d = f32[4,10] pad(x, c), padding=0_0x1_1 n = f32[3,10] negate(y)
ROOT both = f32[7,10] concatenate(d, n), dimensions={0}
# windows with dilation
x = f32[9,11] parameter(0) zero = f32[] constant(0)
ROOT r = f32[8,11] reduce-window(x, zero),
window={size=2x3 stride=2x2 pad=0_1x2_1 lhs_dilate=2x2 rhs_dilate=2x1}, to_apply=add
# max pool
x = f32[2,9,9,3] parameter(0) low = f32[] constant(-inf)
ROOT r = f32[2,5,5,3] reduce-window(x, low),
window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0}, to_apply=max
# two values at once
x = f32[6,7] parameter(0) low = f32[] constant(-inf) none = s32[] constant(-1)
i = s32[6,7] iota(), iota_dimension=1
ROOT r = (f32[6], s32[6]) reduce(x, i, low, none), dimensions={1}, to_apply=arg
# columns
x = f32[6,7] parameter(0) zero = f32[] constant(0)
ROOT r = f32[7] reduce(x, zero), dimensions={0}, to_apply=add
# heads apart
x = f32[8,48] parameter(0) cut = f32[8,3,16] reshape(x)
turned = f32[3,8,16] transpose(cut), dimensions={1,0,2}
ROOT flat = f32[384] reshape(turned)
# no powers
x = f32[6,10] parameter(0) flat = f32[60] reshape(x)
back = f32[60] reverse(flat), dimensions={0}
ROOT cut = f32[4,15] reshape(back)
# two results
x = s32[6,10] parameter(0) y = s32[6,10] multiply(x, x) z = f32[6,10] convert(x)
t = f32[10,6] transpose(z), dimensions={1,0}
ROOT both = (s32[6,10], f32[10,6]) tuple(y, t)
# layouts
x = f32[6,10]{0,1} parameter(0) c = f32[6,10]{1,0} copy(x)
ROOT s = f32[3,5]{0,1} slice(c), slice={[0:6:2], [1:10:2]}
# one element
x = f32[] parameter(0) ROOT y = f32[] tanh(x)
# names of C
float = f32[3] parameter(0) int.1 = f32[3] negate(float) ROOT d0 = f32[3] sine(int.1)
# names of functions
expf = f32[3] parameter(0) NAN = f32[3] exponential(expf) ROOT tanhf = f32[3] tanh(NAN)
""")
SMALL = {
    element_type: f"""x = {element_type}[4,64] parameter(0) wide = f32[4,64] convert(x)
    zero = f32[] constant(0) total = f32[4] reduce(wide, zero), dimensions={{1}}, to_apply=add
    totals = f32[4,64] broadcast(total), dimensions={{0}} one = {element_type}[] constant(1.5)
    y = {element_type}[4,66] pad(x, one), padding=0_0x1_1
    small = {element_type}[4,64] convert(totals) next = {element_type}[4,64] slice(y),
    slice={{[0:4], [1:65]}} sum = {element_type}[4,64] add(next, small)
    ROOT grown = {element_type}[4,64] tanh(sum)"""
    for element_type in ("f16", "bf16")
}
"""Floats of 16 bits, in and out, and rounded on the way."""

by_chain = pytest.mark.parametrize("body", CHAINS.values(), ids=CHAINS)


def chain(body: str) -> Computation:
    return hlo.parse(f"HloModule m\n{REDUCERS}\nENTRY e {{ {body} }}").entry


def kernel_of(
    computation: Computation | str,
    language: str = "c",
    name: str = "kernel",
    schedule: Schedule | None = None,
) -> str:
    """The text of a kernel of a computation, or of a chain."""
    called = chain(computation) if isinstance(computation, str) else computation
    return emit_kernel(Fusion.of_computation(called), language, name, schedule=schedule)
