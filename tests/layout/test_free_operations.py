"""Which operations move nothing, and what a reshape leaves alone: by NumPy, and XLA's rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import layout
from indexing.layout import ElementType, Layout, OneSizedDimensions, Shape, ShapeError
from tests.cases import for_all, rows
from tests.layout.model import PADDING, memory_of
from tests.layout.strategies import arrays_in, same_memory

words = st.just(ElementType.U32)
untiled = st.sampled_from([4, 6, 12, 16, 24]).flatmap(
    lambda size: st.tuples(*[arrays_in(size, ElementType.U32).map(without_tiles)] * 2)
)


def without_tiles(shape: Shape) -> Shape:
    return shape.with_layout(Layout(shape.array_layout.minor_to_major))


def offsets_of(shape: Shape) -> list[int]:
    """Where each element lies, in row-major order of the index."""
    memory = memory_of(shape)
    return np.argsort(memory, kind="stable")[np.count_nonzero(memory == PADDING) :].tolist()


def is_free(source: Shape, target: Shape, permutation: tuple[int, ...]) -> bool:
    """Whether NumPy's transpose of the source leaves elements where the target has them."""
    offsets = np.reshape(offsets_of(source), source.dimensions)
    same = np.array_equal(offsets.transpose(permutation).ravel(), offsets_of(target))
    return same and len(memory_of(source)) == len(memory_of(target))


@given(shapes=same_memory(words) | untiled)
def test_reshape(shapes: tuple[Shape, Shape]) -> None:
    source, target = shapes
    if prod(source.dimensions) != prod(target.dimensions):
        with pytest.raises(ShapeError, match="a reshape keeps the number of elements"):
            layout.reshape_is_bitcast(source, target)
        return
    assert layout.reshape_is_bitcast(source, target) == (offsets_of(source) == offsets_of(target))


@given(shapes=same_memory(words) | untiled)
def test_a_transpose_is_found_where_there_is_one(shapes: tuple[Shape, Shape]) -> None:
    source, target = shapes
    free = [
        order
        for order in permutations(range(source.rank))
        if tuple(source.dimensions[place] for place in order) == target.dimensions
        if is_free(source, target, order)
    ]
    assert layout.deduce_transpose(source, target) in (free or [None])


@given(shapes=same_memory(words) | untiled)
def test_layouts_align_where_they_can(shapes: tuple[Shape, Shape]) -> None:
    source, target = shapes
    if prod(source.dimensions) != prod(target.dimensions):
        return
    aligned = layout.align_layouts(source, target.dimensions)
    if aligned is not None:
        assert aligned.dimensions == target.dimensions
        assert offsets_of(aligned) == offsets_of(source)
    elif not source.array_layout.tiles:
        orders = permutations(range(target.rank))
        others = (target.with_layout(Layout(order)) for order in orders)
        assert all(offsets_of(other) != offsets_of(source) for other in others)


QUESTIONS = {
    "copy": layout.copy_is_bitcast,
    "reshape": layout.reshape_is_bitcast,
    "of any width": partial(layout.reshape_is_bitcast, ignore_element_type=True),
}
"""Offsets count elements of any width, as in XLA."""


