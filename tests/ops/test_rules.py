"""The maps of every operation, at every point, against NumPy."""

from __future__ import annotations

from functools import partial, reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ops
from indexing import IndexingMap
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.evaluation import Pair, related
from tests.extent import examples
from tests.ops.agreement import check_felt
from tests.ops.labelled_elements import FAMILIES, Case, unary


def needed(case: Case, operand: int) -> set[Pair]:
    """The pairs (index in the result, index in an operand) that NumPy's result tells."""
    result = case.result()
    assert result.shape == case.indexing.output_sizes
    places = ((index, place) for index in np.ndindex(result.shape) for place in result[index])
    return {(index, source) for index, (number, source) in places if number == operand}


def check(case: Case) -> None:
    for operand in range(len(case.operand_sizes)):
        expected = needed(case, operand)
        to_input = related(case.indexing.output_to_input[operand])
        to_output = related(case.indexing.input_to_output[operand])
        assert to_input == {(second, first) for first, second in to_output}
        assert to_input == expected or (operand in case.wider and to_input > expected)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_maps_say_what_numpy_does(family: str, data: st.DataObject) -> None:
    check(data.draw(FAMILIES[family]))


NO_PROGRAMS = {"dynamic-reshape", "permute", "rotate", "scaled-dot"}
"""What is no instruction, or none that XLA runs on the CPU without further ado."""


@pytest.mark.needs("jax")
@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - NO_PROGRAMS))
@examples(20)
@given(data=st.data())
def test_instructions_say_what_xla_does(family: str, data: st.DataObject) -> None:
    case = data.draw(FAMILIES[family].filter(lambda case: case.is_program))
    operand_type, _ = case.element_types
    every_byte = 0x01010101 if operand_type == "s32" else 1
    check_felt(case.text, wider=case.wider, disturbances=(every_byte,))


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_simplified_maps_say_it_too(family: str, data: st.DataObject) -> None:
    indexing = data.draw(FAMILIES[family]).indexing
    for way in (*indexing.output_to_input, *indexing.input_to_output):
        assert related(way.simplify()) == related(way)


def test_a_wrong_map_is_seen() -> None:
    right = unary("transpose", ops.transpose((2, 3), (1, 0)), (2, 3), lambda array: array.T)
    wrong = unary("reshape", ops.reshape((2, 3), (3, 2)), (2, 3), lambda array: array.T)
    check(right)
    with pytest.raises(AssertionError):
        check(wrong)


def test_what_is_generated_needs_nothing() -> None:
    assert ops.generated((2, 3)) == ops.OpIndexing((2, 3), (), ())


RESHAPES_BETWEEN = ((8, 3, 10), (24, 10), (240,), (2, 120), (4, 6, 2, 5), (1, 240, 1), (15, 16))


@for_all([*product(RESHAPES_BETWEEN, repeat=2)])
def test_inverse_reshapes_are_the_identity(sizes: tuple[int, ...], middle: tuple[int, ...]) -> None:
    there, back = ops.reshape(sizes, middle), ops.reshape(middle, sizes)
    both = back.output_to_input[0].compose(there.output_to_input[0])
    assert both.simplify() == IndexingMap.identity(sizes).simplify()


def test_rank_costs_no_more_than_its_square() -> None:
    """Nor does work double with each dimension."""
    check_reshapes_and_reverses(2)
    calls = [calls_of(partial(check_reshapes_and_reverses, rank)) for rank in (30, 60)]
    assert calls[1] < 5 * calls[0]


def check_reshapes_and_reverses(rank: int) -> None:
    sizes = (2,) * rank
    split, joined = ops.reshape((2**rank,), sizes), ops.reshape(sizes, (2**rank,))
    turned = ops.reverse(sizes, range(rank))
    steps = (each.output_to_input[0] for each in (split, joined, turned, turned))
    assert reduce(IndexingMap.compose, steps).simplify() == IndexingMap.identity(sizes)
