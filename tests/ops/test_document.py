"""The examples of the indexing document, openxla.org/xla/indexing: its HLO and its maps.

A row has the HLO, and the maps to each operand and, where the document says them, from it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import pytest

from indexing import parse_map
from ops import fusion_indexing, hlo, input_to_output, output_to_input
from ops.dependence.dependence import Indexings
from tests.cases import by_name, for_all
from tests.ops.answers import known

CALLED = """HloModule m
  sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
  argmax { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2)
    d = s32[] parameter(3) ROOT r = (f32[], s32[]) tuple(c, d) }"""


def root_of(instruction: str) -> hlo.Instruction:
    """An instruction on parameters of the shapes that it names."""
    shapes = re.findall(r"(\w+\[[\d,]*\]) (p\d)", instruction)
    given = [f"{name} = {shape} parameter({name[1:]})" for shape, name in shapes]
    body = f"{' '.join(given)} ROOT r = {instruction}"
    return hlo.parse(f"{CALLED} ENTRY e {{ {body} }}").entry.root


def stated(columns: Sequence[str]) -> dict[str, list[str]]:
    """The maps of a row, by ways such as ``to p0``, as we write them."""
    maps: dict[str, list[str]] = defaultdict(list)
    for column in columns:
        way, _, text = column.partition(": ")
        direction, *operands = re.split(r",? ", way)
        for operand in operands:
            maps[f"{direction} {operand}"].append(str(parse_map(text)))
    return maps


def written(answers: Sequence[Indexings]) -> list[str]:
    return [str(way) for answer in answers for way in known(answer)]


EXAMPLES = by_name("""
elementwise
    f32[10,20] add(f32[10,20] p0, f32[10,20] p1)
    to p0, p1: (d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]
    from p0, p1: (d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]
broadcast
    f32[10,20,30] broadcast(f32[20] p0), dimensions={1}
    to p0: (d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]
    from p0: (d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]
transpose
    f32[3,6,128,12288] transpose(f32[3,12288,6,128] p0), dimensions={0,2,3,1}
    to p0: (d0, d1, d2, d3) -> (d0, d3, d1, d2), domain: d0 in [0, 2], d1 in [0, 5], d2 in [0, 127],
        d3 in [0, 12287]
    from p0: (d0, d1, d2, d3) -> (d0, d2, d3, d1), domain: d0 in [0, 2], d1 in [0, 12287],
        d2 in [0, 5], d3 in [0, 127]
reverse
    f32[1,17,9,9] reverse(f32[1,17,9,9] p0), dimensions={1,2}
    to p0: (d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], d1 in [0, 16],
        d2 in [0, 8], d3 in [0, 8]
    from p0: (d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], d1 in [0, 16],
        d2 in [0, 8], d3 in [0, 8]
variadic reduce
    (f32[10], s32[10]) reduce(f32[256,10] p0, s32[256,10] p1, f32[] p2, s32[] p3), dimensions={0},
        to_apply=argmax
    to p0, p1: (d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]
    to p2, p3: (d0) -> (), domain: d0 in [0, 9]
    from p0, p0, p1, p1: (d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]
    from p2, p2, p3, p3: ()[s0] -> (s0), domain: s0 in [0, 9]
reduce
    f32[4,8] reduce(f32[2,4,8,16] p0, f32[] p1), dimensions={0,3}, to_apply=sum
    to p0: (d0, d1)[s0, s1] -> (s0, d0, d1, s1), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 1],
        s1 in [0, 15]
    to p1: (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 7]
slice
    f32[5,3,25] slice(f32[10,20,50] p0), slice={[5:10:1], [3:20:7], [0:50:2]}
    to p0: (d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], d1 in [0, 2],
        d2 in [0, 24]
    from p0: (d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9],
        d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]
