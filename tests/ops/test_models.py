"""Real modules: every instruction of a supported opcode has maps, for four targets."""

from __future__ import annotations

from collections import Counter

import pytest

from ops import REGISTRY, Unknown, fusion_indexing, hlo, input_to_output, output_to_input
from ops.adapters.control import CALLS
from ops.building import arrays_of
from tests.hlo.modules import NAMES, module_text

TARGETS = ("unoptimized", "cpu", "gpu", "tpu")
MODELS = (
    "softmax",
    "layernorm",
    "dot_product_attention_bf16",
    "mha_causal",
    "transformer_block_fwd",
)
MODEL_NAMES = [f"{target}/{model}" for target in TARGETS for model in MODELS]


def unexplained(instruction: hlo.Instruction) -> list[str]:
    """Reasons for missing maps, less those of opcodes that have no row."""
    outputs = range(len(arrays_of(instruction.shape)))
    asked = [
        *(output_to_input(instruction, output) for output in outputs),
        *(input_to_output(instruction, number) for number in range(len(instruction.operands))),
    ]
    answers = [answer for ask in asked for answer in ask.indexing]
    reasons = [answer.reason for answer in answers if isinstance(answer, Unknown)]
    return [reason for reason in reasons if reason.partition(":")[0] in REGISTRY.opcodes]


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_every_supported_instruction_has_maps(name: str) -> None:
    module = hlo.parse(module_text(name))
    missing = {
        found.name: unexplained(found)
        for found in module.instructions
        if found.opcode in REGISTRY.opcodes
    }
    assert not [name for name, reasons in missing.items() if reasons]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("printing_styles")])
def test_every_instruction_of_every_module_is_answered(name: str) -> None:
    module = hlo.parse(module_text(name))
    reasons = Counter[str]()
    for found in module.instructions:
        if found.opcode not in CALLS:
            reasons.update(unexplained(found))
    assert not reasons


def test_softmax_reads_its_rows() -> None:
    module = hlo.parse(module_text("unoptimized/softmax"))
    (parameter,) = module.entry.parameters
    answer = fusion_indexing(module.entry.root)[parameter]
    assert isinstance(answer, tuple)
    assert [str(way) for way in answer] == [
        "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 7], d1 in [0, 15], d2 in [0, 127]",
        "(d0, d1, d2)[s0] -> (d0, d1, s0), "
        + "domain: d0 in [0, 7], d1 in [0, 15], d2 in [0, 127], s0 in [0, 127]",
    ]
