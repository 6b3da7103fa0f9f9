"""Advice on what is computed, written or read twice."""

from __future__ import annotations

from typing import Final

import pytest

from ops import hlo
from ops.advice import Advice, advise
from tests.advice.mended import check_equal_results

BIG: Final = "f32[512,1024]"
TURNED: Final = "f32[1024,512]"

BODIES: Final = f"""add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
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
    """A module with a parameter %x."""
    return hlo.parse(f"{BODIES} ENTRY main {{ x = {BIG} parameter(0) {entry} }}")


def call(name: str, body: str, operand: str = "x", shape: str = BIG, kind: str = "kLoop") -> str:
    """A fusion."""
    return f" {name} = {shape} fusion({operand}), kind={kind}, calls={body}"


def both(shape: str = BIG) -> str:
    """A root with two results."""
    return f" ROOT r = ({BIG}, {shape}) tuple(a, b)"


TWICE: Final = module(call("a", "waves") + call("b", "same_waves") + both())
SUMS: Final = call("a", "sums", shape="f32[512]", kind="kInput")
COLUMNS: Final = call("b", "columns", shape="f32[1024]", kind="kInput")
GATES: Final = module(
    f" y = {BIG} parameter(1) z = {BIG} parameter(2)"
    + call("b", "turned_gates", "x, y, z", TURNED)
    + call("a", "gates", "x, y, z")
    + both(TURNED)
)
SEVERAL: Final = [
    (TWICE, "Use %a twice.", 4 * MB, 2 * MB),
    (
        module(call("a", "waves") + call("b", "roots") + both()),
        "One fusion with 2 results reads %x once.",
        4 * MB,
        3 * MB,
    ),
    (
        module(
            call("a", "waves") + call("b", "turned", shape=TURNED, kind="kInput") + both(TURNED)
        ),
        "One fusion with 2 results reads %x once.",
        4 * MB,
        3 * MB,
    ),
    (GATES, "Copy %a into that order.", 8 * MB, 6 * MB),
    (
        module(
            f"{SUMS}{call('b', 'squares', shape='f32[512]', kind='kInput')}"
            " ROOT r = (f32[512], f32[512]) tuple(a, b)"
        ),
        "One fusion with 2 results reads %x once.",
        2 * (MB + 2048),
        MB + 2 * 2048,
    ),
    (
        module(
            f" w = ({BIG}, {BIG}) fusion(x), kind=kLoop, calls=both"
            f" a = {BIG} get-tuple-element(w), index=0 b = {BIG} get-tuple-element(w), index=1"
            f" ROOT r = {BIG} subtract(a, b)"
        ),
        "Write %s once, and take %t from it outside.",
        3 * MB,
        2 * MB,
    ),
]


@pytest.mark.parametrize(("wasteful", "mend", "before", "after"), SEVERAL)
def test_what_is_done_twice_is_found(
    wasteful: hlo.HloModule, mend: str, before: int, after: int
) -> None:
    assert (mend, before, after) in [
        (each.mend, each.before, each.after) for each in found(wasteful)
    ]


def found(wasteful: hlo.HloModule) -> list[Advice]:
    """The advice on duplicates."""
    return [each for each in advise(wasteful) if each.kind == "duplicate"]


@pytest.mark.needs("jax")
@pytest.mark.parametrize("wasteful", [each[0] for each in SEVERAL])
def test_mended_modules_give_equal_results(wasteful: hlo.HloModule) -> None:
    for each in found(wasteful):
        check_equal_results(each)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (call("a", "waves") + call("b", "turned", "a", TURNED) + both(TURNED), "%b reads %a"),
        (
            f"{SUMS}{COLUMNS} ROOT r = (f32[512], f32[1024]) tuple(a, b)",
            "rows and columns are gone through in other orders",
        ),
        (
            f" a = {BIG} copy(x) b = {BIG} copy(x) {call('c', 'waves', 'b')} {both()}",
            "copies are there to be written over",
        ),
    ],
)
def test_what_has_to_be_done_twice_is_no_waste(entry: str, why: str) -> None:
    assert not found(module(entry)), why


def test_constants_tell_values_apart() -> None:
    (each,) = found(module(call("a", "roots") + call("b", "threes") + both()))
    assert each.mend.startswith("One fusion")


def test_what_is_not_fused_yet_may_still_become_one() -> None:
    assert not found(module(f" a = {BIG} sine(x) b = {BIG} sine(x) {both()}"))
