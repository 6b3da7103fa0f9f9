"""Matrices over the field of two elements, as the images of the bits of a number.

A matrix is a tuple of integers: entry ``i`` is the image of bit ``i``, and the image of a number is
the exclusive or of the images of its bits.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Matrix: TypeAlias = "Sequence[int]"
"""The image of each bit, the lowest bit first."""


def bits(number: int) -> Iterator[int]:
    """The positions of the bits that are set, the lowest first.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def image(matrix: Matrix, number: int) -> int:
    """What a matrix makes of a number.

    >>> image((1, 2, 4 | 1), 0b110)
    7
    """
    return reduce(lambda total, position: total ^ matrix[position], bits(number), 0)


def composed(outer: Matrix, inner: Matrix) -> tuple[int, ...]:
    """The matrix that applies ``inner`` first."""
    return tuple(image(outer, column) for column in inner)


def transposed(matrix: Matrix, size: int) -> tuple[int, ...]:
    """The matrix that has columns for the rows; images have ``size`` bits.

    >>> transposed((1, 2, 4 | 1), 3)
    (5, 2, 4)
    """
    return tuple(
        sum(1 << column for column, value in enumerate(matrix) if value >> row & 1)
        for row in range(size)
    )


class Elimination:
    """The columns of a matrix in echelon form, to ask what they reach.

    >>> found = Elimination((3, 2, 1))
    >>> found.rank, found.solution(1), found.solution(4)
    (2, 3, None)
    """

    __slots__ = ("_reduced",)

    def __init__(self, matrix: Matrix) -> None:
        """Reduce the columns in order: later ones that depend on earlier ones are left out."""
        self._reduced: dict[int, tuple[int, int]] = {}
        for position, column in enumerate(matrix):
            rest, used = self._rest(column)
            if rest:
                self._reduced[rest.bit_length()] = (rest, used ^ (1 << position))

    @property
    def rank(self) -> int:
        """The number of independent columns."""
        return len(self._reduced)

    def solution(self, number: int) -> int | None:
        """A number with this image, of bits of independent columns; none if there is none."""
        rest, used = self._rest(number)
        return None if rest else used

    def _rest(self, number: int) -> tuple[int, int]:
        """What remains of a number after all columns, and which of them were used."""
        used = 0
        for leading in sorted(self._reduced, reverse=True):
            if number >> (leading - 1) & 1:
                vector, combination = self._reduced[leading]
                number ^= vector
                used ^= combination
        return number, used


def rank(matrix: Matrix) -> int:
    """The number of independent columns."""
    return Elimination(matrix).rank


def right_inverse(matrix: Matrix, size: int) -> tuple[int, ...] | None:
    """For each of ``size`` bits a number with this image; none if some bit has none.

    It is the inverse of a matrix that has one.

    >>> right_inverse((3, 2, 1), 2), right_inverse((3,), 2)
    ((3, 2), None)
    """
    elimination = Elimination(matrix)
    found = [elimination.solution(1 << position) for position in range(size)]
    known = tuple(number for number in found if number is not None)
    return known if len(known) == size else None
