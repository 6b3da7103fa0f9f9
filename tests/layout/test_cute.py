"""CuTe's layouts: its documentation's examples, what pycute answers, and the maps of layouts."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sympy import Eq

from indexing import MapError, parse_map
from indexing.layout import ShapeError, cute
from indexing.layout.cute import CuteLayout, Swizzle, SymbolicLayout, parse
from indexing.layout.cute.layout import unflattened
from simplifier import Facts, simplify, symbol
from simplifier.errors import ArgumentError, TextError
from tests.cases import for_all
from tests.extent import examples, seldom
from tests.indexing.tables import errors_in, refusals

DATA: Final = Path(__file__).parents[1] / "data" / "cute"


def _cases(name: str) -> list[str]:
    """A case is an operation, its arguments and the answer, with two blanks between them."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def _argument(text: str) -> Any:  # noqa: ANN401 - a layout, size, shape or tiler
    if text.startswith("<"):
        first, _, second = text[1:-1].partition(",")
        return (_argument(first), _argument(second))
    if ":" in text:
        return parse(text)
    return parse(text).shape


def _answer(name: str, layout: str, *others: str) -> object:
    if name == "swizzle":
        return cute.parse_swizzle(layout)(*map(int, others))
    if name == "offset":
        return parse(layout)(*map(int, others))
    return getattr(cute, name)(parse(layout), *map(_argument, others))


@for_all([*_cases("documented_layouts.txt"), *_cases("random_layouts.txt")])
def test_answers_are_those_of_the_documentation_and_of_pycute(case: str) -> None:
    call, expected = case.split("  -> ")
    assert str(_answer(*call.split("  "))) == expected


def test_random_layouts_are_many() -> None:
    assert len(_cases("random_layouts.txt")) > 300


SIZES: Final = st.sampled_from([1, 2, 3, 4, 6, 8])


@st.composite
def layouts(draw: st.DrawFn, depth: int = 2) -> CuteLayout:
    """Layouts of at most some hundred elements with strides in any order."""

    def shape(level: int) -> Any:  # noqa: ANN401 - an integer tuple
        if level == 0 or draw(st.booleans()):
            return draw(SIZES)
        return tuple(shape(level - 1) for _ in range(draw(st.integers(1, 2))))

    chosen = CuteLayout(shape(depth))
    if draw(st.booleans()):
        return chosen
    strides = [draw(st.sampled_from([0, 1, 2, 3, 4, 8, 12, 24, -1])) for _ in chosen.leaves]
    return CuteLayout(chosen.shape, unflattened(iter(strides), chosen.shape))


@examples(20)
@given(layouts())
def test_maps_have_the_offsets_of_the_layout(layout: CuteLayout) -> None:
    assert parse(str(layout)) == layout
    offsets = [layout(index) for index in range(layout.size)]
    assert [point[3][0] for point in cute.to_map(layout, "index").points()] == offsets
    for coordinates in ("natural", "modes"):
        indexing_map = cute.to_map(layout, coordinates)
        found = [(point[0][::-1], point[3][0]) for point in indexing_map.points()]
        assert [offset for _, offset in sorted(found)] == offsets


@examples(20)
@given(layouts())
def test_layouts_come_back_from_their_maps(layout: CuteLayout) -> None:
    by_mode = cute.coalesce(layout, (1,) * layout.rank)
    found = cute.from_map(cute.to_map(layout, "modes"))
    assert found == (by_mode if layout.rank > 1 else by_mode.modes[0])
    assert cute.from_map(cute.to_map(layout, "index")) == cute.coalesce(layout)


@for_all([
    ("(6,2):(8,2)", "(4,3):(3,1)"),
    ("(10,2):(16,4)", "(5,4):(1,5)"),
    ("((4,8),(2,2)):((8,1),(64,32))", "(32,4):(4,1)"),
    ("(8,16):(16,1)", "((2,4),(4,4)):((1,8),(2,32))"),
])  # fmt: skip
def test_composed_maps_simplify_to_the_composition(layout: str, tiler: str) -> None:
    outer, inner = cute.to_map(parse(layout), "index"), cute.to_map(parse(tiler), "modes")
    expected = cute.composition(parse(layout), parse(tiler))
    assert cute.from_map((outer @ inner).simplify()) == expected
    assert (outer @ inner).equals(cute.to_map(expected, "modes"))


@for_all([("8:-1", "(4,2):(-8,-1)"), ("8:-2", "(2,4):(-16,-1)"), ("2:-4", "2:-1")])
def test_a_negative_stride_has_its_sign_in_each_mode(tiler: str, expected: str) -> None:
    layout = parse("(4,8,2):(8,1,32)")
    assert str(cute.composition(layout, parse(tiler))) == expected


