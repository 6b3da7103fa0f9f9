"""Operations that compute: which elements change which results, as XLA or NumPy computes them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
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
from tests.ops.labelled_elements import Sizes, shapes
from tests.ops.oracle import Array, felt, felt_by, program
from tests.ops.programs import array, braced, module

MAX_ELEMENTS = 30

needs_jax = pytest.mark.needs("jax")


def tensors(most_dimensions: int = 6) -> st.SearchStrategy[Sizes]:
    """Sizes of small tensors that have a dimension to work along."""
    return shapes(most_dimensions, most_elements=MAX_ELEMENTS).filter(len)


# Batch normalization and random numbers.

MODERATE = (1.5, -0.75)
"""What is added to an element: so much that all others feel it, and not so much that they drown."""

FAMILIES = {
    "batch-norm-training": ("tvv", "tvv", None),
    "batch-norm-inference": ("tvvvv", "t", 3),
    "batch-norm-grad": ("tvvvt", "tvv", 2),
}
"""Operands and results: tensors, or vectors with one number for each feature; and the means."""


@needs_jax
@pytest.mark.parametrize("opcode", FAMILIES)
@examples(20)
@given(data=st.data(), sizes=tensors())
def test_normalized_elements_feel_features(opcode: str, data: st.DataObject, sizes: Sizes) -> None:
    """A feature has several elements, or none: one alone is its own mean, and becomes zero."""
    feature = data.draw(st.integers(0, len(sizes) - 1))
    if np.prod(sizes[:feature] + sizes[feature + 1 :]) == 1:
        sizes = (*sizes, data.draw(st.sampled_from([0, 2, 3])))
    kinds = {"t": array("f64", sizes), "v": array("f64", sizes[feature : feature + 1])}
    *arrays, means = FAMILIES[opcode]
    operands, results = ([kinds[kind] for kind in each] for each in arrays)
    result = f"({', '.join(results)})" if len(results) > 1 else results[0]
    attributes = f"epsilon=0.5, feature_index={feature}"
    # Elements that are equal to their mean would let nobody feel the scale.
    known = {means: np.linspace(-2, -1, sizes[feature])} if means else {}
    no_elements = range(len(operands)) if not np.prod(sizes) else ()
    text = module(result, opcode, operands, attributes)
    check_felt(text, wider=no_elements, given=known, disturbances=MODERATE)


@needs_jax
@examples(20)
@given(sizes=shapes(6, most_elements=MAX_ELEMENTS))
def test_random_numbers_lie_between_bounds(sizes: tuple[int, ...]) -> None:
    text = module(array("f64", sizes), "rng", ["f64[]", "f64[]"], "distribution=rng_uniform")
    everything = {(index, ()) for index in np.ndindex(sizes)}
    assert said(text, 0) == said(text, 1) == everything
    for low in (0, 5):
        (numbers,) = program(text)(np.float64(low), np.float64(low + 1))
        assert ((numbers >= low) & (numbers < low + 1)).all()


@needs_jax
@examples(20)
@given(sizes=shapes(6, most_elements=MAX_ELEMENTS))
def test_random_bits_may_depend_on_all_of_the_state(sizes: tuple[int, ...]) -> None:
    """Which part of the state changes which bits is the algorithm's own."""
    result = f"(u64[3], {array('u32', sizes)})"
    text = module(result, "rng-bit-generator", ["u64[3]"], "algorithm=rng_philox")
    check_felt(text, wider=(0,), disturbances=(1,))


def test_random_bits_alone_depend_on_the_state_as_beside_the_next_one() -> None:
    """Programs for TPUs have no next state."""
    both, alone = (
        module(result, "rng-bit-generator", ["u32[4]"], "algorithm=rng_default")
        for result in ("(u32[4], u32[6])", "u32[6]")
    )
    assert said(alone, 0) == said(both, 0, 1)


# Sort and top-k.


def rotations(sizes: Sizes, axis: int) -> list[Array]:
    """Numbers along an axis, so that each place there holds each number once."""
    ordered = np.indices(sizes, dtype=np.int32)[axis]
    return [(ordered + shift) % sizes[axis] for shift in range(sizes[axis])]


def places(sizes: Sizes) -> Array:
    return np.arange(np.prod(sizes), dtype=np.int32).reshape(sizes)


