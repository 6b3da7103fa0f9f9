"""How much memory arrays take, in how many pieces, and how far apart elements are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from indexing.layout import Shape, ShapeError, array_size, linear_index, pieces, strides
from tests.cases import for_all
from tests.layout.model import PADDING, memory_of
from tests.layout.strategies import small_arrays


@for_all(
    [
        ("f32[3,5]{1,0:T(2,2)}", 24, 9, 768, 96),
        ("bf16[4,8]{1,0:T(2,4)(2,1)}", 32, 0, 512, 64),
        ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 112 * 111, 112, 397824, 49728),
        ("f32[3]{0:T(256)L(1024)}", 1024, 1021, 32768, 4096),
        ("f32[]{:T(128)}", 128, 127, 4096, 512),
        ("pred[3]{0:E(1)}", 3, 0, 3, 1),
        ("pred[3]", 3, 0, 24, 3),
        ("s4[3]", 3, 0, 24, 3),
        ("f32[2,<=3]", 6, 0, 192, 24),
        ("f32[0,3]{1,0:L(8)}", 0, 0, 0, 0),
        ("f32[10,4]{1,0:T(4,4)SC(0:3)}", 32, 4, 1024, 128),
        ("u8[6]{0:T(4)(3)(2,1)}", 12, 6, 96, 12),
    ]
)
def test_size(text: str, elements: int, padding: int, bits: int, size_in_bytes: int) -> None:
    size = array_size(Shape.parse(text))
    assert (size.elements, size.padding, size.bits) == (elements, padding, bits)
    assert size.bytes == size_in_bytes
    assert size.padding_share == (padding / elements if elements else 0)


@given(shape=small_arrays())
def test_size_is_that_of_the_memory_that_numpy_makes(shape: Shape) -> None:
    memory = memory_of(shape)
    size = array_size(shape)
    assert (size.elements, size.padding) == (memory.size, np.count_nonzero(memory == PADDING))


@given(shape=small_arrays())
def test_strides_are_differences_of_offsets(shape: Shape) -> None:
    """And where there is none, differences are not all the same."""
    offsets = linear_index(tuple(np.indices(shape.dimensions)), shape)
    for axis, (stride, size) in enumerate(zip(strides(shape), shape.dimensions, strict=True)):
        steps = np.unique(np.diff(offsets, axis=axis)) if size else np.array([], int)
        if stride is None:
            assert len(steps) > 1
        else:
            assert steps.tolist() in ([], [stride])


def test_pieces_are_cut_in_every_split_dimension() -> None:
    shape = Shape.parse("f32[10,6]{0,1:T(2,2)S(1)SC(0:4)(1:3,7)}")
    parts = [(piece.start, piece.shape.dimensions) for piece in pieces(shape)]
    assert parts == [
        ((0, 0), (3, 4)),
        ((0, 4), (3, 2)),
        ((3, 0), (4, 4)),
        ((3, 4), (4, 2)),
        ((7, 0), (3, 4)),
        ((7, 4), (3, 2)),
    ]
    assert {str(piece.shape.layout) for piece in pieces(shape)} == {"{0,1:T(2,2)S(1)}"}


def test_the_largest_piece_is_the_size() -> None:
    """Splits number dimensions as they lie in memory, the most major one first."""
    shape = Shape.parse("f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}")
    assert array_size(shape).elements == 150 * 90 * 70


@for_all(["11", "7,3"])
def test_a_wrong_split_is_refused(cuts: str) -> None:
    with pytest.raises(
        ShapeError, match=r"dimension 0 is split at .* expected rising positions up to 10"
    ):
        pieces(Shape.parse(f"f32[10]{{0:SC(0:{cuts})}}"))


@for_all(["f32[?]", "(f32[2])", "f32[4]{0:D(C)}"])
def test_what_has_no_size_is_refused(text: str) -> None:
    with pytest.raises(ShapeError, match="expected"):
        array_size(Shape.parse(text))
