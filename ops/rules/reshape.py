"""Reshape, bitcast and bitcast-convert: the same elements, memory or bits under another shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count, islice
from math import prod
from typing import Final

from indexing import IndexingMap, UndefinedMap
from indexing.layout import Reshape, Shape, ShapeError, bitcast_map, step_map
from indexing.passes import Constraint
from ops import index_maps
from ops.hlo import Instruction
from ops.index_maps import CheckedSizes, Sizes
from ops.rules.rule import MapsFunction, OpIndexing, OpRule, sizes_of
from simplifier import forms
from simplifier.forms import Form

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
        message = (
            f"reshape: the operand has {prod(before)} elements {operand_sizes}, "
            f"but the result has {prod(after)} {output_sizes}; expected as many"
        )
        raise ShapeError(message)
    to_output = Reshape.between(tuple(before), tuple(after))
    return OpIndexing(output_sizes, (step_map(to_output.inverse),), (step_map(to_output),))


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
    to_input, to_output = _mapped(output, operand), _mapped(operand, output)
    return OpIndexing(output.dimensions, (to_input,), (to_output,))


def _mapped(source: Shape, target: Shape) -> IndexingMap:
    found = bitcast_map(source, target)
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
    return OpIndexing(
        output_sizes,
        (_with_all_parts(output_sizes, operand_sizes),),
        (_with_all_parts(operand_sizes, output_sizes),),
    ).on_condition(conditions)


def _with_all_parts(source: Sizes, target: Sizes) -> IndexingMap:
    """Map from an element to the one at its index in the other shape, or to all parts of it."""
    parts = target[len(source) :]
    return index_maps.index_map(
        (
            *index_maps.dimensions_of(source)[: len(target)],
            *(index_maps.symbol(axis) for axis in range(len(parts))),
        ),
        source,
        parts,
    )


# Reading instructions.


def _between_shapes(build: Callable[[Sizes, Sizes], OpIndexing]) -> MapsFunction:
    """Reads the sizes of the operand and of the result; the maps for a pair of these are kept."""
    shared = lru_cache(maxsize=_REMEMBERED)(build)

    def maps(instruction: Instruction) -> OpIndexing:
        return shared(sizes_of(instruction.operands[0]), sizes_of(instruction))

    return maps


def _bitcast(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    if any(operand.shape.dynamic_dimensions) and operand.shape == instruction.shape:
        return reshape(sizes_of(operand), sizes_of(instruction))
    return bitcast(operand.shape, instruction.shape)


RULES: Final[Mapping[str, OpRule]] = {
    "bitcast": OpRule(_bitcast),
    "bitcast-convert": OpRule(_between_shapes(bitcast_convert)),
    "reshape": OpRule(_between_shapes(reshape)),
}


# Reshapes between sizes over parameters.


def reshape_over_parameters(operand_sizes: CheckedSizes, output_sizes: CheckedSizes) -> OpIndexing:
    """The maps of a reshape, on the condition that both shapes have as many elements.

    Dimensions are reshaped in the shortest blocks that have equal numbers of elements as they are
    written; what is left is one block.

    Raises:
        ShapeError: the numbers of elements differ for all values of the parameters.
    """
    message = (
        f"reshape: the operand has sizes {index_maps.shown_sizes(operand_sizes)}, "
        f"the result {index_maps.shown_sizes(output_sizes)}; expected as many elements"
    )
    conditions = [
        *index_maps.equal(
            index_maps.product(operand_sizes), index_maps.product(output_sizes), message
        ),
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
        position = _position([*islice(index, len(before))], before)
        results += _digits(position, after)
    return index_maps.on_condition(
        index_maps.index_map(results, source, over=target), conditions
    ).simplify()


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
        if (
            index_maps.difference(
                index_maps.product(source[:one]), index_maps.product(target[:other])
            )
            == 0
        ):
            return one, other
    return None


def _position(index: Sequence[Form], sizes: CheckedSizes) -> Form:
    """The row-major position of an index."""
    terms = (
        forms.product((place, index_maps.as_form(index_maps.product(sizes[axis + 1 :]))))
        for axis, place in enumerate(index)
    )
    return sum(terms, forms.ZERO)


def _digits(position: Form, sizes: CheckedSizes) -> Iterator[Form]:
    """The index of the element at a row-major position."""
    for axis, size in zip(count(), sizes, strict=False):
        stride = index_maps.product(sizes[axis + 1 :])
        quotient = position if stride == 1 else forms.floordiv(position, index_maps.as_form(stride))
        yield forms.mod(quotient, index_maps.as_form(size)) if axis else quotient
