"""Instructions that compute: elementwise, generated, reduce, dot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import folded_inputs, sizes_of
from ops.builders.contraction import dot, ragged_dot, scaled_dot
from ops.builders.pointwise import ELEMENTWISE, elementwise, generated
from ops.builders.reduction import reduce

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.adapters.shared import Builder
    from ops.builders.op_indexing import OpIndexing
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


def _dot(build: Callable[..., OpIndexing], *further: str) -> Builder:
    """A builder of the sizes of all operands and of lists of dimensions."""

    def adapted(instruction: Instruction) -> OpIndexing:
        attributes = {name: instruction.attributes.get(name, ()) for name in (*_PAIRED, *further)}
        return build(*map(sizes_of, instruction.operands), **attributes)

    return adapted


def _generated(instruction: Instruction) -> OpIndexing:
    return generated(sizes_of(instruction))


_FROM_NOTHING: Final = (
    "constant",
    "iota",
    "partition-id",
    "replica-id",
    "rng-get-and-update-state",
)

BUILDERS: Final[Mapping[str, Builder]] = {
    **dict.fromkeys(sorted(ELEMENTWISE), _elementwise),
    **dict.fromkeys(_FROM_NOTHING, _generated),
    "dot": _dot(dot),
    "ragged-dot": _dot(ragged_dot, "lhs_ragged_dims", "rhs_group_dims"),
    "reduce": _reduce,
    "scaled-dot": _dot(scaled_dot),
}
