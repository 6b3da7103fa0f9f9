"""Instructions that compute: elementwise, generated, reduce, dot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import folded_inputs, sizes_of
from ops.contraction import dot
from ops.pointwise import ELEMENTWISE, elementwise, generated
from ops.reduction import reduce

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.adapters.shared import Builder
    from ops.answers import OpIndexing
    from ops.hlo import Instruction


def _elementwise(instruction: Instruction) -> OpIndexing:
    return elementwise([sizes_of(operand) for operand in instruction.operands])


def _reduce(instruction: Instruction) -> OpIndexing:
    inputs = folded_inputs(instruction)
    return reduce(sizes_of(inputs[0]), instruction.attributes["dimensions"], len(inputs))


_PAIRED: Final = (
    "lhs_contracting_dims",
    "rhs_contracting_dims",
    "lhs_batch_dims",
    "rhs_batch_dims",
)


def _dot(instruction: Instruction) -> OpIndexing:
    lhs, rhs = instruction.operands
    attributes = {name: instruction.attributes.get(name, ()) for name in _PAIRED}
    return dot(sizes_of(lhs), sizes_of(rhs), **attributes)


def _generated(instruction: Instruction) -> OpIndexing:
    return generated(sizes_of(instruction))


BUILDERS: Final[Mapping[str, Builder]] = {
    **dict.fromkeys(sorted(ELEMENTWISE), _elementwise),
    **dict.fromkeys(("constant", "iota", "partition-id", "replica-id"), _generated),
    "dot": _dot,
    "reduce": _reduce,
}
