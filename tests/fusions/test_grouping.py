"""Fusions from any instruction to all that it reaches, as XLA's tests ask for it and beyond."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.text import format_head
from ops import Fusion, FusionError, ShapeError, Unknown, by_producer, fusion_indexing, hlo
from tests.fusions.enumeration import pairs_from, pairs_of
from tests.fusions.random_programs import Program, programs
from tests.fusions.units import ADD, MAXIMUM, Row, entry, fused, fusion_in, named

if TYPE_CHECKING:
    from ops.analysis.answers import Answer
    from ops.hlo import HloModule, Instruction

SUM_WITH_TRANSPOSE = entry(
    """p = f32[5,5] parameter(0)
    t = f32[5,5]{0,1} transpose(p), dimensions={1,0}
    ROOT a = f32[5,5] add(p, t)"""
)
TWO_FUSIONS = entry(
    """p = f32[4,4] parameter(0)  one = f32[4,4] fusion(p), kind=kLoop, calls=turn
    two = f32[4,4] negate(p)
    ROOT r = f32[4,4] fusion(one, two), kind=kLoop, calls=both""",
    """turn { a = f32[4,4] parameter(0) ROOT t = f32[4,4] transpose(a), dimensions={1,0} }
    both { b = f32[4,4] parameter(0) c = f32[4,4] parameter(1)
      u = f32[4,4] transpose(b), dimensions={1,0} v = f32[4,4] reverse(u), dimensions={0}
      ROOT s = f32[4,4] add(b, v) }""",
)
TWO_SUMS = entry(
    """p = f32[4,6] parameter(0)  q = f32[4,6] parameter(1)
    i = f32[] parameter(2)  zero = f32[] constant(0)
    ROOT r = (f32[4], f32[4]) reduce(p, q, i, zero), dimensions={1}, to_apply=both""",
    """both { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2)
    d = f32[] parameter(3) x = f32[] add(a, c) y = f32[] add(b, d)
    ROOT z = (f32[], f32[]) tuple(x, y) }""",
)
REDUCE_OF_BROADCAST = fused(
    """a = f32[3,4] parameter(0)  i = f32[] parameter(1)
    b = f32[3,2,4,5] broadcast(a), dimensions={0,2}
    ROOT m = f32[3,5] reduce(b, i), dimensions={1,2}, to_apply=top""",
    ["f32[3,4]", "f32[]"],
    "f32[3,5]",
    MAXIMUM,
)
CALLED_TWICE = entry(
    """p = f32[4] parameter(0)
    once = f32[4] call(p), to_apply=shift
    ROOT twice = f32[4] call(once), to_apply=shift""",
    """shift { a = f32[4] parameter(0) z = f32[] constant(0)
    w = f32[5] pad(a, z), padding=1_0  ROOT s = f32[4] slice(w), slice={[0:4]} }""",
)
NESTED = entry(
    """p = f32[2,3] parameter(0)  q = f32[6] parameter(1)
    ROOT r = (f32[3,2], (f32[6], f32[3,2])) fusion(p, q), kind=kLoop, calls=outer""",
    """inner { a = f32[2,3] parameter(0) ROOT t = f32[3,2] transpose(a), dimensions={1,0} }
    outer { a = f32[2,3] parameter(0) b = f32[6] parameter(1)
      n = f32[3,2] fusion(a), kind=kLoop, calls=inner
      l = f32[6] reshape(n) s = f32[6] add(l, b) v = f32[3,2] reverse(n), dimensions={0}
      some = (f32[6], f32[3,2]) tuple(s, v)
      ROOT all = (f32[3,2], (f32[6], f32[3,2])) tuple(n, some) }""",
)
DOT_CHAIN = fused(
    """w = s8[3,8,2,2] parameter(0)  scale = bf16[8] parameter(1)  x = bf16[3,8] parameter(2)
    turned = s8[3,2,2,8] transpose(w), dimensions={0,2,3,1}
    wide = bf16[3,2,2,8] convert(turned)
    flat = bf16[12,2,4] reshape(wide)
    many = bf16[3,8] broadcast(scale), dimensions={1}
    scaled = bf16[3,8] multiply(x, many)
    parts = bf16[3,2,4] reshape(scaled)
    d = bf16[2,12,3] dot(flat, parts), lhs_batch_dims={1}, lhs_contracting_dims={2},
      rhs_batch_dims={1}, rhs_contracting_dims={2}
    ROOT out = bf16[2,3,2,2,3] bitcast(d)""",
    ["s8[3,8,2,2]", "bf16[8]", "bf16[3,8]"],
    "bf16[2,3,2,2,3]",
)
SOFTMAX = fused(
    """p = f32[2,3,4] parameter(0)  least = f32[] constant(-inf)  zero = f32[] constant(0)
    peak = f32[2,3] reduce(p, least), dimensions={2}, to_apply=top
    line = f32[6] bitcast(peak)  rows = f32[6,4] broadcast(line), dimensions={0}
    peaks = f32[2,3,4] bitcast(rows)  less = f32[2,3,4] subtract(p, peaks)
    grown = f32[2,3,4] exponential(less)
    total = f32[2,3] reduce(grown, zero), dimensions={2}, to_apply=sum
    line2 = f32[6] bitcast(total)  rows2 = f32[6,4] broadcast(line2), dimensions={0}
    totals = f32[2,3,4] bitcast(rows2)
    ROOT share = f32[2,3,4] divide(grown, totals)""",
    ["f32[2,3,4]"],
    "f32[2,3,4]",
    ADD + MAXIMUM,
)
WINDOWS = fused(
    """p = f32[4] parameter(0) q = f32[4] parameter(1) c = f32[4] add(p, q)
    a = f32[3] slice(c), slice={[0:3]} b = f32[3] slice(c), slice={[1:4]} d = f32[3] add(a, b)
    e = f32[2] slice(d), slice={[0:2]} g = f32[2] slice(d), slice={[1:3]}
    ROOT s = f32[2] add(e, g)""",
    ["f32[4]", "f32[4]"],
    "f32[2]",
)
TWICE_REDUCED = fused(
    """p = f32[3,4,2,5] parameter(0) i = f32[] parameter(1)
    a = f32[4,2] reduce(p, i), dimensions={0,3}, to_apply=top
    ROOT b = f32[2] reduce(a, i), dimensions={0}, to_apply=top""",
    ["f32[3,4,2,5]", "f32[]"],
    "f32[2]",
    MAXIMUM,
)
TWO_TURNS = fused(
    """p = f32[4,2,3] parameter(0)
    a = f32[2,4,3] transpose(p), dimensions={1,0,2} b = f32[2,4,3] exponential(a)
    c = f32[2,3,4] transpose(b), dimensions={0,2,1}
    d = f32[3,2,4] transpose(p), dimensions={2,1,0} e = f32[3,2,4] log(d)
    h = f32[2,3,4] transpose(e), dimensions={1,0,2}
    ROOT s = f32[2,3,4] add(c, h)""",
    ["f32[4,2,3]"],
    "f32[2,3,4]",
)
REDUCED_SLICE = fused(
    """p = f32[9,8,14] parameter(0) i = f32[] parameter(1)
    s = f32[3,4,3] slice(p), slice={[5:8:1], [0:8:2], [5:14:3]}
    ROOT m = f32[4] reduce(s, i), dimensions={0,2}, to_apply=top""",
    ["f32[9,8,14]", "f32[]"],
    "f32[4]",
    MAXIMUM,
)
SLICES = fused(
    """p = f32[20,16] parameter(0) a = f32[12,8] slice(p), slice={[5:17:1], [0:16:2]}
    ROOT b = f32[4,2] slice(a), slice={[3:11:2], [4:8:3]}""",
    ["f32[20,16]"],
    "f32[4,2]",
)
CONCATENATION = """p = f32[2,5,3] parameter(0) q = f32[2,7,3] parameter(1)
    c = f32[2,12,3] concatenate(p, q), dimensions={1} """


def reshaped(start: str, middle: str, end: str) -> str:
    """Two reshapes in a row."""
    return f"p = {start} parameter(0) m = {middle} reshape(p) ROOT t = {end} reshape(m)"


ROWS = [
    Row(
        "a pair of a producer and its consumer",
        SUM_WITH_TRANSPOSE,
        "pair t a",
        {
            "a": ["(d0, d1) -> (d0, d1)"],
            "t": ["(d0, d1) -> (d0, d1)"],
            "p": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"],
        },
    ),
    Row(
        "a pair of fusions",
        TWO_FUSIONS,
        "pair one r",
        {
            "p": ["(d0, d1) -> (-d0 + 3, d1)", "(d0, d1) -> (d1, d0)"],
            "one": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, -d0 + 3)"],
            "t": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, -d0 + 3)"],
        },
    ),
    Row(
        "the consumer alone",
        SUM_WITH_TRANSPOSE,
        "instruction a",
        {
            "a": ["(d0, d1) -> (d0, d1)"],
            "t": ["(d0, d1) -> (d0, d1)"],
            "p": ["(d0, d1) -> (d0, d1)"],
        },
    ),
    Row(
        "an operand reaches nothing",
        SUM_WITH_TRANSPOSE,
        "instruction a",
        {"p": ["(d0, d1) -> (d0, d1)"]},
        "p",
    ),
    Row(
        "one result of a reduction of two",
        TWO_SUMS,
        "instruction r",
        {
            "r": ["(d0) -> (d0)"],
            "p": ["(d0)[s0] -> (d0, s0)"],
            "q": ["(d0)[s0] -> (d0, s0)"],
            "i": ["(d0) -> ()"],
            "zero": ["(d0) -> ()"],
        },
        output=1,
    ),
    Row(
        "from below the root of a fusion out to its operand",
        REDUCE_OF_BROADCAST,
        "instruction r",
        {
            "b": ["(d0, d1, d2, d3) -> (d0, d1, d2, d3)"],
            "a": ["(d0, d1, d2, d3) -> (d0, d2)"],
            "g0": ["(d0, d1, d2, d3) -> (d0, d2)"],
        },
        "b",
    ),
    Row(
        "from below the root of a computation",
        REDUCE_OF_BROADCAST,
        "computation f",
        {
            "b": ["(d0, d1, d2, d3) -> (d0, d1, d2, d3)"],
            "a": ["(d0, d1, d2, d3) -> (d0, d2)"],
        },
        "b",
    ),
    Row(
        "a reduction of what is broadcast",
        REDUCE_OF_BROADCAST,
        "computation f",
        {
            "m": ["(d0, d1) -> (d0, d1)"],
            "b": ["(d0, d1)[s0, s1] -> (d0, s0, s1, d1)"],
            "a": ["(d0, d1)[s0] -> (d0, s0)"],
            "i": ["(d0, d1) -> ()"],
        },
    ),
    Row(
        "what runs twice stands for both runs",
        CALLED_TWICE,
        "instruction twice",
        {
            "twice": ["(d0) -> (d0)"],
            "s": ["(d0) -> (d0)"],
            "w": ["(d0) -> (d0)"],
            "a": ["(d0) -> (d0 - 1)"],
            "z": ["(d0) -> ()"],
            "once": ["(d0) -> (d0 - 1)"],
        },
    ),
    Row(
        "a result deep in tuples, through a fusion in a fusion",
        NESTED,
        "instruction r",
        {
            "r": ["(d0, d1) -> (d0, d1)"],
            "all": ["(d0, d1) -> (d0, d1)"],
            "some": ["(d0, d1) -> (d0, d1)"],
            "v": ["(d0, d1) -> (d0, d1)"],
            "n": ["(d0, d1) -> (-d0 + 2, d1)"],
            "t": ["(d0, d1) -> (-d0 + 2, d1)"],
            "inner.a": ["(d0, d1) -> (d1, -d0 + 2)"],
            "outer.a": ["(d0, d1) -> (d1, -d0 + 2)"],
            "p": ["(d0, d1) -> (d1, -d0 + 2)"],
        },
        output=2,
    ),
    Row(
        "a dot of what is turned, scaled and split",
        DOT_CHAIN,
        "computation f",
        {
            "w": ["(d0, d1, d2, d3, d4)[s0] -> (d1, d0 * 4 + s0, d2, d3)"],
            "scale": ["(d0, d1, d2, d3, d4)[s0] -> (d0 * 4 + s0)"],
            "x": ["(d0, d1, d2, d3, d4)[s0] -> (d4, d0 * 4 + s0)"],
        },
    ),
    Row(
        "softmax",
        SOFTMAX,
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1, d2)", "(d0, d1, d2)[s0] -> (d0, d1, s0)"]},
    ),
    Row(
        "four paths, three maps",
        WINDOWS,
        "instruction r",
        {
            "g0": ["(d0) -> (d0)", "(d0) -> (d0 + 1)", "(d0) -> (d0 + 2)"],
            "g1": ["(d0) -> (d0)", "(d0) -> (d0 + 1)", "(d0) -> (d0 + 2)"],
            "d": ["(d0) -> (d0)", "(d0) -> (d0 + 1)"],
        },
    ),
    Row(
        "a fusion of one sum",
        fused(
            "p = f32[5] parameter(0) q = f32[5] parameter(1) ROOT s = f32[5] add(p, q)",
            ["f32[5]", "f32[5]"],
            "f32[5]",
        ),
        "instruction r",
        {"g0": ["(d0) -> (d0)"], "g1": ["(d0) -> (d0)"]},
    ),
    Row(
        "a reduction of a reduction",
        TWICE_REDUCED,
        "instruction r",
        {"g0": ["(d0)[s0, s1, s2] -> (s0, s2, d0, s1)"], "g1": ["(d0) -> ()"]},
    ),
    Row(
        "two transposes each, and both the same",
        TWO_TURNS,
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d2, d0, d1)"]},
    ),
    Row(
        "a reduction of a slice",
        REDUCED_SLICE,
        "instruction r",
        {"g0": ["(d0)[s0, s1] -> (s0 + 5, d0 * 2, s1 * 3 + 5)"], "g1": ["(d0) -> ()"]},
    ),
    Row(
        "a slice of a slice",
        SLICES,
        "instruction r",
        {"g0": ["(d0, d1) -> (d0 * 2 + 8, d1 * 6 + 8)"]},
    ),
    Row(
        "a reshape and back to one dimension",
        fused(reshaped("f32[24]", "f32[4,6]", "f32[24]"), ["f32[24]"], "f32[24]"),
        "instruction r",
        {"g0": ["(d0) -> (d0)"], "m": ["(d0) -> (d0 floordiv 6, d0 mod 6)"]},
    ),
    Row(
        "a reshape and back to two dimensions",
        fused(reshaped("f32[4,6]", "f32[24]", "f32[4,6]"), ["f32[4,6]"], "f32[4,6]"),
        "instruction r",
        {"g0": ["(d0, d1) -> (d0, d1)"]},
    ),
    Row(
        "a reshape and back where no dimension is kept",
        fused(reshaped("f32[4,4,4]", "f32[2,32]", "f32[4,4,4]"), ["f32[4,4,4]"], "f32[4,4,4]"),
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1, d2)"]},
    ),
    Row(
        "a slice of both that are joined",
        fused(
            f"{CONCATENATION} ROOT s = f32[2,4,3] slice(c), slice={{[0:2], [0:12:3], [0:3]}}",
            ["f32[2,5,3]", "f32[2,7,3]"],
            "f32[2,4,3]",
        ),
        "instruction r",
        {
            "g0": ["(d0, d1, d2) -> (d0, d1 * 3, d2)"],
            "g1": ["(d0, d1, d2) -> (d0, d1 * 3 - 5, d2)"],
        },
    ),
    Row(
        "a slice of one that is joined",
        fused(
            f"{CONCATENATION} ROOT s = f32[2,3,3] slice(c), slice={{[0:2], [0:5:2], [0:3]}}",
            ["f32[2,5,3]", "f32[2,7,3]"],
            "f32[2,3,3]",
        ),
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1 * 2, d2)"], "g1": ["EMPTY"]},
    ),
    Row(
        "a reshape of what is joined",
        fused(
            """p = f32[2] parameter(0) q = f32[10] parameter(1)
            c = f32[12] concatenate(p, q), dimensions={0} ROOT t = f32[3,4] reshape(c)""",
            ["f32[2]", "f32[10]"],
            "f32[3,4]",
        ),
        "instruction r",
        {"g0": ["(d0, d1) -> (d1)"], "g1": ["(d0, d1) -> (d0 * 4 + d1 - 2)"]},
    ),
]


def heads(answer: Answer) -> list[str]:
    """The maps without domains."""
    assert not isinstance(answer, Unknown)
    return sorted(
        "EMPTY" if way.map.is_known_empty else format_head(way.map).partition(", domain")[0]
        for way in answer
    )


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
def test_random_programs_are_what_single_elements_say(
    program: Program, data: st.DataObject
) -> None:
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


# Several results.


def test_results_are_all_arrays_of_all_roots() -> None:
    fusion = Fusion.of_computation(named(NESTED, "all").computation)
    answers = fusion.indexing_of_results()
    assert [(root.name, output) for root, output in answers] == [("all", 0), ("all", 1), ("all", 2)]
    first, second = fusion.operands
    assert [heads(answer.get(first, ())) for answer in answers.values()] == [
        ["(d0, d1) -> (d1, d0)"],
        ["(d0) -> (d0 mod 2, d0 floordiv 2)"],
        ["(d0, d1) -> (d1, -d0 + 2)"],
    ]
    assert [heads(answer.get(second, ())) for answer in answers.values()] == [
        [],
        ["(d0) -> (d0)"],
        [],
    ]


def test_what_others_read_is_a_root_too() -> None:
    module = entry(
        """p = f32[4,6] parameter(0)  n = f32[4,6] negate(p)
        t = f32[6,4] transpose(n), dimensions={1,0}  u = f32[4,6] exponential(n)
        ROOT both = (f32[6,4], f32[4,6]) tuple(t, u)"""
    )
    n, t = named(module, "n"), named(module, "t")
    assert Fusion.of_instructions([t, n]).roots == (n, t)
    assert Fusion.of_instructions([t, n]).instructions == (n, t)
    assert Fusion.of_pair(n, t).roots == (t,)
    answers = Fusion.of_instructions([t, n]).indexing_of_results()
    (parameter,) = module.entry.parameters
    assert {root.name: heads(answer[parameter]) for (root, _), answer in answers.items()} == {
        "n": ["(d0, d1) -> (d0, d1)"],
        "t": ["(d0, d1) -> (d1, d0)"],
    }


def test_what_nobody_reads_is_a_root_if_nothing_else_is() -> None:
    module = entry(
        "p = f32[] parameter(0) a = f32[] negate(p) b = f32[] abs(a) ROOT r = f32[] tan(p)"
    )
    dead = Fusion.of_instructions([named(module, "a"), named(module, "b")])
    assert dead.roots == (named(module, "b"),)


# Runtime variables.


def test_origins_of_a_slice_of_a_slice_are_not_swapped() -> None:
    module = fused(
        """x = s32[150,64] parameter(0) a = s32[] parameter(1) b = s32[] parameter(2)
        c = s32[] parameter(3) d = s32[] parameter(4)
        wide = s32[50,32] dynamic-slice(x, a, b), dynamic_slice_sizes={50,32}
        ROOT narrow = s32[25,16] dynamic-slice(wide, c, d), dynamic_slice_sizes={25,16}""",
        ["s32[150,64]", "s32[]", "s32[]", "s32[]", "s32[]"],
        "s32[25,16]",
    )
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


KNOWN_VALUES = [
    (
        "a constant start",
        (
            "x = s32[64] parameter(0) o = s32[] constant(42) "
            "ROOT r = s32[10] dynamic-slice(x, o), dynamic_slice_sizes={10}"
        ),
        "(d0) -> (d0 + 42)",
    ),
    (
        "a constant start that is clamped",
        (
            "x = s32[64] parameter(0) o = s32[] constant(63) "
            "ROOT r = s32[10] dynamic-slice(x, o), dynamic_slice_sizes={10}"
        ),
        "(d0) -> (d0 + 54)",
    ),
    (
        "rows that count up, as far as there are some",
        (
            "x = s32[3,7] parameter(0) i = s32[5,1] iota(), iota_dimension=0 "
            "ROOT r = s32[5,1,1] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, "
            "start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}"
        ),
        "(d0, d1, d2) -> (min(2, d0), 0)",
    ),
    (
        "always the first row",
        (
            "x = s32[3,7] parameter(0) i = s32[5,1] iota(), iota_dimension=1 "
            "ROOT r = s32[5,1,1] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, "
            "start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}"
        ),
        "(d0, d1, d2) -> (0, 0)",
    ),
    (
        "a slice of what is padded",
        (
            "x = s32[1,8] parameter(0) z = s32[] constant(0) s = s32[1] parameter(1) "
            "p = s32[1,16] pad(x, z), padding=0_0x8_0 b = s32[] bitcast(s) "
            "ROOT r = s32[1,8] dynamic-slice(p, z, b), dynamic_slice_sizes={1,8}"
        ),
        "(d0, d1){rt0} -> (0, d1 + rt0 - 8)",
    ),
]


@pytest.mark.parametrize(
    ("body", "expected"), [row[1:] for row in KNOWN_VALUES], ids=[row[0] for row in KNOWN_VALUES]
)
def test_values_that_are_known_are_used(body: str, expected: str) -> None:
    fusion = Fusion.of_computation(entry(body).entry)
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
    module = hlo.parse(
        """HloModule m, replica_count=2
        ENTRY e { p = f32[3,4] parameter(0)
          g = f32[6,4] all-gather(p), dimensions={0}, replica_groups={{0,1}}
          t = f32[4,6] transpose(g), dimensions={1,0}
          ROOT r = f32[4,6] reverse(t), dimensions={1} }"""
    )
    gather, turned = named(module, "g"), named(module, "t")
    fusion = Fusion.of_instructions([gather, turned, module.entry.root])
    answer = fusion.indexing()[module.entry.parameters[0]]
    assert not isinstance(answer, Unknown)
    (way,) = answer
    assert heads(answer) == ["(d0, d1) -> (-(d1 mod 3) + 2, d0)"]
    assert way.replica_id is not None
    assert format_head(way.replica_id) == "(d0, d1) -> (-(d1 floordiv 3) + 1)"
    (found,) = fusion.why(module.entry.parameters[0])
    assert found.way == way


def test_what_has_no_map_hides_what_is_behind_it() -> None:
    module = entry(
        """p = f32[9] parameter(0) q = f32[9] parameter(1)
        c = f32[4] custom-call(q), custom_call_target="x" s = f32[4] slice(p), slice={[0:8:2]}
        ROOT r = f32[4] add(c, s)"""
    )
    found = Fusion.of_computation(module.entry).indexing()
    assert heads(found[named(module, "p")]) == ["(d0) -> (d0 * 2)"]
    assert found[named(module, "q")] == Unknown("custom-call: no indexing map of x")


# By producer.

PRODUCERS = [
    (SUM_WITH_TRANSPOSE.entry.root, {"p": ["(d0, d1) -> (d0, d1)"], "t": ["(d0, d1) -> (d0, d1)"]}),
    (
        entry(
            """p = f32[3,3] parameter(0) q = f32[3,3] parameter(1)
            ROOT d = f32[3,3] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
        ).entry.root,
        {"p": ["(d0, d1)[s0] -> (d0, s0)", "(d0, d1)[s0] -> (s0, d1)"]},
    ),
    (
        entry(
            "p = f32[4] parameter(0) q = f32[4] parameter(1) "
            "ROOT r = f32[4] fusion(p, q, p), kind=kLoop, calls=f",
            """f { a = f32[4] parameter(0) b = f32[4] parameter(1) c = f32[4] parameter(2)
            v = f32[4] reverse(c), dimensions={0} d = f32[4] add(a, b)
            ROOT s = f32[4] add(d, v) }""",
        ).entry.root,
        {"p": ["(d0) -> (d0)", "(d0) -> (-d0 + 3)"], "q": ["(d0) -> (d0)"]},
    ),
    (
        entry(
            "p = f32[4] parameter(0) ROOT c = f32[8] concatenate(p, p), dimensions={0}"
        ).entry.root,
        {"p": ["(d0) -> (d0)", "(d0) -> (d0 - 4)"]},
    ),
]


