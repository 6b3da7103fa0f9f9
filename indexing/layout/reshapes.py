"""What a reshape does to each dimension; the sizes before and after it tell.

Both lists of sizes are cut from the left into the shortest blocks of as many elements. A reshape
mixes the dimensions of one block, and no others.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from indexing.layout.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def common_blocks(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> Iterator[tuple[range, range]]:
    """The dimensions on both sides of every block of a reshape, in order.

    A dimension of size 1 that meets none of size 1 is a block without a counterpart. Of an array
    without elements, all dimensions are one block.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``CommonFactors``.

    >>> for before, after in common_blocks((4, 8, 1, 12), (32, 3, 4)):
    ...     print([*before], [*after])
    [0, 1] [0]
    [2] []
    [3] [1, 2]
    """
    _check_element_counts(sizes_before, sizes)
    place, other = 0, 0
    while place < len(sizes_before) or other < len(sizes):
        width, other_width = _first_block(sizes_before[place:], sizes[other:])
        yield range(place, place + width), range(other, other + other_width)
        place, other = place + width, other + other_width


def _check_element_counts(sizes_before: Sequence[int], sizes: Sequence[int]) -> None:
    counts = prod(sizes_before), prod(sizes)
    if counts[0] != counts[1]:
        raise ShapeError(
            f"a reshape keeps the number of elements, but {tuple(sizes_before)} has {counts[0]}, "
            f"and {tuple(sizes)} {counts[1]}"
        )


def _first_block(before: Sequence[int], after: Sequence[int]) -> tuple[int, int]:
    """How many dimensions of each side the first block has."""
    if 0 in before:
        return len(before), len(after)
    if 1 in (*before[:1], *after[:1]):
        return int([*before[:1]] == [1]), int([*after[:1]] == [1])
    width = other_width = 1
    while (count := prod(before[:width])) != (other := prod(after[:other_width])):
        if count < other:
            width += 1
        else:
            other_width += 1
    return width, other_width


def dimensions_unmodified_by_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """The dimensions that a reshape leaves alone: their numbers before, and after it.

    They are those that make a block by themselves.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``ShapeUtil::DimensionsUnmodifiedByReshape``.

    >>> dimensions_unmodified_by_reshape((4, 1, 3, 5, 6, 7), (2, 6, 1, 5, 1, 42))
    ((3, 3),)
    """
    return tuple(
        (before[0], after[0])
        for before, after in common_blocks(sizes_before, sizes)
        if len(before) == len(after) == 1
    )


def dimensions_after_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int], dimensions: Iterable[int]
) -> tuple[int, ...] | None:
    """What dimensions are called after a reshape that leaves them alone; ``None`` if it does not.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``ShapeUtil::ReshapeLeavesDimensionsUnmodified``.

    >>> dimensions_after_reshape((7, 8, 12), (7, 2, 4, 12), [2, 0])
    (3, 0)
    >>> dimensions_after_reshape((7, 8, 12), (7, 2, 4, 12), [1]) is None
    True
    """
    unmodified = dict(dimensions_unmodified_by_reshape(sizes_before, sizes))
    wanted = tuple(dimensions)
    if not unmodified.keys() >= set(wanted):
        return None
    return tuple(unmodified[number] for number in wanted)


@dataclass(frozen=True, slots=True)
class OneSizedDimensions:
    """The dimensions of size 1 that a reshape deletes, and those that it inserts."""

    deleted: tuple[int, ...]
    """Their numbers before the reshape."""
    inserted: tuple[int, ...]
    """Their numbers after it."""


def one_sized_dimensions_changed_by_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> OneSizedDimensions | None:
    """The dimensions of size 1 that are deleted or inserted by a reshape that does nothing else.

    ``None`` for a reshape that changes dimensions of another size, too.

    Source: XLA's ``ShapeUtil::InsertedOrDeleted1SizedDimensions``.

    >>> one_sized_dimensions_changed_by_reshape((1, 5, 3), (5, 1, 3, 1))
    OneSizedDimensions(deleted=(0,), inserted=(1, 3))
    >>> one_sized_dimensions_changed_by_reshape((15, 1), (5, 3)) is None
    True
    """
    if prod(sizes_before) != prod(sizes):
        return None
    blocks = [*common_blocks(sizes_before, sizes)]
    if any(len(before) + len(after) > 2 for before, after in blocks):  # noqa: PLR2004 - one each
        return None
    return OneSizedDimensions(
        tuple(place for before, after in blocks if not after for place in before),
        tuple(place for before, after in blocks if not before for place in after),
    )
