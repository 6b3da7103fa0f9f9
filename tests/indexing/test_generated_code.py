"""Code made from maps, run: NumPy, C by a compiler, and Triton on a stand-in for its tensors."""

from __future__ import annotations

import ctypes
import json
import pickle
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, Variable, VariableKind, compose, emit, parse_map
from simplifier import symbol
from simplifier.errors import ArgumentError
from tests.cases import for_all
from tests.extent import examples, in_ci
from tests.indexing import mlir_stand_in
from tests.indexing.code_maps import (
    MAPS,
    expected,
    grid,
    inside,
    is_inside,
    needs,
    run_node,
    shared_library,
    value_at,
)
from tests.indexing.stand_in import functions_of, plain_values, tensors
from tests.indexing.tables import each_named, each_text, refusals
from tests.strategies import maps

by_map = pytest.mark.parametrize("text", MAPS.values(), ids=MAPS)


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
    check_values(indexing_map, columns, compiled(*columns))


BEYOND_FLOATS = [2**53 - 1, 2**53, 2**53 + 1, 2**60 + 7, -(2**53) - 1, -(2**60) - 7]


def test_numpy_rounds_down_beyond_the_integers_of_a_float() -> None:
    bounds = f"[-{2**61}, {2**61}]"
    wide = parse_map(f"(d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in {bounds}")
    quotients, remainders = wide.to_numpy()(np.array(BEYOND_FLOATS))
    assert quotients.dtype == remainders.dtype == np.int64
    assert quotients.tolist() == [value // 3 for value in BEYOND_FLOATS]
    assert remainders.tolist() == [value % 3 for value in BEYOND_FLOATS]


@each_text("""
an overflow within the bounds: (d0 < 9223372036854775808) -> (d0 * d0)
no bounds: (d0 in [-inf, inf]) -> (d0 * 4611686018427387904)
outside the bounds: (d0 < 4) -> (d0 * 1000000)
""")
def test_numpy_is_exact_where_64_bits_do_not_do(text: str) -> None:
    values = [3, 2**62, 2**61 + 1]
    (found,) = parse_map(text).to_numpy()(np.array(values))
    assert found.tolist() == [parse_map(text).evaluate([value])[0] for value in values]


def test_numpy_small_integers_do_not_wrap() -> None:
    compiled = parse_map("(d0) -> (d0 * 100), domain: d0 in [0, 127]").to_numpy()
    (found,) = compiled(np.array([100, 127], dtype=np.int8))
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
    compiled = parse_map(MAPS["natural quotients"]).to_numpy()
    again = pickle.loads(pickle.dumps(compiled))  # noqa: S301 - our own bytes
    assert again(9, 5) == compiled(9, 5) == (13, 9, 11)


def test_numpy_arguments_are_checked() -> None:
    quotients = parse_map("(d0)[s0] -> (d0 floordiv s0), domain: d0 in [0, 3], s0 in [0, 3]")
    values = np.arange(3)
    for given_values, message in (
        ([values], "to_numpy: got 1 values; expected 2"),
        ([values, 0.5], "expected an integer or an array of integers"),
        ([values, values], "division by zero in d0 floordiv s0"),
    ):
        with pytest.raises(MapError, match=message):
            quotients.to_numpy()(*given_values)


# C.


@pytest.mark.parametrize("language", ["c", "cuda", "triton", "mlir"])
def test_methods_write_what_emit_writes(language: str) -> None:
    made = parse_map(MAPS["constraints"])
    assert getattr(made, f"to_{language}")("f") == emit(made, language, "f")


# a domain, and how C divides within it
@each_named("""
never negative: d0 in [0, 31] => 6 => d0 / 6 => d0 % 6
by powers: d0 in [0, 31] => 8 => d0 >> 3 => d0 & 7
negative: d0 in [-1, 31] => 6 => floordiv32(d0, 6) => (d0 + 6) % 6
far: d0 in [-1, 2147483648] => 6 => floordiv64(d0, 6) => floormod64(d0, 6)
""")
def test_c_divides_as_cheaply_as_the_values_allow(
    domain: str, divisor: str, quotient: str, remainder: str
) -> None:
    results = f"d0 floordiv {divisor}, d0 mod {divisor}"
    written = parse_map(f"(d0) -> ({results}), domain: {domain}").to_c()
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


@each_named("""
all below: d0 in [0, 999], d0 mod 136 in [16, 135] => floormod(d0, 136) >= 16
all above: d0 in [0, 999], d0 mod 136 in [0, 134] => floormod(d0, 136) < 135
both: d0 in [0, 999], d0 mod 136 in [1, 134] => floormod(d0, 136) >= 1 && floormod(d0, 136) < 135
none: d0 in [0, 999], d0 mod 136 in [0, 135] => d0 >= 0 && d0 < 1000
of what may divide by 0: d0 in [0, 5], d1 in [0, 3], d0 floordiv d1 in [0, 5]
    floordiv(d0, d1) >= 0 && floordiv(d0, d1) < 6
""")
def test_masks_ask_what_can_be_false(domain: str, asked: str) -> None:
    dims = "d0, d1" if "d1" in domain else "d0"
    text = emit(parse_map(f"({dims}) -> (d0), domain: {domain}"), "javascript")
    assert text.endswith(f"  return {asked};\n}}\n")


# What cannot be written.


# a map => the name of the function => what is said
@each_named("""
unbounded: (d0 in [0, inf]) -> (d0) => f => d0 has the bounds [0, inf]; expected a bounded variable
too large: (d0 < 4611686018427387905) -> (d0 * 4) => f => d0 * 4 may need more than 64 bits
a constraint: (d0 < 4611686018427387905, d1 < 2) -> (d0), domain: d0 * 5 + d1 in [0, 9] => f
    may need more than 64 bits
a bad name: (d0 < 4) -> (d0) => f(); system => cannot name a function
a keyword: (d0 < 4) -> (d0) => while => cannot name a function
""")
def test_what_64_bits_cannot_hold_is_refused(text: str, name: str, message: str) -> None:
    for language in ("to_c", "to_cuda", "to_triton", "to_mlir"):
        with pytest.raises(MapError, match=f"{language}: .*{re.escape(message)}"):
            getattr(parse_map(text), language)(name)


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


# One text for several maps in each language, compiled or read, run, and compared.


few = examples(15)


def rows_of(columns: list[Any]) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)] if columns else [()]


