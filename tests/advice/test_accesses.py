"""Advice about layouts and accesses: what is found, with its figures, and mends that run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import pytest

from ops import hlo
from ops.advice import accesses, advise
from ops.hlo import Instruction
from ops.limits import A100, TPU_V5E, Device
from ops.xla_gpu import FusionSchedule, schedule_of
from tests.advice.mended import ADD, advice_of, check_equal_results, check_is_read_back
from tests.cases import for_all, texts_with_values

SMALL: Final = replace(A100, shared_memory_bytes=512)
"""A device whose cache holds next to nothing, so that small arrays are read from memory."""

HEAD: Final = f"""{ADD}
less {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }}
"""

CASES: Final = texts_with_values("""
# an array that a kernel writes, and two read turned | "uncoalesced: %t", 4096, 1024
p1 { p = f32[1024,4] parameter(0) ROOT e = f32[1024,4] exponential(p) }
f1 { x = f32[1024,4] parameter(0) t = f32[4,1024] transpose(x), dimensions={1,0}
  ROOT n = f32[4,1024] negate(t) }
f2 { x = f32[1024,4] parameter(0) t = f32[4,1024] transpose(x), dimensions={1,0}
  ROOT n = f32[4,1024] tanh(t) }
ENTRY e { p = f32[1024,4] parameter(0) x = f32[1024,4] fusion(p), kind=kLoop, calls=p1
  f = f32[4,1024] fusion(x), kind=kLoop, calls=f1 g = f32[4,1024] fusion(x), kind=kLoop, calls=f2
  ROOT r = (f32[4,1024], f32[4,1024]) tuple(f, g) }
# short rows | "uncoalesced: %r", 3136, 448
f1 { p = f32[512,7] parameter(0) z = f32[] constant(0)
  r = f32[512] reduce(p, z), dimensions={1}, to_apply=add ROOT n = f32[512] negate(r) }
ENTRY e { p = f32[512,7] parameter(0) ROOT f = f32[512] fusion(p), kind=kLoop, calls=f1 }
# columns | "uncoalesced: %g", 16384, 2048
f1 { x = f32[64,4096] parameter(0) i = s32[256,1] parameter(1)
  ROOT g = f32[256,64] gather(x, i), offset_dims={1}, collapsed_slice_dims={1},
    start_index_map={1}, index_vector_dim=1, slice_sizes={64,1} }
ENTRY e { x = f32[64,4096] parameter(0) i = s32[256,1] parameter(1)
  ROOT f = f32[256,64] fusion(x, i), kind=kLoop, calls=f1 }
# what leads to both sums is needed behind them, too | "emitter lost: %c", 8448, 4352
f1 { p = f32[256,128] parameter(0) z = f32[] constant(0) e = f32[256,128] exponential(p)
  r = f32[256] reduce(e, z), dimensions={1}, to_apply=add q = f32[256,128] multiply(e, e)
  r2 = f32[256] reduce(q, z), dimensions={1}, to_apply=add n = f32[256] negate(r2)
  k = f32[256,1] slice(e), slice={[0:256],[3:4]} kk = f32[256] reshape(k)
  ROOT c = f32[768] concatenate(r, n, kk), dimensions={0} }
ENTRY e { p = f32[256,128] parameter(0) ROOT f = f32[768] fusion(p), kind=kLoop, calls=f1 }
# transpose | "emitter lost: %c", 32768, 4096
f1 { p = f32[256,128] parameter(0) q = f32[128,256] parameter(1)
  t = f32[128,256] transpose(p), dimensions={1,0} n = f32[128,256] negate(t)
  ROOT c = f32[256,256] concatenate(n, q), dimensions={0} }
ENTRY e { p = f32[256,128] parameter(0) q = f32[128,256] parameter(1)
  ROOT f = f32[256,256] fusion(p, q), kind=kLoop, calls=f1 }
# turned first | "layout: %x", 4096, 0
f1 { p = f32[16,8,4] parameter(0) ROOT t = f32[4,16,8] transpose(p), dimensions={2,0,1} }
ENTRY e { p = f32[16,8,4] parameter(0) x = f32[4,16,8] fusion(p), kind=kInput, calls=f1
  ROOT n = f32[4,16,8] sort(x), dimensions={2}, to_apply=less }
# padded | "padding: %e", 8388608, 196608
ENTRY e { x = f32[64,256,3]{2,1,0:T(8,128)} parameter(0) n = f32[64,256,3]{2,1,0:T(8,128)} negate(x)
  ROOT e = f32[64,256,3]{2,1,0:T(8,128)} exponential(n) }
# padded in a fusion | "padding: %f", 8388608, 196608
f1 { a = f32[64,256,3]{2,1,0:T(8,128)} parameter(0) b = f32[64,256,3]{2,1,0:T(8,128)} parameter(1)
  s = f32[64,256,3]{2,1,0:T(8,128)} add(a, b) ROOT r = f32[64,256,3]{2,1,0:T(8,128)} negate(s) }
