"""Reduce: folds along dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.index_maps import (
    checked_dimensions,
    checked_operand_count,
    checked_sizes,
    dim,
    every_element,
    index_map,
    no_dimensions,
    symbol,
)
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import OpRule, folded_inputs, sizes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.hlo import Instruction
    from ops.index_maps import Sizes


def reduce(operand_sizes: Sizes, dimensions: Sequence[int], inputs: int = 1) -> OpIndexing:
    """Folds an input along some dimensions, from an initial value on.

    A variadic reduce folds several inputs of one shape together and has as many results. Each
    result may depend on every input and on every initial value. The operands are the inputs, then
    their initial values.

    Shapes:
        inputs: ``operand_sizes``; initial values: scalars.
        results: the sizes of the dimensions that are not in ``dimensions``.

    Source:
        XLA operation semantics, Reduce.

    Raises:
        ShapeError: a dimension is listed twice, or does not exist.

    >>> indexing = reduce((150, 20, 10, 50), (3, 1))
    >>> print(indexing.output_to_input[0])
    (d0, d1)[s0, s1] -> (d0, s0, d1, s1), domain: d0 in [0, 149], d1 in [0, 9], s0 in [0, 19],
    s1 in [0, 49]
    >>> print(indexing.input_to_output[0])
    (d0, d1, d2, d3) -> (d0, d2), domain: d0 in [0, 149], d1 in [0, 19], d2 in [0, 9], d3 in [0, 49]
    >>> print(indexing.input_to_output[1])
    ()[s0, s1] -> (s0, s1), domain: s0 in [0, 149], s1 in [0, 9]
    """
    sizes = checked_sizes("reduce", "operand", operand_sizes)
    inputs = checked_operand_count("reduce", "inputs", inputs)
    folded = sorted(checked_dimensions("reduce", "dimensions", dimensions, len(sizes)))
    kept = [axis for axis in range(len(sizes)) if axis not in folded]
    output_sizes = tuple(sizes[axis] for axis in kept)
    element = {axis: dim(number) for number, axis in enumerate(kept)}
    element |= {axis: symbol(number) for number, axis in enumerate(folded)}
    to_input = index_map(
        (element[axis] for axis in range(len(sizes))),
        output_sizes,
        [sizes[axis] for axis in folded],
    )
    return OpIndexing(
        output_sizes,
        (to_input,) * inputs + (no_dimensions(output_sizes),) * inputs,
        (index_map(map(dim, kept), sizes),) * inputs + (every_element(output_sizes),) * inputs,
    )


# Reading instructions.


def _reduce(instruction: Instruction) -> OpIndexing:
    inputs = folded_inputs(instruction)
    return reduce(sizes_of(inputs[0]), instruction.attributes["dimensions"], len(inputs))


RULES: Final[Mapping[str, OpRule]] = {
    "reduce": OpRule(_reduce),
}
