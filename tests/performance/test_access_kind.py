"""What a read is, for one instruction of each kind and for what they become in a fusion."""

from __future__ import annotations

import re

from ops import hlo, summary
from ops.performance import AccessKind
from tests.cases import for_all, rows

MODULE = """HloModule kinds
sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
less {{ a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }}
ENTRY main {{ x = f32[4,8] parameter(0) rows = s32[3,1] parameter(1) at = s32[] parameter(2)
  wide = f32[9,8] parameter(3) zero = f32[] constant(0)
  bounded = f32[<=64,4] parameter(4) unbounded = f32[?,4] parameter(5) {} }}
"""


@for_all(rows("""
f32[4,8] negate(x) => identity
f32[4,1,8] reshape(x) => identity
f32[4,2,4] reshape(x) => reshape
f32[32] reshape(x) => reshape
f32[8,4] reshape(x) => reshape
f32[2,16] reshape(x) => reshape
f32[8,4] transpose(x), dimensions={1,0} => transpose
f32[4,8] reverse(x), dimensions={1} => reverse
f32[3,4,8] broadcast(x), dimensions={1,2} => broadcast
f32[2,8] slice(x), slice={[1:3], [0:8]} => slice
f32[4,4] slice(x), slice={[0:4], [0:8:2]} => slice
f32[6,8] pad(x, zero), padding=1_1x0_0 => pad
f32[7,8] pad(x, zero), padding=0_0_1x0_0 => pad
# padding that cuts
f32[4,7] pad(x, zero), padding=0_0x-1_0 => slice
f32[8,8] concatenate(x, x), dimensions={0} => pad
f32[4] reduce(x, zero), dimensions={1}, to_apply=sum => reduce
f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1} => reduce+broadcast
f32[4,7] reduce-window(x, zero), window={size=1x2}, to_apply=sum => window
f32[4,8] reduce-window(x, zero), window={size=1x2 pad=0_0x1_0}, to_apply=sum
    window+pad
f32[3,8] gather(x, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,8}
    gather
f32[2,8] dynamic-slice(x, at, at), dynamic_slice_sizes={2,8} => slice
f32[9,8] dynamic-update-slice(wide, x, at, at) => pad
f32[4,8] sort(x), dimensions={1}, to_apply=less => reduce+broadcast
# nothing is left
f32[0,8] slice(x), slice={[1:1], [0:8]} => unused
f32[4,8] custom-call(x), custom_call_target="x" => unknown
f32[<=64,4] negate(bounded) => identity
f32[?,4] negate(unbounded) => identity
f32[4,<=64] transpose(bounded), dimensions={1,0} => transpose
f32[<=64,2] slice(bounded), slice={[0:64], [1:3]} => slice
f32[<=64,4] reverse(bounded), dimensions={0} => reverse
f32[<=66,4] pad(bounded, zero), padding=1_1x0_0 => pad
f32[4] reduce(unbounded, zero), dimensions={0}, to_apply=sum => reduce
"""))  # fmt: skip
def test_one_instruction(instruction: str, expected: str) -> None:
    (operand,) = {*re.findall(r"\b(?:x|bounded|unbounded)\b(?=[,)])", instruction)}
    assert _said_of(operand, MODULE.format(f"ROOT out = {instruction}")) == expected


@for_all(rows("""
t = f32[8,4] transpose(x), dimensions={1,0} ROOT out = f32[8,4] add(t, t) => transpose
t = f32[8,4] transpose(x), dimensions={1,0} ROOT out = f32[4,8] transpose(t), dimensions={1,0}
    identity
t = f32[4,8] reverse(x), dimensions={0} ROOT out = f32[4,8] add(t, x) => identity and reverse
# repeated rows
w = f32[4,2,8] broadcast(x), dimensions={0,2} ROOT out = f32[8,8] reshape(w) => broadcast
# a digit and its rest, turned
s = f32[4,2,4] reshape(x) ROOT out = f32[4,4,2] transpose(s), dimensions={0,2,1} => reshape
"""))  # fmt: skip
def test_a_chain(lines: str, expected: str) -> None:
    assert _said_of("x", f"ENTRY main {{ x = f32[4,8] parameter(0)\n{lines} }}") == expected


def _said_of(name: str, text: str) -> str:
    (found,) = summary(hlo.parse(text).entry)
    (row,) = (row for row in found.operands if row.operand.name == name)
    said = re.split(rf"%{name} \S+ ", str(found))[1].removesuffix(")").split(",")[0]
    assert (row.kinds == ()) == said.startswith("un")
    return said


def test_kinds_have_names() -> None:
    assert str(AccessKind(0)) == "identity"
    assert str(AccessKind.GATHER | AccessKind.BROADCAST) == "gather+broadcast"
    assert {str(kind) for kind in AccessKind} == {str(kind.name).lower() for kind in AccessKind}
