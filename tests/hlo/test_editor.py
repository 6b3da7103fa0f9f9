"""Modules that are edited: what they say after it, and what they compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from ops import hlo
from ops.hlo import ModuleEditor
from simplifier.errors import ArgumentError
from tests.call_counts import calls_of
from tests.cases import for_all, for_named, for_rows, for_table
from tests.ops import oracle

TEXT = """
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
twice { p = f32[2,3] parameter(0) ROOT q = f32[2,3] add(p, p), metadata={op_name="twice"} }
ENTRY e {
  a = f32[2,3] parameter(0)  b = f32[3,2]{1,0} transpose(a), dimensions={1,0}
  c = f32[2,3] transpose(b), dimensions={1,0}, sharding={replicated}, metadata={op_name="c"}
  d = f32[2,3] call(c), to_apply=twice  s = f32[2,3] sine(d)  n = f32[2,3] negate(s)
  ROOT r = (f32[2,3], f32[2,3]) tuple(n, s) }
"""
M = hlo.parse(TEXT)


def doubled_in_a_callee(editor: ModuleEditor) -> None:
    x = M["p"]
    two = editor.constant(2, "f32[]", into=x.computation)
    wide = editor.insert("broadcast", [two], "f32[2,3]")
    editor.replace(M["q"], editor.insert("multiply", [x, wide], like=M["q"]))


Change = Callable[[ModuleEditor], object]
PAIR = "(f32[2,3]{1,0}, f32[2,3]{1,0})"

EDITED: list[tuple[str, Change, int, list[str]]] = [
    # a change, a computation, and how its lines begin afterwards
    ("cancelled", lambda e: e.replace(M["c"], M["a"]), -1,
     ["%a = ", "%d = f32[2,3]{1,0} call(%a), to_apply=%twice", "%s = ", "%n", "%r"]),
    ("inlined", lambda e: e.inline(M["d"]), -1,
     [*("%a", "%b", "%c"), '%q = f32[2,3]{1,0} add(%c, %c), metadata={op_name="twice"}',
      *("%s = f32[2,3]{1,0} sine(%q)", "%n", "%r")]),
    ("fused", lambda e: e.outline([M["s"], M["n"]]), -1,
     [*("%a", "%b", "%c", "%d"),
      f"%fusion = {PAIR} fusion(%d), calls=%fusion_computation, kind=kLoop",
      "%get-tuple-element.1 = f32[2,3]{1,0} get-tuple-element(%fusion), index=1",
      "%get-tuple-element = f32[2,3]{1,0} get-tuple-element(%fusion), index=0",
      f"%r = {PAIR} tuple(%get-tuple-element.1, %get-tuple-element)"]),
    ("called", lambda e: e.outline([M["c"], M["b"]], "call", name="turn"), -1,
     ["%a", "%turn = f32[2,3]{1,0} call(%a), sharding={replicated}, metadata={op_name=",
      *("%d = f32[2,3]{1,0} call(%turn)", "%s", "%n", "%r")]),
    ("cloned", lambda e: e.replace(M["c"], e.clone(M["c"], shape="f32[2,3]{0,1}")), -1,
     ["%a", "%b", "%c.1 = f32[2,3]{0,1} transpose(%b), dim", "%d", "%s", "%n", "%r"]),
    ("doubled in a callee", doubled_in_a_callee, 0,
     [*("%p", "%constant = f32[] constant(2)"), "%broadcast = f32[2,3]{1,0} broadcast(%constant)",
      '%multiply = f32[2,3]{1,0} multiply(%p, %broadcast), metadata={op_name="twice"}']),
]  # fmt: skip
EDITS: dict[str, Change] = {
    **{name: change for name, change, *_ in EDITED},
    "inlined and fused": lambda e: e.outline([*e.inline(M["d"]), M["s"], M["n"]]),
    "negated in between": lambda e: e.replace_uses(
        M["s"], e.insert("negate", [e.insert("negate", [M["s"]])]), [M["n"]]
    ),
}


@for_rows(EDITED)
def test_an_edit_says(change: Change, place: int, expected: list[str]) -> None:
    before, editor = str(M), hlo.edit(M)
    change(editor)
    module = editor.finish()
    bodies = [each for each in module.computations if each.name in {"e", "twice"}]
    found = [str(each) for each in bodies[place].instructions]
    assert len(found) == len(expected), found
    assert all(line.startswith(part) for line, part in zip(found, expected, strict=True)), found
    assert str(M) == before
    assert str(hlo.parse(str(module))) == str(module)


@pytest.mark.needs("jax")
@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_an_edit_keeps_the_results(change: Change) -> None:
    editor = hlo.edit(M)
    change(editor)
    operand = np.arange(6, dtype=np.float32).reshape(2, 3)
    called = str(editor.finish()).replace(" fusion(", " call(").replace(", kind=kLoop", "")
    texts = str(M), called.replace("calls=", "to_apply=")  # XLA's CPU takes no fusions as input
    before, after = (oracle.program(each)(operand) for each in texts)
    assert len(before) == 2
    assert all(map(np.array_equal, before, after))


def test_without_a_change_it_is_the_same_module_and_users_may_read_what_is_there() -> None:
    editor = hlo.edit(M)
    assert editor.finish() is M
    editor.replace_uses(M["s"], M["d"], [M["n"]])
    assert [each.name for each in editor.finish()["n"].operands] == ["d"]


def test_what_was_replaced_stands_for_its_replacement() -> None:
    editor = hlo.edit(M)
    editor.replace(M["c"], M["a"])
    editor.replace(M["d"], M["c"])
    assert editor.operands(M["s"]) == (M["a"],)
    assert [each.name for each in editor.users(M["a"])] == ["s"]
    assert [each.name for each in editor.finish().entry.instructions] == ["a", "s", "n", "r"]
    assert len(editor.finish().computations) == 2  # nothing called %add before


@for_table("""
a b x k o r
    ENTRY e { a = f32[2] parameter(0) b = f32[2] negate(a) c = f32[2] sine(b) x = f32[2]
     custom-call(a), custom_call_target="t", custom_call_has_side_effect=true k = token[]
     after-all() o = token[] outfeed(b, k)  ROOT r = f32[2] cosine(a) }
