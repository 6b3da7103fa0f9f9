"""Advice on values that a kernel computes again for each element that needs them."""

from __future__ import annotations

from typing import Final

import pytest

from ops import hlo
from ops.advice import advise
from ops.advice.kernels import evaluations
from tests.advice.mended import ADD, check_equal_results
from tests.cases import for_all, rows

SOFTMAX: Final = """most { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b) }
f { p = f32[32,64] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
  m = f32[32] reduce(p, low), dimensions={1}, to_apply=most
  mb = f32[32,64] broadcast(m), dimensions={0} d = f32[32,64] subtract(p, mb)
  e = f32[32,64] exponential(d) s = f32[32] reduce(e, zero), dimensions={1}, to_apply=add
  sb = f32[32,64] broadcast(s), dimensions={0} ROOT r = f32[32,64] divide(e, sb) }
ENTRY main { p = f32[32,64] parameter(0) ROOT r = f32[32,64] fusion(p), calls=f, """


def softmax(kind: str) -> hlo.HloModule:
    return hlo.parse(f"{ADD}{SOFTMAX}kind={kind} }}")


def test_a_softmax_in_a_loop_ends_at_both_of_its_sums_and_in_a_block_at_none() -> None:
    (found,) = advise(softmax("kLoop"))
    assert found.mend == "End a fusion at %m and %s."
    assert (found.before, found.after) == (32 * 64 * (64 + 1), 32 * 64 * 2)
    assert not advise(softmax("kCustom"))
    times = {each.name: n for each, n in evaluations(softmax("kLoop").entry.root).items()}
    assert (times["e"], times["s"]) == (32 * 64 * (64 + 1), 32 * 64)


def under_broadcast(chain: str, *, sizes: str = "2048", dimensions: str = "1") -> str:
    """A module with a chain from a vector %v to %w under a broadcast."""
    return f"""f {{ v = f32[{sizes}] parameter(0) x = f32[512,2048] parameter(1) {chain}
        b = f32[512,2048] broadcast(w), dimensions={{{dimensions}}}
        ROOT m = f32[512,2048] multiply(x, b) }}
      ENTRY main {{ v = f32[{sizes}] parameter(0) x = f32[512,2048] parameter(1)
        ROOT f = f32[512,2048] fusion(v, x), kind=kLoop, calls=f }}"""


def powers(sizes: str, last: str) -> str:
    array = f"f32[{sizes}]"
    return f"t = {array} tanh(v) e = {array} exponential(t) u = {array} sine(e) {last}"


@for_all({
    "it costs less than to read it": under_broadcast("w = f32[2048] add(v, v)"),
    "one operation fits while the bytes move": under_broadcast("w = f32[2048] rsqrt(v)"),
    "a scalar": under_broadcast(powers("", "w = f32[] sine(u)"), sizes="", dimensions=""),
})  # fmt: skip
def test_what_costs_little_is_computed_again(module: str) -> None:
    assert not advise(hlo.parse(module))


NARROW: Final = powers("2048", "n = bf16[2048] convert(u) w = f32[2048] convert(n)")


def test_the_fewest_bytes_end_a_fusion_and_layers_that_are_alike_are_one_piece_of_advice() -> None:
    (found,) = advise(hlo.parse(under_broadcast(NARROW)))
    assert found.instruction.name == "n"
    assert (found.before, found.after) == (3 * 512 * 2048, 3 * 2048)
    assert found.price == "8,192 bytes more are moved."
    (found,) = advise(two_layers())
    assert (found.before, found.after) == (2 * 4 * 512 * 2048, 2 * 4 * 2048)
    assert found.why.endswith("So does %two.")


def two_layers() -> hlo.HloModule:
    body = under_broadcast(powers("2048", "w = f32[2048] tanh(u)")).split("ENTRY")[0]
    other = body.replace("f {", "g {", 1).replace("w =", "last =").replace("(w)", "(last)")
    return hlo.parse(f"""{body}{other} ENTRY main {{
      v = f32[2048] parameter(0) x = f32[512,2048] parameter(1) y = f32[512,2048] parameter(2)
      one = f32[512,2048] fusion(v, x), kind=kLoop, calls=f
      two = f32[512,2048] fusion(v, y), kind=kLoop, calls=g
      ROOT both = (f32[512,2048], f32[512,2048]) tuple(one, two) }}""")


@pytest.mark.needs("jax")
@pytest.mark.parametrize(
    "module", [softmax("kLoop"), hlo.parse(under_broadcast(NARROW)), two_layers()], ids=str
)
def test_mended_modules_give_equal_results(module: hlo.HloModule) -> None:
    for each in advise(module):
        check_equal_results(each)


@for_all(rows("""
r = f32[1024] reduce(p, z), FOLD w = f32[1024] negate(r) => steps of reductions
r = f32[1024] reduce(p, z), FOLD w = f32[1024] rsqrt(r) => steps of reductions
e = f32[1024,512] exponential(p) n = f32[1024,512] negate(e) w = f32[1024] reduce(n, z), FOLD
    exponentials
"""))  # fmt: skip
def test_those_operations_are_counted_that_are_most(chain: str, unit: str) -> None:
    chain = chain.replace("FOLD", "dimensions={1}, to_apply=add")
    module = hlo.parse(f"""{ADD} f {{ p = f32[1024,512] parameter(0) z = f32[] constant(0) {chain}
      b = f32[1024,512] broadcast(w), dimensions={{0}} ROOT d = f32[1024,512] subtract(p, b) }}
    ENTRY e {{ p = f32[1024,512] parameter(0)
      ROOT f = f32[1024,512] fusion(p), kind=kLoop, calls=f }}""")
    (found,) = advise(module)
    assert (found.unit, found.before, found.after) == (unit, 1024 * 512 * 512, 1024 * 512)