@pytest.mark.parametrize(("root", "expected"), PRODUCERS, ids=["sum", "dot", "fusion", "both ends"])
def test_operands_that_are_one_instruction_have_one_set(
    root: Instruction, expected: dict[str, list[str]]
) -> None:
    found = {producer.name: heads(answer) for producer, answer in by_producer(root).items()}
    assert found == {name: sorted(maps) for name, maps in expected.items()}


def test_one_operand_without_map_leaves_its_producer_without() -> None:
    module = entry(
        """p = f32[4] parameter(0)
        ROOT r = f32[4] fusion(p, p), kind=kLoop, calls=f""",
        """f { a = f32[4] parameter(0) b = f32[4] parameter(1)
        c = f32[4] custom-call(b), custom_call_target="x" ROOT r = f32[4] add(a, c) }""",
    )
    assert [*by_producer(module.entry.root).values()] == [
        Unknown("custom-call: no indexing map of x")
    ]


# What is refused.


def test_instructions_of_several_computations_are_no_fusion() -> None:
    members = [named(REDUCE_OF_BROADCAST, "g0"), named(REDUCE_OF_BROADCAST, "b")]
    with pytest.raises(FusionError, match="instructions of %e, %f are given; expected some of one"):
        Fusion.of_instructions(members)
    with pytest.raises(FusionError, match="no instructions are given"):
        Fusion.of_instructions([])