@for_all(["(4,8):(8,1)", "((2,4),8):((1,16),2)", "(3,(2,5)):(10,(5,1))"])
def test_inverses_invert(text: str) -> None:
    layout = parse(text)
    left, right = cute.left_inverse(layout), cute.right_inverse(layout)
    assert [left(layout(i)) for i in range(layout.size)] == [*range(layout.size)]
    assert [layout(right(i)) for i in range(right.size)] == [*range(right.size)]
    assert cute.to_map(layout, "index").inverse().equals(cute.to_map(left, "index"))
    # strides of 0 are passed by
    assert str(cute.right_inverse(parse("(3,(2,4)):(1,(0,3))"))) == "(3,4):(1,6)"


@seldom
@given(st.permutations([1, 2, 4, 8, 16, 32]))
@example([1, 16, 4, 8, 2, 32])
def test_cute_bijection(strides: list[int]) -> None:
    """A permutation of bits has an inverse without a search, however its sum is written."""
    layout = CuteLayout((2,) * 6, tuple(strides))
    back = cute.to_map(layout, "index").inverse()
    assert not back.ranges
    assert [back.evaluate([layout(i)]) for i in range(64)] == [(i,) for i in range(64)]


LEAVES: Final = st.tuples(SIZES, st.sampled_from([0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]))


@given(st.lists(LEAVES, min_size=1, max_size=4))
def test_inverses_of_any_layout_invert_or_are_refused(leaves: list[tuple[int, int]]) -> None:
    sizes, strides = zip(*leaves, strict=True)
    layout = CuteLayout(sizes, strides)
    right = cute.right_inverse(layout)
    assert [layout(right(i)) for i in range(right.size)] == [*range(right.size)]
    with suppress(ShapeError):
        left = cute.left_inverse(layout)
        firsts = {layout(i): i for i in reversed(range(layout.size))}
        assert {offset: left(offset) for offset in firsts} == firsts


@given(st.integers(0, 3), st.integers(0, 3), st.integers(3, 4), st.booleans())
def test_swizzles_undo_themselves(bits: int, base: int, distance: int, down: bool) -> None:
    swizzle = Swizzle(bits, base, -distance if down else distance)
    assert all(swizzle(swizzle(offset)) == offset for offset in range(swizzle.size))
    assert cute.parse_swizzle(str(swizzle)) == swizzle


@for_all(["Sw<3,4,3> o 0 o (8,64):(64,1)", "Sw<2,1,-3> o 5 o (4,(2,8)):(16,(1,2))"])
def test_swizzled_layouts_have_maps(text: str) -> None:
    composed = cute.parse_composed(text)
    offsets = [composed(index) for index in range(composed.size)]
    assert str(composed) == text
    assert [point[3][0] for point in cute.to_map(composed, "index").points()] == offsets
    assert [composed.composed(composed.size)(index) for index in range(composed.size)] == offsets


test_bad_texts = errors_in(parse)("""
((2,4),8«:»(1,8) => expected ',' or ')', but found ':'
«(2,4):(1,2,3)» => CuteLayout: shape (2,4) and strides (1,2,3); expected both nested in the same way
«(2,0):(1,2)» => CuteLayout: shape (2,0) has the size 0; expected 1 or more
(2,«x»):(1,2) => expected an integer, but found 'x'
8:1 «8» => expected the end of the text, but found '8'
""")

NAMES = {**{name: getattr(cute, name) for name in dir(cute)}, "cute": cute, "symbol": symbol}

