"""Maps along fusions, calls and tuples; that work stays linear where paths do not."""

from __future__ import annotations

import pytest

from ops import ShapeError, Unknown, fusion_indexing, hlo, input_to_output, output_to_input
from ops.dependence.dependence import Indexings
from tests.cases import for_all, pairs
from tests.indexing.tables import refusals
from tests.ops.agreement import said
from tests.ops.answers import known, texts

TUPLES = hlo.parse("""HloModule tuples
    inner { a = f32[4,6] parameter(0) t = f32[6,4] transpose(a), dimensions={1,0}
      ROOT both = (f32[4,6], f32[6,4]) tuple(a, t) }
    outer { a = f32[4,6] parameter(0) f = (f32[4,6], f32[6,4]) fusion(a), kind=kLoop, calls=inner
      x = f32[6,4] get-tuple-element(f), index=1 n = f32[6,4] negate(x)
      ROOT all = ((f32[4,6], f32[6,4]), f32[6,4]) tuple(f, n) }
    ENTRY e { p = f32[24] parameter(0) q = f32[4,6] reshape(p)
      c = ((f32[4,6], f32[6,4]), f32[6,4]) call(q), to_apply=outer
      g = (f32[4,6], f32[6,4]) get-tuple-element(c), index=0
      y = f32[6,4] get-tuple-element(c), index=1 r = f32[6,4] reverse(y), dimensions={0}
      ROOT root = (f32[6,4], (f32[4,6], f32[6,4])) tuple(r, g) }""")

THROUGH_TUPLES = pairs("""
root r => (d0, d1) -> (d0, d1)
y c all n f both t => (d0, d1) -> (-d0 + 5, d1)
a q => (d0, d1) -> (d1, -d0 + 5)
p => (d0, d1) -> (d1 * 6 - d0 + 5)
""")


@for_all(THROUGH_TUPLES.items())
def test_tuples_and_nested_calls_are_looked_through(names: str, expected: str) -> None:
    found = fusion_indexing(TUPLES.entry.root)
    answers = {(each.name, *texts(found[each])) for each in found if each.name in names.split()}
    assert answers == {(name, expected) for name in names.split()}


def test_only_the_arrays_that_are_needed_are_reached() -> None:
    found = fusion_indexing(TUPLES.entry.root)
    assert TUPLES["g"] not in found
    elements = {each.name: elements_of(found[each]) for each in found}
    assert elements == elements | {"root": [0], "c": [2], "f": [1], "both": [1]}


def elements_of(answer: Indexings) -> list[int]:
    return [way.element for way in known(answer)]


def test_every_output_of_a_call_has_its_maps() -> None:
    expected = [["(d0, d1) -> (d0, d1)"], *[["(d0, d1) -> (d1, d0)"]] * 2]
    answers = [output_to_input(TUPLES["c"], output).indexing for output in range(3)]
    assert [texts(answer) for (answer,) in answers] == expected
    assert [*map(texts, input_to_output(TUPLES["c"]).indexing)] == expected


def test_elements_tell_which_array_of_a_tuple_is_meant() -> None:
    (first,) = output_to_input(TUPLES["g"], 1).indexing
    (second,) = output_to_input(TUPLES["y"]).indexing
    assert (elements_of(first), elements_of(second)) == ([1], [2])
    (back, *others) = input_to_output(TUPLES["root"], 1).indexing
    assert (back, [texts(other) for other in others]) == ((), [["(d0, d1) -> (d0, d1)"]] * 2)


COPIED = [
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]",
    "(d0)<p_1_0> -> (d0), domain: d0 in [0, p_1_0 - 1], p_1_0 in [0, 5]",
    *["() -> ()"] * 2,
]


@for_all([*enumerate(COPIED)])
def test_each_array_of_a_tuple_is_copied_whatever_the_layout(number: int, expected: str) -> None:
    copy = hlo.parse("""ENTRY e { p = (f32[4,8], (f32[<=5], s32[]), token[]) parameter(0)
        ROOT c = (f32[4,8]{0,1}, (f32[<=5], s32[]), token[]) copy(p) }""").entry.root
    found = output_to_input(copy, number)
    assert str(found.map()) == expected
    assert input_to_output(copy).map(number) == found.map()
    assert elements_of(found.indexing[0]) == [number]


def test_an_operand_that_is_not_needed_has_no_map() -> None:
    module = hlo.parse("""HloModule m
        f { a = f32[3] parameter(0) b = f32[3] parameter(1) ROOT r = f32[3] negate(b) }
        ENTRY e { p = f32[3] parameter(0) ROOT r = f32[3] fusion(p, p), kind=kLoop, calls=f }""")
    first, second = output_to_input(module.entry.root).indexing
    assert (first, texts(second)) == ((), ["(d0) -> (d0)"])
    assert input_to_output(module.entry.root, 0).indexing == ((),)


def test_what_has_no_map_hides_only_what_is_behind_it() -> None:
    module = hlo.parse("""ENTRY e { p = f32[3] parameter(0) q = f32[3] parameter(1)
          c = f32[3] custom-call(p), custom_call_target="x" n = f32[3] negate(q)
          ROOT r = f32[3] add(c, n) }""")
    found = fusion_indexing(module.entry.root)
    assert found[module["p"]] == Unknown("custom-call: no indexing map of x")
    assert texts(found[module["c"]]) == ["(d0) -> (d0)"]
    assert texts(found[module["q"]]) == ["(d0) -> (d0)"]


