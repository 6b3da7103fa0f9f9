"""Edits where a user asks more of what it reads than its shape: bitcasts, starts, tuples, calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ops import hlo
from ops.hlo import ModuleEditor
from tests.cases import for_all, for_rows

TEXT = """
inner { ip = f32[4,4] parameter(0) ROOT iq = f32[4,4] sine(ip) }
turned { tp = f32[4,4] parameter(0) ROOT tq = f32[4,4]{0,1} copy(tp) }
flat { fp = f32[4,4]{0,1} parameter(0) ROOT fq = f32[16] bitcast(fp) }
passed { pp = f32[4,4]{0,1} parameter(0) ROOT pq = f32[4,4]{0,1} negate(pp) }
body {
  bp = (f32[4,4], s32[]) parameter(0)  bx = f32[4,4] get-tuple-element(bp), index=0
  bi = s32[] get-tuple-element(bp), index=1  one = s32[] constant(1)  bn = s32[] add(bi, one)
  bc = f32[4,4] call(bx), to_apply=inner  bm = f32[4,4] multiply(bc, bc)
  ROOT bt = (f32[4,4], s32[]) tuple(bm, bn) }
cond {
  cp = (f32[4,4], s32[]) parameter(0)  ci = s32[] get-tuple-element(cp), index=1
  limit = s32[] constant(3)  ROOT cl = pred[] compare(ci, limit), direction=LT }
br0 { p0 = f32[4,4] parameter(0) ROOT r0 = f32[4,4] negate(p0) }
br1 { p1 = f32[4,4] parameter(0) ROOT r1 = f32[4,4] call(p1), to_apply=inner }
wrapped { wp = f32[4,4] parameter(0) ROOT wr = f32[4,4] custom-call(wp), custom_call_target="w" }
other { op = f32[4,4] parameter(0) ROOT or = f32[4,4] custom-call(op), custom_call_target="o" }
ENTRY e {
  t = (f32[4,4], s32[]) parameter(0)  a = f32[4,4] parameter(1)
  w = (f32[4,4], s32[]) while(t), condition=cond, body=body
  wx = f32[4,4] get-tuple-element(w), index=0  wi = s32[] get-tuple-element(w), index=1
  c = f32[4,4] conditional(wi, wx, a), branch_computations={br0, br1}
  sq = f32[4,4] multiply(c, c)
  start = ((f32[4,4]), f32[4,4], s32[]) async-start(sq), calls=wrapped
  done = f32[4,4] async-done(start), calls=wrapped
  cs = (f32[4,4], f32[4,4], u32[]) copy-start(a)  cd = f32[4,4] copy-done(cs)
  k = f32[4,4]{0,1} copy(a)  l = f32[4,4]{0,1} sine(k)  b = f32[16] bitcast(l)
  v = f32[4,1,4] reshape(a)  line = f32[16] bitcast(v)
  ct = f32[4,4] call(a), to_apply=turned  bt2 = f32[16] bitcast(ct)
  cf = f32[16] call(a), to_apply=flat  cpass = f32[4,4] call(a), to_apply=passed
  both = (f32[4,4], f32[16]) tuple(a, b)
  all = (f32[4,4], f32[4,4], f32[16], f32[16]) tuple(done, cd, b, line)
  ROOT r = (f32[16], f32[16], f32[4,4]) tuple(bt2, cf, cpass) }
