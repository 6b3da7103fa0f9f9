"""Offsets of elements, elements at offsets, and what is padding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import MapError
from indexing.layout import (
    COMBINE_DIMENSION,
    ElementType,
    Layout,
    Shape,
    ShapeError,
    array_size,
    is_padding,
    linear_index,
    memory_order,
    multi_index,
)
from tests.cases import for_all
from tests.layout.model import PADDING, index_of, memory_of
from tests.layout.strategies import small_arrays

FIGURE_1 = """
 0  1  4  5  8
 2  3  6  7 10
12 13 16 17 20
"""
FIGURE_2 = """
 0  2  4  6  8 10 12 14
 1  3  5  7  9 11 13 15
16 18 20 22 24 26 28 30
17 19 21 23 25 27 29 31
"""


@for_all(
    [
        ("f32[3,5]{1,0:T(2,2)}", FIGURE_1),
        ("bf16[4,8]{1,0:T(2,4)(2,1)}", FIGURE_2),
        ("f32[2,3]{0,1}", "0 2 4\n1 3 5"),
        ("f32[2,3]{1,0}", "0 1 2\n3 4 5"),
        ("f32[5,3]{0,1:T(2,2)}", "0 2 12\n1 3 13\n4 6 16\n5 7 17\n8 10 20"),
        ("u8[6]{0:T(4)(2)(2,1)}", "0 2 1 3 4 6"),
        ("f32[]{:T(128)}", "0"),
        ("f32[]{:T(2,2)}", "0"),
        ("f32[8]{0:T(2,2)}", "0 1 4 5 8 9 12 13"),
        ("f32[3]{0:T(8,128)}", "0 1 2"),
        ("f32[2,3]{1,0:T(2,2,2)}", "0 1 8\n2 3 10"),
    ]
)
def test_offsets_of_the_document(text: str, table: str) -> None:
    shape = Shape.parse(text)
    expected = np.array([line.split() for line in table.strip().splitlines()], int)
    index = tuple(np.indices(shape.dimensions))
    assert np.array_equal(linear_index(index, shape), expected.reshape(shape.dimensions))


def test_tiles_may_have_more_dimensions_than_what_they_cut() -> None:
    """Leading dimensions of size 1 make up for those that are missing."""
    shape = Shape.parse("f32[8,8]{1,0:T(2,2)(2,2,2,2,2)}")
    assert [linear_index((0, column), shape) for column in range(8)] == [0, 1, 4, 5, 32, 33, 36, 37]
    assert [linear_index((row, 0), shape) for row in range(8)] == [0, 2, 8, 10, 64, 66, 72, 74]
    assert (array_size(shape).elements, array_size(Shape.parse("f32[3]{0:T(8,128)}")).elements) == (
        128,
        1024,
    )
    assert Layout((1, 0), tiles=((-1, 2),)) == Layout((1, 0), tiles=((COMBINE_DIMENSION, 2),))
    assert str(Layout((1, 0), tiles=((-1, 2),))) == "{1,0:T(*,2)}"


def test_second_tiles_may_cut_across_tiles() -> None:
    """The tile (2,1,1,1) joins elements of two rows of tiles, four rows apart in the array."""
    shape = Shape.parse("f32[8,8]{1,0:T(2,4)(2,1,1,1)}")
    assert [linear_index((row, 0), shape) for row in range(8)] == [0, 8, 1, 9, 32, 40, 33, 41]


@given(shape=small_arrays())
def test_memory_is_as_numpy_makes_it(shape: Shape) -> None:
    memory = memory_of(shape)
    assert [index_of(number, shape) for number in memory.tolist()] == list(memory_order(shape))


@given(shape=small_arrays(), data=st.data())
def test_one_index_and_one_offset(shape: Shape, data: st.DataObject) -> None:
    memory = memory_of(shape)
    if not memory.size:
        return
    offset = data.draw(st.integers(0, memory.size - 1))
    index = multi_index(offset, shape)
    assert index == index_of(memory[offset], shape)
    assert is_padding(offset, shape) is (index is None)
    if index is not None:
        assert linear_index(index, shape) == offset


@given(shape=small_arrays(), dtype=st.sampled_from(["uint16", "int32", "int64", object]))
def test_arrays_of_offsets(shape: Shape, dtype: str | type) -> None:
    memory = memory_of(shape)
    offsets = np.arange(memory.size).astype(dtype)
    assert np.array_equal(is_padding(offsets, shape), memory == PADDING)
    index = multi_index(offsets, shape)
    assert index is not None
    for part in index:
        assert np.array_equal(part == -1, memory == PADDING)
    held = [part[memory != PADDING] for part in index]
    if held:
        assert np.array_equal(linear_index(held, shape), offsets[memory != PADDING])


def test_arrays_broadcast() -> None:
    shape = Shape.parse("f32[3,5]{1,0:T(2,2)}")
    rows, columns = np.arange(3)[:, None], np.arange(5, dtype=np.uint8)
    offsets = linear_index((rows, columns), shape)
    assert offsets.shape == (3, 5)
    assert linear_index((rows, 4), shape).ravel().tolist() == offsets[:, 4].tolist()
    assert linear_index((np.int64(2), 3), shape) == 17
    again = multi_index(offsets, shape)
    assert again is not None
    assert np.array_equal(np.broadcast_to(rows, (3, 5)), again[0])


def test_nothing_overflows() -> None:
    shape = Shape(ElementType.F32, (2**40, 2**40), Layout((0, 1), tiles=((8, 128), (2, 1))))
    corner = (2**40 - 1, 2**40 - 1)
    offset = linear_index(corner, shape)
    assert offset == 2**80 - 1
    assert multi_index(offset, shape) == corner
    arrays = [np.array([part], np.int64) for part in corner]
    assert linear_index(arrays, shape).tolist() == [2**80 - 1]
    assert [part.tolist() for part in multi_index(np.array([2**80 - 1]), shape) or ()] == [
        [part] for part in corner
    ]
    narrow = Shape.parse("f32[1000]")
    assert linear_index((np.array([200], np.uint8),), narrow).tolist() == [200]


TILED = "f32[3,5]{1,0:T(2,2)}"


@for_all(
    [
        (TILED, (2,), "the index has 1 entries; expected 2, one for each dimension of f32[3,5]"),
        (TILED, 3, "the index is 3, no sequence; expected 2, one for each dimension of f32[3,5]"),
        (TILED, (-1, 0), "the index of dimension 0 is -1; expected 0 to 2, in f32[3,5]"),
        (TILED, (0, 5), "the index of dimension 1 is 5; expected 0 to 4"),
        (TILED, (0, np.array([4, 7])), "the index of dimension 1 is 7; expected 0 to 4"),
        (TILED, (np.array([0, -2]), 0), "the index of dimension 0 is -2; expected 0 to 2"),
        ("f32[0]", (0,), "the index of dimension 0 is 0; expected 0 to -1"),
        ("(f32[2])", (0,), "(f32[2]{0}) has no layout; expected the shape of an array"),
        ("f32[?,3]", (0, 0), "f32[?,3]{1,0}: a dimension has no bound"),
        ("f32[4]{0:D(C)}", (0,), "f32[4]{0:D(C)}: the layout is sparse"),
        ("f32[4]{0:SC(0:2)}", (0,), "the array lies in several memories; expected one of its"),
    ]
)
def test_a_wrong_index_is_refused(text: str, index: tuple[int, ...], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        linear_index(index, Shape.parse(text))
    assert message in str(caught.value)


@pytest.mark.parametrize("offset", [-1, 24, np.array([3, 24]), np.array([-1])], ids=str)
def test_an_offset_outside_of_memory_is_refused(offset: int) -> None:
    with pytest.raises(ShapeError, match=r"the offset is (-1|24); expected 0 to 23, in f32\[3,5\]"):
        multi_index(offset, Shape.parse(TILED))


@pytest.mark.parametrize("wrong", ["2", 1.5, None, np.array([1.0])], ids=repr)
def test_what_is_no_integer_is_refused(wrong: object) -> None:
    with pytest.raises(MapError, match="expected an integer or an array of integers"):
        linear_index((wrong, 0), Shape.parse(TILED))
    with pytest.raises(MapError, match="expected an integer or an array of integers"):
        multi_index(wrong, Shape.parse(TILED))
