"""Maps along fusions, calls and tuples; that work stays linear where paths do not."""

from __future__ import annotations

import pytest

from ops import ShapeError, Unknown, fusion_indexing, hlo, input_to_output, output_to_input
from ops.hlo import HloModule, Instruction
from tests.evaluation import related
from tests.ops.answers import known, texts


def named(module: HloModule, name: str) -> Instruction:
    return next(found for found in module.instructions if found.name == name)


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

THROUGH_TUPLES = [
    ("root", "(d0, d1) -> (d0, d1)"),
    ("r", "(d0, d1) -> (d0, d1)"),
    ("y", "(d0, d1) -> (-d0 + 5, d1)"),
    ("c", "(d0, d1) -> (-d0 + 5, d1)"),
    ("all", "(d0, d1) -> (-d0 + 5, d1)"),
    ("n", "(d0, d1) -> (-d0 + 5, d1)"),
    ("f", "(d0, d1) -> (-d0 + 5, d1)"),
    ("both", "(d0, d1) -> (-d0 + 5, d1)"),
    ("t", "(d0, d1) -> (-d0 + 5, d1)"),
    ("a", "(d0, d1) -> (d1, -d0 + 5)"),
    ("q", "(d0, d1) -> (d1, -d0 + 5)"),
    ("p", "(d0, d1) -> (d1 * 6 - d0 + 5)"),
]


@pytest.mark.parametrize(
    ("name", "expected"), THROUGH_TUPLES, ids=[row[0] for row in THROUGH_TUPLES]
)
def test_tuples_and_nested_calls_are_looked_through(name: str, expected: str) -> None:
    found = fusion_indexing(TUPLES.entry.root)
    answers = [answer for instruction, answer in found.items() if instruction.name == name]
    assert answers
    for answer in answers:
        assert texts(answer) == [expected]


def test_only_the_arrays_that_are_needed_are_reached() -> None:
    found = fusion_indexing(TUPLES.entry.root)
    assert named(TUPLES, "g") not in found
    elements = {
        name: [way.element for way in answer]
        for name in ("root", "c", "f", "both")
        if not isinstance(answer := found[named(TUPLES, name)], Unknown)
    }
    assert elements == {"root": [0], "c": [2], "f": [1], "both": [1]}


@pytest.mark.parametrize(
    ("output", "expected"),
    [(0, "(d0, d1) -> (d0, d1)"), (1, "(d0, d1) -> (d1, d0)"), (2, "(d0, d1) -> (d1, d0)")],
)
def test_every_output_of_a_call_has_its_maps(output: int, expected: str) -> None:
    (answer,) = output_to_input(named(TUPLES, "c"), output).indexing
    assert texts(answer) == [expected]


def test_an_input_has_maps_to_every_output() -> None:
    answers = input_to_output(named(TUPLES, "c")).indexing
    assert [texts(answer) for answer in answers] == [
        ["(d0, d1) -> (d0, d1)"],
        ["(d0, d1) -> (d1, d0)"],
        ["(d0, d1) -> (d1, d0)"],
    ]


def test_elements_tell_which_array_of_a_tuple_is_meant() -> None:
    (first,) = output_to_input(named(TUPLES, "g"), 1).indexing
    (second,) = output_to_input(named(TUPLES, "y")).indexing
    ways = (*first, *second) if isinstance(first, tuple) and isinstance(second, tuple) else ()
    assert [way.element for way in ways] == [1, 2]
    (back, *others) = input_to_output(named(TUPLES, "root"), 1).indexing
    assert (back, [texts(other) for other in others]) == ((), [["(d0, d1) -> (d0, d1)"]] * 2)


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
    assert found[named(module, "p")] == Unknown("custom-call: no indexing map of x")
    assert texts(found[named(module, "c")]) == ["(d0) -> (d0)"]
    assert texts(found[named(module, "q")]) == ["(d0) -> (d0)"]


def test_unknown_and_known_paths_together_are_unknown() -> None:
    module = hlo.parse("""ENTRY e { p = f32[3] parameter(0)
          c = f32[3] custom-call(p), custom_call_target="x" ROOT r = f32[3] add(p, c) }""")
    assert fusion_indexing(module.entry.root)[named(module, "p")] == Unknown(
        "custom-call: no indexing map of x"
    )