# C and CUDA: all maps in one file.

WRITES_FILE = """
#include <stdio.h>
int main(void) {{
  int64_t results[64];
{calls}
  return 0;
}}
"""


def run_c(compiler: list[str], suffix: str, folder: Path, drawn: list[IndexingMap]) -> list[str]:
    """What a program prints that has the functions of all maps and calls them at all points."""
    language = "cuda" if suffix == "cu" else "c"
    texts = [emit(each, language, f"f{number}") for number, each in enumerate(drawn)]
    calls: list[str] = []
    for number, each in enumerate(drawn):
        for row in rows_of(grid(each, margin=1)):
            point = ", ".join(map(str, row))
            ask = f"f{number}_contains({point})"
            stores = f"f{number}({point}{', ' if row else ''}results);"
            places = range(len(each.forms))
            printed = "".join(f'printf(" %lld", (long long)results[{at}]);' for at in places)
            then = f'{{ printf("in"); {stores} {printed} }}'
            calls.append(f'  if ({ask}) {then} else printf("out"); puts("");')
    source = folder / f"maps.{suffix}"
    source.write_text("".join(texts) + WRITES_FILE.format(calls="\n".join(calls)))
    program = folder / "maps"
    subprocess.run([*compiler, "-o", str(program), str(source)], check=True, capture_output=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")


def said(drawn: list[IndexingMap]) -> list[str]:
    """What such a program prints if it is right."""
    points = [(each, row) for each in drawn for row in rows_of(grid(each, margin=1))]
    return [
        " ".join(["in", *map(str, value_at(*point))]) if is_inside(*point) else "out"
        for point in points
    ]


ALL = [*map(parse_map, MAPS.values())]
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]


@needs("cc")
def test_c_of_many_maps_is_one_file(tmp_path: Path) -> None:
    flags = [*STRICT, "-Wno-unused-parameter", "-Wno-unused-variable", "-fsanitize=undefined"]
    found = run_c(["cc", *flags, "-fno-sanitize-recover"], "c", tmp_path, ALL)
    assert found[:-1] == said(ALL)


