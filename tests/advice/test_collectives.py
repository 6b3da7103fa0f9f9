"""Advice about collectives: what is found, what is not, and that mends change no result."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

from ops import hlo
from ops.advice import Advice
from ops.advice.waste import received_by_device
from ops.hlo import HloModule
from tests.advice.mended import ADD, advice_of, check_is_read_back
from tests.cases import for_all, texts, texts_with_values
from tests.extent import part
from tests.ops.many_devices import Program, relations

WORDS: Final = {
    "GATHER": "g = f32[16,8] all-gather(x), GROUPS, dimensions={0}",
    "SUM": "g = f32[4,8] all-reduce(x), GROUPS, to_apply=add",
    "OWN": "id = u32[] replica-id() four = u32[] constant(4) at = u32[] multiply(id, four)",
    "TABLE": """id = u32[] replica-id() table = s32[4] constant({0,4,8,12})
      cell = s32[1] dynamic-slice(table, id), dynamic_slice_sizes={1} at = s32[] reshape(cell)""",
    "ZERO": "z = u32[] constant(0)",
    "GROUPS": "replica_groups={{0,1,2,3}}",
}
"""What words in capitals stand for in the programs."""


def program(body: str) -> str:
    """A module of four replicas, of which each has an array x."""
    for word, text in WORDS.items():
        body = body.replace(word, text)
    return f"HloModule m, replica_count=4\n{ADD}\nENTRY e {{ x = f32[4,8] parameter(0) {body} }}"


WASTEFUL: Final = texts_with_values("""
# narrower | 384, 192
GATHER ROOT c = bf16[16,8] convert(g)
# turned, narrower | 384, 192
GATHER t = f32[8,16] transpose(g), dimensions={1,0} ROOT c = f16[8,16] convert(t)
# narrower twice | 384, 192
GATHER c = f16[16,8] convert(g) b = f16[16,8] convert(g) n = f16[16,8] negate(b)
ROOT d = f16[16,8] subtract(n, c)
# scaled and sliced | 384, 96
GATHER h = f32[8] constant({1,2,3,4,5,6,7,8}) hb = f32[16,8] broadcast(h), dimensions={1}
m = f32[16,8] multiply(g, hb) ROOT s = f32[16,2] slice(m), slice={[0:16],[3:5]}
# summed up | 384, 48
GATHER z = f32[] constant(0) ROOT r = f32[8] reduce(g, z), dimensions={0}, to_apply=add
# sum, sliced | 192, 48
SUM ROOT s = f32[1,8] slice(g), slice={[2:3],[0:8]}
# permuted | 128, 64
g = f32[4,8] collective-permute(x), source_target_pairs={{0,1},{1,2}} ROOT c = bf16[4,8] convert(g)
# exchanged | 96, 48
g = f32[4,8] all-to-all(x), GROUPS, dimensions={0} ROOT c = bf16[4,8] convert(g)
# own part | 384, 0
GATHER OWN ZERO n = f32[16,8] negate(g)
ROOT own = f32[4,8] dynamic-slice(n, at, z), dynamic_slice_sizes={4,8}
# own part of rows | 384, 0
GATHER TABLE zero = f32[] constant(0) r = f32[16] reduce(g, zero), dimensions={1}, to_apply=add
rb = f32[16,8] broadcast(r), dimensions={0} d = f32[16,8] subtract(g, rb)
t = f32[8,16] transpose(d), dimensions={1,0} w = s32[] constant(0)
ROOT own = f32[8,4] dynamic-slice(t, w, at), dynamic_slice_sizes={8,4}
# own part of a sum | 192, 96
SUM id = u32[] replica-id() ZERO c = f32[4,8] iota(), iota_dimension=0 m = f32[4,8] multiply(g, c)
ROOT own = f32[1,8] dynamic-slice(m, id, z), dynamic_slice_sizes={1,8}
# widened | 768, 384
w = f64[4,8] convert(x) g = f64[16,8] all-gather(w), GROUPS, dimensions={0}
ROOT n = f64[16,8] negate(g)
# broadcast | 384, 48
r = f32[4,1] slice(x), slice={[0:4],[2:3]} v = f32[4] reshape(r)
b = f32[8,4] broadcast(v), dimensions={1} g = f32[8,16] all-gather(b), GROUPS, dimensions={1}
ROOT n = f32[8,16] negate(g)
# sum of broadcasts | 192, 24
r = f32[4,1] slice(x), slice={[0:4],[2:3]} v = f32[4] reshape(r)
b = f32[4,8] broadcast(v), dimensions={0} g = f32[4,8] all-reduce(b), GROUPS, to_apply=add
ROOT n = f32[4,8] negate(g)
""")
"""What follows in the entry, and the bytes that a device receives before and after."""

FUSED: Final = texts("""
# a fusion
GATHER ROOT f = f16[16,8] fusion(g), kind=kLoop, calls=narrow
# a start
gs = (f32[4,8], f32[16,8]) all-gather-start(x), GROUPS, dimensions={0}
g = f32[16,8] all-gather-done(gs) ROOT f = f16[16,8] fusion(g), kind=kLoop, calls=narrow
""")

NARROW: Final = """narrow { p = f32[16,8] parameter(0) t = f32[16,8] negate(p)
  c = f16[16,8] convert(t) ROOT n = f16[16,8] add(c, c) }
