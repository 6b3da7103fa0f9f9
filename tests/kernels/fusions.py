"""Fusions that kernels are written for: those of real modules, and chains; and their operands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import numpy as np

from indexing.layout import Kind, Shape
from ops import Fusion, emit_kernel, hlo
from ops.hlo import Computation, HloModule
from ops.kernels import KernelError
from ops.xla_gpu import Schedule
from tests.cases import texts, texts_with_values
from tests.hlo.modules import NAMES, module_text
from tests.ops import oracle

Array = np.ndarray[Any, Any]

METADATA = re.compile(r', metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}')

RUNNABLE = [name for name in NAMES if name.startswith(("cpu/", "gpu/"))]
"""Modules whose arrays are not tiled: memory has their elements alone."""


def emitted(given: Sequence[Computation], language: str) -> dict[Computation, tuple[str, str]]:
    """Names and texts of the kernels of those that can be emitted.

    What is refused says which instruction, and why.
    """
    found: dict[Computation, tuple[str, str]] = {}
    for number, each in enumerate(given):
        name = f"kernel{number}"
        with suppress(KernelError):
            found[each] = name, kernel_of(each, language, name)
    return found


def fusions_of(name: str) -> list[Computation]:
    instructions = hlo.parse(module_text(name)).instructions
    called = (each.attributes["calls"] for each in instructions if each.opcode == "fusion")
    return list(dict.fromkeys(called))


def alone(computation: Computation) -> HloModule:
    """A module that is this computation and what it calls, whose metadata are left out."""
    called: dict[Computation, None] = {}

    def visit(each: Computation) -> None:
        for instruction in each.instructions:
            for inner in instruction.computations:
                visit(inner)
        called[each] = None

    visit(computation)
    text = str(HloModule("alone", tuple(called), computation, {}, ""))
    return hlo.parse(METADATA.sub("", text))


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


def check_close(found: Array, expected: Array) -> None:
    """Compares integers exactly, and floats nearly."""
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
        return
    wide = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(*wide, rtol=2e-5, atol=2e-5)


def run_in_numpy(text: str, name: str, operands: Sequence[Array | int]) -> tuple[Array, ...]:
    scope: dict[str, Any] = {}
    exec(text, scope)  # noqa: S102 - the text under test
    found: Any = scope[name](*operands)
    return cast("tuple[Array, ...]", found) if isinstance(found, tuple) else (found,)


def in_memory(values: Array, shape: Shape) -> Array:
    """The elements in the order of the layout."""
    return np.ascontiguousarray(values.transpose(shape.array_layout.major_to_minor))


REDUCERS = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
arg { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  less = pred[] compare(a, b), direction=GT
  value = f32[] select(less, a, b) place = s32[] select(less, i, j)
  ROOT r = (f32[], s32[]) tuple(value, place) }
pair { a = f32[5] parameter(0) b = f32[5] parameter(1) ROOT r = (f32[5], f32[5]) tuple(b, a) }
total { a = f32[] parameter(0) b = f32[] parameter(1)
  less = pred[] compare(a, b), direction=GT, type=TOTALORDER ROOT r = f32[] select(less, a, b) }
"""