test_shapes_that_do_not_fit = refusals(NAMES, ShapeError)("""
CuteLayout(()) => has a tuple without sizes
parse("(2,4)")(1, 2, 3) => expected 2 parts, as in (2,4)
composition(parse("8:1"), (2, 2)) => at most 1
zipped_divide(parse("8:1"), (2, 2)) => at most 1
zipped_divide(parse("8:1"), ()) => has a tuple without sizes
# indivisible
composition(parse("(6,2):(8,2)"), parse("4:4")) => 4 and the size 6
# overlapping
complement(parse("(4,4):(1,2)"), 8) => a multiple of 4
# cute-left-inverse-1
left_inverse(parse("(2,3):(1,3)")) => the stride 3; expected a multiple of 2
# cute-left-inverse-2
left_inverse(parse("(4,6):(32,1)")) => the stride 32; expected a multiple of 6
Swizzle(3, 4, 2) => a shift of at least so many bits
""")
test_other_arguments = refusals(NAMES, ArgumentError, TextError)("""
CuteLayout(2.5) => ArgumentError: CuteLayout: the shape: 2.5 of float
parse("(" * 60 + "1" + ")" * 60) => nested deeper than 50
coalesce(8) => expected a CuteLayout
logical_divide(parse("8:1"), "2") => expected a CuteLayout, a size, or a tuple
ComposedLayout(Swizzle(3, 4, 3), 0, 8) => a CuteLayout
ComposedLayout(Swizzle(3, 4, 3), 0, parse_symbolic("M:1")) => a CuteLayout
zipped_divide(parse("(4,8)"), (2, parse_symbolic("M:1"))) => expected a CuteLayout, a size
CuteLayout((symbol("M"), 8)) => expected integers in tuples; SymbolicLayout has symbols, too
picture(parse_symbolic("M:1")) => without symbols, as subs() makes it
parse_symbolic("(M,K):(K,1)").subs({"M": 7}) => expected integers in tuples
parse_symbolic("(M,K") => expected ',' or ')', but the text ends
parse_symbolic("(" * 60 + "1" + ")" * 60) => nested deeper than 50
""")


@for_all({
    "(d0) -> (d0 + 1), domain: d0 in [0, 7]": "is not 8:1",
    "(d0) -> (d0 * 3 mod 8), domain: d0 in [0, 7]": "is not",
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 7]": "expected one result",
    "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 7]": "expected no ranges",
    "(d0) -> (d0), domain: d0 in [1, 7]": "expected from 0",
    "() -> (0)": "expected dimensions",
    "(d0, d1) -> (max(d0, d1)), domain: d0 in [0, 7], d1 in [0, 7]": "is no sum of digits",
    "(d0, d1) -> ((d0 + d1) floordiv 3), domain: d0 in [0, 7], d1 in [0, 7]": "is no sum of digits",
}.items())  # fmt: skip
def test_maps_that_are_no_layouts(text: str, message: str) -> None:
    with pytest.raises(MapError, match=re.escape(message)):
        cute.from_map(parse_map(text))


@for_all([
    ("(4,8):(8,1)", (2, None), "(8):(1)", 16),
    ("(4,8):(8,1)", (None, 3), "(4):(8)", 3),
    ("((2,4),8):((1,8),2)", ((None, 3), None), "(2,8):(1,2)", 24),
    ("((2,4),(2,4)):((1,8),(2,16))", ((1, None), (None, 2)), "(4,2):(8,2)", 33),
    ("(4,8):(8,1)", None, "((4,8)):((8,1))", 0),
])  # fmt: skip
def test_slices_leave_modes_free(
    layout: str, coordinate: tuple[Any, ...] | None, expected: str, offset: int
) -> None:
    whole = cute.parse(layout)
    part, found = cute.slice_and_offset(coordinate, whole)
    assert (str(part), found) == (expected, offset)
    offsets = {whole(index) for index in range(whole.size)}
    assert {found + part(index) for index in range(part.size)} <= offsets


