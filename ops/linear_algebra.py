"""Cholesky decomposition and triangular solve: exactly the parts of triangles that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.layout import ShapeError
from ops.answers import OpIndexing
from ops.building import checked_sizes, dim, index_map, symbol
from simplifier import Interval, operations
from simplifier import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing import IndexingMap
    from indexing.domain import Constraint
    from ops.building import Sizes
    from simplifier.form import Form


def cholesky(operand_sizes: Sizes, *, lower: bool = False) -> OpIndexing:
    """The triangular factor of matrices: element ``(i, j)`` of it needs a triangle and a row.

    With ``lower``, the factor ``l`` of ``a = l @ l.T`` has the elements ``i >= j``. Of ``a`` the
    lower triangle is read: for ``l[i, j]`` all of its rows up to ``j``, and row ``i`` up to
    column ``j``. Without, ``a = u.T @ u``, and rows and columns change their parts. The maps hold
    one triangle of the result only: nothing is said of what the other one holds.

    Shapes:
        operand, result: ``(..., n, n)``.

    Source:
        XLA operation semantics, Cholesky; which elements: the Cholesky-Banachiewicz algorithm,
        by substituting its recurrence into itself.

    Raises:
        ShapeError: the operand has less than two dimensions, or its last two differ in size.

    >>> print(cholesky((3, 3), lower=True).output_to_input[0])
    (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 2], d1 in [0, 2], s0 in [0, 2], s1 in [0, 2],
    d0 - d1 in [0, 2], d1 - s1 in [0, 2], s0 - s1 in [0, 2], d0 - s0 in [0, 2],
    min(s0 - d1, d0 - s0) in [-2, 0]
    """
    sizes = _checked_matrices("cholesky", "operand", operand_sizes)
    batch, size = sizes[:-2], sizes[-1]

    def read(result: Sequence[Form], operand: Sequence[Form]) -> Iterable[Constraint]:
        (i, j), (row, column) = (pair if lower else pair[::-1] for pair in (result, operand))
        nonnegative = Interval(0, max(0, size - 1))
        yield from ((form, nonnegative) for form in (i - j, row - column, i - row, j - column))
        yield operations.minimum((row - j, i - row)), -nonnegative

    def related(result: Sequence[Form], operand: Sequence[Form]) -> tuple[Constraint, ...]:
        return tuple(read(result, operand))

    return OpIndexing(
        sizes,
        (_matrix_map(batch, (size, size), (size, size), related),),
        (_matrix_map(batch, (size, size), (size, size), lambda a, b: related(b, a)),),
    )
