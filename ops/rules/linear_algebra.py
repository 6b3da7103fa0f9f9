"""Cholesky decomposition, triangular solve and Fourier transform.

The maps of triangles hold exactly the elements that are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from indexing import IndexingMap
from indexing.layout import ShapeError
from indexing.passes import Constraint
from ops import index_maps
from ops.hlo.shape_inference import fft_sizes
from ops.index_maps import CheckedSizes, Size, Sizes
from ops.rules.rule import OpIndexing, OpRule, reading
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import Form, Interval

_Entry: TypeAlias = "tuple[Form, Form]"
"""The row and the column of an element of a matrix."""

_Relation: TypeAlias = Callable[[_Entry, _Entry], "tuple[Constraint, ...]"]
"""Conditions on an element of the result and an element of an operand that it needs."""


def cholesky(operand_sizes: Sizes, *, lower: bool = False) -> OpIndexing:
    """Computes the triangular factor of positive definite matrices.

    With ``lower`` it is the ``l`` of ``a = l @ l.T``, with elements where ``i >= j``, and the lower
    triangle of ``a`` is read: for ``l[i, j]`` the rows up to ``j``, and row ``i`` up to column
    ``j``. Without, ``a = u.T @ u``, and rows and columns are swapped. The maps leave out the other
    triangle of the result, because the implementation is free to put anything there.

    Shapes:
        operand, result: ``(..., n, n)``.

    Source:
        XLA operation semantics, Cholesky; the elements from the recurrence of the
        Cholesky-Banachiewicz algorithm, put into itself.

    Raises:
        ShapeError: the operand has less than two dimensions, or the last two differ in size.

    >>> print(cholesky((3, 3), lower=True).output_to_input[0])
    (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 2], d1 in [0, 2], s0 in [0, 2], s1 in [0, 2],
    d0 - d1 in [0, 2], d0 - s0 in [0, 2], d1 - s1 in [0, 2], min(d0 - s0, s0 - d1) in [-2, 0],
    s0 - s1 in [0, 2]
    """
    sizes, conditions = _checked_matrices("cholesky", "operand", operand_sizes)
    within = _up_to(sizes[-1])

    def needed(result: _Entry, operand: _Entry) -> tuple[Constraint, ...]:
        (i, j), (row, column) = (entry if lower else entry[::-1] for entry in (result, operand))
        inside = tuple((form, within) for form in (i - j, row - column, i - row, j - column))
        return *inside, (forms.minimum((row - j, i - row)), -within)

    to_input, to_output = _both_ways(sizes, sizes, needed)
    return OpIndexing(sizes, (to_input,), (to_output,)).on_condition(conditions)


def triangular_solve(
    a_sizes: Sizes,
    b_sizes: Sizes,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: str = "NO_TRANSPOSE",
    unit_diagonal: bool = False,
) -> OpIndexing:
    """Solves ``op(a) @ x = b``, or ``x @ op(a) = b``, for ``x`` and triangular ``a``.

    Element ``i`` of a column of ``x`` (of a row, without ``left_side``) needs the elements of ``b``
    in that column up to ``i`` in the order of substitution, and the triangle of ``a`` between them.
    Only the triangle of ``a`` that ``lower`` names is read, without its diagonal if
    ``unit_diagonal`` says that it holds ones.

    Shapes:
        a: ``(..., n, n)``.
        b, result: ``(..., n, m)`` with ``left_side``, else ``(..., m, n)``.

    Source:
        XLA operation semantics, TriangularSolve.

    Raises:
        ShapeError: sizes of ``a`` and ``b`` do not fit, or ``transpose_a`` is none of
            ``NO_TRANSPOSE TRANSPOSE ADJOINT``.

    >>> solve = triangular_solve((3, 3), (3, 5), left_side=True, lower=True)
    >>> print(solve.output_to_input[0])
    (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 2], s1 in [0, 2],
    d0 - s0 in [0, 2], s0 - s1 in [0, 2]
    >>> print(solve.output_to_input[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 2], d0 - s0 in [0, 2]
    >>> print(solve.input_to_output[1])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 2], d0 - s0 in [-2, 0]
    """
    a, conditions = _checked_matrices("triangular-solve", "a", a_sizes)
    sizes = index_maps.checked_sizes("triangular-solve", "b", b_sizes)
    conditions += _check_solvable(a, sizes, left_side=left_side)
    is_transposed = _is_transposed(transpose_a)
    # x @ a = b is a.T @ x.T = b.T, and the transpose of a lower triangle is an upper one.
    check_type(lower, bool, "triangular-solve: lower", "True or False")
    is_forward = lower ^ is_transposed ^ (not left_side)
    within, solved = _up_to(a[-1]), 0 if left_side else 1
    triangle = _up_to(a[-1], first=1) if unit_diagonal else within

    def needed_of_a(result: _Entry, operand: _Entry) -> tuple[Constraint, ...]:
        low, high = operand[::-1] if lower else operand
        reached = result[solved] - high if is_forward else low - result[solved]
        return (high - low, triangle), (reached, within)

    a_to_input, a_to_output = _both_ways(sizes, a, needed_of_a)
    axis = len(sizes) - _MATRIX_RANK + solved
    earlier, later = (_on_one_side(sizes, axis, sign * within) for sign in (1, -1))
    b_to_input, b_to_output = (earlier, later) if is_forward else (later, earlier)
    maps = (a_to_input, b_to_input), (a_to_output, b_to_output)
    return OpIndexing(sizes, *maps).on_condition(conditions)


_TRANSPOSED = {"NO_TRANSPOSE": False, "TRANSPOSE": True, "ADJOINT": True}

_MATRIX_RANK = 2


def _is_transposed(transpose_a: str) -> bool:
    check_type(transpose_a, str, "triangular-solve: transpose_a", "a string")
    if transpose_a not in _TRANSPOSED:
        message = f"triangular-solve: transpose_a is {transpose_a!r}"
        raise ShapeError(f"{message}; expected one of {', '.join(_TRANSPOSED)}")
    return _TRANSPOSED[transpose_a]


def _up_to(size: Size, first: int = 0) -> Interval:
    """The distances from an element of a matrix to one that is not before it.

    Those from ``first`` on. They end with the matrix, so that an end over parameters says no more.
    """
    return Interval(first, max(0, size - 1) if isinstance(size, int) else None)


def _both_ways(
    result_sizes: Sizes, operand_sizes: Sizes, relation: _Relation
) -> tuple[IndexingMap, IndexingMap]:
    """From the result to the operand, and back."""
    return (
        _matrix_map(result_sizes, operand_sizes, relation),
        _matrix_map(operand_sizes, result_sizes, lambda here, there: relation(there, here)),
    )


def _matrix_map(sizes: Sizes, others: Sizes, relation: _Relation) -> IndexingMap:
    """Map from an element of a batch of matrices to the related elements of another batch."""
    batch = [index_maps.dim(axis) for axis in range(len(sizes) - _MATRIX_RANK)]
    here = index_maps.dim(len(batch)), index_maps.dim(len(batch) + 1)
    there = index_maps.symbol(0), index_maps.symbol(1)
    within, related = others[-_MATRIX_RANK:], relation(here, there)
    return index_maps.index_map((*batch, *there), sizes, within, related).simplify()


def _on_one_side(sizes: Sizes, axis: int, distance: Interval) -> IndexingMap:
    """Map from an element to those along an axis that lie at this distance before it."""
    results = (
        index_maps.symbol(0) if each == axis else index_maps.dim(each) for each in range(len(sizes))
    )
    related = [(index_maps.dim(axis) - index_maps.symbol(0), distance)]
    return index_maps.index_map(results, sizes, [sizes[axis]], related).simplify()


def _checked_matrices(
    op: str, role: str, sizes: Sizes
) -> tuple[tuple[Size, ...], list[Constraint]]:
    """The sizes, and the condition that matrices are square."""
    checked = index_maps.checked_sizes(op, role, sizes)
    rank = len(checked)
    if rank < _MATRIX_RANK:
        raise ShapeError(f"{op}: {role} has rank {rank}; expected 2 or more")
    message = f"{op}: {role} dimension {rank - 2} has size {checked[-2]}"
    message = f"{message}, but dimension {rank - 1} has size {checked[-1]}; expected the same"
    return checked, index_maps.equal(checked[-1], checked[-2], message)


def _check_solvable(a: CheckedSizes, b: CheckedSizes, *, left_side: bool) -> list[Constraint]:
    if len(a) != len(b):
        message = f"triangular-solve: a has rank {len(a)}, but b has rank {len(b)}"
        raise ShapeError(f"{message}; expected the same")
    axes = (*range(len(a) - _MATRIX_RANK), len(a) - (2 if left_side else 1))
    conditions: list[Constraint] = []
    for axis in axes:
        message = f"triangular-solve: dimension {axis} of a has size {a[axis]}"
        message = f"{message}, but dimension {axis} of b has {b[axis]}; expected the same"
        conditions += index_maps.equal(a[axis], b[axis], message)
    return conditions


def fft(operand_sizes: Sizes, fft_type: str, fft_length: Sizes) -> OpIndexing:
    """Transforms the trailing dimensions: each element sums all elements along them.

    Shapes:
        operand, result: the trailing dimensions have the sizes ``fft_length``. Only the last one of
            the result of an ``RFFT`` and of the operand of an ``IRFFT`` is shorter: it has
            ``n // 2 + 1`` of ``n`` elements, or none of none.

    Source:
        XLA operation semantics, Fft; StableHLO specification, fft.

    Raises:
        ShapeError: the type is none of ``FFT IFFT RFFT IRFFT``, there are not one to three
            lengths, or a trailing dimension of the operand has another size.

    >>> spectrum = fft((5, 16), "RFFT", (16,))
    >>> print(spectrum.output_to_input[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 4], d1 in [0, 8], s0 in [0, 15]
    >>> print(spectrum.input_to_output[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 4], d1 in [0, 15], s0 in [0, 8]
    """
    sizes, output_sizes, batch, conditions = fft_sizes(operand_sizes, fft_type, fft_length)
    same = [(axis, axis) for axis in range(batch)]
    to_input, to_output = index_maps.paired(output_sizes, sizes, same)
    return OpIndexing(output_sizes, (to_input,), (to_output,)).on_condition(conditions)


RULES: Final[Mapping[str, OpRule]] = {
    "cholesky": OpRule(reading(cholesky, "lower")),
    "fft": OpRule(reading(fft, "fft_type", "fft_length")),
    "triangular-solve": OpRule(
        reading(triangular_solve, "left_side", "lower", "transpose_a", "unit_diagonal")
    ),
}