@in_ci
@needs("nvcc")
def test_cuda_of_many_maps_is_one_file(tmp_path: Path) -> None:
    assert run_c(["nvcc", "-O0"], "cu", tmp_path, ALL)[:-1] == said(ALL)


# NumPy, Triton on its stand-in.


def check_values(drawn: IndexingMap, columns: list[Any], found: Sequence[Any]) -> None:
    """What is computed is what the map has."""
    right = value_at(drawn, columns)
    for one, other in zip(found, right, strict=True):
        assert np.array_equal(np.broadcast_to(one, np.shape(other)), np.asarray(other))


def check_numpy(drawn: IndexingMap) -> None:
    seen: dict[str, Any] = {}
    exec(emit(drawn, "numpy", "f"), seen)  # noqa: S102 - the text under test
    columns = inside(drawn, grid(drawn))
    found: Any = seen["f"](*columns)
    check_values(drawn, columns, (found,) if len(drawn.forms) == 1 else found)
    around = grid(drawn, margin=2)
    holds = [is_inside(drawn, row) for row in rows_of(around)]
    assert np.broadcast_to(seen["f_mask"](*around), len(holds)).tolist() == holds


@by_map
def test_numpy_is_right(text: str) -> None:
    drawn = parse_map(text)
    if drawn.forms:
        check_numpy(drawn)


@few
@given(maps())
def test_numpy_is_right_for_any_map(drawn: IndexingMap) -> None:
    if drawn.forms and all(variable.bounds.size for variable in drawn.domain):
        check_numpy(drawn)


@few
@given(maps())
def test_triton_is_right_for_any_map(drawn: IndexingMap) -> None:
    compute = functions_of(emit(drawn, "triton", "f"))["f"]
    if columns := inside(drawn, grid(drawn)):
        check_values(drawn, columns, plain_values(compute(*tensors(columns))))


# JavaScript.


@needs("node")
def test_javascript_of_many_maps_is_one_module(tmp_path: Path) -> None:
    texts = [emit(each, "javascript", f"f{number}") for number, each in enumerate(ALL)]
    points = [rows_of(inside(each, grid(each))) for each in ALL]
    asked = [rows_of(grid(each, margin=1)) for each in ALL]
    calls = [
        f"console.log(JSON.stringify([{json.dumps(inner)}.map(p => f{number}(...p)), "
        f"{json.dumps(around)}.map(p => f{number}_contains(...p))]));"
        for number, (inner, around) in enumerate(zip(points, asked, strict=True))
    ]
    printed = run_node("\n".join([*texts, *calls]), tmp_path / "maps.mjs")
    for line, each, inner, around in zip(printed.splitlines(), ALL, points, asked, strict=True):
        values, holds = json.loads(line)
        evaluated = [list(value_at(each, row)) for row in inner]
        assert values == evaluated
        assert holds == [is_inside(each, row) for row in around]


# MLIR.


def check_mlir(drawn: IndexingMap) -> None:
    functions = mlir_stand_in.functions_of(emit(drawn, "mlir", "f"))
    for row in rows_of(grid(drawn, margin=1))[:200]:
        holds = is_inside(drawn, row)
        divides_by_zero = "s0" in str(drawn) and row[-1] == 0
        if not divides_by_zero:
            assert functions["f_contains"](*row) == [int(holds)]
        if holds:
            assert functions["f"](*row) == list(value_at(drawn, row))


@pytest.mark.needs("jax")
@for_all(MAPS)
def test_mlir_is_read_and_right(text: str) -> None:
    check_mlir(parse_map(text))


@pytest.mark.needs("jax")
@few
@given(maps())
def test_mlir_is_right_for_any_map(drawn: IndexingMap) -> None:
    check_mlir(drawn)


# Several maps.

ROW = IndexingMap.from_sizes("(d0 * 8 + d1) floordiv 6", [10, 8])
COLUMN = IndexingMap.from_sizes("(d0 * 8 + d1) mod 6, d0 + s0", [6, 8], [3])


