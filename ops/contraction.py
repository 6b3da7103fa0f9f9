"""Dot: sums of products along dimensions that two tensors share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.layout import ShapeError
from ops.answers import OpIndexing
from ops.building import checked_dimensions, checked_sizes, dim, index_map, symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from ops.building import Sizes


def dot(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    *,
    lhs_contracting_dims: Sequence[int] = (),
    rhs_contracting_dims: Sequence[int] = (),
    lhs_batch_dims: Sequence[int] = (),
    rhs_batch_dims: Sequence[int] = (),
) -> OpIndexing:
    """Every element of the result sums products of both operands along contracting dimensions.

    Shapes:
        operands: equal sizes in each pair of contracting dimensions and in each pair of batch
            dimensions.
        result: batch dimensions, then the other dimensions of the left operand, then those of
            the right.

    Source:
        XLA operation semantics, DotGeneral.

    Raises:
        ShapeError: a pair of dimensions differs in size, or a dimension is listed twice.

    >>> matmul = dot((128, 256), (256, 64), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    >>> print(matmul.output_to_input[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 127], d1 in [0, 63], s0 in [0, 255]
    >>> print(matmul.input_to_output[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 255], d1 in [0, 63], s0 in [0, 127]
    """
    lhs = _Side("lhs", lhs_sizes, lhs_contracting_dims, lhs_batch_dims)
    rhs = _Side("rhs", rhs_sizes, rhs_contracting_dims, rhs_batch_dims)
    _check_pairs("contracting", lhs, lhs.contracting, rhs, rhs.contracting)
    _check_pairs("batch", lhs, lhs.batch, rhs, rhs.batch)
    first_rhs = len(lhs.batch) + len(lhs.free)
    output_sizes = (*lhs.sizes_of(lhs.batch), *lhs.sizes_of(lhs.free), *rhs.sizes_of(rhs.free))
    return OpIndexing(
        output_sizes,
        (lhs.from_output(output_sizes, len(lhs.batch)), rhs.from_output(output_sizes, first_rhs)),
        (lhs.to_output(output_sizes, len(lhs.batch)), rhs.to_output(output_sizes, first_rhs)),
    )


class _Side:
    """One operand: its sizes, and its dimensions by what happens to them."""

    def __init__(
        self, name: str, sizes: Sizes, contracting: Sequence[int], batch: Sequence[int]
    ) -> None:
        self.name = name
        self.sizes = checked_sizes("dot", name, sizes)
        rank = len(self.sizes)
        self.contracting = checked_dimensions("dot", f"{name}_contracting_dims", contracting, rank)
        self.batch = checked_dimensions("dot", f"{name}_batch_dims", batch, rank)
        checked_dimensions(
            "dot",
            f"{name}_batch_dims and {name}_contracting_dims",
            self.batch + self.contracting,
            rank,
        )
        self.free = [place for place in range(rank) if place not in self.batch + self.contracting]

    def sizes_of(self, places: Sequence[int]) -> list[int]:
        return [self.sizes[place] for place in places]

    def from_output(self, output_sizes: Sizes, first_free: int) -> IndexingMap:
        """From the result, where the free dimensions begin at ``first_free``, to this operand."""
        element = {place: dim(number) for number, place in enumerate(self.batch)}
        element |= {place: dim(number) for number, place in enumerate(self.free, first_free)}
        element |= {place: symbol(number) for number, place in enumerate(self.contracting)}
        results = (element[place] for place in range(len(self.sizes)))
        return index_map(results, output_sizes, self.sizes_of(self.contracting))

    def to_output(self, output_sizes: Sizes, first_free: int) -> IndexingMap:
        """From this operand to the result; the other operand's free dimensions take all values."""
        element = {number: dim(place) for number, place in enumerate(self.batch)}
        element |= {number: dim(place) for number, place in enumerate(self.free, first_free)}
        others = [number for number in range(len(output_sizes)) if number not in element]
        element |= {number: symbol(place) for place, number in enumerate(others)}
        results = (element[number] for number in range(len(output_sizes)))
        return index_map(results, self.sizes, [output_sizes[number] for number in others])


def _check_pairs(
    role: str, lhs: _Side, lhs_dims: Sequence[int], rhs: _Side, rhs_dims: Sequence[int]
) -> None:
    if len(lhs_dims) != len(rhs_dims):
        message = f"dot: lhs has {len(lhs_dims)} {role} dimensions, but rhs has {len(rhs_dims)}"
        raise ShapeError(f"{message}; expected as many")
    for left, right in zip(lhs_dims, rhs_dims, strict=True):
        if lhs.sizes[left] != rhs.sizes[right]:
            message = (
                f"dot: {role} dimension {left} of lhs has size {lhs.sizes[left]}, "
                f"but dimension {right} of rhs has size {rhs.sizes[right]}; expected the same"
            )
            raise ShapeError(message)
