"""Advice about loops and copies: what is found, what is not, and that mends change no result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pytest

from ops import hlo
from ops.advice import Advice, advise
from ops.hlo import HloModule
from tests.cases import for_all

CONDITION: Final = """condition {{ s = {state} parameter(0) i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({trips}) ROOT lt = pred[] compare(i, n), direction=LT }}"""

STEP: Final = "one = s32[] constant(1) j = s32[] add(i, one)"


def loop(state: Iterable[str], body: str, root: str, trips: int = 8, heading: str = "m") -> str:
    """A module whose entry runs a loop on its parameters; the body has x0, x1, ..."""
    arrays = [*state]
    whole = f"(s32[], {', '.join(arrays)})"
    given = [
        f"x{n} = {each} get-tuple-element(s), index={n + 1}\n" for n, each in enumerate(arrays)
    ]
    parameters = [f"p{n} = {each} parameter({n})\n" for n, each in enumerate(arrays)]
    starts = ", ".join(["z", *(f"p{n}" for n in range(len(arrays)))])
    return f"""HloModule {heading}
body {{ s = {whole} parameter(0) i = s32[] get-tuple-element(s), index=0
  {"".join(given)} {body} {STEP} ROOT t = {whole} tuple(j, {root}) }}
{CONDITION.format(state=whole, trips=trips)}
ENTRY e {{ {"".join(parameters)} z = s32[] constant(0) t = {whole} tuple({starts})
  ROOT loop = {whole} while(t), condition=condition, body=body }}"""


ROWS: Final = ("f32[64]{0}", "f32[64]{0}")
SQUARE: Final = "f32[16,16]{1,0}"
SEVEN: Final = "w = f32[1]{0} constant({7})"
OUTPUT: Final = "o = f32[64]{0} dynamic-update-slice(x1, v, i)"
READ: Final = "v = f32[1]{0} dynamic-slice(x0, i), dynamic_slice_sizes={1}"

LATE: Final = f"""k = f32[64]{{0}} copy(x0) {SEVEN}
  u = f32[64]{{0}} dynamic-update-slice(k, w, i) {READ} {OUTPUT}"""
"""What the loop keeps is read behind the update in the text, and does not depend on it."""

TWICE: Final = f"""z2 = s32[] constant(0) k = f32[64]{{0}} copy(x0) {READ} w = f32[1]{{0}} negate(v)
  a = f32[64]{{0}} dynamic-update-slice(k, w, i)
  u = f32[64]{{0}} dynamic-update-slice(a, v, z2) {OUTPUT}"""

CHAIN: Final = """c = f32[] constant(0.5) cs = f32[16,16]{1,0} broadcast(c), dimensions={}
  m = f32[16,16]{1,0} multiply(x1, cs) w = f32[16,16]{1,0} transpose(m), dimensions={1,0}
  d = f32[16,16]{1,0} dot(x0, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
"""Several instructions depend on nothing that changes."""

INNER: Final = """inner { s = (s32[], f32[16,16]{1,0}, f32[16,16]{1,0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0 x0 = f32[16,16]{1,0} get-tuple-element(s), index=1
  x1 = f32[16,16]{1,0} get-tuple-element(s), index=2 w = f32[16,16]{1,0} transpose(x1),
  dimensions={1,0} d = f32[16,16]{1,0} dot(x0, w), lhs_contracting_dims={1},
  rhs_contracting_dims={0} one = s32[] constant(1) j = s32[] add(i, one)
  ROOT t = (s32[], f32[16,16]{1,0}, f32[16,16]{1,0}) tuple(j, d, x1) }
few { s = (s32[], f32[16,16]{1,0}, f32[16,16]{1,0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0 n = s32[] constant(4)
  ROOT lt = pred[] compare(i, n), direction=LT }
body {"""

NESTED: Final = loop(
    [SQUARE, SQUARE],
    """zero = s32[] constant(0) t0 = (s32[], f32[16,16]{1,0}, f32[16,16]{1,0}) tuple(zero, x0, x1)
    l = (s32[], f32[16,16]{1,0}, f32[16,16]{1,0}) while(t0), condition=few, body=inner
    r = f32[16,16]{1,0} get-tuple-element(l), index=1""",
    "r, x1",
).replace("body {", INNER, 1)

DONATED: Final = """HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e { c = f32[64,32]{1,0} parameter(0) r = f32[1,32]{1,0} parameter(1) z = s32[] constant(0)
  k = f32[64,32]{1,0} copy(c) u = f32[64,32]{1,0} dynamic-update-slice(k, r, z, z)
  old = f32[1,32]{1,0} slice(c), slice={[0:1],[0:32]} n = f32[1,32]{1,0} negate(old)
  ROOT t = (f32[64,32]{1,0}, f32[1,32]{1,0}) tuple(u, n) }"""

FOR_READERS: Final = """ENTRY e { c = f32[64,32]{1,0} parameter(0) k = f32[64,32]{1,0} copy(c)
  t = f32[32,64]{1,0} transpose(k), dimensions={1,0} e = f32[32,64]{1,0} exponential(t)
  ROOT m = f32[32,64]{1,0} copy(e) }"""

IN_FUSION: Final = loop(
    ROWS,
    f"k = f32[64]{{0}} fusion(x0), kind=kLoop, calls=copied {READ} {OUTPUT}"
    " u = f32[64]{0} fusion(k, v, i), kind=kLoop, calls=updated",
    "u, o",
).replace(
    "body {",
    """copied { p = f32[64]{0} parameter(0) ROOT k = f32[64]{0} copy(p) }
updated { p = f32[64]{0} parameter(0) v = f32[1]{0} parameter(1) i = s32[] parameter(2)
  w = f32[1]{0} negate(v) ROOT u = f32[64]{0} dynamic-update-slice(p, w, i) }
body {""",
    1,
)

GATHERED: Final = loop(
    ["f32[4,8]{1,0}", "f32[4,4]{1,0}"],
    """g = f32[8,4] all-gather(x1), channel_id=1, replica_groups={{0,1}}, dimensions={0},
    use_global_device_ids=true w = f32[8,4] negate(g)
    d = f32[4,4] dot(x0, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    n = f32[4,8] concatenate(d, d), dimensions={1}""",
    "n, x1",
)
"""What other devices send is the same in each iteration."""

SNAPSHOT: Final = loop(
    ROWS,
    """k = f32[64]{0} copy(x0) k2 = f32[64]{0} copy(k)
    u = f32[64]{0} fusion(k2, i), kind=kLoop, calls=negated
    o = f32[64]{0} fusion(x1, k, i), kind=kLoop, calls=moved""",
    "u, o",
).replace(
    "body {",
    """negated { p = f32[64]{0} parameter(0) i = s32[] parameter(1)
  v = f32[1]{0} dynamic-slice(p, i), dynamic_slice_sizes={1} w = f32[1]{0} negate(v)
  ROOT u = f32[64]{0} dynamic-update-slice(p, w, i) }
moved { p = f32[64]{0} parameter(0) k = f32[64]{0} parameter(1) i = s32[] parameter(2)
  v = f32[1]{0} dynamic-slice(k, i), dynamic_slice_sizes={1}
  ROOT u = f32[64]{0} dynamic-update-slice(p, v, i) }
body {""",
    1,
)
"""What XLA makes of a loop that takes numbers from one array to another, and changes the first."""

DEQUANTIZED: Final = """h = f16[16,16]{1,0} convert(x1) w = f32[16,16]{1,0} convert(h)
  d = f32[16,16]{1,0} dot(x0, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""

INTO_LOOP: Final = loop(
    [SQUARE, SQUARE],
    """k = f32[16,16]{1,0} copy(x0) zero = s32[] constant(0)
    t0 = (s32[], f32[16,16]{1,0}, f32[16,16]{1,0}) tuple(zero, k, x1)
    l = (s32[], f32[16,16]{1,0}, f32[16,16]{1,0}) while(t0), condition=few, body=inner
    r = f32[16,16]{1,0} get-tuple-element(l), index=1
    o = f32[16,16]{1,0} transpose(x0), dimensions={1,0}""",
    "r, o",
).replace("body {", INNER, 1)

WASTEFUL: Final = {
    "into a loop": (INTO_LOOP, "copy", "k", 16384, 0),
    "dequantized": (
        loop([SQUARE, "s8[16,16]{1,0}"], DEQUANTIZED, "d, x1"),
        *("loop invariant", "w", 18432, 2304),
    ),
    "snapshot": (SNAPSHOT, "copy", "k", 8192, 0),
    "gathered": (GATHERED, "loop invariant", "w", 512, 64),
    "read late": (loop(ROWS, LATE, "u, o"), "copy", "k", 4096, 0),
    "updated twice": (loop(ROWS, TWICE, "u, o"), "copy", "k", 4096, 0),
    "fusions": (IN_FUSION, "copy", "k", 4096, 0),
    "kept": (
        loop([SQUARE, SQUARE], f"k = {SQUARE} copy(x1) d = {SQUARE} add(k, x0)", "d, x1"),
        *("copy", "k", 16384, 0),
    ),
    "donated": (DONATED, "copy", "k", 16384, 0),
    "for readers": (FOR_READERS, "copy", "k", 16384, 0),
    "result": (FOR_READERS, "copy", "m", 16384, 0),
    "chain": (loop([SQUARE, SQUARE], CHAIN, "d, x1"), "loop invariant", "w", 49152, 6144),
    "nested": (NESTED, "loop invariant", "w", 65536, 2048),
}
"""A module, the kind of waste and its instruction, and its figures."""

TUPLE: Final = "(f32[64]{0}, f32[64]{0})"
NESTED_STATE: Final = f"""body {{ s = ({TUPLE}, s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1 t = {TUPLE} get-tuple-element(s), index=0
  a = f32[64]{{0}} get-tuple-element(t), index=0 b = f32[64]{{0}} get-tuple-element(t), index=1
  k = f32[64]{{0}} copy(a) n = f32[64]{{0}} negate(b) d = f32[64]{{0}} add(n, k) {STEP}
  u = {TUPLE} tuple(n, d) ROOT r = ({TUPLE}, s32[]) tuple(u, j) }}
{CONDITION.format(state=f"({TUPLE}, s32[])", trips=8).replace("index=0", "index=1")}
ENTRY e {{ a = f32[64]{{0}} parameter(0) b = f32[64]{{0}} parameter(1) z = s32[] constant(0)
  u = {TUPLE} tuple(a, b) t = ({TUPLE}, s32[]) tuple(u, z)
  ROOT w = ({TUPLE}, s32[]) while(t), condition=condition, body=body }}"""
"""The next state of an array in a tuple takes its memory before the copy is read."""

CLEAN: Final = {
    "written over by the next state": NESTED_STATE,
    "read with the whole state": loop(ROWS, LATE, "u, o").replace(
        "ROOT t =", "h = (s32[], f32[64]{0}, f32[64]{0}) copy(s) ROOT t ="
    ),
    "read behind the update": loop(
        ROWS,
        f"k = f32[64]{{0}} copy(x0) {SEVEN} u = f32[64]{{0}} dynamic-update-slice(x0, w, i)"
        " o = f32[64]{0} add(u, k)",
        "u, o",
    ),
    "moved to another place": loop(ROWS, "k = f32[64]{0} copy(x0) h = f32[64]{0} copy(x1)", "h, k"),
    "not donated": DONATED.replace(", input_output_alias={ {0}: (0, {}, may-alias) }", ""),
    "of a constant": "ENTRY e { c = f32[4]{0} constant({1,2,3,4}) ROOT k = f32[4]{0} copy(c) }",
    "of a parameter": "ENTRY e { c = f32[4]{0} parameter(0) ROOT k = f32[4]{0} copy(c) }",
    "turned": "ENTRY e { c = f32[4,2]{1,0} parameter(0) k = f32[4,2]{0,1} copy(c)"
    " ROOT n = f32[4,2]{0,1} negate(k) }",
    "larger than what it comes from": loop(
        [SQUARE, "f32[16]{0}"],
        f"b = {SQUARE} broadcast(x1), dimensions={{0}} d = {SQUARE} add(x0, b)",
        "d, x1",
    ),
    "overwritten in each iteration": loop(
        [SQUARE, SQUARE],
        f"r = f32[1,1]{{1,0}} slice(x0), slice={{[0:1],[0:1]}} k = {SQUARE} negate(x1)"
        f" d = {SQUARE} dynamic-update-slice(k, r, i, i)",
        "d, x1",
    ),
}
"""Modules with copies and values that are needed as they are."""

KINDS: Final = ("copy", "loop invariant")


def advice_about(module: HloModule) -> dict[str, Advice]:
    """The advice of these kinds, by the names of instructions."""
    return {each.instruction.name: each for each in advise(module) if each.kind in KINDS}


@for_all(WASTEFUL)
def test_what_a_loop_wastes_is_found(
    text: str, kind: str, name: str, before: int, after: int
) -> None:
    found = advice_about(hlo.parse(text))[name]
    assert (found.kind, found.before, found.after) == (kind, before, after)
    mended = found.apply()
    assert str(hlo.parse(str(mended))) == str(mended)


@for_all(CLEAN)
def test_what_is_needed_stays(text: str) -> None:
    assert not advice_about(hlo.parse(text))


@pytest.mark.needs("jax")
@for_all(WASTEFUL)
def test_mended_loops_give_equal_results(text: str, *_: object) -> None:
    if "channel_id" in text:
        return  # runs on several devices
    module, random = hlo.parse(text), np.random.default_rng(0)
    arguments = [
        random.normal(size=each.shape.dimensions) * (3 if "s8" in str(each.shape) else 0.2)
        for each in module.entry.parameters
    ]
    before = hlo.run(module, *arguments)
    for each in advice_about(module).values():
        after = hlo.run(each.apply(), *arguments)
        assert all(map(np.array_equal, before, after))
