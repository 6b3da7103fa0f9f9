"""``linalg.generic``: the maps of its text, and what an element of its result reads."""

from __future__ import annotations

import re
from itertools import product

import pytest

from indexing import MapError, parse_map
from ops import hlo
from ops.mlir import LinalgGeneric, MlirTextError, read_generics
from tests.cases import for_all, for_named

CONVOLUTION = """
#in = affine_map<(n, y, f, ky, c) -> (n, y * 2 + ky, c)>
#kernel = affine_map<(n, y, f, ky, c) -> (ky, c, f)>
#out = affine_map<(n, y, f, ky, c) -> (n, y, f)>
module { func.func @f(%a: tensor<2x9x3xf32>) {
  %0 = "linalg.generic"(%a, %b, %c) <{
    indexing_maps = [#in, #kernel, #out], operandSegmentSizes = array<i32: 2, 1>,
    iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>,
      #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>,
      #linalg.iterator_type<reduction>]}> ({ ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32 "linalg.yield"(%1) : (f32) -> ()
  }) : (tensor<2x9x3xf32>, tensor<3x3x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32> return } }
"""


def generic(maps: str, kinds: str, operands: str) -> str:
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
FOUR = "outs(%a : tensor<4xf32>)"
IN_AND_OUT = "ins(%a : tensor<4xf32>) outs(%b : tensor<{}xf32>)"
SEGMENTS = f"""<{{indexing_maps = [{ONE}], iterator_types = ["parallel"],
  operandSegmentSizes = array<i32: 0, 9>}}>"""

WRONG = [
    ("a map for each of 0 operands", generic(ONE, "parallel", "")),
    ("the size of loop 0 follows from no operand",
     generic("affine_map<(i) -> (i * 2)>", "parallel", FOUR)),
    ("loop 0 runs over 4 and over 5 elements",
     generic(f"{ONE}, {ONE}", "parallel", IN_AND_OUT.format(5))),
    ("an iterator is 'sideways'; expected one of parallel, reduction, window",
     generic(ONE, "sideways", FOUR)),
    ("a map has 1 results for an operand of rank 2",
     generic(ONE, "parallel", "outs(%a : tensor<4x4xf32>)")),
    ("j", generic("affine_map<(i) -> (j)>", "parallel", FOUR)),
    ("linalg.generic: expected iterator_types, such as [",
     f"linalg.generic {{indexing_maps = [{ONE}], iterator_types = 5}} {FOUR}"),
    ("linalg.generic: expected iterator_types, such as",
     f"linalg.generic {{indexing_maps = [{ONE}]}} {FOUR}"),
    ("linalg.generic: a map has 2 dimensions, but the first has 1",
     generic(f"{ONE}, affine_map<(i, j) -> (i)>", "parallel", IN_AND_OUT.format(4))),
    ("expected operandSegmentSizes = array<i32: n, m> of 1 operands",
     f'"linalg.generic"(%a) {SEGMENTS} ({{}}) : (tensor<4xf32>) -> ()'),
    ("the value of an attribute", "linalg.generic {indexing_maps = ["),
    ("the bracket is not closed", "#target = #hal.target<= #hal.target<1>"),
]  # fmt: skip
"""What is said of texts."""


@for_all(WRONG)
def test_errors_point_at_their_place(message: str, text: str) -> None:
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


@for_named("""
a dimension that is kept
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 0], s0 in [0, 7]
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
     affine_map<(i, j) -> (i, 0)>], iterator_types = ["parallel", "reduction"]}
     ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x1xf32>) {} -> tensor<4x1xf32>
a name of attributes
    (d0) -> (d0), domain: d0 in [0, 3]
    #t = {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
     iterator_types = ["parallel"]}
     %0 = linalg.generic #t ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {}
a name of maps, and attributes of others
    (d0) -> (d0), domain: d0 in [0, 3]
    #ONE  = affine_map<(i) -> (i)> #maps = [#ONE, #ONE]
     %0 = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} {config = #x}
     ins(%a : tensor<4xi7>) outs(%b : tensor<4x!my.tile<2>>) {}
a string
    nothing
    %0 = transform.structured.match ops{["linalg.generic"]} in %r
""")
def test_what_an_output_reads(expected: str, text: str) -> None:
    found = [str(each) for one in read_generics(text) for each in one.reads()]
    assert found == [expected] * (expected != "nothing")


OTHERS = [
    ("func.func @f(%a: tensor<4xf32>) { %0 = linalg.exp ins(%a : tensor<4xf32>) return }",
     "ops.mlir.read_generics reads the maps of linalg"),
    ("affine.for %i = 0 to 4 { %x = affine.load %a[%i] : memref<4xf32> }",
     "ops.affine.read_accesses reads what affine, memref and tensor access"),
    ("module { tt.func public @f(%a: i32) { tt.return } }",
     "ops.triton.read_kernel reads kernels of Triton as they are written in Python"),
    ("transform.sequence failures(propagate) { }",
     "operations of other dialects stand in quotes, in MLIR's generic form"),
]  # fmt: skip


@for_all(OTHERS)
def test_other_dialects_are_no_modules_and_the_error_says_what_reads_them(
    text: str, hint: str
) -> None:
    with pytest.raises(MlirTextError, match=f"hint: {re.escape(hint)}"):
        hlo.parse(text)
