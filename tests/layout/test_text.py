"""The text of shapes, both ways."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.layout import UNBOUNDED_SIZE, ElementType, Shape
from indexing.layout.layout import ARRAY_TYPES
from indexing.layout.shape import read_shape
from simplifier.errors import TextError
from tests.cases import for_all, rows
from tests.indexing.tables import errors_in
from tests.layout.strategies import layouts


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
    sizes = draw(st.lists(st.integers(UNBOUNDED_SIZE, 2**63 - 1), max_size=4).map(tuple))
    layout = replace(
        draw(layouts(len(sizes), st.integers(1, 256))),
        memory_space=draw(st.integers(0, 9)),
        element_size_in_bits=draw(st.integers(0, 9)),
    )
    flags = draw(st.just(()) | st.tuples(*(st.booleans() for _ in sizes)))
    return Shape(draw(st.sampled_from(ARRAY_TYPES)), sizes, layout, flags)


SHAPES = st.recursive(arrays(), lambda inner: st.lists(inner, max_size=4).map(Shape.of_tuple))


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
