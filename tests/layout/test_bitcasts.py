"""Bitcasts: every element is where it was, in random memory and in that of real modules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from indexing import IndexingMap
from indexing.layout import ElementType, Shape, ShapeError, bitcast_map, decompose_bitcast, step_map
from simplifier import parse_expr
from tests.cases import for_all, rows
from tests.extent import part
from tests.layout.model import PADDING, Array, memory_of
from tests.layout.strategies import same_memory

Pair = tuple[tuple[int, ...], tuple[int, ...]]

LINES = (Path(__file__).parents[1] / "data/layout/bitcasts.txt").read_text("utf-8").splitlines()
"""The operand and result of the bitcasts in the modules of ``tests/data/hlo``, each once."""

REAL = [tuple(map(Shape.parse, line.split())) for line in LINES]

words = st.just(ElementType.U32)
integers = st.sampled_from([ElementType.U8, ElementType.U16, ElementType.U32])


def matched(source: Shape, target: Shape) -> Array:
    """The numbers of both elements in every byte of memory, a row each."""
    columns = [np.repeat(memory_of(shape), shape.element_type.bytes) for shape in (source, target)]
    return np.stack(columns, axis=1)


def pairs_of(source: Shape, target: Shape) -> set[Pair]:
    """The indices of the elements that share memory."""
    numbers = matched(source, target)
    shared = numbers[(numbers != PADDING).all(axis=1)]
    return {*zip(indices(shared[:, 0], source), indices(shared[:, 1], target), strict=True)}


def indices(numbers: Array, shape: Shape) -> list[tuple[int, ...]]:
    """The indices of elements by their numbers in row-major order."""
    if not shape.rank:
        return [()] * len(numbers)
    return [*zip(*map(np.ndarray.tolist, np.unravel_index(numbers, shape.dimensions)), strict=True)]


def has_more(numbers: Array) -> bool:
    """Whether part of an element of the first array is in padding of the second."""
    here, there = (numbers != PADDING).T
    return bool((here & ~there).any())


def points_of(made: IndexingMap) -> Iterator[Pair]:
    return ((dims, results) for dims, _, _, results in made.points())


@given(shapes=same_memory(integers))
@example(shapes=(Shape.parse("u32[1]"), Shape.parse("u8[4]{0:T(2)}")))  # digits of the parts
def test_elements_share_memory(shapes: tuple[Shape, Shape]) -> None:
    source, target = shapes
    made, back = bitcast_map(source, target), bitcast_map(target, source)
    numbers = matched(source, target)
    if has_more(numbers) and has_more(numbers[:, ::-1]):
        assert made.is_undefined
        assert back.is_undefined
        return
    expected = pairs_of(source, target)
    assert sorted(points_of(made)) == sorted(expected)
    assert sorted(points_of(back)) == sorted((there, here) for here, there in expected)


@given(shapes=same_memory(words))
def test_maps_are_bijections_and_inverses(shapes: tuple[Shape, Shape]) -> None:
    source, target = shapes
    made, back = bitcast_map(source, target), bitcast_map(target, source)
    assume(not made.is_undefined)
    for there, again in [(made, back), (back, made)]:
        same = IndexingMap.from_forms(there.domain.by_name.values(), there.domain)
        assert there.compose(again).equals(same)
    if source.element_count == target.element_count:
        assert made.is_bijective_onto(target.dimensions)


@given(shapes=same_memory(words))
def test_steps_compose_to_the_map(shapes: tuple[Shape, Shape]) -> None:
    source, target = shapes
    made = bitcast_map(source, target)
    assume(not made.is_undefined)
    steps = decompose_bitcast(source, target)
    assert not [step for step in steps if step.changes_nothing]
    identity = IndexingMap.identity(source.dimensions)
    composed = reduce(IndexingMap.compose, map(step_map, steps), identity)
    assert composed.equals(made)
    if not source.array_layout.tiles and not target.array_layout.tiles:
        assert len(steps) <= len(("transpose", "reshape", "transpose"))


def test_there_are_many_in_real_modules() -> None:
    assert len(REAL) == 373
    assert sum(bool(source.array_layout.tiles) for source, _ in REAL) == 163
    assert sum(source.element_count != target.element_count for source, target in REAL) == 7


@for_all(part(REAL, 130))
def test_bitcasts_of_real_modules(source: Shape, target: Shape) -> None:
    for here, there in [(source, target), (target, source)]:
        made = bitcast_map(here, there)
        assert made == made.simplify()
        assert sorted(points_of(made)) == sorted(pairs_of(here, there))


@for_all(REAL)
def test_steps_of_real_modules(source: Shape, target: Shape) -> None:
    if source.element_size_in_bits != target.element_size_in_bits:
        with pytest.raises(ShapeError, match="expected a bitcast that keeps their width"):
            decompose_bitcast(source, target)
        return
    steps = map(step_map, decompose_bitcast(source, target))
    composed = reduce(IndexingMap.compose, steps, IndexingMap.identity(source.dimensions))
    assert composed.simplify() == bitcast_map(source, target).simplify()


@for_all(rows("""
f32[6,4]{1,0} => f32[4,6]{0,1} => d1, d0 => d1, d0
f32[4,8,12] => f32[32,3,4]
    d0 * 8 + d1, d2 floordiv 4, d2 mod 4 => d0 floordiv 8, d0 mod 8, d1 * 4 + d2
f32[6,35] => f32[10,21] => (d0 * 35 + d1) floordiv 21, (d0 * 14 + d1) mod 21
    (d0 * 21 + d1) floordiv 35, (d0 * 21 + d1) mod 35