@for_all(["(4,8):(8,1)", "(8,4):(1,8)", "((2,4),8):((1,16),2)", "(4,(2,4)):(16,(0,1))"])
def test_layouts_of_the_same_memory(text: str) -> None:
    """The bits of all elements, where these are whole elements of the new width."""
    layout = cute.parse(text)

    def bits(each: cute.CuteLayout, width: int) -> set[int]:
        starts = {width * each(index) for index in range(each.size)}
        return {start + bit for start in starts for bit in range(width)}

    narrow = cute.recast(layout, 32, 8)
    assert bits(narrow, 8) == bits(layout, 32)
    assert cute.recast(narrow, 8, 32) == cute.recast(layout, 32, 32) == layout
    for sizes in ((layout.size,), (2, layout.size // 2), ((2, 2), layout.size // 4)):
        again = cute.with_shape(layout, sizes)
        assert [again(index) for index in range(layout.size)] == [
            layout(index) for index in range(layout.size)
        ]


@for_all([
    (lambda: cute.recast(cute.parse("3:1"), 8, 16), "3:1 are not whole elements of 2"),
    (lambda: cute.recast(cute.parse("4:1"), 8, 12), "from 8 to 12 bits; expected one to divide"),
    (lambda: cute.slice_and_offset((1, 2), cute.parse("(4,8)")), "leaves no mode free"),
    (lambda: cute.slice_and_offset((None,), cute.parse("(4,8)")), "1 parts; expected parts as in"),
])  # fmt: skip
def test_parts_and_views_that_are_none(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ShapeError, match=re.escape(message)):
        make()


# Symbols: an answer holds for all of their values that the facts allow, 1 included.

M, N, K = map(symbol, "MNK")
EIGHTHS: Final = Facts({}, [Eq(M % 8, 0), Eq(K % 8, 0)])
POSITIVE: Final = Facts({M: (2, None), N: (2, None)})
ALL_FACTS: Final = (Facts(), EIGHTHS, POSITIVE, Facts({}, [Eq(N % M, 0)]), Facts({}, [Eq(M, N)]))


def _symbolic(facts: Facts, argument: str | int | tuple[int, ...] | CuteLayout) -> Any:  # noqa: ANN401 - as _argument
    return cute.parse_symbolic(argument, facts) if isinstance(argument, str) else argument


def _check_for_all_values(answer: SymbolicLayout, operation: Any, arguments: list[Any]) -> int:  # noqa: ANN401
    """How many values of the symbols were compared with the layout of integers, point by point."""
    compared = 0
    for values in product((1, 2, 3, 4, 8), (1, 2, 4), (1, 3, 8)):
        point = dict(zip("MNK", values, strict=True))
        with suppress(ShapeError):  # not allowed by the facts, or not divisible one by the other
            static = [
                each.subs(point) if isinstance(each, SymbolicLayout) else each for each in arguments
            ]
            expected = operation(*static)
            found = answer.subs(point)
            assert found.cosize == expected.cosize
            assert [*map(found, range(found.size))] == [*map(expected, range(expected.size))], point
            compared += 1
    return compared


@for_all([
    ("coalesce", Facts(), ["((8,M),N):((1,8),M*8)"], "M*N*8:1"),
    ("coalesce", Facts(), ["(M,K):(K,1)"], "(M,K):(K,1)"),
    ("composition", EIGHTHS, ["(M,K):(K,1)", "(8,4):(1,M)"], "(8,4):(K,1)"),
    ("composition", EIGHTHS, ["M:K", "(2,4):(4,1)"], "(2,4):(K*4,K)"),
    ("complement", Facts(), ["(N,4):(4,1)", "M*N*8"], "M*2:N*4"),
    ("right_inverse", Facts(), ["(M,K):(K,1)"], "(K,M):(M,1)"),
    ("left_inverse", Facts(), ["(M,K):(K,1)"], "(K,M):(M,1)"),
    ("left_inverse", POSITIVE, ["(M,N):(1,M*2)"], "(M,2,N):(1,M*N,M)"),
    ("filter_zeros", Facts(), ["(M,N):(0,M)"], "(1,N):(0,M)"),
    ("logical_divide", EIGHTHS, ["M:K", 8], "(8,M/8):(K,K*8)"),
    ("zipped_divide", EIGHTHS, ["(M,K):(K,1)", (8, 4)], "((8,4),(M/8,K/4)):((K,1),(K*8,4))"),
    ("tiled_divide", EIGHTHS, ["(M,K):(K,1)", (8, 4)], "((8,4),M/8,K/4):((K,1),K*8,4)"),
    ("flat_divide", EIGHTHS, ["(M,N):(1,M)", (4,)], "(4,M/4,N):(1,4,M)"),
    ("logical_product", Facts(), ["(2,M):(M,1)", "N:1"], "((2,M),N):((M,1),M*2)"),
    ("zipped_product", Facts(), ["M:1", "(2,N):(N,1)"], "(M,(2,N)):(1,(M*N,M))"),
    ("tiled_product", Facts(), ["M:1", "(2,N):(N,1)"], "(M,2,N):(1,M*N,M)"),
    ("flat_product", Facts(), ["(2,M):(M,1)", "N:1"], "(2,M,N):(M,1,M*2)"),
    ("blocked_product", Facts(), ["(2,5):(5,1)", "(M,K):(K,1)"],
     "((2,M),(5,K)):((5,K*10),(1,10))"),
    ("raked_product", Facts(), ["(M,5):(5,1)", parse("(3,4):(1,3)")],
     "((3,M),(4,5)):((M*5,5),(M*15,1))"),
    ("with_shape", EIGHTHS, ["(M,K):(K,1)", "(M,8,K/8)"], "(M,8,K/8):(K,1,8)"),
    ("recast", EIGHTHS, ["(M,K):(K,1)", 16, 32], "(M,K/2):(K/2,1)"),
    ("recast", EIGHTHS, ["(M,K):(K,1)", 32, 8], "(M,K*4):(K*4,1)"),
])  # fmt: skip
def test_symbolic_answers_hold_for_all_values(
    name: str, facts: Facts, given: list[Any], expected: str
) -> None:
    def operation(*of: Any) -> Any:  # noqa: ANN401 - as the operations
        call, (layout, *others) = getattr(cute, name), of
        takes_shape = name in {"complement", "with_shape"}
        return call(layout, others[0].shape) if takes_shape else call(layout, *others)

    arguments = [_symbolic(facts, each) for each in given]
    answer = operation(*arguments)
    assert str(answer) == expected
    assert cute.parse_symbolic(str(answer), answer.facts) == answer
    assert _check_for_all_values(answer, operation, arguments) > 2


LEAVES_OF_SYMBOLS: Final = st.tuples(
    st.sampled_from([1, 2, 4, M, N, M * N, 4 * M]),
    st.sampled_from([None, None, None, 0, 1, 2, 4, -1, M, N, M * N, 2 * M]),
)
OPERATIONS: Final = {
    **dict.fromkeys(("coalesce", "right_inverse", "left_inverse", "filter_zeros"), ()),
    **dict.fromkeys(("composition", "logical_divide", "logical_product", "raked_product"), (None,)),
    "recast": (8, 16),
}


@examples(25)
@given(st.data(), st.sampled_from(ALL_FACTS), st.sampled_from(sorted(OPERATIONS)))
def test_random_symbolic_answers_hold_for_all_values_or_are_refused(
    data: st.DataObject, facts: Facts, name: str
) -> None:
    def layout() -> SymbolicLayout:
        leaves = data.draw(st.lists(LEAVES_OF_SYMBOLS, min_size=1, max_size=3))
        sizes, strides = zip(*leaves, strict=True)
        compact = SymbolicLayout(sizes, None, facts).stride
        assert isinstance(compact, tuple)
        chosen = zip(strides, compact, strict=True)
        return SymbolicLayout(
            sizes, tuple(own if stride is None else stride for stride, own in chosen), facts
        )

    operation, others = getattr(cute, name), OPERATIONS[name]
    with suppress(ShapeError):
        arguments = [layout(), *(layout() if each is None else each for each in others)]
        _check_for_all_values(operation(*arguments), operation, arguments)


@for_all(["(M,K):(K,1)", "((8,M/8),N):((1,8),M)", "(N,(2,K)):(-1,(0,N))"])
def test_symbolic_layouts_have_maps_and_offsets(text: str) -> None:
    layout = cute.parse_symbolic(text, EIGHTHS)
    point = {"M": 16, "N": 3, "K": 8}
    static = layout.subs(point)
    for coordinates in ("natural", "modes", "index"):
        indexing_map = cute.to_map(layout, coordinates)
        used = {each.name: point[each.name] for each in indexing_map.parameters}
        assert indexing_map.subs(used).equals(cute.to_map(static, coordinates))
    i = symbol("i")
    assert simplify(layout(i), {**point, i: 13}) == static(13)
    row, offset = cute.slice_and_offset((i, None), layout)
    free, at = cute.slice_and_offset((5, None), static)
    assert row.subs(point) == free
    assert simplify(offset, {**point, i: 5}) == at


UNKNOWN: Final = {**NAMES, "Eq": Eq, "Facts": Facts, "M": M}
test_what_facts_leave_open = refusals(UNKNOWN, ShapeError)("""
complement(parse_symbolic("4:K"), 64)
    complement: 4:K: it is not known whether Eq(K, 0); the fact Eq(K, 0) would help
filter_zeros(parse_symbolic("(M,N):(K,1)")) => it is not known whether Eq(K, 0)
composition(parse_symbolic("(M,K):(K,1)"), 8)
    of the size 8 and the size M neither divides the other; the fact Eq((M % 8), 0) would help
composition(parse_symbolic("(4,8):(8,1)"), parse_symbolic("4:M", Facts({"M": (1, 9)})))
    of the stride M and the size 4 neither divides the other; the fact Eq((M % 4), 0)
logical_divide(parse_symbolic("M:1"), 8) => it is not known whether M > 1
recast(parse_symbolic("(M,K):(K,1)"), 16, 32)
    M:K are not whole elements of 2 times the width; the fact Eq((K % 2), 0) would help
right_inverse(parse_symbolic("(4,M):(1,K)", Facts({"K": (1, 9)}))) => not known whether Eq(K, 4)
parse_symbolic("(M,4)", Facts({M: (None, 0)})) => has the size M; expected 1 or more
parse_symbolic("(M,8)", Facts({}, [Eq(M % 8, 0)])).subs({M: 7}) => is not in [1, 1]
""")
