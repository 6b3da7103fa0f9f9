"""Where elements lie: offsets, padding, the size of memory, its pieces, strides, other orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import MapError, layout
from indexing.layout import COMBINE_DIMENSION, ElementType, Layout, Shape, ShapeError
from tests.cases import for_all, rows
from tests.indexing.tables import evaluated, refusals
from tests.layout.model import PADDING, index_of, memory_of
from tests.layout.strategies import small_arrays


def offsets_of(shape: Shape) -> Any:  # noqa: ANN401 - an array
    return layout.linear_index(tuple(np.indices(shape.dimensions)), shape)


@for_all(rows("""
f32[3,5]{1,0:T(2,2)} => 0 1 4 5 8 | 2 3 6 7 10 | 12 13 16 17 20
bf16[4,8]{1,0:T(2,4)(2,1)}
    0 2 4 6 8 10 12 14 | 1 3 5 7 9 11 13 15 | 16 18 20 22 24 26 28 30 | 17 19 21 23 25 27 29 31
f32[2,3]{0,1} => 0 2 4 | 1 3 5
f32[2,3]{1,0} => 0 1 2 | 3 4 5
f32[5,3]{0,1:T(2,2)} => 0 2 12 | 1 3 13 | 4 6 16 | 5 7 17 | 8 10 20
u8[6]{0:T(4)(2)(2,1)} => 0 2 1 3 4 6
f32[]{:T(128)} => 0
f32[]{:T(2,2)} => 0
f32[8]{0:T(2,2)} => 0 1 4 5 8 9 12 13
f32[3]{0:T(8,128)} => 0 1 2
f32[2,3]{1,0:T(2,2,2)} => 0 1 8 | 2 3 10
"""))  # fmt: skip
def test_offsets_of_the_document(text: str, table: str) -> None:
    shape = Shape.parse(text)
    expected = np.array([row.split() for row in table.split("|")], int).reshape(shape.dimensions)
    assert np.array_equal(offsets_of(shape), expected)


def test_tiles_may_have_more_dimensions_than_what_they_cut_and_cut_across_tiles() -> None:
    """Leading dimensions of size 1 make up for those that are missing."""
    shape = Shape.parse("f32[8,8]{1,0:T(2,2)(2,2,2,2,2)}")
    assert [layout.linear_index((0, at), shape) for at in range(8)] == [0, 1, 4, 5, 32, 33, 36, 37]
    assert [layout.linear_index((at, 0), shape) for at in range(8)] == [0, 2, 8, 10, 64, 66, 72, 74]
    assert layout.array_size(shape).elements == 128
    assert layout.array_size(Shape.parse("f32[3]{0:T(8,128)}")).elements == 1024
    assert Layout((1, 0), tiles=((-1, 2),)) == Layout((1, 0), tiles=((COMBINE_DIMENSION, 2),))
    assert str(Layout((1, 0), tiles=((-1, 2),))) == "{1,0:T(*,2)}"
    # the tile (2,1,1,1) joins elements of two rows of tiles, four rows apart in the array
    shape = Shape.parse("f32[8,8]{1,0:T(2,4)(2,1,1,1)}")
    assert [layout.linear_index((at, 0), shape) for at in range(8)] == [0, 8, 1, 9, 32, 40, 33, 41]


@given(shape=small_arrays())
def test_memory_is_as_numpy_makes_it(shape: Shape) -> None:
    memory, size = memory_of(shape), layout.array_size(shape)
    assert [index_of(place, shape) for place in memory.tolist()] == [*layout.memory_order(shape)]
    assert (size.elements, size.padding) == (memory.size, np.count_nonzero(memory == PADDING))


@given(shape=small_arrays(), data=st.data())
def test_one_index_and_one_offset(shape: Shape, data: st.DataObject) -> None:
    memory = memory_of(shape)
    if not memory.size:
        return
    offset = data.draw(st.integers(0, memory.size - 1))
    index = layout.multi_index(offset, shape)
    assert index == index_of(memory[offset], shape)
    assert layout.is_padding(offset, shape) is (index is None)
    if index is not None:
        assert layout.linear_index(index, shape) == offset


@given(shape=small_arrays(), dtype=st.sampled_from(["uint16", "int32", "int64", object]))
def test_arrays_of_offsets(shape: Shape, dtype: str | type) -> None:
    memory = memory_of(shape)
    offsets = np.arange(memory.size).astype(dtype)
    assert np.array_equal(layout.is_padding(offsets, shape), memory == PADDING)
    index = layout.multi_index(offsets, shape)
    assert index is not None
    for part in index:
        assert np.array_equal(part == -1, memory == PADDING)
    held = [part[memory != PADDING] for part in index]
    if held:
        assert np.array_equal(layout.linear_index(held, shape), offsets[memory != PADDING])


def test_arrays_broadcast() -> None:
    shape = Shape.parse("f32[3,5]{1,0:T(2,2)}")
    rows, columns = np.arange(3)[:, None], np.arange(5, dtype=np.uint8)
    offsets = layout.linear_index((rows, columns), shape)
    assert offsets.shape == (3, 5)
    assert layout.linear_index((rows, 4), shape).ravel().tolist() == offsets[:, 4].tolist()
    assert layout.linear_index((np.int64(2), 3), shape) == 17
    again = layout.multi_index(offsets, shape)
    assert again is not None
    assert np.array_equal(np.broadcast_to(rows, (3, 5)), again[0])


def test_nothing_overflows() -> None:
    shape = Shape(ElementType.F32, (2**40, 2**40), Layout((0, 1), tiles=((8, 128), (2, 1))))
    corner = (2**40 - 1, 2**40 - 1)
    offset = layout.linear_index(corner, shape)
    assert offset == 2**80 - 1
    assert layout.multi_index(offset, shape) == corner
    arrays = [np.array([part], np.int64) for part in corner]
    assert layout.linear_index(arrays, shape).tolist() == [2**80 - 1]
    again = layout.multi_index(np.array([2**80 - 1]), shape) or ()
    assert [part.tolist() for part in again] == [[part] for part in corner]
    narrow = Shape.parse("f32[1000]")
    assert layout.linear_index((np.array([200], np.uint8),), narrow).tolist() == [200]


@for_all([
    ("f32[3,5]{1,0:T(2,2)}", 24, 9, 768, 96), ("bf16[4,8]{1,0:T(2,4)(2,1)}", 32, 0, 512, 64),
    ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 112 * 111, 112, 397824, 49728),
    ("f32[3]{0:T(256)L(1024)}", 1024, 1021, 32768, 4096),
    ("f32[]{:T(128)}", 128, 127, 4096, 512), ("pred[3]{0:E(1)}", 3, 0, 3, 1),
    ("pred[3]", 3, 0, 24, 3), ("s4[3]", 3, 0, 24, 3), ("f32[2,<=3]", 6, 0, 192, 24),
    ("f32[0,3]{1,0:L(8)}", 0, 0, 0, 0),
    ("f32[10,4]{1,0:T(4,4)SC(0:3)}", 32, 4, 1024, 128),
    ("u8[6]{0:T(4)(3)(2,1)}", 12, 6, 96, 12),
])  # fmt: skip
def test_size(text: str, elements: int, padding: int, bits: int, size_in_bytes: int) -> None:
    size = layout.array_size(Shape.parse(text))
    found = (size.elements, size.padding, size.bits, size.bytes)
    assert found == (elements, padding, bits, size_in_bytes)
    assert size.padding_share == (padding / elements if elements else 0)


@given(shape=small_arrays())
def test_strides_are_differences_of_offsets(shape: Shape) -> None:
    """And where there is none, differences are not all the same."""
    offsets = offsets_of(shape)
    for axis, (stride, size) in enumerate(
        zip(layout.strides(shape), shape.dimensions, strict=True)
    ):
        steps = np.unique(np.diff(offsets, axis=axis)) if size else np.array([], int)
        if stride is None:
            assert len(steps) > 1
        else:
            assert steps.tolist() in ([], [stride])


def test_pieces_are_cut_in_every_split_dimension_and_the_largest_one_is_the_size() -> None:
    """Splits number dimensions as they lie in memory, the most major one first."""
    shape = Shape.parse("f32[10,6]{0,1:T(2,2)S(1)SC(0:4)(1:3,7)}")
    parts = [(piece.start, piece.shape.dimensions) for piece in layout.pieces(shape)]
    starts, sizes = [(0, 3), (3, 4), (7, 3)], [(0, 4), (4, 2)]
    assert parts == [((x, y), (width, height)) for x, width in starts for y, height in sizes]
    assert {str(piece.shape.layout) for piece in layout.pieces(shape)} == {"{0,1:T(2,2)S(1)}"}
    shape = Shape.parse("f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}")
    assert layout.array_size(shape).elements == 150 * 90 * 70


@given(shape=small_arrays(), data=st.data())
def test_memory_is_the_same_in_another_order(shape: Shape, data: st.DataObject) -> None:
    permutation = data.draw(st.permutations(range(shape.rank)))
    reordered = layout.reorder_dimensions(shape, permutation)
    offsets = np.transpose(offsets_of(shape), permutation)
    assert np.array_equal(offsets, offsets_of(reordered))


NAMES: dict[str, Any] = {
    **{name: getattr(layout, name) for name in dir(layout)}, "array": np.array,
    "sparse": Shape.parse("f32[<=4,5,6]{0,2,1:D(C,D,S)}"),
    "split": Shape.parse("f32[25,15,35]{2,0,1:SC(0:10)(1:20)(2:30)}"),
    "tiled": Shape.parse("f32[3,5]{1,0:T(2,2)}"), "shape": Shape.parse,
}  # fmt: skip


@for_all(rows("""
reorder_dimensions(sparse, [2, 0, 1]) => f32[6,<=4,5]{1,0,2:D(S,C,D)}
delete_dimensions(sparse, [-2]) => f32[<=4,6]{0,1:D(C,S)}
delete_dimensions(shape("f32[4,5,6]{2,1,0:T(8,128)SC(1:2)(2:3)}"), [1])
    f32[4,6]{1,0:T(8,128)SC(1:3)}
