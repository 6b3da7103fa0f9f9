"""Pad: a tensor with a border, and with gaps between its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier import Interval
from simplifier import form as forms

from ops.answers import OpIndexing
from ops.building import check_count, checked_integers, checked_sizes, dim, every_element, index_map, no_dimensions
from ops.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from simplifier.form import Form

    from ops.building import Sizes


def pad(operand_sizes: Sizes, padding: Sequence[tuple[int, int, int]]) -> OpIndexing:
    """The elements of the operand with a padding value before, after and between them.

    Each dimension has a triple ``(low, high, interior)``: how many values come before the first element, after the
    last, and between two neighbours. Where ``low`` or ``high`` is negative elements are cut off instead.

    Operand 1 is the padding value; its maps hold every element of the result, padded or not.

    Shapes:
        operand: ``(n_0, ...)``.
        result: ``(low_i + n_i + max(0, n_i - 1) * interior_i + high_i, ...)``.

    Source:
        XLA operation semantics, Pad.

    Raises:
        ShapeError: the interior padding or a size of the result is negative.

    >>> print(pad((4, 4), [(1, 4, 1), (4, 8, 0)]).output_to_input[0])
    (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]
    """
    operand_sizes = checked_sizes("pad", "operand", operand_sizes)
    check_count("pad", "padding", padding, len(operand_sizes))
    triples = [checked_integers("pad", f"padding[{place}]", triple) for place, triple in enumerate(padding)]
    output_sizes = tuple(
        _padded_size(place, size, *triple) for place, (size, triple) in enumerate(zip(operand_sizes, triples, strict=True))
    )
    return OpIndexing(
        output_sizes,
        (_to_operand(operand_sizes, output_sizes, triples), no_dimensions(output_sizes)),
        (_to_output(operand_sizes, output_sizes, triples), every_element(output_sizes)),
    )


def _padded_size(place: int, size: int, low: int, high: int, interior: int) -> int:
    if interior < 0:
        raise ShapeError(f"pad: dimension {place} has interior padding {interior}; expected 0 or more")
    padded = low + size + max(0, size - 1) * interior + high
    if padded < 0:
        message = f"pad: dimension {place} of size {size} with padding {low}_{high}_{interior} has size {padded}"
        raise ShapeError(f"{message}; expected 0 or more")
    return padded


def _to_operand(operand_sizes: Sizes, output_sizes: Sizes, padding: Sequence[Sequence[int]]) -> IndexingMap:
    results: list[Form] = []
    extents: list[Interval] = []
    constraints: list[tuple[Form, Interval]] = []
    for place, (size, padded, (low, _, interior)) in enumerate(zip(operand_sizes, output_sizes, padding, strict=True)):
        step = interior + 1
        distance, stride = dim(place) - low, forms.constant(step)
        extents.append(Interval(low, low + (size - 1) * step).intersect(Interval(0, padded - 1)))
        results.append(forms.floordiv(distance, stride) if interior else distance)
        if interior:
            constraints.append((forms.mod(distance, stride), Interval(0, 0)))
    return index_map(results, extents, (), constraints)


def _to_output(operand_sizes: Sizes, output_sizes: Sizes, padding: Sequence[Sequence[int]]) -> IndexingMap:
    results: list[Form] = []
    extents: list[Interval] = []
    for place, (size, padded, (low, _, interior)) in enumerate(zip(operand_sizes, output_sizes, padding, strict=True)):
        step = interior + 1
        kept = Interval(-(low // step), (padded - 1 - low) // step)
        extents.append(kept.intersect(Interval(0, size - 1)))
        results.append(dim(place) * step + low)
    return index_map(results, extents)
