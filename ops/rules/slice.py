"""Slice and concatenate: a part of a tensor, and a tensor made of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final

from indexing import IndexingMap
from indexing.layout import ShapeError
from indexing.passes import Constraint
from ops import index_maps
from ops.hlo import Instruction
from ops.index_maps import CheckedSizes, Extent, Size, SizeLike, Sizes
from ops.rules.rule import OpIndexing, OpRule, as_large_as, only_dimension, sizes_of
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import Form, Interval


def slice(  # noqa: A001 - the operation's name
    operand_sizes: Sizes, start_indices: Sizes, limit_indices: Sizes, strides: Sizes = ()
) -> OpIndexing:
    """Takes every ``stride``-th element from a start up to, not including, a limit.

    Without ``strides`` every stride is 1.

    Shapes:
        operand: ``(n_0, ...)`` with ``0 <= start_i <= limit_i <= n_i``.
        result: ``(ceil((limit_i - start_i) / stride_i), ...)``.

    Source:
        XLA operation semantics, Slice.

    Raises:
        ShapeError: the bounds are not in the operand, or a stride is not positive.

    >>> indexing = slice((20, 50), (3, 0), (20, 50), (7, 2))
    >>> print(indexing.output_to_input[0])
    (d0, d1) -> (d0 * 7 + 3, d1 * 2), domain: d0 in [0, 2], d1 in [0, 24]
    >>> print(indexing.input_to_output[0])
    (d0, d1) -> ((d0 - 3) floordiv 7, d1 floordiv 2), domain: d0 in [3, 17], d1 in [0, 48],
    (d0 - 3) mod 7 in [0, 0], d1 mod 2 in [0, 0]
    """
    operand_sizes = index_maps.checked_sizes("slice", "operand", operand_sizes)
    starts = index_maps.checked_numbers("slice", "start_indices", start_indices)
    limits = index_maps.checked_numbers("slice", "limit_indices", limit_indices)
    check_type(strides, Iterable, "slice: strides", "a list of integers")
    steps = index_maps.checked_numbers("slice", "strides", strides) or (1,) * len(operand_sizes)
    conditions = _check_slice(operand_sizes, starts, limits, steps)
    output_sizes = tuple(
        index_maps.ceil_divided(limit - start, step)
        for start, limit, step in zip(starts, limits, steps, strict=True)
    )
    taken = [
        index_maps.between(start, start + index_maps.product((size - 1, step)))
        for start, size, step in zip(starts, output_sizes, steps, strict=True)
    ]
    return OpIndexing(
        output_sizes,
        (strided_indices(output_sizes, starts, steps),),
        (strided_numbers(taken, starts, steps),),
    ).on_condition(conditions)


def strided_indices(
    extents: Iterable[Extent], starts: CheckedSizes, steps: CheckedSizes
) -> IndexingMap:
    """From the number of an element to its index, where elements lie at a start and in steps."""
    results = (
        forms.product((index_maps.dim(number), index_maps.as_form(step))) + start
        for number, (start, step) in enumerate(zip(starts, steps, strict=True))
    )
    return index_maps.index_map(results, extents, over=(*starts, *steps))


def strided_numbers(
    extents: Iterable[Extent], starts: CheckedSizes, steps: CheckedSizes
) -> IndexingMap:
    """The inverse of :func:`strided_indices`: from the indices that hold an element."""
    results: list[Form] = []
    constraints: list[tuple[Form, Interval]] = []
    for number, (start, step) in enumerate(zip(starts, steps, strict=True)):
        distance, stride = index_maps.dim(number) - start, index_maps.as_form(step)
        results.append(distance if step == 1 else forms.floordiv(distance, stride))
        if step != 1:
            constraints.append((forms.mod(distance, stride), Interval(0, 0)))
    return index_maps.index_map(results, extents, (), constraints, over=(*starts, *steps))


def _check_slice(
    sizes: CheckedSizes, starts: CheckedSizes, limits: CheckedSizes, steps: CheckedSizes
) -> list[Constraint]:
    for role, values in (("start_indices", starts), ("limit_indices", limits), ("strides", steps)):
        index_maps.check_count("slice", role, values, len(sizes))
    conditions = index_maps.not_negative(sizes)
    for axis, (size, start, limit, step) in enumerate(
        zip(sizes, starts, limits, steps, strict=True)
    ):
        message = f"slice: dimension {axis} of size {size} is cut from {start} to {limit}"
        message = f"{message}; expected 0 <= start <= limit <= size"
        for less, more in pairwise((0, start, limit, size)):
            conditions += index_maps.at_most(less, more, message)
        message = f"slice: dimension {axis} has stride {step}; expected 1 or more"
        conditions += index_maps.at_most(1, step, message)
    return conditions


def concatenate(operand_sizes: Sequence[Sizes], dimension: int) -> OpIndexing:
    """Lays the operands one after the other along a dimension.

    The maps to the operands have domains that do not overlap: every element comes from one operand.

    Shapes:
        operands: equal but for the size of ``dimension``.
        result: the same, with the sum of these sizes.

    Source:
        XLA operation semantics, Concatenate.

    Raises:
        ShapeError: no operands, or two differ in the size of another dimension.

    >>> indexing = concatenate([(2, 5), (2, 11)], 1)
    >>> print(indexing.output_to_input[1])
    (d0, d1) -> (d0, d1 - 5), domain: d0 in [0, 1], d1 in [5, 15]
    >>> print(indexing.input_to_output[1])
    (d0, d1) -> (d0, d1 + 5), domain: d0 in [0, 1], d1 in [0, 10]
    """
    check_type(operand_sizes, Iterable, "concatenate: operand_sizes", "the sizes of each operand")
    checked = [
        index_maps.checked_sizes("concatenate", f"operand {number}", sizes)
        for number, sizes in enumerate(operand_sizes)
    ]
    conditions = _check_concatenate(checked, dimension)
    offsets = list(accumulate((sizes[dimension] for sizes in checked), initial=0))
    total = offsets.pop()
    output_sizes = index_maps.with_value(checked[0], dimension, total)
    return OpIndexing(
        output_sizes,
        tuple(
            _moved(
                index_maps.with_value(
                    sizes, dimension, index_maps.between(offset, offset + sizes[dimension] - 1)
                ),
                dimension,
                -offset,
            )
            for sizes, offset in zip(checked, offsets, strict=True)
        ),
        tuple(
            _moved(sizes, dimension, offset) for sizes, offset in zip(checked, offsets, strict=True)
        ),
    ).on_condition(conditions)


def _moved(extents: Sequence[Extent], axis: int, distance: Size) -> IndexingMap:
    """The identity, moved by a distance along one dimension."""
    results = [
        index_maps.dim(other) + (distance if other == axis else 0) for other in range(len(extents))
    ]
    return index_maps.index_map(results, extents, over=[distance])


def _check_concatenate(operand_sizes: Sequence[CheckedSizes], dimension: int) -> list[Constraint]:
    if not operand_sizes:
        raise ShapeError("concatenate: no operands; expected one or more")
    conditions = [limit for sizes in operand_sizes for limit in index_maps.not_negative(sizes)]
    first = operand_sizes[0]
    index_maps.checked_dimensions("concatenate", "dimension", (dimension,), len(first))
    for number, sizes in enumerate(operand_sizes):
        own = (sizes if dimension < len(sizes) else first)[dimension]
        expected = index_maps.with_value(first, dimension, own)
        conditions += index_maps.check_sizes(
            "concatenate", f"operand {number}", sizes, expected, "as in operand 0"
        )
    return conditions


# Reading instructions.


def _slice(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    bounds = instruction.attributes["slice"]
    starts, limits, strides = ([triple[axis] for triple in bounds] for axis in range(3))
    if operand.shape.dynamic_dimensions:
        limits = _up_to_the_end(operand, limits)
    return slice(sizes_of(operand), starts, limits, strides)


def _up_to_the_end(operand: Instruction, limits: Sizes) -> list[SizeLike]:
    """The limits; one at the bound of a dynamic dimension goes to its end."""
    index_maps.check_count("slice", "limits", limits, operand.shape.rank)
    rows = zip(limits, operand.shape.dimensions, sizes_of(operand), strict=True)
    return [size if limit == bound else limit for limit, bound, size in rows]


def _concatenate(instruction: Instruction) -> OpIndexing:
    sizes, along = [*map(sizes_of, instruction.operands)], only_dimension(instruction)
    if instruction.shape.dynamic_dimensions:
        beside = [as_large_as(instruction, each) for each in instruction.operands]
        pairs = (zip(*pair, strict=True) for pair in zip(sizes, beside, strict=True))
        sizes = [
            tuple(own if axis == along else size for axis, (own, size) in enumerate(each))
            for each in pairs
        ]
    return concatenate(sizes, along)


RULES: Final[Mapping[str, OpRule]] = {"concatenate": OpRule(_concatenate), "slice": OpRule(_slice)}
