"""Code made from maps, run: NumPy, C by a compiler, and Triton on a stand-in for its tensors."""

from __future__ import annotations

import ctypes
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from indexing import IndexingMap, MapError, Variable, VariableKind, compose, emit, parse_map
from simplifier import symbol
from tests.indexing.code_maps import MAPS, expected, grid, inside, is_inside
from tests.indexing.stand_in import functions_of, plain_values, tensors
from tests.strategies import maps

by_map = pytest.mark.parametrize("text", [row[1] for row in MAPS], ids=[row[0] for row in MAPS])


def spread(results: tuple[Any, ...], count: int) -> list[list[int]]:
    columns = [np.broadcast_to(np.asarray(result), count).tolist() for result in results]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[]] * count


# NumPy.


@by_map
def test_numpy_is_right_within_the_bounds_and_outside(text: str) -> None:
    indexing_map = parse_map(text)
    for margin in (0, 6):
        columns = grid(indexing_map, margin)
        if margin and "s0" in text and " s0, " in text:
            columns = [column[columns[-1] != 0] for column in columns]  # not divided by zero
        found = indexing_map.to_numpy()(*columns)
        count = len(columns[0]) if columns else 1
        assert spread(found, count) == expected(indexing_map, columns) or not columns


@given(maps())
def test_numpy_agrees_with_evaluation(indexing_map: IndexingMap) -> None:
    columns = grid(indexing_map)
    compiled = indexing_map.to_numpy()
    found, right = compiled(*columns), indexing_map.evaluate(*indexing_map.domain.by_role(columns))
    for left, other in zip(found, right, strict=True):
        assert np.array_equal(np.asarray(left), np.asarray(other))


BEYOND_FLOATS = [2**53 - 1, 2**53, 2**53 + 1, 2**60 + 7, -(2**53) - 1, -(2**60) - 7]


def test_numpy_rounds_down_beyond_the_integers_of_a_float() -> None:
    wide = parse_map(
        "(d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [-2305843009213693952, "
        "2305843009213693952]"
    )
    compiled = wide.to_numpy()
    quotients, remainders = compiled(np.array(BEYOND_FLOATS))
    assert quotients.dtype == remainders.dtype == np.int64
    assert quotients.tolist() == [value // 3 for value in BEYOND_FLOATS]
    assert remainders.tolist() == [value % 3 for value in BEYOND_FLOATS]


EXACT_ANYWAY = [
    ("an overflow within the bounds", "(d0) -> (d0 * d0), domain: d0 in [0, 9223372036854775807]"),
    ("no bounds", "(d0) -> (d0 * 4611686018427387904), domain: d0 in [-inf, inf]"),
    ("outside the bounds", "(d0) -> (d0 * 1000000), domain: d0 in [0, 3]"),
]


@pytest.mark.parametrize("text", [r[1] for r in EXACT_ANYWAY], ids=[r[0] for r in EXACT_ANYWAY])
def test_numpy_is_exact_where_64_bits_do_not_do(text: str) -> None:
    values = [3, 2**62, 2**61 + 1]
    (found,) = parse_map(text).to_numpy()(np.array(values))
    assert found.tolist() == [parse_map(text).evaluate([value])[0] for value in values]


def test_numpy_small_integers_do_not_wrap() -> None:
    (found,) = parse_map("(d0) -> (d0 * 100), domain: d0 in [0, 127]").to_numpy()(
        np.array([100, 127], dtype=np.int8)
    )
    assert found.tolist() == [10000, 12700]


def test_numpy_arrays_broadcast_with_integers() -> None:
    compiled = parse_map("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 3]").to_numpy()
    (found,) = compiled(np.arange(4)[:, None], np.arange(4))
    assert found.tolist() == np.arange(16).reshape(4, 4).tolist()
    assert compiled(np.arange(4), 3)[0].tolist() == [3, 7, 11, 15]
    assert compiled(2, np.int8(3)) == (11,)
    assert type(compiled(2, 3)[0]) is int


def test_numpy_results_are_not_the_arguments() -> None:
    given_values = np.arange(4)
    (found,) = IndexingMap.identity([4]).to_numpy()(given_values)
    found[:] = 0
    assert given_values.tolist() == [0, 1, 2, 3]


def test_numpy_functions_can_be_pickled() -> None:
    compiled = parse_map(MAPS[3][1]).to_numpy()
    again = pickle.loads(pickle.dumps(compiled))  # noqa: S301 - our own bytes
    assert again(9, 5) == compiled(9, 5) == (13, 9, 11)


def test_numpy_arguments_are_checked() -> None:
    compiled = parse_map(
        "(d0)[s0] -> (d0 floordiv s0), domain: d0 in [0, 3], s0 in [0, 3]"
    ).to_numpy()
    with pytest.raises(MapError, match="to_numpy: got 1 values; expected 2"):
        compiled(np.arange(3))
    with pytest.raises(MapError, match="expected an integer or an array of integers"):
        compiled(np.arange(3), 0.5)
    with pytest.raises(MapError, match="division by zero in d0 floordiv s0"):
        compiled(np.arange(3), np.arange(3))


# C.

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler: cc")


def library(text: str, folder: Path) -> ctypes.CDLL:
    """The compiled text; its functions are static, so that it comes with two that are not."""
    (folder / "map.c").write_text(text)
    command = [
        "cc",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-function",
        "-Wno-unused-parameter",
        "-shared",
        "-fPIC",
        "-fsanitize=undefined",
        "-fno-sanitize-recover",
        "-o",
        str(folder / "map.so"),
        str(folder / "map.c"),
    ]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "map.so"))


