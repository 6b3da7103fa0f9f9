"""One text for several maps in each language, compiled or read, run, and compared with the maps."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, emit, parse_map
from simplifier.errors import ArgumentError
from tests.extent import examples, in_ci
from tests.indexing import mlir_stand_in
from tests.indexing.code_maps import MAPS, grid, inside, is_inside
from tests.indexing.stand_in import functions_of, plain_values, tensors
from tests.strategies import maps

by_map = pytest.mark.parametrize("text", [row[1] for row in MAPS], ids=[row[0] for row in MAPS])
few = examples(15)


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"there is no {program}")


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
            prints = "".join(
                f'printf(" %lld", (long long)results[{at}]);' for at in range(len(each.forms))
            )
            calls.append(
                f'  if ({ask}) {{ printf("in"); {stores} {prints} }} else printf("out"); puts("");'
            )
    source = folder / f"maps.{suffix}"
    source.write_text("".join(texts) + WRITES_FILE.format(calls="\n".join(calls)))
    program = folder / "maps"
    subprocess.run([*compiler, "-o", str(program), str(source)], check=True, capture_output=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")


def said(indexing_map: IndexingMap) -> list[str]:
    lines: list[str] = []
    for row in rows_of(grid(indexing_map, margin=1)):
        if not is_inside(indexing_map, row):
            lines.append("out")
            continue
        values = indexing_map.evaluate(*indexing_map.domain.by_role(row))
        lines.append(" ".join(["in", *map(str, values)]))
    return lines


SMALL = [parse_map(text) for _, text in MAPS if len(grid(parse_map(text))) < 3]
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]


@needs("cc")
def test_c_of_many_maps_is_one_file(tmp_path: Path) -> None:
    flags = [*STRICT, "-Wno-unused-parameter", "-Wno-unused-variable", "-fsanitize=undefined"]
    found = run_c(["cc", *flags, "-fno-sanitize-recover"], "c", tmp_path, SMALL)
    assert found[:-1] == [line for each in SMALL for line in said(each)]


@in_ci
@needs("nvcc")
def test_cuda_of_many_maps_is_one_file(tmp_path: Path) -> None:
    found = run_c(["nvcc", "-O0"], "cu", tmp_path, SMALL)
    assert found[:-1] == [line for each in SMALL for line in said(each)]


# NumPy, Triton on its stand-in.


def check_numpy(drawn: IndexingMap) -> None:
    seen: dict[str, Any] = {}
    exec(emit(drawn, "numpy", "f"), seen)  # noqa: S102 - the text under test
    columns = inside(drawn, grid(drawn))
    found: Any = seen["f"](*columns)
    if len(drawn.forms) == 1:
        found = (found,)
    right = drawn.evaluate(*drawn.domain.by_role(columns))
    for one, other in zip(found, right, strict=True):
        assert np.array_equal(np.broadcast_to(one, np.shape(other)), np.asarray(other))
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
    columns = inside(drawn, grid(drawn))
    if not columns:
        return
    found = plain_values(compute(*tensors(columns)))
    for one, other in zip(found, drawn.evaluate(*drawn.domain.by_role(columns)), strict=True):
        assert np.array_equal(np.broadcast_to(one, np.shape(other)), np.asarray(other))


# JavaScript.


@needs("node")
def test_javascript_of_many_maps_is_one_module(tmp_path: Path) -> None:
    texts = [emit(each, "javascript", f"f{number}") for number, each in enumerate(SMALL)]
    points = [rows_of(inside(each, grid(each))) for each in SMALL]
    asked = [rows_of(grid(each, margin=1)) for each in SMALL]
    calls = [
        f"console.log(JSON.stringify([{json.dumps(inner)}.map(p => f{number}(...p)), "
        f"{json.dumps(around)}.map(p => f{number}_contains(...p))]));"
        for number, (inner, around) in enumerate(zip(points, asked, strict=True))
    ]
    source = tmp_path / "maps.mjs"
    source.write_text("\n".join([*texts, *calls]))
    command = ["node", str(source)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line, each, inner, around in zip(printed.splitlines(), SMALL, points, asked, strict=True):
        values, holds = json.loads(line)
        evaluated = [list(each.evaluate(*each.domain.by_role(row))) for row in inner]
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
            assert functions["f"](*row) == list(drawn.evaluate(*drawn.domain.by_role(row)))


@pytest.mark.needs("jax")
@by_map
def test_mlir_is_read_and_right(text: str) -> None:
    check_mlir(parse_map(text))


@pytest.mark.needs("jax")
@few
@given(maps())
def test_mlir_is_right_for_any_map(drawn: IndexingMap) -> None:
    check_mlir(drawn)


# Several maps.

ROW = parse_map("(d0, d1) -> ((d0 * 8 + d1) floordiv 6), domain: d0 in [0, 9], d1 in [0, 7]")
COLUMN = parse_map(
    "(d0, d1)[s0] -> ((d0 * 8 + d1) mod 6, d0 + s0), "
    "domain: d0 in [0, 5], d1 in [0, 7], s0 in [0, 2]"
)


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
    rows = [tuple(point[name] for name in each.domain.names) for each in drawn]
    if all(is_inside(each, row) for each, row in zip(drawn, rows, strict=True)):
        found = function(*lows)
        right = [
            each.evaluate(*each.domain.by_role(row)) for each, row in zip(drawn, rows, strict=True)
        ]
        assert [tuple(map(int, each)) for each in found] == right


BITS = [
    ("all fit", "(d0) -> (d0 * 1000 + 7), domain: d0 in [0, 2000000]", "d0 * 1000 + 7"),
    ("a sum does not", "(d0) -> (d0 * 2000), domain: d0 in [0, 2000000]", "(int64_t)d0 * 2000"),
    (
        "what is divided does not",
        "(d0) -> ((d0 * 2001) floordiv 5000), domain: d0 in [0, 2000000]",
        "((int64_t)d0 * 2001) / 5000",
    ),
    (
        "a partial sum does not",
        "(d0, d1) -> (d0 - d1), domain: d0 in [0, 2147483647], d1 in [-1, 0]",
        "(int64_t)d0 - (int64_t)d1",
    ),
]


@pytest.mark.parametrize(("text", "value"), [r[1:] for r in BITS], ids=[r[0] for r in BITS])
def test_64_bits_are_for_what_needs_them(text: str, value: str) -> None:
    assert f"results[0] = {value};" in emit(parse_map(text), "c")


def test_masks_compare_with_sizes() -> None:
    text = emit(parse_map("(d0) -> (d0), domain: d0 in [0, 196607]"), "triton")
    assert "(d0 < 196608)" in text
    assert "<=" not in text


WRONG: list[tuple[Any, Any, Any, str]] = [
    ([], "c", None, "emit: maps is empty"),
    ([None], "c", None, r"emit: maps\[0\] is None; expected an IndexingMap"),
    (7, "c", None, "emit: maps is 7; expected a map or several"),
    ([ROW], "basic", None, "language is 'basic'; expected c, cuda"),
    ([ROW], ["c"], None, "expected its name"),
    ([ROW], "c", ["a", "b"], "got 2 names; expected 1"),
    ([ROW, ROW], "c", ["a", "a"], "expected different names"),
    ([ROW], "c", ["while"], "'while' cannot name a function"),
    (
        [parse_map("(d0) -> (d0 * 3), domain: d0 in [0, 9007199254740992]")],
        "javascript",
        None,
        "may need more than 53 bits and a sign",
    ),
]


@pytest.mark.parametrize(("given_maps", "language", "names", "message"), WRONG)
def test_wrong_input_is_refused(
    given_maps: Any,  # noqa: ANN401 - wrong on purpose
    language: Any,  # noqa: ANN401 - wrong on purpose
    names: Any,  # noqa: ANN401 - wrong on purpose
    message: str,
) -> None:
    with pytest.raises((MapError, ArgumentError), match=message):
        emit(given_maps, language, names)


# A compiled function called from Python.


@needs("cc")
@few
@given(drawn=maps())
def test_c_is_right_for_any_map(drawn: IndexingMap, tmp_path_factory: Any) -> None:  # noqa: ANN401
    folder = tmp_path_factory.mktemp("c")
    count = len(drawn.domain.identifiers)
    arguments = ", ".join(f"point[{position}]" for position in range(count))
    (folder / "map.c").write_text(
        f"""{emit(drawn, "c", "f")}
void call(const int64_t *point, int64_t *results) {{ f({arguments}{", " * bool(count)}results); }}
bool ask(const int64_t *point) {{ return f_contains({arguments}); }}
"""
    )
    flags = ["-shared", "-fPIC", "-fsanitize=undefined", "-fno-sanitize-recover"]
    target = str(folder / "map.so")
    command = ["cc", "-std=c11", *flags, "-o", target, str(folder / "map.c")]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(target)
    library.ask.restype = ctypes.c_bool
    buffer = (ctypes.c_int64 * (len(drawn.forms) + 1))()
    for row in rows_of(grid(drawn, margin=1))[:300]:
        point = (ctypes.c_int64 * (count + 1))(*row)
        assert library.ask(point) == is_inside(drawn, row)
        if is_inside(drawn, row):
            library.call(point, buffer)
            assert tuple(buffer[:-1]) == drawn.evaluate(*drawn.domain.by_role(row))