def test_roots_are_among_the_instructions() -> None:
    t, a = named(SUM_WITH_TRANSPOSE, "t"), named(SUM_WITH_TRANSPOSE, "a")
    for roots in (), (a,):
        with pytest.raises(FusionError, match=r"are its roots; expected some of %t"):
            Fusion((t,), roots)


def test_a_pair_is_a_producer_and_its_consumer() -> None:
    a, p = named(SUM_WITH_TRANSPOSE, "a"), named(SUM_WITH_TRANSPOSE, "p")
    with pytest.raises(FusionError, match="%p does not read %a"):
        Fusion.of_pair(a, p)


def test_a_question_about_what_is_not_there_is_refused() -> None:
    t, a = named(SUM_WITH_TRANSPOSE, "t"), named(SUM_WITH_TRANSPOSE, "a")
    with pytest.raises(FusionError, match="%a is neither in it nor read"):
        Fusion.of_instruction(t).indexing(a)
    with pytest.raises(ShapeError, match="%t: there is no output 1 among 1"):
        Fusion.of_instruction(t).indexing(t, 1)
    both = Fusion((t, a), (t, a))
    with pytest.raises(FusionError, match="%t, %a are its roots; say which one is meant"):
        both.indexing()


# As a value.


def test_fusions_are_values() -> None:
    t, a = named(SUM_WITH_TRANSPOSE, "t"), named(SUM_WITH_TRANSPOSE, "a")
    fusion = Fusion.of_pair(t, a)
    assert fusion == Fusion.of_instructions([a, t])
    assert len({fusion, Fusion.of_instructions([a, t])}) == 1
    assert str(fusion) == "fusion of %t, %a that reads %p"
    assert str(Fusion.of_computation(a.computation)) == "fusion of %e that reads %p"