@needs_compiler
@by_map
def test_c_is_right(text: str, tmp_path: Path) -> None:
    indexing_map = parse_map(text)
    count = len(indexing_map.domain.identifiers)
    arguments = ", ".join(f"point[{position}]" for position in range(count))
    source = f"""{indexing_map.to_c("result_of")}
void call(const int64_t *point, int64_t *results) {{
  result_of({arguments}{", " if count else ""}results);
}}
bool ask(const int64_t *point) {{ return result_of_contains({arguments}); }}
"""
    compiled = library(source, tmp_path)
    compiled.ask.restype = ctypes.c_bool
    buffer = (ctypes.c_int64 * (len(indexing_map.forms) + 1))()
    around = grid(indexing_map, margin=2) if count < 3 else grid(indexing_map)
    for row in zip(*around, strict=True) if around else [()]:
        point = (ctypes.c_int64 * (count + 1))(*map(int, row))
        is_in = is_inside(indexing_map, row)
        assert compiled.ask(point) == is_in
        if is_in:
            compiled.call(point, buffer)
            assert buffer[:-1] == list(
                indexing_map.evaluate(*indexing_map.domain.by_role(point[:-1]))
            )


DIVIDED = [
    (
        "never negative",
        "(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 31]",
        "d0 / 6",
        "d0 % 6",
    ),
    ("by powers", "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]", "d0 >> 3", "d0 & 7"),
    (
        "negative",
        "(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [-1, 31]",
        "floordiv32(d0, 6)",
        "(d0 + 6) % 6",
    ),
    (
        "far",
        "(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [-1, 2147483648]",
        "floordiv64(d0, 6)",
        "floormod64(d0, 6)",
    ),
]


@pytest.mark.parametrize(
    ("text", "quotient", "remainder"), [r[1:] for r in DIVIDED], ids=[r[0] for r in DIVIDED]
)
def test_c_divides_as_cheaply_as_the_values_allow(text: str, quotient: str, remainder: str) -> None:
    written = parse_map(text).to_c()
    assert f"results[0] = {quotient};" in written
    assert f"results[1] = {remainder};" in written


# Triton.


@by_map
def test_triton_is_right(text: str) -> None:
    indexing_map = parse_map(text)
    compute = functions_of(indexing_map.to_triton("result_of"))["result_of"]
    columns = inside(indexing_map, grid(indexing_map))
    count = len(columns[0]) if columns else 1
    right = expected(indexing_map, columns) if columns else [[3, -2]]
    assert spread(plain_values(compute(*tensors(columns))), count) == right


