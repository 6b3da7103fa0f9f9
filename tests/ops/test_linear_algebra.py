"""Cholesky decomposition, triangular solve and fft: the elements that are needed, and no others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import OpIndexing, cholesky, triangular_solve
from tests.cases import for_all
from tests.evaluation import Pair, related
from tests.extent import examples
from tests.ops.agreement import check_felt, said
from tests.ops.labelled_elements import shapes
from tests.ops.oracle import felt
from tests.ops.programs import array, braced, module

Array = np.ndarray[Any, np.dtype[np.float64]]


MAX_ELEMENTS = 36
SMALL = (0.125, -0.0625)
"""What is added to an element of a matrix that stays regular."""


def text_of(value: bool) -> str:
    """How HLO writes it."""
    return str(value).lower()


batches = shapes(most_dimensions=4, most_elements=2)


@pytest.mark.needs("jax")
@examples(20)
@given(batch=batches, size=st.integers(0, 4), lower=st.booleans())
def test_a_factor_needs_exactly_part_of_a_triangle(
    batch: tuple[int, ...], size: int, lower: bool
) -> None:
    shape = array("f64", (*batch, size, size))
    text = module(shape, "cholesky", [shape], f"lower={text_of(lower)}")
    matrix = 8 * np.eye(size) + 1 / (1 + np.add.outer(np.arange(size), np.arange(size)))
    matrices = np.broadcast_to(matrix, (*batch, size, size))
    assert said(text, 0) == felt(text, 0, {0: matrices}, disturbances=SMALL)


@pytest.mark.needs("jax")
@examples(40)
@given(
    sizes=st.tuples(batches, st.integers(0, 4), st.integers(0, 3)),
    left=st.booleans(),
    transpose=st.sampled_from(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),
    lower=st.sampled_from(["true", "false"]),
    unit=st.sampled_from(["true", "false"]),
)
def test_a_solution_needs_exactly_what_substitution_has_come_past(
    sizes: tuple[tuple[int, ...], int, int], left: bool, transpose: str, lower: str, unit: str
) -> None:
    batch, size, columns = sizes
    right_hand = (*batch, size, columns) if left else (*batch, columns, size)
    attributes = (
        f"left_side={text_of(left)}, lower={lower}, transpose_a={transpose}, unit_diagonal={unit}"
    )
    a = array("f64", (*batch, size, size))
    b = array("f64", right_hand)
    # Rows that are also rows of the matrix would have zeros in their solution.
    numbers = 3 + np.cos(np.arange(np.prod(right_hand))).reshape(right_hand)
    text = module(b, "triangular-solve", [a, b], attributes)
    check_felt(text, given={1: numbers}, disturbances=SMALL)


# Matrices of three rows, solved and factored by NumPy.

THREE = 6 * np.eye(3) + 1 / (1 + np.add.outer(np.arange(3), np.arange(3)) ** 1.5)


def changed(function: Callable[[Array], Array], given: Array) -> set[Pair]:
    """Which elements of a result change with which of a matrix."""
    found: set[Pair] = set()
    for place in np.ndindex(given.shape):
        disturbed = given.copy()
        disturbed[place] += 0.01
        apart = np.argwhere(abs(function(disturbed) - function(given)) > 1e-12)
        found |= {(tuple(map(int, at)), place) for at in apart}
    return found


def check_both_ways(found: OpIndexing, operand: int, pairs: set[Pair]) -> None:
    assert related(found.output_to_input[operand]) == pairs
    turned = {(there, at) for at, there in pairs}
    assert related(found.input_to_output[operand]) == turned


@for_all([*product([False, True], repeat=4)])
def test_a_solution_needs_what_numpy_needs(
    left: bool, lower: bool, transposed: bool, unit: bool
) -> None:
    b = 3 + np.cos(np.arange(6)).reshape((3, 2) if left else (2, 3))

    def solve(a: Array, b: Array) -> Array:
        triangle = np.tril(a) if lower else np.triu(a)
        if unit:
            triangle = triangle - np.diag(np.diag(triangle)) + np.eye(3)
        inverse = np.linalg.inv(triangle.T if transposed else triangle)
        return inverse @ b if left else b @ inverse

    transpose = "TRANSPOSE" if transposed else "NO_TRANSPOSE"
    flags_given: dict[str, Any] = {"left_side": left, "lower": lower, "unit_diagonal": unit}
    found = triangular_solve((3, 3), b.shape, transpose_a=transpose, **flags_given)
    check_both_ways(found, 0, changed(lambda a: solve(a, b), THREE))
    check_both_ways(found, 1, changed(lambda b: solve(THREE, b), b))


@pytest.mark.parametrize("lower", [False, True])
def test_a_factor_needs_what_numpy_needs(lower: bool) -> None:
    def factor(a: Array) -> Array:
        half = np.tril(a) if lower else np.triu(a).T
        found: Array = np.linalg.cholesky(half + half.T - np.diag(np.diag(half))).astype(float)
        return found if lower else found.T

    check_both_ways(cholesky((3, 3), lower=lower), 0, changed(factor, THREE))


REAL = (1000,)
COMPLEX = (1000 + 700j,)


@st.composite
def transforms(draw: st.DrawFn, fft_type: str) -> str:
    """Programs that transform up to three dimensions."""
    sizes = draw(shapes(6, most_elements=MAX_ELEMENTS).filter(len))
    rank = draw(st.integers(1, min(3, len(sizes))))
    lengths = sizes[len(sizes) - rank :]
    halved = array("c128", (*sizes[:-1], sizes[-1] // 2 + 1 if sizes[-1] else 0))
    whole = array("c128", sizes)
    operand, result = {
        "RFFT": (array("f64", sizes), halved),
        "IRFFT": (halved, array("f64", sizes)),
    }.get(fft_type, (whole, whole))
    return module(result, "fft", [operand], f"fft_type={fft_type}, fft_length={braced(lengths)}")


@pytest.mark.needs("jax")
@pytest.mark.parametrize("fft_type", ["FFT", "IFFT", "RFFT", "IRFFT"])
@examples(20)
@given(data=st.data())
def test_a_transform_needs_all_elements_along_its_dimensions(
    fft_type: str, data: st.DataObject
) -> None:
    disturbances = REAL if fft_type == "RFFT" else COMPLEX
    check_felt(data.draw(transforms(fft_type)), disturbances=disturbances)
