"""What a read is, for one instruction of each kind and for what they become in a fusion."""

from __future__ import annotations

import pytest

from ops import hlo, summary
from ops.performance import AccessKind
from tests.cases import for_all
from tests.texts import texts_with_values

READS = {
    "elementwise": ("f32[4,8] negate(x)", "identity"),
    "reshape of ones": ("f32[4,1,8] reshape(x)", "identity"),
    "reshape that splits": ("f32[4,2,4] reshape(x)", "reshape"),
    "reshape that joins": ("f32[32] reshape(x)", "reshape"),
    "transpose": ("f32[8,4] transpose(x), dimensions={1,0}", "transpose"),
    "reverse": ("f32[4,8] reverse(x), dimensions={1}", "reverse"),
    "broadcast": ("f32[3,4,8] broadcast(x), dimensions={1,2}", "broadcast"),
    "slice": ("f32[2,8] slice(x), slice={[1:3], [0:8]}", "slice"),
    "every second": ("f32[4,4] slice(x), slice={[0:4], [0:8:2]}", "slice"),
    "reshape of a row to several": ("f32[8,4] reshape(x)", "reshape"),
    "reshape of two rows to one": ("f32[2,16] reshape(x)", "reshape"),
    "pad": ("f32[6,8] pad(x, zero), padding=1_1x0_0", "pad"),
    "interior padding": ("f32[7,8] pad(x, zero), padding=0_0_1x0_0", "pad"),
    "padding that cuts": ("f32[4,7] pad(x, zero), padding=0_0x-1_0", "slice"),
    "concatenate": ("f32[8,8] concatenate(x, x), dimensions={0}", "pad"),
    "reduce": ("f32[4] reduce(x, zero), dimensions={1}, to_apply=sum", "reduce"),
    "dot": (
        "f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "reduce+broadcast",
    ),
    "window": ("f32[4,7] reduce-window(x, zero), window={size=1x2}, to_apply=sum", "window"),
    "padded window": (
        "f32[4,8] reduce-window(x, zero), window={size=1x2 pad=0_0x1_0}, to_apply=sum",
        "window+pad",
    ),
    "gather": (
        """f32[3,8] gather(x, rows), offset_dims={1}, collapsed_slice_dims={0},
           start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}""",
        "gather",
    ),
    "slice at runtime": ("f32[2,8] dynamic-slice(x, at, at), dynamic_slice_sizes={2,8}", "slice"),
    "update at runtime": ("f32[9,8] dynamic-update-slice(wide, x, at, at)", "pad"),
    "sort": ("f32[4,8] sort(x), dimensions={1}, to_apply=less", "reduce+broadcast"),
    "nothing is left": ("f32[0,8] slice(x), slice={[1:1], [0:8]}", "unused"),
    "call of nobody knows what": ('f32[4,8] custom-call(x), custom_call_target="x"', "unknown"),
}
"""What reads ``x`` of shape ``f32[4,8]``, and what the summary says of it."""

MODULE = """\
HloModule kinds

sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
less {{ a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }}

ENTRY main {{
  x = f32[4,8] parameter(0)
  rows = s32[3,1] parameter(1)
  at = s32[] parameter(2)
  wide = f32[9,8] parameter(3)
  zero = f32[] constant(0)
  ROOT out = {}
}}
"""

CHAINS = texts_with_values("""
# a turned sum | "transpose"
t = f32[8,4] transpose(x), dimensions={1,0}
ROOT out = f32[8,4] add(t, t)
# turned and turned again | "identity"
t = f32[8,4] transpose(x), dimensions={1,0}
ROOT out = f32[4,8] transpose(t), dimensions={1,0}
# two ways | "identity and reverse"
t = f32[4,8] reverse(x), dimensions={0}
ROOT out = f32[4,8] add(t, x)
# repeated rows | "broadcast"
w = f32[4,2,8] broadcast(x), dimensions={0,2}
ROOT out = f32[8,8] reshape(w)
# a digit and its rest, turned | "reshape"
s = f32[4,2,4] reshape(x)
ROOT out = f32[4,4,2] transpose(s), dimensions={0,2,1}
""")
"""Chains of instructions that read ``x`` of shape ``f32[4,8]``, and what the summary says."""


def _said_of_x(text: str) -> str:
    module = hlo.parse(text)
    (found,) = summary(module.entry)
    (row,) = (row for row in found.operands if row.operand.name == "x")
    said = str(found)
    begin = said.index("%x f32[4,8] ") + len("%x f32[4,8] ")
    assert (row.kinds == ()) == (said[begin:].startswith("un"))
    return said[begin:].removesuffix(")").split(",")[0]


@for_all(READS)
def test_one_instruction(instruction: str, expected: str) -> None:
    assert _said_of_x(MODULE.format(instruction)) == expected


@pytest.mark.parametrize(("lines", "expected"), CHAINS.values(), ids=CHAINS)
def test_a_chain(lines: str, expected: str) -> None:
    assert _said_of_x(f"ENTRY main {{ x = f32[4,8] parameter(0)\n{lines} }}") == expected


SYMBOLIC = {
    "elementwise": ("f32[<=64,4] negate(b)", "b", "identity"),
    "elementwise without bound": ("f32[?,4] negate(u)", "u", "identity"),
    "transpose": ("f32[4,<=64] transpose(b), dimensions={1,0}", "b", "transpose"),
    "slice": ("f32[<=64,2] slice(b), slice={[0:64], [1:3]}", "b", "slice"),
    "reverse": ("f32[<=64,4] reverse(b), dimensions={0}", "b", "reverse"),
    "pad": ("f32[<=66,4] pad(b, zero), padding=1_1x0_0", "b", "pad"),
    "reduce": ("f32[4] reduce(u, zero), dimensions={0}, to_apply=sum", "u", "reduce"),
}
"""What reads an array with a symbolic size, its name, and what the summary says of it."""


@pytest.mark.parametrize(("instruction", "operand", "expected"), SYMBOLIC.values(), ids=SYMBOLIC)
def test_symbolic_sizes(instruction: str, operand: str, expected: str) -> None:
    module = hlo.parse(
        f"""sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
        ENTRY main {{ b = f32[<=64,4] parameter(0) u = f32[?,4] parameter(1)
        zero = f32[] constant(0)  ROOT out = {instruction} }}"""
    )
    (found,) = summary(module.entry)
    kinds = {row.operand.name: " and ".join(map(str, row.kinds)) for row in found.operands}
    assert kinds[operand] == expected


def test_kinds_have_names() -> None:
    assert str(AccessKind(0)) == "identity"
    assert str(AccessKind.GATHER | AccessKind.BROADCAST) == "gather+broadcast"
    assert {str(kind) for kind in AccessKind} == {str(kind.name).lower() for kind in AccessKind}