def test_several_maps_share_what_they_have_in_common() -> None:
    for language in ("c", "cuda", "triton", "numpy", "javascript"):
        text = emit([ROW, COLUMN], language, ["row", "column"])
        assert text.partition("row_column(")[2].count("d0 * 8 + d1") == 1, language


@few
@given(st.lists(maps(), min_size=2, max_size=3))
def test_several_maps_are_right_where_all_are_defined(drawn: list[IndexingMap]) -> None:
    seen: dict[str, Any] = {}
    try:
        text = emit(drawn, "numpy")
    except MapError:
        return  # a name of one is another's kind of variable
    exec(text, seen)  # noqa: S102 - the text under test
    names = list(dict.fromkeys(name for each in drawn for name in each.domain.names))
    boxes = [dict(zip(each.domain.names, each.domain, strict=True)) for each in drawn]
    sizes = [[box[name].bounds for box in boxes if name in box] for name in names]
    lows = [max(bounds.lower or 0 for bounds in each) for each in sizes]
    function = seen["_".join(f"map{number}" for number in range(len(drawn)))]
    point = dict(zip(names, lows, strict=True))
    pairs = [(each, tuple(point[name] for name in each.domain.names)) for each in drawn]
    if all(is_inside(each, row) for each, row in pairs):
        right = [value_at(each, row) for each, row in pairs]
        assert [tuple(map(int, each)) for each in function(*lows)] == right


@each_named("""
all fit: (d0 < 2000001) -> (d0 * 1000 + 7) => d0 * 1000 + 7
a sum does not: (d0 < 2000001) -> (d0 * 2000) => (int64_t)d0 * 2000
what is divided does not: (d0 < 2000001) -> ((d0 * 2001) floordiv 5000)
    ((int64_t)d0 * 2001) / 5000
a partial sum does not: (d0 < 2147483648, d1 in [-1, 0]) -> (d0 - d1) => (int64_t)d0 - (int64_t)d1
""")
def test_64_bits_are_for_what_needs_them(text: str, value: str) -> None:
    assert f"results[0] = {value};" in emit(parse_map(text), "c")


def test_masks_compare_with_sizes() -> None:
    text = emit(parse_map("(d0) -> (d0), domain: d0 in [0, 196607]"), "triton")
    assert "(d0 < 196608)" in text
    assert "<=" not in text


test_wrong_input_is_refused = refusals(globals(), MapError, ArgumentError)("""
emit([], "c") => emit: maps is empty
emit([None], "c") => emit: maps[0] is None; expected an IndexingMap
emit(7, "c") => emit: maps is 7; expected a map or several
emit([ROW], "basic") => language is 'basic'; expected c, cuda
emit([ROW], ["c"]) => expected its name
emit([ROW], "c", ["a", "b"]) => got 2 names; expected 1
emit([ROW, ROW], "c", ["a", "a"]) => expected different names
emit([ROW], "c", ["while"]) => 'while' cannot name a function
emit([parse_map("(d0) -> (d0 * 3), domain: d0 in [0, 9007199254740992]")], "javascript")
    may need more than 53 bits and a sign
""")


# A compiled function called from Python.


@needs("cc")
@few
@given(drawn=maps())
def test_c_is_right_for_any_map(drawn: IndexingMap, tmp_path_factory: Any) -> None:  # noqa: ANN401
    folder = tmp_path_factory.mktemp("c")
    count = len(drawn.domain.identifiers)
    arguments = ", ".join(f"point[{position}]" for position in range(count))
    calls = f"""
void call(const int64_t *point, int64_t *results) {{ f({arguments}{", " * bool(count)}results); }}
bool ask(const int64_t *point) {{ return f_contains({arguments}); }}
"""
    library = shared_library(emit(drawn, "c", "f") + calls, folder, warns=False)
    library.ask.restype = ctypes.c_bool
    buffer = (ctypes.c_int64 * (len(drawn.forms) + 1))()
    for row in rows_of(grid(drawn, margin=1))[:300]:
        point = (ctypes.c_int64 * (count + 1))(*row)
        assert library.ask(point) == is_inside(drawn, row)
        if is_inside(drawn, row):
            library.call(point, buffer)
            assert tuple(buffer[:-1]) == value_at(drawn, row)
