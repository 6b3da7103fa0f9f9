"""Instructions that do not fit their dynamic operands are named with their place: no map."""

from __future__ import annotations

import pytest

from ops import hlo, input_to_output, output_to_input
from tests.ops.unfit import only_reason

WRONG = {
    "f32[4,<=8] transpose(p), dimensions={5,0}": (
        "transpose: dimensions lists dimension 5 of a tensor of rank 2"
    ),
    "f32[<=8,4,2] broadcast(p), dimensions={0,9}": (
        "broadcast: dimensions lists dimension 9 of a tensor of rank 3"
    ),
    "f32[<=8,4] concatenate(p, p), dimensions={6}": (
        "concatenate: dimension lists dimension 6 of a tensor of rank 2"
    ),
    "f32[<=8,4] pad(p, z), padding=0_0": (
        "pad: padding has 1 entries; expected 2, one for each dimension"
    ),
    "f32[<=8,2] slice(p), slice={[0:8]}": (
        "slice: limits has 1 entries; expected 2, one for each dimension"
    ),
    "f32[<=8,4] dynamic-slice(p, k, k), dynamic_slice_sizes={8}": (
        "dynamic-slice: the part has 1 entries; expected 2, one for each dimension"
    ),
    "f32[<=8] gather(p, k), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={0}, "
    "index_vector_dim=0, slice_sizes={1}": (
        "gather: slice_sizes has 1 entries; expected 2, one for each dimension"
    ),
    "f32[<=8,4] set-dimension-size(p, k), dimensions={6}": (
        "set-dimension-size: dimensions lists dimension 6 of a tensor of rank 2"
    ),
    "f32[<=8,4] reduce-window(p, z), window={size=1}, to_apply=sum": (
        "reduce-window: window has 1 entries; expected 2, one for each dimension"
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_instruction_has_its_place(text: str) -> None:
    module = hlo.parse(f"""sum {{ a = f32[] parameter(0) b = f32[] parameter(1)
      ROOT r = f32[] add(a, b) }}
    ENTRY e {{ p = f32[<=8,4] parameter(0) z = f32[] constant(0) k = s32[] constant(1)
      ROOT r = {text} }}""")
    for question in (output_to_input, input_to_output):
        reason = only_reason(question(module.entry.root))
        assert reason == f"4:7: %r: {WRONG[text]}"