collapse shape
    f32[32] reshape(f32[4,8] p0)
    to p0: (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    from p0: (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
expand shape
    f32[4,8] reshape(f32[32] p0)
    to p0: (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
    from p0: (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
generic reshape, linearized and delinearized
    f32[2,4,4] reshape(f32[4,8] p0)
    to p0: (d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, (d1 mod 2) * 4 + d2), domain: d0 in [0, 1],
        d1 in [0, 3], d2 in [0, 3]
    from p0: (d0, d1) -> (d0 floordiv 2, (d0 mod 2) * 2 + d1 floordiv 4, d1 mod 4),
        domain: d0 in [0, 3], d1 in [0, 7]
generic reshape, expanded and collapsed
    f32[32,3,4] reshape(f32[4,8,12] p0)
    to p0: (d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: d0 in [0, 31],
        d1 in [0, 2], d2 in [0, 3]
    from p0: (d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: d0 in [0, 3],
        d1 in [0, 7], d2 in [0, 11]
concatenate
    f32[2,33,7] concatenate(f32[2,5,7] p0, f32[2,11,7] p1, f32[2,17,7] p2), dimensions={1}
    to p0: (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]
    to p1: (d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], d2 in [0, 6]
    to p2: (d0, d1, d2) -> (d0, d1 - 16, d2), domain: d0 in [0, 1], d1 in [16, 32], d2 in [0, 6]
    from p0: (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]
    from p1: (d0, d1, d2) -> (d0, d1 + 5, d2), domain: d0 in [0, 1], d1 in [0, 10], d2 in [0, 6]
    from p2: (d0, d1, d2) -> (d0, d1 + 16, d2), domain: d0 in [0, 1], d1 in [0, 16], d2 in [0, 6]
dot
    f32[4,128,64] dot(f32[4,128,256] p0, f32[4,256,64] p1), lhs_batch_dims={0}, rhs_batch_dims={0},
        lhs_contracting_dims={2}, rhs_contracting_dims={1}
    to p0: (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63],
        s0 in [0, 255]
    to p1: (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63],
        s0 in [0, 255]
    from p0: (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 255],
        s0 in [0, 63]
    from p1: (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], d1 in [0, 255], d2 in [0, 63],
        s0 in [0, 127]
pad
    f32[12,16] pad(f32[4,4] p0, f32[] p1), padding=1_4_1x4_8_0
    to p0: (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], d1 in [4, 7],
        (d0 - 1) mod 2 in [0, 0]
    to p1: (d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15]
""")


@for_all(EXAMPLES)
def test_instructions_have_the_maps_of_the_document(row: tuple[str, ...]) -> None:
    """Where it maps operands of a dot, it ends in d1, the index of the contracted dimension."""
    instruction, *columns = row
    root, expected = root_of(instruction), stated(columns)
    for number, answer in enumerate(output_to_input(root).indexing):
        assert written([answer]) == expected[f"to p{number}"]
        if f"from p{number}" in expected:
            back = input_to_output(root, number).indexing
            assert written(back) == expected[f"from p{number}"]


@pytest.mark.parametrize(
    "instruction", ["f32[5] constant({1,2,3,4,5})", "s32[5,7] iota(), iota_dimension=0"]
)
def test_constants_have_no_operands(instruction: str) -> None:
    assert output_to_input(root_of(instruction)).indexing == ()


FUSIONS = by_name("""
one input, several maps
    p0 = f32[1000,1000] parameter(0) t = f32[1000,1000]{0,1} transpose(p0), dimensions={1,0}
        ROOT a0 = f32[1000,1000] add(p0, t)
    to p0: (d0, d1) -> (d0, d1), domain: d0 in [0, 999], d1 in [0, 999]
    to p0: (d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]
one input, equal maps
    p0 = f32[20,10,50] parameter(0) l1 = f32[10,20,50] transpose(p0), dimensions={1,0,2}
        le = f32[10,20,50] exponential(l1) l2 = f32[10,50,20] transpose(le), dimensions={0,2,1}
        r1 = f32[50,10,20] transpose(p0), dimensions={2,1,0} re = f32[50,10,20] exponential(r1)
        r2 = f32[10,50,20] transpose(re), dimensions={1,0,2} ROOT add = f32[10,50,20] add(l2, r2)
    to p0: (d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]
softmax
    p0 = f32[2,65,125] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
        m = f32[2,65] reduce(p0, low), dimensions={2}, to_apply=sum
        mb = f32[2,65,125] broadcast(m), dimensions={0,1} d = f32[2,65,125] subtract(p0, mb)
        e = f32[2,65,125] exponential(d) s = f32[2,65] reduce(e, zero), dimensions={2}, to_apply=sum
        sb = f32[2,65,125] broadcast(s), dimensions={0,1} ROOT r = f32[2,65,125] divide(e, sb)
    to p0: (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]
    to p0: (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124],
        s0 in [0, 124]
reshapes that cancel
    p0 = f32[10,10,10] parameter(0) a = f32[50,20] reshape(p0) ROOT b = f32[10,10,10] reshape(a)
    to p0: (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]
paths that meet again
    p0 = f32[4] parameter(0) p1 = f32[4] parameter(1) sum = f32[4] add(p0, p1)
        l1 = f32[3] slice(sum), slice={[0:3]} r1 = f32[3] slice(sum), slice={[1:4]}
        next = f32[3] add(l1, r1) l2 = f32[2] slice(next), slice={[0:2]}
        r2 = f32[2] slice(next), slice={[1:3]} ROOT r = f32[2] add(l2, r2)
    to p0: (d0) -> (d0), domain: d0 in [0, 1]
    to p0: (d0) -> (d0 + 1), domain: d0 in [0, 1]
    to p0: (d0) -> (d0 + 2), domain: d0 in [0, 1]
    to p1: (d0) -> (d0), domain: d0 in [0, 1]
    to p1: (d0) -> (d0 + 1), domain: d0 in [0, 1]
    to p1: (d0) -> (d0 + 2), domain: d0 in [0, 1]
dot of narrow numbers
    p0 = bf16[16,4,768] parameter(0) p1 = s8[3,12288,6,128] parameter(1) p2 = bf16[] parameter(2)
        p3 = bf16[3,6,128] parameter(3) p4 = bf16[128] parameter(4) p5 = pred[16,4] parameter(5)
        wide = bf16[3,12288,6,128] convert(p1)
        offset = bf16[3,12288,6,128] broadcast(p2), dimensions={}
        moved = bf16[3,12288,6,128] subtract(wide, offset)
        blocks = bf16[3,16,768,6,128] reshape(moved)
        d = bf16[16,4,3,6,128] dot(p0, blocks), lhs_batch_dims={0}, rhs_batch_dims={1},
        lhs_contracting_dims={2}, rhs_contracting_dims={2}
        scale = bf16[16,4,3,6,128] broadcast(p3), dimensions={2,3,4}
        scaled = bf16[16,4,3,6,128] multiply(d, scale)
        bias = bf16[16,4,3,6,128] broadcast(p4), dimensions={4}
        shifted = bf16[16,4,3,6,128] add(scaled, bias)
        mask = pred[16,4,3,6,128] broadcast(p5), dimensions={0,1}
        ROOT r = bf16[16,4,3,6,128] select(mask, shifted, bias)
    to p0: (d0, d1, d2, d3, d4)[s0] -> (d0, d1, s0), domain: d0 in [0, 15], d1 in [0, 3],
        d2 in [0, 2], d3 in [0, 5], d4 in [0, 127], s0 in [0, 767]
    to p1: (d0, d1, d2, d3, d4)[s0] -> (d2, d0 * 768 + s0, d3, d4), domain: d0 in [0, 15],
        d1 in [0, 3], d2 in [0, 2], d3 in [0, 5], d4 in [0, 127], s0 in [0, 767]
    to p2: (d0, d1, d2, d3, d4) -> (), domain: d0 in [0, 15], d1 in [0, 3], d2 in [0, 2],
        d3 in [0, 5], d4 in [0, 127]
    to p3: (d0, d1, d2, d3, d4) -> (d2, d3, d4), domain: d0 in [0, 15], d1 in [0, 3], d2 in [0, 2],
        d3 in [0, 5], d4 in [0, 127]
    to p4: (d0, d1, d2, d3, d4) -> (d4), domain: d0 in [0, 15], d1 in [0, 3], d2 in [0, 2],
        d3 in [0, 5], d4 in [0, 127]
    to p5: (d0, d1, d2, d3, d4) -> (d0, d1), domain: d0 in [0, 15], d1 in [0, 3], d2 in [0, 2],
        d3 in [0, 5], d4 in [0, 127]
""")


@for_all(FUSIONS)
def test_a_fusion_has_each_map_once(row: tuple[str, ...]) -> None:
    body, *columns = row
    entry = hlo.parse(f"{CALLED} ENTRY f {{ {body} }}").entry
    found, expected = fusion_indexing(entry.root), stated(columns)
    for parameter in entry.parameters:
        assert written([found[parameter]]) == expected[f"to {parameter.name}"]