delete_dimensions(shape("f32[4,5]{1,0:T(8,128)}"), [0]) => f32[5]{0:T(8,128)}
# As in the tests of XLA's ``ShapeUtil::DeleteDimensions``.
delete_dimensions(split, [0]) => f32[15,35]{1,0:SC(0:10)(1:30)}
delete_dimensions(split, [1]) => f32[25,35]{1,0:SC(0:20)(1:30)}
delete_dimensions(split, [2]) => f32[25,15]{0,1:SC(0:10)(1:20)}
reorder_dimensions(split, [2, 1, 0]) => f32[35,15,25]{0,2,1:SC(0:10)(1:20)(2:30)}
in_memory_order(split) => f32[15,25,35]{2,1,0:SC(0:10)(1:20)(2:30)}
"""))  # fmt: skip
def test_all_that_is_said_of_dimensions_moves_with_them(call: str, expected: str) -> None:
    """Splits number the dimensions in memory, from the most major one on."""
    assert str(evaluated(call, NAMES)) == expected


test_what_makes_no_sense = refusals(NAMES, ShapeError)("""
multi_index(-1, tiled) => the offset is -1; expected 0 to 23, in f32[3,5]
multi_index(24, tiled) => the offset is 24; expected 0 to 23
multi_index(array([3, 24]), tiled) => the offset is 24; expected 0 to 23
multi_index(array([-1]), tiled) => the offset is -1; expected 0 to 23
linear_index((2,), tiled) => the index has 1 entries; expected 2, one for each dimension of f32[3,5]
linear_index(3, tiled)
    the index is 3, no sequence; expected 2, one for each dimension of f32[3,5]
