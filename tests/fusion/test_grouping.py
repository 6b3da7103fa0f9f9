"""Fusions from any instruction to all that it reaches, as XLA's tests ask for it and beyond."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import Fusion, Unknown, fusion_indexing
from ops.hlo import HloModule
from tests.cases import for_all
from tests.fusion.enumeration import pairs_from, pairs_of
from tests.fusion.random_programs import Program, programs
from tests.fusion.rows import ROWS
from tests.fusion.units import Row, entry, fusion_in, heads, named


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


# Loops and choices.

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
