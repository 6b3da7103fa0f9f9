"""Reshape: the same elements in the same row-major order under other sizes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from indexing.layout import Reshape, ShapeError, step_map
from ops.builders.building import checked_sizes
from ops.builders.op_indexing import OpIndexing

if TYPE_CHECKING:
    from ops.builders.building import Sizes


def reshape(operand_sizes: Sizes, output_sizes: Sizes) -> OpIndexing:
    """The elements in the same row-major order under other sizes.

    Shapes:
        operand, result: as many elements; the order of elements stays, the last dimension runs
        fastest.

    Source:
        XLA operation semantics, Reshape.

    Raises:
        ShapeError: the numbers of elements differ.

    Only dimensions that must be mixed are: both shapes are cut from the left into the shortest
    blocks of equal product, and each block is flattened and unflattened by itself. What is left is
    simplified.

    >>> indexing = reshape((4, 8, 12), (32, 3, 4))
    >>> print(indexing.output_to_input[0])
    (d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: d0 in [0, 31], d1 in [0, 2],
    d2 in [0, 3]
    >>> print(indexing.input_to_output[0])
    (d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: d0 in [0, 3], d1 in [0, 7],
    d2 in [0, 11]
    """
    operand_sizes = checked_sizes("reshape", "operand", operand_sizes)
    output_sizes = checked_sizes("reshape", "output", output_sizes)
    if prod(operand_sizes) != prod(output_sizes):
        message = (
            f"reshape: the operand has {prod(operand_sizes)} elements {operand_sizes}, "
            f"but the result has {prod(output_sizes)} {output_sizes}; expected as many"
        )
        raise ShapeError(message)
    to_output = Reshape.between(operand_sizes, output_sizes)
    return OpIndexing(output_sizes, (step_map(to_output.inverse),), (step_map(to_output),))