LESS = """less { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2)
  d = s32[] parameter(3) ROOT r = pred[] compare(a, b), direction=LT }"""


@needs_jax
@given(data=st.data())
def test_a_sort_moves_elements_anywhere_along_its_dimension(data: st.DataObject) -> None:
    sizes = data.draw(tensors())
    axis = data.draw(st.integers(0, len(sizes) - 1))
    shape = array("s32", sizes)
    attributes = f"dimensions={braced([axis])}, to_apply=less"
    text = module(f"({shape}, {shape})", "sort", [shape, shape], attributes, LESS)
    seen: set[Pair] = set()
    sources = [*np.ndindex(sizes)]
    for keys in rotations(sizes, axis):
        _, moved = program(text)(keys, places(sizes))
        seen |= {(index, sources[int(moved[index])]) for index in sources}
    for operand in range(2):
        for output in range(2):
            assert said(text, operand, output) == seen


@needs_jax
@pytest.mark.parametrize(("way", "most_dimensions"), [("topk", 6), ("custom-call", 2)])
@given(data=st.data())
def test_greatest_come_from_anywhere(way: str, most_dimensions: int, data: st.DataObject) -> None:
    """The library that XLA calls on the CPU takes vectors and matrices only."""
    sizes = data.draw(tensors(most_dimensions))
    k = data.draw(st.integers(0, sizes[-1]))
    result = tuple(array(element_type, (*sizes[:-1], k)) for element_type in ("f32", "s32"))
    attributes = f"k={k}, largest=true" if way == "topk" else 'custom_call_target="TopK"'
    text = module(f"({result[0]}, {result[1]})", way, [array("f32", sizes)], attributes)
    seen: set[Pair] = set()
    for values in rotations(sizes, len(sizes) - 1):
        _, chosen = program(text)(values.astype(np.float32))
        seen |= {(index, (*index[:-1], int(chosen[index]))) for index in np.ndindex(chosen.shape)}
    assert said(text, 0, 0) == said(text, 0, 1) == seen


# Ragged dots.


@dataclass(frozen=True)
class Ragged:
    """Sizes of the operands and of the result, and the dimension that is cut into groups."""

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    groups: tuple[int, ...]
    result: tuple[int, ...]
    batch: int
    contracting: tuple[int, int]
    ragged: int
    group: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        dims = [*range(self.batch)]
        lists = {
            "lhs_contracting_dims": self.contracting[:1],
            "rhs_contracting_dims": self.contracting[1:],
            "lhs_batch_dims": dims,
            "rhs_batch_dims": dims,
            "lhs_ragged_dims": [self.ragged],
            "rhs_group_dims": self.group,
        }
        attributes = ", ".join(f"{name}={braced(each)}" for name, each in lists.items() if each)
        operands = [array("f32", self.lhs), array("f32", self.rhs), array("s32", self.groups)]
        return module(array("f32", self.result), "ragged-dot", operands, attributes)

    @property
    def run(self) -> Callable[..., Array]:
        lax: Any = importlib.import_module("jax.lax")
        dims = [*range(self.batch)]
        (lhs, rhs) = self.contracting
        numbers = lax.RaggedDotDimensionNumbers(
            dot_dimension_numbers=(([lhs], [rhs]), (dims, dims)),
            lhs_ragged_dimensions=[self.ragged],
            rhs_group_dimensions=[*self.group],
        )
        compiled = _compiled()
        return lambda *operands: np.asarray(compiled(*operands, numbers))


@cache
def _compiled() -> Callable[..., Any]:
    jax: Any = importlib.import_module("jax")
    return jax.jit(jax.lax.ragged_dot_general, static_argnums=3)