"""
M = hlo.parse(TEXT)
OTHER_LAYOUT = "{}: bitcast %{} would find other elements: .* expected the same layout"
APART = "%{} continues %{}; expected both of them or none"
A: Any = M["a"]
F = "f32[4,4]"
Change = Callable[[ModuleEditor], object]

REFUSED: list[tuple[str, Change, str]] = [
    ("a bitcast of another layout", lambda e: e.replace(M["l"], A),
     (r"bitcast %b would find other elements: %a is f32\[4,4\]\{1,0\}, but %l, which it "
      r"reads, is f32\[4,4\]\{0,1\}; expected the same layout")),
    ("some uses of another layout", lambda e: e.replace_uses(M["l"], A, [M["b"]]),
     OTHER_LAYOUT.format("replace", "b")),
    ("a call inlined before a bitcast", lambda e: e.inline(M["ct"]),
     OTHER_LAYOUT.format("inline", "bt2")),
    ("a call inlined around a bitcast", lambda e: e.inline(M["cf"]),
     OTHER_LAYOUT.format("inline", "fq")),
    ("a start replaced",
     lambda e: e.replace(M["cs"], e.insert("tuple", [A, A, e.constant(0, "u32[]")])),
     "%cd continues %cs, but %tuple is tuple; expected the start of the same operation"),
    ("a start of another computation",
     lambda e: e.replace(M["start"], e.clone(M["start"], calls=M.computation("other"))),
     "%done continues %start, but %start.1 is async-start; expected the start of the same"),
    ("a start alone outlined", lambda e: e.outline([M["start"]], "call"),
     "outline: " + APART.format("done", "start")),
    ("an end alone outlined", lambda e: e.outline([M["cd"]]), APART.format("cd", "cs")),
    ("the end of nothing", lambda e: e.insert("copy-done", [M["both"]]),
     "insert: copy-done: %both is tuple; expected copy-start"),
    ("the end of another start", lambda e: e.insert("async-done", [M["cs"]]),
     "%cs is copy-start; expected async-start or async-update"),
    ("the end in another shape", lambda e: e.insert("async-done", [M["start"]], "f32[5]"),
     r"the result is f32\[4,4\]\{1,0\}, not f32\[5\]"),
    ("a tuple negated", lambda e: e.insert("negate", [M["both"]]),
     r"insert: negate: %both is \(f32\[4,4\]\{1,0\}, f32\[16\]\{0\}\); expected an array"),
    ("a tuple as a bitcast", lambda e: e.insert("bitcast", [M["both"]], "f32[32]"), "an array"),
    ("a bitcast to a tuple", lambda e: e.insert("bitcast", [A], f"({F})"), "expected an array"),
    ("a bitcast to more", lambda e: e.insert("bitcast", [A], "f32[17]"),
     r"f32\[4,4\]\{1,0\} has 64 bytes, but f32\[17\]\{0\} has 68"),
    ("a tuple copied into another", lambda e: e.insert("copy", [M["both"]], f"({F}, f32[17])"),
     "the result is .*, not "),
    ("a conditional without branches", lambda e: e.insert("conditional", [M["wi"], A]),
     "insert: conditional: expected attribute branch_computations or true_computation"),
    ("a computation by name", lambda e: e.insert("call", [A], to_apply="inner"),
     r"to_apply is 'inner'; expected a Computation, such as module.computation\(name\)"),
    ("a computation that calls itself",
     lambda e: (
         e.replace(M["iq"], e.insert("call", [M["ip"]], to_apply=M.computation("br1"))),
         e.finish()), "each of these needs the next one: %inner -> %br1 -> %inner"),
    ("an argument of another shape",
     lambda e: e.insert("call", [M["wi"]], to_apply=M.computation("inner")),
     r"parameter 0 of %inner is f32\[4,4\]\{1,0\}, not s32\[\]"),
]  # fmt: skip


@for_rows(REFUSED)
def test_what_a_user_could_not_read_is_refused(change: Change, message: str) -> None:
    with pytest.raises(hlo.EditError, match=message):
        change(hlo.edit(M))


@for_rows([REFUSED[0], REFUSED[3]])
def test_what_is_refused_changes_nothing(change: Change, message: str) -> None:
    editor = hlo.edit(M)
    with pytest.raises(hlo.EditError, match=message):
        change(editor)
    assert editor.finish() is M


LOOP: Any = {"condition": M.computation("cond"), "body": M.computation("body")}

DONE: list[tuple[str, Change, list[str]]] = [
    # a change, and lines that are in the text afterwards
    ("a bitcast along a dimension of size 1",
     lambda e: e.replace_uses(M["v"], e.clone(M["v"], shape="f32[4,1,4]{2,0,1}"), [M["line"]]),
     ["%line = f32[16]{0} bitcast(%v.1)"]),
    ("a call without bitcasts inlined", lambda e: e.inline(M["cpass"]),
     ["%pq = f32[4,4]{0,1} negate(%a)"]),
    ("a call in a body inlined", lambda e: e.inline(M["bc"]),
     ["%bm = f32[4,4]{1,0} multiply(%iq, %iq)"]),
    ("a call in a branch inlined", lambda e: e.inline(M["r1"]),
     ["ROOT %iq = f32[4,4]{1,0} sine(%p1)"]),
    ("a loop outlined", lambda e: e.outline([M["w"], M["wx"]], "call"),
     ["call(%t), to_apply=%call_computation", "while(%param_0), condition=%cond, body=%body"]),
    ("an asynchronous operation outlined", lambda e: e.outline([M["start"], M["done"]], "call"),
     ["ROOT %done = f32[4,4]{1,0} async-done(%start), calls=%wrapped"]),
    ("an asynchronous operation again",
     lambda e: e.replace(M["done"], e.insert("async-done", [e.clone(M["start"])])),
     ["%async-done = f32[4,4]{1,0} async-done(%start.1), calls=%wrapped"]),
    ("a tuple copied",
     lambda e: e.replace_uses(
         M["w"], e.insert("copy", [M["w"]], f"({F}{{0,1}}, s32[])"), [M["wi"]]),
     ["%copy = (f32[4,4]{0,1}, s32[]) copy(%w)", "tuple-element(%copy)"]),
    ("an element of a parameter",
     lambda e: e.replace(M["wx"], e.insert("get-tuple-element", [M["t"]], index=0)),
     ["%get-tuple-element = f32[4,4]{1,0} get-tuple-element(%t), index=0"]),
    ("other branches",
     lambda e: e.replace(M["c"], e.clone(M["c"], branch_computations=(M.computation("br1"),) * 2)),
     ["branch_computations={%br1, %br1}"]),
    ("another loop", lambda e: e.replace(M["w"], e.insert("while", [M["t"]], **LOOP)),
     ["%while = (f32[4,4]{1,0}, s32[]) while(%t), condition=%cond, body=%body"]),
    ("a result that is the argument", lambda e: e.replace(M["iq"], M["ip"]),
     ["ROOT %ip = f32[4,4]"]),
    ("what is used twice", lambda e: e.replace(M["c"], A),
     ["%sq = f32[4,4]{1,0} multiply(%a, %a)"]),
]  # fmt: skip


@for_rows(DONE)
def test_what_a_user_can_read_is_there(change: Change, lines: list[str]) -> None:
    editor = hlo.edit(M)
    change(editor)
    text = str(editor.finish())
    assert [line for line in lines if line not in text] == []
    assert str(hlo.parse(text)) == text


CONSTANTS: list[tuple[object, str, str]] = [
    ([1, 2], "f32[2]", "{1, 2}"),
    ([[True, False]], "pred[1,2]", "{{true, false}}"),
    (np.arange(6).reshape(2, 3), "s32[2,3]", "{{0, 1, 2}, {3, 4, 5}}"),
    (np.float32(1.5), "f32[]", "1.5"),
    (1 - 2j, "c64[]", "(1.0, -2.0)"),
    ((1, [2.5]), "(s32[], f32[1])", "(1, {2.5})"),
]


@for_all(CONSTANTS)
def test_constants_are_lists_and_arrays_too(value: object, shape: str, text: str) -> None:
    made = str(hlo.edit(M).constant(value, shape))
    assert made.endswith(f" constant({text})")
    assert str(hlo.parse(f"ENTRY e {{ ROOT {made} }}").entry.root) == made
