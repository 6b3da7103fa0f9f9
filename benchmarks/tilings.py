"""Prints how many tile sizes of a fusion are judged in a second.

python -m benchmarks.tilings
"""

from __future__ import annotations

from typing import Final

from benchmarks.clock import timed
from ops import Fusion, hlo, tilings
from ops.performance import A100

_REDUCERS: Final = """
top { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"""

_BODIES: Final = {
    "softmax": """x = f32[4096,8192] parameter(0)
        lowest = f32[] constant(-inf) zero = f32[] constant(0)
        peak = f32[4096] reduce(x, lowest), dimensions={1}, to_apply=top
        peaks = f32[4096,8192] broadcast(peak), dimensions={0}
        power = f32[4096,8192] subtract(x, peaks)
        total = f32[4096] reduce(power, zero), dimensions={1}, to_apply=sum
        totals = f32[4096,8192] broadcast(total), dimensions={0}
        ROOT share = f32[4096,8192] divide(power, totals)""",
    "dot": """x = bf16[4096,8192] parameter(0) y = bf16[8192,4096] parameter(1)
        ROOT d = f32[4096,4096] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    "transpose": """x = f32[64,512,512] parameter(0)
        ROOT t = f32[512,64,512] transpose(x), dimensions={2,0,1}""",
}


def main() -> None:
    """Print a line for each fusion."""
    print(f"{'fusion':<10} {'candidates':>10} {'fit':>6} {'ms':>8} {'a second':>10}")
    for name, body in _BODIES.items():
        module = hlo.parse(f"HloModule m{_REDUCERS}\nENTRY e {{ {body} }}")
        fusion = Fusion.of_computation(module.entry)
        found, seconds = timed(lambda fusion=fusion: tilings(fusion, A100))
        figures = f"{found.considered:>10} {len(found):>6} {1000 * seconds:>8.1f}"
        print(f"{name:<10} {figures} {found.considered / seconds:>10.0f}")


if __name__ == "__main__":
    main()
