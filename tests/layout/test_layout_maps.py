"""Layouts as maps: bijections, their inverses, and what their steps compose to."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given

from indexing import IndexingMap, layout
from indexing.layout import Shape, ShapeError
from simplifier import cost, parse_expr
from simplifier.extraction.cost import overlaps
from tests.cases import for_all, rows
from tests.extent import examples, part
from tests.layout.model import PADDING, index_of, memory_of
from tests.layout.strategies import small_arrays
from tests.layout.test_formats import tilings

DOCUMENT = """
f32[64,512]{1,0} f32[64,512]{0,1} f32[64,512]{1,0:T(8,128)} f32[60,500]{1,0:T(8,128)}
f32[3,60,500]{1,2,0:T(8,128)} f32[2,500]{1,0:T(2,128)} f32[7,2,500]{2,1,0:T(2,128)}
f32[3,500]{1,0:T(4,128)} bf16[64,512]{1,0:T(8,128)(2,1)} bf16[13,300]{1,0:T(8,128)(2,1)}
s8[64,512]{1,0:T(8,128)(4,1)} s8[60,300]{0,1:T(8,128)(4,1)} s4[60,300]{1,0:T(8,128)(8,1)E(4)}
pred[64,512]{1,0:T(32,128)(32,1)E(1)} pred[60,300]{1,0:T(32,128)(32,1)E(1)}
f32[768]{0:T(1024)} u8[1000]{0:T(512)(128)(4,1)} f32[]{:T(128)} f32[3,5]{1,0:T(2,2)}
bf16[4,8]{1,0:T(2,4)(2,1)} bf16[8,8]{1,0:T(2,4)(2,1,1,1)}
f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)} f32[4,2,8]{2,1,0:T(*,8)} f32[3]{0:T(256)L(1024)}
bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}
"""
"""Every format of the document, and some more."""

FORMATS = DOCUMENT.split()

each_format = for_all(FORMATS)
BOTH_WAYS = [
    (layout.logical_to_physical, layout.physical_to_logical),
    (layout.logical_to_tiled, layout.tiled_to_logical),
    (layout.logical_to_linear, layout.linear_to_logical),
]


def identity_on(made: IndexingMap) -> IndexingMap:
    """Every point of the domain of a map at itself, simplified."""
    return IndexingMap.from_forms(made.domain.by_name.values(), made.domain).simplify()


@for_all(lambda: [*map(Shape.parse, FORMATS), *part(tilings(), 130)])
def test_there_and_back_is_the_identity(shape: Shape) -> None:
    """Also for the layouts of real modules for TPUs."""
    for there, back in ((there(shape), back(shape)) for there, back in BOTH_WAYS):
        assert there.compose(back).simplify() == identity_on(there)
        assert back.compose(there).simplify() == identity_on(back)


def test_half_of_every_tile_may_be_padding() -> None:
    shape = Shape.parse("f32[7,1,500]{2,1,0:T(2,128)}")
    back = layout.linear_to_logical(shape)
    around = back.compose(layout.logical_to_linear(shape))
    assert around.simplify(exact=True) == identity_on(back).simplify(exact=True)


def steps_of(shape: Shape) -> IndexingMap:
    steps = map(layout.step_map, layout.tiling_steps(shape))
    return reduce(IndexingMap.compose, steps, IndexingMap.identity(shape.dimensions))


@each_format
def test_steps_compose_to_the_tiled_dimensions(text: str) -> None:
    shape = Shape.parse(text)
    assert steps_of(shape).simplify() == layout.logical_to_tiled(shape)


@given(shape=small_arrays())
def test_steps_of_any_layout_compose(shape: Shape) -> None:
    assert steps_of(shape).equals(layout.logical_to_tiled(shape))


@given(shape=small_arrays())
def test_maps_are_the_memory_that_numpy_makes(shape: Shape) -> None:
    memory = memory_of(shape).tolist()
    expected = {
        (offset,): index_of(number, shape)
        for offset, number in enumerate(memory)
        if number != PADDING
    }
    back = {dims: results for dims, _, _, results in layout.linear_to_logical(shape).points()}
    assert back == expected
    there = {results: dims for dims, _, _, results in layout.logical_to_linear(shape).points()}
    assert there == expected


@given(shape=small_arrays())
def test_the_physical_index_is_the_index_in_the_order_of_memory(shape: Shape) -> None:
    elements = np.arange(shape.element_count).reshape(shape.dimensions)
    physical = elements.transpose(shape.array_layout.major_to_minor)
    for dims, *_, results in layout.logical_to_physical(shape).points():
        assert physical[results] == elements[dims]
    for dims, *_, results in layout.physical_to_logical(shape).points():
        assert physical[dims] == elements[results]


@examples(25)
@given(shape=small_arrays())
def test_maps_are_bijections_and_inverses(shape: Shape) -> None:
    for there, back in ((there(shape), back(shape)) for there, back in BOTH_WAYS[1:]):
        assert there.is_injective()
        assert there.count() == there.count_results() == shape.element_count
        assert back.equals(there.inverse())


def test_no_padding_no_gap() -> None:
    shape = Shape.parse("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}")
    assert layout.logical_to_tiled(shape).is_bijective_onto(layout.tiled_sizes(shape))
    assert layout.logical_to_linear(shape).is_bijective_onto([shape.element_count])


@for_all(rows("""
f32[6,10]{1,0} => d0 * 10 + d1 => d0 floordiv 10, d0 mod 10
f32[6,10]{0,1} => d1 * 6 + d0 => d0 mod 6, d0 floordiv 6
f32[6,1,10]{0,1,2} => d2 * 6 + d0 => d0 mod 6, 0, d0 floordiv 6
f32[64,512]{1,0:T(8,128)}
    (d0 floordiv 8) * 4096 + (d1 floordiv 128) * 1024 + (d0 mod 8) * 128 + d1 mod 128
    (d0 floordiv 4096) * 8 + (d0 floordiv 128) mod 8, ((d0 floordiv 1024) mod 4) * 128 + d0 mod 128