linear_index((-1, 0), tiled) => the index of dimension 0 is -1; expected 0 to 2, in f32[3,5]
linear_index((0, 5), tiled) => the index of dimension 1 is 5; expected 0 to 4
linear_index((0, array([4, 7])), tiled) => the index of dimension 1 is 7; expected 0 to 4
linear_index((array([0, -2]), 0), tiled) => of dimension 0 is -2; expected 0 to 2
linear_index((0,), shape("f32[0]")) => the index of dimension 0 is 0; expected 0 to -1
linear_index((0,), shape("(f32[2])")) => (f32[2]{0}) has no layout; expected the shape of an array
linear_index((0, 0), shape("f32[?,3]")) => f32[?,3]{1,0}: a dimension has no bound
linear_index((0,), shape("f32[4]{0:D(C)}")) => f32[4]{0:D(C)}: the layout is sparse
linear_index((0,), shape("f32[4]{0:SC(0:2)}"))
    the array lies in several memories; expected one of its
pieces(shape("f32[10]{0:SC(0:11)}")) => expected rising positions up to 10
pieces(shape("f32[10]{0:SC(0:7,3)}")) => expected rising positions up to 10
array_size(shape("f32[?]")) => expected
array_size(shape("(f32[2])")) => expected
array_size(shape("f32[4]{0:D(C)}")) => expected
reorder_dimensions(shape("f32[4,5]{1,0:T(8,128)}"), [0, 0])
    (0, 0) is no permutation of the dimensions of f32[4,5
delete_dimensions(shape("f32[4,5]"), [2]) => has no dimension 2; expected -2 to 1
""")


@for_all(["2", 1.5, None, np.array([1.0])])
def test_what_is_no_integer_is_refused(wrong: object) -> None:
    for index, at in ((layout.linear_index, (wrong, 0)), (layout.multi_index, wrong)):
        with pytest.raises(MapError, match="expected an integer or an array of integers"):
            index(at, NAMES["tiled"])  # pyright: ignore[reportArgumentType]
