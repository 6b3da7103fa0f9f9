"""Runtime variables: those of one origin are one, and their bounds are those of what gives them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ops import OperandIndexing, hlo, parameter_indexing
from ops.hlo import Instruction
from tests.cases import by_name, for_all
from tests.ops.perturbation import tallies
from tests.ops.tested_computations import Subject

FUSED = """HloModule m read { x = f32[9] parameter(0) i = s32[] parameter(1)
  ROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4} }
write { j = s32[] parameter(0) u = f32[4] parameter(1) x = f32[9] parameter(2)
  ROOT r = f32[9] dynamic-update-slice(x, u, j) }"""

ROWS = by_name("""
accumulate-in-place
    x = f32[64,16] parameter(0) y = f32[8,16] parameter(1) i = s32[] parameter(2)
        z0 = s32[] constant(0) old = f32[8,16] dynamic-slice(x, i, z0), dynamic_slice_sizes={8,16}
        new = f32[8,16] add(old, y) ROOT z = f32[64,16] dynamic-update-slice(x, new, i, z0)
    (d0, d1) -> (d0, d1), domain: d0 in [0, 63], d1 in [0, 15]
accumulate-in-place by two starts
    x = f32[6,5] parameter(0) y = f32[2,3] parameter(1) i = s32[] parameter(2)
        j = s32[] parameter(3) old = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}
        new = f32[2,3] add(old, y) ROOT z = f32[6,5] dynamic-update-slice(x, new, i, j)
    (d0, d1) -> (d0, d1), domain: d0 in [0, 5], d1 in [0, 4]
accumulate-in-place by starts that two lines compute
    x = f32[9] parameter(0) y = f32[4] parameter(1) p = s32[] parameter(2) one = s32[] constant(1)
        i = s32[] add(p, one), metadata={op_name="a"} j = s32[] add(p, one), metadata={op_name="b"}
        old = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4} new = f32[4] add(old, y)
        ROOT z = f32[9] dynamic-update-slice(x, new, j)
    (d0) -> (d0), domain: d0 in [0, 8]
slice-of-update
    x = f32[9] parameter(0) y = f32[4] parameter(1) i = s32[] parameter(2)
        z = f32[9] dynamic-update-slice(x, y, i)
        ROOT r = f32[4] dynamic-slice(z, i), dynamic_slice_sizes={4}
    (d0){rt0} -> (0), domain: KNOWN EMPTY
slice-of-update, a smaller one
    x = f32[9] parameter(0) y = f32[4] parameter(1) i = s32[] parameter(2)
        z = f32[9] dynamic-update-slice(x, y, i)
        ROOT r = f32[2] dynamic-slice(z, i), dynamic_slice_sizes={2}
    several values
slice-of-update, a larger one
    x = f32[9] parameter(0) y = f32[2] parameter(1) i = s32[] parameter(2)
        z = f32[9] dynamic-update-slice(x, y, i)
        ROOT r = f32[4] dynamic-slice(z, i), dynamic_slice_sizes={4}
    several values
in two fusions
    x = f32[9] parameter(0) i = s32[] parameter(1)
        a = f32[4] fusion(x, i), kind=kLoop, calls=read
        ROOT b = f32[9] fusion(i, a, x), kind=kLoop, calls=write
    (d0) -> (d0), domain: d0 in [0, 8]
in calls that are called twice
    both { x = f32[9] parameter(0) i = s32[] parameter(1) a = f32[4] call(x, i), to_apply=read
          ROOT b = f32[9] call(i, a, x), to_apply=write }
        ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
          a = f32[9] call(x, i), to_apply=both b = f32[9] call(x, j), to_apply=both
          ROOT r = f32[9] subtract(a, b) }
    (d0) -> (d0), domain: d0 in [0, 8]
of two calls that pass other starts
    x = f32[9] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
        a = f32[4] fusion(x, i), kind=kLoop, calls=read
        ROOT b = f32[9] fusion(j, a, x), kind=kLoop, calls=write
    several values
in a tuple that fusions take apart
    first { x = f32[9] parameter(0) t = (s32[], s32[]) parameter(1)
          i = s32[] get-tuple-element(t), index=1
          ROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4} }
        second { t = (s32[], s32[]) parameter(0) u = f32[4] parameter(1) x = f32[9] parameter(2)
          j = s32[] get-tuple-element(t), index=1 ROOT r = f32[9] dynamic-update-slice(x, u, j) }
        ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
          t = (s32[], s32[]) tuple(i, j) a = f32[4] fusion(x, t), kind=kLoop, calls=first
          ROOT b = f32[9] fusion(t, a, x), kind=kLoop, calls=second }
    (d0) -> (d0), domain: d0 in [0, 8]