f32[8,256]{1,0:T(8,128)} => f32[2048]{0:T(1024)} => (d1 floordiv 128) * 1024 + d0 * 128 + d1 mod 128
    (d0 floordiv 128) mod 8, (d0 floordiv 1024) * 128 + d0 mod 128
f32[64,512]{1,0:T(8,128)} => f32[64,512]{1,0}
    (d0 floordiv 8) * 8 + (d1 floordiv 128) * 2 + (d0 floordiv 4) mod 2,
        (d0 mod 4) * 128 + d1 mod 128
    (d0 mod 2) * 4 + (d0 floordiv 8) * 8 + d1 floordiv 128,
        ((d0 floordiv 2) mod 4) * 128 + d1 mod 128
bf16[64,512]{1,0:T(8,128)(2,1)} => u32[32,512]{1,0:T(4,128)} => d0 floordiv 2, d1 => d0 * 2 + s0, d1
u8[64,512]{1,0:T(8,128)(4,1)} => u32[16,512]{1,0:T(2,128)} => d0 floordiv 4, d1 => d0 * 4 + s0, d1
bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)} => u32[8,1,640,16384]{3,2,0,1:T(4,128)}
    d0, 0, d2 floordiv 2, d3 => d0, 0, d2 * 2 + s0, d3
s8[64,512]{1,0:T(8,128)(4,1)} => bf16[32,512]{1,0:T(8,128)(2,1)}
    ((d1 floordiv 128) mod 2) * 4 + (d0 floordiv 16) * 8 + (d0 floordiv 2) mod 4,
        ((d0 floordiv 8) mod 2) * 256 + (d1 floordiv 256) * 128 + d1 mod 128
    (d0 mod 4) * 2 + (d0 floordiv 8) * 16 + (d1 floordiv 256) * 8 + s0,
        ((d0 floordiv 4) mod 2) * 128 + ((d1 floordiv 128) mod 2) * 256 + d1 mod 128
pred[64,512]{1,0:T(32,128)(32,1)E(1)} => u32[2,512]{1,0:T(1,128)}
    d0 floordiv 32, d1 => d0 * 32 + s0, d1
f32[16,2,8]{2,1,0:T(2,128)} => f32[2,14,8]{2,1,0:T(8,128)}
    d0 floordiv 8, (d0 mod 8) * 2 + d1, d2 => d0 * 8 + d1 floordiv 2, d1 mod 2, d2
u32[7] => u8[28] => d0 * 4 + s0 => d0 floordiv 4
s4[6]{0:E(4)} => u8[3] => d0 floordiv 2 => d0 * 2 + s0
s4[5]{0:E(4)} => u8[3] => d0 floordiv 2 => d0 * 2 + s0
u64[3,2]{0,1} => u32[2,2,3]{1,2,0} => d1, s0, d0 => d2, d0
bf16[16,256]{1,0:T(8,128)(2,1)} => bf16[2,2,8,128]{3,2,1,0:T(8,128)(2,1)}
    d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128 => d0 * 8 + d2, d1 * 128 + d3
f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)} => f32[112,110]{1,0:T(2,3)}
    d0 * 56 + d1 * 8 + d2, d3 * 10 + d4
    d0 floordiv 56, (d0 floordiv 8) mod 7, d0 mod 8, d1 floordiv 10, d1 mod 10
f32[3]{0:L(4)} => f32[4] => d0 => d0
f32[1,1] => f32[] =>  => 0, 0
f32[0,3] => f32[5,0] => 0, 0 => 0, 0
"""))  # fmt: skip
def test_maps_are_what_a_person_writes(source: str, target: str, there: str, back: str) -> None:
    """Up to the order of the terms of a sum."""
    one, other = Shape.parse(source), Shape.parse(target)
    for made, written in [(bitcast_map(one, other), there), (bitcast_map(other, one), back)]:
        results = (str(parse_expr(expression)) for expression in written.split(", ") if expression)
        assert [*map(str, made.results)] == [*results]


@for_all(rows("""
f32[8] => f32[6] => f32[8]{0} fills 32 bytes, f32[6]{0} 24
f32[6,8]{1,0:T(8,128)} => f32[6,8]{1,0}
    f32[6,8]{1,0:T(8,128)} fills 4096 bytes, f32[6,8]{1,0} 192
u8[2,3]{1,0:T(1,2)} => u16[3]{0:T(2)}
    element (1, 2) of u8[2,3]{1,0:T(1,2)} lies in padding of u16[3]{0:T(2)},
        and element (1) of that in padding of the other
f32[3,5]{1,0:T(2,2)} => f32[5,3]{1,0:T(2,2)}
    element (0, 3) of f32[3,5]{1,0:T(2,2)} lies in padding of f32[5,3]{1,0:T(2,2)},
        and element (2, 1) of that in padding of the other
s4[6]{0:E(6)} => s4[9]{0:E(4)} => elements of 4 bits do not fill those of 6 bits
f32[?] => f32[?] => f32[?]{0}: a dimension has no bound; expected one, to tell offsets
f32[4]{0:SC(0:2)} => f32[4]
    f32[4]{0:SC(0:2)}: the array lies in several memories;
        expected one of its pieces, to tell offsets
token[] => f32[] => token[] has no layout; expected the shape of an array
"""))  # fmt: skip
def test_what_has_no_map_says_why(source: str, target: str, reason: str) -> None:
    shapes = Shape.parse(source), Shape.parse(target)
    assert str(bitcast_map(*shapes)) == f"UNDEFINED: {reason}"
    with pytest.raises(ShapeError) as caught:
        decompose_bitcast(*shapes)
    assert str(caught.value) == f"there is no bitcast: {reason}"
