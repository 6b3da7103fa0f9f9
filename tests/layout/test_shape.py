"""Shapes and layouts as values and as text: what they say, and what they refuse to be."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import layout
from indexing.layout import COMBINE_DIMENSION, ElementType, Kind, Layout, LevelType, Shape
from indexing.layout.layout import ARRAY_TYPES, LETTERS
from indexing.layout.shape import read_shape
from simplifier.errors import IndexingError, TextError
from tests.cases import for_all, rows
from tests.indexing.tables import errors_in
from tests.layout.strategies import layouts

F32 = ElementType.F32


@for_all([
    (Layout((4, 5, 6)), "{4,5,6}"),
    (Layout((3, 2, 1, 0), tiles=((42, 123), (4, 5))), "{3,2,1,0:T(42,123)(4,5)}"),
    (Layout((1, 0), tiles=((2, 55),), element_size_in_bits=42), "{1,0:T(2,55)E(42)}"),
    (Layout((3, 2, 1, 0), tiles=((42, 123), (4, 5)), memory_space=3),
     "{3,2,1,0:T(42,123)(4,5)S(3)}"),
    (Layout((1, 0), tiles=((-2, 55),), element_size_in_bits=42),
     "{1,0:T(Invalid value -2,55)E(42)}"),
    (Layout(()), "{}"),
    (Layout((), tiles=((128,),)), "{:T(128)}"),
    (Layout((0,), tiles=((COMBINE_DIMENSION, 8),)), "{0:T(*,8)}"),
    (Layout((0,), tail_padding_alignment_in_elements=32), "{0:L(32)}"),
    (Layout((0,), index_primitive_type=ElementType.U32, pointer_primitive_type=ElementType.U16),
     "{0:#(u32)*(u16)}"),
    (Layout((1, 0), split_configs=(layout.SplitConfig(1, (64, 70)), layout.SplitConfig(0, (3,)))),
     "{1,0:SC(1:64,70)(0:3)}"),
    (Layout((0,), dim_level_types=(LevelType(layout.LevelKind.COMPRESSED, ordered=False),)),
     "{0:D(C~)}"),
    (Layout(
         (0,), dim_level_types=(LevelType(layout.LevelKind.COMPRESSED),),
         physical_shape=Shape(F32, (3,)), dynamic_shape_metadata_prefix_bytes=8),
     "{0:D(C)P(f32[3]{0})M(8)}"),
])  # fmt: skip
def test_layout_is_printed(given: Layout, text: str) -> None:
    assert str(given) == text


FULL = Layout(
    (1, 0), tiles=((8, 128),), memory_space=1, tail_padding_alignment_in_elements=8,
    element_size_in_bits=4, dim_level_types=(LevelType(), LevelType()),
    index_primitive_type=ElementType.U32, pointer_primitive_type=ElementType.U16,
    split_configs=(layout.SplitConfig(0, (3,)),), physical_shape=Shape(F32),
    dynamic_shape_metadata_prefix_bytes=16,
)  # fmt: skip


@for_all([*LETTERS.values()])
def test_what_layouts_say_may_be_ignored(name: str) -> None:
    other = replace(FULL, **{name: getattr(Layout((1, 0)), name)})
    assert not FULL.equal(other)
    assert FULL.equal(other, ignore=[name])
    assert other.equal(FULL, ignore=[name])
    assert not FULL.equal(other, ignore=[field for field in LETTERS.values() if field != name])
    assert not FULL.equal(replace(other, minor_to_major=(0, 1)), ignore=[name])
    assert FULL.equal(other, minor_to_major_only=True)
    assert not FULL.equal(replace(other, minor_to_major=(0, 1)), minor_to_major_only=True)


SPARSE = (LevelType(layout.LevelKind.COMPRESSED), LevelType())
TUPLE, BUFFER, TOKEN = ElementType.TUPLE, ElementType.BUFFER, ElementType.TOKEN


def laid_out(*order: int, **fields: Any) -> Callable[[], Shape]:  # noqa: ANN401 - any fields
    return lambda: Shape(F32, (2, 3), Layout(order, **fields))


@for_all([
    (lambda: Layout((0, -1)), "minor_to_major {0,-1} has a negative dimension"),
    (lambda: Layout((1, 1)), "minor_to_major {1,1} lists a dimension twice"),
    (lambda: Layout((0,), memory_space=-1), "memory_space is -1; expected at least 0"),
    (lambda: Layout((0,), tail_padding_alignment_in_elements=0),
     "tail_padding_alignment_in_elements is 0; expected at least 1"),
    (lambda: Layout((0,), element_size_in_bits=-4),
     "element_size_in_bits is -4; expected at least 0"),
    (lambda: FULL.equal(FULL, ignore=["tiles", "tile"]),
     "no field 'tile' to ignore; expected dim_level_types, tiles"),
    (laid_out(0), "the shape has 2 dimensions, but the layout {0} orders 1"),
    (laid_out(2, 0), "the layout {2,0} is no permutation of the dimensions 0 to 1"),
    (laid_out(1, 0, tiles=((0,),)), "the layout {1,0:T(0)} has a tile without elements"),
    (laid_out(1, 0, tiles=((-2, 5),)), "has a tile without elements"),
    (laid_out(1, 0, tiles=((2, COMBINE_DIMENSION),)), "has a tile that does not end in a size"),
    (laid_out(1, 0, tiles=((),)), "has a tile that does not end in a size"),
    (laid_out(1, 0, split_configs=(layout.SplitConfig(2, (1,)),)), "splits a dimension that"),
    (laid_out(1, 0, dim_level_types=(LevelType(),)), "has 1 level types"),
    (laid_out(1, 0, dim_level_types=SPARSE, tiles=((2,),)), "but is for a sparse array"),
    (laid_out(1, 0, physical_shape=Shape(F32)), "has a physical shape, but is not for a sparse"),
    (lambda: Shape(F32, (10**30,)), "does not fit in 64 bits"),
    (lambda: Shape(F32, (-2,)), "dimension -2 is negative"),
    (lambda: Shape(F32, dynamic_dimensions=(True,)), "0 dimensions, but 1 flags"),
    (lambda: Shape(F32, elements=(Shape(F32),)), "f32 does not hold other shapes"),
    (lambda: Shape(TOKEN, (2,)), "neither dimensions nor a layout"),
    (lambda: Shape(TUPLE, layout=Layout(())), "neither dimensions nor a layout"),
    (lambda: Shape(BUFFER), "a buffer holds one array"),
    (lambda: Shape(BUFFER, elements=(Shape(TOKEN),)), "holds one array"),
    (lambda: Shape.parse("f32[7,8,9]").size(-4), "has no dimension -4; expected -3 to 2"),
    (lambda: Shape.parse("f32[7,8,9]").size(3), "has no dimension 3; expected -3 to 2"),
    (lambda: Shape.parse("f32[]").size(0), "has no dimension 0; there is none"),
    (lambda: Shape.parse("()").element_size_in_bits, "expected the shape of an array"),
], lambda row: row[1])  # fmt: skip
def test_what_is_no_shape_or_layout(make: Callable[[], object], message: str) -> None:
    with pytest.raises(layout.ShapeError, match=re.escape(message)):
        make()


def test_a_layout_is_that_of_its_fields_and_the_largest_dimension_is_allowed() -> None:
    assert FULL.equal(replace(FULL))
    with pytest.raises(layout.ShapeError, match="memory_space is -1"):
        replace(FULL, memory_space=-1)
    assert Shape(F32, (2**63 - 1, 4)).element_count == 4 * (2**63 - 1)


def test_a_missing_layout_is_the_default_one() -> None:
    shape = Shape(F32, (2, 3, 4))
    assert shape.layout == Layout((2, 1, 0)) == Layout.default(3)
    assert shape == Shape.parse("f32[2,3,4]") == Shape.parse("f32[2,3,4]{2,1,0}")
    assert Layout.default(3).is_default
    assert not Layout((2, 1, 0), memory_space=1).is_default
    assert shape.with_layout(Layout((0, 1, 2))) == Shape.parse("f32[2,3,4]{0,1,2}")
    assert shape.with_layout(Layout((0, 1, 2))).with_layout(None) == shape


def test_what_a_shape_is() -> None:
    shape = Shape.parse("(f32[2,<=3], token[], (s32[]), b(u8[4]), opaque[], f32[?])")
    array, token, inner, buffer, opaque, unbounded = shape.elements
    assert [s.is_tuple for s in (shape, array, inner)] == [True, False, True]
    assert [s for s in (shape, array, token, buffer, opaque) if s.is_array] == [array]
    assert (array.rank, array.element_count, array.dynamic_dimensions) == (2, 6, (False, True))
    assert buffer.elements == (Shape(ElementType.U8, (4,)),)
    assert unbounded.dimensions == (layout.UNBOUNDED_SIZE,)
    assert unbounded.is_unbounded
    assert not array.is_unbounded
    assert array.with_element_type(ElementType.PRED) == Shape.parse("pred[2,<=3]")


def test_negative_dimensions_count_from_the_last_one() -> None:
    shape = Shape.parse("f32[7,8,9]")
    assert [shape.dimension_number(number) for number in range(-3, 3)] == [0, 1, 2, 0, 1, 2]
    assert [shape.size(number) for number in range(-3, 3)] == [7, 8, 9, 7, 8, 9]


@for_all([
    ("f32[]", 0, 0, ""), ("f32[3]", 1, 1, "d0"), ("f32[1,3]", 2, 1, "y x"),
    ("f32[0,1,?]", 3, 1, "z y x"), ("f32[2,1,<=2,3]", 4, 3, "p z y x"),
    ("f32[2,2,2,2,2]", 5, 5, "d0 d1 d2 d3 d4"),
])  # fmt: skip
def test_dimensions(text: str, rank: int, true_rank: int, names: str) -> None:
    shape = Shape.parse(text)
    assert (shape.rank, shape.true_rank) == (rank, true_rank)
    assert " ".join(shape.dimension_names) == names


@for_all([("pred[8]", 8), ("pred[8]{0:E(1)}", 1), ("s4[]", 8), ("c128[2]", 128)])
def test_bits_of_an_element(text: str, bits: int) -> None:
    assert Shape.parse(text).element_size_in_bits == bits


@for_all([
    ("f32[2,3]", "f32[2,3]{0,1}", True), ("f32[2,3]", "f32[<=2,3]", True),
    ("f32[2,3]", "f32[?,3]", True), ("f32[2,3]", "f32[3,2]", False), ("f32[2]", "f32[2,1]", False),
    ("f32[2]", "s32[2]", False),
    ("(f32[2], s32[])", "(f32[2]{0:S(1)}, s32[])", True),
    ("(f32[2], s32[])", "(f32[2])", False), ("(f32[2], s32[])", "(f32[2], u32[])", False),
    ("token[]", "opaque[]", False), ("()", "()", True),
])  # fmt: skip
def test_compatible(left: str, right: str, compatible: bool) -> None:
    assert Shape.parse(left).is_compatible_with(Shape.parse(right)) is compatible
    assert Shape.parse(right).is_compatible_with(Shape.parse(left)) is compatible


def test_shapes_are_values() -> None:
    text = "(bf16[8,<=128]{0,1:T(8,128)(2,1)S(1)}, token[])"
    shape, same = Shape.parse(text), Shape.parse(f" {text} // twice")
    assert shape == same
    assert hash(shape) == hash(same)
    assert pickle.loads(pickle.dumps(shape)) == shape  # noqa: S301  (our own pickle)
    with pytest.raises(AttributeError):
        shape.dimensions = ()  # pyright: ignore[reportAttributeAccessIssue]


@for_all([t for t in ElementType if t.kind in {Kind.SIGNED, Kind.UNSIGNED} and t.bits >= 8])
def test_integers_have_the_range_of_numpy(element_type: ElementType) -> None:
    name = f"{'u' * (element_type.kind is Kind.UNSIGNED)}int{element_type.bits}"
    info = np.iinfo(name)
    assert element_type.value_range.ends == (info.min, info.max)
    assert element_type.bytes == np.dtype(name).itemsize


def test_the_bits_stand_in_the_name() -> None:
    for element_type in ElementType:
        digits = "".join(c for c in element_type[1:].split("e")[0] if c.isdigit())
        if digits and element_type is not ElementType.F8E8M0FNU:
            assert int(digits.removesuffix("b11")) == element_type.bits
    assert ElementType.PRED.value_range.upper == 1
    assert ElementType.F32.value_range.lower is None
    assert [t.bytes for t in (ElementType.PRED, ElementType.S4, ElementType.BF16)] == [1, 1, 2]


def test_element_type_by_name() -> None:
    assert layout.ArrayShape("f32", (2, 3)) == layout.ArrayShape(F32, (2, 3))  # pyright: ignore[reportArgumentType] - typed callers have the type
    assert Shape.parse("f32[2]").with_element_type("bf16") == Shape.parse("bf16[2]")  # pyright: ignore[reportArgumentType]
    with pytest.raises(IndexingError, match="the element type is 'f33'; expected one, such as f32"):
        layout.ArrayShape("f33")  # pyright: ignore[reportArgumentType]


@for_all(rows("""
f32[] => f32[]
f32[ 2 , 3 ] { 1 , 0 : T( 8,128 ) S(1) } => f32[2,3]{1,0:T(8,128)S(1)}
(f32[], /*index=1*/s32[2]{0}) // end => (f32[], s32[2]{0})
f32[2,3] => f32[2,3]{1,0}
f32[0,3]{1,0:} => f32[0,3]{1,0}
f32[2]{0:S(0)} => f32[2]{0}
f32[10]{0:D(C)P(f32[3]{0:T(8)})} => f32[10]{0:D(C)P(f32[3]{0:T(8)})}
f32[16,128]{1,0:SC(1:64,70)(0:3)} => f32[16,128]{1,0:SC(1:64,70)(0:3)}
f32[16]{0:#(u32)*(u16)} => f32[16]{0:#(u32)*(u16)}
b(f32[16]{0}) => b(f32[16]{0})
F32[3,5]{1,0:T(2,2)} => f32[3,5]{1,0:T(2,2)}
(BF16[2], F8E4M3FN[]) => (bf16[2]{0}, f8e4m3fn[])
F32[2,7,8,11,10]{4,3,2,1,0:T(\u2217,\u2217,2,\u2217,3)} => f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}
f32[4,6]{1,0:T(-1,2)} => f32[4,6]{1,0:T(*,2)}
f32[8]{0:T(8,128)} => f32[8]{0:T(8,128)}
((), (token[], (opaque[]))) => ((), (token[], (opaque[])))
f32[/* rows */2] => f32[2]{0}
f32[2]/* as usual */{0} => f32[2]{0}
"""))  # fmt: skip
def test_shape_is_read_and_printed(text: str, printed: str) -> None:
    assert str(Shape.parse(text)) == printed
    assert str(Shape.parse(printed)) == printed


def test_every_element_type_is_read_and_layouts_can_be_left_out() -> None:
    types = [each for each in ElementType if each not in {"tuple", "b"}]
    assert [Shape.parse(f"{each}[]").element_type for each in types] == types
    shape = Shape.parse("(f32[2,<=3]{0,1:T(2)}, b(s32[2]{0}))")
    assert shape.text(layout=False) == "(f32[2,<=3], b(s32[2]))"


test_a_wrong_shape_is_shown = errors_in(Shape.parse)("""
f32[2«» => expected ',' or ']', but the text ends
f32[2,«]» => expected a number, but found ']'
f32[«-»2] => expected a number, but found '-'
f32[«٣»] => expected a number, but found '٣'
f32[«1000000000000000000000000000000»] => '1000000000000000000000000000000' does not fit in 64 bits
«f33»[2] => expected a shape, but found 'f33'
f32[2]{«}» => expected a dimension or ':' in the braces of a layout, but found '}'
f32[2] «f32»[2] => expected the end of the shape, but found 'f32'
«f32[2,2]{1,1}» => minor_to_major {1,1} lists a dimension twice
«f32[2,2]{0}» => the shape has 2 dimensions, but the layout {0} orders 1
(f32[2], «f32[2,2]{0}») => the shape has 2 dimensions, but the layout {0} orders 1
f32[2]{0:E(4)«T»(2)} => expected '}' or one of D T L # * E S SC P M in this order, but found 'T'
f32[2]{0:T(2,«)»} => expected a number, but found ')'
f32[2]{0:D(«X»)} => expected a level type D, C, S or H, but found 'X'
f32[2]{0:#(«x32»)} => expected an element type, but found 'x32'
«f32[2]{0:T(0)}» => the layout {0:T(0)} has a tile without elements
f32[4]{0:T(-«2»,2)} => expected '1' in a tile, where -1 stands for '*', but found '2'
«f32[4]{0:T(*)}» => the layout {0:T(*)} has a tile that does not end in a size
«f32[4,4]{1,0:T(2,*)}» => the layout {1,0:T(2,*)} has a tile that does not end in a size
«token[2]» => a shape of type token has neither dimensions nor a layout
(f32[2]«» => expected ',' or ')', but the text ends
b(«(»f32[2])) => expected a shape, but found '('
f32[2] «/»* and => expected the end of the shape, but found '/'
""")


@for_all(["(" * 100_000, "f32[1]{0:P(" * 10_000, "f32[1]{0:D(C)P(f32[1]" * 10_000])
def test_deep_nests_are_refused(text: str) -> None:
    with pytest.raises(TextError):
        Shape.parse(text)


def test_a_shape_is_read_inside_of_a_text() -> None:
    shape, stop = read_shape("a -> f32[2]{0} {1}", 4)
    assert (str(shape), stop) == ("f32[2]{0}", 14)
    with pytest.raises(TextError) as caught:
        read_shape("a -> f32[2]{1}", 4)
    assert (caught.value.span.start, caught.value.span.stop) == (5, 14)


@st.composite
def arrays(draw: st.DrawFn) -> Shape:
    """An array of any type, with any order of dimensions, and tiles."""
    sizes = draw(st.lists(st.integers(layout.UNBOUNDED_SIZE, 2**63 - 1), max_size=4).map(tuple))
    order = replace(
        draw(layouts(len(sizes), st.integers(1, 256))),
        memory_space=draw(st.integers(0, 9)),
        element_size_in_bits=draw(st.integers(0, 9)),
    )
    flags = draw(st.just(()) | st.tuples(*(st.booleans() for _ in sizes)))
    return Shape(draw(st.sampled_from(ARRAY_TYPES)), sizes, order, flags)


def tuples(inner: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    return st.lists(inner, max_size=4).map(Shape.of_tuple)


SHAPES = arrays() | tuples(arrays() | tuples(arrays()))


@given(shape=SHAPES)
def test_text_reads_back(shape: Shape) -> None:
    assert Shape.parse(str(shape)) == shape


@given(text=st.text("f32[]{}(),:T<=?0123 bS*", max_size=30))
def test_noise_is_a_shape_or_refused(text: str) -> None:
    try:
        shape = Shape.parse(text)
    except TextError as error:
        assert 0 <= error.span.start <= len(text)  # noqa: PT017  (both outcomes are fine)
    else:
        assert Shape.parse(str(shape)) == shape