computed twice in one way
    x = f32[9] parameter(0) i = s32[] parameter(1) c = s32[] constant(3) a = s32[] add(i, c)
        b = s32[] add(i, c) old = f32[4] dynamic-slice(x, a), dynamic_slice_sizes={4}
        new = f32[4] negate(old) ROOT z = f32[9] dynamic-update-slice(x, new, b)
    (d0) -> (d0), domain: d0 in [0, 8]
computed in two ways
    x = f32[9] parameter(0) i = s32[] parameter(1) c = s32[] constant(3) d = s32[] constant(2)
        a = s32[] add(i, c) b = s32[] add(i, d)
        old = f32[4] dynamic-slice(x, a), dynamic_slice_sizes={4} new = f32[4] negate(old)
        ROOT z = f32[9] dynamic-update-slice(x, new, b)
    several values
two elements of one array
    x = f32[9] parameter(0) i = s32[2] parameter(1) a = s32[1] slice(i), slice={[0:1]}
        b = s32[1] slice(i), slice={[1:2]} p = s32[] reshape(a) q = s32[] reshape(b)
        old = f32[4] dynamic-slice(x, p), dynamic_slice_sizes={4} new = f32[4] negate(old)
        ROOT z = f32[9] dynamic-update-slice(x, new, q)
    several values
random numbers of one range
    x = f32[9] parameter(0) c = s32[] constant(0) d = s32[] constant(9)
        a = s32[] rng(c, d), distribution=rng_uniform b = s32[] rng(c, d), distribution=rng_uniform
        old = f32[4] dynamic-slice(x, a), dynamic_slice_sizes={4} new = f32[4] negate(old)
        ROOT z = f32[9] dynamic-update-slice(x, new, b)
    several values
kept by a loop
    body { s = (s32[], f32[9], s32[]) parameter(0) k = s32[] get-tuple-element(s), index=0
          x = f32[9] get-tuple-element(s), index=1 i = s32[] get-tuple-element(s), index=2
          one = s32[] constant(1) next = s32[] add(k, one)
          old = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4} new = f32[4] negate(old)
          z = f32[9] dynamic-update-slice(x, new, i)
          ROOT r = (s32[], f32[9], s32[]) tuple(next, z, i) }
        goes_on { s = (s32[], f32[9], s32[]) parameter(0) k = s32[] get-tuple-element(s), index=0
          n = s32[] constant(3) ROOT r = pred[] compare(k, n), direction=LT }
        ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1) zero = s32[] constant(0)
          s = (s32[], f32[9], s32[]) tuple(zero, x, i)
          w = (s32[], f32[9], s32[]) while(s), condition=goes_on, body=body
          ROOT r = f32[9] get-tuple-element(w), index=1 }
    (d0) -> (d0), domain: d0 in [0, 8]
""")
"""A program, or only its entry, and the map to %x where the values are the same."""


def ways_to_first(root: Instruction) -> tuple[OperandIndexing, ...]:
    return parameter_indexing(root)[root.computation.parameters[0]].indexings


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize(("text", "expected"), ROWS.values(), ids=ROWS)
def test_variables_of_one_origin_are_one(text: str, expected: str) -> None:
    entry = hlo.parse(FUSED + (text if "ENTRY" in text else f"ENTRY e {{ {text} }}")).entry
    found = ways_to_first(entry.root)
    if expected != "several values":
        assert [str(way.map) for way in found] == [expected]
    elif "rng" in text:
        assert max(len(way.runtime) for way in found) > 1
        return
    for tally in tallies(Subject(entry), trials=3):
        is_index = entry.parameters[tally.operand].shape.element_type.name == "S32"
        assert tally.is_sound if is_index else tally.is_exact, tally


# Bounds.

BOUNDS = by_name("""
index-of-8-bits => i = u8[] parameter(1) => [0, 255]
a predicate => p = pred[] parameter(1) i = s32[] convert(p) => [0, 1]
signed 8 bits => i = s8[] parameter(1) => [0, 127]
index-that-is-clamped => i = s32[] clamp(three, p, seven) => [3, 7]
clamped beyond the array => i = s32[] clamp(seven, p, far) => [7, 399]
index-that-is-masked => i = s32[] and(p, seven) => [0, 7]
clamped below the array => i = s32[] minimum(p, minus) => [0, 0]
the least => i = s32[] minimum(p, seven) => [0, 7]
the greatest => i = s32[] maximum(p, seven) => [7, 399]
a remainder => i = s32[] remainder(p, seven) => [0, 6]
a quotient => q = s32[] and(p, far) i = s32[] divide(q, seven) => [0, 146]
a sign => i = s32[] sign(p) => [0, 1]
a sign, and more => q = s32[] sign(p) i = s32[] add(q, seven) => [6, 8]
shifted => q = s32[] and(p, seven) i = s32[] shift-left(q, three) => [0, 56]
the upper bits => p = u8[] parameter(1) i = u8[] shift-right-logical(p, three8) => [0, 31]
what may overflow => q = s32[] maximum(p, seven) i = s32[] add(q, seven) => [0, 399]
a choice => c = pred[] compare(p, seven), direction=LT i = s32[] select(c, three, seven) => [3, 7]
a choice that is decided
    p = u8[] parameter(1) q = s32[] convert(p) c = pred[] compare(q, minus), direction=LT r = s32[]
        add(q, far) i = s32[] select(c, r, q)
    [0, 255]