f32[4,512]{1,0:T(4,128)} => (d1 floordiv 128) * 512 + d0 * 128 + d1 mod 128
    (d0 floordiv 128) mod 4, (d0 floordiv 512) * 128 + d0 mod 128
f32[7,500]{1,0:T(1,128)} => d0 * 512 + d1 => d0 floordiv 512, d0 mod 512
bf16[64,512]{1,0:T(8,128)(2,1)}
    (d0 floordiv 8) * 4096 + (d1 floordiv 128) * 1024 + ((d0 floordiv 2) mod 4) * 256
        + (d1 mod 128) * 2 + d0 mod 2
    (d0 floordiv 4096) * 8 + ((d0 floordiv 256) mod 4) * 2 + d0 mod 2,
        ((d0 floordiv 1024) mod 4) * 128 + (d0 floordiv 2) mod 128
pred[64,512]{1,0:T(32,128)(32,1)} => (d0 floordiv 32) * 16384 + d1 * 32 + d0 mod 32
    (d0 floordiv 16384) * 32 + d0 mod 32, (d0 floordiv 32) mod 512
f32[4,2,8]{2,1,0:T(*,8)} => d0 * 16 + d1 * 8 + d2 => d0 floordiv 16, (d0 floordiv 8) mod 2, d0 mod 8
"""))  # fmt: skip
def test_maps_are_what_a_person_would_write(text: str, there: str, back: str) -> None:
    """Up to the order of the terms of a sum."""
    shape = Shape.parse(text)
    for made, written in [
        (layout.logical_to_linear(shape), there),
        (layout.linear_to_logical(shape), back),
    ]:
        results = (str(parse_expr(expression)) for expression in written.split(", "))
        assert [str(result) for result in made.results] == list(results)


@for_all(rows("""
f32[3,5]{1,0:T(2,2)}
    ((d0 floordiv 4) mod 3) * 2 + d0 mod 2 in [0, 4]; (d0 floordiv 12) * 4 + d0 mod 4 in [0, 5]
f32[10,3]{0,1:T(4)} => d0 mod 12 in [0, 9]
f32[32,500]{1,0:T(8,128)} => ((d0 floordiv 1024) mod 4) * 128 + d0 mod 128 in [0, 499]
f32[200,13]{0,1:T(8,128)}
    ((d0 floordiv 1024) mod 2) * 128 + d0 mod 128 in [0, 199];
        (d0 floordiv 2048) * 1024 + d0 mod 1024 in [0, 1663]
bf16[100,300]{1,0:T(8,128)(2,1)}
    ((d0 floordiv 1024) mod 3) * 256 + d0 mod 256 in [0, 599];
        (d0 floordiv 3072) * 1024 + d0 mod 1024 in [0, 12799]
"""))  # fmt: skip
def test_what_is_no_padding_is_said_in_digits(text: str, constraints: str) -> None:
    domain = layout.linear_to_logical(Shape.parse(text)).domain
    texts = [f"{limited} in {ends}" for limited, (_, ends) in domain.constraint_texts()]
    assert "; ".join(texts) == constraints


@each_format
def test_terms_are_digits_times_strides(text: str) -> None:
    """No term takes back what another one has given."""
    shape = Shape.parse(text)
    for made in (layout.logical_to_linear(shape), layout.linear_to_logical(shape)):
        for form in (*made.forms, *(limited for limited, _ in made.domain.constraints)):
            assert all(factor > 0 for factor in form.terms.values())
            assert not overlaps(form)


@each_format
def test_simplifying_makes_no_map_longer(text: str) -> None:
    for make in (
        layout.logical_to_linear,
        layout.linear_to_logical,
        layout.logical_to_tiled,
        layout.tiled_to_logical,
    ):
        made = make(Shape.parse(text))
        assert sum(map(cost, made.simplify().results)) <= sum(map(cost, made.results))


def test_a_size_may_be_unknown_where_it_does_not_matter() -> None:
    shape = Shape.parse("f32[?,3]{0,1}")
    for make, end in ((layout.logical_to_physical, "inf"), (layout.physical_to_logical, "2")):
        assert str(make(shape)).startswith(f"(d0, d1) -> (d1, d0), domain: d0 in [0, {end}]")
    with pytest.raises(ShapeError, match="a dimension has no bound"):
        layout.logical_to_linear(shape)


def test_no_elements_no_points_and_no_array_no_maps() -> None:
    shape = Shape.parse("f32[0,3]{1,0:T(*,2)}")
    assert layout.logical_to_linear(shape).is_known_empty
    assert layout.linear_to_logical(shape).is_known_empty
    for make in (layout.logical_to_physical, layout.logical_to_tiled, layout.linear_to_logical):
        with pytest.raises(ShapeError, match="has no layout; expected the shape of an array"):
            make(Shape.parse("token[]"))
