"""Instructions of statistics: batch normalization and random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.adapters.shared import check_scalars, sizes_of
from ops.builders.building import arrays_of
from ops.builders.normalization import batch_norm_grad, batch_norm_inference, batch_norm_training
from ops.builders.pointwise import elementwise
from ops.builders.random import rng, rng_bit_generator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.adapters.shared import Builder, Maps
    from ops.builders.op_indexing import OpIndexing
    from ops.hlo import Instruction


def _normalization(build: Callable[[tuple[int, ...], int], Maps], *tensors: int) -> Builder:
    """A builder for operands of which these are tensors, and all others one number a feature."""

    def adapted(instruction: Instruction) -> Maps:
        elementwise([sizes_of(instruction.operands[number]) for number in tensors])
        feature: int = instruction.attributes.get("feature_index", 0)
        maps = build(sizes_of(instruction.operands[0]), feature)
        for number, operand in enumerate(instruction.operands):
            if number not in tensors:
                _check_features(instruction, operand, feature)
        return maps

    return adapted


def _check_features(instruction: Instruction, vector: Instruction, feature: int) -> None:
    tensor = instruction.operands[0]
    count = sizes_of(tensor)[feature]
    if sizes_of(vector) != (count,):
        message = f"{instruction.opcode}: %{vector.name} is {vector.shape}, but dimension {feature}"
        raise ShapeError(f"{message} of %{tensor.name} has size {count}; expected one number each")


def _rng(instruction: Instruction) -> OpIndexing:
    check_scalars("rng", instruction.operands)
    return rng(sizes_of(instruction), len(instruction.operands))


def _rng_bit_generator(instruction: Instruction) -> tuple[OpIndexing, OpIndexing]:
    bits = arrays_of(instruction.shape)[-1]
    return rng_bit_generator(sizes_of(instruction.operands[0]), bits.dimensions)


BUILDERS: Final[Mapping[str, Builder]] = {
    "batch-norm-grad": _normalization(batch_norm_grad, 0, 4),
    "batch-norm-inference": _normalization(batch_norm_inference, 0),
    "batch-norm-training": _normalization(batch_norm_training, 0),
    "rng": _rng,
    "rng-bit-generator": _rng_bit_generator,
}