@by_map
def test_triton_masks_are_the_domain(text: str) -> None:
    indexing_map = parse_map(text)
    around = grid(indexing_map, margin=2)
    mask = functions_of(indexing_map.to_triton("result_of"))["result_of_mask"](*tensors(around))
    right = [is_inside(indexing_map, row) for row in zip(*around, strict=True)] or [True]
    assert np.broadcast_to(getattr(mask, "values", mask), len(right)).tolist() == right


ASKED = [
    ("all below", "d0 in [0, 999], d0 mod 136 in [16, 135]", "floormod(d0, 136) >= 16"),
    ("all above", "d0 in [0, 999], d0 mod 136 in [0, 134]", "floormod(d0, 136) < 135"),
    (
        "both",
        "d0 in [0, 999], d0 mod 136 in [1, 134]",
        "floormod(d0, 136) >= 1 && floormod(d0, 136) < 135",
    ),
    ("none", "d0 in [0, 999], d0 mod 136 in [0, 135]", "d0 >= 0 && d0 < 1000"),
    (
        "of what may divide by 0",
        "d0 in [0, 5], d1 in [0, 3], d0 floordiv d1 in [0, 5]",
        "floordiv(d0, d1) >= 0 && floordiv(d0, d1) < 6",
    ),
]


@pytest.mark.parametrize(("domain", "asked"), [r[1:] for r in ASKED], ids=[r[0] for r in ASKED])
def test_masks_ask_what_can_be_false(domain: str, asked: str) -> None:
    dims = "d0, d1" if "d1" in domain else "d0"
    text = emit(parse_map(f"({dims}) -> (d0), domain: {domain}"), "javascript")
    assert text.endswith(f"  return {asked};\n}}\n")


# What cannot be written.

d0 = symbol("d0")
REFUSED = [
    (
        "unbounded",
        parse_map("(d0) -> (d0), domain: d0 in [0, inf]"),
        "f",
        r"d0 has the bounds \[0, inf\]; expected a bounded variable",
    ),
    (
        "too large",
        parse_map("(d0) -> (d0 * 4), domain: d0 in [0, 4611686018427387904]"),
        "f",
        r"d0 \* 4 may need more than 64 bits",
    ),
    (
        "a constraint",
        parse_map(
            "(d0, d1) -> (d0), domain: d0 in [0, 4611686018427387904], "
            "d1 in [0, 1], d0 * 5 + d1 in [0, 9]"
        ),
        "f",
        "may need more than 64 bits",
    ),
    ("a bad name", IndexingMap.identity([4]), "f(); system", "cannot name a function"),
    ("a keyword", IndexingMap.identity([4]), "while", "cannot name a function"),
]


@pytest.mark.parametrize(
    ("indexing_map", "name", "message"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED]
)
@pytest.mark.parametrize("language", ["to_c", "to_cuda", "to_triton", "to_mlir"])
def test_what_64_bits_cannot_hold_is_refused(
    language: str, indexing_map: IndexingMap, name: str, message: str
) -> None:
    with pytest.raises(MapError, match=f"{language}: .*{message}"):
        getattr(indexing_map, language)(name)


def test_kinds_name_the_parameters() -> None:
    grid_map = IndexingMap([symbol("th_x")], [Variable((0, 127), "", VariableKind.TH_X)])
    assert "void indexing_map(int32_t th_x, int64_t *results)" in grid_map.to_c()


def test_deep_nests_become_lines() -> None:
    step = parse_map("(d0) -> (max((d0 + 1) floordiv 2, d0 mod 7)), domain: d0 in [0, 9]")
    deep = step
    for _ in range(300):
        deep = compose(deep, step)
    unbounded = IndexingMap.from_forms(deep.forms, step.domain)
    (found,) = unbounded.to_numpy()(np.arange(10))
    assert found.tolist() == [unbounded.evaluate([value])[0] for value in range(10)]
    assert max(map(len, unbounded.to_c().splitlines())) < 500