def test_unknown_and_known_paths_together_are_unknown() -> None:
    module = hlo.parse("""ENTRY e { p = f32[3] parameter(0)
          c = f32[3] custom-call(p), custom_call_target="x" ROOT r = f32[3] add(p, c) }""")
    unknown = Unknown("custom-call: no indexing map of x")
    assert fusion_indexing(module.entry.root)[module["p"]] == unknown


test_an_output_that_is_not_there_is_refused = refusals(globals(), ShapeError)("""
fusion_indexing(TUPLES["c"], -1) => %c: there is no output -1 among 3
fusion_indexing(TUPLES["c"], 3) => %c: there is no output 3 among 3
output_to_input(TUPLES["c"], -1) => %c: there is no output -1 among 3
output_to_input(TUPLES["c"], 3) => %c: there is no output 3 among 3
input_to_output(TUPLES["c"], 1) => %c: there is no operand 1 among 1
""")


# Both directions are one relation.

FUSIONS = [
    """f { a = f32[4,6] parameter(0) z = f32[] constant(0)
           s = f32[4] reduce(a, z), dimensions={1}, to_apply=sum
           b = f32[4,6] broadcast(s), dimensions={0} ROOT r = f32[4,6] divide(a, b) }""",
    """f { a = f32[4,6] parameter(0) t = f32[6,4] reshape(a)
           u = f32[4,6] transpose(t), dimensions={1,0}
           c = f32[4,12] concatenate(a, u), dimensions={1}
           ROOT r = f32[2,5] slice(c), slice={[1:4:2], [2:12:2]} }""",
    """g { a = f32[4,6] parameter(0) ROOT t = f32[6,4] transpose(a), dimensions={1,0} }
       f { a = f32[4,6] parameter(0) h = f32[6,4] fusion(a), kind=kLoop, calls=g
           ROOT r = f32[4,4] dot(a, h), lhs_contracting_dims={1}, rhs_contracting_dims={0} }""",
    "f { a = f32[4,6] parameter(0) ROOT r = f32[3,5] slice(a), slice={[0:3], [0:5]} }",
]


@pytest.mark.parametrize("body", FUSIONS, ids=["softmax", "moves", "dot", "front"])
def test_both_directions_of_a_fusion_are_one_relation(body: str) -> None:
    computation = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }"
    shape = body.rpartition("ROOT r = ")[2].partition(" ")[0]
    entry = f"p = f32[4,6] parameter(0) ROOT r = {shape} fusion(p), kind=kLoop, calls=f"
    said(f"HloModule m {computation} {body} ENTRY e {{ {entry} }}", 0)


# Values in computations that are called more than once.

OFTEN_CALLED = hlo.parse("""part { x = f32[9] parameter(0) i = s32[] parameter(1)
      ROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4} }
    one { x = f32[9] parameter(0) i = s32[] parameter(1) a = f32[4] call(x, i), to_apply=part
      ROOT r = f32[4] negate(a) }
    other { x = f32[9] parameter(0) i = s32[] parameter(1) b = f32[4] call(x, i), to_apply=part
      ROOT r = f32[4] negate(b) }
    ENTRY e { p = f32[9] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
      c = f32[4] call(p, i), to_apply=one d = f32[4] call(p, j), to_apply=other
      f = f32[4] call(p, i), to_apply=one x = f32[4] add(c, d) ROOT r = f32[4] add(x, f) }""")


def test_calls_have_their_own_values_but_those_with_equal_operands() -> None:
    ways = fusion_indexing(OFTEN_CALLED.entry.root)[OFTEN_CALLED.entry.parameters[0]]
    assert texts(ways) == ["(d0){rt0} -> (d0 + rt0)"] * 2
    assert isinstance(ways, tuple)
    assert sorted(str(way.runtime[0]) for way in ways) == [
        "%i = s32[] parameter(1) in %a in %c; (d0) -> ()",
        "%i = s32[] parameter(1) in %b in %d; (d0) -> ()",
    ]


# Work.


def test_a_computation_that_is_called_often_is_followed_once() -> None:
    """Sixty levels that call the level below twice: 2**60 calls."""
    level = """n{0} {{ a = f32[4,4] parameter(0) b = f32[4,4] call(a), to_apply=n{1}
        ROOT c = f32[4,4] call(b), to_apply=n{1} }}"""
    levels = " ".join(level.format(number, number - 1) for number in range(1, 61))
    module = hlo.parse(f"""HloModule m n0 {{ a = f32[4,4] parameter(0)
      ROOT t = f32[4,4] transpose(a), dimensions={{1,0}} }} {levels}
    ENTRY e {{ p = f32[4,4] parameter(0) ROOT r = f32[4,4] call(p), to_apply=n60 }}""")
    (answer,) = output_to_input(module.entry.root).indexing
    assert texts(answer) == ["(d0, d1) -> (d0, d1)"]
    inside = fusion_indexing(module.entry.root)[module.computations[0].root]
    assert sorted(texts(inside)) == ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"]
