"""The older form of padding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.layout import PaddedLayout, PaddingValue, Shape, ShapeError, linear_index
from indexing.layout.layout import ElementType
from tests.cases import for_all
from tests.indexing.tables import errors_in

OLD = PaddedLayout((0, 1), (3, 5), PaddingValue.ZERO_PAD)
LETTERS = np.array([list("abc"), list("def")])
SHAPE = Shape.parse("f32[2,3]")


def test_the_example_of_the_document() -> None:
    in_memory = OLD.in_memory(LETTERS, SHAPE, padding="0")
    assert " ".join(in_memory) == "a d 0 b e 0 c f 0 0 0 0 0 0 0"


@for_all([
    ("minor_to_major: 0 minor_to_major: 1 padded_dimensions: 3 padded_dimensions: 5 "
     "padding_value: ZERO_PAD"),
    "minor_to_major: [0, 1]\npadded_dimensions: [3,5]\n  padding_value: ZERO_PAD\n",
    str(OLD),
])  # fmt: skip
def test_text_is_read(text: str) -> None:
    assert PaddedLayout.parse(text) == OLD


def test_what_is_left_out_or_empty_is_not_padded() -> None:
    plain = PaddedLayout.parse("minor_to_major: [1, 0]")
    assert plain == PaddedLayout((1, 0)) == PaddedLayout.parse(str(plain))
    assert plain.applied_to(SHAPE) == SHAPE
    assert PaddedLayout.parse("").applied_to(Shape.parse("f32[]")) == Shape.parse("f32[]")
    old = PaddedLayout.parse("minor_to_major: [0] padded_dimensions: [1]")
    assert str(old.applied_to(Shape.parse("f32[0]"))) == "f32[0]{0:T(1)}"
    assert list(old.in_memory(np.zeros(0), Shape.parse("f32[0]"), padding=0)) == []


@given(data=st.data(), sizes=st.lists(st.integers(0, 5), max_size=4).map(tuple))
def test_offsets_are_those_of_the_larger_array(data: st.DataObject, sizes: tuple[int, ...]) -> None:
    widths = tuple(size + data.draw(st.integers(0, 3)) for size in sizes)
    order = tuple(data.draw(st.permutations(range(len(sizes)))))
    shape = PaddedLayout(order, widths).applied_to(Shape(ElementType.F32, sizes))
    larger = PaddedLayout(order).applied_to(Shape(ElementType.F32, widths))
    index = tuple(np.indices(sizes))
    assert np.array_equal(linear_index(index, shape), linear_index(index, larger))


@for_all([
    ((0, 2), (), "is no permutation of the dimensions 0 to 1"),
    ((0, 0), (), "lists a dimension twice"),
    ((0, 1), (3,), "padded_dimensions has 1 entries; expected 2, one for each dimension"),
    ((0,), (3,), "f32[2,3]{1,0} has 2 dimensions; expected as many as minor_to_major: [0]"),
    ((0, 1), (3, 2), "dimension 1 has size 3 and is padded to 2; expected a size up to 2"),
])  # fmt: skip
def test_what_does_not_fit(order: tuple[int, ...], widths: tuple[int, ...], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        PaddedLayout(order, widths).applied_to(SHAPE)
    assert message in str(caught.value)


test_a_wrong_text_is_shown = errors_in(PaddedLayout.parse)("""
minor_to_major «0» => expected ':' after minor_to_major, but found '0'
minor_to_major: 0 «major»: 1 => expected a field of a layout, but found 'major'
minor_to_major: [0, «x»] => expected a minor_to_major, but found 'x'
minor_to_major: [0, 1«» => expected ',' or ']', but the text ends
padding_value: «GREY_PAD» => expected a padding_value, but found 'GREY_PAD'
""")
