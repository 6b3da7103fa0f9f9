"""Shapes with their dimensions in another order, or without some."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.layout import (
    Shape,
    ShapeError,
    delete_dimensions,
    in_memory_order,
    linear_index,
    reorder_dimensions,
)
from tests.layout.strategies import small_arrays


@given(shape=small_arrays(), data=st.data())
def test_memory_is_the_same_in_another_order(shape: Shape, data: st.DataObject) -> None:
    permutation = data.draw(st.permutations(range(shape.rank)))
    reordered = reorder_dimensions(shape, permutation)
    offsets = linear_index(tuple(np.indices(shape.dimensions)), shape)
    again = linear_index(tuple(np.indices(reordered.dimensions)), reordered)
    assert np.array_equal(np.transpose(offsets, permutation), again)


def test_all_that_is_said_of_dimensions_moves_with_them() -> None:
    shape = Shape.parse("f32[<=4,5,6]{0,2,1:D(C,D,S)}")
    assert str(reorder_dimensions(shape, [2, 0, 1])) == "f32[6,<=4,5]{1,0,2:D(S,C,D)}"
    assert str(delete_dimensions(shape, [-2])) == "f32[<=4,6]{0,1:D(C,S)}"
    split = Shape.parse("f32[4,5,6]{2,1,0:T(8,128)SC(1:2)(2:3)}")
    assert str(delete_dimensions(split, [1])) == "f32[4,6]{1,0:T(8,128)SC(1:3)}"
    tiled = Shape.parse("f32[4,5]{1,0:T(8,128)}")
    assert str(delete_dimensions(tiled, [0])) == "f32[5]{0:T(8,128)}"


SPLIT = Shape.parse("f32[25,15,35]{2,0,1:SC(0:10)(1:20)(2:30)}")


def test_splits_number_the_dimensions_in_memory_from_the_most_major_one_on() -> None:
    """As in the tests of XLA's ``ShapeUtil::DeleteDimensions``."""
    assert str(delete_dimensions(SPLIT, [0])) == "f32[15,35]{1,0:SC(0:10)(1:30)}"
    assert str(delete_dimensions(SPLIT, [1])) == "f32[25,35]{1,0:SC(0:20)(1:30)}"
    assert str(delete_dimensions(SPLIT, [2])) == "f32[25,15]{0,1:SC(0:10)(1:20)}"
    assert str(reorder_dimensions(SPLIT, [2, 1, 0])) == "f32[35,15,25]{0,2,1:SC(0:10)(1:20)(2:30)}"
    assert str(in_memory_order(SPLIT)) == "f32[15,25,35]{2,1,0:SC(0:10)(1:20)(2:30)}"


def test_what_makes_no_sense_is_refused() -> None:
    shape = Shape.parse("f32[4,5]{1,0:T(8,128)}")
    with pytest.raises(
        ShapeError, match=r"\(0, 0\) is no permutation of the dimensions of f32\[4,5"
    ):
        reorder_dimensions(shape, [0, 0])
    with pytest.raises(ShapeError, match="has no dimension 2; expected -2 to 1"):
        delete_dimensions(shape, [2])
