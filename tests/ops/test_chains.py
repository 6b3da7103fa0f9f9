"""Chains of instructions that read where values tell them: each value is that of its own variable.

They run, and what changes is compared with the maps, as for fusions of real modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from ops import hlo
from tests.ops.perturbation import tallies
from tests.ops.tested_computations import Subject


@dataclass(frozen=True)
class Chain:
    """A fusion: the shapes of its operands ``p0 p1 ...``, and the instructions up to ``r``.

    ``wider`` are the operands of which more is said than is seen to matter, and why.
    """

    operands: tuple[str, ...]
    instructions: str
    wider: Mapping[int, str] = field(default_factory=dict[int, str])
    called: str = ""

    @property
    def subject(self) -> Subject:
        given = [f"p{n} = {shape} parameter({n})" for n, shape in enumerate(self.operands)]
        names = ", ".join(f"p{n}" for n in range(len(self.operands)))
        result = self.instructions.partition("ROOT r = ")[2].partition(" ")[0]
        parameters = "\n".join(given)
        text = f"""HloModule chain
            {self.called}
            f {{ {parameters} {self.instructions} }}
            ENTRY e {{ {parameters} ROOT r = {result} fusion({names}), kind=kLoop, calls=f }}"""
        root = hlo.parse(text).entry.root
        return Subject(root.attributes["calls"], root)


ONCE_MORE = "what is updated once more hides it"

CHAINS = {
    "slice of a slice": Chain(
        ("f32[9,8]", "s32[]", "s32[]", "s32[]", "s32[]"),
        """a = f32[5,6] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={5,6}
        ROOT r = f32[2,3] dynamic-slice(a, p3, p4), dynamic_slice_sizes={2,3}""",
    ),
    "slices of one operand": Chain(
        ("f32[9]", "s32[]", "s32[]"),
        """a = f32[4] dynamic-slice(p0, p1), dynamic_slice_sizes={4}
        b = f32[4] dynamic-slice(p0, p2), dynamic_slice_sizes={4}
        ROOT r = f32[4] add(a, b)""",
    ),
    "slice where a slice says": Chain(
        ("f32[9]", "s32[6]", "s32[]"),
        """a = s32[1] dynamic-slice(p1, p2), dynamic_slice_sizes={1}
        b = s32[] reshape(a)
        ROOT r = f32[4] dynamic-slice(p0, b), dynamic_slice_sizes={4}""",
    ),
    "rows of a slice": Chain(
        ("f32[7,5]", "s32[]", "s32[3,1]"),
        """zero = s32[] constant(0)
        a = f32[4,5] dynamic-slice(p0, p1, zero), dynamic_slice_sizes={4,5}
        ROOT r = f32[3,5] gather(a, p2), offset_dims={1}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}""",
    ),
    "slice of rows": Chain(
        ("f32[7,5]", "s32[6,1]", "s32[]", "s32[]"),
        """a = f32[6,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
        ROOT r = f32[2,2] dynamic-slice(a, p2, p3), dynamic_slice_sizes={2,2}""",
    ),
    "rows where rows say": Chain(
        ("f32[7,2]", "s32[5]", "s32[3,1]"),
        """a = s32[3,1] gather(p1, p2), offset_dims={1}, collapsed_slice_dims={},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1}
        ROOT r = f32[3,2] gather(p0, a), offset_dims={1}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}""",
    ),
    "update of a slice": Chain(
        ("f32[9]", "s32[]", "f32[2]", "s32[]"),
        """a = f32[5] dynamic-slice(p0, p1), dynamic_slice_sizes={5}
        ROOT r = f32[5] dynamic-update-slice(a, p2, p3)""",
    ),
    "slice of an update": Chain(
        ("f32[9]", "f32[3]", "s32[]", "s32[]"),
        """a = f32[9] dynamic-update-slice(p0, p1, p2)
        ROOT r = f32[4] dynamic-slice(a, p3), dynamic_slice_sizes={4}""",
    ),
    "update of an update": Chain(
        ("f32[8]", "f32[3]", "s32[]", "f32[4]", "s32[]"),
        """a = f32[8] dynamic-update-slice(p0, p1, p2)
        ROOT r = f32[8] dynamic-update-slice(a, p3, p4)""",
        wider={2: ONCE_MORE},
    ),
    "padded, sliced and reversed": Chain(
        ("f32[4]", "f32[]", "s32[]"),
        """a = f32[10] pad(p0, p1), padding=2_1_1
        b = f32[5] dynamic-slice(a, p2), dynamic_slice_sizes={5}
        ROOT r = f32[5] reverse(b), dimensions={0}""",
    ),
    "scattered and sliced": Chain(
        ("f32[6,2]", "s32[3,1]", "f32[3,2]", "s32[]"),
        """a = f32[6,2] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0},
          scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
        zero = s32[] constant(0)
        ROOT r = f32[2,2] dynamic-slice(a, p3, zero), dynamic_slice_sizes={2,2}""",
        called="sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }",
    ),
    "called twice": Chain(
        ("f32[9]", "s32[]", "s32[]"),
        """a = f32[4] call(p0, p1), to_apply=part
        b = f32[4] call(p0, p2), to_apply=part
        ROOT r = f32[4] add(a, b)""",
        called="""part { a = f32[9] parameter(0) i = s32[] parameter(1)
          ROOT r = f32[4] dynamic-slice(a, i), dynamic_slice_sizes={4} }""",
    ),
    "called within a call": Chain(
        ("f32[9]", "s32[]", "s32[]"),
        """ROOT r = f32[3] call(p0, p1, p2), to_apply=both""",
        called="""part { a = f32[9] parameter(0) i = s32[] parameter(1)
          ROOT r = f32[3] dynamic-slice(a, i), dynamic_slice_sizes={3} }
        both { a = f32[9] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
          b = f32[3] call(a, j), to_apply=part c = f32[3] call(a, i), to_apply=part
          ROOT r = f32[3] subtract(b, c) }""",
    ),
    "one of two places": Chain(
        ("pred[]", "f32[9]", "s32[]", "s32[]"),
        """a = (f32[9], s32[]) tuple(p1, p2) b = (f32[9], s32[]) tuple(p1, p3)
        ROOT r = f32[4] conditional(p0, a, b), true_computation=here,
          false_computation=there""",
        called="""here { a = (f32[9], s32[]) parameter(0)
          x = f32[9] get-tuple-element(a), index=0 i = s32[] get-tuple-element(a), index=1
          ROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4} }
        there { a = (f32[9], s32[]) parameter(0)
          x = f32[9] get-tuple-element(a), index=0 i = s32[] get-tuple-element(a), index=1
          b = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
          ROOT r = f32[4] reverse(b), dimensions={0} }""",
    ),
    "a loop over what stays": Chain(
        ("f32[5,2]", "f32[2]"),
        """zero = s32[] constant(0)
        a = (s32[], f32[5,2], f32[2]) tuple(zero, p0, p1)
        b = (s32[], f32[5,2], f32[2]) while(a), condition=goes_on, body=round
        ROOT r = f32[2] get-tuple-element(b), index=2""",
        called="""goes_on { a = (s32[], f32[5,2], f32[2]) parameter(0)
          i = s32[] get-tuple-element(a), index=0 n = s32[] constant(3)
          ROOT r = pred[] compare(i, n), direction=LT }
        round { a = (s32[], f32[5,2], f32[2]) parameter(0)
          i = s32[] get-tuple-element(a), index=0 x = f32[5,2] get-tuple-element(a), index=1
          y = f32[2] get-tuple-element(a), index=2 one = s32[] constant(1) zero = s32[] constant(0)
          next = s32[] add(i, one)
          row = f32[1,2] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,2}
          flat = f32[2] reshape(row) z = f32[2] add(y, flat)
          ROOT r = (s32[], f32[5,2], f32[2]) tuple(next, x, z) }""",
    ),
    "a place that stays through a loop": Chain(
        ("f32[9]", "s32[]", "s32[]"),
        """a = (s32[], s32[], f32[9]) tuple(p1, p2, p0)
        b = (s32[], s32[], f32[9]) while(a), condition=goes_on, body=round
        c = f32[9] get-tuple-element(b), index=2
        d = s32[] get-tuple-element(b), index=1
        ROOT r = f32[4] dynamic-slice(c, d), dynamic_slice_sizes={4}""",
        called="""goes_on { a = (s32[], s32[], f32[9]) parameter(0)
          i = s32[] get-tuple-element(a), index=0 n = s32[] constant(3)
          ROOT r = pred[] compare(i, n), direction=LT }
        round { a = (s32[], s32[], f32[9]) parameter(0) i = s32[] get-tuple-element(a), index=0
          one = s32[] constant(1) next = s32[] add(i, one) j = s32[] get-tuple-element(a), index=1
          x = f32[9] get-tuple-element(a), index=2
          ROOT r = (s32[], s32[], f32[9]) tuple(next, j, x) }""",
    ),
}


@pytest.mark.needs("jax")
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_what_is_said_of_a_chain_happens(chain: Chain) -> None:
    found = tallies(chain.subject, trials=3)
    assert [tally for tally in found if not tally.is_sound] == []
    assert {tally.operand for tally in found if not tally.is_exact} == {*chain.wider}
