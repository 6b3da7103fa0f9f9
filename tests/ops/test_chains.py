"""Chains of instructions that read where values tell them: each value is that of its own variable.

They run, and what changes is compared with the maps, as for fusions of real modules.
"""

from __future__ import annotations

import pytest

from ops import hlo
from tests.cases import by_name
from tests.ops.perturbation import tallies
from tests.ops.tested_computations import Subject

WIDER = {"update of an update": {2}}
"""Operands of which more is said than is seen to matter: what is updated once more hides it."""


def subject_of(shapes: str, instructions: str, called: str = "") -> Subject:
    """A fusion: of operands ``p0 p1 ...`` of some shapes, the instructions up to ``r``."""
    operands = [*enumerate(shapes.split("; "))]
    parameters = " ".join(f"p{n} = {shape} parameter({n})" for n, shape in operands)
    names = ", ".join(f"p{n}" for n, _ in operands)
    result = instructions.partition("ROOT r = ")[2].partition(" ")[0]
    text = f"""HloModule chain {called}
        f {{ {parameters} {instructions} }}
        ENTRY e {{ {parameters} ROOT r = {result} fusion({names}), kind=kLoop, calls=f }}"""
    root = hlo.parse(text).entry.root
    return Subject(root.attributes["calls"], root)


CHAINS = by_name("""
slice of a slice => f32[9,8]; s32[]; s32[]; s32[]; s32[]
    a = f32[5,6] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={5,6}
        ROOT r = f32[2,3] dynamic-slice(a, p3, p4), dynamic_slice_sizes={2,3}
slices of one operand => f32[9]; s32[]; s32[]
    a = f32[4] dynamic-slice(p0, p1), dynamic_slice_sizes={4}
        b = f32[4] dynamic-slice(p0, p2), dynamic_slice_sizes={4} ROOT r = f32[4] add(a, b)
slice where a slice says => f32[9]; s32[6]; s32[]
    a = s32[1] dynamic-slice(p1, p2), dynamic_slice_sizes={1} b = s32[] reshape(a)
        ROOT r = f32[4] dynamic-slice(p0, b), dynamic_slice_sizes={4}
rows of a slice => f32[7,5]; s32[]; s32[3,1]
    zero = s32[] constant(0) a = f32[4,5] dynamic-slice(p0, p1, zero), dynamic_slice_sizes={4,5}
        ROOT r = f32[3,5] gather(a, p2), offset_dims={1}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
slice of rows => f32[7,5]; s32[6,1]; s32[]; s32[]
    a = f32[6,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
          index_vector_dim=1, slice_sizes={1,5}
        ROOT r = f32[2,2] dynamic-slice(a, p2, p3), dynamic_slice_sizes={2,2}
rows where rows say => f32[7,2]; s32[5]; s32[3,1]
    a = s32[3,1] gather(p1, p2), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0},
          index_vector_dim=1, slice_sizes={1}
        ROOT r = f32[3,2] gather(p0, a), offset_dims={1}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}
update of a slice => f32[9]; s32[]; f32[2]; s32[]
    a = f32[5] dynamic-slice(p0, p1), dynamic_slice_sizes={5}
        ROOT r = f32[5] dynamic-update-slice(a, p2, p3)
slice of an update => f32[9]; f32[3]; s32[]; s32[]
    a = f32[9] dynamic-update-slice(p0, p1, p2)
        ROOT r = f32[4] dynamic-slice(a, p3), dynamic_slice_sizes={4}
update of an update => f32[8]; f32[3]; s32[]; f32[4]; s32[]
    a = f32[8] dynamic-update-slice(p0, p1, p2) ROOT r = f32[8] dynamic-update-slice(a, p3, p4)
padded, sliced and reversed => f32[4]; f32[]; s32[]
    a = f32[10] pad(p0, p1), padding=2_1_1 b = f32[5] dynamic-slice(a, p2), dynamic_slice_sizes={5}
        ROOT r = f32[5] reverse(b), dimensions={0}
scattered and sliced => f32[6,2]; s32[3,1]; f32[3,2]; s32[]
    a = f32[6,2] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0},
          scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
        zero = s32[] constant(0)
        ROOT r = f32[2,2] dynamic-slice(a, p3, zero), dynamic_slice_sizes={2,2}
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
called twice => f32[9]; s32[]; s32[]
    a = f32[4] call(p0, p1), to_apply=part b = f32[4] call(p0, p2), to_apply=part
        ROOT r = f32[4] add(a, b)
    part { a = f32[9] parameter(0) i = s32[] parameter(1)
          ROOT r = f32[4] dynamic-slice(a, i), dynamic_slice_sizes={4} }
called within a call => f32[9]; s32[]; s32[] => ROOT r = f32[3] call(p0, p1, p2), to_apply=both
    part { a = f32[9] parameter(0) i = s32[] parameter(1)
          ROOT r = f32[3] dynamic-slice(a, i), dynamic_slice_sizes={3} }
        both { a = f32[9] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
          b = f32[3] call(a, j), to_apply=part c = f32[3] call(a, i), to_apply=part
          ROOT r = f32[3] subtract(b, c) }
one of two places => pred[]; f32[9]; s32[]; s32[]
    a = (f32[9], s32[]) tuple(p1, p2) b = (f32[9], s32[]) tuple(p1, p3)
        ROOT r = f32[4] conditional(p0, a, b), true_computation=here, false_computation=there
    here { a = (f32[9], s32[]) parameter(0) x = f32[9] get-tuple-element(a), index=0
          i = s32[] get-tuple-element(a), index=1
          ROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4} }
        there { a = (f32[9], s32[]) parameter(0) x = f32[9] get-tuple-element(a), index=0
          i = s32[] get-tuple-element(a), index=1
          b = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
          ROOT r = f32[4] reverse(b), dimensions={0} }
a loop over what stays => f32[5,2]; f32[2]
    zero = s32[] constant(0) a = (s32[], f32[5,2], f32[2]) tuple(zero, p0, p1)
        b = (s32[], f32[5,2], f32[2]) while(a), condition=goes_on, body=round
        ROOT r = f32[2] get-tuple-element(b), index=2
    goes_on { a = (s32[], f32[5,2], f32[2]) parameter(0) i = s32[] get-tuple-element(a), index=0
          n = s32[] constant(3) ROOT r = pred[] compare(i, n), direction=LT }
        round { a = (s32[], f32[5,2], f32[2]) parameter(0) i = s32[] get-tuple-element(a), index=0
          x = f32[5,2] get-tuple-element(a), index=1 y = f32[2] get-tuple-element(a), index=2
          one = s32[] constant(1) zero = s32[] constant(0) next = s32[] add(i, one)
          row = f32[1,2] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,2}
          flat = f32[2] reshape(row) z = f32[2] add(y, flat)
          ROOT r = (s32[], f32[5,2], f32[2]) tuple(next, x, z) }
a place that stays through a loop => f32[9]; s32[]; s32[]
    a = (s32[], s32[], f32[9]) tuple(p1, p2, p0)
        b = (s32[], s32[], f32[9]) while(a), condition=goes_on, body=round
        c = f32[9] get-tuple-element(b), index=2 d = s32[] get-tuple-element(b), index=1
        ROOT r = f32[4] dynamic-slice(c, d), dynamic_slice_sizes={4}
    goes_on { a = (s32[], s32[], f32[9]) parameter(0) i = s32[] get-tuple-element(a), index=0
          n = s32[] constant(3) ROOT r = pred[] compare(i, n), direction=LT }
        round { a = (s32[], s32[], f32[9]) parameter(0) i = s32[] get-tuple-element(a), index=0
          one = s32[] constant(1) next = s32[] add(i, one) j = s32[] get-tuple-element(a), index=1
          x = f32[9] get-tuple-element(a), index=2
          ROOT r = (s32[], s32[], f32[9]) tuple(next, j, x) }
""")
"""The shapes of operands, the instructions, and what they call."""


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", CHAINS)
def test_what_is_said_of_a_chain_happens(name: str) -> None:
    found = tallies(subject_of(*CHAINS[name]), trials=3)
    assert [tally for tally in found if not tally.is_sound] == []
    assert {tally.operand for tally in found if not tally.is_exact} == WIDER.get(name, set())
