"""Sort and top-k: their maps agree with what XLA computes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation import Pair
from tests.ops.agreement import said
from tests.ops.labelled_elements import Sizes, shapes
from tests.ops.oracle import Array, program
from tests.ops.programs import array, braced, module

MAX_ELEMENTS = 30

pytestmark = pytest.mark.needs("jax")


def stacks(most_dimensions: int = 6) -> st.SearchStrategy[Sizes]:
    """Sizes of small tensors that have a dimension to work along."""
    return shapes(most_dimensions, most_elements=MAX_ELEMENTS).filter(len)


def rotations(sizes: Sizes, axis: int) -> list[Array]:
    """Numbers along an axis, so that each place there holds each number once."""
    ordered = np.indices(sizes, dtype=np.int32)[axis]
    return [(ordered + shift) % sizes[axis] for shift in range(sizes[axis])]


def places(sizes: Sizes) -> Array:
    """An array whose elements say where they are."""
    return np.arange(np.prod(sizes), dtype=np.int32).reshape(sizes)


LESS = """less { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2)
  d = s32[] parameter(3) ROOT r = pred[] compare(a, b), direction=LT }"""


@given(data=st.data())
def test_a_sort_moves_elements_anywhere_along_its_dimension(data: st.DataObject) -> None:
    sizes = data.draw(stacks())
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


@pytest.mark.parametrize(("way", "most_dimensions"), [("topk", 6), ("custom-call", 2)])
@given(data=st.data())
def test_the_greatest_elements_come_from_anywhere_along_the_last_dimension(
    way: str, most_dimensions: int, data: st.DataObject
) -> None:
    """The library that XLA calls on the CPU takes vectors and matrices only."""
    sizes = data.draw(stacks(most_dimensions))
    k = data.draw(st.integers(0, sizes[-1]))
    result = tuple(array(element_type, (*sizes[:-1], k)) for element_type in ("f32", "s32"))
    attributes = f"k={k}, largest=true" if way == "topk" else 'custom_call_target="TopK"'
    text = module(f"({result[0]}, {result[1]})", way, [array("f32", sizes)], attributes)
    seen: set[Pair] = set()
    for values in rotations(sizes, len(sizes) - 1):
        _, chosen = program(text)(values.astype(np.float32))
        seen |= {(index, (*index[:-1], int(chosen[index]))) for index in np.ndindex(chosen.shape)}
    assert said(text, 0, 0) == said(text, 0, 1) == seen