what is chosen where a float is a number
    f = f32[] parameter(1) c = pred[] compare(f, f), direction=EQ i = s32[] select(c, three, seven)
    [3, 7]
a float => f = f32[] parameter(1) i = s32[] convert(f) => [0, 399]
one of a table
    t = s32[4] constant({9, 5, 8, 6}) r = s32[1] dynamic-slice(t, p), dynamic_slice_sizes={1} i =
        s32[] reshape(r)
    [5, 9]
of a slice of nothing
    p = s32[1] parameter(1) r = s32[1] slice(p), slice={[1:1]} i = s32[] reshape(r) => [0, 399]
how many bits are set => i = s32[] popcnt(p) => [0, 32]
a chain
    p = u8[] parameter(1) q = s32[] convert(p) r = s32[] remainder(q, seven) s = s32[] multiply(r,
        three) i = s32[] add(s, three)
    [3, 21]
""")
"""How the index of an element of f32[400] is computed, and its bounds."""

BOUNDED = """HloModule m taken {{ x = f32[400] parameter(0) i = {kind} parameter(1)
  ROOT r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={{1}} }}
ENTRY e {{ x = f32[400] parameter(0) three = s32[] constant(3) seven = s32[] constant(7)
  far = s32[] constant(1023) minus = s32[] constant(-1) three8 = u8[] constant(3) {index}
  ROOT all = f32[1] {taken} }}"""


@for_all(BOUNDS)
def test_bounds_are_those_of_what_gives_the_value(index: str, bounds: str) -> None:
    """Of the slice itself, and of one in a fusion."""
    kind = re.findall(r"\bi = (\w+\[\])", index)[-1]
    if "parameter(1)" not in index:
        index = f"p = s32[] parameter(1) {index}"
    for taken in (
        "dynamic-slice(x, i), dynamic_slice_sizes={1}",
        "fusion(x, i), kind=kLoop, calls=taken",
    ):
        entry = hlo.parse(BOUNDED.format(index=index, taken=taken, kind=kind)).entry
        (way,) = ways_to_first(entry.root)
        assert str(way.map).endswith(f"domain: d0 in [0, 0], rt0 in {bounds}")


TAKEN = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1"

ARRAYS = by_name("""
index-of-masked-iota => k = s32[8,1] and(i, three) => [0, 1, 2, 3, 0, 1, 2, 3]
index-of-shifted-iota => k = s32[8,1] shift-left(i, three) => [0, 8, 16, 24, 32, 40, 48, 56]
index-of-literal
    k = s32[8,1] constant({{5},{63},{7},{0},{9},{9},{1},{2}}) => [5, 63, 7, 0, 9, 9, 1, 2]
the other one of two => k = s32[8,1] xor(i, one) => [1, 0, 3, 2, 5, 4, 7, 6]
from the end
    m = s32[8,1] not(i) n = s32[8,1] broadcast(all), dimensions={}
        c = pred[8,1] compare(m, z), direction=LT a = s32[8,1] add(m, n)
        k = s32[8,1] select(c, a, m)
    [63, 62, 61, 60, 59, 58, 57, 56]
""")
"""How the indices of elements of f32[64] are computed, and these."""


@for_all(ARRAYS)
def test_known_indices_are_folded(index: str, expected: str) -> None:
    entry = hlo.parse(f"""ENTRY e {{ x = f32[64] parameter(0) i = s32[8,1] iota(), iota_dimension=0
      c0 = s32[] constant(0) c1 = s32[] constant(1) c3 = s32[] constant(3) all = s32[] constant(64)
      z = s32[8,1] broadcast(c0), dimensions={{}} one = s32[8,1] broadcast(c1), dimensions={{}}
      three = s32[8,1] broadcast(c3), dimensions={{}} {index}
      ROOT d = f32[8] gather(x, k), {TAKEN}, slice_sizes={{1}} }}""").entry
    (way,) = ways_to_first(entry.root)
    assert not way.runtime
    (found,) = way.map.evaluate([np.arange(8)])
    assert str(found.tolist()) == expected
