"""Batch normalization and random numbers: which elements change which results."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extent import examples
from tests.ops.agreement import check_felt, said
from tests.ops.labelled_elements import shapes
from tests.ops.oracle import program
from tests.ops.programs import array, module

MAX_ELEMENTS = 30
MODERATE = (1.5, -0.75)
"""What is added to an element: so much that all others feel it, and not so much that they drown."""

pytestmark = pytest.mark.needs("jax")


@st.composite
def tensors(draw: st.DrawFn) -> tuple[tuple[int, ...], int]:
    """Sizes, and the dimension that tells features apart.

    A feature has several elements, or none: one alone is its own mean, and always becomes zero.
    """
    sizes = draw(shapes(6, most_elements=MAX_ELEMENTS).filter(len))
    feature = draw(st.integers(0, len(sizes) - 1))
    if np.prod(sizes[:feature] + sizes[feature + 1 :]) == 1:
        sizes = (*sizes, draw(st.sampled_from([0, 2, 3])))
    return sizes, feature


FAMILIES = {
    "batch-norm-training": ("tvv", "tvv", None),
    "batch-norm-inference": ("tvvvv", "t", 3),
    "batch-norm-grad": ("tvvvt", "tvv", 2),
}
"""Operands and results: tensors, or vectors with one number for each feature; and the means."""


@pytest.mark.parametrize("opcode", FAMILIES)
@examples(20)
@given(drawn=tensors())
def test_normalized_elements_feel_their_feature(
    opcode: str, drawn: tuple[tuple[int, ...], int]
) -> None:
    sizes, feature = drawn
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


@examples(20)
@given(sizes=shapes(6, most_elements=MAX_ELEMENTS))
def test_random_numbers_lie_between_bounds(sizes: tuple[int, ...]) -> None:
    text = module(array("f64", sizes), "rng", ["f64[]", "f64[]"], "distribution=rng_uniform")
    everything = {(index, ()) for index in np.ndindex(sizes)}
    assert said(text, 0) == said(text, 1) == everything
    for low in (0, 5):
        (numbers,) = program(text)(np.float64(low), np.float64(low + 1))
        assert ((numbers >= low) & (numbers < low + 1)).all()


@examples(20)
@given(sizes=shapes(6, most_elements=MAX_ELEMENTS))
def test_random_bits_may_depend_on_all_of_the_state(sizes: tuple[int, ...]) -> None:
    """Which part of the state changes which bits is the algorithm's own."""
    text = module(
        f"(u64[3], {array('u32', sizes)})", "rng-bit-generator", ["u64[3]"], "algorithm=rng_philox"
    )
    check_felt(text, wider=(0,), disturbances=(1,))


def test_random_bits_alone_depend_on_the_state_as_beside_the_next_one() -> None:
    """Programs for TPUs have no next state."""
    both, alone = (
        module(result, "rng-bit-generator", ["u32[4]"], "algorithm=rng_default")
        for result in ("(u32[4], u32[6])", "u32[6]")
    )
    assert said(alone, 0) == said(both, 0, 1)
