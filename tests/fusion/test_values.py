"""Values that are known when a program runs, elements on other devices, and what has no map."""

from __future__ import annotations

from indexing.formats.text import format_head
from ops import Fusion, Unknown, hlo
from tests.cases import for_rows
from tests.fusion.units import entry, fused, heads, named, whole

# Runtime variables.


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
