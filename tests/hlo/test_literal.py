"""Constants: what is read, element by element, and what does not fit."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from indexing.layout import ElementType, Kind, ShapeError
from ops import hlo
from tests.cases import for_all

INF = float("inf")


def literal(text: str) -> hlo.Literal:
    """The literal of ``c = <shape> constant(<value>)``."""
    found = hlo.parse(f"ENTRY e {{ c = {text} }}").entry.root.literal
    assert found is not None
    return found


@for_all(
    [
        ("pred[] constant(true)", True, "bool"),
        ("pred[3] constant({1, 0, true})", [True, False, True], "bool"),
        ("s4[3] constant({-8, 7, 0})", [-8, 7, 0], "int8"),
        ("s32[] constant(-7)", -7, "int32"),
        ("u64[] constant(18446744073709551615)", 2**64 - 1, "uint64"),
        ("s64[] constant(-9223372036854775808)", -(2**63), "int64"),
        ("f32[2,2] constant({{1, -2.5e-3}, {inf, -inf}})", [[1, -0.0025], [INF, -INF]], "float32"),
        ("f32[2] constant({1., /*index=1*/-0})", [1, 0], "float32"),
        ("f16[] constant(0.5)", 0.5, "float16"),
        ("bf16[] constant(3e38)", 3e38, "float32"),
        ("f8e4m3fn[] constant(0.5)", 0.5, "float16"),
        ("f64[] constant(0.1)", 0.1, "float64"),
        ("c64[2] constant({(1, 2), (3, -inf)})", [1 + 2j, complex(3, -INF)], "complex64"),
        ("c128[] constant((1, -2))", 1 - 2j, "complex128"),
        ("u64[] constant(-1)", 2**64 - 1, "uint64"),
        ("u64[2] constant({-9223372036854775808, 9223372036854775808})", [2**63, 2**63], "uint64"),
        ("f16[] constant(-65519)", -65504, "float16"),
        ("bf16[] constant(3.39e+38)", 3.39e38, "float32"),
        ("f8e4m3fn[] constant(463)", 463, "float16"),
        ("f32[3] constant(7.0)", [7, 7, 7], "float32"),
        ("s32[2,2] constant(7)", [[7, 7], [7, 7]], "int32"),
        ("pred[2] constant(true)", [True, True], "bool"),
        ("c64[2] constant((1, 2))", [1 + 2j, 1 + 2j], "complex64"),
        ("f32[0] constant(7)", [], "float32"),
        ("f32[0,3] constant({  })", np.zeros((0, 3)), "float32"),
        ("f32[2,0] constant({ {}, {} })", np.zeros((2, 0)), "float32"),
        ("s32[1,1,2] constant({{{1,2}}})", [[[1, 2]]], "int32"),
    ]
)
def test_values(text: str, values: object, dtype: str) -> None:
    read, expected = literal(text).array, np.array(values, dtype=dtype)
    assert read.dtype == expected.dtype
    assert read.shape == expected.shape
    assert np.array_equal(read, expected)


def test_every_array_type_has_a_numpy_type() -> None:
    for element_type in ElementType:
        if element_type.kind not in {Kind.CONTAINER, Kind.HANDLE}:
            value = "(1, 0)" if element_type.kind is Kind.COMPLEX else "0"
            read = literal(f"{element_type}[] constant({value})").array
            assert read.dtype.itemsize * 8 >= element_type.bits


def test_values_are_exact() -> None:
    assert literal("s64[1] constant({9007199254740993})").values == (9007199254740993,)
    assert literal("bf16[] constant(0.1)").values == (0.1,)
    assert [type(v) for v in literal("f32[2] constant({1, 2})").values or ()] == [float, float]


def test_not_a_number_keeps_its_text() -> None:
    read = literal("f32[3] constant({nan, -nan, nan(0x12)})")
    assert all(isinstance(v, float) and math.isnan(v) for v in read.values or ())
    assert read.text == "{nan, -nan, nan(0x12)}"


def test_elements_are_found_by_their_index() -> None:
    read = literal("s32[2,3] constant({{1,2,3},{4,5,6}})")
    assert [read[i, j] for i in range(2) for j in range(3)] == [1, 2, 3, 4, 5, 6]
    assert literal("s32[2] constant({7,8})")[1] == 8
    assert literal("s32[] constant(7)")[()] == 7


@for_all([(2, 0), (0, 3), (-1, 0), (0,), (0, 0, 0), 0])
def test_an_index_outside_is_refused(index: int | tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="is no index of"):
        literal("s32[2,3] constant({{1,2,3},{4,5,6}})")[index]


@for_all(["f32[20,20] constant({...})", "(f32[], s32[2]) constant({...})"])
def test_values_that_are_left_out_are_unknown(text: str) -> None:
    read = literal(text)
    assert read.is_elided
    assert str(read).endswith(" {...}")
    with pytest.raises(ShapeError, match="not known"):
        _ = read.array


def test_a_value_that_is_left_out_has_no_elements() -> None:
    with pytest.raises(ShapeError, match="not known"):
        literal("f32[20] constant({...})")[3]


def test_a_tuple_holds_literals() -> None:
    read = literal("(f32[], (s32[2], pred[]), ()) constant((1, ({2, 3}, true), ()))")
    assert not read.is_elided
    assert read.elements[0].values == (1.0,)
    assert read.elements[1].elements[0].values == (2, 3)
    assert read.elements[1].elements[1].text == "true"
    assert read.elements[2].values == ()


@for_all(
    [
        ("f32[] constant({...})", "expected a number"),
        ("f32[2,2] constant({{...}, {1, 2}})", "expected a number"),
        ("f32[2,2] constant({{1, 2}})", "expected 2 elements in these braces, but there are 1"),
        ("f32[2,2] constant({{1, 2}, {3}})",
         "expected 2 elements in these braces, but there are 1"),
        ("f32[3,0] constant({})", "expected 3 elements in these braces, but there are 0"),
        ("f32[2] constant({true, 1})", "expected a number"),
        ("s32[] constant(1e3)", "expected an integer"),
        ("u8[] constant(-1)", "-1 does not fit in u8"),
        ("pred[] constant(no)", "expected true, false or an integer"),
        ("(f32[], f32[]) constant((1))", "expected 2 elements of the tuple, but there are 1"),
        ("(f32[]) constant((1, 2))", "expected 1 elements"),
        ("opaque[] constant(0)", "a constant of type opaque has no value"),
        ("f32[2] constant(}", "expected a number as a value of type f32"),
    ]
)  # fmt: skip
def test_a_wrong_value_is_refused(text: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError, match=re.escape(message)):
        literal(text)
