"""Advice about loops and copies: what is found, what is not, and that mends change no result."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import pytest

from ops import hlo
from ops.advice import Advice
from ops.hlo import HloModule
from tests.advice.mended import advice_of, check_equal_results, check_is_read_back
from tests.cases import for_all, texts_with_values

CONDITION: Final = """{name} {{ s = {state} parameter(0) i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({trips}) ROOT lt = pred[] compare(i, n), direction=LT }}"""

STEP: Final = "one = s32[] constant(1) j = s32[] add(i, one)"


def loop(body: str, state: Iterable[str], root: str, called: str = "") -> str:
    """A module whose entry runs a loop on its parameters; the body has x0, x1, ..."""
    arrays = [*state]
    whole = f"(s32[], {', '.join(arrays)})"
    given = [
        f"x{n} = {each} get-tuple-element(s), index={n + 1}\n" for n, each in enumerate(arrays)
    ]
    parameters = [f"p{n} = {each} parameter({n})\n" for n, each in enumerate(arrays)]
    starts = ", ".join(["z", *(f"p{n}" for n in range(len(arrays)))])
    return f"""HloModule m {called}
body {{ s = {whole} parameter(0) i = s32[] get-tuple-element(s), index=0
  {"".join(given)} {body} {STEP} ROOT t = {whole} tuple(j, {root}) }}
{CONDITION.format(name="condition", state=whole, trips=8)}
ENTRY e {{ {"".join(parameters)} z = s32[] constant(0) t = {whole} tuple({starts})
  ROOT loop = {whole} while(t), condition=condition, body=body }}"""


ROWS: Final = ("f32[64]{0}", "f32[64]{0}")
SQUARE: Final = "f32[16,16]{1,0}"
STATE: Final = f"(s32[], {SQUARE}, {SQUARE})"
INNER: Final = f"""inner {{ s = {STATE} parameter(0) i = s32[] get-tuple-element(s), index=0
  x0 = {SQUARE} get-tuple-element(s), index=1 x1 = {SQUARE} get-tuple-element(s), index=2
  w = {SQUARE} transpose(x1), dimensions={{1,0}}
  d = {SQUARE} dot(x0, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  {STEP} ROOT t = {STATE} tuple(j, d, x1) }} {CONDITION.format(name="few", state=STATE, trips=4)}"""
FUSIONS: Final = """copied { p = f32[64]{0} parameter(0) ROOT k = f32[64]{0} copy(p) }
updated { p = f32[64]{0} parameter(0) v = f32[1]{0} parameter(1) i = s32[] parameter(2)
  w = f32[1]{0} negate(v) ROOT u = f32[64]{0} dynamic-update-slice(p, w, i) }
negated { p = f32[64]{0} parameter(0) i = s32[] parameter(1)
  v = f32[1]{0} dynamic-slice(p, i), dynamic_slice_sizes={1} w = f32[1]{0} negate(v)
  ROOT u = f32[64]{0} dynamic-update-slice(p, w, i) }
moved { p = f32[64]{0} parameter(0) k = f32[64]{0} parameter(1) i = s32[] parameter(2)
  v = f32[1]{0} dynamic-slice(k, i), dynamic_slice_sizes={1}
  ROOT u = f32[64]{0} dynamic-update-slice(p, v, i) }"""

SQUARES: Final = (SQUARE, SQUARE)
WORDS: Final = {
    "READ": "v = f32[1]{0} dynamic-slice(x0, i), dynamic_slice_sizes={1}",
    "OUTPUT": "o = f32[64]{0} dynamic-update-slice(x1, v, i)",
    "SEVEN": "w = f32[1]{0} constant({7})", "SQUARE": SQUARE, "STATE": STATE,
}  # fmt: skip


def expanded(body: str) -> str:
    """A body whose words in capitals are what they stand for."""
    return re.sub("|".join(WORDS), lambda found: WORDS[found[0]], body)


TABLE: Final = """
# into a loop | ("copy", "k", 16384, 0), SQUARES, "r, o", INNER
k = SQUARE copy(x0) zero = s32[] constant(0) t0 = STATE tuple(zero, k, x1)
l = STATE while(t0), condition=few, body=inner r = SQUARE get-tuple-element(l), index=1
o = SQUARE transpose(x0), dimensions={1,0}
# dequantized | ("loop invariant", "w", 18432, 2304), (SQUARE, "s8[16,16]{1,0}"), "d, x1"
h = f16[16,16]{1,0} convert(x1) w = SQUARE convert(h)
d = SQUARE dot(x0, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
# what XLA makes of a loop that takes numbers from one array to another, and changes the first |
#   ("copy", "k", 8192, 0), ROWS, "u, o", FUSIONS
k = f32[64]{0} copy(x0) k2 = f32[64]{0} copy(k)
u = f32[64]{0} fusion(k2, i), kind=kLoop, calls=negated
o = f32[64]{0} fusion(x1, k, i), kind=kLoop, calls=moved
# what other devices send is the same in each iteration |
#   ("loop invariant", "w", 512, 64), ("f32[4,8]{1,0}", "f32[4,4]{1,0}"), "n, x1"
g = f32[8,4] all-gather(x1), channel_id=1, replica_groups={{0,1}}, dimensions={0},
use_global_device_ids=true w = f32[8,4] negate(g)
d = f32[4,4] dot(x0, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
n = f32[4,8] concatenate(d, d), dimensions={1}
# read behind the update in the text, and independent of it | ("copy", "k", 4096, 0), ROWS, "u, o"
k = f32[64]{0} copy(x0) SEVEN u = f32[64]{0} dynamic-update-slice(k, w, i) READ OUTPUT
# updated twice | ("copy", "k", 4096, 0), ROWS, "u, o"
z2 = s32[] constant(0) k = f32[64]{0} copy(x0) READ w = f32[1]{0} negate(v)
a = f32[64]{0} dynamic-update-slice(k, w, i) u = f32[64]{0} dynamic-update-slice(a, v, z2) OUTPUT
# fusions | ("copy", "k", 4096, 0), ROWS, "u, o", FUSIONS
k = f32[64]{0} fusion(x0), kind=kLoop, calls=copied READ OUTPUT
u = f32[64]{0} fusion(k, v, i), kind=kLoop, calls=updated
# kept | ("copy", "k", 16384, 0), SQUARES, "d, x1"
k = SQUARE copy(x1) d = SQUARE add(k, x0)
# several instructions depend on nothing that changes |
#   ("loop invariant", "w", 49152, 6144), SQUARES, "d, x1"
c = f32[] constant(0.5) cs = SQUARE broadcast(c), dimensions={} m = SQUARE multiply(x1, cs)
w = SQUARE transpose(m), dimensions={1,0}
d = SQUARE dot(x0, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
# nested | ("loop invariant", "w", 65536, 2048), SQUARES, "r, x1", INNER
zero = s32[] constant(0) t0 = STATE tuple(zero, x0, x1)
l = STATE while(t0), condition=few, body=inner r = SQUARE get-tuple-element(l), index=1
# read with the whole state | None, ROWS, "u, o"
k = f32[64]{0} copy(x0) SEVEN u = f32[64]{0} dynamic-update-slice(k, w, i) READ OUTPUT
h = (s32[], f32[64]{0}, f32[64]{0}) copy(s)
# read behind the update | None, ROWS, "u, o"
k = f32[64]{0} copy(x0) SEVEN u = f32[64]{0} dynamic-update-slice(x0, w, i) o = f32[64]{0} add(u, k)
# moved to another place | None, ROWS, "h, k"
k = f32[64]{0} copy(x0) h = f32[64]{0} copy(x1)
# larger than what it comes from | None, (SQUARE, "f32[16]{0}"), "d, x1"
b = SQUARE broadcast(x1), dimensions={0} d = SQUARE add(x0, b)
# overwritten in each iteration | None, SQUARES, "d, x1"
r = f32[1,1]{1,0} slice(x0), slice={[0:1],[0:1]} k = SQUARE negate(x1)
d = SQUARE dynamic-update-slice(k, r, i, i)
"""
IN_LOOPS: Final = texts_with_values(
    TABLE, ROWS=ROWS, SQUARE=SQUARE, SQUARES=SQUARES, INNER=INNER, FUSIONS=FUSIONS
)
"""A body; the kind of waste, its instruction and its figures, if any; and the loop around it."""

DONATED: Final = """HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e { c = f32[64,32]{1,0} parameter(0) r = f32[1,32]{1,0} parameter(1) z = s32[] constant(0)
  k = f32[64,32]{1,0} copy(c) u = f32[64,32]{1,0} dynamic-update-slice(k, r, z, z)
  old = f32[1,32]{1,0} slice(c), slice={[0:1],[0:32]} n = f32[1,32]{1,0} negate(old)
  ROOT t = (f32[64,32]{1,0}, f32[1,32]{1,0}) tuple(u, n) }"""

FOR_READERS: Final = """ENTRY e { c = f32[64,32]{1,0} parameter(0) k = f32[64,32]{1,0} copy(c)
  t = f32[32,64]{1,0} transpose(k), dimensions={1,0} e = f32[32,64]{1,0} exponential(t)
  ROOT m = f32[32,64]{1,0} copy(e) }"""

MODULES: Final = {
    name: (loop(expanded(body), *around), waste)
    for name, (body, waste, *around) in IN_LOOPS.items()
}
WASTEFUL: Final = {
    **{name: (text, *waste) for name, (text, waste) in MODULES.items() if waste},
    "donated": (DONATED, "copy", "k", 16384, 0),
    "for readers": (FOR_READERS, "copy", "k", 16384, 0),
    "result": (FOR_READERS, "copy", "m", 16384, 0),
}
"""A module, the kind of waste and its instruction, and its figures."""

TUPLE: Final = "(f32[64]{0}, f32[64]{0})"
NESTED_STATE: Final = f"""body {{ s = ({TUPLE}, s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1 t = {TUPLE} get-tuple-element(s), index=0
  a = f32[64]{{0}} get-tuple-element(t), index=0 b = f32[64]{{0}} get-tuple-element(t), index=1
  k = f32[64]{{0}} copy(a) n = f32[64]{{0}} negate(b) d = f32[64]{{0}} add(n, k) {STEP}
  u = {TUPLE} tuple(n, d) ROOT r = ({TUPLE}, s32[]) tuple(u, j) }}
{CONDITION.format(name="few", state=f"({TUPLE}, s32[])", trips=8).replace("index=0", "index=1")}
ENTRY e {{ a = f32[64]{{0}} parameter(0) b = f32[64]{{0}} parameter(1) z = s32[] constant(0)
  u = {TUPLE} tuple(a, b) t = ({TUPLE}, s32[]) tuple(u, z)
  ROOT w = ({TUPLE}, s32[]) while(t), condition=few, body=body }}"""

CLEAN: Final = {
    **{name: text for name, (text, waste) in MODULES.items() if not waste},
    "the next state in a tuple takes its memory before the copy is read": NESTED_STATE,
    "not donated": DONATED.replace(", input_output_alias={ {0}: (0, {}, may-alias) }", ""),
    "of a constant": "ENTRY e { c = f32[4]{0} constant({1,2,3,4}) ROOT k = f32[4]{0} copy(c) }",
    "of a parameter": "ENTRY e { c = f32[4]{0} parameter(0) ROOT k = f32[4]{0} copy(c) }",
    "turned": """ENTRY e { c = f32[4,2]{1,0} parameter(0) k = f32[4,2]{0,1} copy(c)
      ROOT n = f32[4,2]{0,1} negate(k) }""",
}
"""Modules with copies and values that are needed as they are."""


def advice_about(module: HloModule) -> dict[str, Advice]:
    """The advice of these kinds, by the names of instructions."""
    return {each.instruction.name: each for each in advice_of(("copy", "loop invariant"), module)}


@for_all(WASTEFUL)
def test_what_a_loop_wastes(text: str, kind: str, name: str, before: int, after: int) -> None:
    found = advice_about(hlo.parse(text))[name]
    assert (found.kind, found.before, found.after) == (kind, before, after)
    check_is_read_back(found)


@for_all(CLEAN)
def test_what_is_needed_stays(text: str) -> None:
    assert not advice_about(hlo.parse(text))


@pytest.mark.needs("jax")
@for_all(WASTEFUL)
def test_mended_loops_give_equal_results(text: str, *_: object) -> None:
    if "channel_id" not in text:  # which runs on several devices
        for each in advice_about(hlo.parse(text)).values():
            check_equal_results(each, rtol=0)
