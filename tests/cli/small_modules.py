"""Small modules that the tests of the command line read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SOFTMAX_SUM = """\
HloModule softmax_sum

%add { %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y) }

%fused_sum {
  %p = f32[4,8] parameter(0)
  %zero = f32[] constant(0)
  %exp = f32[4,8] exponential(%p)
  ROOT %sum = f32[4] reduce(%exp, %zero), dimensions={1}, to_apply=%add }

ENTRY %main {
  %logits = f32[4,8] parameter(0)
  %total = f32[4] fusion(%logits), kind=kLoop, calls=%fused_sum
  %wide = f32[4,8] broadcast(%total), dimensions={0}
  ROOT %both = (f32[4,8], f32[4]) tuple(%wide, %total) }
"""

LOOKED_UP = """\
HloModule looked_up

%doubled { %a = s32[] parameter(0)
  ROOT %sum = s32[] add(%a, %a) }

ENTRY %main {
  %keys = f32[16] parameter(0)
  %found = f32[16] custom-call(%keys), custom_call_target="lookup"
  %one = s32[] parameter(1)
  %start = s32[] call(%one), to_apply=%doubled
  ROOT %part = f32[4] dynamic-slice(%found, %start), dynamic_slice_sizes={4} }
"""

TURNED = """\
HloModule turned
ENTRY main { rows = f32[<=8,4] parameter(0) count = s32[] parameter(1)
  few = f32[<=8,4] set-dimension-size(rows, count), dimensions={0}
  ROOT turned = f32[<=8,4] reverse(few), dimensions={0} }
"""
"""Its size is a value, which is a parameter of the maps."""

ROW_SHARES = """\
HloModule row_shares

add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT sum = f32[] add(a, b) }

ENTRY main {
  x = f32[4,8] parameter(0)
  zero = f32[] constant(0)
  total = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
  totals = f32[4,8] broadcast(total), dimensions={0}
  ROOT share = f32[4,8] divide(x, totals)
}
"""
"""Each element of a matrix, as a share of its row."""

WRONG_INSIDE = """\
HloModule wrong
f { a = f32[2,3] parameter(0)
  ROOT t = f32[3,4] transpose(a), dimensions={1,0} }
ENTRY e { p = f32[2,3] parameter(0)
  ROOT r = f32[3,4] fusion(p), kind=kLoop, calls=f }
"""
"""A fusion of an instruction with an error."""

PARTS = """\
HloModule parts
ENTRY main { x = f32[9] parameter(0) start = s32[] parameter(1)
  zero = f32[] constant(0)
  head = f32[2] slice(x), slice={[0:2]}
  wide = f32[12] pad(x, zero), padding=3_0
  part = f32[4] dynamic-slice(wide, start), dynamic_slice_sizes={4}
  ROOT all = (f32[2], f32[4]) tuple(head, part) }
"""

WINDOW = """\
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[8] parameter(0) zero = f32[] parameter(1)
  ROOT window = f32[6] reduce-window(x, zero), window={size=3}, to_apply=sum,
    metadata={source_file="model.py" source_line=7} }
"""

FILES: Final = {
    "softmax_sum.hlo": SOFTMAX_SUM,
    "looked_up.hlo": LOOKED_UP,
    "row_shares.hlo": ROW_SHARES,
    "parts.hlo": PARTS,
    "window.hlo": WINDOW,
}
"""The modules that calls may name."""

_BODY = """{ x = f32[64,32] parameter(0)
  e = f32[64,32] exponential(x)
  ROOT n = f32[64,32] negate(e) }
"""
_ONCE = f"HloModule f\nENTRY main {_BODY}"
_TWICE = _ONCE.replace("exponential(x)", "exponential(u)").replace(
    "  e =",
    """  t = f32[32,64] transpose(x), dimensions={1,0}
  u = f32[64,32] transpose(t), dimensions={1,0}
  e =""",
)
_FUSED = f"""\
HloModule f
fused {_BODY}
ENTRY main {{ x = f32[64,32] parameter(0)
  ROOT n = f32[64,32] fusion(x), kind=kLoop, calls=fused }}
"""

_PASSES = {
    "simplification.after_pipeline-start.before_algsimp": _TWICE,
    "simplification.after_algsimp.before_dce": _ONCE,
    "simplification.after_dce.before_pipeline-end": _ONCE,
    "fusion.after_priority-fusion.before_pipeline-end": _FUSED,
}


def dumped(folder: Path) -> Path:
    """A folder as XLA dumps it: a module between any two passes, and other files."""
    folder.mkdir()
    for number, (name, text) in enumerate(_PASSES.items()):
        (folder / f"module_0001.f.{number:04}.{name}.txt").write_text(text)
    (folder / "module_0001.f.cpu_after_optimizations.txt").write_text(_FUSED)
    (folder / "module_0001.f.flagfile").write_text("--xla_flag=1")
    return folder