CHAINS = texts("""
# softmax
x = f32[5,37] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
peak = f32[5] reduce(x, low), dimensions={1}, to_apply=max
peaks = f32[5,37] broadcast(peak), dimensions={0} less = f32[5,37] subtract(x, peaks)
grown = f32[5,37] exponential(less) total = f32[5] reduce(grown, zero), dimensions={1}, to_apply=add
totals = f32[5,37] broadcast(total), dimensions={0} ROOT share = f32[5,37] divide(grown, totals)
# pad inside, between and behind
x = f32[4,8] parameter(0) c = f32[] constant(3) ROOT d = f32[6,18] pad(x, c), padding=1_1x1_2_1
# negative pad
x = f32[4,8] parameter(0) c = f32[] constant(3) ROOT d = f32[3,7] pad(x, c), padding=-1_0x1_-2
# concatenate of pad
x = f32[4,8] parameter(0) y = f32[3,10] parameter(1) c = f32[] constant(3)
d = f32[4,10] pad(x, c), padding=0_0x1_1 n = f32[3,10] negate(y)
ROOT both = f32[7,10] concatenate(d, n), dimensions={0}
# windows with dilation
x = f32[9,11] parameter(0) zero = f32[] constant(0) ROOT r = f32[8,11] reduce-window(x, zero),
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
turned = f32[3,8,16] transpose(cut), dimensions={1,0,2} ROOT flat = f32[384] reshape(turned)
# no powers
x = f32[6,10] parameter(0) flat = f32[60] reshape(x) back = f32[60] reverse(flat), dimensions={0}
ROOT cut = f32[4,15] reshape(back)
# two results
x = s32[6,10] parameter(0) y = s32[6,10] multiply(x, x) z = f32[6,10] convert(x)
t = f32[10,6] transpose(z), dimensions={1,0} ROOT both = (s32[6,10], f32[10,6]) tuple(y, t)
# layouts
x = f32[6,10]{0,1} parameter(0) c = f32[6,10]{1,0} copy(x)
ROOT s = f32[3,5]{0,1} slice(c), slice={[0:6:2], [1:10:2]}
# one element
x = f32[] parameter(0) ROOT y = f32[] tanh(x)
# names of C
float = f32[3] parameter(0) int.1 = f32[3] negate(float) ROOT d0 = f32[3] sine(int.1)
# names of functions of C
expf = f32[3] parameter(0) NAN = f32[3] exponential(expf) ROOT tanhf = f32[3] tanh(NAN)
# a long row
x = f32[3,2500] parameter(0) low = f32[] constant(-inf)
peak = f32[3] reduce(x, low), dimensions={1}, to_apply=max
peaks = f32[3,2500] broadcast(peak), dimensions={0} ROOT less = f32[3,2500] subtract(x, peaks)
# a long row with places
x = f32[2,1100] parameter(0) low = f32[] constant(-inf)
i = s32[2,1100] iota(), iota_dimension=1 none = s32[] constant(-1)
ROOT r = (f32[2], s32[2]) reduce(x, i, low, none), dimensions={1}, to_apply=arg
# columns that are read again
x = f32[9,40] parameter(0) zero = f32[] constant(0)
total = f32[40] reduce(x, zero), dimensions={0}, to_apply=add
totals = f32[9,40] broadcast(total), dimensions={1} ROOT less = f32[9,40] subtract(x, totals)
# all elements
x = f32[30,50] parameter(0) one = f32[] constant(1)
ROOT r = f32[] reduce(x, one), dimensions={0,1}, to_apply=add
# results of several sizes
x = f32[5,700] parameter(0) zero = f32[] constant(0)
total = f32[5] reduce(x, zero), dimensions={1}, to_apply=add
y = f32[5,700] negate(x) ROOT both = (f32[5], f32[5,700]) tuple(total, y)
# names of functions
max = f32[8] parameter(0) zero = f32[] constant(0)
range = f32[8] negate(max) kernel = f32[8] exponential(range)
ROOT add = f32[] reduce(kernel, zero), dimensions={0}, to_apply=add
# padded before it is reduced
x = f32[4,8] parameter(0) c = f32[] constant(3)
zero = f32[] constant(0) d = f32[4,10] pad(x, c), padding=0_0x1_1
ROOT r = f32[4] reduce(d, zero), dimensions={1}, to_apply=add
# a slice from a place that is clamped
x = f32[7,9] parameter(0) i = s32[] parameter(1) j = s32[] negate(i) k = s32[] constant(8)
ROOT s = f32[3,4] dynamic-slice(x, k, j), dynamic_slice_sizes={3,4}
# an update, and what is read of it
x = f32[7,9] parameter(0) u = f32[3,4] parameter(1) i = s64[] parameter(2) c = s64[] constant(4)
n = f32[3,4] negate(u) y = f32[7,9] exponential(x)
s = f32[7,9] dynamic-update-slice(y, n, i, c) ROOT t = f32[9,7] transpose(s), dimensions={1,0}
# rows by computed places
x = f32[6,5] parameter(0) i = s32[40] parameter(1) c = s32[40] iota(), iota_dimension=0
j = s32[40] subtract(c, i) g = f32[40,5] gather(x, j), offset_dims={1}, collapsed_slice_dims={0},
start_index_map={0}, index_vector_dim=1, slice_sizes={1,5} ROOT n = f32[40,5] negate(g)
# windows by places in two dimensions, reduced
x = f32[6,5] parameter(0) i = s32[3,2] parameter(1) zero = f32[] constant(0)
g = f32[3,2,3] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1,0},
index_vector_dim=1, slice_sizes={2,3}
ROOT r = f32[3,2] reduce(g, zero), dimensions={2}, to_apply=add
# a product of matrices with a bias
x = f32[40,21] parameter(0) y = f32[21,35] parameter(1) b = f32[35] parameter(2)
n = f32[40,21] negate(x)
p = f32[40,35] dot(n, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
c = f32[40,35] broadcast(b), dimensions={1} ROOT s = f32[40,35] add(p, c)
# products of transposed matrices in a batch, and their transpose
x = f32[3,20,17] parameter(0) y = f32[3,18,20] parameter(1)
p = f32[3,17,18] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1},
rhs_contracting_dims={2} ROOT t = f32[18,3,17] transpose(p), dimensions={2,0,1}
# a product of a product
x = f32[17,16] parameter(0) y = f32[16,30] parameter(1) z = f32[30,20] parameter(2)
p = f32[17,30] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
m = f32[17,30] tanh(p)
ROOT q = f32[17,20] dot(m, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
# products of a vector, of scalars, and of integers
x = f32[5] parameter(0) y = f32[5,6] parameter(1)
a = s8[3,70] parameter(2) b = s8[70,4] parameter(3)
p = f32[6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
q = f32[5,5] dot(x, x), lhs_contracting_dims={}, rhs_contracting_dims={}
r = s32[3,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ROOT t = (f32[6], f32[5,5], s32[3,4]) tuple(p, q, r)
# a convolution
x = f32[2,9,8,3] parameter(0) k = f32[3,2,3,20] parameter(1)
ROOT c = f32[2,5,8,20] convolution(x, k), dim_labels=b01f_01io->b01f,
window={size=3x2 stride=2x1 pad=1_1x0_1 rhs_reversal=1x0}
# a convolution of groups
x = f32[2,7,6] parameter(0) k = f32[3,2,9] parameter(1)
ROOT c = f32[2,9,9] convolution(x, k), dim_labels=b0f_0io->b0f, feature_group_count=3,
window={size=3 pad=2_2}
# what is called
x = f32[5] parameter(0) y = f32[5] negate(x)
both = (f32[5], f32[5]) call(y, x), to_apply=pair z = f32[5] get-tuple-element(both), index=1
t = (f32[5], f32[5]) tuple(z, x) ROOT r = (f32[5], (f32[5], f32[5])) tuple(y, t)
# bits of numbers
x = f32[9] parameter(0) i = s32[9] bitcast-convert(x) c = s32[9] iota(), iota_dimension=0
j = s32[9] shift-right-arithmetic(i, c) k = s32[9] shift-left(i, c)
l = s32[9] shift-right-logical(i, i) n = s32[9] xor(j, k) m = s32[9] popcnt(n)
z = s32[9] count-leading-zeros(j) h = f16[9] convert(x) b = s16[9] bitcast-convert(h)
ROOT t = (s32[9], s32[9], s32[9], s16[9]) tuple(l, m, z, b)
# quotients of integers
x = s8[90] iota(), iota_dimension=0 a = s8[] parameter(0) b = s8[90] broadcast(a), dimensions={}
l = s8[] constant(-128) c = s8[90] broadcast(l), dimensions={} y = s8[90] subtract(x, b)
n = s8[] constant(-2)
m = s8[90] broadcast(n), dimensions={} z = s8[90] add(y, m) q = s8[90] divide(x, z)
r = s8[90] remainder(x, z) d = s8[90] divide(c, z) u = u8[90] convert(z) v = u8[90] convert(x)
w = u8[90] divide(v, u) e = u8[90] remainder(v, u)
ROOT t = (s8[90], s8[90], s8[90], u8[90], u8[90]) tuple(q, r, d, w, e)
# floats as integers
x = f32[40] parameter(0) c = f32[] constant(1e10) d = f32[40] broadcast(c), dimensions={}
y = f32[40] multiply(x, d) z = f32[] constant(0) o = f32[40] broadcast(z), dimensions={}
n = f32[40] divide(o, o) a = s32[40] convert(y) b = u8[40] convert(x) e = s64[40] convert(n)
ROOT t = (s32[40], u8[40], s64[40]) tuple(a, b, e)
# a scalar that is chosen
x = f32[4] parameter(0) y = f32[1] parameter(1)
b = f32[4] concatenate(y, y, y, y), dimensions={0} ROOT r = f32[4] add(x, b)
""")
BORDERS = texts("""
# shifted and cut
p = f32[3,6,9] pad(x, c), padding=0_0x1_0x2_0
ROOT s = f32[3,6,7] slice(p), slice={[0:3], [0:6], [1:8]}
# cut in front
p = f32[3,7,9] pad(x, c), padding=0_0x1_1x2_0
ROOT s = f32[2,6,5] slice(p), slice={[1:3], [1:7], [4:9]}
# whole rows
ROOT p = f32[3,8,7] pad(x, c), padding=0_0x1_2x0_0
# whole rows, cut
p = f32[3,8,7] pad(x, c), padding=0_0x1_2x0_0
ROOT s = f32[3,5,6] slice(p), slice={[0:3], [3:8], [1:7]}
# in front only
ROOT p = f32[4,5,7] pad(x, c), padding=1_0x0_0x0_0
# negative
ROOT p = f32[3,4,9] pad(x, c), padding=0_0x-1_0x1_1
# turned
p = f32[3,5,9] pad(x, c), padding=0_0x0_0x1_1 ROOT t = f32[9,3,5] transpose(p), dimensions={2,0,1}
# laid out in another order
p = f32[3,5,9] pad(x, c), padding=0_0x0_0x1_1 ROOT t = f32[3,5,9]{0,1,2} copy(p)
# padded columns
ROOT p = f32[3,6,9]{0,2,1} pad(x, c), padding=0_0x1_0x1_1
# with holes
ROOT p = f32[3,9,9] pad(x, c), padding=0_0x0_0_1x1_1
# backwards
p = f32[3,5,9] pad(x, c), padding=0_0x0_0x2_0 ROOT r = f32[3,5,9] reverse(p), dimensions={2}
# as one row
p = f32[3,5,9] pad(x, c), padding=0_0x0_0x2_0 ROOT r = f32[135] reshape(p)
# of a sum
y = f32[3,5,7] add(x, x) ROOT p = f32[3,6,9] pad(y, c), padding=0_0x1_0x1_1
""")
"""What is written of an array ``x`` of ``f32[3,5,7]`` and a border ``c``."""

