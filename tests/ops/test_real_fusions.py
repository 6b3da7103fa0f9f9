"""Fusions, calls and loop bodies of real modules: their maps agree with running programs.

Each runs as a program of its own; elements of every operand are changed one by one, and the
results that change are compared with the maps: from the root, of the fusion, and back.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from ops import hlo
from tests.cases import rows
from tests.hlo.modules import module_text
from tests.ops.perturbation import tallies
from tests.ops.tested_computations import Subject

WHY = {
    "HIDDEN": "a mask, a comparison or a condition hides some of it",
    "START": "another place to begin at changes only what lies differently there",
    "TAKEN": "another row to take from changes only the rows that are taken",
}


@dataclass(frozen=True)
class Case:
    """A computation that an instruction ``at`` a place in a real module runs.

    ``wider`` are the pairs (array of the result, array of the operands) where more is said than
    is seen to happen, and why; everywhere else it is the same.
    """

    at: str
    what: str
    wider: Mapping[tuple[int, int], str]

    def __str__(self) -> str:
        return f"{self.at.split()[0]} {self.what}"

    @property
    def subject(self) -> Subject:
        module, name = self.at.split()
        instructions = hlo.parse(module_text(module)).instructions
        found = next(each for each in instructions if each.name == name)
        called = next(filter(None, map(found.attributes.get, ("calls", "to_apply", "body"))))
        return Subject(called, None if found.opcode == "while" else found)


def wider(text: str) -> tuple[tuple[int, int], str]:
    """A pair of arrays, and why more is said of it."""
    pair, _, why = text.rpartition(" ")
    return literal_eval(pair), WHY[why]


CASES = [
    Case(at, what, dict(map(wider, kept.split("; "))) if kept != "exact" else {})
    for at, what, kept in rows("""
# Attention.
gpu/mha_causal triton_softmax.2 => softmax behind a causal mask => (0, 0) HIDDEN
gpu/mha_causal loop_transpose_fusion.3 => heads cut out and transposed => exact
gpu/mha_causal gemm_fusion_dot.6 => scaled dot => exact
gpu/kv_cache_decode fusion.9 => one step of attention over a cache => exact
gpu/kv_cache_decode loop_dynamic_update_slice_fusion => cache update => (0, 2) START
tpu/kv_cache_decode constant_dynamic-slice_fusion => window of a cache => exact
# Rotary embedding, with grouped heads.
gpu/gqa_rope input_concatenate_fusion => rotation => exact
gpu/gqa_rope loop_exponential_fusion => exponentials behind a mask of positions
    (0, 0) HIDDEN; (0, 1) HIDDEN
# Normalization.
tpu/layernorm_grad fusion => four sums of a gradient => exact
tpu/layernorm_grad add_add_fusion => gradient of a layer norm => exact
gpu/softmax triton_softmax.2 => softmax => exact
# Convolutions.
gpu/resnet_block_fwd loop_reduce_window_fusion => batch norm and pooling => exact
tpu/resnet_block_fwd multiply_reduce_fusion.2 => convolution with sums of squares => exact
# Training.
gpu/mlp_adam_step gemm_fusion_dot_general.9 => dot with prologue and epilogue => exact
gpu/mlp_adam_step input_reduce_fusion.5 => cross entropy => (0, 0) HIDDEN
gpu/mlp_adam_step input_scatter_fusion => its gradient => (0, 1) TAKEN
gpu/mlp_adam_step loop_add_multiply_fusion => a step of Adam => exact
# Gathers and scatters.
gpu/take_along_axis loop_select_fusion => take along an axis => (0, 0) HIDDEN
gpu/take_along_axis input_scatter_fusion => add along an axis => (0, 2) TAKEN
gpu/embedding_grad input_scatter_fusion => embedding gradient => (0, 2) TAKEN
gpu/dynamic_slice_zoo loop_gather_fusion => gather => exact
# Orders.
cpu/sort_topk iota_reduce_fusion.1 => the largest and its place => exact
gpu/sort_topk fusion.4 => sort with places => exact
gpu/sort_topk input_scatter_fusion => running sums scattered => (0, 1) TAKEN
# Moves.
gpu/roll loop_dynamic_slice_fusion => roll by a number that is computed => exact
gpu/roll input_concatenate_fusion.2 => roll along two axes => exact
gpu/concat_pad_rev_slice input_concatenate_fusion.1 => blocks => exact
gpu/concat_pad_rev_slice loop_transpose_fusion => row reversed and transposed => exact
gpu/interior_pad loop_pad_slice_fusion => pads within => exact
tpu/concat_pad_rev_slice fusion.13 => tiled layouts => exact
# Bodies of loops.
gpu/control_flow while.23 => a scan, backwards => (1, 0) START
tpu/take_along_axis while.1 => a gather, one element after the other
    (1, 0) START; (1, 2) TAKEN; (1, 3) HIDDEN; (1, 5) HIDDEN
""")
]


@pytest.mark.needs("jax")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_said_happens(case: Case) -> None:
    found = tallies(case.subject, trials=3, most=40)
    assert [tally for tally in found if not tally.is_sound] == []
    assert {(tally.output, tally.operand) for tally in found if not tally.is_exact} == {*case.wider}


@pytest.mark.needs("jax")
@pytest.mark.parametrize("kept", [0, 1])
def test_a_map_that_is_missing_is_noticed(kept: int) -> None:
    """Softmax reads its element and its row; with only one of the two maps, something is missed."""
    subject = next(case for case in CASES if case.what == "softmax").subject
    ((pair, both),) = subject.said.items()
    subject.said[pair] = [ways[kept : kept + 1] for ways in both]
    (tally,) = tallies(subject, trials=1, most=4)
    assert bool(tally.missed) == (kept == 0)
    assert bool(tally.one_way) == (kept == 0)