@pytest.mark.parametrize("output", [-1, 3])
def test_an_output_that_is_not_there_is_refused(output: int) -> None:
    call = named(TUPLES, "c")
    for ask in (fusion_indexing, output_to_input):
        with pytest.raises(ShapeError, match=f"%c: there is no output {output} among 3"):
            ask(call, output)
    with pytest.raises(ShapeError, match="%c: there is no operand 1 among 1"):
        input_to_output(call, 1)


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
    module = hlo.parse(
        f"HloModule m {computation} {body} ENTRY e {{ p = f32[4,6] parameter(0) "
        f"ROOT r = {shape} fusion(p), kind=kLoop, calls=f }}"
    )
    (there,) = output_to_input(module.entry.root).indexing
    (back,) = input_to_output(module.entry.root).indexing
    forward = [pair for way in known(there) for pair in related(way.map)]
    backward = [pair for way in known(back) for pair in related(way.map)]
    assert set(forward) == {(result, operand) for operand, result in backward}


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


def test_a_diamond_of_a_thousand_levels_has_one_map() -> None:
    """There are 2**1000 paths; equal maps are followed once."""
    levels = (f"x{level} = f32[8,4] add(x{level - 1}, x{level - 1})" for level in range(1, 1001))
    module = hlo.parse(
        "HloModule m ENTRY e { x0 = f32[8,4] parameter(0) "
        f"{' '.join(levels)} ROOT r = f32[8,4] copy(x1000) }}"
    )
    answer = fusion_indexing(module.entry.root)[module.entry.parameters[0]]
    assert texts(answer) == ["(d0, d1) -> (d0, d1)"]


def test_paths_that_differ_are_counted_once_for_each_map() -> None:
    """2**20 paths, 21 places."""
    levels = " ".join(
        f"a{level} = f32[{40 - level}] slice(x{level - 1}), slice={{[0:{40 - level}]}} "
        f"b{level} = f32[{40 - level}] slice(x{level - 1}), slice={{[1:{41 - level}]}} "
        f"x{level} = f32[{40 - level}] add(a{level}, b{level})"
        for level in range(1, 21)
    )
    module = hlo.parse(
        f"HloModule m ENTRY e {{ x0 = f32[40] parameter(0) {levels} ROOT r = f32[20] copy(x20) }}"
    )
    answer = fusion_indexing(module.entry.root)[module.entry.parameters[0]]
    assert sorted(texts(answer)) == sorted(
        ["(d0) -> (d0)", *(f"(d0) -> (d0 + {distance})" for distance in range(1, 21))]
    )


def test_a_computation_that_is_called_often_is_followed_once() -> None:
    """Sixty levels that call the level below twice: 2**60 calls."""
    levels = " ".join(
        f"n{level} {{ a = f32[4,4] parameter(0) b = f32[4,4] call(a), to_apply=n{level - 1} "
        f"ROOT c = f32[4,4] call(b), to_apply=n{level - 1} }}"
        for level in range(1, 61)
    )
    module = hlo.parse(
        "HloModule m n0 { a = f32[4,4] parameter(0) "
        "ROOT t = f32[4,4] transpose(a), dimensions={1,0} } "
        f"{levels} ENTRY e {{ p = f32[4,4] parameter(0) ROOT r = f32[4,4] call(p), to_apply=n60 }}"
    )
    (answer,) = output_to_input(module.entry.root).indexing
    assert texts(answer) == ["(d0, d1) -> (d0, d1)"]
    inside = fusion_indexing(module.entry.root)[module.computations[0].root]
    assert sorted(texts(inside)) == ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"]


@pytest.mark.parametrize("depth", [3000])
def test_depth_needs_no_recursion(depth: int) -> None:
    levels = " ".join(
        f"n{level} {{ a = f32[4] parameter(0) ROOT c = f32[4] call(a), to_apply=n{level - 1} }}"
        for level in range(1, depth)
    )
    module = hlo.parse(
        "HloModule m n0 { a = f32[4] parameter(0) "
        "ROOT t = f32[4] reverse(a), dimensions={0} } "
        f"{levels} ENTRY e {{ p = f32[4] parameter(0) "
        f"ROOT r = f32[4] call(p), to_apply=n{depth - 1} }}"
    )
    (answer,) = output_to_input(module.entry.root).indexing
    assert texts(answer) == ["(d0) -> (-d0 + 3)"]
