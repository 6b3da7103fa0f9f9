"""Instructions that read or change windows where indices say: gather and scatter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.adapters.shared import sizes_of
from ops.builders.gather import gather
from ops.builders.scatter import scatter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.adapters.shared import Builder
    from ops.builders.op_indexing import OpIndexing
    from ops.hlo import Instruction

_GATHER: Final = (
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "index_vector_dim",
    "slice_sizes",
)
_GATHER_BATCHING: Final = ("operand_batching_dims", "start_indices_batching_dims")

_SCATTER: Final = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
)
_SCATTER_BATCHING: Final = ("input_batching_dims", "scatter_indices_batching_dims")


def _gather(instruction: Instruction) -> OpIndexing:
    attributes = instruction.attributes
    given = {name: attributes[name] for name in _GATHER}
    batching = {name: attributes.get(name, ()) for name in _GATHER_BATCHING}
    operand, indices = map(sizes_of, instruction.operands)
    return gather(operand, indices, **given, **batching)


def _scatter(instruction: Instruction) -> OpIndexing:
    attributes, inputs = instruction.attributes, len(instruction.operands) // 2
    given = {name: attributes[name] for name in _SCATTER}
    batching = {name: attributes.get(name, ()) for name in _SCATTER_BATCHING}
    for alike in (instruction.operands[:inputs], instruction.operands[inputs + 1 :]):
        _check_alike(alike)
    sizes = [sizes_of(operand) for operand in instruction.operands]
    return scatter(sizes[0], sizes[inputs], sizes[-1], **given, **batching, inputs=inputs)


def _check_alike(operands: Sequence[Instruction]) -> None:
    first = operands[0]
    for other in operands:
        if sizes_of(other) != sizes_of(first):
            message = f"scatter: %{other.name} is {other.shape}, but %{first.name} {first.shape}"
            raise ShapeError(f"{message}; expected the same sizes")


BUILDERS: Final[Mapping[str, Builder]] = {"gather": _gather, "scatter": _scatter}
