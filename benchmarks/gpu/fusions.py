"""Thirty fusions, each as HLO and as an expression of PyTorch.

>>> print(fusion("row maximum", 4, 8))
fusion of %main that reads %x
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from ops import Fusion, hlo

ARGUMENTS: Final = {"x": "f32[{n},{m}]", "y": "f32[{n},{m}]", "b": "f32[{m}]", "c": "f32[{n}]"}
"""The arrays that an expression may name."""

_REDUCERS: Final = """HloModule fusions
top { a = f32[] parameter(0) o = f32[] parameter(1) ROOT m = f32[] maximum(a, o) }
sum { a = f32[] parameter(0) o = f32[] parameter(1) ROOT s = f32[] add(a, o) }
"""


def arguments(name: str) -> list[str]:
    """The arrays that a fusion reads, in order."""
    words = {*re.findall(r"[a-z_]+", EXPRESSIONS[name])}
    return [each for each in ARGUMENTS if each in words]


def fusion(name: str, n: int, m: int) -> Fusion:
    """The fusion on arrays of ``n`` rows and ``m`` columns."""
    lines = [
        f"{each} = {ARGUMENTS[each].format(n=n, m=m)} parameter({number})"
        for number, each in enumerate(arguments(name))
    ]
    text = "\n".join([_REDUCERS, "ENTRY main {", *lines, _bodies(n, m)[name], "}"])
    return Fusion.of_computation(hlo.parse(text).entry)


EXPRESSIONS: Final = {
    "add": "x + y",
    "scale and shift": "x * 2 + 1",
    "exponential": "torch.exp(x)",
    "hyperbolic tangent": "torch.tanh(x)",
    "relu": "torch.relu(x)",
    "sigmoid": "torch.sigmoid(x)",
    "add a bias": "x + b",
    "scale rows": "x * c[:, None]",
    "lesser": "torch.where(x < y, x, y)",
    "add, scale, relu": "torch.relu((x + y) * b)",
    "gelu with bias": "functional.gelu(x + b, approximate='tanh')",
    "transpose": "x.t().contiguous()",
    "transpose and add": "x.t() + c",
    "heads first": "x.view(len(x), 8, -1).transpose(0, 1).contiguous()",
    "reverse": "x.flip(1)",
    "every second column": "x[:, ::2].contiguous()",
    "rows but the first": "x[1:].contiguous()",
    "pad": "functional.pad(x, (1, 2))",
    "concatenate": "torch.cat([x, y], 1)",
    "interleave": "torch.stack([x, y], 2)",
    "broadcast": "b.expand(len(c), -1) + c[:, None]",
    "rotate half": "torch.cat([-x[:, x.shape[1] // 2 :], x[:, : x.shape[1] // 2]], 1)",
    "row sum": "x.sum(1)",
    "column sum": "x.sum(0)",
    "row maximum": "x.amax(1)",
    "mean square": "(x * x).mean(1)",
    "softmax": "torch.softmax(x, 1)",
    "log of sum of exponentials": "torch.logsumexp(x, 1)",
    "rms norm": "x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1) * b",
    "layer norm": "functional.layer_norm(x, x.shape[1:], b, None, 1.0)",
}
"""In PyTorch, by the names of the fusions."""


@cache
def _bodies(n: int, m: int) -> dict[str, str]:
    """In HLO, by the names of the fusions."""
    return {**_elementwise(n, m), **_moves(n, m), **_reductions(n, m)}


def _constants(shape: str, *numbers: float) -> str:
    """Numbers as ``k0 k1 ...``, and as arrays ``K0 K1 ...``."""
    return "\n".join(
        f"k{place} = f32[] constant({number}) "
        f"K{place} = {shape} broadcast(k{place}), dimensions={{}}"
        for place, number in enumerate(numbers)
    )


def _elementwise(n: int, m: int) -> dict[str, str]:
    all_ = f"f32[{n},{m}]"
    biases = f"biases = {all_} broadcast(b), dimensions={{1}}"
    return {
        "add": f"ROOT r = {all_} add(x, y)",
        "scale and shift": f"""{_constants(all_, 2, 1)} s = {all_} multiply(x, K0)
            ROOT r = {all_} add(s, K1)""",
        "exponential": f"ROOT r = {all_} exponential(x)",
        "hyperbolic tangent": f"ROOT r = {all_} tanh(x)",
        "relu": f"{_constants(all_, 0)} ROOT r = {all_} maximum(x, K0)",
        "sigmoid": f"ROOT r = {all_} logistic(x)",
        "add a bias": f"{biases} ROOT r = {all_} add(x, biases)",
        "scale rows": f"""s = {all_} broadcast(c), dimensions={{0}}
            ROOT r = {all_} multiply(x, s)""",
        "lesser": f"""less = pred[{n},{m}] compare(x, y), direction=LT
            ROOT r = {all_} select(less, x, y)""",
        "add, scale, relu": f"""{_constants(all_, 0)} {biases} s = {all_} add(x, y)
            t = {all_} multiply(s, biases) ROOT r = {all_} maximum(t, K0)""",
        "gelu with bias": f"""{_constants(all_, 0.5, 1, 0.044715, 0.7978845608)} {biases}
            v = {all_} add(x, biases) square = {all_} multiply(v, v)
            cube = {all_} multiply(square, v) small = {all_} multiply(cube, K2)
            inner = {all_} add(v, small) scaled = {all_} multiply(inner, K3)
            bent = {all_} tanh(scaled) up = {all_} add(bent, K1)
            share = {all_} multiply(up, K0) ROOT r = {all_} multiply(v, share)""",
    }


def _moves(n: int, m: int) -> dict[str, str]:
    all_, half = f"f32[{n},{m}]", m // 2
    biases = f"biases = {all_} broadcast(b), dimensions={{1}}"
    return {
        "transpose": f"ROOT r = f32[{m},{n}] transpose(x), dimensions={{1,0}}",
        "transpose and add": f"""t = f32[{m},{n}] transpose(x), dimensions={{1,0}}
            s = f32[{m},{n}] broadcast(c), dimensions={{1}} ROOT r = f32[{m},{n}] add(t, s)""",
        "heads first": f"""h = f32[{n},8,{m // 8}] reshape(x)
            ROOT r = f32[8,{n},{m // 8}] transpose(h), dimensions={{1,0,2}}""",
        "reverse": f"ROOT r = {all_} reverse(x), dimensions={{1}}",
        "every second column": f"ROOT r = f32[{n},{half}] slice(x), slice={{[0:{n}], [0:{m}:2]}}",
        "rows but the first": f"ROOT r = f32[{n - 1},{m}] slice(x), slice={{[1:{n}], [0:{m}]}}",
        "pad": f"z = f32[] constant(0) ROOT r = f32[{n},{m + 3}] pad(x, z), padding=0_0x1_2",
        "concatenate": f"ROOT r = f32[{n},{2 * m}] concatenate(x, y), dimensions={{1}}",
        "interleave": f"""p = f32[{n},{m},1] reshape(x) q = f32[{n},{m},1] reshape(y)
            ROOT r = f32[{n},{m},2] concatenate(p, q), dimensions={{2}}""",
        "broadcast": f"""{biases} s = {all_} broadcast(c), dimensions={{0}}
            ROOT r = {all_} add(biases, s)""",
        "rotate half": f"""p = f32[{n},{half}] slice(x), slice={{[0:{n}], [0:{half}]}}
            q = f32[{n},{half}] slice(x), slice={{[0:{n}], [{half}:{m}]}}
            o = f32[{n},{half}] negate(q)
            ROOT r = {all_} concatenate(o, p), dimensions={{1}}""",
    }


def _reductions(n: int, m: int) -> dict[str, str]:
    all_, row, column = f"f32[{n},{m}]", f"f32[{m}]", f"f32[{n}]"
    biases = f"biases = {all_} broadcast(b), dimensions={{1}}"
    peak = f"""low = f32[] constant(-inf) zero = f32[] constant(0)
        peak = {column} reduce(x, low), dimensions={{1}}, to_apply=top
        peaks = {all_} broadcast(peak), dimensions={{0}}
        moved = {all_} subtract(x, peaks) power = {all_} exponential(moved)
        total = {column} reduce(power, zero), dimensions={{1}}, to_apply=sum"""
    mean_square = f"""zero = f32[] constant(0) share = f32[] constant({1 / m!r})
        shares = {column} broadcast(share), dimensions={{}}
        square = {all_} multiply(x, x)
        total = {column} reduce(square, zero), dimensions={{1}}, to_apply=sum"""
    return {
        "row sum": f"""z = f32[] constant(0)
            ROOT r = {column} reduce(x, z), dimensions={{1}}, to_apply=sum""",
        "column sum": f"""z = f32[] constant(0)
            ROOT r = {row} reduce(x, z), dimensions={{0}}, to_apply=sum""",
        "row maximum": f"""low = f32[] constant(-inf)
            ROOT r = {column} reduce(x, low), dimensions={{1}}, to_apply=top""",
        "mean square": f"{mean_square} ROOT r = {column} multiply(total, shares)",
        "softmax": f"""{peak} totals = {all_} broadcast(total), dimensions={{0}}
            ROOT r = {all_} divide(power, totals)""",
        "log of sum of exponentials": f"""{peak} l = {column} log(total)
            ROOT r = {column} add(l, peak)""",
        "rms norm": f"""{mean_square} {_constants(all_, 1)} {biases}
            mean = {column} multiply(total, shares)
            means = {all_} broadcast(mean), dimensions={{0}} more = {all_} add(means, K0)
            scale = {all_} rsqrt(more) s = {all_} multiply(x, scale)
            ROOT r = {all_} multiply(s, biases)""",
        "layer norm": f"""{_constants(all_, 1)} zero = f32[] constant(0) {biases}
            share = f32[] constant({1 / m!r}) shares = {column} broadcast(share), dimensions={{}}
            total = {column} reduce(x, zero), dimensions={{1}}, to_apply=sum
            mean = {column} multiply(total, shares)
            means = {all_} broadcast(mean), dimensions={{0}} moved = {all_} subtract(x, means)
            square = {all_} multiply(moved, moved)
            squares = {column} reduce(square, zero), dimensions={{1}}, to_apply=sum
            deviation = {column} multiply(squares, shares)
            deviations = {all_} broadcast(deviation), dimensions={{0}}
            more = {all_} add(deviations, K0) scale = {all_} rsqrt(more)
            s = {all_} multiply(moved, scale) ROOT r = {all_} multiply(s, biases)""",
    }