ANGLES = """x = f32[9] parameter(0) a = f32[9] sinh(x) b = f32[9] cosh(a) c = f32[9] asinh(b)
d = f32[9] acosh(b) e = f32[9] atan(d) f = f32[9] tanh(x) g = f32[9] atanh(f) h = f32[9] asin(f)
i = f32[9] acos(f) ROOT t = (f32[9], f32[9], f32[9], f32[9], f32[9]) tuple(c, e, g, h, i)"""
"""Opcodes that the XLA of JAX does not run yet."""

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


JOINED = texts_with_values("""
# all that is read moves along them as along one | [30, 7]
x = f32[5,6,7] parameter(0) y = f32[7] parameter(1)
b = f32[5,6,7] broadcast(y), dimensions={2} ROOT s = f32[5,6,7] add(x, b)
# what is read twice is read once | [5, 42]
x = f32[5,6,7] parameter(0) y = f32[5] parameter(1)
b = f32[5,6,7] broadcast(y), dimensions={0} ROOT s = f32[5,6,7] add(x, b)
# an index that counts one of them | [5, 6]
x = f32[5,6] parameter(0) i = f32[5,6] iota(), iota_dimension=1 ROOT s = f32[5,6] add(x, i)
# a border | [5, 7, 7]
x = f32[5,6,7] parameter(0) y = f32[5,1,7] parameter(1)
ROOT s = f32[5,7,7] concatenate(x, y), dimensions={1}
""")
"""Arrays of several dimensions, and the loops that are left in C."""


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
