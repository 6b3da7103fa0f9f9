"""Advice on fusions that are missing, and on results that are wider than what they are made of."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

from ops import hlo
from tests.advice.mended import ADD, advice_of, check_equal_results
from tests.cases import for_all, texts

HEAD: Final = """
up { p = bf16[256,512] parameter(0) s = bf16[256,512] sine(p) ROOT c = f32[256,512] convert(s) }
down { p = f32[256,512] parameter(0) c = bf16[256,512] convert(p) ROOT n = bf16[256,512] negate(c) }
waves { p = f32[256,512] parameter(0) ROOT s = f32[256,512] cosine(p) }
sums { p = f32[256,512] parameter(0) z = f32[] constant(0)
  ROOT r = f32[256] reduce(p, z), dimensions={1}, to_apply=add }
turned { p = f32[256,512] parameter(0) ROOT t = f32[512,256] transpose(p), dimensions={1,0} }
columns { p = f32[512,256] parameter(0) z = f32[] constant(0)
  ROOT r = f32[256] reduce(p, z), dimensions={0}, to_apply=add }
zeros { z = f32[] constant(0) ROOT b = f32[256,512] broadcast(z), dimensions={} }
part { x = f32[256,512] parameter(0) p = f32[8,512] parameter(1) z = s32[] constant(0)
  ROOT u = f32[256,512] dynamic-update-slice(x, p, z, z) }
"""


def module(entry: str) -> hlo.HloModule:
    parameters = "n = bf16[256,512] parameter(0) x = f32[256,512] parameter(1)"
    return hlo.parse(f"{ADD}{HEAD} ENTRY main {{ {parameters} {entry} }}")


READERS: Final = """ c = f32[256,512] fusion(n), kind=kLoop, calls=up
  a = f32[256,512] fusion(c), kind=kLoop, calls=waves
  b = f32[256] fusion(c), kind=kInput, calls=sums"""
WIDE: Final = module(f"{READERS} ROOT r = (f32[256,512], f32[256]) tuple(a, b)")
NARROW: Final = 256 * 512 * 2
"""Bytes of the narrow array."""

CONVERTED: Final = module("""s = f32[256,512] fusion(x), kind=kLoop, calls=waves
  a = bf16[256,512] fusion(s), kind=kLoop, calls=down b = bf16[256,512] convert(s)
  ROOT r = (bf16[256,512], bf16[256,512]) tuple(a, b)""")


found_in = partial(advice_of, ("dtype", "missing fusion"))


def test_what_is_read_or_written_narrow() -> None:
    (each,) = found_in(WIDE)
    assert (each.kind, each.mend) == ("dtype", "Let %a, %b convert what they read.")
    written = 2 * NARROW + 256 * 4
    assert (each.before, each.after) == ((1 + 2 + 2 * 2) * NARROW + written, 4 * NARROW + written)
    (each,) = found_in(CONVERTED)
    assert each.mend == "Let %s convert what it writes."
    assert (each.before, each.after) == ((2 + 2 + 3 + 3) * NARROW, (2 + 1 + 2) * NARROW)


@pytest.mark.needs("jax")
@pytest.mark.parametrize("wasteful", [WIDE, CONVERTED], ids=str)
def test_the_mended_module_gives_equal_results(wasteful: hlo.HloModule) -> None:
    (each,) = found_in(wasteful)
    check_equal_results(each)


@for_all({
    "a result": f"{READERS} ROOT r = (f32[256,512], f32[256], f32[256,512]) tuple(a, b, c)",
    **texts("""
    # in one kernel with the reduction the transpose would be a loop
    t = f32[512,256] fusion(x), kind=kInput, calls=turned
    ROOT r = f32[256] fusion(t), kind=kInput, calls=columns
    # it is updated in place
    z = f32[256,512] fusion(), kind=kLoop, calls=zeros
    p = f32[8,512] slice(x), slice={[0:8], [0:512]}
    ROOT u = f32[256,512] fusion(z, p), kind=kLoop, calls=part
    # a TPU does not compute element by element
    e = f32[256,512]{1,0:T(8,128)} sine(x)
    f = f32[256,512]{1,0:T(8,128)} fusion(e), kind=kLoop, calls=waves
    ROOT g = f32[256,512]{1,0:T(8,128)} copy(f)
    """),
})  # fmt: skip
def test_what_cannot_be_fused_is_no_advice(entry: str) -> None:
    assert not [each for each in found_in(module(entry)) if each.instruction.name in "cetz"]


def test_what_comes_together_again_is_one_fusion() -> None:
    (each,) = found_in(
        module("""a = f32[256,512] fusion(x), kind=kLoop, calls=waves b = f32[256,512] abs(a)
          c = f32[256,512] negate(a) ROOT d = f32[256,512] add(b, c)""")
    )
    assert each.mend == "Fuse %a and %b and %c into %d."
    assert (each.before, each.after) == (9 * 2 * NARROW, 2 * 2 * NARROW)
