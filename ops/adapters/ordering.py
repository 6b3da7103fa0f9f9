"""Instructions that work along an order: sort, top-k, scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import only_dimension, sizes_of
from ops.builders.building import arrays_of
from ops.builders.ordering import sort, top_k
from ops.builders.pointwise import ELEMENTWISE, elementwise
from ops.builders.scanning import scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.adapters.shared import Builder
    from ops.builders.op_indexing import OpIndexing
    from ops.hlo import Computation, Instruction


def _sort(instruction: Instruction) -> tuple[OpIndexing, ...]:
    inputs = [sizes_of(operand) for operand in instruction.operands]
    elementwise(inputs)
    return (sort(inputs[0], only_dimension(instruction), len(inputs)),) * len(inputs)


def _top_k(instruction: Instruction) -> tuple[OpIndexing, OpIndexing]:
    (operand,) = instruction.operands
    indexing = top_k(sizes_of(operand), instruction.attributes["k"])
    return indexing, indexing


def _scan(instruction: Instruction) -> tuple[OpIndexing, ...]:
    carries = instruction.attributes.get("num_carries", 0)
    operands = [sizes_of(operand) for operand in instruction.operands]
    results = [array.dimensions for array in arrays_of(instruction.shape)]
    inputs, outputs = (each[: len(each) - carries] for each in (operands, results))
    return scan(
        inputs,
        outputs,
        operands[len(inputs) :],
        only_dimension(instruction),
        is_reverse=instruction.attributes.get("is_reverse", False),
        is_elementwise=_is_elementwise(instruction.attributes["to_apply"]),
    )


_WITHIN_ELEMENTS: Final = ELEMENTWISE | {"constant", "get-tuple-element", "parameter", "tuple"}


def _is_elementwise(computation: Computation) -> bool:
    """Whether results are computed element by element from parameters of one shape."""
    shapes = {parameter.shape.dimensions for parameter in computation.parameters}
    shapes |= {array.dimensions for array in arrays_of(computation.root.shape)}
    opcodes = {instruction.opcode for instruction in computation.instructions}
    return len(shapes) == 1 and opcodes <= _WITHIN_ELEMENTS


BUILDERS: Final[Mapping[str, Builder]] = {
    "scan": _scan,
    "sort": _sort,
    "topk": _top_k,
}