@for_all(rows("""
copy => f32[1,8]{1,0} => f32[1,8]{0,1} => yes
copy => f32[4,8]{1,0} => f32[4,8]{0,1} => no
copy => f32[4,8]{1,0} => f32[4,8]{1,0:S(1)} => yes
copy => f32[4,8]{1,0:T(4,128)} => f32[4,8]{1,0:T(8,128)} => no
copy => f32[4,128]{1,0:T(4,128)} => f32[4,128]{1,0} => yes
copy => f32[4,256]{1,0:T(4,128)} => f32[4,256]{1,0} => no
copy => f32[16,128]{1,0:T(8,128)} => f32[16,128]{1,0:T(4,128)} => yes
copy => s4[8]{0:E(4)} => s4[8]{0} => no
reshape => f32[16,256]{1,0:T(8,128)} => f32[2,8,256]{2,1,0:T(8,128)} => yes
reshape => f32[16,256]{1,0:T(8,128)} => f32[4,4,256]{2,1,0:T(4,128)} => no
reshape => f32[8,1,16]{2,1,0:T(1,128)} => f32[8,16]{1,0:T(8,128)} => yes
reshape => f32[8,16]{1,0:T(8,128)} => f32[128]{0:T(1024)} => no
reshape => f32[12]{0:T(16)} => f32[3,4]{1,0:T(4,4)} => yes
reshape => f32[0,3] => f32[7,0]{0,1} => yes
reshape => f32[] => f32[1,1]{0,1} => yes
of any width => f32[6] => s32[2,3] => yes
of any width => f32[6] => s16[2,3] => yes
of any width => f32[6] => s16[2,3]{0,1} => no
of any width => f32[3,2,2]{1,0,2} => f16[6,2]{0,1} => yes
of any width => f32[6] => s4[6]{0:E(4)} => yes
"""))  # fmt: skip
def test_what_is_a_bitcast(question: str, source: str, target: str, expected: str) -> None:
    shapes = Shape.parse(source), Shape.parse(target)
    assert QUESTIONS[question](*shapes) is (expected == "yes")
    if question == "of any width":
        assert not layout.reshape_is_bitcast(*shapes)


@for_all([
    ("f32[3,2]", [0, 0], "(0, 0) is no permutation of the dimensions of f32[2,3]{1,0}"),
    ("f32[2,3]", [1, 0], "f32[2,3]{1,0} is not f32[2,3]{1,0} with the dimensions (1, 0)"),
])  # fmt: skip
def test_what_is_no_transpose(target: str, permutation: list[int], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        layout.transpose_is_bitcast(Shape.parse("f32[2,3]"), Shape.parse(target), permutation)
    assert str(caught.value) == message


def test_tiles_may_keep_an_array_from_another_shape_or_turn_the_order_of_memory() -> None:
    assert layout.align_layouts(Shape.parse("f32[8,128]{1,0:T(8,128)}"), [1024]) is None
    source, target = Shape.parse("u32[16,2]{1,0:T(1,1)}"), Shape.parse("u32[2,16]{1,0:T(2,1)}")
    assert layout.deduce_transpose(source, target) == (1, 0)


@given(shapes=same_memory(words).filter(lambda pair: len({prod(s.dimensions) for s in pair}) == 1))
def test_only_dimensions_of_a_block_are_mixed(shapes: tuple[Shape, Shape]) -> None:
    before, after = (shape.dimensions for shape in shapes)
    blocks = [*layout.common_blocks(before, after)]
    assert [place for block, _ in blocks for place in block] == [*range(len(before))]
    assert [place for _, block in blocks for place in block] == [*range(len(after))]
    indices = [np.unravel_index(np.arange(prod(each)), each) for each in (before, after)]
    for block, other in blocks:
        assert prod(before[place] for place in block) == prod(after[place] for place in other)
    for place, other in layout.dimensions_unmodified_by_reshape(before, after):
        assert np.array_equal(indices[0][place], indices[1][other])


@for_all([
    ((1, 5, 3), (5, 1, 3, 1), OneSizedDimensions((0,), (1, 3))),
    ((5, 3), (5, 3), OneSizedDimensions((), ())),
    ((1, 1), (1,), OneSizedDimensions((1,), ())),
    ((), (1, 1), OneSizedDimensions((), (0, 1))),
    ((2, 1, 3, 1), (2, 3), OneSizedDimensions((1, 3), ())),
    *(((6,), (2, 3), None), ((1, 6), (3, 2), None), ((4,), (5,), None), ((2, 3), (3, 2), None)),
])  # fmt: skip
def test_one_sized(before: list[int], after: list[int], changed: OneSizedDimensions | None) -> None:
    assert layout.one_sized_dimensions_changed_by_reshape(before, after) == changed


@for_all([((0, 3), (0, 3)), ((3,), (3,)), ((), ()), ((1,), None), ((0, 2), None)])
def test_dimensions_after_a_reshape(before: Sequence[int], after: Sequence[int] | None) -> None:
    assert layout.dimensions_after_reshape((7, 8, 1, 12), (7, 2, 4, 12), before) == after
