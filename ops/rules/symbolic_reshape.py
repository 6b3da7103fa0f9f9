"""Reshapes between sizes over parameters."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING

from ops.index_maps import dimensions_of, index_map, on_condition
from ops.rules.op_indexing import OpIndexing
from ops.sizes import as_form, difference, equal, not_negative, product, shown_sizes
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing import IndexingMap
    from indexing.domain import Constraint
    from ops.index_maps import CheckedSizes


def reshape_over_parameters(operand_sizes: CheckedSizes, output_sizes: CheckedSizes) -> OpIndexing:
    """The maps of a reshape, on the condition that both shapes have as many elements.

    Dimensions are reshaped in the shortest blocks that have equal numbers of elements as they are
    written; what is left is one block.

    Raises:
        ShapeError: the numbers of elements differ for all values of the parameters.
    """
    message = (
        f"reshape: the operand has sizes {shown_sizes(operand_sizes)}, "
        f"the result {shown_sizes(output_sizes)}; expected as many elements"
    )
    conditions = [
        *equal(product(operand_sizes), product(output_sizes), message),
        *not_negative((*operand_sizes, *output_sizes)),
    ]
    to_input = _regrouped(output_sizes, operand_sizes, conditions)
    to_output = _regrouped(operand_sizes, output_sizes, conditions)
    return OpIndexing(tuple(output_sizes), (to_input,), (to_output,))


def _regrouped(
    source: CheckedSizes, target: CheckedSizes, conditions: Sequence[Constraint]
) -> IndexingMap:
    """From an index to that of the same element in the other shape."""
    index, results = iter(dimensions_of(source)), list[Form]()
    for before, after in _blocks(source, target):
        position = _position([*islice(index, len(before))], before)
        results += _digits(position, after)
    return on_condition(index_map(results, source, over=target), conditions).simplify()


def _blocks(
    source: CheckedSizes, target: CheckedSizes
) -> Iterator[tuple[CheckedSizes, CheckedSizes]]:
    """The sizes in blocks with as many elements in both shapes; the last one is what is left."""
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
        if difference(product(source[:one]), product(target[:other])) == 0:
            return one, other
    return None


def _position(index: Sequence[Form], sizes: CheckedSizes) -> Form:
    """The row-major position of an index."""
    terms = (
        operations.product((place, as_form(product(sizes[axis + 1 :]))))
        for axis, place in enumerate(index)
    )
    return sum(terms, forms.ZERO)


def _digits(position: Form, sizes: CheckedSizes) -> Iterator[Form]:
    """The index of the element at a row-major position."""
    for axis, size in zip(count(), sizes, strict=False):
        stride = product(sizes[axis + 1 :])
        quotient = position if stride == 1 else operations.floordiv(position, as_form(stride))
        yield operations.mod(quotient, as_form(size)) if axis else quotient
