"""Sort and top-k: elements put in order along one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from indexing.layout import ShapeError
from ops import index_maps
from ops.hlo import Instruction
from ops.index_maps import SizeLike, Sizes
from ops.rules.elementwise import elementwise
from ops.rules.rule import OpIndexing, OpRule, only_dimension, sizes_of


def sort(operand_sizes: Sizes, dimension: int, inputs: int = 1) -> OpIndexing:
    """Sorts the elements along a dimension.

    The values decide where an element goes, so an element of the result may be any element along
    the dimension. A variadic sort moves the elements of several inputs in the same way: each result
    may depend on every input, because any of them may be compared.

    Shapes:
        inputs, results: ``operand_sizes``.

    Source:
        XLA operation semantics, Sort.

    Raises:
        ShapeError: the operand has no such dimension.

    >>> print(sort((4, 10), 1).output_to_input[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 9], s0 in [0, 9]
    >>> sort((4, 10), 1).input_to_output == sort((4, 10), 1).output_to_input
    True
    """
    sizes = index_maps.checked_sizes("sort", "operand", operand_sizes)
    inputs = index_maps.checked_operand_count("sort", "inputs", inputs)
    (sorted_dimension,) = index_maps.checked_dimensions(
        "sort", "dimensions", [dimension], len(sizes)
    )
    same = [(axis, axis) for axis in range(len(sizes)) if axis != sorted_dimension]
    to_input, to_output = index_maps.paired(sizes, sizes, same)
    return OpIndexing(sizes, (to_input,) * inputs, (to_output,) * inputs)


def top_k(operand_sizes: Sizes, k: SizeLike) -> OpIndexing:
    """Finds the ``k`` greatest values along the last dimension, and their indices.

    The two results, values and indices, have these same maps.

    Shapes:
        operand: ``(..., n)``.
        results: ``(..., k)``.

    Source:
        XLA operation semantics, TopK.

    Raises:
        ShapeError: the operand is a scalar, or ``k`` is not between 0 and the size of its last
            dimension.

    >>> print(top_k((4, 32), 5).output_to_input[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 31]
    >>> print(top_k((4, 32), 5).input_to_output[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 31], s0 in [0, 4]
    """
    sizes = index_maps.checked_sizes("topk", "operand", operand_sizes)
    if not sizes:
        raise ShapeError("topk: the operand is a scalar; expected a dimension to choose along")
    (chosen,) = index_maps.checked_numbers("topk", "k", [k])
    last = len(sizes) - 1
    message = f"topk: k is {chosen}, but operand dimension {last} has size {sizes[last]}"
    message = f"{message}; expected 0 to {sizes[last]}"
    conditions = [
        *index_maps.at_most(0, chosen, message),
        *index_maps.at_most(chosen, sizes[last], message),
    ]
    output_sizes = (*sizes[:last], chosen)
    to_input, to_output = index_maps.paired(
        output_sizes, sizes, [(axis, axis) for axis in range(last)]
    )
    return OpIndexing(output_sizes, (to_input,), (to_output,)).on_condition(conditions)


# Reading instructions.


def _sort(instruction: Instruction) -> tuple[OpIndexing, ...]:
    inputs = [sizes_of(operand) for operand in instruction.operands]
    elementwise(inputs)
    return (sort(inputs[0], only_dimension(instruction), len(inputs)),) * len(inputs)


def _top_k(instruction: Instruction) -> tuple[OpIndexing, OpIndexing]:
    (operand,) = instruction.operands
    indexing = top_k(sizes_of(operand), instruction.attributes["k"])
    return indexing, indexing


RULES: Final[Mapping[str, OpRule]] = {"sort": OpRule(_sort), "topk": OpRule(_top_k)}
