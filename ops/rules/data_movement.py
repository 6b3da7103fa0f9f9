"""Operations that move elements: broadcast, pad, slice, concatenate, transpose, reshape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from math import prod
from typing import Final

from indexing import IndexingMap, UndefinedMap, layout
from indexing.layout import UNBOUNDED_SIZE, Shape, ShapeError
from indexing.passes import Constraint, Ends
from ops import index_maps
from ops.hlo import Instruction, shape_inference
from ops.hlo.errors import AttributeValueError
from ops.hlo.shape_inference import Application, Sized
from ops.index_maps import CheckedSizes, Extent, Size, SizeLike, Sizes
from ops.rules import rule
from ops.rules.rule import MapsFunction, OpIndexing, OpRule, Unknown
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import ZERO, Form, Interval, read_fact

# Pad: a tensor with a border, and with gaps between its elements.


def pad(operand_sizes: Sizes, padding: Sequence[tuple[SizeLike, SizeLike, int]]) -> OpIndexing:
    """Puts padding before, after and between the elements of the operand.

    Each dimension has a triple ``(low, high, interior)``: how many values come before the first
    element, after the last, and between two neighbours. Where ``low`` or ``high`` is negative
    elements are cut off instead.

    Operand 1 is the padding value. Its maps say that every element of the result needs it, padded
    or not.

    Shapes:
        operand: ``(n_0, ...)``.
        result: ``(low_i + n_i + max(0, n_i - 1) * interior_i + high_i, ...)``.

    Source:
        XLA operation semantics, Pad.

    Raises:
        ShapeError: the interior padding or a size of the result is negative.

    >>> print(pad((4, 4), [(1, 4, 1), (4, 8, 0)]).output_to_input[0])
    (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod
    2 in [0, 0]
    """
    operand_sizes = index_maps.checked_sizes("pad", "operand", operand_sizes)
    index_maps.check_count("pad", "padding", padding, len(operand_sizes))
    triples = [_checked_triple(axis, triple) for axis, triple in enumerate(padding)]
    rows = [(size, *triple) for size, triple in zip(operand_sizes, triples, strict=True)]
    output_sizes = tuple(_padded_size(axis, *row) for axis, row in enumerate(rows))
    lows, steps = [low for low, _, _ in triples], [interior + 1 for _, _, interior in triples]
    return OpIndexing.between(
        output_sizes,
        (
            strided_numbers([_taken(*row) for row in rows], lows, steps),
            strided_indices([_kept(*row) for row in rows], lows, steps),
        ),
        index_maps.paired(output_sizes, ()),
    ).on_condition(index_maps.not_negative((*operand_sizes, *output_sizes)))


def _checked_triple(axis: int, triple: Sequence[SizeLike]) -> tuple[Size, Size, int]:
    checked = index_maps.checked_numbers("pad", f"padding[{axis}]", triple)
    if len(checked) != len(("low", "high", "interior")):
        raise ShapeError(f"pad: padding[{axis}] is {checked}; expected (low, high, interior)")
    low, high, interior = checked
    if not isinstance(interior, int) or interior < 0:
        message = f"pad: dimension {axis} has interior padding {interior}; expected 0 or more"
        raise ShapeError(message)
    return low, high, interior


def _padded_size(axis: int, size: Size, low: Size, high: Size, interior: int) -> Size:
    padded = shape_inference.padded_size(size, low, high, interior)
    if isinstance(padded, int) and padded < 0:
        message = f"pad: dimension {axis} has size {size}, with padding {low}_{high}_{interior}"
        raise ShapeError(f"{message} {padded}; expected 0 or more")
    return padded


def _taken(size: Size, low: Size, high: Size, interior: int) -> Interval | Ends:
    """The indices of the result from the first to the last element of the operand.

    If there is an element, the last one and what follows it tell the size of the result.
    """
    last = low + (size - 1) * (interior + 1)
    return index_maps.between(index_maps.at_least(0, low), index_maps.least(last, last + high))


def _kept(size: Size, low: Size, high: Size, interior: int) -> Interval | Ends:
    """The elements of the operand that are not cut off."""
    before, after = (index_maps.floor_divided(each, interior + 1) for each in (low, high))
    last = index_maps.least(size - 1, size - 1 + after)
    return index_maps.between(index_maps.at_least(0, -before), last)


def _pad(instruction: Instruction) -> OpIndexing:
    operand, value = instruction.operands
    rule.check_scalars("pad", [value])
    return pad(rule.sizes_of(operand), instruction.attributes["padding"])


# Broadcast: the operand repeated along new dimensions.


def broadcast(operand_sizes: Sizes, output_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Copies the operand along new dimensions of the result.

    Dimension ``i`` of the operand is dimension ``dimensions[i]`` of the result, in any order.
    A dimension of size 1 may be stretched. A size ``n`` over parameters may be 1, too, unless it is
    that of the result: the index ``min(d, n - 1)`` is right for both, and that ``n`` is one of them
    is a constraint of the maps.

    Shapes:
        operand: ``(n_0, ..., n_{r-1})``.
        result: ``(m_0, ...)`` with ``n_i`` equal to 1 or to ``m_{dimensions[i]}``.

    Source:
        StableHLO specification, broadcast_in_dim. HLO's broadcast does not stretch.

    Raises:
        ShapeError: ``dimensions`` lists a dimension twice, lacks one, or sizes differ.

    >>> indexing = broadcast((20,), (10, 20, 30), (1,))
    >>> print(indexing.output_to_input[0])
    (d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]
    >>> print(indexing.input_to_output[0])
    (d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]
    >>> from simplifier import symbol
    >>> print(broadcast((symbol("N"),), (8,), (0,)).output_to_input[0])
    (d0)<N> -> (min(N - 1, d0)), domain: d0 in [0, 7], N in [1, 8],
    (N != 8 and N != 1) in [0, 0]
    """
    operand_sizes = index_maps.checked_sizes("broadcast", "operand", operand_sizes)
    output_sizes = index_maps.checked_sizes("broadcast", "output", output_sizes)
    rank = len(output_sizes)
    dimensions = index_maps.checked_dimensions("broadcast", "dimensions", dimensions, rank)
    index_maps.check_count("broadcast", "dimensions", dimensions, len(operand_sizes))
    conditions = index_maps.not_negative((*operand_sizes, *output_sizes))
    kept: dict[int, int] = {}
    to_input: list[Form] = []
    for axis, (size, target) in enumerate(zip(operand_sizes, dimensions, strict=True)):
        conditions += _fits(axis, size, target, output_sizes[target])
        is_kept = not _may_stretch(size, output_sizes[target])
        if is_kept:
            kept[target] = axis
        to_input.append(
            index_maps.dim(target) if is_kept else _copied(index_maps.dim(target), size)
        )
    new = [target for target in range(rank) if target not in kept]
    to_output = [
        index_maps.dim(kept[target]) if target in kept else index_maps.symbol(new.index(target))
        for target in range(rank)
    ]
    copied_from = [
        (_copied(index_maps.symbol(new.index(target)), size) - index_maps.dim(axis), Interval(0, 0))
        for axis, (size, target) in enumerate(zip(operand_sizes, dimensions, strict=True))
        if target in new and isinstance(size, Form)
    ]
    ranges = [output_sizes[target] for target in new]
    there = index_maps.index_map(to_input, output_sizes)
    back = index_maps.index_map(to_output, operand_sizes, ranges, copied_from)
    return OpIndexing.between(output_sizes, (there, back)).on_condition(conditions)


def _may_stretch(size: Size, target_size: Size) -> bool:
    """Whether a dimension may be one that is stretched, to more or to less than one element."""
    return size != target_size and index_maps.may_be(size, 1)


def _copied(index: Form, size: Size) -> Form:
    """The index in a dimension that is stretched if its size is 1, and kept if it is not."""
    return forms.minimum((index, size - 1)) if isinstance(size, Form) else ZERO


def _fits(axis: int, size: Size, target: int, target_size: Size) -> list[Constraint]:
    """The condition that a dimension of the operand is kept or stretched."""
    if size in (1, target_size):
        return []
    if _may_stretch(size, target_size):
        apart = (
            index_maps.as_form(index_maps.difference(size, choice)) for choice in (1, target_size)
        )
        neither = forms.conjunction(map(forms.negation, map(forms.zero, apart)))
        return [*read_fact(neither, Interval(0, 0))]
    message = (
        f"broadcast: operand dimension {axis} has size {size}, but result dimension {target} "
        f"(dimensions[{axis}]) has size {target_size}; expected 1 or {target_size}"
    )
    return index_maps.equal(size, target_size, message)


def _broadcast(instruction: Instruction) -> OpIndexing:
    """HLO's broadcast does not stretch a dimension with a size of its own at runtime."""
    (operand,) = instruction.operands
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    output_sizes = rule.sizes_of(instruction)
    sizes = [*rule.sizes_of(operand)]
    conditions: list[Constraint] = []
    for axis, (size, target) in enumerate(zip(sizes, dimensions, strict=False)):
        if isinstance(size, Form) and target in range(len(output_sizes)):
            conditions += index_maps.equal(size, output_sizes[target], "broadcast: sizes differ")
            sizes[axis] = output_sizes[target]
    return broadcast(sizes, output_sizes, dimensions).on_condition(conditions)


# Slice and concatenate: a part of a tensor, and a tensor made of parts.


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
    conditions = [*_check_slice(operand_sizes, starts, limits, steps)]
    output_sizes = tuple(
        index_maps.ceil_divided(limit - start, step)
        for start, limit, step in zip(starts, limits, steps, strict=True)
    )
    taken = [
        index_maps.between(start, start + index_maps.product((size - 1, step)))
        for start, size, step in zip(starts, output_sizes, steps, strict=True)
    ]
    maps = strided_indices(output_sizes, starts, steps), strided_numbers(taken, starts, steps)
    return OpIndexing.between(output_sizes, maps).on_condition(conditions)


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
) -> Iterator[Constraint]:
    for role, values in (("start_indices", starts), ("limit_indices", limits), ("strides", steps)):
        index_maps.check_count("slice", role, values, len(sizes))
    yield from index_maps.not_negative(sizes)
    for axis, (size, start, limit, step) in enumerate(
        zip(sizes, starts, limits, steps, strict=True)
    ):
        message = f"slice: dimension {axis} of size {size} is cut from {start} to {limit}"
        message = f"{message}; expected 0 <= start <= limit <= size"
        for less, more in pairwise((0, start, limit, size)):
            yield from index_maps.at_most(less, more, message)
        message = f"slice: dimension {axis} has stride {step}; expected 1 or more"
        yield from index_maps.at_most(1, step, message)


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
    checked = index_maps.checked_operands("concatenate", operand_sizes)
    conditions = _check_concatenate(checked, dimension)
    offsets = list(accumulate((sizes[dimension] for sizes in checked), initial=0))
    total = offsets.pop()
    output_sizes = index_maps.with_value(checked[0], dimension, total)
    pairs: list[tuple[IndexingMap, IndexingMap]] = []
    for sizes, offset in zip(checked, offsets, strict=True):
        place = index_maps.between(offset, offset + sizes[dimension] - 1)
        part = index_maps.with_value(sizes, dimension, place)
        pairs.append((_moved(part, dimension, -offset), _moved(sizes, dimension, offset)))
    return OpIndexing.between(output_sizes, *pairs).on_condition(conditions)


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


