"""Kernels of Triton as an expert writes them, and the programs of XLA that they compute.

>>> [kernel.name for kernel in KERNELS[:2]]
['layer norm', 'rms norm']
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ops import Fusion, hlo

_HEAD: Final = """import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
"""

_REDUCERS: Final = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
"""


@dataclass(frozen=True)
class HandWritten:
    """A kernel by hand.

    Attributes:
        name: what it computes.
        body: the instructions of the same in HLO.
        programs: so many are started.
        function: the function ``kernel`` in Triton.
    """

    name: str
    body: str
    programs: tuple[int, ...]
    function: str

    @cached_property
    def fusion(self) -> Fusion:
        """What the kernel computes."""
        return Fusion.of_computation(hlo.parse(f"{_REDUCERS}\nENTRY e {{ {self.body} }}").entry)

    @property
    def text(self) -> str:
        """The file of the kernel."""
        return _HEAD + self.function


_MEAN: Final = """
    zero = f32[] constant(0) part = f32[] constant(0.0009765625)
    parts = f32[256] broadcast(part), dimensions={}"""

KERNELS: Final = (
    HandWritten(
        "layer norm",
        f"""x = f32[256,1024] parameter(0) gain = f32[1024] parameter(1)
    bias = f32[1024] parameter(2) {_MEAN}
    total = f32[256] reduce(x, zero), dimensions={{1}}, to_apply=add
    mean = f32[256] multiply(total, parts)
    means = f32[256,1024] broadcast(mean), dimensions={{0}}
    less = f32[256,1024] subtract(x, means) square = f32[256,1024] multiply(less, less)
    squares = f32[256] reduce(square, zero), dimensions={{1}}, to_apply=add
    variance = f32[256] multiply(squares, parts)
    small = f32[] constant(1e-5) smalls = f32[256] broadcast(small), dimensions={{}}
    above = f32[256] add(variance, smalls) scale = f32[256] rsqrt(above)
    scales = f32[256,1024] broadcast(scale), dimensions={{0}}
    gains = f32[256,1024] broadcast(gain), dimensions={{1}}
    biases = f32[256,1024] broadcast(bias), dimensions={{1}}
    normal = f32[256,1024] multiply(less, scales) scaled = f32[256,1024] multiply(normal, gains)
    ROOT y = f32[256,1024] add(scaled, biases)""",
        (256,),
        """def kernel(x_ptr, gain_ptr, bias_ptr, y_ptr):
    row = tl.program_id(0)
    column = tl.arange(0, 1024)
    x = tl.load(x_ptr + row * 1024 + column)
    mean = tl.sum(x, axis=0) / 1024
    less = x - mean
    variance = tl.sum(less * less, axis=0) / 1024
    scale = tl.rsqrt(variance + 1e-5)
    gain = tl.load(gain_ptr + column)
    bias = tl.load(bias_ptr + column)
    tl.store(y_ptr + row * 1024 + column, less * scale * gain + bias)
""",
    ),
    HandWritten(
        "rms norm",
        f"""x = f32[256,1024] parameter(0) gain = f32[1024] parameter(1) {_MEAN}
    square = f32[256,1024] multiply(x, x)
    squares = f32[256] reduce(square, zero), dimensions={{1}}, to_apply=add
    mean = f32[256] multiply(squares, parts)
    small = f32[] constant(1e-6) smalls = f32[256] broadcast(small), dimensions={{}}
    above = f32[256] add(mean, smalls) scale = f32[256] rsqrt(above)
    scales = f32[256,1024] broadcast(scale), dimensions={{0}}
    gains = f32[256,1024] broadcast(gain), dimensions={{1}}
    normal = f32[256,1024] multiply(x, scales) ROOT y = f32[256,1024] multiply(normal, gains)""",
        (256,),
        """def kernel(x_ptr, gain_ptr, y_ptr):
    row = tl.program_id(0)
    column = tl.arange(0, 1024)
    x = tl.load(x_ptr + row * 1024 + column)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / 1024 + 1e-6)
    gain = tl.load(gain_ptr + column)
    tl.store(y_ptr + row * 1024 + column, x * scale * gain)
""",
    ),
    HandWritten(
        "softmax",
        """x = f32[256,1000] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
    peak = f32[256] reduce(x, low), dimensions={1}, to_apply=max
    peaks = f32[256,1000] broadcast(peak), dimensions={0}
    less = f32[256,1000] subtract(x, peaks) grown = f32[256,1000] exponential(less)
    total = f32[256] reduce(grown, zero), dimensions={1}, to_apply=add
    totals = f32[256,1000] broadcast(total), dimensions={0}
    ROOT y = f32[256,1000] divide(grown, totals)""",
        (256,),
        """def kernel(x_ptr, y_ptr):
    row = tl.program_id(0)
    column = tl.arange(0, 1024)
    is_inside = column < 1000
    x = tl.load(x_ptr + row * 1000 + column, mask=is_inside, other=-float("inf"))
    grown = tl.exp(x - tl.max(x, axis=0))
    total = tl.sum(grown, axis=0)
    tl.store(y_ptr + row * 1000 + column, grown / total, mask=is_inside)
""",
    ),
    HandWritten(
        "transpose",
        """x = f32[512,256] parameter(0)
    ROOT y = f32[256,512] transpose(x), dimensions={1,0}""",
        (16, 8),
        """def kernel(x_ptr, y_ptr):
    rows = tl.program_id(0) * 32 + tl.arange(0, 32)
    columns = tl.program_id(1) * 32 + tl.arange(0, 32)
    x = tl.load(x_ptr + rows[:, None] * 256 + columns[None, :])
    tl.store(y_ptr + columns[:, None] * 512 + rows[None, :], tl.trans(x))
""",
    ),
    HandWritten(
        "rope",
        """x = f32[2,4,128,64] parameter(0) cosine = f32[128,64] parameter(1)
    sine = f32[128,64] parameter(2)
    first = f32[2,4,128,32] slice(x), slice={[0:2], [0:4], [0:128], [0:32]}
    second = f32[2,4,128,32] slice(x), slice={[0:2], [0:4], [0:128], [32:64]}
    turned = f32[2,4,128,32] negate(second)
    both = f32[2,4,128,64] concatenate(turned, first), dimensions={3}
    cosines = f32[2,4,128,64] broadcast(cosine), dimensions={2,3}
    sines = f32[2,4,128,64] broadcast(sine), dimensions={2,3}
    kept = f32[2,4,128,64] multiply(x, cosines) moved = f32[2,4,128,64] multiply(both, sines)
    ROOT y = f32[2,4,128,64] add(kept, moved)""",
        (8, 8),
        """def kernel(x_ptr, cosine_ptr, sine_ptr, y_ptr):
    head = tl.program_id(0)
    position = (tl.program_id(1) * 16 + tl.arange(0, 16))[:, None]
    lane = tl.arange(0, 32)[None, :]
    table = position * 64 + lane
    place = head * (128 * 64) + table
    first = tl.load(x_ptr + place)
    second = tl.load(x_ptr + place + 32)
    cosine = tl.load(cosine_ptr + table)
    sine = tl.load(sine_ptr + table)
    tl.store(y_ptr + place, first * cosine - second * sine)
    cosine = tl.load(cosine_ptr + table + 32)
    sine = tl.load(sine_ptr + table + 32)
    tl.store(y_ptr + place + 32, second * cosine + first * sine)
""",
    ),
    HandWritten(
        "gelu with bias",
        """x = f32[256,1024] parameter(0) bias = f32[1024] parameter(1)
    biases = f32[256,1024] broadcast(bias), dimensions={1} z = f32[256,1024] add(x, biases)
    root = f32[] constant(0.70710678) roots = f32[256,1024] broadcast(root), dimensions={}
    one = f32[] constant(1) ones = f32[256,1024] broadcast(one), dimensions={}
    half = f32[] constant(0.5) halves = f32[256,1024] broadcast(half), dimensions={}
    less = f32[256,1024] multiply(z, roots) error = f32[256,1024] erf(less)
    grown = f32[256,1024] add(error, ones) part = f32[256,1024] multiply(z, halves)
    ROOT y = f32[256,1024] multiply(part, grown)""",
        (256,),
        """def kernel(x_ptr, bias_ptr, y_ptr):
    place = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    z = tl.load(x_ptr + place) + tl.load(bias_ptr + place % 1024)
    tl.store(y_ptr + place, 0.5 * z * (1 + tl.erf(z * 0.70710678)))
""",
    ),
    HandWritten(
        "reduce rows",
        """x = f32[256,1024] parameter(0) zero = f32[] constant(0)
    ROOT y = f32[256] reduce(x, zero), dimensions={1}, to_apply=add""",
        (256,),
        """def kernel(x_ptr, y_ptr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * 1024 + tl.arange(0, 1024))
    tl.store(y_ptr + row, tl.sum(x, axis=0))
""",
    ),
    HandWritten(
        "reduce columns",
        """x = f32[1024,256] parameter(0) zero = f32[] constant(0)
    ROOT y = f32[256] reduce(x, zero), dimensions={0}, to_apply=add""",
        (8,),
        """def kernel(x_ptr, y_ptr):
    columns = tl.program_id(0) * 32 + tl.arange(0, 32)
    rows = tl.arange(0, 32)
    total = tl.zeros((32, 32), tl.float32)
    for start in range(0, 1024, 32):
        total += tl.load(x_ptr + (start + rows[:, None]) * 256 + columns[None, :])
    tl.store(y_ptr + columns, tl.sum(total, axis=0))
""",
    ),
    HandWritten(
        "pad",
        """x = f32[62,1000] parameter(0) c = f32[] constant(3)
    ROOT y = f32[64,1024] pad(x, c), padding=1_1x12_12""",
        (64,),
        """def kernel(x_ptr, y_ptr):
    row = tl.program_id(0)
    column = tl.arange(0, 1024)
    is_inside = (row >= 1) & (row < 63) & (column >= 12) & (column < 1012)
    place = (row - 1) * 1000 + column - 12
    x = tl.load(x_ptr + place, mask=is_inside, other=3.0)
    tl.store(y_ptr + row * 1024 + column, x)
""",
    ),
    HandWritten(
        "concatenate",
        """x = f32[64,256] parameter(0) z = f32[64,768] parameter(1)
    ROOT y = f32[64,1024] concatenate(x, z), dimensions={1}""",
        (64,),
        """def kernel(x_ptr, z_ptr, y_ptr):
    row = tl.program_id(0)
    column = tl.arange(0, 1024)
    is_first = column < 256
    x = tl.load(x_ptr + row * 256 + column, mask=is_first, other=0.0)
    z = tl.load(z_ptr + row * 768 + column - 256, mask=column >= 256, other=0.0)
    tl.store(y_ptr + row * 1024 + column, tl.where(is_first, x, z))
""",
    ),
    HandWritten(
        "reduce-window",
        """x = f32[2,56,56,64] parameter(0) low = f32[] constant(-inf)
    ROOT y = f32[2,28,28,64] reduce-window(x, low),
    window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0}, to_apply=max""",
        (2 * 28, 2),
        """def kernel(x_ptr, y_ptr):
    row = tl.program_id(0)
    columns = (tl.program_id(1) * 16 + tl.arange(0, 16))[:, None]
    channels = tl.arange(0, 64)[None, :]
    is_column = columns < 28
    image = row // 28
    best = tl.full((16, 64), -float("inf"), tl.float32)
    for i in tl.static_range(3):
        from_row = row % 28 * 2 + i - 1
        for j in tl.static_range(3):
            from_column = columns * 2 + j - 1
            is_inside = (from_row >= 0) & (from_column >= 0) & is_column
            place = ((image * 56 + from_row) * 56 + from_column) * 64 + channels
            x = tl.load(x_ptr + place, mask=is_inside, other=-float("inf"))
            best = tl.maximum(best, x, propagate_nan=tl.PropagateNan.ALL)
    tl.store(y_ptr + (row * 28 + columns) * 64 + channels, best, mask=is_column)
""",
    ),
)
