"""Operations of ``linalg``: the maps of their texts, and what an element of the result reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from indexing import IndexingMap, MapError, parse_map
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


def test_an_element_reads_what_its_iterations_read_and_texts_are_read_back() -> None:
    (convolution,) = read_generics(CONVOLUTION)
    assert convolution.sizes == (2, 4, 4, 3, 3)
    points = [*product(*map(range, (2, 4, 4, 3, 3)))]
    *inputs, output = convolution.maps
    for indexing, read in zip(inputs, convolution.reads(), strict=True):
        expected = {(output.evaluate(point), indexing.evaluate(point)) for point in points}
        assert {(dims, results) for dims, _, _, results in read.points()} == expected
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
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i,
     0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%b :
     tensor<4x1xf32>) {} -> tensor<4x1xf32>
a name of attributes
    (d0) -> (d0), domain: d0 in [0, 3]
    #t = {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types =
     ["parallel"]} %0 = linalg.generic #t ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {}
a name of maps, and attributes of others
    (d0) -> (d0), domain: d0 in [0, 3]
    #ONE  = affine_map<(i) -> (i)> #maps = [#ONE, #ONE] %0 = linalg.generic {indexing_maps = #maps,
     iterator_types = ["parallel"]} {config = #x} ins(%a : tensor<4xi7>) outs(%b :
     tensor<4x!my.tile<2>>) {}
a string => nothing => %0 = transform.structured.match ops{["linalg.generic"]} in %r
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


# Named operations, beside what NumPy says of them.

_Arrays = tuple[NDArray[Any], ...]
_Steps = int | tuple[int, int]


class Named(NamedTuple):
    """An operation: its name, attributes before operands, shapes, and what NumPy says of it."""

    name: str
    shapes: str
    reference: Callable[..., NDArray[Any]]
    before: str = ""
    after: str = ""
    sums: bool = True
    """Whether the elements are multiplied and added; else the first that is read is kept."""

    def text(self, element: str = "f32") -> str:
        *inputs, output = self.shapes.split()
        names = ", ".join(f"%{place}" for place in range(len(inputs)))
        types = ", ".join(map(partial(_type, element=element), inputs))
        given = f"ins({names} : {types}) outs(%out : {_type(output, element)})"
        return f"%r = linalg.{self.name} {self.before} {given} {self.after}"


def _type(sizes: str, element: str) -> str:
    return element if sizes == "scalar" else f"tensor<{sizes}x{element}>"


def _sizes(sizes: str) -> tuple[int, ...]:
    return () if sizes == "scalar" else tuple(map(int, sizes.split("x")))


def _windows(
    image: NDArray[Any], size: tuple[int, ...], strides: _Steps, dilations: _Steps
) -> NDArray[Any]:
    """Windows of the last dimensions, which come last once more, of elements apart."""
    rank = len(size)
    steps, apart = np.broadcast_to(strides, rank), np.broadcast_to(dilations, rank)
    around = tuple((each - 1) * step + 1 for each, step in zip(size, apart, strict=True))
    found = np.lib.stride_tricks.sliding_window_view(image, around, tuple(range(-rank, 0)))
    return found[(..., *(slice(None, None, int(step)) for step in (*steps, *apart)))]


def _convolved(
    equation: str, order: str, strides: _Steps = 1, dilations: _Steps = 1
) -> Callable[..., NDArray[Any]]:
    """A convolution: the image is transposed to ``order``, whose spatial dimensions are last."""
    letters = equation.partition(",")[2].partition("->")[0]

    def reference(image: NDArray[Any], weights: NDArray[Any], *_: NDArray[Any]) -> NDArray[Any]:
        size = tuple(weights.shape[letters.index(each)] for each in "ijk" if each in letters)
        windows = _windows(image.transpose([*map(int, order)]), size, strides, dilations)
        return np.einsum(equation, windows, weights)

    return reference


def _einsum(equation: str) -> Callable[..., NDArray[Any]]:
    return lambda *operands: np.einsum(equation, *operands)


def _first(operand: NDArray[Any], *_: NDArray[Any]) -> NDArray[Any]:
    return operand


def _column(operand: NDArray[Any]) -> NDArray[Any]:
    return operand[:, None]


_STEPS: Final = (
    "{dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}"
)
_TWO: Final = "{dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}"

NAMED: Final = [
    Named("matmul", "3x4 4x5 3x5", _einsum("mk,kn->mn")),
    Named("matmul_transpose_b", "3x4 5x4 3x5", _einsum("mk,nk->mn")),
    Named("batch_matmul", "2x3x4 2x4x5 2x3x5", _einsum("bmk,bkn->bmn")),
    Named("batch_reduce_matmul", "2x3x4 2x4x5 3x5", _einsum("bmk,bkn->mn")),
    Named("matvec", "3x4 4 3", _einsum("mk,k->m")),
    Named("vecmat", "4 4x3 3", _einsum("k,kn->n")),
    Named("dot", "4 4 scalar", _einsum("k,k->")),
    Named("mmt4d", "2x3x4x5 6x3x2x5 2x6x4x2", _einsum("mkac,nkbc->mnab")),
    Named("conv_2d", "6x7 2x3 5x5", _convolved("hwij,ij->hw", "01")),
    Named("conv_1d_ncw_fcw", "1x2x6 3x2x2 1x3x5", _convolved("ncwi,fci->nfw", "012")),
    Named("conv_2d_nhwc_hwcf", "1x7x8x2 3x2x2x3 1x3x6x3",
          _convolved("nchwij,ijcf->nhwf", "0312", (2, 1), (1, 2)), _STEPS),
    Named("conv_2d_nhwc_hwcf_q", "1x4x4x2 2x2x2x3 scalar scalar 1x3x3x3",
          _convolved("nchwij,ijcf->nhwf", "0312")),
    Named("conv_2d_ngchw_gfchw", "1x2x2x4x4 2x3x2x2x2 1x2x3x3x3",
          _convolved("ngchwij,gfcij->ngfhw", "01234")),
    Named("conv_3d_ndhwc_dhwcf", "1x3x3x3x2 2x2x2x2x2 1x2x2x2x2",
          _convolved("ncdhwijk,ijkcf->ndhwf", "04123")),
    Named("depthwise_conv_2d_nhwc_hwc", "1x5x5x3 2x2x3 1x2x2x3",
          _convolved("nchwij,ijc->nhwc", "0312", 2), _TWO),
    Named("depthwise_conv_2d_nhwc_hwcm", "1x3x3x2 2x2x2x3 1x2x2x2x3",
          _convolved("nchwij,ijcm->nhwcm", "0312")),
    Named("pooling_nchw_sum", "1x2x4x4 2x2 1x2x2x2",
          _convolved("nchwij,ij->nchw", "0123", 2), _TWO),
    Named("add", "3x4 3x4 3x4", _first, sums=False),
    Named("fill", "scalar 3x4", _first, sums=False),
    Named("map", "3 3 3", _first, "{ arith.addf }", sums=False),
    Named("elementwise", "3 3", _first, "kind=#linalg.elementwise_kind<exp>", sums=False),
    Named("transpose", "2x3x4 3x4x2", _einsum("abc->bca"), after="permutation = [1, 2, 0]",
          sums=False),
    Named("broadcast", "3 2x3x4", _column, after="dimensions = [0, 2]", sums=False),
    Named("reduce", "3x4x2 3x2", _einsum("abc->ac"), "{ arith.addf }", after="dimensions = [1]"),
    Named("reduce", "3x4 3x4", _first, after="dimensions = [] (%i: f32, %o: f32) {}"),
    Named("contract", "4 4x5 3x5", _einsum("k,kn->n"), """indexing_maps =
          [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (k, n)>,
          affine_map<(m, n, k) -> (m, n)>]"""),
]  # fmt: skip


def _computed(named: Named, generic: LinalgGeneric, operands: _Arrays) -> NDArray[Any]:
    """The result as the maps say: products of what is read, added over the ranges."""
    found = np.zeros(_sizes(named.shapes.split()[-1]))
    read = [_elements(each) for each in generic.reads()]
    for element in product(*map(range, found.shape)):
        rows = zip(*(each[element] for each in read), strict=True)
        values = [
            [array[place] for array, place in zip(operands, row, strict=True)] for row in rows
        ]
        used = min(len(operands), 2)  # zero points are not multiplied
        found[element] = sum(prod(row[:used]) for row in values) if named.sums else values[0][0]
    return found


def _elements(indexing: IndexingMap) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for dims, _, _, results in indexing.points():
        found.setdefault(tuple(dims), []).append(tuple(results))
    return found


def test_a_result_is_made_of_what_its_maps_read() -> None:
    random, wrong = np.random.default_rng(7), list[str]()
    for named in NAMED:
        *inputs, _ = named.shapes.split()
        operands = tuple(random.integers(-9, 9, _sizes(each)) for each in inputs)
        (generic,) = read_generics(named.text())
        found = _computed(named, generic, operands)
        expected = np.broadcast_to(named.reference(*operands), found.shape)
        if not np.array_equal(found, expected):
            wrong.append(named.text())
    assert not wrong


def test_the_generic_form_and_elements_of_any_type_are_the_same() -> None:
    (short,) = read_generics(NAMED[0].text())
    (written,) = read_generics(
        '"linalg.matmul"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> ({}) :'
        " (tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>"
    )
    assert written == short
    assert short.iterator_types == ("parallel", "parallel", "reduction")
    # The type of elements says nothing of the maps, be it known to HLO or not.
    for element in ("!my.tile<32x32, f32>", "!quant.uniform<i8:f32, 0.1>"):
        assert read_generics(NAMED[1].text(element)) == read_generics(NAMED[1].text())


_OF_TWO = "linalg.transpose ins(%a : tensor<2x3xf32>) outs(%b : tensor<3x2xf32>) permutation ="
_ONE_STRIDE = "linalg.conv_2d {strides = dense<2> : tensor<1xi64>}"
_IMAGE = "ins(%i, %f: memref<9x8xf32>, memref<3x3xf32>) outs(%o: memref<7x6xf32>)"
_OTHER_SIZE = "linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<9x16xf32>)"

WRONG_NAMED: Final = {
    "linalg.matmul ins(%a : tensor<4x8xf32>) outs(%c : tensor<4x16xf32>)": "expected 3",
    "linalg.fill ins(%a : f32)": "there are no outputs",
    f"{_OF_TWO} [1, 1]": "permutation is [1, 1]; expected one of 2 dimensions",
    f"{_OF_TWO} [0.5]": "expected integers",
    f"{_ONE_STRIDE} {_IMAGE}": "strides has 1 entries; expected 2",
    "linalg.contract ins(%a : tensor<2xf32>) outs(%b : tensor<2xf32>)": "expected indexing_maps",
    f"{_OTHER_SIZE} outs(%c : tensor<4x16xf32>)": "loop 2 runs over",
}


@pytest.mark.parametrize("text", WRONG_NAMED)
def test_errors_point_at_the_operation(text: str) -> None:
    with pytest.raises(MlirTextError) as caught:
        read_generics(text)
    assert WRONG_NAMED[text] in caught.value.message
    assert str(caught.value).splitlines()[-1].startswith("^^^^")


def test_other_operations_of_the_dialect_are_skipped() -> None:
    assert not read_generics("%0 = linalg.index 0 : index linalg.yield %0 : index")