ENTRY e {"""

CLEAN: Final = texts("""
# wider
GATHER ROOT c = f64[16,8] convert(g)
# also read as it is
GATHER c = bf16[16,8] convert(g) ROOT t = (bf16[16,8], f32[16,8]) tuple(c, g)
# sums rounded otherwise
SUM ROOT c = bf16[4,8] convert(g)
# a start that counts
GATHER z = f32[] constant(1) ROOT r = f32[8] reduce(g, z), dimensions={0}, to_apply=add
# cosine of nothing
g = f32[4,8] collective-permute(x), source_target_pairs={{0,1}}
c = f32[4,8] cosine(g) ROOT b = bf16[4,8] convert(c)
# part of the next device
GATHER OWN ZERO one = u32[] constant(4) next = u32[] add(at, one)
ROOT part = f32[4,8] dynamic-slice(g, next, z), dynamic_slice_sizes={4,8}
# first rows of all, then the own ones of them
GATHER OWN ZERO two = u32[] constant(2) half = u32[] multiply(id, two)
s = f32[8,8] slice(g), slice={[0:8],[0:8]}
ROOT own = f32[2,8] dynamic-slice(s, half, z), dynamic_slice_sizes={2,8}
# numbers of each device
GATHER r = f32[1,8] slice(x), slice={[0:1],[0:8]} v = f32[8] reshape(r)
b = f32[16,8] broadcast(v), dimensions={1} m = f32[16,8] multiply(g, b)
ROOT c = bf16[16,8] convert(m)
# rows that need each other
GATHER OWN ZERO r = f32[16,8] reverse(g), dimensions={0}
ROOT own = f32[4,8] dynamic-slice(r, at, z), dynamic_slice_sizes={4,8}
# both factors
GATHER OWN ZERO d = f32[16,16] dot(g, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}
ROOT own = f32[4,16] dynamic-slice(d, at, z), dynamic_slice_sizes={4,16}
""")
"""Collectives of which all is used, or that nothing cheaper can take the place of."""

found_in = partial(advice_of, ("collective",))


def check_sent_less(found: Advice, before: int, after: int) -> HloModule:
    assert (found.instruction.name[0], found.before, found.after) == ("g", before, after)
    return check_is_read_back(found)


@for_all(WASTEFUL)
def test_what_devices_need_not_send_is_found(body: str, before: int, after: int) -> None:
    (found,) = found_in(hlo.parse(program(body)))
    check_sent_less(found, before, after)


@for_all(FUSED)
def test_what_fusions_do_is_looked_into(body: str) -> None:
    (found,) = found_in(hlo.parse(program(body).replace("ENTRY e {", NARROW)))
    opcodes = [each.opcode for each in check_sent_less(found, 384, 192).entry.instructions]
    assert opcodes == ["parameter", "negate", "convert", "all-gather", "fusion"]


@for_all(CLEAN)
def test_what_devices_need_is_sent(body: str) -> None:
    assert not found_in(hlo.parse(program(body)))


@pytest.mark.needs("jax")
def test_mended_collectives_lead_to_the_same_elements() -> None:
    modules = [hlo.parse(program(body)) for body, *_ in part([*WASTEFUL.values()], 6)]
    mended = [each.apply() for module in modules for each in found_in(module)]
    found = relations([Program(str(each), (4, 8), 4, 1) for each in (*modules, *mended)])
    assert found[: len(modules)] == found[len(modules) :]


WIRE: Final = """SUM s = f32[1,8] reduce-scatter(x), GROUPS, dimensions={0}, to_apply=add
b = f32[4,8] collective-broadcast(x), GROUPS
p = f32[4,8] collective-permute(x), source_target_pairs={{0,0}}
h = f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add
ROOT n = f32[4,8] negate(x)"""


def test_bytes_on_the_wire_have_their_standard_counts() -> None:
    module = hlo.parse(program(WIRE))
    counts = {each.name: received_by_device(each) for each in module.entry.instructions}
    assert [counts[name] for name in "gsbphn"] == [192, 96, 128, 0, 128, 0]
