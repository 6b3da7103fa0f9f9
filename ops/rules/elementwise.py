"""Elementwise operations: an element of the result needs the elements at its own index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

from indexing.layout import ShapeError
from ops import index_maps
from ops.hlo import Instruction
from ops.hlo.opcodes import LIKE_OPERANDS
from ops.hlo.true_sizes import array_sizes
from ops.index_maps import Size, Sizes
from ops.rules.rule import OpIndexing, OpRule, Pair, as_large_as, sizes_of

_REMEMBERED: Final = 1 << 10
"""For how many combinations of sizes the maps are kept."""

ELEMENTWISE: Final = frozenset(
    (
        *LIKE_OPERANDS,
        "abs",
        "clamp",
        "compare",
        "complex",
        "convert",
        "imag",
        "is-finite",
        "map",
        "real",
        "reduce-precision",
        "select",
        "stochastic-convert",
    )
)
"""Opcodes of operations that work element by element."""


def elementwise(operand_sizes: Sequence[Sizes]) -> OpIndexing:
    """Computes every element from the operands' elements at the same index.

    Shapes:
        operands: all of one shape, or scalars that every element reads, such as the predicate
            of a select and the bounds of a clamp.
        result: the shape of the operands.

    Source:
        XLA operation semantics, element-wise arithmetic, comparison and select operations;
        clamp; map.

    Raises:
        ShapeError: two operands that are not scalars differ in a size.

    >>> select = elementwise([(), (2, 3), (2, 3)])
    >>> print(select.output_to_input[0])
    (d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 2]
    >>> print(select.output_to_input[1])
    (d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]
    """
    return _shared(index_maps.checked_operands("elementwise", operand_sizes))


@lru_cache(maxsize=_REMEMBERED)
def _shared(operand_sizes: tuple[tuple[Size, ...], ...]) -> OpIndexing:
    """The maps for some sizes. They are kept: most instructions are elementwise, on few sizes."""
    output_sizes = max(operand_sizes, key=len, default=())
    conditions = [limit for sizes in operand_sizes for limit in index_maps.not_negative(sizes)]
    for number, sizes in enumerate(operand_sizes):
        if sizes:
            conditions += index_maps.check_sizes(
                "elementwise", f"operand {number}", sizes, output_sizes, "as in another operand"
            )
    identity = index_maps.index_map(index_maps.dimensions_of(output_sizes), output_sizes)
    alike, of_scalar = (identity, identity), index_maps.paired(output_sizes, ())
    pairs = (alike if len(sizes) == len(output_sizes) else of_scalar for sizes in operand_sizes)
    return OpIndexing.between(output_sizes, *pairs).on_condition(conditions)


# Reading instructions.


def _elementwise(instruction: Instruction) -> OpIndexing:
    operands = instruction.operands
    if instruction.shape.dynamic_dimensions:
        return elementwise([as_large_as(instruction, operand) for operand in operands])
    return elementwise([sizes_of(operand) for operand in operands])


def _copy(instruction: Instruction) -> OpIndexing | Mapping[Pair, OpIndexing]:
    """Maps of a copy: of a tuple, each array is copied."""
    (operand,), shape = instruction.operands, instruction.shape
    if shape.is_array and operand.shape.is_array:
        return _elementwise(instruction)
    if not shape.is_compatible_with(operand.shape):
        raise ShapeError(f"copy: the result is {shape}; expected {operand.shape}, as the operand")
    sizes = (array_sizes(instruction, number) for number in shape.array_indices)
    # The registry asks rules if all sizes are known.
    copied = (elementwise([cast("Sizes", each)]) for each in sizes)
    return {(number, number): each for number, each in enumerate(copied)}


RULES: Final[Mapping[str, OpRule]] = {
    **dict.fromkeys(sorted(ELEMENTWISE), OpRule(_elementwise)),
    "copy": OpRule(_copy),
}
