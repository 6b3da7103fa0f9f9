"""``linalg.generic``: the maps of its text, and what an element of its result reads."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest

from indexing import MapError, parse_map
from ops.mlir import LinalgGeneric, MlirTextError, read_generics

CONVOLUTION = """
#in = affine_map<(n, y, f, ky, c) -> (n, y * 2 + ky, c)>
#kernel = affine_map<(n, y, f, ky, c) -> (ky, c, f)>
#out = affine_map<(n, y, f, ky, c) -> (n, y, f)>
module {
  func.func @f(%a: tensor<2x9x3xf32>) {
    %0 = "linalg.generic"(%a, %b, %c) <{
      indexing_maps = [#in, #kernel, #out], operandSegmentSizes = array<i32: 2, 1>,
      iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>,
        #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>,
        #linalg.iterator_type<reduction>]}> ({
    ^bb0(%x: f32, %y: f32, %z: f32):
      %1 = arith.mulf %x, %y : f32
      "linalg.yield"(%1) : (f32) -> ()
    }) : (tensor<2x9x3xf32>, tensor<3x3x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    return
  }
}
"""


def generic(maps: str, kinds: str, operands: str) -> str:
    """The text of an operation in the form of the dialect."""
    shown = ", ".join(f'"{kind}"' for kind in kinds.split())
    attributes = f"indexing_maps = [{maps}], iterator_types = [{shown}]"
    return f"%0 = linalg.generic {{{attributes}}} {operands} {{}}"


def test_an_element_reads_what_its_iterations_read() -> None:
    (convolution,) = read_generics(CONVOLUTION)
    assert convolution.sizes == (2, 4, 4, 3, 3)
    points = [*product(*map(range, (2, 4, 4, 3, 3)))]
    *inputs, output = convolution.maps
    for indexing, read in zip(inputs, convolution.reads(), strict=True):
        expected = {(output.evaluate(point), indexing.evaluate(point)) for point in points}
        assert {(dims, results) for dims, _, _, results in read.points()} == expected


def test_what_is_written_is_read_back() -> None:
    (convolution,) = read_generics(CONVOLUTION)
    operands = "ins(%a, %b : tensor<2x9x3xf32>, tensor<3x3x4xf32>) outs(%c : tensor<2x4x4xf32>) {}"
    assert read_generics(f"{convolution} {operands}") == (convolution,)


def test_open_sizes_are_parameters() -> None:
    maps = "affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>"
    operands = "ins(%a : memref<3x?xf32, strided<[?, 1]>>) outs(%b : memref<?x3xf32>)"
    (transpose,) = read_generics(generic(maps, "parallel parallel", operands))
    expected = "(d0, d1)<n0> -> (d1, d0), domain: d0 in [0, n0 - 1], d1 in [0, 2], n0 in [1, inf]"
    assert transpose.reads() == (parse_map(expected),)
    assert "n0" not in str(transpose)


ONE = "affine_map<(i) -> (i)>"
WRONG = {
    "no map for each": (generic(ONE, "parallel", ""), "a map for each of 0 operands"),
    "a loop without a size": (
        generic("affine_map<(i) -> (i * 2)>", "parallel", "outs(%a : tensor<4xf32>)"),
        "the size of loop 0 follows from no operand",
    ),
    "two sizes": (
        generic(f"{ONE}, {ONE}", "parallel", "ins(%a : tensor<4xf32>) outs(%b : tensor<5xf32>)"),
        "loop 0 runs over 4 and over 5 elements",
    ),
    "an unknown kind": (
        generic(ONE, "sideways", "outs(%a : tensor<4xf32>)"),
        "an iterator is 'sideways'; expected one of parallel, reduction, window",
    ),
    "another rank": (
        generic(ONE, "parallel", "outs(%a : tensor<4x4xf32>)"),
        "a map has 1 results for an operand of rank 2",
    ),
    "a wrong map": (generic("affine_map<(i) -> (j)>", "parallel", "outs(%a : tensor<4xf32>)"), "j"),
    "kinds that are no list": (
        f"linalg.generic {{indexing_maps = [{ONE}], iterator_types = 5}} outs(%a : tensor<4xf32>)",
        "linalg.generic: expected iterator_types, such as",
    ),
    "no kinds": (
        f"linalg.generic {{indexing_maps = [{ONE}]}} outs(%a : tensor<4xf32>)",
        "linalg.generic: expected iterator_types, such as",
    ),
    "maps of other loops": (
        generic(
            f"{ONE}, affine_map<(i, j) -> (i)>",
            "parallel",
            "ins(%b : tensor<4xf32>) outs(%a : tensor<4xf32>)",
        ),
        "linalg.generic: a map has 2 dimensions, but the first has 1",
    ),
    "more outputs than operands": (
        (
            f'"linalg.generic"(%a) <{{indexing_maps = [{ONE}], iterator_types = ["parallel"], '
            "operandSegmentSizes = array<i32: 0, 9>}> ({}) : (tensor<4xf32>) -> ()"
        ),
        "expected operandSegmentSizes = array<i32: n, m> of 1 operands",
    ),
    "cut off": ("linalg.generic {indexing_maps = [", "the value of an attribute"),
}
"""Texts, and what is said of them."""


@pytest.mark.parametrize("name", WRONG)
def test_errors_point_at_their_place(name: str) -> None:
    text, message = WRONG[name]
    with pytest.raises(MlirTextError) as caught:
        read_generics(text)
    assert message in caught.value.message
    assert "^" in str(caught.value)


def test_reads_needs_a_loop_for_each_dimension() -> None:
    sums = LinalgGeneric(
        (4,), tuple(map(parse_map, ["(d0) -> (d0), domain: d0 in [0, 3]"] * 2)), ("parallel",)
    )
    with pytest.raises(MapError, match="output is 1; expected a number below 1"):
        sums.reads(1)
    twice = parse_map("(d0) -> (d0, d0), domain: d0 in [0, 3]")
    with pytest.raises(MapError, match="expected a loop for each dimension"):
        LinalgGeneric((4,), (twice,), ("parallel",)).reads()


READS: Final[dict[str, tuple[str, list[str]]]] = {
    "a dimension that is kept": (
        """%0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
        affine_map<(i, j) -> (i, 0)>], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x1xf32>) {} -> tensor<4x1xf32>""",
        ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 0], s0 in [0, 7]"],
    ),
    "a name of attributes": (
        f"""#t = {{indexing_maps = [{ONE}, {ONE}], iterator_types = ["parallel"]}}
        %0 = linalg.generic #t ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {{}}""",
        ["(d0) -> (d0), domain: d0 in [0, 3]"],
    ),
    "a name of maps, and attributes of others": (
        f"""#ONE  = {ONE}
        #maps = [#ONE, #ONE]
        %0 = linalg.generic {{indexing_maps = #maps, iterator_types = ["parallel"]}} {{config = #x}}
        ins(%a : tensor<4xi7>) outs(%b : tensor<4x!my.tile<2>>) {{}}""",
        ["(d0) -> (d0), domain: d0 in [0, 3]"],
    ),
    "a string": ('%0 = transform.structured.match ops{["linalg.generic"]} in %r', []),
}


@pytest.mark.parametrize("name", READS)
def test_what_an_output_reads(name: str) -> None:
    text, expected = READS[name]
    assert [str(each) for one in read_generics(text) for each in one.reads()] == expected