def _slice(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    bounds = instruction.attributes["slice"]
    starts, limits, strides = ([triple[axis] for triple in bounds] for axis in range(3))
    if operand.shape.dynamic_dimensions:
        index_maps.check_count("slice", "limits", limits, operand.shape.rank)
        rows = zip(limits, operand.shape.dimensions, rule.sizes_of(operand), strict=True)
        limits = [size if limit == bound else limit for limit, bound, size in rows]
    return slice(rule.sizes_of(operand), starts, limits, strides)


def _concatenate(instruction: Instruction) -> OpIndexing:
    sizes, along = [*map(rule.sizes_of, instruction.operands)], rule.only_dimension(instruction)
    if instruction.shape.dynamic_dimensions:
        beside = [rule.as_large_as(instruction, each) for each in instruction.operands]
        pairs = (zip(*pair, strict=True) for pair in zip(sizes, beside, strict=True))
        sizes = [
            tuple(own if axis == along else size for axis, (own, size) in enumerate(each))
            for each in pairs
        ]
    return concatenate(sizes, along)


# Transpose, reverse and shuffle: the same elements in another order.


def transpose(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Permutes dimensions: dimension ``i`` of the result is ``dimensions[i]`` of the operand.

    Shapes:
        operand: ``(n_0, ..., n_{r-1})``.
        result: ``(n_{dimensions[0]}, ..., n_{dimensions[r-1]})``.

    Source:
        XLA operation semantics, Transpose.

    Raises:
        ShapeError: ``dimensions`` is no permutation of the operand's dimensions.

    >>> indexing = transpose((3, 12288, 6), (0, 2, 1))
    >>> print(indexing.output_to_input[0])
    (d0, d1, d2) -> (d0, d2, d1), domain: d0 in [0, 2], d1 in [0, 5], d2 in [0, 12287]
    """
    operand_sizes = index_maps.checked_sizes("transpose", "operand", operand_sizes)
    rank = len(operand_sizes)
    dimensions = index_maps.checked_dimensions("transpose", "dimensions", dimensions, rank)
    index_maps.check_count("transpose", "dimensions", dimensions, rank)
    output_sizes = tuple(operand_sizes[source] for source in dimensions)
    maps = index_maps.paired(output_sizes, operand_sizes, enumerate(dimensions))
    return OpIndexing.between(output_sizes, maps)


def reverse(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Reverses the order of elements along some dimensions.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA operation semantics, Rev (reverse).

    Raises:
        ShapeError: a dimension is listed twice, or does not exist.

    >>> print(reverse((1, 17, 9), (1, 2)).output_to_input[0])
    (d0, d1, d2) -> (d0, -d1 + 16, -d2 + 8), domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8]
    """
    sizes = index_maps.checked_sizes("reverse", "operand", operand_sizes)
    turned = index_maps.checked_dimensions("reverse", "dimensions", dimensions, len(sizes))
    results = index_maps.dimensions_of(sizes)
    for axis in turned:
        results[axis] = sizes[axis] - 1 - results[axis]
    own_inverse = (index_maps.index_map(results, sizes),)
    return OpIndexing(sizes, own_inverse, own_inverse)


def rotate(operand_sizes: Sizes, dimensions: Sequence[int], shifts: Sizes) -> OpIndexing:
    """Moves elements towards the front along some dimensions, and the first ones to the back.

    Along ``dimensions[i]`` the result begins with element ``shifts[i]`` of the operand; a shift may
    be negative, or beyond the size.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA's shuffle with mode ``rotate``, as its expander to slices and concatenations does it.

    Raises:
        ShapeError: a dimension is listed twice, does not exist, or has no shift.

    >>> print(rotate((2, 10), (1,), (3,)).output_to_input[0])
    (d0, d1) -> (d0, (d1 + 3) mod 10), domain: d0 in [0, 1], d1 in [0, 9]
    """
    sizes = index_maps.checked_sizes("shuffle", "operand", operand_sizes)
    turned = index_maps.checked_dimensions("shuffle", "dimensions", dimensions, len(sizes))
    distances = index_maps.checked_numbers("shuffle", "shifts", shifts)
    index_maps.check_count("shuffle", "shifts", distances, len(turned))
    pairs = list(zip(turned, distances, strict=True))
    back = _rotated(sizes, [(axis, -distance) for axis, distance in pairs])
    return OpIndexing.between(sizes, (_rotated(sizes, pairs), back))


def _rotated(sizes: CheckedSizes, distances: Sequence[tuple[int, Size]]) -> IndexingMap:
    results = index_maps.dimensions_of(sizes)
    for axis, distance in distances:
        if sizes[axis]:
            moved = index_maps.dim(axis) + distance
            results[axis] = forms.mod(moved, index_maps.as_form(sizes[axis]))
    return index_maps.index_map(results, sizes, over=[distance for _, distance in distances])


def permute(operand_sizes: Sizes, dimensions: Sequence[int]) -> OpIndexing:
    """Reorders elements along some dimensions by a table of indices.

    The maps hold for every table: an element of the result may be any element along those
    dimensions.

    Shapes:
        result: the shape of the operand.

    Source:
        XLA's shuffle with mode ``permute``, as its expander to a gather does it.

    Raises:
        ShapeError: a dimension is listed twice, or does not exist.

    >>> print(permute((3, 2), (0,)).output_to_input[0])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 2]
    """
    sizes = index_maps.checked_sizes("shuffle", "operand", operand_sizes)
    moved = index_maps.checked_dimensions("shuffle", "dimensions", dimensions, len(sizes))
    same = [(axis, axis) for axis in range(len(sizes)) if axis not in moved]
    return OpIndexing.between(sizes, index_maps.paired(sizes, sizes, same))


def _shuffle(instruction: Instruction) -> OpIndexing | Unknown:
    (operand,) = instruction.operands
    sizes, attributes = rule.sizes_of(operand), instruction.attributes
    match attributes["mode"]:
        case "rotate":
            return rotate(sizes, attributes["dimensions"], attributes.get("shifts", ()))
        case "permute":
            return permute(sizes, attributes["dimensions"])
        case mode:
            return Unknown(f"shuffle: no indexing map of mode {mode}")


# Reshape, bitcast and bitcast-convert: the same elements, memory or bits under another shape.

_REMEMBERED: Final = 1 << 10
"""For how many pairs of sizes the maps are kept."""


def reshape(operand_sizes: Sizes, output_sizes: Sizes) -> OpIndexing:
    """Gives the elements other sizes and keeps their row-major order.

    Shapes:
        operand, result: as many elements.

    Source:
        XLA operation semantics, Reshape.

    Raises:
        ShapeError: the numbers of elements differ.

    Both shapes are cut from the left into the shortest blocks of equal product, and each block is
    flattened and unflattened by itself. So dimensions mix only where they must. Where it depends on
    parameters whether the numbers of elements are equal, that is a constraint of the maps.

    >>> indexing = reshape((4, 8, 12), (32, 3, 4))
    >>> print(indexing.output_to_input[0])
    (d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: d0 in [0, 31], d1 in [0, 2],
    d2 in [0, 3]
    >>> print(indexing.input_to_output[0])
    (d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: d0 in [0, 3], d1 in [0, 7],
    d2 in [0, 11]
    >>> from simplifier import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> print(reshape((N * 4,), (N, 4)).output_to_input[0])
    (d0, d1)<N> -> (d0 * 4 + d1), domain: d0 in [0, N - 1], d1 in [0, 3], N in [1, inf]
    >>> print(reshape((N,), (M, 4)).output_to_input[0])
    (d0, d1)<M, N> -> (d0 * 4 + d1), domain: d0 in [0, M - 1], d1 in [0, 3], M in [1, inf],
    N in [4, inf], M * 4 - N in [0, 0]
    """
    operand_sizes = index_maps.checked_sizes("reshape", "operand", operand_sizes)
    output_sizes = index_maps.checked_sizes("reshape", "output", output_sizes)
    before, after = index_maps.numbers(operand_sizes), index_maps.numbers(output_sizes)
    if before is None or after is None:
        return reshape_over_parameters(operand_sizes, output_sizes)
    if prod(before) != prod(after):
        message = f"reshape: the operand has {prod(before)} elements {operand_sizes}, but"
        message = f"{message} the result has {prod(after)} {output_sizes}"
        raise ShapeError(f"{message}; expected as many")
    steps = layout.Reshape.between(tuple(before), tuple(after))
    maps = layout.step_map(steps.inverse), layout.step_map(steps)
    return OpIndexing.between(output_sizes, maps)


def bitcast(operand: Shape, output: Shape) -> OpIndexing:
    """Reads the memory of the operand as an array of another shape and layout.

    Elements of the result that lie in padding of the operand depend on nothing. If there is no map,
    both are undefined and say why: see :func:`indexing.layout.bitcast_map`.

    Shapes:
        operand, result: as many bytes, padding included.

    Source:
        XLA operation semantics, Bitcast.

    >>> from indexing.layout import Shape
    >>> indexing = bitcast(Shape.parse("f32[16,17,3]"), Shape.parse("f32[51,16]{0,1}"))
    >>> print(indexing.output_to_input[0])
    (d0, d1) -> (d1, d0 floordiv 3, d0 mod 3), domain: d0 in [0, 50], d1 in [0, 15]
    >>> tiled = Shape.parse("f32[8,1,16]{2,1,0:T(1,128)}")
    >>> print(bitcast(tiled, Shape.parse("f32[8,16]{1,0:T(8,128)}")).output_to_input[0])
    (d0, d1) -> (d0, 0, d1), domain: d0 in [0, 7], d1 in [0, 15]
    """
    for name, shape in (("operand", operand), ("output", output)):
        check_type(shape, layout.ArrayShape, f"bitcast: {name}", "a Shape, as of Shape.parse")
    to_input, to_output = _mapped(output, operand), _mapped(operand, output)
    return OpIndexing(output.dimensions, (to_input,), (to_output,))


def _mapped(source: Shape, target: Shape) -> IndexingMap:
    found = layout.bitcast_map(source, target)
    return UndefinedMap(f"bitcast: {found.reason}") if isinstance(found, UndefinedMap) else found


def bitcast_convert(operand_sizes: Sizes, output_sizes: Sizes) -> OpIndexing:
    """Reads the bits of every element as elements of another type.

    Shapes:
        operand, result: equal sizes, or one has a further last dimension: the narrow elements of
        each wide one.

    Source:
        StableHLO specification, bitcast_convert.

    Raises:
        ShapeError: the shapes differ in more than a last dimension.

    >>> indexing = bitcast_convert((7,), (7, 4))
    >>> print(indexing.output_to_input[0])
    (d0, d1) -> (d0), domain: d0 in [0, 6], d1 in [0, 3]
    >>> print(indexing.input_to_output[0])
    (d0)[s0] -> (d0, s0), domain: d0 in [0, 6], s0 in [0, 3]
    """
    operand_sizes = index_maps.checked_sizes("bitcast-convert", "operand", operand_sizes)
    output_sizes = index_maps.checked_sizes("bitcast-convert", "output", output_sizes)
    common = min(len(operand_sizes), len(output_sizes))
    message = f"bitcast-convert: the operand has sizes {operand_sizes}, the result {output_sizes}"
    message = f"{message}; expected them to differ at most by a last dimension"
    if abs(len(operand_sizes) - len(output_sizes)) > 1:
        raise ShapeError(message)
    conditions = index_maps.not_negative((*operand_sizes, *output_sizes))
    for size, other in zip(operand_sizes[:common], output_sizes[:common], strict=True):
        conditions += index_maps.equal(size, other, message)
    maps = index_maps.paired(output_sizes, operand_sizes, [(axis, axis) for axis in range(common)])
    return OpIndexing.between(output_sizes, maps).on_condition(conditions)


def _between_shapes(build: Callable[[Sizes, Sizes], OpIndexing]) -> MapsFunction:
    """Reads the sizes of the operand and of the result; the maps for a pair of these are kept."""
    shared = lru_cache(maxsize=_REMEMBERED)(build)

    def maps(instruction: Instruction) -> OpIndexing:
        return shared(rule.sizes_of(instruction.operands[0]), rule.sizes_of(instruction))

    return maps


def _bitcast(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    if any(operand.shape.dynamic_dimensions) and operand.shape == instruction.shape:
        return reshape(rule.sizes_of(operand), rule.sizes_of(instruction))
    return bitcast(operand.shape, instruction.shape)


# Reshapes between sizes over parameters.


def reshape_over_parameters(operand_sizes: CheckedSizes, output_sizes: CheckedSizes) -> OpIndexing:
    """The maps of a reshape, on the condition that both shapes have as many elements.

    Dimensions are reshaped in the shortest blocks that have equal numbers of elements as they are
    written; what is left is one block.

    Raises:
        ShapeError: the numbers of elements differ for all values of the parameters.
    """
    before, after = map(index_maps.shown_sizes, (operand_sizes, output_sizes))
    message = f"reshape: the operand has sizes {before}, the result {after}"
    elements, needed = index_maps.product(operand_sizes), index_maps.product(output_sizes)
    conditions = [
        *index_maps.equal(elements, needed, f"{message}; expected as many elements"),
        *index_maps.not_negative((*operand_sizes, *output_sizes)),
    ]
    to_input = _regrouped(output_sizes, operand_sizes, conditions)
    to_output = _regrouped(operand_sizes, output_sizes, conditions)
    return OpIndexing(tuple(output_sizes), (to_input,), (to_output,))


def _regrouped(
    source: CheckedSizes, target: CheckedSizes, conditions: Sequence[Constraint]
) -> IndexingMap:
    """Map from an index to that of the same element in the other shape."""
    index, results = iter(index_maps.dimensions_of(source)), list[Form]()
    for before, after in _blocks(source, target):
        own = [*islice(index, len(before))]
        results += _digits(index_maps.row_major(own, before, range(len(own))), after)
    found = index_maps.index_map(results, source, over=target)
    return index_maps.on_condition(found, conditions).simplify()


def _blocks(
    source: CheckedSizes, target: CheckedSizes
) -> Iterator[tuple[CheckedSizes, CheckedSizes]]:
    """The sizes in blocks with as many elements in both shapes; the last one is the rest."""
    while source or target:
        ends = _first_block(source, target) or (len(source), len(target))
        yield source[: ends[0]], target[: ends[1]]
        source, target = source[ends[0] :], target[ends[1] :]


def _first_block(source: CheckedSizes, target: CheckedSizes) -> tuple[int, int] | None:
    """The shortest beginnings of both shapes with equal numbers of elements."""
    pairs = (
        (length - width, width)
        for length in range(2, len(source) + len(target) + 1)
        for width in range(1, length)
        if width <= len(target) and length - width <= len(source)
    )
    for one, other in pairs:
        before, after = index_maps.product(source[:one]), index_maps.product(target[:other])
        if index_maps.difference(before, after) == 0:
            return one, other
    return None


def _digits(position: Form, sizes: CheckedSizes) -> Iterator[Form]:
    """The index of the element at a row-major position."""
    for axis, size in enumerate(sizes):
        stride = index_maps.product(sizes[axis + 1 :])
        quotient = position if stride == 1 else forms.floordiv(position, index_maps.as_form(stride))
        yield forms.mod(quotient, index_maps.as_form(size)) if axis else quotient


# Shapes of results, as far as those of operands and attributes tell.


def _broadcast_shape(op: Application) -> Sized:
    dimensions: Sequence[int] = op.attributes["dimensions"]
    (operand,) = op.operands
    if op.result is None:
        if operand.shape.rank or dimensions:
            raise shape_inference.not_inferred("a broadcast")
        return operand
    shape, bounds = operand.shape, op.result.dimensions
    is_inside = all(0 <= axis < len(bounds) for axis in dimensions)
    kept = [bounds[axis] for axis in dimensions] if is_inside and shape.is_array else None
    if kept is None or not shape_inference.are_same(shape.dimensions, kept):
        message = f"dimensions {tuple(dimensions)} do not lead from {shape} to {op.result}"
        raise AttributeValueError(message)
    sizes = dict(zip(dimensions, operand.own, strict=True))
    return Sized(op.result, ([sizes.get(axis) for axis in range(len(bounds))],))


def _concatenate_shape(op: Application) -> Sized:
    first = op.operands[0]
    (along,) = shape_inference.checked_axes(first.shape, op.attributes["dimensions"][:1] or (0,))
    if any(each.shape.rank != first.shape.rank for each in op.operands):
        raise AttributeValueError("the operands have different ranks")
    own = first.shape.dimensions[along]
    for each in op.operands:
        dimensions = index_maps.with_value(each.shape.dimensions, along, own)
        shape_inference.check_same(first.shape, each.shape, dimensions)
    along_all = index_maps.total(each.own[along] for each in op.operands)
    sizes = index_maps.with_value(shape_inference.common_sizes(op.operands), along, along_all)
    return Sized.array(shape_inference.widest(op.operands), sizes)


def _pad_shape(op: Application) -> Sized:
    operand, padding = op.operands[0], op.attributes["padding"]
    if len(padding) != operand.shape.rank:
        message = f"the padding has {len(padding)} dimensions, but the operand is {operand.shape}"
        raise AttributeValueError(message)
    pairs = zip(operand.own, padding, strict=True)
    sizes = [shape_inference.padded_size(size, *row) for size, row in pairs]
    return Sized.array(shape_inference.widest(op.operands), sizes)


def _reshape_shape(op: Application) -> Sized:
    """Dimensions that are reshaped together have as many elements before and after.

    So one dynamic dimension among those of the result has what the others leave of them.
    Dimensions without bounds do not tell which belong together: all do.
    """
    (operand,), shape = op.operands, op.written
    found: list[Size | None] = [None] * shape.rank
    bounds = operand.shape.dimensions, shape.dimensions
    is_bounded = not any(UNBOUNDED_SIZE in each for each in bounds)
    whole = [(range(len(bounds[0])), range(len(bounds[1])))]
    for before, after in layout.common_blocks(*bounds) if is_bounded else whole:
        dynamic = [axis for axis in after if any(shape.dynamic_dimensions[axis : axis + 1])]
        if len(dynamic) == 1:
            others = (shape.dimensions[axis] for axis in after if axis != dynamic[0])
            rest = index_maps.product(others)
            elements = index_maps.product(operand.own[axis] for axis in before)
            if isinstance(rest, int) and rest:
                found[dynamic[0]] = index_maps.floor_divided(elements, rest)
    return Sized(shape, (found,))


def _slice_shape(op: Application) -> Sized:
    """A dynamic dimension that is taken whole, up to the bound, keeps its size."""
    (operand,), ranges = op.operands, op.attributes["slice"]
    if len(ranges) != operand.shape.rank or any(stride < 1 for _, _, stride in ranges):
        raise AttributeValueError(f"the slice does not fit the operand {operand.shape}")
    found: list[Size | None] = []
    for (size, bound), (start, limit, stride) in zip(operand.rows, ranges, strict=True):
        is_whole = (start, limit, stride) == (0, bound, 1)
        taken = max(0, -(-(limit - start) // stride)) if size == bound else None
        found.append(size if is_whole else taken)
    return Sized.array(operand.shape.element_type, found)


def _transpose_shape(op: Application) -> Sized:
    (operand,), permutation = op.operands, op.attributes["dimensions"]
    own, rank = operand.shape.layout, operand.shape.rank
    if sorted(permutation) != list(range(rank)) or own is None:
        message = f"dimensions {permutation} are no permutation of those of {operand.shape}"
        raise AttributeValueError(message)
    order = tuple(permutation.index(dimension) for dimension in own.minor_to_major)
    found = Sized.array(operand.shape.element_type, operand.taken(permutation))
    return replace(found, shape=found.shape.with_layout(layout.Layout(order)))


RULES: Final[Mapping[str, OpRule]] = {
    "broadcast": OpRule(_broadcast, shape=_broadcast_shape),
    "concatenate": OpRule(_concatenate, shape=_concatenate_shape),
    "pad": OpRule(_pad, shape=_pad_shape),
    "reverse": OpRule(rule.reading(reverse, "dimensions")),
    "shuffle": OpRule(_shuffle),
    "slice": OpRule(_slice, shape=_slice_shape),
    "transpose": OpRule(rule.reading(transpose, "dimensions"), shape=_transpose_shape),
    "bitcast": OpRule(_bitcast),
    "bitcast-convert": OpRule(_between_shapes(bitcast_convert)),
    "reshape": OpRule(_between_shapes(reshape), shape=_reshape_shape),
}
