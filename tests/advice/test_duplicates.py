"""Advice on what is computed, written or read twice."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

from ops import hlo
from tests.advice.mended import ADD, advice_of, check_equal_results
from tests.cases import for_all

BIG: Final = "f32[512,1024]"
TURNED: Final = "f32[1024,512]"

BODIES: Final = f"""{ADD}
waves {{ p = {BIG} parameter(0) s = {BIG} sine(p) ROOT r = {BIG} negate(s) }}
same_waves {{ q = {BIG} parameter(0) t = {BIG} sine(q) ROOT u = {BIG} negate(t) }}
roots {{ p = {BIG} parameter(0) k = f32[] constant(2) b = {BIG} broadcast(k), dimensions={{}}
  ROOT r = {BIG} multiply(p, b) }}
threes {{ p = {BIG} parameter(0) k = f32[] constant(3) b = {BIG} broadcast(k), dimensions={{}}
  ROOT r = {BIG} multiply(p, b) }}
turned {{ p = {BIG} parameter(0) s = {BIG} sine(p) n = {BIG} negate(s)
  ROOT t = {TURNED} transpose(n), dimensions={{1,0}} }}
gates {{ p = {BIG} parameter(0) q = {BIG} parameter(1) o = {BIG} parameter(2)
  m = {BIG} multiply(p, q) ROOT r = {BIG} add(m, o) }}
turned_gates {{ p = {BIG} parameter(0) q = {BIG} parameter(1) o = {BIG} parameter(2)
  m = {BIG} multiply(p, q) r = {BIG} add(m, o) t = {BIG}{{0,1}} copy(r)
  ROOT b = {TURNED} bitcast(t) }}
sums {{ p = {BIG} parameter(0) z = f32[] constant(0)
  ROOT r = f32[512] reduce(p, z), dimensions={{1}}, to_apply=add }}
columns {{ p = {BIG} parameter(0) z = f32[] constant(0)
  ROOT r = f32[1024] reduce(p, z), dimensions={{0}}, to_apply=add }}
squares {{ p = {BIG} parameter(0) z = f32[] constant(0) s = {BIG} multiply(p, p)
  ROOT r = f32[512] reduce(s, z), dimensions={{1}}, to_apply=add }}
both {{ p = {BIG} parameter(0) s = {BIG} sine(p) t = {BIG} sine(p)
  ROOT r = ({BIG}, {BIG}) tuple(s, t) }}
"""

MB: Final = 512 * 1024 * 4
"""Bytes of the array."""


def module(entry: str) -> hlo.HloModule:
    return hlo.parse(f"{BODIES} ENTRY main {{ x = {BIG} parameter(0) {entry} }}")


def call(name: str, body: str, operand: str = "x", shape: str = BIG, kind: str = "kLoop") -> str:
    return f" {name} = {shape} fusion({operand}), kind={kind}, calls={body}"


def both(shape: str = BIG) -> str:
    return f" ROOT r = ({BIG}, {shape}) tuple(a, b)"


ONE_READS: Final = "One fusion with 2 results reads %x once."
WAVES: Final = call("a", "waves")
SUMS: Final = call("a", "sums", shape="f32[512]", kind="kInput")
SQUARES: Final = call("b", "squares", shape="f32[512]", kind="kInput")
COLUMNS: Final = call("b", "columns", shape="f32[1024]", kind="kInput")
TURNED_WAVES: Final = call("b", "turned", shape=TURNED, kind="kInput")
TURNED_GATES: Final = call("b", "turned_gates", "x, y, z", TURNED)
GATES: Final = f""" y = {BIG} parameter(1) z = {BIG} parameter(2)
  {TURNED_GATES} {call("a", "gates", "x, y, z")} {both(TURNED)}"""
BOTH: Final = f""" w = ({BIG}, {BIG}) fusion(x), kind=kLoop, calls=both
  a = {BIG} get-tuple-element(w), index=0 b = {BIG} get-tuple-element(w), index=1
  ROOT r = {BIG} subtract(a, b)"""

TWO_SUMS: Final = "ROOT r = (f32[512], f32[512]) tuple(a, b)"

SEVERAL: Final = {
    "equal": (WAVES + call("b", "same_waves") + both(), "Use %a twice.", 4 * MB, 2 * MB),
    "others of one": (WAVES + call("b", "roots") + both(), ONE_READS, 4 * MB, 3 * MB),
    "one turned": (f"{WAVES}{TURNED_WAVES}{both(TURNED)}", ONE_READS, 4 * MB, 3 * MB),
    "equal but turned": (GATES, "Copy %a into that order.", 8 * MB, 6 * MB),
    "sums": (f"{SUMS}{SQUARES} {TWO_SUMS}", ONE_READS, 2 * (MB + 2048), MB + 2 * 2048),
    "equal results": (BOTH, "Write %s once, and take %t from it outside.", 3 * MB, 2 * MB),
}

found_in = partial(advice_of, ("duplicate",))


@for_all(SEVERAL)
def test_what_is_done_twice_is_found(entry: str, mend: str, before: int, after: int) -> None:
    found = [(each.mend, each.before, each.after) for each in found_in(module(entry))]
    assert (mend, before, after) in found


@pytest.mark.needs("jax")
@for_all(SEVERAL)
def test_mended_modules_give_equal_results(entry: str, *_: object) -> None:
    for each in found_in(module(entry)):
        check_equal_results(each)


@for_all({
    "%b reads %a": WAVES + call("b", "turned", "a", TURNED) + both(TURNED),
    "rows and columns are gone through in other orders":
        f"{SUMS}{COLUMNS} ROOT r = (f32[512], f32[1024]) tuple(a, b)",
    "copies are there to be written over":
        f" a = {BIG} copy(x) b = {BIG} copy(x) {call('c', 'waves', 'b')} {both()}",
    "what is not fused yet may still become one": f" a = {BIG} sine(x) b = {BIG} sine(x) {both()}",
})  # fmt: skip
def test_what_has_to_be_done_twice_is_no_waste(entry: str) -> None:
    assert not found_in(module(entry))


def test_constants_tell_values_apart() -> None:
    (each,) = found_in(module(call("a", "roots") + call("b", "threes") + both()))
    assert each.mend.startswith("One fusion")