ENTRY e { x = f32[64,256,3]{2,1,0:T(8,128)} parameter(0) y = f32[3]{0:T(128)} parameter(1)
  b = f32[64,256,3]{2,1,0:T(8,128)} broadcast(y), dimensions={2}
  ROOT f = f32[64,256,3]{2,1,0:T(8,128)} fusion(x, b), kind=kLoop, calls=f1 }
# two results | "emitter lost: %k", 8192, 4096
f1 { p = f32[256,128] parameter(0) q = f32[256] parameter(1) z = f32[] constant(0)
  r = f32[256] reduce(p, z), dimensions={1}, to_apply=add n = f32[256] negate(r)
  k = f32[512] concatenate(n, q), dimensions={0} l = f32[512] tanh(k)
  ROOT t = (f32[512], f32[512]) tuple(k, l) }
ENTRY e { p = f32[256,128] parameter(0) q = f32[256] parameter(1)
  ROOT f = (f32[512], f32[512]) fusion(p, q), kind=kLoop, calls=f1 }
# no tile of as many elements as a block has threads divides this array | "tail: %f", 48576, 8000
f1 { x = f32[1000,1000] parameter(0) ROOT t = f32[1000,1000] tanh(x) }
ENTRY e { x = f32[1000,1000] parameter(0)
  ROOT f = f32[1000,1000] fusion(x), kind=kCustom, calls=f1, backend_config={
    "fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{
      "num_warps":"4","output_tiles":[{"sizes":["64","64"]}]}}} }
""")
"""A module; the kind and the instruction that are named; and the figures."""

KINDS: Final = ("emitter lost", "layout", "padding", "tail", "uncoalesced")

found_in = partial(advice_of, KINDS)


def module(text: str) -> hlo.HloModule:
    return hlo.parse(text if text.startswith("HloModule") else f"{HEAD}{text}")


def device_of(text: str) -> Device:
    """The device for a module: one that pads has no sectors."""
    return TPU_V5E if "T(8" in text else SMALL


@for_all(CASES)
def test_the_waste_is_named_with_its_figures(text: str, name: str, before: int, after: int) -> None:
    (found,) = found_in(module(text), device_of(text))
    assert str(found).startswith(name), found
    assert (found.before, found.after) == (before, after)
    check_is_read_back(found)


@pytest.mark.needs("jax")
@for_all(CASES)
def test_the_mended_module_gives_equal_results(text: str, *_: object) -> None:
    for each in advise(module(text), device_of(text)):
        check_equal_results(each)


TURNED, SHORT_ROWS, PADDED = (
    next(text for name, (text, *_) in CASES.items() if name.endswith(end))
    for end in ("read turned", "short rows", "padded")
)
BESIDE_BITCAST: Final = "transpose(x), dimensions={1,0}\n  ROOT n = f32[4,1024] tanh(t)"
ALIAS: Final = "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }"
VARYING: Final = """ENTRY e { x = f32[<=65536,4]{1,0} parameter(0)
  y = f32[<=65536,4]{0,1} copy(x) ROOT z = f32[<=65536,4]{0,1} negate(y) }"""
DOT: Final = """ENTRY e { x = f32[512,3]{1,0:T(8,128)} parameter(0)
  ROOT d = f32[512,512]{1,0:T(8,128)} dot(x, x), lhs_contracting_dims={1},
  rhs_contracting_dims={1} }"""
ALSO_READ: Final = "ROOT t = (f32[512], f32[512,7]) tuple(f, p) }"


@for_all({
    "what one reader turns, the other one takes as it lies":
        (TURNED.replace(BESIDE_BITCAST, "bitcast(x) ROOT n = f32[4,1024] tanh(t)"), SMALL),
    "fits in the cache": (TURNED, A100),
    "no sectors": (TURNED, TPU_V5E),
    "another reader": (SHORT_ROWS.replace("ROOT f =", "f =")[:-1] + ALSO_READ, SMALL),
    "an alias": (f"{ALIAS}\n{HEAD}{SHORT_ROWS}", SMALL),
    "sizes that vary": (VARYING, SMALL),
    "bound by a dot": (DOT, TPU_V5E),
})  # fmt: skip
def test_nothing_is_said_where_no_mend_works(text: str, device: Device) -> None:
    assert not found_in(module(text), device)


def test_orders_of_many_dimensions_are_not_tried() -> None:
    for rank, kinds in ((4, ["padding"]), (5, [])):
        shape = f"2,{'1,' * rank}3]{{{','.join(map(str, reversed(range(rank + 2))))}"
        found = advise(module(PADDED.replace("64,256,3]{2,1,0", shape)), TPU_V5E)
        assert [each.kind for each in found] == kinds


def test_kernels_that_are_alike_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Instruction] = []

    def counted(fusion: Instruction) -> FusionSchedule:
        asked.append(fusion)
        return schedule_of(fusion)

    monkeypatch.setattr(accesses, "schedule_of", counted)
    layers = "".join(f"  l{n} = f32[512] fusion(p), kind=kLoop, calls=f1\n" for n in range(50))
    advise(module(SHORT_ROWS.replace("ROOT f =", f"\n{layers}  ROOT f =")), SMALL)
    assert len(asked) <= 2