# the first channel is a channel
a s r
    add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) } ENTRY e { a =
     f32[2] parameter(0) s = f32[2] all-reduce(a), channel_id=0, replica_groups={}, to_apply=add t =
     f32[2] all-reduce(a), replica_groups={}, to_apply=add  ROOT r = f32[2] sine(a) }
""")
def test_dead_code_goes_and_effects_stay(kept: str, text: str) -> None:
    editor = hlo.edit(hlo.parse(text))
    editor.remove_dead_code()
    assert [each.name for each in editor.finish().entry.instructions] == kept.split()


def test_a_dot_may_sum_up_in_another_type() -> None:
    editor = hlo.edit(hlo.parse("ENTRY e { ROOT a = s8[4,4] parameter(0) }"))
    contracted: dict[str, Any] = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    dot = editor.insert("dot", [editor.root(), editor.root()], "s32[4,4]", **contracted)
    assert str(editor.clone(dot).shape) == "s32[4,4]{1,0}"
    with pytest.raises(hlo.EditError, match=r"the result is s8\[4,4\]"):
        editor.clone(dot, shape="s32[4,5]")


def test_an_effect_that_is_inserted_keeps_the_calls_that_lead_to_it() -> None:
    module = hlo.parse("""f { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }
        g { x = f32[2] parameter(0) ROOT y = f32[2] call(x), to_apply=f }
        ENTRY e { a = f32[2] parameter(0) c = f32[2] call(a), to_apply=g
        ROOT r = f32[2] sine(a) }""")
    editor = hlo.edit(module)
    x = module.computation("f").parameters[0]
    token = editor.insert("after-all", into=x.computation)
    editor.insert("outfeed", [x, token], "token[]")
    editor.remove_dead_code()
    after = editor.finish()
    assert [each.name for each in after.entry.instructions] == ["a", "c", "r"]
    assert [each.opcode for each in after.find(opcode="outfeed")] == ["outfeed"]


WAITING = hlo.parse("""ENTRY e { a = f32[] parameter(0) b = f32[] sine(a)
    c = f32[] cosine(a), control-predecessors={b} d = f32[] tan(a), control-predecessors={c}
    f = f32[] negate(a), control-predecessors={d}
    ROOT r = (f32[], f32[], f32[], f32[]) tuple(b, d, c, f) }""")


def predecessors(module: hlo.HloModule, name: str) -> list[str]:
    return [each.name for each in module[name].attributes["control-predecessors"]]


def test_who_waited_for_what_went_waits_for_what_that_waited_for_or_the_call() -> None:
    editor = hlo.edit(WAITING)
    editor.replace(WAITING["c"], WAITING["a"])
    assert predecessors(editor.finish(), "d") == ["b"]
    editor = hlo.edit(WAITING)
    call = editor.outline([WAITING["d"], WAITING["c"]], "call").name
    after = editor.finish()
    assert [predecessors(after, name) for name in ("d", call, "f")] == [["c"], ["b"], [call]]
    assert str(hlo.parse(str(after))) == str(after)


@for_named("""
outline-unread => more n => n => y
a chain of it => dead more n => n => y
nothing else => dead more => dead more => x
that reads a result => n odd => n => y
""")
def test_what_nobody_reads_is_not_outlined(names: str, copied: str, reads: str) -> None:
    module = hlo.parse("""ENTRY e { x = f32[2] parameter(0) y = f32[3] parameter(1)
        dead = f32[2] negate(x) more = f32[2] abs(dead) n = f32[3] negate(y) odd = f32[3] sine(n)
        ROOT r = f32[3] abs(n) }""")
    editor = hlo.edit(module)
    call = editor.outline([module[name] for name in names.split()])
    after = editor.finish()[call.name]
    inside = after.attributes["calls"].instructions
    assert [each.name for each in inside if each.opcode != "parameter"] == copied.split()
    assert [each.name for each in after.operands] == reads.split()
    assert {each.name for each in after.computation.instructions}.isdisjoint(names.split())
    assert all(each.users or each.is_root for each in inside)


AFTER_B: Any = {"control-predecessors": M["b"]}

REFUSED: list[tuple[Change, str]] = [
    (lambda e: e.replace(M["c"], M["b"]), r"%b is f32\[3,2\]\{1,0\}, but %c is f32\[2,3\]"),
    (lambda e: e.replace(M["a"], M["c"]) or e.finish(), "each of these needs the next one: %"),
    (lambda e: e.replace(M["s"], M["n"]), "%n reads %s, which would go"),
    (lambda e: e.replace(M["q"], M["a"]), "%q and %a stand in %twice and %e"),
    (lambda e: e.remove(M["s"]), "%s is needed: %n, %r read it"),
    (lambda e: e.remove(M["r"]), "it is the result"),
    (lambda e: e.inline(M["s"]), "%s is sine; expected call or fusion"),
    (lambda e: e.outline([M["a"], M["b"]]), "%a is a parameter"),
    (lambda e: e.outline([]), "expected instructions of one computation"),
    (lambda e: e.outline([M["b"], M["d"]]) and e.finish(), "each of these needs the next one"),
    (lambda e: e.insert("add", [M["a"], M["b"]]), "the operands have different sizes"),
    (lambda e: e.insert("add", [M["a"]]), "add takes 2 operands, not 1"),
    (lambda e: e.insert("negate", [M["a"]], "f32[3]"), r"the result is f32\[2,3\]\{1,0\}, not"),
    (lambda e: e.insert("transpose", [M["a"]]), "expected attribute dimensions"),
    (lambda e: e.insert("negate", [M["a"]], dimension=(1,)), "there is no attribute dimension"),
    (lambda e: e.insert("transpose", [M["a"]], dimensions="x"), "expected a number, but found 'x'"),
    (lambda e: e.insert("reshape", [M["a"]], "f32[5]"), "reshape keeps the number of elements"),
    (lambda e: e.insert("broadcast", [M["a"]], "f32[2]", dimensions=(0,)), "do not lead from"),
    (lambda e: e.constant("{1}", "f32[2]"), "expected 2 elements"),
    (lambda e: e.users(hlo.parse(TEXT)["a"]), "computation %e is of another module"),
    (lambda e: (e.replace(M["c"], M["a"]), e.users(M["b"])), "%b was removed from %e"),
    (lambda e: e.insert("broadcast", [M["a"]], "f32[2,3,4]"), "expected attribute dimensions"),
    (lambda e: e.insert("broadcast", [M["r"]], "f32[2]", dimensions=()), "expected an array"),
    (lambda e: e.insert("negate", [M["a"]], **AFTER_B), "a tuple of Inst"),
    (lambda e: e.insert("constant", (), "f32[]"), "a constant has a value"),
    (lambda e: e.clone(e.constant("{1,2}", "f32[2]"), shape="f32[3]"), "expected 3 elements"),
    (lambda e: e.constant(e.constant(0.5, "f32[]").literal, "s32[]"), "expected an integer"),
    (lambda e: e.insert("negate", [M["a"]], name="a b"), "the name is 'a b'; expected one such"),
    (lambda e: e.outline([M["n"]], name="f32"), "the name is 'f32'; expected one such"),
]


@for_all(REFUSED)
def test_what_makes_no_sense_is_refused(change: Change, message: str) -> None:
    with pytest.raises(hlo.EditError, match=message):
        change(hlo.edit(M))


NO_LIST: Any = M["a"]
NO_INSTRUCTION: Any = "a"
WRONG_TYPES: list[tuple[Change, str]] = [
    (lambda e: e.insert("negate", NO_LIST), "edit: the list of instructions is "),
    (lambda e: e.outline(NO_LIST), "expected a list or tuple"),
    (lambda e: e.insert("negate", [M["a"]], like=NO_INSTRUCTION), "insert: like is 'a'"),
    (lambda e: e.insert("negate", [M["a"]], cast("Any", 3)), "insert: the shape is 3"),
    (lambda e: e.insert("negate", [M["a"]], name=cast("Any", 3)), "edit: the name is 3"),
]


@for_all(WRONG_TYPES)
def test_what_is_of_another_type_is_named(change: Change, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        change(hlo.edit(M))


def test_names_may_have_a_percent_sign_and_constants_other_types() -> None:
    editor = hlo.edit(M)
    two = editor.constant(2, "s32[]", name="%two")
    wide = editor.clone(two, shape="f32[]")
    assert [str(two), str(wide)] == ["%two = s32[] constant(2)", "%two.1 = f32[] constant(2)"]
    assert editor.clone(two, opcode="iota", shape="s32[4]", iota_dimension=0).literal is None


def test_the_work_of_edits_grows_with_their_number() -> None:
    """Four times the edits of a module four times as large: no change looks through the module."""

    def calls(count: int) -> int:
        steps = "".join(f"n{i + 1} = f32[2] negate(n{i})\n" for i in range(count))
        module = hlo.parse(f"ENTRY e {{ n0 = f32[2] parameter(0)\n{steps} }}")

        def edit() -> None:
            editor = hlo.edit(module)
            for each in module.entry.instructions[2::2]:
                editor.replace(each, each.operands[0].operands[0])
            assert len(editor.finish().entry.instructions) == 1

        return calls_of(edit)

    assert calls(2000) <= 4.5 * calls(500)


def test_a_loop_carries_more_where_its_state_is_used_whole() -> None:
    module = hlo.parse("""body { s = (s32[]) parameter(0) c = (s32[]) copy(s)
          i = s32[] get-tuple-element(c),
          index=0 j = s32[] add(i, i) ROOT t = (s32[]) tuple(j) }
        few { s = (s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
          n = s32[] constant(9) ROOT l = pred[] compare(i, n), direction=LT }
        ENTRY e { a = s32[] parameter(0) x = f32[2] parameter(1) t = (s32[]) tuple(a)
          ROOT w = (s32[]) while(t), condition=few, body=body }""")
    editor = hlo.edit(module)
    (inside,) = editor.carry(module.entry.root, [module["x"]])
    assert str(inside.shape) == "f32[2]{0}"
    after = editor.finish()
    assert str(after.entry.root.shape) == "(s32[])"
    assert str(hlo.parse(str(after))) == str(after)
    with pytest.raises(hlo.EditError, match="expected a while with a body of its own"):
        hlo.edit(module).carry(module["x"], [module["x"]])
