"""Texts that are only a part of a module: computations, or instructions without a computation."""

from __future__ import annotations

import pytest

from ops import Unknown, hlo, parameter_indexing
from tests.cases import for_all
from tests.hlo.module_structure import Structures

SCRAPS = [
    ("p0 = f32[10] parameter(0) q = f32[10] negate(p0)",
     "ENTRY e { p0 = f32[10] parameter(0) ROOT q = f32[10] negate(p0) }"),
    ("y = f32[2] power(f32[2] %b, f32[2] %a)",
     "ENTRY e { b = f32[2] parameter(0) a = f32[2] parameter(1) ROOT y = f32[2] power(b, a) }"),
    ("f32[4]{0} power(f32[4]{0}, f32[4]{0})",
     "ENTRY e { b = f32[4] parameter(0) a = f32[4] parameter(1) ROOT y = f32[4] power(b, a) }"),
    ("y = f32[2] add(a, a)", "ENTRY e { a = f32[2] parameter(0) ROOT y = f32[2] add(a, a) }"),
    ("ROOT y = f32[2] parameter(0) z = f32[2] negate(y)",
     "ENTRY e { ROOT y = f32[2] parameter(0) z = f32[2] negate(y) }"),
    ("g { ROOT x = f32[2] parameter(0) } y = f32[2] call(f32[2] a), to_apply=g",
     """g { ROOT x = f32[2] parameter(0) }
        ENTRY e { a = f32[2] parameter(0) ROOT y = f32[2] call(a), to_apply=g }"""),
    ("HloModule m: ENTRY e: { x: = f32[2] parameter(0) ROOT y = negate(x:) }",
     "HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = negate(x) }"),
]  # fmt: skip


@for_all(SCRAPS)
def test_a_scrap_is_read_as_a_module(scrap: str, whole: str) -> None:
    structures = Structures()
    module = hlo.parse(scrap)
    assert structures.of(module) == structures.of(hlo.parse(whole))
    assert structures.of(hlo.parse(str(module))) == structures.of(module)


NOT_SHOWN = {
    "computation-not-shown": """p = f32[8,4] parameter(0) z = f32[] constant(0)
        ROOT r = f32[8] reduce(p, z), dimensions={1}, to_apply=max""",
    "computation-not-shown of a fusion": """%f = bf16[32,32]{1,0:T(8,128)(2,1)S(1)}
        fusion(bf16[32,64]{1,0:T(8,128)(2,1)S(1)} %a), kind=kCustom, calls=%all-reduce-scatter.3""",
    "reduce": """r = (f32[8], s32[8]) reduce(f32[8,4] a, s32[8,4] i, f32[] z, s32[] k),
        dimensions={1}, to_apply=max""",
    "reduce-window": "w = f32[2] reduce-window(f32[4] a, f32[] z), window={size=2}, to_apply=add",
    "sort": "s = (f32[8], s32[8]) sort(f32[8] a, s32[8] b), dimensions={0}, to_apply=less",
    "while": "w = f32[8] while(f32[8] a), condition=c, body=b",
    "conditional": """c = f32[8] conditional(pred[] p, f32[8] a, f32[4] b),
        true_computation=t, false_computation=f""",
    "branches": "c = f32[8] conditional(s32[] p, f32[8] a, f32[4] b), branch_computations={t, f}",
    "all-reduce": "a = (f32[8], s32[]) all-reduce(f32[8] x, s32[] y), to_apply=add",
    "map": "m = pred[8] map(f32[8] a, s32[8] b), to_apply=less, dimensions={0}",
    "scatter": """s = f32[9] scatter(f32[9] a, s32[2,1] i, f32[2] u), update_window_dims={},
        inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1,
        to_apply=add""",
    "select-and-scatter": """s = f32[8] select-and-scatter(f32[8] a, f32[4] b, f32[] c),
        window={size=2 stride=2}, select=ge, scatter=add""",
    "call": "c = f32[4] call(f32[8] a, s32[] i), to_apply=g",
    "async-start": "s = ((f32[8]), f32[4], u32[]) async-start(f32[8] a), calls=g",
    "custom-call": """c = f32[8] custom-call(f32[8] a), custom_call_target="f",
        called_computations={g, h}""",
    "the same of other types": """a = f32[8] call(f32[8] x), to_apply=g
        b = f32[4] call(s32[] y), to_apply=g""",
}


@for_all([*NOT_SHOWN])
def test_computations_that_are_not_shown_are_custom_calls(name: str) -> None:
    module = hlo.parse(NOT_SHOWN[name])
    made = [each for each in module.computations if each is not module.entry]
    assert {each.root.opcode for each in made} == {"custom-call"}
    assert all(
        each.root.attributes["custom_call_target"].startswith(f"%{each.name.split('.')[0]}")
        for each in made
    )
    assert str(hlo.parse(str(module))) == str(module)


def test_what_is_not_shown_is_unknown_and_the_rest_is_not() -> None:
    fusion = hlo.parse(NOT_SHOWN["computation-not-shown of a fusion"]).entry.root
    assert str(fusion.shape) == "bf16[32,32]{1,0:T(8,128)(2,1)S(1)}"
    assert fusion.attributes["kind"] == "kCustom"
    found = parameter_indexing(fusion)[fusion.operands[0]]
    reason = "custom-call: no indexing map of %all-reduce-scatter.3, which is not shown"
    assert isinstance(found, Unknown)
    assert found.reason == reason
    reduce = hlo.parse(NOT_SHOWN["computation-not-shown"]).entry.root
    maps = parameter_indexing(reduce)[reduce.operands[0]]
    assert not isinstance(maps, Unknown)
    assert [str(each.map) for each in maps] == [
        "(d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 3]"
    ]


WRONG = [
    ("x = fusion(f32[8] a), kind=kLoop, calls=g", "the shape must be written, for %g is not shown"),
    ("x = f32[] conditional(pred[] p, s8[] a, s8[] b), true_computation=t", "there are 1 branches"),
    ("ENTRY e { a = f32[] parameter(0) b = f32[] call(a), to_apply=g }", "%g is not defined"),
]


@for_all(WRONG)
def test_scraps_with_such_computations_may_be_wrong(text: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError, match=message):
        hlo.parse(text)


HINTS = [
    ("y = f32[2] reverse(a), dimensions={0}", "with its shape before it, such as f32[2] %a"),
    ("a = f32[2] parameter(0) y = f32[2] reverse(aa), dimensions={0}", "did you mean a?"),
    ("g { ROOT x = f32[2] parameter(0) } y = f32[2] call(f32[2] a), to_apply=gg",
     "did you mean g?"),
    ("HloModule m y = f32[2] parameter(0)", "stand in a computation, such as ENTRY e { ... }"),
    ("HloModule m is_scheduled=true", "a comma is missing before an attribute of the module"),
]  # fmt: skip


@for_all(HINTS)
def test_hints_are_true(text: str, hint: str) -> None:
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(text)
    assert hint in caught.value.hint