@st.composite
def ragged_dots(draw: st.DrawFn) -> Ragged:
    """Dots ``[batch, m, k] x [batch, k, n]`` of which one dimension is cut into groups."""
    batch = tuple(draw(st.lists(st.integers(1, 2), max_size=2)))
    m, k, n, count = (draw(st.integers(1, 3)) for _ in range(4))
    rank = len(batch)
    own = draw(st.booleans())
    lhs, rhs, result = (*batch, m, k), (*batch, k, n), (*batch, m, n)
    ways = ["free", *["contracting"] * (batch != (2, 2)), *["batch"] * bool(batch)]
    way = draw(st.sampled_from(ways))  # JAX stops at two batches of a contraction in groups
    lists = batch if own else ()
    if way == "free":
        experts = (*batch, count, k, n)
        places = (rank + 1, rank + 1)
        return Ragged(lhs, experts, (*lists, count), result, rank, places, rank, (rank,))
    places = (rank + 1, rank)
    if way == "contracting":
        grouped = (count, *result)
        return Ragged(lhs, rhs, (*lists, count), grouped, rank, places, rank + 1)
    lists = batch[:-1] if own else ()
    return Ragged(lhs, rhs, (*lists, count), result, rank, places, rank - 1)


@needs_jax
@examples(25)
@given(case=ragged_dots())
def test_any_group_may_be_the_one_that_is_met(case: Ragged) -> None:
    """All elements in one group, and that in each: together this is all that can be."""
    seen: tuple[set[Pair], ...] = (set(), set(), set())
    for group in range(case.groups[-1]):
        chosen = np.zeros(case.groups, dtype=np.int32)
        chosen[..., group] = case.lhs[case.ragged]
        operands = [np.ones(sizes, dtype=np.float32) for sizes in (case.lhs, case.rhs)]
        for operand in range(3):
            one = (-1,) if operand == len(operands) else (1,)
            seen[operand].update(felt_by(case.run, [*operands, chosen], operand, one))
    text = case.text
    assert [said(text, operand) for operand in range(2)] == [*seen[:2]]
    assert said(text, 2) == seen[2] or (case.group and said(text, 2) > seen[2])


# Cholesky decomposition, triangular solve and fft.

SMALL = (0.125, -0.0625)
"""What is added to an element of a matrix that stays regular."""


batches = shapes(most_dimensions=4, most_elements=2)


@needs_jax
@examples(20)
@given(batch=batches, size=st.integers(0, 4), lower=st.booleans())
def test_a_factor_needs_exactly_part_of_a_triangle(batch: Sizes, size: int, lower: bool) -> None:
    shape = array("f64", (*batch, size, size))
    text = module(shape, "cholesky", [shape], f"lower={str(lower).lower()}")
    matrix = 8 * np.eye(size) + 1 / (1 + np.add.outer(np.arange(size), np.arange(size)))
    matrices = np.broadcast_to(matrix, (*batch, size, size))
    assert said(text, 0) == felt(text, 0, {0: matrices}, disturbances=SMALL)


@needs_jax
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
    attributes = f"left_side={str(left).lower()}, lower={lower}, transpose_a={transpose}"
    attributes += f", unit_diagonal={unit}"
    a, b = array("f64", (*batch, size, size)), array("f64", right_hand)
    # Rows that are also rows of the matrix would have zeros in their solution.
    numbers = 3 + np.cos(np.arange(np.prod(right_hand))).reshape(right_hand)
    text = module(b, "triangular-solve", [a, b], attributes)
    check_felt(text, given={1: numbers}, disturbances=SMALL)


# Matrices of three rows, solved and factored by NumPy.

THREE = 6 * np.eye(3) + 1 / (1 + np.add.outer(np.arange(3), np.arange(3)) ** 1.5)


def changed(function: Callable[[Array], Array], given: Array) -> set[Pair]:
    """Which elements of a result change with which of a matrix."""

    def rounded(each: Array) -> Array:
        return np.round(function(each), 12)

    return felt_by(rounded, [given], 0, (0.01,))


def check_both_ways(found: OpIndexing, operand: int, pairs: set[Pair]) -> None:
    assert related(found.output_to_input[operand]) == pairs
    turned = {(there, at) for at, there in pairs}
    assert related(found.input_to_output[operand]) == turned


@for_all([*product([False, True], repeat=4)])
def test_solutions_are_as_in_numpy(left: bool, lower: bool, transposed: bool, unit: bool) -> None:
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


@needs_jax
@pytest.mark.parametrize("fft_type", ["FFT", "IFFT", "RFFT", "IRFFT"])
@examples(20)
@given(data=st.data())
def test_a_transform_needs_all_along_its_dimensions(fft_type: str, data: st.DataObject) -> None:
    disturbance = 1000 if fft_type == "RFFT" else 1000 + 700j
    check_felt(data.draw(transforms(fft_type)), disturbances=(disturbance,))
