"""The examples of the indexing document, openxla.org/xla/indexing, that no test of XLA states.

The others are rows of ``tests/data/conformance/op.jsonl``, which tests/xla asks.
"""

from __future__ import annotations

import re
from collections import defaultdict

from indexing import parse_map
from ops import fusion_indexing, hlo, input_to_output
from tests.cases import by_name, for_all
from tests.ops.answers import known

EXAMPLES = by_name("""
constant => ROOT r = f32[5] constant({1,2,3,4,5})
iota => ROOT r = s32[5,7] iota(), iota_dimension=0
reduce
    p0 = f32[2,4,8,16] parameter(0) p1 = f32[] parameter(1)
        ROOT r = f32[4,8] reduce(p0, p1), dimensions={0,3}, to_apply=sum
    to p0: (d0, d1)[s0, s1] -> (s0, d0, d1, s1), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 1],
        s1 in [0, 15]
    to p1: (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 7]
dot
    p0 = f32[4,128,256] parameter(0) p1 = f32[4,256,64] parameter(1)
        ROOT r = f32[4,128,64] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0},
          lhs_contracting_dims={2}, rhs_contracting_dims={1}
    to p0: (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63],
        s0 in [0, 255]
    to p1: (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63],
        s0 in [0, 255]
    from p0: (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 255],
        s0 in [0, 63]
    from p1: (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], d1 in [0, 255], d2 in [0, 63],
        s0 in [0, 127]
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
"""The entry of a module, and the maps from its root to each parameter, and back."""


@for_all(EXAMPLES)
def test_maps_are_those_of_the_document(row: tuple[str, ...]) -> None:
    """Where it maps operands of a dot, it ends in d1, the index of the contracted dimension."""
    body, *columns = row
    computation = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }"
    entry = hlo.parse(f"{computation} ENTRY e {{ {body} }}").entry
    stated, found = defaultdict[str, list[str]](list), fusion_indexing(entry.root)
    for column in columns:
        way, text = re.split(": ", column, maxsplit=1)
        stated[way].append(str(parse_map(text)))
    for number, each in enumerate(entry.parameters):
        assert [*map(str, known(found[each]))] == stated[f"to {each.name}"]
        if f"from {each.name}" in stated:
            (back,) = input_to_output(entry.root, number).indexing
            assert [*map(str, known(back))] == stated[f"from {each.name}"]
    assert entry.parameters or found.keys() == {entry.root}