def test_fusions_are_pickled_with_their_module_alone() -> None:
    """The tables of the library are named, not sent."""
    fusion = Fusion.of_computation(REDUCE_OF_BROADCAST.entry)
    pickled = pickle.dumps(fusion)
    assert len(pickled) < len(REDUCE_OF_BROADCAST.source) + 500
    again = pickle.loads(pickled)  # noqa: S301 - our own
    assert again.registry is fusion.registry
    assert [heads(answer) for answer in again.indexing().values()] == [
        heads(answer) for answer in fusion.indexing().values()
    ]


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
CONTROL = [
    (
        LOOP,
        "computation round",
        "y",
        {"round.x": ["(d0, d1)[s0] -> (d0, s0)"], "round.w": ["(d0, d1)[s0] -> (s0, d1)"]},
    ),
    (
        LOOP,
        "computation e",
        "r",
        {
            "e.x": ["(d0, d1) -> (d0, d1)", "(d0, d1)[s0] -> (d0, s0)"],
            "e.w": ["(d0, d1)[s0, s1] -> (s0, s1)"],
            "e.n": ["(d0, d1) -> ()"],
        },
    ),
    (
        LOOP,
        "computation e",
        "y",
        {
            "e.x": ["(d0, d1)[s0] -> (d0, s0)"],
            "e.w": ["(d0, d1)[s0, s1] -> (s0, s1)", "(d0, d1)[s0] -> (s0, d1)"],
        },
    ),
    (CHOICE, "computation f", "t", {"a": ["(d0, d1) -> (d1, d0)"]}),
    (
        CHOICE,
        "computation e",
        "r",
        {
            "p": ["(d0, d1) -> (d1, d0)", "(d0, d1) -> (-d0 + 2, d1)"],
            "c": ["(d0, d1) -> ()"],
            "b": ["(d0, d1) -> (d0, d1)"],
        },
    ),
    (
        CHOICE,
        "computation e",
        "u",
        {"p": ["(d0, d1) -> (-d0 + 2, d1)"], "b": ["(d0, d1) -> (d0, d1)"]},
    ),
]


@pytest.mark.parametrize(
    ("module", "unit", "start", "expected"),
    CONTROL,
    ids=[f"{unit} from {start}" for _, unit, start, _ in CONTROL],
)
def test_loops_and_choices_are_followed_in_and_out(
    module: HloModule, unit: str, start: str, expected: dict[str, list[str]]
) -> None:
    found = fusion_in(module, unit).indexing(named(module, start))
    assert {name: heads(found[named(module, name)]) for name in expected} == {
        name: sorted(maps) for name, maps in expected.items()
    }
