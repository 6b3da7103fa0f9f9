"""Fusions from any instruction to all that it reaches, as XLA's tests ask for it and beyond."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.formats.text import format_head
from ops import Fusion, Unknown, fusion_indexing, hlo
from ops.hlo import HloModule
from tests.cases import for_all, for_rows
from tests.fusion.enumeration import pairs_from, pairs_of
from tests.fusion.random_programs import Program, programs
from tests.fusion.small_programs import ROWS
from tests.fusion.units import Row, entry, fused, fusion_in, heads, named, whole


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_maps_are_those_expected(row: Row) -> None:
    found = row.fusion.indexing(row.first, row.output)
    assert {name: heads(found[named(row.module, name)]) for name in row.answers} == {
        name: sorted(maps) for name, maps in row.answers.items()
    }


IN_OWN_COMPUTATION = [row for row in ROWS if row.first.computation is row.fusion.computation]


@pytest.mark.parametrize("row", IN_OWN_COMPUTATION, ids=str)
def test_maps_are_what_single_elements_say(row: Row) -> None:
    start = row.first, row.output
    pairs = pairs_from(start, row.fusion.instructions)
    found = row.fusion.indexing(*start)
    assert {array[0] for array, related in pairs.items() if related} <= {*found}
    for instruction, answer in found.items():
        assert not isinstance(answer, Unknown)
        for number in {way.element for way in answer}:
            assert pairs_of(answer, number) == pairs[instruction, number], instruction


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_fusion_of_all_is_the_analysis_of_its_root(row: Row) -> None:
    computation = row.fusion.computation
    expected = fusion_indexing(computation.root)
    assert Fusion.of_computation(computation).indexing() == expected


@given(programs(), st.data())
def test_random_programs_are_what_elements_say(program: Program, data: st.DataObject) -> None:
    """From any instruction of the entry, within some of its instructions."""
    instructions = program.module.entry.instructions
    members = data.draw(st.lists(st.sampled_from(instructions), min_size=1, unique=True))
    fusion = Fusion.of_instructions(members)
    start = data.draw(st.sampled_from(fusion.instructions)), 0
    pairs = pairs_from(start, fusion.instructions)
    found = fusion.indexing(*start)
    assert {array[0] for array, related in pairs.items() if related} == {*found}
    for instruction, answer in found.items():
        assert pairs_of(answer) == pairs[instruction, 0]


@given(programs(callees=1, calls=True), st.data())
def test_what_is_called_stands_for_all_its_runs(program: Program, data: st.DataObject) -> None:
    module = program.module
    fusion = Fusion.of_computation(module.entry)
    inside = [each for each in fusion.indexing() if each.computation.name == "f0"]
    start = data.draw(st.sampled_from(inside)), 0
    (operand,) = fusion.operands
    (parameter,) = start[0].computation.parameters
    to_parameter = pairs_from(start, start[0].computation.instructions)[parameter, 0]
    expected = {
        (begin, end)
        for caller in module.entry.instructions
        if caller.opcode == "call"
        for middle, end in pairs_from((caller.operands[0], 0), fusion.instructions)[operand, 0]
        for begin, reached in to_parameter
        if reached == middle
    }
    assert pairs_of(fusion.indexing(*start).get(operand, ())) == expected


LOOP = entry(
    """n = s32[] parameter(0) x = f32[2,4] parameter(1) w = f32[4,4] parameter(2)
    s = (s32[], f32[2,4], f32[4,4]) tuple(n, x, w)
    l = (s32[], f32[2,4], f32[4,4]) while(s), condition=goes_on, body=round
    ROOT r = f32[2,4] get-tuple-element(l), index=1""",
    """goes_on { s = (s32[], f32[2,4], f32[4,4]) parameter(0)
      n = s32[] get-tuple-element(s), index=0 nine = s32[] constant(9)
      ROOT c = pred[] compare(n, nine), direction=LT }
    round { s = (s32[], f32[2,4], f32[4,4]) parameter(0)
      n = s32[] get-tuple-element(s), index=0 x = f32[2,4] get-tuple-element(s), index=1
      w = f32[4,4] get-tuple-element(s), index=2 one = s32[] constant(1) m = s32[] add(n, one)
      y = f32[2,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT next = (s32[], f32[2,4], f32[4,4]) tuple(m, y, w) }""",
)
CHOICE = entry(
    """p = f32[3,3] parameter(0) c = pred[] parameter(1) v = f32[3,3] reverse(p), dimensions={0}
    ROOT r = f32[3,3] conditional(c, p, v), true_computation=f, false_computation=g""",
    """f { a = f32[3,3] parameter(0) ROOT t = f32[3,3] transpose(a), dimensions={1,0} }
    g { b = f32[3,3] parameter(0) ROOT u = f32[3,3] negate(b) }""",
)


@for_all([
    (LOOP, "computation round", "y",
     {"round.x": ["(d0, d1)[s0] -> (d0, s0)"], "round.w": ["(d0, d1)[s0] -> (s0, d1)"]}),
    (LOOP, "computation e", "r",
     {"e.x": ["(d0, d1) -> (d0, d1)", "(d0, d1)[s0] -> (d0, s0)"],
      "e.w": ["(d0, d1)[s0, s1] -> (s0, s1)"], "e.n": ["(d0, d1) -> ()"]}),
    (LOOP, "computation e", "y",
     {"e.x": ["(d0, d1)[s0] -> (d0, s0)"],
      "e.w": ["(d0, d1)[s0, s1] -> (s0, s1)", "(d0, d1)[s0] -> (s0, d1)"]}),
    (CHOICE, "computation f", "t", {"a": ["(d0, d1) -> (d1, d0)"]}),
    (CHOICE, "computation e", "r",
     {"p": ["(d0, d1){rt0} -> (d1, d0)", "(d0, d1){rt0} -> (-d0 + 2, d1)"], "c": ["(d0, d1) -> ()"],
      "b": ["(d0, d1){rt0} -> (d0, d1)"]}),
    (CHOICE, "computation e", "u",
     {"p": ["(d0, d1) -> (-d0 + 2, d1)"], "b": ["(d0, d1) -> (d0, d1)"]}),
])  # fmt: skip
def test_loops_and_choices_are_followed_in_and_out(
    module: HloModule, unit: str, start: str, expected: dict[str, list[str]]
) -> None:
    found = fusion_in(module, unit).indexing(named(module, start))
    assert {name: heads(found[named(module, name)]) for name in expected} == {
        name: sorted(maps) for name, maps in expected.items()
    }


def test_origins_of_a_slice_of_a_slice_are_not_swapped() -> None:
    module = fused("""x = s32[150,64] parameter(0) a = s32[] parameter(1) b = s32[] parameter(2)
        c = s32[] parameter(3) d = s32[] parameter(4)
        wide = s32[50,32] dynamic-slice(x, a, b), dynamic_slice_sizes={50,32}
        ROOT narrow = s32[25,16] dynamic-slice(wide, c, d), dynamic_slice_sizes={25,16}""")
    fusion = Fusion.of_computation(named(module, "x").computation)
    answer = fusion.indexing()[fusion.operands[0]]
    assert not isinstance(answer, Unknown)
    (way,) = answer
    found = {
        origin.instruction.name: variable.bounds.upper
        for origin, variable in zip(way.runtime, way.map.runtime, strict=True)
    }
    assert found == {"a": 100, "b": 32, "c": 25, "d": 16}
    assert heads((way,)) == ["(d0, d1){rt0, rt1, rt2, rt3} -> (d0 + rt0 + rt2, d1 + rt1 + rt3)"]


@for_rows([
    ("a constant start",
     ("x = s32[64] parameter(0) o = s32[] constant(42) "
      "ROOT r = s32[10] dynamic-slice(x, o), dynamic_slice_sizes={10}"), "(d0) -> (d0 + 42)"),
    ("a constant start that is clamped",
     ("x = s32[64] parameter(0) o = s32[] constant(63) "
      "ROOT r = s32[10] dynamic-slice(x, o), dynamic_slice_sizes={10}"), "(d0) -> (d0 + 54)"),
    ("rows that count up, as far as there are some",
     ("x = s32[3,7] parameter(0) i = s32[5,1] iota(), iota_dimension=0 "
      "ROOT r = s32[5,1,1] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}"),
     "(d0, d1, d2) -> (min(d0, 2), 0)"),
    ("always the first row",
     ("x = s32[3,7] parameter(0) i = s32[5,1] iota(), iota_dimension=1 "
      "ROOT r = s32[5,1,1] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}"), "(d0, d1, d2) -> (0, 0)"),
    ("a slice of what is padded",
     ("x = s32[1,8] parameter(0) z = s32[] constant(0) s = s32[1] parameter(1) "
      "p = s32[1,16] pad(x, z), padding=0_0x8_0 b = s32[] bitcast(s) "
      "ROOT r = s32[1,8] dynamic-slice(p, z, b), dynamic_slice_sizes={1,8}"),
     "(d0, d1){rt0} -> (0, d1 + rt0 - 8)"),
])  # fmt: skip
def test_values_that_are_known_are_used(body: str, expected: str) -> None:
    fusion = whole(body)
    assert heads(fusion.indexing()[fusion.operands[0]]) == [expected]


def test_where_a_slice_begins_is_known_through_fusions_in_a_fusion() -> None:
    module = entry(
        """p = f32[2,4] parameter(0) x = f32[4,5,2] parameter(1) i = s32[] parameter(2)
        zero = s32[] constant(0)
        ROOT r = f32[4,5] fusion(p, x, i, zero), kind=kCustom, calls=gemm""",
        """left { ROOT a = f32[2,4] parameter(0) }
        right { a = f32[4,5,2] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2)
          s = f32[1,5,2] dynamic-slice(a, b, c, c), dynamic_slice_sizes={1,5,2}
          ROOT t = f32[5,2] bitcast(s) }
        gemm { a = f32[2,4] parameter(0) l = f32[2,4] fusion(a), kind=kCustom, calls=left
          b = f32[4,5,2] parameter(1) i = s32[] parameter(2) o = s32[] parameter(3)
          k = f32[5,2] fusion(b, i, o), kind=kCustom, calls=right
          ROOT d = f32[4,5] dot(l, k), lhs_contracting_dims={0}, rhs_contracting_dims={1} }""",
    )
    found = Fusion.of_instruction(module.entry.root).indexing()
    assert heads(found[named(module, "e.p")]) == ["(d0, d1)[s0] -> (s0, d0)"]
    assert heads(found[named(module, "e.i")]) == ["(d0, d1) -> ()"]
    answer = found[named(module, "e.x")]
    assert heads(answer) == ["(d0, d1)[s0]{rt0} -> (rt0, d1, s0)"]
    assert not isinstance(answer, Unknown)
    assert [origin.instruction.name for origin in answer[0].runtime] == ["b"]


def test_elements_on_other_devices_keep_their_replica() -> None:
    module = hlo.parse("""HloModule m, replica_count=2
        ENTRY e { p = f32[3,4] parameter(0)
          g = f32[6,4] all-gather(p), dimensions={0}, replica_groups={{0,1}}
          t = f32[4,6] transpose(g), dimensions={1,0}
          ROOT r = f32[4,6] reverse(t), dimensions={1} }""")
    gather, turned = named(module, "g"), named(module, "t")
    fusion = Fusion.of_instructions([gather, turned, module.entry.root])
    answer = fusion.indexing()[module.entry.parameters[0]]
    assert not isinstance(answer, Unknown)
    (way,) = answer
    assert heads(answer) == ["(d0, d1) -> (-(d1 mod 3) + 2, d0)"]
    assert way.replica_id is not None
    assert format_head(way.replica_id) == "(d0, d1) -> (-(d1 floordiv 3) + 1)"
    (found,) = fusion.why(module.entry.parameters[0])
    assert found.indexing == way


def test_what_has_no_map_hides_what_is_behind_it() -> None:
    module = entry("""p = f32[9] parameter(0) q = f32[9] parameter(1)
        c = f32[4] custom-call(q), custom_call_target="x" s = f32[4] slice(p), slice={[0:8:2]}
        ROOT r = f32[4] add(c, s)""")
    found = Fusion.of_computation(module.entry).indexing()
    assert heads(found[named(module, "p")]) == ["(d0) -> (d0 * 2)"]
    assert found[named(module, "q")] == Unknown("custom-call: no indexing map of x")
